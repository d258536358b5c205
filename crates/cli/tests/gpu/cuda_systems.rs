//! Promise: block steps that one GPU takes of many systems at once have the bits of the same systems alone, stepped by
//! the host, in every mode, however they are divided among thread blocks and calls. Without a GPU each test reports that
//! it is skipped. `TISANE_MODES` and `TISANE_SIZES` reduce the tests for a sanitizer.
#![cfg(feature = "cuda")]

use crate::gpu;
use gpu::{listed, modes, needed};
use std::time::Duration;
use tisane::force::block_steps::{Pause, Span, SystemStepper, SystemSteps, Taken};
use tisane::force::cpu::{self, Width};
use tisane::force::cuda::{CudaEngine, SystemShape, SystemsOnDevice};
use tisane::force::precision::Precision;
use tisane::force::{Block, ForceEngine, Forces, GivenForces};
use tisane::initial::plummer;
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, Limits, OnFloor, Parameters};
use tisane::particles::Particles;
use tisane::time::{Clock, Level, Time};
use tisane_lab::study::config::TimeSpan;
use tisane_lab::study::integrators;
use tisane_lab::study::together::{self, Gpu};
use tisane_lab::study::trials::Common;
use tisane_run::config::Engine;

/// A system and how it is integrated.
struct System {
    precision: Precision,
    start: Particles,
    epsilon: f64,
    clock: Clock,
    parameters: Parameters,
    until: Time,
}

impl System {
    /// A sphere of `n` stars, stepped as no other number has it.
    fn new(precision: Precision, n: usize) -> Self {
        let parameters = Parameters::new(precision);
        let limits = Limits { floor: Level::DEEPEST, ..parameters.limits };
        Self {
            precision,
            start: plummer::sample(n, n as u64, 0.999),
            epsilon: if n.is_multiple_of(2) { 1.0 / 64.0 } else { 0.0 },
            clock: Clock { start: 0.0, dt_max: if n.is_multiple_of(3) { 0.125 } else { 0.09375 } },
            parameters: Parameters { nu: 0.01 + 1e-5 * (n % 7) as f64, limits, ..parameters },
            until: Time::from_dt_max(1 + n as u64 % 2),
        }
    }

    fn hermite(&self) -> Hermite4 {
        Hermite4::new(self.parameters, self.clock)
    }

    /// Returns the state at the end by steps of the host, and the block steps and particle steps.
    fn alone(&self, engine: &mut dyn ForceEngine) -> (String, [u64; 3]) {
        let (mut p, mut integrator) = (self.start.clone(), self.hermite());
        integrator.start(&mut p, engine).unwrap();
        let mut done = [0; 3];
        loop {
            let more = integrator.advance(&mut p, engine, self.until, u64::MAX).unwrap();
            done = [done[0] + more.block_steps, done[1] + more.particle_steps, done[2] + more.clamped];
            if more.now == self.until {
                return (state(&p, &self.clock), done);
            }
        }
    }

    /// Returns an engine on the GPU that leaves the steps to the host.
    fn engine(&self) -> CudaEngine {
        let mut engine = CudaEngine::new(self.precision, self.epsilon, self.clock, 0).unwrap();
        engine.set_stepping(false);
        engine
    }

    fn on_gpu_alone(&self) -> (String, [u64; 3]) {
        self.alone(&mut self.engine())
    }
}

/// The state, potentials and levels too.
fn state(p: &Particles, clock: &Clock) -> String {
    let pot = p.pot.iter().fold(0u64, |bits, pot| bits.rotate_left(1) ^ pot.to_bits());
    let levels = p.step.iter().fold(0u64, |bits, step| bits.rotate_left(7) ^ u64::from(step.0));
    format!("{} {pot:x} {levels:x}", p.state_sha256(clock))
}

fn sizes() -> Vec<usize> {
    listed("TISANE_SIZES").unwrap_or_else(|| {
        vec![1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 100, 128, 150, 255, 256, 257, 512, 700, 1000, 1024]
    })
}

fn on_device(precision: Precision, largest: usize) -> Option<SystemsOnDevice> {
    needed(SystemsOnDevice::new(0, precision, largest)).map(|made| made.expect("a device that takes steps"))
}

/// Starts all systems with forces from the device, and takes their steps, `max` at a time.
fn together(
    device: &mut SystemsOnDevice,
    systems: &[System],
    max: u64,
    pause: Option<&Pause>,
) -> Vec<(String, [u64; 3])> {
    let mut integrators: Vec<Hermite4> = systems.iter().map(System::hermite).collect();
    let mut particles: Vec<Particles> = systems.iter().map(|system| system.start.clone()).collect();
    let bodies: Vec<_> = systems.iter().map(|system| (&system.start, system.epsilon)).collect();
    let forces = device.forces(&bodies).unwrap();
    for ((p, integrator), forces) in particles.iter_mut().zip(&mut integrators).zip(forces) {
        integrator.start(p, &mut GivenForces::new(forces)).unwrap();
    }
    let mut all = vec![Taken::default(); systems.len()];
    while all.iter().zip(systems).any(|(taken, system)| taken.now < system.until) {
        let mut going: Vec<_> = systems
            .iter()
            .zip(&mut particles)
            .zip(&mut integrators)
            .zip(&all)
            .map(|(((system, particles), integrator), taken)| SystemSteps {
                rules: integrator.step_rules(particles).unwrap(),
                particles,
                clock: system.clock,
                epsilon: system.epsilon,
                span: Span { from: taken.now, until: system.until, max },
                // As wrong as can be: no bit depends on it.
                before: taken.block_steps % 1000,
            })
            .collect();
        let taken = device.take(&mut going, pause).unwrap();
        assert!(taken.iter().any(|taken| taken.block_steps > 0 || taken.refused > 0), "no step");
        drop(going);
        for (((all, taken), (system, p)), integrator) in
            all.iter_mut().zip(taken).zip(systems.iter().zip(&mut particles)).zip(&mut integrators)
        {
            assert!(taken.block_steps <= max);
            all.now = taken.now;
            all.block_steps += taken.block_steps;
            all.particle_steps += taken.particle_steps;
            all.clamped += taken.clamped;
            if taken.refused > 0 {
                // The host's turn.
                let mut engine = system.engine();
                integrator.resume(p, all.now, &mut engine).unwrap();
                let done = integrator.advance(p, &mut engine, system.until, taken.refused).unwrap();
                all.now = done.now;
                all.block_steps += done.block_steps;
                all.particle_steps += done.particle_steps;
            }
        }
    }
    let ends = particles.iter().zip(systems).map(|(p, system)| state(p, &system.clock));
    ends.zip(all).map(|(end, taken)| (end, [taken.block_steps, taken.particle_steps, taken.clamped])).collect()
}

#[test]
fn every_mode_and_size_ends_in_the_state_of_the_system_alone() {
    for precision in modes() {
        let sizes = sizes();
        let Some(mut device) = on_device(precision, *sizes.iter().max().unwrap()) else { return };
        let systems: Vec<System> = sizes.iter().map(|&n| System::new(precision, n)).collect();
        let want: Vec<_> = systems.iter().map(|system| system.on_gpu_alone()).collect();
        let mut shapes = vec![None];
        if !gpu::few_shapes() {
            let shape = |threads, tile, sharers, cooperates| SystemShape { threads, tile, sharers, cooperates };
            shapes.extend([shape(32, 8, 1, 0), shape(64, 32, 2, 1000), shape(512, 16, 3, 40)].map(Some));
            // Those of the program, also for fewer large systems than it takes them for.
            shapes.extend([256, 512, 1024].map(|n| SystemShape::choose(precision, n, 227 << 10)));
        }
        for shape in shapes {
            device.set_shape(shape);
            for max in if shape.is_some() { vec![u64::MAX] } else { vec![u64::MAX, 57] } {
                let got = together(&mut device, &systems, max, None);
                for ((n, got), want) in sizes.iter().zip(&got).zip(&want) {
                    assert_eq!(got, want, "{} N = {n}, {shape:?}, {max} steps a call", precision.name());
                }
            }
        }
        println!("{}: {:?}", precision.name(), want.iter().map(|want| want.1[0]).collect::<Vec<_>>());
    }
}

#[test]
fn large_systems_and_few_of_them_are_stepped_by_several_thread_blocks() {
    for precision in modes() {
        // One sum over all sources cannot be divided.
        let sizes = if precision == Precision::F32Direct { vec![300, 700, 1024] } else { vec![700, 1024, 1025, 4096] };
        let Some(mut device) = on_device(precision, *sizes.last().unwrap()) else { return };
        let systems: Vec<System> = sizes.iter().map(|&n| System::new(precision, n)).collect();
        let got = together(&mut device, &systems, u64::MAX, None);
        for ((n, got), system) in sizes.iter().zip(got).zip(&systems) {
            assert_eq!(got, system.on_gpu_alone(), "{} N = {n}", precision.name());
        }
    }
}

#[test]
fn f64_ends_in_the_cpus_state() {
    let systems: Vec<System> = [3, 64, 200, 700].map(|n| System::new(Precision::F64, n)).into();
    let Some(mut device) = on_device(Precision::F64, 700) else { return };
    for (system, got) in systems.iter().zip(together(&mut device, &systems, u64::MAX, None)) {
        let mut engine = cpu::engine(Precision::F64, system.epsilon, system.clock, Width::choose().unwrap());
        assert_eq!(got, system.alone(&mut *engine), "N = {}", system.start.len());
    }
}

#[test]
fn forces_are_those_of_the_engine() {
    for precision in modes() {
        let mut sizes = sizes();
        sizes.retain(|&n| n > 1);
        let Some(mut device) = on_device(precision, *sizes.iter().max().unwrap()) else { return };
        let systems: Vec<System> = sizes.iter().map(|&n| System::new(precision, n)).collect();
        let bodies: Vec<_> = systems.iter().map(|system| (&system.start, system.epsilon)).collect();
        for (system, got) in systems.iter().zip(device.forces(&bodies).unwrap()) {
            let mut engine = CudaEngine::new(precision, system.epsilon, system.clock, 0).unwrap();
            engine.load(&system.start).unwrap();
            let all = Block::from_particles(&system.start, (0..system.start.len() as u32).collect());
            let mut want = Forces::default();
            engine.evaluate(Time::default(), all.view(), &mut want).unwrap();
            let bits = |f: &Forces| -> Vec<u64> {
                let vectors = f.acc.iter().chain(&f.jerk).flat_map(|v| v.iter());
                vectors.chain(&f.pot).map(|x| x.to_bits()).collect()
            };
            assert_eq!(bits(&got), bits(&want), "{} N = {}", precision.name(), system.start.len());
        }
    }
}

/// Three bodies that come close to each other, and many of them: more than run at once.
#[test]
fn many_encounters_of_three_bodies_are_those_of_each_alone() {
    let encounter = |seed: u64| {
        let mut system = System::new(Precision::F64, 3);
        system.start = plummer::sample(3, seed, 0.999);
        system.until = Time::from_dt_max(8);
        system
    };
    let systems: Vec<System> = (0..3000).map(encounter).collect();
    let Some(mut device) = on_device(Precision::F64, 3) else { return };
    let got = together(&mut device, &systems, u64::MAX, None);
    for (system, got) in systems.iter().zip(got).step_by(97) {
        let mut engine = cpu::engine(Precision::F64, system.epsilon, system.clock, Width::choose().unwrap());
        assert_eq!(got, system.alone(&mut *engine));
    }
}

#[test]
fn steps_at_the_floor_are_clamped_and_counted() {
    for precision in modes() {
        let mut systems: Vec<System> = [3, 90, 300].map(|n| System::new(precision, n)).into();
        for system in &mut systems {
            system.epsilon = 0.0;
            system.parameters.limits = Limits { floor: Level(7), on_floor: OnFloor::Clamp, ..system.parameters.limits };
        }
        let Some(mut device) = on_device(precision, 300) else { return };
        for (system, got) in systems.iter().zip(together(&mut device, &systems, u64::MAX, None)) {
            assert!(got.1[2] > 0 || system.start.len() < 300, "{got:?}");
            assert_eq!(got, system.on_gpu_alone(), "{}", precision.name());
        }
    }
}

/// A system that has to stop below the floor stops after the same step, while the other goes on.
#[test]
fn steps_below_the_floor_end_that_system_alone() {
    const UNTIL: Time = Time::from_dt_max(100);
    let mut systems: Vec<System> = [200, 250].map(|n| System::new(Precision::Mixed, n)).into();
    // As in the tests of one system: deep enough for the first steps.
    systems[0].parameters.limits.floor = Level(15);
    systems[0].epsilon = 0.0;
    let Some(mut device) = on_device(Precision::Mixed, 300) else { return };
    let bodies: Vec<_> = systems.iter().map(|system| (&system.start, system.epsilon)).collect();
    let forces = device.forces(&bodies).unwrap();
    let mut particles: Vec<Particles> = systems.iter().map(|system| system.start.clone()).collect();
    let mut going: Vec<SystemSteps<'_>> = Vec::new();
    for ((system, p), forces) in systems.iter().zip(&mut particles).zip(forces) {
        let mut integrator = system.hermite();
        integrator.start(p, &mut GivenForces::new(forces)).unwrap();
        let span = Span { from: Time::default(), until: UNTIL, max: u64::MAX };
        let rules = integrator.step_rules(p).unwrap();
        going.push(SystemSteps { particles: p, clock: system.clock, epsilon: system.epsilon, rules, span, before: 0 });
    }
    let taken = device.take(&mut going, None).unwrap();
    drop(going);
    assert_eq!(taken[1].now, UNTIL);
    let mut engine = CudaEngine::new(Precision::Mixed, systems[0].epsilon, systems[0].clock, 0).unwrap();
    engine.set_stepping(false);
    let (mut p, mut integrator) = (systems[0].start.clone(), systems[0].hermite());
    integrator.start(&mut p, &mut engine).unwrap();
    let want = integrator.advance(&mut p, &mut engine, UNTIL, u64::MAX).unwrap();
    assert!(want.now < UNTIL, "the sphere needs other steps for this test");
    assert_eq!((taken[0].now, taken[0].block_steps), (want.now, want.block_steps));
    assert_eq!(state(&particles[0], &systems[0].clock), state(&p, &systems[0].clock));
}

/// A star on which no force acts needs the host's closer look whenever it moves: its companions have no mass. Others go
/// on.
#[test]
fn forces_that_need_a_closer_look_are_left_to_the_host() {
    let mut systems: Vec<System> = [3, 40, 50, 400].map(|n| System::new(Precision::F64, n)).into();
    for system in &mut systems[..2] {
        system.start.mass.iter_mut().skip(1).for_each(|mass| *mass = 0.0);
        system.epsilon = 1.0 / 64.0;
    }
    let Some(mut device) = on_device(Precision::F64, 400) else { return };
    for (system, got) in systems.iter().zip(together(&mut device, &systems, u64::MAX, None)) {
        assert_eq!(got, system.on_gpu_alone(), "N = {}", system.start.len());
    }
}

/// An escaper beyond the range of the mode: its system is refused with the state from before, the other is stepped.
#[test]
fn a_number_out_of_range_is_refused() {
    let Some(mut device) = on_device(Precision::Mixed, 100) else { return };
    let mut systems: Vec<System> = [100, 98].map(|n| System::new(Precision::Mixed, n)).into();
    (systems[0].start.pos[5][0], systems[0].start.vel[5][0]) = (1e10, 1e11);
    let bodies: Vec<_> = systems.iter().map(|system| (&system.start, system.epsilon)).collect();
    let forces = device.forces(&bodies).unwrap();
    let mut particles: Vec<Particles> = systems.iter().map(|system| system.start.clone()).collect();
    let mut going: Vec<SystemSteps<'_>> = Vec::new();
    for ((system, p), forces) in systems.iter().zip(&mut particles).zip(forces) {
        let mut integrator = system.hermite();
        integrator.start(p, &mut GivenForces::new(forces)).unwrap();
        let span = Span { from: Time::default(), until: Time::from_dt_max(2), max: u64::MAX };
        let rules = integrator.step_rules(p).unwrap();
        going.push(SystemSteps { particles: p, clock: system.clock, epsilon: system.epsilon, rules, span, before: 0 });
    }
    let before = state(going[0].particles, &systems[0].clock);
    let taken = device.take(&mut going, None).unwrap();
    assert!(taken[0].refused > 0, "{taken:?}");
    assert_eq!((taken[1].refused, taken[1].now), (0, Time::from_dt_max(2)));
    if taken[0].block_steps == 0 {
        assert_eq!(state(going[0].particles, &systems[0].clock), before);
    }
    // Particles that are not on the schedule are the host's.
    let off = &mut going[1];
    off.span.from = Time(off.span.from.0 + 12345);
    off.span.until = Time::from_dt_max(3);
    assert_eq!(device.take(&mut going[1..], None).unwrap()[0].refused, 1);
}

#[test]
fn a_pause_comes_between_steps_and_changes_no_bit() {
    for sizes in [[3, 64, 300], [100, 150, 1000]] {
        let systems: Vec<System> = sizes.map(|n| System::new(Precision::F64, n)).into();
        let Some(mut device) = on_device(Precision::F64, 1000) else { return };
        let want = together(&mut device, &systems, u64::MAX, None);
        let pause = Pause::new(|| true, Duration::ZERO);
        assert_eq!(together(&mut device, &systems, u64::MAX, Some(&pause)), want);
    }
}

#[test]
fn a_system_larger_than_announced_is_an_error() {
    let Some(mut device) = on_device(Precision::F64, 10) else { return };
    let p = plummer::sample(11, 1, 0.999);
    assert!(device.forces(&[(&p, 0.0)]).unwrap_err().to_string().contains("11 particles"));
    assert_eq!(device.forces(&[]).unwrap().len(), 0);
}

#[test]
fn points_of_a_study_measured_at_once_are_those_measured_one_by_one() {
    let found = Common::new(&[Engine::Cuda], 0, &TimeSpan::default(), 2);
    let Some(common) = needed(found) else { return };
    let gpu = Gpu::default();
    for precision in modes() {
        let engine = &common.engines[0].1;
        let key = |seed| common.key(engine, (100, seed), precision, (integrators::Integrator::default(), 0.01), None);
        let keys: Vec<_> = (1..=9).map(key).collect();
        assert!(keys.iter().all(|key| together::is_together(&common, key, &keys[0])));
        let at_once = together::measure(&common, &keys.iter().collect::<Vec<_>>(), &gpu);
        assert_eq!(at_once.len(), keys.len());
        for (key, at_once) in keys.iter().zip(at_once) {
            let [at_once, alone] = [at_once.unwrap(), common.measure(key).unwrap()]
                .map(|it| (it.energy_error.to_bits(), it.errors.len(), it.block_steps, it.particle_steps, it.pairs));
            assert_eq!(at_once, alone, "{}, seed {}", precision.name(), key.seed);
        }
    }
}
