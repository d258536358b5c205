//! A field of the user: the formula of its potential.

use crate::force::external::field::ExternalField;
use crate::force::external::formula::{FieldSource, FormulaField};
use crate::force::external::settings::{self, FieldSettings};
use crate::force::external::tables::NoTables;
use crate::force::external::values::{FieldUnits, Mistake};
use crate::formula::Parameter;
use crate::formula::dimension::GravityDimension;
use crate::particles::Vec3;
use crate::units::{Dimension, Quantity, Scale, Units};
use std::collections::BTreeMap;

settings::keys! {
    /// Field by a formula of its potential.
    FormulaSettings, "ExternalFormula", {
        /// Formula of the potential per unit mass, of x, y, z and t, r and R, G, pi and the parameters.
        potential: String,
        /// Parameters of the formula, each a number or text with a unit such as "0.3 pc".
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "BTreeMap::is_empty"))]
        parameters: BTreeMap<String, Quantity>,
    }
}

impl FormulaSettings {
    /// Returns what the field is compiled from.
    fn source(&self, to: FieldUnits<'_>) -> FieldSource {
        let parameters = self.parameters.iter().map(|(name, value)| {
            let Dimension { mass, length, time, .. } = value.dimension();
            let dimension = GravityDimension::with_time(f64::from(mass), f64::from(length), f64::from(time));
            Parameter { name: name.clone(), value: value.internal(to.units, to.scale), dimension }
        });
        FieldSource {
            parameters: parameters.collect(),
            has_units: !to.units.is_henon(),
            ..FieldSource::new(&self.potential, &[])
        }
    }

    /// Compiles and checks the formula. The size of the particles is not known: mistakes do not depend on it but for jumps
    /// and derivatives.
    fn checked(&self, units: &Units) -> Result<FormulaField, Mistake> {
        let scale = Scale::choose(units, 1.0, 1.0);
        let to = FieldUnits { units, scale: &scale, tables: &NoTables };
        FormulaField::checked(&self.source(to), to.place(self.position))
            .map_err(|mistake| Mistake::in_formula("potential", mistake))
    }
}

impl FieldSettings for FormulaSettings {
    fn section(&self) -> &'static str {
        "external.formula"
    }

    fn check(&self, units: &Units, found: &mut Vec<Mistake>) {
        for (name, value) in &self.parameters {
            if units.is_henon() && value.dimension() != Dimension::NONE {
                let problem = format!("expected a number, found \"{}\": N-body units have no names", value.text());
                found.push(Mistake::new(&format!("parameters.{name}"), problem));
            }
        }
        found.extend(self.checked(units).err());
    }

    fn describe(&self, _: &Units, place: &str) -> String {
        let parameters: String =
            self.parameters.iter().map(|(name, value)| format!(", {name} = {}", value.text())).collect();
        format!("formula {}{parameters} {}", self.potential, place)
    }

    fn depends_on_time(&self, units: &Units) -> bool {
        self.checked(units).is_ok_and(|field| field.depends_on_time())
    }

    fn notes(&self, units: &Units) -> Vec<String> {
        self.checked(units).map(|field| field.notes().to_vec()).unwrap_or_default()
    }

    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
        match FormulaField::new(&self.source(to), at) {
            Ok(field) => Ok(Box::new(field)),
            Err(mistake) => Err(Mistake::in_formula("potential", mistake)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::ready::by_hand::{close, field};
    use crate::units::names::{LengthUnit, MassUnit, VelocityUnit};
    use crate::units::{Rates, Real};

    fn settings(potential: &str, parameters: &[(&str, &str)]) -> FormulaSettings {
        let parameter = |&(name, value): &(&str, &str)| (name.to_owned(), Quantity::parse(value).expect("a quantity"));
        FormulaSettings {
            potential: potential.into(),
            parameters: parameters.iter().map(parameter).collect(),
            position: [crate::real!(0.0); 3],
            motion: None,
            variation: None,
        }
    }

    #[test]
    fn a_formula_is_a_field_around_its_position() {
        let mut settings = settings("-G*mass/sqrt(r^2 + a^2)", &[("mass", "10"), ("a", "3")]);
        settings.position[1] = Real::new(1.0).expect("a number");
        let field = field(&settings);
        close(field.pot(Vec3::new(4.0, 1.0, 0.0), 0.0), -2.0);
        close(field.acc(Vec3::new(4.0, 1.0, 0.0), 0.0).x, -40.0 / 125.0);
        let is_constant = |settings: &dyn FieldSettings| settings.is_constant(&Units::henon());
        assert!(is_constant(&settings) && !is_constant(&self::settings("x^2*cos(t)", &[])));
    }

    #[test]
    fn mistakes_are_those_of_the_formula_and_its_units() {
        let parsec =
            Units::named(MassUnit::Msun, LengthUnit::Parsec, Rates::Velocity(VelocityUnit::KilometrePerSecond));
        let mistakes = |settings: &FormulaSettings, units: &Units| {
            let settings: &dyn FieldSettings = settings;
            settings.mistakes(units).into_iter().map(|it| (it.key, it.problem)).collect::<Vec<_>>()
        };
        let right = settings("-G*mass/r*exp(-t/tau)", &[("mass", "1e6 Msun"), ("tau", "3 Myr")]);
        assert!(mistakes(&right, &parsec).is_empty());
        let in_henon = mistakes(&right, &Units::henon());
        assert_eq!(
            in_henon.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(),
            ["parameters.mass", "parameters.tau"]
        );
        let wrong = mistakes(&settings("-G*mass/r", &[("mass", "1e6 pc")]), &parsec);
        assert_eq!(
            wrong,
            [("potential".into(), "expected a velocity² (an energy per mass), found a pure number".into())]
        );
    }
}
