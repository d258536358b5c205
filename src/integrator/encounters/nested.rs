//! Stable triples and quadruples of a close binary, or two, on a wide orbit: both orbits in the mean, the quadrupole of the
//! inner one in the tidal field of the outer body averaged over the outer orbit (Kozai 1962, AJ 67, 591; vectors as in Tremaine,
//! Touma & Namouni 2009, AJ 137, 3706). The axes stay; eccentricities and directions change in many outer periods, so that
//! neither orbit has to be followed.
//!
//! With the moments P of the inner pair, a mass m on an outer orbit a, e, j with b = |j|, and the tide in the mean
//! T = m (1 − 3 j jᵀ / b²) / (2 a³ b³), the energy is −tr(T P) / 2.

use super::averaged::{REFINED, bound_by};
use super::bodies::Body;
use super::group::{Elements, Group};
use super::ring::Orbit;
use crate::error::Result;
use crate::few_body::Motion;
use crate::particles::Vec3;
use crate::time::{Clock, Time};
use nalgebra::Matrix3;

/// Largest perturbation at the pericentre of the outer orbit, with the inner axis as the size, of a binary that becomes the inner
/// one of a stable system, and of one that stays one.
const NESTS: f64 = 6e-3;
const STAYS: f64 = 9e-3;
/// Fifth power of the pericentre in units of the inner axis above which a circular system of a light third body is stable, and
/// what a system that is followed in the mean has more than that.
const STABLE: f64 = 2.8 * 2.8 * 2.8 * 2.8 * 2.8;
const SAFE: f64 = 1.6;
/// Largest angle by which an orbit turns in one step of the equations, which are solved to the fourth order.
const TURN: f64 = 0.03;

/// Returns true if a binary of a mass and a body of mass `other`, on an outer orbit of this pericentre and eccentricity, are a stable
/// system (Mardling & Aarseth 2001, MNRAS 321, 398, equation 90, for orbits in one plane), both orbits of which can be followed in
/// the mean; with more margin where it is not `nested` yet.
pub fn is_stable(pair: &Elements, (mass, other): (f64, f64), (pericentre, e): (f64, f64), nested: bool) -> bool {
    let (ratio, part) = (pericentre / pair.axis, 1.0 + other / mass);
    let (most, margin) = if nested { (STAYS, 1.0) } else { (NESTS, SAFE) };
    // The power 2/5 of the paper, without roots.
    let least = STABLE * margin * (part * part) * ((1.0 + e) * (1.0 + e) / (1.0 - e));
    2.0 * other < most * mass * (ratio * ratio * ratio) && ratio * ratio * ratio * ratio * ratio > least
}

/// Orbits of a pair of bodies and of the pairs that these are.
#[derive(Clone, Debug)]
struct Orbits {
    outer: Orbit,
    /// Masses of the two bodies.
    mass: [f64; 2],
    /// Inner orbits with their reduced masses.
    inner: [Option<(Orbit, f64)>; 2],
}

/// Derivatives by the time of the vectors e and j of the three orbits.
type Rates = [(Vec3, Vec3); 3];

impl Orbits {
    fn of(bodies: &[Body], motion: &Motion) -> Option<Self> {
        let [a, b] = bodies else { return None };
        let inner = |body: &Body| {
            let motion = &body.inner()?.motion;
            Some((Orbit::of(motion)?, motion.pair_constants()?.0))
        };
        let masses = motion.masses();
        Some(Self { outer: Orbit::of(motion)?, mass: [masses[0], masses[1]], inner: [inner(a), inner(b)] })
    }

    /// Returns the sum of the moments of the inner orbits, each times the mass of the other body.
    fn moments(&self) -> Matrix3<f64> {
        let none = Matrix3::zeros();
        let of = |k: usize| self.inner[k].map_or(none, |(orbit, reduced)| orbit.moments(reduced) * self.mass[1 - k]);
        of(0) + of(1)
    }

    /// Returns the mean of the tide of a unit mass on the outer orbit.
    fn tide(&self) -> Matrix3<f64> {
        let (j, b2) = (self.outer.j, self.outer.j.norm_squared());
        let scale = 0.5 / (self.outer.axis * self.outer.axis * self.outer.axis * b2 * b2.sqrt());
        (Matrix3::identity() - j * j.transpose() * (3.0 / b2)) * scale
    }

    /// Returns the energy of the inner rings in the field of the outer orbit.
    fn energy(&self) -> f64 {
        -0.5 * (self.tide() * self.moments()).trace()
    }

    fn rates(&self) -> Rates {
        let (tide, none) = (self.tide(), (Vec3::zeros(), Vec3::zeros()));
        let inner = |k: usize| self.inner[k].map_or(none, |(orbit, _)| orbit.rates(&(tide * self.mass[1 - k])));
        // Of the energy per reduced mass, −(tr P / b³ − 3 j·P j / b⁵) / (4 a³), the derivative by j.
        let (reduced, moments) = (self.mass[0] * self.mass[1] / self.outer.mass, self.moments());
        let Orbit { axis, j, e, mass } = self.outer;
        let b2 = j.norm_squared();
        let along = moments * j;
        let per_b5 = 1.0 / (b2 * b2 * b2.sqrt());
        let slope = j * (15.0 * j.dot(&along) / b2 - 3.0 * moments.trace()) - along * 6.0;
        let slope = slope * (-per_b5 / (4.0 * axis * axis * axis * reduced * (mass * axis).sqrt()));
        [(-e.cross(&slope), -j.cross(&slope)), inner(0), inner(1)]
    }

    fn moved(&self, by: &Rates, time: f64) -> Self {
        let mut moved = self.clone();
        moved.outer = moved.outer.moved(by[0], time);
        for (inner, by) in moved.inner.iter_mut().zip(&by[1..]) {
            *inner = inner.map(|(orbit, reduced)| (orbit.moved(*by, time), reduced));
        }
        moved
    }

    fn after(&self, time: f64) -> Self {
        let mut orbits = self.clone();
        let mut rest = time;
        while rest > 0.0 {
            let k1 = orbits.rates();
            let fastest = k1.iter().flat_map(|(e, j)| [e.norm(), j.norm()]).fold(0.0, f64::max);
            let h = if fastest * rest > TURN { TURN / fastest } else { rest };
            let k2 = orbits.moved(&k1, 0.5 * h).rates();
            let k3 = orbits.moved(&k2, 0.5 * h).rates();
            let k4 = orbits.moved(&k3, h).rates();
            let mean: Rates = std::array::from_fn(|i| {
                let sum =
                    |of: fn(&(Vec3, Vec3)) -> Vec3| (of(&k1[i]) + (of(&k2[i]) + of(&k3[i])) * 2.0 + of(&k4[i])) / 6.0;
                (sum(|rate| rate.0), sum(|rate| rate.1))
            });
            orbits = orbits.moved(&mean, h).scaled();
            rest -= h;
        }
        orbits
    }

    fn scaled(mut self) -> Self {
        self.outer = self.outer.scaled();
        self.inner.iter_mut().flatten().for_each(|(orbit, _)| *orbit = orbit.scaled());
        self
    }
}

impl Group {
    /// Returns true if it is a stable system of pairs, both orbits of which can be followed in the mean.
    pub fn is_nested(&self) -> bool {
        let Some(outer) = self.elements().filter(|_| self.bodies.iter().any(|body| body.inner().is_some())) else {
            return false;
        };
        let (mass, e) = (self.motion.masses(), outer.eccentricity);
        (0..2).all(|k| match self.bodies[k].inner() {
            None => true,
            Some(few) => few.elements().is_some_and(|pair| {
                is_stable(&pair, (mass[k], mass[1 - k]), (outer.axis * (1.0 - e), e), self.nested.is_some())
                    && few.bodies.iter().all(|body| body.inner().is_none())
            }),
        })
    }

    /// Returns the potential energies of the inner rings beside the other body, as a point, at its present place.
    fn rings(&self) -> [f64; 2] {
        let (mass, (pos, _)) = (self.motion.masses(), self.motion.pair());
        [0, 1].map(|k| {
            let motion = self.bodies[k].inner().map(|few| &few.motion);
            let ring =
                motion.and_then(|motion| Some(Orbit::of(motion)?.ring(motion.pair_constants()?.0, &Matrix3::zeros())));
            ring.map_or(0.0, |ring| ring.potential(pos) * mass[1 - k])
        })
    }

    /// Adds energies to the binding energies of the inner pairs.
    fn bind_inner(&mut self, energy: [f64; 2]) {
        for (body, energy) in self.bodies.iter_mut().zip(energy) {
            if let Body::Inner(few) = body {
                few.motion = bound_by(&few.motion, energy);
            }
        }
    }

    /// Returns the energy of the inner rings in the field of the outer orbit, where both are followed in the mean.
    pub(super) fn nested_energy(&self) -> f64 {
        let orbits = self.nested.and_then(|_| Orbits::of(&self.bodies, &self.motion));
        orbits.map_or(0.0, |orbits| orbits.energy())
    }

    /// Begins to follow both orbits in the mean, at `now`, where the outer motion must be, if they are stable.
    pub(super) fn nest(&mut self, now: Time) {
        if self.nested.is_some() || !self.is_nested() {
            return;
        }
        let rings = self.rings();
        self.bind_inner(rings);
        let Some(mean) = Orbits::of(&self.bodies, &self.motion).map(|orbits| orbits.energy()) else { return };
        self.motion = bound_by(&self.motion, mean - rings[0] - rings[1]);
        self.nested = Some(now);
    }

    /// Turns the orbits of a stable system up to `now`, and brings the inner pairs there.
    pub(super) fn turn_nested(&mut self, clock: &Clock, now: Time) -> Result<()> {
        let Some(from) = self.nested.filter(|from| *from < now) else { return Ok(()) };
        let Some(before) = Orbits::of(&self.bodies, &self.motion) else { return Ok(()) };
        let after = before.after(clock.between(from, now));
        before.outer.turn(&after.outer, &mut self.motion);
        for (k, body) in self.bodies.iter_mut().enumerate() {
            if let (Body::Inner(few), Some((from, _)), Some((to, _))) = (body, before.inner[k], after.inner[k]) {
                **few = few.at(clock, now.max(few.time))?;
                from.turn(&to, &mut few.motion);
            }
        }
        self.nested = Some(now);
        Ok(())
    }

    /// Ends to follow both orbits in the mean, where the orbits and the outer motion are those of the present.
    pub(super) fn resolve_nested(&mut self) {
        if self.nested.take().is_none() {
            return;
        }
        let Some(mean) = Orbits::of(&self.bodies, &self.motion).map(|orbits| orbits.energy()) else { return };
        // The place depends on the energy, by less each time.
        let (from, mut rings) = (self.motion.clone(), [0.0; 2]);
        for _ in 0..REFINED {
            rings = self.rings();
            self.motion = bound_by(&from, rings[0] + rings[1] - mean);
        }
        self.bind_inner(rings.map(|energy| -energy));
    }
}
