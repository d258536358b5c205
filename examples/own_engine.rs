//! A force engine of one's own behind the trait: plain loops, checked against the reference and then used in a run.
//!
//! `cargo run --release --example own_engine`

use tisane::force::precision::Precision;
use tisane::force::{Block, ForceEngine, Forces, Targets, reference};
use tisane::gravity::predict;
use tisane::initial::plummer;
use tisane::integrator::hermite4::{Hermite4, Parameters};
use tisane::particles::Particles;
use tisane::propagator::Propagator;
use tisane::time::{Clock, Time};

/// All pairs in two loops.
struct TwoLoops {
    sources: Particles,
    eps2: f64,
    clock: Clock,
}

impl ForceEngine for TwoLoops {
    fn load(&mut self, all: &Particles) -> tisane::Result<()> {
        self.sources = all.clone();
        Ok(())
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> tisane::Result<()> {
        for &i in changed {
            let i = i as usize;
            (self.sources.pos[i], self.sources.vel[i]) = (all.pos[i], all.vel[i]);
            (self.sources.acc[i], self.sources.jerk[i]) = (all.acc[i], all.jerk[i]);
            self.sources.time[i] = all.time[i];
        }
        Ok(())
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> tisane::Result<()> {
        let s = &self.sources;
        let mut state: Vec<_> = (0..s.len())
            .map(|j| predict(s.pos[j], s.vel[j], s.acc[j], s.jerk[j], self.clock.between(s.time[j], now)))
            .collect();
        // Sources that are targets stand where the targets put them.
        for (k, &i) in targets.index.iter().enumerate() {
            state[i as usize] = (targets.pos[k], targets.vel[k]);
        }
        *out = Forces::default();
        out.resize(targets.len());
        for (k, &i) in targets.index.iter().enumerate() {
            for (j, (pos, vel)) in state.iter().enumerate().filter(|(j, _)| *j != i as usize) {
                let (r, v) = (pos - targets.pos[k], vel - targets.vel[k]);
                let s2 = r.norm_squared() + self.eps2;
                let m_s3 = s.mass[j] / (s2 * s2.sqrt());
                out.acc[k] += m_s3 * r;
                out.jerk[k] += m_s3 * (v - 3.0 * r.dot(&v) / s2 * r);
                out.pot[k] -= s.mass[j] / s2.sqrt();
            }
        }
        Ok(())
    }
}

fn main() -> tisane::Result<()> {
    let clock = Clock { start: 0.0, dt_max: 1.0 / 8.0 };
    let mut stars = plummer::sample(128, 1, 0.999);
    let epsilon: f64 = 1.0 / 64.0;
    let mut own = TwoLoops { sources: Particles::default(), eps2: epsilon * epsilon, clock };

    let all = Block::from_particles(&stars, (0..stars.len() as u32).collect());
    let (mut found, mut wanted) = (Forces::default(), Forces::default());
    let mut oracle = reference::engine(Precision::F64, epsilon, clock);
    for (engine, out) in [(&mut own as &mut dyn ForceEngine, &mut found), (&mut *oracle, &mut wanted)] {
        engine.load(&stars)?;
        engine.evaluate(Time::default(), all.view(), out)?;
    }
    let error = |(a, b): (&tisane::particles::Vec3, &tisane::particles::Vec3)| (a - b).norm() / b.norm();
    let largest = found.acc.iter().zip(&wanted.acc).map(error).fold(0.0, f64::max);
    println!("largest relative difference to the reference: {largest:.1e}");
    assert!(largest < 1e-12);

    let mut system = Propagator::in_f64(Box::new(Hermite4::new(Parameters::new(Precision::F64), clock)), Box::new(own));
    system.start(&mut stars)?;
    let done = system.advance(&mut stars, Time::from_dt_max(4), u64::MAX)?;
    println!("{} block steps, {} particle steps, {} pairs", done.block_steps, done.particle_steps, done.pairs);
    Ok(())
}
