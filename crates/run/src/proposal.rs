//! Configuration that is proposed for a file of particles, with values that fit them: `tisane init file FILE`.

mod units;

use crate::assemble::{self, steps};
use crate::binaries::{Binaries, Kind, Terms};
use crate::config::{ClusterScheme, Config, Span};
use std::fmt::Write as _;
use std::path::Path;
use tisane::diagnostics::cluster::Stars;
use tisane::diagnostics::cluster::own_frame::OwnFrame;
use tisane::diagnostics::conserved::Conserved;
use tisane::diagnostics::structure::median_radius;
use tisane::encounters::EncounterSettings;
use tisane::error::{Error, Result};
use tisane::initial::scaling;
use tisane::particles::Particles;
use tisane::time::LOG2_TICKS_PER_DT_MAX;
use tisane::units::{Dimension, Scale, Units, digits};
use tisane_io::formats::{self, FileState};
use units::Named;

/// Length of the proposed run, in crossing times of a cluster.
const CROSSINGS: f64 = 10.0;
/// Length of the proposed run, in shortest periods of other systems.
const PERIODS: f64 = 100.0;
/// Column at which comments begin.
const COMMENTS: usize = 28;
/// Section and accuracy of the integrator of systems that are no cluster.
const OF_OTHERS: [&str; 2] = ["[integrator.multipoint]", "eta = 0.35"];

/// Returns a commented configuration in TOML that starts from the particles of a file. `format` is a name of
/// [`formats::FORMATS`]; [`None`] detects it.
///
/// # Errors
/// [`Error::Input`] if the file cannot be read or its path is not UTF-8, and [`Error::Config`] if no run can start from
/// its particles without softening.
pub fn for_file(path: &Path, format: Option<&str>) -> Result<String> {
    let name = path.to_str().ok_or_else(|| {
        Error::input(path, "this path is not UTF-8: a configuration cannot name it").with_help("rename the file")
    })?;
    let mut file = formats::read(path, format)?;
    if file.particles.total_mass() == 0.0 {
        let problem = "the total mass is 0: expected a positive number";
        return Err(Error::input(path, problem).with_help("particles without mass need an external field, [external]"));
    }
    // Numbers without units stay as they are, in whatever units the configuration has.
    let is_stated = file.units.is_some();
    let convert = |file: &mut FileState, named: Named| match is_stated {
        true => file.to_units(&named.units()).map(|_| ()).map_err(|problem| Error::input(path, problem)),
        false => Ok(()),
    };
    let stated = file.units.as_ref().map(units::from_stated);
    if let Some((named, _)) = stated {
        convert(&mut file, named)?;
    }
    let system = System::new(name, file.particles.clone())?;
    let (named, comment) = stated.unwrap_or_else(|| units::guess(|units| system.virial_ratio(units)));

    // The unit of time fits the time scale; the length of the run and its steps follow.
    let (found, scale) = system.find(named, [0.0, 1.0], "")?;
    let named = named.with_time_for(found.time_scale.unwrap_or(1.0) * scale.time * named.units().time.cgs);
    convert(&mut file, named)?;
    let start = file.time.unwrap_or(0.0);
    let (found, scale) = system.find(named, [start, start + 1.0], "")?;
    let parts = if found.kind == Kind::Cluster { CROSSINGS } else { PERIODS };
    let natural = found.time_scale.unwrap_or(1.0) * scale.time;
    let span = rounded(parts * natural);
    let length = Span::between(start, start + span).as_decimal();
    let steps = steps::propose(&found, Some(length), &[length], None).ok_or_else(|| {
        let problem = format!("found no step that divides a run of {span}");
        Error::input(path, problem).with_help("start from the template, `tisane init file`")
    })?;
    let is_cluster = found.kind == Kind::Cluster;
    let [section, accuracy] = match is_cluster {
        true => {
            let scheme = ClusterScheme::of(file.particles.len());
            [format!("[{}]", scheme.section()), scheme.accuracy()]
        }
        false => OF_OTHERS.map(str::to_owned),
    };
    // The proposed softening is 0: encounters that come later can be far closer than all pairs at the start.
    let (dt_max, dt_min) = (format!("{:?}", steps.dt_max), format!("\"{:?}/2^{LOG2_TICKS_PER_DT_MAX}\"", steps.dt_max));
    let subsystems = if is_cluster { "[encounters]\n" } else { "" };
    let keys = format!("{subsystems}{section}\n{accuracy}\ndt_max = {dt_max}\ndt_min = {dt_min}\n");
    let (found, _) = system.find(named, [start, start + span], &keys)?;

    let units = named.units();
    let (unit, length) = (&units.time.name, &units.length.name);
    let mut text = format!(
        "# Configuration for {}, proposed by `tisane init file`. Any value may be changed; configs/reference.toml has\n\
         # every key. The file holds:\n",
        path.file_name().unwrap_or_default().display()
    );
    for (what, value) in system.describe(&found, (&scale, &units)) {
        let _ = writeln!(text, "#   {what:<18} {value}");
    }
    file.notes.iter().for_each(|note| text += &format!("# {note}.\n"));

    text += "\n[run]\n";
    put(&mut text, &format!("name = \"{}\"", run_name(path)), "names the output directory, below runs/");
    let long = format!("{unit}; {} times the {} after the start", digits(span / natural), found.time_scale_name());
    put(&mut text, &format!("t_end = {:?}", start + span), &long);
    text += &format!("\n[units]\n{comment}{}", named.lines());
    text += "\n[initial.file]\n";
    put(&mut text, &path_of(name), "relative to the directory of this configuration");
    put(&mut text, &format!("format = \"{}\"", file.format), "format of the file");
    text += "\n[softening]\n";
    if let Some(lengths) = file.softening_text(length) {
        text += &format!("# The file has softening lengths: {lengths}; a run has one for all.\n");
    }
    put(&mut text, "epsilon = 0.0", &format!("{length}; {}", without_softening(&found)));
    if is_cluster {
        text += "\n[encounters]\n";
        let settings = EncounterSettings::default();
        let what = "smallest perturbation that a binary feels: smaller is more accurate";
        put(&mut text, &format!("perturbation = {:e}", settings.perturbation.get()), what);
    }
    text += &format!("\n{section}\n");
    put(&mut text, &accuracy, "accuracy of the time step: smaller is more accurate");
    put(&mut text, &format!("dt_max = {dt_max}"), &format!("{unit}; longest step: {}", steps.why_dt_max));
    if !is_cluster {
        let shortest = format!("{unit}; shortest step: the least possible, as nothing softens close encounters");
        put(&mut text, &format!("dt_min = {dt_min}"), &shortest);
    }
    text += "\n[output]\n";
    let outputs =
        format!("{unit}; snapshots and rows of diagnostics: {} after the first", (span / steps.interval).ceil());
    put(&mut text, &format!("interval = {:?}", steps.interval), &outputs);
    // What is printed can be run.
    assemble::prepare(Config::from_str(NAME, &text, Path::new(""), &[])?)?;
    Ok(text)
}

/// Name of the proposed configuration in messages.
const NAME: &str = "the proposed configuration";

/// Appends a setting with its comment.
fn put(text: &mut String, setting: &str, comment: &str) {
    let width = COMMENTS.max(setting.len() + 1);
    text.push_str(&format!("{setting:<width$}# {comment}\n"));
}

fn path_of(name: &str) -> String {
    format!("path = {}", toml::Value::from(name))
}

/// Returns the name of a file as that of a run: other characters than letters, digits and `. _ -` become `-`.
fn run_name(path: &Path) -> String {
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = stem.chars().map(plain).take(64).collect();
    let name = name.trim_start_matches(['.', '-']);
    if name.is_empty() { "run".into() } else { name.to_owned() }
}

/// Returns a number rounded to 1, 2 or 5 times a power of ten.
fn rounded(x: f64) -> f64 {
    let power = x.log10().floor();
    let first = x / 10f64.powf(power);
    let digit = [1, 2, 5, 10].into_iter().min_by(|a, b| {
        let off = |digit: i32| (first / f64::from(digit)).ln().abs();
        off(*a).total_cmp(&off(*b))
    });
    // As a decimal, so that it is the number that is printed.
    format!("{}e{power}", digit.unwrap_or(1)).parse().unwrap_or(x)
}

/// Says what a run without softening follows.
fn without_softening(found: &Binaries) -> String {
    match (found.kind, found.orbits.len()) {
        (Kind::Cluster, 0) => "0 follows close encounters as they are".into(),
        (Kind::Cluster, 1) => "0 follows the hard binary, which a softening would tear apart".into(),
        (Kind::Cluster, n) => format!("0 follows the {n} hard binaries, which a softening would tear apart"),
        _ => "0 follows the orbits as they are".into(),
    }
}

/// Particles of a file.
struct System<'a> {
    name: &'a str,
    /// The particles in the units of the configuration, but for the unit of time.
    written: Particles,
    /// Their total mass and median radius.
    typical: [f64; 2],
    /// Their potentials in units with G = 1.
    pot: Vec<f64>,
}

impl<'a> System<'a> {
    fn new(name: &'a str, written: Particles) -> Result<Self> {
        let centre = Conserved::from_particles(&written, &written.pot).centre_of_mass;
        let typical = [written.total_mass(), median_radius(&written, centre)];
        Ok(Self { name, typical, pot: assemble::potentials(&written, 0.0)?, written })
    }

    /// Finds the close pairs, for a run with the ends of time and the sections `keys`. Returns the scale of the internal
    /// units too.
    fn find(&self, named: Named, [start, end]: [f64; 2], keys: &str) -> Result<(Binaries, Scale)> {
        let text = format!(
            "run = {{ name = \"file\", t_start = {start:?}, t_end = {end:?} }}\n[initial.file]\n{}\n[units]\n{}{keys}",
            path_of(self.name),
            named.lines()
        );
        let config = Config::from_str(NAME, &text, Path::new(""), &[])?.config;
        let (p, pot, scale) = self.internal(&config.units());
        Ok((Binaries::find(&p, &pot, Terms::new(&config, &scale, start)), scale))
    }

    /// Returns the particles and their potentials in internal units, if their numbers are in `units`.
    fn internal(&self, units: &Units) -> (Particles, Vec<f64>, Scale) {
        let scale = Scale::choose(units, self.typical[0], self.typical[1]);
        let mut p = self.written.clone();
        scaling::rescale(&mut p, 1.0 / scale.mass, 1.0 / scale.length, 1.0 / scale.velocity);
        let pot = self.pot.iter().map(|pot| pot * (scale.length / scale.mass)).collect();
        (p, pot, scale)
    }

    /// Returns the virial ratio, if the numbers are in `units`.
    fn virial_ratio(&self, units: &Units) -> f64 {
        let (p, pot, _) = self.internal(units);
        OwnFrame::find(&Stars::new(&p, &pot), 0.0).virial_ratio()
    }

    /// Describes the particles: names and texts.
    fn describe(&self, found: &Binaries, (scale, units): (&Scale, &Units)) -> Vec<(&'static str, String)> {
        let value = |x: f64, d: Dimension| units.readable(x * scale.factor(d), d);
        let (p, ..) = self.internal(units);
        let mass = p.total_mass();
        let mut lines = vec![("particles", p.len().to_string()), ("mass", value(mass, Dimension::MASS))];
        if found.kind == Kind::Cluster {
            let whole = &found.whole;
            lines.extend([
                ("half-mass radius", value(whole.half_mass_radius, Dimension::LENGTH)),
                ("virial radius", value(whole.virial_radius(), Dimension::LENGTH)),
                ("virial ratio Q", digits(whole.virial_ratio())),
                ("crossing time", value(whole.crossing_time(), Dimension::TIME)),
                ("relaxation time", value(whole.relaxation_time(), Dimension::TIME)),
            ]);
            lines.extend(whole.describe_leaving().map(|text| ("leaving", text)));
        }
        lines.into_iter().chain(found.describe()).chain(found.describe_steps()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_runs_are_round() {
        for (x, expected) in [(25.9, 20.0), (1.0, 1.0), (3.3, 5.0), (0.00731, 0.01), (7.2e8, 1e9), (1.45e-7, 2e-7)] {
            assert_eq!(rounded(x), expected, "{x}");
        }
    }

    #[test]
    fn names_of_files_become_names_of_runs() {
        for (path, expected) in [
            ("a/N1k.dat.10", "N1k.dat"),
            ("galaxy_20K.tipsy", "galaxy_20K"),
            ("my stars.csv", "my-stars"),
            ("ä.csv", "run"),
        ] {
            assert_eq!(run_name(Path::new(path)), expected);
        }
    }
}
