//! Reversibility of free-fall triples: three equal masses at rest, with the third in the region of all shapes of triangles
//! (Agekyan & Anosova 1967, AZh 44, 1261), are integrated until one body escapes, and back. The share that does not return falls as a
//! power of the tolerance (Boekholt, Portegies Zwart & Valtonen 2020, MNRAS 493, 3932).

use serde::{Deserialize, Serialize};
use tisane::error::{Error, Result};
use tisane::force::precision::Precision;
use tisane::force::{Accelerations, ForceEngine, reference};
use tisane::integrator::Integrator;
use tisane::integrator::extrapolated::{Accuracy, Extrapolated, ExtrapolatedSettings};
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, Time};
use tisane_run::config::{Real, real};

/// Time at which a triple that lasts is turned back: units in which G, the mass of all and the longest side are 1.
const LATEST: u64 = 200;
/// Distance from the pair from which on a body that is unbound has escaped.
const ESCAPED: f64 = 10.0;
/// Rms distance from the start, in longest sides, up to which a triple has returned.
const RETURNED: f64 = 0.01;
/// Least number of bits: in the closest passages of point masses double-double numbers have too few.
const LEAST_BITS: u32 = 192;
/// Longest step: a fraction of the time in which the three fall together.
const DT_MAX: Real = real!(1.0 / STEPS as f64);
/// Longest steps in a time unit.
const STEPS: u64 = 64;

/// Triple, and the tolerance of its solution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Triple {
    /// Number of the triple.
    pub number: u32,
    /// Tolerance.
    pub tolerance: f64,
}

/// Way of a triple and back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Return {
    /// Time at which it was turned back; if steps did not converge before, the time to which they did.
    pub time: f64,
    /// True if one body had escaped then.
    pub dissolved: bool,
    /// Rms distance from the start at the end; [`None`] if steps did not converge on the way.
    pub distance: Option<f64>,
}

impl Return {
    fn has_returned(&self) -> bool {
        self.distance.is_some_and(|distance| distance <= RETURNED)
    }
}

/// Returns a triple at rest: the third body at a point of an even sequence in the region x ≥ 0, y ≥ 0, (x + ½)² + y² ≤ 1, between the
/// other two at (±½, 0).
fn start(number: u32) -> Particles {
    // Shifts by the plastic number, by which points fill a square evenly (Roberts 2018).
    const SHIFTS: [f64; 2] = [0.754_877_666_246_692_7, 0.569_840_290_998_053_3];
    let place = |k: u32| {
        let [x, y] = SHIFTS.map(|shift| (0.5 + f64::from(k) * shift).fract());
        [0.5 * x, 0.75f64.sqrt() * y]
    };
    let inside = |[x, y]: &[f64; 2]| (x + 0.5).powi(2) + y * y <= 1.0;
    let found = (1..).map(place).filter(inside).nth(number as usize).unwrap_or_default();
    let pos = vec![Vec3::new(-0.5, 0.0, 0.0), Vec3::new(0.5, 0.0, 0.0), Vec3::new(found[0], found[1], 0.0)];
    Particles::new(vec![1.0 / 3.0; 3], pos, vec![Vec3::zeros(); 3])
}

/// Returns true if one body leaves the other two for good.
fn is_dissolved(p: &Particles) -> bool {
    (0..3).any(|i| {
        let [j, k] = [(i + 1) % 3, (i + 2) % 3];
        let from_pair = |of: &[Vec3]| of[i] - 0.5 * (of[j] + of[k]);
        let (place, velocity) = (from_pair(&p.pos), from_pair(&p.vel));
        let distance = place.norm();
        distance > ESCAPED && place.dot(&velocity) > 0.0 && 0.5 * velocity.norm_squared() > 1.0 / distance
    })
}

impl Triple {
    /// Integrates the triple until it dissolves, and back.
    ///
    /// # Errors
    /// As the integrator, but for steps that do not converge.
    pub fn measure(&self) -> Result<Return> {
        let start = start(self.number);
        let (mut p, mut time, mut dissolved) = (start.clone(), 0, false);
        let is_back = match self.there_and_back(&mut p, &mut time, &mut dissolved) {
            Ok(()) => true,
            Err(Error::Integration { .. }) => false,
            Err(error) => return Err(error),
        };
        let squares: f64 = p.pos.iter().zip(&start.pos).map(|(a, b)| (a - b).norm_squared()).sum();
        Ok(Return { time: time as f64, dissolved, distance: is_back.then(|| (squares / 3.0).sqrt()) })
    }

    fn there_and_back(&self, p: &mut Particles, time: &mut u64, dissolved: &mut bool) -> Result<()> {
        let bits = Real::new(self.tolerance).map_or(0, |tolerance| ExtrapolatedSettings::new(tolerance, DT_MAX).bits());
        let bits = bits.max(LEAST_BITS);
        let scheme = |direction: f64| {
            let clock = Clock { start: 0.0, dt_max: direction * DT_MAX.get() };
            Extrapolated::new(Accuracy { tolerance: self.tolerance, bits }, clock)
        };
        let mut engine = reference::accelerations(Precision::F64, 0.0);
        let mut there = scheme(1.0);
        there.start(p, &mut *engine)?;
        while *time < LATEST && !*dissolved {
            to(&mut there, p, &mut *engine, *time + 1)?;
            *time += 1;
            *dissolved = is_dissolved(p);
        }
        // Steps of the other sign keep all digits, which velocities that are turned round would lose.
        let mut back = scheme(-1.0);
        back.resume(p, Time::default(), &mut *engine)?;
        to(&mut back, p, &mut *engine, *time)
    }
}

fn to(scheme: &mut Extrapolated, p: &mut Particles, f: &mut dyn ForceEngine<Accelerations>, time: u64) -> Result<()> {
    let until = Time::from_dt_max(time * STEPS);
    while scheme.advance(p, f, until, u64::MAX)?.now < until {}
    Ok(())
}

/// Triples of one tolerance.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// Tolerance.
    pub tolerance: f64,
    /// Triples that return.
    pub returned: usize,
    /// Triples.
    pub count: usize,
    /// Number of them that had dissolved when they were turned back.
    pub dissolved: usize,
    /// Number of them without a way there and back, as steps did not converge.
    pub failed: usize,
}

impl Share {
    /// Returns the share that does not return.
    #[must_use]
    pub fn irreversible(&self) -> f64 {
        1.0 - self.returned as f64 / self.count as f64
    }

    /// Returns its standard error: half the width of Wilson's interval of one standard deviation (1927, Journal of the American
    /// Statistical Association 22, 209), which is not zero for a share of 0 or 1.
    #[must_use]
    pub fn error(&self) -> f64 {
        let (share, n) = (self.irreversible(), self.count as f64);
        (share * (1.0 - share) / n + 0.25 / (n * n)).sqrt() / (1.0 + 1.0 / n)
    }
}

/// Exponent of a power law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exponent {
    /// Exponent.
    pub value: f64,
    /// Standard error over the triples, by leaving out one after the other.
    pub error: f64,
}

/// Shares of all tolerances, and the power law through them.
#[derive(Clone, Debug, PartialEq)]
pub struct Reversibility {
    /// Shares.
    pub shares: Vec<Share>,
    /// Exponent of the tolerance in the share that does not return; [`None`] where fewer than two shares are above 0 and below 1, or
    /// single triples decide whether there is a power law.
    pub exponent: Option<Exponent>,
}

/// Counts the triples that return: `returns` has the triples of each of the tolerances, none without a result.
#[must_use]
pub fn reversibility(tolerances: &[f64], returns: &[Vec<Option<Return>>]) -> Reversibility {
    let of = |tolerance: f64, all: &[Option<Return>]| Share {
        tolerance,
        returned: all.iter().filter(|it| it.as_ref().is_some_and(Return::has_returned)).count(),
        count: all.len(),
        dissolved: all.iter().flatten().filter(|it| it.dissolved).count(),
        failed: all.iter().filter(|it| it.as_ref().is_none_or(|it| it.distance.is_none())).count(),
    };
    let shares: Vec<Share> = tolerances.iter().zip(returns).map(|(tolerance, all)| of(*tolerance, all)).collect();
    let has_left = |all: &[Option<Return>], k: usize| !all[k].as_ref().is_some_and(Return::has_returned);
    let count = returns.first().map_or(0, Vec::len);
    // The same triples at all tolerances: the scatter is that of the exponent without one of them after the other.
    let without = |left_out: Option<usize>| {
        let share = |share: &Share, all: &[Option<Return>]| match left_out {
            None => share.irreversible(),
            Some(k) => {
                let left = share.count - share.returned - usize::from(has_left(all, k));
                left as f64 / (share.count as f64 - 1.0)
            }
        };
        let points: Vec<(f64, f64)> =
            shares.iter().zip(returns).map(|(one, all)| (one.tolerance, share(one, all))).collect();
        crate::study::fit::power(&points).map(|law| law.exponent)
    };
    let between = shares.iter().filter(|share| (1..share.count).contains(&share.returned)).count();
    let others: Option<Vec<f64>> = (0..count).map(|k| without(Some(k))).collect();
    let exponent = without(None).zip(others).map(|(value, others)| {
        let squares: f64 = others.iter().map(|other| (other - value).powi(2)).sum();
        Exponent { value, error: ((count as f64 - 1.0) / count as f64 * squares).sqrt() }
    });
    // Where the same triples are in all shares, the scatter is rounding alone.
    Reversibility { shares, exponent: exponent.filter(|exponent| between >= 2 && exponent.error > 1e-9) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triples_fill_the_region_of_all_triangles() {
        for number in 0..50 {
            let p = start(number);
            let sides = [(0, 1), (1, 2), (0, 2)].map(|(i, j)| (p.pos[i] - p.pos[j]).norm());
            assert!(sides[0] >= sides[2] && sides[2] >= sides[1] && p.pos[2].y >= 0.0, "{sides:?}");
        }
        assert!(start(3) != start(4));
        let mut p = start(0);
        assert!(!is_dissolved(&p));
        (p.pos[2], p.vel[2]) = (Vec3::new(0.0, 12.0, 0.0), Vec3::new(0.0, 0.5, 0.0));
        assert!(is_dissolved(&p));
        p.vel[2].y = 0.4;
        assert!(!is_dissolved(&p), "0.08 is less than 1/12");
    }

    #[test]
    fn a_triple_returns_if_the_tolerance_suffices() {
        let distance = |tolerance: f64| Triple { number: 3, tolerance }.measure().unwrap().distance.unwrap_or(1.0);
        let [rough, fine] = [1e-8, 1e-22].map(distance);
        assert!(fine < 1e-6 && fine < 1e-3 * rough, "{rough:e} {fine:e}");
    }

    #[test]
    fn shares_follow_a_planted_power_law() {
        // Of 64 triples 32, 16 and 8 do not return at tolerances a factor of 100 apart: the exponent is ln 2 / ln 100.
        let of = |left: usize| {
            let distance = |k: usize| Some(if k < left { 1.0 } else { 1e-6 });
            let of = |k: usize| Return { time: 10.0, dissolved: k < 60, distance: distance(k) };
            (0..64).map(|k| Some(of(k))).collect::<Vec<_>>()
        };
        let found = reversibility(&[1e-8, 1e-10, 1e-12], &[of(32), of(16), of(8)]);
        assert_eq!(found.shares[1].irreversible(), 0.25);
        assert_eq!(found.shares[1].dissolved, 60);
        assert!((found.shares[1].error() / (0.25 * 0.75 / 64.0f64).sqrt() - 1.0).abs() < 0.02);
        let exponent = found.exponent.unwrap();
        assert!((exponent.value - 2f64.ln() / 100f64.ln()).abs() < 1e-12);
        assert!((0.01..0.1).contains(&exponent.error), "{exponent:?}");
        let tolerances = [1e-8, 1e-10, 1e-12];
        for left in [[0, 0, 0], [64, 64, 64], [64, 16, 0], [16, 16, 16], [16, 1, 0]] {
            let found = reversibility(&tolerances, &left.map(of));
            assert_eq!(found.exponent, None, "{left:?}");
            assert!(found.shares.iter().all(|share| share.error() > 0.005), "{left:?}");
        }
    }

    #[test]
    fn triples_without_a_way_back_are_counted_apart() {
        let of = |dissolved: bool, distance: Option<f64>| Some(Return { time: 10.0, dissolved, distance });
        let all = vec![of(true, Some(1e-6)), of(true, Some(1.0)), of(true, None), of(false, None), None];
        let found = reversibility(&[1e-8], &[all]);
        let Share { returned, count, dissolved, failed, .. } = found.shares[0];
        assert_eq!((returned, count, dissolved, failed), (1, 5, 3, 3));
    }
}
