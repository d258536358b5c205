//! The contract of external fields, and sums of them.

use super::parts::{FieldParts, Summand};
use super::places::{FieldForces, LANES, Lanes, Places, plus};
use crate::error::Result;
use crate::particles::Vec3;
use std::sync::Arc;

/// Gravitational field that particles feel and do not act on, in internal units (G = 1). The time `t` is that of the
/// [`Clock`](crate::time::Clock), so on the axis that the user sees, in internal units too.
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

    /// Returns the tidal tensor T = ∂a/∂x at `pos`, which is symmetric: xx, xy, xz, yy, yz, zz.
    ///
    /// The default takes it from the jerk, which is T v + ∂a/∂t, as the difference of two velocities: it has no error but
    /// rounding.
    fn tide(&self, pos: Vec3, t: f64) -> [f64; 6] {
        let at_rest = self.jerk(pos, Vec3::zeros(), t);
        let [x, y, z] = [Vec3::x(), Vec3::y(), Vec3::z()].map(|unit| self.jerk(pos, unit, t) - at_rest);
        [x.x, y.x, z.x, y.y, z.y, z.z]
    }

    /// Returns the rate ∂φ/∂t at `pos`, and its time derivative along the path of a particle that passes with the
    /// velocity `vel`: v · ∇∂φ/∂t + ∂²φ/∂t². Both are 0 where φ does not depend on the time.
    ///
    /// The default takes derivatives of φ by the time as differences of fourth order over 2⁻¹⁰ of the internal unit of
    /// time: a field that changes more quickly needs a function of its own.
    fn rate(&self, pos: Vec3, vel: Vec3, t: f64) -> [f64; 2] {
        let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|steps| self.pot(pos, t + steps * RATE_STEP));
        let first = (a - 8.0 * b + 8.0 * c - d) / (12.0 * RATE_STEP);
        let second = (16.0 * (b + c) - (a + d) - 30.0 * self.pot(pos, t)) / (12.0 * RATE_STEP * RATE_STEP);
        [first, second - vel.dot(&self.jerk(pos, Vec3::zeros(), t))]
    }

    /// Returns the accelerations at several places together, with the bits of [`acc`](Self::acc) at each, which the default calls.
    fn accelerations(&self, at: &Places, t: f64) -> [Lanes; 3] {
        at.vectors(|lane| self.acc(at.place(lane), t))
    }

    /// Returns accelerations, jerks and potentials at several places together, with the bits of [`acc`](Self::acc),
    /// [`jerk`](Self::jerk) and [`pot`](Self::pot) at each, which the default calls.
    fn forces(&self, at: &Places, t: f64) -> FieldForces {
        FieldForces {
            acc: at.vectors(|lane| self.acc(at.place(lane), t)),
            jerk: at.vectors(|lane| self.jerk(at.place(lane), at.velocity(lane), t)),
            pot: at.number(|lane| self.pot(at.place(lane), t)),
        }
    }

    /// Returns the [tidal tensors](Self::tide) at several places together, with the same bits. The default calls that function.
    fn tides(&self, at: &Places, t: f64) -> [Lanes; 6] {
        at.numbers(|lane| self.tide(at.place(lane), t))
    }

    /// Returns the [rates](Self::rate) at several places together, with the same bits. The default calls that function.
    fn rates(&self, at: &Places, t: f64) -> [Lanes; 2] {
        at.numbers(|lane| self.rate(at.place(lane), at.velocity(lane), t))
    }

    /// Returns the part of the field that moves with a moving origin of coordinates, for places and velocities relative to that. It
    /// does not accelerate the origin and is in no other function of this field. The default is none.
    fn carried(&self) -> Option<&dyn ExternalField> {
        None
    }

    /// Returns the times between which the rate changes smoothly and by little: where a change of the strength sets in, and after that so
    /// close to each other as it is quick. Work is summed and orbits are followed from one to the next. The default is none.
    fn moments(&self) -> Vec<f64> {
        Vec::new()
    }

    /// Returns the field as a sum of parts that a device evaluates with the same bits in block steps that it takes by itself, without
    /// what is [carried](Self::carried); [`None`] for a field that it cannot evaluate, the default. The sum of fields is one in their
    /// order. A field with parts is known at all times.
    fn parts(&self) -> Option<Summand> {
        None
    }

    /// Checks that the field is known at a time; fields that are read from tables are so for a while. The default is always.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) or [`Error::Integration`](crate::Error::Integration) where it is not.
    fn covers(&self, _t: f64) -> Result<()> {
        Ok(())
    }
}

/// A field that is shared.
impl ExternalField for Arc<dyn ExternalField> {
    fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
        (**self).acc(pos, t)
    }

    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        (**self).jerk(pos, vel, t)
    }

    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        (**self).pot(pos, t)
    }

    fn tide(&self, pos: Vec3, t: f64) -> [f64; 6] {
        (**self).tide(pos, t)
    }

    fn rate(&self, pos: Vec3, vel: Vec3, t: f64) -> [f64; 2] {
        (**self).rate(pos, vel, t)
    }

    fn carried(&self) -> Option<&dyn ExternalField> {
        (**self).carried()
    }

    fn moments(&self) -> Vec<f64> {
        (**self).moments()
    }

    fn parts(&self) -> Option<Summand> {
        (**self).parts()
    }

    fn covers(&self, t: f64) -> Result<()> {
        (**self).covers(t)
    }

    fn accelerations(&self, at: &Places, t: f64) -> [Lanes; 3] {
        (**self).accelerations(at, t)
    }

    fn forces(&self, at: &Places, t: f64) -> FieldForces {
        (**self).forces(at, t)
    }

    fn tides(&self, at: &Places, t: f64) -> [Lanes; 6] {
        (**self).tides(at, t)
    }

    fn rates(&self, at: &Places, t: f64) -> [Lanes; 2] {
        (**self).rates(at, t)
    }
}

/// Returns a field for a device, with what is [carried](ExternalField::carried) only where there is an origin with which it moves;
/// [`None`] for a field that a device cannot evaluate.
#[must_use]
pub fn parts_of(field: &dyn ExternalField, with_carried: bool) -> Option<FieldParts> {
    let carried = field.carried().filter(|_| with_carried).map(|carried| carried.parts());
    FieldParts::new(field.parts()?, carried.map_or(Some(None), |carried| carried.map(Some))?)
}

/// Step of the differences in time in [`ExternalField::rate`].
const RATE_STEP: f64 = 1.0 / 1024.0;

/// Returns the product of a [tidal tensor](ExternalField::tide) and a vector.
#[must_use]
pub fn tide_times([xx, xy, xz, yy, yz, zz]: [f64; 6], d: Vec3) -> Vec3 {
    Vec3::new(xx * d.x + xy * d.y + xz * d.z, xy * d.x + yy * d.y + yz * d.z, xz * d.x + yz * d.y + zz * d.z)
}

/// Least share of the whole acceleration by which a step is measured.
const MIN_SHARE: f64 = 1.0 / 256.0;

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
    let min = acc * MIN_SHARE;
    if pairs == Vec3::zeros() {
        acc
    } else if pairs.norm_squared() < min.norm_squared() {
        min
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

    fn tide(&self, pos: Vec3, t: f64) -> [f64; 6] {
        let add = |sum: [f64; 6], part: [f64; 6]| std::array::from_fn(|k| sum[k] + part[k]);
        self.0.iter().fold([0.0; 6], |sum, field| add(sum, field.tide(pos, t)))
    }

    fn rate(&self, pos: Vec3, vel: Vec3, t: f64) -> [f64; 2] {
        let add = |sum: [f64; 2], part: [f64; 2]| [sum[0] + part[0], sum[1] + part[1]];
        self.0.iter().fold([0.0; 2], |sum, field| add(sum, field.rate(pos, vel, t)))
    }

    fn accelerations(&self, at: &Places, t: f64) -> [Lanes; 3] {
        self.0.iter().fold(FieldForces::ZERO.acc, |sum, field| plus(&sum, &field.accelerations(at, t)))
    }

    fn forces(&self, at: &Places, t: f64) -> FieldForces {
        self.0.iter().fold(FieldForces::ZERO, |sum, field| sum.plus(&field.forces(at, t)))
    }

    fn tides(&self, at: &Places, t: f64) -> [Lanes; 6] {
        self.0.iter().fold([[0.0; LANES]; 6], |sum, field| plus(&sum, &field.tides(at, t)))
    }

    fn rates(&self, at: &Places, t: f64) -> [Lanes; 2] {
        self.0.iter().fold([[0.0; LANES]; 2], |sum, field| plus(&sum, &field.rates(at, t)))
    }

    /// That of the first field that has one.
    fn carried(&self) -> Option<&dyn ExternalField> {
        self.0.iter().find_map(|field| field.carried())
    }

    fn moments(&self) -> Vec<f64> {
        self.0.iter().flat_map(|field| field.moments()).collect()
    }

    fn parts(&self) -> Option<Summand> {
        self.0.iter().map(|field| field.parts()).collect::<Option<_>>().map(Summand::Sum)
    }

    fn covers(&self, t: f64) -> Result<()> {
        self.0.iter().try_for_each(|field| field.covers(t))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::places::vector;

    /// Plane wave that moves along (1, 2, 2): φ = sin(x + 2y + 2z − 3t).
    struct Wave;

    const ALONG: Vec3 = Vec3::new(1.0, 2.0, 2.0);

    impl ExternalField for Wave {
        fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
            -(ALONG.dot(&pos) - 3.0 * t).cos() * ALONG
        }
        fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
            (ALONG.dot(&pos) - 3.0 * t).sin() * (ALONG.dot(&vel) - 3.0) * ALONG
        }
        fn pot(&self, pos: Vec3, t: f64) -> f64 {
            (ALONG.dot(&pos) - 3.0 * t).sin()
        }
    }

    #[test]
    fn a_field_without_functions_of_its_own_has_a_tensor_and_a_rate() {
        let (x, v, t) = (Vec3::new(0.3, -0.2, 0.5), Vec3::new(1.5, 0.25, -2.0), 0.125);
        let (sine, cosine) = (ALONG.dot(&x) - 3.0 * t).sin_cos();
        let tide = Wave.tide(x, t);
        for (found, factor) in tide.into_iter().zip([1.0, 2.0, 2.0, 4.0, 4.0, 4.0]) {
            assert!((found - factor * sine).abs() < 1e-14, "{found}");
        }
        let by_jerk = Wave.jerk(x, v, t) - Wave.jerk(x, Vec3::zeros(), t);
        assert!((tide_times(tide, v) - by_jerk).norm() < 1e-13);
        let [rate, change] = Wave.rate(x, v, t);
        assert!((rate + 3.0 * cosine).abs() < 1e-10, "{rate}");
        assert!((change - 3.0 * sine * (ALONG.dot(&v) - 3.0)).abs() < 1e-7, "{change}");
        let twice = FieldSum(vec![Box::new(Wave), Box::new(Wave)]);
        assert_eq!(twice.tide(x, t), tide.map(|it| 2.0 * it));
        assert_eq!(twice.rate(x, v, t), [2.0 * rate, 2.0 * change]);
        let at = Places::new(&[v, x], &[x, v]);
        for field in [&Wave as &dyn ExternalField, &twice] {
            assert_eq!(field.forces(&at, t).of(1), (field.acc(x, t), field.jerk(x, v, t), field.pot(x, t)));
            assert_eq!(vector(&field.accelerations(&at, t), 0), field.acc(v, t));
            assert_eq!(field.rates(&at, t).map(|it| it[1]), field.rate(x, v, t));
            assert_eq!(field.tides(&at, t).map(|it| it[1]), field.tide(x, t));
        }
    }
}
