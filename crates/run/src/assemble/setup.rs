//! A configuration that is ready to run: its particles, its clock and its units.

use super::potentials::MAX_SUMMED;
use crate::binaries::Terms;
use crate::config::Config;
use std::sync::Arc;
use tisane::error::{Result, RunContext};
use tisane::force::external::ExternalField;
use tisane::force::external::guide::{MovingOrigin, OrbitState};
use tisane::initial::Cluster;
use tisane::law::Law;
use tisane::particles::Particles;
use tisane::time::{Clock, Time};
use tisane::units::Scale;
use tisane_io::checkpoint::{Counters, OutputCounts, References, RunState};
use tisane_io::provenance::Provenance;

/// Particles, clock and units of a configuration, ready to be inspected or run.
#[derive(Clone)]
pub struct Setup {
    /// The configuration, with the start time known.
    pub config: Config,
    /// Provenance of the files, as far as it is known: the configuration and the initial conditions.
    pub provenance: Provenance,
    /// The particles at the start, in internal units.
    pub particles: Particles,
    /// The time axis, in internal units.
    pub clock: Clock,
    /// User units in one internal unit.
    pub scale: Scale,
    /// Length of the run in `dt_max`.
    pub steps_to_end: u64,
    /// Origin of the particles, for logs.
    pub source: String,
    /// Further properties of the particles for a summary: name and text.
    pub about: Vec<(String, String)>,
    /// The first of the two stars of each primordial binary, as an index; the second follows it.
    pub binaries: Vec<usize>,
    /// Clusters of a list, with the distributions that each is drawn from in the units of the configuration; the system, if it
    /// is one.
    pub clusters: Vec<Cluster>,
    /// Settings that the configuration leaves to the particles, as they were found, with the reasons.
    pub derived: Vec<String>,
    /// Warnings about settings that are valid but may be mistakes.
    pub warnings: Vec<String>,
    /// Law of the force in place of Newton's.
    pub law: Option<Arc<Law>>,
    /// Place and velocity of the origin of coordinates in the external fields at the start, if it moves.
    pub orbit: Option<OrbitState>,
    /// Flag that potentials of many particles may be estimated: see [`Loaded::for_forecast`](crate::config::Loaded::for_forecast).
    pub(crate) estimates: bool,
}

impl Setup {
    /// Returns the softening length in internal units.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        self.config.softening.epsilon.get() / self.scale.length
    }

    /// Returns the configuration that files of the run have: with the defaults that follow from the precision mode and the
    /// number of particles, too. A run of it has the same bits.
    #[must_use]
    pub fn config_of_files(&self) -> Config {
        let mut config = self.config.clone();
        config.integrator.scheme_mut().resolve_late(config.force.precision(), self.particles.len());
        config
    }

    /// Returns what errors of its integration need to know of it.
    #[must_use]
    pub fn run_context(&self) -> RunContext {
        RunContext {
            units: self.config.units(),
            scale: self.scale,
            epsilon: self.epsilon(),
            t_end: Some(self.clock.time(Time::from_dt_max(self.steps_to_end))),
            seconds_per_block_step: None,
            directory: None,
        }
    }

    /// Returns true if the energies of the particles are estimates.
    #[must_use]
    pub fn has_estimates(&self) -> bool {
        self.estimates && self.particles.len() > MAX_SUMMED
    }

    /// Returns the settings that close pairs are compared with.
    pub(super) fn terms(&self) -> Terms {
        Terms::new(&self.config, &self.scale, self.clock.start * self.scale.time)
    }

    /// Returns the state of a system that has not started.
    pub(crate) fn state(&self) -> RunState {
        RunState {
            now: Time::default(),
            clock: self.clock,
            scale: self.scale,
            counters: Counters::default(),
            written: OutputCounts::default(),
            references: References::default(),
            orbit: None,
            wall_seconds: 0.0,
        }
    }

    /// External field that acts on the particles, in internal units, if there is one.
    ///
    /// # Errors
    /// [`Error::Input`](tisane::Error::Input) for values that make no field.
    pub fn external_field(&self) -> Result<Option<Arc<dyn ExternalField>>> {
        Ok(self.config.external_field(&self.scale)?)
    }

    /// Returns the origin of coordinates, if it moves in the external fields.
    #[must_use]
    pub fn moving_origin(&self) -> Option<MovingOrigin> {
        Some(MovingOrigin::new(self.external_field().ok().flatten()?, self.clock, (0, self.orbit?)))
    }
}
