//! Tuning of a GPU: the fastest launch shape for every mode, number of sources and size of the block.

use super::{CLOCK, EPSILON, block};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};
use tisane::error::{Error, Result};
use tisane::force::cuda::{CudaEngine, HEADER, LaunchShape, TuningRow, candidates};
use tisane::force::mode::Order;
use tisane::force::precision::Precision;
use tisane::force::{ForceEngine, Forces, Targets};
use tisane::initial::plummer;
use tisane::particles::Particles;
use tisane::time::{Level, Time};
use tisane_io::atomic::write_atomically;
use tisane_io::provenance;

const SOURCES: [usize; 6] = [1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 18];
const TARGETS: [usize; 14] = [1, 16, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 1 << 14, 1 << 16, 1 << 17, 1 << 18];
/// A million sources, in the modes that are used for that many, in blocks up to this size.
const MANY: (usize, usize) = (1 << 20, 1 << 12);
/// Most pairs of an evaluation.
const MAX_PAIRS: usize = 1 << 34;
/// Time over which a shape is timed, unless an evaluation takes longer, and its largest number of evaluations.
const SPAN: Duration = Duration::from_micros(2500);
const ROUNDS: usize = 40;
/// Seconds from which an evaluation needs no warm-up.
const LONG: f64 = 5e-3;
/// Time for which the GPU is kept busy before a mode, to come to its clock.
const WARM_UP: Duration = Duration::from_millis(200);
/// Factor over the fastest so far at which a shape is dropped at once.
const HOPELESS: f64 = 1.5;
/// Factor over the fastest within which shapes are timed once more.
const NEAR: f64 = 1.05;

/// Sizes to tune for.
#[derive(Debug)]
pub struct Grid {
    places: Vec<Places>,
    /// Command that gives the same grid.
    command: String,
}

/// Sizes of blocks among a number of sources.
#[derive(Debug, PartialEq, Eq)]
struct Places {
    mode: Precision,
    sources: usize,
    targets: Vec<usize>,
}

impl Places {
    /// Estimates the seconds that the shapes of a block take, for the time left.
    fn seconds(&self, targets: usize) -> f64 {
        let choices = [LaunchShape::whole(self.mode), LaunchShape::tiles(self.mode)].map(<[usize]>::to_vec);
        let rate = self.mode.kernels().pairs_per_second;
        // A thread that walks all sources alone does not profit from the others.
        let running = self.mode.arithmetic().order == Order::Running;
        let alone = if running { 30e-9 * self.sources as f64 } else { 0.0 };
        let evaluation = (15e-6 + (self.sources * targets) as f64 / rate).max(alone);
        let of_shape = (2.0 * evaluation).max(SPAN.as_secs_f64());
        of_shape * (1 + candidates(self.mode, &choices, self.sources, targets).len()) as f64
    }
}

/// Listener to the progress of a tuning. `seconds` are estimates, of which only the ratios count.
pub trait Progress {
    /// Begins work of about `seconds`.
    fn begin(&mut self, seconds: f64);
    /// Begins the measurement described by `what`.
    fn measure(&mut self, what: &str);
    /// Counts finished work of about `seconds`.
    fn finish(&mut self, seconds: f64);
    /// Reports that the table has been written with what `what` describes.
    fn written(&mut self, what: &str);
    /// Ends.
    fn end(&mut self);
}

/// Result of a tuning, beside its table.
#[derive(Clone, Copy, Debug)]
pub struct Tuned {
    /// Number of rows in the table.
    pub rows: usize,
    /// Wall time, in s.
    pub seconds: f64,
    /// Geometric mean of the time in the shape used before over that in the fastest.
    pub mean_gain: f64,
    /// Largest of these ratios.
    pub best_gain: f64,
}

impl Grid {
    /// Returns the grid for numbers of sources, sizes of blocks and one mode, each with a default.
    #[must_use]
    pub fn new(sources: Option<Vec<usize>>, targets: Option<Vec<usize>>, precision: Option<Precision>) -> Self {
        let mut command = String::from("tisane bench force --engine cuda");
        for (name, numbers) in [("n", &sources), ("targets", &targets)] {
            if let Some(numbers) = numbers {
                let numbers: Vec<_> = numbers.iter().map(usize::to_string).collect();
                let _ = write!(command, " --{name} {}", numbers.join(","));
            }
        }
        if let Some(precision) = precision {
            let _ = write!(command, " --precision {}", precision.name());
        }
        let mut places = Vec::new();
        for mode in precision.map_or(Precision::ALL.to_vec(), |precision| vec![precision]) {
            let many = (sources.is_none() && mode.kernels().for_many).then_some(MANY);
            let all = sources.clone().unwrap_or_else(|| SOURCES.to_vec());
            for n in ascending(all.into_iter().chain(many.map(|(n, _)| n))) {
                let max = many.filter(|(many, _)| *many == n).map_or(n, |(_, max)| max);
                let sizes = targets.clone().unwrap_or_else(|| TARGETS.to_vec()).into_iter();
                let fit = |&size: &usize| size > 0 && size <= max && size.saturating_mul(n) <= MAX_PAIRS;
                let targets = ascending(sizes.filter(fit));
                if !targets.is_empty() {
                    places.push(Places { mode, sources: n, targets });
                }
            }
        }
        Self { places, command: command + " --tune FILE" }
    }

    /// Estimates the seconds that all of it takes.
    fn seconds(&self) -> f64 {
        self.places.iter().flat_map(|places| places.targets.iter().map(|&size| places.seconds(size))).sum()
    }

    /// Measures, and writes the table to `file` after every number of sources: time on a GPU may end early.
    ///
    /// # Errors
    /// [`Error::Input`] if the grid is empty; as the engine for CUDA; [`Error::Storage`] if the table cannot be
    /// written.
    pub fn tune(&self, file: &Path, device: u32, progress: &mut dyn Progress) -> Result<Tuned> {
        if self.places.is_empty() {
            return Err(Error::input("--targets", "no block is left: give sizes from 1 to the number of sources"));
        }
        let began = Instant::now();
        progress.begin(self.seconds());
        let mut samples: BTreeMap<usize, Particles> = BTreeMap::new();
        let (mut rows, mut gains) = (Vec::new(), Vec::new());
        let mut running: Option<(Precision, CudaEngine)> = None;
        for (k, places) in self.places.iter().enumerate() {
            let Places { mode, sources, targets } = places;
            let fresh = running.as_ref().is_none_or(|(of, _)| of != mode);
            let (_, engine) = match &mut running {
                Some(same) if !fresh => same,
                // The last is dropped after this: the device need not start again.
                other => other.insert((*mode, CudaEngine::new(*mode, EPSILON, CLOCK, device as usize)?)),
            };
            let p = samples.entry(*sources).or_insert_with(|| plummer::sample(*sources, 1, 0.999));
            engine.load(p)?;
            if fresh {
                warm_up(engine, block(p, targets[0]).view())?;
            }
            for &size in targets {
                progress.measure(&format!("{}, {sources} sources, {size} targets", mode.name()));
                let (row, gain) = fastest(engine, *mode, *sources, block(p, size).view())?;
                rows.push(row);
                gains.push(gain);
                progress.finish(places.seconds(size));
            }
            let text = self.table(&engine.device_name(), &rows, k + 1 == self.places.len());
            write_atomically(file, |partial| std::fs::write(partial, text).map_err(|e| Error::storage(file, e)))?;
            progress.written(&format!("{}, {sources} sources", mode.name()));
        }
        progress.end();
        let mean_gain = (gains.iter().map(|gain: &f64| gain.ln()).sum::<f64>() / gains.len() as f64).exp();
        let best_gain = gains.iter().fold(1.0, |best: f64, gain| best.max(*gain));
        Ok(Tuned { rows: rows.len(), seconds: began.elapsed().as_secs_f64(), mean_gain, best_gain })
    }

    fn table(&self, device: &str, rows: &[TuningRow], whole: bool) -> String {
        let mut text = format!(
            "# The fastest launch shapes on {device}, measured by\n# {}\n# of tisane {} ({})\n",
            self.command,
            provenance::version(),
            provenance::git_commit()
        );
        if std::env::var_os("TISANE_KERNELS").is_some() {
            text += "# with other kernels than the program's own (TISANE_KERNELS)\n";
        }
        if !whole {
            text += "# UNFINISHED: the tuning was not over\n";
        }
        text += HEADER;
        for row in rows {
            let _ = write!(text, "\n{row}");
        }
        text + "\n"
    }
}

fn ascending(numbers: impl Iterator<Item = usize>) -> Vec<usize> {
    numbers.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Uses every kernel, which loads it, until the GPU has come to its clock.
fn warm_up(engine: &mut CudaEngine, targets: Targets<'_>) -> Result<()> {
    let [lanes, threads] = engine.compiled_targets();
    let whole = lanes.into_iter().map(|targets| LaunchShape::Whole { targets, warps: 4, bags: 1 });
    let tiles = threads.into_iter().map(|targets| LaunchShape::Tiles { targets, threads: 128, span_bags: 8 });
    let shapes: Vec<LaunchShape> = whole.chain(tiles).collect();
    let began = Instant::now();
    while began.elapsed() < WARM_UP {
        for &shape in &shapes {
            time(engine, targets, shape, f64::INFINITY)?;
        }
    }
    Ok(())
}

/// Returns the fastest shape for a block, and the time of the shape that the engine chooses by itself relative to it.
fn fastest(engine: &mut CudaEngine, precision: Precision, n: usize, targets: Targets<'_>) -> Result<(TuningRow, f64)> {
    let chosen = engine.shape_for(n, targets.len());
    let mut shapes = candidates(precision, &engine.compiled_targets(), n, targets.len());
    // A shape known to be good comes first, so that bad ones are dropped early.
    shapes.retain(|shape| *shape != chosen);
    shapes.insert(0, chosen);
    let mut best = f64::INFINITY;
    let mut times = Vec::new();
    for &shape in &shapes {
        let time = time(engine, targets, shape, best)?;
        best = best.min(time);
        times.push(time);
    }
    // Among near ones, the changing clock of the GPU must not decide: they are timed again.
    let near: Vec<usize> = (0..shapes.len()).filter(|&k| times[k] < NEAR * best).collect();
    if near.len() > 1 {
        for &k in &near {
            times[k] = times[k].min(time(engine, targets, shapes[k], best)?);
        }
    }
    let min = (0..shapes.len()).min_by(|a, b| times[*a].total_cmp(&times[*b])).unwrap_or(0);
    let row =
        TuningRow { precision, sources: n, targets: targets.len(), shape: shapes[min], microseconds: 1e6 * times[min] };
    Ok((row, times[0] / times[min]))
}

/// Returns the seconds of the fastest of some evaluations in a shape; of few, if it is hopelessly slower than `best`.
fn time(engine: &mut CudaEngine, targets: Targets<'_>, shape: LaunchShape, best: f64) -> Result<f64> {
    // At a moment when every source has to be predicted.
    let now = Time::default().after(Level(20));
    let mut out = Forces::default();
    out.resize(targets.len());
    engine.set_shape(Some(shape));
    let mut once = || -> Result<f64> {
        let began = Instant::now();
        engine.evaluate(now, targets, &mut out)?;
        Ok(began.elapsed().as_secs_f64())
    };
    let mut min = once()?;
    if min < LONG {
        min = once()?;
    }
    let (began, mut rounds) = (Instant::now(), 0);
    while min < HOPELESS * best && rounds < ROUNDS && (rounds == 0 || began.elapsed() < SPAN) {
        min = min.min(once()?);
        rounds += 1;
    }
    Ok(min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_grid_takes_minutes_not_hours() {
        let grid = Grid::new(None, None, None);
        let seconds = grid.seconds();
        println!("guessed: {seconds:.0} s");
        for mode in Precision::ALL {
            println!("{}: {:.1} s", mode.name(), Grid::new(None, None, Some(mode)).seconds());
        }
        assert!((20.0..150.0).contains(&seconds), "{seconds} s");
    }

    #[test]
    fn the_grid_is_what_was_asked_for() {
        let grid = Grid::new(Some(vec![64, 16, 16]), Some(vec![0, 32, 1, 16]), Some(Precision::Mixed));
        let places = [(16, vec![1, 16]), (64, vec![1, 16, 32])];
        let places = places.map(|(sources, targets)| Places { mode: Precision::Mixed, sources, targets });
        assert_eq!(grid.places, places);
        assert_eq!(
            grid.command,
            "tisane bench force --engine cuda --n 64,16,16 --targets 0,32,1,16 --precision mixed --tune FILE"
        );
        let rows = [TuningRow {
            precision: Precision::Mixed,
            sources: 16,
            targets: 1,
            shape: LaunchShape::Whole { targets: 1, warps: 4, bags: 1 },
            microseconds: 9.0,
        }];
        let text = grid.table("a GPU", &rows, false);
        assert!(text.contains("# The fastest launch shapes on a GPU") && text.contains("# UNFINISHED"), "{text}");
        assert!(text.ends_with(&format!("\n{HEADER}\nmixed,16,1,whole,1,128,4,9.00\n")), "{text}");
        assert!(!grid.table("a GPU", &rows, true).contains("UNFINISHED"));
    }
}
