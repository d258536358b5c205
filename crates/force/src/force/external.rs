//! External fields: gravity of what is not among the particles, such as a galaxy or a central body held fixed.
//!
//! An [`ExternalField`] is a function of place and time. [`WithExternal`] wraps any engine and adds the field to what
//! that engine evaluates, on the host, in f64, after the pair sum: so the part of the field has the same bits by every
//! engine, in every precision mode and on any number of threads, and engines know nothing of it.
//!
//! What the step criterion takes of a field is in [`for_step`].
//!
//! The potential of a field stays apart from that of the pairs. The energy counts the pair potential half, as each pair
//! is in the sum twice, and the external one whole: E = T + ½ Σ m φ + Σ m φₑₓₜ
//! ([`Conserved`](crate::diagnostics::conserved::Conserved)). The noise of a precision mode and who is bound to a
//! cluster follow from the pair potential alone.
//!
//! A field that the configuration knows is one file in this folder, with the field, its settings and their
//! [`FieldSettings`], and one line in the list of [`ExternalSettings`]. A library user implements the trait and needs
//! neither:
//!
//! ```
//! use std::sync::Arc;
//! use tisane::force::external::{ExternalField, WithExternal};
//! use tisane::force::{precision::Precision, range::Range, reference};
//! use tisane::integrator::{Integrator, leapfrog::Leapfrog};
//! use tisane::particles::{Particles, Vec3};
//! use tisane::time::{Clock, Time};
//!
//! /// Uniform field g: φ = −g · x.
//! struct Uniform(Vec3);
//!
//! impl ExternalField for Uniform {
//!     fn acc(&self, _: Vec3, _: f64) -> Vec3 {
//!         self.0
//!     }
//!     fn jerk(&self, _: Vec3, _: Vec3, _: f64) -> Vec3 {
//!         Vec3::zeros()
//!     }
//!     fn pot(&self, pos: Vec3, _: f64) -> f64 {
//!         -self.0.dot(&pos)
//!     }
//! }
//!
//! let clock = Clock { start: 0.0, dt_max: 0.125 };
//! let field = Arc::new(Uniform(Vec3::new(0.0, 0.0, -2.0)));
//! let mut engine = WithExternal::new(reference::accelerations(Precision::F64, 0.0), field, clock);
//! let mut p = Particles::new(vec![1.0], vec![Vec3::zeros()], vec![Vec3::x()]);
//! let mut leapfrog = Leapfrog::new(clock, Range::F64);
//! leapfrog.start(&mut p, &mut engine)?;
//! leapfrog.advance(&mut p, &mut engine, Time::from_dt_max(8), u64::MAX)?;
//! assert_eq!(p.pos[0], Vec3::new(1.0, 0.0, -1.0));
//! # Ok::<(), tisane::Error>(())
//! ```

mod plummer;
mod point_mass;
mod settings;

pub use plummer::{Plummer, PlummerSettings};
pub use point_mass::{PointMass, PointMassSettings};
pub use settings::{FieldSettings, Mistake};

settings::fields! {
    /// Point mass at a fixed position; with a softening it has the potential of a Plummer sphere.
    point_mass: PointMassSettings,
    /// Plummer sphere at a fixed position (Plummer 1911).
    plummer: PlummerSettings,
}

use super::neighbours::{NeighbourForces, NeighbourTargets};
use super::{Block, Evaluation, ForceEngine, Targets};
use crate::error::Result;
use crate::law::Law;
use crate::particles::{Particles, Vec3};
use crate::time::{Clock, Time};
use std::sync::Arc;

/// Least number of targets that a thread gets: waking it costs as much as some hundred of them.
pub(super) const SHARE: usize = 1024;

/// Gravitational field that particles feel and do not act on, in internal units (G = 1). The time `t` is that of the
/// [`Clock`], so on the axis that the user sees, in internal units too.
///
/// Fields depend on place and time alone. A force that depends on the velocity (drag, the Coriolis force of a rotating
/// frame) is not one of these: the leapfrog would lose its order, and the jerk would need the acceleration by all
/// particles.
///
/// The same arguments must give the same bits on every machine: take `libm`, not the functions of the system, beyond
/// `sqrt`.
pub trait ExternalField: Send + Sync {
    /// Returns the acceleration at `pos`.
    fn acc(&self, pos: Vec3, t: f64) -> Vec3;

    /// Returns the time derivative of the acceleration along the path of a particle that passes `pos` with the velocity
    /// `vel`: (v · ∇) a + ∂a/∂t. The order of the Hermite scheme depends on it.
    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3;

    /// Returns the potential per unit mass at `pos`: a = −∇φ. It goes into the energy, which is conserved where φ does
    /// not depend on the time, and bounds the first step of the Hermite scheme.
    fn pot(&self, pos: Vec3, t: f64) -> f64;
}

/// Least share of the whole acceleration by which a step is measured.
const LEAST_SHARE: f64 = 1.0 / 256.0;

/// Returns the acceleration by which the next step of a particle is measured, of which `acc` is the whole acceleration
/// and `external` that by a field: the part by the other particles alone.
///
/// A field accelerates neighbours alike, so that its acceleration says nothing of the time scale of their motion about
/// each other; in the criterion it would make the steps longer, by the square root of its ratio to that of the pairs.
/// Where the pairs hardly act, as on a star far from all others, the part counts as at least 2⁻⁸ of the whole: at a
/// turning point, where the jerk of the field vanishes, a smaller one would let the steps shrink without end. Where they
/// do not act at all, it is the whole.
#[inline]
#[must_use]
pub fn for_step(acc: Vec3, external: Vec3) -> Vec3 {
    let pairs = acc - external;
    let least = acc * LEAST_SHARE;
    if pairs == Vec3::zeros() {
        acc
    } else if pairs.norm_squared() < least.norm_squared() {
        least
    } else {
        pairs
    }
}

/// Sum of several fields, added in their order.
pub struct FieldSum(pub Vec<Box<dyn ExternalField>>);

impl ExternalField for FieldSum {
    fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
        self.0.iter().fold(Vec3::zeros(), |sum, field| sum + field.acc(pos, t))
    }

    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        self.0.iter().fold(Vec3::zeros(), |sum, field| sum + field.jerk(pos, vel, t))
    }

    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        self.0.iter().fold(0.0, |sum, field| sum + field.pot(pos, t))
    }
}

/// Engine that adds an external field to what another engine evaluates.
pub struct WithExternal<E> {
    engine: Box<dyn ForceEngine<E>>,
    field: Arc<dyn ExternalField>,
    clock: Clock,
}

impl<E: Evaluation> WithExternal<E> {
    /// Wraps an engine of a run on the time axis `clock`.
    #[must_use]
    pub fn new(engine: Box<dyn ForceEngine<E>>, field: Arc<dyn ExternalField>, clock: Clock) -> Self {
        Self { engine, field, clock }
    }
}

impl<E: Evaluation> ForceEngine<E> for WithExternal<E> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.engine.load(all)
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engine.update(all, changed)
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut E) -> Result<()> {
        self.engine.evaluate(now, targets, out)?;
        out.add_external(&*self.field, targets, self.clock.time(now));
        Ok(())
    }

    fn evaluate_neighbours(&mut self, task: &NeighbourTargets<'_>, out: &mut NeighbourForces<E>) -> Result<()> {
        self.engine.evaluate_neighbours(task, out)?;
        let (NeighbourTargets { targets, regular, .. }, t) = (*task, self.clock.time(task.now));
        out.irregular.add_external(&*self.field, targets, t);
        out.renewed.add_external(&*self.field, Block::of_places(targets, regular).view(), t);
        Ok(())
    }

    fn law(&self) -> Option<(Arc<Law>, f64)> {
        self.engine.law()
    }

    fn set_start(&mut self, start: f64) {
        self.clock.start = start;
        self.engine.set_start(start);
    }

    fn spent(&self) -> Result<Vec<(&'static str, f64)>> {
        self.engine.spent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::precision::Precision;
    use crate::force::{Accelerations, Forces, reference};

    const CLOCK: Clock = Clock { start: 2.0, dt_max: 0.5 };

    /// Field whose every value says by which arguments it came.
    struct Probe;

    impl ExternalField for Probe {
        fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
            pos * t
        }
        fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
            pos + vel * t
        }
        fn pot(&self, pos: Vec3, t: f64) -> f64 {
            pos.x + t
        }
    }

    /// A number of particles above that from which threads share them.
    fn particles() -> Particles {
        let n = 3 * SHARE;
        let place = |i: usize| Vec3::new(i as f64, 1.0, 0.5);
        Particles::new(vec![0.0; n], (0..n).map(place).collect(), vec![Vec3::y(); n])
    }

    #[test]
    fn a_field_is_added_at_the_targets_and_its_potential_stays_apart() {
        let (p, now) = (particles(), Time::from_dt_max(2));
        for index in [vec![3, 7], (0..p.len() as u32).collect()] {
            let block = Block::from_particles(&p, index);
            let engine = reference::engine(Precision::F64, 1.0, CLOCK);
            let (mut engine, mut found) = (WithExternal::new(engine, Arc::new(Probe), CLOCK), Forces::default());
            engine.load(&p).unwrap();
            // Twice into the same columns: nothing of the first call stays.
            for _ in 0..2 {
                engine.evaluate(now, block.view(), &mut found).unwrap();
            }
            for (k, &i) in block.index.iter().enumerate() {
                let pos = p.pos[i as usize];
                assert_eq!(found.acc[k], pos * 3.0);
                assert_eq!(found.jerk[k], pos + Vec3::y() * 3.0);
                assert_eq!((found.pot[k], found.external[k]), (0.0, pos.x + 3.0));
            }
            assert_eq!(found.external.len(), block.len());
        }
        let all = Block::from_particles(&p, (0..p.len() as u32).collect());
        let engine = reference::accelerations(Precision::F64, 1.0);
        let (mut engine, mut found) = (WithExternal::new(engine, Arc::new(Probe), CLOCK), Accelerations::default());
        engine.load(&p).unwrap();
        engine.evaluate(now, all.view(), &mut found).unwrap();
        assert!(found.acc.iter().zip(&p.pos).all(|(acc, pos)| *acc == pos * 3.0));
    }

    #[test]
    fn columns_that_had_an_external_potential_have_none_without_a_field() {
        let (p, mut found) = (particles(), Forces { external: vec![1.0], ..Forces::default() });
        let block = Block::from_particles(&p, vec![0, 1]);
        let mut engine = reference::engine(Precision::F64, 1.0, CLOCK);
        engine.load(&p).unwrap();
        engine.evaluate(Time::default(), block.view(), &mut found).unwrap();
        assert!(found.external.is_empty());
    }

    #[test]
    fn fields_add_up() {
        let sum = FieldSum(vec![Box::new(Probe), Box::new(Probe)]);
        let (x, v) = (Vec3::new(1.0, 2.0, 3.0), Vec3::z());
        assert_eq!(sum.acc(x, 0.5), 2.0 * Probe.acc(x, 0.5));
        assert_eq!(sum.jerk(x, v, 0.5), 2.0 * Probe.jerk(x, v, 0.5));
        assert_eq!(sum.pot(x, 0.5), 2.0 * Probe.pot(x, 0.5));
    }
}
