//! Units that a user names.

use super::dimension::Dimension;
use super::names::{G_CGS, LengthUnit, MassUnit, TimeUnit, VelocityUnit};

/// Unit with its name and size.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Unit {
    /// Name, as printed.
    pub name: String,
    /// Size in cgs (g, cm, cm/s or s); 1 for N-body units, which have no size.
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

    /// Returns physical units by name; for the constants see [`names`](super::names).
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

    /// Returns the gravitational constant in length · velocity² / mass of these units; exactly 1 in N-body units.
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

    /// Returns true for N-body units.
    #[must_use]
    pub const fn is_henon(&self) -> bool {
        self.henon
    }

    /// Returns the names of the units: `Msun, pc, km/s, Myr`, or `N-body units`.
    #[must_use]
    pub fn describe(&self) -> String {
        if self.henon {
            return "N-body units".into();
        }
        [&self.mass, &self.length, &self.velocity, &self.time].map(|unit| unit.name.as_str()).join(", ")
    }

    /// Returns the size in cgs of the unit of a quantity; 1 in N-body units.
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
