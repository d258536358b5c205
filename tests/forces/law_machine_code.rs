//! Promise: the machine code that the CPU engine makes of a law has the bits of the reference engine, for any formula, any
//! number of columns, and distances of 0 and ∞.

use crate::law_parity::everywhere;
use crate::systems::{CLOCK, bits, block, comparable, forces, system};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Arc;
use tisane::force::precision::Precision;
use tisane::force::{cpu, reference};
use tisane::law::{Formula, Law, LawSource};
use tisane::particles::{NamedColumn, Particles, Vec3};
use tisane::time::Time;

const COLUMNS: [&str; 5] = ["a", "b", "c", "d", "e"];
const N: usize = 205;

/// Compares the forces of a law in a mode on one target, on some and on all.
fn check(law: &Arc<Law>, precision: Precision, (p, now, epsilon): (&Particles, Time, f64), what: &str) {
    for size in [1, 9, N] {
        let index: Vec<u32> = (0..N as u32).step_by(N / size).take(size).collect();
        let targets = block(p, now, index);
        let mut oracle = reference::law_engine(law, precision, epsilon, CLOCK);
        let want = comparable(bits(&forces(&mut *oracle, p, now, &targets)));
        everywhere(|width, how| {
            let mut engine = cpu::law_engine(law, precision, epsilon, CLOCK, width);
            let got = comparable(bits(&forces(&mut *engine, p, now, &targets)));
            assert!(got == want, "{what}, {}, {size} targets, {how}", precision.name());
        });
    }
}

fn with_columns() -> (Particles, Time) {
    let (mut p, now) = system(N, 5);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(5);
    for name in COLUMNS {
        let values = (0..N).map(|_| rng.random_range(-1.0..1.0)).collect();
        p.columns.push(NamedColumn { name: name.into(), values });
    }
    (p, now)
}

/// Returns a formula at random: a tree of this depth.
fn formula(rng: &mut Xoshiro256PlusPlus, depth: u32) -> String {
    let mut part = |depth| formula(rng, depth);
    if depth == 0 {
        const LEAVES: [&str; 9] = ["s", "1/s", "s^2", "m_i", "m_j", "0.75", "(3 + a_j)", "b_i", "0.1"];
        return LEAVES[rng.random_range(0..LEAVES.len())].into();
    }
    let (a, b) = (part(depth - 1), part(depth - 1));
    match rng.random_range(0..9) {
        0 | 1 => format!("({a} + {b})"),
        2 => format!("({a} - {b})"),
        3 | 4 => format!("{a}*{b}"),
        5 => format!("({a})/(1.5 + ({b})^2)"),
        6 => format!("sqrt(2 + ({a})^2)"),
        7 => format!("if(s < {}, {a}, {b})", rng.random_range(0.2..1.0)),
        _ => format!("min({a}, {b}) + max({a}, 0.5)"),
    }
}

#[test]
fn formulas_at_random_have_the_reference_bits() {
    let (p, now) = with_columns();
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
    let mut compiled = 0;
    for k in 0..60 {
        let formula = formula(&mut rng, 1 + k % 5);
        // Some say nothing about the source, have no derivative, or are too long.
        let source = LawSource::new(Formula::Acceleration(formula.clone()), &[]).with_columns(&["a", "b"]);
        if let Ok(law) = Law::new(source) {
            compiled += 1;
            check(&Arc::new(law), Precision::ALL[k as usize % Precision::ALL.len()], (&p, now, 0.01), &formula);
        }
    }
    assert!(compiled >= 30, "{compiled}");
}

/// More values at a time than a vector unit has registers: each term is in the acceleration, the jerk and the potential.
#[test]
fn many_values_at_a_time_have_the_reference_bits() {
    let (p, now) = with_columns();
    let terms: Vec<String> = (1..=14).map(|k| format!("a_i*a_j/({k} + s*{k}.5)")).collect();
    let law = Law::new(LawSource::new(Formula::Potential(terms.join(" + ")), &[]).with_columns(&["a"])).unwrap();
    for precision in Precision::ALL {
        check(&Arc::new(law.clone()), precision, (&p, now, 0.0), "many terms");
    }
}

#[test]
fn any_number_of_columns_has_the_reference_bits() {
    let (p, now) = with_columns();
    for number in 1..=COLUMNS.len() {
        let names = &COLUMNS[..number];
        let terms: Vec<String> = names.iter().map(|name| format!("({name}_i - {name}_j)")).collect();
        let formula = format!("m_j*({})/(1 + s)", terms.join(" + "));
        let source = LawSource::new(Formula::Acceleration(formula), &[]).with_columns(names);
        let law = Arc::new(Law::new(source).unwrap());
        for precision in Precision::ALL {
            check(&law, precision, (&p, now, 0.01), &format!("{number} columns"));
        }
    }
}

/// 1/s is ∞ or 0 there, where one of its forms has no value, and the law may leave it out.
#[test]
fn distances_of_zero_and_infinity_have_the_reference_bits() {
    let (mut p, _) = with_columns();
    p.pos[100] = p.pos[3];
    p.pos[150] = p.pos[64];
    p.pos[17] = Vec3::new(1e200, 0.0, 0.0);
    // At these places now, so that they are not predicted.
    p.time.fill(Time::default());
    for formula in ["m_j*min(1/s, 2)", "m_j*if(s < 0.1, 3, 1/s^3)", "-m_i*m_j/s", "m_j*(1/s + s)"] {
        let formula = if formula.starts_with('-') {
            Formula::Potential(formula.into())
        } else {
            Formula::Acceleration(formula.into())
        };
        let law = Arc::new(Law::new(LawSource::new(formula.clone(), &[])).unwrap());
        for precision in [Precision::F64, Precision::Mixed, Precision::F32Kahan] {
            check(&law, precision, (&p, Time::default(), 0.0), &format!("{formula:?}"));
        }
    }
}
