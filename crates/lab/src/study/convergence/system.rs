//! What is compared: systems at their moments, schemes, states of many digits.

use crate::study::integrators::Integrator;
use serde::{Deserialize, Serialize};
use tisane::force::precision::Precision;
use tisane::integrator::low_parts;
use tisane::particles::{Particles, Vec3};

/// A Plummer sphere, and the moments at which it is compared.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct System {
    /// Number of particles.
    pub n: u32,
    /// Seed.
    pub seed: u64,
    /// Softening length.
    pub epsilon: f64,
    /// Time between the moments.
    pub interval: f64,
    /// Number of moments, without the start.
    pub moments: usize,
}

/// Scheme that is compared with a solution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scheme {
    /// Integrator.
    pub integrator: Integrator,
    /// Precision mode.
    pub mode: Precision,
    /// Accuracy of the time step: the integrator's parameter.
    pub accuracy: f64,
}

impl Scheme {
    /// Describes the scheme with its accuracy.
    #[must_use]
    pub fn describe(&self) -> String {
        let Self { integrator, mode, accuracy } = self;
        format!("{}, {}, {} = {accuracy}", integrator.name(), mode.name(), integrator.accuracy_key())
    }
}

/// Positions and velocities at a moment, with more digits than f64: x, y and z of the particles follow each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct State {
    /// Positions, rounded.
    pub pos: Vec<f64>,
    /// What they have beyond that.
    pub pos_low: Vec<f64>,
    /// Velocities, rounded.
    pub vel: Vec<f64>,
    /// What they have beyond that.
    pub vel_low: Vec<f64>,
}

impl State {
    /// Takes the state of particles.
    #[must_use]
    pub fn new(p: &Particles) -> Self {
        let flat = |column: &[Vec3]| column.iter().flat_map(|v| [v.x, v.y, v.z]).collect::<Vec<f64>>();
        let none = || [vec![Vec3::zeros(); p.len()], vec![Vec3::zeros(); p.len()]];
        let [pos_low, vel_low] = low_parts(p).unwrap_or_else(none);
        Self { pos: flat(&p.pos), pos_low: flat(&pos_low), vel: flat(&p.vel), vel_low: flat(&vel_low) }
    }
}
