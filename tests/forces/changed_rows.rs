//! Promise: rows that change altogether, and new ones, leave every engine with the bits of a fresh load; and a row without a
//! particle adds nothing.

use crate::changed::{bits, changed, empty};
use crate::systems::{self, CLOCK};
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::split::{Split, Threads};
use tisane::force::{ForceEngine, Forces, reference};
use tisane::particles::{Particles, Vec3};
use tisane::states::history::History;
use tisane::states::neighbours::Neighbours;

/// Every engine of a mode on the CPU.
fn engines(precision: Precision, epsilon: f64) -> Vec<(String, Box<dyn ForceEngine>)> {
    let name = |kind: &str| format!("{} {kind}, epsilon = {epsilon}", precision.name());
    let widest = Width::choose().unwrap();
    let cpu = |width| -> Box<dyn ForceEngine> { cpu::engine(precision, epsilon, CLOCK, width) };
    let split = Split::new(cpu(widest), Box::new(Threads::new(vec![cpu(widest)]).unwrap()), 2);
    let reference: Box<dyn ForceEngine> = reference::engine(precision, epsilon, CLOCK);
    let split: Box<dyn ForceEngine> = Box::new(split);
    let mut all = vec![(name("reference"), reference), (name("split"), split)];
    all.extend(Width::available().into_iter().map(|width| (name(width.name()), cpu(width))));
    all
}

#[test]
fn replaced_rows_have_the_bits_of_a_fresh_load() {
    for precision in Precision::ALL {
        for (n, new) in [(10, 0), (63, 1), (64, 1), (500, 30), (512, 1), (1000, 600)] {
            let (before, after, rows, now) = changed(n, new);
            let mut expected = None;
            for (name, mut engine) in engines(precision, 0.01) {
                engine.load(&after).unwrap();
                let loaded = bits(&mut *engine, &after, now);
                engine.load(&before).unwrap();
                bits(&mut *engine, &before, now);
                engine.replace(&after, &rows).unwrap();
                assert!(bits(&mut *engine, &after, now) == loaded, "{name}: {n} rows and {new}");
                assert!(*expected.get_or_insert_with(|| loaded.clone()) == loaded, "{name}: {n} rows and {new}");
            }
        }
    }
}

/// The same of sources that are predicted by further derivatives, which other rows keep.
#[test]
fn replaced_rows_have_the_derivatives_of_a_fresh_load() {
    for (n, new) in [(10, 0), (64, 1), (500, 30)] {
        let (mut before, mut after, rows, now) = changed(n, new);
        after.states.clear();
        let after = systems::with_derivatives(after, 4, 1);
        let mut history = History::new(n, 2, 4);
        for (of, was) in history.derivatives.iter_mut().zip(after.derivatives()) {
            of.copy_from_slice(&was[..n]);
            rows.iter().filter(|&&i| (i as usize) < n).for_each(|&i| of[i as usize].fill(1.0));
        }
        before.states.clear();
        before.states.set(history);
        let targets = systems::block(&after, now, (1..after.len() as u32).step_by(3).collect());
        let mut expected = None;
        for (name, mut engine) in engines(Precision::F64, 0.01) {
            let loaded = systems::bits(&systems::forces(&mut *engine, &after, now, &targets));
            let mut replaced = Forces::default();
            engine.load(&before).unwrap();
            engine.replace(&after, &rows).unwrap();
            engine.evaluate(now, targets.view(), &mut replaced).unwrap();
            assert!(systems::bits(&replaced) == loaded, "{name}: {n} rows and {new}");
            assert!(*expected.get_or_insert_with(|| loaded.clone()) == loaded, "{name}: {n} rows and {new}");
        }
    }
}

/// The row of the empty one changes sums no more than one with mass 0 among the others does.
#[test]
fn a_row_without_a_particle_adds_nothing() {
    for precision in Precision::ALL {
        for epsilon in [0.0, 0.01] {
            for n in [3, 65, 700] {
                let (mut near, now) = systems::system(n, 7);
                near.states.set(Neighbours::new(n, 0, 0));
                for row in [0, n / 2, n - 1] {
                    let mut far = near.clone();
                    far.mass[row] = 0.0;
                    let mut massless = far.clone();
                    empty(&mut far, row, now);
                    // At a place of its own, as without softening a pair may not be at one.
                    (massless.pos[row], massless.time[row]) = (Vec3::new(2.0, 2.0, 1.5), now);
                    for (name, mut engine) in engines(precision, epsilon) {
                        let mut of = |p: &Particles| {
                            engine.load(p).unwrap();
                            let others = (0..n as u32).filter(|&i| i as usize != row).collect();
                            let targets = systems::block(p, now, others);
                            let mut out = Forces::default();
                            engine.evaluate(now, targets.view(), &mut out).unwrap();
                            systems::bits(&out)
                        };
                        assert!(of(&far) == of(&massless), "{name}, row {row} of {n}");
                    }
                }
            }
        }
    }
}
