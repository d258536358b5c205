//! Tidal tensor from a table in time.

use crate::error::Result;
use crate::force::external::field::{ExternalField, tide_times};
use crate::force::external::settings::{self, FieldSettings};
use crate::force::external::tables::spline::{cubic, slopes};
use crate::force::external::tables::times::Times;
use crate::force::external::values::{FieldUnits, Mistake};
use crate::particles::Vec3;
use crate::units::Units;

settings::keys! {
    /// Tide of a galaxy on a cluster by its tidal tensor T(t) from a table, in axes that do not turn: φ = −½ dᵀ T d with the place d
    /// relative to `position` (Renaud, Gieles & Boily 2011, MNRAS 418, 759). Between the rows T is a cubic spline.
    TidalTensorSettings, "ExternalTidalTensor", {
        /// Table, CSV with the columns t, txx, txy, txz, tyy, tyz, tzz: T = ∂a/∂x in units of (velocity / length)²; a relative path
        /// starts at the directory of the configuration.
        path: String,
    }
}

/// Columns of the table.
const COLUMNS: [&str; 7] = ["t", "txx", "txy", "txz", "tyy", "tyz", "tzz"];

impl FieldSettings for TidalTensorSettings {
    fn section(&self) -> &'static str {
        "external.tidal-tensor"
    }

    fn check(&self, _: &Units, found: &mut Vec<Mistake>) {
        if self.path.is_empty() {
            found.push(Mistake::new("path", "expected the path of a table, found empty text"));
        }
    }

    fn describe(&self, _: &Units, place: &str) -> String {
        format!("tidal tensor of {} {place}", self.path)
    }

    fn references(&self) -> &'static [&'static str] {
        &["RenaudGielesBoily2011"]
    }

    fn depends_on_time(&self, _: &Units) -> bool {
        true
    }

    fn tables(&self) -> Vec<(&'static str, &str)> {
        vec![("path", &self.path)]
    }

    fn tables_mut(&mut self) -> Vec<(&'static str, &mut String)> {
        vec![("path", &mut self.path)]
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> std::result::Result<Box<dyn ExternalField>, Mistake> {
        let table = to.tables.read(&self.path, &COLUMNS).map_err(|problem| Mistake::new("path", problem))?;
        let times = Times::new(&table, self.section(), "path", to)?;
        // A frequency².
        let unit = to.scale.velocity / to.scale.length;
        let components =
            [1, 2, 3, 4, 5, 6].map(|k| table.columns[k].iter().map(|x| x / (unit * unit)).collect::<Vec<f64>>());
        let slopes = [0, 1, 2, 3, 4, 5].map(|k| slopes(&times.times, &components[k]));
        Ok(Box::new(TidalTensor { position: at, times, components, slopes }))
    }
}

/// Linear field a = T(t) d.
struct TidalTensor {
    position: Vec3,
    times: Times,
    /// Components xx, xy, xz, yy, yz, zz at the times, and their slopes.
    components: [Vec<f64>; 6],
    slopes: [Vec<f64>; 6],
}

impl TidalTensor {
    /// Returns T, Ṫ and T̈.
    fn tensors(&self, t: f64) -> [[f64; 6]; 3] {
        let (row, z, h) = self.times.interval(t);
        let two = |column: &[f64]| [column[row], column[row + 1]];
        let each: [[f64; 3]; 6] = std::array::from_fn(|k| cubic(h, z, two(&self.components[k]), two(&self.slopes[k])));
        std::array::from_fn(|order| each.map(|component| component[order]))
    }
}

impl ExternalField for TidalTensor {
    fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
        tide_times(self.tensors(t)[0], pos - self.position)
    }

    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        let [tensor, change, _] = self.tensors(t);
        tide_times(tensor, vel) + tide_times(change, pos - self.position)
    }

    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        let d = pos - self.position;
        -0.5 * d.dot(&tide_times(self.tensors(t)[0], d))
    }

    fn tide(&self, _: Vec3, t: f64) -> [f64; 6] {
        self.tensors(t)[0]
    }

    /// −½ dᵀ Ṫ d, which changes along a path by −½ dᵀ T̈ d − vᵀ Ṫ d.
    fn rate(&self, pos: Vec3, vel: Vec3, t: f64) -> [f64; 2] {
        let ([_, change, second], d) = (self.tensors(t), pos - self.position);
        let by_change = tide_times(change, d);
        [-0.5 * d.dot(&by_change), -0.5 * d.dot(&tide_times(second, d)) - vel.dot(&by_change)]
    }

    fn covers(&self, t: f64) -> Result<()> {
        self.times.covers(t)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::tables::{Tables, TimeTable};
    use crate::real;
    use crate::units::Scale;

    /// The tensor of a point mass on a circle with Ω = 1 from t = 0 to 8: 3 e e − 1.
    #[derive(Debug)]
    struct Circle(usize);

    fn tensor(t: f64) -> [f64; 6] {
        let (s, c) = t.sin_cos();
        [3.0 * c * c - 1.0, 3.0 * c * s, 0.0, 3.0 * s * s - 1.0, 0.0, -1.0]
    }

    impl Tables for Circle {
        fn read(&self, path: &str, columns: &[&'static str]) -> std::result::Result<TimeTable, String> {
            assert_eq!((path, columns), ("t.csv", &COLUMNS[..]));
            let t: Vec<f64> = (0..=self.0).map(|k| 8.0 * k as f64 / self.0 as f64).collect();
            let columns = (0..6).map(|k| t.iter().map(|t| tensor(*t)[k]).collect());
            let columns = std::iter::once(t.clone()).chain(columns).collect();
            Ok(TimeTable { file: path.into(), columns, lines: (2..).take(t.len()).collect() })
        }
    }

    fn field(rows: usize) -> Box<dyn ExternalField> {
        let settings =
            TidalTensorSettings { path: "t.csv".into(), position: [real!(0.0); 3], motion: None, variation: None };
        let to = FieldUnits { units: &Units::henon(), scale: &Scale::IDENTITY, tables: &Circle(rows) };
        settings.at_full_strength(to, Vec3::new(0.0, 0.5, 0.0)).expect("a field")
    }

    #[test]
    fn verify_a_tensor_from_a_table_is_that_of_the_orbit_and_has_its_derivatives() {
        let error = |rows| {
            let field = field(rows);
            let off = |t: f64| {
                field.tide(Vec3::zeros(), t).into_iter().zip(tensor(t)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            (0..800).map(|k| off(0.01 * f64::from(k))).fold(0.0, f64::max)
        };
        assert!(error(160) < 1e-5 && (3.5..4.5).contains(&(error(80) / error(160)).log2()));
        let (field, x, v, t) = (field(160), Vec3::new(0.5, -1.0, 0.25), Vec3::new(1.0, 0.5, -0.75), 2.02);
        // Within one interval of the table, in which all is a polynomial.
        let slope = |f: &dyn Fn(f64) -> f64| (f(1e-3) - f(-1e-3)) / 2e-3;
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-5, "{a} is not {b}");
        for k in 0..3 {
            let unit = Vec3::from(std::array::from_fn(|j| f64::from(u8::from(j == k))));
            close(field.acc(x, t)[k], -slope(&|h| field.pot(x + h * unit, t)));
            close(field.jerk(x, v, t)[k], slope(&|h| field.acc(x + h * v, t + h)[k]));
        }
        let [rate, along] = field.rate(x, v, t);
        close(rate, slope(&|h| field.pot(x, t + h)));
        close(along, slope(&|h| field.rate(x + h * v, v, t + h)[0]));
        let message = field.covers(8.5).unwrap_err().to_string();
        assert!(
            message.contains("t.csv of external.tidal-tensor.path: line 162: the table ends at t = 8"),
            "{message}"
        );
    }
}
