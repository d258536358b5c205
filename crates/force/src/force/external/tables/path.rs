//! Path of a centre from a table of places and velocities.

use super::super::moving::{Path, PathPoint};
use super::super::values::{FieldUnits, Mistake};
use super::TimeTable;
use super::spline::slopes;
use super::times::Times;
use crate::error::Result;
use crate::particles::Vec3;

/// Columns of the table.
pub const COLUMNS: [&str; 7] = ["t", "x", "y", "z", "vx", "vy", "vz"];
/// Largest difference between the way from a row to the next and that by the velocities, relative to the longer one.
const MAX_MISFIT: f64 = 0.1;

/// Path through the places of a table with its velocities, and with the accelerations of a cubic spline through the velocities: a
/// polynomial of fifth degree between two rows, with a continuous acceleration.
#[derive(Clone, Debug)]
pub struct TablePath {
    times: Times,
    rows: Vec<PathPoint>,
}

impl TablePath {
    /// Takes a table with the [`COLUMNS`], in the units of the user.
    ///
    /// # Errors
    /// [`Mistake`] for too few rows, and velocities that are not those of the places.
    pub fn new(table: &TimeTable, section: &str, to: FieldUnits<'_>) -> std::result::Result<Self, Mistake> {
        let times = Times::new(table, section, "motion.path", to)?;
        let column = |k: usize, unit: f64| table.columns[k].iter().map(|x| x / unit).collect::<Vec<f64>>();
        let (length, velocity) = (to.scale.length, to.scale.velocity);
        let places = [1, 2, 3].map(|k| column(k, length));
        let velocities = [4, 5, 6].map(|k| column(k, velocity));
        let accelerations = [0, 1, 2].map(|k| slopes(&times.times, &velocities[k]));
        let vector = |columns: &[Vec<f64>; 3], row: usize| Vec3::from(std::array::from_fn(|k| columns[k][row]));
        let rows: Vec<PathPoint> = (0..times.times.len())
            .map(|row| PathPoint {
                pos: vector(&places, row),
                vel: vector(&velocities, row),
                acc: vector(&accelerations, row),
            })
            .collect();
        for (k, pair) in rows.windows(2).enumerate() {
            let h = times.times[k + 1] - times.times[k];
            let way = pair[1].pos - pair[0].pos;
            let by_velocity = 0.5 * h * (pair[0].vel + pair[1].vel) + h * h / 12.0 * (pair[0].acc - pair[1].acc);
            if (way - by_velocity).norm() > MAX_MISFIT * way.norm().max(by_velocity.norm()) {
                let problem = format!(
                    "{}: line {}: the velocities do not lead from the place before to this one: expected {}, found {}; are the \
                     units those of the configuration?",
                    table.file,
                    table.lines[k + 1],
                    shown(way / h * velocity),
                    shown(by_velocity / h * velocity)
                );
                return Err(Mistake::new("motion.path", problem));
            }
        }
        Ok(Self { times, rows })
    }
}

/// Returns a mean velocity for a message.
fn shown(v: Vec3) -> String {
    format!("({:.4e}, {:.4e}, {:.4e}) in the mean", v.x, v.y, v.z)
}

impl Path for TablePath {
    fn at(&self, t: f64) -> PathPoint {
        let (row, z, h) = self.times.interval(t);
        let [PathPoint { pos: x0, vel: v0, acc: a0 }, PathPoint { pos: x1, vel: v1, acc: a1 }] =
            [self.rows[row], self.rows[row + 1]];
        let (way, u0, u1) = (x1 - x0, h * v0, h * v1);
        let (b0, b1) = (0.5 * h * h * a0, 0.5 * h * h * a1);
        let c3 = 10.0 * way - 6.0 * u0 - 4.0 * u1 - 3.0 * b0 + b1;
        let c4 = -15.0 * way + 8.0 * u0 + 7.0 * u1 + 3.0 * b0 - 2.0 * b1;
        let c5 = 6.0 * way - 3.0 * (u0 + u1) - b0 + b1;
        PathPoint {
            pos: x0 + z * (u0 + z * (b0 + z * (c3 + z * (c4 + z * c5)))),
            vel: (u0 + z * (2.0 * b0 + z * (3.0 * c3 + z * (4.0 * c4 + z * 5.0 * c5)))) / h,
            acc: (2.0 * b0 + z * (6.0 * c3 + z * (12.0 * c4 + z * 20.0 * c5))) / (h * h),
        }
    }

    fn covers(&self, t: f64) -> Result<()> {
        self.times.covers(t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::tables::NoTables;
    use crate::units::{Scale, Units};

    /// A circle with the angular velocity 2 in rows of uneven length.
    fn circle(n: usize) -> TimeTable {
        let t: Vec<f64> = (0..=n).map(|k| 3.0 * (k as f64 + 0.3 * (k as f64).sin()) / n as f64).collect();
        let column = |f: fn(f64) -> f64| t.iter().map(|t| f(*t)).collect::<Vec<f64>>();
        let columns = vec![
            t.clone(),
            column(|t| (2.0 * t).cos()),
            column(|t| (2.0 * t).sin()),
            column(|_| 1.0),
            column(|t| -2.0 * (2.0 * t).sin()),
            column(|t| 2.0 * (2.0 * t).cos()),
            column(|_| 0.0),
        ];
        TimeTable { file: "circle.csv".into(), columns, lines: (2..).take(n + 1).collect() }
    }

    fn path(table: &TimeTable, scale: Scale) -> std::result::Result<TablePath, Mistake> {
        TablePath::new(
            table,
            "external.plummer",
            FieldUnits { units: &Units::henon(), scale: &scale, tables: &NoTables },
        )
    }

    #[test]
    fn verify_a_path_through_a_table_is_one_and_smooth() {
        let error = |n: usize| {
            let path = path(&circle(n), Scale::IDENTITY).expect("a path");
            let off = (0..300).map(|k| {
                let t = 0.01 * f64::from(k);
                let (PathPoint { pos, vel, acc }, (sine, cosine)) = (path.at(t), (2.0 * t).sin_cos());
                let expected = Vec3::new(cosine, sine, 1.0);
                [
                    (pos - expected).norm(),
                    (vel - 2.0 * Vec3::new(-sine, cosine, 0.0)).norm(),
                    (acc + 4.0 * Vec3::new(cosine, sine, 0.0)).norm(),
                ]
            });
            off.fold([0.0f64; 3], |most, off| std::array::from_fn(|k| most[k].max(off[k])))
        };
        let (coarse, fine) = (error(40), error(80));
        assert!(fine[0] < 2e-8 && fine[1] < 2e-6 && fine[2] < 1e-3, "{fine:?}");
        assert!(coarse[0] / fine[0] > 16.0, "{coarse:?} {fine:?}");
        let path = path(&circle(40), Scale::IDENTITY).expect("a path");
        for &t in &path.times.times[1..40] {
            let (before, after) = (path.at(t - 1e-9), path.at(t + 1e-9));
            assert!((after.pos - before.pos - 2e-9 * after.vel).norm() < 1e-14);
            assert!((after.vel - before.vel - 2e-9 * after.acc).norm() < 1e-13);
            assert!((after.acc - before.acc).norm() < 1e-6);
        }
    }

    #[test]
    fn times_beyond_the_table_and_other_units_are_refused() {
        let units = Scale { mass: 1.0, length: 0.5, velocity: 0.25, time: 2.0 };
        let found = path(&circle(40), units).expect("a path");
        assert_eq!(found.at(0.0).pos, Vec3::new(2.0, 0.0, 2.0));
        let message = |t: f64| found.covers(t).unwrap_err().to_string();
        assert!(found.covers(0.0).is_ok() && found.covers(1.5).is_ok());
        assert!(
            message(-0.5).contains("circle.csv of external.plummer.motion.path: line 2: the table begins at t = 0")
        );
        assert!(
            message(2.0).contains("line 42: the table ends at t = 3.0") && message(2.0).contains("needed at t = 4")
        );
        let mut wrong = circle(40);
        wrong.columns[5].iter_mut().for_each(|v| *v *= 3.0);
        let mistake = path(&wrong, Scale::IDENTITY).unwrap_err();
        assert!(mistake.problem.contains("circle.csv: line 3: the velocities do not lead"), "{mistake:?}");
        wrong.columns.iter_mut().for_each(|column| column.truncate(3));
        assert!(path(&wrong, Scale::IDENTITY).unwrap_err().problem.contains("expected at least 4 rows, found 3"));
    }
}
