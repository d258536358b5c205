//! Published cross sections of binary-single scattering, as σ/(π a²) at a velocity at infinity in units of the critical one.
//! Masses are those of the two stars of the binary and of the single star.
//!
//! - D. C. Heggie, P. Hut, S. L. W. McMillan (1996), Binary-single-star scattering VII: hard binary exchange cross sections
//!   for arbitrary mass ratios, ApJ 467, 359 (doi:10.1086/177611). The numbers of the fit were compared with two
//!   subroutines of a public Monte Carlo code that uses it (`intb3f` and `intb3b3`, Fortran).
//! - P. Hut (1983), Binary-single star scattering II: analytic approximations for high velocity, ApJ 268, 342
//!   (doi:10.1086/160957). The number was derived again, as [`ionisation`] says.

/// Coefficients of the fit of Heggie, Hut & McMillan: of μ₁^i μ₂^j in row j, column i, with μ₁ = m₁/M₁₂ of the star that leaves
/// and μ₂ = m₃/M₁₂₃.
const EXCHANGE_FIT: [[f64; 4]; 4] =
    [[3.70, 7.49, -15.49, 3.07], [-1.89, -2.93, 13.15, 0.0], [-2.92, -5.23, 0.0, 0.0], [3.12, 0.0, 0.0, 0.0]];

/// Returns the cross section of exchange, of either star, in the limit of low velocity (Heggie, Hut & McMillan 1996). For the star
/// m₁ it is Σ = π G M₁₂₃ a/(2 v²) (M₂₃/M₁₂₃)^(1/6) (m₃/M₁₃)^(7/2) (M₁₂₃/M₁₂)^(1/3) (M₁₃/M₁₂₃) exp P(μ₁, μ₂), with the
/// polynomial P of third degree.
#[must_use]
pub fn exchange([m1, m2, m3]: [f64; 3], velocity: f64) -> f64 {
    let (m12, m123) = (m1 + m2, m1 + m2 + m3);
    let leaves = |gone: f64, kept: f64| {
        let (x, y) = (gone / m12, m3 / m123);
        let row = |row: [f64; 4]| row.into_iter().rev().fold(0.0, |sum, c| sum * x + c);
        let polynomial = EXCHANGE_FIT.into_iter().rev().fold(0.0, |sum, c| sum * y + row(c));
        let pair = gone + m3;
        ((kept + m3) / m123).powf(1.0 / 6.0)
            * (m3 / pair).powf(3.5)
            * (m123 / m12).cbrt()
            * (pair / m123)
            * polynomial.exp()
    };
    // π G M₁₂₃ a/(2 v²) over π a², with v in units of √(G m₁ m₂ M₁₂₃/(m₃ M₁₂ a)).
    let unit = m3 * m12 / (2.0 * m1 * m2 * velocity * velocity);
    unit * (leaves(m1, m2) + leaves(m2, m1))
}

/// Returns the cross section of ionisation in the limit of high velocity, 40/3 · m₃³/(m₁ m₂ M₁₂₃)/v², for any eccentricity (Hut
/// 1983); 40/9/v² for equal masses.
///
/// A fast star that passes one star of the binary at the distance b changes its velocity by 2 G m₃/(b v), in all directions
/// perpendicular to its own. For stars at rest all with b < 2 G m₃/(v u) would be freed, where u² = G M₁₂/a is twice the binding
/// energy per reduced mass. The mean over the directions of an orbital velocity with the kinetic energy K adds 2 K/(3 U) of it to
/// that area, and over an orbit K = U is the binding energy: 5/3 in all, for each of the two stars.
#[must_use]
pub fn ionisation([m1, m2, m3]: [f64; 3], velocity: f64) -> f64 {
    40.0 / 3.0 * m3.powi(3) / (m1 * m2 * (m1 + m2 + m3) * velocity * velocity)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;
    use tisane::diagnostics::conserved::Conserved;
    use tisane::diagnostics::outcome::Outcome;
    use tisane::force::cpu::{self, Width};
    use tisane::force::precision::Precision;
    use tisane::initial::binaries::Eccentricities;
    use tisane::initial::binary_single::{Encounters, largest_impact_parameter};
    use tisane::integrator::hermite4::{Hermite4, Parameters};
    use tisane::propagator::Propagator;
    use tisane::time::{Clock, Level, Time};

    /// Tidal perturbation at start and end: larger than the default, which is four to ten times as costly.
    const TOLERANCE: f64 = 1e-3;
    /// Accuracy that its authors give the fit of exchange for most mass ratios.
    const EXCHANGE_ACCURACY: f64 = 0.25;
    const MASSES: [f64; 3] = [0.5; 3];
    const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 };

    /// Numbers of the outcomes of encounters, and what they cost.
    #[derive(Debug, Default)]
    struct Counted {
        flybys: f64,
        exchanges: f64,
        ionisations: f64,
        unresolved: f64,
        inaccurate: f64,
        block_steps: f64,
    }

    impl Counted {
        fn add(mut self, other: Self) -> Self {
            self.flybys += other.flybys;
            self.exchanges += other.exchanges;
            self.ionisations += other.ionisations;
            self.unresolved += other.unresolved;
            self.inaccurate += other.inaccurate;
            self.block_steps += other.block_steps;
            self
        }
    }

    /// Integrates an encounter until its outcome is known, at most to the time `end`.
    fn counted(encounters: &Encounters, seed: u64, nu: f64, end: u64) -> Counted {
        let mut stars = encounters.draw(seed, 1.0).particles;
        let mut parameters = Parameters { nu, nu_start: nu / 16.0, ..Parameters::new(Precision::F64) };
        parameters.limits.floor = Level::DEEPEST;
        let engine = cpu::engine(Precision::F64, 0.0, CLOCK, Width::choose().unwrap());
        let mut system = Propagator::in_f64(Box::new(Hermite4::new(parameters, CLOCK)), engine);
        let mut found = Counted::default();
        system.start(&mut stars).unwrap();
        let energy = |system: &mut Propagator, stars: &_, now| {
            let pot = system.field(stars, Time::from_dt_max(now)).unwrap().pot;
            Conserved::from_particles(stars, &pot).energy()
        };
        let before = energy(&mut system, &stars, 0);
        let mut now = 0;
        let outcome = loop {
            now += 4;
            found.block_steps +=
                system.advance(&mut stars, Time::from_dt_max(now), u64::MAX).unwrap().block_steps as f64;
            let outcome = Outcome::find(&stars, [0, 1], TOLERANCE);
            if outcome.is_some() || now >= end {
                break outcome;
            }
        };
        // In units of the binding energy of the binary, 1/8: the total energy may be near zero.
        let error = (energy(&mut system, &stars, now) - before) / 0.125;
        found.inaccurate = f64::from(error.abs() > 1e-4);
        match outcome {
            Some(Outcome::Flyby(_)) => found.flybys = 1.0,
            Some(Outcome::Exchange(_)) => found.exchanges = 1.0,
            Some(Outcome::Ionisation) => found.ionisations = 1.0,
            None => found.unresolved = 1.0,
        }
        found
    }

    /// Integrates `n` encounters at a velocity, and returns their outcomes and the area of all, in π a².
    fn scattered(velocity: f64, n: u64, nu: f64, end: u64) -> (Counted, f64) {
        let impact_parameter = largest_impact_parameter(velocity, 0.0);
        let encounters = Encounters {
            masses: MASSES,
            semi_major_axis: 1.0,
            eccentricities: Eccentricities::Fixed(0.0),
            velocity,
            impact_parameter,
            tidal_tolerance: TOLERANCE,
        };
        let one = |seed| counted(&encounters, seed, nu, end);
        let found = (1..=n).into_par_iter().map(one).reduce(Counted::default, Counted::add);
        println!("v = {velocity}, {n} encounters: {found:?}");
        (found, impact_parameter * impact_parameter)
    }

    /// Cross section of `count` of `n` encounters over an area, and its binomial error.
    fn cross_section(count: f64, n: u64, area: f64) -> (f64, f64) {
        let (n, share) = (n as f64, count / n as f64);
        (share * area, (share * (1.0 - share) / n).sqrt() * area)
    }

    #[test]
    fn validate_ionisation_of_equal_masses_at_high_velocity() {
        const N: u64 = 10_000;
        let (found, area) = scattered(8.0, N, 0.01, 200);
        let ((measured, error), published) = (cross_section(found.ionisations, N, area), ionisation(MASSES, 8.0));
        println!("measured {measured:.4} ± {error:.4}, Hut (1983) {published:.4}");
        assert!((measured - published).abs() < 3.0 * error, "{measured} ± {error}, published {published}");
        assert!(found.inaccurate < 0.01 * N as f64 && found.unresolved < 0.01 * N as f64, "{found:?}");
    }

    #[test]
    fn validate_exchange_of_equal_masses_with_hard_binaries() {
        const N: u64 = 2_000;
        let (found, area) = scattered(0.2, N, 0.005, 500);
        // What is unresolved by then is a resonance, a triple on a long excursion, which ends by ejecting one of three like stars.
        let exchanges = found.exchanges + 2.0 / 3.0 * found.unresolved;
        let ((measured, error), published) = (cross_section(exchanges, N, area), exchange(MASSES, 0.2));
        println!("measured {measured:.1} ± {error:.1}, Heggie, Hut & McMillan (1996) {published:.1}");
        let bound = EXCHANGE_ACCURACY * published;
        assert!((measured - published).abs() < bound, "{measured} ± {error}, published {published}");
        assert!(found.ionisations == 0.0, "below the critical velocity the energy forbids it: {found:?}");
        assert!(found.inaccurate < 0.01 * N as f64, "{found:?}");
    }

    #[test]
    fn the_fits_have_the_values_of_their_formulas() {
        // P(1/2, 1/3) by hand, and the powers of equal masses.
        let polynomial: f64 =
            3.70 + 7.49 / 2.0 - 1.89 / 3.0 - 15.49 / 4.0 - 2.93 / 6.0 - 2.92 / 9.0 + 3.07 / 8.0 + 13.15 / 12.0
                - 5.23 / 18.0
                + 3.12 / 27.0;
        let one = (2.0f64 / 3.0).powf(1.0 / 6.0) * 0.5f64.powf(3.5) * 1.5f64.cbrt() * (2.0 / 3.0) * polynomial.exp();
        assert!((exchange([1.0; 3], 0.5) / (4.0 * 2.0 * one) - 1.0).abs() < 1e-12);
        // The same stars in another order are the same binary, and a light one takes no heavy one's place.
        assert!((exchange([1.0, 2.0, 3.0], 0.1) / exchange([2.0, 1.0, 3.0], 0.1) - 1.0).abs() < 1e-12);
        assert!((ionisation([1.0; 3], 2.0) - 10.0 / 9.0).abs() < 1e-14);
    }
}
