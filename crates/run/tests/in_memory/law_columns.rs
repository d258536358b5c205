//! Promise: a simulation in memory by a law has the columns that the law reads, as a program gives and changes them, with the
//! bits of a run of the same particles.

use std::path::Path;
use tisane::particles::Vec3;
use tisane_run::in_memory::{Changes, InMemory};
use tisane_run::system::System;

const COULOMB: &str = "
[softening]
epsilon = 0.05
[force]
threads = 1
[force.law]
potential = 'q_i*q_j/s'
columns = { q = 1 }
[integrator.hermite4]
dt_max = '1/16'
";
const N: usize = 12;

fn all(_: &System) -> u64 {
    u64::MAX
}

fn columns() -> (Vec<f64>, Vec<Vec3>, Vec<Vec3>, Vec<f64>) {
    let pos = |i: usize| {
        let t = i as f64;
        Vec3::new((0.3 + 0.1 * t) * t.cos(), (0.3 + 0.1 * t) * t.sin(), 0.2 * (1.7 * t).sin())
    };
    let charge = |i: usize| if i.is_multiple_of(2) { 0.3 + 0.01 * i as f64 } else { -0.25 };
    let still = vec![Vec3::zeros(); N];
    (vec![1.0 / N as f64; N], (0..N).map(pos).collect(), still, (0..N).map(charge).collect())
}

fn empty() -> InMemory {
    InMemory::new(COULOMB, Path::new(""), &[]).unwrap()
}

fn charged() -> InMemory {
    let (mass, pos, vel, charge) = columns();
    let mut simulation = empty();
    simulation.add_with_columns(None, &mass, (&pos, &vel), &[("q", &charge)]).unwrap();
    simulation
}

#[test]
fn a_simulation_has_the_bits_of_a_run_of_the_same_charges() {
    let dir = tempfile::tempdir().unwrap();
    let (mass, pos, _, charge) = columns();
    let row = |i: usize| {
        let [x, y, z] = <[f64; 3]>::from(pos[i]);
        format!("{:?},{x:?},{y:?},{z:?},0,0,0,{:?}\n", mass[i], charge[i])
    };
    let table = "m,x,y,z,vx,vy,vz,q\n".to_owned() + &(0..N).map(row).collect::<String>();
    std::fs::write(dir.path().join("bodies.csv"), table).unwrap();
    let text = format!("units.system = 'henon'\ninitial.file.path = 'bodies.csv'\n{COULOMB}");
    let mut of_file = InMemory::new(&text, dir.path(), &[]).unwrap();
    assert_eq!(of_file.column("q").unwrap(), charge);
    let mut set_later = empty();
    let id = set_later.add(None, &mass, &pos, &vec![Vec3::zeros(); N]).unwrap();
    set_later.set_column("q", &id, &charge).unwrap();
    let mut given = charged();
    for simulation in [&mut of_file, &mut set_later, &mut given] {
        assert!(simulation.integrate(0.4, &mut all).unwrap());
        assert_eq!(simulation.column("q").unwrap(), charge);
    }
    let hash = given.state_sha256().unwrap();
    assert_eq!([of_file.state_sha256().unwrap(), set_later.state_sha256().unwrap()], [hash.clone(), hash.clone()]);
    assert!(given.measure().unwrap().energy_error.abs() < 1e-5);
    // A saved file has the charges too.
    let path = dir.path().join("saved.hdf5");
    given.save(&path).unwrap();
    let mut loaded = InMemory::load(&path).unwrap();
    assert_eq!(loaded.column("q").unwrap(), charge);
    for simulation in [&mut loaded, &mut given] {
        assert!(simulation.integrate(0.8, &mut all).unwrap());
    }
    assert_eq!(loaded.state_sha256().unwrap(), given.state_sha256().unwrap());
    assert_ne!(given.state_sha256().unwrap(), hash);
}

/// A particle that is added, removed or recharged on the way is felt by the others as Coulomb's law has it.
#[test]
fn verify_changes_on_the_way_act_by_the_law() {
    let mut simulation = charged();
    simulation.integrate(0.2, &mut all).unwrap();
    let (far, still) = ([Vec3::new(30.0, 0.0, 0.0)], [Vec3::zeros()]);
    let added = simulation.add_with_columns(None, &[0.1], (&far, &still), &[("q", &[0.5])]).unwrap();
    simulation.remove(&[0, 7]).unwrap();
    simulation.set_column("q", &[3], &[1.5]).unwrap();
    let charge = simulation.column("q").unwrap();
    let state = simulation.state().unwrap();
    assert_eq!((charge.len(), charge[2], charge[N - 2]), (N - 1, 1.5, 0.5));
    let expected = |i: usize, at: Vec3| -> Vec3 {
        let others = (0..state.id.len()).filter(|j| *j != i);
        let force = others.map(|j| {
            let r = at - state.pos[j];
            r * (charge[i] * charge[j]) / (r.norm_squared() + 0.05 * 0.05).powf(1.5)
        });
        force.sum::<Vec3>() / state.mass[i]
    };
    let found = simulation.forces().unwrap();
    for i in 0..state.id.len() {
        let expected = expected(i, state.pos[i]);
        assert!(
            (found.acc[i] - expected).norm() < 1e-12 * expected.norm(),
            "{}: {} is not {expected}",
            i,
            found.acc[i]
        );
    }
    let error = simulation.measure().unwrap().energy_error;
    assert!(error.abs() < 1e-5, "{error:e}: what the program changed is no error of the integration");
    assert_eq!(state.id.last(), added.last());
}

#[test]
fn fields_at_points_go_by_the_law() {
    let yukawa = "softening.epsilon = 0.1\nforce.law = { name = 'yukawa', parameters = { lambda = 0.5 } }\n";
    let mut simulation = InMemory::new(yukawa, Path::new(""), &[]).unwrap();
    simulation.add(None, &[2.0, 0.5], &[Vec3::zeros(), Vec3::x()], &[Vec3::zeros(); 2]).unwrap();
    let at = Vec3::new(0.0, 2.0, 0.0);
    let found = simulation.field_at(&[at], &[Vec3::zeros()]).unwrap();
    let of = |mass: f64, x: Vec3| {
        let r = x - at;
        let s = (r.norm_squared() + 0.01).sqrt();
        (r * mass * (-s / 0.5).exp() * (1.0 + s / 0.5) / (s * s * s), -mass * (-s / 0.5).exp() / s)
    };
    let ((a, p), (b, q)) = (of(2.0, Vec3::zeros()), of(0.5, Vec3::x()));
    assert!((found.acc[0] - a - b).norm() < 1e-14 && (found.pot[0] - p - q).abs() < 1e-14, "{found:?}");
}

#[test]
fn mistakes_are_named_and_change_nothing() {
    let (mass, pos, vel, charge) = columns();
    let mut simulation = empty();
    let says = |error: tisane::Error, part: &str| assert!(error.to_string().contains(part), "{error}: not {part}");
    let add = |it: &mut InMemory, name: &str, values: &[f64]| {
        it.add_with_columns(None, &mass, (&pos, &vel), &[(name, values)]).unwrap_err()
    };
    says(add(&mut simulation, "charge", &charge), "the law reads no column `charge`");
    says(add(&mut simulation, "q", &charge[1..]), "different lengths: 12 and 11 of `q`");
    says(add(&mut simulation, "q", &[f64::INFINITY; N]), "id 0: q is inf: expected a finite number");
    assert!(simulation.is_empty());
    let id = simulation.add(None, &mass, &pos, &vel).unwrap();
    says(simulation.start().unwrap_err(), "the particle 0 has no value in the column `q`");
    simulation.set_column("q", &id[1..], &charge[1..]).unwrap();
    assert!(simulation.column("q").unwrap()[0].is_nan());
    says(simulation.start().unwrap_err(), "the particle 0 has no value in the column `q`");
    simulation.set_column("q", &id, &charge).unwrap();
    simulation.start().unwrap();
    says(simulation.set_column("q", &[99], &[1.0]).unwrap_err(), "no particle with the id 99");
    // Without its charge an added particle stops the others, and may still be given one.
    let added = simulation.add(None, &[0.1], &[Vec3::new(9.0, 0.0, 0.0)], &[Vec3::zeros()]).unwrap();
    says(simulation.integrate(1.0, &mut all).unwrap_err(), "the particle 12 has no value in the column `q`");
    simulation.set_column("q", &added, &[0.25]).unwrap();
    assert!(simulation.integrate(0.1, &mut all).unwrap());
    simulation.change(Changes { id: &added, mass: Some(&[0.2]), ..Changes::default() }).unwrap();
    assert_eq!(simulation.column("q").unwrap()[N], 0.25);
    let newton = InMemory::new("", Path::new(""), &[]).unwrap();
    says(newton.column("q").unwrap_err(), "no law reads a column `q`");
}
