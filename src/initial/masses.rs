//! Mass functions.

use super::numerics::bisect;
use super::random::{Purpose, Uniform};
use libm::{exp, log, pow};

/// Distribution of stellar masses between two limits.
#[derive(Clone, Debug, PartialEq)]
pub enum MassFunction {
    /// Power law of one or more slopes, continuous at its breaks.
    PowerLaw(Vec<Segment>),
    /// Maschberger's function L3.
    Maschberger(L3),
}

/// Segment of a power law with one slope.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    from: f64,
    to: f64,
    /// Slope a of dN/dm ∝ m^(−a).
    slope: f64,
    /// Factor of dN/dm = factor · (m/from)^(−a).
    factor: f64,
    /// Fraction of the stars below `from`.
    below: f64,
    /// Fraction of the stars within the segment.
    share: f64,
}

/// L3 mass function: dN/dm ∝ (m/μ)^(−α) (1 + (m/μ)^(1−α))^(−β).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct L3 {
    from: f64,
    to: f64,
    mean: f64,
}

impl L3 {
    const ALPHA: f64 = 2.3;
    const BETA: f64 = 1.4;
    /// Scale μ in solar masses.
    const MU: f64 = 0.2;

    /// Returns the auxiliary function G (Maschberger 2013, eq. 2).
    fn g(m: f64) -> f64 {
        pow(1.0 + pow(m / Self::MU, 1.0 - Self::ALPHA), 1.0 - Self::BETA)
    }

    fn density(m: f64) -> f64 {
        let x = m / Self::MU;
        pow(x, -Self::ALPHA) * pow(1.0 + pow(x, 1.0 - Self::ALPHA), -Self::BETA)
    }
}

impl Segment {
    /// Returns ∫ (m/from)^(power − slope) dm · from^power over the segment up to `m`: the number (power 0) or mass
    /// (power 1) of stars.
    fn integral(&self, m: f64, power: f64) -> f64 {
        let exponent = power - self.slope + 1.0;
        let ratio = log(m / self.from);
        // (x^k − 1)/k, which is ln x where k is 0.
        let integral = if exponent == 0.0 { ratio } else { libm::expm1(exponent * ratio) / exponent };
        self.factor * integral * self.from * if power > 0.0 { self.from } else { 1.0 }
    }

    /// Returns the mass below which the fraction `share` of the segment's stars lies.
    fn quantile(&self, share: f64) -> f64 {
        let exponent = 1.0 - self.slope;
        let ratio = log(self.to / self.from);
        let x =
            if exponent == 0.0 { share * ratio } else { libm::log1p(share * libm::expm1(exponent * ratio)) / exponent };
        (self.from * exp(x)).clamp(self.from, self.to)
    }
}

impl MassFunction {
    /// Creates a power law dN/dm ∝ m^(−a) with the slopes a from the smallest masses up; `limits` are the smallest
    /// mass, the breaks, the largest mass.
    ///
    /// # Panics
    /// Unless there is one more limit than slopes and limits ascend from above zero.
    #[must_use]
    pub fn power_law(slopes: &[f64], limits: &[f64]) -> Self {
        let ascending = limits.windows(2).all(|pair| pair[0] < pair[1]) && limits[0] > 0.0;
        assert!(
            !slopes.is_empty() && limits.len() == slopes.len() + 1 && ascending,
            "slopes {slopes:?}, limits {limits:?}"
        );
        let (mut segments, mut factor) = (Vec::with_capacity(slopes.len()), 1.0);
        for (pair, &slope) in limits.windows(2).zip(slopes) {
            let (from, to) = (pair[0], pair[1]);
            segments.push(Segment { from, to, slope, factor, below: 0.0, share: 0.0 });
            factor *= exp(-slope * log(to / from));
        }
        let total: f64 = segments.iter().map(|s| s.integral(s.to, 0.0)).sum();
        let mut below = 0.0;
        for segment in &mut segments {
            segment.factor /= total;
            segment.below = below;
            segment.share = segment.integral(segment.to, 0.0);
            below += segment.share;
        }
        Self::PowerLaw(segments)
    }

    /// Creates the mass function of Salpeter (1955, ApJ 121, 161): slope 2.35.
    #[must_use]
    pub fn salpeter(min: f64, max: f64) -> Self {
        Self::power_law(&[2.35], &[min, max])
    }

    /// Creates the mass function of Kroupa (2001, MNRAS 322, 231, eq. 2): slopes 0.3, 1.3, 2.3 with breaks at 0.08 and
    /// 0.5 solar masses.
    #[must_use]
    pub fn kroupa(min: f64, max: f64) -> Self {
        let (mut slopes, mut limits) = (Vec::new(), vec![min]);
        for (slope, to) in [(0.3, 0.08), (1.3, 0.5), (2.3, f64::INFINITY)] {
            let from = limits[limits.len() - 1];
            if to > from && from < max {
                slopes.push(slope);
                limits.push(max.min(to));
            }
        }
        Self::power_law(&slopes, &limits)
    }

    /// Creates the mass function of Maschberger (2013, MNRAS 429, 1725): the function L3 with α = 2.3, β = 1.4 and μ =
    /// 0.2 solar masses.
    ///
    /// # Panics
    /// Unless 0 < `min` < `max`.
    #[must_use]
    pub fn maschberger(min: f64, max: f64) -> Self {
        assert!(0.0 < min && min < max, "limits {min}, {max}");
        // ∫ m dN over ∫ dN by Simpson's rule in ln m.
        const STEPS: usize = 2000;
        let step = log(max / min) / STEPS as f64;
        let moment = |power: i32| {
            let term = |k: usize| {
                let m = min * exp(k as f64 * step);
                let weight = if k == 0 || k == STEPS { 1.0 } else { [2.0, 4.0][k % 2] };
                weight * L3::density(m) * if power == 1 { m * m } else { m }
            };
            (0..=STEPS).map(term).sum::<f64>()
        };
        Self::Maschberger(L3 { from: min, to: max, mean: moment(1) / moment(0) })
    }

    /// Returns the mass below which the fraction `u` of the stars lies.
    #[must_use]
    pub fn quantile(&self, u: f64) -> f64 {
        match self {
            Self::PowerLaw(segments) => {
                let row = segments.partition_point(|s| s.below <= u).saturating_sub(1);
                let segment = &segments[row];
                segment.quantile(((u - segment.below) / segment.share).clamp(0.0, 1.0))
            }
            Self::Maschberger(l3) => {
                // Maschberger 2013, eqs 3 and 4, solved for the mass.
                let (low, high) = (L3::g(l3.from), L3::g(l3.to));
                let g = low + u * (high - low);
                let m = L3::MU * pow(pow(g, 1.0 / (1.0 - L3::BETA)) - 1.0, 1.0 / (1.0 - L3::ALPHA));
                m.clamp(l3.from, l3.to)
            }
        }
    }

    /// Returns the fraction of the stars below a mass.
    #[must_use]
    pub fn cumulative(&self, m: f64) -> f64 {
        match self {
            Self::PowerLaw(segments) => {
                let row = segments.partition_point(|s| s.from <= m).saturating_sub(1);
                let segment = &segments[row];
                (segment.below + segment.integral(m.clamp(segment.from, segment.to), 0.0)).clamp(0.0, 1.0)
            }
            Self::Maschberger(l3) => {
                let (low, high) = (L3::g(l3.from), L3::g(l3.to));
                ((L3::g(m) - low) / (high - low)).clamp(0.0, 1.0)
            }
        }
    }

    /// Returns the mean mass.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::PowerLaw(segments) => segments.iter().map(|s| s.integral(s.to, 1.0)).sum(),
            Self::Maschberger(l3) => l3.mean,
        }
    }

    /// Draws `n` masses, with one random number each.
    #[must_use]
    pub fn draw(&self, n: usize, seed: u64) -> Vec<f64> {
        let mut random = Uniform::for_purpose(seed, Purpose::Masses);
        (0..n).map(|_| self.quantile(random.next())).collect()
    }

    /// Draws masses with the sum `total`: the first ones of [`draw`](Self::draw), up to the one that brings the sum
    /// nearest to the total; at least one.
    #[must_use]
    pub fn draw_total(&self, total: f64, seed: u64) -> Vec<f64> {
        let mut random = Uniform::for_purpose(seed, Purpose::Masses);
        let (mut masses, mut sum) = (Vec::new(), 0.0);
        loop {
            let mass = self.quantile(random.next());
            let nearer_without = sum + mass - total > total - sum;
            if nearer_without && !masses.is_empty() {
                return masses;
            }
            masses.push(mass);
            sum += mass;
            if sum >= total {
                return masses;
            }
        }
    }
}

/// Returns the fraction of the birth periods below x = log₁₀(P/day) in the period law of Kroupa (1995, MNRAS 277,
/// 1507), for x from 1 to 8.43.
pub(crate) fn kroupa_periods(x: f64) -> f64 {
    const ETA: f64 = 2.5;
    const DELTA: f64 = 45.0;
    let above = (x - 1.0).max(0.0);
    0.5 * ETA * libm::log1p(above * above / DELTA)
}

/// Returns the fraction of the periods below x = log₁₀(P/day) in the log-normal law of Duquennoy & Mayor (1991, A&A
/// 248, 485): mean 4.8 and dispersion 2.3 of x.
pub(crate) fn log_normal_periods(x: f64) -> f64 {
    0.5 * libm::erfc((4.8 - x) / (2.3 * std::f64::consts::SQRT_2))
}

/// Returns the value x between two limits below which the fraction `u` of a cumulative law between the limits lies.
pub(crate) fn invert(law: fn(f64) -> f64, (from, to): (f64, f64), u: f64) -> f64 {
    bisect(law, law(from) + u * (law(to) - law(from)), from, to)
}
