//! Units that files state by their size in cgs: names, and conversion factors.

use tisane::units::names::{G_CGS, LengthUnit, MassUnit, TimeUnit, VelocityUnit};
use tisane::units::{Unit, Units};

/// Relative tolerance for equal units: constants such as the solar mass or the length of a year differ between programs
/// by less.
const SAME: f64 = 1e-3;

/// Returns the conversion factor between two units. Units whose sizes differ by less than 0.1 % are taken as equal,
/// defined by other constants.
pub(super) fn factor(from: &Unit, to: &Unit) -> f64 {
    let factor = from.cgs / to.cgs;
    let rounded = power_of_ten(factor);
    if (factor - 1.0).abs() < SAME {
        1.0
    } else if (factor / rounded - 1.0).abs() < 1e-12 {
        // Exactly 1000 for kpc to pc, in spite of rounding.
        rounded
    } else {
        factor
    }
}

/// Returns the power of ten nearest to a positive number, exactly.
fn power_of_ten(x: f64) -> f64 {
    let exponent = libm::round(libm::log10(x));
    format!("1e{exponent}").parse().unwrap_or(1.0)
}

/// Returns units from the sizes of mass, length and velocity in g, cm and cm/s. The unit of time is length / velocity
/// unless its size in s is given. A size within 0.1 % of a known unit, or of a power of ten times one, gets its name
/// and size. [`None`] unless all sizes are positive and finite.
pub(super) fn from_cgs(mass: f64, length: f64, velocity: f64, time: Option<f64>) -> Option<Units> {
    let good = |x: &f64| *x > 0.0 && x.is_finite();
    if ![mass, length, velocity, time.unwrap_or(1.0)].iter().all(good) {
        return None;
    }
    let masses = MassUnit::ALL.iter().map(|u| (u.name(), u.value() / G_CGS));
    let lengths = LengthUnit::ALL.iter().map(|u| (u.name(), u.value()));
    let velocities = VelocityUnit::ALL.iter().map(|u| (u.name(), u.value()));
    let times = TimeUnit::ALL.iter().map(|u| (u.name(), u.value()));
    let (mass, length) = (known_as(mass, "g", masses), known_as(length, "cm", lengths));
    let velocity = known_as(velocity, "cm/s", velocities);
    let time = time.map_or_else(
        || Unit { name: format!("{}/({})", length.name, velocity.name), cgs: length.cgs / velocity.cgs },
        |time| known_as(time, "s", times),
    );
    let g = G_CGS * mass.cgs / (length.cgs * velocity.cgs * velocity.cgs);
    Units::from_sizes([mass, length, velocity, time], g)
}

/// Returns the unit of a size: a known one, a power of ten times a known one, or the size itself as its name.
fn known_as<'a>(size: f64, cgs: &str, known: impl Iterator<Item = (&'a str, f64)> + Clone) -> Unit {
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < SAME;
    if let Some((name, value)) = known.clone().find(|(_, value)| close(size, *value)) {
        return Unit { name: name.into(), cgs: value };
    }
    // Only moderate powers: 1e33 g is a better name than a power of ten times an unrelated unit.
    let multiple = known.map(|(name, value)| (name, value, power_of_ten(size / value)));
    match multiple
        .filter(|(_, _, power)| (1e-12..=1e15).contains(power))
        .find(|(_, value, power)| close(size, value * power))
    {
        Some((name, value, power)) => Unit { name: format!("{power:e} {name}"), cgs: value * power },
        None => Unit { name: format!("{size:e} {cgs}"), cgs: size },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane::units::Rates;

    #[test]
    fn known_sizes_get_their_names_and_our_constants() {
        let units = from_cgs(1.989e43, 3.085_678e21, 1e5, None).unwrap();
        assert_eq!([&units.mass.name, &units.length.name, &units.velocity.name], ["1e10 Msun", "kpc", "km/s"]);
        assert_eq!(units.time.name, "kpc/(km/s)");
        let ours = Units::named(MassUnit::Msun, LengthUnit::Parsec, Rates::Velocity(VelocityUnit::KilometrePerSecond));
        assert_eq!((factor(&units.mass, &ours.mass), factor(&units.length, &ours.length)), (1e10, 1e3));
        // G in these units is what everyone writes: 43007.1 kpc (km/s)^2 / (1e10 Msun).
        assert!((units.g() / 43_009.17 - 1.0).abs() < 1e-6, "{}", units.g());
        let odd = from_cgs(2.7e20, 1.0, 3e7, Some(86_400.0)).unwrap();
        assert_eq!(
            [&odd.mass.name, &odd.length.name, &odd.velocity.name, &odd.time.name],
            ["2.7e20 g", "cm", "3e7 cm/s", "day"]
        );
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(from_cgs(bad, 1.0, 1.0, None), None);
        }
    }
}
