//! Promise: stopping conditions end an evolution where they are met, and no contact is passed over, however long the steps.

use proptest::prelude::*;
use tisane_amuse::code::Code;
use tisane_amuse::contacts::Contacts;
use tisane_amuse::functions::{Table, functions};
use tisane_amuse::message::Message;
use tisane_amuse::serve::answer;
use tisane_amuse::stopping::kind::{COLLISION, OUT_OF_BOX, PAIR, STEPS, TIMEOUT};

const ESCAPER: i32 = 2;

#[derive(Default)]
struct Amuse {
    code: Code,
    table: Table,
}

impl Amuse {
    fn call(&mut self, name: &str, ints: &[i32], doubles: &[f64]) -> Message {
        let function = functions().find(|function| function.name == name).expect("a function").id();
        let (ints, doubles) = (ints.to_vec(), doubles.to_vec());
        let message = Message { function, count: 1, ints, doubles, ..Message::default() };
        let reply = answer(&mut self.code, &self.table, &message);
        assert!(!reply.error, "{name}: {:?}", reply.strings);
        reply
    }

    fn add(&mut self, mass: f64, pos: [f64; 3], vel: [f64; 3], radius: f64) {
        self.call("new_particle", &[], &[[mass].as_slice(), &pos, &vel, &[radius]].concat());
    }

    fn enable(&mut self, kind: i32) {
        assert_eq!(self.call("enable_stopping_condition", &[kind], &[]).ints, [0]);
    }

    fn is_set(&mut self, kind: i32) -> bool {
        self.call("is_stopping_condition_set", &[kind], &[]).ints == [0, 1]
    }

    fn time(&mut self) -> f64 {
        self.call("get_time", &[], &[]).doubles[0]
    }

    fn evolve(&mut self, time: f64) -> f64 {
        self.call("evolve_model", &[], &[time]);
        self.time()
    }

    /// Particles of the conditions that are set.
    fn met(&mut self) -> Vec<(i32, Vec<i32>)> {
        let number = self.call("get_number_of_stopping_conditions_set", &[], &[]).ints[1];
        (0..number)
            .map(|k| {
                let info = self.call("get_stopping_condition_info", &[k], &[]).ints;
                let name = |column| self.call("get_stopping_condition_particle_index", &[k, column], &[]).ints[1];
                (info[1], (0..info[2]).map(name).collect())
            })
            .collect()
    }

    fn distance(&mut self) -> f64 {
        let [a, b] = [1, 2].map(|index| self.call("get_position", &[index], &[]).doubles);
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }
}

#[test]
fn a_bullet_is_not_passed_over() {
    // They are in contact for 4e-5 at about t = 0.3, and their steps, which the third body decides, are longer by far.
    let mut amuse = Amuse::default();
    amuse.add(1e-12, [0.0; 3], [0.0; 3], 1e-3);
    amuse.add(1e-12, [-30.01, 1e-4, 0.0], [100.0, 0.0, 0.0], 1e-3);
    amuse.add(1.0, [0.0, 40.0, 0.0], [0.0; 3], 0.0);
    amuse.enable(COLLISION);
    let time = amuse.evolve(1.0);
    assert!((time - 0.3001).abs() < 2.1e-5, "stopped at {time}");
    assert!(amuse.is_set(COLLISION) && !amuse.is_set(PAIR));
    assert_eq!(amuse.met(), [(COLLISION, vec![1, 2])]);
    assert_eq!(amuse.call("get_indices_of_colliding_particles", &[], &[]).ints, [0, 1, 2]);
    let distance = amuse.distance();
    assert!(distance < 2e-3 && distance > 1.9e-3, "a distance of {distance}");
    // The bodies stay as they are, and an evolution that is asked for again goes on: the contact is over by the next step.
    assert_eq!(amuse.evolve(1.0), 1.0);
    assert!(!amuse.is_set(COLLISION));
}

#[test]
fn a_contact_that_lasts_is_reported_again_after_each_step() {
    let mut amuse = Amuse::default();
    amuse.add(0.5, [0.01, 0.0, 0.0], [0.0, 5.0, 0.0], 0.1);
    amuse.add(0.5, [-0.01, 0.0, 0.0], [0.0, -5.0, 0.0], 0.1);
    amuse.enable(COLLISION);
    let mut before = 0.0;
    for _ in 0..5 {
        let time = amuse.evolve(1.0);
        assert!(amuse.is_set(COLLISION) && time > before && time < 0.1, "stopped at {time} after {before}");
        before = time;
    }
    // Before the first block step too, where an evolution is shorter than that.
    let time = amuse.evolve(before + 1e-9);
    assert!(amuse.is_set(COLLISION) && time == before + 1e-9);
}

#[test]
fn a_pair_must_be_bound() {
    for (velocity, bound) in [(2.0, false), (1.0, true)] {
        let mut amuse = Amuse::default();
        for sign in [-1.0, 1.0] {
            // At a distance of 0.5 the speed of escape is 2.
            amuse.add(0.5, [0.25 * sign, 0.0, 0.0], [0.0, 0.51 * velocity * sign, 0.0], 0.3);
        }
        amuse.enable(PAIR);
        let time = amuse.evolve(0.125);
        assert_eq!((amuse.is_set(PAIR), time < 0.125), (bound, bound), "velocity {velocity}");
        assert!(!amuse.is_set(COLLISION), "not enabled");
    }
}

#[test]
fn steps_and_wall_clock_time_end_an_evolution() {
    let mut amuse = Amuse::default();
    amuse.add(0.5, [0.5, 0.0, 0.0], [0.0, 0.5, 0.0], 0.0);
    amuse.add(0.5, [-0.5, 0.0, 0.0], [0.0, -0.5, 0.0], 0.0);
    amuse.enable(STEPS);
    amuse.call("set_stopping_condition_number_of_steps_parameter", &[3], &[]);
    let time = amuse.evolve(1e3);
    assert!(amuse.is_set(STEPS) && time > 0.0 && time < 1.0, "stopped at {time}");
    assert_eq!(amuse.met(), [(STEPS, vec![])]);
    amuse.call("disable_stopping_condition", &[STEPS], &[]);
    amuse.enable(TIMEOUT);
    amuse.call("set_stopping_condition_timeout_parameter", &[], &[0.0]);
    let later = amuse.evolve(1e12);
    assert!(amuse.is_set(TIMEOUT) && !amuse.is_set(STEPS) && later > time && later < 1e3, "stopped at {later}");
}

#[test]
fn leaving_the_box_ends_an_evolution() {
    for (at_centre_of_mass, out) in [(false, 2), (true, 1)] {
        let mut amuse = Amuse::default();
        amuse.add(1e-9, [0.0; 3], [0.0; 3], 0.0);
        amuse.add(1.0, [1.5, 0.0, 0.0], [1.0, 0.0, 0.0], 0.0);
        amuse.enable(OUT_OF_BOX);
        amuse.call("set_stopping_condition_out_of_box_parameter", &[], &[2.0]);
        let function = "set_stopping_condition_out_of_box_use_center_of_mass_parameter";
        let id = functions().find(|f| f.name == function).expect("a function").id();
        let message = Message { function: id, count: 1, bools: vec![at_centre_of_mass], ..Message::default() };
        assert!(!answer(&mut amuse.code, &amuse.table, &message).error);
        let time = amuse.evolve(1.0);
        assert_eq!(amuse.met(), [(OUT_OF_BOX, vec![out])], "the centre of mass: {at_centre_of_mass}");
        assert!(time > 0.5 && time < 1.0, "stopped at {time}");
    }
}

#[test]
fn the_others_are_not_supported() {
    let mut amuse = Amuse::default();
    for kind in [-1, ESCAPER, 6, 7, 8, 9, 10, i32::MAX, i32::MIN] {
        assert_eq!(amuse.call("has_stopping_condition", &[kind], &[]).ints, [0, 0], "{kind}");
        assert_eq!(amuse.call("enable_stopping_condition", &[kind], &[]).ints, [-1], "{kind}");
        assert_eq!(amuse.call("is_stopping_condition_enabled", &[kind], &[]).ints, [0, 0], "{kind}");
    }
    for kind in [COLLISION, PAIR, TIMEOUT, STEPS, OUT_OF_BOX] {
        assert_eq!(amuse.call("has_stopping_condition", &[kind], &[]).ints, [0, 1], "{kind}");
    }
    assert_eq!(amuse.call("get_stopping_condition_info", &[0], &[]).ints[0], -1);
    assert_eq!(amuse.call("get_stopping_condition_particle_index", &[0, -1], &[]).ints[0], -1);
}

#[test]
fn ids_are_those_that_amuse_computes() {
    let known = [
        ("evolve_model", 416_721_977),
        ("new_particle", 290_264_013),
        ("get_state", 967_950_880),
        ("commit_particles", 20_920_053),
        ("get_time", 44_188_957),
    ];
    for (name, id) in known {
        assert_eq!(functions().find(|function| function.name == name).expect("a function").id(), id, "{name}");
    }
    let mut ids: Vec<i32> = functions().map(|function| function.id()).collect();
    ids.sort_unstable();
    assert!(ids[0] > 0, "an id without an absolute value, or that of the end");
    ids.dedup();
    assert_eq!(ids.len(), functions().count(), "two functions have one id");
}

proptest! {
    /// Pairs of the search are those of a comparison of all with all at many moments.
    #[test]
    fn verify_contacts_are_those_of_all_pairs(
        points in prop::collection::vec((prop::array::uniform3(-1.0..1.0f64), prop::array::uniform3(-1.0..1.0f64), 0.0..0.2f64), 2..12),
    ) {
        let (from, to): (Vec<_>, Vec<_>) = points.iter().map(|point| (point.0, point.1)).unzip();
        let radius: Vec<f64> = points.iter().map(|point| point.2).collect();
        let found = Contacts::default().find([&from, &to], &radius);
        for i in 0..points.len() {
            for j in i + 1..points.len() {
                let distance = |s: f64| {
                    let apart = |k: usize| (from[i][k] - from[j][k]) * (1.0 - s) + (to[i][k] - to[j][k]) * s;
                    (0..3).map(|k| apart(k) * apart(k)).sum::<f64>().sqrt()
                };
                let sum = radius[i] + radius[j];
                let contact = found.iter().find(|contact| contact.rows == [i, j]);
                let first = (0..=1000).map(|k| f64::from(k) / 1000.0).find(|&s| distance(s) < sum - 1e-9);
                match (contact, first) {
                    (Some(contact), Some(first)) => prop_assert!((0.0..=1e-3).contains(&(first - contact.begin))),
                    (Some(contact), None) => prop_assert!(distance(contact.closest) > sum - 1e-5),
                    (None, first) => prop_assert_eq!(first, None),
                }
                if let Some(contact) = contact {
                    prop_assert!((distance(contact.begin) - contact.distance).abs() < 1e-9);
                    prop_assert!(distance(contact.closest) <= distance(contact.begin) + 1e-12);
                }
            }
        }
    }
}
