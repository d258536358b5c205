//! Which numbers the arithmetic of a mode can hold, and whether those of a run are among them.
//!
//! A pair too close for a mode gives an infinity or NaN, which nobody can overlook. A number too small, or a distance too
//! large, gives a zero, and the force is wrong without a sign of it. So positions and speeds are bounded, and what zeros in
//! the place of small numbers can take from an acceleration is held against that acceleration.

use super::precision::Precision;
use super::{Evaluation, Targets};
use crate::particles::{Particles, Vec3, components};
use crate::units::{Dimension, Scale};
use rayon::prelude::*;

/// A thread gets at least so many targets to look at.
const SHARE: usize = 1024;

/// Least and largest acceleration: step criteria, whatever the mode, square it and its derivatives in f64.
const ACCELERATION: [f64; 2] = [two_to(-250), two_to(250)];

/// What the pair arithmetic of a mode holds, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The type of the pair arithmetic.
    pub name: &'static str,
    /// Largest coordinate: squares of distances stay finite, and no particle gets to where the engines put the lanes that
    /// have none ([`super::real::Real::NOWHERE`]).
    pub coordinate: f64,
    /// Largest component of a velocity: products with distances stay finite.
    pub speed: f64,
    /// Least mass but none, and largest.
    pub mass: [f64; 2],
    /// Least softening but none: its square is a normal number.
    pub softening: f64,
    /// Least normal number. A GPU takes what is smaller for zero.
    pub least: f64,
    /// Rounding of one operation.
    pub rounding: f64,
}

/// A power of two, exactly.
const fn two_to(power: i64) -> f64 {
    f64::from_bits(((power + 1023) as u64) << 52)
}

impl Range {
    /// Of modes with pairs in f32.
    pub const F32: Self = Self {
        name: "f32",
        coordinate: two_to(49),
        speed: two_to(62),
        mass: [two_to(-126), two_to(126)],
        softening: two_to(-63),
        least: two_to(-126),
        rounding: two_to(-23),
    };

    /// Of modes with pairs in f64. Energies and squares of angular momenta are to be numbers too.
    pub const F64: Self = Self {
        name: "f64",
        coordinate: two_to(166),
        speed: two_to(166),
        mass: [two_to(-166), two_to(166)],
        softening: two_to(-511),
        least: two_to(-1022),
        rounding: two_to(-52),
    };

    /// That of a mode.
    #[must_use]
    pub const fn for_precision(precision: Precision) -> Self {
        if precision.in_f64() { Self::F64 } else { Self::F32 }
    }

    /// What to do about numbers that are outside.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        if *self == Self::F64 {
            return "no mode holds such numbers: write the system in units nearer to its own masses and lengths";
        }
        "take force.precision = \"f64\", whose numbers reach further"
    }

    /// What more to say where a force is not a finite number: a mode in f32 has pairs that are too close for it alone.
    #[must_use]
    pub fn too_close(&self) -> &'static str {
        if *self == Self::F64 {
            return "";
        }
        "; or a pair that is too close for the numbers of this mode, in f32: take force.precision = \"f64\""
    }

    /// Whether a system is within at its start: its softening, masses, positions, velocities.
    ///
    /// # Errors
    /// The first number that is out of range.
    pub fn check_start(&self, p: &Particles, epsilon: f64) -> Result<(), OutOfRange> {
        let most = self.most_softening(p);
        if epsilon != 0.0 && !(self.softening..=most).contains(&epsilon) {
            return Err(OutOfRange::Softening(epsilon, most));
        }
        let [least, most] = self.mass;
        let holds_mass = |m: &f64| *m == 0.0 || (least..=most).contains(m);
        if let Some(i) = p.mass.iter().position(|m| !holds_mass(m)) {
            return Err(OutOfRange::Mass(i, p.mass[i]));
        }
        match (0..p.len()).find_map(|i| self.state(i, &p.pos[i], &p.vel[i])) {
            Some(out_of_range) => Err(out_of_range),
            None => Ok(()),
        }
    }

    /// Most softening for a system: m / ε³ of no mass is below the least number.
    fn most_softening(&self, p: &Particles) -> f64 {
        (least_mass(&p.mass) / (16.0 * self.least)).cbrt().min(self.coordinate)
    }

    /// Returns which of a position and a velocity is out of range, if one is.
    #[inline(always)]
    fn state(&self, i: usize, pos: &Vec3, vel: &Vec3) -> Option<OutOfRange> {
        match (within(pos, self.coordinate), within(vel, self.speed)) {
            (false, _) => Some(OutOfRange::Position(i, *pos)),
            (_, false) => Some(OutOfRange::Velocity(i, *vel)),
            _ => None,
        }
    }
}

/// A number that a mode cannot hold, in internal units; particles by their index.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OutOfRange {
    /// The softening, and the most there may be for these masses.
    Softening(f64, f64),
    /// The mass of a particle.
    Mass(usize, f64),
    /// The position of a particle.
    Position(usize, Vec3),
    /// The velocity of a particle.
    Velocity(usize, Vec3),
    /// The acceleration of a particle, from which more may be lost than by rounding.
    Coarse(usize, Vec3),
    /// The acceleration of a particle, of which step criteria cannot be computed.
    Acceleration(usize, Vec3),
}

impl OutOfRange {
    /// Describes the problem in the units of a scale.
    #[must_use]
    pub fn describe(&self, p: &Particles, range: &Range, scale: &Scale) -> String {
        let vector = |v: &Vec3, unit: f64| <[f64; 3]>::from(v * unit);
        let id = |i: &usize| p.id[*i];
        let unit = scale.factor(Dimension::ACCELERATION);
        let arithmetic = format!("the pair arithmetic of this mode, in {},", range.name);
        match self {
            Self::Softening(epsilon, most) => format!(
                "{arithmetic} holds for these masses a softening of 0 or from {:.3e} to {:.3e}, found {:.3e}",
                range.softening * scale.length,
                most * scale.length,
                epsilon * scale.length
            ),
            Self::Mass(i, mass) => format!(
                "{arithmetic} holds masses of 0 or from {:.3e} to {:.3e}, and particle {} has {:.3e}",
                range.mass[0] * scale.mass,
                range.mass[1] * scale.mass,
                id(i),
                mass * scale.mass
            ),
            Self::Position(i, pos) => format!(
                "{arithmetic} holds coordinates up to {:.3e}, and particle {} is at {:?}",
                range.coordinate * scale.length,
                id(i),
                vector(pos, scale.length)
            ),
            Self::Velocity(i, vel) => format!(
                "{arithmetic} holds velocities up to {:.3e}, and particle {} has {:?}",
                range.speed * scale.velocity,
                id(i),
                vector(vel, scale.velocity)
            ),
            Self::Coarse(i, acc) => format!(
                "{arithmetic} is too coarse for the small forces on particle {}: what is below its least number may be more than its \
                 rounding of the acceleration {:?}",
                id(i),
                vector(acc, unit)
            ),
            Self::Acceleration(i, acc) => format!(
                "steps can be computed for accelerations from {:.3e} to {:.3e}, and particle {} has {:?}",
                ACCELERATION[0] * unit,
                ACCELERATION[1] * unit,
                id(i),
                vector(acc, unit)
            ),
        }
    }
}

/// Guard that checks targets and the forces on them against the range of a mode.
#[derive(Clone, Debug)]
pub struct RangeGuard {
    range: Range,
    /// Longest step.
    dt_max: f64,
    /// Particles with a mass, the least such mass, and all together.
    massive: usize,
    least_mass: f64,
    total_mass: f64,
    /// Largest coordinate seen, of what was loaded and of targets since.
    reach: f64,
}

impl RangeGuard {
    /// Creates a guard that knows no particles yet; steps are at most `dt_max`.
    #[must_use]
    pub const fn new(range: Range, dt_max: f64) -> Self {
        Self { range, dt_max, massive: 0, least_mass: f64::INFINITY, total_mass: 0.0, reach: 0.0 }
    }

    /// Range of the mode.
    #[must_use]
    pub const fn range(&self) -> &Range {
        &self.range
    }

    /// Takes the masses and the extent of all particles.
    pub fn load(&mut self, p: &Particles) {
        self.massive = p.mass.iter().filter(|m| **m != 0.0).count();
        (self.least_mass, self.total_mass) = (least_mass(&p.mass), p.mass.iter().sum());
        self.reach = reach(&p.pos);
    }

    /// Checks targets and what was evaluated on them.
    ///
    /// # Errors
    /// The first number that is out of range.
    pub fn check<E: Evaluation>(&mut self, p: &Particles, targets: Targets<'_>, found: &E) -> Result<(), OutOfRange> {
        let (Targets { index, pos, vel }, acc) = (targets, found.acc());
        if !each(pos, |x| within(x, self.reach)) {
            self.reach = reach(pos).max(self.reach);
        }
        // As if the whole system were as far away as anything is, and twice that, since particles end their steps a little farther out
        // than they were seen as targets: an acceleration above this has nothing to fear.
        let clear = (self.lost(self.massive, 8.0 * self.reach) / self.range.rounding).max(ACCELERATION[0]);
        // Of most blocks this is all that is looked at.
        let fine = each(pos, |x| within(x, self.range.coordinate))
            && each(vel, |v| within(v, self.range.speed))
            && each(acc, |a| {
                within(a, ACCELERATION[1]) & ((a[0].abs() > clear) | (a[1].abs() > clear) | (a[2].abs() > clear))
            });
        if fine {
            return Ok(());
        }
        // From the state alone, not from what was seen before: a resumed run must come to the same.
        let out_to = reach(&p.pos);
        let first = (0..pos.len()).find_map(|k| {
            let (i, pot) = (index[k] as usize, found.pot().map(|pot| pot[k]));
            let state = self.range.state(i, &pos[k], &vel[k]);
            state.or_else(|| self.acceleration(p, i, (&pos[k], &acc[k], pot), out_to))
        });
        first.map_or(Ok(()), Err)
    }

    /// Most that `sources` can lose of an acceleration to a target up to `far` away in each coordinate. Each source: the rounding of
    /// its term near zero, the same of the jerk over a step, and, where m / s³ may be below the least number, all of it.
    fn lost(&self, sources: usize, far: f64) -> f64 {
        let whole = if self.least_mass / far.powi(3) < 2.0 * self.range.least { 8.0 * far } else { 0.0 };
        sources as f64 * self.range.least * (1.0 + self.dt_max + whole)
    }

    /// Holds what may be lost against the larger of |a| and φ² / M, as the noise of the step criterion is: the latter for
    /// particles on which forces cancel. Where there is no potential, that of all the mass at the far end takes its place: `out_to`
    /// is the largest coordinate of all particles.
    fn acceleration(
        &self,
        p: &Particles,
        i: usize,
        (pos, acc, pot): (&Vec3, &Vec3, Option<f64>),
        out_to: f64,
    ) -> Option<OutOfRange> {
        let sources = self.massive - usize::from(p.mass[i] != 0.0);
        // Nothing attracts it, or what does not hold is a number that is not finite: others look for those.
        if sources == 0 || !acc.iter().chain(&pot).all(|x| x.is_finite()) {
            return None;
        }
        let far = 2.0 * (reach(std::slice::from_ref(pos)) + out_to);
        let pot = pot.unwrap_or((self.total_mass - p.mass[i]) / far);
        let most = acc.iter().fold(0.0f64, |most, a| most.max(a.abs()));
        let largest = most.max(pot / self.total_mass * pot);
        if self.lost(sources, far) > self.range.rounding * largest {
            return Some(OutOfRange::Coarse(i, *acc));
        }
        (largest < ACCELERATION[0] || most > ACCELERATION[1]).then_some(OutOfRange::Acceleration(i, *acc))
    }
}

/// The least mass but zero; infinite if there is none.
fn least_mass(mass: &[f64]) -> f64 {
    mass.iter().copied().filter(|m| *m != 0.0).fold(f64::INFINITY, f64::min)
}

/// The largest coordinate. NaN counts for nothing here: a position that is not a number is outside anyway.
fn reach(pos: &[Vec3]) -> f64 {
    components(pos).iter().fold(0.0f64, |most, x| most.max(x.abs()))
}

/// Whether no component is above a limit, nor NaN.
#[inline(always)]
fn within(v: &Vec3, limit: f64) -> bool {
    (v[0].abs() <= limit) & (v[1].abs() <= limit) & (v[2].abs() <= limit)
}

/// Whether something holds of each vector: of all in a share without a branch, which is quicker than to stop at the first.
#[inline(always)]
fn each(vectors: &[Vec3], holds: impl Fn(&Vec3) -> bool + Sync) -> bool {
    let share = |v: &[Vec3]| v.iter().fold(true, |all, x| all & holds(x));
    if vectors.len() < 2 * SHARE { share(vectors) } else { vectors.par_chunks(SHARE).all(share) }
}
