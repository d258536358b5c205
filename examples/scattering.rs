//! Cross sections of binary-single scattering: thousands of encounters of a binary with a star that comes from infinity, each
//! integrated until its outcome is known, on all cores.
//!
//! `cargo run --release --example scattering -- VELOCITY ENCOUNTERS NU TOLERANCE END`
//!
//! VELOCITY is that at infinity over the critical one, NU the accuracy of the steps, TOLERANCE the tidal perturbation at start and
//! end, END the time at which an encounter is given up. All have defaults.

use rayon::prelude::*;
use std::time::Instant;
use tisane::diagnostics::conserved::Conserved;
use tisane::diagnostics::outcome::Outcome;
use tisane::force::{cpu, precision::Precision};
use tisane::initial::binaries::Eccentricities;
use tisane::initial::binary_single::{Encounters, largest_impact_parameter};
use tisane::integrator::hermite4::{Hermite4, Parameters};
use tisane::particles::Particles;
use tisane::propagator::Propagator;
use tisane::time::{Clock, Level, Time};

/// What became of an encounter.
struct Ended {
    outcome: Option<Outcome>,
    block_steps: u64,
    energy_error: f64,
}

/// Binding energy of the binary at the start, m₁ m₂ / (2 a): errors of the energy are in units of it.
const BINDING: f64 = 0.125;
/// Number of longest steps between two questions for the outcome.
const CHECK: u64 = 4;

/// Integrates an encounter until its outcome is known, at most to the time `end`.
fn integrate(mut stars: Particles, nu: f64, tolerance: f64, end: f64) -> tisane::Result<Ended> {
    let clock = Clock { start: 0.0, dt_max: 1.0 };
    let mut parameters = Parameters { nu, nu_start: nu / 16.0, ..Parameters::new(Precision::F64) };
    // Close passages need very short steps.
    parameters.limits.floor = Level::DEEPEST;
    let engine = cpu::engine(Precision::F64, 0.0, clock, cpu::Width::widest());
    let mut system = Propagator::in_f64(Box::new(Hermite4::new(parameters, clock)), engine);
    system.start(&mut stars)?;
    let before = Conserved::from_particles(&stars, &system.field(&stars, Time::default())?.pot).energy();
    let (mut steps, mut block_steps) = (0, 0);
    loop {
        steps += CHECK;
        let now = Time::from_dt_max(steps);
        block_steps += system.advance(&mut stars, now, u64::MAX)?.block_steps;
        let outcome = Outcome::find(&stars, [0, 1], tolerance);
        if outcome.is_some() || clock.time(now) >= end {
            let after = Conserved::from_particles(&stars, &system.field(&stars, now)?.pot).energy();
            return Ok(Ended { outcome, block_steps, energy_error: ((after - before) / BINDING).abs() });
        }
    }
}

fn main() {
    let argument = |k: usize, default: f64| std::env::args().nth(k).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (velocity, n, nu) = (argument(1, 1.0), argument(2, 4000.0) as u64, argument(3, 0.0025));
    let (tolerance, end) = (argument(4, 1e-3), argument(5, 500.0));
    let largest = largest_impact_parameter(velocity, 0.0);
    let encounters = Encounters {
        masses: [0.5; 3],
        semi_major_axis: 1.0,
        eccentricities: Eccentricities::Fixed(0.0),
        velocity,
        impact_parameter: largest,
        tidal_tolerance: tolerance,
    };
    let start = Instant::now();
    let run = |seed| integrate(encounters.draw(seed, 1.0).particles, nu, tolerance, end);
    let ended: Vec<_> = (1..=n).into_par_iter().filter_map(|seed| run(seed).ok()).collect();
    let seconds = start.elapsed().as_secs_f64();

    let mut errors: Vec<f64> = ended.iter().map(|it| it.energy_error).collect();
    errors.sort_by(f64::total_cmp);
    let at = |share: f64| errors.get((errors.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN);
    let block_steps = ended.iter().map(|it| it.block_steps).sum::<u64>() as f64;
    println!("v = {velocity}, impact parameters to {largest:.3} a: {n} encounters in {seconds:.2} s");
    println!("{} failed; {:.0} block steps in the mean", n - ended.len() as u64, block_steps / ended.len() as f64);
    println!(
        "energy error: median {:.1e}, 99 % {:.1e}, largest {:.1e}",
        at(0.5),
        at(0.99),
        errors.last().unwrap_or(&0.0)
    );
    for name in ["flyby", "exchange", "ionisation", "unresolved"] {
        let of = |it: &&Ended| it.outcome.as_ref().map_or("unresolved", Outcome::name) == name;
        let count = ended.iter().filter(of).count();
        let (share, area) = (count as f64 / n as f64, largest * largest);
        let error = (share * (1.0 - share) / n as f64).sqrt();
        println!("{name:>10} {count:7}   sigma/(pi a^2) = {:.4} +- {:.4}", share * area, error * area);
    }
}
