//! All schemes, in one list: their kinds, and their settings as users choose among them.

use super::ahmad_cohen::AhmadCohenSettings;
use super::extrapolated::ExtrapolatedSettings;
use super::hermite4::Hermite4Settings;
use super::leapfrog::LeapfrogSettings;
use super::multipoint::MultipointSettings;
use super::settings::{Scheme, SchemeInfo};
use super::variant::Variant;

/// Declares `IntegratorKind` and `IntegratorSettings` from one line a scheme: its description, its name in camel case
/// and the type of its settings. The first scheme is the default.
macro_rules! schemes {
    (
        $(#[$($first_doc:tt)*])* $First:ident: $first:ty,
        $($(#[$($doc:tt)*])* $Kind:ident: $settings:ty,)*
    ) => {
        /// Available schemes.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum IntegratorKind {
            $(#[$($first_doc)*])*
            #[default]
            $First,
            $($(#[$($doc)*])* $Kind,)*
        }

        impl IntegratorKind {
            /// All schemes.
            pub const ALL: &[Self] = &[Self::$First, $(Self::$Kind,)*];

            /// Returns the orders that studies and advice know.
            #[must_use]
            pub fn variants(self) -> &'static [Variant] {
                match self {
                    Self::$First => <$first>::variants(),
                    $(Self::$Kind => <$settings>::variants(),)*
                }
            }

            /// Returns the properties that do not depend on settings.
            #[must_use]
            pub fn info(self) -> SchemeInfo {
                match self {
                    Self::$First => <$first>::info(),
                    $(Self::$Kind => <$settings>::info(),)*
                }
            }
        }

        /// Scheme that moves the particles, with its settings.
        #[derive(Clone, Debug, PartialEq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        #[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
        #[cfg_attr(feature = "serde", schemars(rename = "Integrator"))]
        pub enum IntegratorSettings {
            $(#[$($first_doc)*])*
            $First($first),
            $($(#[$($doc)*])* $Kind($settings),)*
        }

        impl Default for IntegratorSettings {
            fn default() -> Self {
                Self::$First(<$first>::default())
            }
        }

        impl IntegratorSettings {
            /// Returns the kind of the scheme.
            #[must_use]
            pub const fn kind(&self) -> IntegratorKind {
                match self {
                    Self::$First(_) => IntegratorKind::$First,
                    $(Self::$Kind(_) => IntegratorKind::$Kind,)*
                }
            }

            /// Returns the settings as [`Scheme`].
            #[must_use]
            pub const fn scheme(&self) -> &dyn Scheme {
                match self {
                    Self::$First(settings) => settings,
                    $(Self::$Kind(settings) => settings,)*
                }
            }

            /// Returns the settings as [`Scheme`], mutably.
            pub const fn scheme_mut(&mut self) -> &mut dyn Scheme {
                match self {
                    Self::$First(settings) => settings,
                    $(Self::$Kind(settings) => settings,)*
                }
            }
        }
    };
}

schemes! {
    /// Hermite scheme of 4th order with individual block time steps (Makino & Aarseth 1992).
    Hermite4: Hermite4Settings,
    /// Multi-point Hermite scheme of 6th or 8th order with individual block time steps (Dittmann 2024).
    Multipoint: MultipointSettings,
    /// Neighbour scheme of 6th or 4th order with individual block time steps (Ahmad & Cohen 1973).
    AhmadCohen: AhmadCohenSettings,
    /// Leapfrog of 2nd order, kick-drift-kick, with one fixed step for all particles (Verlet 1967).
    Leapfrog: LeapfrogSettings,
    /// Leapfrog extrapolated in the square of its step, in 106 to 1024 bits: converged solutions of few particles (Bulirsch & Stoer 1966).
    Extrapolated: ExtrapolatedSettings,
}

impl IntegratorSettings {
    /// Returns the properties that do not depend on settings.
    #[must_use]
    pub fn info(&self) -> SchemeInfo {
        self.kind().info()
    }
}

#[cfg(feature = "serde")]
#[cfg(test)]
mod tests {
    use super::{IntegratorKind, IntegratorSettings};

    #[test]
    fn sections_are_the_names_that_are_read_and_keys_are_theirs() {
        let schema = schemars::schema_for!(IntegratorSettings).to_value();
        let choices = schema["oneOf"].as_array().expect("a choice of schemes");
        assert_eq!(choices.len(), IntegratorKind::ALL.len());
        for (choice, kind) in choices.iter().zip(IntegratorKind::ALL) {
            let info = kind.info();
            assert_eq!(info.section, format!("integrator.{}", info.name()));
            let reference = choice["properties"][info.name()]["$ref"].as_str().expect("a section of this name");
            let section = schema.pointer(reference.trim_start_matches('#')).expect("a definition");
            for key in [info.accuracy_key, info.dt_max_key] {
                assert!(section["properties"].get(key).is_some(), "{}.{key}", info.section);
            }
        }
        assert_eq!(IntegratorSettings::default().kind(), IntegratorKind::default());
    }
}
