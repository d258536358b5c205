//! Promise: forces are the direct sums over the predicted sources of a call, whatever was set before it, in which order;
//! where the engine predicts, they have its bits.

use crate::model::{Client, Force, Random, Source, Target};
use g6::ffi::{Vector, g6_npipes, g6_npipes_, g6_set_tunit, g6calc_firsthalf, g6calc_lasthalf, get_j_part_data};
use std::ptr::null;
use tisane::force::precision::Precision;
use tisane::force::{EngineKind, Forces, NO_SOURCE, Points};
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, Time};

#[test]
fn forces_are_direct_sums_over_predicted_sources() {
    let mut random = Random(1);
    let mut client = Client::new();
    for address in 0..300 {
        // Identities that are no addresses.
        client.set(address, random.source(5000 - 3 * address));
    }
    for (t, eps2) in [(1.0, 0.0), (1.25, 0.01), (1.25 + 2f64.powi(-30), 1e-4)] {
        client.set_time(t);
        let targets: Vec<Target> = (0..70).map(|k| random.target(5000 - 2 * k)).collect();
        client.check(300, &targets, eps2, "regular");
    }
}

/// Every kind of source and time in turn; after each change the next call must know of it, and of nothing else.
#[test]
fn every_call_sees_what_was_set_before_it() {
    for seed in 0..40 {
        let mut random = Random(1000 + seed);
        let mut client = Client::new();
        for step in 0..120 {
            for _ in 0..random.below(4) {
                let address = random.below(24) as i32;
                let mut source = random.source(address + 1);
                match random.below(8) {
                    0 => source.snap = random.vector(),
                    // Times between ticks, long ago, and after the time of the call.
                    1 => source.time = random.number(),
                    2 => (source.time, source.v, source.a, source.jerk) = (-300.0, [1e-3; 3], [1e-6; 3], [0.0; 3]),
                    3 => source.time = 3.0,
                    // Another identity, which may be taken; none; no mass.
                    4 => source.index = random.below(24) as i32,
                    5 => source.index = -1,
                    6 => source.mass = 0.0,
                    _ => {}
                }
                client.set(address, source);
            }
            match random.below(6) {
                0 => client.set_time(random.number()),
                1 => client.set_time(1.0 + random.below(64) as f64 / 64.0),
                2 => client.set_time(0.5),
                _ => {}
            }
            let nj = if random.below(4) == 0 { random.below(30) as i32 } else { 24 };
            let targets: Vec<Target> = (0..1 + random.below(5)).map(|k| random.target(k as i32 * 5 - 1)).collect();
            client.check(nj, &targets, 0.01, &format!("seed {seed}, step {step}, nj = {nj}, t = {}", client.t));
        }
    }
}

#[test]
fn the_bits_are_those_of_the_engine() {
    let mut random = Random(7);
    let mut client = Client::new();
    let clock = Clock { start: 0.0, dt_max: 0.125 };
    let ticks = |t: f64| Time((t / clock.tick()) as u64);
    let n = 500;
    let mut p = Particles::new(vec![0.0; n], vec![Vec3::zeros(); n], vec![Vec3::zeros(); n]);
    for i in 0..n {
        let mut s = random.source(i as i32);
        // Six times the sixth is not always the whole: numbers for which it is.
        s.jerk = s.jerk.map(|j| f64::from((j * 64.0) as i32) * 6.0);
        client.set(i as i32, s);
        (p.mass[i], p.pos[i], p.vel[i], p.acc[i]) = (s.mass, s.x.into(), s.v.into(), s.a.into());
        (p.jerk[i], p.time[i]) = (s.jerk.into(), ticks(s.time));
    }
    client.set_time(1.5);
    let targets: Vec<Target> = (0..48).map(|k| random.target(if k % 3 == 0 { 9999 } else { k * 10 })).collect();
    let (pos, vel): (Vec<Vec3>, Vec<Vec3>) = targets.iter().map(|t| (Vec3::from(t.x), Vec3::from(t.v))).unzip();
    let exclude: Vec<u32> = targets.iter().map(|t| if t.index < 500 { t.index as u32 } else { NO_SOURCE }).collect();
    let mut engine = EngineKind::Cpu.open(Precision::F64, 0.25, clock, 0).unwrap();
    let mut want = Forces::default();
    engine.load(&p).unwrap();
    engine.evaluate_at(ticks(1.5), Points { exclude: &exclude, pos: &pos, vel: &vel }, &mut want).unwrap();
    for (k, force) in client.forces(500, &targets, 0.0625).iter().enumerate() {
        let Force { acc, jerk, pot, .. } = force;
        assert!(Vec3::from(*acc) == want.acc[k] && Vec3::from(*jerk) == want.jerk[k] && *pot == want.pot[k], "{k}");
    }
}

/// Without softening a pair at one place has no force: it must not have been summed.
#[test]
fn a_target_feels_no_source_of_its_identity() {
    let mut client = Client::new();
    let at = |index: i32, x: f64| Source { index, mass: 1.0, x: [x, 0.0, 0.0], ..Source::default() };
    for (address, source) in [at(4, 0.0), at(9, 2.0), at(4, 0.0), at(4, 3.0)].into_iter().enumerate() {
        client.set(address as i32, source);
    }
    let target = |index: i32, x: f64| Target { index, x: [x, 0.0, 0.0], ..Target::default() };
    let forces = client.forces(4, &[target(4, 0.0), target(9, 2.0), target(7, 1.0)], 0.0);
    assert_eq!((forces[0].acc, forces[0].pot, forces[0].nearest), ([0.25, 0.0, 0.0], -0.5, 9));
    assert_eq!((forces[1].acc, forces[1].pot, forces[1].nearest), ([0.5, 0.0, 0.0], -2.0, 4));
    assert_eq!((forces[2].pot, forces[2].nearest), (-3.5, 4));
    // The namesakes are beyond the addresses of this call.
    assert_eq!(client.forces(2, &[target(4, 0.0)], 0.0)[0].acc, [0.25, 0.0, 0.0]);
}

#[test]
fn no_sources_have_no_force() {
    let mut client = Client::new();
    let nothing = [Force { acc: [0.0; 3], jerk: [0.0; 3], pot: 0.0, nearest: -1 }];
    let target = Target { index: 3, ..Target::default() };
    assert_eq!(client.forces(0, &[target], 0.0), nothing);
    assert_eq!(client.forces(50, &[target], 0.0), nothing);
    client.set(20, Source { index: 3, mass: 1.0, ..Source::default() });
    client.set(30, Source { index: -1, mass: 1.0, ..Source::default() });
    assert_eq!(client.forces(50, &[target], 0.0), nothing);
    assert_eq!(client.forces(20, &[Target { index: 5, ..target }], 0.0), nothing);
    assert!(client.forces(50, &[], 0.0).is_empty());
}

#[test]
fn arrays_may_overlap() {
    let mut random = Random(3);
    let mut client = Client::new();
    (0..10).for_each(|k| client.set(k, random.source(k)));
    client.set_time(1.0);
    let targets: Vec<Target> = (0..4).map(|k| random.target(k)).collect();
    let want = client.forces(10, &targets, 0.0);
    // One array for everything: the potential, stored last, stays.
    let index = [0, 1, 2, 3];
    let mut all: Vec<Vector> = targets.iter().map(|t| t.x).collect();
    let v: Vec<Vector> = targets.iter().map(|t| t.v).collect();
    let (id, x) = (client.id, all.as_mut_ptr());
    unsafe {
        g6calc_firsthalf(id, 10, 4, index.as_ptr(), x, v.as_ptr(), x, x, x.cast(), 0.0, x.cast());
        assert_eq!(g6calc_lasthalf(id, 10, 4, index.as_ptr(), x, v.as_ptr(), 0.0, null(), x, x, x.cast()), 0);
    }
    assert_eq!(all[0], [want[0].pot, want[1].pot, want[2].pot]);
    assert_eq!(all[1], [want[3].pot, want[1].jerk[1], want[1].jerk[2]]);
    assert_eq!(all[2..], [want[2].jerk, want[3].jerk]);
}

#[test]
fn a_client_can_read_its_sources_back() {
    // Of the open cluster with the lowest number: no other test has a negative one.
    assert_eq!(unsafe { g6::ffi::g6_open(-7) }, 0);
    let mut client = Client { id: -7, t: 0.0, sources: [].into() };
    let source = Random(5).source(77);
    client.set(12, source);
    client.set_time(1.5);
    let (mut vectors, mut numbers, mut index) = ([[0.0; 3]; 6], [0.0; 2], 0);
    let [x, v, a, j, px, pv] = vectors.each_mut().map(std::ptr::from_mut);
    let [m, eps2] = numbers.each_mut().map(std::ptr::from_mut);
    assert_eq!(unsafe { get_j_part_data(12, 13, x, v, a, j, px, pv, m, eps2, &mut index) }, 0);
    assert_eq!((vectors[0], vectors[1], vectors[2]), (source.x, source.v, source.a));
    assert_eq!((numbers[0], index), (source.mass, 77));
    let (x, v) = source.at(1.5);
    for k in 0..3 {
        assert!((vectors[3][k] - source.jerk[k]).abs() < 1e-15);
        assert!((vectors[4][k] - x[k]).abs() < 1e-14 && (vectors[5][k] - v[k]).abs() < 1e-14);
    }
}

#[test]
fn the_number_of_pipelines_is_a_grapes() {
    assert_eq!(unsafe { (g6_npipes(), g6_npipes_(), g6_set_tunit()) }, (48, 48, 0));
}
