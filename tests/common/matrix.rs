//! Small whole runs of every mode and scheme, done in many ways, each of which must end in the state that the table
//! `tests/determinism.txt` has for that mode and scheme.

#![allow(dead_code, reason = "each test file uses its own part")]

use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tisane::diagnostics::cluster::{LagrangianMass, Settings};
use tisane::diagnostics::force_audit::Auditor;
use tisane::encounters::{Encounters, SubsystemState};
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::range::Range;
use tisane::force::split::{Split, Threads};
use tisane::force::{Accelerations, EngineKind, Evaluation, ForceEngine, Forces, reference};
use tisane::integrator::ahmad_cohen::{self, AhmadCohen};
use tisane::integrator::hermite4::{Hermite4, Limits, OnFloor, Parameters};
use tisane::integrator::leapfrog::Leapfrog;
use tisane::integrator::multipoint::{self, Multipoint, Order};
use tisane::integrator::{Integrator, Steps};
use tisane::particles::{Particles, Vec3, hexadecimal};
use tisane::propagator::Propagator;
use tisane::states::history::History;
use tisane::states::low_parts::LowParts;
use tisane::time::{Clock, Level, Time};
use tisane::units::{Scale, Units};
use tisane_io::checkpoint::{self, Checkpoint, Counters, OutputCounts, References, RunState};
use tisane_io::fields::{ClusterColumns, DiagnosticsRow, FieldColumns};
use tisane_io::file_units::FileUnits;
use tisane_io::provenance::Provenance;
use tisane_run::cluster;
use tisane_run::simulation::{ExitReason, Observer, Plan, Simulation};
use tisane_run::system::Engines;

/// The hashes of states: mode, scheme, system, SHA-256.
const TABLE: &str = include_str!("../determinism.txt");

/// Schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Hermite4,
    Multipoint6,
    Multipoint8,
    /// The neighbour scheme of 6th order, and of 4th.
    AhmadCohen6,
    AhmadCohen4,
    Leapfrog,
    /// The scheme of 4th order with subsystems, and the others with block steps.
    Encounters,
    EncountersMultipoint6,
    EncountersMultipoint8,
    EncountersAhmadCohen6,
    EncountersAhmadCohen4,
}

/// Systems. 257 particles are four whole bags and one of a single source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// 257 equal masses, softened.
    Softened,
    /// 257 unequal masses without softening.
    Bare,
    /// 2081 equal masses, softened: blocks that the integrator shares among threads.
    Large,
    /// 120 systems without softening, half of them binaries with semi-major axes from 1e-6 to 1e-2.
    Binaries,
    /// 40 systems without softening: single stars, and triples and quadruples with axes of 1e-5 to 1e-2.
    Hierarchies,
}

/// What is to be integrated, and how exactly.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub precision: Precision,
    pub scheme: Scheme,
    pub system: System,
}

/// What a run goes through on its way.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    pub cadence: Cadence,
    /// Block steps of the sessions before the last, which goes to the end; the last number is repeated with `again`.
    pub sessions: &'static [u64],
    pub again: bool,
}

/// When what is written, in quarters of the run; 0 for never but where it must be.
#[derive(Clone, Copy, Debug)]
pub struct Cadence {
    pub diagnostics: u64,
    pub snapshots: u64,
    pub cluster: u64,
    /// After every block step.
    pub checkpoints: bool,
}

/// Output cadences: none, all, some of each kind, a checkpoint after every block step.
pub const CADENCES: [Cadence; 5] = [
    Cadence { diagnostics: 0, snapshots: 0, cluster: 0, checkpoints: false },
    Cadence { diagnostics: 1, snapshots: 1, cluster: 1, checkpoints: false },
    Cadence { diagnostics: 1, snapshots: 0, cluster: 0, checkpoints: false },
    Cadence { diagnostics: 0, snapshots: 3, cluster: 2, checkpoints: false },
    Cadence { diagnostics: 2, snapshots: 0, cluster: 0, checkpoints: true },
];

/// Where a run is stopped and resumed: nowhere, after its first block step, twice, in mid-flight, again and again.
pub const STOPS: [(&[u64], bool); 5] = [(&[], false), (&[1], false), (&[7, 2], false), (&[9], false), (&[4, 9], true)];

/// A course, and two more numbers below 5 that choose what computes: over all 25 rows each pair of values of any two of
/// the four comes up exactly once (an orthogonal array).
pub fn row(i: usize, j: usize) -> (Course, usize, usize) {
    let (sessions, again) = STOPS[j];
    (Course { cadence: CADENCES[i], sessions, again }, (i + j) % 5, (i + 2 * j) % 5)
}

/// The course that nothing disturbs.
pub const STRAIGHT: Course = Course { cadence: CADENCES[0], sessions: &[], again: false };

/// The schemes that take forces of a mode.
pub fn schemes(precision: Precision) -> impl Iterator<Item = Scheme> {
    let all = [
        Scheme::Hermite4,
        Scheme::Multipoint6,
        Scheme::Multipoint8,
        Scheme::AhmadCohen6,
        Scheme::AhmadCohen4,
        Scheme::Leapfrog,
        Scheme::Encounters,
        Scheme::EncountersMultipoint6,
        Scheme::EncountersMultipoint8,
        Scheme::EncountersAhmadCohen6,
        Scheme::EncountersAhmadCohen4,
    ];
    all.into_iter().filter(move |scheme| match scheme {
        Scheme::Multipoint8 => precision.in_f64(),
        // Their correctors and criteria are those of other schemes.
        Scheme::AhmadCohen4 | Scheme::EncountersAhmadCohen4 | Scheme::EncountersMultipoint8 => {
            precision == Precision::F64
        }
        // What subsystems do is in f64 in every mode.
        Scheme::EncountersMultipoint6 | Scheme::EncountersAhmadCohen6 => {
            matches!(precision, Precision::F64 | Precision::Mixed)
        }
        _ => true,
    })
}

impl Scheme {
    /// The systems of the table for this scheme.
    pub fn systems(self) -> &'static [System] {
        if self.has_subsystems() {
            &[System::Binaries, System::Hierarchies]
        } else {
            &[System::Softened, System::Bare, System::Large]
        }
    }

    /// Returns true for a scheme with subsystems.
    pub fn has_subsystems(self) -> bool {
        matches!(
            self,
            Self::Encounters
                | Self::EncountersMultipoint6
                | Self::EncountersMultipoint8
                | Self::EncountersAhmadCohen6
                | Self::EncountersAhmadCohen4
        )
    }
}

/// Every mode, scheme and system of the table.
pub fn jobs() -> Vec<Job> {
    let mut jobs = Vec::new();
    for precision in Precision::ALL {
        for scheme in schemes(precision) {
            for &system in scheme.systems() {
                jobs.push(Job { precision, scheme, system });
            }
        }
    }
    jobs
}

impl Job {
    /// How the table calls it.
    pub fn name(&self) -> String {
        format!("{} {:?} {:?}", self.precision.name(), self.scheme, self.system).to_lowercase()
    }

    /// The hash in the table.
    #[track_caller]
    pub fn expected(&self) -> &'static str {
        let name = self.name();
        let found = TABLE.lines().find_map(|line| line.strip_prefix(&name)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("tests/determinism.txt has no line for {name}"))
    }

    pub fn epsilon(&self) -> f64 {
        if matches!(self.system, System::Softened | System::Large) { 1.0 / 256.0 } else { 0.0 }
    }

    pub fn clock(&self) -> Clock {
        let dt_max = match self.scheme {
            Scheme::Leapfrog => 1.0 / 1024.0,
            scheme if scheme.has_subsystems() => 1.0 / 128.0,
            _ => 1.0 / 256.0,
        };
        Clock { start: 0.0, dt_max }
    }

    /// Length of the run, and a quarter of it, in dt_max.
    fn periods(&self) -> (u64, u64) {
        match (self.scheme, self.system) {
            (_, System::Large) => (1, 1),
            (Scheme::Leapfrog, _) => (12, 3),
            _ => (4, 1),
        }
    }

    pub fn n(&self) -> usize {
        match self.system {
            System::Softened | System::Bare => 257,
            System::Large => 2081,
            System::Binaries => 180,
            System::Hierarchies => 90,
        }
    }

    fn particles(&self) -> Particles {
        let n = self.n();
        let sample = |n| tisane::initial::plummer::sample(n, 7, 0.999);
        match self.system {
            System::Binaries => return self.multiplied(&sample(120)),
            System::Hierarchies => return self.multiplied(&sample(40)),
            _ => {}
        }
        let mut p = sample(n);
        if self.system == System::Bare {
            p.mass.iter_mut().enumerate().for_each(|(i, mass)| *mass *= 0.5 + i as f64 / n as f64);
        }
        p
    }

    /// The units of a sample with binaries, triples and quadruples in place of some.
    fn multiplied(&self, units: &Particles) -> Particles {
        let mut stars: Vec<(f64, Vec3, Vec3)> = Vec::new();
        for i in 0..units.len() {
            let one = (units.mass[i], units.pos[i], units.vel[i]);
            let part = (i as f64 + 0.5) / units.len() as f64;
            let turn = Vec3::new(part, 1.0 - part, 2.0 * part - 1.0).normalize();
            let (close, wide) = (1e-6 * 10f64.powi(i as i32 % 5), 1e-4 * 10f64.powi(i as i32 % 3));
            match (self.system, i % 4) {
                (System::Binaries, 0 | 1) => stars.extend(pair(one, close, 0.9 * part, turn)),
                (System::Hierarchies, 0) => {
                    let [inner, outer] = pair(one, wide, 0.3 * part, turn);
                    stars.extend(pair(inner, 0.1 * wide, 0.4 * part, turn.yzx()));
                    stars.push(outer);
                }
                (System::Hierarchies, 1) => {
                    let two = pair(one, wide, 0.3 * part, turn);
                    stars.extend(two.into_iter().flat_map(|inner| pair(inner, 0.08 * wide, 0.2, turn.zxy())));
                }
                _ => stars.push(one),
            }
        }
        let column = |of: fn(&(f64, Vec3, Vec3)) -> Vec3| stars.iter().map(of).collect();
        Particles::new(stars.iter().map(|star| star.0).collect(), column(|star| star.1), column(|star| star.2))
    }

    /// This scheme with an engine of forces, which measures too if there is no separate f64 engine.
    pub fn forces(&self, engine: Box<dyn ForceEngine>, f64_engine: Option<Box<dyn ForceEngine>>) -> Propagator {
        let integrator: Box<dyn Integrator<Evaluation = Forces>> = if self.scheme.has_subsystems() {
            Box::new(Encounters::new(self.steps(), 1e-5, self.clock()))
        } else {
            self.steps()
        };
        match f64_engine {
            Some(f64_engine) => Propagator::new(integrator, engine, f64_engine),
            None => Propagator::in_f64(integrator, engine),
        }
    }

    /// This scheme with block steps, without subsystems.
    fn steps(&self) -> Box<dyn Steps> {
        match self.scheme {
            Scheme::Multipoint6 | Scheme::EncountersMultipoint6 => self.multipoint(Order::Six),
            Scheme::Multipoint8 | Scheme::EncountersMultipoint8 => self.multipoint(Order::Eight),
            Scheme::AhmadCohen6 | Scheme::EncountersAhmadCohen6 => self.ahmad_cohen(ahmad_cohen::Order::Six),
            Scheme::AhmadCohen4 | Scheme::EncountersAhmadCohen4 => self.ahmad_cohen(ahmad_cohen::Order::Four),
            Scheme::Hermite4 | Scheme::Encounters | Scheme::Leapfrog => {
                Box::new(Hermite4::new(self.hermite4(), self.clock()))
            }
        }
    }

    fn multipoint(&self, order: Order) -> Box<dyn Steps> {
        let (eta, limits) = (0.3, self.limits());
        let parameters = multipoint::Parameters { order, eta, limits, ..multipoint::Parameters::new(self.precision) };
        Box::new(Multipoint::new(parameters, self.clock()))
    }

    fn ahmad_cohen(&self, order: ahmad_cohen::Order) -> Box<dyn Steps> {
        // Lists of more than a vector of any width, and of more than a bag; fewer than all among few systems.
        let neighbours = if self.scheme.has_subsystems() { 16.0 } else { 70.0 };
        let parameters = ahmad_cohen::Parameters {
            neighbours: Some(neighbours),
            limits: self.limits(),
            ..ahmad_cohen::Parameters::new(order, self.precision)
        };
        Box::new(AhmadCohen::new(parameters, self.clock()))
    }

    fn limits(&self) -> Limits {
        Limits { floor: Level::DEEPEST, on_floor: OnFloor::Clamp, ..Limits::new(self.precision) }
    }

    fn hermite4(&self) -> Parameters {
        Parameters { nu: 0.02, nu_start: 0.02, iterations: 1, limits: self.limits() }
    }

    /// This scheme with an engine of accelerations.
    pub fn accelerations(
        &self,
        engine: Box<dyn ForceEngine<Accelerations>>,
        f64_engine: Box<dyn ForceEngine>,
    ) -> Propagator {
        Propagator::of_accelerations(
            Box::new(Leapfrog::new(self.clock(), Range::for_precision(self.precision))),
            engine,
            f64_engine,
        )
    }

    /// What computes on the CPU: vectorised, or with `None` the reference.
    pub fn on_cpu(&self, width: Option<Width>) -> Engines {
        self.on_several(&[width])
    }

    /// Several engines of the CPU that share the targets, from a block of two on. The first measures, if it is in f64.
    pub fn on_several(&self, widths: &[Option<Width>]) -> Engines {
        let (precision, epsilon, clock) = (self.precision, self.epsilon(), self.clock());
        let f64_engine = || -> Box<dyn ForceEngine> {
            cpu::engine(Precision::F64, epsilon, clock, widths[0].unwrap_or(Width::choose().unwrap()))
        };
        let propagator = match self.scheme {
            Scheme::Leapfrog => {
                let engine = |width: &Option<Width>| match *width {
                    Some(width) => cpu::accelerations(precision, epsilon, width),
                    None => reference::accelerations(precision, epsilon),
                };
                self.accelerations(together(widths.iter().map(engine)), f64_engine())
            }
            _ => {
                let engine = |width: &Option<Width>| -> Box<dyn ForceEngine> {
                    match *width {
                        Some(width) => cpu::engine(precision, epsilon, clock, width),
                        None => reference::engine(precision, epsilon, clock),
                    }
                };
                let measures = widths[0].is_some() && precision.in_f64();
                self.forces(together(widths.iter().map(engine)), (!measures).then(f64_engine))
            }
        };
        engines(propagator, None)
    }
}

/// One engine of several, the first in this thread.
fn together<E: Evaluation>(mut engines: impl Iterator<Item = Box<dyn ForceEngine<E>>>) -> Box<dyn ForceEngine<E>> {
    let (own, others): (_, Vec<_>) = (engines.next().unwrap(), engines.collect());
    if others.is_empty() { own } else { Box::new(Split::new(own, Box::new(Threads::new(others).unwrap()), 2)) }
}

/// Two stars in place of one, at the apocentre of their orbit in the plane of `turn` and the z axis.
fn pair((mass, pos, vel): (f64, Vec3, Vec3), axis: f64, e: f64, turn: Vec3) -> [(f64, Vec3, Vec3); 2] {
    let r = axis * (1.0 + e);
    let across = turn.cross(&Vec3::z()).normalize();
    let (x, v) = (turn * r, across * (mass * (1.0 - e) / r).sqrt());
    [(0.6, -0.4), (0.4, 0.6)].map(|(share, part)| (mass * share, pos + x * part, vel + v * part))
}

/// What computes, with an audit of its forces by the CPU in f64: `of_its_own`, or where that is none what measures.
pub fn engines(propagator: Propagator, of_its_own: Option<Box<dyn ForceEngine>>) -> Engines {
    let auditor = Auditor { engine: of_its_own, sample: 16, limit: f64::INFINITY };
    Engines {
        kind: EngineKind::Cpu,
        propagator,
        auditor: Some(auditor),
        law: None,
        origin: None,
        tide: None,
        epsilon: 0.0,
        evolution: None,
    }
}

/// Threads and engines of a session of a run, by the session's number.
pub type Session<'a> = dyn Fn(usize) -> (usize, Engines) + 'a;

/// Does a run and asserts that its end has the hash `expected`.
#[track_caller]
pub fn assert_ends_in(expected: &str, job: &Job, course: &Course, what: &str, session: &Session<'_>) {
    let found = end_of(job, course, session);
    assert_eq!(found, expected, "{}, {what}, {course:?}: other bits", job.name());
}

/// The hash of the state that a run ends in.
pub fn end_of(job: &Job, course: &Course, session: &Session<'_>) -> String {
    let dir = scratch();
    std::fs::create_dir(dir.path().join("snapshots")).unwrap();
    let mut left = course.sessions.to_vec();
    for number in 0.. {
        let (threads, engines) = session(number);
        let limit = match (left.len(), course.again) {
            (0, _) => u64::MAX,
            (1, true) => left[0],
            _ => left.remove(0),
        };
        let one = || one_session(job, course, dir.path(), engines, limit);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        if let Some(hash) = pool.install(one) {
            assert!(number > 0 || course.sessions.is_empty(), "{}: over before it could be stopped", job.name());
            return hash;
        }
    }
    unreachable!("a run ends");
}

/// Starts or resumes a run, and goes at most `limit` block steps; the hash of its last state if it has reached its end.
/// Of the session before nothing is known but the files.
fn one_session(job: &Job, course: &Course, dir: &Path, engines: Engines, limit: u64) -> Option<String> {
    let begun = dir.join(checkpoint::NEWEST).exists();
    let (particles, state, history) = if begun {
        let (Checkpoint { particles, run, history, .. }, damage) = checkpoint::read_newest(dir).unwrap();
        assert_eq!(damage, None);
        (particles, run, history)
    } else {
        (job.particles(), not_begun(job.clock()), Default::default())
    };
    let files = FileUnits { units: Units::henon(), scale: Scale::IDENTITY };
    let provenance = Provenance::current();
    let mut run = Simulation::new(particles, state, engines, (files, provenance), plan(job, course.cadence, dir));
    run.history = history;
    run.limit_block_steps(limit);
    let mut outputs = if begun { run.resume() } else { run.start(&mut Blind) }.unwrap();
    match run.run(&mut outputs, &mut Blind).unwrap() {
        ExitReason::Finished => Some(hash(&run)),
        ExitReason::BlockStepLimit => None,
        other => panic!("{other:?}"),
    }
}

/// A folder in memory, where there is one: that files survive a power cut is not the matter here.
fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn plan(job: &Job, cadence: Cadence, dir: &Path) -> Plan {
    let (periods, quarter) = job.periods();
    let every = |quarters| if quarters == 0 { u64::MAX } else { quarters * quarter };
    let settings = Settings {
        neighbours: 6,
        lagrangian_mass: LagrangianMass::Initial,
        binary_hardness: 1.0,
        escape_radius: 10.0,
        encounter_radius: 1.0,
        epsilon: job.epsilon(),
    };
    Plan {
        directory: dir.to_owned(),
        end: Time::from_dt_max(periods),
        diagnostics_every: every(cadence.diagnostics),
        snapshots_every: every(cadence.snapshots),
        cluster: (cadence.cluster > 0).then(|| cluster::Plan {
            every: every(cadence.cluster),
            settings,
            columns: ClusterColumns::default(),
        }),
        checkpoint_interval: if cadence.checkpoints { Duration::ZERO } else { Duration::MAX },
        wall_time: None,
        block_steps: None,
        bound_fraction: None,
        energy_error: None,
        wait_for_space: false,
        field: FieldColumns::None,
        conserves_jacobi: false,
        epsilon: 0.0,
        subsystems: job.scheme == Scheme::Encounters,
        star_events: false,
        evolution: false,
        stops_at_contact: false,
    }
}

fn not_begun(clock: Clock) -> RunState {
    RunState {
        now: Time::default(),
        clock,
        scale: Scale::IDENTITY,
        counters: Counters::default(),
        written: OutputCounts::default(),
        references: References::default(),
        orbit: None,
        wall_seconds: 0.0,
    }
}

/// SHA-256 of everything that a run goes on from: every column of the particles, the moment, the work done.
fn hash(run: &Simulation) -> String {
    let (p, counters) = (&run.system.particles, run.system.state.counters);
    let History { derivatives, points } = p.states.get();
    let subsystems = p.states.get::<SubsystemState>();
    let LowParts { pos: low_pos, vel: low_vel } = p.states.get();
    let vectors = [&p.pos, &p.vel, &p.acc, &p.jerk, low_pos, low_vel].into_iter().chain(derivatives);
    let vectors = vectors.chain(points.iter().flat_map(|point| [&point.acc, &point.jerk])).flatten().flatten();
    let floats = vectors.chain(&p.mass).chain(&p.pot).chain(&subsystems.numbers).map(|x| x.to_bits());
    let counts = [run.system.state.now.0, counters.block_steps, counters.particle_steps, counters.pair_interactions];
    let whole =
        p.id.iter()
            .copied()
            .chain(p.time.iter().chain(points.iter().flat_map(|point| &point.time)).map(|t| t.0))
            .chain(p.step.iter().map(|l| u64::from(l.0)))
            .chain(subsystems.words.iter().copied());
    let mut digest = Sha256::new();
    floats.chain(whole).chain(counts).for_each(|word| digest.update(word.to_le_bytes()));
    hexadecimal(&digest.finalize())
}

/// Does not look on.
struct Blind;

impl Observer for Blind {
    fn step(&mut self, _: &RunState) {}
    fn output(&mut self, _: &DiagnosticsRow, _: bool) {}
}
