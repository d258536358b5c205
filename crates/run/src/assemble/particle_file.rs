//! Particles from a file, `[initial.file]`.

use super::context::Context;
use crate::config::{FileModel, LawSection, Problem};
use crate::star_columns;
use tisane::error::{Error, Result};
use tisane::initial::InitialState;
use tisane::units::Dimension;
use tisane_io::formats::{self, DatasetsError, FileState};

/// Returns the particles of a file in the units of the configuration. `at` is the key path of the section above
/// `[file]`.
///
/// # Errors
/// [`Error::Input`] for a file that cannot be used; [`Error::Config`] for a dataset that is named and not there.
pub(super) fn read(at: &str, file: &FileModel, context: &mut Context<'_>) -> Result<InitialState> {
    let path = file.path();
    let of_stars = star_columns::names(&context.loaded.config);
    let of_law = context.loaded.config.law_section().map(LawSection::column_names).unwrap_or_default();
    let columns = [of_law, of_stars].concat();
    let state = match &file.datasets {
        None => formats::read_with_columns(path, file.format.name(), &columns),
        Some(datasets) => formats::read_datasets(path, datasets).map_err(|error| locate(at, error, context)),
    };
    let mut state = state.map_err(|error| match path.exists() {
        true => error,
        false => error.with_help("a path in a configuration is relative to the directory of the configuration file"),
    })?;
    match state.age_unit {
        Some(size) if context.loaded.config.stellar_evolution.is_some() => {
            let factor = size / context.units.time.cgs;
            let ages = state.particles.columns.iter_mut().filter(|column| column.name == star_columns::AGE);
            ages.flat_map(|column| &mut column.values).for_each(|age| *age *= factor);
        }
        Some(_) => state.notes.push("the unit of age in the file is not read: [force.law] says what it is".to_owned()),
        None => {}
    }
    for column in &state.particles.columns {
        let wrong = column
            .values
            .iter()
            .enumerate()
            .find_map(|(i, value)| Some((i, star_columns::problem(&context.loaded.config, &column.name, *value)?)));
        if let Some((i, problem)) = wrong.filter(|_| columns.contains(&column.name)) {
            return Err(Error::input(path, format!("{}: {problem}", state.place(i))));
        }
    }
    let said = |text: &str| format!("{}: {text}", path.display());
    if state.units.is_some() {
        let converted = state.to_units(&context.units).map_err(|problem| {
            Error::input(path, problem).with_help("write the kind of units that the file has in [units]")
        })?;
        context.warnings.extend(converted.map(|what| said(&what)));
    }
    context.warnings.extend(softening(&state, context).map(|what| said(&what)));
    context.warnings.extend(state.notes.iter().map(|note| said(note)));
    let n = state.particles.len();
    let close = match state.particles.close.len() {
        0 => String::new(),
        1 => "; 1 subsystem with relative positions of its stars".to_owned(),
        count => format!("; {count} subsystems with relative positions of their stars"),
    };
    let source = format!("{} ({}, N = {n}; format {}{close})", path.display(), state.format, state.guess);
    Ok(InitialState { time: state.time.unwrap_or(0.0), ..InitialState::new(state.particles, &source) })
}

/// Returns the error for a dataset at the key that names it.
fn locate(at: &str, error: DatasetsError, context: &Context<'_>) -> Error {
    let Some(key) = error.key else { return error.error };
    let problem = Problem::new(format!("{at}.file.datasets.{key}"), error.error.to_string());
    context.loaded.explain(match error.error.advice() {
        Some(help) => problem.with_help(help),
        None => problem,
    })
}

/// Returns a warning if the particles of a file have softening lengths of their own, which tisane does not use.
fn softening(state: &FileState, context: &Context<'_>) -> Option<String> {
    let unit = context.units.label(Dimension::LENGTH);
    let lengths = state.softening_text(&unit)?;
    let used = match context.loaded.config.softening.epsilon.get() {
        0.0 => "softening.epsilon is 0, so that no pair is softened".to_owned(),
        epsilon => format!("all pairs have the one of softening.epsilon, {epsilon} {unit}"),
    };
    Some(format!("its particles have softening lengths of their own, {lengths}, which are not used: {used}"))
}
