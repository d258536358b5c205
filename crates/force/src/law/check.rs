//! Checks of a compiled law by numbers: derivatives against differences, jumps, the exchange of the two particles.

use super::evaluate::{Factors, Quantities};
use super::program::{Op, Program};
use crate::formula::differences::{MIN, NEIGHBOURS, STEP, TOLERANCE, boundary, wrong};

/// Masses, and values of the particles in columns, that the checks take: source, target.
const MASS: [f64; 2] = [1.25, 0.75];
const IN_COLUMNS: [f64; 2] = [1.5, 0.5];
/// Binary logarithm of the largest distance that the checks take; the smallest one is its inverse.
const OCTAVES: i32 = 20;
/// Number of distances in each octave.
const IN_OCTAVE: i32 = 4;
/// Checks a program.
///
/// Returns remarks for the user.
///
/// # Errors
/// If the derivatives are wrong, the potential jumps, or it changes when the particles are exchanged.
pub(super) fn check(program: &Program) -> Result<Vec<String>, String> {
    let distances = (-OCTAVES * IN_OCTAVE..=OCTAVES * IN_OCTAVE).map(|k| (f64::from(k) / f64::from(IN_OCTAVE)).exp2());
    let distances: Vec<f64> = distances.collect();
    derivatives(program, &distances)?;
    let mut notes = jumps(program, &distances)?;
    notes.extend(exchange(program, &distances)?);
    Ok(notes)
}

/// Evaluates a program at a distance, for particles `i` and `j` or, exchanged, `j` and `i`.
fn at(program: &Program, s: f64, exchanged: bool, registers: &mut Vec<f64>) -> Factors<f64> {
    let columns = |value: f64| vec![value; program.columns.len()];
    let (mut mass, mut values) = (MASS, IN_COLUMNS.map(columns));
    if exchanged {
        mass.reverse();
        values.reverse();
    }
    program.evaluate(&Quantities { s2: s * s, mass, source: &values[0], target: &values[1] }, registers)
}

/// Returns which way each choice of a program goes at a distance.
fn branches(program: &Program, s: f64) -> Vec<bool> {
    let mut registers = Vec::new();
    at(program, s, false, &mut registers);
    let choices = program.ops.iter().filter_map(|op| match *op {
        Op::Less(a, b, ..) | Op::Min(a, b) | Op::Max(a, b) => Some((usize::from(a), usize::from(b))),
        _ => None,
    });
    choices.map(|(a, b)| registers[a] < registers[b]).collect()
}

/// Compares U′ / (m_i s) with A, and A′ / s with B, where differences are exact enough.
fn derivatives(program: &Program, distances: &[f64]) -> Result<(), String> {
    let evaluate = |s: f64| at(program, s, false, &mut Vec::new());
    let potential = |s: f64| wrong(|s| -evaluate(s).minus_potential, |s| evaluate(s).factor * s, s);
    let acceleration = |s: f64| wrong(|s| evaluate(s).factor, |s| evaluate(s).slope * s, s);
    let smooth = |s: f64| {
        let [below, here, above] = [1.0 - 2.0 * STEP, 1.0, 1.0 + 2.0 * STEP].map(|times| branches(program, times * s));
        below == here && here == above
    };
    for &s in distances {
        for (what, wrong) in [("potential", &potential as &Wrong<'_>), ("acceleration", &acceleration)] {
            // Near 1 − cos s, say, differences have few digits: what is wrong is wrong at neighbouring distances too.
            let everywhere = NEIGHBOURS.iter().all(|times| wrong(times * s).is_some() && smooth(times * s));
            if let Some([made, difference]) = wrong(s).filter(|_| everywhere) {
                return Err(format!(
                    "the derivative of the {what} at s = {s} (internal units) is {made}, by differences {difference}"
                ));
            }
        }
    }
    Ok(())
}

/// Derivative as it was made and by differences at a distance, where they differ.
type Wrong<'a> = dyn Fn(f64) -> Option<[f64; 2]> + 'a;

/// Looks at the boundaries between parts of a formula for jumps of the potential, which are mistakes, and of the
/// acceleration, which are remarks.
fn jumps(program: &Program, distances: &[f64]) -> Result<Vec<String>, String> {
    let mut notes = Vec::new();
    let evaluate = |s: f64| at(program, s, false, &mut Vec::new());
    for pair in distances.windows(2) {
        let ways = [pair[0], pair[1]].map(|s| branches(program, s));
        for choice in (0..ways[0].len()).filter(|&choice| ways[0][choice] != ways[1][choice]) {
            let [low, high] = boundary(|s| branches(program, s)[choice], [pair[0], pair[1]]);
            let [before, left, right, after] = [pair[0], low, high, pair[1]].map(evaluate);
            let jumps = |of: fn(&Factors<f64>) -> f64| {
                let size = [&before, &left, &right, &after].map(|it| of(it).abs()).into_iter().fold(0.0, f64::max);
                (of(&left) - of(&right)).abs() > TOLERANCE * size
            };
            if jumps(|it| it.minus_potential) {
                let (from, to) = (-left.minus_potential, -right.minus_potential);
                return Err(format!(
                    "the potential jumps at s = {high} (internal units), from {from} to {to} per mass of the target: the \
                     force there is not a number; subtract the value at the boundary"
                ));
            }
            let note = format!("the acceleration jumps at s = {high} (internal units): steps across are of low order");
            if jumps(|it| it.factor) && !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    Ok(notes)
}

/// Compares a law with itself after the two particles are exchanged. A potential that changes is an error; of an acceleration
/// that breaks Newton's third law a warning is returned.
fn exchange(program: &Program, distances: &[f64]) -> Result<Option<String>, String> {
    for &s in distances {
        let [one, other] = [false, true].map(|exchanged| at(program, s, exchanged, &mut Vec::new()));
        let differs = |a: f64, b: f64| {
            let size = a.abs().max(b.abs());
            size.is_finite() && size > MIN && (a - b).abs() > TOLERANCE * size
        };
        let [m_j, m_i] = MASS;
        if differs(m_i * one.minus_potential, m_j * other.minus_potential) {
            let problem = "the potential energy of i and j is not that of j and i: no force conserves momentum and energy \
                           then; write it so that the two can be exchanged";
            return Err(problem.into());
        }
        if differs(m_i * one.factor, m_j * other.factor) {
            let note = "the force of j on i is not that of i on j: momentum is not conserved";
            return Ok(Some(note.into()));
        }
    }
    Ok(None)
}
