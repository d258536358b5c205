use super::super::member::snapshot_path;
use super::super::{Blueprint, Ensemble, ExitReason, Options};
use super::*;
use crate::assemble::{OnGpu, Session, force_engine};
use crate::config::{Config, Engine};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use tisane::force::Forces;
use tisane::force::block_steps::{SystemSteps, Taken};
use tisane::integrator::{AnyIntegrator, IntegratorSettings};
use tisane::particles::Particles;
use tisane::time::Clock;
use tisane_io::table::Table;

static NEVER: AtomicBool = AtomicBool::new(false);

const CONFIG: &str = "run = { name = 'e', t_end = 1 }\ninitial.plummer.n = 24\nsoftening.epsilon = 0.02\n\
                      integrator.hermite4.dt_min = '2^-15'\noutput.interval = 0.25\nforce.precision = 'f64'\n\
                      [ensemble]\nseries = true\nsnapshots = 'all'\nrealisations = 5\n\
                      [ensemble.vary]\n'softening.epsilon' = [0.02, 0.05, 1e-9]\n";

/// Takes steps on the CPU, some at a time, and refuses some.
struct Stepper {
    settings: IntegratorSettings,
    at_once: u64,
    asked: u64,
}

fn on_cpu(epsilon: f64, clock: Clock) -> Box<dyn tisane::force::ForceEngine> {
    force_engine(None, Engine::Cpu, Precision::F64, epsilon, clock, OnGpu::default()).unwrap()
}

impl SystemStepper for Stepper {
    fn forces(&mut self, systems: &[(&Particles, f64)]) -> Result<Vec<Forces>> {
        let clock = Clock { start: 0.0, dt_max: 1.0 };
        let of = |&(p, epsilon): &(&Particles, f64)| {
            let mut at = p.clone();
            at.time.fill(Default::default());
            let (mut engine, mut found) = (on_cpu(epsilon, clock), Forces::default());
            engine.load(&at)?;
            let index: Vec<u32> = (0..p.len() as u32).collect();
            let targets = tisane::force::Targets { index: &index, pos: &p.pos, vel: &p.vel };
            engine.evaluate(Default::default(), targets, &mut found)?;
            Ok(found)
        };
        systems.iter().map(of).collect()
    }

    fn take(&mut self, systems: &mut [SystemSteps<'_>], _: Option<&Pause>) -> Result<Vec<Taken>> {
        let mut take = |it: &mut SystemSteps<'_>| {
            self.asked += 1;
            if self.asked.is_multiple_of(7) {
                return Ok(Taken { now: it.span.from, refused: 5, ..Taken::default() });
            }
            let AnyIntegrator::Forces(mut own) = self.settings.scheme().build(Precision::F64, it.clock) else {
                unreachable!("a Hermite scheme");
            };
            let mut engine = on_cpu(it.epsilon, it.clock);
            own.resume(it.particles, it.span.from, &mut *engine)?;
            let taken = Taken { now: it.span.from, ..Taken::default() };
            // As on a device, no step is taken below the floor.
            let is_below = it.particles.step.iter().any(|level| *level > it.rules.floor);
            let max = if is_below { 0 } else { it.span.max.min(self.at_once) };
            let done = own.advance(it.particles, &mut *engine, it.span.until, max)?;
            if done.block_steps == 0 {
                return Ok(taken);
            }
            let (now, block_steps, particle_steps) = (done.now, done.block_steps, done.particle_steps);
            Ok(Taken { now, block_steps, particle_steps, ..taken })
        };
        systems.iter_mut().map(&mut take).collect()
    }
}

/// Runs the ensemble, on a number of devices or the cores, and past snapshots of members that cannot be written at first;
/// returns its tables without the wall time and the names of its snapshots.
fn run(config: &str, at_once: Option<u64>, devices: u32, obstacles: &[(u64, u64)]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let loaded = Config::from_str("e", config, Path::new(""), &[]).unwrap();
    let settings = loaded.config.integrator.clone();
    let mut ensemble = Ensemble::create(Blueprint::new(&loaded, Path::new("")).unwrap(), dir.path()).unwrap();
    let session = Session { engine: Some(Engine::Cpu), ..Session::default() };
    let options = Options { session, threads: 2, wall_time: None, stop: &NEVER };
    let open = |_, largest: usize| {
        let made = || Box::new(Stepper { settings: settings.clone(), at_once: at_once.unwrap(), asked: 0 });
        Ok((largest <= 32).then(|| made() as Box<dyn SystemStepper>))
    };
    let device = |number| Device { number, kind: EngineKind::Cpu, open: &open as &Open<'_> };
    let devices: Vec<Device<'_>> = at_once.map_or(Vec::new(), |_| (0..devices).map(device).collect());
    let folder = dir.path().join("snapshots");
    for (member, output) in obstacles {
        let obstacle = snapshot_path(&folder, *member, *output);
        std::fs::create_dir(&obstacle).unwrap();
        assert_eq!(ensemble.run_on(&options, &devices, &mut |_| {}).unwrap_err().exit_code(), 5);
        std::fs::remove_dir(&obstacle).unwrap();
        ensemble = Ensemble::resume(dir.path()).unwrap();
    }
    let mut shown = 0;
    assert_eq!(ensemble.run_on(&options, &devices, &mut |_| shown += 1).unwrap(), ExitReason::Finished);
    let all = ensemble.blueprint().members.count() as f64;
    assert!(shown > 0 && (ensemble.status().done - all).abs() < 1e-6, "{:?}", ensemble.status());
    let summary = ensemble.conclude(ExitReason::Finished).unwrap();
    let some = |how: &str| summary.outcomes.get(how).is_some_and(|count| *count >= 2);
    assert!(some("finished") && some("failed") == (config == CONFIG), "{:?}", summary.outcomes);
    let columns = |table: &Table| {
        let kept = table.columns.iter().filter(|column| column.name != "wall_seconds");
        format!("{:?}", kept.collect::<Vec<_>>())
    };
    let mut names: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    format!("{}{}{names:?}", columns(ensemble.members()), columns(ensemble.series().unwrap()))
}

#[test]
fn members_whose_steps_a_device_takes_are_those_of_the_cores() {
    let want = run(CONFIG, None, 0, &[]);
    for (at_once, devices) in [(1, 1), (9, 1), (u64::MAX, 1), (9, 2), (u64::MAX, 3)] {
        assert!(run(CONFIG, Some(at_once), devices, &[]) == want, "{at_once} steps at a time on {devices} devices");
    }
}

#[test]
fn outputs_that_could_not_be_written_are_made_by_the_next_session() {
    let config = CONFIG.replace(", 1e-9]", "]").replace("2^-15", "2^-30");
    let want = run(&config, None, 0, &[]);
    // The first output of a member, one in the middle, and the last.
    for obstacles in [&[(2, 0)][..], &[(6, 2)], &[(4, 4)], &[(0, 0), (0, 1), (9, 3), (9, 4)]] {
        for devices in [0, 1, 2] {
            let at_once = (devices > 0).then_some(9);
            assert!(run(&config, at_once, devices, obstacles) == want, "{obstacles:?} on {devices} devices");
        }
    }
}

#[test]
fn members_that_a_device_does_not_take_are_those_of_the_cores() {
    let sizes = CONFIG.replace("'softening.epsilon' = [0.02, 0.05, 1e-9]", "'initial.plummer.n' = [24, 40]");
    let sizes = sizes.replace("2^-15", "2^-30");
    // Without a softening all have subsystems, which no device takes.
    let bare = sizes.replace("softening.epsilon = 0.02\n", "");
    for config in [sizes, bare] {
        let want = run(&config, None, 0, &[]);
        for devices in [1, 2] {
            assert!(run(&config, Some(9), devices, &[]) == want, "{devices} devices\n{config}");
            assert!(run(&config, Some(9), devices, &[(7, 2)]) == want, "{devices} devices, stopped\n{config}");
        }
    }
}
