//! Promise: systems at the edge of what numbers can hold end, in every mode, in a right answer or in an error that
//! names what is wrong: never in a wrong number without a sign.

use crate::program;
use program::{Folder, Said, summary};
use std::f64::consts::PI;
use std::fmt::Write as _;
use tisane::force::precision::Precision;
use tisane::particles::Vec3;
use tisane_io::snapshot::{self, SnapshotData};

/// Mass, position, velocity.
type Body = [f64; 7];

/// A run of some bodies: by default in N-body units with the Hermite scheme.
#[derive(Clone)]
struct Case {
    bodies: Vec<Body>,
    epsilon: f64,
    t_end: f64,
    units: &'static str,
    integrator: &'static str,
}

impl Case {
    fn new(bodies: &[Body], epsilon: f64, t_end: f64) -> Self {
        let (units, integrator) = ("system = \"henon\"", "[integrator.hermite4]\ndt_max = \"1/16\"");
        Self { bodies: bodies.to_vec(), epsilon, t_end, units, integrator }
    }

    fn by(self, integrator: &'static str) -> Self {
        Self { integrator, ..self }
    }

    fn folder(&self) -> Folder {
        let Self { epsilon, t_end, units, integrator, .. } = self;
        let folder = Folder::new(&format!(
            "[run]\nname = \"stress\"\nt_end = {t_end:e}\n[units]\n{units}\n[initial.file]\npath = \"p.csv\"\n[softening]\n\
             epsilon = {epsilon:e}\n{integrator}\n[output]\ninterval = {t_end:e}\n[cluster]\nenabled = false\n"
        ));
        let mut text = "m,x,y,z,vx,vy,vz\n".to_owned();
        for body in &self.bodies {
            let _ = writeln!(text, "{}", body.map(|x| format!("{x:e}")).join(","));
        }
        folder.write("p.csv", text);
        folder
    }

    /// Runs it in a mode: what was said, and where.
    fn run(&self, engine: &str, mode: Precision) -> (Said, Folder) {
        let folder = self.folder();
        let said =
            folder.tisane(&["run", "run.toml", "-q", "--output", "o", "--engine", engine, "--precision", mode.name()]);
        assert!(!said.err.contains("panicked"), "{mode:?}: {}", said.err);
        (said, folder)
    }

    /// Ends well in these modes, by the engines `cpu` and `reference` in the same state; hands over energy error and
    /// last snapshot.
    #[track_caller]
    fn is_right(&self, modes: &[Precision], look: impl Fn(Precision, f64, &SnapshotData)) {
        for &mode in modes {
            let [by_cpu, by_reference] = ["cpu", "reference"].map(|engine| {
                let (said, folder) = self.run(engine, mode);
                assert_eq!(said.code, 0, "{engine}, {mode:?}: {}", said.err);
                let result = summary(&folder.path("o"));
                let last = snapshot::read(&folder.path("o/snapshots/snapshot_0001.hdf5")).unwrap();
                look(mode, result["max_relative_energy_error"].as_f64().unwrap(), &last);
                result["state_sha256"].to_string()
            });
            assert_eq!(by_cpu, by_reference, "{mode:?}");
        }
    }

    /// Ends in these modes with an exit code and words; where nothing was to be run, nothing was written.
    #[track_caller]
    fn is_refused(&self, modes: &[Precision], code: i32, parts: &[&str]) {
        for &mode in modes {
            let (said, folder) = self.run("cpu", mode);
            said.exits(code).says(parts);
            assert_eq!(folder.path("o").exists(), code != 2, "{mode:?}");
        }
    }
}

const LEAPFROG: &str = "[integrator.leapfrog]\ndt = \"1/16\"";
const ALL: &[Precision] = &Precision::ALL;
const IN_F32: &[Precision] = ALL.split_at(5).0;
const IN_F64: &[Precision] = ALL.split_at(5).1;
/// What an error says that a mode in f64 would not need to say.
const USE_F64: &str = "use force.precision = \"f64\"";

/// Two bodies of mass ½ at rest, each at a distance from the origin on the x axis.
fn pair(x: f64) -> [Body; 2] {
    [[0.5, x, 0.0, 0.0, 0.0, 0.0, 0.0], [0.5, -x, 0.0, 0.0, 0.0, 0.0, 0.0]]
}

/// Two bodies of these masses on a circular orbit of radius 1 about each other, with the second at rest; G M = 1.
fn orbit([one, other]: [f64; 2], at: f64) -> [Body; 2] {
    [[one, at + 1.0, 0.0, 0.0, 0.0, 1.0, 0.0], [other, at, 0.0, 0.0, 0.0, 0.0, 0.0]]
}

/// Equal masses on a spiral around the origin, at rest.
fn at_rest(n: usize) -> Vec<Body> {
    let body = |k: usize| {
        let (t, m) = (k as f64, 1.0 / n as f64);
        [m, (0.2 + t / 9.0) * t.cos(), (0.2 + t / 9.0) * t.sin(), 0.3 * (3.0 * t).sin(), 0.0, 0.0, 0.0]
    };
    (0..n).map(body).collect()
}

#[test]
fn the_modes_are_in_the_order_that_this_test_cuts_them() {
    assert!(IN_F32.iter().all(|mode| !mode.in_f64()) && IN_F64.iter().all(|mode| mode.in_f64()));
}

#[test]
fn verify_coincident_particles_stay_where_they_are_with_softening_and_are_refused_without() {
    for integrator in ["", LEAPFROG] {
        let case = Case::new(&pair(0.0), 0.01, 0.5);
        let case = if integrator.is_empty() { case } else { case.by(integrator) };
        case.is_right(ALL, |mode, error, last| {
            assert_eq!(error, 0.0, "{mode:?}");
            assert_eq!((&last.pos, &last.acc), (&vec![Vec3::zeros(); 2], &vec![Vec3::zeros(); 2]), "{mode:?}");
            assert_eq!(last.pot, [-50.0; 2], "m / epsilon, {mode:?}");
        });
    }
    Case::new(&pair(0.0), 0.0, 0.5).is_refused(ALL, 2, &["run.toml:9", "particles 0 and 1", "same place"]);
}

#[test]
fn particles_that_only_a_mode_takes_for_coincident_are_told_with_the_mode_to_take() {
    // One ulp of f64 apart at 1: one place in f32. Without softening the modes with two f32 hold them apart.
    let apart = 1.0 + f64::EPSILON;
    let two = [[0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.5, apart, 0.0, 0.0, 0.0, 0.0, 0.0]];
    let case = Case::new(&two, 0.0, 1e-30).by("[integrator.hermite4]\ndt_max = 1e-30");
    let one_f32 = &IN_F32[..3];
    case.is_refused(one_f32, 4, &["force on particle 0 is not a finite number", USE_F64]);
    let short = case.clone().by("[integrator.leapfrog]\ndt = 1e-30");
    short.is_refused(one_f32, 4, &["acceleration of particle 0 is not a finite number", USE_F64]);
    case.is_right(IN_F64, |_, error, last| assert!(error < 1e-12 && last.acc[0][0] > 1e31, "{:?}", last.acc));
}

#[test]
fn a_head_on_collision_without_softening_names_the_pair_or_the_energy_that_it_cost() {
    let case = Case::new(&pair(0.5), 0.0, 2.0);
    case.is_refused(ALL, 4, &["2 particles need time steps below dt_min", "bound to particle", "softening.epsilon"]);
    // A fixed step, or clamping at the floor, passes through the collision.
    let clamp = "[integrator.hermite4]\ndt_max = \"1/16\"\ndt_min = \"2^-20\"\non_dt_min = \"clamp\"";
    for integrator in [LEAPFROG, clamp] {
        let case = case.clone().by(integrator);
        case.is_refused(ALL, 4, &["the energy at t = 2.00 T is off by", "softening.epsilon", "limits.energy_error"]);
    }
    // At its end a run has no row more to come: resumed, it says the same, until the limit is raised.
    let (said, folder) = case.clone().by(LEAPFROG).run("cpu", Precision::F64);
    said.exits(4);
    folder.tisane(&["resume", "o", "-q"]).exits(4).says(&["the energy at t = 2.00 T is off by"]);
    assert_eq!(summary(&folder.path("o"))["exit_reason"], "failed");
    let config = std::fs::read_to_string(folder.path("o/config.toml")).unwrap();
    assert!(!config.contains("energy_error"));
    folder.write("o/config.toml", config.replace("[limits]", "[limits]\nenergy_error = 1e9"));
    folder.tisane(&["resume", "o", "-q"]).exits(0);
    // Who wants to see it all the same can.
    for &mode in ALL {
        let (said, folder) =
            case.clone().by("[integrator.leapfrog]\ndt = \"1/16\"\n[limits]\nenergy_error = 1e9").run("cpu", mode);
        let error = summary(&said.exits_in(&folder))["max_relative_energy_error"].as_f64().unwrap();
        assert!(error > 1.0, "{mode:?}: {error}");
    }
    // With softening it is an oscillation.
    let softened = Case::new(&pair(0.5), 0.05, 2.0);
    softened.is_right(ALL, |mode, error, _| assert!(error < 1e-4, "{mode:?}: {error}"));
    // As good as it is, a run can be asked for better.
    let strict = softened.by("[integrator.hermite4]\ndt_max = \"1/16\"\n[limits]\nenergy_error = 1e-12");
    strict.is_refused(
        ALL,
        4,
        &[
            "is off by",
            "more than limits.energy_error, 1e-12",
            "snapshot_0000.hdf5, at t = 0 T, where the energy was off by 0",
        ],
    );
}

#[test]
fn verify_mass_ratios_down_to_1e_minus_12() {
    // Period 2 pi: a quarter of it brings the light body to the y axis.
    let case = |light: f64| {
        let integrator = "[integrator.hermite4]\nnu = 0.002\ndt_max = \"1/16\"";
        Case::new(&orbit([light, 1.0], 0.0), 0.0, 1.5).by(integrator)
    };
    for light in [1e-12, 1e-6] {
        case(light).is_right(ALL, |mode, error, last| {
            assert!(error < 1e-6, "{mode:?}: {error}");
            let [x, y, _] = [0, 1, 2].map(|k| last.pos[0][k] - last.pos[1][k]);
            let off = (y.atan2(x) - 1.5).abs().max((x.hypot(y) - 1.0).abs());
            assert!(off < 10.0 * light + 1e-5, "{mode:?}: {off}");
            // The heavy body feels the light one: a = m / r^2, towards it.
            let reflex = last.acc[1][0].hypot(last.acc[1][1]) / light;
            assert!((reflex - 1.0).abs() < 1e-5, "{mode:?}: {reflex}");
        });
    }
    // Bodies without mass attract nobody, and what attracts them does not move.
    case(0.0).is_right(ALL, |mode, _, last| {
        assert_eq!((last.acc[1], last.pos[1]), (Vec3::zeros(), Vec3::zeros()), "{mode:?}");
        assert!((last.pos[0][1].atan2(last.pos[0][0]) - 1.5).abs() < 1e-5, "{mode:?}");
    });
}

#[test]
fn verify_positions_at_1e12_with_epsilon_1e_minus_6() {
    // A pair of separation 1 whose coordinates f64 holds to 1.2e-4: exact in f64 at the start, an orbit within such
    // rounding.
    let far_off = Case::new(&orbit([1e-3, 1.0], 1e12), 1e-6, 0.375).by("[integrator.leapfrog]\ndt = \"1/64\"");
    far_off.is_right(IN_F64, |mode, error, last| {
        let separation = (last.pos[0][0] - last.pos[1][0]).hypot(last.pos[0][1] - last.pos[1][1]);
        assert!(error < 1e-2 && (separation - 1.0).abs() < 5e-3, "{mode:?}: {error}, {separation}");
    });
    // Two f32 hold them to 2e-3, which the audit sees. In one f32 they coincide.
    far_off.is_refused(&IN_F32[3..], 4, &["audit", "force.precision"]);
    far_off.is_refused(&IN_F32[..3], 4, &["particle 0", USE_F64]);
    // Far apart instead. At 1e11 every mode has the force; at 1e13 that of f32 would be lost.
    let apart = Case::new(&pair(1e11), 1e-6, 0.25);
    apart.is_right(ALL, |mode, error, last| {
        assert!(error < 1e-12, "{mode:?}: {error}");
        assert!((last.acc[0][0] / -1.25e-23 - 1.0).abs() < 1e-6, "{mode:?}: {:?}", last.acc);
    });
    for integrator in ["[integrator.hermite4]\ndt_max = \"1/16\"", LEAPFROG] {
        let farther = Case::new(&pair(1e14), 1e-6, 0.25).by(integrator);
        farther.is_refused(IN_F32, 4, &["in f32, is too coarse for the small forces on particle 0", USE_F64]);
        farther.is_right(IN_F64, |_, _, last| assert!((last.acc[0][0] / -1.25e-29 - 1.0).abs() < 1e-12));
    }
}

#[test]
fn verify_one_and_two_bodies() {
    let alone = [[1.0, 1.0, 2.0, 3.0, 0.1, 0.2, 0.3]];
    for integrator in ["[integrator.hermite4]\ndt_max = \"1/16\"", LEAPFROG] {
        Case::new(&alone, 0.0, 0.5).by(integrator).is_right(ALL, |mode, error, last| {
            let off = (0..3).map(|k| (last.pos[0][k] - alone[0][1 + k] - 0.5 * alone[0][4 + k]).abs());
            assert!(error == 0.0 && off.fold(0.0, f64::max) < 1e-14, "{mode:?}: {:?}", last.pos);
            assert_eq!((last.acc[0], last.pot[0]), (Vec3::zeros(), 0.0), "{mode:?}");
        });
    }
    // Half a period of two equal masses: each stands where the other stood.
    let half = Case::new(&[[0.5, 0.5, 0.0, 0.0, 0.0, 0.5, 0.0], [0.5, -0.5, 0.0, 0.0, 0.0, -0.5, 0.0]], 0.0, 3.125);
    half.is_right(ALL, |mode, error, last| {
        let [x, y, _] = last.pos[0].into();
        let off = ((-y).atan2(-x) - (3.125 - PI)).abs();
        assert!(error < 1e-5 && off < 1e-3, "{mode:?}: {error}, {off}");
    });
}

#[test]
fn verify_a_system_at_rest_falls_and_keeps_its_energy() {
    let case = Case::new(&at_rest(24), 0.05, 0.5);
    case.is_right(ALL, |mode, error, last| {
        assert!(error < 1e-5, "{mode:?}: {error}");
        assert!(last.vel.iter().all(|v| v.iter().any(|x| *x != 0.0)), "{mode:?}: one did not fall");
        let momentum = (0..3).map(|k| last.vel.iter().map(|v| v[k]).sum::<f64>() / 24.0);
        assert!(momentum.map(f64::abs).fold(0.0, f64::max) < 1e-4, "{mode:?}");
    });
}

#[test]
fn verify_an_escaper_at_1e6_radii_harms_nobody() {
    let mut bodies = at_rest(24);
    bodies.push([1.0 / 24.0, 1e6, 0.0, 0.0, 2.0, 0.0, 0.0]);
    for (integrator, worst) in
        [("[integrator.hermite4]\ndt_max = \"1/16\"", 1e-5), ("[integrator.leapfrog]\ndt = \"1/256\"", 1e-3)]
    {
        Case::new(&bodies, 0.05, 0.5).by(integrator).is_right(ALL, |mode, error, last| {
            assert!(error < worst, "{mode:?}: {error}");
            assert!((last.pos[24][0] - 1e6 - 1.0).abs() < 1e-8, "{mode:?}: {:?}", last.pos[24]);
            // M / r^2 of the others, whose centre is some units off the origin at most.
            assert!((last.acc[24][0] / -1e-12 - 1.0).abs() < 1e-5, "{mode:?}: {:?}", last.acc[24]);
        });
    }
}

#[test]
fn a_step_at_its_floor_stops_or_is_counted() {
    let close = [[0.5, 0.01, 0.0, 0.0, 0.0, 5.0, 0.0], [0.5, -0.01, 0.0, 0.0, 0.0, -5.0, 0.0]];
    let case = Case::new(&close, 0.0, 0.25);
    let floor = "[integrator.hermite4]\ndt_max = \"1/16\"\ndt_min = \"2^-8\"";
    case.clone().by(floor).is_refused(ALL, 4, &["below dt_min = 0.00391 T at t = 0 T", "particle 1", "on_dt_min"]);
    // It goes on with a step far too long, and says what that cost, unless that is wanted.
    let clamp = "[integrator.hermite4]\ndt_max = \"1/16\"\ndt_min = \"2^-8\"\non_dt_min = \"clamp\"";
    case.clone().by(clamp).is_refused(ALL, 4, &["the energy at t = 0.250 T is off by", "limits.energy_error"]);
    let clamp = "[integrator.hermite4]\ndt_max = \"1/16\"\ndt_min = \"2^-8\"\non_dt_min = \"clamp\"\n[limits]\nenergy_error = 1e9";
    for &mode in ALL {
        let (said, folder) = case.clone().by(clamp).run("cpu", mode);
        assert!(summary(&said.exits_in(&folder))["clamped_steps"].as_u64().unwrap() > 0, "{mode:?}");
    }
    // The floor just deep enough: nobody is held, and the binary keeps its energy.
    let deep = "[integrator.hermite4]\ndt_max = \"1/16\"\ndt_min = \"2^-20\"";
    case.by(deep).is_right(ALL, |mode, error, _| assert!(error < 1e-3, "{mode:?}: {error}"));
}

#[test]
fn what_a_mode_does_not_hold_is_refused_at_the_start_with_the_mode_to_take() {
    let with = |change: fn(&mut [Body; 2])| {
        let mut bodies = orbit([0.5, 0.5], 0.0);
        change(&mut bodies);
        Case::new(&bodies, 0.01, 1e-20).by("[integrator.hermite4]\ndt_max = 1e-20")
    };
    let far = with(|bodies| bodies[1][2] = -1e15);
    far.is_refused(IN_F32, 2, &["force.precision", "in f32,", "coordinates up to 5.629e14", "particle 1", USE_F64]);
    let fast = with(|bodies| bodies[0][6] = 1e19);
    fast.is_refused(IN_F32, 2, &["force.precision", "velocities up to 4.612e18", "particle 0", USE_F64]);
    let light = with(|bodies| bodies[1][0] = 1e-40);
    light.is_refused(IN_F32, 2, &["force.precision", "masses of 0 or from 1.175e-38", "particle 1", USE_F64]);
    let heavy = with(|bodies| bodies[1][0] = 1e38);
    heavy.is_refused(IN_F32, 2, &["force.precision", "masses of 0 or", "particle 1 has 1.000e38", USE_F64]);
    for epsilon in [1e-20, 1e13] {
        let softened = Case { epsilon, ..with(|_| ()) };
        softened.is_refused(
            IN_F32,
            2,
            &["run.toml:9", "softening.epsilon", "softening of 0 or from 1.084e-19", USE_F64],
        );
        softened.is_right(IN_F64, |mode, error, _| assert!(error < 1e-9, "{mode:?}: {error}"));
    }
    for case in [far, fast, light] {
        case.is_right(IN_F64, |mode, error, _| assert!(error < 1e-9, "{mode:?}: {error}"));
    }
    let nowhere = with(|bodies| bodies[0][3] = 1e160);
    nowhere.is_refused(
        IN_F64,
        2,
        &["force.precision", "in f64,", "no mode represents such numbers", "closer to the masses"],
    );
    // Energies and squares of what f64 holds would not be numbers, or nothing: m v^2, and jerks of an orbit at 1e-170
    // G.
    for mass in [1e-170, 1e160] {
        let case = Case::new(&orbit([mass, mass], 0.0), 0.0, 1.0);
        case.is_refused(IN_F64, 2, &["in f64, represents masses of 0 or from 1.069e-50 to 9.354e49", "particle 0"]);
    }
    with(|bodies| bodies[0][6] = 1e145).is_refused(IN_F64, 2, &["in f64,", "velocities up to 9.354e49", "particle 0"]);
}

#[test]
fn accelerations_of_which_no_step_can_be_computed_stop_the_run() {
    let words = ["steps can be computed for accelerations from 5.527e-76 to 1.809e75", "particle 0", "internal units"];
    let weak = [[1e-40, 1e20, 0.0, 0.0, 0.0, 0.0, 0.0], [1e-40, -1e20, 0.0, 0.0, 0.0, 0.0, 0.0]];
    let strong = pair(1e-40);
    for integrator in ["[integrator.hermite4]\ndt_max = 1e-60", "[integrator.leapfrog]\ndt = 1e-60"] {
        Case::new(&weak, 0.0, 1e-60).by(integrator).is_refused(IN_F64, 4, &words);
        Case::new(&strong, 0.0, 1e-60).by(integrator).is_refused(IN_F64, 4, &words);
    }
}

#[test]
fn what_leaves_the_range_of_a_mode_on_its_way_stops_the_run() {
    // Heavy enough that their attraction is no small number, and on their way out.
    let out = [[1e10, 5e14, 0.0, 0.0, 1e14, 0.0, 0.0], [1e10, -5e14, 0.0, 0.0, -1e14, 0.0, 0.0]];
    for (integrator, moment) in [("[integrator.hermite4]\ndt_max = \"1/16\"", "0.6875"), (LEAPFROG, "0.6875")] {
        let case = Case::new(&out, 0.0, 1.0).by(integrator);
        case.is_refused(
            IN_F32,
            4,
            &["coordinates up to 5.629e14", "particle 0", &format!("time {moment}"), "last snapshot", USE_F64],
        );
        case.is_right(IN_F64, |mode, error, last| {
            assert!(error < 1e-12 && (last.pos[0][0] / 6e14 - 1.0).abs() < 1e-12, "{mode:?}: {error}, {:?}", last.pos);
        });
    }
    // Two that leave each other until the force between them is below what f32 holds.
    let weak = [[1e-6, 1e9, 0.0, 0.0, 1e10, 0.0, 0.0], [1e-6, -1e9, 0.0, 0.0, -1e10, 0.0, 0.0]];
    let case = Case::new(&weak, 0.0, 1.0);
    case.is_refused(IN_F32, 4, &["too coarse for the small forces on particle 0", USE_F64]);
    case.is_right(IN_F64, |mode, _, last| {
        let expected = -1e-6 / (2.2e10f64).powi(2);
        assert!((last.acc[0][0] / expected - 1.0).abs() < 1e-9, "{mode:?}: {:?}", last.acc);
    });
}

#[test]
fn a_pair_too_close_for_f32_stops_the_modes_in_f32_and_they_say_so() {
    // m / s^3 is 6e40 at a separation of 2e-14, and f32 ends at 3e38.
    let case = Case::new(&pair(1e-14), 0.0, 1e-26).by("[integrator.hermite4]\ndt_max = 1e-26");
    case.is_refused(IN_F32, 4, &["force on particle 0 is not a finite number", "too close", USE_F64]);
    case.is_right(IN_F64, |_, _, last| assert!((last.acc[0][0] / -1.25e27 - 1.0).abs() < 1e-6, "{:?}", last.acc));
}

#[test]
fn verify_units_that_f32_would_not_hold_are_scaled_inside() {
    // A double star in grams and centimetres: 2e33 g, 1.5e13 cm, and G m / r^2 far from any trouble in f64 alone.
    let v = (6.674_30e-8 * 4e33 / 1.5e13f64).sqrt() / 2.0;
    let bodies = [[2e33, 7.5e12, 0.0, 0.0, 0.0, v, 0.0], [2e33, -7.5e12, 0.0, 0.0, 0.0, -v, 0.0]];
    let units = "mass = \"g\"\nlength = \"cm\"\nvelocity = \"cm/s\"\ntime = \"s\"";
    let integrator = "[integrator.hermite4]\ndt_max = 131072";
    let case = Case { units, ..Case::new(&bodies, 1e5, 1_048_576.0).by(integrator) };
    // In units of such stars: 1e-37 g is nothing.
    case.is_right(ALL, |mode, error, last| {
        let separation = (last.pos[0][0] - last.pos[1][0]).hypot(last.pos[0][1] - last.pos[1][1]);
        assert!(error < 1e-5 && (separation / 1.5e13 - 1.0).abs() < 1e-4, "{mode:?}: {error}, {separation}");
    });
}

impl Said {
    /// The output directory of a run that went to its end.
    #[track_caller]
    fn exits_in(self, folder: &Folder) -> std::path::PathBuf {
        self.exits(0);
        folder.path("o")
    }
}
