//! File of a case: `case.toml`.

use super::verdict::Kind;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::Path;
use tisane_run::config::{Problem, Real, nearest};

/// Placeholder for the folder of a command's files in its arguments.
pub(super) const OUT: &str = "{out}";

/// Published result, with the numbers that must be reproduced.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Result to reproduce, in one line.
    pub title: String,
    /// Flag for cases of `tisane validate --quick`.
    #[serde(default)]
    pub quick: bool,
    /// Requirements besides this program; the case is skipped where one is missing.
    #[serde(default)]
    pub needs: Needs,
    /// Runs of the case.
    #[schemars(length(min = 1))]
    pub runs: Vec<Run>,
    /// Quantities taken from the runs, with their reference values.
    #[schemars(length(min = 1))]
    pub checks: Vec<Check>,
}

/// Requirements of a case besides this program.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Needs {
    /// Flag that the case needs an NVIDIA GPU.
    pub gpu: bool,
    /// Name of a file of another program in the folder that `--data` names. It is copied to the configurations.
    pub data: Option<String>,
}

/// Run of a case.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Name that checks use.
    pub name: String,
    /// Name of the configuration, in the folder of the case.
    pub config: Option<String>,
    /// Arguments of a command of this program, in place of a configuration. It prints JSON with a list of rows, or
    /// writes a table into the folder that `{out}` stands for.
    #[serde(default)]
    pub command: Vec<String>,
    /// Name of the table that the command writes, a CSV file in `{out}`.
    pub table: Option<String>,
    /// Overrides of single keys, as `section.key=value`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Abscissa of the run in fits.
    pub x: Option<Real>,
}

/// Number that a run must reproduce.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// Description with the unit, for the table.
    pub what: String,
    /// Name of the run that the number is taken from.
    pub run: Option<String>,
    /// Names of several runs, of which the exponent p of the power law, quantity ∝ x^p, is compared.
    #[serde(default)]
    pub fit: Vec<String>,
    /// Quantity that is compared.
    pub quantity: Quantity,
    /// Reduction of a quantity that changes in time to one number.
    pub over: Option<Over>,
    /// Ids of the particles whose centre of mass moves.
    #[serde(default)]
    pub body: Vec<u32>,
    /// Ids of the particles about whose centre of mass it moves.
    #[serde(default)]
    pub about: Vec<u32>,
    /// Share of the mass inside a Lagrangian radius.
    pub fraction: Option<Real>,
    /// JSON pointer to the number in a row of a command. Its absolute value is compared.
    pub value: Option<String>,
    /// Conditions on the rows of a command or the members of an ensemble, as `key = value`: others are left out.
    #[serde(default)]
    pub rows: Vec<String>,
    /// JSON pointer to x in a row of a command: the exponent p of value ∝ x^p is compared.
    pub against: Option<String>,
    /// Name of the run whose number the quantity is divided by before the comparison.
    pub per: Option<String>,
    /// Earliest time that is used; unit: time.
    pub from: Option<Real>,
    /// Latest time that is used; unit: time.
    pub to: Option<Real>,
    /// Name of a CSV file of positions to compare with, in the folder of the case.
    pub table: Option<String>,
    /// Reference value.
    pub reference: Real,
    /// Source of the reference value.
    pub source: String,
    /// Tolerance of the comparison.
    pub tolerance: Real,
    /// Meaning of the tolerance.
    pub kind: Kind,
}

/// Quantity taken from a run. Lengths, times and velocities are in the units of its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Total energy at the start; unit: mass velocity².
    Energy,
    /// Largest relative energy error of any row of diagnostics.
    EnergyError,
    /// Relative energy error at the end.
    FinalEnergyError,
    /// Largest relative error of the angular momentum; its absolute error where it is zero at the start.
    AngularMomentumError,
    /// Semi-major axis of a relative orbit; negative for a hyperbola.
    SemiMajorAxis,
    /// Eccentricity of a relative orbit.
    Eccentricity,
    /// Inclination of a relative orbit to the x-y plane, in degrees.
    Inclination,
    /// Distance of the pericentre of a relative orbit.
    Pericentre,
    /// Distance.
    Distance,
    /// Relative speed.
    Speed,
    /// Radius about the centre of mass that holds a share of the mass.
    LagrangianRadius,
    /// Mean sidereal period, in which the mean longitude grows by 2π, from the first moment to the last.
    Period,
    /// Mean longitude at the last moment less that of an undisturbed Kepler orbit through the first, in radians; the absolute
    /// value, with whole turns in it.
    PhaseError,
    /// Largest distance of any particle from where it was at the first moment.
    Closure,
    /// Largest distance of any particle from its place in a table with the columns time, id, x, y, z, at the times of the table.
    PositionError,
    /// Median of those distances instead of the largest one.
    MedianPositionError,
    /// Number of pairs evaluated for each step of a particle, without those of the start.
    PairsPerStep,
    /// Number in the rows that a command prints.
    Row,
    /// Share of the members of an ensemble that meet the conditions `rows`.
    Share,
}

/// Reduction of a quantity that changes in time to one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Value at the first moment.
    Start,
    /// Value at the last moment.
    End,
    /// Smallest value.
    Smallest,
    /// Largest value.
    Largest,
    /// Mean value.
    Mean,
    /// Time of the smallest value.
    TimeOfSmallest,
    /// Largest relative change against the first moment.
    Change,
}

/// Keys of a check that a quantity needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KeysNeeded {
    /// `body` and `about`.
    pub bodies: bool,
    /// `fraction`.
    pub fraction: bool,
    /// `table`.
    pub table: bool,
    /// `over`.
    pub over: bool,
    /// `value`, of the rows of a command.
    pub value: bool,
    /// `rows`, the conditions on the members of an ensemble.
    pub rows: bool,
}

impl Quantity {
    /// Returns the name in `case.toml`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Energy => "energy",
            Self::EnergyError => "energy-error",
            Self::FinalEnergyError => "final-energy-error",
            Self::AngularMomentumError => "angular-momentum-error",
            Self::SemiMajorAxis => "semi-major-axis",
            Self::Eccentricity => "eccentricity",
            Self::Inclination => "inclination",
            Self::Pericentre => "pericentre",
            Self::Distance => "distance",
            Self::Speed => "speed",
            Self::LagrangianRadius => "lagrangian-radius",
            Self::Period => "period",
            Self::PhaseError => "phase-error",
            Self::Closure => "closure",
            Self::PositionError => "position-error",
            Self::MedianPositionError => "median-position-error",
            Self::PairsPerStep => "pairs-per-step",
            Self::Row => "row",
            Self::Share => "share",
        }
    }

    /// Returns the keys that it needs; it has no use for the others.
    #[must_use]
    pub const fn needs(self) -> KeysNeeded {
        const NONE: KeysNeeded =
            KeysNeeded { bodies: false, fraction: false, table: false, over: false, value: false, rows: false };
        match self {
            Self::Energy
            | Self::EnergyError
            | Self::FinalEnergyError
            | Self::AngularMomentumError
            | Self::Closure
            | Self::PairsPerStep => NONE,
            Self::SemiMajorAxis
            | Self::Eccentricity
            | Self::Inclination
            | Self::Pericentre
            | Self::Distance
            | Self::Speed => KeysNeeded { bodies: true, over: true, ..NONE },
            Self::LagrangianRadius => KeysNeeded { fraction: true, over: true, ..NONE },
            Self::Period | Self::PhaseError => KeysNeeded { bodies: true, ..NONE },
            Self::PositionError | Self::MedianPositionError => KeysNeeded { table: true, ..NONE },
            Self::Row => KeysNeeded { value: true, ..NONE },
            Self::Share => KeysNeeded { rows: true, ..NONE },
        }
    }
}

impl Check {
    /// Returns the names of the runs that the check needs.
    pub fn runs(&self) -> impl Iterator<Item = &str> {
        self.run.iter().chain(&self.fit).chain(&self.per).map(String::as_str)
    }
}

impl Case {
    /// Returns all mistakes in a case whose names and types are valid. `files` are the names of the files in its
    /// folder.
    #[must_use]
    pub fn problems(&self, files: &[&str]) -> Vec<Problem> {
        let mut found = Vec::new();
        let names: Vec<&str> = self.runs.iter().map(|run| run.name.as_str()).collect();
        for (k, run) in self.runs.iter().enumerate() {
            let key = format!("runs[{}]", k + 1);
            if names[..k].contains(&run.name.as_str()) {
                found.push(Problem::new(format!("{key}.name"), format!("there is a run \"{}\" already", run.name)));
            }
            match (&run.config, run.command.is_empty()) {
                (Some(config), true) => {
                    one_of(&mut found, format!("{key}.config"), "file in the folder of the case", config, files);
                }
                (None, false) => {}
                _ => found.push(Problem::new(key.clone(), "expected either `config` or `command`")),
            }
            if let Some(problem) = wrong_command(&run.command) {
                found.push(Problem::new(format!("{key}.command"), problem));
            }
            found.extend(run.table.iter().filter_map(|table| no_file_name(format!("{key}.table"), table)));
        }
        found.extend(self.needs.data.iter().filter_map(|name| no_file_name("needs.data".into(), name)));
        for (k, check) in self.checks.iter().enumerate() {
            self.check(check, &format!("checks[{}]", k + 1), (&names, files), &mut found);
        }
        found
    }

    fn check(&self, check: &Check, key: &str, (names, files): (&[&str], &[&str]), found: &mut Vec<Problem>) {
        let mut say = |name: &str, problem: String| found.push(Problem::new(format!("{key}.{name}"), problem));
        match (&check.run, check.fit.len()) {
            (Some(_), 0) | (None, 2..) => {}
            (None, 1) => say("fit", "a power law needs at least two runs".into()),
            _ => say("run", format!("expected either `run` or `fit` in [{key}]")),
        }
        let needs = check.quantity.needs();
        for (name, needed, written) in [
            ("body", needs.bodies, !check.body.is_empty()),
            ("about", needs.bodies, !check.about.is_empty()),
            ("fraction", needs.fraction, check.fraction.is_some()),
            ("table", needs.table, check.table.is_some()),
            ("over", needs.over, check.over.is_some() && check.quantity != Quantity::Row),
            ("value", needs.value, check.value.is_some()),
            ("rows", needs.rows, if needs.value { needs.rows } else { !check.rows.is_empty() }),
            ("against", false, !needs.value && check.against.is_some()),
        ] {
            if needed && !written {
                say(name, format!("missing key `{name}`: `{}` needs it", check.quantity.name()));
            } else if written && !needed {
                say(name, format!("`{}` has no use for it", check.quantity.name()));
            }
        }
        if check.tolerance.get() < 0.0 || (check.kind == Kind::Factor && check.tolerance.get() < 1.0) {
            let min = if check.kind == Kind::Factor { 1 } else { 0 };
            say("tolerance", format!("expected at least {min}, found {}", check.tolerance));
        }
        for run in check.runs() {
            let of = if check.per.as_deref() == Some(run) {
                "per"
            } else if check.run.is_some() {
                "run"
            } else {
                "fit"
            };
            one_of(found, format!("{key}.{of}"), "run of this case", run, names);
        }
        for run in self.runs.iter().filter(|run| check.runs().any(|name| name == run.name)) {
            if run.command.is_empty() == needs.value {
                let kind = if needs.value {
                    "has no rows: it is a configuration"
                } else {
                    "is a command: its numbers are rows"
                };
                let of = if check.run.is_some() { "run" } else { "fit" };
                found.push(Problem::new(format!("{key}.{of}"), format!("the run \"{}\" {kind}", run.name)));
            }
        }
        for run in self.runs.iter().filter(|run| check.fit.contains(&run.name) && run.x.is_none()) {
            found.push(Problem::new(format!("{key}.fit"), format!("the run \"{}\" has no `x`", run.name)));
        }
        if let Some(table) = &check.table {
            one_of(found, format!("{key}.table"), "file in the folder of the case", table, files);
        }
    }
}

/// Returns the problem of a command that does not measure, writes outside its own folder or names a file elsewhere.
fn wrong_command(command: &[String]) -> Option<String> {
    let outside = |word: &&String| {
        let value = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
        [word.as_str(), value].into_iter().any(|path| path.starts_with('/') || path.split('/').any(|part| part == ".."))
    };
    if let Some(word) = command.iter().find(outside) {
        return Some(format!("\"{word}\" leads out of the case: expected {OUT} or names in it"));
    }
    let first: &str = command.first()?;
    let writes_inside = match first {
        "bench" => command.iter().any(|word| word == "--json"),
        "study" => command.windows(2).any(|pair| pair[0] == "--output" && pair[1] == OUT),
        _ => false,
    };
    (!writes_inside).then(|| format!("expected `bench` with --json or `study` with --output {OUT}, found `{first}`"))
}

/// A name that would lead out of its folder.
fn no_file_name(key: String, name: &str) -> Option<Problem> {
    let inside = Path::new(name).file_name().is_some_and(|last| last == name);
    (!inside).then(|| Problem::new(key, format!("expected the name of a file, found \"{name}\"")))
}

/// Notes a name that is none of the valid ones.
fn one_of(found: &mut Vec<Problem>, key: String, what: &str, name: &str, valid: &[&str]) {
    if !valid.contains(&name) {
        let near = nearest(name, valid).map(|near| format!("; did you mean \"{near}\"?")).unwrap_or_default();
        let problem = Problem::new(key, format!("there is no {what} \"{name}\"{near}"));
        found.push(problem.with_help(format!("valid here: {}", valid.join(", "))));
    }
}
