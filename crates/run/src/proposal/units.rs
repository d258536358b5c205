//! Units of the configuration that is proposed for a file: those that the file states, or a guess by the virial ratio.

use tisane::units::names::{LengthUnit, MassUnit, TimeUnit, VelocityUnit};
use tisane::units::{Rates, Units, digits};

/// Units that files without units are likely to have, the likeliest first.
const LIKELY: [Named; 6] = [
    Named::physical(LengthUnit::Parsec, VelocityUnit::KilometrePerSecond),
    Named(None),
    Named::physical(LengthUnit::Au, VelocityUnit::AuPerYear),
    Named::physical(LengthUnit::Au, VelocityUnit::KilometrePerSecond),
    Named::physical(LengthUnit::Au, VelocityUnit::AuPerDay),
    Named::physical(LengthUnit::Kiloparsec, VelocityUnit::KilometrePerSecond),
];

/// Names of units in a configuration; none are N-body units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Named(Option<(MassUnit, LengthUnit, VelocityUnit, TimeUnit)>);

impl Named {
    const fn physical(length: LengthUnit, velocity: VelocityUnit) -> Self {
        Self(Some((MassUnit::Msun, length, velocity, TimeUnit::Megayear)))
    }

    pub fn units(self) -> Units {
        self.0.map_or_else(Units::henon, |(mass, length, velocity, time)| {
            Units::named(mass, length, Rates::Both(velocity, time))
        })
    }

    /// Returns the keys of the section `[units]`.
    pub fn lines(self) -> String {
        let Some((mass, length, velocity, time)) = self.0 else { return "system = \"henon\"\n".into() };
        let keys =
            [("mass", mass.name()), ("length", length.name()), ("velocity", velocity.name()), ("time", time.name())];
        keys.iter().map(|(key, name)| format!("{key} = \"{name}\"\n")).collect()
    }

    /// Returns the units with the unit of time that fits a time scale in s.
    pub fn with_time_for(self, seconds: f64) -> Self {
        let units = [TimeUnit::Gigayear, TimeUnit::Megayear, TimeUnit::Year, TimeUnit::Day];
        let time = units.into_iter().find(|unit| seconds >= 0.01 * unit.value()).unwrap_or(TimeUnit::Second);
        Self(self.0.map(|(mass, length, velocity, _)| (mass, length, velocity, time)))
    }

    /// In words: `N-body units` or the names.
    fn describe(self) -> String {
        self.0.map_or_else(
            || "N-body units (system = \"henon\")".into(),
            |(mass, length, velocity, _)| format!("{}, {} and {}", mass.name(), length.name(), velocity.name()),
        )
    }
}

/// Returns the units of a configuration for a file that states its own, and the comment to print with them: the same as
/// far as a configuration can name them, otherwise common ones of about the same size.
pub(super) fn from_stated(stated: &Units) -> (Named, String) {
    if stated.is_henon() {
        return (Named(None), "# as the file states\n".into());
    }
    let length = LengthUnit::ALL.iter().find(|unit| unit.name() == stated.length.name).copied();
    let length = length.unwrap_or_else(|| {
        let common = [LengthUnit::Kiloparsec, LengthUnit::Parsec];
        common.into_iter().find(|unit| stated.length.cgs >= 0.5 * unit.value()).unwrap_or(LengthUnit::Au)
    });
    let mass = MassUnit::ALL.iter().find(|unit| unit.name() == stated.mass.name).copied();
    let velocity = VelocityUnit::ALL.iter().find(|unit| unit.name() == stated.velocity.name).copied();
    let comment = match (mass, velocity) {
        (Some(_), Some(_)) if length.name() == stated.length.name => "# as the file states\n".into(),
        _ => format!("# The file states {}: its numbers are converted to these.\n", stated.describe()),
    };
    let (mass, velocity) = (mass.unwrap_or(MassUnit::Msun), velocity.unwrap_or(VelocityUnit::KilometrePerSecond));
    (Named(Some((mass, length, velocity, TimeUnit::Megayear))), comment)
}

/// Guesses the units of particles from their virial ratio in each of several: the one nearest to ½. Returns them with the
/// comment to print with them.
pub(super) fn guess(virial_ratio: impl Fn(&Units) -> f64) -> (Named, String) {
    let ratios = LIKELY.map(|named| (named, virial_ratio(&named.units())));
    // Infinite for particles at rest, for which the first is as good as any.
    let off = |ratio: f64| (2.0 * ratio).ln().abs();
    let best = ratios.iter().min_by(|a, b| off(a.1).total_cmp(&off(b.1)));
    let (named, ratio) = best.copied().unwrap_or(ratios[0]);
    let other = ratios.iter().find(|(other, _)| *other != named);
    let other = other.map(|(other, ratio)| format!("; in {} it is {}", other.describe(), digits(*ratio)));
    let comment = format!(
        "# The file does not state its units, and these are a guess: are they right?\n# In them the virial ratio is Q = {}{}.\n",
        digits(ratio),
        other.unwrap_or_default()
    );
    (named, comment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_guessed_by_the_virial_ratio() {
        // A system of ratio ½ in the units of `truth`: with other ones G, to which the ratio is inverse, differs.
        for truth in LIKELY {
            let ratio = |units: &Units| 0.5 * truth.units().g() / units.g();
            assert_eq!(guess(ratio).0, truth, "{}", truth.describe());
        }
        let (named, comment) = guess(|_| 0.0);
        assert_eq!(named, LIKELY[0], "particles at rest");
        assert!(comment.contains("are they right?"), "{comment}");
    }

    #[test]
    fn stated_units_stay_or_become_common_ones() {
        let (named, comment) = from_stated(&LIKELY[2].units());
        assert_eq!(
            (named, comment.as_str()),
            (Named(LIKELY[2].0.map(|(m, l, v, _)| (m, l, v, TimeUnit::Megayear))), "# as the file states\n")
        );
        let unit = |name: &str, cgs: f64| tisane::units::Unit { name: name.into(), cgs };
        let sizes = [unit("1e10 Msun", 2e43), unit("kpc", 3.1e21), unit("km/s", 1e5), unit("kpc/(km/s)", 3.1e16)];
        let (named, comment) = from_stated(&Units::from_sizes(sizes, 43_007.0).unwrap());
        assert_eq!(named.lines(), "mass = \"Msun\"\nlength = \"kpc\"\nvelocity = \"km/s\"\ntime = \"Myr\"\n");
        assert!(comment.contains("1e10 Msun"), "{comment}");
        assert_eq!(from_stated(&Units::henon()).0, Named(None));
        assert!(named.with_time_for(1e10).lines().contains("\"yr\""));
    }
}
