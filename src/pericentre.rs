//! Pericentres of an orbit in external fields.

use tisane_force::force::external::ExternalField;
use tisane_force::force::external::guide::segment::{Segment, follow};
use tisane_force::force::external::guide::{OrbitPoint, OrbitState};

/// Step in which an orbit is followed, in the shorter of the times |X| / |V| and √(|X| / |a|).
const STEP: f64 = 1.0 / 8.0;
/// Largest number of steps: some ten revolutions.
const MAX_STEPS: usize = 512;

/// Returns where in a segment of an orbit the motion changes between inwards and outwards, by bisection: from 0 to 1, as for
/// [`Segment::at`]; [`None`] where it does not.
#[must_use]
pub fn turn(segment: &Segment) -> Option<f64> {
    let outwards = |z: f64| {
        let OrbitPoint { pos, vel, .. } = segment.at(z);
        pos.dot(&vel) > 0.0
    };
    let before = outwards(0.0);
    if outwards(1.0) == before {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if outwards(middle) == before { low = middle } else { high = middle }
    }
    Some(high)
}

/// Returns the point of an orbit that is nearest to the origin of the fields since the last pericentre, and its time: the pericentre, or
/// the present `state` at the time `t` where that is nearer. The orbit is followed back: the point depends on nothing but its
/// arguments, which are in internal units. If there is no pericentre as far back as the fields are known, it is the nearer one of the two ends.
#[must_use]
pub fn nearest_since_pericentre(field: &dyn ExternalField, t: f64, state: OrbitState) -> (f64, OrbitState) {
    let first = before(field, t, state);
    if first.1.pos.norm() < state.pos.norm() { first } else { (t, state) }
}

/// Returns the last pericentre before a state, or the first point that is known.
fn before(field: &dyn ExternalField, t: f64, state: OrbitState) -> (f64, OrbitState) {
    let (mut now, mut at) = (t, state);
    let moments = field.moments();
    for _ in 0..MAX_STEPS {
        let distance = at.pos.norm();
        let fall = (distance / field.acc(at.pos, now).norm()).sqrt();
        let wanted = now - STEP * fall.min(distance / at.vel.norm());
        // The field is smooth from one of its moments to the next.
        let end = moments.iter().copied().filter(|moment| *moment < now).fold(wanted, f64::max);
        if !end.is_finite() || end >= now || field.covers(end).is_err() {
            break;
        }
        let Ok(segments) = follow(field, now, at, end - now) else { break };
        let length = (end - now) / segments.len() as f64;
        for segment in &segments {
            let begins_outwards = at.pos.dot(&at.vel) > 0.0;
            if let Some(z) = turn(segment).filter(|_| begins_outwards) {
                let OrbitPoint { pos, vel, .. } = segment.at(z);
                return (now + z * length, OrbitState { pos, vel });
            }
            (now, at) = (now + length, segment.end());
        }
        now = end;
    }
    (now, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane_force::error::{Error, Result};
    use tisane_force::force::external::Plummer;
    use tisane_force::particles::Vec3;

    const POINT_MASS: Plummer = Plummer { mass: 1.0, position: Vec3::new(0.0, 0.0, 0.0), scale_radius: 0.0 };
    const ECCENTRICITY: f64 = 0.6;

    /// Time since the pericentre and state on the Kepler orbit of semi-major axis 1 at an eccentric anomaly.
    fn kepler(anomaly: f64) -> (f64, OrbitState) {
        let ((s, c), b) = (anomaly.sin_cos(), (1.0 - ECCENTRICITY * ECCENTRICITY).sqrt());
        let rate = 1.0 / (1.0 - ECCENTRICITY * c);
        let state = OrbitState { pos: Vec3::new(c - ECCENTRICITY, b * s, 0.0), vel: rate * Vec3::new(-s, b * c, 0.0) };
        (anomaly - ECCENTRICITY * s, state)
    }

    #[test]
    fn verify_the_pericentre_of_a_kepler_orbit_is_found_from_everywhere_after_it() {
        for anomaly in [0.01, 0.5, 3.0, 4.0, 6.2] {
            let (since, state) = kepler(anomaly);
            let (time, nearest) = nearest_since_pericentre(&POINT_MASS, 7.0, state);
            assert!((time - (7.0 - since)).abs() < 1e-8, "{anomaly}: {time}");
            let (_, expected) = kepler(0.0);
            assert!((nearest.pos - expected.pos).norm() < 1e-8, "{anomaly}: {nearest:?}");
            assert!((nearest.vel - expected.vel).norm() < 1e-8, "{anomaly}: {nearest:?}");
        }
    }

    #[test]
    fn an_orbit_that_comes_from_afar_is_nearest_now() {
        let state = OrbitState { pos: Vec3::new(5.0, 0.3, 0.0), vel: Vec3::new(-2.0, 0.0, 0.0) };
        assert_eq!(nearest_since_pericentre(&POINT_MASS, 1.0, state), (1.0, state));
        // At rest in the centre of a sphere.
        let sphere = Plummer { scale_radius: 1.0, ..POINT_MASS };
        assert_eq!(nearest_since_pericentre(&sphere, 1.0, OrbitState::default()), (1.0, OrbitState::default()));
    }

    /// A point mass that is known from a time on, and whose mass falls from another.
    struct Known {
        from: f64,
        falls: f64,
    }

    impl Known {
        fn strength(&self, t: f64) -> f64 {
            1.0 - 0.3 * (t - self.falls).max(0.0)
        }
    }

    impl ExternalField for Known {
        fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
            self.strength(t) * POINT_MASS.acc(pos, t)
        }
        fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
            self.strength(t) * POINT_MASS.jerk(pos, vel, t)
        }
        fn pot(&self, pos: Vec3, t: f64) -> f64 {
            self.strength(t) * POINT_MASS.pot(pos, t)
        }
        fn moments(&self) -> Vec<f64> {
            vec![self.falls]
        }
        fn covers(&self, t: f64) -> Result<()> {
            if t >= self.from { Ok(()) } else { Err(Error::Integration { problem: "too early".into(), help: None }) }
        }
    }

    #[test]
    fn an_orbit_is_followed_through_a_kink_of_the_field_and_as_far_as_that_is_known() {
        // From the pericentre at 0 to 1, with less mass from 0.5 on.
        let (_, start) = kepler(0.0);
        let field = Known { from: -9.0, falls: 0.5 };
        let end = |t: f64, at: OrbitState, length: f64| follow(&field, t, at, length).unwrap().last().unwrap().end();
        let now = end(0.5, end(0.0, start, 0.5), 0.5);
        let (time, nearest) = nearest_since_pericentre(&field, 1.0, now);
        assert!(time.abs() < 1e-9 && (nearest.pos - start.pos).norm() < 1e-9, "{time} {nearest:?}");
        // Known from 0.4 on: the first step that ends there or later.
        let (time, nearest) = nearest_since_pericentre(&Known { from: 0.4, ..field }, 1.0, now);
        assert!((0.4..0.6).contains(&time) && nearest.pos.norm() > start.pos.norm(), "{time} {nearest:?}");
    }
}
