//! Audit of the forces that a run uses, by comparison with the CPU in f64.

use crate::diagnostics::conserved::relative;
use crate::diagnostics::relative_error::{Spread, relative_errors};
use crate::propagator::Propagator;
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;
use tisane_force::error::{Error, Result};
use tisane_force::force::{Block, ForceEngine, Forces};
use tisane_force::particles::Particles;
use tisane_force::time::Time;

/// Auditor that compares forces with those of the CPU in f64.
pub struct Auditor {
    /// Engine of the CPU in f64; [`None`] if that is the propagator's [f64 engine](Propagator::f64_engine).
    pub engine: Option<Box<dyn ForceEngine>>,
    /// Number of particles in an audit: 0 for no audit, more than N for all particles.
    pub sample: usize,
    /// Relative error of acceleration or potential above which a run must stop.
    pub limit: f64,
}

/// Relative errors of the forces on a sample of particles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Audit {
    /// Number of particles in the sample.
    pub sample: u64,
    /// Errors of the acceleration.
    pub acc: Spread,
    /// Errors of the jerk, where the scheme uses it.
    pub jerk: Option<Spread>,
    /// Errors of the potential, where the scheme uses it.
    pub pot: Option<Spread>,
}

impl Auditor {
    /// Compares the forces that a scheme uses, on a random sample, with those of the CPU in f64; [`None`] if the sample
    /// is empty. The system is synchronised at `now`, and its field [was measured](Propagator::field) there. The sample
    /// depends on `now` only, so that a resumed run audits the same particles. Subsystems count as one particle each, at
    /// their centres of mass, as the engine has them; the motion inside and the coupling are always in f64.
    ///
    /// # Errors
    /// If an engine fails.
    pub fn audit(&mut self, p: &Particles, now: Time, propagator: &mut Propagator) -> Result<Option<Audit>> {
        let held = propagator.loaded(p);
        let size = self.sample.min(held.len());
        if size == 0 {
            return Ok(None);
        }
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(now.0);
        let mut chosen = rand::seq::index::sample(&mut rng, held.len(), size).into_vec();
        chosen.sort_unstable();
        let block = Block::from_particles(held, chosen.iter().map(|&i| i as u32).collect());
        let mut reference = Forces::default();
        match &mut self.engine {
            Some(engine) => {
                engine.load(held)?;
                engine.evaluate(now, block.view(), &mut reference)?;
            }
            None => propagator.f64_engine().evaluate(now, block.view(), &mut reference)?,
        }
        let found = propagator.forces(p, now, block.view())?;
        let potentials = found.pot.iter().zip(&reference.pot).map(|(x, x0)| relative(*x, *x0).abs()).collect();
        Ok(Some(Audit {
            sample: size as u64,
            acc: Spread::from_errors(relative_errors(&found.acc, &reference.acc)),
            jerk: (!found.jerk.is_empty()).then(|| Spread::from_errors(relative_errors(&found.jerk, &reference.jerk))),
            pot: (!found.pot.is_empty()).then(|| Spread::from_errors(potentials)),
        }))
    }

    /// Checks an audit at a time, given as text, against the limit. The jerk is not checked: it may cancel where the acceleration does not.
    ///
    /// # Errors
    /// [`Error::Integration`] with the errors if they exceed the limit.
    pub fn check(&self, audit: &Audit, time: &str) -> Result<()> {
        // Not `>`: a NaN must not pass.
        if audit.acc.max <= self.limit && audit.pot.is_none_or(|pot| pot.max <= self.limit) {
            return Ok(());
        }
        let potential_text =
            audit.pot.map_or(String::new(), |pot| format!(", of the potential {:.3e} (rms {:.3e})", pot.max, pot.rms));
        Err(Error::Integration {
            problem: format!(
                "the audit at t = {time} found forces with errors above {:.1e}: in a sample of {} particles, relative \
                 error of the acceleration at most {:.3e} (rms {:.3e}){potential_text}",
                self.limit, audit.sample, audit.acc.max, audit.acc.rms
            ),
            help: Some(
                "choose a more precise mode, or raise the limit of the audit if such errors are acceptable".into(),
            ),
        })
    }
}
