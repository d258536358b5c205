//! Settings of a run that its close pairs are compared with.

use super::orbit;
use crate::config::Config;
use std::f64::consts::TAU;
use tisane::diagnostics::cluster::pair::Pair;
use tisane::integrator::{BlockSteps, SchemeInfo};
use tisane::units::{Scale, Units};

/// Least number of steps of an orbit that a scheme with one step for all particles follows.
pub(super) const FEWEST_STEPS: f64 = 50.0;

/// Settings of a run that its close pairs are compared with.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Units of the user.
    pub units: Units,
    /// User units in one internal unit.
    pub scale: Scale,
    /// Softening length, in internal units.
    pub epsilon: f64,
    /// Length of the run, in internal units.
    pub span: f64,
    pub(super) scheme: SchemeInfo,
    pub(super) steps: Steps,
    /// Flag that close pairs are subsystems, which take no short steps.
    pub(super) encounters: bool,
    /// Flag that subsystems may be followed in the mean over their orbits.
    pub(super) means: bool,
}

/// Steps of the scheme; lengths in the user's unit of time.
#[derive(Clone, Copy, Debug)]
pub(super) enum Steps {
    /// Individual block time steps.
    Blocks(BlockSteps),
    /// One step for all particles.
    One(f64),
    /// Steps of all particles that follow the motion, as short as it needs.
    ByMotion,
}

impl Terms {
    /// Returns the settings of a configuration for a run that starts at the time `start`; unit: time.
    #[must_use]
    pub fn new(config: &Config, scale: &Scale, start: f64) -> Self {
        let scheme = config.integrator.scheme();
        Self {
            units: config.units(),
            scale: *scale,
            epsilon: config.softening.epsilon.get() / scale.length,
            span: (config.t_end() - start) / scale.time,
            scheme: config.integrator.info(),
            steps: match (scheme.block_steps(), scheme.shared_step()) {
                (Some(blocks), _) => Steps::Blocks(blocks),
                (None, Some(dt)) => Steps::One(dt),
                (None, None) => Steps::ByMotion,
            },
            encounters: config.subsystems().is_some(),
            means: config.subsystems().is_some_and(|it| it.mean_orbits),
        }
    }
}

impl Terms {
    /// Returns the shortest step that the scheme needs for an orbit, in internal units. Two that the softening leaves
    /// unbound have no pericentre.
    pub(super) fn step(&self, pair: &Pair, bound: bool) -> f64 {
        // At distances below the softening length the natural time is that of its core.
        if self.encounters {
            return f64::INFINITY;
        }
        let core = (self.epsilon.powi(3) / (pair.mass[0] + pair.mass[1])).sqrt();
        match self.steps {
            Steps::Blocks(BlockSteps { nu, first, .. }) => {
                let pericentre =
                    if bound { orbit::pericentre_step(nu, pair).max(nu.sqrt() * core) } else { f64::INFINITY };
                pericentre.min(orbit::first_step(first, pair, self.epsilon))
            }
            Steps::One(_) | Steps::ByMotion => pair.period().max(TAU * core) / FEWEST_STEPS,
        }
    }
}
