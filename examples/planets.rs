//! A planetary system: the Sun and its eight planets for a hundred years, without softening, with the energy error.
//!
//! `cargo run --release --example planets`

use std::f64::consts::TAU;
use tisane::diagnostics::conserved::Conserved;
use tisane::force::{cpu, precision::Precision};
use tisane::initial::solar_system;
use tisane::integrator::hermite4::{Hermite4, Parameters};
use tisane::propagator::Propagator;
use tisane::time::{Clock, Time};

fn main() -> tisane::Result<()> {
    // With G = 1, lengths in au and masses in solar masses a year is 2π units of time. The longest step is a quarter of
    // a year.
    let clock = Clock { start: 0.0, dt_max: TAU / 4.0 };
    let mut bodies = solar_system::planets(1.0);

    let parameters = Parameters { nu: 1e-4, nu_start: 1e-6, ..Parameters::new(Precision::F64) };
    let engine = cpu::engine(Precision::F64, 0.0, clock, cpu::Width::widest());
    let mut system = Propagator::in_f64(Box::new(Hermite4::new(parameters, clock)), engine);
    system.start(&mut bodies)?;
    let first = Conserved::from_particles(&bodies, &system.field(&bodies, Time::default())?.pot).energy();

    println!("{:>5} {:>22} {:>22} {:>9}", "year", "Earth (au)", "Neptune (au)", "dE/E");
    for year in (10..=100).step_by(10) {
        let now = Time::from_dt_max(4 * year);
        system.advance(&mut bodies, now, u64::MAX)?;
        let energy = Conserved::from_particles(&bodies, &system.field(&bodies, now)?.pot).energy();
        let [earth, neptune] = [3, 8].map(|i| bodies.pos[i] - bodies.pos[0]);
        println!(
            "{year:5} {:10.5} {:11.5} {:10.5} {:11.5} {:9.1e}",
            earth.x,
            earth.y,
            neptune.x,
            neptune.y,
            energy / first - 1.0
        );
    }
    Ok(())
}
