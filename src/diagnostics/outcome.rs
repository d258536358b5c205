//! Outcome of an encounter of three bodies: who leaves, and what remains.

use crate::initial::binary_single::tidal_radius;
use tisane_force::pair::{Body, Pair};
use tisane_force::particles::Particles;

/// Least distance of the energy of the escaper's orbit from zero, times the distance over the tidal radius: in units of G M /
/// r, the coupling of the two orbits is below it. Of Starlab's `scatter3` (`ENERGY_SAFETY_FACTOR`), which McMillan & Hut
/// (1996, ApJ 467, 348) describe.
const ENERGY_MARGIN: f64 = 0.01;
/// Factor by which the energies of three bodies that separate exceed what their tides can still change: each of them is
/// estimated to its order of magnitude only.
const IONISATION_MARGIN: f64 = 4.0;

/// Outcome of the encounter of a binary with a single body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// The single body leaves, and the binary is of the same two bodies as before: a flyby, or a resonance that ends so.
    Flyby(Departure),
    /// A body of the binary leaves, and the single body has taken its place.
    Exchange(Departure),
    /// All three bodies leave each other.
    Ionisation,
}

/// Departure of a body from a binary.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Departure {
    /// Index of the body that leaves.
    pub escaper: usize,
    /// Semi-major axis of the binary that remains.
    pub semi_major_axis: f64,
    /// Eccentricity of the binary that remains.
    pub eccentricity: f64,
    /// Relative velocity of the body and the binary at infinity.
    pub velocity: f64,
}

impl Outcome {
    /// Returns what the outcome is, in one word: `flyby`, `exchange` or `ionisation`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Flyby(_) => "flyby",
            Self::Exchange(_) => "exchange",
            Self::Ionisation => "ionisation",
        }
    }

    /// Returns the body that leaves and the binary that remains, if one does.
    #[must_use]
    pub const fn departure(&self) -> Option<Departure> {
        match self {
            Self::Flyby(departure) | Self::Exchange(departure) => Some(*departure),
            Self::Ionisation => None,
        }
    }

    /// Returns the outcome of an encounter in which the particles of the indices `pair` were the binary at the start, or
    /// [`None`] as long as it is unresolved. It may be asked for at any time at which all three particles stand at the same
    /// time, so at multiples of `dt_max`; once there is an outcome, it stays. G = 1, no softening.
    ///
    /// A body has left if the other two are bound, it recedes from their centre of mass, it is beyond the
    /// [`tidal_radius`] of the binary for `tidal_tolerance`, and the energy of its orbit about the binary is above zero by
    /// more than the coupling of the two orbits can change: v²/2 > (1 + 0.01 r_t/r) G M/r, as in Starlab (McMillan & Hut
    /// 1996). So a long excursion that is still bound is not an escape, and one that is too close to a parabola to tell is
    /// resolved farther out.
    ///
    /// All have left if no two of them are bound, all distances grow, and both the energy of the closest two and that of the
    /// third's orbit about them are above four times the energy of their tides, m μ r²/R³ with the reduced mass μ and the
    /// distance r of the two, and the mass m and the distance R of the third. On orbits that separate, this is the work
    /// the tides can still do.
    ///
    /// # Panics
    /// Unless there are three particles with masses above 0, and `pair` has two of their indices.
    #[must_use]
    pub fn find(particles: &Particles, pair: [usize; 2], tidal_tolerance: f64) -> Option<Self> {
        assert!(particles.len() == 3 && particles.mass.iter().all(|m| *m > 0.0), "three masses above 0");
        assert!(pair[0] != pair[1] && pair.iter().all(|&i| i < 3), "indices {pair:?}");
        let body = |i: usize| Body { mass: particles.mass[i], pos: particles.pos[i], vel: particles.vel[i] };
        let bodies = [body(0), body(1), body(2)];
        let departures = (0..3).find_map(|escaper| departure(&bodies, escaper, tidal_tolerance));
        let is_single = |departure: &Departure| !pair.contains(&departure.escaper);
        match departures {
            Some(departure) if is_single(&departure) => Some(Self::Flyby(departure)),
            Some(departure) => Some(Self::Exchange(departure)),
            None => all_leave(&bodies).then_some(Self::Ionisation),
        }
    }
}

/// Returns the departure of one of the bodies from the other two, if they are bound and it has left them.
fn departure(bodies: &[Body; 3], escaper: usize, tolerance: f64) -> Option<Departure> {
    let [one, two] = [&bodies[(escaper + 1) % 3], &bodies[(escaper + 2) % 3]];
    let inner = Pair::new(one, two, 0.0);
    if inner.energy >= 0.0 {
        return None;
    }
    let (binary, third) = (Body::merged(one, two), &bodies[escaper]);
    let outer = Pair::new(&binary, third, 0.0);
    let unperturbed = tidal_radius([binary.mass, third.mass], inner.semi_major_axis, inner.eccentricity, tolerance);
    let margin = ENERGY_MARGIN * (unperturbed / outer.distance) * (binary.mass + third.mass) / outer.distance;
    let left = outer.distance > unperturbed && recede(&binary, third) && outer.energy > margin;
    left.then(|| Departure {
        escaper,
        semi_major_axis: inner.semi_major_axis,
        eccentricity: inner.eccentricity,
        velocity: (2.0 * outer.energy).sqrt(),
    })
}

/// Returns true if three bodies leave each other.
fn all_leave(bodies: &[Body; 3]) -> bool {
    let others = |k: usize| [&bodies[(k + 1) % 3], &bodies[(k + 2) % 3]];
    let free = |k: usize| {
        let [one, two] = others(k);
        Pair::new(one, two, 0.0).energy > 0.0 && recede(one, two)
    };
    let distance = |k: usize| {
        let [one, two] = others(k);
        (two.pos - one.pos).norm()
    };
    let Some(third) = (0..3).min_by(|&a, &b| distance(a).total_cmp(&distance(b))) else { return false };
    let ([one, two], third) = (others(third), &bodies[third]);
    let centre = Body::merged(one, two);
    let (inner, outer) = (Pair::new(one, two, 0.0), Pair::new(&centre, third, 0.0));
    let reduced = |a: &Body, b: &Body| a.mass * b.mass / (a.mass + b.mass);
    let tides = third.mass * reduced(one, two) * inner.distance.powi(2) / outer.distance.powi(3);
    let energies = [inner.energy * reduced(one, two), outer.energy * reduced(&centre, third)];
    (0..3).all(free) && recede(&centre, third) && energies.iter().all(|energy| *energy > IONISATION_MARGIN * tides)
}

/// Returns true if the distance of two bodies grows.
fn recede(one: &Body, two: &Body) -> bool {
    (two.pos - one.pos).dot(&(two.vel - one.vel)) > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane_force::particles::Vec3;

    const TOLERANCE: f64 = 1e-5;

    /// A circular binary of the first two bodies of `order` with a = 1, and the third at a distance with a velocity.
    fn triple(order: [usize; 3], pos: Vec3, vel: Vec3) -> Particles {
        let (mut x, mut v) = ([Vec3::zeros(); 3], [Vec3::zeros(); 3]);
        for (k, sign) in [(0, -0.5), (1, 0.5)] {
            (x[order[k]], v[order[k]]) = (sign * Vec3::x(), sign * Vec3::y());
        }
        (x[order[2]], v[order[2]]) = (pos, vel);
        Particles::new(vec![0.5; 3], x.to_vec(), v.to_vec())
    }

    /// Velocity along x whose kinetic energy is `ratio` times the potential one at `distance`.
    fn outwards(distance: f64, ratio: f64) -> Vec3 {
        (2.0 * 1.5 * ratio / distance).sqrt() * Vec3::x()
    }

    #[test]
    fn the_body_that_leaves_makes_the_outcome() {
        let (pos, vel) = (100.0 * Vec3::z(), 2.0 * Vec3::z());
        let velocity = (4.0f64 - 3.0 / 100.0).sqrt();
        for (order, name) in [([0, 1, 2], "flyby"), ([0, 2, 1], "exchange"), ([1, 2, 0], "exchange")] {
            let outcome = Outcome::find(&triple(order, pos, vel), [1, 0], TOLERANCE).unwrap();
            assert_eq!(outcome.name(), name);
            let (Outcome::Flyby(it) | Outcome::Exchange(it)) = outcome else { panic!("{outcome:?}") };
            assert_eq!(it.escaper, order[2]);
            assert!((it.semi_major_axis - 1.0).abs() < 1e-14 && it.eccentricity.abs() < 1e-14, "{it:?}");
            assert!((it.velocity - velocity).abs() < 1e-14, "{it:?}");
        }
    }

    #[test]
    fn no_outcome_while_the_third_approaches_is_near_or_is_bound() {
        let at =
            |distance: f64, vel: Vec3| Outcome::find(&triple([0, 1, 2], distance * Vec3::x(), vel), [0, 1], TOLERANCE);
        let limit = tidal_radius([1.0, 0.5], 1.0, 0.0, TOLERANCE);
        assert!((limit - 3e5f64.cbrt()).abs() < 1e-12, "{limit}");
        assert!(at(1.01 * limit, Vec3::x()).is_some());
        assert_eq!(at(0.99 * limit, Vec3::x()), None, "the binary is still perturbed");
        assert_eq!(at(100.0, -Vec3::x()), None, "it approaches");
        for distance in [100.0, 1e4, 1e6] {
            assert_eq!(at(distance, outwards(distance, 0.999_999)), None, "a long excursion returns");
            assert_eq!(at(distance, outwards(distance, 0.5)), None);
        }
    }

    #[test]
    fn an_orbit_near_a_parabola_is_told_farther_out() {
        // Energy 1e-4 G M / limit: too near to zero at first, and clearly above it later on the same orbit.
        let limit = tidal_radius([1.0, 0.5], 1.0, 0.0, TOLERANCE);
        let ratio = |distance: f64| 1.0 + 1e-4 * distance / limit;
        let at = |distance: f64| {
            let it = triple([0, 1, 2], distance * Vec3::x(), outwards(distance, ratio(distance)));
            Outcome::find(&it, [0, 1], TOLERANCE)
        };
        assert_eq!(at(1.1 * limit), None);
        assert_eq!(at(9.9 * limit), None);
        assert_eq!(at(10.1 * limit).map(|outcome| outcome.name()), Some("flyby"));
    }

    #[test]
    fn ionisation_needs_three_bodies_that_are_free_of_each_other() {
        let corners = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(-0.5, 0.8, 0.1), Vec3::new(-0.4, -0.9, -0.2)];
        let at = |scale: f64, speed: f64| {
            let p =
                Particles::new(vec![0.5; 3], corners.map(|x| scale * x).to_vec(), corners.map(|x| speed * x).to_vec());
            Outcome::find(&p, [0, 1], TOLERANCE)
        };
        assert_eq!(at(10.0, 2.0), Some(Outcome::Ionisation));
        assert_eq!(at(10.0, -2.0), None, "they approach");
        assert_eq!(at(10.0, 0.1), None, "they are bound");
        // Unbound two by two, but the tides are as large as what is left: the outcome is known later.
        let escape = (2.0f64 * 1.0 / 10.0 / 1.5).sqrt() / 1.5;
        assert_eq!(at(10.0, 1.6 * escape), None);
        // A close pair that is not bound, and a third that is far and free of both.
        let mut p = triple([0, 1, 2], 100.0 * Vec3::x(), Vec3::x());
        (p.vel[0], p.vel[1]) = (Vec3::new(-0.5, -1.0, 0.0), Vec3::new(0.5, 1.0, 0.0));
        assert_eq!(Outcome::find(&p, [0, 1], TOLERANCE), Some(Outcome::Ionisation));
        p.vel[2] = 0.1 * Vec3::x();
        assert_eq!(Outcome::find(&p, [0, 1], TOLERANCE), None, "the third is bound");
    }

    #[test]
    #[should_panic(expected = "indices [1, 1]")]
    fn a_pair_of_one_is_a_programming_error() {
        let _ = Outcome::find(&triple([0, 1, 2], Vec3::z(), Vec3::z()), [1, 1], TOLERANCE);
    }
}
