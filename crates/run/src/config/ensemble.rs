//! Section `[ensemble]`: many runs of one configuration, in each of which some keys have other values.

use super::bounds::{above, at_least};
use super::error::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tisane::units::Real;

/// Largest number of members.
pub const MAX_MEMBERS: u64 = 10_000_000;
/// Largest number of values of one key.
const MAX_VALUES: u64 = MAX_MEMBERS;

/// Many runs of this configuration, its members, in each of which some keys have other values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ensemble {
    /// Number of realisations of each combination of values: the seed of the sampled model counts up from its own.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub realisations: u32,
    /// Seed of the values that are drawn at random: each member has its own numbers.
    pub seed: u64,
    /// Reason for a member to end before t_end.
    pub stop: StopAt,
    /// Share of the initial mass, above 0 and below 1, below which a cluster is dissolved when this is the bound mass, in a tide that within the tidal radius; with stop = "dissolution".
    pub bound_fraction: Real,
    /// Time between looks for a reason to stop; a whole multiple of dt_max; unit: time. Default: output.diagnostics_interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check_interval: Option<Real>,
    /// Flag to keep a row of every member at every output: energies, and the structure of the cluster unless cluster.enabled is false.
    pub series: bool,
    /// Snapshots that are kept of every member.
    pub snapshots: Kept,
    /// Keys with their values: a list, a range, a law to draw from, or files. Lists, ranges and files are combined each with each.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub vary: BTreeMap<String, Variation>,
}

impl Default for Ensemble {
    fn default() -> Self {
        Self {
            realisations: 1,
            seed: 1,
            stop: StopAt::End,
            bound_fraction: tisane::real!(0.1),
            check_interval: None,
            series: false,
            snapshots: Kept::None,
            vary: BTreeMap::new(),
        }
    }
}

/// Reason for a member to end before `t_end`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StopAt {
    /// None: every member runs to `t_end`.
    #[default]
    End,
    /// The bound mass, in a tide that within the tidal radius, is below a share of the initial mass: the cluster is dissolved.
    Dissolution,
    /// The outcome of an encounter is certain: with the model binary-single.
    Escape,
}

impl StopAt {
    /// Returns the name in configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::End => "end",
            Self::Dissolution => "dissolution",
            Self::Escape => "escape",
        }
    }
}

/// Snapshots that are kept of every member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kept {
    /// None.
    #[default]
    None,
    /// That of its end.
    End,
    /// One at every output.
    All,
}

/// Values of a key.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Variation {
    /// List of values.
    List(Vec<toml::Value>),
    /// Range, law or files.
    Rule(Rule),
}

impl Variation {
    /// Returns true for a list of whole sections.
    pub(super) fn is_of_sections(&self) -> bool {
        matches!(self, Self::List(values) if values.iter().all(toml::Value::is_table))
    }
}

impl JsonSchema for Variation {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Variation".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let rule = generator.subschema_for::<Rule>();
        schemars::json_schema!({
            "description": "Values of a key.",
            "anyOf": [{ "type": "array", "minItems": 1, "items": true }, rule]
        })
    }
}

/// Range, law or files: exactly one of `to`, `uniform`, `log_uniform`, `normal`, `files`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rule {
    /// First value of a range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Real>,
    /// Last value of a range, included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Real>,
    /// Distance of the values of a range, above 0. Default: 1, unless count is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<Real>,
    /// Number of values of a range, in place of their distance: at least 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 2, max = 10_000_000))]
    pub count: Option<u32>,
    /// Flag that the ratio of the values of a range is constant, with count.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub log: bool,
    /// Limits between which a number is drawn, each as probable as any other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uniform: Option<[Real; 2]>,
    /// Limits above 0 between which a number is drawn, whose logarithm is uniform.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_uniform: Option<[Real; 2]>,
    /// Mean and standard deviation of a normal distribution from which a number is drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub normal: Option<[Real; 2]>,
    /// Files, relative to the directory of this configuration, with `*` and `?` in the last part of the path; in the order of their names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
}

impl Rule {
    /// Returns true if each member draws its own value.
    #[must_use]
    pub const fn is_drawn(&self) -> bool {
        self.uniform.is_some() || self.log_uniform.is_some() || self.normal.is_some()
    }

    /// Describes the law from which a number is drawn.
    #[must_use]
    pub fn describe(&self) -> String {
        let laws = [
            ("uniform from", "to", self.uniform),
            ("uniform in the logarithm from", "to", self.log_uniform),
            ("normal of mean", "and deviation", self.normal),
        ];
        let law = laws.into_iter().find_map(|(name, and, numbers)| {
            let [first, second] = numbers?;
            Some(format!("drawn: {name} {first} {and} {second}"))
        });
        law.unwrap_or_default()
    }

    /// Returns the values of a range.
    ///
    /// # Errors
    /// A message if it is no range, or an empty or too long one.
    pub fn range(&self) -> Result<Vec<f64>, String> {
        let (Some(from), Some(to)) = (self.from, self.to) else {
            return Err("expected from and to".into());
        };
        let (from, to) = (from.get(), to.get());
        if let Some(count) = self.count {
            let last = f64::from(count - 1);
            let value = |k: u32| match k {
                0 => from,
                _ if k == count - 1 => to,
                _ if self.log => from * libm::pow(to / from, f64::from(k) / last),
                _ => from + (to - from) * (f64::from(k) / last),
            };
            return Ok((0..count).map(value).collect());
        }
        let step = self.step.map_or(1.0, Real::get);
        // A last value that rounding puts beyond the end still counts.
        let count = ((to - from) / step + 1e-9).floor();
        if !(0.0..MAX_VALUES as f64).contains(&count) {
            return Err(format!("expected to at or after from, and at most {MAX_VALUES} values"));
        }
        Ok((0..=count as u64).map(|k| from + k as f64 * step).collect())
    }

    pub(super) fn mistakes(&self, key: &str, found: &mut Vec<Problem>) {
        let given = [
            ("to", self.to.is_some() || self.from.is_some()),
            ("uniform", self.uniform.is_some()),
            ("log_uniform", self.log_uniform.is_some()),
            ("normal", self.normal.is_some()),
            ("files", self.files.is_some()),
        ];
        let mut given = given.into_iter().filter(|(_, given)| *given).map(|(name, _)| name);
        match (given.next(), given.next()) {
            (None, _) => {
                let expected = "expected a list, { from, to }, { uniform }, { log_uniform }, { normal } or { files }";
                found.push(Problem::new(key, expected));
            }
            (Some(first), Some(second)) => {
                found.push(Problem::new(key, format!("expected {first} or {second}, found both")));
            }
            (Some("to"), None) => {
                above(found, format!("{key}.step"), self.step, 0.0);
                if self.step.is_some() && self.count.is_some() {
                    found.push(Problem::new(key, "expected step or count, found both"));
                }
                if self.log && self.count.is_none() {
                    found.push(Problem::new(key, "log needs count, the number of values"));
                }
                if self.log {
                    above(found, format!("{key}.from"), self.from, 0.0);
                    above(found, format!("{key}.to"), self.to, 0.0);
                }
                if let (true, Err(problem)) = (found.is_empty(), self.range()) {
                    found.push(Problem::new(key, problem));
                }
            }
            (Some(_), None) if self.step.is_some() || self.count.is_some() || self.log => {
                found.push(Problem::new(key, "step, count and log belong to a range, { from, to }"));
            }
            _ => {}
        }
        for (name, limits) in [("uniform", self.uniform), ("log_uniform", self.log_uniform)] {
            if let Some([min, max]) = limits.filter(|[min, max]| min.get() > max.get()) {
                let problem = format!("expected the smaller limit first, found {min} and {max}");
                found.push(Problem::new(format!("{key}.{name}"), problem));
            }
        }
        above(found, format!("{key}.log_uniform"), self.log_uniform.map(|[min, _]| min), 0.0);
        at_least(found, format!("{key}.normal"), self.normal.map(|[_, deviation]| deviation), 0.0);
    }
}
