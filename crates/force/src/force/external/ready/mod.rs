//! Fields of galaxies, one file each: the potential as a formula, its keys, its source, values by hand.

pub mod dehnen;
pub mod dehnen_bar;
pub mod exponential_disc;
pub mod hernquist;
pub mod isochrone;
pub mod jaffe;
pub mod logarithmic;
pub mod long_murali_bar;
pub mod milky_way;
pub mod miyamoto_nagai;
pub mod nfw;
pub mod power_law;
mod rotating;
pub mod tidal_tensor;
pub mod tide;
pub mod user;

#[cfg(test)]
pub(super) mod reference;

#[cfg(test)]
mod by_hand {
    use crate::force::external::field::ExternalField;
    use crate::force::external::settings::FieldSettings;
    use crate::force::external::tables::NoTables;
    use crate::force::external::values::FieldUnits;
    use crate::units::{Scale, Units};

    /// Builds a field in units with G = 1.
    pub fn field(settings: &dyn FieldSettings) -> Box<dyn ExternalField> {
        let units = Units::henon();
        assert!(settings.mistakes(&units).is_empty());
        settings.build(FieldUnits { units: &units, scale: &Scale::IDENTITY, tables: &NoTables }).expect("a field")
    }

    /// Asserts that two numbers agree to 13 digits.
    pub fn close(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-13 * want.abs(), "{got} is not {want}");
    }
}
