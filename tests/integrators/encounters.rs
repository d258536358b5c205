//! Promise: encounters of a binary with a single star end in each outcome, conserve energy, and keep their outcome when they are
//! integrated further.

use tisane::diagnostics::conserved::Conserved;
use tisane::diagnostics::outcome::Outcome;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::initial::binaries::Eccentricities;
use tisane::initial::binary_single::Encounters;
use tisane::integrator::hermite4::{Hermite4, Parameters};
use tisane::particles::Particles;
use tisane::propagator::Propagator;
use tisane::time::{Clock, Time};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 };
const TOLERANCE: f64 = 1e-4;

/// Encounter on its way.
struct Run {
    particles: Particles,
    system: Propagator,
    now: u64,
}

impl Run {
    fn new(mut particles: Particles) -> Self {
        let parameters = Parameters { nu: 0.0025, nu_start: 1e-4, ..Parameters::new(Precision::F64) };
        let engine = cpu::engine(Precision::F64, 0.0, CLOCK, Width::choose().unwrap());
        let mut system = Propagator::in_f64(Box::new(Hermite4::new(parameters, CLOCK)), engine);
        system.start(&mut particles).unwrap();
        Self { particles, system, now: 0 }
    }

    fn advance(&mut self, steps: u64) {
        self.now += steps;
        self.system.advance(&mut self.particles, Time::from_dt_max(self.now), u64::MAX).unwrap();
    }

    /// Goes on until there is an outcome, at most to the time 600.
    fn advance_to_outcome(&mut self) -> Option<Outcome> {
        while self.now < 600 {
            self.advance(4);
            let outcome = self.outcome();
            if outcome.is_some() {
                return outcome;
            }
        }
        None
    }

    fn outcome(&self) -> Option<Outcome> {
        Outcome::find(&self.particles, [0, 1], TOLERANCE)
    }

    fn energy(&mut self) -> f64 {
        let pot = self.system.field(&self.particles, Time::from_dt_max(self.now)).unwrap().pot;
        Conserved::from_particles(&self.particles, &pot).energy()
    }
}

#[test]
fn verify_encounters_end_in_each_outcome_and_keep_it() {
    let mut seen = std::collections::BTreeMap::new();
    for (velocity, impact_parameter) in [(0.5, 4.0), (1.5, 1.5), (4.0, 0.6)] {
        let encounters = Encounters {
            masses: [0.5, 0.5, 0.5],
            semi_major_axis: 1.0,
            eccentricities: Eccentricities::Fixed(0.3),
            velocity,
            impact_parameter,
            tidal_tolerance: TOLERANCE,
        };
        for seed in 1..=30 {
            let mut run = Run::new(encounters.draw(seed, 1.0).particles);
            let before = run.energy();
            assert_eq!(run.outcome(), None, "the start is no outcome");
            let Some(outcome) = run.advance_to_outcome() else { continue };
            // In units of the binding energy of the binary, 1/8: the total energy may be near zero.
            let error = (run.energy() - before) / 0.125;
            assert!(error.abs() < 1e-4, "v {velocity} seed {seed}: {outcome:?}, energy error {error:e}");
            *seen.entry(outcome.name()).or_insert(0) += 1;
            for _ in 0..5 {
                run.advance(20);
                let later = run.outcome();
                let (Some(Outcome::Flyby(a) | Outcome::Exchange(a)), Outcome::Flyby(b) | Outcome::Exchange(b)) =
                    (later, outcome)
                else {
                    assert_eq!(later, Some(outcome), "v {velocity} seed {seed} at {}", run.now);
                    continue;
                };
                assert_eq!(a.escaper, b.escaper, "v {velocity} seed {seed} at {}", run.now);
                assert!((a.semi_major_axis / b.semi_major_axis - 1.0).abs() < 1e-2, "seed {seed}: {a:?} {b:?}");
                assert!((a.eccentricity - b.eccentricity).abs() < 1e-2, "seed {seed}: {a:?} {b:?}");
                assert!((a.velocity / b.velocity - 1.0).abs() < 2e-2, "seed {seed}: {a:?} {b:?}");
            }
        }
    }
    assert!(["flyby", "exchange", "ionisation"].iter().all(|name| seen.get(name) >= Some(&5)), "{seen:?}");
}
