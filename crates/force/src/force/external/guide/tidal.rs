//! A field relative to an origin that moves in it.

use super::segment::{OrbitPoint, OrbitState};
use crate::compensated_sum::sum;
use crate::force::external::field::ExternalField;
use crate::force::external::places::{FieldForces, LANES, Lanes, Places, plus};
use crate::particles::{Particles, Vec3};
use rayon::prelude::*;

/// External field at one moment relative to a moving origin: what accelerates a particle at the place `d` and with the velocity
/// `v` relative to it. It is a field as others.
///
/// The acceleration of the origin is taken as a(X) by the field, which Ẍ of its polynomial is to 2⁻⁴⁶: the difference at two places
/// near each other has less rounding than that from Ẍ, and none at the origin itself. All others follow from X(t), V(t) alone, so
/// that potential and work are those of these very forces.
#[derive(Clone, Copy)]
pub struct Tidal<'a> {
    field: &'a dyn ExternalField,
    /// The part of the field that moves with the origin.
    carried: Option<&'a dyn ExternalField>,
    at_origin: AtOrigin,
}

/// Origin at a moment, and what the field is there.
#[derive(Clone, Copy)]
pub struct AtOrigin {
    origin: OrbitPoint,
    /// Acceleration, jerk and potential.
    acc: Vec3,
    jerk: Vec3,
    pot: f64,
    /// ∂φ/∂t, and its derivative along the orbit.
    rate: [f64; 2],
}

impl AtOrigin {
    /// Evaluates the field at the origin at the time `t`.
    #[must_use]
    pub fn new(field: &dyn ExternalField, origin: OrbitPoint, t: f64) -> Self {
        let OrbitPoint { pos, vel, .. } = origin;
        let (acc, jerk, pot) = field.forces(&Places::new(&[pos], &[vel]), t).of(0);
        Self { origin, acc, jerk, pot, rate: field.rate(pos, vel, t) }
    }
}

/// Work that a moving origin does on the particles: the sums over all masses, and over the massless particles with unit mass;
/// in internal units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Energy Σ m w.
    pub masses: f64,
    /// Σ w of the massless particles.
    pub massless: f64,
}

/// Moving origin to which measured places and velocities are relative, in internal units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct About {
    /// Place and velocity of the origin in the field.
    pub origin: OrbitState,
    /// Energy of the origin per unit mass; see [`Tidal::orbit_energy`].
    pub orbit_energy: f64,
    /// Work that it has done so far: kinetic and potential energy, that in the tidal potential included, less this are conserved.
    pub work: Work,
}

impl<'a> Tidal<'a> {
    /// Returns the field relative to an origin at which it was evaluated at the same moment.
    #[must_use]
    pub fn new(field: &'a dyn ExternalField, at_origin: AtOrigin) -> Self {
        Self { field, carried: field.carried(), at_origin }
    }

    /// Returns this moment of a system that was given the energy `work` since its start.
    #[must_use]
    pub fn about(&self, work: Work) -> About {
        let OrbitPoint { pos, vel, .. } = self.at_origin.origin;
        About { origin: OrbitState { pos, vel }, orbit_energy: self.orbit_energy(), work }
    }

    /// Returns the energy of the origin per unit mass, ½ V² + φ(X): constant in a field that does not depend on the time.
    #[must_use]
    pub fn orbit_energy(&self) -> f64 {
        0.5 * self.at_origin.origin.vel.norm_squared() + self.at_origin.pot
    }

    /// Returns the power of the moving origin Σ m ∂Φ/∂t on particles that stand at the time `t`, and its derivative by the time.
    #[must_use]
    pub fn power(&self, p: &Particles, t: f64) -> [Work; 2] {
        let chunks = p.pos.par_chunks(LANES).zip(p.vel.par_chunks(LANES));
        let rates: Vec<[f64; 2]> = chunks
            .flat_map_iter(|(d, v)| {
                let [rate, change] = self.rates(&Places::new(d, v), t);
                rate.into_iter().zip(change).map(Into::into).take(d.len())
            })
            .collect();
        let of = |k: usize| {
            let each = || p.mass.iter().zip(&rates).map(move |(m, rate)| (*m, rate[k]));
            Work {
                masses: sum(each().map(|(m, rate)| m * rate)),
                massless: sum(each().map(|(m, rate)| if m == 0.0 { rate } else { 0.0 })),
            }
        };
        [of(0), of(1)]
    }
}

impl Tidal<'_> {
    /// Returns the rate at a place, from that of the field there and the acceleration and the jerk relative to the origin.
    fn rate_by(&self, here: [f64; 2], (pos, vel): (Vec3, Vec3), (by_acc, by_jerk): (Vec3, Vec3)) -> [f64; 2] {
        let AtOrigin { origin: OrbitPoint { vel: v, snap, .. }, acc, jerk, rate, .. } = &self.at_origin;
        [
            (here[0] - rate[0]) - v.dot(&by_acc) + jerk.dot(&pos),
            (here[1] - rate[1]) - acc.dot(&by_acc) - v.dot(&by_jerk) + snap.dot(&pos) + jerk.dot(&vel),
        ]
    }

    /// Returns a(X + d) − a(X).
    fn relative_acc(&self, pos: Vec3, t: f64) -> Vec3 {
        self.field.acc(self.at_origin.origin.pos + pos, t) - self.at_origin.acc
    }

    /// Returns the jerk at X + d with the velocity V + v, without that of the origin.
    fn relative_jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        self.field.jerk(self.at_origin.origin.pos + pos, self.at_origin.origin.vel + vel, t) - self.at_origin.jerk
    }
}

impl ExternalField for Tidal<'_> {
    /// a(X + d) − a(X), and what moves with the origin.
    fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
        let acc = self.relative_acc(pos, t);
        self.carried.map_or(acc, |field| acc + field.acc(pos, t))
    }

    /// The jerk at X + d with the velocity V + v, without that of the origin.
    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        let jerk = self.relative_jerk(pos, vel, t);
        self.carried.map_or(jerk, |field| jerk + field.jerk(pos, vel, t))
    }

    /// Φ = φ(X + d) − φ(X) + a(X) · d, to second order −½ dᵀ T d with the tidal tensor T.
    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        let pot =
            (self.field.pot(self.at_origin.origin.pos + pos, t) - self.at_origin.pot) + self.at_origin.acc.dot(&pos);
        self.carried.map_or(pot, |field| pot + field.pot(pos, t))
    }

    fn tide(&self, pos: Vec3, t: f64) -> [f64; 6] {
        let tide = self.field.tide(self.at_origin.origin.pos + pos, t);
        let Some(carried) = self.carried.map(|field| field.tide(pos, t)) else { return tide };
        std::array::from_fn(|k| tide[k] + carried[k])
    }

    /// ∂Φ/∂t = −V · Δa + j(X) · d + the difference of ∂φ/∂t between X + d and X, with Δa = a(X + d) − a(X); and its derivative.
    fn rate(&self, pos: Vec3, vel: Vec3, t: f64) -> [f64; 2] {
        let OrbitPoint { pos: x, vel: v, .. } = self.at_origin.origin;
        let here = self.field.rate(x + pos, v + vel, t);
        let relative = (self.relative_acc(pos, t), self.relative_jerk(pos, vel, t));
        let relative = self.rate_by(here, (pos, vel), relative);
        let Some(carried) = self.carried.map(|field| field.rate(pos, vel, t)) else { return relative };
        [relative[0] + carried[0], relative[1] + carried[1]]
    }

    fn accelerations(&self, at: &Places, t: f64) -> [Lanes; 3] {
        let OrbitPoint { pos, vel, .. } = self.at_origin.origin;
        let acc = without(self.field.accelerations(&at.plus(pos, vel), t), self.at_origin.acc);
        self.carried.map_or(acc, |field| plus(&acc, &field.accelerations(at, t)))
    }

    fn forces(&self, at: &Places, t: f64) -> FieldForces {
        let OrbitPoint { pos, vel, .. } = self.at_origin.origin;
        let FieldForces { acc, jerk, pot } = self.field.forces(&at.plus(pos, vel), t);
        let pot =
            std::array::from_fn(|lane| (pot[lane] - self.at_origin.pot) + self.at_origin.acc.dot(&at.place(lane)));
        let relative =
            FieldForces { acc: without(acc, self.at_origin.acc), jerk: without(jerk, self.at_origin.jerk), pot };
        self.carried.map_or(relative, |field| relative.plus(&field.forces(at, t)))
    }

    fn tides(&self, at: &Places, t: f64) -> [Lanes; 6] {
        let OrbitPoint { pos, vel, .. } = self.at_origin.origin;
        let tides = self.field.tides(&at.plus(pos, vel), t);
        self.carried.map_or(tides, |field| plus(&tides, &field.tides(at, t)))
    }

    fn rates(&self, at: &Places, t: f64) -> [Lanes; 2] {
        let OrbitPoint { pos, vel, .. } = self.at_origin.origin;
        let there = at.plus(pos, vel);
        let (rates, forces) = (self.field.rates(&there, t), self.field.forces(&there, t));
        let relative = at.numbers(|lane| {
            let (acc, jerk, _) = forces.of(lane);
            let here = rates.map(|rate| rate[lane]);
            self.rate_by(
                here,
                (at.place(lane), at.velocity(lane)),
                (acc - self.at_origin.acc, jerk - self.at_origin.jerk),
            )
        });
        self.carried.map_or(relative, |field| plus(&relative, &field.rates(at, t)))
    }
}

/// Returns vectors less another one.
fn without(vectors: [Lanes; 3], less: Vec3) -> [Lanes; 3] {
    std::array::from_fn(|axis| vectors[axis].map(|x| x - less[axis]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::Plummer;
    use crate::force::external::guide::{MovingOrigin, OrbitState};
    use crate::force::external::places::vector;
    use crate::time::{Clock, TICKS_PER_DT_MAX, Time};
    use std::sync::Arc;

    const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 / 16.0 };

    /// Field whose mass grows with the time.
    struct Growing(Plummer);

    impl ExternalField for Growing {
        fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
            (1.0 + t) * self.0.acc(pos, t)
        }
        fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
            (1.0 + t) * self.0.jerk(pos, vel, t) + self.0.acc(pos, t)
        }
        fn pot(&self, pos: Vec3, t: f64) -> f64 {
            (1.0 + t) * self.0.pot(pos, t)
        }
    }

    #[test]
    fn jerk_potential_and_rates_are_derivatives() {
        let field = Growing(Plummer { mass: 1.0, position: Vec3::zeros(), scale_radius: 0.25 });
        let start = OrbitState { pos: Vec3::new(1.0, 0.0, 0.1), vel: Vec3::new(0.1, 0.9, 0.0) };
        let origin = MovingOrigin::new(Arc::new(field), CLOCK, (0, start));
        let (d, v, step) = (Vec3::new(0.2, -0.1, 0.3), Vec3::new(0.5, 0.3, -0.4), TICKS_PER_DT_MAX / 512);
        let middle = Time(5 * TICKS_PER_DT_MAX / 2);
        let h = CLOCK.tick() * step as f64;
        // A particle on a straight line past d.
        let at = |sign: i64| {
            let now = Time(middle.0.saturating_add_signed(sign * step as i64));
            (origin.tidal(now).unwrap(), d + sign as f64 * h * v, CLOCK.time(now))
        };
        let ((before, d0, t0), (here, _, t), (after, d1, t1)) = (at(-1), at(0), at(1));
        let difference = (after.acc(d1, t1) - before.acc(d0, t0)) / (2.0 * h);
        assert!((here.jerk(d, v, t) - difference).norm() < 1e-6, "{difference:?}");
        let [rate, change] = here.rate(d, v, t);
        let fixed = (after.pot(d, t1) - before.pot(d, t0)) / (2.0 * h);
        assert!((rate - fixed).abs() < 1e-6, "{rate} {fixed}");
        let along = (after.rate(d1, v, t1)[0] - before.rate(d0, v, t0)[0]) / (2.0 * h);
        assert!((change - along).abs() < 1e-5, "{change} {along}");
        let places = [d, 2.0 * d, Vec3::zeros()];
        let at = Places::new(&places, &[v; 3]);
        for (lane, &d) in places.iter().enumerate() {
            assert_eq!(here.forces(&at, t).of(lane), (here.acc(d, t), here.jerk(d, v, t), here.pot(d, t)));
            assert_eq!(vector(&here.accelerations(&at, t), lane), here.acc(d, t));
            assert_eq!(here.rates(&at, t).map(|rate| rate[lane]), here.rate(d, v, t));
            assert_eq!(here.tides(&at, t).map(|it| it[lane]), here.tide(d, t));
        }
        for k in 0..3 {
            let unit = 1e-5 * Vec3::from(std::array::from_fn(|j| f64::from(j == k)));
            let gradient = (here.pot(d + unit, t) - here.pot(d - unit, t)) / 2e-5;
            assert!((here.acc(d, t)[k] + gradient).abs() < 1e-9, "{k}: {gradient}");
        }
        // At the origin there is no force.
        assert_eq!(here.pot(Vec3::zeros(), t), 0.0);
        assert_eq!((here.acc(Vec3::zeros(), t), here.jerk(Vec3::zeros(), Vec3::zeros(), t)), Default::default());
    }

    #[test]
    fn massless_particles_count_with_unit_mass() {
        let field = Plummer { mass: 1.0, position: Vec3::zeros(), scale_radius: 0.0 };
        let start = OrbitState { pos: Vec3::x(), vel: 1.2 * Vec3::y() };
        let origin = MovingOrigin::new(Arc::new(field), CLOCK, (0, start));
        let tidal = origin.tidal(Time(TICKS_PER_DT_MAX / 2)).unwrap();
        let places = vec![Vec3::new(0.1, 0.0, 0.0), Vec3::new(0.0, 0.2, 0.1)];
        let p = Particles::new(vec![2.0, 0.0], places, vec![Vec3::z(); 2]);
        let [power, change] = tidal.power(&p, 0.0);
        for (k, work) in [power, change].into_iter().enumerate() {
            assert_eq!(work.masses, 2.0 * tidal.rate(p.pos[0], Vec3::z(), 0.0)[k]);
            assert_eq!(work.massless, tidal.rate(p.pos[1], Vec3::z(), 0.0)[k]);
        }
    }
}
