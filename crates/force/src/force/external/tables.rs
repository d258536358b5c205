//! Tables in time that fields are read from: the path of a centre, tidal tensors.
//!
//! The engine reads no files: the caller that builds the fields reads the tables, and passes them.

pub(super) mod path;
pub(super) mod spline;
pub(super) mod times;

use std::fmt::Debug;

/// Table of numbers, of which the first column is a time that increases from row to row.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeTable {
    /// Name of the file, for messages.
    pub file: String,
    /// Columns of equal length, in the order in which they were asked for; in the units of the user.
    pub columns: Vec<Vec<f64>>,
    /// Line of each row in the file, from 1.
    pub lines: Vec<u64>,
}

/// Source of tables.
pub trait Tables: Debug {
    /// Returns the table at a path with the columns of these names.
    ///
    /// # Errors
    /// A message with file, line and column.
    fn read(&self, path: &str, columns: &[&'static str]) -> Result<TimeTable, String>;
}

/// No tables: for fields that need none.
#[derive(Clone, Copy, Debug)]
pub struct NoTables;

impl Tables for NoTables {
    fn read(&self, path: &str, _: &[&'static str]) -> Result<TimeTable, String> {
        Err(format!("{path}: tables cannot be read here"))
    }
}
