//! Cross sections of binary-single scattering: thousands of encounters of a binary with a star that comes from infinity, each
//! integrated until its outcome is known, on all cores.
//!
//! `cargo run --release --example scattering -- VELOCITY ENCOUNTERS NU ECCENTRICITY TOLERANCE DT_MAX CHECK`
//!
//! VELOCITY is that at infinity over the critical one, NU the accuracy of the steps, ECCENTRICITY a number or `thermal`,
//! TOLERANCE the tidal perturbation at start and end, DT_MAX the longest step, CHECK the number of these between questions for
//! the outcome; all have defaults.

use rayon::prelude::*;
use std::time::Instant;
use tisane::diagnostics::conserved::Conserved;
use tisane::diagnostics::outcome::Outcome;
use tisane::force::{cpu, precision::Precision};
use tisane::initial::binaries::Eccentricities;
use tisane::initial::binary_single::{Encounter, Encounters, largest_impact_parameter};
use tisane::integrator::hermite4::{Hermite4, Parameters};
use tisane::particles::Particles;
use tisane::propagator::Propagator;
use tisane::time::{Clock, Level, Time};

/// What became of an encounter.
struct Ended {
    outcome: Option<Outcome>,
    block_steps: u64,
    energy_error: f64,
    time: f64,
}

/// Integrates an encounter until its outcome is known, at most to the time `end`.
fn integrate(
    encounter: Encounter,
    (nu, tolerance): (f64, f64),
    (dt_max, check, end): (f64, u64, f64),
) -> tisane::Result<Ended> {
    let clock = Clock { start: 0.0, dt_max };
    let mut stars = encounter.particles;
    let mut parameters = Parameters { nu, nu_start: nu / 16.0, ..Parameters::new(Precision::F64) };
    parameters.limits.floor = Level(36);
    let engine = cpu::engine(Precision::F64, 0.0, clock, cpu::Width::widest());
    let mut system = Propagator::in_f64(Hermite4::new(parameters, clock), engine);
    system.start(&mut stars)?;
    let energy = |stars: &Particles| Conserved::from_particles(stars, &stars.pot).energy();
    let before = energy(&stars);
    let (mut now, mut block_steps) = (0, 0);
    loop {
        now += check;
        block_steps += system.advance(&mut stars, Time::from_dt_max(now), u64::MAX)?.block_steps;
        let (outcome, time) = (Outcome::find(&stars, [0, 1], tolerance), dt_max * now as f64);
        if outcome.is_some() || time >= end {
            let pot = system.field(&stars, Time::from_dt_max(now))?.pot;
            let after = Conserved::from_particles(&stars, &pot).energy();
            return Ok(Ended { outcome, block_steps, energy_error: (after - before) / BINDING, time });
        }
    }
}

/// Binding energy of the binary at the start, m₁ m₂ / (2 a).
const BINDING: f64 = 0.125;

fn main() {
    let argument = |k: usize, default: f64| std::env::args().nth(k).and_then(|a| a.parse().ok()).unwrap_or(default);
    let (velocity, n, nu) = (argument(1, 0.5), argument(2, 2000.0) as u64, argument(3, 0.01));
    let (e, tolerance) = (argument(4, 0.0), argument(5, 1e-5));
    let (dt_max, check, end) = (argument(6, 4.0), argument(7, 4.0) as u64, argument(8, 1e5));
    let thermal = std::env::args().nth(4).is_some_and(|a| a == "thermal");
    let eccentricities = if thermal { Eccentricities::Thermal } else { Eccentricities::Fixed(e) };
    let largest = largest_impact_parameter(velocity, if thermal { 1.0 } else { e });
    let encounters = Encounters {
        masses: [0.5; 3],
        semi_major_axis: 1.0,
        eccentricities,
        velocity,
        impact_parameter: largest,
        tidal_tolerance: tolerance,
    };
    let start = Instant::now();
    let ended: Vec<_> = (1..=n)
        .into_par_iter()
        .map(|seed| integrate(encounters.draw(seed, 1.0), (nu, tolerance), (dt_max, check, end)))
        .collect();
    let seconds = start.elapsed().as_secs_f64();
    let whole: Vec<&Ended> = ended.iter().filter_map(|e| e.as_ref().ok()).collect();
    let mut steps: Vec<u64> = whole.iter().map(|e| e.block_steps).collect();
    let mut errors: Vec<f64> = whole.iter().map(|e| e.energy_error.abs()).collect();
    let mut times: Vec<f64> = whole.iter().map(|e| e.time).collect();
    steps.sort_unstable();
    errors.sort_by(f64::total_cmp);
    times.sort_by(f64::total_cmp);
    let at = |share: f64| ((whole.len() - 1) as f64 * share) as usize;
    println!("v = {velocity}, b_max = {largest:.3} a, {n} encounters in {seconds:.2} s");
    println!("failed {}", ended.len() - whole.len());
    if let Some(Err(e)) = ended.iter().find(|e| e.is_err()) {
        println!("  {e}");
    }
    let mean = steps.iter().sum::<u64>() as f64 / whole.len() as f64;
    println!(
        "block steps: mean {mean:.0}, median {}, 99 % {}, most {}",
        steps[at(0.5)],
        steps[at(0.99)],
        steps[at(1.0)]
    );
    println!("rate {:.3e} block steps/s", mean * whole.len() as f64 / seconds);
    println!(
        "times: median {:.0}, 90 % {:.0}, 99 % {:.0}, most {:.0}",
        times[at(0.5)],
        times[at(0.9)],
        times[at(0.99)],
        times[at(1.0)]
    );
    println!(
        "|dE|/E_b: median {:.1e}, 90 % {:.1e}, 99 % {:.1e}, most {:.1e}",
        errors[at(0.5)],
        errors[at(0.9)],
        errors[at(0.99)],
        errors[at(1.0)]
    );
    let above = errors.iter().filter(|e| **e > 1e-4).count();
    println!("|dE|/E_b > 1e-4: {above}");
    for name in ["flyby", "exchange", "ionisation", "none"] {
        let count = whole.iter().filter(|e| e.outcome.as_ref().map_or("none", Outcome::name) == name).count();
        let share = count as f64 / n as f64;
        let sigma = share * largest * largest;
        let error = (share * (1.0 - share) / n as f64).sqrt() * largest * largest;
        println!(
            "{name:>10} {count:7}  sigma/(pi a^2) = {sigma:.4} +- {error:.4}, times v^2 = {:.4} +- {:.4}",
            sigma * velocity * velocity,
            error * velocity * velocity
        );
    }
}
