//! What advice makes of planted trials.

use super::*;

#[test]
fn drift_and_walk_are_told_apart() {
    let steady: Vec<f64> = (1..=10).map(|k| 1e-9 * f64::from(k)).collect();
    let [expected, least, most] = extrapolate(&steady, 1000.0);
    assert!((expected / 1e-6 - 1.0).abs() < 1e-6 && least / expected > 0.99 && most / expected < 1.01);
    let to_and_fro: Vec<f64> = (1..=10).map(|k| if k % 2 == 1 { 1e-9 } else { 0.0 }).collect();
    let [expected, ..] = extrapolate(&to_and_fro, 1000.0);
    assert!((1e-8..1e-7).contains(&expected), "a walk grows by the root: {expected}");
    assert_eq!(extrapolate(&[0.0, 0.0], 5.0), [0.0; 3]);
}

#[test]
fn numbers_to_paste_have_two_digits_and_are_not_larger() {
    for (x, y) in [(0.012_345, 0.012), (0.01, 0.01), (9.99e-4, 9.9e-4), (0.1, 0.1)] {
        assert_eq!(two_digits_down(x), y);
    }
}

#[test]
fn truncation_and_round_off_of_planted_trials_are_found() {
    let integrator = Integrator::Hermite4;
    let trial = |mode: Precision, nu: f64, rounding: f64| {
        let each = 1e-5 * nu * nu;
        let walk = |k: i32| if k % 2 == 1 { rounding } else { 0.0 };
        let errors: Vec<f64> = (1..=20).map(|k| each * f64::from(k) + walk(k)).collect();
        let (error, seconds) = (extrapolate(&errors, 100.0), nu.powf(-0.5));
        Trial { engine: Engine::Cpu, mode, integrator, accuracy: nu, part: 0.2, seconds, error, errors, steps: 100.0 }
    };
    let mut trials: Vec<Trial> = integrator.tried().into_iter().map(|nu| trial(Precision::F64, nu, 0.0)).collect();
    trials.extend(integrator.tried().map(|nu| trial(Precision::Mixed, nu, 1e-10)));
    let [exact, mixed] = promises(&trials)[..] else { panic!("two modes") };
    for promise in [exact, mixed] {
        let EnergyLaw { coefficient, exponent, .. } = promise.error;
        assert!((coefficient / 1e-3 - 1.0).abs() < 0.01 && (exponent - 2.0).abs() < 0.01, "{promise:?}");
        assert!((promise.cost.exponent + 0.5).abs() < 1e-9 && (promise.cost.coefficient - 1.0).abs() < 1e-9);
    }
    assert_eq!(exact.error.round_off, 0.0);
    // Steps of ±1e-10, a hundred of them.
    assert!((mixed.error.round_off / 1e-9).ln().abs() < 0.2, "{mixed:?}");
}

fn promise(mode: Precision, round_off: f64, seconds: f64) -> Promise {
    let error = EnergyLaw { coefficient: 1e-4, exponent: 2.0, round_off, scatter: 0.1 };
    let cost = Power { coefficient: seconds, exponent: -0.5, scatter: 0.05 };
    Promise {
        engine: Engine::Cpu,
        mode,
        integrator: Integrator::Hermite4,
        range: Integrator::Hermite4.range(),
        error,
        cost,
        within: 1.5,
    }
}

#[test]
fn the_cheapest_mode_that_reaches_the_goal_is_taken() {
    let promises = [promise(Precision::Mixed, 1e-10, 1.0), promise(Precision::F64, 0.0, 3.0)];
    let coarse = advise(&promises, Goal::Error(1e-8)).unwrap();
    assert_eq!(coarse.mode, Precision::Mixed);
    assert!(coarse.error.0 <= 1e-8 && coarse.accuracy > 0.009, "{coarse:?}");
    let fine = advise(&promises, Goal::Error(5e-11)).unwrap();
    assert_eq!(fine.mode, Precision::F64);
    assert_eq!(advise(&promises, Goal::Error(1e-13)), None);
    let timed = advise(&promises, Goal::Time(30.0)).unwrap();
    assert!(timed.seconds.0 <= 33.0 && timed.error.0 < 1e-9, "{timed:?}");
    assert_eq!(advise(&promises, Goal::Time(1.0)), None);
}

#[test]
fn laws_of_the_multi_point_scheme_have_its_power_and_the_steps_of_each_mode() {
    let integrator = Integrator::Multipoint6;
    let trial = |mode: Precision, eta: f64, at_1: f64, rounding: f64| {
        let each = at_1 * eta.powi(6);
        let walk = |k: i32| if k % 2 == 1 { rounding } else { 0.0 };
        let errors: Vec<f64> = (1..=20).map(|k| each * f64::from(k) + walk(k)).collect();
        let (error, seconds) = (extrapolate(&errors, 100.0), 1.0 / eta);
        Trial { engine: Engine::Cpu, mode, integrator, accuracy: eta, part: 0.2, seconds, error, errors, steps: 100.0 }
    };
    let mut trials = Vec::from(integrator.tried().map(|eta| trial(Precision::F64, eta, 1e-7, 0.0)));
    // Other steps, with other truncation errors, and rounding that shows at the smallest η.
    trials.extend(integrator.tried().map(|eta| trial(Precision::Mixed, eta, 3e-7, 1e-11)));
    let [exact, mixed] = promises(&trials)[..] else { panic!("two modes") };
    assert!((exact.error.exponent - 6.0).abs() < 1e-6 && (exact.error.coefficient / 1e-5 - 1.0).abs() < 1e-6);
    assert_eq!(exact.error.round_off, 0.0);
    assert!((exact.cost.exponent + 1.0).abs() < 1e-9);
    assert!(
        (mixed.error.exponent - 6.0).abs() < 1e-6 && (mixed.error.coefficient / 3e-5).ln().abs() < 0.1,
        "{mixed:?}"
    );
    assert_eq!((exact.range, mixed.range), ((0.02, 0.5), (0.2, 0.5)), "where steps collapse nothing is recommended");
    let at_least = trials.last().unwrap().error[0];
    assert!((mixed.error.at(0.2) / at_least).ln().abs() < 0.1, "{mixed:?} and {at_least:e}");
}

#[test]
fn the_cheaper_integrator_for_the_goal_is_taken() {
    let hermite = promise(Precision::F64, 0.0, 1.0);
    let error = EnergyLaw { coefficient: 1e-5, exponent: 6.0, round_off: 0.0, scatter: 0.1 };
    let cost = Power { coefficient: 3.0, exponent: -1.0, scatter: 0.05 };
    let integrator = Integrator::Multipoint6;
    let multipoint = Promise { integrator, range: integrator.range(), error, cost, ..hermite };
    let promises = [hermite, multipoint];
    // Seconds are ν^-1/2 and 3/η: 5.6 and 6.5 for 1e-7, 32 and 20 for 1e-10.
    assert_eq!(advise(&promises, Goal::Error(1e-7)).unwrap().integrator, Integrator::Hermite4);
    let fine = advise(&promises, Goal::Error(1e-10)).unwrap();
    assert_eq!((fine.integrator, fine.accuracy), (Integrator::Multipoint6, 0.14));
    // In 30 s ν = 1.1e-3 and 1.2e-10, or η = 0.1 and 1e-11.
    let timed = advise(&promises, Goal::Time(30.0)).unwrap();
    assert_eq!((timed.integrator, timed.accuracy), (Integrator::Multipoint6, 0.1));
    // Within the range in which lasting orbits are stable.
    assert_eq!(advise(&promises[1..], Goal::Error(1e-3)).unwrap().accuracy, 0.5);
    assert_eq!(advise(&promises[1..], Goal::Error(1e-17)), None);
}

#[test]
fn the_configured_integrator_and_the_multi_point_scheme_are_tried() {
    let of = |integrator: Integrator| integrators(&integrator.settings(integrator.tried()[0]).unwrap());
    assert_eq!(of(Integrator::Hermite4), [Integrator::Hermite4, Integrator::Multipoint6]);
    assert_eq!(of(Integrator::Multipoint6), [Integrator::Multipoint6]);
    assert_eq!(of(Integrator::Multipoint8), [Integrator::Multipoint8, Integrator::Multipoint6]);
    let leapfrog = serde_json::from_value(serde_json::json!({ "leapfrog": { "dt": 0.01 } })).unwrap();
    assert_eq!(integrators(&leapfrog), []);
}
