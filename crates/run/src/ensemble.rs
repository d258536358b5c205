//! Ensembles: many runs of one configuration, in each of which some keys have other values.
//!
//! A member has the bits of `tisane run` with its settings. Its end is a row of one table, `members.csv`; what it was at
//! each of its outputs are rows of another, `series.csv`, if they are asked for. Where a run alone has a journal of its subsystems or
//! stars, its rows are those of a table of all members. Rows are in the files as soon as they are known. The states of the
//! members in progress are in `in_progress.hdf5` after a stop and from time to time, so that an ensemble that was stopped or
//! killed goes on where it was.

mod blueprint;
mod columns;
#[cfg(feature = "mpi")]
pub(crate) mod dealt;
mod device_member;
mod files;
mod hashes;
mod journals;
mod member;
mod members;
#[cfg(feature = "mpi")]
pub(crate) mod messages;
mod on_cores;
mod on_device;
#[cfg(feature = "mpi")]
mod ranks;
mod rows;
mod status;
mod summary;
mod table_set;
mod verify;
mod work;
mod workers;

pub use blueprint::{Blueprint, Written};
pub use files::{Directory, is_ensemble};
pub use members::Members;
pub use rows::{MemberRow, Tables};
pub use status::Status;
pub use summary::Summary;

use crate::assemble::{self, OpenAhead, Session};
use crate::simulation::ExitReason;
use crate::team::Team;
use on_device::{Device, Open};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tisane::error::Result;
use tisane::force::EngineKind;
use tisane_io::checkpoint::MemberState;
use work::{Message, Todo, Work};
use workers::start;

/// Interval at which progress is shown and rows are written.
const INTERVAL: Duration = Duration::from_millis(100);

/// Options of a session of an ensemble, which replace those of its configuration and are not saved in it.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Engine and device.
    pub session: Session,
    /// Number of members that the cores integrate at a time; 0 for one per core.
    pub threads: usize,
    /// Wall time after which the session stops.
    pub wall_time: Option<Duration>,
    /// Flag that requests a stop, such as one set by a signal handler.
    pub stop: &'static AtomicBool,
}

/// Ensemble whose members are being integrated.
pub struct Ensemble {
    blueprint: Blueprint,
    tables: Tables,
    directory: Directory,
    /// Members in progress as they were saved.
    states: BTreeMap<u64, MemberState>,
    status: Status,
    /// Engine of this session, and the reason for it.
    engine_choice: String,
    /// GPUs of this session: members come and go, and each is opened once.
    gpus: Vec<OpenAhead>,
    began: Instant,
    /// What was not as it was written.
    warnings: Vec<String>,
}

impl Ensemble {
    /// Creates the files of an ensemble in a directory that its caller made and locked.
    ///
    /// # Errors
    /// [`Error::Storage`](tisane::Error::Storage) if they cannot be written.
    pub fn create(blueprint: Blueprint, dir: &std::path::Path) -> Result<Self> {
        let tables = blueprint.tables();
        let directory = Directory::create(dir, &blueprint, &tables)?;
        Ok(Self::new(blueprint, tables, directory, BTreeMap::new()))
    }

    /// Reads what a directory has of an ensemble, to go on with it.
    ///
    /// # Errors
    /// [`Error::Input`](tisane::Error::Input) if a file cannot be read or does not belong to the others.
    pub fn resume(dir: &std::path::Path) -> Result<Self> {
        let blueprint = Blueprint::from_written(Written::read(dir)?)?;
        let tables = blueprint.tables();
        let files::Resumed { directory, states, warnings } = Directory::resume(dir, &blueprint, &tables)?;
        Ok(Self { warnings, ..Self::new(blueprint, tables, directory, states) })
    }

    fn new(blueprint: Blueprint, tables: Tables, directory: Directory, states: BTreeMap<u64, MemberState>) -> Self {
        let mut status = Status { members: blueprint.members.count(), ..Status::default() };
        directory.count(&mut status);
        let engine_choice = String::new();
        let (gpus, began, warnings) = (Vec::new(), Instant::now(), Vec::new());
        Self { blueprint, tables, directory, states, status, engine_choice, gpus, began, warnings }
    }

    /// Returns the configuration and the members.
    #[must_use]
    pub fn blueprint(&self) -> &Blueprint {
        &self.blueprint
    }

    /// Returns the progress.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// Returns what was not as it was written when the ensemble was resumed, for people.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the number of members that were in progress when the ensemble was stopped.
    #[must_use]
    pub fn in_progress(&self) -> usize {
        self.states.len()
    }

    /// Integrates the members that have not ended. `observe` is shown the progress some times a second.
    ///
    /// # Errors
    /// [`Error::Storage`](tisane::Error::Storage) if an output cannot be written, and if the engine is not there. Errors of members do not end
    /// the others: they are in their rows.
    pub fn run(&mut self, options: &Options, observe: &mut dyn FnMut(&Status)) -> Result<ExitReason> {
        let (config, session) = (&self.blueprint.config, options.session);
        let one = session.device.unwrap_or(config.force.device);
        let several = assemble::several_devices(config, session)?;
        let (engine, mut why) = self.blueprint.engine(session.engine, one);
        if several.is_some() && session.team.is_some() && engine.kind() == Some(EngineKind::Cuda) {
            why += "; on one GPU: each rank takes one";
        }
        let devices = several.filter(|_| session.team.is_none()).map_or_else(|| vec![one], |(_, devices)| devices);
        tracing::info!("{why}; precision {}", config.force.precision().name());
        self.engine_choice = why;
        let kind = engine.kind().unwrap_or(EngineKind::Cpu);
        let options = Options { session: Session { engine: Some(engine), ..session }, ..*options };
        if kind != EngineKind::Cuda {
            return self.run_on(&options, &[], observe);
        }
        self.gpus = devices.iter().map(|device| assemble::open_ahead(*device)).collect();
        let open = |device| move |precision, largest| assemble::system_stepper(precision, device, largest);
        let opens: Vec<_> = devices.iter().map(|device| open(*device)).collect();
        let devices = devices.iter().zip(&opens);
        let devices: Vec<_> = devices.map(|(&number, open)| Device { number, kind, open: open as &Open<'_> }).collect();
        self.run_on(&options, &devices, observe)
    }

    /// Integrates members as [`Self::run`]: on GPUs, or on the cores where there are none.
    fn run_on(
        &mut self,
        options: &Options,
        devices: &[Device<'_>],
        observe: &mut dyn FnMut(&Status),
    ) -> Result<ExitReason> {
        // Each member is of one process.
        let (session, team) = (Session { team: None, ..options.session }, options.session.team);
        // From here on the hashes are those of the rows that are there.
        self.directory.save(&self.states)?;
        let todo = self.directory.missing(self.blueprint.members.count());
        let (began, limit) = (Instant::now(), options.wall_time);
        let aborted = AtomicBool::new(false);
        let ending = || {
            if options.stop.load(Ordering::Relaxed) {
                Some(ExitReason::Interrupted)
            } else if limit.is_some_and(|limit| began.elapsed() >= limit) {
                Some(ExitReason::TimeLimit)
            } else {
                None
            }
        };
        let stops = || aborted.load(Ordering::Relaxed) || ending().is_some();
        let snapshots = self.directory.snapshots();
        let common = (&self.blueprint, &self.tables);
        let parts = team.map_or(devices.len(), Team::size);
        let todo = Todo { members: todo, states: self.states.clone(), parts };
        let work = Work::new(common, &snapshots, (session, options.stop), todo, &stops);
        let (sender, receiver) = mpsc::channel();
        let outcome = std::thread::scope(|scope| {
            let workers = start(scope, &work, options.threads, devices, team, sender);
            let mut collector =
                Collector { directory: &mut self.directory, states: &mut self.states, status: &mut self.status };
            let outcome = workers.and_then(|()| collector.collect(&work, &receiver, observe));
            aborted.store(true, Ordering::Relaxed);
            // Workers end at the next look at the flag. What they still send is kept where it can be; the first error counts.
            while let Ok(message) = receiver.recv() {
                let _ = collector.take(message);
            }
            outcome
        });
        let kept = self.directory.sync().and_then(|()| self.directory.save(&self.states));
        if let Err(error) = outcome {
            // The error that ended the session is returned, and one of its last files logged.
            if let Err(also) = kept {
                tracing::error!("{also}");
            }
            return Err(error);
        }
        kept?;
        Ok(if self.status.ended == self.status.members {
            ExitReason::Finished
        } else {
            ending().unwrap_or(ExitReason::Interrupted)
        })
    }

    /// Completes the tables on the disk, and writes the summary.
    ///
    /// # Errors
    /// [`Error::Storage`](tisane::Error::Storage) if they cannot be written.
    pub fn conclude(&mut self, ending: ExitReason) -> Result<Summary> {
        self.directory.complete()?;
        let summary = Summary::new(
            &self.blueprint,
            self.members(),
            &self.status,
            self.engine_choice.clone(),
            ending,
            self.began.elapsed(),
        );
        summary.write(self.directory.path())?;
        Ok(summary)
    }

    /// Returns the table of the members that have ended.
    #[must_use]
    pub fn members(&self) -> &tisane_io::table::Table {
        self.directory.members()
    }

    /// Returns the table of the outputs, if they are kept.
    #[must_use]
    pub fn series(&self) -> Option<&tisane_io::table::Table> {
        self.directory.series()
    }
}

/// Where what the workers send is kept.
struct Collector<'a> {
    directory: &'a mut Directory,
    states: &'a mut BTreeMap<u64, MemberState>,
    status: &'a mut Status,
}

impl Collector<'_> {
    /// Takes what the workers send until they have ended.
    fn collect(
        &mut self,
        work: &Work<'_>,
        receiver: &Receiver<Message>,
        observe: &mut dyn FnMut(&Status),
    ) -> Result<()> {
        let (mut shown, mut saved) = (Instant::now(), Instant::now());
        let (mut has_states, mut has_rows) = (false, false);
        loop {
            let message = receiver.recv_timeout(INTERVAL);
            let ended = matches!(message, Err(RecvTimeoutError::Disconnected));
            if let Ok(message) = message {
                has_states |= matches!(message, Message::State(_));
                has_rows |= matches!(message, Message::Ended(_));
                self.take(message)?;
            }
            if shown.elapsed() >= INTERVAL || ended {
                shown = Instant::now();
                self.directory.flush()?;
                let is_due = has_states || (has_rows && saved.elapsed() >= work.checkpoint_interval);
                if is_due && !work.is_stopping() {
                    self.directory.sync()?;
                    self.directory.save(self.states)?;
                    (has_states, has_rows, saved) = (false, false, Instant::now());
                }
                let status = &mut *self.status;
                (status.block_steps, status.done) = (work.block_steps(), status.ended as f64 + work.shares());
                observe(status);
            }
            if ended {
                return Ok(());
            }
        }
    }

    /// Takes a message of a worker.
    fn take(&mut self, message: Message) -> Result<()> {
        match message {
            Message::Outputs(rows) => rows.into_iter().for_each(|row| self.directory.push_output(row)),
            Message::Journals(rows) => {
                for (journal, rows) in rows {
                    rows.into_iter().for_each(|row| self.directory.push_event(journal, row));
                }
            }
            Message::Ended(ended) => {
                self.states.remove(&ended.member);
                self.status.ended += 1;
                self.status.failed += u64::from(!ended.problem.is_empty());
                if ended.problem.is_empty() {
                    self.status.energy_error = self.status.energy_error.max(ended.energy_error);
                } else {
                    tracing::warn!("member {}: {}", ended.member, ended.problem);
                }
                self.directory.push_member(ended.row);
            }
            Message::State(state) => {
                self.states.insert(state.member, *state);
            }
            Message::Failed(error) => return Err(error),
        }
        Ok(())
    }
}
