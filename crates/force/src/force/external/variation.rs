//! Fields whose strength changes in time.

use super::field::ExternalField;
use super::places::{FieldForces, Lanes, Places};
use super::values::{self, FieldUnits, Mistake};
use crate::formula::functions;
use crate::particles::Vec3;
use crate::units::{Real, Units};

/// How the strength of a field changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "serde", schemars(rename = "VariationForm"))]
pub enum Form {
    /// From none at `start` to its full strength after `time`: 3ξ⁵/16 − 5ξ³/8 + 15ξ/16 + ½ with ξ from −1 to 1 (Dehnen
    /// 2000, AJ 119, 800, equation 4).
    Growth,
    /// Full until `start`, then e^(−(t − start)/time).
    Decay,
    /// Full until `start`, then 1/(1 + (t − start)/time): gas that leaves a cluster (Kroupa, Aarseth & Hurley 2001, MNRAS
    /// 321, 699).
    Expulsion,
}

/// Change of a field's strength in time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Variation {
    /// How the strength changes: growth, decay, expulsion.
    pub form: Form,
    /// Time at which the change begins; unit: time.
    pub start: Real,
    /// Time that the change takes, with decay and expulsion its time scale, above 0; unit: time.
    pub time: Real,
}

impl Variation {
    /// Adds the mistakes in the values.
    pub(super) fn check(&self, found: &mut Vec<Mistake>) {
        values::positive(found, "variation.time", self.time);
    }

    /// Describes the change for people.
    pub(super) fn describe(&self, units: &Units) -> String {
        let Self { form, start, time } = self;
        let unit = &units.time.name;
        match form {
            Form::Growth => format!("grows from t = {start} {unit} within {time} {unit}"),
            Form::Decay => format!("decays from t = {start} {unit} on, e-folding time {time} {unit}"),
            Form::Expulsion => format!("expelled from t = {start} {unit} on, time scale {time} {unit}"),
        }
    }

    /// Returns the field with this change of its strength.
    pub(super) fn of(&self, field: Box<dyn ExternalField>, to: FieldUnits<'_>) -> Box<dyn ExternalField> {
        Box::new(Varying { field, form: self.form, start: to.time(self.start), time: to.time(self.time) })
    }
}

/// Number of moments in the time of a change: with 16 the sum of the work has a relative error of 10⁻⁷.
const MOMENTS: u32 = 16;
/// Age in times of a decay from which nothing is left.
const LONGEST: u32 = 40;
/// Age, in units of `time`, up to which the moments of an expulsion are listed: the strength is then about 1/1000.
const EXPELLED: f64 = 1000.0;

/// Field times a function of the time.
struct Varying {
    field: Box<dyn ExternalField>,
    form: Form,
    start: f64,
    time: f64,
}

impl Varying {
    /// Returns the strength with its first and second derivative.
    fn strength(&self, t: f64) -> [f64; 3] {
        let (tau, age) = (self.time, (t - self.start) / self.time);
        match self.form {
            Form::Growth if age <= 0.0 => [0.0; 3],
            Form::Growth if age >= 1.0 => [1.0, 0.0, 0.0],
            Form::Growth => {
                let xi = 2.0 * age - 1.0;
                let (xi2, slope) = (xi * xi, 2.0 / tau);
                let rest = 1.0 - xi2;
                let value = xi * ((3.0 / 16.0 * xi2 - 5.0 / 8.0) * xi2 + 15.0 / 16.0) + 0.5;
                [value, 15.0 / 16.0 * rest * rest * slope, -15.0 / 4.0 * xi * rest * slope * slope]
            }
            _ if age <= 0.0 => [1.0, 0.0, 0.0],
            Form::Decay => {
                let value = functions::exp(-age);
                [value, -value / tau, value / (tau * tau)]
            }
            Form::Expulsion => {
                let value = 1.0 / (1.0 + age);
                let slope = -value * value / tau;
                [value, slope, -2.0 * slope * value / tau]
            }
        }
    }
}

impl ExternalField for Varying {
    fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
        self.strength(t)[0] * self.field.acc(pos, t)
    }

    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        let [value, slope, _] = self.strength(t);
        value * self.field.jerk(pos, vel, t) + slope * self.field.acc(pos, t)
    }

    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        self.strength(t)[0] * self.field.pot(pos, t)
    }

    fn tide(&self, pos: Vec3, t: f64) -> [f64; 6] {
        let value = self.strength(t)[0];
        self.field.tide(pos, t).map(|it| value * it)
    }

    /// The start of the change, and times after it between which the slope changes by an eighth or so.
    fn moments(&self) -> Vec<f64> {
        let (start, tau) = (self.start, self.time);
        let ages: Vec<f64> = match self.form {
            Form::Growth => (0..=MOMENTS).map(|k| f64::from(k) / f64::from(MOMENTS)).collect(),
            Form::Decay => (0..=LONGEST * MOMENTS).map(|k| f64::from(k) / f64::from(MOMENTS)).collect(),
            Form::Expulsion => {
                let mut ages = vec![0.0];
                while let Some(age) = ages.last().filter(|age| **age < EXPELLED) {
                    ages.push(age + (1.0 + age) / f64::from(MOMENTS));
                }
                ages
            }
        };
        self.field.moments().into_iter().chain(ages.into_iter().map(|age| start + tau * age)).collect()
    }

    fn covers(&self, t: f64) -> crate::error::Result<()> {
        self.field.covers(t)
    }

    /// With the strength A and the potential φ of the field: ∂(Aφ)/∂t = A′φ + A φ_t, and its derivative along a path
    /// A″φ + A′(dφ/dt + φ_t) + A dφ_t/dt with dφ/dt = −v·a + φ_t.
    fn rate(&self, pos: Vec3, vel: Vec3, t: f64) -> [f64; 2] {
        let [value, slope, second] = self.strength(t);
        let (pot, [rate, along]) = (self.field.pot(pos, t), self.field.rate(pos, vel, t));
        let path = rate - vel.dot(&self.field.acc(pos, t));
        [slope * pot + value * rate, second * pot + slope * (path + rate) + value * along]
    }

    fn accelerations(&self, at: &Places, t: f64) -> [Lanes; 3] {
        let value = self.strength(t)[0];
        self.field.accelerations(at, t).map(|lanes| lanes.map(|acc| value * acc))
    }

    fn tides(&self, at: &Places, t: f64) -> [Lanes; 6] {
        let value = self.strength(t)[0];
        self.field.tides(at, t).map(|lanes| lanes.map(|it| value * it))
    }

    fn forces(&self, at: &Places, t: f64) -> FieldForces {
        let [value, slope, _] = self.strength(t);
        let FieldForces { acc, jerk, pot } = self.field.forces(at, t);
        let jerk =
            std::array::from_fn(|axis| std::array::from_fn(|lane| value * jerk[axis][lane] + slope * acc[axis][lane]));
        FieldForces { acc: acc.map(|lanes| lanes.map(|acc| value * acc)), jerk, pot: pot.map(|pot| value * pot) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::places::vector;
    use crate::force::external::{FieldSource, FormulaField};

    /// Difference quotient of fourth order.
    fn slope(f: impl Fn(f64) -> f64) -> f64 {
        const H: f64 = 1e-3;
        let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|k| f(k * H));
        (a - 8.0 * b + 8.0 * c - d) / (12.0 * H)
    }

    #[test]
    fn verify_jerk_and_rate_of_a_field_that_changes_and_turns() {
        let source = FieldSource::new("-1/sqrt(r^2 + 1) + 0.1*(x*cos(t) + y*sin(t))^2", &[]);
        let (x, v) = (Vec3::new(0.5, -1.0, 0.25), Vec3::new(1.0, 0.5, -0.75));
        for form in [Form::Growth, Form::Decay, Form::Expulsion] {
            let field = FormulaField::new(&source, Vec3::zeros()).expect("a field");
            let field = Varying { field: Box::new(field), form, start: 1.0, time: 2.0 };
            for t in [0.5, 1.5, 2.75, 3.5] {
                let at = Places::new(&[x, 2.0 * x], &[v, x]);
                for (lane, (x, v)) in [(x, v), (2.0 * x, x)].into_iter().enumerate() {
                    assert_eq!(field.forces(&at, t).of(lane), (field.acc(x, t), field.jerk(x, v, t), field.pot(x, t)));
                    assert_eq!(vector(&field.accelerations(&at, t), lane), field.acc(x, t));
                    assert_eq!(field.rates(&at, t).map(|rate| rate[lane]), field.rate(x, v, t));
                    assert_eq!(field.tides(&at, t).map(|it| it[lane]), field.tide(x, t));
                }
                let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{form:?} at {t}: {a} is not {b}");
                (0..3).for_each(|k| close(field.jerk(x, v, t)[k], slope(|h| field.acc(x + h * v, t + h)[k])));
                let [rate, along] = field.rate(x, v, t);
                close(rate, slope(|h| field.pot(x, t + h)));
                close(along, slope(|h| field.rate(x + h * v, v, t + h)[0]));
            }
            let whole = field.field.pot(x, 0.0);
            let before = if form == Form::Growth { 0.0 } else { whole };
            assert_eq!(field.pot(x, 0.0), before);
        }
    }

    #[test]
    fn strengths_by_hand() {
        let at = |form, t| {
            let field = FormulaField::new(&FieldSource::new("r^2", &[]), Vec3::zeros()).expect("a field");
            Varying { field: Box::new(field), form, start: 1.0, time: 2.0 }.strength(t)[0]
        };
        assert_eq!([at(Form::Growth, 1.0), at(Form::Growth, 2.0), at(Form::Growth, 3.0)], [0.0, 0.5, 1.0]);
        // ξ = ½: 3/512 − 5/64 + 15/32 + ½
        assert_eq!(at(Form::Growth, 2.5), 3.0 / 512.0 - 5.0 / 64.0 + 15.0 / 32.0 + 0.5);
        assert_eq!([at(Form::Expulsion, 3.0), at(Form::Expulsion, 7.0)], [0.5, 0.25]);
        assert!((at(Form::Decay, 3.0) - (-1.0f64).exp()).abs() < 1e-16);
    }
}
