//! Names of units, with their cgs values and the sources of the constants.
//!
//! Sources: IAU 2015 Resolution B3 (nominal solar, terrestrial and jovian mass parameters), IAU 2012 Resolution B2
//! (astronomical unit), IAU 2015 Resolution B2 (parsec = 648000/π au), CODATA 2018 (G; unchanged in CODATA 2022),
//! IAU style manual (Julian year of 365.25 days of 86400 s).

/// Newton's constant, cm³ g⁻¹ s⁻² (CODATA 2018 and 2022: 6.67430e-11 m³ kg⁻¹ s⁻²).
pub const G_CGS: f64 = 6.674_30e-8;
/// Nominal solar mass parameter, cm³ s⁻² (IAU 2015 B3: 1.3271244e20 m³ s⁻²).
pub const GM_SUN_CGS: f64 = 1.327_124_4e26;
/// Nominal solar radius, cm (IAU 2015 B3: 6.957e8 m).
pub const R_SUN_CGS: f64 = 6.957e10;
/// Nominal terrestrial mass parameter, cm³ s⁻² (IAU 2015 B3: 3.986004e14 m³ s⁻²).
pub const GM_EARTH_CGS: f64 = 3.986_004e20;
/// Nominal jovian mass parameter, cm³ s⁻² (IAU 2015 B3: 1.2668653e17 m³ s⁻²).
pub const GM_JUPITER_CGS: f64 = 1.266_865_3e23;
/// Astronomical unit, cm (IAU 2012 B2: 149 597 870 700 m exactly).
pub const AU_CGS: f64 = 1.495_978_707e13;
/// Parsec, cm (IAU 2015 B2: 648000/π au).
pub const PC_CGS: f64 = 648_000.0 / std::f64::consts::PI * AU_CGS;
/// Day, s.
pub const DAY_CGS: f64 = 86_400.0;
/// Julian year, s.
pub const YEAR_CGS: f64 = 365.25 * DAY_CGS;

/// Declares an enum of unit names: variant, the name as written, cgs value.
macro_rules! unit_names {
    ($(#[$doc:meta])* $enum:ident, $what:literal, $($variant:ident = $name:literal, $value:expr;)+) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
        pub enum $enum {
            $(#[doc = $name] #[cfg_attr(feature = "serde", serde(rename = $name))] $variant,)+
        }

        impl $enum {
            /// All units.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Returns the name as users write it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            #[doc = $what]
            #[must_use]
            pub const fn value(self) -> f64 {
                match self { $(Self::$variant => $value,)+ }
            }
        }
    };
}

unit_names! {
    /// Unit of mass.
    MassUnit, "G times one unit, cm³ s⁻²: exact for the nominal masses, whose mass parameter is known better than G.",
    Msun = "Msun", GM_SUN_CGS;
    Mjup = "Mjup", GM_JUPITER_CGS;
    Mearth = "Mearth", GM_EARTH_CGS;
    Kilogram = "kg", G_CGS * 1e3;
    Gram = "g", G_CGS;
}

unit_names! {
    /// Unit of length.
    LengthUnit, "One unit in cm.",
    Kiloparsec = "kpc", PC_CGS * 1e3;
    Parsec = "pc", PC_CGS;
    Au = "au", AU_CGS;
    Kilometre = "km", 1e5;
    Metre = "m", 1e2;
    Centimetre = "cm", 1.0;
}

unit_names! {
    /// Unit of velocity.
    VelocityUnit, "One unit in cm/s.",
    KilometrePerSecond = "km/s", 1e5;
    MetrePerSecond = "m/s", 1e2;
    CentimetrePerSecond = "cm/s", 1.0;
    ParsecPerMyr = "pc/Myr", PC_CGS / (1e6 * YEAR_CGS);
    AuPerYear = "au/yr", AU_CGS / YEAR_CGS;
    AuPerDay = "au/day", AU_CGS / DAY_CGS;
}

unit_names! {
    /// Unit of time.
    TimeUnit, "One unit in s.",
    Gigayear = "Gyr", 1e9 * YEAR_CGS;
    Megayear = "Myr", 1e6 * YEAR_CGS;
    Year = "yr", YEAR_CGS;
    Day = "day", DAY_CGS;
    Second = "s", 1.0;
}
