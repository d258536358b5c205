//! The Plummer spheres of studies: configurations like those of a run, so that each point can be run by itself.

use super::config::TimeSpan;
use super::integrators::Integrator;
use std::ops::Range;
use std::path::Path;
use tisane::error::Result;
use tisane::force::precision::Precision;
use tisane_run::assemble::{self, Setup};
use tisane_run::config::{Config, Engine, LawSection};

/// A Plummer sphere in N-body units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Number of particles, of equal masses.
    pub n: u32,
    /// Seed.
    pub seed: u64,
    /// Softening.
    pub epsilon: f64,
}

/// The configuration of a run that does nothing but what a point of a study does, by a law in place of Newton's where there is
/// one.
#[must_use]
pub fn toml(
    sphere: Sphere,
    span: &TimeSpan,
    (integrator, accuracy): (Integrator, f64),
    (engine, mode): (Engine, Precision),
    law: Option<&LawSection>,
) -> String {
    let (dt_max, dt_min, t_end) = (span.dt_max.get(), span.dt_min.get(), span.t_end.get());
    // The first step of the papers.
    let start = integrator.variant().start_key.map_or_else(String::new, |key| format!("{key} = {accuracy:?}\n"));
    let steps = format!("{start}dt_max = {dt_max:?}\ndt_min = {dt_min:?}\n");
    format!(
        "{}{}[force]\nengine = \"{}\"\nprecision = \"{}\"\n{}",
        head(sphere, t_end),
        integrator.section(accuracy, &steps),
        engine.name(),
        mode.name(),
        law.map_or_else(String::new, section)
    )
}

/// Writes the sections of a sphere that is integrated until `t_end`.
pub(super) fn head(Sphere { n, seed, epsilon }: Sphere, t_end: f64) -> String {
    format!(
        "[run]\nname = \"point\"\nt_end = {t_end:?}\n[initial.plummer]\nn = {n}\nseed = {seed}\n\
         [softening]\nepsilon = {epsilon:?}\n"
    )
}

/// Writes the section of a law.
fn section(law: &LawSection) -> String {
    let formula = [("name", &law.name), ("potential", &law.potential), ("acceleration", &law.acceleration)];
    let formula = formula.iter().filter_map(|(key, text)| Some(format!("{key} = {:?}\n", text.as_ref()?)));
    let parameters = law.parameters.iter().map(|(name, value)| format!("parameters.{name} = {:?}\n", value.text()));
    "[force.law]\n".to_owned() + &formula.chain(parameters).collect::<String>()
}

/// A sphere ready to be integrated.
///
/// # Errors
/// As [`assemble::prepare`].
pub fn setup(
    sphere: Sphere,
    span: &TimeSpan,
    integrator: (Integrator, f64),
    how: (Engine, Precision),
) -> Result<Setup> {
    setup_by(None, sphere, span, integrator, how)
}

/// A sphere ready to be integrated, by a law in place of Newton's where there is one.
///
/// # Errors
/// As [`assemble::prepare`].
pub fn setup_by(
    law: Option<&LawSection>,
    sphere: Sphere,
    span: &TimeSpan,
    integrator: (Integrator, f64),
    how: (Engine, Precision),
) -> Result<Setup> {
    let text = toml(sphere, span, integrator, how, law);
    assemble::prepare(Config::from_str("a point of a study", &text, Path::new(""), &[])?)
}

/// Returns the span in steps of dt_max.
#[must_use]
pub fn steps(span: &TimeSpan) -> Range<u64> {
    let step = |time: f64| (time / span.dt_max.get()).round() as u64;
    step(span.t_start.get())..step(span.t_end.get())
}
