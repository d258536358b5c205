//! Settings of external fields as users write them.

use super::assembly::Assembly;
use super::field::ExternalField;
use super::formula::{FieldSource, FormulaField};
use super::motion::{self, Motion, Way};
use super::values::{self, FieldUnits, Mistake};
use super::variation::Variation;
use crate::particles::Vec3;
use crate::units::{Real, Units};

/// Keys of every field.
pub trait CommonKeys {
    /// Returns the position of the centre; unit: length.
    fn position(&self) -> [Real; 3];

    /// Returns the motion of the centre, if it moves.
    fn motion(&self) -> Option<&Motion>;

    /// Returns the motion of the centre to be changed.
    fn motion_mut(&mut self) -> Option<&mut Motion>;

    /// Returns the change of the strength in time, if there is one.
    fn variation(&self) -> Option<&Variation>;
}

/// The settings of one external field. Quantities are in the units of the user.
pub trait FieldSettings: CommonKeys {
    /// Returns the section of the configuration: `external.` and the name.
    fn section(&self) -> &'static str;

    /// Adds the mistakes in the values of the field itself.
    fn check(&self, units: &Units, found: &mut Vec<Mistake>);

    /// Describes the field in one line; `place` says where it is.
    fn describe(&self, units: &Units, place: &str) -> String;

    /// Returns the papers that the field is taken from, by their keys in the references of `tisane generate cite`.
    fn references(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the keys that name tables of the field itself, with their paths.
    fn tables(&self) -> Vec<(&'static str, &str)> {
        Vec::new()
    }

    /// Returns these keys' paths to be changed.
    fn tables_mut(&mut self) -> Vec<(&'static str, &mut String)> {
        Vec::new()
    }

    /// Returns true if the field at full strength changes in time.
    fn depends_on_time(&self, _units: &Units) -> bool {
        false
    }

    /// Returns what a user should know of the field.
    fn notes(&self, _units: &Units) -> Vec<String> {
        Vec::new()
    }

    /// Returns the field at full strength in internal units, with its centre at `at`.
    ///
    /// # Errors
    /// Mistakes that [`check`](Self::check) finds, and those in tables.
    fn at_full_strength(&self, to: FieldUnits<'_>, at: Vec3) -> Result<Box<dyn ExternalField>, Mistake>;
}

impl dyn FieldSettings + '_ {
    /// Returns all mistakes in the values.
    #[must_use]
    pub fn mistakes(&self, units: &Units) -> Vec<Mistake> {
        let mut found = Vec::new();
        self.check(units, &mut found);
        if let Some(variation) = self.variation() {
            variation.check(&mut found);
        }
        if let Some(motion) = self.motion() {
            motion.check(self.position(), &mut found);
        }
        found
    }

    /// Returns true if the field does not change in time, so that it conserves the energy.
    #[must_use]
    pub fn is_constant(&self, units: &Units) -> bool {
        let is_fixed = matches!(self.motion().map_or(Way::Rest, Motion::way), Way::Rest | Way::Carried);
        is_fixed && self.variation().is_none() && !self.depends_on_time(units)
    }

    /// Returns true if the field moves with the origin of coordinates.
    #[must_use]
    pub fn is_carried(&self) -> bool {
        self.motion().is_some_and(|motion| motion.way() == Way::Carried)
    }

    /// Calls `read` with every key below the section that names a table, and its path to be changed.
    ///
    /// # Errors
    /// The first error of `read`.
    pub fn each_table_mut<E>(&mut self, mut read: impl FnMut(&str, &mut String) -> Result<(), E>) -> Result<(), E> {
        self.tables_mut().into_iter().try_for_each(|(key, path)| read(key, path))?;
        let of_motion = self.motion_mut().and_then(|motion| motion.path.as_mut());
        of_motion.map_or(Ok(()), |path| read("motion.path", path))
    }

    /// Returns every key below the section that names a table, with its path.
    #[must_use]
    pub fn all_tables(&self) -> Vec<(&'static str, &str)> {
        let of_motion = self.motion().and_then(|motion| motion.path.as_deref()).map(|path| ("motion.path", path));
        self.tables().into_iter().chain(of_motion).collect()
    }

    /// Describes the field and its change in one line.
    #[must_use]
    pub fn description(&self, units: &Units) -> String {
        let change = self.variation().map(|it| format!("; {}", it.describe(units)));
        let at = || values::at(self.position(), units);
        let place = self.motion().map_or_else(at, |motion| motion.describe(self.position(), units));
        self.describe(units, &place) + &change.unwrap_or_default()
    }

    /// Returns the place of the centre of the field before it moves, in internal units.
    pub(super) fn centre(&self, to: FieldUnits<'_>) -> Vec3 {
        motion::centre(self.motion(), self.position(), to)
    }

    /// Returns the field at full strength with the change of its strength.
    pub(super) fn varied(&self, field: Box<dyn ExternalField>, to: FieldUnits<'_>) -> Box<dyn ExternalField> {
        match self.variation() {
            Some(variation) => variation.of(field, to),
            None => field,
        }
    }

    /// Returns the field, without others, in internal units.
    ///
    /// # Errors
    /// The first of the mistakes in the settings that hinder it.
    pub fn build(&self, to: FieldUnits<'_>) -> Result<Box<dyn ExternalField>, Mistake> {
        let mut assembly = Assembly::default();
        let field = self.at_full_strength(to, self.centre(to))?;
        assembly.add(self.section(), self.varied(field, to), (self.position(), self.motion()), to)?;
        Ok(assembly.whole())
    }
}

/// Declares the settings of a field: its description, its name, its name in the schema, and its keys. Position, motion
/// and variation are keys of every field.
macro_rules! keys {
    ($(#[$about:meta])* $name:ident, $schema:literal, { $($(#[$key:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
        #[cfg_attr(feature = "serde", schemars(rename = $schema))]
        pub struct $name {
            $($(#[$key])* pub $field: $type,)*
            /// Position of the centre; unit: length.
            #[cfg_attr(feature = "serde", serde(default = "crate::force::external::values::origin"))]
            pub position: [$crate::units::Real; 3],
            /// Motion of the centre; default: at rest.
            #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
            pub motion: Option<$crate::force::external::motion::Motion>,
            /// Change of the strength in time; default: none.
            #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
            pub variation: Option<$crate::force::external::variation::Variation>,
        }

        impl $crate::force::external::settings::CommonKeys for $name {
            fn position(&self) -> [$crate::units::Real; 3] {
                self.position
            }

            fn motion(&self) -> Option<&$crate::force::external::motion::Motion> {
                self.motion.as_ref()
            }

            fn motion_mut(&mut self) -> Option<&mut $crate::force::external::motion::Motion> {
                self.motion.as_mut()
            }

            fn variation(&self) -> Option<&$crate::force::external::variation::Variation> {
                self.variation.as_ref()
            }
        }
    };
}
pub(super) use keys;

/// Compiles the formula of a field of ready settings.
pub(super) fn compiled(source: &FieldSource, position: Vec3) -> Result<Box<dyn ExternalField>, Mistake> {
    match FormulaField::new(source, position) {
        Ok(field) => Ok(Box::new(field)),
        Err(mistake) => Err(Mistake::new("", format!("these values make no field: {}", mistake.problem))),
    }
}

/// Declares [`ExternalSettings`](super::ExternalSettings) from one line a field: its description, its name in snake
/// case and the type of its settings.
macro_rules! fields {
    ($($(#[$($doc:tt)*])* $name:ident: $settings:ty,)*) => {
        /// External fields of a run: each kind once, `[external.<kind>]`, or as a list, `[[external.<kind>]]`. All add up.
        #[derive(Clone, Debug, Default, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "serde", serde(default, rename_all = "kebab-case", deny_unknown_fields))]
        #[cfg_attr(feature = "serde", schemars(rename = "External"))]
        pub struct ExternalSettings {
            $(
                $(#[$($doc)*])*
                #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Several::is_empty"))]
                pub $name: Several<$settings>,
            )*
        }

        impl ExternalSettings {
            /// Returns the settings of every field that is written, in the order in which fields add up.
            pub fn iter(&self) -> impl Iterator<Item = &dyn FieldSettings> {
                let all: [Vec<&dyn FieldSettings>; _] =
                    [$(self.$name.0.iter().map(|settings| settings as &dyn FieldSettings).collect()),*];
                all.into_iter().flatten()
            }

            /// Returns the settings of every field to be changed, in the same order.
            pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut dyn FieldSettings> {
                let all: [Vec<&mut dyn FieldSettings>; _] =
                    [$(self.$name.0.iter_mut().map(|settings| settings as &mut dyn FieldSettings).collect()),*];
                all.into_iter().flatten()
            }
        }
    };
}
pub(super) use fields;

#[cfg(test)]
mod tests {
    use super::super::{ExternalSettings, NoTables, PlummerSettings, PointMassSettings};
    use super::*;
    use crate::real;
    use crate::units::Scale;

    fn both() -> ExternalSettings {
        let (mass, position) = (real!(8.0), [real!(1.0), real!(2.0), real!(-4.0)]);
        ExternalSettings {
            point_mass: PointMassSettings { mass, position, softening: real!(0.0), motion: None, variation: None }
                .into(),
            plummer: PlummerSettings { mass, position, scale_radius: real!(2.0), motion: None, variation: None }.into(),
            ..ExternalSettings::default()
        }
    }

    #[test]
    fn fields_are_built_in_internal_units_and_add_up() {
        let units = Units::henon();
        let build = |settings: &ExternalSettings, scale| {
            settings.build(FieldUnits { units: &units, scale, tables: &NoTables }).expect("fields")
        };
        let none = ExternalSettings::default();
        assert!(none.is_empty() && build(&none, &Scale::IDENTITY).is_none());
        let scale = Scale { mass: 4.0, length: 2.0, velocity: 1.0, time: 1.0 };
        let field = build(&both(), &scale).unwrap();
        // A mass of 2 at (½, 1, −2); three units along x from it, and with the scale radius 1.
        let found = field.pot(Vec3::new(3.5, 1.0, -2.0), 0.0);
        assert!((found + 2.0 / 3.0 + 2.0 / 10f64.sqrt()).abs() < 1e-15, "{found}");
    }

    #[test]
    fn values_without_meaning_are_mistakes() {
        let mut settings = both();
        let point = &mut settings.point_mass.0[0];
        (point.mass, point.softening) = (real!(0.0), real!(-1.0));
        settings.plummer.0[0].scale_radius = real!(0.0);
        let keys = |of: &ExternalSettings| -> Vec<String> {
            of.iter().flat_map(|field| field.mistakes(&Units::henon())).map(|mistake| mistake.key).collect()
        };
        assert_eq!(keys(&settings), ["mass", "softening", "scale_radius"]);
        assert!(keys(&both()).is_empty());
    }
}
