//! Arguments that several verbs have, and their parsers.

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::PathBuf;
use tisane::force::precision::Precision;
use tisane_io::formats::FORMATS;
use tisane_run::config::{Engine, MAX_DEVICE};

/// A configuration file with overrides.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// The configuration (TOML).
    pub file: PathBuf,
    /// Override a key, as in --set integrator.hermite4.nu=0.005; may be given several times.
    #[arg(long = "set", value_name = "SECTION.KEY=VALUE")]
    pub sets: Vec<String>,
}

/// Amount of output on the screen.
#[derive(Clone, Copy, Debug)]
pub struct Verbosity {
    pub verbose: u8,
    pub quiet: bool,
}

/// Returns a parser of one of several names, which help and completions list.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    all: impl IntoIterator<Item = T>,
    name: impl Fn(T) -> &'static str + Copy + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T> {
    let all: Vec<T> = all.into_iter().collect();
    let names: Vec<&str> = all.iter().copied().map(name).collect();
    let find = move |found: String| all.iter().copied().find(|it| name(*it) == found).ok_or("not one of the names");
    PossibleValuesParser::new(names).try_map(find)
}

pub fn an_engine() -> impl TypedValueParser<Value = Engine> {
    one_of(Engine::ALL, Engine::name)
}

pub fn a_precision() -> impl TypedValueParser<Value = Precision> {
    one_of(Precision::ALL, Precision::name)
}

/// Returns a parser of the names of file formats.
pub fn a_format() -> PossibleValuesParser {
    PossibleValuesParser::new(FORMATS.iter().map(|format| format.name))
}

pub fn a_device() -> impl TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(..=i64::from(MAX_DEVICE))
}
