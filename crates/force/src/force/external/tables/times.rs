//! Times of a table, and where in it a time is.

use super::super::values::{FieldUnits, Mistake};
use super::TimeTable;
use crate::error::{Error, Result};

/// Least number of rows: a cubic spline has as many free values.
const MIN_ROWS: usize = 4;

/// Times of a table, and where in it a time is.
#[derive(Clone, Debug)]
pub struct Times {
    /// Times in internal units, increasing.
    pub times: Vec<f64>,
    /// Name of the file and what it is for, for messages.
    about: String,
    /// First and last line with their times, in the unit of the user.
    ends: [(u64, f64); 2],
    /// User's unit of time in internal ones.
    unit: f64,
}

impl Times {
    /// Takes the first column of a table for the section and key of a field.
    ///
    /// # Errors
    /// [`Mistake`] for too few rows.
    pub fn new(table: &TimeTable, section: &str, key: &str, to: FieldUnits<'_>) -> std::result::Result<Self, Mistake> {
        let (times, lines) = (&table.columns[0], &table.lines);
        let n = times.len();
        if n < MIN_ROWS {
            let problem = format!("{}: expected at least {MIN_ROWS} rows, found {n}", table.file);
            return Err(Mistake::new(key, problem));
        }
        Ok(Self {
            times: times.iter().map(|t| t / to.scale.time).collect(),
            about: format!("{} of {section}.{key}", table.file),
            ends: [(lines[0], times[0]), (lines[n - 1], times[n - 1])],
            unit: to.scale.time,
        })
    }

    /// Returns the interval in which a time is: the number of the row before it, the time since that row over the length of the
    /// interval, and that length. Beyond the ends it is the first or last interval.
    pub fn interval(&self, t: f64) -> (usize, f64, f64) {
        let row = self.times.partition_point(|&time| time <= t).saturating_sub(1).min(self.times.len() - 2);
        let length = self.times[row + 1] - self.times[row];
        (row, (t - self.times[row]) / length, length)
    }

    /// Returns an error for a time before the first row or after the last one.
    ///
    /// # Errors
    /// [`Error::Input`] with file and line.
    pub fn covers(&self, t: f64) -> Result<()> {
        let (first, last) = (self.times[0], self.times[self.times.len() - 1]);
        // A time that was converted from the user's unit may be off by some units in the last place.
        let rounding = 8.0 * f64::EPSILON * first.abs().max(last.abs());
        let ((line, end), what) = match () {
            () if t < first - rounding => (self.ends[0], "begins"),
            () if t > last + rounding => (self.ends[1], "ends"),
            () => return Ok(()),
        };
        let needed = t * self.unit;
        let problem = format!("line {line}: the table {what} at t = {end}, and its field is needed at t = {needed}");
        Err(Error::input(&self.about, problem))
    }
}
