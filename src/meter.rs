//! The f64 CPU path beside a run that computes its forces with another engine or mode: energies and audits come from it.

use crate::diagnostics::audit::{relative_errors, spread};
use crate::diagnostics::conserved::relative;
use crate::error::{Error, Result};
use crate::force::{Field, ForceEngine, Forces, Targets};
use crate::io::fields::Spread;
use crate::particles::Particles;
use crate::time::Time;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// An f64 engine that measures.
pub struct Meter {
    /// The engine for the field, in f64. None if that of the run is in f64 itself.
    pub engine: Option<Box<dyn ForceEngine>>,
    /// The engine for audits: the CPU in f64. None if that is `engine`.
    pub auditor: Option<Box<dyn ForceEngine>>,
    /// Particles in an audit; 0 for none, more than N for everyone.
    pub sample: usize,
    /// Relative error of acceleration or potential beyond which a run must stop.
    pub limit: f64,
}

/// Relative errors of the forces on a sample of particles.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Audit {
    /// Particles in the sample.
    pub sample: u64,
    /// Of the acceleration.
    pub acc: Spread,
    /// Of the jerk.
    pub jerk: Spread,
    /// Of the potential.
    pub pot: Spread,
}

impl Meter {
    /// The field of a system that is synchronised at `now` and held by the run's engine.
    ///
    /// # Errors
    /// As the engines.
    pub fn field(&mut self, p: &Particles, now: Time, of_run: &mut dyn ForceEngine) -> Result<Field> {
        match &mut self.engine {
            Some(engine) => {
                engine.load(p)?;
                Field::of(p, &mut **engine, now)
            }
            None => Field::of(p, of_run, now),
        }
    }

    /// Compares the forces of `audited` on a random sample with those of the CPU in f64. The system is synchronised at `now`,
    /// and `audited` and, after [`Self::field`], `engine` hold it. The sample depends on the moment only, so a resumed run
    /// audits the same particles.
    ///
    /// # Errors
    /// As the engines.
    pub fn audit(&mut self, p: &Particles, now: Time, audited: &mut dyn ForceEngine) -> Result<Audit> {
        let size = self.sample.min(p.len());
        if size == 0 {
            return Ok(Audit::default());
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(now.0);
        let mut chosen = rand::seq::index::sample(&mut rng, p.len(), size).into_vec();
        chosen.sort_unstable();
        let targets = Targets {
            index: chosen.iter().map(|&i| i as u32).collect(),
            pos: chosen.iter().map(|&i| p.pos[i]).collect(),
            vel: chosen.iter().map(|&i| p.vel[i]).collect(),
        };
        let (mut found, mut reference) = (Forces::default(), Forces::default());
        audited.evaluate(now, &targets, &mut found)?;
        match (&mut self.auditor, &mut self.engine) {
            (Some(auditor), _) => {
                auditor.load(p)?;
                auditor.evaluate(now, &targets, &mut reference)?;
            }
            (None, Some(engine)) => engine.evaluate(now, &targets, &mut reference)?,
            (None, None) => return Ok(Audit::default()),
        }
        let of = |errors: Vec<f64>| {
            let [max, rms, p99] = spread(errors);
            Spread { max, rms, p99 }
        };
        let potentials = found.pot.iter().zip(&reference.pot).map(|(x, x0)| relative(*x, *x0).abs()).collect();
        Ok(Audit {
            sample: size as u64,
            acc: of(relative_errors(&found.acc, &reference.acc)),
            jerk: of(relative_errors(&found.jerk, &reference.jerk)),
            pot: of(potentials),
        })
    }

    /// Refuses an audit beyond the limit. The jerk has no say: it may cancel where the acceleration does not.
    ///
    /// # Errors
    /// [`Error::Integration`] with what was seen.
    pub fn judge(&self, audit: &Audit, time: f64) -> Result<()> {
        // Not `>`: a NaN must not pass.
        if audit.acc.max <= self.limit && audit.pot.max <= self.limit {
            return Ok(());
        }
        Err(Error::Integration {
            problem: format!(
                "the audit at time {time} found forces that are wrong by more than {:.1e}: of {} particles, relative error of \
                 the acceleration at most {:.3e} (rms {:.3e}), of the potential {:.3e} (rms {:.3e})",
                self.limit, audit.sample, audit.acc.max, audit.acc.rms, audit.pot.max, audit.pot.rms
            ),
            help: Some(
                "take a more precise mode (force.precision), or raise audit.limit if such errors are wanted; the run can be \
                 resumed from its checkpoint"
                    .into(),
            ),
        })
    }
}
