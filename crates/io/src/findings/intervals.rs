//! Work, speed and errors of a run over time, from its diagnostics.

use crate::table::{Numbers, Table, Values};

/// Rows with the largest changes of the energy.
const CONTRIBUTIONS: usize = 3;
/// Share of the sum of all |changes| from which a row is named.
const NAMED_SHARE: f64 = 0.05;
/// Share of it by which one row is the cause.
const JUMP_SHARE: f64 = 0.5;
/// Share of it that remains in the sum where the error grows steadily.
const STEADY_SHARE: f64 = 0.8;
/// Rows from which a growth is steady.
const STEADY_ROWS: usize = 6;
/// Largest relative energy error that is no more than rounding.
const ROUNDING: f64 = 1e-12;

/// Row of the diagnostics, in the user's units. Values of columns that the journal lacks are NaN, or 0 for counts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Row {
    /// Time.
    pub time: f64,
    /// Wall time since the start of the run, in s.
    pub wall_seconds: f64,
    /// Block steps since the start.
    pub block_steps: f64,
    /// Particle steps since the start.
    pub particle_steps: f64,
    /// Pair interactions since the start.
    pub pairs: f64,
    /// Particle steps held at dt_min since the start.
    pub clamped_steps: f64,
    /// Shortest step in use.
    pub step_min: f64,
    /// Relative energy error since the start, signed.
    pub error: f64,
    /// The same relative to the energy of the cluster, binaries as one body each, where it is recorded.
    pub cluster_error: Option<f64>,
    /// Number of audited particles.
    pub audit_sample: f64,
    /// Largest error of the audited accelerations and potentials.
    pub audit: f64,
}

/// Work and errors between two rows of the diagnostics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Time of the first row.
    pub from: f64,
    /// Time of the last row.
    pub to: f64,
    /// Shortest step at any row after the first.
    pub step_min: f64,
    /// Block steps.
    pub block_steps: f64,
    /// Particle steps per block step.
    pub mean_block: f64,
    /// Wall time, in s.
    pub wall_seconds: f64,
    /// Pair interactions per second of wall time.
    pub pairs_per_second: f64,
    /// Change of the relative energy error.
    pub energy_error: f64,
    /// Change of the energy error relative to the cluster, where it is recorded.
    pub cluster_energy_error: Option<f64>,
    /// Largest error of the audited forces; [`None`] without an audit.
    pub audit: Option<f64>,
    /// Particle steps held at dt_min.
    pub clamped_steps: f64,
}

/// Energy error of a run, and where it arose.
#[derive(Clone, Debug, PartialEq)]
pub struct EnergyError {
    /// Relative error at the last row.
    pub last: f64,
    /// The same relative to the energy of the cluster.
    pub last_of_cluster: Option<f64>,
    /// Largest |relative error| of any row, and its time.
    pub largest: (f64, f64),
    /// How it came.
    pub growth: Growth,
    /// Intervals between two rows with the largest changes, with their shares of the sum of all |changes|.
    pub contributions: Vec<(Interval, f64)>,
}

/// How an energy error came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Growth {
    /// It is rounding.
    Rounding,
    /// Most of it in one interval.
    Jump,
    /// In most intervals in the same direction.
    Steady,
    /// In both directions.
    Scattered,
}

/// Returns the rows of a table of diagnostics; empty if it has no times.
#[must_use]
pub fn rows(table: &Table) -> Vec<Row> {
    let column = |name: &str| table.numbers(name);
    let Some(times) = column("time") else { return Vec::new() };
    let cluster = column("cluster_energy_error");
    let names = [
        "wall_seconds",
        "block_steps",
        "particle_steps",
        "pair_interactions",
        "clamped_steps",
        "step_min",
        "relative_energy_error",
        "audit_sample",
        "audit_acceleration_max",
        "audit_potential_max",
    ];
    let columns = names.map(column);
    let at = |column: Option<Numbers<'_>>, row: usize| column.map_or(f64::NAN, |column| column.at(row));
    let row = |row: usize| {
        let [wall_seconds, block_steps, particle_steps, pairs, clamped_steps, step_min, error, audit_sample, acc, pot] =
            columns.map(|column| at(column, row));
        Row {
            time: times.at(row),
            wall_seconds,
            block_steps,
            particle_steps,
            pairs,
            clamped_steps,
            step_min,
            error,
            cluster_error: cluster.map(|column| column.at(row)),
            audit_sample,
            audit: acc.max(pot),
        }
    };
    (0..times.len()).map(row).collect()
}

impl Interval {
    /// Returns the interval from the first of some rows to the last; [`None`] for fewer than two.
    #[must_use]
    pub fn new(rows: &[Row]) -> Option<Self> {
        let ([first, after @ ..], Some(last)) = (rows, rows.last()) else { return None };
        let step_min = after.iter().map(|row| row.step_min).reduce(f64::min)?;
        let of = |value: fn(&Row) -> f64| value(last) - value(first);
        let wall_seconds = of(|row| row.wall_seconds);
        let block_steps = of(|row| row.block_steps);
        let audits = after.iter().filter(|row| row.audit_sample > 0.0).map(|row| row.audit);
        Some(Self {
            from: first.time,
            to: last.time,
            step_min,
            block_steps,
            mean_block: of(|row| row.particle_steps) / block_steps.max(1.0),
            wall_seconds,
            pairs_per_second: of(|row| row.pairs) / wall_seconds,
            energy_error: of(|row| row.error),
            cluster_energy_error: last
                .cluster_error
                .zip(first.cluster_error)
                .map(|(last, first)| last - first)
                .filter(|change| !change.is_nan()),
            // Not `max` alone: NaN in a force must show.
            audit: audits.reduce(|a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }),
            clamped_steps: of(|row| row.clamped_steps),
        })
    }

    /// Returns the wall time for a unit of time, in s.
    #[must_use]
    pub fn wall_per_time(&self) -> f64 {
        self.wall_seconds / (self.to - self.from)
    }
}

/// Divides rows into at most `max` intervals of about as many rows each.
#[must_use]
pub fn intervals(rows: &[Row], max: usize) -> Vec<Interval> {
    let gaps = rows.len().saturating_sub(1);
    let count = gaps.min(max);
    let end = |k: usize| k * gaps / count.max(1);
    (0..count).filter_map(|k| Interval::new(&rows[end(k)..=end(k + 1)])).collect()
}

impl EnergyError {
    /// Finds where the energy error arose; [`None`] without rows.
    #[must_use]
    pub fn find(rows: &[Row]) -> Option<Self> {
        let last = rows.last()?;
        let by_size = |a: &&Row, b: &&Row| a.error.abs().total_cmp(&b.error.abs());
        let largest = rows.iter().max_by(by_size)?;
        let changes = intervals(rows, usize::MAX);
        let total: f64 = changes.iter().map(|change| change.energy_error.abs()).sum();
        let mut contributions: Vec<(Interval, f64)> =
            changes.iter().map(|change| (*change, change.energy_error.abs() / total)).collect();
        contributions.sort_by(|a, b| b.1.total_cmp(&a.1));
        contributions.truncate(CONTRIBUTIONS);
        let growth = match contributions.first() {
            _ if largest.error.abs() < ROUNDING => Growth::Rounding,
            Some((_, share)) if share.is_nan() || *share >= JUMP_SHARE => Growth::Jump,
            _ if changes.len() >= STEADY_ROWS && (last.error - rows[0].error).abs() >= STEADY_SHARE * total => {
                Growth::Steady
            }
            _ => Growth::Scattered,
        };
        contributions.retain(|(_, share)| growth != Growth::Rounding && (share.is_nan() || *share >= NAMED_SHARE));
        let largest = (largest.error.abs(), largest.time);
        Some(Self {
            last: last.error,
            last_of_cluster: last.cluster_error.filter(|error| !error.is_nan()),
            largest,
            growth,
            contributions,
        })
    }
}

/// Events of a run: time, kind, members.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Events(Vec<(f64, String)>);

impl Events {
    /// Reads the events of a table.
    #[must_use]
    pub fn new(table: &Table) -> Self {
        let text = |name: &str| match table.column(name).map(|column| &column.values) {
            Some(Values::Text(values)) => values.as_slice(),
            _ => &[],
        };
        let times = table.numbers("time").into_iter().flat_map(Numbers::iter);
        let described = text("kind").iter().zip(text("members")).map(|(kind, members)| format!("{kind} {members}"));
        Self(times.zip(described).collect())
    }

    /// Returns the events that were seen after `from` and until `to`.
    pub fn between(&self, from: f64, to: f64) -> impl Iterator<Item = &str> {
        self.0.iter().filter(move |(time, _)| *time > from && *time <= to).map(|(_, text)| text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Column;

    /// Rows at times 0, 1, 2, … with these energy errors; each takes twice the wall time of the one before.
    fn with_errors(errors: &[f64]) -> Vec<Row> {
        let row = |(k, &error): (usize, &f64)| {
            let t = k as f64;
            Row {
                time: t,
                wall_seconds: 2f64.powi(k as i32) - 1.0,
                block_steps: 10.0 * t,
                particle_steps: 40.0 * t,
                pairs: 4000.0 * t,
                step_min: 1.0 / (1.0 + t),
                error,
                ..Row::default()
            }
        };
        errors.iter().enumerate().map(row).collect()
    }

    #[test]
    fn rows_are_read_and_missing_columns_are_nan() {
        let column = |name: &str, values: &[f64]| Column::new(name, "", "", Values::Floats(values.to_vec()));
        let columns = vec![
            column("time", &[0.0, 1.0]),
            column("relative_energy_error", &[0.0, 1e-6]),
            column("audit_sample", &[0.0, 4.0]),
            column("audit_acceleration_max", &[0.0, 1e-7]),
            column("audit_potential_max", &[0.0, f64::NAN]),
            column("cluster_energy_error", &[0.0, 1e-5]),
        ];
        let mut table = Table { columns, ..Table::default() };
        let found = rows(&table);
        assert_eq!((found.len(), found[1].error, found[1].cluster_error), (2, 1e-6, Some(1e-5)));
        assert!(found[1].wall_seconds.is_nan() && found[1].audit == 1e-7);
        let interval = Interval::new(&found).unwrap();
        assert_eq!((interval.audit, interval.cluster_energy_error), (Some(1e-7), Some(1e-5)));
        table.columns.remove(0);
        assert_eq!(rows(&table), []);
    }

    #[test]
    fn intervals_add_up_to_the_whole_run() {
        let rows = with_errors(&[0.0, 1.0, -1.0, 2.0, 3.0, 5.0, 4.0]);
        let all = intervals(&rows, 100);
        assert_eq!(all.len(), 6);
        for max in 1..=6 {
            let some = intervals(&rows, max);
            assert_eq!((some.len(), some[0].from, some[max - 1].to), (max, 0.0, 6.0));
            assert!(some.windows(2).all(|two| two[0].to == two[1].from));
            let sum = |of: fn(&Interval) -> f64| some.iter().map(of).sum::<f64>();
            assert_eq!([sum(|i| i.energy_error), sum(|i| i.wall_seconds), sum(|i| i.block_steps)], [4.0, 63.0, 60.0]);
        }
        let last = all[5];
        assert_eq!((last.mean_block, last.pairs_per_second, last.step_min), (4.0, 4000.0 / 32.0, 1.0 / 7.0));
        assert_eq!((last.wall_per_time(), last.audit), (32.0, None));
        assert_eq!((intervals(&rows[..1], 8), intervals(&[], 8)), (vec![], vec![]));
    }

    #[test]
    fn the_growth_of_an_error_is_told() {
        let find = |errors: &[f64]| EnergyError::find(&with_errors(errors)).unwrap();
        let jump = find(&[0.0, 1e-9, 2e-9, 1e-4, 1e-4, 1e-4 + 1e-9]);
        assert_eq!((jump.growth, jump.contributions.len(), jump.largest), (Growth::Jump, 1, (1e-4 + 1e-9, 5.0)));
        assert_eq!((jump.contributions[0].0.from, jump.contributions[0].0.to), (2.0, 3.0));
        assert!(jump.contributions[0].1 > 0.99);
        let steady: Vec<f64> = (0..10).map(|k| -1e-7 * f64::from(k)).collect();
        assert_eq!(find(&steady).growth, Growth::Steady);
        assert_eq!(find(&steady[..5]).growth, Growth::Scattered);
        let scattered = find(&[0.0, 1e-7, -1e-7, 1e-7, 0.0, 2e-7, 1e-7]);
        assert_eq!((scattered.growth, scattered.contributions.len()), (Growth::Scattered, 3));
        let rounding = find(&[0.0, 1e-15, -1e-15]);
        assert_eq!((rounding.growth, rounding.contributions.len()), (Growth::Rounding, 0));
        let broken = find(&[0.0, 1e-9, f64::NAN]);
        assert!(broken.last.is_nan() && broken.growth == Growth::Jump && !broken.contributions.is_empty());
        assert_eq!(find(&[0.0]).growth, Growth::Rounding);
        assert_eq!(EnergyError::find(&[]), None);
    }

    #[test]
    fn events_are_found_by_time() {
        let text = |name: &str, cells: &[&str]| {
            Column::new(name, "", "", Values::Text(cells.iter().map(ToString::to_string).collect()))
        };
        let columns = vec![
            Column::new("time", "", "", Values::Floats(vec![1.0, 2.0, 2.0])),
            text("kind", &["escape", "binary-formed", "close-encounter"]),
            text("members", &["7", "(3+7)", "4+6"]),
        ];
        let events = Events::new(&Table { columns, ..Table::default() });
        assert_eq!(events.between(1.0, 2.0).collect::<Vec<_>>(), ["binary-formed (3+7)", "close-encounter 4+6"]);
        assert_eq!(events.between(0.0, 1.0).collect::<Vec<_>>(), ["escape 7"]);
        assert_eq!(Events::new(&Table::default()), Events::default());
    }
}
