//! What `tisane check` says of stars that evolve.

use tisane::diagnostics::cluster::own_frame::OwnFrame;
use tisane::time::Time;
use tisane::units::digits;
use tisane::units::names::YEAR_CGS;
use tisane_run::assemble::Setup;
use tisane_run::binaries::Binaries;
use tisane_run::evolution::Evolution;
use tisane_run::roche_forecast::RocheForecast;
use tisane_run::star_forecast::StarForecast;

/// Returns what the stars of a configuration do until its end; [`None`] where they do not age.
pub(super) fn find(setup: &Setup) -> Option<StarForecast> {
    let evolution = Evolution::of(&setup.config, &setup.scale).ok()??;
    let end = Time::from_dt_max(setup.steps_to_end);
    Some(StarForecast::new(&evolution, &setup.particles, &setup.clock, end))
}

/// Describes the stars of a configuration in which they age: lines with names and texts. `close` are its close pairs, `clusters` the systems
/// that they are in; `found` is what the stars do.
pub(super) fn describe(
    setup: &Setup,
    close: &Binaries,
    clusters: &[OwnFrame],
    found: Option<&StarForecast>,
) -> Vec<(&'static str, String)> {
    let (Some(settings), Some(found)) = (&setup.config.stellar_evolution, found) else { return Vec::new() };
    let Ok(Some(evolution)) = Evolution::of(&setup.config, &setup.scale) else { return Vec::new() };
    let end = Time::from_dt_max(setup.steps_to_end);
    let winds = tisane_stellar::WindRecipe::from(settings.winds).name();
    let remnants = tisane_stellar::RemnantRecipe::from(settings.remnants).name();
    let z = settings.metallicity;
    let own = of_their_own(setup, z.get());
    let model = format!("SSE (Hurley, Pols & Tout 2000), Z = {z}{own}, winds {winds}, remnants {remnants}");
    let mut lines = vec![("stellar evolution", model)];
    if found.changing == 0 {
        lines.push(("  to t_end", "no star changes its type".into()));
    } else {
        let StarForecast { stars, changing, white_dwarfs, neutron_stars, black_holes, nothing, .. } = found;
        lines.push((
            "  to t_end",
            format!(
                "{changing} of {stars} stars change their type: {white_dwarfs} become white dwarfs, {neutron_stars} neutron stars, \
                 {black_holes} black holes, {nothing} leave nothing"
            ),
        ));
    }
    let [before, after] = found.mass;
    let share = 100.0 * after / before;
    lines.push(("  mass of stars", format!("{} to {} Msun: {share:.1} % is left", digits(before), digits(after))));
    if let Some(first) = found.first_supernova {
        let kicks = match clusters {
            [own] => {
                let escape = escape_speed(setup, own);
                let slow = found.kicks.iter().filter(|speed| **speed < escape).count();
                format!("; {slow} with a kick below the present speed of escape, {} km/s", digits(escape))
            }
            _ => String::new(),
        };
        lines.push(("  supernovae", format!("{}, the first at {} Myr{kicks}", found.supernovae, digits(first))));
        let units = setup.config.units();
        let dt_max = setup.clock.dt_max * setup.scale.time * units.time.cgs / (1e6 * YEAR_CGS);
        let late = digits(dt_max);
        lines.push(("  in the orbits", format!("losses and kicks act at most {late} Myr late, at the next dt_max")));
    }
    let RocheForecast { pairs, filling, first } =
        RocheForecast::new(&evolution, &setup.particles, close, &setup.clock, end);
    if let Some(([a, b], time)) = first {
        lines.push((
            "  Roche lobes",
            format!(
                "in {filling} of {pairs} close pairs a star would fill its lobe at the pericentre, first in that of particles {a} and {b} at {} Myr; \
                 there is no mass transfer",
                digits(time)
            ),
        ));
    }
    lines
}

/// Describes the metallicities of stars that have another one than all; empty where none has.
fn of_their_own(setup: &Setup, of_all: f64) -> String {
    let stars = &setup.particles.stars;
    let own: Vec<f64> = stars.iter().filter_map(|star| star.metallicity.filter(|z| *z != of_all)).collect();
    let Some(least) = own.iter().copied().reduce(f64::min) else { return String::new() };
    let greatest = own.iter().fold(least, |max, z| max.max(*z));
    let range = if least == greatest { format!("{least}") } else { format!("{least} to {greatest}") };
    format!(", {} stars with their own, {range}", own.len())
}

/// Returns the root mean square of the speed of escape, √(4 |U| / M), in km/s.
fn escape_speed(setup: &Setup, own: &OwnFrame) -> f64 {
    let square = 4.0 * own.potential.abs() / own.mass;
    square.sqrt() * setup.scale.velocity * setup.config.units().velocity.cgs / 1e5
}
