//! Promises on contacts: found where two bodies come within the sum of their radii, whatever attracts them, at the moment and
//! the distance of the contact; each once a passage; the same bits for any division of the steps and from a state that is kept.

use crate::collisions::{CLOCK, Done, MERGE, RECORD, WHOLE, run, run_on};
use crate::kinds::{Kind, each};
use tisane::particles::{Particles, Vec3};
use tisane::subsystems::Collision;

/// Body: mass, radius, position, velocity.
pub type Row = (f64, f64, [f64; 3], [f64; 3]);

pub fn bodies(rows: &[Row]) -> Particles {
    let column = |of: fn(&Row) -> [f64; 3]| rows.iter().map(|row| Vec3::from(of(row))).collect();
    let mass = rows.iter().map(|row| row.0).collect();
    let mut p = Particles::new(mass, column(|row| row.2), column(|row| row.3));
    p.radius = rows.iter().map(|row| row.1).collect();
    p
}

/// First contact of each pair, found by short steps of Runge and Kutta's method: time and numbers of the two.
pub fn expected(p: &Particles, until: f64, dt: f64) -> Vec<(f64, [u64; 2])> {
    let (n, mut x, mut v, mut t) = (p.len(), p.pos.clone(), p.vel.clone(), 0.0);
    let acc = |x: &[Vec3]| -> Vec<Vec3> {
        let pull = |i: usize, k: usize| {
            let r = x[k] - x[i];
            if i == k || p.mass[k] == 0.0 { Vec3::zeros() } else { r * (p.mass[k] / r.norm().powi(3)) }
        };
        (0..n).map(|i| (0..n).map(|k| pull(i, k)).sum()).collect()
    };
    let add = |x: &[Vec3], y: &[Vec3], by: f64| -> Vec<Vec3> { x.iter().zip(y).map(|(x, y)| x + y * by).collect() };
    let mut found: Vec<(f64, [u64; 2])> = Vec::new();
    while t < until {
        let before = x.clone();
        let (k1, l1) = (v.clone(), acc(&x));
        let (k2, l2) = (add(&v, &l1, dt / 2.0), acc(&add(&x, &k1, dt / 2.0)));
        let (k3, l3) = (add(&v, &l2, dt / 2.0), acc(&add(&x, &k2, dt / 2.0)));
        let (k4, l4) = (add(&v, &l3, dt), acc(&add(&x, &k3, dt)));
        for i in 0..n {
            x[i] += (k1[i] + (k2[i] + k3[i]) * 2.0 + k4[i]) * (dt / 6.0);
            v[i] += (l1[i] + (l2[i] + l3[i]) * 2.0 + l4[i]) * (dt / 6.0);
        }
        for (i, k) in (0..n).flat_map(|k| (0..k).map(move |i| (i, k))) {
            let distance = |x: &[Vec3]| (x[i] - x[k]).norm() - p.radius[i] - p.radius[k];
            let (from, to, ids) = (distance(&before), distance(&x), [p.id[i], p.id[k]]);
            if from >= 0.0 && to < 0.0 && !found.iter().any(|it| it.1 == ids) {
                found.push((t + dt * from / (from - to), ids));
            }
        }
        t += dt;
    }
    found
}

/// Checks that these are contacts at the sum of the radii.
pub fn check_distances(found: &[Collision], min: f64) {
    for it in found {
        let (r, sum) = (it.relative[0].norm(), it.radius[0] + it.radius[1]);
        assert!((r / sum - 1.0).abs() < min, "{r} {sum}: {it:?}");
        assert!(it.relative[0].dot(&it.relative[1]) < 0.0, "{it:?}");
    }
}

/// Checks that the steps in which bodies touched ended a tenth of the sum of their radii later at the latest.
pub fn check_steps(done: &Done) {
    for (it, event) in done.collisions().iter().zip(&done.events) {
        let late = (CLOCK.time(event.time) - it.time) * it.relative[1].norm() / (it.radius[0] + it.radius[1]);
        assert!((0.0..0.11).contains(&late), "{late}: {it:?}");
    }
}

/// Two bodies of a mass on one circle about another, which meet head on after a quarter of their orbits.
fn opposite(mass: f64) -> Particles {
    let (r, speed) = (1.3, 0.877_058_019_307_029_2);
    bodies(&[
        (1.0, 1e-9, [0.0; 3], [0.0; 3]),
        (mass, 0.01, [r, 0.0, 0.0], [0.0, speed, 0.0]),
        (mass, 0.01, [-r, 0.0, 0.0], [0.0, speed, 0.0]),
    ])
}

/// Times by an integration with DOP853, which the orbits have to their accuracy.
#[test]
fn verify_light_bodies_about_a_heavy_one_touch() {
    each(|kind| {
        let orbits = [(0.01, 6e-6), (0.001, 1e-7)];
        for (mass, time) in [(0.0, 2.31687651), (1e-6, 2.31687446), (1e-4, 2.31667146)] {
            for (action, (nu, accuracy)) in [RECORD, MERGE].into_iter().flat_map(|it| orbits.map(|orbit| (it, orbit))) {
                let done = run_on((kind, nu), &opposite(mass), (Some(action), None), 45, WHOLE);
                let [it] = done.collisions()[..] else { panic!("{mass}: {:?}", done.events) };
                assert!((it.time - time).abs() < accuracy, "{mass} {action:?} {nu}: {} {time}", it.time);
                check_distances(&[it], 1e-9);
                assert_eq!((it.merged.is_some(), done.p.len()), if action == MERGE { (true, 2) } else { (false, 3) });
                let [energy, momentum, spin] = done.errors();
                assert!(energy.abs() < 1e-7 && momentum < 1e-7 && spin < 1e-7, "{energy:e} {momentum:e} {spin:e}");
            }
        }
    });
}

/// Other masses, and orbits in planes that are inclined to each other: they meet at the node if at all.
#[test]
fn verify_contacts_on_inclined_orbits() {
    for mass in [0.0, 1e-8, 1e-5, 1e-3] {
        for turn in [0.3f64, 1.1, 2.0] {
            // Both come to the node at -x after a quarter of their orbits, and touch on the way.
            let mut p = opposite(mass);
            let (r, speed) = (1.3, p.vel[1].norm());
            (p.pos[1], p.vel[1]) = (Vec3::y() * r, Vec3::x() * -speed);
            let side = Vec3::new(0.0, turn.cos(), turn.sin());
            (p.pos[2], p.vel[2]) = (side * r, Vec3::x() * -speed - side * 1e-3);
            let want = expected(&p, 2.7, 5e-4);
            let done = run(&p, (Some(RECORD), None), 43, WHOLE);
            let found = done.collisions();
            assert_eq!((found.len(), want.len()), (1, 1), "{mass} {turn}: {found:?} {want:?}");
            assert!((found[0].time - want[0].0).abs() < 2e-5, "{mass} {turn}: {} {}", found[0].time, want[0].0);
            check_distances(&found, 1e-9);
        }
    }
}

#[test]
fn contacts_do_not_depend_on_the_motion_of_the_whole() {
    let times = |drift: Vec3| {
        let mut p = opposite(1e-4);
        p.vel.iter_mut().for_each(|v| *v += drift);
        let found = run(&p, (Some(RECORD), None), 43, WHOLE).collisions();
        check_distances(&found, 1e-9);
        found.iter().map(|it| it.time).collect::<Vec<_>>()
    };
    let at_rest = times(Vec3::zeros());
    assert_eq!(at_rest.len(), 1);
    for drift in [Vec3::x() * 50.0, Vec3::new(0.0, -30.0, 4.0)] {
        let moved = times(drift);
        assert!(moved.len() == 1 && (moved[0] - at_rest[0]).abs() < 1e-6, "{moved:?} {at_rest:?}");
    }
}

/// Two massless bodies that pass each other at a distance, far from a mass, at some speed.
fn passage(distance: f64, speed: f64) -> Particles {
    bodies(&[
        (1.0, 1.0, [0.0, 0.0, 1e4], [0.0; 3]),
        (0.0, 0.01, [-1.0 - 1e-3, 0.0, 0.0], [speed, 0.0, 0.0]),
        (0.0, 0.02, [1.0, distance, 0.0], [-speed, 0.0, 0.0]),
    ])
}

#[test]
fn a_passage_outside_of_the_radii_is_none_and_one_inside_is_one() {
    for speed in [3.0, 1e3, 1e6] {
        for action in [RECORD, MERGE] {
            let outside = run(&passage(0.03 + 1e-9, speed), (Some(action), None), 20, WHOLE);
            assert!(outside.collisions().is_empty(), "{speed}");
            let inside = run(&passage(0.03 - 1e-9, speed), (Some(action), None), 20, WHOLE);
            let [it] = inside.collisions()[..] else { panic!("{speed}: {:?}", inside.events) };
            let half = (0.03 * 0.03 - (0.03 - 1e-9f64).powi(2)).sqrt();
            assert!((it.time * speed - (1.0005 - half / 2.0)).abs() < 1e-9, "{speed}: {}", it.time);
            assert!((it.pericentre - (0.03 - 1e-9)).abs() < 1e-10, "{it:?}");
            // Head on.
            let met = run(&passage(0.0, speed), (Some(action), None), 20, WHOLE).collisions();
            assert!(met.len() == 1 && (met[0].time * speed - 0.9855).abs() < 1e-9, "{speed}: {met:?}");
        }
    }
}

/// They meet again after half an orbit: a row for each passage.
#[test]
fn each_passage_has_one_row() {
    each(|kind| {
        let done = run_on((kind, 0.01), &opposite(0.0), (Some(RECORD), None), 16 * 9, WHOLE);
        let times: Vec<f64> = done.collisions().iter().map(|it| it.time).collect();
        let half = std::f64::consts::PI * 1.3 / 0.877_058_019_307_029_2;
        assert!(times.len() == 2 && (times[1] - times[0] - half).abs() < 1e-5, "{times:?}");
        // Those that are within their radii at the start are named once, if they approach each other.
        for (speed, rows) in [(0.01, 1), (-0.01, 0)] {
            let mut p = passage(0.0, speed);
            p.pos[1].x = 0.985;
            assert_eq!(run_on((kind, 0.01), &p, (Some(RECORD), None), 8, WHOLE).collisions().len(), rows);
        }
    });
}

/// A fast passage of two stars that attract each other hardly: they do not become a subsystem for it.
#[test]
fn fast_stars_touch_once() {
    each(|kind| {
        for speed in [1e4, 1e6] {
            for x in [0.3, 1.0] {
                let p = bodies(&[
                    (0.5, 1e-3, [x, 5e-4, 0.0], [-speed, 0.0, 0.0]),
                    (0.5, 1e-3, [-1.0, 0.0, 0.0], [speed, 0.0, 0.0]),
                    (0.001, 1e-3, [0.0, 5.0, 0.0], [0.0; 3]),
                ]);
                for action in [RECORD, MERGE] {
                    let found = run_on((kind, 0.01), &p, (Some(action), None), 2, WHOLE).collisions();
                    let half = (4e-6f64 - 2.5e-7).sqrt();
                    let time = (x + 1.0 - half) / (2.0 * speed);
                    assert!(found.len() == 1 && (found[0].time / time - 1.0).abs() < 1e-6, "{speed} {x}: {found:?}");
                    check_distances(&found, 1e-6);
                }
            }
        }
    });
}

/// Bodies that fall on a large one at nearly the same time, from all sides: more than a subsystem holds.
fn shower(mass: f64, count: usize) -> Particles {
    let mut rows: Vec<Row> = vec![(1.0, 0.5, [0.01, 0.02, 0.005], [0.0; 3])];
    for k in 0..count {
        let (s, c) = (k as f64 * 0.26).sin_cos();
        let r = 1.5 + 1e-3 * ((7 * k) % 11) as f64;
        rows.push((mass, 0.01, [r * c, r * s, 0.02 * s], [-c, -s, 0.0]));
    }
    bodies(&rows)
}

#[test]
fn all_contacts_of_a_block_step_are_at_their_own_times_in_order() {
    each(|kind| {
        for mass in [0.0, 1e-3] {
            let p = shower(mass, 24);
            let want = expected(&p, 1.0, 1e-4);
            let done = run_on((kind, 0.01), &p, (Some(MERGE), None), 32, WHOLE);
            let found: Vec<Collision> = done.collisions();
            let with_first = found.iter().filter(|it| it.id.contains(&0)).count();
            assert!(with_first > 20 && done.p.len() + found.len() == 25, "{mass}: {with_first}");
            assert!(found.windows(2).all(|two| two[0].time <= two[1].time), "{mass}");
            // Each adds to what those before have become.
            let heavy = |it: &Collision| it.mass[0];
            let merged: Vec<f64> = found.iter().filter(|it| it.id.contains(&0)).map(heavy).collect();
            assert!(merged.windows(2).all(|two| two[1] >= two[0] + 0.99 * mass), "{mass}: {merged:?}");
            let total = done.p.mass.iter().sum::<f64>();
            assert!((total - p.mass.iter().sum::<f64>()).abs() < 1e-12, "{mass}: {total}");
            // A star that two have become is larger and stands elsewhere, by up to the mass of one: it may be within the next at once.
            let at_once = |k: usize| k > 0 && found[k].time - found[k - 1].time < 1e-12;
            for (k, it) in found.iter().enumerate() {
                check_distances(&[*it], if at_once(k) { 2.0 * mass } else { 1e-9 });
            }
            for it in found.iter().filter(|it| it.id.contains(&0)) {
                if let Some(first) = want.iter().find(|first| first.1 == it.id) {
                    assert!((it.time - first.0).abs() < 2e-3, "{mass}: {} {first:?}", it.time);
                }
            }
            let [energy, momentum, spin] = done.errors();
            assert!(energy.abs() < 1e-5 && momentum < 1e-6 && spin < 1e-6, "{energy:e} {momentum:e} {spin:e}");
            let recorded = run_on((kind, 0.01), &p, (Some(RECORD), None), 12, WHOLE).collisions();
            for it in recorded.iter().filter(|it| it.id[0] == 0) {
                let first = want.iter().find(|first| first.1 == it.id).unwrap();
                assert!((it.time - first.0).abs() < 1e-5, "{mass}: {} {first:?}", it.time);
            }
            check_distances(&recorded, 1e-6);
        }
    });
}

/// Two stars that meet head on, and a third that touches the new star alone, `late` after that. It has short steps, as it passes a
/// light body, while the two have long ones.
fn third(late: f64) -> Particles {
    let (radius, apart, t) = (0.1, 0.25, 0.15);
    let new = radius * 2f64.cbrt() + 1e-5;
    bodies(&[
        (1e-5, radius, [-apart, 0.0, 0.0], [1.0, 0.0, 0.0]),
        (1e-5, radius, [apart, 0.0, 0.0], [-1.0, 0.0, 0.0]),
        (0.0, 1e-5, [0.0, new + t + late, 0.0], [0.0, -1.0, 0.0]),
        (1e-7, 0.0, [3e-4, new + 2e-4, 0.0], [0.0, 0.0, 0.0]),
        (1e-3, 0.0, [0.0, 0.0, 20.0], [0.0; 3]),
    ])
}

#[test]
fn a_new_star_is_touched_at_any_moment_after_it() {
    for k in 1..40 {
        let late = 3e-4 * f64::from(k);
        let done = run(&third(late), (Some(MERGE), None), 4, WHOLE);
        let found = done.collisions();
        let times: Vec<f64> = found.iter().map(|it| it.time).collect();
        assert_eq!(found.iter().map(|it| it.id).collect::<Vec<_>>(), [[0, 1], [0, 2]], "{late}: {times:?}");
        // The two attract each other and the third a little.
        assert!((times[1] - times[0] - late).abs() < 1e-4, "{late}: {times:?}");
        check_distances(&found, 1e-9);
    }
}

/// Three stars that come together, and a fourth that touches only what they have become.
#[test]
fn a_new_star_may_touch_the_next_at_once() {
    each(|kind| {
        let p = bodies(&[
            (1.0, 0.1, [0.0, 0.0, 50.0], [0.0; 3]),
            (1e-4, 0.1, [-2.0, 0.0, 0.0], [2.0, 0.0, 0.0]),
            (1e-4, 0.1, [2.0, 0.0, 0.0], [-2.0, 0.0, 0.0]),
            (1e-4, 0.1, [0.0, 2.0, 0.001], [0.0, -2.0, 0.0]),
            (0.0, 0.01, [0.0, 0.0, 0.1295], [0.0; 3]),
        ]);
        let done = run_on((kind, 0.01), &p, (Some(MERGE), None), 32, WHOLE);
        let found: Vec<[u64; 2]> = done.collisions().iter().map(|it| it.id).collect();
        assert_eq!((done.p.len(), found.len()), (2, 3), "{found:?}");
        let times: Vec<f64> = done.collisions().iter().map(|it| it.time).collect();
        assert!((times[0] - 0.95).abs() < 0.05 && times[2] - times[0] < 0.2, "{times:?}");
        let [energy, momentum, _] = done.errors();
        assert!(energy.abs() < 1e-9 && momentum < 1e-9, "{energy:e} {momentum:e}");
    });
}

/// A binary one of whose stars is met by a third body.
fn target(mass: f64) -> Particles {
    let (half, speed) = (0.05, 0.5 * (1.0f64 / 0.1).sqrt());
    bodies(&[
        (0.5, 0.004, [half, 0.0, 0.0], [0.0, speed, 0.0]),
        (0.5, 0.004, [-half, 0.0, 0.0], [0.0, -speed, 0.0]),
        (mass, 0.002, [1.2, 0.043, 0.0], [-0.8, 0.0, 0.0]),
        (1e-3, 1e-4, [0.0, 0.0, 40.0], [0.0; 3]),
    ])
}

#[test]
fn a_member_of_a_binary_is_touched_by_a_third() {
    each(|kind| {
        let mut met = 0;
        for mass in [0.0, 1e-6, 1e-2] {
            for turn in 0..8 {
                let mut p = target(mass);
                let (s, c) = (0.4 * f64::from(turn)).sin_cos();
                for k in 0..2 {
                    let turned = |x: Vec3| Vec3::new(c * x.x - s * x.y, s * x.x + c * x.y, x.z);
                    (p.pos[k], p.vel[k]) = (turned(p.pos[k]), turned(p.vel[k]));
                }
                let want = expected(&p, 1.2, 2e-5);
                let found = run_on((kind, 0.01), &p, (Some(RECORD), None), 19, WHOLE).collisions();
                if let Some(first) = want.first() {
                    met += 1;
                    let it = found.first().unwrap_or_else(|| panic!("{mass} {turn}: {want:?}"));
                    // Far away a light body feels the binary in the mean over its orbit.
                    assert!(it.id == first.1 && (it.time - first.0).abs() < 5e-4, "{mass} {turn}: {it:?} {first:?}");
                    check_distances(&[*it], 1e-5);
                    let done = run_on((kind, 0.01), &p, (Some(MERGE), None), 19, WHOLE);
                    assert!(done.p.len() < 4, "{mass} {turn}: {:?}", done.events);
                    // One with a mass becomes a member, and stars in a subsystem become one at their contact.
                    if mass == 0.0 {
                        check_steps(&done);
                    }
                    let [energy, momentum, _] = done.errors();
                    assert!(energy.abs() < 1e-5 && momentum < 1e-6, "{mass} {turn}: {energy:e} {momentum:e}");
                } else {
                    assert!(found.is_empty(), "{mass} {turn}: {found:?}");
                }
            }
        }
        assert!(met > 3, "{met}");
    });
}

/// Stars at rest on a line, equal gaps but for the last: two mergers in one place at nearly the same time.
#[test]
fn a_line_of_stars_keeps_its_energy() {
    for count in 3..=12 {
        for last in [0.011, 0.0111, 0.0115] {
            let place = |k: usize| 0.011 * k as f64 + if k + 1 == count { last - 0.011 } else { 0.0 };
            let mass = 1.0 / count as f64;
            let rows: Vec<Row> = (0..count).map(|k| (mass, 0.005, [place(k), 0.0, 0.0], [0.0; 3])).collect();
            let done: Done = run(&bodies(&rows), (Some(MERGE), None), 4, WHOLE);
            let size = done.removed().energy.abs();
            let [energy, ..] = done.errors();
            assert!(energy.abs() < 5e-6 * size, "{count} {last}: {energy:e} of {size}");
            assert_eq!(done.p.len() + done.collisions().len(), count);
        }
    }
}

#[test]
fn contacts_have_the_same_bits_for_calls_threads_and_resuming() {
    let in_every_way = |kind: Kind, p: &Particles, action| {
        let run = |calls| run_on((kind, 0.01), p, (Some(action), None), 40, calls);
        let want = run(WHOLE);
        for (max, resumes) in [(1, true), (7, false)] {
            let found = run((max, resumes));
            assert!(found.p == want.p && found.events == want.events, "{action:?} {max} {resumes}");
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let found = pool.install(|| run(WHOLE));
        assert!(found.p == want.p && found.events == want.events, "{action:?}: 3 threads");
    };
    for p in [shower(1e-3, 24), opposite(1e-4), target(1e-6), third(3e-3)] {
        [RECORD, MERGE].into_iter().for_each(|action| in_every_way(Kind::Hermite4, &p, action));
    }
    each(|kind| in_every_way(kind, &third(3e-3), MERGE));
    each(|kind| in_every_way(kind, &shower(1e-3, 8), MERGE));
}
