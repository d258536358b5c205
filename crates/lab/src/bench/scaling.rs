//! Scaling of the timed workload: its time on growing numbers of threads, GPUs or ranks of MPI, of the same sphere (strong
//! scaling) and of one that has as many particles a part (weak scaling).

use super::{EPSILON, Options, Report};
use crate::study::config::TimeSpan;
use crate::study::integrators::Integrator;
use crate::study::plummer::{self, Sphere};
use crate::study::report::{self, Rows};
use crate::study::trial::{self, Measured};
use crate::study::trials;
use serde::Serialize;
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::force::precision::Precision;
use tisane::spin_pool::on_threads;
use tisane_io::table::Table;
use tisane_plot::{Axis, Figure, Mark, Panel, Series};
use tisane_run::assemble::{self, Session};
use tisane_run::config::{DeviceSet, Engine};
use tisane_run::several;
use tisane_run::team::Team;

/// What shares the work.
#[derive(Clone, Debug)]
pub enum Share {
    /// Numbers of threads of the CPU.
    Threads(Vec<usize>),
    /// GPUs of this host: 1, 2, 4, … of them, and all.
    Gpus(DeviceSet),
    /// Ranks of MPI: the first alone, and all.
    Ranks(&'static Team),
}

/// Work whose scaling is measured: Plummer spheres.
#[derive(Clone, Debug)]
pub struct Scaling {
    /// Numbers of particles, of the smallest number of parts.
    pub n: Vec<usize>,
    /// Integrators.
    pub integrators: Vec<Integrator>,
    /// Precision modes.
    pub modes: Vec<Precision>,
    /// Kinds.
    pub kinds: Vec<Kind>,
    /// Seed of the spheres.
    pub seed: u64,
    /// What shares the work.
    pub share: Share,
}

/// Kind of scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// All numbers of parts share the same work.
    Strong,
    /// The number of particles grows with that of the parts.
    Weak,
}

impl Kind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Strong, Self::Weak];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Strong => "strong",
            Self::Weak => "weak",
        }
    }
}

/// Time of one sphere on a number of parts.
#[derive(Clone, Debug, Serialize)]
pub struct ScalingRow {
    /// Kind of scaling.
    pub kind: Kind,
    /// Integrator.
    pub integrator: &'static str,
    /// Precision mode.
    pub precision: &'static str,
    /// What shares the work: threads, GPUs or ranks.
    pub parts: &'static str,
    /// Number of them.
    pub count: usize,
    /// Number of particles.
    pub n: usize,
    /// Wall time from t = 0.25 to 0.5, in s.
    pub seconds: f64,
    /// Rate, in 10⁶ pairs per second.
    pub mega_pairs_per_second: f64,
    /// Rate over that of the smallest number of parts; of the same sphere that is the ratio of the times.
    pub speed_up: f64,
    /// That over the ratio of the numbers of parts.
    pub efficiency: f64,
    /// SHA-256 of the last state.
    pub state_sha256: String,
    /// Flag that this is the state of the smallest number of parts with the same sphere; [`None`] if that was not measured.
    pub same_state: Option<bool>,
}

/// Sphere with how it is integrated.
type Case = (Integrator, Precision, usize);
/// What was measured of spheres on numbers of parts.
type Found = Vec<((Case, usize), Measured)>;

impl Share {
    /// Returns the name of the parts.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Threads(_) => "threads",
            Self::Gpus(_) => "GPUs",
            Self::Ranks(_) => "ranks",
        }
    }

    /// Returns the numbers of parts, ascending.
    fn counts(&self) -> Result<Vec<usize>> {
        Ok(match self {
            Self::Threads(counts) => {
                let mut counts = counts.clone();
                counts.sort_unstable();
                counts.dedup();
                counts
            }
            Self::Gpus(devices) => several::counts(devices.numbers(assemble::gpus()?.len()).len()),
            Self::Ranks(team) => vec![1, team.size()],
        })
    }

    /// Returns the options and the session of a number of parts.
    fn on(&self, count: usize, options: &Options) -> Result<(usize, Session)> {
        let one = Session { device: Some(options.device), ..Session::default() };
        Ok(match self {
            Self::Threads(_) => (count, one),
            Self::Gpus(devices) => {
                let there = assemble::gpus()?.len();
                let devices = devices.first(count, there);
                let first = devices.numbers(there).first().copied();
                let session = match count {
                    1 => Session { device: first, ..Session::default() },
                    _ => Session { devices: Some(devices), always_several: true, ..Session::default() },
                };
                (options.threads, session)
            }
            Self::Ranks(team) => {
                let threads = team.take_threads(options.threads);
                (threads, Session { team: (count > 1).then_some(*team), ..Session::default() })
            }
        })
    }
}

/// Measures every sphere on every number of parts.
///
/// # Errors
/// As a run.
pub fn measure(work: &Scaling, options: &Options) -> Result<Report<ScalingRow>> {
    let counts = work.share.counts()?;
    let Some(&first) = counts.first() else { return Err(Error::input("bench scaling", "no number of parts")) };
    let (mut found, mut rows) = (Vec::new(), Vec::new());
    for &kind in &work.kinds {
        for &integrator in &work.integrators {
            for &mode in &work.modes {
                for &n in &work.n {
                    line((kind, (integrator, mode, n)), &counts, (work, options), (&mut found, &mut rows))?;
                }
            }
        }
    }
    let threads = match &work.share {
        Share::Threads(_) => counts.last().copied().unwrap_or(first),
        Share::Gpus(_) | Share::Ranks(_) => trials::threads(options.threads as u32),
    };
    Report::new("scaling", report::mode_names(work.modes.iter().copied()), options, (rows, threads))
}

/// Measures a sphere of `n` particles, or as many a part, on every number of parts. Those that were `found` before are not
/// measured again: both kinds begin with the same spheres.
fn line(
    (kind, (integrator, mode, n)): (Kind, Case),
    counts: &[usize],
    (work, options): (&Scaling, &Options),
    (found, rows): (&mut Found, &mut Vec<ScalingRow>),
) -> Result<()> {
    let first = counts[0];
    let mut rate_of_first = f64::NAN;
    for &count in counts {
        let n = if kind == Kind::Weak { n * count / first } else { n };
        let case = (integrator, mode, n);
        let known =
            |found: &Found, count| found.iter().find(|(key, _)| *key == (case, count)).map(|(_, it)| it.clone());
        let it = match known(found, count) {
            Some(it) => it,
            None => fastest(case, count, work, options)?,
        };
        let rate = it.pairs as f64 / it.seconds;
        if count == first {
            rate_of_first = rate;
        }
        let speed_up = rate / rate_of_first;
        let same = known(found, first).filter(|_| count != first);
        rows.push(ScalingRow {
            kind,
            integrator: integrator.name(),
            precision: mode.name(),
            parts: work.share.name(),
            count,
            n,
            seconds: it.seconds,
            mega_pairs_per_second: rate / 1e6,
            speed_up,
            efficiency: speed_up * first as f64 / count as f64,
            state_sha256: it.state_sha256.clone(),
            same_state: same.map(|same| same.state_sha256 == it.state_sha256),
        });
        found.push(((case, count), it));
    }
    Ok(())
}

/// Measures one sphere on a number of parts; returns the fastest repetition.
fn fastest((integrator, mode, n): Case, count: usize, work: &Scaling, options: &Options) -> Result<Measured> {
    let engine = if options.engine == EngineKind::Cuda { Engine::Cuda } else { Engine::Cpu };
    let sphere = Sphere { n: u32::try_from(n).unwrap_or(u32::MAX), seed: work.seed, epsilon: EPSILON };
    let span = TimeSpan::default();
    let accuracy = integrator.variant().tried[1];
    let (threads, session) = work.share.on(count, options)?;
    on_threads(threads, || {
        let set = plummer::setup(sphere, &span, (integrator, accuracy), (engine, mode))?;
        let mut best: Option<Measured> = None;
        for _ in 0..options.repeat.max(1) {
            let measured = trial::run(&set, session, plummer::steps(&span), None)?;
            best = [best, measured].into_iter().flatten().min_by(|a, b| a.seconds.total_cmp(&b.seconds));
        }
        best.ok_or_else(|| Error::Integration { problem: "nothing was measured".into(), help: None })
    })
}

/// Returns the table and the figure of a report, to be written.
#[must_use]
pub fn output(found: &Report<ScalingRow>) -> report::Report {
    report::Report {
        tables: vec![("scaling", table(found))],
        figures: vec![("scaling", figure(found))],
        ..report::Report::default()
    }
}

fn table(found: &Report<ScalingRow>) -> Table {
    let rows = Rows(&found.rows);
    let same = |row: &ScalingRow| row.same_state.map_or("", |same| if same { "yes" } else { "no" }).to_owned();
    let columns = vec![
        rows.text("kind", "strong: the same sphere; weak: as many particles a part", |row| row.kind.name().into()),
        rows.text("integrator", "integrator", |row| row.integrator.into()),
        rows.text("mode", "precision mode", |row| row.precision.into()),
        rows.text("parts", "what shares the work", |row| row.parts.into()),
        rows.counts("count", "1", "number of parts", |row| row.count as u64),
        rows.counts("n", "1", "number of particles", |row| row.n as u64),
        rows.numbers("seconds", "s", "wall time from t = 0.25 to 0.5", |row| row.seconds),
        rows.numbers("pair_rate", "1/s", "pairs per second", |row| 1e6 * row.mega_pairs_per_second),
        rows.numbers("speed_up", "1", "rate over that of the smallest number of parts", |row| row.speed_up),
        rows.numbers("efficiency", "1", "speed-up over the ratio of the numbers of parts", |row| row.efficiency),
        rows.text("state_sha256", "SHA-256 of the last state", |row| row.state_sha256.clone()),
        rows.text("same_state", "whether that is the state of the smallest number of parts", same),
    ];
    let remark = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let remarks = vec![
        remark("version", found.version),
        remark("git_commit", found.git_commit),
        remark("host", &found.host),
        remark("engine", &found.engine),
    ];
    Table { title: "Scaling of the timed workload".into(), remarks, columns }
}

/// Draws the speed-up over the number of parts, a panel for each kind.
fn figure(found: &Report<ScalingRow>) -> Figure {
    let parts = found.rows.first().map_or("parts", |row| row.parts);
    let panel = |kind: Kind| {
        let title = match kind {
            Kind::Strong => "strong: the same sphere",
            Kind::Weak => "weak: as many particles a part",
        };
        let mut panel =
            Panel::new(title, Axis::log(format!("number of {parts}")), Axis::log("speed-up (rate of pairs)"));
        let mut ideal: Vec<(f64, f64)> = Vec::new();
        for row in found.rows.iter().filter(|row| row.kind == kind) {
            let point = (row.count as f64, row.speed_up);
            // A line begins with the smallest number of parts.
            if row.count as f64 <= ideal.first().map_or(f64::INFINITY, |(count, _)| *count) {
                let name = format!("{}, {}, N = {}", row.integrator, row.precision, row.n);
                panel.series.push(Series::new(name, Mark::LineAndPoints, Vec::new()));
            }
            if let Some(series) = panel.series.last_mut() {
                series.points.push(point);
            }
            if !ideal.iter().any(|(count, _)| *count == point.0) {
                ideal.push((point.0, point.0));
            }
        }
        let first = ideal.first().map_or(1.0, |(count, _)| *count);
        ideal.iter_mut().for_each(|(_, speed_up)| *speed_up /= first);
        panel.series.push(Series::new("ideal", Mark::Dashed, ideal));
        panel
    };
    let kinds = Kind::ALL.into_iter().filter(|kind| found.rows.iter().any(|row| row.kind == *kind));
    let caption = format!("tisane {} ({}), {}, {}", found.version, found.git_commit, found.engine, found.host);
    Figure { title: "Scaling".into(), caption, panels: kinds.map(panel).collect(), columns: 2 }
}
