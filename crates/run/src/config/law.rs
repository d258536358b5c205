//! Law of the force between two particles, `[force.law]`.

use super::error::Problem;
use super::file;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use tisane::error::{Error, nearest};
use tisane::formula::Parameter;
use tisane::formula::dimension::GravityDimension;
use tisane::law::ready::{NEWTON, Ready};
use tisane::law::{Column, Formula, Law, LawSource};
use tisane::units::{Dimension, Quantity, Scale, Units};

/// Law of the force between two particles in place of Newton's: a ready one by its name, or a formula. Default: Newton's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LawSection {
    /// Name of a ready law: newton, yukawa, spline, lennard-jones, coulomb, p3m-cutoff, paczynski-wiita.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Formula of the potential energy of a pair, of s, m_i, m_j, G, the parameters and columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub potential: Option<String>,
    /// Formula of the acceleration of i towards j, in place of a potential; there is no energy then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acceleration: Option<String>,
    /// Parameters of the formula, each a number or text with a unit such as "0.3 pc".
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, Quantity>,
    /// Columns of the particles that the formula reads as `NAME_i` and `NAME_j`, each with the unit of its values; "1" for pure numbers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, Quantity>,
}

/// Formula with its key, and the ready law that it is of.
type Given = (Formula, &'static str, Option<&'static Ready>);

/// Key path of the section.
pub(super) const SECTION: &str = "force.law";

impl LawSection {
    /// Returns the law of a name or formula, and the key of it; [`None`] for Newton's.
    fn formula(&self) -> Result<Option<Given>, Problem> {
        let given: Vec<(&str, &String)> =
            [("name", &self.name), ("potential", &self.potential), ("acceleration", &self.acceleration)]
                .into_iter()
                .filter_map(|(key, text)| Some((key, text.as_ref()?)))
                .collect();
        match given[..] {
            [("name", name)] if name == NEWTON => Ok(None),
            [("name", name)] => {
                let Some(ready) = Ready::named(name) else {
                    let names: Vec<_> = Ready::names().collect();
                    let near = nearest(name, &names).map(|it| format!("; did you mean \"{it}\"?")).unwrap_or_default();
                    let problem = format!("expected one of {}, found \"{name}\"{near}", names.join(", "));
                    return Err(Problem::new(format!("{SECTION}.name"), problem));
                };
                Ok(Some((ready.formula(), "name", Some(ready))))
            }
            [("potential", text)] => Ok(Some((Formula::Potential(text.clone()), "potential", None))),
            [(_, text)] => Ok(Some((Formula::Acceleration(text.clone()), "acceleration", None))),
            [] => {
                let problem = "missing: expected one of name, potential, acceleration in [force.law]";
                Err(Problem::new(SECTION, problem))
            }
            [(first, _), (second, _), ..] => {
                let problem = "two at once in [force.law]: expected only one of name, potential and acceleration";
                Err(Problem::new(format!("{SECTION}.{second}"), problem).against(format!("{SECTION}.{first}")))
            }
        }
    }

    /// Returns the law and its parameters, for people.
    #[must_use]
    pub fn describe(&self) -> String {
        let law = match (&self.name, &self.potential, &self.acceleration) {
            (Some(name), ..) => name.clone(),
            (_, Some(formula), _) => format!("potential {formula}"),
            (.., formula) => format!("acceleration {}", formula.as_deref().unwrap_or_default()),
        };
        let parameters = self.parameters.iter().map(|(name, value)| format!(", {name} = {}", value.text()));
        law + &parameters.collect::<String>()
    }

    /// Returns true if this is Newton's law, which the engines have built in.
    #[must_use]
    pub fn is_newton(&self) -> bool {
        self.name.as_deref() == Some(NEWTON)
    }

    /// Returns true if the law is one of a potential, so that there is an energy.
    #[must_use]
    pub fn has_potential(&self) -> bool {
        let is_acceleration = self.name.as_deref().and_then(Ready::named).is_some_and(|ready| ready.is_acceleration);
        !is_acceleration && self.acceleration.is_none()
    }

    /// Returns the columns of the particles, of a ready law or as they are listed.
    fn columns(&self, ready: Option<&Ready>) -> Vec<(String, Quantity)> {
        let mut columns: Vec<_> = self.columns.iter().map(|(name, unit)| (name.clone(), unit.clone())).collect();
        for name in ready.into_iter().flat_map(|ready| ready.columns) {
            if !self.columns.contains_key(*name) {
                columns.push(((*name).to_owned(), Quantity::number(tisane::real!(1.0))));
            }
        }
        columns
    }

    /// Returns the names of the columns that the particles must have.
    #[must_use]
    pub fn column_names(&self) -> Vec<String> {
        let ready = self.name.as_deref().and_then(Ready::named);
        self.columns(ready).into_iter().map(|(name, _)| name).collect()
    }

    /// Compiles the law for internal units of a scale; [`None`] for Newton's, which the engines have built in.
    pub(crate) fn compile(&self, units: &Units, scale: &Scale) -> Result<Option<Arc<Law>>, Problem> {
        let Some((formula, key, ready)) = self.formula()? else {
            return match self.parameters.keys().next() {
                Some(name) => Err(unknown_parameter(name, NEWTON, &[])),
                None => Ok(None),
            };
        };
        self.check_units(units)?;
        if let Some(ready) = ready {
            self.check_parameters(ready)?;
        }
        let dimension = |of: &Quantity| {
            let Dimension { mass, length, time, .. } = of.dimension();
            GravityDimension::with_time(f64::from(mass), f64::from(length), f64::from(time))
        };
        let parameters = self.parameters.iter().map(|(name, value)| Parameter {
            name: name.clone(),
            value: value.internal(units, scale),
            dimension: dimension(value),
        });
        let columns = self.columns(ready);
        let columns = columns.iter().map(|(name, unit)| Column {
            name: name.clone(),
            unit: unit.internal(units, scale),
            dimension: dimension(unit),
        });
        let source = LawSource {
            formula,
            parameters: parameters.collect(),
            columns: columns.collect(),
            has_units: !units.is_henon(),
        };
        match Law::new(source) {
            Ok(law) => Ok(Some(Arc::new(law))),
            Err(mistake) => Err(Problem::in_formula(format!("{SECTION}.{key}"), mistake)),
        }
    }

    /// Compiles the law for N-body units, where everything is a number; [`None`] for Newton's. `section` is its key path.
    ///
    /// # Errors
    /// The first mistake in it, at its key.
    pub fn in_henon_units(&self, section: &str) -> Result<Option<Arc<Law>>, Problem> {
        let place = |key: String| key.replacen(SECTION, section, 1);
        let compiled = self.compile(&Units::henon(), &Scale::IDENTITY);
        compiled.map_err(|it| Problem { key: place(it.key), against: it.against.map(place), ..it })
    }

    /// Refuses units by name where the configuration has none.
    fn check_units(&self, units: &Units) -> Result<(), Problem> {
        for (section, values) in [("parameters", &self.parameters), ("columns", &self.columns)] {
            for (name, value) in values {
                if units.is_henon() && value.dimension() != Dimension::NONE {
                    let problem = format!("expected a number, found \"{}\": N-body units have no names", value.text());
                    return Err(Problem::new(format!("{SECTION}.{section}.{name}"), problem));
                }
            }
        }
        Ok(())
    }

    /// Checks that exactly the parameters of a ready law are given.
    fn check_parameters(&self, ready: &Ready) -> Result<(), Problem> {
        let known: Vec<&str> = ready.parameters.iter().map(|(name, _)| *name).collect();
        if let Some(name) = self.parameters.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(unknown_parameter(name, ready.name, &known));
        }
        match ready.parameters.iter().find(|(name, _)| !self.parameters.contains_key(*name)) {
            None => Ok(()),
            Some((name, meaning)) => {
                let problem = format!("missing parameter `{name}` of the law \"{}\": {meaning}", ready.name);
                Err(Problem::new(format!("{SECTION}.parameters.{name}"), problem))
            }
        }
    }
}

fn unknown_parameter(name: &str, law: &str, known: &[&str]) -> Problem {
    let near = nearest(name, known).map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
    let problem = format!("unknown parameter `{name}` of the law \"{law}\"{near}");
    Problem::new(format!("{SECTION}.parameters.{name}"), problem).with_help(match known {
        [] => "it has no parameters".into(),
        known => format!("it has {}", known.join(", ")),
    })
}

/// Compiles a law from the text of a section `[force.law]`, for units with G = 1; [`None`] for Newton's.
///
/// # Errors
/// [`Error::Config`](tisane::Error::Config) for every mistake in it.
pub fn law_of_text(text: &str) -> Result<Option<Arc<Law>>, Error> {
    let (section, source) = file::read::<LawSection>(("law", text), &[], |_| Vec::new())?;
    section.compile(&Units::henon(), &Scale::IDENTITY).map_err(|problem| source.explain(problem))
}
