//! Promises on the events of subsystems: they change nothing, what they tell adds up, and orbits are those of the particles.

use crate::subsystems::{cluster, encounters, engine};
use std::collections::BTreeMap;
use tisane::diagnostics::orbit::Orbit;
use tisane::encounters::Encounters;
use tisane::initial::binaries::Eccentricities;
use tisane::initial::binary_single;
use tisane::integrator::Integrator as _;
use tisane::particles::{Particles, Vec3};
use tisane::subsystems::Subsystems as _;
use tisane::subsystems::{Event, EventBody, EventKind};
use tisane::time::Time;

/// Integrates to `until` in calls of up to `max` block steps and takes the events after each, and those that are held back.
fn run(p: &mut Particles, until: Time, max: u64) -> (Encounters, Vec<Event>) {
    let (mut it, mut f) = (encounters(1e-6), engine());
    it.record_events();
    it.start(p, &mut *f).unwrap();
    let mut events = it.take_events();
    while it.advance(p, &mut *f, until, max).unwrap().now < until {
        events.extend(it.take_events());
    }
    events.extend(it.take_events());
    events.extend(it.held_back());
    (it, events)
}

#[test]
fn recording_changes_no_bit_and_events_do_not_depend_on_the_division_of_the_steps() {
    let until = Time::from_dt_max(8);
    let (mut plain, mut f, mut it) = (cluster(40, 12), engine(), encounters(1e-6));
    it.start(&mut plain, &mut *f).unwrap();
    it.advance(&mut plain, &mut *f, until, u64::MAX).unwrap();
    assert!(it.take_events().is_empty());
    let (mut whole, mut divided) = (cluster(40, 12), cluster(40, 12));
    let events = run(&mut whole, until, u64::MAX).1;
    let repeats = events.iter().filter(|event| event.changes > 1).count();
    assert!(repeats > 0, "{events:?}");
    // The state of the subsystems has what is held back.
    [&mut plain, &mut whole].into_iter().for_each(|p| p.states.clear());
    let changes: u64 = events.iter().map(|event| event.changes).sum();
    assert!(whole == plain && changes > 20, "{changes}");
    // As text: the period of an unbound pair is NaN.
    assert_eq!(format!("{:?}", run(&mut divided, until, 7).1), format!("{events:?}"));
    divided.states.clear();
    assert_eq!(divided, plain);
}

#[test]
fn changes_that_are_held_back_stay_so_through_a_resume() {
    let until = Time::from_dt_max(8);
    let (mut whole, mut p) = (cluster(40, 12), cluster(40, 12));
    let want = run(&mut whole, until, u64::MAX).1;
    let (mut it, mut f, mut held_back) = (encounters(1e-6), engine(), 0);
    it.record_events();
    it.start(&mut p, &mut *f).unwrap();
    let mut events = it.take_events();
    loop {
        let now = it.advance(&mut p, &mut *f, until, 50).unwrap().now;
        events.extend(it.take_events());
        if now == until {
            break;
        }
        held_back += it.held_back().len();
        (it, f) = (encounters(1e-6), engine());
        it.record_events();
        it.resume(&p, now, &mut *f).unwrap();
    }
    events.extend(it.held_back());
    assert!(held_back > 0);
    assert_eq!(format!("{events:?}"), format!("{want:?}"));
    assert_eq!(p, whole);
}

#[test]
fn the_events_lead_from_single_stars_to_the_subsystems_of_the_end() {
    let mut p = cluster(40, 12);
    let (it, events) = run(&mut p, Time::from_dt_max(8), u64::MAX);
    let mut units: BTreeMap<String, f64> = p.id.iter().map(|id| (id.to_string(), 0.0)).collect();
    for event in &events {
        assert!(event.since <= event.time && (event.changes == 1) == (event.since == event.time), "{event:?}");
        let mass = |of: &[EventBody]| of.iter().map(|unit| unit.mass).sum::<f64>();
        assert!((mass(&event.before) / mass(&event.after) - 1.0).abs() < 1e-14, "{event:?}");
        for unit in &event.before {
            assert!(units.remove(&unit.members.to_string()).is_some(), "{event:?}: {units:?}");
        }
        units.extend(event.after.iter().map(|unit| (unit.members.to_string(), unit.binding)));
    }
    let subsystems: Vec<f64> = units.values().copied().filter(|binding| *binding != 0.0).collect();
    assert_eq!(subsystems.len(), it.number(), "{units:?}");
    let sum: f64 = subsystems.iter().sum();
    assert!((sum / it.binding_energy() - 1.0).abs() < 1e-6, "{sum} {}", it.binding_energy());
}

/// A hierarchy of a close pair and a wide companion, and a single star that it is a point for.
#[test]
fn verify_descriptions_of_subsystems() {
    let (a, u) = (1e-6, (0.5f64 / 1e-6).sqrt());
    let pos = [[a * 0.5, 0.0, 0.0], [-a * 0.5, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 300.0, 0.0]].map(Vec3::from);
    let vel = [[0.0, u * 0.5, 0.0], [0.0, -u * 0.5, 0.0], [0.0, 0.0, 0.8], [0.0; 3]].map(Vec3::from);
    let mut p = Particles::new(vec![0.25, 0.25, 0.5, 1e-3], pos.to_vec(), vel.to_vec());
    p.id = vec![11, 7, 3, 1];
    let (mut it, mut f) = (encounters(1e-6), engine());
    it.start(&mut p, &mut *f).unwrap();
    let found = it.describe(Time::default()).unwrap();
    let [outer, inner] = &found[..] else { panic!("{found:?}") };
    assert_eq!([outer.members.to_string(), inner.members.to_string()], ["(3+(7+11))", "(7+11)"]);
    assert_eq!([outer.inside_of, inner.inside_of], [None, Some(0)]);
    assert_eq!([outer.mass, inner.mass], [1.0, 0.5]);
    let sum = outer.binding + inner.binding;
    assert!((sum / it.binding_energy() - 1.0).abs() < 1e-14 && (inner.binding / (0.03125 / a) - 1.0).abs() < 1e-9);
    let want = Orbit::from_state(p.pos[2], Vec3::new(0.0, 0.0, 0.8), 1.0);
    let orbit = outer.orbit.unwrap();
    assert_eq!(orbit.mass, [0.5, 0.5]);
    assert!((orbit.semi_major_axis / want.semi_major_axis - 1.0).abs() < 1e-9, "{orbit:?} {want:?}");
    // Followed in the mean over both orbits.
    assert!(!outer.is_perturbed && outer.is_averaged && inner.is_averaged);
    // The star outside and the members, less that and their centre of mass: the quadrupole.
    let centre = (p.pos[0] * 0.25 + p.pos[1] * 0.25 + p.pos[2] * 0.5) / 1.0;
    let parts: f64 = (0..3).map(|i| p.mass[i] / (p.pos[3] - p.pos[i]).norm()).sum();
    let want = 1e-3 * (parts - 1.0 / (p.pos[3] - centre).norm());
    assert!((outer.neglected / want.abs() - 1.0).abs() < 1e-6 && outer.neglected > 0.0, "{outer:?} {want:e}");
    assert_eq!(inner.neglected, 0.0);
}

/// A close pair and a wider one that meet: the close pair is one body until another star comes near.
#[test]
fn verify_the_events_of_an_inner_pair() {
    let axes = [0.02, 5e-4];
    let (mut kinds, centre) = (Vec::new(), [Vec3::zeros(), Vec3::new(1.5, 0.02, 0.0)]);
    let (mut pos, mut vel) = (Vec::new(), Vec::new());
    for (k, a) in axes.into_iter().enumerate() {
        for side in [0.5, -0.5] {
            pos.push(centre[k] + Vec3::new(0.6, 0.0, 0.8) * (a * side));
            vel.push(Vec3::new(-0.9 * k as f64, (0.5f64 / a).sqrt() * side, 0.0));
        }
    }
    pos.push(Vec3::new(0.0, 300.0, 0.0));
    vel.push(Vec3::zeros());
    let mut p = Particles::new(vec![0.25, 0.25, 0.25, 0.25, 1e-3], pos, vel);
    let (_, events) = run(&mut p, Time::from_dt_max(64), u64::MAX);
    for event in events.iter().filter(|event| [EventKind::Open, EventKind::Close].contains(&event.kind)) {
        let (before, after) = (&event.before[0], &event.after[0]);
        let found = [before, after].map(|unit| unit.members.to_string().contains("(2+3)"));
        assert_eq!(found, [event.kind == EventKind::Open, event.kind == EventKind::Close], "{event:?}");
        // Energy goes neither into nor out of the subsystem.
        assert!((after.binding / before.binding - 1.0).abs() < 1e-9, "{event:?}");
        let orbit = event.orbit.unwrap();
        assert!((orbit.semi_major_axis / axes[1] - 1.0).abs() < 1e-2 && orbit.mass == [0.25; 2], "{orbit:?}");
        assert!((1e-9..1e-4).contains(&event.perturbation), "{event:?}");
        kinds.push(event.kind);
    }
    assert_eq!(kinds, [EventKind::Close, EventKind::Open]);
}

/// Less is neglected where smaller perturbations count.
#[test]
fn a_smaller_perturbation_neglects_less() {
    let neglected = |perturbation: f64| {
        let (mut p, mut it, mut f) = (cluster(40, 12), encounters(perturbation), engine());
        it.start(&mut p, &mut *f).unwrap();
        it.describe(Time::default()).unwrap().iter().map(|one| one.neglected).sum::<f64>()
    };
    let found = [1e-6, 1e-8, 1e-10].map(neglected);
    assert!(found[0] > 2.0 * found[1] && found[1] > 2.0 * found[2] && found[2] > 0.0, "{found:?}");
}

/// Binary and a single star that meet, and another star far away.
fn meeting(seed: u64) -> Particles {
    let initial = binary_single::Encounters {
        masses: [0.3, 0.5, 0.7],
        semi_major_axis: 1.0,
        eccentricities: Eccentricities::Fixed(0.3),
        velocity: 0.5,
        impact_parameter: 4.0,
        tidal_tolerance: 1e-4,
    };
    let drawn = initial.draw(seed, 1.0).particles;
    let mass = [&drawn.mass[..], &[1e-3]].concat();
    let (pos, vel) = ([0.0, 0.0, 3000.0].into(), Vec3::zeros());
    Particles::new(mass, [&drawn.pos[..], &[pos]].concat(), [&drawn.vel[..], &[vel]].concat())
}

/// Returns the binding energy of three particles.
fn binding(p: &Particles) -> f64 {
    let pairs = [(0, 1), (0, 2), (1, 2)];
    let total: f64 = p.mass[..3].iter().sum();
    let energy = |(i, j): (usize, usize)| {
        let (r, v) = (p.pos[j] - p.pos[i], p.vel[j] - p.vel[i]);
        p.mass[i] * p.mass[j] * (1.0 / r.norm() - 0.5 * v.norm_squared() / total)
    };
    pairs.into_iter().map(energy).sum()
}

/// A single star joins a binary, and another star leaves.
#[test]
fn verify_the_events_of_encounters_of_three_stars() {
    let mut exchanges = 0;
    for seed in 1..=12 {
        let (mut p, mut it, mut f) = (meeting(seed), encounters(1e-6), engine());
        it.record_events();
        it.start(&mut p, &mut *f).unwrap();
        let mut events = it.take_events();
        let until = Time::from_dt_max(16 * 120);
        while events.len() < 3 && it.advance(&mut p, &mut *f, until, 1).unwrap().now < until {
            events.extend(it.take_events());
        }
        let [form, join, split] = &events[..] else { continue };
        assert_eq!([form.kind, join.kind, split.kind], [EventKind::Form, EventKind::Join, EventKind::Split]);
        let names = |of: &[EventBody]| of.iter().map(|unit| unit.members.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!([names(&form.before), names(&form.after)], ["0 1", "(0+1)"]);
        assert_eq!([names(&join.before), names(&join.after)], ["(0+1) 2", "(0+1+2)"]);
        assert_eq!(names(&split.before), "(0+1+2)");
        let orbit = form.orbit.unwrap();
        assert!((orbit.semi_major_axis - 1.0).abs() < 1e-13 && (orbit.eccentricity - 0.3).abs() < 1e-13);
        assert_eq!((orbit.mass, join.orbit), ([0.3, 0.5], None));
        assert!((1e-6..1e-4).contains(&form.perturbation), "{form:?}");
        // Nothing but the three on each other: the binding energy of all stays.
        assert!((split.before[0].binding / join.after[0].binding - 1.0).abs() < 1e-9, "{split:?}");
        assert!((split.before[0].binding / binding(&p) - 1.0).abs() < 1e-9, "{split:?} {}", binding(&p));
        let pair = split.after.iter().find(|unit| !unit.members.is_star()).unwrap();
        let [i, j] = [0, 1].map(|k| pair.members.ids()[k] as usize);
        assert!(p.time[i] == split.time && p.time[j] == split.time);
        let (orbit, mass) = (split.orbit.unwrap(), p.mass[i] + p.mass[j]);
        let want = Orbit::from_state(p.pos[j] - p.pos[i], p.vel[j] - p.vel[i], mass);
        assert_eq!(orbit.mass, [p.mass[i], p.mass[j]]);
        assert!((orbit.semi_major_axis / want.semi_major_axis - 1.0).abs() < 1e-10, "{orbit:?} {want:?}");
        assert!((orbit.eccentricity - want.eccentricity).abs() < 1e-10, "{orbit:?} {want:?}");
        let period = std::f64::consts::TAU * (want.semi_major_axis.powi(3) / mass).sqrt();
        assert!((orbit.period / period - 1.0).abs() < 1e-10, "{orbit:?}");
        let want = 0.5 * p.mass[i] * p.mass[j] / want.semi_major_axis;
        assert!((pair.binding / want - 1.0).abs() < 1e-10, "{pair:?} {want}");
        exchanges += usize::from([i, j] != [0, 1]);
    }
    assert!(exchanges >= 4, "{exchanges}");
}
