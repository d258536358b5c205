//! Printing what a benchmark found.

use crate::screen::print;
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use tisane::error::{Error, Result};
use tisane_lab::bench::Report;

/// Prints a report as JSON, or as a table of `cells` followed by what `more` adds to each row.
pub(super) fn report<T: Serialize>(
    report: &Report<T>,
    json: bool,
    header: &[&str],
    cells: impl Fn(&T) -> Vec<String>,
    more: impl Fn(&T) -> String,
) -> Result<u8> {
    if json {
        let text = serde_json::to_string_pretty(report).map_err(|e| Error::storage("standard output", e))?;
        return print(&(text + "\n"));
    }
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for row in &report.rows {
        table.add_row(cells(row));
    }
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    print(&format!(
        "{}: {}, {}, {} threads, tisane {} ({}), best of {}\n{table}\n{}",
        report.benchmark,
        report.engine,
        report.precision,
        report.threads,
        report.version,
        report.git_commit,
        report.repeat,
        report.rows.iter().map(more).collect::<String>()
    ))
}
