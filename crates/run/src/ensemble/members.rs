//! Members of an ensemble: the settings in which each differs from the configuration.

use crate::config::{Config, Ensemble, MAX_MEMBERS, Model, Problem, Rule, Variation};
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::path::Path;
use tisane::initial::deviates;
use tisane_io::table::ColumnKind;
use toml::Value;

/// Key with the values that are combined with those of the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Key path, as `section.key`.
    pub key: String,
    /// Values.
    pub values: Vec<Value>,
}

/// Settings of all members.
#[derive(Clone, Debug, PartialEq)]
pub struct Members {
    axes: Vec<Axis>,
    drawn: Vec<(String, Rule)>,
    /// Keys of the seeds that count up with the realisations, with their first values.
    seeds: Vec<(String, u64)>,
    realisations: u64,
    seed: u64,
    count: u64,
}

/// Files of patterns, by key: found once, so that a resumed ensemble has the same members.
pub type Files = BTreeMap<String, Vec<String>>;

impl Members {
    /// Lists the members of a configuration. `files` has the files of its patterns.
    ///
    /// # Errors
    /// If there are too many, or realisations of a model without a seed.
    pub fn new(config: &Config, files: &Files) -> Result<Self, Problem> {
        let ensemble = config.ensemble.clone().unwrap_or_default();
        let (mut axes, mut drawn) = (Vec::new(), Vec::new());
        for (key, variation) in &ensemble.vary {
            let values = match variation {
                Variation::List(values) => values.clone(),
                Variation::Rule(rule) if rule.is_drawn() => {
                    drawn.push((key.clone(), rule.clone()));
                    continue;
                }
                Variation::Rule(Rule { files: Some(_), .. }) => {
                    files.get(key).into_iter().flatten().map(|file| Value::String(file.clone())).collect()
                }
                Variation::Rule(rule) => {
                    let numbers = rule.range().map_err(|problem| Problem::new(place(key), problem))?;
                    numbers.into_iter().map(number).collect()
                }
            };
            axes.push(Axis { key: key.clone(), values });
        }
        let combinations = axes.iter().try_fold(1_u64, |all, axis| all.checked_mul(axis.values.len() as u64));
        let realisations = u64::from(ensemble.realisations);
        let count = combinations.and_then(|all| all.checked_mul(realisations)).filter(|count| *count <= MAX_MEMBERS);
        let count = count.ok_or_else(|| Problem::new("ensemble", format!("more than {MAX_MEMBERS} members")))?;
        let seeds = if realisations > 1 { seeds(config, &ensemble, !drawn.is_empty())? } else { Vec::new() };
        Ok(Self { axes, drawn, seeds, realisations, seed: ensemble.seed, count })
    }

    /// Returns the number of members.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the keys in which members differ, in the order of their settings.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        let axes = self.axes.iter().map(|axis| axis.key.as_str());
        axes.chain(self.drawn.iter().map(|(key, _)| key.as_str())).chain(self.seeds.iter().map(|(key, _)| key.as_str()))
    }

    /// Returns the keys with the types of columns for their values.
    pub(super) fn kinds(&self) -> impl Iterator<Item = (String, ColumnKind)> {
        let kind = |values: &[Value]| match values {
            _ if values.iter().all(|value| value.as_integer().is_some_and(|x| x >= 0)) => ColumnKind::Count,
            _ if values.iter().all(|value| value.is_float() || value.is_integer()) => ColumnKind::Float,
            _ => ColumnKind::Text,
        };
        let axes = self.axes.iter().map(move |axis| (axis.key.clone(), kind(&axis.values)));
        let drawn = self.drawn.iter().map(|(key, _)| (key.clone(), ColumnKind::Float));
        axes.chain(drawn).chain(self.seeds.iter().map(|(key, _)| (key.clone(), ColumnKind::Count)))
    }

    /// Returns the settings of a member. Realisations of one combination follow each other; of the combinations, those
    /// that differ in the last key.
    #[must_use]
    pub fn settings(&self, member: u64) -> Vec<(String, Value)> {
        let (mut combination, realisation) = (member / self.realisations, member % self.realisations);
        let mut chosen = vec![0; self.axes.len()];
        for (axis, chosen) in self.axes.iter().zip(&mut chosen).rev() {
            *chosen = (combination % axis.values.len() as u64) as usize;
            combination /= axis.values.len() as u64;
        }
        let axes = self.axes.iter().zip(chosen).map(|(axis, at)| (axis.key.clone(), axis.values[at].clone()));
        // Two deviates for each key, whatever its law: a change of one law leaves the others as they are. The factor
        // keeps the streams of members apart (Steele, Lea & Flood 2014 seed by another one).
        let stream = self.seed.wrapping_add(member.wrapping_mul(0xD1B5_4A32_D192_ED03));
        let deviates = deviates(stream, 2 * self.drawn.len());
        let drawn = self.drawn.iter().zip(deviates.chunks(2));
        let drawn = drawn.map(|((key, rule), deviates)| (key.clone(), Value::Float(draw(rule, deviates))));
        let seeds = self.seeds.iter().map(|(key, first)| (key.clone(), whole(first.wrapping_add(realisation))));
        axes.chain(drawn).chain(seeds).collect()
    }

    /// Describes the values of each key.
    pub(super) fn describe(&self) -> impl Iterator<Item = (&str, String)> {
        let list = |values: &[Value]| match values {
            [first, .., last] if values.len() > 4 => format!("{} values, {first} to {last}", values.len()),
            _ => values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        };
        let axes = self.axes.iter().map(move |axis| (axis.key.as_str(), list(&axis.values)));
        let drawn = self.drawn.iter().map(|(key, rule)| (key.as_str(), rule.describe()));
        let last = self.realisations - 1;
        let seeds = self.seeds.iter().map(move |(key, first)| (key.as_str(), format!("{first} to {}", first + last)));
        axes.chain(drawn).chain(seeds)
    }

    /// Returns members that together have every value of every list, range and pattern: one for each value.
    pub fn probes(&self) -> impl Iterator<Item = u64> {
        let mut below = self.realisations;
        let mut probes = vec![0, self.count.saturating_sub(1)];
        for axis in self.axes.iter().rev() {
            // Values of a long range are alike.
            let values = axis.values.len() as u64;
            let some = (0..values).filter(move |k| *k < 16 || *k + 1 == values);
            probes.extend(some.map(|k| k * below));
            below *= values;
        }
        probes.sort_unstable();
        probes.dedup();
        probes.into_iter().filter(|member| *member < self.count)
    }
}

/// Returns the key path of a varied key, for messages.
pub fn place(key: &str) -> String {
    format!("ensemble.vary.{key}")
}

/// Returns the setting as `section.key=value`.
#[must_use]
pub fn as_text((key, value): &(String, Value)) -> String {
    format!("{key}={value}")
}

fn whole(number: u64) -> Value {
    i64::try_from(number).map_or(Value::Float(number as f64), Value::Integer)
}

/// Returns a number as TOML has it: whole where it is.
fn number(x: f64) -> Value {
    const WHOLE: f64 = 9e15;
    if x.fract() == 0.0 && x.abs() < WHOLE { Value::Integer(x as i64) } else { Value::Float(x) }
}

/// Returns the number that two uniform deviates give by a law.
fn draw(rule: &Rule, deviates: &[f64]) -> f64 {
    let (u, v) = (deviates[0], deviates[1]);
    let limits = |limits: [tisane::units::Real; 2]| limits.map(tisane::units::Real::get);
    if let Some([min, max]) = rule.uniform.map(limits) {
        min + (max - min) * u
    } else if let Some([min, max]) = rule.log_uniform.map(limits) {
        min * libm::exp(u * libm::log(max / min))
    } else {
        let [mean, deviation] = rule.normal.map_or([0.0; 2], limits);
        mean + deviation * (-2.0 * libm::log(1.0 - u)).sqrt() * libm::cos(TAU * v)
    }
}

/// Returns the keys of the seeds of the models, with their values.
fn seeds(config: &Config, ensemble: &Ensemble, draws: bool) -> Result<Vec<(String, u64)>, Problem> {
    let mut found = Vec::new();
    let mut add = |at: &str, initial: &crate::config::Initial| match (&initial.model, initial.model.sampled()) {
        (Model::BinarySingle(model), _) => found.push((format!("{at}.binary-single.seed"), model.seed())),
        (_, Some(of)) => found.push((format!("{at}.{}.seed", of.name), of.sampling.seed())),
        _ => {}
    };
    match &config.initial.model {
        Model::Clusters(clusters) => {
            let at = |number: usize| format!("initial.clusters[{}]", number + 1);
            clusters.iter().enumerate().for_each(|(number, cluster)| add(&at(number), &cluster.initial));
        }
        _ => add("initial", &config.initial),
    }
    let key = "ensemble.realisations";
    if let Some((seed, _)) = found.iter().find(|(seed, _)| ensemble.vary.contains_key(seed)) {
        let problem = format!("realisations count up {seed}, which is varied itself");
        return Err(Problem::new(key, problem).with_help("leave one of the two away"));
    }
    if found.is_empty() && !draws {
        let problem = "the model has no seed and no key is drawn at random: all realisations would be the same";
        return Err(Problem::new(key, problem));
    }
    Ok(found)
}

/// Finds the files of the patterns of an ensemble, relative to `base`, as absolute paths in the order of their names.
///
/// # Errors
/// If a pattern is wrong, or no file matches it.
pub fn find_files(config: &Config, base: &Path) -> Result<Files, Problem> {
    let vary = config.ensemble.iter().flat_map(|ensemble| &ensemble.vary);
    let mut found = Files::new();
    for (key, variation) in vary {
        let Variation::Rule(Rule { files: Some(pattern), .. }) = variation else { continue };
        let wrong = |problem: String| Problem::new(place(key), format!("{pattern}: {problem}"));
        let whole = std::path::absolute(base.join(pattern)).map_err(|e| wrong(e.to_string()))?;
        let whole = whole.to_str().ok_or_else(|| wrong("this path is not UTF-8".into()))?;
        let mut files = Vec::new();
        for path in glob::glob(whole).map_err(|e| wrong(e.to_string()))? {
            let path = path.map_err(|e| wrong(e.to_string()))?;
            files.push(path.to_str().ok_or_else(|| wrong("the path of a file is not UTF-8".into()))?.to_owned());
        }
        if files.is_empty() {
            return Err(wrong("no file has such a name".into()));
        }
        found.insert(key.clone(), files);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(ensemble: &str) -> Result<Members, String> {
        let text = format!("[run]\nname = \"a\"\nt_end = 1\n[initial.plummer]\nn = 8\nseed = 5\n{ensemble}");
        let loaded = Config::from_str("a", &text, Path::new(""), &[]).map_err(|e| e.to_string())?;
        Members::new(&loaded.config, &Files::new()).map_err(|problem| format!("{}: {}", problem.key, problem.problem))
    }

    fn texts(members: &Members, member: u64) -> Vec<String> {
        members.settings(member).iter().map(as_text).collect()
    }

    #[test]
    fn values_are_combined_each_with_each_and_realisations_count_up_the_seed() {
        let vary =
            "\"integrator.hermite4.nu\" = [0.01, \"1/64\"]\n\"initial.plummer.n\" = { from = 8, to = 32, step = 12 }";
        let all = members(&format!("[ensemble]\nrealisations = 3\n[ensemble.vary]\n{vary}")).unwrap();
        assert_eq!(all.count(), 18);
        let keys: Vec<&str> = all.keys().collect();
        assert_eq!(keys, ["initial.plummer.n", "integrator.hermite4.nu", "initial.plummer.seed"]);
        let nu = "integrator.hermite4.nu=";
        assert_eq!(texts(&all, 0), ["initial.plummer.n=8", &format!("{nu}0.01"), "initial.plummer.seed=5"]);
        assert_eq!(texts(&all, 5), ["initial.plummer.n=8", &format!("{nu}\"1/64\""), "initial.plummer.seed=7"]);
        assert_eq!(texts(&all, 17), ["initial.plummer.n=32", &format!("{nu}\"1/64\""), "initial.plummer.seed=7"]);
        let distinct: std::collections::BTreeSet<_> = (0..18).map(|member| texts(&all, member)).collect();
        assert_eq!(distinct.len(), 18);
        let probes: Vec<u64> = all.probes().collect();
        assert_eq!(probes, [0, 3, 6, 12, 17]);
    }

    #[test]
    fn ranges_have_both_ends_and_constant_ratios_where_asked() {
        let of = |rule: &str| {
            let all = members(&format!("[ensemble.vary]\n\"softening.epsilon\" = {rule}")).unwrap();
            (0..all.count()).map(|member| texts(&all, member)[0].replace("softening.epsilon=", "")).collect::<Vec<_>>()
        };
        assert_eq!(of("{ from = 0.1, to = 0.3, step = 0.1 }"), ["0.1", "0.2", "0.30000000000000004"]);
        assert_eq!(of("{ from = 1, to = 3 }"), ["1", "2", "3"]);
        assert_eq!(of("{ from = 0, to = 1, count = 3 }"), ["0", "0.5", "1"]);
        assert_eq!(of("{ from = 1, to = 100, count = 3, log = true }"), ["1", "10", "100"]);
    }

    #[test]
    fn drawn_values_follow_their_law_and_belong_to_the_member() {
        let rules = "\"softening.epsilon\" = { uniform = [2, 4] }\n\"integrator.hermite4.nu\" = { normal = [5, 2] }\n\
                     \"cluster.escape_radius\" = { log_uniform = [1, 100] }";
        let all = members(&format!("[ensemble]\nrealisations = 20000\n[ensemble.vary]\n{rules}")).unwrap();
        let mut columns: [Vec<f64>; 3] = Default::default();
        for member in 0..all.count() {
            let settings = all.settings(member);
            for (column, (_, value)) in columns.iter_mut().zip(&settings) {
                column.push(value.as_float().unwrap());
            }
        }
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let deviation = |x: &[f64]| (x.iter().map(|v| (v - mean(x)).powi(2)).sum::<f64>() / x.len() as f64).sqrt();
        let [radius, nu, epsilon] = &columns;
        let log: Vec<f64> = radius.iter().map(|x| x.log10()).collect();
        assert!((mean(&log) - 1.0).abs() < 0.02 && log.iter().all(|x| (0.0..=2.0).contains(x)), "{}", mean(&log));
        assert!((mean(nu) - 5.0).abs() < 0.06 && (deviation(nu) - 2.0).abs() < 0.05, "{} {}", mean(nu), deviation(nu));
        assert!((mean(epsilon) - 3.0).abs() < 0.02 && epsilon.iter().all(|x| (2.0..4.0).contains(x)));
        assert_eq!(all.settings(77), all.settings(77));
        let other = members(&format!("[ensemble]\nseed = 2\nrealisations = 9\n[ensemble.vary]\n{rules}")).unwrap();
        assert_ne!(all.settings(0)[0], other.settings(0)[0]);
    }

    #[test]
    fn mistakes_name_the_key() {
        for (ensemble, expected) in [
            (
                "realisations = 2\nvary.\"initial.plummer.seed\" = [1, 2]",
                "ensemble.realisations: realisations count up",
            ),
            ("vary.\"a.b\" = { from = 1, to = 1e8 }", "at most 10000000 values"),
            ("vary.\"a.b\" = { from = 3, to = 1 }", "expected to at or after from"),
            (
                "vary.\"a.b\" = { from = 1, to = 4000 }\nvary.\"a.c\" = { from = 1, to = 4000 }",
                "more than 10000000 members",
            ),
            ("vary.\"a.b\" = { uniform = [2, 1] }", "ensemble.vary.a.b.uniform: expected the smaller limit first"),
            ("vary.\"a.b\" = {}", "ensemble.vary.a.b: expected a list"),
            ("vary.\"a.b\" = 3", "ensemble.vary.a.b: expected a list in [ ] or a section in { }"),
            ("vary.\"a.b\" = []", "ensemble.vary.a.b: expected at least one value"),
            ("vary.\"a.b\" = { form = 1 }", "did you mean `from`"),
            ("vary.\"run.name\" = [\"b\"]", "run.name is common to all members"),
            ("stop = \"disolution\"", "did you mean \"dissolution\""),
            ("stop = \"escape\"", "ensemble.stop: \"escape\" is for encounters"),
            ("[limits]\nblock_steps = 9", "limits.block_steps: this is for one run"),
            ("[output]\non_full = \"wait\"", "output.on_full: this is for one run"),
            ("bound_fraction = 1.5", "ensemble.bound_fraction: expected a share"),
        ] {
            let error = members(&format!("[ensemble]\n{ensemble}")).unwrap_err();
            assert!(error.contains(expected), "{ensemble}: {error}");
        }
    }
}
