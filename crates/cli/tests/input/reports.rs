//! Promise: a report of a mistake shows its place, and the other place of a contradiction, with the lines around.

use crate::transcript::Transcript;
use std::path::Path;
use tisane::Error;
use tisane_run::config::Config;

/// Report of an error without colours.
pub fn plain_report(error: &Error) -> String {
    anstream::adapter::strip_str(&tisane_cli::report(error)).to_string()
}

#[test]
fn a_report_shows_both_places_of_a_contradiction() {
    let text =
        "[run]\nname = \"x\"\nt_end = 1\n[units]\nsystem = \"henon\"\nmass = \"Msun\"\n[initial.plummer]\nn = 8\n";
    let error = Config::from_str("x.toml", text, Path::new(""), &[]).unwrap_err();
    let mut transcript = Transcript::default();
    transcript.note("# units by name within a system of units", &plain_report(&error));
    transcript.is("a_contradiction");
}

#[test]
fn a_report_shows_a_formula_once() {
    let formula = "-m_i*m_j*exp(-s/lamda)/s";
    let law = format!("potential = \"{formula}\"\nparameters = {{ lambda = 0.3 }}\n");
    let text = format!("[run]\nname = \"x\"\nt_end = 1\n[initial.plummer]\nn = 8\n[force.law]\n{law}");
    let error = Config::from_str("x.toml", &text, Path::new(""), &[]).unwrap_err();
    let mut transcript = Transcript::default();
    transcript.note("# in a file", &plain_report(&error));
    // On the command line there is no file to show.
    let text = text.replace("lamda", "lambda");
    let sets = [format!("force.law.potential={formula}")];
    let error = Config::from_str("x.toml", &text, Path::new(""), &sets).unwrap_err();
    transcript.note("# on the command line", &plain_report(&error));
    transcript.is("a_mistake_in_a_formula");
}
