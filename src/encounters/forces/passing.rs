//! Perturbers of a subsystem on their paths, by the vector units of the machine. All widths give the same bits: what each perturber
//! adds is computed for itself, and added in their order.

use crate::encounters::forces::bodies::Bodies;
use crate::encounters::forces::columns::run;
use crate::encounters::forces::coupling;
use pulp::{Simd, WithSimd};
use tisane_force::gravity::{predict_component, predict_component_by};
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Time};

/// Number of perturbers in a row.
const LANES: usize = 8;

/// Perturbers on their paths relative to the centre of mass.
#[derive(Debug, Default)]
pub struct Passing {
    rows: Vec<Row>,
    /// Further derivatives of the acceleration of each row, where the engine predicts by them; otherwise empty.
    further: Vec<[[[f64; LANES]; 3]; 4]>,
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
        let [(a, of_a), (b, of_b)] = [here, k].map(|i| {
            // A body that moved since then: the motion is advanced before any perturber moves.
            let dt = clock.between(p.time[i], from);
            let ((pos, vel), ([acc, jerk], further)) = (bodies.source(i, dt), bodies.accelerations(i, dt));
            ([pos, vel, acc, jerk], further)
        });
        let further = of_a.zip(of_b).map(|(a, b)| std::array::from_fn(|of| b[of] - a[of]));
        self.add(p.mass[k], outer2, std::array::from_fn(|of| b[of] - a[of]), further);
    }

    fn add(&mut self, mass: f64, outer2: f64, path: [Vec3; 4], further: Option<[Vec3; 4]>) {
        let lane = self.number % LANES;
        if lane == 0 {
            self.rows.push(Row::default());
            self.further.extend(further.map(|_| [[[0.0; LANES]; 3]; 4]));
        }
        if let (Some(row), Some(further)) = (self.further.last_mut(), further) {
            put(row, lane, further);
        }
        self.number += 1;
        let Some(row) = self.rows.last_mut() else { return };
        (row.mass[lane], row.outer2[lane], row.width[lane]) = (mass, outer2, coupling::width(outer2));
        put(&mut row.path, lane, path);
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
            let r = match of.further.get(k) {
                Some(further) => row.place_with(further, time),
                None => row.place(time),
            };
            let mass = row.coupled(&r);
            for (acc, offset) in acc.iter_mut().zip(offsets) {
                for (acc, column) in acc.iter_mut().zip(tides(&r, &mass, offset)) {
                    column[..number].iter().for_each(|found| *acc += found);
                }
            }
        }
    }
}

impl Row {
    /// Returns the positions.
    #[inline(always)]
    fn place(&self, time: f64) -> [[f64; LANES]; 3] {
        let mut r = [[0.0; LANES]; 3];
        let [pos, vel, acc, jerk] = &self.path;
        for c in 0..3 {
            for lane in 0..LANES {
                r[c][lane] = predict_component(pos[c][lane], vel[c][lane], acc[c][lane], jerk[c][lane], time).0;
            }
        }
        r
    }

    /// Returns the positions by further derivatives too.
    #[inline(always)]
    fn place_with(&self, further: &[[[f64; LANES]; 3]; 4], time: f64) -> [[f64; LANES]; 3] {
        let mut r = [[0.0; LANES]; 3];
        let [pos, vel, acc, jerk] = &self.path;
        for c in 0..3 {
            for lane in 0..LANES {
                let (at, by) = ((pos[c][lane], vel[c][lane]), (acc[c][lane], jerk[c][lane]));
                let further = [0, 1, 2, 3].map(|k| further[k][c][lane]);
                r[c][lane] = predict_component_by(at, by, further, time).0;
            }
        }
        r
    }

    /// Returns the masses by the part of them that is coupled, at positions.
    #[inline(always)]
    fn coupled(&self, r: &[[f64; LANES]; 3]) -> [f64; LANES] {
        let mut mass = [0.0; LANES];
        for lane in 0..LANES {
            let r2 = r[0][lane] * r[0][lane] + r[1][lane] * r[1][lane] + r[2][lane] * r[2][lane];
            let z = (self.outer2[lane] - r2) / self.width[lane];
            mass[lane] = coupling::factor_within(z) * self.mass[lane];
        }
        mass
    }
}

/// Puts vectors into a lane.
fn put(row: &mut [[[f64; LANES]; 3]; 4], lane: usize, of: [Vec3; 4]) {
    for (columns, of) in row.iter_mut().zip(of) {
        (0..3).for_each(|c| columns[c][lane] = of[c]);
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
    use tisane_force::gravity::{predict, predict_with};

    #[test]
    fn tides_are_those_of_one_perturber_after_the_other() {
        let vector = |k: usize| Vec3::new((k as f64).sin(), (1.7 * k as f64).cos(), (0.3 * k as f64).sin());
        let offsets: Vec<Vec3> = (0..5).map(|k| vector(k + 90) * 0.01).collect();
        for (number, has_further) in
            [0, 1, 7, 8, 9, 40].into_iter().flat_map(|number| [(number, false), (number, true)])
        {
            let (mut passing, time) = (Passing::default(), 0.31);
            let mut want: Vec<Vec3> = (0..5).map(vector).collect();
            let mut acc = want.clone();
            for k in 0..number {
                // Outside, in the width, inside.
                let (mass, outer2) = (0.1 + k as f64, [0.3, 1.9, 50.0][k % 3]);
                let path @ [pos, vel, a, jerk] = [vector(k), vector(k + 7), vector(k + 11), vector(k + 17)];
                let further = has_further.then(|| [19, 23, 29, 31].map(|more| vector(k + more)));
                passing.add(mass, outer2, path, further);
                let (r, _) = match further {
                    Some(further) => predict_with((pos, vel), (a, jerk), further, time),
                    None => predict(pos, vel, a, jerk, time),
                };
                for (want, offset) in want.iter_mut().zip(&offsets) {
                    *want += coupling::tide(mass, r, *offset, outer2);
                }
            }
            passing.add_tides(time, &offsets, &mut acc);
            assert_eq!(acc, want, "{number}, {has_further}");
        }
    }
}
