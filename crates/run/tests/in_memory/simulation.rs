//! Promise: a simulation in memory has the bits of a run, whatever times it is asked for, through a saved file, and its
//! energy error is that of the integration alone when a program changes particles.

use crate::cluster::{self, CLUSTER};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tisane::force::external::ExternalField;
use tisane::particles::Vec3;
use tisane::time::Time;
use tisane_run::assemble::{self, Session};
use tisane_run::config::Config;
use tisane_run::in_memory::{Changes, InMemory};
use tisane_run::system::System;

const PLUMMER: &str = "
[run]
name = 'sphere'
t_end = 1.0
[initial.plummer]
n = 64
seed = 3
[softening]
epsilon = 0.02
[force]
threads = 1
";

const SCHEMES: [&str; 5] = [
    "integrator={hermite4={dt_max='1/16'}}",
    "integrator={multipoint={dt_max='1/16'}}",
    "integrator={multipoint={order=8,dt_max='1/16'}}",
    "integrator={ahmad_cohen={dt_max='1/16'}}",
    "integrator={leapfrog={dt='1/256'}}",
];

fn all(_: &System) -> u64 {
    u64::MAX
}

fn simulation(scheme: &str) -> InMemory {
    InMemory::new(PLUMMER, Path::new(""), &[scheme.into()]).unwrap()
}

/// Hash of the state after 8 dt_max of a run with a configuration.
fn of_run(text: &str, scheme: &str, steps: u64) -> String {
    let loaded = Config::from_str("run", text, Path::new(""), &[scheme.into()]).unwrap();
    let mut setup = assemble::prepare(loaded).unwrap();
    let mut propagator = assemble::propagator(&setup, Session::default()).unwrap();
    propagator.start(&mut setup.particles).unwrap();
    propagator.advance(&mut setup.particles, Time::from_dt_max(steps), u64::MAX).unwrap();
    setup.particles.state_sha256(&setup.clock)
}

#[test]
fn the_bits_are_those_of_a_run_whatever_times_are_asked_for() {
    for scheme in SCHEMES {
        let expected = of_run(PLUMMER, scheme, if scheme.contains("leapfrog") { 128 } else { 8 });
        let mut direct = simulation(scheme);
        assert!(direct.integrate(0.5, &mut all).unwrap());
        assert_eq!(direct.state_sha256().unwrap(), expected, "{scheme}");
        let mut interrupted = simulation(scheme);
        for t in [0.0, 0.1, 0.1, 0.123_456_789, 0.25, 0.3] {
            interrupted.integrate(t, &mut all).unwrap();
            assert_eq!(interrupted.time(), t);
            assert_eq!(interrupted.state().unwrap().pos.len(), 64);
            assert!(interrupted.measure().unwrap().energy_error.abs() < 1e-4);
            interrupted.field_at(&[Vec3::zeros()], &[Vec3::zeros()]).unwrap();
        }
        // Stopped after every block step.
        while !interrupted.integrate(0.5, &mut |_| 0).unwrap() {}
        assert_eq!(interrupted.state_sha256().unwrap(), expected, "{scheme}");
        assert!(interrupted == direct, "{scheme}");
    }
}

#[test]
fn a_saved_file_goes_on_with_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved.hdf5");
    for scheme in SCHEMES {
        for t in [0.25, 0.271_828] {
            let mut simulation = simulation(scheme);
            simulation.integrate(t, &mut all).unwrap();
            simulation.save(&path).unwrap();
            let mut loaded = InMemory::load(&path).unwrap();
            assert!(loaded == simulation && loaded.time() == t, "{scheme}, {t}");
            assert_eq!(loaded.state().unwrap(), simulation.state().unwrap());
            for simulation in [&mut loaded, &mut simulation] {
                simulation.integrate(0.6, &mut all).unwrap();
            }
            assert!(loaded == simulation && loaded.measure().unwrap() == simulation.measure().unwrap(), "{scheme}");
        }
    }
}

#[test]
fn so_does_one_with_subsystems() {
    for scheme in ["hermite4", "multipoint", "ahmad_cohen"] {
        with_subsystems(scheme);
    }
}

fn with_subsystems(scheme: &str) {
    let text = PLUMMER.replace("epsilon = 0.02", "epsilon = 0")
        + "[initial.binaries]\nfraction = 0.5\nsemi_major_axis = 'uniform'\na_min = 0.001\na_max = 0.002\n[encounters]\n"
        + &format!("[integrator.{scheme}]\n");
    let simulation = || InMemory::new(&text, Path::new(""), &[]).unwrap();
    let expected = of_run(&text, "limits.block_steps=1000000000", 4);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved.hdf5");
    let mut one = simulation();
    for t in [0.0, 0.1, 0.123_456_789, 0.25] {
        one.integrate(t, &mut all).unwrap();
        let energy_error = one.measure().unwrap().energy_error;
        assert!(energy_error.abs() < 1e-5, "{energy_error}");
        one.field_at(&[Vec3::zeros()], &[Vec3::zeros()]).unwrap();
        one.save(&path).unwrap();
        one = InMemory::load(&path).unwrap();
    }
    one.integrate(0.5, &mut all).unwrap();
    assert_eq!(one.state_sha256().unwrap(), expected);
    assert!(one.config().subsystems().is_some());
    // A setting is changed: they stay.
    let mut changed = simulation();
    changed.integrate(0.125, &mut all).unwrap();
    let accuracy = if scheme == "hermite4" { "nu=0.005" } else { "eta=0.2" };
    changed.set(&format!("integrator.{scheme}.{accuracy}")).unwrap();
    changed.integrate(0.25, &mut all).unwrap();
    assert!(changed.config().subsystems().is_some() && changed.measure().unwrap().energy_error.abs() < 1e-5);
    let setup = changed.setup(&["run.t_end=0.5".into()]).unwrap();
    assert!(setup.config.subsystems().is_some());
}

/// A cluster has the scheme that a run of it has, and keeps it where another setting is changed.
#[test]
fn a_cluster_has_the_scheme_of_its_run() {
    let text = PLUMMER.replace("epsilon = 0.02", "epsilon = 0");
    let name = |simulation: &InMemory| simulation.config().integrator.info().name();
    let mut one = InMemory::new(&text, Path::new(""), &[]).unwrap();
    one.integrate(0.5, &mut all).unwrap();
    assert_eq!(name(&one), "multipoint");
    assert_eq!(one.state_sha256().unwrap(), of_run(&text, "limits.block_steps=1000000000", 4));
    one.set("force.threads=2").unwrap();
    one.integrate(0.75, &mut all).unwrap();
    assert!(name(&one) == "multipoint" && one.config().subsystems().is_some());
    let setup = one.setup(&["run.t_end=1.0".into()]).unwrap();
    assert!(setup.config.integrator == one.config().integrator && setup.config.subsystems().is_some());
    one.set("integrator.hermite4.nu=0.01").unwrap();
    one.integrate(0.8, &mut all).unwrap();
    assert!(name(&one) == "hermite4" && one.config().subsystems().is_some());
}

/// Softened stars have none.
#[test]
fn subsystems_end_with_softening() {
    let text = PLUMMER.replace("epsilon = 0.02", "epsilon = 0");
    let mut changed = InMemory::new(&text, Path::new(""), &[]).unwrap();
    changed.integrate(0.125, &mut all).unwrap();
    assert!(changed.config().subsystems().is_some());
    changed.set("softening.epsilon=0.01").unwrap();
    changed.integrate(0.25, &mut all).unwrap();
    assert!(changed.config().subsystems().is_none());
}

/// A cluster in parsecs and Myr, given as arrays.
fn in_parsecs(scheme: &str) -> InMemory {
    let text = "units = { mass = 'Msun', length = 'pc', velocity = 'km/s', time = 'Myr' }\nsoftening.epsilon = 0.01\n";
    let mut simulation = InMemory::new(text, Path::new(""), &[scheme.into()]).unwrap();
    let p = tisane::initial::plummer::sample(100, 7, 0.999);
    let scaled = |column: &[Vec3], by: f64| column.iter().map(|x| x * by).collect::<Vec<_>>();
    let mass: Vec<f64> = p.mass.iter().map(|m| 500.0 * m).collect();
    let speed = (simulation.units().g() * 500.0 / 1.0).sqrt();
    let id = simulation.add(None, &mass, &scaled(&p.pos, 1.0), &scaled(&p.vel, speed)).unwrap();
    assert_eq!(id, (0..100).collect::<Vec<u64>>());
    simulation
}

#[test]
fn changes_by_the_program_are_no_error_of_the_integration() {
    for scheme in ["hermite4", "multipoint", "ahmad_cohen"].map(|it| format!("integrator={{{it}={{dt_max=0.05}}}}")) {
        let mut simulation = in_parsecs(&scheme);
        simulation.integrate(0.33, &mut all).unwrap();
        let before = simulation.measure().unwrap();
        let state = simulation.state().unwrap();
        let kicked: Vec<Vec3> = state.vel.iter().map(|v| v * 1.2).collect();
        simulation.change(Changes { id: &state.id, vel: Some(&kicked), ..Changes::default() }).unwrap();
        let after = simulation.measure().unwrap();
        assert!((after.kinetic_energy / before.kinetic_energy - 1.44).abs() < 1e-9);
        // Errors are relative to the energy in the own frame.
        let own = |energy: f64, faster: f64| {
            let momentum: Vec3 = state.mass.iter().zip(&state.vel).map(|(m, v)| *m * v * faster).sum();
            energy - 0.5 * momentum.norm_squared() / state.mass.iter().sum::<f64>()
        };
        let scales = own(after.energy, 1.2) / own(before.energy, 1.0);
        assert!((after.energy_error * scales.abs() - before.energy_error).abs() < 1e-11, "{scheme}");
        simulation.remove(&[3, 50]).unwrap();
        let id = simulation.add(Some(&[777]), &[5.0], &[Vec3::new(3.0, 0.0, 0.0)], &[Vec3::zeros()]).unwrap();
        assert_eq!((id, simulation.len()), (vec![777], 99));
        simulation.integrate(1.0, &mut all).unwrap();
        let last = simulation.measure().unwrap();
        assert!(last.energy_error.abs() < 1e-4 && last.energy_error != 0.0, "{scheme}: {}", last.energy_error);
        assert_eq!((simulation.time(), simulation.state().unwrap().id.last()), (1.0, Some(&777)));
    }
}

/// A setting that is changed on the way begins a new integration, in another mode too.
#[test]
fn settings_change_on_the_way() {
    let mut simulation = in_parsecs("integrator={hermite4={dt_max=0.05}}");
    simulation.integrate(0.2, &mut all).unwrap();
    simulation.set("force.precision=mixed").unwrap();
    simulation.set("integrator={multipoint={dt_max=0.05}}").unwrap();
    simulation.integrate(0.4, &mut all).unwrap();
    let measured = simulation.measure().unwrap();
    assert!(measured.audit.is_some_and(|audit| audit.acc.max > 0.0 && audit.acc.max < 1e-4));
    let error = simulation.set("units.mass=kg").unwrap_err().to_string();
    assert!(error.contains("[units] cannot change any more"), "{error}");
    assert!(simulation.set("integrator.hermite4.nue=0.1").is_err());
    assert_eq!(simulation.time(), 0.4);
}

#[test]
fn fields_at_points_are_those_of_the_particles() {
    let mut simulation = in_parsecs("integrator={hermite4={dt_max=0.05}}");
    simulation.integrate(0.12, &mut all).unwrap();
    let (state, g) = (simulation.state().unwrap(), simulation.units().g());
    let at = Vec3::new(0.3, -2.0, 1.0);
    let found = simulation.field_at(&[at], &[Vec3::zeros()]).unwrap();
    let (mut acc, mut pot) = (Vec3::zeros(), 0.0);
    for (x, m) in state.pos.iter().zip(&state.mass) {
        let r = x - at;
        let s = (r.norm_squared() + 1e-4).sqrt();
        acc += g * m / s.powi(3) * r;
        pot -= g * m / s;
    }
    assert!((found.acc[0] - acc).norm() < 1e-12 * acc.norm() && (found.pot[0] / pot - 1.0).abs() < 1e-12);
    let all = simulation.forces().unwrap();
    let energy: f64 = all.pot.iter().zip(&state.mass).map(|(pot, m)| 0.5 * pot * m).sum();
    assert!((energy / simulation.measure().unwrap().potential_energy - 1.0).abs() < 1e-12);
}

#[test]
fn mistakes_are_named_and_change_nothing() {
    let says = |error: tisane::Error, words: &str| assert!(error.to_string().contains(words), "{error}");
    let mut empty = InMemory::new("", Path::new(""), &[]).unwrap();
    says(empty.integrate(1.0, &mut all).unwrap_err(), "there are none");
    let x = [Vec3::zeros(), Vec3::new(1.0, 0.0, 0.0)];
    says(empty.add(None, &[1.0], &x, &x).unwrap_err(), "columns of different lengths: 1 and 2");
    says(empty.add(None, &[1.0, -1.0], &x, &x).unwrap_err(), "id 1: mass is -1.0");
    says(empty.add(None, &[1.0, f64::NAN], &x, &x).unwrap_err(), "id 1: mass is NaN");
    says(empty.add(Some(&[4, 4]), &[1.0, 1.0], &x, &x).unwrap_err(), "two particles have the id 4");
    assert!(empty.is_empty() && empty.measure().is_err() && empty.save(Path::new("never.hdf5")).is_err());
    empty.add(Some(&[9, 4]), &[1.0, 1.0], &x, &x).unwrap();
    says(empty.add(Some(&[4]), &[1.0], &x[..1], &x[..1]).unwrap_err(), "two particles have the id 4");
    says(empty.remove(&[5]).unwrap_err(), "no particle with the id 5");
    let changes = Changes { id: &[9], pos: Some(&x[1..]), ..Changes::default() };
    empty.change(changes).unwrap();
    says(empty.start().unwrap_err(), "particles 9 and 4 start at the same place");
    empty.change(Changes { pos: Some(&x[..1]), ..changes }).unwrap();
    empty.start().unwrap();
    says(empty.integrate(-1.0, &mut all).unwrap_err(), "goes forward only");
    says(empty.integrate(f64::NAN, &mut all).unwrap_err(), "expected a finite number");
    says(empty.remove(&[4, 9]).unwrap_err(), "all would be removed");
    assert_eq!((empty.len(), empty.time()), (2, 0.0));
    says(InMemory::new("softening.epsilom = 1", Path::new(""), &[]).err().unwrap(), "epsilom");
    says(InMemory::load(Path::new("nowhere.hdf5")).err().unwrap(), "nowhere.hdf5");
}

/// Attraction to the origin, -k x.
struct Spring(f64);

impl ExternalField for Spring {
    fn acc(&self, pos: Vec3, _: f64) -> Vec3 {
        -self.0 * pos
    }
    fn jerk(&self, _: Vec3, vel: Vec3, _: f64) -> Vec3 {
        -self.0 * vel
    }
    fn pot(&self, pos: Vec3, _: f64) -> f64 {
        0.5 * self.0 * pos.norm_squared()
    }
}

/// A field of the program acts in its units, beside one of the configuration, and can change on the way.
#[test]
fn a_field_of_the_program_acts_in_its_units() {
    let text = "units = { mass = 'Msun', length = 'au', time = 'yr' }\nintegrator.hermite4 = { dt_max = '1/64', nu = 0.001 }\n\
                external.point-mass = { mass = 1e-9, position = [90, 0, 0] }";
    let mut simulation = InMemory::new(text, Path::new(""), &[]).unwrap();
    let x = Vec3::new(2.0, 0.0, 0.0);
    simulation.add(None, &[1e-3], &[x], &[Vec3::zeros()]).unwrap();
    let omega = std::f64::consts::TAU;
    simulation.set_external(Some(Arc::new(Spring(omega * omega)))).unwrap();
    simulation.integrate(0.25, &mut all).unwrap();
    let v = simulation.state().unwrap().vel[0];
    assert!((v - Vec3::new(-2.0 * omega, 0.0, 0.0)).norm() < 1e-5, "{v}");
    let measured = simulation.measure().unwrap();
    assert!(measured.energy_error.abs() < 1e-6 && measured.external_potential_energy.abs() < 1e-5);
    assert!(simulation.setup(&["run.t_end=1".into()]).is_err());
    simulation.set_external(None).unwrap();
    simulation.integrate(0.5, &mut all).unwrap();
    let now = simulation.state().unwrap();
    assert!((now.vel[0] - v).norm() < 1e-6 && (now.pos[0] - 0.25 * v).norm() < 1e-4, "{now:?}");
}

/// A scheme with its own forces refuses what it would not feel, and more particles than it takes, whenever they come.
#[test]
fn a_scheme_with_its_own_forces_takes_no_field_and_few_particles() {
    let text = "initial.plummer.n = 5\nsoftening.epsilon = '1/64'\nintegrator.extrapolated = { tolerance = 1e-12, dt_max = '1/8' }";
    let mut simulation = InMemory::new(text, Path::new(""), &[]).unwrap();
    simulation.set_external(Some(Arc::new(Spring(1.0)))).unwrap();
    let refused = simulation.integrate(0.125, &mut all).unwrap_err().to_string();
    assert!(refused.contains("expected no field: the extrapolated leapfrog"), "{refused}");
    simulation.set_external(None).unwrap();
    simulation.integrate(0.125, &mut all).unwrap();
    let far: Vec<Vec3> = (0..252).map(|i| Vec3::new(100.0 + f64::from(i), 0.0, 0.0)).collect();
    simulation.add(None, &[0.0; 252], &far, &[Vec3::zeros(); 252]).unwrap();
    let refused = simulation.integrate(0.25, &mut all).unwrap_err().to_string();
    assert!(refused.contains("expected at most 256 particles"), "{refused}");
}

/// A cluster about an origin that moves in fields, one of them of the program.
#[test]
fn the_origin_goes_on_where_it_is_through_changes_and_files() {
    let text = "initial.plummer.n = 64\nsoftening.epsilon = 0.05\nexternal.point-mass.mass = 1000\n\
                orbit = { position = [40, 0, 4], velocity = [0.5, 4.5, 0] }\nintegrator.hermite4.dt_max = '1/16'";
    let start = || InMemory::new(text, Path::new(""), &[]).unwrap();
    let (mut plain, mut changed) = (start(), start());
    assert_eq!(plain.orbit().unwrap().unwrap(), [Vec3::new(40.0, 0.0, 4.0), Vec3::new(0.5, 4.5, 0.0)]);
    plain.integrate(0.9, &mut all).unwrap();
    let expected = plain.orbit().unwrap().unwrap();
    // Between two steps: the integration begins anew there.
    changed.integrate(0.4, &mut all).unwrap();
    let state = changed.state().unwrap();
    changed.remove(&state.id[..1]).unwrap();
    let error = changed.measure().unwrap().energy_error;
    assert!(error.abs() < 1e-6, "{error:e}");
    changed.integrate(0.5, &mut all).unwrap();
    assert!(changed.set("orbit.back=1.0").is_err());
    changed.set("integrator.hermite4.nu=0.001").unwrap();
    changed.integrate(0.7, &mut all).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.hdf5");
    changed.save(&path).unwrap();
    let mut loaded = InMemory::load(&path).unwrap();
    for simulation in [&mut changed, &mut loaded] {
        simulation.integrate(0.9, &mut all).unwrap();
        let found = simulation.orbit().unwrap().unwrap();
        for k in 0..2 {
            assert!((found[k] - expected[k]).norm() < 1e-12, "{found:?} {expected:?}");
        }
        let error = simulation.measure().unwrap().energy_error;
        assert!(error.abs() < 1e-6, "{error:e}");
    }
    assert_eq!(changed.state_sha256().unwrap(), loaded.state_sha256().unwrap());
    // At the origin nothing pulls but the cluster.
    let [here, near] = [Vec3::zeros(), 0.5 * Vec3::x()].map(|d| {
        let mut alone = start();
        alone.set_external(Some(Arc::new(Spring(0.25)))).unwrap();
        alone.field_at(&[d], &[Vec3::zeros()]).unwrap().acc[0]
    });
    let mut cluster = InMemory::new("initial.plummer.n = 64\nsoftening.epsilon = 0.05", Path::new(""), &[]).unwrap();
    let of_cluster = cluster.field_at(&[Vec3::zeros(), 0.5 * Vec3::x()], &[Vec3::zeros(); 2]).unwrap().acc;
    assert!((here - of_cluster[0]).norm() < 1e-14, "{here:?}");
    let tide = near - of_cluster[1];
    // About 2 G M / R³ along x less the spring.
    assert!((tide.x - 0.5 * (0.03 - 0.25)).abs() < 2e-3, "{tide:?}");
}

/// Gas that leaves a cluster, a satellite that moves and a mass on a path, saved before and after the gas begins to leave.
#[test]
fn fields_that_move_go_on_with_the_same_bits_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let rows = (0..20).map(|k| f64::from(k) / 10.0).map(|t| format!("{t:?},{:?},3,0,1,0,0\n", 37.0 + t));
    fs::write(folder.path().join("path.csv"), "t,x,y,z,vx,vy,vz\n".to_owned() + &rows.collect::<String>()).unwrap();
    let text = "initial.plummer.n = 64\nsoftening.epsilon = 0.05\nexternal.point-mass.mass = 1000\n\
                external.hernquist = { mass = 1.0, scale_radius = 1.0, motion = { path = 'path.csv' } }\n\
                external.plummer = [{ mass = 2.0, scale_radius = 0.7, motion = { orbit = 'cluster' }, \
                variation = { form = 'expulsion', start = 0.41, time = 0.3 } }, \
                { mass = 100, scale_radius = 2, position = [50, 0, 0], motion = { velocity = [0, 4, 1], moves = true, reflex = true } }]\n\
                orbit = { position = [40, 0, 4], velocity = [0.5, 4.5, 0] }\nintegrator.hermite4 = { dt_max = '1/16', nu = 0.001 }";
    let mut whole = InMemory::new(text, folder.path(), &[]).unwrap();
    let path = folder.path().join("state.hdf5");
    let mut parts = InMemory::new(text, folder.path(), &[]).unwrap();
    // One moment is hardly after the jump of the power, before the next step of any particle.
    for t in [0.3, 0.41 + 1e-9, 0.6, 0.9] {
        whole.integrate(t, &mut all).unwrap();
        parts.integrate(t, &mut all).unwrap();
        parts.save(&path).unwrap();
        parts = InMemory::load(&path).unwrap();
        assert_eq!(parts.measure().unwrap().energy, whole.measure().unwrap().energy);
    }
    assert_eq!(parts.state_sha256().unwrap(), whole.state_sha256().unwrap());
    let error = whole.measure().unwrap().energy_error;
    assert!(error.abs() < 1e-5, "{error:e}");
    fs::write(folder.path().join("path.csv"), "t,x,y,z,vx,vy,vz\n").unwrap();
    let refused = InMemory::load(&path).err().unwrap().to_string();
    assert!(refused.contains("not the table that the run began with"), "{refused}");
}

/// A run with files can begin with the particles of a program, at its time.
#[test]
fn a_run_begins_where_the_program_stands() {
    let mut simulation = simulation(SCHEMES[0]);
    let before = simulation.setup(&["run.t_end=0.5".into()]).unwrap();
    assert_eq!((before.steps_to_end, before.config.run.name.as_str()), (8, "sphere"));
    simulation.integrate(0.3, &mut all).unwrap();
    let after = simulation.setup(&["run.t_end=0.8".into(), "run.name=later".into()]).unwrap();
    assert_eq!((after.steps_to_end, after.clock.start * after.scale.time), (8, 0.3));
    let x = after.particles.pos[5] * after.scale.length - simulation.state().unwrap().pos[5];
    assert!(x.norm() < 1e-14);
}

/// Two particles that fall onto each other without softening: the step becomes too short. The state stays readable, and
/// a change lets it go on.
#[test]
fn after_a_failure_a_change_lets_it_go_on() {
    let mut simulation = InMemory::new("integrator={hermite4={dt_max='1/16'}}", Path::new(""), &[]).unwrap();
    let x = [Vec3::zeros(), Vec3::new(0.1, 0.0, 0.0)];
    simulation.add(None, &[1.0, 1.0], &x, &[Vec3::zeros(); 2]).unwrap();
    assert!(simulation.integrate(1.0, &mut all).is_err());
    let error = simulation.integrate(1.0, &mut all).unwrap_err().to_string();
    assert!(error.contains("has failed") && simulation.save(Path::new("never.hdf5")).is_err(), "{error}");
    assert!(simulation.time() > 0.0 && simulation.time() < 1.0);
    let state = simulation.state().unwrap();
    assert!(state.pos.iter().flatten().all(|x| x.is_finite()));
    simulation
        .change(Changes {
            id: &[0, 1],
            pos: Some(&x),
            vel: Some(&[Vec3::zeros(), Vec3::new(0.0, 4.0, 0.0)]),
            mass: None,
        })
        .unwrap();
    let end = simulation.time() + 0.125;
    simulation.integrate(end, &mut all).unwrap();
    assert_eq!(simulation.time(), end);
}

#[test]
fn steps_that_follow_from_the_particles_are_those_of_a_run() {
    let with_end = cluster::run();
    let mut simulation = InMemory::new(&with_end, Path::new(""), &[]).unwrap();
    assert!(simulation.config().dt_max().is_nan(), "not known before the start");
    assert_eq!(simulation.dt_max().unwrap(), 0.2);
    simulation.integrate(0.4, &mut all).unwrap();
    assert_eq!(simulation.config().dt_max(), 0.2);
    let loaded = Config::from_str("run", &with_end, Path::new(""), &[]).unwrap();
    let mut setup = assemble::prepare(loaded).unwrap();
    let mut propagator = assemble::propagator(&setup, Session::default()).unwrap();
    propagator.start(&mut setup.particles).unwrap();
    propagator.advance(&mut setup.particles, Time::from_dt_max(2), u64::MAX).unwrap();
    assert_eq!(simulation.state_sha256().unwrap(), setup.particles.state_sha256(&setup.clock));
    // They last through a file and through other settings.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved.hdf5");
    simulation.save(&path).unwrap();
    let mut again = InMemory::load(&path).unwrap();
    assert!(again == simulation && again.config().dt_max() == 0.2);
    again.set("integrator.multipoint.eta=0.3").unwrap();
    simulation.set("integrator.multipoint.eta=0.3").unwrap();
    assert_eq!(simulation.config().dt_max(), 0.2);
    again.integrate(0.6, &mut all).unwrap();
    simulation.integrate(0.6, &mut all).unwrap();
    assert!(again == simulation);
}

#[test]
fn steps_follow_from_the_particles_of_a_program_without_an_end() {
    let text = CLUSTER.split("[initial.plummer]").next().unwrap();
    let mut empty = InMemory::new(text, Path::new(""), &[]).unwrap();
    assert!(empty.dt_max().unwrap_err().to_string().contains("follows from the particles, and there are none yet"));
    // A planet at 1 au in pc and Myr: a period of a year.
    let (au, speed) = (1.0 / 206_264.806, 29.78);
    empty.add(None, &[1.0, 1e-9], &[Vec3::zeros(), au * Vec3::x()], &[Vec3::zeros(), speed * Vec3::y()]).unwrap();
    assert_eq!(empty.dt_max().unwrap(), 5e-8);
    empty.integrate(1e-6, &mut all).unwrap();
    let at = empty.state().unwrap();
    assert!(((at.pos[1] - at.pos[0]).norm() / au - 1.0).abs() < 1e-3, "once around");
    assert_eq!(empty.config().dt_max(), 5e-8);
    // From a scheme with one step to one with individual steps.
    let mut other = InMemory::new(text, Path::new(""), &["integrator.leapfrog.dt='2^-26'".into()]).unwrap();
    other.add(None, &[1.0, 1e-9], &[Vec3::zeros(), au * Vec3::x()], &[Vec3::zeros(), speed * Vec3::y()]).unwrap();
    other.integrate(1e-7, &mut all).unwrap();
    other.set("integrator={hermite4={}}").unwrap();
    other.integrate(2e-7, &mut all).unwrap();
    assert_eq!(other.config().dt_max(), 5e-8);
}
