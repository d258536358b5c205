//! A stretch of an orbit in a field as a polynomial, by collocation.

use super::tables::{COEFFICIENTS, DOUBLE_INTEGRALS, NODES, POINTS};
use crate::error::{Error, Result};
use crate::force::external::field::ExternalField;
use crate::particles::Vec3;

/// Number of corrections of the accelerations at the points. The error falls by (H Ω)² / 20 or so with each.
const CORRECTIONS: usize = 8;
/// Largest last correction of a place, relative to the distance from the origin or the length of the path.
const MAX_CORRECTION: f64 = 1.0 / (1u64 << 40) as f64;
/// Largest difference between the acceleration of the polynomial and that by the field half-way, where the interpolation is
/// worst, and at the end, where rounding is, relative to the latter.
const MAX_RESIDUAL: f64 = 1.0 / (1u64 << 46) as f64;
/// Largest number of halvings of a length of time.
const MAX_HALVINGS: u32 = 12;

/// Place and velocity on an orbit, in internal units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OrbitState {
    /// Place.
    pub pos: Vec3,
    /// Velocity.
    pub vel: Vec3,
}

/// Place on an orbit with its derivatives by the time, in internal units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OrbitPoint {
    /// Place X.
    pub pos: Vec3,
    /// Velocity V.
    pub vel: Vec3,
    /// Acceleration.
    pub acc: Vec3,
    /// Third derivative.
    pub jerk: Vec3,
    /// Fourth derivative.
    pub snap: Vec3,
}

/// Factors of the power e in the integral and the double integral.
const ONCE: fn(f64) -> f64 = |e| 1.0 / (e + 1.0);
const TWICE: fn(f64) -> f64 = |e| 1.0 / ((e + 1.0) * (e + 2.0));

/// Stretch of an orbit: X(z) with z from 0 to 1 over the time `length`, a polynomial of degree 9 whose second derivative has
/// the acceleration by the field at the eight points.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    start: OrbitState,
    length: f64,
    /// Acceleration at the start.
    first: Vec3,
    /// Coefficients of the difference from it in powers of x = 2 z − 1.
    differences: [Vec3; POINTS],
    /// Its integral and double integral at x = −1 without a constant.
    at_start: [Vec3; 2],
}

impl Segment {
    /// Solves the equations of motion of bodies from `starts` at the time `t` over the time `length`, which may be negative.
    /// [`None`] where a polynomial does not have the digits.
    fn solve(acc: Accelerations<'_>, t: f64, starts: &[OrbitState], length: f64) -> Option<Vec<Self>> {
        let (segments, corrections) = Self::collocate(acc, t, (starts, length), CORRECTIONS);
        let at = |z: f64| segments.iter().map(|segment| segment.at(z)).collect::<Vec<_>>();
        let places = |points: &[OrbitPoint]| points.iter().map(|point| point.pos).collect::<Vec<_>>();
        let (middle, end) = (at(0.5), at(1.0));
        let by_field = [acc(&places(&middle), t + 0.5 * length), acc(&places(&end), t + length)];
        let is_good = |body: usize| {
            let [of_middle, of_end] = [by_field[0][body], by_field[1][body]];
            let largest = [of_middle, of_end].iter().map(|acc| acc.norm()).fold(segments[body].first.norm(), f64::max);
            let residual = (middle[body].acc - of_middle).norm().max((end[body].acc - of_end).norm());
            let OrbitState { pos, vel } = starts[body];
            let is_solved = corrections[body] <= MAX_CORRECTION * pos.norm().max(length.abs() * vel.norm());
            is_solved && residual <= MAX_RESIDUAL * largest
        };
        (0..starts.len()).all(is_good).then_some(segments)
    }

    /// Returns the polynomials after a number of corrections, and the lengths of the last ones.
    ///
    /// X_q = X + H (c_q V + H Σ_r I_qr A_r), A_q = a(X_q): the place at the point q is the double integral of the polynomial
    /// through the accelerations (Hairer, Nørsett & Wanner 1993, Solving Ordinary Differential Equations I, II.7). The sums run
    /// over the differences from the first acceleration, which have less rounding.
    fn collocate(
        acc: Accelerations<'_>,
        t: f64,
        (starts, length): (&[OrbitState], f64),
        corrections: usize,
    ) -> (Vec<Self>, Vec<f64>) {
        let first = acc(&starts.iter().map(|start| start.pos).collect::<Vec<_>>(), t);
        let mut differences = vec![[Vec3::zeros(); POINTS - 1]; starts.len()];
        let mut places: Vec<[Vec3; POINTS - 1]> =
            starts.iter().map(|OrbitState { pos, vel }| NODES.map(|c| pos + length * c * vel)).collect();
        let mut last = vec![0.0f64; starts.len()];
        for _ in 0..corrections {
            for (q, c) in NODES.into_iter().enumerate() {
                let there = acc(&places.iter().map(|places| places[q]).collect::<Vec<_>>(), t + c * length);
                for (body, acc) in there.into_iter().enumerate() {
                    differences[body][q] = acc - first[body];
                }
            }
            for (body, OrbitState { pos, vel }) in starts.iter().enumerate() {
                last[body] = 0.0;
                for ((place, integrals), c) in places[body].iter_mut().zip(&DOUBLE_INTEGRALS).zip(NODES) {
                    let sum = weighted(integrals, &differences[body]);
                    let next = pos + length * (c * vel + length * (0.5 * c * c * first[body] + sum));
                    last[body] = last[body].max((next - *place).norm());
                    *place = next;
                }
            }
        }
        let segment = |(body, start): (usize, &OrbitState)| {
            let differences = &differences[body];
            let differences = std::array::from_fn(|e| weighted(&COEFFICIENTS.map(|row| row[e]), differences));
            let at_start = [Vec3::zeros(); 2];
            let mut segment = Self { start: *start, length, first: first[body], differences, at_start };
            segment.at_start = [segment.integral(-1.0), segment.double_integral(-1.0)];
            segment
        };
        (starts.iter().enumerate().map(segment).collect(), last)
    }

    /// Returns Σ f(e) C_e xᵉ over the powers from `from` on, divided by x to that power.
    fn sum(&self, x: f64, from: usize, factor: impl Fn(f64) -> f64) -> Vec3 {
        let terms = self.differences.iter().enumerate().skip(from).rev();
        terms.fold(Vec3::zeros(), |sum, (e, c)| sum * x + factor(e as f64) * c)
    }

    fn integral(&self, x: f64) -> Vec3 {
        self.sum(x, 0, ONCE) * x
    }

    fn double_integral(&self, x: f64) -> Vec3 {
        self.sum(x, 0, TWICE) * (x * x)
    }

    /// Returns the point at `z`, from 0 to 1.
    #[must_use]
    pub fn at(&self, z: f64) -> OrbitPoint {
        let Self { start: OrbitState { pos, vel }, length: h, first, at_start: [once, twice], .. } = *self;
        let x = 2.0 * z - 1.0;
        // A length of z is half of one of x.
        let speed = z * first + 0.5 * (self.integral(x) - once);
        let path = 0.5 * z * z * first + (0.25 * (self.double_integral(x) - twice) - 0.5 * z * once);
        OrbitPoint {
            pos: pos + h * (z * vel + h * path),
            vel: vel + h * speed,
            acc: first + self.sum(x, 0, |_| 1.0),
            jerk: self.sum(x, 1, |e| e) * (2.0 / h),
            snap: self.sum(x, 2, |e| e * (e - 1.0)) * (4.0 / (h * h)),
        }
    }

    /// Returns place and velocity at the end.
    #[must_use]
    pub fn end(&self) -> OrbitState {
        let OrbitPoint { pos, vel, .. } = self.at(1.0);
        OrbitState { pos, vel }
    }
}

/// Numbers of a segment by which a device finds place and velocity as [`Segment::at`] does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coefficients {
    /// Place and velocity at the start.
    pub start: OrbitState,
    /// Length in time.
    pub length: f64,
    /// Acceleration at the start.
    pub first: Vec3,
    /// Integral and double integral of the difference from it at the start, without a constant.
    pub at_start: [Vec3; 2],
    /// Coefficients of these integrals, from the lowest power on.
    pub integrals: [[Vec3; POINTS]; 2],
}

impl Segment {
    /// Returns the numbers for a device.
    #[must_use]
    pub fn coefficients(&self) -> Coefficients {
        let Self { start, length, first, at_start, differences } = *self;
        let times = |factor: fn(f64) -> f64| std::array::from_fn(|e| factor(e as f64) * differences[e]);
        Coefficients { start, length, first, at_start, integrals: [times(ONCE), times(TWICE)] }
    }
}

/// Returns the sum of vectors with weights, in their order.
fn weighted(weights: &[f64; POINTS - 1], vectors: &[Vec3; POINTS - 1]) -> Vec3 {
    weights.iter().zip(vectors).fold(Vec3::zeros(), |sum, (weight, vector)| sum + *weight * vector)
}

/// Accelerations of bodies at their places, at a time.
pub type Accelerations<'a> = &'a dyn Fn(&[Vec3], f64) -> Vec<Vec3>;

/// Follows an orbit from `start` at the time `t` over the time `length`, which may be negative: in one segment, or in 2, 4, 8 …
/// equal ones where it is strongly curved. Their number follows from the arguments alone.
///
/// # Errors
/// [`Error::Integration`] if 2¹² segments are too few.
pub fn follow(field: &dyn ExternalField, t: f64, start: OrbitState, length: f64) -> Result<Vec<Segment>> {
    let parts = follow_bodies(&|places, t| vec![field.acc(places[0], t)], t, &[start], length);
    let parts = parts.ok_or_else(|| Error::Integration {
        problem: format!(
            "the orbit of the origin of coordinates cannot be followed: at a distance of {:e} from the origin of the fields \
             (internal units) its acceleration changes too quickly for steps of {:e}",
            start.pos.norm(),
            length.abs() / f64::from(1u32 << MAX_HALVINGS)
        ),
        help: Some("give it an orbit that does not come so close to the centre of a field".into()),
    })?;
    Ok(parts.into_iter().flatten().collect())
}

/// Follows bodies as [`follow`] does one: returns the segments of all bodies for each part of the time. [`None`] if 2¹² parts are
/// too few.
pub(crate) fn follow_bodies(
    acc: Accelerations<'_>,
    t: f64,
    starts: &[OrbitState],
    length: f64,
) -> Option<Vec<Vec<Segment>>> {
    let in_parts = |halvings: u32| {
        let parts = 1u32 << halvings;
        let (part, mut at, mut found) = (length / f64::from(parts), starts.to_vec(), Vec::new());
        for k in 0..parts {
            let segments = Segment::solve(acc, t + f64::from(k) * part, &at, part)?;
            at = segments.iter().map(Segment::end).collect();
            found.push(segments);
        }
        Some(found)
    };
    (0..=MAX_HALVINGS).find_map(in_parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::Plummer;

    const POINT_MASS: Plummer = Plummer { mass: 1.0, position: Vec3::new(0.0, 0.0, 0.0), scale_radius: 0.0 };
    /// Pericentre of an orbit with the semi-major axis 1 and the eccentricity 0.6: period 2π.
    const START: OrbitState = OrbitState { pos: Vec3::new(0.4, 0.0, 0.0), vel: Vec3::new(0.0, 2.0, 0.0) };

    /// Place on that orbit, by Kepler's equation M = E − e sin E.
    fn kepler(t: f64) -> Vec3 {
        let mut anomaly = t;
        for _ in 0..100 {
            anomaly -= (anomaly - 0.6 * anomaly.sin() - t) / (1.0 - 0.6 * anomaly.cos());
        }
        Vec3::new(anomaly.cos() - 0.6, 0.8 * anomaly.sin(), 0.0)
    }

    #[test]
    fn verify_an_orbit_about_a_point_mass_is_that_of_kepler() {
        let mut at = START;
        // Half a period in steps of a part of the time at the pericentre.
        for k in 0..32 {
            let segments = follow(&POINT_MASS, 0.0, at, 0.1).unwrap();
            assert!(segments.len() <= 8, "{}", segments.len());
            for (j, segment) in segments.iter().enumerate() {
                for z in [0.0, 0.25, 0.7, 1.0] {
                    let t = 0.1 * (f64::from(k) + (j as f64 + z) / segments.len() as f64);
                    let off = (segment.at(z).pos - kepler(t)).norm();
                    assert!(off < 1e-13, "t = {t}: {off:e}");
                }
            }
            at = segments.last().unwrap().end();
        }
    }

    #[test]
    fn the_derivatives_are_those_by_the_field() {
        for segment in follow(&POINT_MASS, 0.0, START, 0.05).unwrap() {
            for z in [0.0, 0.3, 0.5, 1.0] {
                let OrbitPoint { pos, vel, acc, jerk, snap } = segment.at(z);
                assert!((acc - POINT_MASS.acc(pos, 0.0)).norm() < 1e-13 * acc.norm());
                assert!((jerk - POINT_MASS.jerk(pos, vel, 0.0)).norm() < 1e-10 * jerk.norm());
                // The fourth derivative by a difference of the third.
                let ahead = |sign: f64| POINT_MASS.jerk(pos + sign * 1e-5 * vel, vel + sign * 1e-5 * acc, 0.0);
                let difference = (ahead(1.0) - ahead(-1.0)) / 2e-5;
                assert!((snap - difference).norm() < 1e-6 * snap.norm(), "{snap:?} {difference:?}");
            }
        }
    }

    #[test]
    fn verify_the_order_of_a_step_is_fourteen() {
        // One step from the pericentre, whatever its error.
        let error = |length: f64| {
            let acc = |places: &[Vec3], t: f64| vec![POINT_MASS.acc(places[0], t)];
            let (segments, _) = Segment::collocate(&acc, 0.0, (&[START], length), 100);
            (segments[0].end().pos - kepler(length)).norm()
        };
        let (long, short) = (error(0.4), error(0.2));
        let order = (long / short).log2();
        assert!((12.0..18.0).contains(&order), "{long:e} {short:e}: order {order}");
    }

    #[test]
    fn a_way_there_and_back_ends_where_it_began() {
        let mut at = START;
        for length in [0.3; 20].into_iter().chain([-0.3; 20]) {
            at = follow(&POINT_MASS, 0.0, at, length).unwrap().last().unwrap().end();
        }
        assert!((at.pos - START.pos).norm() < 1e-12 && (at.vel - START.vel).norm() < 1e-11, "{at:?}");
    }

    #[test]
    fn an_orbit_into_a_point_mass_is_an_error_and_rest_in_a_centre_is_none() {
        let falling = OrbitState { pos: Vec3::new(1.0, 0.0, 0.0), vel: Vec3::zeros() };
        let error = follow(&POINT_MASS, 0.0, falling, 2.0).unwrap_err().to_string();
        assert!(error.contains("the orbit of the origin of coordinates cannot be followed"), "{error}");
        let sphere = Plummer { scale_radius: 1.0, ..POINT_MASS };
        let at_rest = follow(&sphere, 0.0, OrbitState::default(), 1.0).unwrap();
        assert_eq!((at_rest.len(), at_rest[0].end()), (1, OrbitState::default()));
    }
}
