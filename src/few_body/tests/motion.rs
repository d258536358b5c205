//! Tests of the motion under a tide, and of numbers at the edge.

use crate::few_body::{FewBody, Motion, Tide, kepler};
use std::f64::consts::TAU;
use tisane_force::particles::Vec3;

/// Field f = k x that rises with the distance.
struct Linear(f64);

impl Tide for Linear {
    fn acc(&self, _: f64, offsets: &[Vec3], acc: &mut [Vec3]) {
        acc.iter_mut().zip(offsets).for_each(|(acc, x)| *acc = Vec3::new(2.0 * x[0], -x[1], -x[2]) * self.0);
    }
}

/// Body that passes by on a straight line.
struct Passing {
    mass: f64,
    pos: Vec3,
    vel: Vec3,
}

impl Tide for Passing {
    fn acc(&self, time: f64, offsets: &[Vec3], acc: &mut [Vec3]) {
        for (acc, x) in acc.iter_mut().zip(offsets) {
            let apart = self.pos + self.vel * time - x;
            *acc = apart * (self.mass / apart.norm().powi(3));
        }
    }
}

const PASSING: Passing = Passing { mass: 1.0, pos: Vec3::new(5.0, -12.0, 3.0), vel: Vec3::new(-0.1, 0.4, 0.05) };

/// Masses, positions and velocities of a pair of semi-major axis 1 at its apocentre.
fn pair(e: f64) -> ([f64; 2], [Vec3; 2], [Vec3; 2]) {
    let (x, v) = (Vec3::new(1.0 + e, 0.0, 0.0), Vec3::new(0.0, ((1.0 - e) / (1.0 + e)).sqrt(), 0.0));
    ([0.75, 0.25], [x * -0.25, x * 0.75], [v * -0.25, v * 0.75])
}

fn motion_of_pair(e: f64) -> Motion {
    let (mass, pos, vel) = pair(e);
    Motion::new(&mass, &pos, &vel)
}

/// The pair, and a body of no mass far away: the other integrator.
fn motion_of_three(e: f64) -> Motion {
    let (mass, pos, vel) = pair(e);
    let (far, at_rest) = (Vec3::new(0.0, 0.0, 40.0), Vec3::new(0.1, 0.0, 0.0));
    Motion::new(&[mass[0], mass[1], 0.0], &[pos[0], pos[1], far], &[vel[0], vel[1], at_rest])
}

#[test]
fn verify_the_work_of_a_tide() {
    let field = Linear(1e-3);
    let size = |m: &Motion| {
        let quadratic = |x: &Vec3| 2.0 * x[0] * x[0] - x[1] * x[1] - x[2] * x[2];
        m.masses().iter().zip(m.offsets()).map(|(m, x)| 0.5e-3 * m * quadratic(&x)).sum::<f64>()
    };
    for e in [0.0, 0.9, 0.999] {
        for mut motion in [motion_of_pair(e), motion_of_three(e)] {
            let start = motion.binding() + size(&motion);
            for _ in 0..200 {
                motion.advance(0.31, Some(&field)).unwrap();
                let off = motion.binding() + size(&motion) - start;
                assert!(off.abs() < 1e-10 * start, "{} bodies, e = {e}: {off:e}", motion.len());
                let off = motion.present_binding() - motion.binding();
                let scale = motion.binding().abs() + motion.speeds()[1].norm_squared();
                assert!(off.abs() < 1e-12 * scale, "{} bodies, e = {e}: {off:e}", motion.len());
            }
        }
    }
}

#[test]
fn verify_that_both_integrators_agree() {
    for e in [0.0, 0.9, 0.999] {
        let (mut two, mut three) = (motion_of_pair(e), motion_of_three(e));
        for k in 1..=100 {
            let part = Passing { pos: PASSING.pos + PASSING.vel * (0.77 * f64::from(k - 1)), ..PASSING };
            two.advance(0.77, Some(&part)).unwrap();
            three.advance(0.77, Some(&part)).unwrap();
        }
        let ((x, v), (y, w)) = (two.pair(), three.vectors(0, 1));
        let off = (x - y).norm() / v.norm();
        assert!(off < 1e-9 && (two.binding() / three.binding() - 1.0).abs() < 1e-11, "e = {e}: {off:e}, {v} {w}");
    }
}

/// Times that are asked for change little, and cost little.
#[test]
fn arrivals_at_many_times_are_exact() {
    let rest = |k: u32, dt: f64| Passing { pos: PASSING.pos + PASSING.vel * (dt * f64::from(k)), ..PASSING };
    for e in [0.0, 0.9] {
        let (mut at_once, mut often) = (motion_of_pair(e), motion_of_pair(e));
        at_once.advance(64.0, Some(&rest(0, 0.0))).unwrap();
        (0..256).for_each(|k| often.advance(0.25, Some(&rest(k, 0.25))).unwrap());
        let off = (at_once.pair().0 - often.pair().0).norm();
        assert!(off < 1e-10, "e = {e}: {off:e}");
        let each = often.evaluations() as f64 / (64.0 / TAU);
        assert!(each < 500.0, "e = {e}: {each} evaluations an orbit");
    }
}

#[test]
fn a_motion_goes_on_from_its_parts() {
    for mut motion in [motion_of_pair(0.9), motion_of_three(0.9)] {
        motion.advance(3.3, Some(&PASSING)).unwrap();
        let mut again = Motion::from_parts(&motion.parts()).unwrap();
        assert_eq!(again, motion);
        for m in [&mut motion, &mut again] {
            m.advance(5.0, None).unwrap();
            m.advance(3.3, Some(&PASSING)).unwrap();
        }
        assert_eq!(again, motion);
        let mut parts = motion.parts();
        parts.numbers.pop();
        assert!(Motion::from_parts(&parts).is_err());
        let mut parts = motion.parts();
        parts.order[0] = 1;
        assert!(Motion::from_parts(&parts).is_err());
    }
}

/// The sum of these masses depends on the order in which they are added.
#[test]
fn the_total_mass_does_not_depend_on_the_order_along_the_chain() {
    let mass = [1.0, 1e-16, 1e-16, 1e-16, 1e-16];
    let places: Vec<Vec3> = (0..5).map(|k| Vec3::new(f64::from(7 * k % 5), 0.1 * f64::from(k), 0.0)).collect();
    let moves: Vec<Vec3> = (0..5).map(|k| Vec3::new(0.0, 0.0, 0.2 * f64::from(k))).collect();
    let along = Motion::new(&mass, &places, &moves);
    let differences = |of: &[Vec3]| of.windows(2).map(|two| two[1] - two[0]).collect::<Vec<_>>();
    for motion in [along, Motion::from_vectors(&mass, &differences(&places), &differences(&moves))] {
        assert_ne!(motion.order(), [0, 1, 2, 3, 4]);
        assert_eq!(Motion::from_parts(&motion.parts()).unwrap(), motion);
        let sum = |order: &[usize]| order.iter().map(|&k| mass[k]).sum::<f64>();
        assert_ne!(sum(motion.order()), sum(&[0, 1, 2, 3, 4]), "{:?}", motion.order());
    }
}

#[test]
fn nothing_but_a_tide_changes_the_binding_energy() {
    for mut motion in [motion_of_pair(0.99), motion_of_three(0.99)] {
        let start = motion.binding();
        motion.advance(20.0, None).unwrap();
        assert_eq!(motion.binding(), start);
        motion.advance(20.0, Some(&PASSING)).unwrap();
        assert_ne!(motion.binding(), start);
    }
}

#[test]
fn vectors_keep_the_digits_that_positions_lack() {
    let (x, v) = ([Vec3::new(1e-14, 2e-14, 0.0), Vec3::new(1e3, 1.0, 0.5)], [Vec3::new(0.0, 0.0, 1e5), Vec3::zeros()]);
    let motion = Motion::from_vectors(&[1e-4, 1e-4, 1.0], &x, &v);
    assert_eq!(motion.vectors(0, 1), (x[0], v[0]));
    assert_eq!(motion.vectors(2, 1), (-x[1], -v[1]));
    assert_eq!(motion.order().len(), 3);
    let two = Motion::from_vectors(&[1.0, 2.0], &x[..1], &v[..1]);
    assert_eq!(two.pair(), (x[0], v[0]));
}

/// Ellipse, parabola, hyperbola and falls on a line, with masses that differ by any factor: Kepler's orbits, with a weak tide
/// too.
#[test]
fn verify_pairs_at_the_edge() {
    let x = Vec3::new(0.6, -0.8, 0.0);
    let across = Vec3::new(0.8, 0.6, 0.0);
    let speeds = [Vec3::zeros(), across, across * 2.0f64.sqrt(), across * 5.0, x * -2.0f64.sqrt(), x * 3.0, x * -3.0];
    for masses in [[0.5, 0.5], [1.0, 0.0], [0.0, 1.0], [1e-12, 1.0], [1.0, 1e-300]] {
        let mu = masses[0] + masses[1];
        for v in speeds {
            for dt in [1e-6, 0.3, 2.0, 40.0] {
                let (y, w) = kepler::Epoch::new(x, v, mu).at(dt);
                for tide in [None, Some(&Linear(1e-18) as &dyn Tide)] {
                    let mut motion = Motion::from_vectors(&masses, &[x], &[v]);
                    motion.advance(dt, tide).unwrap();
                    let (z, u) = motion.pair();
                    let off = (y - z).norm() / (1.0 + u.norm()) / (1.0 + dt);
                    assert!(off < 2e-13, "{masses:?} {v} {dt} {}: {off:e} {y} {z} {w}", tide.is_some());
                }
            }
        }
    }
}

#[test]
fn bodies_of_no_mass_follow_keplers_orbits() {
    let (x, v) = (Vec3::new(1.9, 0.0, 0.0), Vec3::new(0.0, (0.1f64 / 1.9).sqrt(), 0.0));
    let (y, w) = (Vec3::new(0.0, 0.0, 3.0), Vec3::new(0.5, 0.0, 0.0));
    for small in [0.0, 1e-20] {
        let zero = Vec3::zeros();
        let mut motion = Motion::new(&[small, 1.0, small], &[x, zero, y], &[v, zero, w]);
        motion.advance(30.0, None).unwrap();
        for (body, start) in [(0, (x, v)), (2, (y, w))] {
            let (found, _) = motion.vectors(1, body);
            let (expected, _) = kepler::step(start.0, start.1, 1.0, 30.0);
            assert!((found - expected).norm() < 1e-10, "{small}, {body}: {}", found - expected);
        }
    }
}

/// A body of almost no mass on a very eccentric orbit about one of two others: the fictitious time does not see it.
#[test]
fn small_bodies_pass_close_to_large_ones() {
    let (x, v) = (Vec3::new(0.1, 0.0, 0.0), Vec3::new(0.0, 0.01, 0.0));
    let pos = [Vec3::zeros(), Vec3::new(30.0, 0.0, 0.0), x];
    let vel = [Vec3::zeros(), Vec3::new(0.0, 0.2, 0.0), v];
    let mut motion = Motion::new(&[1.0, 1.0, 1e-12], &pos, &vel);
    let axis = |m: &Motion| {
        let (x, v) = m.vectors(0, 2);
        1.0 / (2.0 / x.norm() - v.norm_squared())
    };
    let start = axis(&motion);
    motion.advance(10.0, None).unwrap();
    assert!((axis(&motion) / start - 1.0).abs() < 1e-4, "{} {start}", axis(&motion));
    assert!(motion.evaluations() < 1_000_000, "{}", motion.evaluations());
}

#[test]
fn a_knot_of_a_hundred_bodies_moves() {
    let place = |k: u32| {
        let k = f64::from(k);
        Vec3::new((k * 0.37).sin(), (k * 0.73).cos(), (k * 1.19).sin())
    };
    let pos: Vec<Vec3> = (0..100).map(place).collect();
    let vel: Vec<Vec3> = (200..300).map(|k| place(k) * 0.3).collect();
    let mut system = FewBody::new(&[0.01; 100], &pos, &vel).unwrap();
    system.advance(0.02).unwrap();
    let error = system.present_binding_energy() / system.binding_energy() - 1.0;
    assert!(error.abs() < 1e-12, "{error:e}");
}
