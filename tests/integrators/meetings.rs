//! Promise: light bodies about a heavy one touch where and when their orbits meet, however many they are, and whichever of them
//! are members of a subsystem. The orbits are those of Kepler's equation, which is solved here.

use crate::collisions::{MERGE, RECORD, WHOLE, run_on, run_with};
use crate::contacts::{bodies, check_distances, check_steps, expected};
use crate::kinds::{Kind, each};
use tisane::encounters::SubsystemState;
use tisane::particles::{Particles, Vec3};
use tisane::subsystems::Collision;

/// Radius of the light bodies, and end of the time that is looked at.
const RADIUS: f64 = 2e-3;
const UNTIL: f64 = 2.5;

/// Position and velocity on a bound orbit about a mass of 1, a time after a state.
fn kepler((x, v): (Vec3, Vec3), dt: f64) -> (Vec3, Vec3) {
    let (r, along) = (x.norm(), x.dot(&v));
    let axis = 1.0 / (2.0 / r - v.norm_squared());
    let rate = axis.powf(-1.5);
    // Change of the eccentric anomaly: within the bounds that the equation has, by halves.
    let (min, max) = (rate * dt - 2.0, rate * dt + 2.0);
    let too_far = |e: f64| e - (1.0 - r / axis) * e.sin() + along / axis.sqrt() * (1.0 - e.cos()) > rate * dt;
    let (mut from, mut to) = (min, max);
    for _ in 0..60 {
        let e = 0.5 * (from + to);
        *(if too_far(e) { &mut to } else { &mut from }) = e;
    }
    let e = 0.5 * (from + to);
    let (s, c) = e.sin_cos();
    let (f, g) = (1.0 - axis / r * (1.0 - c), dt - (e - s) / rate);
    let later = x * f + v * g;
    let r2 = later.norm();
    (later, x * (-axis.sqrt() * s / (r * r2)) + v * (1.0 - axis / r2 * (1.0 - c)))
}

/// Numbers from 0 to 1, by a linear congruence.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn direction(&mut self) -> Vec3 {
        loop {
            let x = Vec3::from_fn(|_, _| 2.0 * self.next() - 1.0);
            if (0.1..1.0).contains(&x.norm()) {
                return x.normalize();
            }
        }
    }
}

/// States of light bodies at t = 0, of which each group meets in one place: all at the same time, but for a body after the first
/// two, which comes a little later.
fn meeting(numbers: &mut Numbers, groups: &[usize]) -> Vec<(Vec3, Vec3)> {
    let mut all = Vec::new();
    for &count in groups {
        let (place, time) = (numbers.direction() * (0.7 + 0.8 * numbers.next()), 0.3 + 2.0 * numbers.next());
        let mut chosen: Vec<Vec3> = Vec::new();
        while chosen.len() < count {
            // Across the direction to the heavy body for the most part, and not beside one that is there.
            let side = place.cross(&numbers.direction()).normalize() + place.normalize() * (numbers.next() - 0.5);
            let v = side * ((0.7 + 0.3 * numbers.next()) / place.norm().sqrt());
            if chosen.iter().all(|other| (v - other).norm() > 0.4) {
                chosen.push(v);
                let late = if chosen.len() > 2 { 6.0 * RADIUS } else { 0.0 };
                all.push(kepler((place, v), -time - late));
            }
        }
    }
    all
}

/// Contacts of bodies on their orbits, one for each passage: time and numbers of the two, in order.
fn contacts(start: &[(Vec3, Vec3)]) -> Vec<(f64, [u64; 2])> {
    const STEPS: usize = 2500;
    let dt = UNTIL / STEPS as f64;
    let at: Vec<Vec<(Vec3, Vec3)>> =
        (0..=STEPS).map(|k| start.iter().map(|body| kepler(*body, k as f64 * dt)).collect()).collect();
    let mut found = Vec::new();
    for (i, k) in (0..start.len()).flat_map(|k| (0..k).map(move |i| (i, k))) {
        let distance = |t: f64| (kepler(start[k], t).0 - kepler(start[i], t).0).norm() - 2.0 * RADIUS;
        for (step, two) in at.windows(2).enumerate() {
            let way = |it: &[(Vec3, Vec3)]| (it[k].0 - it[i].0, it[k].1 - it[i].1);
            let ((x, v), (y, w)) = (way(&two[0]), way(&two[1]));
            if x.norm().min(y.norm()) > 2.0 * RADIUS + 2.0 * dt * v.norm().max(w.norm()) {
                continue;
            }
            // In short parts of the step, and by halves in the one in which they come within their radii.
            let t = |part: u32| (step as f64 + f64::from(part) / 64.0) * dt;
            for part in 0..64 {
                if distance(t(part)) >= 0.0 && distance(t(part + 1)) < 0.0 {
                    let (mut from, mut to) = (t(part), t(part + 1));
                    for _ in 0..50 {
                        let mean = 0.5 * (from + to);
                        *(if distance(mean) < 0.0 { &mut to } else { &mut from }) = mean;
                    }
                    // The heavy body is the first.
                    found.push((to, [i as u64 + 1, k as u64 + 1]));
                }
            }
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    found
}

fn about_heavy(start: &[(Vec3, Vec3)], mass: f64) -> Particles {
    let heavy = (1.0, 1e-3, [0.0; 3], [0.0; 3]);
    let light = start.iter().map(|(x, v)| (mass, RADIUS, (*x).into(), (*v).into()));
    bodies(&std::iter::once(heavy).chain(light).collect::<Vec<_>>())
}

/// Groups of two, with one of three and one of four, of `count` bodies.
fn groups(count: usize) -> Vec<usize> {
    [vec![4, 3], vec![2; (count - 7) / 2], vec![1; (count - 7) % 2]].concat()
}

#[test]
fn light_bodies_touch_where_their_orbits_meet() {
    let mut numbers = Numbers(1);
    for count in [8, 9, 12, 17, 24, 40] {
        let start = meeting(&mut numbers, &groups(count));
        let want = contacts(&start);
        assert!(want.len() > count / 3, "{count}: {want:?}");
        let done = run_with(0.003, &about_heavy(&start, 0.0), (Some(RECORD), None), 40, WHOLE);
        let mut found = done.collisions();
        check_distances(&found, 1e-9);
        // One is written at the end of the block step in which a body of the two has moved.
        found.sort_by(|a, b| a.time.total_cmp(&b.time));
        let ids = |it: &(f64, [u64; 2])| it.1;
        assert!(found.iter().map(|it| it.id).eq(want.iter().map(ids)), "{count}: {found:?} {want:?}");
        let worst = found.iter().zip(&want).map(|(it, want)| (it.time - want.0).abs()).fold(0.0, f64::max);
        assert!(worst < 2e-6, "{count}: {worst:e}");
    }
}

/// Those that touched before are another body; all others touch where their orbits meet.
#[test]
fn light_bodies_merge_where_their_orbits_meet() {
    each(|kind| {
        let mut numbers = Numbers(2);
        let mut subsystems = 0;
        let counts = if kind == Kind::Hermite4 { &[8, 24, 40][..] } else { &[24] };
        let (times, sums) = if kind.has_lists() { (2.0, 1e-9) } else { (1.0, 1e-10) };
        for (count, mass) in counts.iter().flat_map(|&count| [0.0, 1e-6].map(|mass| (count, mass))) {
            let start = meeting(&mut numbers, &groups(count));
            let p = about_heavy(&start, mass);
            // Bodies with a mass attract each other by the fourth digit of the sum of their radii.
            let (want, accuracy) =
                if mass == 0.0 { (contacts(&start), 2e-6) } else { (expected(&p, UNTIL, 2e-4), 1e-5) };
            let done = run_on((kind, 0.003), &p, (Some(MERGE), None), 40, WHOLE);
            let found = done.collisions();
            check_distances(&found, 1e-9);
            assert!(found.windows(2).all(|two| two[0].time <= two[1].time), "{count} {mass}: {found:?}");
            let mut met = 0;
            for (time, ids) in want {
                let is_one_of = |it: &&Collision| it.id.iter().any(|id| ids.contains(id));
                if found.iter().filter(is_one_of).any(|it| it.time < time - accuracy) {
                    continue;
                }
                met += 1;
                let it =
                    found.iter().find(|it| it.id == ids).unwrap_or_else(|| panic!("{count} {mass}: {ids:?} {found:?}"));
                assert!((it.time - time).abs() < times * accuracy, "{count} {mass}: {} {time}", it.time);
            }
            assert!(met >= count / 4 && done.p.len() + found.len() == count + 1, "{count} {mass}: {met}");
            let [energy, momentum, spin] = done.errors();
            assert!(energy.abs() < sums && momentum < sums && spin < sums, "{energy:e} {momentum:e} {spin:e}");
            // Neither passes the other. Inside of a subsystem stars become one at their contact, whenever its step ends.
            if mass == 0.0 {
                check_steps(&done);
            }
            subsystems += done.p.states.get::<SubsystemState>().numbers.len();
        }
        assert!(subsystems > 0);
    });
}
