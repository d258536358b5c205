//! Promise: a compensated corrector keeps what the rounding of positions and velocities cuts off, so that the energy of lasting
//! orbits is that of the scheme; its low parts follow the particles; and bodies under one longest step begin as accurately as
//! they go on.

use crate::common::{advance, energy, kepler};
use crate::kinds::{Kind, each};
use std::f64::consts::TAU;
use tisane::force::cpu::{CpuEngine, Width};
use tisane::force::mode::F64;
use tisane::force::precision::Precision;
use tisane::initial::plummer;
use tisane::integrator::hermite4::Limits;
use tisane::integrator::multipoint::{Multipoint, Order, Parameters};
use tisane::integrator::{Integrator, RowChange, Steps};
use tisane::particles::{Particles, Vec3};
use tisane::states::low_parts::LowParts;
use tisane::time::{Clock, Level, Time};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };

fn engine() -> CpuEngine<F64> {
    CpuEngine::new(0.0, CLOCK, Width::choose().unwrap())
}

fn limits(compensated: bool) -> Limits {
    Limits { floor: Level::DEEPEST, compensated, ..Limits::new(Precision::F64) }
}

fn build(kind: Kind, compensated: bool) -> Box<dyn Steps> {
    kind.build(CLOCK, 0.02, limits(compensated))
}

/// Low parts of positions and velocities, row by row.
fn low(p: &Particles) -> Vec<[Vec3; 2]> {
    let LowParts { pos, vel } = p.states.get();
    pos.iter().copied().zip(vel.iter().copied()).map(<[Vec3; 2]>::from).collect()
}

/// The Sun and the giant planets, in au and solar masses with G = 1.
fn giants() -> Particles {
    let text = include_str!("../../validation/ias15/giants_initial.csv");
    let rows = text.lines().filter(|line| !line.starts_with(['#', 'm']));
    let rows: Vec<Vec<f64>> = rows.map(|row| row.split(',').map(|x| x.parse().unwrap()).collect()).collect();
    let vectors =
        |first: usize, unit: f64| rows.iter().map(|row| Vec3::from_fn(|c, _| row[first + c] / unit)).collect();
    Particles::new(rows.iter().map(|row| row[0]).collect(), vectors(1, 1.0), vectors(4, TAU))
}

/// Returns the largest relative error of the energy over `outputs` parts of `length` longest steps each.
fn error(p: &Particles, parameters: Parameters, dt_max: f64, (outputs, length): (u64, u64)) -> f64 {
    let clock = Clock { start: 0.0, dt_max };
    let (mut p, mut engine) = (p.clone(), CpuEngine::<F64>::new(0.0, clock, Width::choose().unwrap()));
    let (mut integrator, first) = (Multipoint::new(parameters, clock), energy(&p, 0.0));
    integrator.start(&mut p, &mut engine).unwrap();
    let errors = (1..=outputs).map(|k| {
        advance(&mut p, &mut integrator, &mut engine, Time::from_dt_max(k * length));
        ((energy(&p, 0.0) - first) / first).abs()
    });
    errors.fold(0.0, f64::max)
}

fn eighth(eta: f64, compensated: bool) -> Parameters {
    Parameters { order: Order::Eight, eta, limits: limits(compensated), ..Parameters::new(Precision::F64) }
}

/// 100 orbits of eccentricity 0.5: rounding errors alone, of some 10⁵ steps.
#[test]
fn rounding_errors_of_lasting_orbits_do_not_add_up() {
    let p = kepler(0.5, 0.5);
    let of = |compensated| error(&p, eighth(0.03, compensated), 0.5, (157, 8));
    let (with, without) = (of(true), of(false));
    println!("energy error of 100 orbits: {with:e}, without compensation {without:e}");
    assert!(with < 4e-15 && with < 0.2 * without, "{with:e}, without compensation {without:e}");
}

/// All bodies have the longest step: the first ones are as short as the error of 4th order needs.
#[test]
fn planets_under_one_longest_step_begin_as_accurately_as_they_go_on() {
    let p = giants();
    for (dt_max, max) in [(0.5, 1e-12), (0.25, 1e-13)] {
        let found = error(&p, eighth(0.5, true), dt_max, (1, (74.5 / dt_max) as u64));
        println!("energy error of the giant planets after a turn of Jupiter, dt_max = {dt_max}: {found:e}");
        assert!(found < max, "{found:e} at dt_max = {dt_max}");
    }
    let sixth = Parameters { order: Order::Six, ..eighth(0.5, true) };
    let found = error(&p, sixth, 0.25, (1, 298));
    assert!(found < 1e-10, "order 6: {found:e}");
}

/// The rows of the modes that are not in f64 in `tests/determinism.txt` are those of the corrector without compensation.
#[test]
fn low_parts_are_kept_where_they_are_asked_for_and_change_the_bits() {
    let sphere = plummer::sample(16, 3, 0.999);
    each(|kind| {
        let run = |compensated| {
            let (mut p, mut engine, mut scheme) = (sphere.clone(), engine(), build(kind, compensated));
            scheme.start(&mut p, &mut engine).unwrap();
            advance(&mut p, &mut *scheme, &mut engine, Time::from_dt_max(4));
            p
        };
        let (with, without) = (run(true), run(false));
        assert!(low(&without).is_empty());
        assert_eq!(with.pos == without.pos, kind.has_lists(), "the neighbour scheme has no such corrector");
        if !kind.has_lists() {
            let lasting = |low: &[Vec3; 2]| low.iter().any(|low| *low != Vec3::zeros());
            assert!(low(&with).iter().all(lasting), "{kind:?}");
        }
    });
}

/// As after a checkpoint without low parts, and after one with them.
#[test]
fn a_run_goes_on_with_the_low_parts_that_it_had() {
    each(|kind| {
        let (mut p, mut f, mut scheme) = (plummer::sample(16, 5, 0.999), engine(), build(kind, true));
        scheme.start(&mut p, &mut f).unwrap();
        advance(&mut p, &mut *scheme, &mut f, Time::from_dt_max(2));
        let go_on = |p: &Particles, compensated| {
            let (mut p, mut f, mut scheme) = (p.clone(), engine(), build(kind, compensated));
            scheme.resume(&p, Time::from_dt_max(2), &mut f).unwrap();
            advance(&mut p, &mut *scheme, &mut f, Time::from_dt_max(4));
            p
        };
        let mut whole = p.clone();
        advance(&mut whole, &mut *scheme, &mut f, Time::from_dt_max(4));
        let resumed = go_on(&p, true);
        assert_eq!(resumed, whole, "{kind:?}");
        assert_eq!(resumed.state_sha256(&CLOCK), whole.state_sha256(&CLOCK));
        let mut absent = p.clone();
        absent.states.set(LowParts::default());
        let mut zero = p.clone();
        zero.states.set(if kind.has_lists() { LowParts::default() } else { LowParts::new(p.len()) });
        assert_eq!(go_on(&absent, true), go_on(&zero, true), "those that are absent are zero");
        assert_eq!(go_on(&absent, true) == whole, kind.has_lists());
        assert!(low(&go_on(&p, false)).is_empty(), "none are kept where none are asked for");
    });
}

/// A moment between the steps is reached from the low parts too, and asking for it changes nothing.
#[test]
fn the_state_at_a_moment_has_low_parts_of_its_own() {
    let (mut p, mut f, mut scheme) = (plummer::sample(16, 5, 0.999), engine(), build(Kind::Iterated, true));
    scheme.start(&mut p, &mut f).unwrap();
    scheme.advance(&mut p, &mut f, Time::from_dt_max(2), 20).unwrap();
    let (before, now) = (p.clone(), p.time.iter().copied().max().unwrap());
    let there = scheme.synchronised(&p, now, &mut f).unwrap();
    assert_eq!(p, before);
    let late = (0..p.len()).filter(|&i| p.time[i] < now).collect::<Vec<_>>();
    assert!(!late.is_empty() && late.iter().all(|&i| low(&there)[i] != low(&p)[i]));
    let others = (0..p.len()).filter(|i| !late.contains(i));
    others.for_each(|i| assert_eq!((low(&there)[i], there.pos[i]), (low(&p)[i], p.pos[i])));
    let mut again = p.clone();
    scheme.synchronise(&mut again, &mut f, late.iter().map(|&i| i as u32).collect(), now).unwrap();
    assert_eq!((low(&again), again.pos), (low(&there), there.pos));
}

#[test]
fn low_parts_follow_their_rows_and_are_zero_where_a_particle_begins() {
    let (mut p, mut f, mut scheme) = (plummer::sample(16, 5, 0.999), engine(), build(Kind::Hermite4, true));
    scheme.start(&mut p, &mut f).unwrap();
    assert!(low(&p).iter().all(|low| *low == [Vec3::zeros(); 2]));
    let now = Time::from_dt_max(1);
    advance(&mut p, &mut *scheme, &mut f, now);
    let before = low(&p);
    // Particle 3 is kicked, and one more comes.
    p.vel[3] += Vec3::x();
    let mut more = plummer::sample(17, 9, 0.999);
    more.remove_rows(&(0..16).collect::<Vec<_>>());
    p.id.push(16);
    p.mass.push(more.mass[0]);
    p.pot.push(0.0);
    let (pos, vel) = (more.pos[0], more.vel[0]);
    for (column, of) in
        [(&mut p.pos, pos), (&mut p.vel, vel), (&mut p.acc, Vec3::zeros()), (&mut p.jerk, Vec3::zeros())]
    {
        column.push(of);
    }
    p.time.push(now);
    p.step.push(Level::default());
    let change = RowChange { begun: vec![3, 16], ..RowChange::default() };
    scheme.resume(&p, now, &mut f).unwrap();
    scheme.admit(&mut p, &mut f, &change, now).unwrap();
    let after = low(&p);
    for (row, low) in after.iter().enumerate() {
        let expected = before.get(row).filter(|_| row != 3).copied().unwrap_or([Vec3::zeros(); 2]);
        assert_eq!(*low, expected, "row {row}");
    }
    assert!(before[3] != [Vec3::zeros(); 2] && after.len() == 17);
    advance(&mut p, &mut *scheme, &mut f, Time::from_dt_max(2));
    let moved = low(&p);
    let mut selected = p.clone();
    selected.select_rows(&[5, 2, 16]);
    assert_eq!(low(&selected), [moved[5], moved[2], moved[16]]);
    p.remove_rows(&[0, 4]);
    assert_eq!(low(&p)[..4], [moved[1], moved[2], moved[3], moved[5]]);
}
