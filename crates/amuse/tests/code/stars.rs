//! Promise: particles of AMUSE age in the worker by their tracks, through changes of particles and parameters.

use tisane_amuse::code::Code;
use tisane_amuse::functions::{Table, functions};
use tisane_amuse::message::Message;
use tisane_amuse::serve::answer;

/// N-body units: 41 solar masses, 1 parsec.
const MASS: f64 = 41.0;

struct Amuse {
    code: Code,
    table: Table,
}

impl Amuse {
    /// Three stars at rest far from each other, of which the first becomes a black hole within 8 Myr.
    fn with_stars() -> Self {
        let mut code = Code::default();
        code.parameters.stellar_evolution = "metallicity = 0.02\nblack_hole_kicks = \"none\"".to_owned();
        (code.parameters.unit_of_mass, code.parameters.unit_of_length) = (MASS, 1.0);
        let mut amuse = Self { code, table: Table::default() };
        for (mass, place) in [(25.0, [-1.0, 0.0, 0.0]), (1.0, [1.0, 0.0, 0.0]), (15.0, [0.0, 2.0, 0.0])] {
            amuse.call("new_particle", &[], &[[mass / MASS].as_slice(), &place, &[0.0; 3], &[0.0]].concat());
        }
        amuse
    }

    fn send(&mut self, name: &str, ints: &[i32], doubles: &[f64]) -> Message {
        let function = functions().find(|function| function.name == name).expect("a function").id();
        let (ints, doubles) = (ints.to_vec(), doubles.to_vec());
        answer(&mut self.code, &self.table, &Message { function, count: 1, ints, doubles, ..Message::default() })
    }

    fn call(&mut self, name: &str, ints: &[i32], doubles: &[f64]) -> Message {
        let reply = self.send(name, ints, doubles);
        assert!(!reply.error, "{name}: {:?}", reply.strings);
        reply
    }

    fn of(&mut self, name: &str, index: i32) -> f64 {
        self.call(name, &[index], &[]).doubles[0]
    }

    fn kind(&mut self, index: i32) -> i32 {
        self.call("get_stellar_type", &[index], &[]).ints[1]
    }

    /// Unit of time, in Myr.
    fn myr(&self) -> f64 {
        self.code.parameters.sizes().unwrap().time
    }
}

#[test]
fn stars_age_and_have_their_masses_and_radii() {
    let mut amuse = Amuse::with_stars();
    let myr = amuse.myr();
    // √(pc³ / (G 41 Msun)).
    assert!((myr - (1.0 / (4.498_502e-3 * MASS)).sqrt()).abs() < 1e-5, "{myr}");
    amuse.call("commit_particles", &[], &[]);
    assert_eq!([1, 2, 3].map(|index| amuse.kind(index)), [1; 3]);
    assert!((amuse.of("get_radius", 2) - 0.888 * 2.2547e-8).abs() < 1e-10, "in parsecs");
    amuse.call("evolve_model", &[], &[8.0 / myr]);
    assert_eq!([1, 2, 3].map(|index| amuse.kind(index)), [14, 1, 1]);
    let left = amuse.of("get_mass", 1) * MASS;
    assert!((left - 7.491).abs() < 0.01 && (amuse.of("get_core_mass", 1) - left).abs() < 1e-9, "{left}");
    assert_eq!(amuse.of("get_initial_mass", 1), 25.0);
    assert!(amuse.of("get_luminosity", 3) > 2e4 && amuse.of("get_temperature", 3) > 2e4);
}

#[test]
fn tracks_go_on_through_changes() {
    let (mut changed, mut plain) = (Amuse::with_stars(), Amuse::with_stars());
    let myr = plain.myr();
    plain.call("evolve_model", &[], &[13.0 / myr]);
    changed.call("evolve_model", &[], &[5.0 / myr]);
    changed.code.parameters.nu = 0.005;
    changed.call("recommit_parameters", &[], &[]);
    changed.call("evolve_model", &[], &[9.0 / myr]);
    changed.call("set_velocity", &[2], &[0.0, 0.1, 0.0]);
    let mass = changed.of("get_mass", 3);
    // What converting units there and back leaves.
    changed.call("set_mass", &[3], &[mass * (1.0 + 3e-16)]);
    let new = changed.call("new_particle", &[], &[3.0 / MASS, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.0]).ints[1];
    changed.call("delete_particle", &[1], &[]);
    changed.call("evolve_model", &[], &[13.0 / myr]);
    assert_eq!([2, 3, new].map(|index| changed.kind(index)), [1, plain.kind(3), 1]);
    for name in ["get_initial_mass", "get_luminosity", "get_core_mass"] {
        let [found, expected] = [&mut changed, &mut plain].map(|amuse| amuse.of(name, 3));
        assert!((found - expected).abs() <= 1e-9 * expected, "{name}: {found}, {expected}");
    }
    assert!((changed.of("get_age", new) - 4.0).abs() < 1e-3, "it was born at 9 Myr");
    changed.call("set_mass", &[2], &[5.0 / MASS]);
    let refused = changed.send("evolve_model", &[], &[14.0 / myr]);
    assert!(refused.error && refused.strings[0].contains("by its track"), "{:?}", refused.strings);
    let refused = changed.send("set_begin_time", &[], &[1.0]);
    assert!(refused.error && refused.strings[0].contains("begin_time cannot change any more"), "{:?}", refused.strings);
}

#[test]
fn the_time_reached_is_the_one_that_was_given() {
    let mut amuse = Amuse::with_stars();
    amuse.call("set_begin_time", &[], &[0.037]);
    // Beginning with that of the start. Of such times one in eleven or so differs when it is converted to Myr and back.
    let times: Vec<f64> = (0..60).map(|k| 0.037 + 0.1037 * f64::from(k)).collect();
    let myr = amuse.myr();
    let changes = |compare: fn(f64, f64) -> bool| times.iter().any(|&time| compare(time * myr / myr, time));
    assert!(changes(|back, time| back < time) && changes(|back, time| back > time), "the times show nothing");
    for time in times {
        for _ in 0..2 {
            amuse.call("evolve_model", &[], &[time]);
            assert_eq!(amuse.call("get_time", &[], &[]).doubles, [time]);
        }
    }
}

#[test]
fn any_longest_step_can_follow_another_one() {
    let mut amuse = Amuse::with_stars();
    amuse.call("evolve_model", &[], &[1.0]);
    for (k, (integrator, dt_max)) in
        [("hermite4", 0.0625), ("hermite4", 0.25), ("hermite4", 0.1), ("leapfrog", 0.01), ("multipoint6", 0.123)]
            .into_iter()
            .enumerate()
    {
        amuse.code.parameters.integrator = integrator.to_owned();
        amuse.call("set_dt_max", &[], &[dt_max]);
        amuse.call("recommit_parameters", &[], &[]);
        let time = 1.0 + 0.37 * (k + 1) as f64;
        amuse.call("evolve_model", &[], &[time]);
        assert_eq!(amuse.call("get_time", &[], &[]).doubles, [time]);
    }
}

#[test]
fn units_and_stars_stay_once_stars_have_begun_to_age() {
    let mut amuse = Amuse::with_stars();
    amuse.call("evolve_model", &[], &[1.0]);
    let before = amuse.code.parameters.clone();
    let mut refused = |change: fn(&mut tisane_amuse::parameters::Parameters), expected: &str| {
        change(&mut amuse.code.parameters);
        let reply = amuse.send("recommit_parameters", &[], &[]);
        assert!(reply.error && reply.strings[0].contains(expected), "{expected}: {:?}", reply.strings);
        amuse.code.parameters = before.clone();
    };
    refused(|of| of.unit_of_length = 4.0, "are 41 and 4, and were 41 and 1: they cannot change any more");
    refused(|of| of.unit_of_mass = 40.0, "are 40 and 1, and were 41 and 1");
    refused(|of| of.stellar_evolution.clear(), "stars can neither begin nor cease to age any more");
    refused(|of| of.stellar_evolution = "metallicity = 0.001".to_owned(), "cannot change any more");
    // As they were, they are good.
    amuse.call("recommit_parameters", &[], &[]);
    amuse.call("evolve_model", &[], &[2.0]);
}

#[test]
fn what_stars_that_age_need_is_said() {
    let mut amuse = Amuse::with_stars();
    amuse.code.parameters.unit_of_length = 0.0;
    let refused = amuse.send("commit_parameters", &[], &[]);
    assert!(refused.error && refused.strings[0].contains("make the code with a converter"), "{:?}", refused.strings);
    let mut plain = Amuse { code: Code::default(), table: Table::default() };
    plain.call("new_particle", &[], &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let refused = plain.send("get_luminosity", &[1], &[]);
    assert!(refused.error && refused.strings[0].contains("stars do not age"), "{:?}", refused.strings);
}
