//! The report of a run: key facts and all figures in one HTML file that needs nothing else.

mod physics;

use super::figure::Theme;
use super::gallery::{Gallery, diagnostics, is_ensemble, name};
use quick_xml::escape::escape;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use tisane::error::{Error, Result};
use tisane::units::wall_time;
use tisane_io::atomic::write_atomically;
use tisane_io::directory::{CONFIG, SUMMARY};
use tisane_io::regular_file;
use tisane_io::removed::Removed;
use tisane_io::table::Numbers;

/// The facts of the summary, in their order: what they are called and where they stand.
const FACTS: [(&str, &str); 28] = [
    ("Members", "/members"),
    ("Members that have ended", "/ended"),
    ("Outcomes", "/outcomes"),
    ("Largest energy error of a member: median, largest", "/energy_error"),
    ("Ended", "/exit_reason"),
    ("Relative energy error", "/relative_energy_error"),
    ("Largest relative energy error", "/max_relative_energy_error"),
    ("Energy taken out", "/removed"),
    ("Relative change of angular momentum", "/angular_momentum_error"),
    ("Block steps", "/block_steps"),
    ("Particle steps", "/particle_steps"),
    ("Steps held at dt_min", "/clamped_steps"),
    ("Wall time", WALL_TIME),
    // Of these on how it was made.
    ("Engine", "/engine"),
    ("Choice of the engine", "/engine_choice"),
    ("Precision", "/precision"),
    ("Threads", "/threads"),
    ("Pair interactions", "/pair_interactions"),
    ("Pairs per second", "/pairs_per_second"),
    ("SHA-256 of the state", "/state_sha256"),
    ("SHA-256 of the initial conditions", "/provenance/initial_sha256"),
    ("Seed", "/provenance/seed"),
    ("tisane", "/version"),
    ("Commit", "/git_commit"),
    ("Host", "/provenance/host"),
    ("CPU", "/provenance/cpu"),
    ("GPU", "/provenance/gpu"),
    ("Written", "/provenance/created"),
];

/// Place of the wall time in the summary, in s.
const WALL_TIME: &str = "/wall_seconds";

/// Headings of the figures, by the names of their files.
const HEADINGS: [(&str, &str); 24] = [
    ("errors", "Energy errors"),
    ("bands", "Members over time"),
    ("dissolution", "Dissolution"),
    ("outcomes", "Outcomes"),
    ("diagnostics", "Diagnostics"),
    ("projections", "The cluster from three sides"),
    ("profiles", "Profiles"),
    ("mass-bins", "Light and heavy stars"),
    ("orbit", "The orbit in the galaxy"),
    ("tails", "The tails"),
    ("sky", "The sky"),
    ("jacobi", "Jacobi energies"),
    ("tide", "The cluster in its tide"),
    ("hr", "Hertzsprung-Russell diagram"),
    ("masses", "Masses of the stars"),
    ("population", "Mass and light"),
    ("remnants", "Remnants"),
    ("structure", "Structure"),
    ("segregation", "Segregation by mass and class"),
    ("steps", "Time steps"),
    ("rates", "Rates"),
    ("binaries", "Binaries"),
    ("distributions", "Distributions of the binaries"),
    ("subsystems", "Subsystems, collisions and escapers"),
];

const STYLE: &str = "\
:root{color-scheme:light dark;--ground:#FFFFFF;--text:#1A1A1A;--muted:#5C6066;--line:#D5D7DA}\
@media(prefers-color-scheme:dark){:root{--ground:#15181C;--text:#E6E8EB;--muted:#A0A6AE;--line:#3A4048}}\
body{margin:2rem auto;max-width:72rem;padding:0 1rem;background:var(--ground);color:var(--text);font:16px/1.5 'DejaVu Sans',Verdana,sans-serif}\
table{border-collapse:collapse;margin-bottom:1rem}summary{cursor:pointer}td,th{padding:.2rem 1rem .2rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top;font-weight:normal}\
th{color:var(--muted);white-space:nowrap}td{overflow-wrap:anywhere}\
h1,h2{font-weight:600;line-height:1.2}h2{margin-top:2.5rem}\
.warnings{border-left:.4rem solid #D55E00;padding-left:1rem;margin:0 0 1.5rem}.warnings h2{margin-top:0}svg{max-width:100%;height:auto}\
@media(max-width:40rem){table,tbody,tr,th,td{display:block}th{border:0;padding-bottom:0;white-space:normal}td{padding-top:0}}\
pre{overflow-x:auto}.dark{display:none}\
@media(prefers-color-scheme:dark){.light{display:none}.dark{display:block}}";

/// Writes the report of the run in `dir` to `path`: the page depends on what the run has written alone.
///
/// # Errors
/// [`Error::Input`] if the summary cannot be read, [`Error::Storage`] if the report cannot be written.
pub fn write(path: &Path, dir: &Path, gallery: &Gallery) -> Result<()> {
    let page = page(dir, gallery)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|e| Error::storage(folder, e))?;
    }
    write_atomically(path, |t| fs::write(t, &page).map_err(|e| Error::storage(t, e)))
}

fn page(dir: &Path, gallery: &Gallery) -> Result<String> {
    let name = name(dir);
    let title = escape(&*name);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    let summary = summary(dir)?;
    page += &warnings(summary.as_ref());
    page += &table(&physics::facts(dir, summary.as_ref()));
    let facts = facts(dir, summary.as_ref())?;
    let (result, made_by) = facts.split_at(facts.iter().position(|(what, _)| what == "Engine").unwrap_or(facts.len()));
    page += &format!("<h2>Result</h2>\n{}", table(result));
    if !made_by.is_empty() {
        page += &format!("<details><summary>How it was made</summary>\n{}</details>\n", table(made_by));
    }
    for (name, figure) in &gallery.figures {
        let heading = HEADINGS.iter().find(|(of, _)| of == name).map_or(*name, |(_, heading)| heading);
        add(&mut page, format_args!("<h2 id=\"{name}\">{heading}</h2>\n"));
        for (theme, class) in [(Theme::Light, "light"), (Theme::Dark, "dark")] {
            let svg = figure.svg_of_page(theme, &format!("{name}-{class}-"));
            add(&mut page, format_args!("<figure class=\"{class}\" style=\"margin:0\">\n{svg}</figure>\n"));
        }
    }
    if !gallery.missing.is_empty() || !gallery.damaged.is_empty() {
        page += "<h2>Not drawn</h2>\n<ul>\n";
        for (name, why) in &gallery.missing {
            add(&mut page, format_args!("<li>{name}: {}</li>\n", escape(&**why)));
        }
        for why in &gallery.damaged {
            add(&mut page, format_args!("<li>left out: {}</li>\n", escape(&**why)));
        }
        page += "</ul>\n";
    }
    if let Ok(config) = regular_file::read_to_string(&dir.join(CONFIG)) {
        let shown = escape(&*config);
        add(
            &mut page,
            format_args!("<h2>Configuration</h2>\n<details><summary>{CONFIG}</summary><pre>{shown}</pre></details>\n"),
        );
    }
    Ok(page + "</body>\n</html>\n")
}

/// Writing to a String cannot fail.
fn add(page: &mut String, what: std::fmt::Arguments<'_>) {
    let _ = page.write_fmt(what);
}

fn table(facts: &[(String, String)]) -> String {
    let row = |(what, value): &(String, String)| {
        format!("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape(&**what), escape(&**value))
    };
    format!("<table>\n{}</table>\n", facts.iter().map(row).collect::<String>())
}

/// The summary of a run; [`None`] for a run without one.
fn summary(dir: &Path) -> Result<Option<Value>> {
    let path = dir.join(SUMMARY);
    if !path.is_file() {
        return Ok(None);
    }
    let text = regular_file::read_to_string(&path).map_err(|e| Error::input(&path, e))?;
    serde_json::from_str(&text).map(Some).map_err(|e| Error::input(&path, e))
}

/// The warnings of the summary, which runs of earlier versions do not have.
fn warnings(summary: Option<&Value>) -> String {
    let found = summary.and_then(|summary| summary.get("warnings")?.as_array());
    let lines = found.into_iter().flatten().filter_map(Value::as_str);
    let lines: String = lines.map(|line| format!("<li>{}</li>\n", escape(line))).collect();
    if lines.is_empty() {
        return lines;
    }
    format!("<section class=\"warnings\">\n<h2>Warnings</h2>\n<ul>\n{lines}</ul>\n</section>\n")
}

/// Content of the summary, or of the last row of the diagnostics for a run without summary.
fn facts(dir: &Path, summary: Option<&Value>) -> Result<Vec<(String, String)>> {
    let Some(summary) = summary else {
        if is_ensemble(dir) {
            let none = "none yet: the ensemble is under way, or was killed";
            return Ok(vec![("Summary".to_owned(), none.to_owned())]);
        }
        let table = diagnostics(dir)?;
        let mut facts = vec![("Summary".to_owned(), "none yet: the run is under way, or was killed".to_owned())];
        for name in ["time", "relative_energy_error", "block_steps", "wall_seconds"] {
            if let Some(last) = table.numbers(name).and_then(Numbers::last) {
                facts.push((table.column(name).map_or(String::new(), |column| column.label()), last.to_string()));
            }
        }
        facts.extend(table.remarks);
        return Ok(facts);
    };
    let value = |at: &str| match at {
        WALL_TIME => summary.pointer(at)?.as_f64().map(wall_time),
        _ => text(summary.pointer(at)?),
    };
    let found = FACTS.iter().filter_map(|(what, at)| Some(((*what).to_owned(), value(at)?)));
    Ok(found.filter(|(_, value)| !value.is_empty()).collect())
}

/// Returns a value of the summary as text; [`None`] for none.
fn text(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(x) if number.is_f64() && x != 0.0 && !(1e-3..1e6).contains(&x.abs()) => format!("{x:.4e}"),
            _ => number.to_string(),
        },
        Value::Array(events) if events.first().is_some_and(|event| event.get("energy").is_some()) => {
            let events: Vec<Removed> = serde_json::from_value(value.clone()).ok()?;
            events.iter().map(Removed::describe).collect::<Vec<_>>().join("; ")
        }
        Value::Array(values) => values.iter().filter_map(text).collect::<Vec<_>>().join(", "),
        Value::Object(counts) => {
            let counts = counts.iter().filter_map(|(what, count)| Some(format!("{} {what}", text(count)?)));
            counts.collect::<Vec<_>>().join(", ")
        }
        Value::Bool(value) => value.to_string(),
    })
}
