//! Primordial binaries: the pairing of stars, and their orbits.

use super::kepler::Elements;
use super::masses::{invert, kroupa_periods, log_normal_periods};
use super::random::{Purpose, Uniform};
use libm::{acos, exp, exp10, log, log10};
use std::collections::BTreeSet;
use std::f64::consts::{PI, TAU};
use tisane_force::particles::Vec3;

/// Pairing of stars. No mass is changed, so that the stars keep their mass function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pairing {
    /// Random pairing.
    Random,
    /// Ordered pairing of the stars above a mass: the heaviest with the second, the third with the fourth (Oh, Kroupa &
    /// Pflamm-Altenburg 2015, ApJ 805, 92); the others at random.
    Ordered(f64),
    /// Pairing of the stars above a mass with uniform mass ratios: from the heaviest down, each with the single star
    /// whose mass is nearest to a fraction of its own that is uniform from 0.1 to 1 (Sana et al. 2012, Science 337,
    /// 444); the others at random.
    UniformRatio(f64),
}

/// Binaries and single stars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairedStars {
    /// Binaries by the indices of their stars, the heavier first.
    pub binaries: Vec<[usize; 2]>,
    /// Stars that are single.
    pub singles: Vec<usize>,
}

/// Returns the number of binaries among `stars` stars such that they are the fraction `fraction` of all systems, as
/// nearly as possible: B = f S and stars = S + B.
#[must_use]
pub fn count(stars: usize, fraction: f64) -> usize {
    ((stars as f64 * fraction / (1.0 + fraction)).round() as usize).min(stars / 2)
}

/// Pairs stars in `binaries` binaries. The random numbers are those of a random order of all stars (Fisher & Yates),
/// then one for each mass ratio. Stars that are paired by mass come first, so that the massive ones are in binaries as
/// long as there are any.
///
/// # Panics
/// If there are fewer than two stars for each binary.
#[must_use]
pub fn pair(masses: &[f64], binaries: usize, pairing: Pairing, seed: u64) -> PairedStars {
    assert!(2 * binaries <= masses.len(), "{binaries} binaries of {} stars", masses.len());
    let mut random = Uniform::for_purpose(seed, Purpose::Binaries);
    let order = random.permutation(masses.len());
    let (mut found, mut single) = (Vec::with_capacity(binaries), vec![true; masses.len()]);
    let heaviest_first = |above: f64| {
        let mut massive: Vec<usize> = (0..masses.len()).filter(|&i| masses[i] > above).collect();
        massive.sort_by(|&a, &b| masses[b].total_cmp(&masses[a]));
        massive
    };
    match pairing {
        Pairing::Random => {}
        Pairing::Ordered(above) => {
            for pair in heaviest_first(above).chunks_exact(2).take(binaries) {
                single[pair[0]] = false;
                single[pair[1]] = false;
                found.push([pair[0], pair[1]]);
            }
        }
        Pairing::UniformRatio(above) => {
            // Positive numbers have the order of their bits.
            let mut by_mass: BTreeSet<(u64, usize)> =
                masses.iter().enumerate().map(|(i, m)| (m.to_bits(), i)).collect();
            for primary in heaviest_first(above) {
                if found.len() == binaries {
                    break;
                }
                if !by_mass.remove(&(masses[primary].to_bits(), primary)) {
                    continue;
                }
                let wanted = masses[primary] * (0.1 + 0.9 * random.next());
                let at = (wanted.to_bits(), 0);
                let (below, above) = (by_mass.range(..at).next_back(), by_mass.range(at..).next());
                let off = |(_, i): &&(u64, usize)| (masses[*i] - wanted).abs();
                let nearest = below.into_iter().chain(above).min_by(|a, b| off(a).total_cmp(&off(b))).copied();
                let Some(partner) = nearest else { break };
                by_mass.remove(&partner);
                single[primary] = false;
                single[partner.1] = false;
                found.push([primary, partner.1]);
            }
        }
    }
    let rest: Vec<usize> = order.into_iter().filter(|&i| single[i]).collect();
    let (pairs, singles) = rest.split_at(2 * (binaries - found.len()));
    found.extend(
        pairs
            .chunks_exact(2)
            .map(|pair| if masses[pair[0]] >= masses[pair[1]] { [pair[0], pair[1]] } else { [pair[1], pair[0]] }),
    );
    PairedStars { binaries: found, singles: singles.to_vec() }
}

/// Distribution of semi-major axes; lengths in the unit of length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SemiMajorAxes {
    /// Uniform in log a between two lengths (Öpik 1924, Tartu Obs. Publ. 25, 6).
    Opik(f64, f64),
    /// Uniform in a between two lengths.
    Uniform(f64, f64),
    /// Semi-major axes from a distribution of periods.
    Periods {
        /// Distribution of periods.
        law: PeriodLaw,
        /// One day in units of length/velocity.
        day: f64,
        /// Smallest and largest semi-major axis, at which the distribution is cut off.
        limits: (f64, f64),
    },
}

/// Distribution of periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeriodLaw {
    /// Birth periods of Kroupa (1995, MNRAS 277, 1507), from 10 to 10^8.43 days, before any
    /// [eigenevolution](super::eigenevolution).
    Kroupa,
    /// Log-normal periods of Duquennoy & Mayor (1991, A&A 248, 485), here from 1 to 10^10 days.
    DuquennoyMayor,
}

/// Distribution of eccentricities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Eccentricities {
    /// Density 2e (Jeans 1919, MNRAS 79, 408).
    Thermal,
    /// Uniform from 0 to 1.
    Uniform,
    /// The same eccentricity for all.
    Fixed(f64),
}

impl SemiMajorAxes {
    /// Returns the semi-major axis of a binary with `mu` = G (m₁ + m₂) for the random number `u`; [`None`] if the
    /// limits leave no period.
    pub(super) fn draw(&self, u: f64, mu: f64) -> Option<f64> {
        match *self {
            Self::Opik(from, to) => Some((from * exp(u * log(to / from))).clamp(from, to)),
            Self::Uniform(from, to) => Some(from + u * (to - from)),
            Self::Periods { law, day, limits } => {
                let (from, to) = law.range(day, limits, mu);
                let p = (from <= to).then(|| exp10(invert(law.cumulative(), (from, to), u)) * day)?;
                Some(libm::cbrt(mu * p * p / (4.0 * PI * PI)))
            }
        }
    }

    /// Returns the fraction of the binaries with `mu` = G (m₁ + m₂) whose semi-major axis is below `a`.
    #[must_use]
    pub fn cumulative(&self, a: f64, mu: f64) -> f64 {
        let share = match *self {
            Self::Opik(from, to) => log(a / from) / log(to / from),
            Self::Uniform(from, to) => (a - from) / (to - from),
            Self::Periods { law, day, limits } => {
                let ((from, to), below) = (law.range(day, limits, mu), law.cumulative());
                let x = log10_period(a, mu, day).clamp(from, to.max(from));
                (below(x) - below(from)) / (below(to) - below(from))
            }
        };
        share.clamp(0.0, 1.0)
    }
}

/// Returns log₁₀ of the period in days, from Kepler's third law, P² = 4π² a³/μ.
fn log10_period(a: f64, mu: f64, day: f64) -> f64 {
    log10(TAU * (a * a * a / mu).sqrt() / day)
}

impl PeriodLaw {
    /// Returns the cumulative distribution of x = log₁₀(P/day).
    const fn cumulative(self) -> fn(f64) -> f64 {
        match self {
            Self::Kroupa => kroupa_periods,
            Self::DuquennoyMayor => log_normal_periods,
        }
    }

    /// Returns the range of log₁₀(P/day) between two semi-major axes.
    fn range(self, day: f64, limits: (f64, f64), mu: f64) -> (f64, f64) {
        let (min, max) = match self {
            Self::Kroupa => (1.0, 8.43),
            Self::DuquennoyMayor => (0.0, 10.0),
        };
        (log10_period(limits.0, mu, day).max(min), log10_period(limits.1, mu, day).min(max))
    }
}

impl Eccentricities {
    /// Returns the fraction of the eccentricities up to `e`.
    #[must_use]
    pub fn cumulative(self, e: f64) -> f64 {
        match self {
            Self::Thermal => e * e,
            Self::Uniform => e,
            Self::Fixed(fixed) => f64::from(e >= fixed),
        }
    }
}

/// Draws orbits for binaries with the given `mu` = G (m₁ + m₂), in random orientation and phase. The random numbers for
/// each are semi-major axis, eccentricity, inclination, node, pericentre, mean anomaly, from a stream of their own.
/// Returns [`None`] if the limits of the semi-major axes leave no period to one of them.
#[must_use]
pub fn orbits(mu: &[f64], axes: &SemiMajorAxes, eccentricities: Eccentricities, seed: u64) -> Option<Vec<Elements>> {
    let mut random = Uniform::for_purpose(seed, Purpose::Orientations);
    let draw = |mu: &f64| {
        let semi_major_axis = axes.draw(random.next(), *mu)?;
        Some(orbit(semi_major_axis, eccentricities, &mut random))
    };
    mu.iter().map(draw).collect()
}

/// Draws an orbit of the given semi-major axis in random orientation and phase, from five deviates: eccentricity,
/// inclination, node, pericentre, mean anomaly.
pub(crate) fn orbit(semi_major_axis: f64, eccentricities: Eccentricities, random: &mut Uniform) -> Elements {
    let u = random.next();
    let eccentricity = match eccentricities {
        Eccentricities::Thermal => u.sqrt(),
        Eccentricities::Uniform => u,
        Eccentricities::Fixed(e) => e,
    };
    let inclination = acos(1.0 - 2.0 * random.next());
    let [node, pericentre, mean_anomaly] = [0; 3].map(|_| TAU * random.next());
    Elements { semi_major_axis, eccentricity, inclination, node, pericentre, mean_anomaly }
}

/// Returns positions and velocities of the two stars of a binary whose centre of mass is at `pos` and moves with `vel`;
/// `g` is the gravitational constant.
#[must_use]
pub fn members([m1, m2]: [f64; 2], orbit: &Elements, g: f64, pos: Vec3, vel: Vec3) -> [(Vec3, Vec3); 2] {
    let (x, v) = orbit.relative_state(g * (m1 + m2));
    let at = |share: f64| (pos + share * x, vel + share * v);
    [at(-m2 / (m1 + m2)), at(m1 / (m1 + m2))]
}
