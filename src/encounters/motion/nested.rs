//! Stable triples and quadruples of a close binary, or two, on a wide orbit: both orbits averaged, the quadrupole of the
//! inner one in the tidal field of the outer body averaged over the outer orbit (Kozai 1962, AJ 67, 591; vectors as in Tremaine,
//! Touma & Namouni 2009, AJ 137, 3706), and its octupole if its masses differ. The axes stay; eccentricities and directions change
//! in many outer periods, so that neither orbit has to be followed.
//!
//! With the moments P of the inner pair, a mass m on an outer orbit a, e, j with b = |j|, and the averaged tide
//! T = m (1 − 3 j jᵀ / b²) / (2 a³ b³), the energy of the quadrupole is −tr(T P) / 2; that of the octupole is in `octupole.rs`.

use crate::encounters::forces::orbit::Orbit;
use crate::encounters::motion::elements::{Elements, bound_by};
use crate::encounters::motion::member::Member;
use crate::encounters::motion::octupole::{Octupole, milankovitch, skew};
use crate::encounters::motion::subsystem::Subsystem;
use crate::encounters::settings::criteria::{self, Rules};
use crate::few_body::Motion;
use nalgebra::Matrix3;
use tisane_force::error::Result;
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Time};

/// Binary, and the orbit of another body about it.
#[derive(Clone, Copy, Debug)]
pub struct HierarchicalOrbits {
    /// Semi-major axis of the binary.
    pub inner_axis: f64,
    /// Masses of the binary and of the other body.
    pub mass: [f64; 2],
    /// Pericentre of the outer orbit.
    pub pericentre: f64,
    /// Eccentricity of the outer orbit.
    pub eccentricity: f64,
}

impl HierarchicalOrbits {
    /// Returns the orbits with these elements.
    pub(crate) fn of(inner: &Elements, outer: &Elements, mass: [f64; 2]) -> Self {
        let Elements { axis, eccentricity, .. } = *outer;
        Self { inner_axis: inner.axis, mass, pericentre: axis * (1.0 - eccentricity), eccentricity }
    }

    /// Returns true if the orbits are stable (Mardling & Aarseth 2001, MNRAS 321, 398, equation 90, for orbits in one plane), and
    /// both can be averaged; with more margin where they are not `nested` yet.
    #[must_use]
    pub fn can_be_averaged(&self, nested: bool) -> bool {
        let Self { inner_axis, mass: [mass, other], pericentre, eccentricity: e } = *self;
        let (ratio, part) = (pericentre / inner_axis, 1.0 + other / mass);
        let (max, margin) = if nested {
            (criteria::MAX_PERTURBATION_TO_STAY_NESTED, 1.0)
        } else {
            (criteria::MAX_PERTURBATION_TO_NEST, criteria::STABLE_MARGIN)
        };
        // The power 2/5 of the paper, without roots.
        let min = criteria::STABLE_PERICENTRE * margin * (part * part) * ((1.0 + e) * (1.0 + e) / (1.0 - e));
        2.0 * other < max * mass * (ratio * ratio * ratio) && ratio * ratio * ratio * ratio * ratio > min
    }
}

/// Orbits of a pair of bodies and of the pairs that these are.
#[derive(Clone, Debug)]
struct Orbits {
    outer: Orbit,
    /// Masses of the two bodies.
    mass: [f64; 2],
    inner: [Option<Inner>; 2],
}

/// Orbit of an inner pair.
#[derive(Clone, Copy, Debug)]
struct Inner {
    orbit: Orbit,
    reduced: f64,
    /// Strength of its octupole.
    skew: f64,
}

impl Inner {
    fn of(motion: &Motion) -> Option<Self> {
        Some(Self { orbit: Orbit::of(motion)?, reduced: motion.pair_constants()?.0, skew: skew(motion)? })
    }

    fn octupole(&self) -> Option<Octupole> {
        Octupole::of(&self.orbit, self.skew)
    }

    /// Returns the potential energy of a unit mass at `r` from its centre of mass, less that of a point.
    fn potential(&self, r: Vec3) -> f64 {
        let quadrupole = self.orbit.averaged_pair(self.reduced, &Matrix3::zeros()).potential(r);
        self.octupole().map_or(quadrupole, |octupole| quadrupole + octupole.potential(r))
    }
}

/// Derivatives by the time of the vectors e and j of the three orbits.
type Rates = [(Vec3, Vec3); 3];

impl Orbits {
    fn of(members: &[Member], motion: &Motion) -> Option<Self> {
        let [a, b] = members else { return None };
        let inner = |member: &Member| Inner::of(&member.inner()?.motion);
        let masses = motion.masses();
        Some(Self { outer: Orbit::of(motion)?, mass: [masses[0], masses[1]], inner: [inner(a), inner(b)] })
    }

    /// Returns the sum of the moments of the inner orbits, each times the mass of the other body.
    fn moments(&self) -> Matrix3<f64> {
        let none = Matrix3::zeros();
        let of = |k: usize| self.inner[k].map_or(none, |it| it.orbit.moments(it.reduced) * self.mass[1 - k]);
        of(0) + of(1)
    }

    /// Returns the averaged tide of a unit mass on the outer orbit.
    fn tide(&self) -> Matrix3<f64> {
        let (j, b2) = (self.outer.j, self.outer.j.norm_squared());
        let scale = 0.5 / (self.outer.axis * self.outer.axis * self.outer.axis * b2 * b2.sqrt());
        (Matrix3::identity() - j * j.transpose() * (3.0 / b2)) * scale
    }

    /// Returns the outer orbit as that of the other body about pair `k`.
    fn outer_about(&self, k: usize) -> Orbit {
        let e = if k == 0 { self.outer.e } else { -self.outer.e };
        Orbit { e, ..self.outer }
    }

    /// Returns the octupoles of the inner pairs, with their places.
    fn octupoles(&self) -> impl Iterator<Item = (usize, Inner, Octupole)> {
        (0..2).filter_map(|k| self.inner[k].and_then(|inner| Some((k, inner, inner.octupole()?))))
    }

    /// Returns the energy of the averaged inner pairs in the field of the outer orbit.
    fn energy(&self) -> f64 {
        let quadrupole = -0.5 * (self.tide() * self.moments()).trace();
        self.octupoles()
            .fold(quadrupole, |energy, (k, _, it)| energy + it.energy(&self.outer_about(k)) * self.mass[1 - k])
    }

    /// Returns the potential energies of the averaged inner pairs beside the other body, as a point, where the second of the bodies is at
    /// `pos` from the first.
    fn rings(&self, pos: Vec3) -> [f64; 2] {
        let of = |k: usize, r: Vec3| self.inner[k].map_or(0.0, |inner| inner.potential(r) * self.mass[1 - k]);
        [of(0, pos), of(1, -pos)]
    }

    fn rates(&self) -> Rates {
        let mut rates = self.rates_by_quadrupole();
        let reduced = self.mass[0] * self.mass[1] / self.outer.mass;
        for (k, inner, octupole) in self.octupoles() {
            let (of_pair, of_outer) = octupole.slopes(&self.outer_about(k));
            let mass = self.mass[1 - k];
            // The derivative by the outer e changes its sign with that.
            let outer = (if k == 0 { of_outer.0 } else { -of_outer.0 }, of_outer.1);
            let more = [(0, self.outer, reduced, outer), (k + 1, inner.orbit, inner.reduced, of_pair)];
            for (place, orbit, reduced, (by_e, by_j)) in more {
                let (e, j) = milankovitch(&orbit, reduced, (by_e * mass, by_j * mass));
                rates[place] = (rates[place].0 + e, rates[place].1 + j);
            }
        }
        rates
    }

    fn rates_by_quadrupole(&self) -> Rates {
        let (tide, none) = (self.tide(), (Vec3::zeros(), Vec3::zeros()));
        let inner = |k: usize| self.inner[k].map_or(none, |it| it.orbit.rates(&(tide * self.mass[1 - k])));
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
            *inner = inner.map(|it| Inner { orbit: it.orbit.moved(*by, time), ..it });
        }
        moved
    }

    fn after(&self, time: f64) -> Self {
        let mut orbits = self.clone();
        let mut rest = time;
        while rest > 0.0 {
            let k1 = orbits.rates();
            let fastest = k1.iter().flat_map(|(e, j)| [e.norm(), j.norm()]).fold(0.0, f64::max);
            let h = if fastest * rest > criteria::MAX_TURN_NESTED { criteria::MAX_TURN_NESTED / fastest } else { rest };
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
        self.inner.iter_mut().flatten().for_each(|it| it.orbit = it.orbit.scaled());
        self
    }
}

impl Subsystem {
    /// Returns true if it is a stable system of pairs, both orbits of which can be averaged.
    pub fn is_nested(&self, rules: &Rules) -> bool {
        let Some(outer) =
            self.elements().filter(|_| rules.averages && self.members.iter().any(|member| member.inner().is_some()))
        else {
            return false;
        };
        let mass = self.motion.masses();
        (0..2).all(|k| match self.members[k].inner() {
            None => true,
            Some(few) => few.elements().is_some_and(|pair| {
                let orbits = HierarchicalOrbits::of(&pair, &outer, [mass[k], mass[1 - k]]);
                orbits.can_be_averaged(self.nested.is_some())
                    && few.members.iter().all(|member| member.inner().is_none())
            }),
        })
    }

    /// Adds energies to the binding energies of the inner pairs.
    fn bind_inner(&mut self, energy: [f64; 2]) {
        for (member, energy) in self.members.iter_mut().zip(energy) {
            if let Member::Inner(few) = member {
                few.motion = bound_by(&few.motion, energy);
            }
        }
    }

    /// Returns the energy of the averaged inner pairs in the field of the outer orbit, where both are averaged.
    pub(crate) fn nested_energy(&self) -> f64 {
        let orbits = self.nested.and_then(|_| Orbits::of(&self.members, &self.motion));
        orbits.map_or(0.0, |orbits| orbits.energy())
    }

    /// Begins to average over both orbits, at `now`, where the outer motion must be, if they are stable.
    pub(crate) fn nest(&mut self, rules: &Rules, now: Time) {
        if self.nested.is_some() || !self.is_nested(rules) {
            return;
        }
        let Some(orbits) = Orbits::of(&self.members, &self.motion) else { return };
        let rings = orbits.rings(self.motion.pair().0);
        self.bind_inner(rings);
        let Some(mean) = Orbits::of(&self.members, &self.motion).map(|orbits| orbits.energy()) else { return };
        self.motion = bound_by(&self.motion, mean - rings[0] - rings[1]);
        self.nested = Some(now);
    }

    /// Turns the orbits of a stable system up to `now`, and brings the inner pairs there.
    pub(crate) fn turn_nested(&mut self, clock: &Clock, now: Time) -> Result<()> {
        let Some(from) = self.nested.filter(|from| *from < now) else { return Ok(()) };
        let Some(before) = Orbits::of(&self.members, &self.motion) else { return Ok(()) };
        let after = before.after(clock.between(from, now));
        before.outer.turn(&after.outer, &mut self.motion);
        for (k, member) in self.members.iter_mut().enumerate() {
            if let (Member::Inner(few), Some(from), Some(to)) = (member, before.inner[k], after.inner[k]) {
                **few = few.at(clock, now.max(few.time))?;
                from.orbit.turn(&to.orbit, &mut few.motion);
            }
        }
        self.nested = Some(now);
        Ok(())
    }

    /// Ends to average over both orbits, where the orbits and the outer motion are those of the present.
    pub(crate) fn resolve_nested(&mut self) {
        if self.nested.take().is_none() {
            return;
        }
        let Some(orbits) = Orbits::of(&self.members, &self.motion) else { return };
        let mean = orbits.energy();
        // The place depends on the energy, by less each time.
        let (from, mut rings) = (self.motion.clone(), [0.0; 2]);
        for _ in 0..criteria::REFINEMENTS {
            rings = orbits.rings(self.motion.pair().0);
            self.motion = bound_by(&from, rings[0] + rings[1] - mean);
        }
        self.bind_inner(rings.map(|energy| -energy));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two pairs of unequal masses on an eccentric orbit about each other, all at angles.
    fn orbits(masses: [[f64; 2]; 2]) -> Orbits {
        let orbit = |mass: f64, axis: f64, e: f64, major: [f64; 3], aside: [f64; 3]| {
            let major = Vec3::from(major).normalize();
            let j = major.cross(&Vec3::from(aside)).normalize() * (1.0 - e * e).sqrt();
            Orbit { mass, axis, e: major * e, j }
        };
        let inner = |[a, b]: [f64; 2], axis, major, aside| {
            let motion = Motion::from_vectors(&[a, b], &[Vec3::x()], &[Vec3::y()]);
            let orbit = orbit(a + b, axis, 0.4, major, aside);
            Some(Inner { orbit, reduced: a * b / (a + b), skew: skew(&motion).unwrap() })
        };
        let mass = masses.map(|[a, b]| a + b);
        Orbits {
            outer: orbit(mass[0] + mass[1], 15.0, 0.5, [1.0, 0.2, -0.4], [0.1, 1.0, 0.3]),
            mass,
            inner: [
                inner(masses[0], 1.0, [0.3, -1.0, 0.6], [1.0, 0.5, -0.2]),
                inner(masses[1], 0.8, [-0.5, 0.3, 1.0], [0.2, 1.0, 0.7]),
            ],
        }
    }

    const MASSES: [[f64; 2]; 2] = [[0.8, 0.2], [0.1, 0.4]];

    /// Returns the orbit of place `k`, outer and inner ones, and its reduced mass.
    fn orbit(of: &mut Orbits, k: usize) -> (&mut Orbit, f64) {
        if k == 0 {
            return (&mut of.outer, of.mass[0] * of.mass[1] / (of.mass[0] + of.mass[1]));
        }
        let inner = of.inner[k - 1].as_mut().unwrap();
        (&mut inner.orbit, inner.reduced)
    }

    #[test]
    fn verify_the_energy_is_the_mean_of_the_rings() {
        let orbits = orbits(MASSES);
        let Orbit { e, j, axis, .. } = orbits.outer;
        let (minor, parts) = (j.cross(&e).normalize(), 64);
        let mut mean = 0.0;
        for part in 0..parts {
            let (sin, cos) = (std::f64::consts::TAU * f64::from(part) / f64::from(parts)).sin_cos();
            let r = axis * j.norm_squared() / (1.0 + e.norm() * cos);
            let rings = orbits.rings((e.normalize() * cos + minor * sin) * r);
            mean += (rings[0] + rings[1]) * (r * r) / (axis * axis * j.norm() * f64::from(parts));
        }
        assert!((mean / orbits.energy() - 1.0).abs() < 1e-12, "{mean:e} {:e}", orbits.energy());
    }

    #[test]
    fn verify_the_rates_are_those_of_the_energy() {
        let orbits = orbits(MASSES);
        for (k, (de, dj)) in orbits.rates().into_iter().enumerate() {
            let h = 1e-3;
            let slope = |moves: &dyn Fn(&mut Orbit, Vec3)| {
                Vec3::from_fn(|c, _| {
                    let at = |by: f64| {
                        let mut moved = orbits.clone();
                        moves(orbit(&mut moved, k).0, Vec3::ith(c, by));
                        moved.energy()
                    };
                    (8.0 * (at(h) - at(-h)) - at(2.0 * h) + at(-2.0 * h)) / (12.0 * h)
                })
            };
            let by = (slope(&|orbit, by| orbit.e += by), slope(&|orbit, by| orbit.j += by));
            let mut copy = orbits.clone();
            let (orbit, reduced) = orbit(&mut copy, k);
            let (e, j) = milankovitch(orbit, reduced, by);
            assert!((de - e).norm() < 1e-9 * de.norm() && (dj - j).norm() < 1e-9 * dj.norm(), "{k}: {de} {e} {dj} {j}");
        }
    }

    #[test]
    fn verify_energy_and_angular_momentum_stay() {
        let orbits = orbits(MASSES);
        let momentum = |mut of: Orbits| -> Vec3 {
            let spin = |(orbit, reduced): (&mut Orbit, f64)| orbit.j * (reduced * (orbit.mass * orbit.axis).sqrt());
            (0..3).map(|k| spin(orbit(&mut of, k))).sum()
        };
        let fastest = orbits.rates().iter().map(|(e, j)| e.norm().max(j.norm())).fold(0.0, f64::max);
        let octupole = orbits.energy() / orbits_without_octupole().energy() - 1.0;
        let later = orbits.after(1000.0 / fastest);
        let moved = (0..3).map(|k| (orbit(&mut later.clone(), k).0.e - orbit(&mut orbits.clone(), k).0.e).norm());
        let (before, after) = (momentum(orbits.clone()), momentum(later.clone()));
        let off = [later.energy() / orbits.energy() - 1.0, (after - before).norm() / before.norm()];
        assert!(octupole.abs() > 1e-3 && moved.into_iter().all(|e| e > 0.1), "{octupole}");
        assert!(off[0].abs() < 1e-6 && off[1] < 1e-9, "{off:?}");
    }

    fn orbits_without_octupole() -> Orbits {
        let mut orbits = orbits(MASSES);
        orbits.inner.iter_mut().flatten().for_each(|inner| inner.skew = 0.0);
        orbits
    }
}
