//! Promise: whatever a client passes, it gets an error code; nothing stops, and no old forces are left for it.

use crate::model::{Client, Random, Source, Target};
use g6::failure::Code;
use g6::ffi::{
    Vector, g6_close, g6_get_neighbour_list, g6_open, g6_open_, g6_read_neighbour_list, g6_reset, g6_set_j_particle,
    g6_set_j_particle_, g6_set_ti, g6calc_firsthalf, g6calc_lasthalf, g6calc_lasthalf2, get_j_part_data,
};
use std::ptr::{null, null_mut};

const ZERO: Vector = [0.0; 3];
const NAN: Vector = [0.0, f64::NAN, 0.0];

/// Calls both halves with these numbers of sources and targets. Returns the code and a force that is left: NaN if nothing
/// is left of any, infinite if it was computed so.
fn call(id: i32, nj: i32, ni: i32, x: *const Vector, v: *const Vector, eps2: f64) -> (i32, f64) {
    let index = [5; 8];
    let (mut acc, mut jerk, mut pot, mut nnb) = ([[1.0; 3]; 8], [[1.0; 3]; 8], [1.0; 8], [3; 8]);
    let code = unsafe {
        g6calc_firsthalf(id, nj, ni, index.as_ptr(), x, v, null(), null(), null(), eps2, null());
        let out = (acc.as_mut_ptr(), jerk.as_mut_ptr(), pot.as_mut_ptr(), nnb.as_mut_ptr());
        g6calc_lasthalf2(id, nj, ni, index.as_ptr(), x, v, eps2, null(), out.0, out.1, out.2, out.3)
    };
    let forgotten = acc[0][0].is_nan() && jerk[7][2].is_nan() && pot[7].is_nan() && nnb == [-1; 8];
    (code, if forgotten || acc[0][0].is_finite() { acc[0][0] } else { f64::INFINITY })
}

fn is_failure((code, left): (i32, f64), expected: Code) -> bool {
    code == expected as i32 && left.is_nan()
}

#[test]
fn a_closed_cluster_is_an_error() {
    let (id, x) = (12_345, [ZERO; 8]);
    let closed = Code::Closed as i32;
    unsafe {
        assert_eq!((g6_close(id), g6_open(id), g6_close(id)), (closed, 0, 0));
        assert_eq!((g6_close(id), g6_reset(id), g6_set_ti(id, 0.0)), (closed, closed, closed));
        assert_eq!(g6_set_j_particle(id, 0, 0, 0.0, 0.0, 1.0, &ZERO, &ZERO, &ZERO, &ZERO, &ZERO), closed);
        assert_eq!(g6_read_neighbour_list(id), closed);
    }
    assert!(is_failure(call(id, 1, 8, x.as_ptr(), x.as_ptr(), 0.0), Code::Closed));
}

#[test]
fn impossible_arguments_are_errors() {
    let mut client = Client::new();
    client.set(0, Random(1).source(1));
    let (id, x, far) = (client.id, [ZERO; 8], [[1e60; 3]; 8]);
    let ok = x.as_ptr();
    assert_eq!(call(id, 1, 8, ok, ok, 0.0).0, 0);
    assert!(is_failure(call(id, -1, 8, ok, ok, 0.0), Code::Argument));
    assert!(is_failure(call(id, 1, 8, null(), ok, 0.0), Code::Argument));
    assert!(is_failure(call(id, 1, 8, ok, null(), 0.0), Code::Argument));
    assert!(is_failure(call(id, 1, 8, [NAN; 8].as_ptr(), ok, 0.0), Code::Number));
    assert!(is_failure(call(id, 1, 8, ok, [NAN; 8].as_ptr(), 0.0), Code::Number));
    assert!(is_failure(call(id, 1, 8, far.as_ptr(), ok, 0.0), Code::Number));
    for eps2 in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(is_failure(call(id, 1, 8, ok, ok, eps2), Code::Number), "{eps2}");
    }
    // Nothing can be stored for these.
    for ni in [-1, i32::MIN, i32::MAX, 131_073] {
        assert_eq!(call(id, 1, ni, ok, ok, 0.0), (Code::Argument as i32, 1.0), "ni = {ni}");
    }
    assert_eq!(call(id, i32::MAX, 8, ok, ok, 0.0).0, 0, "addresses beyond the last source are empty");
    unsafe {
        let argument = Code::Argument as i32;
        assert_eq!(
            g6calc_lasthalf(id, 1, 8, null(), ok, ok, 0.0, null(), null_mut(), null_mut(), null_mut()),
            argument
        );
        assert_eq!(g6_open_(null()), argument);
        let (mut n, mut list) = (0, [0; 4]);
        assert_eq!(g6_get_neighbour_list(id, 8, 4, &mut n, list.as_mut_ptr()), argument);
        assert_eq!(g6_get_neighbour_list(id, -1, 4, &mut n, list.as_mut_ptr()), argument);
        assert_eq!(g6_get_neighbour_list(id, 0, -1, &mut n, list.as_mut_ptr()), argument);
        assert_eq!(g6_get_neighbour_list(id, 0, 4, null_mut(), null_mut()), argument);
        let nowhere = null_mut::<Vector>();
        let [numbers, index] = [null_mut(), null_mut()];
        let data = |address| {
            get_j_part_data(
                address,
                1,
                nowhere,
                nowhere,
                nowhere,
                nowhere,
                nowhere,
                nowhere,
                numbers,
                numbers,
                index.cast(),
            )
        };
        assert!(data(0) < 0 && data(-1) < 0 && data(99) < 0);
    }
}

#[test]
fn second_halves_need_their_first() {
    let client = Client::new();
    let (id, x) = (client.id, [ZERO; 8]);
    let last = |ni: i32| {
        let (mut acc, mut jerk, mut pot) = ([[1.0; 3]; 8], [[1.0; 3]; 8], [1.0; 8]);
        let out = (acc.as_mut_ptr(), jerk.as_mut_ptr(), pot.as_mut_ptr());
        let code = unsafe { g6calc_lasthalf(id, 0, ni, null(), null(), null(), 0.0, null(), out.0, out.1, out.2) };
        (code, acc[0][0])
    };
    assert!(is_failure(last(8), Code::Argument));
    assert!(unsafe { g6_read_neighbour_list(id) } < 0);
    assert_eq!(call(id, 0, 8, x.as_ptr(), x.as_ptr(), 0.0), (0, 0.0));
    // The same forces as often as they are wanted, but for the targets that were given.
    assert_eq!((last(8), last(8)), ((0, 0.0), (0, 0.0)));
    assert!(is_failure(last(7), Code::Argument));
    assert_eq!(unsafe { g6_reset(id) }, 0);
    assert!(is_failure(last(8), Code::Argument));
}

#[test]
fn a_source_that_is_refused_is_missed() {
    let mut client = Client::new();
    let good = Random(2).source(1);
    client.set(0, good);
    client.set(1, Source { index: 2, ..good });
    let id = client.id;
    let set = |address: i32, t: f64, m: f64, v: [&Vector; 5]| unsafe {
        g6_set_j_particle(id, address, 2, t, 0.0, m, v[0], v[1], v[2], v[3], v[4])
    };
    let target = [ZERO; 8];
    let forces = |nj: i32| call(id, nj, 8, target.as_ptr(), target.as_ptr(), 0.0);
    let far = [0.0, 0.0, 1e80];
    for (t, m, v) in [
        (f64::NAN, 1.0, [&ZERO; 5]),
        (0.0, f64::INFINITY, [&ZERO; 5]),
        (0.0, 1e100, [&ZERO; 5]),
        (0.0, 1.0, [&NAN, &ZERO, &ZERO, &ZERO, &ZERO]),
        (0.0, 1.0, [&ZERO, &NAN, &ZERO, &ZERO, &ZERO]),
        (0.0, 1.0, [&ZERO, &ZERO, &NAN, &ZERO, &ZERO]),
        (0.0, 1.0, [&ZERO, &ZERO, &ZERO, &NAN, &ZERO]),
        (0.0, 1.0, [&ZERO, &ZERO, &ZERO, &ZERO, &NAN]),
        (0.0, 1.0, [&ZERO, &ZERO, &ZERO, &ZERO, &far]),
    ] {
        assert_eq!(set(1, t, m, v), Code::Number as i32);
        // The call that would take it fails; one that would not does not.
        assert!(is_failure(forces(2), Code::Argument));
        assert_eq!(forces(1).0, 0);
        assert_eq!(set(1, 0.0, 1.0, [&ZERO, &ZERO, &ZERO, &ZERO, &[1.0; 3]]), 0);
        assert_eq!(forces(2).0, 0);
    }
    for address in [-1, i32::MIN, 1 << 23, i32::MAX] {
        assert_eq!(set(address, 0.0, 1.0, [&ZERO; 5]), Code::Argument as i32, "{address}");
    }
    let (at, number) = (0, 1.0);
    let none = null::<Vector>();
    let code = unsafe {
        g6_set_j_particle_(&id, &at, &at, &number, &number, null(), &ZERO, &ZERO, &ZERO, &ZERO, &ZERO)
            + g6_set_j_particle_(&id, &at, &at, &number, &number, &number, &ZERO, &ZERO, &ZERO, none, &ZERO)
    };
    assert_eq!(code, 2 * Code::Argument as i32);
}

#[test]
fn a_time_that_is_no_number_is_an_error_until_it_is_one() {
    let mut client = Client::new();
    client.set(0, Random(2).source(1));
    let x = [ZERO; 8];
    assert_eq!(unsafe { g6_set_ti(client.id, f64::NAN) }, Code::Number as i32);
    assert!(is_failure(call(client.id, 1, 8, x.as_ptr(), x.as_ptr(), 0.0), Code::Number));
    client.set_time(1.0);
    assert_eq!(call(client.id, 1, 8, x.as_ptr(), x.as_ptr(), 0.0).0, 0);
}

#[test]
fn a_force_that_is_not_finite_is_an_error() {
    let mut client = Client::new();
    client.set(0, Source { index: 1, mass: 1.0, ..Source::default() });
    let x = [ZERO; 8];
    let (code, force) = call(client.id, 1, 8, x.as_ptr(), x.as_ptr(), 0.0);
    assert_eq!((code, force), (Code::Number as i32, f64::INFINITY));
    client.check(1, &[Target { index: 5, ..Target::default() }], 0.25, "softened");
}

#[test]
fn opening_again_starts_anew() {
    let mut client = Client::new();
    client.set(0, Random(2).source(1));
    client.set_time(4.0);
    assert_eq!(unsafe { g6_open(client.id) }, 0);
    client.sources.clear();
    client.t = 0.0;
    client.check(1, &[Target::default()], 0.0, "empty");
}
