//! Promise: an engine that fails or returns what is no number ends the run with exit code 4, and the last checkpoint,
//! from before that, is whole: the run goes on from it to the bits of one that nothing happened to.

use crate::faulty;
use crate::simulated;

use faulty::{Call, FaultyEngine, lost};
use simulated::{Blind, CLOCK, hermite4, not_begun};
use std::path::Path;
use std::time::Duration;
use tisane::Result;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::range::Range;
use tisane::force::{Accelerations, EngineKind, Forces};
use tisane::initial::plummer;
use tisane::integrator::leapfrog::Leapfrog;
use tisane::particles::Particles;
use tisane::propagator::Propagator;
use tisane_io::checkpoint::{self, RunState};
use tisane_io::table;
use tisane_run::simulation::{ExitReason, Simulation};
use tisane_run::system::Engines;

/// What happens to an engine.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Well,
    Lost,
    LostAtOutput,
    NotANumber,
}

/// The fault that brings a fate at evaluation number `at`; `spoil` makes forces no numbers.
fn fault<E>(fate: Fate, at: u32, spoil: fn(&mut E)) -> impl FnMut(Call, &mut E) -> Result<()> {
    move |call, found| match fate {
        Fate::Lost if call.number >= at => Err(lost()),
        Fate::LostAtOutput if call.number >= at && call.repeated => Err(lost()),
        Fate::NotANumber if call.number >= at => {
            spoil(found);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// What moves the particles.
#[derive(Clone, Copy, Debug)]
enum Scheme {
    Hermite4,
    Leapfrog,
}

fn simulation(dir: &Path, particles: Particles, state: RunState, scheme: Scheme, fate: Fate) -> Simulation {
    let (epsilon, width) = (1.0 / 16.0, Width::choose().unwrap());
    let engine = cpu::engine(Precision::F64, epsilon, CLOCK, width);
    let propagator = match scheme {
        Scheme::Hermite4 => {
            let fault = fault(fate, 200, |found: &mut Forces| found.acc[0][1] = f64::NAN);
            hermite4(Box::new(FaultyEngine::new(engine, fault)), None)
        }
        Scheme::Leapfrog => {
            let alone = cpu::accelerations(Precision::F64, epsilon, width);
            let fault = fault(fate, 40, |found: &mut Accelerations| found.acc[0][1] = f64::NAN);
            let faulty = Box::new(FaultyEngine::new(alone, fault));
            Propagator::of_accelerations(Box::new(Leapfrog::new(CLOCK, Range::F64)), faulty, engine)
        }
    };
    // The leapfrog's step is dt_max here.
    let periods = if matches!(scheme, Scheme::Leapfrog) { 50 } else { 4 };
    let engines = Engines {
        kind: EngineKind::Cpu,
        propagator,
        auditor: None,
        law: None,
        origin: None,
        tide: None,
        epsilon: 0.0,
        evolution: None,
    };
    simulated::simulation(dir, (particles, state), engines, (periods, Duration::from_micros(200)))
}

/// A run from its start; the state it ends in.
fn run(dir: &Path, scheme: Scheme, fate: Fate) -> Result<String> {
    let mut simulation = simulation(dir, plummer::sample(128, 1, 0.999), not_begun(), scheme, fate);
    let mut series = simulation.start(&mut Blind)?;
    let reason = simulation.run(&mut series, &mut Blind)?;
    assert_eq!(reason, ExitReason::Finished);
    Ok(simulation.system.particles.state_sha256(&CLOCK))
}

#[test]
fn the_last_checkpoint_survives_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    // The engine that measures for a leapfrog is not its own engine, so that it cannot be lost at an output.
    for (scheme, fates) in [
        (Scheme::Hermite4, &[Fate::Lost, Fate::LostAtOutput, Fate::NotANumber][..]),
        (Scheme::Leapfrog, &[Fate::Lost, Fate::NotANumber]),
    ] {
        let dir = |fate: Fate| folder.path().join(format!("{scheme:?} {fate:?}"));
        let expected = run(&dir(Fate::Well), scheme, Fate::Well).unwrap();
        fates.iter().for_each(|&fate| survives(&dir(fate), scheme, fate, &expected));
    }
}

/// The run fails, and goes on from its last checkpoint to the state that it should have ended in.
fn survives(dir: &Path, scheme: Scheme, fate: Fate, expected: &str) {
    let error = run(dir, scheme, fate).unwrap_err();
    assert_eq!(error.exit_code(), 4, "{error}");
    let words = if fate == Fate::NotANumber { "not a finite number" } else { "it is gone" };
    assert!(error.to_string().contains(words), "{error}");

    let csv = table::read_csv(&dir.join("diagnostics.csv")).unwrap();
    let hdf5 = table::read_hdf5(&dir.join("diagnostics.hdf5")).unwrap();
    assert_eq!(csv.contents().collect::<Vec<_>>(), hdf5.contents().collect::<Vec<_>>(), "diagnostics are whole");

    let (found, warning) = checkpoint::read_newest(dir).unwrap();
    assert_eq!(warning, None, "the newest checkpoint is whole");
    assert!(found.run.counters.block_steps > 0, "it is from after the start");
    assert!(found.particles.acc.iter().flatten().all(|x| x.is_finite()));
    let mut simulation = simulation(dir, found.particles, found.run, scheme, Fate::Well);
    let mut series = simulation.resume().unwrap();
    simulation.run(&mut series, &mut Blind).unwrap();
    assert_eq!(simulation.system.particles.state_sha256(&CLOCK), expected, "{scheme:?} {fate:?}");
}
