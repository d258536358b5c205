//! Promise: the multi-point schemes are of 6th and 8th order, with steps of one length and of many, and without earlier
//! points they are the Hermite scheme of 4th order bit for bit.

use crate::common;

use common::{advance, energy, kepler, parameters};
use std::f64::consts::PI;
use tisane::force::mode::F64;
use tisane::force::precision::Precision;
use tisane::force::reference::ReferenceEngine;
use tisane::initial::{figure_eight, plummer};
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::Hermite4;
use tisane::integrator::multipoint::{Criterion, Limits, Multipoint, Order, Parameters};
use tisane::particles::{Particles, Vec3};
use tisane::states::history::History;
use tisane::time::{Clock, Level, Time};

fn multipoint(order: Order, eta: f64) -> Parameters {
    let limits = Limits { floor: Level::DEEPEST, ..Limits::new(Precision::F64) };
    Parameters { order, eta, limits, ..Parameters::new(Precision::F64) }
}

/// Integrates over `steps` of dt_max; returns the number of particle steps.
fn integrate(p: &mut Particles, parameters: Parameters, clock: Clock, epsilon: f64, steps: u64) -> u64 {
    let mut engine = ReferenceEngine::<F64>::new(epsilon, clock);
    let mut integrator = Multipoint::new(parameters, clock);
    integrator.start(p, &mut engine).unwrap();
    advance(p, &mut integrator, &mut engine, Time::from_dt_max(steps))
}

/// Integrates over `steps` equal steps of dt_max, from exact earlier points: those of a run with steps 32 times shorter
/// that begins two steps before.
fn with_equal_steps(p: &Particles, order: Order, dt: f64, epsilon: f64, steps: u64) -> Particles {
    const PARTS: u64 = 32;
    let fine = Clock { start: 0.0, dt_max: dt / PARTS as f64 };
    let mut engine = ReferenceEngine::<F64>::new(epsilon, fine);
    // So large an eta that every particle takes dt_max.
    let mut integrator = Multipoint::new(multipoint(Order::Eight, 1e30), fine);
    let mut state = p.clone();
    integrator.start(&mut state, &mut engine).unwrap();
    let mut points = vec![state.clone()];
    for k in 1..=2 {
        advance(&mut state, &mut integrator, &mut engine, Time::from_dt_max(k * PARTS));
        points.push(state.clone());
    }
    let coarse = Clock { start: 0.0, dt_max: dt };
    let history = state.states.get_mut::<History>();
    let [earlier, derivatives] = order.history();
    let fresh = History::new(p.len(), earlier, derivatives);
    history.derivatives.truncate(derivatives);
    (history.points, state.time) = (fresh.points, vec![Time::from_dt_max(2); p.len()]);
    for (k, point) in history.points.iter_mut().enumerate() {
        let before = &points[1 - k];
        (point.acc, point.jerk) = (before.acc.clone(), before.jerk.clone());
        point.time = vec![Time::from_dt_max(1 - k as u64); p.len()];
    }
    let mut engine = ReferenceEngine::<F64>::new(epsilon, coarse);
    let mut integrator = Multipoint::new(multipoint(order, 1e30), coarse);
    integrator.resume(&state, Time::from_dt_max(2), &mut engine).unwrap();
    advance(&mut state, &mut integrator, &mut engine, Time::from_dt_max(steps));
    assert!(state.step.iter().all(|&level| level == Level(0)));
    state
}

fn distance(a: &Particles, b: &Particles) -> f64 {
    a.pos.iter().zip(&b.pos).map(|(a, b)| (a - b).norm_squared()).sum::<f64>().sqrt()
}

/// Asserts that the errors of runs in `steps` equal steps fall with the order: no slower, and no faster than terms of
/// the next orders make them.
fn assert_order(order: f64, steps: [u64; 3], error: impl Fn(u64) -> f64) {
    let errors = steps.map(error);
    let slope = (errors[0] / errors[2]).ln() / (steps[2] as f64 / steps[0] as f64).ln();
    assert!((order - 0.5..order + 2.5).contains(&slope), "order {order}: slope {slope}, errors {errors:?}");
}

/// Steps are taken so short that the method converges, and so long that rounding does not show.
#[test]
fn verify_orders_on_kepler_with_equal_steps() {
    let p = kepler(0.5, 0.1);
    // The exact solution after a period is the beginning.
    let error = |order| {
        let p = p.clone();
        move |n: u64| distance(&with_equal_steps(&p, order, 2.0 * PI / n as f64, 0.0, n), &p)
    };
    assert_order(6.0, [128, 256, 512], error(Order::Six));
    assert_order(8.0, [64, 80, 100], error(Order::Eight));
}

#[test]
fn verify_orders_on_the_figure_eight_with_equal_steps() {
    let p = figure_eight::orbit();
    let end = |order, n: u64| with_equal_steps(&p, order, 4.0 / n as f64, 0.0, n);
    let exact = end(Order::Eight, 400);
    assert_order(6.0, [128, 192, 256], |n| distance(&end(Order::Six, n), &exact));
    assert_order(8.0, [128, 160, 200], |n| distance(&end(Order::Eight, n), &exact));
}

#[test]
fn verify_orders_on_sixteen_bodies_with_equal_steps() {
    let p = plummer::sample(16, 5, 0.999);
    let end = |order, n: u64| with_equal_steps(&p, order, 1.0 / n as f64, 0.25, n);
    let exact = end(Order::Eight, 200);
    assert_order(6.0, [32, 48, 64], |n| distance(&end(Order::Six, n), &exact));
    assert_order(8.0, [36, 48, 64], |n| distance(&end(Order::Eight, n), &exact));
}

/// Individual steps of many ratios: the energy error falls at least with the 6th and 8th power of η.
#[test]
fn verify_orders_with_block_steps() {
    let clock = Clock { start: 0.0, dt_max: 2.0 * PI / 4.0 };
    for (order, expected, etas) in [(Order::Six, 6.0, [0.4, 0.2, 0.1]), (Order::Eight, 8.0, [0.25, 0.18, 0.125])] {
        let error = |eta: f64| {
            let mut p = kepler(0.5, 0.5);
            let e0 = energy(&p, 0.0);
            let steps = integrate(&mut p, multipoint(order, eta), clock, 0.0, 40);
            assert!(steps > 200, "steps are shorter than dt_max");
            ((energy(&p, 0.0) - e0) / e0).abs()
        };
        let errors = etas.map(error);
        let slope = (errors[0] / errors[2]).ln() / (etas[0] / etas[2]).ln();
        assert!(slope > expected - 1.0, "{order:?}: slope {slope}, errors {errors:?}");
    }
}

/// The Sun and the giant planets (JPL, in `validation/ias15`), in solar masses and au, with G = 1: each has a step of its
/// own, and is most often predicted as a source while others are at the end of theirs.
fn giants() -> Particles {
    const ALL: [[f64; 7]; 5] = [
        [1.0, -0.007137453666, -0.002792833102, 0.000206207733, 0.001947560495, -0.002723090690, -0.000034856201],
        [
            9.547918983e-4,
            3.991183486118,
            2.942918077967,
            -0.101511606883,
            -1.667995443949,
            2.347948176486,
            0.027625967357,
        ],
        [
            2.858856701e-4,
            6.407647033589,
            6.542874631801,
            -0.368940565121,
            -1.561926631861,
            1.419432886487,
            0.037373001914,
        ],
        [
            4.366244043e-5,
            14.41832842884,
            -13.74043855882,
            -0.237826912643,
            0.981455774367,
            0.970171808328,
            -0.009121023247,
        ],
        [
            5.151383713e-5,
            16.79762535825,
            -24.99550269334,
            0.127609417820,
            0.945527088045,
            0.643190350146,
            -0.035078107607,
        ],
    ];
    // The velocities are au a year: 2π times those with G = 1.
    let vectors =
        |first: usize, unit: f64| ALL.map(|of| Vec3::new(of[first], of[first + 1], of[first + 2]) / unit).to_vec();
    Particles::new(ALL.map(|of| of[0]).to_vec(), vectors(1, 1.0), vectors(4, 2.0 * PI))
}

/// Sources that are predicted by acceleration and jerk alone are wrong by the fourth power of their step, and jump there,
/// which targets with shorter steps see as high derivatives: then the error falls as η⁴, and the steps are far shorter.
/// Measured over 1000 years: 1.3e-9 to 3e-14, and as the 4th power from 3.3e-9 to 4.7e-11.
#[test]
fn verify_order_8_among_sources_with_other_steps() {
    let clock = Clock { start: 0.0, dt_max: 2.0 * PI };
    let [coarse, fine] = [0.14, 0.05].map(|eta| {
        let mut p = giants();
        let e0 = energy(&p, 0.0);
        let steps = integrate(&mut p, multipoint(Order::Eight, eta), clock, 0.0, 1000);
        (((energy(&p, 0.0) - e0) / e0).abs(), steps)
    });
    let slope = (coarse.0 / fine.0).ln() / (0.14f64 / 0.05).ln();
    assert!(slope > 7.0 && fine.0 < 1e-12, "slope {slope}, errors and steps {coarse:?} {fine:?}");
    // 5.0e4 steps; 9.6e4 by acceleration and jerk alone.
    assert!(fine.1 < 70_000, "{} steps", fine.1);
}

#[test]
fn without_earlier_points_it_is_the_scheme_of_fourth_order() {
    let clock = Clock { start: 0.0, dt_max: 1.0 / 8.0 };
    for epsilon in [0.0, 1.0 / 64.0] {
        let begun = plummer::sample(64, 3, 0.999);
        let mut engine = ReferenceEngine::<F64>::new(epsilon, clock);
        let mut p = begun.clone();
        // Without a fourth derivative the step is the upper bound of the criterion: ν = (0.8 η)², exactly.
        let mut integrator = Multipoint::new(multipoint(Order::Four, 0.125), clock);
        integrator.start(&mut p, &mut engine).unwrap();
        let mut q = p.clone();
        advance(&mut p, &mut integrator, &mut engine, Time::from_dt_max(4));

        let mut hermite4 = Hermite4::new(parameters(0.8 * 0.125 * (0.8 * 0.125)), clock);
        hermite4.resume(&q, Time::default(), &mut engine).unwrap();
        let steps = advance(&mut q, &mut hermite4, &mut engine, Time::from_dt_max(4));
        assert!(p == q && steps > 2000, "{steps} steps");
    }
}

#[test]
fn a_state_without_earlier_points_is_not_resumed() {
    let clock = Clock { start: 0.0, dt_max: 1.0 / 8.0 };
    let p = plummer::sample(8, 3, 0.999);
    let mut engine = ReferenceEngine::<F64>::new(0.0, clock);
    for (order, points) in [(Order::Six, "a history of 1 points"), (Order::Eight, "a history of 2 points")] {
        let mut integrator = Multipoint::new(multipoint(order, 0.35), clock);
        let error = integrator.resume(&p, Time::default(), &mut engine).unwrap_err();
        assert!(error.to_string().contains(points), "{error}");
    }
}

/// At rest there is no jerk from which a first step could follow, and at the middle body of the figure-eight there is
/// no acceleration.
#[test]
fn the_first_step_is_measured() {
    let clock = Clock { start: 0.0, dt_max: 1.0 };
    let at_rest = {
        let mut p = kepler(0.5, 0.9);
        p.vel.iter_mut().for_each(|vel| vel.fill(0.0));
        p
    };
    for (mut p, time) in [(at_rest, 1.0), (figure_eight::orbit(), 1.0)] {
        let mut engine = ReferenceEngine::<F64>::new(0.0, clock);
        Multipoint::new(multipoint(Order::Six, 0.35), clock).start(&mut p, &mut engine).unwrap();
        for step in p.step.iter().map(|level| level.step(clock.dt_max)) {
            assert!(step < 0.1 * time && step > 1e-3 * time, "{:?}", p.step);
        }
    }
}

/// The criterion for forces with rounding errors takes steps of the same order as the other.
#[test]
fn both_criteria_give_steps_of_about_one_length() {
    let clock = Clock { start: 0.0, dt_max: 1.0 / 8.0 };
    let steps = [Criterion::Third, Criterion::Fourth].map(|criterion| {
        let mut p = plummer::sample(64, 3, 0.999);
        integrate(&mut p, Parameters { criterion, ..multipoint(Order::Six, 0.35) }, clock, 1.0 / 64.0, 4)
    });
    let ratio = steps[0] as f64 / steps[1] as f64;
    assert!((0.5..2.0).contains(&ratio), "{steps:?}");
}

/// On a circular orbit the step is η/ω at all times. Up to the largest stable η the energy error of a hundred periods is
/// that of the truncation, a hundred times that of one; beyond, errors that are fed back grow.
#[test]
fn verify_a_circular_orbit_lasts_up_to_the_stable_eta() {
    let error = |order, eta: f64| {
        let clock = Clock { start: 0.0, dt_max: eta / 1.001 };
        let mut p = kepler(0.5, 0.0);
        let e0 = energy(&p, 0.0);
        integrate(&mut p, multipoint(order, eta), clock, 0.0, (200.0 * PI / eta) as u64);
        ((energy(&p, 0.0) - e0) / e0).abs()
    };
    for (order, max, unstable) in [(Order::Six, 1e-3, 0.6), (Order::Eight, 1e-9, 0.28)] {
        let stable = error(order, order.stable_eta());
        assert!(stable < max, "{order:?}: {stable:e}");
        assert!(error(order, unstable) > 10.0 * stable, "{order:?}: no worse at {unstable}");
    }
}
