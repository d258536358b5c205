//! Pairs that become a subsystem near their pericentre and end to be one near their apocentre: what writes most rows of
//! `encounters.csv`.

use super::close_orbit::CloseOrbit;
use super::places;
use tisane::diagnostics::cluster::pair::{Body, Pair};
use tisane::encounters::{MAX_HELD_BACK, MAX_PERTURBATION_TO_FORM, MAX_PERTURBATION_TO_STAY};
use tisane::particles::Particles;

/// Largest number of pairs that are looked at; they stand for more.
const SAMPLE: usize = 512;
/// Largest number of terms of their tidal fields.
const MAX_TERMS: usize = 10_000_000;
/// Rows of an orbit: one where the pair forms, one where it dissolves.
const PER_ORBIT: f64 = 2.0;
/// Largest number of rows of a pair in an interval of [`MAX_HELD_BACK`] longest steps: its first two changes, which are written
/// at once, and two at the end of the interval, which stand for all others.
const MAX_ROWS: f64 = 4.0;

/// Number of marginal pairs, and of their orbits in a unit of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Marginal {
    /// Pairs.
    pub pairs: f64,
    /// Orbits of all of them in an internal unit of time.
    pub rate: f64,
}

impl Marginal {
    /// Returns the number of rows of their changes in a time, with steps up to `dt_max`, in internal units.
    #[must_use]
    pub fn rows(&self, span: f64, dt_max: f64) -> f64 {
        let parts = span / (MAX_HELD_BACK as f64 * dt_max);
        (PER_ORBIT * self.rate * span).min(MAX_ROWS * self.pairs * parts.ceil())
    }
}

/// Estimates the marginal pairs among the close pairs and the primordial binaries, of which `first` has the first stars, in the
/// tidal field of all others at the start.
pub(super) fn estimate(p: &Particles, orbits: &[CloseOrbit], first: &[usize]) -> Marginal {
    let body = |i: usize| Body { mass: p.mass[i], pos: p.pos[i], vel: p.vel[i] };
    let of_input: Vec<[usize; 2]> = if first.is_empty() {
        places::stars(p, orbits).map(|(_, two)| two).collect()
    } else {
        first.iter().map(|&i| [i, i + 1]).collect()
    };
    let sample = SAMPLE.min(MAX_TERMS / p.len().max(1)).max(1);
    let step = of_input.len().div_ceil(sample).max(1);
    let mut found = Marginal::default();
    for &[i, j] in of_input.iter().step_by(step) {
        let pair = Pair::new(&body(i), &body(j), 0.0);
        if !(pair.energy < 0.0 && pair.energy.is_finite()) {
            continue;
        }
        let centre = Body::merged(&body(i), &body(j)).pos;
        let others = (0..p.len()).filter(|&k| k != i && k != j);
        let field: f64 = others.map(|k| p.mass[k] / (p.pos[k] - centre).norm().powi(3)).sum();
        let perturbation = |r: f64| 2.0 * r.powi(3) * field / (pair.mass[0] + pair.mass[1]);
        let [near, far] = [-1.0, 1.0].map(|sign| pair.semi_major_axis * (1.0 + sign * pair.eccentricity));
        if perturbation(near) < MAX_PERTURBATION_TO_FORM && perturbation(far) > MAX_PERTURBATION_TO_STAY {
            found.pairs += step as f64;
            found.rate += step as f64 / pair.period();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use std::path::Path;

    #[test]
    fn a_wide_and_eccentric_binary_forms_and_dissolves_once_an_orbit() {
        let text = "run = { name = 'm', t_end = 10 }\ninitial = { plummer = { n = 200 }, binaries = { fraction = 1, a_min = 0.03, \
                    a_max = 0.03, eccentricity = 'fixed', e = 0.95 } }\nencounters = {}\n[integrator.hermite4]\n";
        let of = |text: &str| {
            let set = crate::assemble::prepare(Config::from_str("m", text, Path::new(""), &[]).unwrap()).unwrap();
            set.binaries().unwrap().marginal(&set.particles, &set.binaries)
        };
        let (wide, close) = (of(text), of(&text.replace("0.03", "0.001")));
        assert!(wide.pairs > 10.0 && wide.rows(1.0, 1.0) > 20.0, "{wide:?}");
        // Many orbits in one row.
        assert_eq!(wide.rows(128.0, 1.0), 8.0 * wide.pairs);
        assert_eq!(close, Marginal::default());
    }
}
