//! Promise: stars whose relative states are given begin with these, however far from the origin they are: pairs, inner and outer
//! ones of a hierarchy, and chains.

use crate::subsystems::{cluster, encounters, engine};
use tisane::integrator::Integrator as _;
use tisane::particles::{CloseStars, Particles, Vec3};
use tisane::subsystems::Description;
use tisane::subsystems::Subsystems as _;
use tisane::time::Time;

const PLACE: Vec3 = Vec3::new(8500.0, -20.0, 3.0);
const VELOCITY: Vec3 = Vec3::new(10.0, 220.0, -7.0);

/// A cluster with pairs, and far outside of it two pairs about each other, and three stars too close to each other for a pair.
fn system() -> Particles {
    let mut p = cluster(30, 12);
    let mut add = |mass: f64, pos: [f64; 3], vel: [f64; 3]| {
        p.mass.push(mass);
        p.pos.push(pos.into());
        p.vel.push(vel.into());
    };
    let (a, v) = (1e-5, (0.02_f64 / 1e-5).sqrt() / 2.0);
    for (y, w) in [(-1e-3, 2.2), (1e-3, -2.2)] {
        add(0.01, [6.0 - a / 2.0, y, 0.0], [0.0, v, w]);
        add(0.01, [6.0 + a / 2.0, y, 0.0], [0.0, -v, w]);
    }
    add(0.01, [-a / 2.0, -6.0, 0.0], [0.0, v, 0.0]);
    add(0.01, [a / 2.0, -6.0, 0.0], [0.0, -v, 0.0]);
    add(0.01, [0.0, -6.0 + 5.0 * a, 0.0], [20.0, 0.0, 5.0]);
    let Particles { mass, pos, vel, .. } = p;
    Particles::new(mass, pos, vel)
}

/// Returns the subsystems of particles at the start, and the particles.
fn started(p: &Particles) -> (Vec<Description>, Particles) {
    let mut p = p.clone();
    let (mut it, mut f) = (encounters(1e-6), engine());
    it.start(&mut p, &mut *f).unwrap();
    assert!(p.close.is_empty(), "they hold for the start alone");
    (it.describe(Time::default()).unwrap(), p)
}

/// The largest relative difference of binding energies, of those that are followed in the mean and of all others.
fn differences(found: &[Description], expected: &[Description]) -> [f64; 2] {
    let names = |of: &[Description]| of.iter().map(|one| one.members.to_string()).collect::<Vec<_>>();
    assert_eq!(names(found), names(expected));
    let of = |is_averaged: bool| {
        let both = found.iter().zip(expected).filter(|(_, one)| one.is_averaged == is_averaged);
        both.map(|(a, b)| (a.binding / b.binding - 1.0).abs()).fold(0.0, f64::max)
    };
    [of(true), of(false)]
}

#[test]
fn stars_far_from_the_origin_begin_with_their_relative_states() {
    let (expected, near) = started(&system());
    let members: Vec<usize> = expected.iter().map(|one| one.members.ids().len()).collect();
    assert!(
        members.len() > 12 && members.contains(&3) && members.contains(&4),
        "{:?}",
        expected.iter().map(|one| one.members.to_string()).collect::<Vec<_>>()
    );
    let moved = |all: &[Vec3], by: Vec3| all.iter().map(|x| x + by).collect();
    let mut far = Particles::new(near.mass.clone(), moved(&near.pos, PLACE), moved(&near.vel, VELOCITY));
    let [_, without] = differences(&started(&far).0, &expected);
    assert!(without > 1e-8, "{without:e}");
    let close = |one: &Description| CloseStars {
        rows: one.stars.iter().map(|star| star.id as usize).collect(),
        pos: one.stars.iter().map(|star| star.pos).collect(),
        vel: one.stars.iter().map(|star| star.vel).collect(),
    };
    far.close = expected.iter().filter(|one| one.inside_of.is_none()).map(close).collect();
    assert!(far.close.iter().all(|close| close.agree(&far.pos, &far.vel)));
    let [in_mean, others] = differences(&started(&far).0, &expected);
    // The mean over an orbit is that of the same orbit to the square of the energy that the orbit has in the field of others.
    assert!(in_mean < 1e-9 && others < 1e-12, "{in_mean:e} {others:e}");
}
