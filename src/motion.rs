//! What moves the particles of a run: a scheme together with an engine of the kind that it needs, and an f64 force engine that
//! measures, whatever the scheme goes by.

use crate::error::Result;
use crate::force::{AccelerationEngine, Field, ForceEngine, Forces, Targets};
use crate::integrator::{Integrator, StepReport};
use crate::particles::Particles;
use crate::time::Time;

/// A scheme and its engine, by what the scheme goes by.
pub enum Motion {
    /// Accelerations, jerks and potentials of a block of targets.
    Forces {
        /// The scheme.
        integrator: Box<dyn Integrator<Engine = dyn ForceEngine>>,
        /// Gives it its forces.
        engine: Box<dyn ForceEngine>,
        /// Measures in f64; none if `engine` is itself in f64.
        meter: Option<Box<dyn ForceEngine>>,
    },
    /// Accelerations of all particles.
    Accelerations {
        /// The scheme.
        integrator: Box<dyn Integrator<Engine = dyn AccelerationEngine>>,
        /// Gives it its accelerations.
        engine: Box<dyn AccelerationEngine>,
        /// Measures in f64: `engine` knows no potential.
        meter: Box<dyn ForceEngine>,
    },
}

impl Motion {
    /// As [`Integrator::start`].
    ///
    /// # Errors
    /// As there.
    pub fn start(&mut self, p: &mut Particles) -> Result<StepReport> {
        match self {
            Self::Forces { integrator, engine, .. } => integrator.start(p, &mut **engine),
            Self::Accelerations { integrator, engine, .. } => integrator.start(p, &mut **engine),
        }
    }

    /// As [`Integrator::resume`].
    ///
    /// # Errors
    /// As there.
    pub fn resume(&mut self, p: &Particles, now: Time) -> Result<()> {
        match self {
            Self::Forces { integrator, engine, .. } => integrator.resume(p, now, &mut **engine),
            Self::Accelerations { integrator, engine, .. } => integrator.resume(p, now, &mut **engine),
        }
    }

    /// As [`Integrator::step`].
    ///
    /// # Errors
    /// As there.
    pub fn step(&mut self, p: &mut Particles) -> Result<StepReport> {
        match self {
            Self::Forces { integrator, engine, .. } => integrator.step(p, &mut **engine),
            Self::Accelerations { integrator, engine, .. } => integrator.step(p, &mut **engine),
        }
    }

    /// The engine that measures.
    pub fn meter(&mut self) -> &mut dyn ForceEngine {
        match self {
            Self::Forces { engine, meter: None, .. } => &mut **engine,
            Self::Forces { meter: Some(meter), .. } | Self::Accelerations { meter, .. } => &mut **meter,
        }
    }

    /// The field of a system that is synchronised at `now`, in f64. The engine that measures holds the system afterwards.
    ///
    /// # Errors
    /// As the engine.
    pub fn field(&mut self, p: &Particles, now: Time) -> Result<Field> {
        // The engine of the run holds it already.
        if !matches!(self, Self::Forces { meter: None, .. }) {
            self.meter().load(p)?;
        }
        Field::of(p, self.meter(), now)
    }

    /// The forces that the scheme goes by, on some particles of a system that is synchronised at `now`. Of those that it does
    /// not go by the columns are empty.
    ///
    /// # Errors
    /// As the engine.
    pub fn forces(&mut self, p: &Particles, now: Time, targets: &Targets) -> Result<Forces> {
        let mut found = Forces::default();
        match self {
            Self::Forces { engine, .. } => engine.evaluate(now, targets, &mut found)?,
            // The particles keep the accelerations of the last step, where they stand.
            Self::Accelerations { .. } => found.acc.extend(targets.index.iter().map(|&i| p.acc[i as usize])),
        }
        Ok(found)
    }
}
