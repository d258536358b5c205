//! Check of a compiled field by numbers: derivatives against differences, jumps, along rays from its centre.

use super::super::field::tide_times;
use super::program::{Program, Programs};
use crate::formula::differences::{NEIGHBOURS, STEP, TOLERANCE, boundary, wrong};
use crate::formula::op::Op;
use crate::particles::Vec3;

/// Binary logarithm of the largest distance that the check takes; the smallest one is its inverse.
const OCTAVES: i32 = 20;
/// Number of distances in each octave.
const IN_OCTAVE: i32 = 2;
/// Directions of the rays.
const DIRECTIONS: [Vec3; 4] = [
    Vec3::new(1.0, 0.25, 0.125),
    Vec3::new(-0.25, 1.0, -0.5),
    Vec3::new(0.5, -0.75, 1.0),
    Vec3::new(-1.0, -0.5, -0.375),
];
/// Time of the check.
const TIME: f64 = 0.0;

/// Checks a field. Returns remarks for the user.
///
/// # Errors
/// If the derivatives are wrong, or the potential jumps.
pub(super) fn check(programs: &Programs) -> Result<Vec<String>, String> {
    let distances = (-OCTAVES * IN_OCTAVE..=OCTAVES * IN_OCTAVE).map(|k| (f64::from(k) / f64::from(IN_OCTAVE)).exp2());
    let distances: Vec<f64> = distances.collect();
    let mut notes = Vec::new();
    for direction in DIRECTIONS {
        let ray = Ray { programs, direction: direction.normalize() };
        ray.derivatives(&distances)?;
        for note in ray.jumps(&distances)? {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    Ok(notes)
}

/// Derivative as it was made and by differences at a distance, where they differ.
type Wrong<'a> = dyn Fn(f64) -> Option<[f64; 2]> + 'a;

/// A field along a ray from its centre.
struct Ray<'a> {
    programs: &'a Programs,
    direction: Vec3,
}

impl Ray<'_> {
    /// Evaluates a program at a distance for a particle that moves outwards with the speed 1.
    fn at<const N: usize>(&self, program: &Program, distance: f64) -> [f64; N] {
        program.evaluate(&self.variables(distance), &mut Vec::new())
    }

    fn variables(&self, distance: f64) -> [f64; 7] {
        let (pos, [vx, vy, vz]) = (self.direction * distance, self.direction.into());
        [pos.x, pos.y, pos.z, TIME, vx, vy, vz]
    }

    fn pot(&self, distance: f64) -> f64 {
        let [pot] = self.at(&self.programs.pot, distance);
        pot
    }

    /// Returns the acceleration along the ray.
    fn acc(&self, distance: f64) -> f64 {
        Vec3::from(self.at(&self.programs.acc, distance)).dot(&self.direction)
    }

    /// Returns the component of the tidal tensor along the ray.
    fn tide(&self, distance: f64) -> f64 {
        let tide = self.at(&self.programs.tide, distance);
        tide_times(tide, self.direction).dot(&self.direction)
    }

    /// Compares −∂φ/∂r with the acceleration, and its derivative with the tidal tensor, where differences are exact enough.
    fn derivatives(&self, distances: &[f64]) -> Result<(), String> {
        let potential = |s| wrong(|s| -self.pot(s), |s| self.acc(s), s);
        let acceleration = |s| wrong(|s| self.acc(s), |s| self.tide(s), s);
        let smooth = |s: f64| {
            let [below, here, above] = [1.0 - 2.0 * STEP, 1.0, 1.0 + 2.0 * STEP].map(|times| self.branches(times * s));
            below == here && here == above
        };
        for &s in distances {
            for (what, wrong) in [("potential", &potential as &Wrong<'_>), ("acceleration", &acceleration)] {
                // Of a sine, say, differences over many periods mean nothing: what is wrong is wrong at neighbouring
                // distances too.
                let everywhere = NEIGHBOURS.iter().all(|times| wrong(times * s).is_some() && smooth(times * s));
                if let Some([made, difference]) = wrong(s).filter(|_| everywhere) {
                    return Err(format!(
                        "the derivative of the {what} at r = {s} (internal units) is {made}, by differences {difference}"
                    ));
                }
            }
        }
        Ok(())
    }

    /// Returns which way each choice of the potential and the acceleration goes at a distance.
    fn branches(&self, distance: f64) -> Vec<bool> {
        let mut ways = Vec::new();
        for program in [&self.programs.pot, &self.programs.acc] {
            let mut registers = Vec::new();
            let _: [f64; 1] = program.evaluate(&self.variables(distance), &mut registers);
            ways.extend(program.ops.iter().filter_map(|op| match *op {
                Op::Less(a, b, ..) | Op::Min(a, b) | Op::Max(a, b) => {
                    Some(registers[usize::from(a)] < registers[usize::from(b)])
                }
                _ => None,
            }));
        }
        ways
    }

    /// Looks at the boundaries between parts of a formula for jumps of the potential, which are mistakes, and of the
    /// acceleration, which are remarks.
    fn jumps(&self, distances: &[f64]) -> Result<Vec<String>, String> {
        let mut notes = Vec::new();
        for pair in distances.windows(2) {
            let ways = [pair[0], pair[1]].map(|s| self.branches(s));
            for choice in (0..ways[0].len()).filter(|&choice| ways[0][choice] != ways[1][choice]) {
                let [low, high] = boundary(|s| self.branches(s)[choice], [pair[0], pair[1]]);
                let jump = |of: &dyn Fn(f64) -> f64| {
                    let [before, left, right, after] = [pair[0], low, high, pair[1]].map(of);
                    let size = [before, left, right, after].map(f64::abs).into_iter().fold(0.0, f64::max);
                    ((left - right).abs() > TOLERANCE * size).then_some([left, right])
                };
                if let Some([from, to]) = jump(&|s| self.pot(s)) {
                    return Err(format!(
                        "the potential jumps at r = {high} (internal units), from {from} to {to}: the force there is not a \
                         number; subtract the value at the boundary"
                    ));
                }
                if jump(&|s| self.acc(s)).is_some() {
                    notes.push(
                        "the acceleration jumps between the parts of the formula: steps across are of low order".into(),
                    );
                }
            }
        }
        Ok(notes)
    }
}
