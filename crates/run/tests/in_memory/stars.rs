//! Promise: stars of a simulation in memory age with the bits of a run from a file. The times at which the program looks at them change no
//! bit, nor does a saved file. What a program cannot change is refused.

use std::fs;
use std::path::Path;
use tisane::particles::Vec3;
use tisane_io::checkpoint::{self, RunState};
use tisane_io::fields::DiagnosticsRow;
use tisane_run::assemble::{self, Session};
use tisane_run::config::Config;
use tisane_run::in_memory::{Changes, InMemory};
use tisane_run::simulation::Observer;
use tisane_run::system::System;
use tisane_stellar::{Model, Options, Star};

/// Heavy stars, a third of the systems binaries, of which several explode within the run.
const CLUSTER: &str = "
[run]
name = 'stars'
t_end = 12.0
[units]
mass = 'Msun'
length = 'pc'
time = 'Myr'
[initial.plummer]
n = 40
seed = 5
half_mass_radius = 0.7
[initial.masses]
function = 'salpeter'
m_min = 5.0
m_max = 120.0
[initial.binaries]
fraction = 0.33
semi_major_axis = 'opik'
a_min = 1e-4
a_max = 1e-2
[stellar_evolution]
kick_dispersion = 20.0
black_hole_kicks = 'full'
[encounters]
[force]
threads = 1
";

const SCHEMES: [&str; 3] = ["hermite4", "multipoint", "ahmad_cohen"];

struct Quiet;

impl Observer for Quiet {
    fn step(&mut self, _: &RunState) {}
    fn output(&mut self, _: &DiagnosticsRow, _: bool) {}
}

fn all(_: &System) -> u64 {
    u64::MAX
}

fn simulation(scheme: &str) -> InMemory {
    InMemory::new(CLUSTER, Path::new(""), &[format!("integrator.{scheme}.dt_max='1/8'")]).unwrap()
}

/// Returns the last state of a run with files, and the rows of its journal of stars.
fn run(folder: &Path, scheme: &str) -> (InMemory, usize) {
    let settings =
        [format!("integrator.{scheme}.dt_max='1/8'"), format!("output.directory={:?}", folder.to_str().unwrap())];
    let loaded = Config::from_str("run", CLUSTER, Path::new(""), &settings).unwrap();
    let setup = assemble::prepare(loaded).unwrap();
    fs::create_dir(folder.join("snapshots")).unwrap();
    let mut run = assemble::new_run(setup, Session::default()).unwrap();
    let mut outputs = run.start(&mut Quiet).unwrap();
    run.run(&mut outputs, &mut Quiet).unwrap();
    drop(outputs);
    let rows = fs::read_to_string(folder.join("stellar.csv")).unwrap();
    let rows = rows.lines().filter(|line| !line.starts_with('#')).count() - 1;
    (InMemory::load(&folder.join(checkpoint::NEWEST)).unwrap(), rows)
}

#[test]
fn the_bits_are_those_of_a_run_whatever_times_are_looked_at() {
    for scheme in SCHEMES {
        let folder = tempfile::tempdir().unwrap();
        let (mut of_run, rows) = run(folder.path(), scheme);
        let saved = folder.path().join("saved.hdf5");
        let (mut events, mut one) = (0, simulation(scheme));
        for t in [0.0, 1.3, 3.0, 6.01, 9.9, 12.0] {
            one.integrate(t, &mut all).unwrap();
            let stars = one.stars().unwrap();
            assert_eq!(stars.stellar_type.len(), one.len());
            let error = one.measure().unwrap().energy_error;
            assert!(error.abs() < 1e-5, "{scheme}: {error:e}");
            events += one.star_events().unwrap().len();
            one.save(&saved).unwrap();
            one = InMemory::load(&saved).unwrap();
            assert_eq!(one.stars().unwrap().radius, stars.radius);
        }
        assert_eq!(one.state_sha256().unwrap(), of_run.state_sha256().unwrap(), "{scheme}");
        assert_eq!(one.stars().unwrap().luminosity, of_run.stars().unwrap().luminosity);
        assert!(rows > 10 && events == rows, "{scheme}: {events} of {rows}");
    }
}

/// Masses are those of the tracks; places and velocities may be changed between two moments at which orbits take masses over.
#[test]
fn a_program_may_change_all_but_the_masses_of_stars_that_age() {
    let mut changed = simulation("hermite4");
    let mut plain = simulation("hermite4");
    changed.change(Changes { id: &[3], mass: Some(&[30.0]), ..Changes::default() }).unwrap();
    changed.integrate(3.03, &mut all).unwrap();
    plain.integrate(3.03, &mut all).unwrap();
    assert_eq!(changed.stars().unwrap().initial_mass[3], 30.0);
    let state = changed.state().unwrap();
    // What is written back unchanged is no change of mass.
    changed.change(Changes { id: &state.id, mass: Some(&state.mass), ..Changes::default() }).unwrap();
    let error = changed.change(Changes { id: &[3], mass: Some(&[29.0]), ..Changes::default() }).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("id 3: mass is 29.0: the star has 2") && text.contains("by its track"), "{text}");
    for setting in ["stellar_evolution.metallicity=0.001", "stellar_evolution.mass_step=0.01"] {
        let text = changed.set(setting).unwrap_err().to_string();
        assert!(text.contains("[stellar_evolution] cannot change any more"), "{text}");
        let of_run = changed.setup(&["run.t_end=12.03".to_owned(), setting.to_owned()]).err().unwrap().to_string();
        assert_eq!(of_run, text);
    }
    let far = Vec3::new(50.0, 0.0, 0.0);
    let text = changed.add(None, &[200.0], &[far], &[far]).unwrap_err().to_string();
    assert!(text.contains("id 40: mass at birth in solar masses is 200"), "{text}");
    let new = changed.add(None, &[20.0], &[far], &[Vec3::zeros()]).unwrap();
    changed.remove(&[7]).unwrap();
    changed.set("integrator.hermite4.nu=0.005").unwrap();
    changed.integrate(11.0, &mut all).unwrap();
    let error = changed.measure().unwrap().energy_error;
    assert!(error.abs() < 1e-5, "{error:e}");
    let (state, stars) = (changed.state().unwrap(), changed.stars().unwrap());
    assert_eq!(state.id.len(), 40);
    let row = state.id.iter().position(|id| *id == new[0]).unwrap();
    assert_eq!((stars.initial_mass[row], stars.stellar_type[row]), (20.0, 1), "it was born at 3.03");
    // Stars that lose mass are older by their clock.
    assert!((stars.age[row] - 7.97).abs() < 0.2, "{}", stars.age[row]);
    // The other stars have followed their tracks.
    plain.integrate(11.0, &mut all).unwrap();
    let (of_plain, expected) = (plain.state().unwrap(), plain.stars().unwrap());
    for (other, id) in of_plain.id.iter().enumerate().filter(|(_, id)| ![3, 7].contains(*id)) {
        let row = state.id.iter().position(|it| it == id).unwrap();
        assert_eq!(stars.stellar_type[row], expected.stellar_type[other], "star {id}");
        // With another mass of all, the internal units are others.
        let (found, expected) = (stars.core_mass[row], expected.core_mass[other]);
        assert!((found - expected).abs() <= 1e-12 * expected, "star {id}: {found}, {expected}");
    }
}

/// A run with files that begins where a program stands has its stars.
#[test]
fn a_run_goes_on_with_the_stars_of_a_program() {
    let mut simulation = simulation("hermite4");
    simulation.integrate(9.5, &mut all).unwrap();
    let setup = simulation.setup(&["run.t_end=10.0".into(), "run.name=later".into()]).unwrap();
    let stars = simulation.stars().unwrap();
    let kinds: Vec<u8> = setup.particles.stars.iter().map(|star| star.track.state.kind.number()).collect();
    assert_eq!(kinds, stars.stellar_type);
    assert!(kinds.contains(&14) && kinds.contains(&1), "{kinds:?}");
}

/// What stars have gone through since the last multiple of the longest step, the orbits have at the next one: kicks and events too.
#[test]
fn a_run_from_any_time_has_the_supernovae_that_the_orbits_have_not_had() {
    let text = "[units]\nmass = 'Msun'\nlength = 'pc'\ntime = 'Myr'\n[stellar_evolution]\nblack_hole_kicks = 'full'\n\
                [softening]\nepsilon = 0.01\n[integrator.hermite4]\ndt_max = 0.125\n";
    let stars = || {
        let mut simulation = InMemory::new(text, Path::new(""), &[]).unwrap();
        let places = [Vec3::zeros(), Vec3::new(3.0, 0.0, 0.0), Vec3::new(0.0, 3.0, 0.0)];
        simulation.add(None, &[25.0, 1.0, 0.5], &places, &[Vec3::zeros(); 3]).unwrap();
        simulation
    };
    let mut through = stars();
    through.integrate(9.0, &mut all).unwrap();
    let events = through.star_events().unwrap();
    let supernova = events.iter().find(|row| row.event == "supernova").unwrap().clone();
    let end = through.state().unwrap();
    let speed = end.vel[0].norm();
    assert!(speed > 10.0, "it was kicked: {speed}");
    // Between the supernova and the next multiple.
    let time = f64::midpoint(supernova.time.0, supernova.applied.0);
    assert!(supernova.time.0 < time && time < supernova.applied.0);
    let mut program = stars();
    program.integrate(time, &mut all).unwrap();
    assert!(program.star_events().unwrap().iter().all(|row| row.event != "supernova"));
    let folder = tempfile::tempdir().unwrap();
    let output = format!("output.directory={:?}", folder.path().to_str().unwrap());
    let t_end = format!("run.t_end={:?}", time + 0.5);
    let setup = program.setup(&["run.name='later'".into(), t_end, output]).unwrap();
    fs::create_dir(folder.path().join("snapshots")).unwrap();
    let mut run = assemble::new_run(setup, Session::default()).unwrap();
    let mut outputs = run.start(&mut Quiet).unwrap();
    run.run(&mut outputs, &mut Quiet).unwrap();
    drop(outputs);
    let journal = fs::read_to_string(folder.path().join("stellar.csv")).unwrap();
    assert_eq!(journal.lines().filter(|line| line.contains(",supernova,")).count(), 1, "{journal}");
    let after = InMemory::load(&folder.path().join(checkpoint::NEWEST)).unwrap().state().unwrap();
    // The internal units of the run may be others.
    assert!((after.mass[0] - end.mass[0]).abs() <= 1e-12 * end.mass[0]);
    let found = after.vel[0].norm();
    assert!((found - speed).abs() < 1e-2 * speed, "{found}, {speed}");
}

#[test]
fn without_the_section_there_are_no_stars() {
    let mut simulation = InMemory::new("initial.plummer.n = 8\nsoftening.epsilon = 0.1", Path::new(""), &[]).unwrap();
    let text = simulation.stars().unwrap_err().to_string();
    assert!(text.contains("stars do not age: there is no section [stellar_evolution]"), "{text}");
    simulation.start().unwrap();
    let text = simulation.set("stellar_evolution.metallicity=0.02").unwrap_err().to_string();
    assert!(text.contains("needs units by name") || text.contains("cannot change any more"), "{text}");
}

/// A star that is added may have an age and a metallicity of its own, before the start and after it.
#[test]
fn stars_have_ages_and_metallicities_of_their_own() {
    let text = CLUSTER.split("[initial.plummer]").next().unwrap().to_owned()
        + "[stellar_evolution]\n[softening]\nepsilon = 0.1\n[integrator.hermite4]\ndt_max = '1/8'\n";
    let mut simulation = InMemory::new(&text, Path::new(""), &[]).unwrap();
    let place = |k: usize| [Vec3::new(9.0 * k as f64, 0.0, 0.0)];
    for (k, columns) in
        [&[("age", &[5.0][..]), ("metallicity", &[0.001][..])][..], &[("age", &[7.0][..])], &[]].iter().enumerate()
    {
        simulation.add_with_columns(None, &[20.0], (&place(k), &[Vec3::zeros()]), columns).unwrap();
    }
    simulation.set_column("metallicity", &[2], &[0.01]).unwrap();
    assert!(simulation.column("metallicity").unwrap()[1].is_nan());
    simulation.integrate(1.0, &mut all).unwrap();
    let columns = [("age", &[3.0][..]), ("metallicity", &[0.001][..])];
    simulation.add_with_columns(None, &[20.0], (&place(3), &[Vec3::zeros()]), &columns).unwrap();
    simulation.integrate(3.0, &mut all).unwrap();
    let stars = simulation.stars().unwrap();
    for (star, (age, z)) in [(8.0, 0.001), (10.0, 0.02), (3.0, 0.01), (5.0, 0.001)].into_iter().enumerate() {
        let model = Model::new(z, Options::default()).unwrap();
        let mut expected = Star::new(&model, star as u64, 20.0, 0.0).unwrap();
        expected.advance_to(&model, age, &mut Vec::new());
        let state = expected.state_at(&model, age);
        assert_eq!(stars.stellar_type[star], state.kind.number(), "star {star}");
        assert!((stars.core_mass[star] - state.core_mass).abs() <= 1e-9 * state.core_mass, "star {star}: {state:?}");
    }
    let of = |columns: &[(&str, &[f64])]| {
        InMemory::new(&text, Path::new(""), &[])
            .unwrap()
            .add_with_columns(None, &[20.0], (&place(0), &[Vec3::zeros()]), columns)
            .unwrap_err()
            .to_string()
    };
    assert!(of(&[("metallicity", &[1.0])]).contains("id 0: metallicity is 1.0: expected Z from 0.0001 to 0.03"));
    assert!(of(&[("metalicity", &[0.01])]).contains("stars have no column `metalicity`: did you mean `metallicity`?"));
    let used = simulation.set_column("age", &[0], &[1.0]).unwrap_err().to_string();
    assert!(used.contains("the column `age` is used up: stars are on their tracks"), "{used}");
}
