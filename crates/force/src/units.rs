//! Units of the user, and the internal scale (G = 1, values near 1).

mod dimension;
pub mod names;
mod quantity;
mod readable;
pub mod real;
mod scale;
mod system;

pub use dimension::Dimension;
pub use quantity::Quantity;
pub use readable::{digits, shortest_decimal, significant, twelve_digits, wall_time};
pub use real::Real;
pub use scale::{Scale, nearest_power_of_two};
pub use system::{Rates, Unit, Units};

#[cfg(test)]
mod tests {
    use super::*;
    use names::{LengthUnit, MassUnit, TimeUnit, VelocityUnit};

    fn close(found: f64, expected: f64, relative: f64) {
        assert!((found / expected - 1.0).abs() < relative, "{found} is not {expected}");
    }

    #[test]
    fn verify_gravitational_constant_in_cluster_units() {
        let units = Units::named(MassUnit::Msun, LengthUnit::Parsec, Rates::Velocity(VelocityUnit::KilometrePerSecond));
        close(units.g(), 4.300_917_27e-3, 1e-8);
        assert_eq!(units.time.name, "pc/(km/s)");
        close(units.time.cgs / TimeUnit::Megayear.value(), 0.977_792, 1e-6);
        close(units.mass.cgs, 1.988_41e33, 1e-5);
        close(units.length.cgs, 3.085_677_581e18, 1e-9);
    }

    #[test]
    fn verify_gravitational_constant_in_planetary_units() {
        let units = Units::named(MassUnit::Msun, LengthUnit::Au, Rates::Time(TimeUnit::Year));
        // Gauss's year is not the Julian year: 4π² holds to a few parts in 10⁵.
        close(units.g(), 4.0 * std::f64::consts::PI.powi(2), 1e-4);
        // Gauss's constant k = 0.01720209895 au^(3/2) day⁻¹ is defined without this rounding: k² = G Msun.
        let units = Units::named(MassUnit::Msun, LengthUnit::Au, Rates::Time(TimeUnit::Day));
        close(units.g().sqrt(), 0.017_202_098_95, 1e-8);
        assert_eq!(units.velocity.name, "au/day");
    }

    #[test]
    fn times_of_orbits_are_in_the_unit_of_time() {
        let au = |rates| Units::named(MassUnit::Msun, LengthUnit::Au, rates);
        let year = |units: &Units| std::f64::consts::TAU / units.g().sqrt() * units.dynamical_time();
        let both = Rates::Both(VelocityUnit::KilometrePerSecond, TimeUnit::Year);
        for units in [au(Rates::Time(TimeUnit::Year)), au(both)] {
            close(year(&units), 1.0, 3e-5);
        }
        assert_eq!(Units::henon().dynamical_time(), 1.0);
        close(au(Rates::Velocity(VelocityUnit::KilometrePerSecond)).dynamical_time(), 1.0, 1e-15);
    }

    #[test]
    fn internal_scale_has_unit_gravity_and_rounds_nothing() {
        let rates = Rates::Both(VelocityUnit::KilometrePerSecond, TimeUnit::Megayear);
        let units = Units::named(MassUnit::Msun, LengthUnit::Parsec, rates);
        let scale = Scale::choose(&units, 600.0, 0.3);
        assert_eq!((scale.mass, scale.length), (512.0, 0.25));
        close(units.g() * scale.mass / (scale.length * scale.velocity.powi(2)), 1.0, 1e-15);
        close(scale.time, scale.length / scale.velocity * 0.977_792, 1e-6);
        assert_eq!(Scale::choose(&Units::henon(), 600.0, 0.3), Scale::IDENTITY);
    }

    #[test]
    fn power_of_two_is_nearest_on_a_logarithmic_scale() {
        for (x, expected) in [(1.0, 1.0), (1.41, 1.0), (1.42, 2.0), (3.0, 4.0), (0.7, 0.5), (0.71, 1.0)] {
            assert_eq!(nearest_power_of_two(x), expected, "{x}");
        }
        for bad in [0.0, -3.0, f64::NAN, f64::INFINITY, 5e-324] {
            assert_eq!(nearest_power_of_two(bad), 1.0, "{bad}");
        }
    }

    #[test]
    fn labels_and_cgs_follow_the_dimension() {
        let units = Units::named(MassUnit::Msun, LengthUnit::Parsec, Rates::Velocity(VelocityUnit::KilometrePerSecond));
        assert_eq!(units.label(Dimension::NONE), "1");
        assert_eq!(units.label(Dimension::VELOCITY), "km/s");
        assert_eq!(units.label(Dimension::ENERGY), "Msun (km/s)^2");
        assert_eq!(units.label(Dimension::ACCELERATION), "pc^-1 (km/s)^2");
        close(units.cgs(Dimension::POTENTIAL), 1e10, 1e-15);
        assert_eq!(Units::henon().cgs(Dimension::ENERGY), 1.0);
        assert_eq!(Units::henon().label(Dimension::ENERGY), "M V^2");
    }
}
