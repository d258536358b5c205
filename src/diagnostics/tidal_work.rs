//! Work that an origin of coordinates does which moves in an external field.
//!
//! With the tidal potential Φ about the origin X(t) the energy E = ½ Σ m v² + U + Σ m Φ changes by the power
//! F = Σ m ∂Φ/∂t. The work W = ∫ F dt is summed by Hermite's quadrature from F and its derivative at moments at which all
//! particles stand: E − W is conserved in any field, also one that depends on the time.

use tisane_force::force::external::guide::Work;
use tisane_force::time::{Clock, Time};

/// Work up to a moment, and the power there, in internal units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TidalWork {
    /// The moment.
    pub until: Time,
    /// Power F and its derivative by the time.
    pub power: [Work; 2],
    /// Work W.
    pub work: Work,
}

impl TidalWork {
    /// Returns the work at a later moment, at which the power is `power`: W + H (F₀ + F₁) / 2 + H² (F₀′ − F₁′) / 12, of fourth
    /// order (two-point Hermite formula; Davis & Rabinowitz 1984, Methods of Numerical Integration, 2.1.1).
    #[must_use]
    pub fn at(&self, now: Time, clock: &Clock, power: [Work; 2]) -> Self {
        let h = clock.between(self.until, now);
        let add = |work: f64, of: fn(&Work) -> f64| {
            let [before, after] = [&self.power, &power].map(|it| [of(&it[0]), of(&it[1])]);
            work + (h / 2.0 * (before[0] + after[0]) + h * h / 12.0 * (before[1] - after[1]))
        };
        let Work { masses, massless } = self.work;
        let work = Work { masses: add(masses, |it| it.masses), massless: add(massless, |it| it.massless) };
        Self { until: now, power, work }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_of_third_degree_is_summed_exactly() {
        let clock = Clock { start: 1.0, dt_max: 0.25 };
        // F = t³ of the masses, and 1 of the massless ones.
        let power = |t: f64| [Work { masses: t * t * t, massless: 1.0 }, Work { masses: 3.0 * t * t, massless: 0.0 }];
        let mut sum = TidalWork { until: Time::from_dt_max(4), power: power(1.0), work: Work::default() };
        for k in 5..=12 {
            sum = sum.at(Time::from_dt_max(k), &clock, power(0.25 * k as f64));
        }
        assert!((sum.work.masses - (81.0 - 1.0) / 4.0).abs() < 1e-13, "{sum:?}");
        assert_eq!(sum.work.massless, 2.0);
    }
}
