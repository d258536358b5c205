//! The figures of a run: all of them, and those of its diagnostics.

use super::ensemble::is_ensemble;
use super::{Axis, Figure, Mark, Panel, Scale, Series, journals, snapshots, subsystems};
use std::path::Path;
use tisane::error::{Error, Result};
use tisane::time::LEVELS;
use tisane_io::directory::CONFIG;
use tisane_io::fields::Journal;
use tisane_io::table::{self, Table};

/// With more rows than this, markers would hide the line.
const MOST_MARKERS: usize = 60;
/// Room before the first and after the last row, as a part of the time between them.
const ROOM: f64 = 0.04;
/// The unit of time where there is no physical one; in a label beside T for the kinetic energy it would mislead.
const HENON_TIME: &str = "T";

/// The standard figures of a run, as far as its directory has what they show.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gallery {
    /// The figures by the names of their files.
    pub figures: Vec<(&'static str, Figure)>,
    /// The names of those that are not there, and why.
    pub missing: Vec<(&'static str, String)>,
    /// Snapshots that are damaged: what is wrong with each.
    pub damaged: Vec<String>,
}

impl Gallery {
    /// Takes a figure in, or the reason why there is none.
    pub(super) fn add(&mut self, name: &'static str, figure: Result<Figure, String>) {
        match figure {
            Ok(figure) => self.figures.push((name, figure)),
            Err(why) => self.missing.push((name, why)),
        }
    }
}

/// The figures of a run's directory. The run may be under way.
///
/// # Errors
/// [`Error::Input`] if it is not the directory of a run, or has no diagnostics.
pub fn figures(dir: &Path) -> Result<Gallery> {
    let table = diagnostics(dir)?;
    let run = Run { table: &table };
    let panels = [
        run.energy_error(),
        run.angular_momentum(),
        run.virial_ratio(),
        run.steps(),
        run.blocks(),
        run.levels(),
        run.audit(),
    ];
    let mut gallery = Gallery::default();
    gallery.figures.push(("diagnostics", run.figure(dir, panels.into_iter().flatten().collect())));
    snapshots::add(dir, &mut gallery);
    journals::add(dir, &run, &mut gallery);
    subsystems::add(dir, &run, &mut gallery);
    Ok(gallery)
}

/// The diagnostics of a run.
///
/// # Errors
/// [`Error::Input`] if `dir` is not the directory of a run, or has no diagnostics.
pub fn diagnostics(dir: &Path) -> Result<Table> {
    let names = [Journal::Diagnostics.csv(), Journal::Diagnostics.hdf5()];
    let [csv, hdf5] = names.map(|name| dir.join(name));
    if !dir.exists() {
        return Err(Error::input(dir, "no such file or directory"));
    }
    if is_ensemble(dir) {
        let help = "its tables are members.csv and series.csv there";
        return Err(Error::input(dir, "the directory of an ensemble, not of one run").with_help(help));
    }
    if !csv.is_file() && !hdf5.is_file() {
        let problem = match dir.join(CONFIG).is_file() {
            true => format!("no diagnostics: neither {} nor {}", names[0], names[1]),
            false => format!("not the output directory of a run: neither {} nor {}", names[0], names[1]),
        };
        return Err(Error::input(dir, problem).with_help("`tisane run` creates one, by default runs/<name>/"));
    }
    let table = table::read_journal(&csv, &hdf5)?;
    match table.numbers("time") {
        Some(times) if times.is_empty() => Err(Error::input(dir, "the diagnostics have no rows yet")),
        Some(_) => Ok(table),
        None => Err(Error::input(csv, "no column of numbers 'time': not the diagnostics of a run")),
    }
}

/// Returns the name of a run: that of its directory.
#[must_use]
pub fn name(dir: &Path) -> String {
    let whole = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    whole.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Describes the origin of a table in a line.
#[must_use]
pub fn caption(table: &Table) -> String {
    let shown = table.remarks.iter().filter(|(name, value)| !name.starts_with("column ") && !value.is_empty());
    let one =
        |(name, value): &(String, String)| if name.is_empty() { value.clone() } else { format!("{name} {value}") };
    shown.map(one).collect::<Vec<_>>().join(", ")
}

/// A journal of a run, to be drawn over time.
pub(super) struct Run<'a> {
    pub table: &'a Table,
}

/// Counts from which an axis is logarithmic: smaller ones are read one by one.
const MANY: f64 = 100.0;
/// Values above zero that a logarithmic axis needs where others are not.
const FEW: usize = 10;

/// Gives a panel of counts a logarithmic axis where there are many.
pub(crate) fn of_counts(mut panel: Panel) -> Panel {
    if values(&panel).any(|count| count >= MANY) {
        panel.y.scale = Scale::Log10;
    }
    panel
}

/// Gives a panel a linear axis where a logarithmic one would show a few of its values only.
pub(crate) fn linear_where_few(mut panel: Panel) -> Panel {
    let above = values(&panel).filter(|y| *y > 0.0).count();
    if above < FEW && values(&panel).any(|y| y <= 0.0) {
        panel.y.scale = Scale::Linear;
    }
    panel
}

fn values(panel: &Panel) -> impl Iterator<Item = f64> + '_ {
    panel.series.iter().flat_map(|series| series.points.iter().map(|(_, y)| *y))
}

impl Run<'_> {
    /// A page of panels, two side by side.
    pub fn figure(&self, dir: &Path, panels: Vec<Panel>) -> Figure {
        Figure { title: name(dir), caption: caption(self.table), panels, columns: 2 }
    }

    /// A column over time. The first row is left out where its value says nothing: the error at the start of the run,
    /// work since the row before.
    fn over_time(&self, column: &str, with_first: bool, of: fn(f64) -> f64) -> Option<Vec<(f64, f64)>> {
        let (times, values) = (self.table.numbers("time")?, self.table.numbers(column)?);
        let points = times.iter().zip(values.iter()).map(|(t, y)| (t, of(y)));
        Some(points.skip(usize::from(!with_first)).collect())
    }

    /// Returns the description of a column, with its unit.
    pub fn label(&self, what: &str, column: &str) -> Option<String> {
        let henon = self.table.column("time").is_some_and(|time| time.unit == HENON_TIME);
        Some(match self.table.column(column)?.shown_unit() {
            None => what.to_owned(),
            Some(_) if henon => format!("{what} [N-body units]"),
            Some(unit) => format!("{what} [{unit}]"),
        })
    }

    /// The axis of time.
    pub fn time(&self) -> Option<Axis> {
        let times = self.table.numbers("time")?;
        let mut x = Axis::linear(self.label("time", "time")?);
        // The same for all panels, whichever rows they show; of one moment there is no range.
        x.range = times.first().zip(times.last()).map(|(from, to)| {
            let room = ROOM * (to - from);
            (from - room, to + room)
        });
        Some(x)
    }

    /// Columns over time as lines of one panel; none of a file that lacks them.
    pub fn panel(&self, title: &str, y: Axis, lines: &[(&str, &str, bool)], of: fn(f64) -> f64) -> Option<Panel> {
        let x = self.time()?;
        let mut panel = Panel::new(title, x, y);
        for (name, column, with_first) in lines {
            let points = self.over_time(column, *with_first, of)?;
            let mark = if points.len() > MOST_MARKERS { Mark::Line } else { Mark::LineAndPoints };
            panel.series.push(Series::new(*name, mark, points));
        }
        Some(panel)
    }

    /// Counts over time as lines of one panel, as [`Self::panel`].
    pub fn counts(&self, title: &str, lines: &[(&str, &str, bool)]) -> Option<Panel> {
        Some(of_counts(self.panel(title, Axis::counts("number"), lines, |n| n)?))
    }

    fn energy_error(&self) -> Option<Panel> {
        let mut lines = vec![
            ("since the start", "relative_energy_error", false),
            ("since the row before", "relative_energy_error_step", false),
        ];
        if self.table.column("outer_energy_error").is_some() {
            lines.push(("without the energy inside of subsystems", "outer_energy_error", false));
        }
        self.panel("Energy error", Axis::log("|ΔE/E₀|"), &lines, f64::abs)
    }

    /// Returns true for a run in an external field, in which the angular momentum is not conserved and the virial ratio
    /// of the pairs is not ½ in equilibrium.
    fn in_field(&self) -> bool {
        self.table.column("external_potential_energy").is_some()
    }

    fn angular_momentum(&self) -> Option<Panel> {
        let lines = [("", "angular_momentum_error", false)];
        let title = if self.in_field() { "Change of angular momentum" } else { "Angular momentum error" };
        self.panel(title, Axis::log("|ΔL|/|L₀|"), &lines, f64::abs)
    }

    fn virial_ratio(&self) -> Option<Panel> {
        let lines = [("", "virial_ratio", true)];
        let mut panel = self.panel("Virial ratio", Axis::linear("T/|U|"), &lines, |q| q)?;
        if self.in_field() {
            return Some(panel);
        }
        let times = self.table.numbers("time")?;
        let equilibrium = [times.first(), times.last()].into_iter().flatten().map(|t| (t, 0.5)).collect();
        panel.series.push(Series::new("equilibrium", Mark::Dashed, equilibrium));
        Some(panel)
    }

    fn steps(&self) -> Option<Panel> {
        let lines = [("longest", "step_max", true), ("mean", "step_mean", true), ("shortest", "step_min", true)];
        self.panel("Time steps", Axis::log(self.label("time step", "step_min")?), &lines, |step| step)
    }

    fn blocks(&self) -> Option<Panel> {
        let lines = [("", "mean_block_size", false)];
        self.panel("Blocks", Axis::log("mean number of particles in a block"), &lines, |n| n)
    }

    /// Draws the numbers of particles by time step in the last row.
    fn levels(&self) -> Option<Panel> {
        let longest = self.table.numbers("step_max")?.last()?;
        let last = |level| self.table.numbers(&format!("steps_level_{level:02}"))?.last();
        let counts: Vec<f64> = (0..LEVELS).map_while(last).collect();
        // The longest step in use is that of the first level in use.
        let first = counts.iter().position(|n| *n > 0.0)?;
        let used = counts.iter().enumerate().filter(|(_, n)| **n > 0.0);
        let step = |level: usize| longest * 2f64.powi(first as i32 - level as i32);
        let points: Vec<(f64, f64)> = used.map(|(level, n)| (step(level), *n)).collect();
        let mut x = Axis::log(self.label("time step", "step_max")?);
        // Room for the outer bars.
        x.range = Some((points.last()?.0 / 2.0, points.first()?.0 * 2.0));
        let mut panel = Panel::new("Time steps in the last row", x, Axis::linear("particles"));
        panel.series.push(Series::new("", Mark::Bars, points));
        Some(panel)
    }

    /// Errors of the forces against f64; none of a run that uses that.
    fn audit(&self) -> Option<Panel> {
        if self.table.numbers("audit_sample")?.iter().all(|n| n == 0.0) {
            return None;
        }
        let lines = [
            ("acceleration, largest", "audit_acceleration_max", true),
            ("acceleration, rms", "audit_acceleration_rms", true),
            ("jerk, rms", "audit_jerk_rms", true),
            ("potential, rms", "audit_potential_rms", true),
        ];
        self.panel("Force error against f64", Axis::log("relative error"), &lines, |e| e)
    }
}
