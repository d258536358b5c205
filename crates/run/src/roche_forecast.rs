//! Close pairs whose stars would fill their Roche lobes within a run, by their tracks and by orbits that nothing but slow loss of mass
//! changes.

use crate::binaries::Binaries;
use crate::evolution::Evolution;
use rayon::prelude::*;
use std::collections::HashMap;
use tisane::particles::{EvolvingStar, Particles};
use tisane::time::{Clock, Time};
use tisane_stellar::roche_lobe;

/// Pairs that were followed until a star fills its lobe, a supernova, or the end of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RocheForecast {
    /// Number of pairs.
    pub pairs: usize,
    /// Number of those in which a star would fill its lobe at the pericentre.
    pub filling: usize,
    /// The first of them by its ids, and the time, in Myr.
    pub first: Option<([u64; 2], f64)>,
}

impl RocheForecast {
    /// Follows the close pairs of particles from the start of a time axis to its end. Radii are those of the tracks where their stretches
    /// begin, within 10 %.
    #[must_use]
    pub fn new(evolution: &Evolution, p: &Particles, found: &Binaries, clock: &Clock, end: Time) -> Self {
        let row_of: HashMap<u64, usize> = p.id.iter().enumerate().map(|(row, id)| (*id, row)).collect();
        let times = [Time::default(), end].map(|at| evolution.time(clock, at));
        let star = |id: &u64| row_of.get(id).and_then(|row| p.stars.get(*row)).copied();
        let pairs: Vec<([u64; 2], [EvolvingStar; 2], f64)> = found
            .orbits
            .iter()
            .filter(|orbit| orbit.bound)
            .filter_map(|orbit| {
                let [a, b] = &orbit.ids;
                let pericentre = orbit.pair.semi_major_axis * (1.0 - orbit.pair.eccentricity);
                Some((orbit.ids, [star(a)?, star(b)?], pericentre * evolution.rsun()))
            })
            .collect();
        let fills = |(ids, stars, pericentre): &([u64; 2], [EvolvingStar; 2], f64)| {
            filled(evolution, *stars, *pericentre, times).map(|time| (*ids, time))
        };
        let filling: Vec<([u64; 2], f64)> = pairs.par_iter().filter_map(fills).collect();
        let first = filling.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1));
        Self { pairs: pairs.len(), filling: filling.len(), first }
    }
}

/// Returns the time in Myr at which a star of a pair fills its lobe at the pericentre, in solar radii at the start: a M and e stay. [`None`]
/// if a star explodes before, or the end comes.
fn filled(evolution: &Evolution, mut stars: [EvolvingStar; 2], pericentre: f64, [start, end]: [f64; 2]) -> Option<f64> {
    let models = stars.map(|star| evolution.model_of(star.metallicity));
    let mass = |stars: &[EvolvingStar; 2], time: f64| [0, 1].map(|k| stars[k].track.mass_at(time));
    let at_start: f64 = mass(&stars, start).iter().sum();
    let mut time = start;
    let mut events = Vec::new();
    while time <= end {
        let masses = mass(&stars, time);
        let separation = pericentre * at_start / (masses[0] + masses[1]);
        let radius = |k: usize| stars[k].track.state_at(&models[k], time).radius;
        if (0..2).any(|k| radius(k) > roche_lobe(masses[k] / masses[1 - k]) * separation) {
            return Some(time);
        }
        let next = if stars[0].track.end <= stars[1].track.end { 0 } else { 1 };
        // A remnant's stretch has no end.
        time = stars[next].track.end;
        if time > end {
            return None;
        }
        stars[next].track.advance_to(&models[next], time, &mut events);
        if events.iter().any(|event| event.supernova.is_some()) {
            return None;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::assemble::{self, Setup};
    use crate::config::Config;
    use crate::evolution::Evolution;
    use crate::roche_forecast::RocheForecast;
    use std::path::Path;
    use tisane::time::Time;
    use tisane::units::names::{AU_CGS, R_SUN_CGS};

    /// Returns two stars on an orbit whose semi-major axis is in solar radii.
    fn pair(masses: [f64; 2], axis: f64, e: f64, t_end: f64) -> Setup {
        let axis = axis * R_SUN_CGS / AU_CGS;
        let text = format!(
            "run = {{ name = 'a', t_end = {t_end} }}\nunits = {{ mass = 'Msun', length = 'au', time = 'Myr' }}\n\
             initial.two-body = {{ m1 = {}, m2 = {}, semi_major_axis = {axis}, eccentricity = {e} }}\n\
             integrator.hermite4.dt_max = {}\nencounters = {{}}\nstellar_evolution = {{}}\n",
            masses[0],
            masses[1],
            t_end / 64.0
        );
        assemble::prepare(Config::from_str("a", &text, Path::new(""), &[]).unwrap()).unwrap()
    }

    fn forecast(set: &Setup) -> RocheForecast {
        let evolution = Evolution::of(&set.config, &set.scale).unwrap().unwrap();
        let end = Time::from_dt_max(set.steps_to_end);
        RocheForecast::new(&evolution, &set.particles, &set.binaries().unwrap(), &set.clock, end)
    }

    /// A star of 5 solar masses becomes a giant of more than 50 solar radii at 105 Myr, and nothing explodes.
    #[test]
    fn a_giant_fills_its_lobe_in_a_close_pair() {
        let found = forecast(&pair([5.0, 2.0], 100.0, 0.0, 120.0));
        let (ids, time) = found.first.unwrap();
        assert_eq!((found.pairs, found.filling, ids), (1, 1, [0, 1]));
        assert!((100.0..110.0).contains(&time), "{time}");
        // Twice as near at the pericentre, it does so earlier; far away, or before it is a giant, not at all.
        let eccentric = forecast(&pair([5.0, 2.0], 100.0, 0.9, 120.0)).first.unwrap().1;
        assert!(eccentric < time, "{eccentric} {time}");
        assert_eq!(forecast(&pair([5.0, 2.0], 20000.0, 0.0, 120.0)).filling, 0);
        assert_eq!(forecast(&pair([5.0, 2.0], 100.0, 0.0, 60.0)).filling, 0);
    }
}
