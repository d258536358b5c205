//! Runs that end in rows: those of the JSON that a command of this program prints, or of the members of an ensemble.

use super::case::{Check, OUT, Over, Quantity, Run};
use super::quantity::{exponent, reduced};
use serde_json::Value;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tisane_io::table::{Table, Values};

/// Runs the command of a run, on as many threads as this process has, and returns the rows that it prints as JSON or
/// writes as a table. `out` is the folder that `{out}` stands for; the command creates it. Returns [`None`] if `stop`
/// was set in the meantime.
///
/// # Errors
/// The message of the program if it fails, or the problem of its rows.
pub fn run_command(
    program: &Path,
    run: &Run,
    (out, device): (&Path, Option<u32>),
    stop: &AtomicBool,
) -> Result<Option<Vec<Value>>, String> {
    let arguments = &run.command;
    let mut command = Command::new(program);
    command
        .args(arguments.iter().map(|argument| argument.replace(OUT, &out.display().to_string())))
        .env("RAYON_NUM_THREADS", rayon::current_num_threads().to_string())
        .stdin(Stdio::null());
    if let Some(device) = device.filter(|_| arguments.iter().any(|argument| argument == "cuda")) {
        command.args(["--device", &device.to_string()]);
    }
    let command_line = || format!("tisane {}", arguments.join(" "));
    // Into files: a pipe that nobody reads would fill up and block the command.
    let said = ["json", "said"].map(|extension| out.with_extension(extension));
    let wrong = |e: std::io::Error| format!("{}: {e}", command_line());
    command.stdout(File::create(&said[0]).map_err(wrong)?).stderr(File::create(&said[1]).map_err(wrong)?);
    let Some(status) = finished(&mut command, stop).map_err(wrong)? else { return Ok(None) };
    if !status.success() {
        let said = fs::read(&said[1]).map_err(wrong)?;
        let said = String::from_utf8_lossy(&said).split_whitespace().collect::<Vec<_>>().join(" ");
        return Err(format!("{}: {status}: {said}", command_line()));
    }
    if let Some(table) = &run.table {
        return table_rows(&out.join(table)).map(Some).map_err(|e| format!("{}: {table}: {e}", command_line()));
    }
    let text = fs::read(&said[0]).map_err(wrong)?;
    let json: Value = serde_json::from_slice(&text).map_err(|e| format!("{}: no JSON: {e}", command_line()))?;
    let rows = json.get("rows").and_then(Value::as_array);
    rows.cloned().map(Some).ok_or_else(|| format!("{}: its JSON has no list of rows", command_line()))
}

/// Runs a command to its end, or until `stop` is set; then it is killed, for it has nothing to keep.
fn finished(command: &mut Command, stop: &AtomicBool) -> std::io::Result<Option<ExitStatus>> {
    const LOOK: Duration = Duration::from_millis(20);
    let mut child = command.spawn()?;
    loop {
        let status = child.try_wait()?;
        // A signal to the whole group of processes ends the command by itself.
        if stop.load(Ordering::Relaxed) {
            if status.is_none() {
                child.kill()?;
                child.wait()?;
            }
            return Ok(None);
        }
        if status.is_some() {
            return Ok(status);
        }
        std::thread::sleep(LOOK);
    }
}

/// Returns the rows of a CSV file: numbers where they parse as such, otherwise text. Lines that start with `#` are
/// skipped.
fn table_rows(path: &Path) -> Result<Vec<Value>, Box<dyn std::error::Error>> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_path(path)?;
    let names = reader.headers()?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record?;
        let value = |text: &str| text.parse::<f64>().map_or_else(|_| Value::from(text), Value::from);
        rows.push(names.iter().zip(&record).map(|(name, text)| (name.to_owned(), value(text))).collect());
    }
    Ok(rows)
}

/// Returns the rows of a table.
pub fn from_table(table: &Table) -> Vec<Value> {
    let cell = |values: &Values, row: usize| match values {
        Values::Floats(values) => Value::from(values[row]),
        Values::Counts(values) => Value::from(values[row]),
        Values::Text(values) => Value::from(values[row].as_str()),
    };
    let of_row = |row| table.contents().map(|(name, values)| (name.to_owned(), cell(values, row))).collect();
    (0..table.rows()).map(of_row).collect()
}

/// Returns the share of the rows that meet the conditions of a check.
fn share(rows: &[Value], check: &Check) -> Result<f64, String> {
    let chosen = rows.iter().filter(|row| check.rows.iter().all(|is| holds(row, is))).count();
    if rows.is_empty() { Err("there are no rows".into()) } else { Ok(chosen as f64 / rows.len() as f64) }
}

/// Returns the number that a check asks for.
///
/// # Errors
/// Says what is missing: no row with these values, several of them and no way to make one number of them, no such
/// value.
pub fn number(rows: &[Value], check: &Check) -> Result<f64, String> {
    if check.quantity == Quantity::Share {
        return share(rows, check);
    }
    let chosen: Vec<&Value> = rows.iter().filter(|row| check.rows.iter().all(|is| holds(row, is))).collect();
    let pick = |row: &Value, pointer: &str| {
        let found = row.pointer(pointer).and_then(Value::as_f64);
        found.map(f64::abs).ok_or_else(|| format!("a row has no number {pointer}: {row}"))
    };
    let pointer = check.value.as_deref().unwrap_or_default();
    let values = chosen.iter().map(|row| pick(row, pointer)).collect::<Result<Vec<_>, _>>()?;
    if let Some(against) = &check.against {
        let x = chosen.iter().map(|row| pick(row, against)).collect::<Result<Vec<_>, _>>()?;
        let points: Vec<(f64, f64)> = x.into_iter().zip(values).collect();
        return if points.len() > 1 {
            Ok(exponent(&points))
        } else {
            Err("a power law needs at least two rows".into())
        };
    }
    match (values.as_slice(), check.over) {
        ([], _) => Err(format!("there is no row with {}", check.rows.join(", "))),
        ([value], None) => Ok(*value),
        (_, None) => Err(format!("{} rows have {}: `over` says which to take", values.len(), check.rows.join(", "))),
        (_, Some(Over::TimeOfSmallest)) => Err("rows have no time".into()),
        (_, Some(over)) => Ok(reduced(over, &[], &values)),
    }
}

/// Returns true if a row has a value, written as `key = value`.
fn holds(row: &Value, condition: &str) -> bool {
    let Some((key, wanted)) = condition.split_once('=').map(|(key, value)| (key.trim(), value.trim())) else {
        return false;
    };
    match row.get(key) {
        Some(Value::String(text)) => text == wanted,
        Some(Value::Number(number)) => wanted.parse::<f64>().is_ok_and(|wanted| number.as_f64() == Some(wanted)),
        _ => false,
    }
}
