//! Stars that would not live as long as a run lasts.

use super::setup::Setup;
use tisane::stellar::{main_sequence_lifetime, turn_off_mass};
use tisane::units::digits;
use tisane::units::names::{G_CGS, GM_SUN_CGS, YEAR_CGS};

/// Heaviest body that is taken for a star, in solar masses: heavier ones are black holes, clusters, gas.
const HEAVIEST_STAR: f64 = 200.0;
/// Lightest one.
const LIGHTEST_STAR: f64 = 0.08;
/// Mass above which stars end as supernovae, in solar masses.
const SUPERNOVA: f64 = 8.0;

/// Returns a warning of stars that leave the main sequence before the end of a run, in units by name where most bodies have masses
/// of stars.
pub(super) fn warning(set: &Setup) -> Option<String> {
    let units = set.config.units();
    if units.is_henon() || set.law.is_some() || set.config.stellar_evolution.is_some() {
        return None;
    }
    let msun = GM_SUN_CGS / G_CGS / (set.scale.mass * units.mass.cgs);
    let span = set.clock.dt_max * set.steps_to_end as f64 * set.scale.time * units.time.cgs / (1e6 * YEAR_CGS);
    let turn_off = turn_off_mass(span)?;
    let masses = || set.particles.mass.iter().map(move |mass| mass / msun);
    let stars = masses().filter(|mass| (LIGHTEST_STAR..=HEAVIEST_STAR).contains(mass));
    if 2 * stars.clone().count() < set.particles.len() {
        return None;
    }
    let old = stars.filter(|mass| *mass > turn_off);
    let (number, max) = old.clone().fold((0, 0.0), |(number, max): (u64, f64), mass| (number + 1, max.max(mass)));
    let above = old.filter(|mass| *mass > SUPERNOVA).count();
    let end = format!("t_end = {} {}", set.config.t_end(), units.time.name);
    let (number, of_heavy) = match (number, above) {
        (0, _) => return None,
        (1, _) => (format!("a star of {} Msun", digits(max)), String::new()),
        (n, 0) => (format!("{n} stars above {} Msun", digits(turn_off)), String::new()),
        (n, above) => (format!("{n} stars above {} Msun", digits(turn_off)), format!(" ({above} above {SUPERNOVA})")),
    };
    Some(format!(
        "{number}{of_heavy} would end before {end}, the heaviest, of {} Msun, after {} Myr: without [stellar_evolution] stars do not age, and they \
         keep their masses and radii",
        digits(max),
        digits(main_sequence_lifetime(max))
    ))
}
