//! Promise: an engine that takes block steps by itself, one by one, changes no bit of an integration with subsystems. It is left alone
//! where a subsystem has a part.

use tisane::encounters::Encounters;
use tisane::error::Result;
use tisane::force::block_steps::{NextStep, StepRules, Taken};
use tisane::force::precision::Precision;
use tisane::force::{FieldEngine, ForceEngine, Forces, Targets, reference};
use tisane::initial::plummer;
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, Parameters};
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, Time};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.0625 };

fn hermite() -> Hermite4 {
    Hermite4::new(Parameters::new(Precision::F64), CLOCK)
}

/// Engine that takes the steps that it is asked for, by an integrator of its own, or none.
struct OneByOne {
    engine: Box<dyn FieldEngine>,
    steps: bool,
    asked: u64,
    taken: u64,
}

impl ForceEngine for OneByOne {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.engine.load(all)
    }

    fn derivatives(&self) -> usize {
        self.engine.derivatives()
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engine.update(all, changed)
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
        self.engine.evaluate(now, targets, out)
    }

    fn take_step(&mut self, p: &mut Particles, _: &StepRules, next: NextStep<'_>) -> Result<Option<Taken>> {
        self.asked += 1;
        let (mut own, mut moved) = (hermite(), p.clone());
        own.resume(&moved, next.from, &mut *self.engine)?;
        let done = own.advance(&mut moved, &mut *self.engine, next.now, 1)?;
        // It knows nothing of rows without a particle, which would be due at multiples of the longest step.
        let knows_all = done.particle_steps == next.block.len() as u64;
        if knows_all && self.steps {
            *p = moved;
        }
        self.engine.load(p)?;
        self.taken += u64::from(knows_all && self.steps);
        let (now, particle_steps) = (done.now, done.particle_steps);
        Ok((knows_all && self.steps).then_some(Taken { now, block_steps: 1, particle_steps, ..Taken::default() }))
    }
}

/// Sphere with `pairs` pairs of some semi-major axes from `shortest` on.
fn cluster(n: usize, pairs: usize, shortest: f64) -> Particles {
    let mut p = plummer::sample(n, 3, 0.999);
    for i in (0..2 * pairs).step_by(2) {
        let a = shortest * (1 + i % 7) as f64;
        let (x, v) = (p.pos[i], p.vel[i]);
        p.pos[i + 1] = x + Vec3::x() * a;
        p.vel[i + 1] = v + Vec3::y() * (0.9 * (2.0 * p.mass[i] / a).sqrt());
    }
    p
}

#[test]
fn steps_of_an_engine_between_those_of_subsystems_are_the_hosts() {
    // Pairs that nobody disturbs are points to the engine; wide ones have a part in their steps.
    for (pairs, shortest) in [(0, 1e-4), (2, 1e-4), (3, 4e-3)] {
        let run = |steps: bool| {
            let engine = reference::engine(Precision::F64, 0.0, CLOCK);
            let mut f = OneByOne { engine, steps, asked: 0, taken: 0 };
            let mut integrator = Encounters::new(Box::new(hermite()), 1e-5, CLOCK);
            let (mut p, mut block_steps, end) = (cluster(120, pairs, shortest), 0, Time::from_dt_max(3));
            let mut now = integrator.start(&mut p, &mut f).unwrap().now;
            while now < end {
                let done = integrator.advance(&mut p, &mut f, end, u64::MAX).unwrap();
                (now, block_steps) = (done.now, block_steps + done.block_steps);
            }
            (p.state_sha256(&CLOCK), integrator.number(), block_steps, f)
        };
        let (state, number, block_steps, f) = run(true);
        let (expected, _, _, alone) = run(false);
        assert_eq!(state, expected, "{pairs} pairs");
        let least = if shortest < 1e-3 { block_steps / 2 } else { 1 };
        assert!(number >= pairs && f.taken >= least, "{number} subsystems, {} steps taken of {block_steps}", f.taken);
        assert_eq!(alone.taken, 0);
        assert!(pairs == 0 || f.asked < block_steps, "it was asked for {} of {block_steps} steps", f.asked);
    }
}
