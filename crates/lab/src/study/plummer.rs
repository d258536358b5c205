//! The Plummer spheres of studies: configurations like those of a run, so that each point can be run by itself.

use super::config::ParticleSlices;
use std::ops::Range;
use std::path::Path;
use tisane::error::Result;
use tisane::force::precision::Precision;
use tisane_run::assemble::{self, Setup};
use tisane_run::config::{Config, Engine};

/// A Plummer sphere in Hénon units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Number of particles, of equal masses.
    pub n: u32,
    /// Seed.
    pub seed: u64,
    /// Softening.
    pub epsilon: f64,
}

/// The configuration of a run that does nothing but what a point of a study does.
#[must_use]
pub fn toml(sphere: Sphere, stretch: &ParticleSlices, nu: f64, (engine, mode): (Engine, Precision)) -> String {
    let Sphere { n, seed, epsilon } = sphere;
    let (dt_max, dt_min, t_end) = (stretch.dt_max.get(), stretch.dt_min.get(), stretch.t_end.get());
    format!(
        "[run]\nname = \"point\"\nt_end = {t_end:?}\n[initial.plummer]\nn = {n}\nseed = {seed}\n[softening]\nepsilon = {epsilon:?}\n\
         [integrator.hermite4]\nnu = {nu:?}\ndt_max = {dt_max:?}\ndt_min = {dt_min:?}\n[force]\nengine = \"{}\"\nprecision = \"{}\"\n",
        engine.name(),
        mode.name()
    )
}

/// A sphere ready to be integrated.
///
/// # Errors
/// As [`assemble::prepare`].
pub fn setup(sphere: Sphere, stretch: &ParticleSlices, nu: f64, how: (Engine, Precision)) -> Result<Setup> {
    let text = toml(sphere, stretch, nu, how);
    assemble::prepare(Config::from_str("a point of a study", &text, Path::new(""), &[])?)
}

/// The stretch in steps of dt_max.
#[must_use]
pub fn steps(stretch: &ParticleSlices) -> Range<u64> {
    let step = |time: f64| (time / stretch.dt_max.get()).round() as u64;
    step(stretch.t_start.get())..step(stretch.t_end.get())
}
