//! Promise: clusters know nothing of one another, and any number of threads may use them.

use crate::model::{Client, Random, Target};

fn filled(seed: u64) -> (Client, Vec<Target>) {
    let mut random = Random(seed);
    let mut client = Client::new();
    (0..200).for_each(|k| client.set(k, random.source(k)));
    client.set_time(1.0);
    (client, (0..20).map(|k| random.target(k)).collect())
}

#[test]
fn clusters_are_independent() {
    let (mut one, targets) = filled(1);
    let (mut other, _) = filled(2);
    one.check(200, &targets, 0.0, "one");
    other.set_time(2.0);
    other.set(5, Random(9).source(5));
    one.set_time(1.5);
    one.check(200, &targets, 0.1, "one");
    other.check(150, &targets, 0.0, "other");
    drop(one);
    other.check(200, &targets, 0.0, "other alone");
}

#[test]
fn threads_share_a_cluster_and_have_their_own() {
    let (shared, _) = filled(3);
    let want: Vec<_> = (0..200).map(|k| Target { index: k, x: shared.sources[&k].x, ..Target::default() }).collect();
    std::thread::scope(|scope| {
        for seed in 0..4 {
            scope.spawn(move || {
                let (own, targets) = filled(10 + seed);
                for _ in 0..20 {
                    own.check(200, &targets, 0.0, "own");
                }
            });
            // Both halves are two calls: threads that share a cluster ask for the same forces.
            let (shared, want) = (&shared, &want);
            scope.spawn(move || (0..20).for_each(|_| shared.check(200, want, 0.01, "shared")));
        }
    });
}
