//! What advice makes of planted trials.

use super::tried::error_of_run;
use super::*;
use crate::study::fit::{EnergyLaw, Power};
use crate::study::integrators::Integrator;
use tisane::error::Error;
use tisane::force::precision::Precision;
use tisane::integrator::IntegratorSettings;
use tisane_io::table::Values;
use tisane_run::config::Engine;

#[test]
fn drift_and_walk_are_told_apart() {
    let steady: Vec<f64> = (1..=10).map(|k| 1e-9 * f64::from(k)).collect();
    let [expected, min, max] = extrapolate(&steady, 1000.0);
    assert!((expected / 1e-6 - 1.0).abs() < 1e-6 && min / expected > 0.99 && max / expected < 1.01);
    let to_and_fro: Vec<f64> = (1..=10).map(|k| if k % 2 == 1 { 1e-9 } else { 0.0 }).collect();
    let [expected, ..] = extrapolate(&to_and_fro, 1000.0);
    assert!((1e-8..1e-7).contains(&expected), "a walk grows by the root: {expected}");
    assert_eq!(extrapolate(&[0.0, 0.0], 5.0), [0.0; 3]);
}

#[test]
fn a_trial_of_the_whole_run_has_what_it_measured() {
    let errors = [1e-9, -3e-9, 2e-9, -2.5e-9];
    assert_eq!(error_of_run(&errors, 4.0), [2.5e-9; 3]);
    assert_eq!(error_of_run(&errors, 400.0), extrapolate(&errors, 400.0));
    // An error of 0 at the end alone is chance; errors of 0 throughout, or none that is a number, are no evidence.
    assert_eq!(error_of_run(&[1e-16, -2e-16, 0.0], 3.0), [2e-16; 3]);
    for nothing in [[0.0, 0.0], [f64::NAN, f64::NAN]] {
        assert!(error_of_run(&nothing, 2.0)[0].is_nan() && error_of_run(&nothing, 200.0)[0].is_nan());
    }
}

#[test]
fn trials_without_an_energy_error_are_no_evidence() {
    let mut all = measured([(0.04, 9e-7, 5.0), (0.01, 8e-8, 10.0), (0.0025, 9.2e-10, 20.0)]);
    // The coarsest seems to have no error at all.
    (all[0].error, all[0].errors) = (error_of_run(&[0.0, 0.0], 100.0), vec![0.0, 0.0]);
    let configured = Integrator::named("hermite4").unwrap().settings(0.01).unwrap();
    let of = |tried: Vec<Trial>| Trials {
        tried: tried.into_iter().map(Ok).collect(),
        each: std::time::Duration::from_secs(1),
        configured: configured.clone(),
    };
    let trials = of(all.clone());
    assert_eq!(trials.results().len(), 2);
    let advice = trials.advice(Goal::Error(1e-7)).unwrap();
    assert_eq!(advice.candidate.accuracy, 0.01, "{advice:?}");
    let table = trials.table();
    let Values::Text(results) = &table.column("result").unwrap().values else { panic!("text") };
    assert_eq!(results, &["no energy error", "scaled", "scaled"]);
    // With nothing else there is no advice, by an error or by a time.
    let nothing = of(all[..1].to_vec());
    for goal in [Goal::Error(1e-3), Goal::Time(1e9)] {
        assert_eq!(nothing.advice(goal), None);
    }
}

#[test]
fn what_is_recommended_is_tried_as_long_as_it_can_be() {
    let of = |results: Vec<Trial>| {
        let configured = Integrator::named("hermite4").unwrap().settings(0.01).unwrap();
        let tried = results.into_iter().map(Ok).collect();
        Trials { tried, each: std::time::Duration::from_secs(1), configured }
    };
    let results = measured([(0.04, 1.1e-6, 5.0), (0.01, 6.9e-8, 10.0), (0.0025, 4.3e-9, 20.0)]);
    // A prediction is tried; a trial that its time ended is not made again.
    let predicted = of(results.clone()).untried(Goal::Error(1e-9)).unwrap();
    assert!(predicted.accuracy < 0.0025, "{predicted:?}");
    assert_eq!(of(results.clone()).untried(Goal::Error(1e-8)), None);
    // One that had all steps of the first trials goes on, and one of the whole run has no more to tell.
    let mut cut = results;
    let errors: Vec<f64> = (1..=64).map(|k| 4.3e-11 * f64::from(k)).collect();
    (cut[2].error, cut[2].errors) = (extrapolate(&errors, 100.0), errors);
    assert_eq!(of(cut.clone()).untried(Goal::Error(1e-8)), Some(cut[2].candidate));
    cut[2].part = 1.0;
    assert_eq!(of(cut).untried(Goal::Error(1e-8)), None);
}

#[test]
fn what_ended_in_an_error_is_not_recommended() {
    let results = measured([(0.04, 1.1e-6, 5.0), (0.01, 6.9e-8, 10.0), (0.0025, 4.3e-9, 20.0)]);
    let goal = Goal::Error(1e-9);
    let predicted = advise(&results, &promises(&results), goal).unwrap();
    assert!(predicted.tried.is_none(), "{predicted:?}");
    let with = |cause: Cause| {
        let failed = Err(Failed { candidate: predicted.candidate, cause });
        let tried = results.iter().cloned().map(Ok).chain([failed]).collect();
        let configured = Integrator::named("hermite4").unwrap().settings(0.01).unwrap();
        Trials { tried, each: std::time::Duration::from_secs(1), configured }.advice(goal)
    };
    assert_eq!(with(below_dt_min(1e-7)), None);
    assert_eq!(with(Cause::TooSlow), Some(predicted));
}

#[test]
fn numbers_to_paste_have_two_digits_and_are_not_larger() {
    for (x, y) in [(0.012_345, 0.012), (0.01, 0.01), (9.99e-4, 9.9e-4), (0.1, 0.1)] {
        assert_eq!(two_digits_down(x), y);
    }
}

/// A trial of a fifth of a run.
fn trial_with((mode, integrator, accuracy): (Precision, Integrator, f64), seconds: f64, errors: Vec<f64>) -> Trial {
    let (candidate, error) =
        (Candidate { engine: Engine::Cpu, mode, integrator, accuracy }, extrapolate(&errors, 100.0));
    Trial { candidate, part: 0.2, seconds, error, errors, steps: 100.0 }
}

#[test]
fn truncation_and_round_off_of_planted_trials_are_found() {
    let integrator = Integrator::named("hermite4").unwrap();
    let trial = |mode: Precision, nu: f64, rounding: f64| {
        let each = 1e-5 * nu * nu;
        let walk = |k: i32| if k % 2 == 1 { rounding } else { 0.0 };
        let errors: Vec<f64> = (1..=20).map(|k| each * f64::from(k) + walk(k)).collect();
        trial_with((mode, integrator, nu), nu.powf(-0.5), errors)
    };
    let mut trials: Vec<Trial> =
        integrator.variant().tried.into_iter().map(|nu| trial(Precision::F64, nu, 0.0)).collect();
    trials.extend(integrator.variant().tried.map(|nu| trial(Precision::Mixed, nu, 1e-10)));
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
    let error = EnergyLaw { scatter: 0.1, ..EnergyLaw::known(1e-4, 2.0, round_off) };
    let cost = Power { coefficient: seconds, exponent: -0.5, scatter: 0.05 };
    Promise {
        engine: Engine::Cpu,
        mode,
        integrator: Integrator::named("hermite4").unwrap(),
        range: Integrator::named("hermite4").unwrap().variant().range,
        error,
        cost,
        within: 1.5,
    }
}

#[test]
fn the_cheapest_mode_that_reaches_the_goal_is_taken() {
    let promises = [promise(Precision::Mixed, 1e-10, 1.0), promise(Precision::F64, 0.0, 3.0)];
    let coarse = advise(&[], &promises, Goal::Error(1e-8)).unwrap();
    assert_eq!(coarse.candidate.mode, Precision::Mixed);
    assert!(coarse.error[0] <= 1e-8 && coarse.candidate.accuracy > 0.009, "{coarse:?}");
    let fine = advise(&[], &promises, Goal::Error(5e-11)).unwrap();
    assert_eq!(fine.candidate.mode, Precision::F64);
    assert_eq!(advise(&[], &promises, Goal::Error(1e-13)), None);
    let timed = advise(&[], &promises, Goal::Time(30.0)).unwrap();
    assert!(timed.seconds[0] <= 33.0 && timed.error[0] < 1e-9, "{timed:?}");
    assert_eq!(advise(&[], &promises, Goal::Time(1.0)), None);
}

#[test]
fn laws_of_the_multi_point_scheme_have_its_power_and_the_steps_of_each_mode() {
    let integrator = Integrator::named("multipoint6").unwrap();
    let trial = |mode: Precision, eta: f64, at_1: f64, rounding: f64| {
        let each = at_1 * eta.powi(6);
        let walk = |k: i32| if k % 2 == 1 { rounding } else { 0.0 };
        let errors: Vec<f64> = (1..=20).map(|k| each * f64::from(k) + walk(k)).collect();
        trial_with((mode, integrator, eta), 1.0 / eta, errors)
    };
    let mut trials = Vec::from(integrator.variant().tried.map(|eta| trial(Precision::F64, eta, 1e-7, 0.0)));
    // Other steps, with other truncation errors, and rounding that shows at the smallest η.
    trials.extend(integrator.variant().tried.map(|eta| trial(Precision::Mixed, eta, 3e-7, 1e-11)));
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
    let error = EnergyLaw { scatter: 0.1, ..EnergyLaw::known(1e-5, 6.0, 0.0) };
    let cost = Power { coefficient: 3.0, exponent: -1.0, scatter: 0.05 };
    let integrator = Integrator::named("multipoint6").unwrap();
    let multipoint = Promise { integrator, range: integrator.variant().range, error, cost, ..hermite };
    let promises = [hermite, multipoint];
    // Seconds are ν^-1/2 and 3/η: 5.6 and 6.5 for 1e-7, 32 and 20 for 1e-10.
    assert_eq!(
        advise(&[], &promises, Goal::Error(1e-7)).unwrap().candidate.integrator,
        Integrator::named("hermite4").unwrap()
    );
    let fine = advise(&[], &promises, Goal::Error(1e-10)).unwrap();
    assert_eq!((fine.candidate.integrator, fine.candidate.accuracy), (Integrator::named("multipoint6").unwrap(), 0.14));
    // In 30 s ν = 1.1e-3 and 1.2e-10, or η = 0.1 and 1e-11.
    let timed = advise(&[], &promises, Goal::Time(30.0)).unwrap();
    assert_eq!(
        (timed.candidate.integrator, timed.candidate.accuracy),
        (Integrator::named("multipoint6").unwrap(), 0.1)
    );
    // Within the range in which lasting orbits are stable.
    assert_eq!(advise(&[], &promises[1..], Goal::Error(1e-3)).unwrap().candidate.accuracy, 0.5);
    assert_eq!(advise(&[], &promises[1..], Goal::Error(1e-17)), None);
}

#[test]
fn the_configured_integrator_and_the_schemes_of_6th_order_are_tried() {
    let [hermite4, multipoint6, multipoint8, ahmad_cohen6] =
        ["hermite4", "multipoint6", "multipoint8", "ahmad_cohen6"].map(|name| Integrator::named(name).unwrap());
    let of = |integrator: Integrator| {
        integrators(&integrator.settings(integrator.variant().tried[0]).unwrap(), Needs::default())
    };
    assert_eq!(of(hermite4), [hermite4, multipoint6, ahmad_cohen6]);
    assert_eq!(of(multipoint6), [multipoint6, ahmad_cohen6]);
    assert_eq!(of(multipoint8), [multipoint8, multipoint6, ahmad_cohen6]);
    assert_eq!(of(ahmad_cohen6), [ahmad_cohen6, multipoint6]);
    let of_4th_order = serde_json::from_value(serde_json::json!({ "ahmad_cohen": { "order": 4 } })).unwrap();
    assert_eq!(integrators(&of_4th_order, Needs::default()), [ahmad_cohen6, multipoint6]);
    let leapfrog = serde_json::from_value(serde_json::json!({ "leapfrog": { "dt": 0.01 } })).unwrap();
    assert_eq!(integrators(&leapfrog, Needs::default()), []);
    let configured = hermite4.settings(0.01).unwrap();
    let by_law = integrators(&configured, Needs { law: true });
    assert_eq!(by_law, [hermite4, multipoint6], "the neighbour scheme knows Newton's law only");
}

/// Trials of the Hermite scheme whose errors and wall times are given for each ν.
fn measured(rows: [(f64, f64, f64); 3]) -> Vec<Trial> {
    let trial = |(nu, error, seconds): (f64, f64, f64)| {
        let errors = (1..=20).map(|k| error / 100.0 * f64::from(k)).collect();
        trial_with((Precision::F64, Integrator::named("hermite4").unwrap(), nu), seconds, errors)
    };
    rows.map(trial).into()
}

#[test]
fn a_trial_that_reaches_the_goal_comes_before_the_law() {
    // The law through all three says 2.2e-9 for the last one, which had 9.2e-10.
    let trials = measured([(0.04, 9e-7, 5.0), (0.01, 8e-8, 10.0), (0.0025, 9.2e-10, 20.0)]);
    let promises = promises(&trials);
    let law = advise(&[], &promises, Goal::Error(1e-9)).unwrap();
    assert!(law.tried.is_none() && law.candidate.accuracy < 0.0025, "{law:?}");
    let advice = advise(&trials, &promises, Goal::Error(1e-9)).unwrap();
    assert!(advice.tried == Some(0.2), "{advice:?}");
    assert_eq!((advice.candidate, advice.error), (trials[2].candidate, trials[2].error));
    assert_eq!(advice.seconds[0], 20.0);
    // The cheapest of those that reach it.
    let coarse = advise(&trials, &promises, Goal::Error(1e-6)).unwrap();
    assert!(coarse.tried.is_some() && coarse.candidate.accuracy == 0.04, "{coarse:?}");
    // None reaches it: the law is all there is.
    let fine = advise(&trials, &promises, Goal::Error(1e-11)).unwrap();
    assert!(fine.tried.is_none() && fine.candidate.accuracy < 0.0025, "{fine:?}");
    // A trial does not fit into this time, and one that does is less exact than the law beyond its uncertainty.
    assert_eq!(advise(&trials, &promises, Goal::Time(0.01)), None);
    let long = advise(&trials, &promises, Goal::Time(200.0)).unwrap();
    assert!(long.tried.is_none() && long.error[2] < 9.2e-10, "{long:?}");
}

#[test]
fn a_trial_that_missed_the_goal_corrects_the_law() {
    // The law through all three has less error at ν = 0.0025 than was measured there.
    let trials = measured([(0.04, 1e-6, 5.0), (0.01, 2e-8, 10.0), (0.0025, 6e-9, 20.0)]);
    let promises = promises(&trials);
    let accuracy = |trials: &[Trial]| advise(trials, &promises, Goal::Error(5e-9)).unwrap().candidate.accuracy;
    assert!(accuracy(&[]) > 0.0025, "{}", accuracy(&[]));
    assert!((0.002..0.0025).contains(&accuracy(&trials)), "{}", accuracy(&trials));
}

#[test]
fn a_law_that_is_cheaper_beyond_doubt_comes_before_a_trial() {
    let trials = measured([(0.04, 1.1e-6, 5.0), (0.01, 6.9e-8, 10.0), (0.0025, 4.3e-9, 20.0)]);
    let promises = promises(&trials);
    let advice = advise(&trials, &promises, Goal::Error(1e-6)).unwrap();
    assert!(advice.tried.is_none() && advice.seconds[2] < 10.0 && advice.candidate.accuracy < 0.04, "{advice:?}");
}

fn failed(integrator: Integrator, accuracy: f64, cause: Cause) -> Result<Trial, Failed> {
    let candidate = Candidate { engine: Engine::Cpu, mode: Precision::F64, integrator, accuracy };
    Err(Failed { candidate, cause })
}

fn below_dt_min(wanted: f64) -> Cause {
    let what = tisane::error::StepBelowFloor {
        number: 2,
        id: 84,
        time: 0.25,
        wanted,
        floor: 1e-6,
        shortest: 1e-12,
        section: "integrator.hermite4",
        partner: None,
        cancellation: 1.0,
        resumable: true,
        run: None,
    };
    Cause::BelowDtMin(Error::StepBelowFloor(Box::new(what)))
}

#[test]
fn trials_without_a_result_are_told_by_their_causes() {
    let integrator = Integrator::named("hermite4").unwrap();
    let other = Error::Integration { problem: "a planted problem".into(), help: Some("planted help".into()) };
    let tried = vec![
        Ok(measured([(0.04, 1e-6, 5.0); 3]).remove(0)),
        failed(integrator, 0.01, below_dt_min(3e-7)),
        failed(integrator, 0.0025, below_dt_min(1.5e-7)),
        failed(Integrator::named("multipoint6").unwrap(), 0.2, Cause::Other(other)),
        failed(Integrator::named("multipoint6").unwrap(), 0.5, Cause::TooSlow),
    ];
    let configured: IntegratorSettings =
        serde_json::from_value(serde_json::json!({ "hermite4": { "dt_max": 0.125 } })).unwrap();
    let trials = Trials { tried, each: std::time::Duration::from_secs(10), configured };
    assert_eq!(trials.results().len(), 1);
    let table = trials.table();
    let Values::Text(results) = &table.column("result").unwrap().values else { panic!("text") };
    assert_eq!(results, &["scaled", "dt_min", "dt_min", "error", "too slow"]);
    let [below, other, slow] = &trials.failures()[..] else { panic!("{:?}", trials.failures()) };
    // The shortest step, whole as the error tells it, with what allows it: 0.125 / 2^20.
    assert!(below.0.starts_with("2 of 5 trials were ended by dt_min"), "{}", below.0);
    let Cause::BelowDtMin(error) = below_dt_min(1.5e-7) else { unreachable!() };
    assert!(below.0.contains("nu = 0.0025") && below.0.ends_with(&error.to_string()), "{}", below.0);
    assert!(below.1.starts_with(&tisane_run::help::advice(&error).unwrap()), "{}", below.1);
    assert!(below.1.contains("integrator.hermite4.dt_min = 1.1e-7 or less"), "{}", below.1);
    assert!(other.0.contains("1 of 5 trials") && other.0.contains("a planted problem"), "{}", other.0);
    assert_eq!(other.1, "planted help");
    assert!(slow.0.contains("1 of 5 trials did not get through one dt_max in 10 s"), "{}", slow.0);
    assert!(slow.1.contains("--budget") && slow.1.contains("integrator.hermite4.dt_max"), "{}", slow.1);
    // A step that no dt_min allows.
    let tried = vec![failed(integrator, 0.01, below_dt_min(1e-13))];
    let trials = Trials { tried, ..trials };
    assert!(trials.failures()[0].1.contains("no integrator.hermite4.dt_min allows this step"));
}
