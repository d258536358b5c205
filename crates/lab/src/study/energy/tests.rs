//! What the laws and the choice make of planted errors.

use super::*;
use tisane_io::table::Values;

/// Errors and times of an integrator in a mode on power laws of its accuracy. The costs are
/// given at an accuracy of 1.
fn law(
    integrator: Integrator,
    mode: Precision,
    (at_1, round_off): (f64, f64),
    (seconds, pairs): (f64, f64),
) -> ModeLaw {
    let error = EnergyLaw::known(at_1, integrator.error_power(), round_off);
    let (max, ratio) = if integrator == Integrator::named("hermite4").unwrap() { (0.1, 2.0f64) } else { (0.5, 1.4) };
    let xs = (0..9).map(|k| max / ratio.powi(k));
    let cost =
        |scale: f64| xs.clone().map(|x| (x, scale * x.powf(-integrator.variant().step_power))).collect::<Vec<_>>();
    ModeLaw {
        n: 64,
        engine: "cpu".into(),
        integrator,
        mode,
        errors: xs.clone().map(|x| (x, error.at(x))).collect(),
        without_result: Vec::new(),
        bands: Vec::new(),
        seconds: if seconds.is_nan() { Vec::new() } else { cost(seconds) },
        pairs: cost(pairs),
        error: Some(error),
        cost: None,
        work: None,
    }
}

fn sweep(goals: &[f64]) -> EnergySweep {
    let goals = goals.iter().filter_map(|goal| tisane::units::Real::new(*goal)).collect();
    EnergySweep { goals, ..EnergySweep::default() }
}

fn text(table: &Table, name: &str) -> Vec<String> {
    let Values::Text(values) = &table.column(name).unwrap().values else { panic!("text") };
    values.clone()
}

fn numbers(table: &Table, name: &str) -> Vec<f64> {
    let Values::Floats(values) = &table.column(name).unwrap().values else { panic!("numbers") };
    values.clone()
}

#[test]
fn the_choice_is_the_largest_nu_of_the_cheapest_mode() {
    let of =
        |mode, round_off, seconds| law(Integrator::named("hermite4").unwrap(), mode, (1e-4, round_off), (seconds, 1.0));
    let laws = [of(Precision::Mixed, 1e-10, 1.0), of(Precision::F64, 0.0, 3.0)];
    let table = choice::table(&laws, &sweep(&[1e-8, 5e-11, 1e-12]), &[]);
    assert_eq!(text(&table, "mode"), ["mixed", "f64", "f64"]);
    let below = "below what was tried (nu = 0.000390625): 1.5e-11 so far; add smaller nu";
    assert_eq!(text(&table, "result"), ["reached", "reached", below]);
    // 1e-4 ν² = 1e-8 and 5e-11, to the percent of the search and the straight lines between points.
    for (nu, expected) in numbers(&table, "nu").iter().zip([0.01, 5e-7f64.sqrt()]) {
        assert!((0.98..=1.0 + 1e-9).contains(&(nu / expected)), "{nu} and {expected}");
    }
    assert!(numbers(&table, "eta").iter().all(|eta| eta.is_nan()));
}

#[test]
fn the_choice_is_by_time_or_by_pairs_and_not_by_accuracy() {
    let (hermite, multipoint) = (Integrator::named("hermite4").unwrap(), Integrator::named("multipoint6").unwrap());
    let both = |hermite_seconds: f64, multipoint_seconds: f64| {
        [
            law(hermite, Precision::F64, (1e-4, 0.0), (hermite_seconds, 1.0)),
            law(multipoint, Precision::F64, (1e-5, 0.0), (multipoint_seconds, 3.0)),
        ]
    };
    // Pairs are ν^-1/2 and 3/η: at 1e-7 5.6 with ν = 0.032 and 6.5 with η = 0.46, at 1e-10 32 and 20.
    let goals = sweep(&[1e-7, 1e-10]);
    let by_pairs = choice::table(&both(f64::NAN, f64::NAN), &goals, &[]);
    assert_eq!(text(&by_pairs, "integrator"), ["hermite4", "multipoint6"]);
    assert!(numbers(&by_pairs, "seconds").iter().all(|it| it.is_nan()));
    for (found, expected) in
        numbers(&by_pairs, "pairs").iter().zip([1e-3f64.powf(-0.25), 3.0 * 1e-5f64.powf(-1.0 / 6.0)])
    {
        assert!((found / expected - 1.0).abs() < 0.03, "{found} and {expected}");
    }
    let slow = choice::table(&both(1.0, 300.0), &goals, &[]);
    assert_eq!(text(&slow, "integrator"), ["hermite4", "hermite4"]);
    let fast = choice::table(&both(100.0, 1.0), &goals, &[]);
    assert_eq!(text(&fast, "integrator"), ["multipoint6", "multipoint6"]);
    assert!(numbers(&fast, "nu").iter().all(|nu| nu.is_nan()));
    assert!((numbers(&fast, "eta")[0] / 0.01f64.powf(1.0 / 6.0) - 1.0).abs() < 0.02);
    // One that was not timed: times of the others say nothing about it.
    let partly = choice::table(&both(100.0, f64::NAN), &goals, &[]);
    assert_eq!(text(&partly, "integrator"), ["hermite4", "multipoint6"]);
}

#[test]
fn the_choice_is_stable_and_has_a_result() {
    // Errors far below the goal: order 8 with the largest eta at which orbits last, which is not the largest of the
    // sweep.
    let wide = law(Integrator::named("multipoint8").unwrap(), Precision::F64, (1e-9, 0.0), (1.0, 1.0));
    let table = choice::table(&[wide], &sweep(&[1e-5]), &[]);
    assert!(
        (numbers(&table, "eta")[0] / Integrator::named("multipoint8").unwrap().variant().max_stable - 1.0).abs() < 1e-9
    );
    // The smallest accuracies had no result: what the law says there is not recommended.
    let mut cut = law(Integrator::named("hermite4").unwrap(), Precision::F64, (1e-4, 0.0), (1.0, 1.0));
    cut.errors.truncate(4);
    cut.without_result = vec![0.1 / 16.0];
    let table = choice::table(&[cut], &sweep(&[1e-8, 1e-9]), &[]);
    let below = "below what was tried (nu = 0.0125): 1.6e-8 so far; smaller nu had no result";
    assert_eq!(text(&table, "result"), [below, below]);
    assert!(numbers(&table, "nu").iter().all(|nu| nu.is_nan()));
    assert!((numbers(&table, "energy_error")[0] / 1e-4 / 0.0125f64.powi(2) - 1.0).abs() < 1e-9);
    // Out of reach is what lies below the round-off errors of all modes, and nothing else.
    let of = |round_off| law(Integrator::named("hermite4").unwrap(), Precision::Mixed, (1e-4, round_off), (1.0, 1.0));
    let table = choice::table(&[of(1e-9), of(3e-10)], &sweep(&[1e-10]), &[]);
    assert_eq!(text(&table, "result"), ["out of reach: the round-off error is 3.0e-10 at least"]);
    let nothing = ModeLaw { errors: Vec::new(), error: None, ..of(0.0) };
    let table = choice::table(&[nothing], &sweep(&[1e-10]), &[]);
    assert_eq!(
        (text(&table, "mode"), text(&table, "result")),
        (vec!["none".into()], vec!["no point with a stable step has a result".into()])
    );
}

/// A point with this energy error.
fn row(integrator: Integrator, mode: Precision, accuracy: f64, energy_error: f64) -> Row {
    let key = Key {
        n: 64,
        seed: 1,
        engine: "cpu".into(),
        mode,
        integrator,
        accuracy,
        epsilon: 0.1,
        dt_max: 0.125,
        dt_min: 1e-7,
        span: [0.0, 0.5],
        threads: 1,
        repetition: None,
        law: None,
    };
    let pairs = (1e6 * accuracy.powf(-integrator.variant().step_power)) as u64;
    (key, Outcome::Done(Measured { span: 0.5, pairs, energy_error, ..Measured::default() }))
}

#[test]
fn laws_are_those_of_each_integrator() {
    let mut rows = Vec::new();
    for (integrator, at_1) in
        [(Integrator::named("hermite4").unwrap(), 1e-4), (Integrator::named("multipoint6").unwrap(), 1e-6)]
    {
        for (mode, larger, round_off) in [(Precision::F64, 1.0, 0.0f64), (Precision::Mixed, 3.0, 1e-11)] {
            // The steps of multipoint6 in mixed are not those of f64: there its truncation error is larger.
            let larger = if integrator == Integrator::named("hermite4").unwrap() { 1.0 } else { larger };
            for k in 0..7 {
                // A tenth of the error each.
                let x = integrator.variant().tried[0] / 10f64.powf(f64::from(k) / integrator.error_power());
                let truncation = larger * at_1 * x.powf(integrator.error_power());
                rows.push(row(integrator, mode, x, truncation.hypot(round_off)));
            }
        }
    }
    let [h, h_mixed, m, m_mixed] = &laws(&rows)[..] else { panic!("four laws") };
    for (law, at_1, power, round_off) in
        [(h, 1e-4, 2.0, 0.0), (h_mixed, 1e-4, 2.0, 1e-11), (m, 1e-6, 6.0, 0.0), (m_mixed, 3e-6, 6.0, 1e-11)]
    {
        let found = law.error.unwrap();
        assert!((found.exponent - power).abs() < 0.02 && (found.coefficient / at_1).ln().abs() < 0.1, "{found:?}");
        assert!((found.round_off - round_off).abs() <= 0.05 * round_off, "{found:?}");
        assert!((law.work.unwrap().exponent + law.integrator.variant().step_power).abs() < 1e-3);
        assert!(law.seconds.is_empty() && law.cost.is_none());
    }
}

#[test]
fn three_points_show_no_floor_and_the_table_says_that_they_are_few() {
    // As measured: the error falls by less from the second to the third than from the first to the second.
    let errors = [(0.04, 3.0e-7), (0.01, 9.0e-9), (0.0025, 1.1e-9)];
    let rows: Vec<Row> = errors
        .iter()
        .map(|(nu, error)| row(Integrator::named("hermite4").unwrap(), Precision::F64, *nu, *error))
        .collect();
    let laws = laws(&rows);
    let table = laws_table(&laws, &[]);
    assert!(numbers(&table, "round_off")[0].is_nan(), "{laws:?}");
    assert!(numbers(&table, "truncation_power_error")[0] > 0.1, "{laws:?}");
    assert_eq!(text(&table, "remark")[0].split(';').next(), Some("rough: 3 points, 2 fitted"));
    // Two points have no law, and what was measured is enough for a choice.
    let two = self::laws(&rows[..2]);
    assert_eq!(text(&laws_table(&two, &[]), "remark"), ["none: 2 points"]);
    let choice = choice::table(&two, &sweep(&[1e-8, 1e-10]), &[]);
    let below = "below what was tried (nu = 0.01): 9.0e-9 so far; add smaller nu";
    assert_eq!(text(&choice, "result"), ["reached", below]);
    // The figure draws a straight law, and says no more of it.
    let figure = &super::super::figures::energy(&laws, &[])[0].1;
    assert!(figure.panels[0].notes.iter().any(|note| note.ends_with("A ν^p")), "{:?}", figure.panels[0].notes);
}

#[test]
fn seeds_have_a_median_and_a_range_in_table_and_figure() {
    let mut rows = Vec::new();
    for (accuracy, seeds) in [(0.1, 9), (0.01, 3)] {
        rows.extend((1..=seeds).map(|seed| {
            let error = 1e-3 * accuracy * seed as f64;
            let (key, outcome) = row(
                Integrator::named("hermite4").unwrap(),
                Precision::F64,
                accuracy,
                if seed % 2 == 0 { -error } else { error },
            );
            (Key { seed, ..key }, outcome)
        }));
    }
    let laws = laws(&rows);
    let close = |found: f64, want: f64| assert!((found / want - 1.0).abs() < 1e-12, "{found} and {want}");
    let table = table(&rows, &laws, &[]);
    for (name, of_many, of_few) in
        [("median", 5e-4, 2e-5), ("quantile_10", 1.8e-4, 1e-5), ("quantile_90", 8.2e-4, 3e-5)]
    {
        let found = numbers(&table, name);
        close(found[0], of_many);
        close(found[11], of_few);
    }
    let figures = super::super::figures::energy(&laws, &[]);
    let figure = &figures[0].1;
    assert!(
        figure.caption.contains("medians of 3 to 9 realisations (seeds), bands: 10 % to 90 %"),
        "{}",
        figure.caption
    );
    let panel = &figure.panels[0];
    assert_eq!(panel.y.label, "|ΔE/E|, median of the seeds");
    let line = &panel.series[0];
    let (low, high) = line.spread.as_ref().unwrap()[0];
    close(line.points[0].1, 5e-4);
    close(low, 1.8e-4);
    close(high, 8.2e-4);
    let pairs = figure.panels.last().unwrap();
    assert!(pairs.series[0].spread.is_some(), "{pairs:?}");
}

#[test]
fn a_sweep_leaves_out_what_does_not_work_and_says_so() {
    let it = EnergySweep {
        n: vec![64],
        modes: vec![Precision::F64, Precision::Mixed],
        integrators: Integrator::all().to_vec(),
        nu: vec![tisane::real!(0.01)],
        eta: vec![tisane::real!(0.2), tisane::real!(0.1)],
        seeds: vec![1],
        ..EnergySweep::default()
    };
    let common = Common::new(&it.engines, 0, &it.stretch, 1).unwrap();
    let keys = keys(&it, &common);
    let of = |integrator| keys.iter().filter(|key| key.integrator == integrator).count();
    assert_eq!(Integrator::all().iter().copied().map(of).collect::<Vec<_>>(), [2, 4, 2, 4]);
    let said = config::left_out(&it.integrators, &it.modes).unwrap();
    assert_eq!(said, "multipoint8 in mixed: order 8 needs forces in f64");
    assert_eq!(config::left_out(&it.integrators[..2], &it.modes), None);
}
