//! `tisane convert`: a file of particles in another format.

use super::arguments::{Verbosity, a_format};
use clap::Args;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};
use tisane::particles::{Particles, components};
use tisane::units::names::{LengthUnit, MassUnit, TimeUnit, VelocityUnit};
use tisane::units::{Dimension, Rates, Units};
use tisane_io::atomic::check_output_path;
use tisane_io::formats::{self, Datasets, FORMATS, FileState, WritableUnits, nearest};
use tisane_run::config::parse_datasets;

const EXAMPLES: &str = "Examples:
  tisane convert stars.dat stars.hdf5 --to gadget --units mass=Msun,length=pc,velocity=km/s
  tisane convert snapshot_0010.hdf5 cluster.csv --to csv
  tisane convert stars.dat stars.petar --to petar --units mass=Msun,length=pc,velocity=km/s";

/// Endings of file names with their formats; others need --to.
const ENDINGS: [(&str, &str); 4] = [("csv", "csv"), ("tipsy", "tipsy"), ("amuse", "amuse"), ("nemo", "nemo")];

/// Arguments of `tisane convert`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ConvertArgs {
    /// The file to read.
    input: PathBuf,
    /// The file to write.
    output: PathBuf,
    /// Format of IN, where the content alone does not determine it.
    #[arg(long, value_name = "FORMAT", value_parser = a_format())]
    from: Option<String>,
    /// Format of OUT [default: by the ending of its name: csv, tipsy, amuse or nemo].
    #[arg(long, value_name = "FORMAT", value_parser = a_format())]
    to: Option<String>,
    /// Datasets of the particles in IN, where IN is HDF5 of a layout that tisane does not recognise: { mass = "PATH",
    /// position = "PATH", velocity = "PATH" } and perhaps id, as in [initial.file].
    #[arg(long, value_name = "DATASETS", value_parser = parse_datasets, conflicts_with = "from")]
    datasets: Option<Datasets>,
    /// Units of IN, where the file does not state them: mass=Msun,length=pc,velocity=km/s and perhaps time=Myr, or
    /// henon.
    #[arg(long, value_name = "UNITS", value_parser = parse_units)]
    units: Option<Units>,
    /// Units of OUT, in the same form [default: those of IN].
    #[arg(long, value_name = "UNITS", value_parser = parse_units)]
    to_units: Option<Units>,
    /// Replace OUT.
    #[arg(long)]
    overwrite: bool,
}

/// Reads IN, writes OUT, reads it back.
pub fn convert(args: &ConvertArgs, verbosity: Verbosity) -> Result<u8> {
    let (input, output) = (args.input.as_path(), args.output.as_path());
    let to = args.to.as_deref().or_else(|| by_ending(output)).ok_or_else(|| {
        let names: Vec<_> = FORMATS.iter().filter(|f| f.writer.is_some()).map(|f| f.name).collect();
        Error::input(output, "its name does not say a format").with_help(format!("--to {}", names.join(" | ")))
    })?;
    check_output_path(output, Some(input))?;
    if output.exists() && !args.overwrite {
        return Err(Error::input(output, "there is such a file already").with_help("--overwrite replaces it"));
    }
    let mut state = match &args.datasets {
        Some(datasets) => formats::read_datasets(input, datasets)?,
        None => formats::read(input, args.from.as_deref())?,
    };
    let mut said = vec![format!("{}: {}, {}", input.display(), state.format, state.guess)];
    said.append(&mut state.notes.iter().map(|note| format!("{}: {note}", input.display())).collect());
    said.extend(settle_units(args, &mut state, to)?);
    let length =
        state.units.as_ref().map_or("in the file's unit of length".into(), |units| units.label(Dimension::LENGTH));
    said.extend(
        state.softening_text(&length).map(|lengths| format!("lost: the particles' softening lengths, {lengths}")),
    );
    let lost = formats::write(output, to, &state)?;
    said.extend(lost.into_iter().map(|what| format!("lost: {what}")));
    let words = read_back(output, to, &state)?;
    said.push(format!("{}: {to}, {words}", output.display()));
    if !verbosity.quiet {
        for line in said {
            // A closed standard error must not undo what was written.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }
    Ok(0)
}

fn by_ending(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?;
    ENDINGS.iter().find(|(known, _)| *known == ending).map(|(_, format)| *format)
}

/// Converts the state from the units of IN to those of OUT; returns lines that describe it.
fn settle_units(args: &ConvertArgs, state: &mut FileState, to: &str) -> Result<Vec<String>> {
    let mut said = Vec::new();
    let refused = |problem: String| Error::input(&args.input, problem);
    match (&args.units, &state.units) {
        (Some(given), None) => state.units = Some(given.clone()),
        (Some(given), Some(found)) if given != found => {
            let (found, given) = (found.describe(), given.describe());
            let problem = format!("the file says its units itself ({found}), and --units says others ({given})");
            return Err(refused(problem).with_help("leave --units out; --to-units says the units of OUT"));
        }
        _ => {}
    }
    let only = formats::by_name(&args.output, to)?.writer.as_ref().and_then(|writer| match writer.units {
        WritableUnits::Only(units) if !state.units.as_ref().is_some_and(Units::is_henon) => Some(units()),
        _ => None,
    });
    if let (Some(_), Some(units)) = (&args.to_units, &only) {
        let problem = format!("a {to} file is in {}: --to-units cannot change that", units.describe());
        return Err(Error::input(&args.output, problem));
    }
    if let Some(wanted) = args.to_units.clone().or(only) {
        if state.units.is_none() {
            let help = "say which they are: --units mass=Msun,length=pc,velocity=km/s, or --units henon";
            return Err(
                refused("the file does not say its units, so that they cannot be changed".into()).with_help(help)
            );
        }
        said.extend(state.to_units(&wanted).map_err(refused)?);
    }
    Ok(said)
}

/// Reads OUT again and holds it to what was written: every bit, or what a 4-byte float keeps.
fn read_back(output: &Path, to: &str, state: &FileState) -> Result<String> {
    let damaged = |why: &str| Error::storage(output, format!("it does not read back as it was written{why}"));
    let again = formats::read(output, Some(to)).map_err(|error| damaged(&format!(": {error}")))?.particles;
    let p = &state.particles;
    let bits = |p: &Particles, kept: fn(f64) -> f64| {
        let numbers = p.mass.iter().chain(components(&p.pos)).chain(components(&p.vel));
        numbers.map(|x| kept(*x).to_bits()).collect::<Vec<_>>()
    };
    let found = bits(&again, |x| x);
    if found == bits(p, |x| x) {
        return Ok(format!("{} particles, read back with the same bits", p.len()));
    }
    if found != bits(p, |x| f64::from(x as f32)) {
        return Err(damaged(""));
    }
    Ok(format!("{} particles, read back as 4-byte floats", p.len()))
}

/// Units as in `mass=Msun,length=pc,velocity=km/s,time=Myr`, or `henon`.
fn parse_units(text: &str) -> Result<Units, String> {
    if text == "henon" {
        return Ok(Units::henon());
    }
    let (mut mass, mut length, mut velocity, mut time) = (None, None, None, None);
    for part in text.split(',') {
        let (key, value) =
            part.split_once('=').ok_or_else(|| format!("{part:?}: expected key=unit, or henon alone"))?;
        match key.trim() {
            "mass" => mass = Some(one(value, MassUnit::ALL, MassUnit::name)?),
            "length" => length = Some(one(value, LengthUnit::ALL, LengthUnit::name)?),
            "velocity" => velocity = Some(one(value, VelocityUnit::ALL, VelocityUnit::name)?),
            "time" => time = Some(one(value, TimeUnit::ALL, TimeUnit::name)?),
            other => {
                let guess = nearest(other, ["mass", "length", "velocity", "time"].into_iter());
                return Err(format!("{other:?}: expected mass, length, velocity or time; did you mean {guess}?"));
            }
        }
    }
    let rates = Rates::from_names(velocity, time).ok_or("expected velocity=… or time=… too")?;
    let missing = |key| format!("expected {key}=… too");
    Ok(Units::named(mass.ok_or_else(|| missing("mass"))?, length.ok_or_else(|| missing("length"))?, rates))
}

fn one<T: Copy>(word: &str, all: &[T], name: impl Fn(T) -> &'static str) -> Result<T, String> {
    all.iter().copied().find(|unit| name(*unit) == word.trim()).ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|unit| name(*unit)).collect();
        let guess = nearest(word, names.iter().copied());
        format!("{word:?}: expected one of {}; did you mean {guess}?", names.join(", "))
    })
}
