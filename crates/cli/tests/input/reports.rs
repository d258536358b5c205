//! Promise: a report of a mistake shows its place, and the other place of a contradiction, with the lines around.

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
    let expected = "\
error: x.toml:6: units.mass: units by name are not possible together with a
       system of units, against `units.system` on line 5
 --> x.toml:6:1
  |
4 | [units]
5 | system = \"henon\"
  | ---------------- against this
6 | mass = \"Msun\"
  | ^^^^^^^^^^^^^
7 | [initial.plummer]
  |";
    assert_eq!(plain_report(&error), expected);
}

#[test]
fn a_report_shows_a_formula_once() {
    let formula = "-m_i*m_j*exp(-s/lamda)/s";
    let law = format!("potential = \"{formula}\"\nparameters = {{ lambda = 0.3 }}\n");
    let text = format!("[run]\nname = \"x\"\nt_end = 1\n[initial.plummer]\nn = 8\n[force.law]\n{law}");
    let error = Config::from_str("x.toml", &text, Path::new(""), &[]).unwrap_err();
    let expected = "\
error: x.toml:7: force.law.potential: character 17: unknown name `lamda`: did
       you mean `lambda`?
 --> x.toml:7:30
  |
6 | [force.law]
7 | potential = \"-m_i*m_j*exp(-s/lamda)/s\"
  |                              ^^^^^
8 | parameters = { lambda = 0.3 }
  |";
    assert_eq!(plain_report(&error), expected);

    // On the command line there is no file to show.
    let text = text.replace("lamda", "lambda");
    let sets = [format!("force.law.potential={formula}")];
    let error = Config::from_str("x.toml", &text, Path::new(""), &sets).unwrap_err();
    let expected = "\
error: --set force.law.potential=-m_i*m_j*exp(-s/lamda)/s: force.law.potential:
       character 17: unknown name `lamda`: did you mean `lambda`?
help: the place:
        -m_i*m_j*exp(-s/lamda)/s
                        ^^^^^";
    assert_eq!(plain_report(&error), expected);
}
