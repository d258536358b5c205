//! Tests of systems in isolation.

mod black_hole;
mod kozai;
mod motion;
mod watch;

use super::*;
use std::f64::consts::TAU;

/// Pair of masses 0.75 and 0.25 with semi-major axis 1, at its apocentre, whose centre of mass moves.
fn pair(e: f64) -> FewBody {
    let (x, v) = (Vec3::new(1.0 + e, 0.0, 0.0), Vec3::new(0.0, ((1.0 - e) / (1.0 + e)).sqrt(), 0.0));
    let drift = Vec3::new(0.5, -0.25, 0.125);
    FewBody::new(&[0.75, 0.25], &[x * -0.25, x * 0.75], &[drift + v * -0.25, drift + v * 0.75]).unwrap()
}

/// Semi-major axis and eccentricity of a pair.
#[derive(Debug)]
struct Orbit {
    semi_major_axis: f64,
    eccentricity: f64,
}

impl Orbit {
    fn from_state(pos: Vec3, vel: Vec3, mu: f64) -> Self {
        let eccentricity = (vel.cross(&pos.cross(&vel)) / mu - pos / pos.norm()).norm();
        Self { semi_major_axis: 1.0 / (2.0 / pos.norm() - vel.norm_squared() / mu), eccentricity }
    }
}

fn error(system: &FewBody) -> f64 {
    (system.present_binding_energy() / system.binding_energy() - 1.0).abs()
}

#[test]
fn verify_a_pair_follows_keplers_orbit() {
    for e in [0.0, 0.5, 0.9, 0.999] {
        let mut system = pair(e);
        let (pos, vel) = system.state();
        let (x, v) = (pos[1] - pos[0], vel[1] - vel[0]);
        for time in [0.01, 0.5, 3.0, TAU / 2.0, 8.0, 100.0] {
            system.advance(time).unwrap();
            let (pos, vel) = system.state();
            let (y, w) = kepler::step(x, v, 1.0, time);
            let bound = 1e-11 / (1.0 - e).powf(1.5);
            assert!((pos[1] - pos[0] - y).norm() < bound && error(&system) < 1e-11, "e = {e}, t = {time}");
            assert!((vel[1] - vel[0] - w).norm() < bound / (1.0 - e), "e = {e}, t = {time}");
            let centre = pos[0] * 0.75 + pos[1] * 0.25;
            assert!((centre - Vec3::new(0.5, -0.25, 0.125) * time).norm() < 1e-13 * (1.0 + time));
        }
    }
}

#[test]
fn verify_a_thousand_orbits_of_a_very_eccentric_pair() {
    let mut system = pair(0.999_999);
    (1..=24_000).for_each(|k| system.advance(f64::from(k) * (TAU / 24.0)).unwrap());
    let (pos, vel) = system.state();
    let orbit = Orbit::from_state(pos[1] - pos[0], vel[1] - vel[0], 1.0);
    // Absolute positions have lost digits to the motion of the centre of mass.
    assert!(error(&system) < 1e-14 && (orbit.semi_major_axis - 1.0).abs() < 1e-12, "{orbit:?}");
    assert!((orbit.eccentricity - 0.999_999).abs() < 1e-12, "{orbit:?}");
    assert!((pos[1] - pos[0] - Vec3::new(1.999_999, 0.0, 0.0)).norm() < 1e-11, "{pos:?}");
}

/// Burrau's problem of masses 3, 4, 5 at rest at the corners of the triangle 3, 4, 5 (Szebehely & Peters 1967, AJ 72,
/// 876): after t = 60 bodies 4 and 5 are a pair and 3 escapes.
#[test]
fn verify_the_pythagorean_problem() {
    let pos = [[1.0, 3.0, 0.0], [-2.0, -1.0, 0.0], [1.0, -1.0, 0.0]].map(Vec3::from);
    let mut system = FewBody::new(&[3.0, 4.0, 5.0], &pos, &[Vec3::zeros(); 3]).unwrap();
    system.advance(100.0).unwrap();
    let (pos, vel) = system.state();
    let orbit = Orbit::from_state(pos[2] - pos[1], vel[2] - vel[1], 9.0);
    assert!(error(&system) < 1e-11);
    assert!((orbit.semi_major_axis - 0.55249).abs() < 2e-5 && (orbit.eccentricity - 0.98871).abs() < 2e-5, "{orbit:?}");
    assert!((pos[0].norm() - 72.34).abs() < 0.01, "{pos:?}");
}

/// Late times are coarser than the motion at pericentre: the approach to one ends all the same, and the orbit is kept.
#[test]
fn a_late_time_at_pericentre_is_reached() {
    let (x, v) = (Vec3::new(1e-10, 0.0, 0.0), Vec3::new(0.0, (2e10f64 - 1.0).sqrt(), 0.0));
    let mut system = FewBody::new(&[0.75, 0.25], &[x * -0.25, x * 0.75], &[v * -0.25, v * 0.75]).unwrap();
    system.time = 1e4;
    for until in [1e4 + 1e-9, 1e4 + 3e-9, 1e4 + 0.5] {
        system.advance(until).unwrap();
        // What the scheme keeps is (T + B) / U: an error of the energy is one of its share of U.
        let wrong = (system.present_binding_energy() - system.binding_energy()).abs();
        let size = system.binding_energy() + 0.09375 * (system.state().1[1] - system.state().1[0]).norm_squared();
        assert!(system.time() == until && wrong < 1e-11 * size, "t = {until}: {:e}", wrong / size);
    }
}

/// A body flies from one end of a chain of three past the other.
#[test]
fn the_closest_bodies_are_neighbours_in_the_chain() {
    let pos = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [6.0, 0.3, 0.0]].map(Vec3::from);
    let vel = [Vec3::zeros(), Vec3::zeros(), Vec3::new(-10.0, 0.0, 0.0)];
    let mut system = FewBody::new(&[1e-3; 3], &pos, &vel).unwrap();
    assert_eq!(system.motion.order(), [0, 1, 2]);
    system.advance(0.63).unwrap();
    let place = |body: usize| system.motion.order().iter().position(|b| *b == body).unwrap();
    assert_eq!(place(0).abs_diff(place(2)), 1, "{:?}", system.motion.order());
}

#[test]
fn times_that_are_asked_for_change_little() {
    let mut at_once = pair(0.7);
    let mut often = at_once.clone();
    at_once.advance(20.0).unwrap();
    (1..=400).for_each(|k| often.advance(f64::from(k) * 0.05).unwrap());
    let ((x, _), (y, _)) = (at_once.state(), often.state());
    assert!((x[0] - y[0]).norm() < 1e-10 && error(&often) < 1e-11, "{}", (x[0] - y[0]).norm());
    assert!(often.advance(10.0).is_err() && often.advance(f64::NAN).is_err());
}

#[test]
fn wrong_bodies_are_errors() {
    let (x, v) = ([Vec3::zeros(), Vec3::x(), Vec3::zeros()], [Vec3::zeros(); 3]);
    for (mass, pos, vel, problem) in [
        (&[1.0][..], &x[..1], &v[..1], "two or more"),
        (&[1.0, 1.0], &x[..2], &v[..1], "1 velocities"),
        (&[1.0, -1.0], &x[..2], &v[..2], "body 1 has the mass -1"),
        (&[0.0, 0.0], &x[..2], &v[..2], "no body has a mass"),
        (&[1.0, f64::NAN], &x[..2], &v[..2], "body 1 has the mass NaN"),
        (&[1.0; 3], &x, &v, "bodies 0 and 2 are at one place"),
        (&[1.0; 2], &[Vec3::x(), Vec3::repeat(f64::INFINITY)], &v[..2], "body 1 has a position"),
    ] {
        let found = FewBody::new(mass, pos, vel).unwrap_err().to_string();
        assert!(found.contains(problem), "{found}");
    }
}

/// Points fall on each other and part again: a Kepler orbit of eccentricity 1.
#[test]
fn a_fall_head_on_is_passed() {
    let x = [Vec3::zeros(), Vec3::x()];
    let mut system = FewBody::new(&[1.0, 1.0], &x, &[Vec3::zeros(); 2]).unwrap();
    system.advance(10.0).unwrap();
    let ((pos, _), (expected, _)) = (system.state(), kepler::step(Vec3::x(), Vec3::zeros(), 2.0, 10.0));
    assert!(error(&system) < 1e-11 && (pos[1] - pos[0] - expected).norm() < 1e-9, "{}", pos[1] - pos[0] - expected);
}
