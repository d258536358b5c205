//! Promise: the worker connects to AMUSE, answers its calls, and answers a mistake with an error that says what is wrong.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::time::Duration;
use tisane_amuse::functions::functions;
use tisane_amuse::message::{Message, Order};

/// Worker that is connected to this test as to AMUSE.
struct Worker {
    process: Child,
    connection: TcpStream,
    order: Order,
}

impl Worker {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port().to_string();
        let mut command = Command::new(env!("CARGO_BIN_EXE_tisane_worker"));
        let process = command.args([&port, "127.0.0.1", "false"]).spawn().expect("the worker");
        let (connection, _) = listener.accept().expect("a connection");
        connection.set_read_timeout(Some(Duration::from_secs(300))).expect("a limit");
        Self { process, connection, order: Order::Little }
    }

    fn send(&mut self, message: &Message) -> Message {
        message.write(&mut self.connection).expect("a message sent");
        let reply = Message::read(&mut self.connection).unwrap_or_else(|error| panic!("no reply: {error}"));
        assert_eq!((reply.call, reply.function, reply.order), (message.call, message.function, message.order));
        reply
    }

    fn reply(&mut self, name: &str, count: i32, ints: &[i32], doubles: &[f64], strings: &[&str]) -> Message {
        let function = functions().find(|function| function.name == name).expect("a function").id();
        let strings = strings.iter().map(|&text| text.to_owned()).collect();
        let (ints, doubles) = (ints.to_vec(), doubles.to_vec());
        self.send(&Message {
            order: self.order,
            call: 3,
            function,
            count,
            ints,
            doubles,
            strings,
            ..Message::default()
        })
    }

    /// Calls a function with one set of arguments, which must succeed; returns the outputs of type float64.
    fn call(&mut self, name: &str, ints: &[i32], doubles: &[f64]) -> Vec<f64> {
        let reply = self.reply(name, 1, ints, doubles, &[]);
        assert!(!reply.error, "{name}: {:?}", reply.strings);
        assert_eq!(reply.ints.first(), Some(&0), "{name}: the return value");
        reply.doubles
    }

    fn number(&mut self, name: &str) -> f64 {
        self.call(name, &[], &[])[0]
    }

    fn error(&mut self, name: &str, ints: &[i32], doubles: &[f64]) -> String {
        let mut reply = self.reply(name, 1, ints, doubles, &[]);
        assert!(reply.error, "{name} succeeded");
        reply.strings.remove(0)
    }

    /// Two bodies on a circular orbit of the period 2 pi about the origin.
    fn two_bodies(&mut self) {
        for sign in [1.0, -1.0] {
            self.call("new_particle", &[], &[0.5, 0.5 * sign, 0.0, 0.0, 0.0, 0.5 * sign, 0.0, 0.01]);
        }
    }

    fn stop(mut self) {
        let reply = self.send(&Message { order: self.order, call: 9, ..Message::default() });
        assert!(!reply.error);
        assert!(self.process.wait().expect("an end").success());
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn verify_a_circular_orbit_closes() {
    for order in [Order::Little, Order::Big] {
        let mut worker = Worker::start();
        worker.order = order;
        worker.call("initialize_code", &[], &[]);
        worker.call("set_timestep_parameter", &[], &[1e-4]);
        worker.call("commit_parameters", &[], &[]);
        worker.two_bodies();
        worker.call("commit_particles", &[], &[]);
        let [kinetic, potential] = ["get_kinetic_energy", "get_potential_energy"].map(|name| worker.number(name));
        assert_eq!([kinetic, potential], [0.125, -0.25]);
        let period = 2.0 * std::f64::consts::PI;
        worker.call("evolve_model", &[], &[period]);
        assert_eq!(worker.number("get_time"), period);
        let position = worker.call("get_position", &[1], &[]);
        let off = [0.5, 0.0, 0.0].iter().zip(&position).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-6, "{position:?}");
        let energy = worker.number("get_kinetic_energy") + worker.number("get_potential_energy");
        assert!((energy / (kinetic + potential) - 1.0).abs() < 1e-9, "energy {energy}");
        worker.stop();
    }
}

#[test]
fn many_calls_in_one_message() {
    let mut worker = Worker::start();
    let columns: Vec<f64> = (0..8).flat_map(|k| [1.0, 2.0, 3.0].map(|i| i + 10.0 * f64::from(k))).collect();
    let reply = worker.reply("new_particle", 3, &[], &columns, &[]);
    assert_eq!(reply.ints, [0, 0, 0, 1, 2, 3], "return values, then indices");
    let reply = worker.reply("get_state", 3, &[3, 7, 1], &[], &[]);
    assert_eq!(reply.ints, [0, -1, 0], "there is no particle 7");
    assert_eq!(reply.doubles[..6], [3.0, 0.0, 1.0, 13.0, 0.0, 11.0], "argument by argument");
    let reply = worker.reply("delete_particle", 3, &[2, 2, 5], &[], &[]);
    assert_eq!(reply.ints, [0, -1, -1]);
    assert_eq!(worker.reply("get_number_of_particles", 1, &[], &[], &[]).ints, [0, 2]);
    assert_eq!(worker.reply("get_index_of_first_particle", 1, &[], &[], &[]).ints, [0, 1]);
    assert_eq!(worker.reply("get_index_of_next_particle", 2, &[1, 3], &[], &[]).ints, [0, 1, 3, 0]);
    worker.stop();
}

#[test]
fn field_at_points() {
    let mut worker = Worker::start();
    worker.call("new_particle", &[], &[2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    worker.call("set_eps2", &[], &[0.25]);
    let (r2, points) = (1.25f64, [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let acc = worker.reply("get_gravity_at_point", 2, &[], &points, &[]);
    let pot = worker.reply("get_potential_at_point", 2, &[], &points, &[]);
    let expected = -2.0 / (r2 * r2.sqrt());
    for (k, value) in [expected, 0.0, 0.0, expected, 0.0, 0.0].into_iter().enumerate() {
        assert!((acc.doubles[k] - value).abs() < 1e-14, "{:?}", acc.doubles);
    }
    assert!(pot.doubles.iter().all(|pot| (pot + 2.0 / r2.sqrt()).abs() < 1e-14), "{:?}", pot.doubles);
    worker.stop();
}

#[test]
fn time_goes_on_from_the_begin() {
    let mut worker = Worker::start();
    worker.call("set_begin_time", &[], &[10.0]);
    worker.two_bodies();
    assert_eq!(worker.number("get_time"), 10.0);
    worker.call("evolve_model", &[], &[10.3]);
    assert_eq!((worker.number("get_time"), worker.number("get_begin_time")), (10.3, 10.0));
    let problem = worker.error("evolve_model", &[], &[10.0]);
    assert!(problem.contains("before the present time, 10.3"), "{problem}");
    // A parameter may change between two evolutions.
    for (integrator, time) in [("multipoint6", 10.5), ("ahmad_cohen6", 10.7)] {
        let reply = worker.reply("set_integrator", 1, &[], &[], &[integrator]);
        assert_eq!((reply.error, reply.ints), (false, vec![0]));
        worker.call("recommit_parameters", &[], &[]);
        worker.call("evolve_model", &[], &[time]);
        assert_eq!(worker.number("get_time"), time);
    }
    worker.stop();
}

#[test]
fn mistakes_are_answered() {
    let mut worker = Worker::start();
    let unknown = worker.send(&Message { call: 4, function: 12345, count: 1, ..Message::default() });
    assert_eq!((unknown.error, unknown.strings), (true, vec!["unknown function id 12345".to_owned()]));
    let problem = worker.error("get_mass", &[], &[]);
    assert_eq!(problem, "get_mass takes 1 arguments of type int32 in each of 1 calls, and the message has 0 values");
    let reply = worker.reply("evolve_model", -1, &[], &[], &[]);
    assert_eq!((reply.error, reply.strings), (true, vec!["-1 calls of evolve_model".to_owned()]));
    assert!(worker.error("evolve_model", &[], &[f64::NAN]).contains("expected a finite number"));
    worker.call("set_timestep_parameter", &[], &[-1.0]);
    let problem = worker.error("commit_parameters", &[], &[]);
    assert!(problem.starts_with("timestep_parameter: "), "{problem}");
    worker.call("set_timestep_parameter", &[], &[0.01]);
    for (set, text, expected) in [
        ("set_integrator", "euler", "integrator is \"euler\": expected hermite4, multipoint6"),
        ("set_engine", "abacus", "engine: "),
        ("set_working_directory", "/nowhere/at/all", "cannot change to /nowhere/at/all"),
        ("internal__accept_on_port", "a", "no MPI"),
    ] {
        let mut reply = worker.reply(set, 1, &[], &[], &[text]);
        if !reply.error {
            reply = worker.reply("commit_parameters", 1, &[], &[], &[]);
            worker.reply(set, 1, &[], &[], &[if set == "set_engine" { "cpu" } else { "hermite4" }]);
        }
        assert!(reply.error && reply.strings[0].contains(expected), "{set}: {:?}", reply.strings);
    }
    // Two particles at one place, and then not.
    for _ in 0..2 {
        worker.call("new_particle", &[], &[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    }
    assert!(worker.error("commit_particles", &[], &[]).contains("start at the same place"));
    worker.call("set_position", &[2], &[1.0, 0.0, 0.0]);
    worker.call("set_velocity", &[2], &[0.0, 1.0, 0.0]);
    worker.call("evolve_model", &[], &[0.25]);
    worker.stop();
}

#[test]
fn a_failed_evolution_leaves_the_particles() {
    let mut worker = Worker::start();
    worker.call("set_dt_min", &[], &[0.0625]);
    worker.two_bodies();
    worker.call("set_position", &[2], &[0.499, 0.0, 0.0]);
    let problem = worker.error("evolve_model", &[], &[1.0]);
    assert!(problem.contains("need time steps below") && problem.contains("dt_min"), "{problem}");
    assert!(!problem.contains("integrator."), "{problem}");
    assert_eq!((worker.number("get_time"), worker.call("get_position", &[2], &[])[0]), (0.0, 0.499));
    worker.call("set_dt_min", &[], &[0.0]);
    worker.call("recommit_parameters", &[], &[]);
    worker.call("evolve_model", &[], &[0.01]);
    worker.stop();
}

#[test]
fn what_is_no_message_is_answered_and_ends_the_worker() {
    let mut worker = Worker::start();
    let mut bytes = Vec::new();
    Message { call: 2, function: 5, count: 1, ..Message::default() }.write(&mut bytes).expect("memory");
    bytes[16..20].copy_from_slice(&(-3i32).to_le_bytes());
    std::io::Write::write_all(&mut worker.connection, &bytes).expect("bytes sent");
    let reply = Message::read(&mut worker.connection).expect("a reply");
    assert!(reply.error && reply.strings[0].contains("length -3"), "{:?}", reply.strings);
    assert_eq!(worker.process.wait().expect("an end").code(), Some(1));
}

#[test]
fn the_worker_ends_with_the_connection() {
    let mut worker = Worker::start();
    worker.connection.shutdown(std::net::Shutdown::Both).expect("closed");
    assert!(worker.process.wait().expect("an end").success());
}

#[test]
fn charges_act_by_a_law_and_may_change() {
    let mut worker = Worker::start();
    worker.call("initialize_code", &[], &[]);
    worker.two_bodies();
    let set_law = |worker: &mut Worker, law: &str| worker.reply("set_law", 1, &[], &[], &[law]);
    assert!(
        !set_law(&mut worker, "potential = \"k*charge_i*charge_j/s\"\nparameters.k = 0.5\ncolumns.charge = 1").error
    );
    worker.call("commit_parameters", &[], &[]);
    let error = worker.error("commit_particles", &[], &[]);
    assert!(error.contains("law.columns.charge: the particle 1 has no value in the column `charge`"), "{error}");
    let set = |worker: &mut Worker, index: &[i32], values: &[f64]| {
        let names = vec!["charge"; index.len()];
        let reply = worker.reply("set_column", index.len() as i32, index, values, &names);
        assert!(!reply.error && reply.ints.iter().all(|status| *status == 0), "{reply:?}");
    };
    set(&mut worker, &[1, 2], &[2.0, 3.0]);
    assert_eq!(worker.reply("get_column", 2, &[2, 1], &[], &["charge", "charge"]).doubles, [3.0, 2.0]);
    worker.call("commit_particles", &[], &[]);
    // At the distance 1, of bodies of half a mass.
    let close = |found: f64, expected: f64| assert!((found - expected).abs() < 1e-12, "{found} is not {expected}");
    close(worker.call("get_acceleration", &[1], &[])[0], 0.5 * 2.0 * 3.0 / 0.5);
    close(worker.number("get_potential_energy"), 0.5 * 2.0 * 3.0);
    set(&mut worker, &[1], &[-1.0]);
    close(worker.call("get_acceleration", &[1], &[])[0], -0.5 * 3.0 / 0.5);
    worker.call("evolve_model", &[], &[0.25]);
    worker.call("new_particle", &[], &[0.1, 5.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let error = worker.error("evolve_model", &[], &[0.5]);
    assert!(error.contains("the particle 3 has no value in the column `charge`"), "{error}");
    set(&mut worker, &[3], &[1.0]);
    worker.call("evolve_model", &[], &[0.5]);
    assert!(set_law(&mut worker, "name = ").error || worker.reply("commit_parameters", 1, &[], &[], &[]).error);
    worker.stop();
}
