//! Promises on the list of stars that have escaped: it follows stars that come back, that merge, and whose numbers change.

use crate::collisions::{CLOCK, Done, MERGE, WHOLE, beyond, encounters_on, engine, escaped, run_on, with_leavers};
use crate::kinds::{Kind, each};
use tisane::encounters::{Encounters, EscapeAction, EscapeRadius, Escapes, StarEvents};
use tisane::force::precision::Precision;
use tisane::integrator::Integrator as _;
use tisane::integrator::ahmad_cohen::Order;
use tisane::integrator::hermite4::Limits;
use tisane::particles::{Particles, Vec3};
use tisane::states::neighbours::Neighbours;
use tisane::subsystems::Subsystems as _;
use tisane::time::Time;

/// Escapers beyond a distance, which are recorded.
fn recorded(length: f64) -> Option<Escapes> {
    Some(Escapes { action: EscapeAction::Record, radius: EscapeRadius::Length(length) })
}

fn ids_of_escapers(done: &Done) -> Vec<u64> {
    use tisane::subsystems::Detail;
    let of = |detail: &Detail| match detail {
        Detail::Escape(escape) => escape.stars.iter().map(|star| star.id).collect(),
        _ => Vec::new(),
    };
    done.events.iter().flat_map(|event| of(&event.detail)).collect()
}

/// A fast star comes from outside, passes through, and leaves at the other side.
#[test]
fn a_star_that_comes_back_escapes_again() {
    each(|kind| {
        let mut p = with_leavers();
        p.remove_rows(&[41]);
        (p.pos[40], p.vel[40]) = (Vec3::new(6.0, 0.5, 0.0), Vec3::x() * -4.0);
        for calls in [WHOLE, (5, true)] {
            let done = run_on((kind, 0.01), &p, (None, recorded(4.0)), 64, calls);
            assert_eq!(ids_of_escapers(&done), [40, 40], "{calls:?}");
        }
    });
}

/// A run that recorded them goes on, and takes them out from then on.
#[test]
fn escapers_that_were_recorded_are_taken_out_later() {
    each(|kind| {
        let (mut p, mut f) = (with_leavers(), engine());
        let mut it = encounters_on((kind, 0.01), None, recorded(4.0));
        it.start(&mut p, &mut *f).unwrap();
        while it.advance(&mut p, &mut *f, Time::from_dt_max(32), u64::MAX).unwrap().now < Time::from_dt_max(32) {}
        let mut later = encounters_on((kind, 0.01), None, beyond(4.0));
        later.resume(&p, Time::from_dt_max(32), &mut *f).unwrap();
        later.advance(&mut p, &mut *f, Time::from_dt_max(33), u64::MAX).unwrap();
        assert_eq!((p.len(), later.take_events().len()), (40, 1));
    });
}

/// Three stars that fly apart: the last one is alone, and goes on.
#[test]
fn the_last_star_goes_on() {
    each(|kind| {
        let mut p = Particles::default();
        for (mass, pos, vel) in [
            (0.5, Vec3::new(0.9, 0.1, 0.0), Vec3::new(25.0, 0.0, 1.0)),
            (0.25, Vec3::new(-1.1, 0.4, 0.0), Vec3::new(-33.0, 0.0, -2.0)),
            (0.25, Vec3::new(0.0, -1.0, 0.3), Vec3::new(0.0, -28.0, 0.0)),
        ] {
            single(&mut p, mass, pos, vel);
        }
        let mut p = of_rows(p);
        // Steps below the shortest one end an integration here.
        let events = StarEvents { collisions: None, escapes: beyond(0.5) };
        let (mut it, mut f) = (
            Encounters::new(kind.build(CLOCK, 0.01, Limits::new(Precision::F64)), 1e-5, CLOCK).with_star_events(events),
            engine(),
        );
        it.start(&mut p, &mut *f).unwrap();
        let end = Time::from_dt_max(32);
        while it.advance(&mut p, &mut *f, end, u64::MAX).unwrap().now < end {}
        assert_eq!((p.len(), p.acc[0]), (1, Vec3::zeros()));
    });
}

/// Two stars that merge at half of their period, from the apocentre of an orbit with a pericentre within their radii.
fn falling(p: &mut Particles, (mass, a): (f64, f64), (pos, vel): (Vec3, Vec3)) {
    let (x, v) = (Vec3::y() * (a * 1.99), Vec3::z() * (mass / a * 0.01 / 1.99).sqrt());
    for (share, side) in [(0.75, -0.25), (0.25, 0.75)] {
        p.mass.push(mass * share);
        p.pos.push(pos + x * side);
        p.vel.push(vel + v * side);
        p.radius.push(0.006 * a);
    }
}

fn single(p: &mut Particles, mass: f64, pos: Vec3, vel: Vec3) {
    p.mass.push(mass);
    p.pos.push(pos);
    p.vel.push(vel);
    p.radius.push(0.0);
}

fn of_rows(p: Particles) -> Particles {
    Particles { radius: p.radius, ..Particles::new(p.mass, p.pos, p.vel) }
}

/// A merger gives the star that has escaped another number.
#[test]
fn an_escaper_stays_one_when_two_others_merge() {
    each(|kind| {
        let mut p = Particles::default();
        falling(&mut p, (1.0, 1.0), (Vec3::zeros(), Vec3::zeros()));
        single(&mut p, 1e-3, Vec3::x() * 4.0, Vec3::x() * 3.0);
        single(&mut p, 1e-3, Vec3::x() * -300.0, Vec3::zeros());
        let done = run_on((kind, 0.01), &of_rows(p), (Some(MERGE), recorded(5.0)), 80, WHOLE);
        assert_eq!((done.collisions().len(), ids_of_escapers(&done)), (1, vec![2]));
    });
}

/// Two that have escaped together become one star; the state names no star that is gone.
#[test]
fn escapers_that_merge_are_one_escaper() {
    each(|kind| {
        let mut p = Particles::default();
        single(&mut p, 1.0, Vec3::zeros(), Vec3::zeros());
        falling(&mut p, (1e-3, 0.1), (Vec3::x() * 60.0, Vec3::x() * 3.0));
        for calls in [WHOLE, (3, true)] {
            let done = run_on((kind, 0.01), &of_rows(p.clone()), (Some(MERGE), recorded(63.0)), 80, calls);
            assert_eq!((done.collisions().len(), escaped(&done), done.p.len()), (1, 2, 2), "{calls:?}");
            encounters_on((kind, 0.01), Some(MERGE), recorded(63.0))
                .resume(&done.p, Time::from_dt_max(80), &mut *engine())
                .unwrap();
        }
    });
}

/// The neighbour scheme has the force in two parts. At a multiple of dt_max all have just taken regular steps: the parts are those
/// of the whole force, whether a list had what has left or not.
#[test]
fn both_parts_of_the_force_lose_what_has_left() {
    for order in [Order::Four, Order::Six] {
        let (mut p, mut f) = (with_leavers(), engine());
        // One follows the other at a distance: its list has it.
        (p.pos[41], p.vel[41]) = (p.pos[40] * 0.6, p.vel[40]);
        let mut it = encounters_on((Kind::AhmadCohen(order), 0.01), None, beyond(4.0));
        it.start(&mut p, &mut *f).unwrap();
        let (mut listed, mut others) = (0, 0);
        for k in 1..=32 {
            let before = p.clone();
            let done = it.advance(&mut p, &mut *f, Time::from_dt_max(k), u64::MAX).unwrap();
            if p.len() == before.len() {
                continue;
            }
            let gone: Vec<usize> = (0..before.len()).filter(|&i| !p.id.contains(&before.id[i])).collect();
            let of = p.states.get::<Neighbours>();
            for i in 0..p.len() {
                let [acc, jerk] = [
                    (of.acc[i] + of.regular_acc[i] - p.acc[i]).norm() / p.acc[i].norm(),
                    (of.jerk[i] + of.regular_jerk[i] - p.jerk[i]).norm() / p.jerk[i].norm(),
                ];
                assert!(p.time[i] == done.now && acc < 1e-13 && jerk < 1e-12, "{order:?} {i}: {acc:e} {jerk:e}");
                assert!(of.lists[i].iter().all(|&k| (k as usize) < p.len()));
                let old = before.id.iter().position(|id| *id == p.id[i]).unwrap();
                let list = &before.states.get::<Neighbours>().lists[old];
                let has = gone.iter().any(|&k| list.contains(&(k as u32)));
                *(if has { &mut listed } else { &mut others }) += 1;
            }
        }
        assert!(listed > 0 && others > 0, "{order:?}: {listed} {others}");
    }
}
