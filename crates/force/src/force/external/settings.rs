//! Settings of external fields as users write them.

use super::field::ExternalField;
use crate::particles::Vec3;
use crate::real;
use crate::units::{Real, Scale, Units};
use std::fmt::Display;

/// A mistake in the settings of a field: the key of its section, and the problem.
pub type Mistake = (&'static str, String);

/// The settings of one external field. Quantities are in the units of the user.
pub trait FieldSettings {
    /// Returns the section of the configuration: `external.` and the name.
    fn section(&self) -> &'static str;

    /// Adds the mistakes in the values.
    fn check(&self, found: &mut Vec<Mistake>);

    /// Describes the field in one line.
    fn describe(&self, units: &Units) -> String;

    /// Returns the papers that the field is taken from, by their keys in the references of `tisane generate cite`.
    fn references(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the field in internal units; `scale` has the user units in one internal unit.
    fn build(&self, scale: &Scale) -> Box<dyn ExternalField>;
}

/// The origin, the place of a field where the user does not say.
#[cfg_attr(not(feature = "serde"), allow(dead_code, reason = "defaults are for files"))]
pub(super) const fn origin() -> [Real; 3] {
    [real!(0.0); 3]
}

/// Adds a mistake for a value that is not above zero.
pub(super) fn positive(found: &mut Vec<Mistake>, key: &'static str, value: Real) {
    if value.get() <= 0.0 {
        found.push((key, format!("expected a number above 0, found {value}")));
    }
}

/// Adds a mistake for a value below zero.
pub(super) fn not_negative(found: &mut Vec<Mistake>, key: &'static str, value: Real) {
    if value.get() < 0.0 {
        found.push((key, format!("expected a number of at least 0, found {value}")));
    }
}

/// Returns a place in internal units.
pub(super) fn place(position: [Real; 3], scale: &Scale) -> Vec3 {
    Vec3::from(position.map(|x| x.get() / scale.length))
}

/// Describes a mass at a place with its length.
pub(super) fn describe(mass: Real, position: [Real; 3], (name, length): (&str, impl Display), units: &Units) -> String {
    let [x, y, z] = position.map(Real::get);
    let (mass_unit, length_unit) = (&units.mass.name, &units.length.name);
    format!("{mass} {mass_unit} at ({x}, {y}, {z}) {length_unit}, {name} {length} {length_unit}")
}

/// Declares [`ExternalSettings`](super::ExternalSettings) from one line a field: its description, its name in snake
/// case and the type of its settings.
macro_rules! fields {
    ($($(#[$($doc:tt)*])* $name:ident: $settings:ty,)*) => {
        /// External fields of a run: each kind at most once. Several add up.
        #[derive(Clone, Debug, Default, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "serde", serde(default, rename_all = "kebab-case", deny_unknown_fields))]
        #[cfg_attr(feature = "serde", schemars(rename = "External"))]
        pub struct ExternalSettings {
            $(
                $(#[$($doc)*])*
                #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
                pub $name: Option<$settings>,
            )*
        }

        impl ExternalSettings {
            /// Returns the settings of every field that is written, in the order in which fields add up.
            pub fn iter(&self) -> impl Iterator<Item = &dyn FieldSettings> {
                let all = [$(self.$name.as_ref().map(|settings| settings as &dyn FieldSettings)),*];
                all.into_iter().flatten()
            }
        }
    };
}
pub(super) use fields;

#[cfg(test)]
mod tests {
    use super::super::{ExternalSettings, PlummerSettings, PointMassSettings};
    use super::*;

    fn both() -> ExternalSettings {
        let (mass, position) = (real!(8.0), [real!(1.0), real!(2.0), real!(-4.0)]);
        ExternalSettings {
            point_mass: Some(PointMassSettings { mass, position, softening: real!(0.0) }),
            plummer: Some(PlummerSettings { mass, position, scale_radius: real!(2.0) }),
        }
    }

    #[test]
    fn fields_are_built_in_internal_units_and_add_up() {
        assert!(
            ExternalSettings::default().is_empty() && ExternalSettings::default().build(&Scale::IDENTITY).is_none()
        );
        let scale = Scale { mass: 4.0, length: 2.0, velocity: 1.0, time: 1.0 };
        let field = both().build(&scale).unwrap();
        // A mass of 2 at (½, 1, −2); three units along x from it, and with the scale radius 1.
        let found = field.pot(Vec3::new(3.5, 1.0, -2.0), 0.0);
        assert!((found + 2.0 / 3.0 + 2.0 / 10f64.sqrt()).abs() < 1e-15, "{found}");
    }

    #[test]
    fn values_without_meaning_are_mistakes() {
        let mut settings = both();
        let point = settings.point_mass.as_mut().unwrap();
        (point.mass, point.softening) = (real!(0.0), real!(-1.0));
        settings.plummer.as_mut().unwrap().scale_radius = real!(0.0);
        let mut found = Vec::new();
        settings.iter().for_each(|field| field.check(&mut found));
        assert_eq!(found.iter().map(|(key, _)| *key).collect::<Vec<_>>(), ["mass", "softening", "scale_radius"]);
        let mut found = Vec::new();
        both().iter().for_each(|field| field.check(&mut found));
        assert_eq!(found, []);
    }
}
