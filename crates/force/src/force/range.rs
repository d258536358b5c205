//! Range of numbers that the arithmetic of a mode can represent, and checks that a run stays within it.
//!
//! A pair too close for a mode gives an infinity or NaN, which is always detected. A number too small, or a distance
//! too large, gives a zero, and the force is wrong without a sign of it. Therefore positions and velocities are
//! bounded, and the error by terms that may underflow to zero is compared with the acceleration.

use super::forces::Evaluation;
use super::precision::Precision;
use super::targets::Targets;
use crate::particles::{Particles, Vec3, components};
use crate::spin_pool::share;
use crate::units::{Dimension, Scale};
use rayon::prelude::*;

/// Time of the check of a target, in nanoseconds.
const WORK: usize = 2;

/// Smallest and largest acceleration: step criteria square it and its derivatives in f64 in every mode.
const ACCELERATION: [f64; 2] = [two_to(-250), two_to(250)];

/// Range of the pair arithmetic of a mode, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Name of the type of the pair arithmetic.
    pub name: &'static str,
    /// Largest coordinate: squares of distances stay finite, and no particle reaches the place of the lanes that have
    /// no source ([`super::real::Real::NOWHERE`]).
    pub coordinate: f64,
    /// Largest component of a velocity: products with distances stay finite.
    pub speed: f64,
    /// Smallest mass above zero, and largest mass.
    pub mass: [f64; 2],
    /// Smallest softening above zero: its square is a normal number.
    pub softening: f64,
    /// Smallest normal number. A GPU flushes smaller ones to zero.
    pub min: f64,
    /// Relative rounding error of one operation.
    pub rounding: f64,
}

/// Returns 2^`power`, exactly.
const fn two_to(power: i64) -> f64 {
    f64::from_bits(((power + 1023) as u64) << 52)
}

impl Range {
    /// Range of modes with pairs in f32.
    pub const F32: Self = Self {
        name: "f32",
        coordinate: two_to(49),
        speed: two_to(62),
        mass: [two_to(-126), two_to(126)],
        softening: two_to(-63),
        min: two_to(-126),
        rounding: two_to(-23),
    };

    /// Range of modes with pairs in f64. Energies and squares of angular momenta stay finite too.
    pub const F64: Self = Self {
        name: "f64",
        coordinate: two_to(166),
        speed: two_to(166),
        mass: [two_to(-166), two_to(166)],
        softening: two_to(-511),
        min: two_to(-1022),
        rounding: two_to(-52),
    };

    /// Returns the range of a mode.
    #[must_use]
    pub const fn for_precision(precision: Precision) -> Self {
        if precision.in_f64() { Self::F64 } else { Self::F32 }
    }

    /// Returns advice for a system with numbers out of range.
    #[must_use]
    pub fn advice(&self) -> &'static str {
        if *self == Self::F64 {
            return "no mode represents such numbers: choose units closer to the masses and lengths of the system";
        }
        "use f64, which has a wider range"
    }

    /// Returns an addition to the message about a force that is not finite, since pairs may be too close for modes in
    /// f32 alone; empty in f64.
    #[must_use]
    pub fn too_close(&self) -> &'static str {
        if *self == Self::F64 {
            return "";
        }
        "; or a pair that is too close for this mode, whose pair arithmetic is in f32: use f64"
    }

    /// Checks a system at its start: softening, masses, positions, velocities.
    ///
    /// # Errors
    /// The first number that is out of range.
    pub fn check_start(&self, p: &Particles, epsilon: f64) -> Result<(), OutOfRange> {
        let max = self.max_softening(p);
        if epsilon != 0.0 && !(self.softening..=max).contains(&epsilon) {
            return Err(OutOfRange::Softening(epsilon, max));
        }
        let [min, max] = self.mass;
        let holds_mass = |m: &f64| *m == 0.0 || (min..=max).contains(m);
        if let Some(i) = p.mass.iter().position(|m| !holds_mass(m)) {
            return Err(OutOfRange::Mass(i, p.mass[i]));
        }
        match (0..p.len()).find_map(|i| self.state(i, &p.pos[i], &p.vel[i])) {
            Some(out_of_range) => Err(out_of_range),
            None => Ok(()),
        }
    }

    /// Returns the largest softening for a system: m / ε³ of no mass is below the smallest normal number.
    fn max_softening(&self, p: &Particles) -> f64 {
        (min_mass(&p.mass) / (16.0 * self.min)).cbrt().min(self.coordinate)
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

/// Number that a mode cannot represent, in internal units, with the index of the particle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OutOfRange {
    /// Softening, and the largest value for these masses.
    Softening(f64, f64),
    /// Mass of a particle.
    Mass(usize, f64),
    /// Position of a particle.
    Position(usize, Vec3),
    /// Velocity of a particle.
    Velocity(usize, Vec3),
    /// Acceleration of a particle whose error by underflow may exceed its rounding error.
    Coarse(usize, Vec3),
    /// Acceleration of a particle that is too small or too large for step criteria.
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
            Self::Softening(epsilon, max) => format!(
                "{arithmetic} allows for these masses a softening of 0 or from {:.3e} to {:.3e}, found {:.3e}",
                range.softening * scale.length,
                max * scale.length,
                epsilon * scale.length
            ),
            Self::Mass(i, mass) => format!(
                "{arithmetic} represents masses of 0 or from {:.3e} to {:.3e}, and particle {} has {:.3e}",
                range.mass[0] * scale.mass,
                range.mass[1] * scale.mass,
                id(i),
                mass * scale.mass
            ),
            Self::Position(i, pos) => format!(
                "{arithmetic} represents coordinates up to {:.3e}, and particle {} is at {:?}",
                range.coordinate * scale.length,
                id(i),
                vector(pos, scale.length)
            ),
            Self::Velocity(i, vel) => format!(
                "{arithmetic} represents velocities up to {:.3e}, and particle {} has {:?}",
                range.speed * scale.velocity,
                id(i),
                vector(vel, scale.velocity)
            ),
            Self::Coarse(i, acc) => format!(
                "{arithmetic} is too coarse for the small forces on particle {}: the error by underflow may exceed \
                 the rounding error of the acceleration {:?}",
                id(i),
                vector(acc, unit)
            ),
            Self::Acceleration(i, acc) => format!(
                "time steps can be computed for accelerations from {:.3e} to {:.3e}, and particle {} has {:?}",
                ACCELERATION[0] * unit,
                ACCELERATION[1] * unit,
                id(i),
                vector(acc, unit)
            ),
        }
    }
}

/// Limits within which a target and the force on it are in range without a closer look, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Largest coordinate.
    pub coordinate: f64,
    /// Largest component of a velocity.
    pub speed: f64,
    /// Acceleration of which one component must be larger.
    pub min_acc: f64,
    /// Largest component of an acceleration.
    pub max_acc: f64,
}

/// Guard that checks targets and the forces on them against the range of a mode.
#[derive(Clone, Debug)]
pub struct RangeGuard {
    range: Range,
    /// Longest time step.
    dt_max: f64,
    /// Number of particles with mass, the smallest of their masses, and the total mass. After [`Self::note`] the first is
    /// not below the true one, and the second not above.
    massive: usize,
    min_mass: f64,
    total_mass: f64,
    /// Largest coordinate seen, of the loaded particles and of targets since then.
    reach: f64,
}

impl RangeGuard {
    /// Creates a guard without particles; steps are at most `dt_max`.
    #[must_use]
    pub const fn new(range: Range, dt_max: f64) -> Self {
        Self { range, dt_max, massive: 0, min_mass: f64::INFINITY, total_mass: 0.0, reach: 0.0 }
    }

    /// Returns the range of the mode.
    #[must_use]
    pub const fn range(&self) -> &Range {
        &self.range
    }

    /// Records the masses and the extent of all particles.
    pub fn load(&mut self, p: &Particles) {
        self.massive = p.mass.iter().filter(|m| **m != 0.0).count();
        (self.min_mass, self.total_mass) = (min_mass(&p.mass), p.mass.iter().sum());
        self.reach = extent(p);
    }

    /// Records the masses and places of rows that have changed. The check of most blocks becomes a little stricter with every
    /// change; the closer look that follows it knows the present particles.
    pub fn note(&mut self, p: &Particles, changed: &[u32]) {
        for i in changed.iter().map(|&i| i as usize).filter(|&i| p.mass[i] != 0.0) {
            self.massive += 1;
            self.min_mass = self.min_mass.min(p.mass[i]);
            self.reach = reach(&p.pos[i..=i]).max(self.reach);
        }
        self.massive = self.massive.min(p.len());
    }

    /// Checks targets and the forces evaluated on them.
    ///
    /// # Errors
    /// The first number that is out of range.
    pub fn check<E: Evaluation>(&mut self, p: &Particles, targets: Targets<'_>, found: &E) -> Result<(), OutOfRange> {
        let (Targets { index, pos, vel }, acc) = (targets, found.acc());
        if !each(pos, |x| within(x, self.reach)) {
            self.reach = reach(pos).max(self.reach);
        }
        let clear = self.clear(self.reach);
        // For most blocks this is the only check.
        let fine = each(pos, |x| within(x, self.range.coordinate))
            && each(vel, |v| within(v, self.range.speed))
            && each(acc, |a| {
                within(a, ACCELERATION[1]) & ((a[0].abs() > clear) | (a[1].abs() > clear) | (a[2].abs() > clear))
            });
        if fine {
            return Ok(());
        }
        // From the state alone and not from earlier targets or rows: a resumed run must give the same answer.
        let mut present = Self::new(self.range, self.dt_max);
        present.load(p);
        let first = (0..pos.len()).find_map(|k| {
            let (i, pot) = (index[k] as usize, found.pot().map(|pot| pot[k]));
            let state = self.range.state(i, &pos[k], &vel[k]);
            state.or_else(|| present.acceleration(p, i, Evaluated { pos: &pos[k], acc: &acc[k], pot }))
        });
        first.map_or(Ok(()), Err)
    }

    /// Returns the acceleration above which none loses more than its rounding error: a bound for the whole system at the
    /// largest distance of any particle, doubled because particles end their steps a little farther out than they were
    /// seen as targets.
    fn clear(&self, reach: f64) -> f64 {
        (self.lost(self.massive, 8.0 * reach) / self.range.rounding).max(ACCELERATION[0])
    }

    /// Returns the limits for targets up to twice as far out as any seen.
    #[must_use]
    pub fn thresholds(&self) -> Thresholds {
        let reach = 2.0 * self.reach;
        Thresholds {
            coordinate: reach.min(self.range.coordinate),
            speed: self.range.speed,
            min_acc: self.clear(reach),
            max_acc: ACCELERATION[1],
        }
    }

    /// Returns the largest error by underflow of an acceleration by `sources` sources on a target up to `far` away in
    /// each coordinate. For each source: the rounding of its term near zero, the same of the jerk over a step, and,
    /// where m / s³ may be below the smallest normal number, the whole term.
    fn lost(&self, sources: usize, far: f64) -> f64 {
        let whole = if self.min_mass / far.powi(3) < 2.0 * self.range.min { 8.0 * far } else { 0.0 };
        sources as f64 * self.range.min * (1.0 + self.dt_max + whole)
    }

    /// Compares the possible error by underflow with the larger of |a| and φ² / M, as the noise of the step criterion
    /// is; the latter is for particles on which forces cancel. Without a potential, that of the whole mass at the far
    /// end takes its place.
    fn acceleration(&self, p: &Particles, i: usize, Evaluated { pos, acc, pot }: Evaluated<'_>) -> Option<OutOfRange> {
        let sources = self.massive - usize::from(p.mass[i] != 0.0);
        // No other particle has mass, or a number is not finite: the latter is reported by the integrator.
        if sources == 0 || !acc.iter().chain(&pot).all(|x| x.is_finite()) {
            return None;
        }
        let far = 2.0 * (reach(std::slice::from_ref(pos)) + self.reach);
        let pot = pot.unwrap_or((self.total_mass - p.mass[i]) / far);
        let max = acc.iter().fold(0.0f64, |max, a| max.max(a.abs()));
        let largest = max.max(pot / self.total_mass * pot);
        if self.lost(sources, far) > self.range.rounding * largest {
            return Some(OutOfRange::Coarse(i, *acc));
        }
        (largest < ACCELERATION[0] || max > ACCELERATION[1]).then_some(OutOfRange::Acceleration(i, *acc))
    }
}

/// What was evaluated on a particle, and where.
struct Evaluated<'a> {
    pos: &'a Vec3,
    acc: &'a Vec3,
    pot: Option<f64>,
}

/// Returns the smallest mass above zero; infinite if there is none.
fn min_mass(mass: &[f64]) -> f64 {
    mass.iter().copied().filter(|m| *m != 0.0).fold(f64::INFINITY, f64::min)
}

/// Returns the largest coordinate of all particles. Massless particles at rest do not count: rows without a particle are such,
/// and are placed far away.
fn extent(p: &Particles) -> f64 {
    let is_felt = |i: usize| p.mass[i] != 0.0 || p.vel[i] != Vec3::zeros();
    (0..p.len()).filter(|&i| is_felt(i)).fold(0.0, |max, i| reach(&p.pos[i..=i]).max(max))
}

/// Returns the largest coordinate. NaN is ignored here: a position that is not a number fails the range check anyway.
fn reach(pos: &[Vec3]) -> f64 {
    components(pos).iter().fold(0.0f64, |max, x| max.max(x.abs()))
}

/// Returns true if no component is above a limit or NaN.
#[inline(always)]
fn within(v: &Vec3, limit: f64) -> bool {
    (v[0].abs() <= limit) & (v[1].abs() <= limit) & (v[2].abs() <= limit)
}

/// Returns true if a condition holds for all vectors. Within a share all are tested without a branch, which is faster
/// than to stop at the first.
#[inline(always)]
fn each(vectors: &[Vec3], holds: impl Fn(&Vec3) -> bool + Sync) -> bool {
    let part = |v: &[Vec3]| v.iter().fold(true, |all, x| all & holds(x));
    match share(vectors.len(), WORK) {
        share if share == vectors.len() => part(vectors),
        share => vectors.par_chunks(share).all(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_rows_count_and_those_without_a_particle_are_nowhere() {
        let pos = [1.0, -2.0, 1e9].map(|x| Vec3::new(x, 0.0, 0.0)).to_vec();
        let mut p = Particles::new(vec![1.0, 2.0, 0.0], pos, vec![Vec3::zeros(); 3]);
        let mut guard = RangeGuard::new(Range::F32, 0.125);
        let known = |guard: &RangeGuard| (guard.massive, guard.min_mass, guard.reach);
        guard.load(&p);
        assert_eq!(known(&guard), (2, 1.0, 2.0));
        guard.note(&p, &[2]);
        assert_eq!(known(&guard), (2, 1.0, 2.0));
        (p.mass[2], p.pos[2]) = (0.5, Vec3::new(0.0, 3.0, 0.0));
        guard.note(&p, &[1, 2]);
        assert_eq!(known(&guard), (3, 0.5, 3.0));
        guard.load(&p);
        assert_eq!(known(&guard), (3, 0.5, 3.0));
    }
}
