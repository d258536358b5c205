//! What studies make of points is right for planted ones: the fastest repetition counts, the model from N alone is that
//! of the laws, and figures have the papers' numbers for a time unit.

use tisane::force::precision::Precision;
use tisane_lab::study::config::TimeSpan;
use tisane_lab::study::cost::{Line, lines};
use tisane_lab::study::figures;
use tisane_lab::study::integrators::Integrator;
use tisane_lab::study::journal::Outcome;
use tisane_lab::study::trial::{Group, Measured};
use tisane_lab::study::trials::Key;
use tisane_plot::{Figure, Panel};
use tisane_run::config::real;

/// What a pair takes in the engine and a target on the host.
const PAIR: f64 = 1e-9;
const TARGET: f64 = 1e-7;

fn key(n: u32, repetition: u32) -> Key {
    Key {
        n,
        seed: 1,
        engine: "cpu".into(),
        mode: Precision::F64,
        integrator: Integrator::default(),
        accuracy: 0.01,
        epsilon: 1.0 / 256.0,
        dt_max: 0.125,
        dt_min: 2f64.powi(-26),
        span: [0.25, 0.5],
        threads: 1,
        repetition: Some(repetition),
        law: None,
    }
}

/// A quarter time unit with 100 √(n/64) block steps of n/16 particles, `slower` times as long as it takes.
fn measured(n: u32, slower: f64) -> Measured {
    let (block_steps, block) = ((100.0 * f64::from(n / 64).sqrt()) as u64, u64::from(n / 16));
    let particle_steps = block_steps * block;
    let host = slower * TARGET * particle_steps as f64;
    let force = slower * PAIR * f64::from(n) * particle_steps as f64;
    let mut groups = vec![Group::default(); block.ilog2() as usize];
    groups.push(Group { block_steps, particle_steps, host, force });
    Measured {
        seconds: host + force,
        host_seconds: host,
        span: 0.25,
        block_steps,
        particle_steps,
        pairs: particle_steps * u64::from(n),
        groups,
        ..Measured::default()
    }
}

fn planted() -> Line {
    let points = [64, 256, 1024].into_iter().flat_map(|n| {
        [1.5, 1.0, 2.0].into_iter().zip(0..).map(move |(slower, k)| (key(n, k), Outcome::Done(measured(n, slower))))
    });
    let mut found = lines(&points.collect::<Vec<_>>()).unwrap();
    assert_eq!(found.len(), 1);
    found.remove(0)
}

#[test]
fn the_fastest_repetition_counts_and_the_model_follows_from_n() {
    let line = planted();
    assert_eq!(line.rows.iter().map(|row| row.key.n).collect::<Vec<_>>(), [64, 256, 1024]);
    let [steps, block] = [line.block_steps, line.mean_block].map(|law| law.unwrap().exponent);
    assert!((steps - 0.5).abs() < 1e-9 && (block - 1.0).abs() < 1e-9, "{steps} {block}");
    for row in &line.rows {
        assert_eq!((&row.best, row.key.repetition), (&measured(row.key.n, 1.0), Some(1)));
        for (what, seconds) in [("measured blocks", row.modelled), ("from N", row.from_n)] {
            assert!((seconds / row.best.seconds - 1.0).abs() < 1e-6, "{what}: {seconds} for {row:?}");
        }
        assert!((0.0..0.5).contains(&row.targets_share), "{row:?}");
    }
}

fn points<'a>(panel: &'a Panel, name: &str) -> &'a [(f64, f64)] {
    let found = panel.series.iter().find(|series| series.name == name);
    &found.unwrap_or_else(|| panic!("{}: no {name}", panel.title)).points
}

fn at(points: &[(f64, f64)], n: f64) -> f64 {
    points.iter().find(|(x, _)| *x == n).unwrap_or_else(|| panic!("no {n} in {points:?}")).1
}

#[test]
fn figures_have_the_papers_numbers_and_ours_for_a_time_unit() {
    let line = planted();
    let drawn = figures::cost(&[line], &TimeSpan::default(), &[]);
    let figure = |name: &str| -> &Figure { &drawn.iter().find(|(of, _)| *of == name).unwrap().1 };
    let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-6, "{found} and {expected}");
    let seconds = 4.0 * measured(256, 1.0).seconds;

    let [time, ..] = &figure("cost").panels[..] else { panic!("no panels") };
    close(at(points(time, "PZ: Xeon 3.4 GHz"), 256.0), 4.0 * 0.1325);
    close(at(points(time, "f64, cpu"), 256.0), seconds);

    let [theirs, ours, share, figure_5] = &figure("model").panels[..] else { panic!("four panels") };
    close(at(points(theirs, "8800GTX"), 524_288.0), 4.0 * 63960.0);
    // By hand from table 3 and eqs 14 and 17: 4540 steps of 4096 (3.82e-7 + 5.29e-8 · 168.7) s.
    let model = theirs.series.iter().rfind(|series| series.name.is_empty()).unwrap();
    assert!((at(&model.points, 4096.0) / (4540.0 * 4096.0 * (3.82e-7 + 5.29e-8 * 168.7)) - 1.0).abs() < 1e-3);
    close(at(points(ours, "f64, cpu"), 256.0), seconds);
    close(at(&ours.series[1].points, 256.0), seconds);
    assert!(at(points(share, "8800GTX"), 256.0) > 0.9 && at(points(share, "GRAPE-6Af"), 65536.0) < 0.05);
    assert!(at(points(figure_5, "one cycle a pair"), 65536.0) < at(points(figure_5, "nothing on the host"), 65536.0));

    // Another workload has nothing of the paper beside it.
    let other = figures::cost(&[planted()], &TimeSpan { t_end: real!(0.75), ..TimeSpan::default() }, &[]);
    assert!(other.iter().all(|(name, _)| *name == "cost"));
    assert!(other[0].1.panels.iter().flat_map(|panel| &panel.series).all(|series| !series.name.starts_with("PZ")));
}
