//! The small models have the elements, energies and momenta that their papers give.

use std::f64::consts::TAU;
use tisane::initial::{figure_eight, pythagorean, solar_system, two_body};
use tisane::particles::{Particles, Vec3};

fn energy(p: &Particles, g: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..p.len() {
        total += 0.5 * p.mass[i] * p.vel[i].norm_squared();
        for j in 0..i {
            total -= g * p.mass[i] * p.mass[j] / (p.pos[i] - p.pos[j]).norm();
        }
    }
    total
}

fn weighted_sum(p: &Particles, column: &[Vec3]) -> Vec3 {
    p.mass.iter().zip(column).map(|(m, v)| *m * v).sum()
}

fn assert_barycentric(p: &Particles, tolerance: f64) {
    for sum in [weighted_sum(p, &p.pos), weighted_sum(p, &p.vel)] {
        assert!(sum.iter().all(|x| x.abs() < tolerance), "{sum:?}");
    }
}

/// Semi-major axis and eccentricity vector of body `i` about body 0.
fn orbit_about_first(p: &Particles, i: usize, g: f64) -> (f64, Vec3) {
    let mu = g * (p.mass[0] + p.mass[i]);
    let (x, v) = (p.pos[i] - p.pos[0], p.vel[i] - p.vel[0]);
    let r = x.norm();
    (1.0 / (2.0 / r - v.norm_squared() / mu), v.cross(&x.cross(&v)) / mu - x / r)
}

#[test]
fn verify_the_two_body_orbit_has_the_elements_asked_for() {
    for (m1, m2, a, e, g) in [(0.5, 0.5, 1.0, 0.3, 1.0), (3.0, 1e-6, 2.5, 0.9, 39.5), (1.0, 0.0, 1.0, 0.0, 1.0)] {
        for at_pericentre in [true, false] {
            let p = two_body::orbit(m1, m2, a, e, at_pericentre, g);
            let (found_a, found_e) = orbit_about_first(&p, 1, g);
            assert!((found_a / a - 1.0).abs() < 1e-14, "a {found_a}");
            // Pericentre lies on +x whichever end of the orbit the pair starts from.
            assert!((found_e - e * Vec3::x()).norm() < 1e-14, "e {found_e:?}");
            let separation = p.pos[1].x - p.pos[0].x;
            let expected = if at_pericentre { a * (1.0 - e) } else { -a * (1.0 + e) };
            assert!((separation - expected).abs() < 1e-14 * a);
            assert!((energy(&p, g) + g * m1 * m2 / (2.0 * a)).abs() <= 1e-14 * g * m1 * m2 / a);
            assert_barycentric(&p, 1e-15);
        }
    }
}

#[test]
#[should_panic(expected = "eccentricity 1")]
fn an_unbound_pair_is_a_programming_error() {
    let _ = two_body::orbit(1.0, 1.0, 1.0, 1.0, true, 1.0);
}

#[test]
fn verify_the_figure_eight_has_its_energy_and_no_momentum() {
    let p = figure_eight::orbit();
    assert!((energy(&p, 1.0) + 1.287_141_995_631_847_5).abs() < 1e-15);
    assert_barycentric(&p, 1e-300);
    let spin = (0..3).map(|i| p.pos[i].cross(&p.vel[i]).z).sum::<f64>();
    assert!(spin.abs() < 1e-15, "{spin}");
}

#[test]
fn verify_the_figure_eight_closes_after_its_period() {
    const PERIOD: f64 = 6.325_913_982_926_287;
    // A third of the period takes every body to its neighbour's place: 6000 classical Runge-Kutta steps reach 1e-12.
    let start = figure_eight::orbit();
    let mut state = (start.pos.clone(), start.vel.clone());
    let steps = 6000;
    for _ in 0..steps {
        state = runge_kutta(&state, PERIOD / 3.0 / f64::from(steps));
    }
    for (i, neighbour) in [(0, 2), (1, 0), (2, 1)] {
        let (x, v) = (state.0[i] - start.pos[neighbour], state.1[i] - start.vel[neighbour]);
        assert!(x.norm() < 1e-12 && v.norm() < 1e-12, "body {i}: {x:?} {v:?}");
    }
}

type State = (Vec<Vec3>, Vec<Vec3>);

/// One classical 4th-order Runge-Kutta step for unit masses, G = 1.
fn runge_kutta(y: &State, h: f64) -> State {
    let shifted = |by: &State, h: f64| -> State {
        let add = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a + h * b).collect();
        (add(&y.0, &by.0), add(&y.1, &by.1))
    };
    let k1 = derivative(y);
    let k2 = derivative(&shifted(&k1, h / 2.0));
    let k3 = derivative(&shifted(&k2, h / 2.0));
    let k4 = derivative(&shifted(&k3, h));
    let mean =
        |i: usize, f: &dyn Fn(&State) -> &Vec<Vec3>| (f(&k1)[i] + 2.0 * f(&k2)[i] + 2.0 * f(&k3)[i] + f(&k4)[i]) / 6.0;
    let step = (0..3).map(|i| mean(i, &|s| &s.0)).collect();
    let kick = (0..3).map(|i| mean(i, &|s| &s.1)).collect();
    shifted(&(step, kick), h)
}

fn derivative((pos, vel): &State) -> State {
    let pull = |i: usize| {
        let others = (0..3).filter(|&j| j != i).map(|j| pos[j] - pos[i]);
        others.map(|d| d / d.norm_squared().powf(1.5)).sum()
    };
    (vel.clone(), (0..3).map(pull).collect())
}

#[test]
fn verify_the_pythagorean_triangle_has_burraus_energy() {
    let p = pythagorean::triangle();
    assert_eq!(p.mass, [3.0, 4.0, 5.0]);
    // Each body stands opposite the side of its own length.
    let e = -(3.0 * 4.0 / 5.0 + 3.0 * 5.0 / 4.0 + 4.0 * 5.0 / 3.0);
    assert!((energy(&p, 1.0) - e).abs() < 1e-14 && (e + 769.0 / 60.0).abs() < 1e-14);
    assert_barycentric(&p, 1e-300);
}

#[test]
fn verify_the_planets_have_their_periods_and_plane() {
    /// Gaussian gravitational constant: au^(3/2) / day / Msun^(1/2).
    const K: f64 = 0.017_202_098_95;
    /// Sidereal periods in days (Standish's mean motions; Murray & Dermott 1999, Table A.2).
    const PERIODS: [f64; 8] = [87.969, 224.701, 365.256, 686.980, 4332.6, 10759.2, 30685.0, 60189.0];
    let p = solar_system::planets(K * K);
    assert_eq!(p.len(), 9);
    assert_barycentric(&p, 1e-16);
    for (i, period) in (1..9).zip(PERIODS) {
        let (a, e) = orbit_about_first(&p, i, K * K);
        let kepler = TAU * (a.powi(3) / (1.0 + p.mass[i])).sqrt() / K;
        assert!((kepler / period - 1.0).abs() < 2e-3, "planet {i}: {kepler} days");
        assert!(e.norm() < 0.21);
        let x = p.pos[i] - p.pos[0];
        assert!(x[2].abs() < 0.123 * x.norm(), "planet {i} is {} au off the ecliptic", x[2]);
        assert!(x.cross(&(p.vel[i] - p.vel[0])).z > 0.0, "planet {i} goes backwards");
    }
}

#[test]
fn verify_the_earth_at_j2000_is_where_the_almanac_has_it() {
    let p = solar_system::planets(1.0);
    let x = p.pos[3] - p.pos[0];
    // Heliocentric longitude 100.38 degrees, distance 0.98333 au on 2000 January 1.5 (perihelion was on January 3).
    let longitude = x[1].atan2(x[0]).to_degrees();
    assert!((longitude - 100.378).abs() < 0.01, "{longitude}");
    assert!((x.norm() - 0.98333).abs() < 1e-4);
    assert!(x[2].abs() < 1e-5);
}

#[test]
fn the_gravitational_constant_only_scales_the_velocities() {
    let (one, four) = (solar_system::planets(1.0), solar_system::planets(4.0));
    assert_eq!(one.pos, four.pos);
    assert_eq!(four.vel, one.vel.iter().map(|v| 2.0 * v).collect::<Vec<_>>());
}
