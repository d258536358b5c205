//! The newest state of a run's particles in its directory: the checkpoint, or a later snapshot.

use super::settings::Settings;
use crate::checkpoint::{self, Checkpoint, Counters};
use crate::directory;
use crate::provenance::Provenance;
use crate::snapshot::{self, SnapshotData};
use std::path::Path;
use tisane::diagnostics::cluster::Stars;
use tisane::encounters::SubsystemState;
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, Level, Time};
use tisane::units::Scale;

/// Snapshots that are tried, the newest first, before none counts as readable.
const TRIED: usize = 3;

/// Particles of a run, all at one time, in internal units.
#[derive(Clone, Debug)]
pub struct State {
    /// File that it was read from.
    pub source: String,
    /// Time, in the user's unit.
    pub time: f64,
    /// Particles, predicted to that time.
    pub stars: Stars,
    /// Block level of the next step of each.
    pub levels: Vec<Level>,
    /// Longest step, in the user's unit.
    pub dt_max: f64,
    /// Subsystem whose internal motion took the most work, in a run with subsystems; a snapshot does not have it.
    pub internal_motion: Option<InternalMotion>,
    /// Size of the internal units in the user's units.
    pub scale: Scale,
    /// Provenance of the file.
    pub provenance: Provenance,
}

/// Subsystem whose internal motion took the most evaluations of forces, of those that are there.
#[derive(Clone, Debug, PartialEq)]
pub struct InternalMotion {
    /// Ids of its stars.
    pub ids: Vec<u64>,
    /// Time at which it formed, in the user's unit.
    pub formed: f64,
    /// Evaluations since then.
    pub evaluations: u64,
    /// Share of those of all subsystems.
    pub share: f64,
    /// Number of all subsystems.
    pub subsystems: usize,
}

impl InternalMotion {
    /// Returns the ids of its stars, joined by plus signs.
    #[must_use]
    pub fn name(&self) -> String {
        self.ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" + ")
    }

    /// Finds it in a checkpoint; [`None`] without subsystems, and where none has taken work yet.
    fn find(checkpoint: &Checkpoint) -> Option<Self> {
        let Checkpoint { particles, run, .. } = checkpoint;
        let all = particles.states.get::<SubsystemState>().internal_work(particles.len()).ok()?;
        let sum: u64 = all.iter().map(|one| one.evaluations).sum();
        let most = all.iter().max_by_key(|one| one.evaluations).filter(|most| most.evaluations > 0)?;
        Some(Self {
            ids: most.stars.iter().map(|&star| particles.id[star as usize]).collect(),
            formed: run.clock.time(most.formed) * run.scale.time,
            evaluations: most.evaluations,
            share: most.evaluations as f64 / sum as f64,
            subsystems: all.len(),
        })
    }
}

/// Time and wall time of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Time, in the user's unit.
    pub time: f64,
    /// Wall time of the run until then, in s.
    pub wall_seconds: f64,
    /// Work until then.
    pub counters: Counters,
}

/// Reads the newest valid checkpoint and, if there is a later snapshot that is whole, that one. Returns the state, the
/// progress of the checkpoint, and why files could not be read.
pub fn newest(dir: &Path, settings: &Settings) -> (Option<State>, Option<Progress>, Vec<String>) {
    let mut problems = Vec::new();
    let (state, progress) = match checkpoint::read_newest(dir) {
        Ok((checkpoint, warning)) => {
            let name = if warning.is_some() { checkpoint::PREVIOUS } else { checkpoint::NEWEST };
            problems.extend(warning);
            let state = State::from_checkpoint(name, &checkpoint);
            let run = &checkpoint.run;
            let progress = Progress { time: state.time, wall_seconds: run.wall_seconds, counters: run.counters };
            (Some(state), Some(progress))
        }
        Err(error) => {
            problems.push(error.to_string());
            (None, None)
        }
    };
    let later = later_snapshot(dir, state.as_ref().map(|state| state.time), settings, &mut problems);
    (later.or(state), progress, problems)
}

/// Returns the newest whole snapshot after a time.
fn later_snapshot(dir: &Path, after: Option<f64>, settings: &Settings, problems: &mut Vec<String>) -> Option<State> {
    let numbers = directory::snapshot_numbers(dir).map_err(|e| problems.push(e.to_string())).ok()?;
    for number in numbers.into_iter().rev().take(TRIED) {
        let path = directory::snapshot(dir, number);
        let read = snapshot::read_header(&path).and_then(|header| {
            let later = after.is_none_or(|after| header.time > after);
            later.then(|| snapshot::read(&path)).transpose()
        });
        match read {
            Ok(Some(data)) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                return Some(State::from_snapshot(&name, data, settings));
            }
            Ok(None) => return None,
            Err(error) => problems.push(error.to_string()),
        }
    }
    None
}

impl State {
    /// Returns the particles of a checkpoint, predicted to its time.
    #[must_use]
    pub fn from_checkpoint(name: &str, checkpoint: &Checkpoint) -> Self {
        let Checkpoint { particles, run, provenance, .. } = checkpoint;
        let (pos, vel) = predicted(particles, run.now, &run.clock);
        let Particles { id, mass, pot, step, .. } = particles;
        Self {
            source: name.to_owned(),
            time: run.clock.time(run.now) * run.scale.time,
            stars: Stars {
                id: id.clone(),
                mass: mass.clone(),
                pos,
                vel,
                pot: pot.clone(),
                states: Vec::new(),
                followed: Vec::new(),
            },
            levels: step.clone(),
            internal_motion: InternalMotion::find(checkpoint),
            dt_max: run.clock.dt_max * run.scale.time,
            scale: run.scale,
            provenance: provenance.clone(),
        }
    }

    /// Returns the particles of a snapshot. Without the longest step in the settings, that of the snapshot counts as
    /// such.
    #[must_use]
    pub fn from_snapshot(name: &str, data: SnapshotData, settings: &Settings) -> Self {
        let scale = data.units.scale;
        let longest = data.step.iter().copied().fold(0.0, f64::max);
        let dt_max = settings.scheme.as_ref().and_then(|scheme| scheme.dt_max).unwrap_or(longest);
        // Steps are dt_max times a power of two, but for the rounding of the unit of time.
        let level = |step: &f64| Level(((dt_max / step).log2().round().max(0.0) as u8).min(Level::DEEPEST.0));
        let vectors = |column: Vec<Vec3>, unit: f64| column.into_iter().map(|x| x / unit).collect();
        Self {
            source: name.to_owned(),
            time: data.time,
            levels: data.step.iter().map(level).collect(),
            dt_max,
            internal_motion: None,
            stars: Stars {
                id: data.id,
                mass: data.mass.into_iter().map(|m| m / scale.mass).collect(),
                pos: vectors(data.pos, scale.length),
                vel: vectors(data.vel, scale.velocity),
                pot: data.pot.into_iter().map(|pot| pot / scale.velocity.powi(2)).collect(),
                states: Vec::new(),
                followed: Vec::new(),
            },
            scale,
            provenance: data.provenance,
        }
    }
}

/// Predicts positions and velocities to one time, by the accelerations and jerks.
fn predicted(p: &Particles, now: Time, clock: &Clock) -> (Vec<Vec3>, Vec<Vec3>) {
    (0..p.len())
        .map(|i| {
            let dt = clock.between(p.time[i], now);
            let (acc, jerk) = (p.acc[i], p.jerk[i]);
            let vel = p.vel[i] + dt * (acc + dt / 2.0 * jerk);
            (p.pos[i] + dt * (p.vel[i] + dt * (acc / 2.0 + dt / 6.0 * jerk)), vel)
        })
        .unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::{OutputCounts, References, RunState};
    use crate::file_units::FileUnits;
    use crate::history::History;
    use tisane::units::Units;

    const SCALE: Scale = Scale { mass: 2.0, length: 4.0, velocity: 8.0, time: 16.0 };

    fn checkpoint() -> Checkpoint {
        let mut particles = Particles::new(vec![1.0; 2], vec![Vec3::x(), Vec3::y()], vec![Vec3::z(); 2]);
        (particles.acc[0], particles.jerk[0]) = (2.0 * Vec3::x(), 6.0 * Vec3::x());
        particles.step = vec![Level(0), Level(1)];
        // The second particle has taken its step of half of dt_max.
        particles.time[1] = Time(0).after(Level(1));
        let run = RunState {
            now: Time(0).after(Level(1)),
            clock: Clock { start: 1.0, dt_max: 0.5 },
            scale: SCALE,
            counters: Counters { block_steps: 1, ..Counters::default() },
            written: OutputCounts::default(),
            references: References::default(),
            orbit: None,
            wall_seconds: 3.0,
        };
        Checkpoint { particles, run, history: History::default(), provenance: Provenance::default() }
    }

    #[test]
    fn particles_of_a_checkpoint_stand_at_its_time() {
        let state = State::from_checkpoint("checkpoint.hdf5", &checkpoint());
        let t = 0.25;
        assert_eq!((state.time, state.dt_max), (1.25 * 16.0, 8.0));
        assert_eq!(state.stars.pos, [Vec3::new(1.0 + t * t + t * t * t, 0.0, t), Vec3::y()]);
        assert_eq!(state.stars.vel, [Vec3::new(2.0 * t + 3.0 * t * t, 0.0, 1.0), Vec3::z()]);
    }

    #[test]
    fn a_snapshot_is_taken_into_internal_units() {
        let data = SnapshotData {
            time: 2.0,
            units: FileUnits { units: Units::henon(), scale: SCALE },
            provenance: Provenance::default(),
            content_sha256: String::new(),
            id: vec![3, 7],
            mass: vec![2.0, 4.0],
            pos: vec![4.0 * Vec3::x(); 2],
            vel: vec![8.0 * Vec3::y(); 2],
            acc: vec![Vec3::zeros(); 2],
            pot: vec![-64.0; 2],
            step: vec![0.25, 0.25 / 1024.0],
            radius: Vec::new(),
            low: None,
            columns: Vec::new(),
            stars: Vec::new(),
            close: Vec::new(),
            pairs: Vec::new(),
            orbit: None,
        };
        let settings = Settings::parse("[integrator.hermite4]\ndt_max = 0.5").unwrap();
        let state = State::from_snapshot("snapshot_0001.hdf5", data, &settings);
        assert_eq!((state.dt_max, state.levels), (0.5, vec![Level(1), Level(11)]));
        let Stars { id, mass, pos, vel, pot, .. } = state.stars;
        assert_eq!((id, mass, pot), (vec![3, 7], vec![1.0, 2.0], vec![-1.0; 2]));
        assert_eq!((pos, vel), (vec![Vec3::x(); 2], vec![Vec3::y(); 2]));
    }

    #[test]
    fn the_checkpoint_is_taken_where_no_later_snapshot_is() {
        let dir = tempfile::tempdir().unwrap();
        let (none, progress, problems) = newest(dir.path(), &Settings::default());
        assert!(none.is_none() && progress.is_none() && problems.len() == 1, "{problems:?}");
        checkpoint::write(dir.path(), &checkpoint()).unwrap();
        let (state, progress, problems) = newest(dir.path(), &Settings::default());
        assert_eq!((state.unwrap().source, problems), (checkpoint::NEWEST.to_owned(), vec![]));
        assert_eq!(
            progress,
            Some(Progress {
                time: 20.0,
                wall_seconds: 3.0,
                counters: Counters { block_steps: 1, ..Counters::default() }
            })
        );
    }
}
