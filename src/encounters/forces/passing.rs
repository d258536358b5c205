//! Perturbers of a subsystem on their paths, by the vector units of the machine. All widths give the same bits: what each perturber
//! adds is computed for itself, and added in their order.

use crate::encounters::forces::bodies::Bodies;
use crate::encounters::forces::columns::run;
use crate::encounters::forces::coupling;
use pulp::{Simd, WithSimd};
use tisane_force::gravity::{predict, predict_component};
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Time};

/// Number of perturbers in a row.
const LANES: usize = 8;

/// Perturbers on their paths relative to the centre of mass.
#[derive(Debug, Default)]
pub struct Passing {
    rows: Vec<Row>,
    /// Number of perturbers: the last row may have places left.
    number: usize,
}

/// Perturbers side by side.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    mass: [f64; LANES],
    /// Squares of the outer radii, and the widths in which the coupling fades in.
    outer2: [f64; LANES],
    width: [f64; LANES],
    /// Position, velocity, acceleration and jerk at the moment at which the motion begins.
    path: [[[f64; LANES]; 3]; 4],
}

impl Passing {
    /// Takes up body `k` relative to body `here` at `from`, with the square of its outer radius.
    pub fn push(&mut self, bodies: &Bodies, clock: &Clock, from: Time, [here, k]: [usize; 2], outer2: f64) {
        let p = &bodies.particles;
        let [a, b] = [here, k].map(|i| {
            // A body that moved since then: the motion is advanced before any perturber moves.
            let dt = clock.between(p.time[i], from);
            let (pos, vel) = predict(p.pos[i], p.vel[i], p.acc[i], p.jerk[i], dt);
            [pos, vel, p.acc[i] + p.jerk[i] * dt, p.jerk[i]]
        });
        self.add(p.mass[k], outer2, std::array::from_fn(|of| b[of] - a[of]));
    }

    fn add(&mut self, mass: f64, outer2: f64, path: [Vec3; 4]) {
        let lane = self.number % LANES;
        if lane == 0 {
            self.rows.push(Row::default());
        }
        self.number += 1;
        let Some(row) = self.rows.last_mut() else { return };
        (row.mass[lane], row.outer2[lane], row.width[lane]) = (mass, outer2, coupling::width(outer2));
        for (columns, of) in row.path.iter_mut().zip(path) {
            (0..3).for_each(|c| columns[c][lane] = of[c]);
        }
    }

    /// Adds the accelerations of members at `offsets` from the centre of mass at `time` after the begin of the paths.
    pub fn add_tides(&self, time: f64, offsets: &[Vec3], acc: &mut [Vec3]) {
        if self.number > 0 {
            run(AddTides { of: self, time, offsets, acc });
        }
    }
}

/// Call of [`Passing::add_tides`] for the vector units.
struct AddTides<'a> {
    of: &'a Passing,
    time: f64,
    offsets: &'a [Vec3],
    acc: &'a mut [Vec3],
}

impl WithSimd for AddTides<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { of, time, offsets, acc } = self;
        for (k, row) in of.rows.iter().enumerate() {
            let number = (of.number - k * LANES).min(LANES);
            let (r, mass) = row.at(time);
            for (acc, offset) in acc.iter_mut().zip(offsets) {
                for (acc, column) in acc.iter_mut().zip(tides(&r, &mass, offset)) {
                    column[..number].iter().for_each(|found| *acc += found);
                }
            }
        }
    }
}

impl Row {
    /// Returns the positions, and the masses by the part of them that is coupled.
    #[inline(always)]
    fn at(&self, time: f64) -> ([[f64; LANES]; 3], [f64; LANES]) {
        let (mut r, mut mass) = ([[0.0; LANES]; 3], [0.0; LANES]);
        let [pos, vel, acc, jerk] = &self.path;
        for c in 0..3 {
            for lane in 0..LANES {
                r[c][lane] = predict_component(pos[c][lane], vel[c][lane], acc[c][lane], jerk[c][lane], time).0;
            }
        }
        for lane in 0..LANES {
            let r2 = r[0][lane] * r[0][lane] + r[1][lane] * r[1][lane] + r[2][lane] * r[2][lane];
            let z = (self.outer2[lane] - r2) / self.width[lane];
            mass[lane] = coupling::factor_within(z) * self.mass[lane];
        }
        (r, mass)
    }
}

/// Returns the accelerations of a member by perturbers at `r` from the centre of mass.
#[inline(always)]
fn tides(r: &[[f64; LANES]; 3], mass: &[f64; LANES], offset: &Vec3) -> [[f64; LANES]; 3] {
    let mut d = [[0.0; LANES]; 3];
    for c in 0..3 {
        for lane in 0..LANES {
            d[c][lane] = r[c][lane] - offset[c];
        }
    }
    for lane in 0..LANES {
        let d2 = d[0][lane] * d[0][lane] + d[1][lane] * d[1][lane] + d[2][lane] * d[2][lane];
        let per_distance = mass[lane] / (d2 * d2.sqrt());
        (0..3).for_each(|c| d[c][lane] *= per_distance);
    }
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tides_are_those_of_one_perturber_after_the_other() {
        let vector = |k: usize| Vec3::new((k as f64).sin(), (1.7 * k as f64).cos(), (0.3 * k as f64).sin());
        let offsets: Vec<Vec3> = (0..5).map(|k| vector(k + 90) * 0.01).collect();
        for number in [0, 1, 7, 8, 9, 40] {
            let (mut passing, time) = (Passing::default(), 0.31);
            let mut want: Vec<Vec3> = (0..5).map(vector).collect();
            let mut acc = want.clone();
            for k in 0..number {
                // Outside, in the width, inside.
                let outer2 = [0.3, 1.9, 50.0][k % 3];
                let path @ [pos, vel, a, jerk] = [vector(k), vector(k + 7), vector(k + 11), vector(k + 17)];
                passing.add(0.1 + k as f64, outer2, path);
                let (r, _) = predict(pos, vel, a, jerk, time);
                for (want, offset) in want.iter_mut().zip(&offsets) {
                    *want += coupling::tide(0.1 + k as f64, r, *offset, outer2);
                }
            }
            passing.add_tides(time, &offsets, &mut acc);
            assert_eq!(acc, want, "{number}");
        }
    }
}
