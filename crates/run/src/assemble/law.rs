//! The law of a run: compiled for the scale of its particles, which must have the columns that it reads.

use super::potentials::potentials_for;
use super::setup::Setup;
use crate::config::{LawSection, Loaded, Problem};
use std::sync::Arc;
use tisane::error::Result;
use tisane::force::precision::Precision;
use tisane::force::{EngineKind, Field};
use tisane::law::Law;
use tisane::particles::Particles;
use tisane::time::Time;
use tisane::units::Scale;

/// Compiles the law of a configuration and drops the columns of the particles that it does not read. Adds its remarks to the warnings, and what
/// follows from it to the settings that were derived.
///
/// # Errors
/// [`Error::Config`](tisane::Error::Config) for a formula that is wrong and a column that is missing.
pub(super) fn of_particles(
    loaded: &Loaded,
    p: &mut Particles,
    scale: &Scale,
    (warnings, derived): (&mut Vec<String>, &mut Vec<String>),
) -> Result<Option<Arc<Law>>> {
    let config = &loaded.config;
    let law = config.law(scale).map_err(|problem| loaded.explain(problem))?;
    let (Some(law), Some(section)) = (law, config.law_section()) else {
        p.columns.clear();
        return Ok(None);
    };
    let names = section.column_names();
    p.columns.retain(|column| names.contains(&column.name));
    // As files have them.
    p.columns.sort_by(|a, b| a.name.cmp(&b.name));
    check_columns(loaded, p)?;
    let of_cluster = "cluster diagnostics and warnings of close pairs are those of Newton's law: there are none";
    derived.push(of_cluster.into());
    warnings.extend(law.notes().iter().map(|note| format!("force.law: {note}")));
    if !law.has_potential() {
        warnings.push("force.law.acceleration has no potential: there is no energy, and no energy error".into());
    }
    if config.initial.sampled().is_some() {
        derived.push("the model is in equilibrium by Newton's law, not by force.law".into());
    }
    Ok(Some(law))
}

/// Refuses particles without a value in a column that the law reads.
///
/// # Errors
/// [`Error::Config`](tisane::Error::Config) with the column.
pub(super) fn check_columns(loaded: &Loaded, p: &Particles) -> Result<()> {
    for name in loaded.config.law_section().map(LawSection::column_names).unwrap_or_default() {
        let key = format!("force.law.columns.{name}");
        let Some(values) = p.column(&name).filter(|values| values.len() == p.len()) else {
            let problem = format!("the particles have no column `{name}`, which the law reads");
            return Err(loaded.explain(Problem::new(key, problem).with_help(
                "comma-separated text may have it as a further column, HDF5 as one of initial.file.datasets.columns",
            )));
        };
        if let Some(i) = values.iter().position(|value| !value.is_finite()) {
            let problem = format!("the particle {} has no value in the column `{name}`, which the law reads", p.id[i]);
            return Err(loaded.explain(Problem::new(key, problem).with_help("give it a finite number")));
        }
    }
    Ok(())
}

/// Returns the potentials of the particles of a run, or of bodies made of them, in f64, by its law and softening.
///
/// # Errors
/// As the engine.
pub(super) fn potentials(setup: &Setup, p: &Particles) -> Result<Vec<f64>> {
    let epsilon = setup.epsilon();
    let Some(law) = &setup.law else {
        return potentials_for(p, epsilon, &setup.config.force, setup.estimates);
    };
    let mut engine = EngineKind::Cpu.open_with_law(law, Precision::F64, epsilon, setup.clock, 0)?;
    engine.load(p)?;
    Ok(Field::from_engine(p, &mut *engine, Time::default())?.pot)
}
