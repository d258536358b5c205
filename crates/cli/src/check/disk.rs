//! What a run writes: files of a known size, and journals, whose rows depend on what happens.

use tisane::diagnostics::cluster::own_frame::{self, OwnFrame};
use tisane_io::directory::bytes;
use tisane_io::fields::Journal;
use tisane_run::assemble::Setup;
use tisane_run::binaries::{Binaries, Kind, Marginal};
use tisane_run::config::Kept;
use tisane_run::ensemble::Blueprint;
use tisane_run::star_forecast::StarForecast;

/// Bytes of a particle in a snapshot.
const SNAPSHOT_PER_PARTICLE: u64 = 104;
/// Bytes of a particle in a checkpoint.
const CHECKPOINT_PER_PARTICLE: u64 = 129;
/// Bytes of a file without particles, with two configurations of a few kB in it.
const FILE_OVERHEAD: u64 = 48 << 10;
/// Bytes of a row of diagnostics, in CSV and HDF5.
const ROW: u64 = 1200;
/// Bytes of a row about the cluster, in CSV and HDF5.
const CLUSTER_ROW: u64 = 4000;
/// Bytes of a row about a change of type, in CSV and HDF5.
const STELLAR_ROW: u64 = 700;
/// Bytes of a row about a member of an ensemble, and of one of its series, in CSV and HDF5.
const MEMBER_ROW: u64 = 1200;
const SERIES_ROW: u64 = 400;
/// Bytes of a row about a binary, an event and a change of subsystems, in CSV and HDF5.
const BINARY_ROW: f64 = 700.0;
const EVENT_ROW: f64 = 1100.0;
const ENCOUNTER_ROW: f64 = 1070.0;
/// Factors within which the number of binaries, that of changes of marginal pairs, and the share of these that an output sees as
/// events are expected.
const BINARIES_WITHIN: [f64; 2] = [0.5, 2.0];
const CHANGES_WITHIN: [f64; 2] = [0.4, 2.5];
const EVENTS_WITHIN: [f64; 2] = [0.1, 2.0];
/// Rows about passages in a crossing time over the root of the number of stars. Plummer spheres of 100, 256, 300 and 1000 had 1.1 to 1.3 to
/// t = 10, four of each.
const PASSAGES: f64 = 1.2;
/// Journals below this part of the files of known size are not told.
const FEW: f64 = 0.1;

/// Returns the bytes of the first snapshot and two checkpoints of `n` particles.
pub fn disk_per_output(n: usize) -> u64 {
    n as u64 * (SNAPSHOT_PER_PARTICLE + 2 * CHECKPOINT_PER_PARTICLE) + 3 * FILE_OVERHEAD
}

/// Disk space that a run takes.
pub(super) struct Disk {
    /// Bytes of snapshots, checkpoints, diagnostics and structure; of an ensemble, of all but the encounters journal.
    known: u64,
    /// Bytes of the journals of binaries, events and subsystems: least and most.
    journals: [f64; 2],
    /// What these are, and of what they are expected.
    about: String,
}

impl Disk {
    /// Estimates the space from the binaries that a run starts with, and from what its stars do. `found` are its close pairs, `clusters`
    /// the systems that they are in. Of an ensemble `setup` is member 0, and the space that of all.
    pub(super) fn of(
        setup: &Setup,
        (found, clusters): (&Binaries, &[OwnFrame]),
        stars: Option<&StarForecast>,
        blueprint: Option<&Blueprint>,
    ) -> Self {
        let (config, is_cluster) = (&setup.config, found.kind == Kind::Cluster);
        let marginal = if is_cluster { found.marginal(&setup.particles, &setup.binaries) } else { Marginal::default() };
        let (span, dt_max) = (found.terms().span, setup.clock.dt_max);
        let changes = if config.subsystems().is_some() { marginal.rows(span, dt_max) } else { 0.0 };
        let types = stars.map_or(0, |stars| stars.changing as u64) * STELLAR_ROW;
        if let Some(blueprint) = blueprint {
            let (members, rows) = (blueprint.members.count(), changes + passages(setup, clusters));
            let journals = CHANGES_WITHIN.map(|within| members as f64 * rows * ENCOUNTER_ROW * within);
            let known = of_members(setup, blueprint) + members * types;
            return Self { known, journals, about: Journal::Encounters.csv().into() };
        }
        let surveys = if config.cluster.enabled { outputs(setup.steps_to_end, config.cluster_every()) } else { 0 };
        let hard = found.bodies.systems.all.len();
        // Subsystems have rows where they are soft, too.
        let followed = if config.subsystems().is_some() { setup.binaries.len() } else { 0 };
        let binaries = if is_cluster { hard.max(followed) } else { 0 };
        let journals = [0, 1].map(|end| {
            surveys as f64 * binaries as f64 * BINARY_ROW * BINARIES_WITHIN[end]
                + surveys as f64 * marginal.pairs * EVENT_ROW * EVENTS_WITHIN[end]
                + changes * ENCOUNTER_ROW * CHANGES_WITHIN[end]
        });
        let pairs = match marginal.pairs.round() {
            0.0 => String::new(),
            pairs => format!(", {pairs} pairs that form and dissolve once an orbit"),
        };
        let about = format!(
            "the journals of binaries, events and subsystems, if it goes on with {binaries} binaries and hierarchies{pairs}"
        );
        Self { known: of_run(setup, surveys) + types, journals, about }
    }

    /// Returns the least number of bytes.
    pub(super) fn min(&self) -> u64 {
        self.known + self.journals[0] as u64
    }

    /// Describes the space in one line.
    pub(super) fn describe(&self) -> String {
        let known = format!("about {}", bytes(self.known));
        let [min, max] = self.journals;
        if max < FEW * self.known as f64 {
            return known;
        }
        let [least, most] = self.journals.map(|journals| bytes(self.known + journals as u64));
        let [min, max] = [min, max].map(|journals| bytes(journals as u64));
        format!("{least} to {most}: {known}, and {min} to {max} for {}", self.about)
    }
}

/// Returns the number of rows about stars that pass each other, which are a subsystem for that time.
fn passages(setup: &Setup, clusters: &[OwnFrame]) -> f64 {
    let [cluster] = clusters else { return 0.0 };
    let crossing = cluster.crossing_time();
    if setup.config.subsystems().is_none() || cluster.kind != own_frame::Kind::Cluster || crossing.is_nan() {
        return 0.0;
    }
    let span = setup.clock.dt_max * setup.steps_to_end as f64;
    PASSAGES * (setup.particles.len() as f64).sqrt() * (span / crossing)
}

/// Returns the bytes of snapshots, checkpoints, diagnostics and `surveys` of a run.
fn of_run(setup: &Setup, surveys: u64) -> u64 {
    let (config, n) = (&setup.config, setup.particles.len() as u64);
    let snapshots = outputs(setup.steps_to_end, config.snapshot_every());
    let rows = outputs(setup.steps_to_end, config.diagnostics_every());
    snapshots * (n * SNAPSHOT_PER_PARTICLE + FILE_OVERHEAD)
        + 2 * (n * CHECKPOINT_PER_PARTICLE + FILE_OVERHEAD)
        + rows * ROW
        + surveys * CLUSTER_ROW
}

/// Returns the bytes that all members of an ensemble write, if they are like member 0, but for journals.
fn of_members(setup: &Setup, blueprint: &Blueprint) -> u64 {
    let Some(ensemble) = &blueprint.config.ensemble else { return 0 };
    let rows = outputs(setup.steps_to_end, setup.config.diagnostics_every());
    let snapshots = match ensemble.snapshots {
        Kept::None => 0,
        Kept::End => 1,
        Kept::All => outputs(setup.steps_to_end, setup.config.snapshot_every()),
    };
    let snapshot = setup.particles.len() as u64 * SNAPSHOT_PER_PARTICLE + FILE_OVERHEAD;
    let series = if ensemble.series { rows * SERIES_ROW } else { 0 };
    blueprint.members.count() * (MEMBER_ROW + series + snapshots * snapshot) + 2 * FILE_OVERHEAD
}

/// Returns the number of outputs at an interval, including the first and the last.
pub(super) fn outputs(steps: u64, every: u64) -> u64 {
    steps.div_ceil(every) + 1
}
