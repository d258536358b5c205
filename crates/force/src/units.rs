//! Units of the user, and the internal scale (G = 1, values near 1).

pub mod names;
mod quantity;
mod readable;
mod real;

pub use quantity::Quantity;
pub use readable::{digits, shortest_decimal, twelve_digits, wall_time};
pub use real::Real;

use names::{G_CGS, LengthUnit, MassUnit, TimeUnit, VelocityUnit};

/// Dimension of a quantity, as powers of the four units that a user names. `time` is separate from `length / velocity`,
/// because velocities are commonly in km/s and times in Myr.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimension {
    /// Power of mass.
    pub mass: i32,
    /// Power of length.
    pub length: i32,
    /// Power of velocity.
    pub velocity: i32,
    /// Power of time.
    pub time: i32,
}

impl Dimension {
    const fn new(mass: i32, length: i32, velocity: i32, time: i32) -> Self {
        Self { mass, length, velocity, time }
    }
    /// Dimension of a pure number.
    pub const NONE: Self = Self::new(0, 0, 0, 0);
    /// Dimension of a mass.
    pub const MASS: Self = Self::new(1, 0, 0, 0);
    /// Dimension of a length.
    pub const LENGTH: Self = Self::new(0, 1, 0, 0);
    /// Dimension of a velocity.
    pub const VELOCITY: Self = Self::new(0, 0, 1, 0);
    /// Dimension of a time.
    pub const TIME: Self = Self::new(0, 0, 0, 1);
    /// Dimension of a density, mass / length³.
    pub const DENSITY: Self = Self::new(1, -3, 0, 0);
    /// Dimension of an acceleration, velocity² / length.
    pub const ACCELERATION: Self = Self::new(0, -1, 2, 0);
    /// Dimension of a potential per unit mass, velocity².
    pub const POTENTIAL: Self = Self::new(0, 0, 2, 0);
    /// Dimension of an energy, mass · velocity².
    pub const ENERGY: Self = Self::new(1, 0, 2, 0);
    /// Dimension of a momentum, mass · velocity.
    pub const MOMENTUM: Self = Self::new(1, 0, 1, 0);
    /// Dimension of an angular momentum, mass · length · velocity.
    pub const ANGULAR_MOMENTUM: Self = Self::new(1, 1, 1, 0);
}

/// Unit with its name and size.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unit {
    /// Name, as printed.
    pub name: String,
    /// Size in cgs (g, cm, cm/s or s); 1 for Hénon units, which have no size.
    pub cgs: f64,
}

impl Unit {
    fn new(name: impl Into<String>, cgs: f64) -> Self {
        Self { name: name.into(), cgs }
    }
}

/// Velocity and time units that a user named. If one is left out it follows from the other and the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rates {
    /// Velocity unit named; times are in length / velocity.
    Velocity(VelocityUnit),
    /// Time unit named; velocities are in length / time.
    Time(TimeUnit),
    /// Both units named.
    Both(VelocityUnit, TimeUnit),
}

impl Rates {
    /// Returns the units of velocity and time that were named; [`None`] if neither was.
    #[must_use]
    pub const fn from_names(velocity: Option<VelocityUnit>, time: Option<TimeUnit>) -> Option<Self> {
        match (velocity, time) {
            (Some(velocity), Some(time)) => Some(Self::Both(velocity, time)),
            (Some(velocity), None) => Some(Self::Velocity(velocity)),
            (None, Some(time)) => Some(Self::Time(time)),
            (None, None) => None,
        }
    }
}

/// Units of everything that the user writes and reads.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Units {
    /// Unit of mass.
    pub mass: Unit,
    /// Unit of length.
    pub length: Unit,
    /// Unit of velocity.
    pub velocity: Unit,
    /// Unit of time.
    pub time: Unit,
    /// Gravitational constant in length · velocity² / mass.
    g: f64,
    henon: bool,
}

impl Units {
    /// Returns Hénon (N-body) units: G = 1, and M = 1, E = −1/4 for models that can be scaled to them (Heggie & Mathieu
    /// 1986). They are called `M`, `L`, `V`, `T`.
    #[must_use]
    pub fn henon() -> Self {
        let [mass, length, velocity, time] = ["M", "L", "V", "T"].map(|name| Unit::new(name, 1.0));
        Self { mass, length, velocity, time, g: 1.0, henon: true }
    }

    /// Returns physical units by name; for the constants see [`names`].
    #[must_use]
    pub fn named(mass: MassUnit, length: LengthUnit, rates: Rates) -> Self {
        let (cm, length_name) = (length.value(), length.name());
        let from_velocity = |v: VelocityUnit| Unit::new(v.name(), v.value());
        let from_time = |t: TimeUnit| Unit::new(t.name(), t.value());
        let (velocity, time) = match rates {
            Rates::Both(v, t) => (from_velocity(v), from_time(t)),
            Rates::Velocity(v) => {
                (from_velocity(v), Unit::new(format!("{length_name}/({})", v.name()), cm / v.value()))
            }
            Rates::Time(t) => (Unit::new(format!("{length_name}/{}", t.name()), cm / t.value()), from_time(t)),
        };
        let g = mass.value() / (cm * velocity.cgs * velocity.cgs);
        let mass = Unit::new(mass.name(), mass.value() / G_CGS);
        Self { mass, length: Unit::new(length_name, cm), velocity, time, g, henon: false }
    }

    /// Returns physical units with the sizes that a file states for mass, length, velocity, time, and with G in these
    /// units. [`None`] unless every number is positive and finite.
    #[must_use]
    pub fn from_sizes([mass, length, velocity, time]: [Unit; 4], g: f64) -> Option<Self> {
        let sizes = [mass.cgs, length.cgs, velocity.cgs, time.cgs, g];
        let good = sizes.iter().all(|x| *x > 0.0 && x.is_finite());
        good.then_some(Self { mass, length, velocity, time, g, henon: false })
    }

    /// Returns the gravitational constant in length · velocity² / mass of these units; exactly 1 in Hénon units.
    #[must_use]
    pub const fn g(&self) -> f64 {
        self.g
    }

    /// Returns length / velocity in units of time: 1 unless both velocity and time were named. A time that follows from
    /// lengths, velocities and G, such as a period, is to be multiplied by it.
    #[must_use]
    pub fn dynamical_time(&self) -> f64 {
        self.length.cgs / self.velocity.cgs / self.time.cgs
    }

    /// Returns true for Hénon units.
    #[must_use]
    pub const fn is_henon(&self) -> bool {
        self.henon
    }

    /// Returns the names of the units: `Msun, pc, km/s, Myr`, or `Henon units`.
    #[must_use]
    pub fn describe(&self) -> String {
        if self.henon {
            return "Henon units".into();
        }
        [&self.mass, &self.length, &self.velocity, &self.time].map(|unit| unit.name.as_str()).join(", ")
    }

    /// Returns the size in cgs of the unit of a quantity; 1 in Hénon units.
    #[must_use]
    pub fn cgs(&self, d: Dimension) -> f64 {
        self.mass.cgs.powi(d.mass)
            * self.length.cgs.powi(d.length)
            * self.velocity.cgs.powi(d.velocity)
            * self.time.cgs.powi(d.time)
    }

    /// Returns the name of the unit of a quantity, such as `Msun (km/s)^2`; `1` for a pure number.
    #[must_use]
    pub fn label(&self, d: Dimension) -> String {
        let units =
            [(&self.mass, d.mass), (&self.length, d.length), (&self.velocity, d.velocity), (&self.time, d.time)];
        let used: Vec<_> = units.into_iter().filter(|(_, power)| *power != 0).collect();
        match used[..] {
            [] => return "1".into(),
            [(unit, 1)] => return unit.name.clone(),
            _ => {}
        }
        let factor = |(unit, power): &(&Unit, i32)| {
            let compound = unit.name.contains([' ', '/']);
            let name = if compound { format!("({})", unit.name) } else { unit.name.clone() };
            if *power == 1 { name } else { format!("{name}^{power}") }
        };
        used.iter().map(factor).collect::<Vec<_>>().join(" ")
    }
}

/// User's value of one internal unit (in which G = 1): `user = internal × scale`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Scale {
    /// User masses in one internal mass unit.
    pub mass: f64,
    /// User lengths in one internal length unit.
    pub length: f64,
    /// User velocities in one internal velocity unit.
    pub velocity: f64,
    /// User times in one internal time unit.
    pub time: f64,
}

impl Scale {
    /// Scale of units that have G = 1 already: nothing is scaled.
    pub const IDENTITY: Self = Self { mass: 1.0, length: 1.0, velocity: 1.0, time: 1.0 };

    /// Returns the scale of the internal units for a system of `total_mass` and `typical_length` (user units). Hénon
    /// units stay as they are. Otherwise mass and length units are the powers of two nearest to the arguments, so that
    /// scaling masses and positions is exact; the velocity unit makes G = 1. An argument that is not positive and
    /// finite counts as 1.
    #[must_use]
    pub fn choose(units: &Units, total_mass: f64, typical_length: f64) -> Self {
        if units.is_henon() {
            return Self::IDENTITY;
        }
        let (mass, length) = (nearest_power_of_two(total_mass), nearest_power_of_two(typical_length));
        let velocity = (units.g() * mass / length).sqrt();
        let time = length / velocity * units.dynamical_time();
        Self { mass, length, velocity, time }
    }

    /// Returns the user's value of one internal unit of a quantity: the factor from internal to user values.
    #[must_use]
    pub fn factor(&self, d: Dimension) -> f64 {
        self.mass.powi(d.mass) * self.length.powi(d.length) * self.velocity.powi(d.velocity) * self.time.powi(d.time)
    }
}

/// Returns the power of two nearest to a positive normal number on a logarithmic scale; 1 for anything else. Computed
/// from the bits and not by a logarithm, so that it is the same on every machine.
#[must_use]
pub fn nearest_power_of_two(x: f64) -> f64 {
    if !x.is_normal() || x < 0.0 {
        return 1.0;
    }
    let floor = f64::from_bits(x.to_bits() & (0x7ff << 52));
    if x / floor < std::f64::consts::SQRT_2 { floor } else { floor * 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

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
