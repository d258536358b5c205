//! Table of the outputs of a run, a line for each, as a log file shows it: at most 100 characters wide in the usual units.

use tisane::units::{Dimension, significant, wall_time};
use tisane_io::fields::{ClusterRow, DiagnosticsRow, FRACTIONS, TideColumns};
use tisane_io::file_units::FileUnits;
use tisane_run::simulation::Simulation;

/// What stands where nothing was measured.
const NOTHING: &str = "-";
/// Significant digits of masses, and of radii.
const OF_MASS: usize = 5;
const OF_RADIUS: usize = 4;

/// A column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Column {
    Time,
    Mass,
    HalfMassRadius,
    Binaries,
    EnergyError,
    VirialRatio,
    Particles,
    BlockSteps,
    MeanBlock,
    MinStep,
    ToGo,
}

/// Table of the outputs of a run.
#[derive(Clone, Debug)]
pub(super) struct Table {
    columns: Vec<Column>,
    /// Flag that the energy error is that of a cluster, each binary as one body.
    of_cluster: bool,
    tide: bool,
    units: FileUnits,
    /// Digits of times after the point.
    decimals: usize,
}

/// Values of an output, in internal units.
pub(super) struct Line<'a> {
    pub row: &'a DiagnosticsRow,
    /// Row about the cluster at the same time, if there is one.
    pub cluster: Option<&'a ClusterRow>,
    /// Wall time to go, in s, if it is known.
    pub left: Option<f64>,
}

impl Table {
    /// Returns the table for a run: of a cluster whose structure is measured, or of other particles.
    pub(super) fn new(simulation: &Simulation) -> Self {
        use Column::*;
        let (plan, of_cluster, units) = (simulation.plan(), simulation.is_cluster(), simulation.units().clone());
        let surveys = plan.cluster.filter(|_| of_cluster);
        let columns = match (surveys, plan.star_events) {
            (Some(_), _) => vec![Time, Mass, HalfMassRadius, Binaries, EnergyError, BlockSteps, ToGo],
            (None, true) => vec![Time, EnergyError, VirialRatio, Particles, BlockSteps, MeanBlock, MinStep, ToGo],
            (None, false) => vec![Time, EnergyError, VirialRatio, BlockSteps, MeanBlock, MinStep, ToGo],
        };
        let interval = plan.diagnostics_every as f64 * simulation.system.state.clock.dt_max * units.scale.time;
        let tide = surveys.is_some_and(|surveys| surveys.columns.tide != TideColumns::None);
        // A hundredth of the interval.
        Self { columns, of_cluster, tide, units, decimals: decimals(100.0 * interval) }
    }

    /// Returns true if lines wait for the row about the cluster.
    pub(super) fn has_cluster(&self) -> bool {
        self.columns.contains(&Column::Mass)
    }

    /// Returns the names of the columns with their units.
    pub(super) fn header(&self) -> String {
        let cells = self.columns.iter().map(|&column| format!("{:>1$}", self.name(column), self.width(column)));
        cells.collect::<Vec<_>>().join("  ")
    }

    /// Returns the line of an output.
    pub(super) fn line(&self, line: &Line<'_>) -> String {
        let cells = self.columns.iter().map(|&column| format!("{:>1$}", self.cell(column, line), self.width(column)));
        cells.collect::<Vec<_>>().join("  ")
    }

    /// Describes mass, half-mass radius and binaries of the cluster, for the bar.
    pub(super) fn describe(&self, row: &ClusterRow) -> String {
        let value = |symbol, x: f64, d: Dimension| {
            let x = significant(x * self.units.scale.factor(d), OF_RADIUS);
            format!("{symbol} {x} {}", self.units.units.label(d))
        };
        let [mass, radius] =
            [value("M", self.mass(row), Dimension::MASS), value("r_h", self.half_mass_radius(row), Dimension::LENGTH)];
        format!("{mass}  {radius}  binaries {}", bound_binaries(row))
    }

    /// Returns the energy error of a row, relative to what the name of its column says.
    pub(super) fn energy_error(&self, row: &DiagnosticsRow) -> f64 {
        row.cluster_energy_error.filter(|_| self.of_cluster).unwrap_or(row.relative_energy_error)
    }

    /// Returns the mass of the stars within the tidal radius; without a tide of those that are bound.
    fn mass(&self, row: &ClusterRow) -> f64 {
        row.tidal_mass.filter(|_| self.tide).unwrap_or(row.bound_mass)
    }

    /// Returns the radius about the density centre with half of the mass.
    fn half_mass_radius(&self, row: &ClusterRow) -> f64 {
        let half = FRACTIONS.iter().position(|thousandths| *thousandths == 500);
        let bound = half.map_or(f64::NAN, |half| row.lagrangian_radius[half]);
        row.tidal_half_mass_radius.filter(|_| self.tide).unwrap_or(bound)
    }

    fn name(&self, column: Column) -> String {
        let with_unit = |name: &str, d| format!("{name} [{}]", self.units.units.label(d));
        match column {
            Column::Time => with_unit("time", Dimension::TIME),
            Column::Mass if self.tide => with_unit("M_tidal", Dimension::MASS),
            Column::Mass => with_unit("M_bound", Dimension::MASS),
            Column::HalfMassRadius => with_unit("r_h", Dimension::LENGTH),
            Column::Binaries => "binaries".into(),
            Column::EnergyError if self.of_cluster => "dE/E of cluster".into(),
            Column::EnergyError => "dE/E".into(),
            Column::VirialRatio => "Q".into(),
            Column::Particles => "particles".into(),
            Column::BlockSteps => "block steps".into(),
            Column::MeanBlock => "mean block".into(),
            Column::MinStep => "min step".into(),
            Column::ToGo => "to go".into(),
        }
    }

    fn width(&self, column: Column) -> usize {
        let least = match column {
            Column::Time => 12,
            Column::EnergyError | Column::HalfMassRadius | Column::MeanBlock | Column::MinStep => 10,
            Column::ToGo => 11,
            Column::VirialRatio => 8,
            _ => 0,
        };
        self.name(column).chars().count().max(least)
    }

    fn cell(&self, column: Column, Line { row, cluster, left }: &Line<'_>) -> String {
        let scale = &self.units.scale;
        let of_cluster = |of: &dyn Fn(&ClusterRow) -> String| cluster.map_or(NOTHING.to_owned(), of);
        let measured = |x: f64, digits| if x.is_nan() { NOTHING.to_owned() } else { significant(x, digits) };
        match column {
            Column::Time => format!("{:.*}", self.decimals, row.time * scale.time),
            Column::Mass => of_cluster(&|row| measured(self.mass(row) * scale.mass, OF_MASS)),
            Column::HalfMassRadius => of_cluster(&|row| measured(self.half_mass_radius(row) * scale.length, OF_RADIUS)),
            Column::Binaries => of_cluster(&|row| bound_binaries(row).to_string()),
            Column::EnergyError => match self.energy_error(row) {
                error if error.is_nan() => NOTHING.into(),
                error => format!("{error:+.3e}"),
            },
            Column::VirialRatio if row.virial_ratio.is_nan() => NOTHING.into(),
            Column::VirialRatio => format!("{:.5}", row.virial_ratio),
            Column::Particles => row.particles.map_or(NOTHING.into(), |n| n.to_string()),
            Column::BlockSteps => row.block_steps.to_string(),
            Column::MeanBlock => format!("{:.1}", row.mean_block_size),
            Column::MinStep => format!("{:.3e}", row.step_min * scale.time),
            Column::ToGo => left.map_or(NOTHING.into(), wall_time),
        }
    }
}

/// Returns the number of binaries that are bound to the cluster, or of all where it is not known.
fn bound_binaries(row: &ClusterRow) -> u64 {
    row.bound_binaries.unwrap_or(row.binaries)
}

/// Returns the digits after the point that show a ten-thousandth of a span of time.
pub(super) fn decimals(span: f64) -> usize {
    let exponent = (4.0 - span.log10()).ceil();
    if exponent.is_finite() { exponent.clamp(0.0, 12.0) as usize } else { 4 }
}

#[cfg(test)]
impl Table {
    /// A table of a cluster in Msun, pc and Myr, or of a few bodies that may collide, for tests.
    pub(super) fn example(of_cluster: bool, tide: bool) -> Self {
        use Column::*;
        use tisane::units::names::{LengthUnit, MassUnit, TimeUnit};
        use tisane::units::{Rates, Scale, Units};

        let columns = match of_cluster {
            true => vec![Time, Mass, HalfMassRadius, Binaries, EnergyError, BlockSteps, ToGo],
            false => vec![Time, EnergyError, VirialRatio, Particles, BlockSteps, MeanBlock, MinStep, ToGo],
        };
        let scale = Scale { mass: 565.0, length: 2.0, time: 4.0, ..Scale::IDENTITY };
        let units = Units::named(MassUnit::Msun, LengthUnit::Parsec, Rates::Time(TimeUnit::Megayear));
        Self { columns, of_cluster, tide, units: FileUnits { units, scale }, decimals: 3 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> (DiagnosticsRow, ClusterRow) {
        let row = DiagnosticsRow {
            time: 0.5,
            relative_energy_error: -1.25e-10,
            cluster_energy_error: Some(3.5e-9),
            block_steps: 123_456_789,
            ..DiagnosticsRow::default()
        };
        let mut cluster = ClusterRow { bound_mass: 1.0, tidal_mass: Some(0.5), binaries: 47, ..ClusterRow::default() };
        (cluster.bound_binaries, cluster.tidal_half_mass_radius) = (Some(45), Some(0.25));
        cluster.lagrangian_radius = FRACTIONS.map(|thousandths| f64::from(thousandths) / 1000.0);
        (row, cluster)
    }

    #[test]
    fn a_line_of_a_cluster_has_what_describes_it_in_its_units() {
        let (row, cluster) = rows();
        let line = |tide, cluster| {
            let table = Table::example(true, tide);
            let [header, line] = [table.header(), table.line(&Line { row: &row, cluster, left: Some(4010.0) })];
            assert_eq!(header.chars().count(), line.chars().count());
            assert!(header.chars().count() <= 100, "{header}");
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
            [words(&header), words(&line)]
        };
        assert_eq!(
            line(false, Some(&cluster)),
            [
                "time [Myr] M_bound [Msun] r_h [pc] binaries dE/E of cluster block steps to go",
                "2.000 565.00 1.000 45 +3.500e-9 123456789 66 min 50 s"
            ]
        );
        let [header, within] = line(true, Some(&cluster));
        assert!(header.contains("M_tidal [Msun]") && within.starts_with("2.000 282.50 0.5000 45"), "{within}");
        // An output without a survey.
        assert_eq!(line(false, None)[1], "2.000 - - - +3.500e-9 123456789 66 min 50 s");
    }

    #[test]
    fn a_line_of_a_few_bodies_has_their_steps() {
        let table = Table::example(false, false);
        let row = DiagnosticsRow { particles: Some(9), virial_ratio: 0.5, ..rows().0 };
        let [header, line] = [table.header(), table.line(&Line { row: &row, cluster: None, left: None })];
        assert!(header.ends_with("to go") && line.ends_with(NOTHING) && header.len() <= 100, "{header}\n{line}");
        assert!(header.contains(" dE/E  ") && line.contains("-1.250e-10") && line.contains("0.50000"), "{line}");
    }
}
