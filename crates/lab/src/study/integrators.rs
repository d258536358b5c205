//! Integrators of studies and trials: a scheme with its order, each under one name, with its accuracy parameter, the
//! powers by which error and time depend on it, and its section of a configuration.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::sync::LazyLock;
use tisane::force::precision::Precision;
use tisane::integrator::{IntegratorKind, IntegratorSettings, InvalidSetting, SchemeInfo, Variant};

/// Scheme with its order: a [`Variant`] that the scheme declares.
#[derive(Clone, Copy, Debug)]
pub struct Integrator {
    kind: IntegratorKind,
    variant: &'static Variant,
}

/// All integrators, in the order of the schemes.
static ALL: LazyLock<Vec<Integrator>> = LazyLock::new(|| {
    let of_kind = |kind: &IntegratorKind| {
        let kind = *kind;
        kind.variants().iter().map(move |variant| Integrator { kind, variant })
    };
    IntegratorKind::ALL.iter().flat_map(of_kind).collect()
});

/// Integrators are known by their names.
impl PartialEq for Integrator {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Integrator {}

impl Hash for Integrator {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

/// The first one: the Hermite scheme of 4th order.
impl Default for Integrator {
    fn default() -> Self {
        ALL[0]
    }
}

impl Serialize for Integrator {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Integrator {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| ALL.iter().map(|it| it.name()).collect());
        let name = Cow::<str>::deserialize(deserializer)?;
        Self::named(&name).ok_or_else(|| de::Error::unknown_variant(&name, &NAMES))
    }
}

impl JsonSchema for Integrator {
    fn schema_name() -> Cow<'static, str> {
        "Integrator".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let choice = |it: &Self| {
            let f64_only = if it.works_in(Precision::F32Direct) { "" } else { ", with forces in f64 only" };
            let (order, key) = (it.order(), it.accuracy_key());
            let description = format!("{}, of order {order}{f64_only}; its accuracy is {key}.", it.info().title);
            json!({ "const": it.name(), "type": "string", "description": description })
        };
        json_schema!({ "description": "Scheme with its order.", "oneOf": ALL.iter().map(choice).collect::<Vec<_>>() })
    }
}

/// Keys of the lengths of steps, which all schemes of block steps have.
const SHARED: [&str; 3] = ["dt_max", "dt_min", "on_dt_min"];

impl Integrator {
    /// Returns all integrators.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &ALL
    }

    /// Returns the integrator of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        ALL.iter().copied().find(|it| it.name() == name)
    }

    /// Returns the integrator of a configuration; [`None`] for a scheme without block steps, or of another order.
    #[must_use]
    pub fn from_settings(settings: &IntegratorSettings) -> Option<Self> {
        let variant = settings.scheme().variant()?;
        Some(Self { kind: settings.kind(), variant })
    }

    /// Returns the name in sweeps and tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.variant.name
    }

    /// Returns the order of the scheme.
    #[must_use]
    pub const fn order(self) -> u32 {
        self.variant.order
    }

    /// Returns the scheme.
    #[must_use]
    pub const fn kind(self) -> IntegratorKind {
        self.kind
    }

    /// Returns what the scheme declares of this order.
    #[must_use]
    pub const fn variant(self) -> &'static Variant {
        self.variant
    }

    /// Returns the properties of the scheme.
    #[must_use]
    pub fn info(self) -> SchemeInfo {
        self.kind().info()
    }

    /// Returns the key of the accuracy parameter.
    #[must_use]
    pub fn accuracy_key(self) -> &'static str {
        self.info().accuracy_key
    }

    /// Returns the accuracy parameter as it is written in formulas.
    #[must_use]
    pub fn accuracy_symbol(self) -> &'static str {
        match self.accuracy_key() {
            "nu" => "ν",
            "eta" => "η",
            key => key,
        }
    }

    /// Returns the power of the accuracy parameter in the truncation error, by the order.
    #[must_use]
    pub fn error_power(self) -> f64 {
        f64::from(self.order()) * self.variant.step_power
    }

    /// Returns true if a mode has the steps that f64 has at the same accuracy, so that its truncation error is that of
    /// f64. Some schemes have another step criterion for forces that are not in f64.
    #[must_use]
    pub const fn has_steps_of_f64(self, mode: Precision) -> bool {
        self.variant.relative_step.is_none() || mode.in_f64()
    }

    /// Returns the settings with an accuracy; [`None`] if it is no number.
    #[must_use]
    pub fn settings(self, accuracy: f64) -> Option<IntegratorSettings> {
        self.with(accuracy, &Map::new())
    }

    /// Returns true if the scheme works by forces of a precision mode.
    #[must_use]
    pub fn works_in(self, mode: Precision) -> bool {
        let mut found = Vec::new();
        self.settings(self.variant.tried[0]).is_some_and(|it| it.scheme().check(false, mode, &mut found))
            && found.is_empty()
    }

    /// Returns true if the scheme needs lists of neighbours, with which it knows Newton's law only.
    #[must_use]
    pub fn needs_lists(self) -> bool {
        self.settings(self.variant.tried[0]).is_some_and(|it| it.scheme().needs_lists())
    }

    /// Returns the reason why the scheme rejects an accuracy that is above zero; [`None`] if it does not.
    #[must_use]
    pub fn problem(self, accuracy: f64) -> Option<String> {
        let mut found = Vec::new();
        self.settings(accuracy)?.scheme().check(false, Precision::F64, &mut found);
        found.into_iter().find_map(|it| match it {
            InvalidSetting::Wrong(key, problem) if key == self.accuracy_key() => Some(problem),
            _ => None,
        })
    }

    /// Returns the length of the steps in a mode, relative to those in f64 with the same accuracy.
    #[must_use]
    pub fn relative_step(self, mode: Precision) -> f64 {
        self.variant.relative_step.filter(|_| !mode.in_f64()).unwrap_or(1.0)
    }

    /// Returns the accuracy ν with which Aarseth's criterion has steps of about the same length in a mode.
    #[must_use]
    pub fn equivalent_nu(self, accuracy: f64, mode: Precision) -> f64 {
        let steps = self.settings(accuracy).and_then(|it| it.scheme().block_steps());
        steps.map_or(f64::NAN, |steps| steps.nu * self.relative_step(mode).powi(2))
    }

    /// Returns the section of a configuration, with `more` lines of keys.
    #[must_use]
    pub fn section(self, accuracy: f64, more: &str) -> String {
        let order = self.order_key().map_or_else(String::new, |order| format!("order = {order}\n"));
        format!("[{}]\n{order}{} = {accuracy:?}\n{more}", self.info().section, self.accuracy_key())
    }

    /// Returns the overrides that give a configuration this integrator with an accuracy. Another scheme takes the place
    /// of the configured one, with its lengths of steps.
    #[must_use]
    pub fn overrides(self, configured: &IntegratorSettings, accuracy: f64) -> Vec<String> {
        let SchemeInfo { section, accuracy_key: key, .. } = self.info();
        let order = self.order_key();
        if configured.kind() == self.kind() {
            let order = order.map(|order| format!("{section}.order={order}"));
            return order.into_iter().chain([format!("{section}.{key}={accuracy:?}")]).collect();
        }
        let mut keys: Vec<String> = order.map(|order| format!("order = {order}")).into_iter().collect();
        keys.push(format!("{key} = {accuracy:?}"));
        keys.extend(shared(configured).iter().map(|(key, value)| format!("{key} = {value}")));
        vec![format!("integrator={{ {} = {{ {} }} }}", self.info().name(), keys.join(", "))]
    }

    /// Returns the lines to paste into a configuration: the section with an accuracy. Where it takes the place of
    /// another scheme, the lengths of steps that are not its defaults are among them.
    #[must_use]
    pub fn lines(self, configured: &IntegratorSettings, accuracy: f64) -> String {
        if configured.kind() == self.kind() {
            return self.section(accuracy, "");
        }
        let kept = shared(configured);
        // The longest step has a default in N-body units only, and the shortest follows from it.
        let dt_max = kept.iter().filter(|(key, _)| *key == "dt_max").map(|(key, value)| (key.clone(), value.clone()));
        let defaults = self.with(accuracy, &dt_max.collect()).map(|mut it| {
            it.scheme_mut().resolve();
            shared(&it)
        });
        let is_default = |key: &String, value: &Value| {
            key != "dt_max" && defaults.as_ref().is_some_and(|defaults| defaults.get(key) == Some(value))
        };
        let more = kept.iter().filter(|(key, value)| !is_default(key, value));
        let more: String = more.map(|(key, value)| format!("{key} = {value}\n")).collect();
        format!("# in place of [{}]\n{}", configured.info().section, self.section(accuracy, &more))
    }

    /// Value of the key `order`, for schemes that have it.
    fn order_key(self) -> Option<u32> {
        self.variant.has_order_key.then(|| self.order())
    }

    fn with(self, accuracy: f64, more: &Map<String, Value>) -> Option<IntegratorSettings> {
        let mut keys = more.clone();
        keys.insert(self.accuracy_key().into(), json!(accuracy));
        keys.extend(self.order_key().map(|order| ("order".into(), json!(order))));
        let mut section = Map::new();
        section.insert(self.info().name().into(), Value::Object(keys));
        serde_json::from_value(Value::Object(section)).ok()
    }
}

/// Returns the lengths of steps of a scheme, by their keys.
fn shared(settings: &IntegratorSettings) -> Map<String, Value> {
    let written = serde_json::to_value(settings).unwrap_or_default();
    let section = written.get(settings.info().name()).and_then(Value::as_object);
    let keys = SHARED.into_iter().filter_map(|key| Some((key.to_owned(), section?.get(key)?.clone())));
    keys.collect()
}

/// Returns the accuracies of a sweep for an integrator, among those that are values of `nu` and of `eta`.
#[must_use]
pub fn accuracies<'a, T>(integrator: Integrator, nu: &'a [T], eta: &'a [T]) -> &'a [T] {
    if integrator.accuracy_key() == "nu" { nu } else { eta }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use tisane_run::config::Config;

    fn named(name: &str) -> Integrator {
        Integrator::named(name).unwrap()
    }

    const HEAD: &str = "[run]\nname = \"t\"\nt_end = 1.0\n[initial.plummer]\nn = 8\n";

    fn read(text: &str, sets: &[String]) -> IntegratorSettings {
        Config::from_str("test", text, Path::new(""), sets).unwrap().config.integrator
    }

    #[test]
    fn names_are_those_that_are_read() {
        for &it in Integrator::all() {
            assert_eq!(serde_json::to_value(it).unwrap(), it.name());
            assert!(it.name().starts_with(it.info().name()), "{}", it.name());
            let [max, .., min] = it.variant().tried;
            assert!(it.variant().range.0 < min && max <= it.variant().range.1);
        }
    }

    #[test]
    fn sections_are_read_as_the_integrator_that_wrote_them() {
        for &it in Integrator::all() {
            let accuracy = it.variant().tried[1];
            let read = read(&(HEAD.to_owned() + &it.section(accuracy, "dt_max = 0.25\n")), &[]);
            assert_eq!(Integrator::from_settings(&read), Some(it));
            let steps = read.scheme().block_steps().unwrap();
            assert_eq!((steps.nu, steps.range[1]), (it.equivalent_nu(accuracy, Precision::F64), 0.25));
        }
    }

    #[test]
    fn an_override_or_pasted_lines_change_the_scheme_and_keep_its_steps() {
        let section = "[integrator.hermite4]\nnu = 0.02\niterations = 2\ndt_max = 0.0625\non_dt_min = \"clamp\"\n";
        let before = read(&(HEAD.to_owned() + section), &[]);
        for &it in Integrator::all() {
            let accuracy = it.variant().tried[2];
            let changed = read(&(HEAD.to_owned() + section), &it.overrides(&before, accuracy));
            assert_eq!(Integrator::from_settings(&changed), Some(it));
            assert_eq!(shared(&changed), shared(&before));
            let steps = changed.scheme().block_steps().unwrap();
            assert_eq!(steps.nu, it.equivalent_nu(accuracy, Precision::F64));
            assert_eq!(steps.evaluations, if it == named("hermite4") { 2 } else { 1 });
            if it != named("hermite4") {
                assert_eq!(read(&(HEAD.to_owned() + &it.lines(&before, accuracy)), &[]), changed);
            }
        }
        let lines = named("multipoint6").lines(&before, 0.2);
        assert!(lines.starts_with("# in place of [integrator.hermite4]\n[integrator.multipoint]\n"), "{lines}");
        assert!(lines.contains("eta = 0.2\n") && lines.contains("dt_max = 0.0625\n") && lines.contains("clamp"));
        assert!(!lines.contains("dt_min = 7"), "its default follows from dt_max: {lines}");
        assert_eq!(named("hermite4").lines(&before, 0.01), "[integrator.hermite4]\nnu = 0.01\n");
    }

    #[test]
    fn order_8_and_its_steps_are_those_of_f64() {
        assert!(named("multipoint8").works_in(Precision::F64) && !named("multipoint8").works_in(Precision::Mixed));
        for it in [named("hermite4"), named("multipoint6")] {
            assert!(Precision::ALL.into_iter().all(|mode| it.works_in(mode)));
            assert_eq!(it.has_steps_of_f64(Precision::Mixed), it == named("hermite4"));
        }
        assert!(named("multipoint6").problem(0.8).unwrap().contains("at most 0.7"));
        assert_eq!(named("multipoint6").problem(0.7), None);
        assert_eq!(named("hermite4").problem(0.8), None);
    }
}
