//! Journals of a run, drawn over time.

use super::figure::{Axis, Figure, Mark, Panel, Scale, Series};
use super::gallery::{caption, name};
use super::quantity::with_raised;
use std::path::Path;
use tisane_io::table::Table;

/// With more rows than this, markers would hide the line.
const MAX_MARKERS: usize = 60;
/// Room before the first and after the last row, as a part of the time between them.
const ROOM: f64 = 0.04;
/// The unit of time where there is no physical one; in a label beside T for the kinetic energy it would mislead.
const HENON_TIME: &str = "T";

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
            Some(unit) => format!("{what} [{}]", with_raised(unit)),
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
            let mark = if points.len() > MAX_MARKERS { Mark::Line } else { Mark::LineAndPoints };
            panel.series.push(Series::new(*name, mark, points));
        }
        Some(panel)
    }

    /// Counts over time as lines of one panel, as [`Self::panel`].
    pub fn counts(&self, title: &str, lines: &[(&str, &str, bool)]) -> Option<Panel> {
        Some(of_counts(self.panel(title, Axis::counts("number"), lines, |n| n)?))
    }
}
