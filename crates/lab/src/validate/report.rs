//! The table of results, as Markdown, CSV and JSON.

use super::case::Check;
use super::verdict::{Kind, Verdict, number};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::Path;
use tisane::error::{Error, Result};
use tisane_io::atomic::write_atomically;
use tisane_io::provenance;
use tisane_run::assemble;

/// File of the table in Markdown that [`Report::write`] writes.
pub const MARKDOWN: &str = "results.md";
/// File of the same table as CSV.
pub const CSV: &str = "results.csv";

/// Measured number, reference value and verdict.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Name of the case.
    pub case: String,
    /// Description with the unit.
    pub quantity: String,
    /// Reference value.
    pub reference: f64,
    /// Tolerance of the comparison.
    pub tolerance: f64,
    /// Meaning of the tolerance.
    pub kind: Kind,
    /// Measured value.
    pub measured: Option<f64>,
    /// Verdict.
    pub verdict: Verdict,
    /// Reason why there is no number.
    pub note: String,
    /// Source of the reference value.
    pub source: String,
}

impl Row {
    /// Creates the row of a check.
    #[must_use]
    pub fn new(case: &str, check: &Check, measured: Result<f64, String>, verdict: Verdict) -> Self {
        let (measured, note) = match measured {
            Ok(value) => (Some(value), String::new()),
            Err(why) => (None, why),
        };
        Self {
            case: case.to_owned(),
            quantity: check.what.clone(),
            reference: check.reference.get(),
            tolerance: check.tolerance.get(),
            kind: check.kind,
            measured,
            verdict,
            note,
            source: check.source.clone(),
        }
    }
}

/// All results of a session.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of tisane.
    pub version: &'static str,
    /// Commit that tisane was built from.
    pub commit: &'static str,
    /// Engine and mode that computed.
    pub machine: String,
    /// Time of the report: UTC, RFC 3339.
    pub created: String,
    /// Results.
    pub rows: Vec<Row>,
}

impl Report {
    /// Creates a report of this program on this machine.
    #[must_use]
    pub fn new(rows: Vec<Row>) -> Self {
        Self {
            version: provenance::version(),
            commit: provenance::git_commit(),
            machine: machine(),
            created: provenance::now_utc(),
            rows,
        }
    }

    /// Returns true if a check failed.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.count(Verdict::Fail) > 0
    }

    fn count(&self, verdict: Verdict) -> usize {
        self.rows.iter().filter(|row| row.verdict == verdict).count()
    }

    /// Returns the numbers of checks passed, failed and skipped, in a line; then the reasons for checks without a
    /// number, each once.
    #[must_use]
    pub fn summary(&self) -> String {
        let [pass, fail, skip] = [Verdict::Pass, Verdict::Fail, Verdict::Skipped].map(|verdict| self.count(verdict));
        let mut text = format!("{} checks: {pass} passed, {fail} failed, {skip} skipped\n", self.rows.len());
        let mut noted: Vec<(&str, &str)> = Vec::new();
        for row in self.rows.iter().filter(|row| !row.note.is_empty()) {
            if !noted.contains(&(&row.case, &row.note)) {
                noted.push((&row.case, &row.note));
                let _ = writeln!(text, "{} {}: {}", row.verdict.name(), row.case, row.note);
            }
        }
        text
    }

    /// Returns the table as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::from(
            "| case | quantity | reference | tolerance | measured | verdict | commit | machine |\n|---|---|---|---|---|---|---|---|\n",
        );
        for row in &self.rows {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {} | {} |",
                row.case,
                row.quantity.replace('|', "\\|"),
                number(row.reference),
                row.kind.describe(row.tolerance),
                row.measured.map_or("–".into(), number),
                row.verdict.name(),
                self.commit,
                self.machine
            );
        }
        text + "\n" + &self.summary()
    }

    /// Writes [`MARKDOWN`] and [`CSV`] into a folder, which is created.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub fn write(&self, folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder).map_err(|e| Error::storage(folder, e))?;
        let put = |name: &str, text: &[u8]| {
            write_atomically(&folder.join(name), |path| std::fs::write(path, text).map_err(|e| Error::storage(path, e)))
        };
        put(MARKDOWN, self.markdown().as_bytes())?;
        put(CSV, &self.csv().map_err(|e| Error::storage(folder.join(CSV), e))?)
    }

    fn csv(&self) -> std::result::Result<Vec<u8>, Box<dyn std::error::Error>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let (commit, machine) = (self.commit, self.machine.as_str());
        writer.write_record([
            "case",
            "quantity",
            "reference",
            "tolerance",
            "kind",
            "measured",
            "verdict",
            "commit",
            "machine",
            "note",
            "source",
        ])?;
        for row in &self.rows {
            let kind = serde_json::to_value(row.kind)?;
            writer.write_record([
                &row.case,
                &row.quantity,
                &row.reference.to_string(),
                &row.tolerance.to_string(),
                kind.as_str().unwrap_or_default(),
                &row.measured.map_or_else(String::new, |x| format!("{x:e}")),
                row.verdict.name(),
                commit,
                machine,
                &row.note,
                &row.source,
            ])?;
        }
        Ok(writer.into_inner()?)
    }
}

/// Describes the processor with its threads, and the GPUs.
fn machine() -> String {
    let about = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = about.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let cpu = model.map_or(std::env::consts::ARCH, |(_, name)| name.trim());
    let mut text = format!("{cpu}, {} threads", rayon::current_num_threads());
    for gpu in assemble::gpus().unwrap_or_default() {
        let _ = write!(text, ", {}", gpu.name);
    }
    text
}
