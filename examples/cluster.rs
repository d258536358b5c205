//! A star cluster: a Plummer sphere of 512 stars for two time units (N-body units), with its Lagrangian radii and energy
//! error.
//!
//! `cargo run --release --example cluster`

use tisane::diagnostics::conserved::Conserved;
use tisane::diagnostics::structure::lagrangian_radius;
use tisane::force::{cpu, precision::Precision};
use tisane::initial::{plummer, scaling};
use tisane::integrator::hermite4::{Hermite4, Parameters};
use tisane::particles::Vec3;
use tisane::propagator::Propagator;
use tisane::time::{Clock, Time};

fn main() -> tisane::Result<()> {
    // The longest step is the time between outputs: there all stars stand at the same time.
    let clock = Clock { start: 0.0, dt_max: 1.0 / 8.0 };
    let mut stars = plummer::sample(512, 1, 0.999);
    scaling::to_centre_of_mass(&mut stars);

    let engine = cpu::engine(Precision::F64, 1.0 / 128.0, clock, cpu::Width::widest());
    let mut system = Propagator::in_f64(Box::new(Hermite4::new(Parameters::new(Precision::F64), clock)), engine);
    system.start(&mut stars)?;

    let mut energy = None;
    println!("{:>5} {:>8} {:>8} {:>8} {:>10} {:>9}", "t", "r_10%", "r_50%", "r_90%", "steps", "dE/E");
    for output in 0..=16 {
        let now = Time::from_dt_max(output);
        let steps = system.advance(&mut stars, now, u64::MAX)?.particle_steps;
        let conserved = Conserved::from_particles(&stars, &system.field(&stars, now)?.pot);
        let first = *energy.get_or_insert(conserved.energy());
        let [inner, half, outer] = [0.1, 0.5, 0.9].map(|f| lagrangian_radius(&stars, Vec3::zeros(), f));
        let error = conserved.energy() / first - 1.0;
        println!("{:5.3} {inner:8.4} {half:8.4} {outer:8.4} {steps:10} {error:9.1e}", clock.time(now));
    }
    Ok(())
}
