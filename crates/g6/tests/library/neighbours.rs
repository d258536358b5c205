//! Promise: neighbour lists have the identities within the radius, in order, and say when there is no room for them.

use crate::model::{Client, Random, Target, square};
use g6::ffi::{Vector, g6_get_neighbour_list, g6_get_neighbour_list_, g6_read_neighbour_list, g6calc_lasthalf2np};
use std::ptr::null;

fn list(client: &Client, k: i32, room: usize) -> (i32, Vec<i32>) {
    let (mut n, mut list) = (-9, vec![-9; room + 1]);
    let code = unsafe { g6_get_neighbour_list(client.id, k, room as i32, &mut n, list.as_mut_ptr()) };
    assert_eq!(list[room], -9, "written beyond the room");
    list.truncate(n as usize);
    (code, list)
}

#[test]
fn lists_have_what_is_within_the_radius() {
    let mut random = Random(11);
    let mut client = Client::new();
    (0..200).for_each(|k| client.set(k, random.source(1000 - k)));
    client.set_time(1.0 / 3.0);
    let mut targets: Vec<Target> = (0..30).map(|k| random.target(1000 - k)).collect();
    targets.iter_mut().enumerate().for_each(|(k, t)| t.h2 = 0.02 * k as f64);
    // The softening is not part of the distance.
    client.forces(200, &targets, 1.0);
    assert_eq!(unsafe { g6_read_neighbour_list(client.id) }, 0);
    let mut longest = 0;
    for (k, target) in targets.iter().enumerate() {
        let inside = |x: Vector| square([0, 1, 2].map(|k| x[k] - target.x[k])) < target.h2;
        let near = client.taken(200).filter(|s| s.0 != target.index && inside(s.2));
        let mut want: Vec<i32> = near.map(|s| s.0).collect();
        want.sort_unstable();
        longest = longest.max(want.len());
        assert_eq!(list(&client, k as i32, 200), (0, want));
    }
    assert!(longest > 20, "{longest}");
}

#[test]
fn a_list_without_room_is_cut_and_says_so() {
    let mut random = Random(12);
    let mut client = Client::new();
    (0..50).for_each(|k| client.set(k, random.source(k)));
    let target = Target { h2: 1e6, ..random.target(20) };
    client.forces(50, &[target], 0.0);
    let whole = list(&client, 0, 49);
    assert!(whole.0 == 0 && whole.1.len() == 49 && !whole.1.contains(&20));
    assert_eq!(list(&client, 0, 48), (1, whole.1[..48].to_vec()));
    assert_eq!(list(&client, 0, 0), (1, Vec::new()));
    let (id, pipe, room, mut n, mut all) = (client.id, 0, 49, 0, vec![0; 49]);
    assert_eq!(unsafe { g6_get_neighbour_list_(&id, &pipe, &room, &mut n, all.as_mut_ptr()) }, 0);
    assert!(n == 49 && all == whole.1);
}

#[test]
fn the_distance_of_the_nearest_is_softened() {
    let mut client = Client::new();
    let mut random = Random(13);
    (0..5).for_each(|k| client.set(k, random.source(k)));
    client.set_time(1.0);
    let target = Target { h2: 1e6, ..random.target(9) };
    let force = &client.forces(5, &[target], 0.5)[0];
    let (mut acc, mut jerk, mut pot, mut nnb, mut rnnb) = ([0.0; 3], [0.0; 3], 0.0, 0, 0.0);
    let out = (&raw mut acc, &raw mut jerk, &raw mut pot, &raw mut nnb, &raw mut rnnb);
    let code = unsafe {
        g6calc_lasthalf2np(client.id, 5, 1, null(), null(), null(), 0.5, null(), out.0, out.1, out.2, out.3, out.4)
    };
    assert_eq!((code, acc, nnb), (0, force.acc, force.nearest));
    let x = client.sources[&nnb].at(1.0).0;
    let r = (square([0, 1, 2].map(|k| x[k] - target.x[k])) + 0.5).sqrt();
    assert!((f64::from(rnnb) / r - 1.0).abs() < 1e-6, "{rnnb} {r}");
    assert_eq!(list(&client, 0, 5).1.len(), 5);
}
