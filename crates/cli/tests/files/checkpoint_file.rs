//! Promise: a checkpoint gives back the state to the bit or an error, and a whole one is there at any instant.

use crate::hdf;
use std::fs;
use std::path::Path;
use tisane::diagnostics::reference::{Basis, Reference};
use tisane::diagnostics::runaways::{Runaway, Runaways};
use tisane::diagnostics::tidal_work::TidalWork;
use tisane::force::external::guide::{OrbitState, Work};
use tisane::particles::{EvolvingStar, Particles, Vec3};
use tisane::states::history::History;
use tisane::states::low_parts::LowParts;
use tisane::states::neighbours::Neighbours;
use tisane::subsystems::Removed;
use tisane::time::{Clock, Level, Time};
use tisane::units::Scale;
use tisane_io::atomic::temporary_name;
use tisane_io::checkpoint::{
    self, Checkpoint, Counters, NEWEST, OrbitNumbers, OutputCounts, PREVIOUS, References, RunState,
};
use tisane_io::checksum::{self, Digest};
use tisane_io::history::History as Reported;
use tisane_io::inspect;
use tisane_io::provenance::Provenance;
use tisane_stellar::{Kind, Star, State};

fn checkpoint(n: usize, step: u64) -> Checkpoint {
    let x = |i: usize, k: usize| ((i * 7 + k) as f64 * 0.618_033_988_749_895).fract() - 0.5;
    let vectors = |k: usize| (0..n).map(|i| Vec3::new(x(i, k), x(i, k + 1), x(i, k + 2))).collect::<Vec<_>>();
    let mut p = Particles::new(vec![1.0 / n as f64; n], vectors(1), vectors(4));
    p.acc = vectors(7);
    p.jerk = vectors(10);
    p.pot = (0..n).map(|i| -x(i, 13)).collect();
    p.id = (0..n as u64).rev().collect();
    p.step = (0..n).map(|i| Level((i % 37) as u8)).collect();
    p.time = p.step.iter().map(|level| Time::from_dt_max(step).after(*level)).collect();
    p.stars = (0..n).map(|i| star(p.id[i], i)).collect();
    p.pos[0] = Vec3::new(-0.0, f64::MIN_POSITIVE / 8.0, 1e300);
    let counters = |k| Counters {
        block_steps: k,
        particle_steps: k + 1,
        pair_interactions: u64::MAX - k,
        clamped_steps: 3,
        contacts: 0,
        escapes: k + 2,
    };
    Checkpoint {
        particles: p,
        run: RunState {
            now: Time::from_dt_max(step + 1),
            clock: Clock { start: 0.1, dt_max: 0.3 },
            scale: Scale { mass: 1.1, length: 2.2, velocity: 3.3, time: 4.4 },
            counters: counters(100 + step),
            written: OutputCounts {
                snapshots: 7,
                diagnostics_rows: 8,
                cluster_rows: 9,
                binaries_rows: 10,
                events: 11,
                encounters_rows: 12,
                stars_rows: 13,
                stellar_rows: 14,
                diagnostics_sha256: Digest::parse(&"0123456789abcdef".repeat(4)),
                cluster_sha256: Digest::parse(&"f".repeat(64)),
                binaries_sha256: None,
                events_sha256: Digest::parse(&"0".repeat(64)),
                encounters_sha256: Digest::parse(&"a".repeat(64)),
                stars_sha256: Digest::parse(&"b".repeat(64)),
                stellar_sha256: Digest::parse(&"c".repeat(64)),
            },
            references: References {
                angular_momentum_error: 3e-9,
                energy: -0.25,
                jacobi_energy: Some(0.75),
                start: Reference {
                    basis: Basis::Massless,
                    massless: 3,
                    velocity: Vec3::new(0.0, 50.0, -1.0),
                    centre: Vec3::new(1e3, 0.0, 0.5),
                    energy: -0.26,
                    energy_scale: 0.26,
                    angular_momentum: Vec3::new(0.0, 1e-3, 0.2),
                    angular_momentum_scale: 0.2,
                },
                relative_energy_error: -4e-7,
                binding_energy: Some(0.125),
                previous_energy: -0.250_000_1,
                previous_removed_energy: -0.125,
                removed: Removed::from_numbers(std::array::from_fn(|k| k as f64 - 5.0)),
                max_relative_energy_error: 4e-7,
                angular_momentum: Vec3::new(0.1, 0.2, 0.3),
                momentum: Vec3::new(1e-17, 0.0, -0.0),
                centre_of_mass: Vec3::new(0.4, 0.5, 0.6),
                previous_counters: counters(50),
                previous_wall_seconds: 1.5,
            },
            orbit: Some(OrbitNumbers {
                origin: OrbitState { pos: Vec3::new(8e3, 0.1, -2.0), vel: Vec3::new(0.3, 231.0, 7.0) },
                tidal: TidalWork {
                    until: Time::from_dt_max(step + 1),
                    power: [Work { masses: 0.7, massless: -0.6 }, Work { masses: 1e-3, massless: 0.0 }],
                    work: Work { masses: 0.0, massless: 3.5 },
                },
            }),
            wall_seconds: 2.5,
        },
        history: Reported {
            begun: true,
            systems: vec!["(0+1)".into(), "((0+1)+7)".into()],
            escaped: vec![3, u64::MAX],
            encounters: vec![[2, 5]],
            runaways: Runaways {
                until: Time(1 << 36),
                error: -1e-7,
                stars: vec![Runaway { id: u64::MAX, mass: 0.5, energy: 70.0, power: [-0.25, 1e-3], work: 2.5 }],
            },
        },
        provenance: Provenance {
            config_resolved: "[run]\nname = \"x\"\n".into(),
            // Not now: two of these may be compared that were made in different seconds.
            created: "2026-01-01T00:00:00Z".into(),
            ..Provenance::current()
        },
    }
}

/// A star on its track; a remnant's stretch has no end.
fn star(id: u64, i: usize) -> EvolvingStar {
    let x = 0.25 + i as f64;
    let kind = Kind::ALL[i % Kind::ALL.len()];
    let end = if kind.is_remnant() { f64::INFINITY } else { 2.0 * x };
    let (effective_mass, mass, core_mass, age) = (1.5 * x, x, 0.5 * x, 0.125 * x);
    let state = State { kind, effective_mass, mass, core_mass, age, luminosity: 1e-10, radius: 3.0 * x };
    let (birth_mass, begin, end_mass, supernovae, stretches) = (2.0 * x, -1.5, 0.75 * x, 1, i as u32);
    EvolvingStar {
        track: Star { id, birth_mass, state, begin, end, end_mass, supernovae, stretches },
        seen: -0.5,
        fills_lobe: i == 1,
        metallicity: (!i.is_multiple_of(3)).then_some(0.001),
        kick: [0.5, -1.0, x],
    }
}

/// Debug text distinguishes −0.0 from 0.0, which == does not.
fn assert_same_bits(a: &Checkpoint, b: &Checkpoint) {
    assert_eq!(format!("{a:?}"), format!("{b:?}"));
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_checkpoint_reads_back_to_the_bit() {
    let dir = tempfile::tempdir().unwrap();
    for n in [1, 2, 37, 70_000] {
        let written = checkpoint(n, 4);
        checkpoint::write(dir.path(), &written).unwrap();
        assert_same_bits(&checkpoint::read(&dir.path().join(NEWEST)).unwrap(), &written);
    }
}

#[test]
fn every_97th_byte_flipped_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    checkpoint::write(dir.path(), &checkpoint(37, 4)).unwrap();
    let path = dir.path().join(NEWEST);
    let good = fs::read(&path).unwrap();
    for i in (0..good.len()).step_by(97).chain(0..96).chain(good.len() - 100..good.len()) {
        for bit in [0x01, 0x80] {
            let mut bad = good.clone();
            bad[i] ^= bit;
            fs::write(&path, bad).unwrap();
            let error = checkpoint::read(&path).expect_err(&format!("byte {i}"));
            assert_eq!(error.exit_code(), 2);
        }
    }
}

#[test]
fn every_cut_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    checkpoint::write(dir.path(), &checkpoint(37, 4)).unwrap();
    let path = dir.path().join(NEWEST);
    let good = fs::read(&path).unwrap();
    for length in (0..good.len()).step_by(101).chain(good.len() - 100..good.len()) {
        fs::write(&path, &good[..length]).unwrap();
        assert!(checkpoint::read(&path).is_err(), "cut at {length}");
    }
    fs::write(&path, [good.as_slice(), b"x"].concat()).unwrap();
    assert!(checkpoint::read(&path).is_err(), "a byte too many");
}

#[test]
fn the_previous_one_is_taken_and_it_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (checkpoint(5, 1), checkpoint(5, 2));
    checkpoint::write(dir.path(), &first).unwrap();
    checkpoint::write(dir.path(), &second).unwrap();
    let (newest, warning) = checkpoint::read_newest(dir.path()).unwrap();
    assert_same_bits(&newest, &second);
    assert_eq!(warning, None);
    flip(&dir.path().join(NEWEST), 5000);
    let (previous, warning) = checkpoint::read_newest(dir.path()).unwrap();
    assert_same_bits(&previous, &first);
    let warning = warning.unwrap();
    assert!(warning.contains("damaged") && warning.contains(PREVIOUS), "{warning}");
    fs::remove_file(dir.path().join(NEWEST)).unwrap();
    let (previous, warning) = checkpoint::read_newest(dir.path()).unwrap();
    assert_same_bits(&previous, &first);
    assert!(warning.unwrap().contains("no such file"));
}

#[test]
fn without_a_good_one_both_reasons_are_told() {
    let dir = tempfile::tempdir().unwrap();
    checkpoint::write(dir.path(), &checkpoint(5, 1)).unwrap();
    flip(&dir.path().join(NEWEST), 5000);
    let problem = checkpoint::read_newest(dir.path()).unwrap_err().to_string();
    assert!(problem.contains("damaged") && problem.contains("no such file"), "{problem}");
}

#[test]
fn a_damaged_newest_never_displaces_a_good_previous() {
    let dir = tempfile::tempdir().unwrap();
    let previous = checkpoint(5, 1);
    checkpoint::write(dir.path(), &previous).unwrap();
    checkpoint::write(dir.path(), &checkpoint(5, 2)).unwrap();
    flip(&dir.path().join(NEWEST), 5000);
    checkpoint::write(dir.path(), &checkpoint(5, 3)).unwrap();
    assert_same_bits(&checkpoint::read(&dir.path().join(PREVIOUS)).unwrap(), &previous);
    assert_same_bits(&checkpoint::read(&dir.path().join(NEWEST)).unwrap(), &checkpoint(5, 3));
}

#[test]
fn what_a_kill_leaves_behind_is_no_hindrance() {
    let dir = tempfile::tempdir().unwrap();
    let [newest, previous] = [NEWEST, PREVIOUS].map(|name| dir.path().join(name));
    checkpoint::write(dir.path(), &checkpoint(5, 1)).unwrap();
    // As after a kill between the two renames, and in the middle of each temporary file.
    fs::hard_link(&newest, &previous).unwrap();
    fs::write(temporary_name(&newest).unwrap(), "half").unwrap();
    fs::hard_link(&newest, temporary_name(&previous).unwrap()).unwrap();
    for step in 2..4 {
        checkpoint::write(dir.path(), &checkpoint(5, step)).unwrap();
        assert_same_bits(&checkpoint::read(&newest).unwrap(), &checkpoint(5, step));
        assert_same_bits(&checkpoint::read(&previous).unwrap(), &checkpoint(5, step - 1));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "a temporary file is left");
    }
}

/// A checkpoint of a multi-point scheme: with earlier points, of which some particles have none yet, and with low parts.
fn with_history(n: usize, step: u64, points: usize) -> Checkpoint {
    let mut c = checkpoint(n, step);
    let p = &mut c.particles;
    let columns = [p.pos.clone(), p.vel.clone(), p.acc.clone(), p.jerk.clone()];
    p.states.set(History::new(n, points, 2 * points));
    for (derivative, column) in p.states.get_mut::<History>().derivatives.iter_mut().zip(columns) {
        *derivative = column;
    }
    p.states.set(LowParts { pos: p.pos.iter().map(|x| x * 1e-17).collect(), vel: p.acc.clone() });
    let Particles { pos, vel, time, states, .. } = p;
    for (k, point) in states.get_mut::<History>().points.iter_mut().enumerate() {
        (point.acc, point.jerk) = (vel.clone(), pos.clone());
        point.time = time.iter().enumerate().map(|(i, time)| Time(time.0 - (k * i * 1000) as u64)).collect();
    }
    c
}

#[test]
fn earlier_points_come_back_to_the_bit() {
    let dir = tempfile::tempdir().unwrap();
    for points in 0..=2 {
        let written = with_history(37, 1, points);
        checkpoint::write(dir.path(), &written).unwrap();
        let read = checkpoint::read(&dir.path().join(NEWEST)).unwrap();
        assert_same_bits(&read, &written);
        assert!(read.particles.states.get::<History>() == written.particles.states.get::<History>(), "{points} points");
        assert!(read.particles.states.get::<History>().has(37, points, 2 * points));
        assert!(read.particles.states.get::<LowParts>() == written.particles.states.get::<LowParts>());
        assert!(read.particles.states.get::<LowParts>().has(37));
    }
}

#[test]
fn histories_that_no_run_leaves_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let spoil: [(&str, Spoil); 6] = [
        ("time_ticks_before_2: particle 1 is at a later point", |c| {
            c.particles.states.get_mut::<History>().points[1].time[3].0 += 1 << 40
        }),
        ("derivative_3: a value is not a finite number", |c| {
            c.particles.states.get_mut::<History>().derivatives[1][2][0] = f64::NAN
        }),
        ("earlier_points: expected at most 2, found 3", |c| {
            let point = c.particles.states.get::<History>().points[0].clone();
            c.particles.states.get_mut::<History>().points.push(point);
        }),
        ("low_velocity: a value is not a finite number", |c| {
            c.particles.states.get_mut::<LowParts>().vel[2][0] = f64::INFINITY
        }),
        ("low_position", |c| c.particles.states.get_mut::<LowParts>().pos.truncate(3)),
        ("jerk_before_1", |c| c.particles.states.get_mut::<History>().points[0].jerk.truncate(3)),
    ];
    for (expected, spoil) in spoil {
        let mut bad = with_history(5, 1, 2);
        spoil(&mut bad);
        checkpoint::write(dir.path(), &bad).unwrap();
        let problem = checkpoint::read(&dir.path().join(NEWEST)).unwrap_err().to_string();
        assert!(problem.contains(expected), "{problem}");
    }
}

/// A checkpoint of a neighbour scheme with the state of an order: lists of every length, and regular steps of which some
/// began before the last irregular one.
fn with_neighbours(n: usize, step: u64, points: usize) -> Checkpoint {
    let mut c = with_history(n, step, points);
    // Its corrector keeps no low parts.
    c.particles.states.set(LowParts::default());
    let p = &mut c.particles;
    let mut state = Neighbours::new(n, points, 2 * points);
    (state.acc, state.jerk) = (p.vel.clone(), p.acc.clone());
    (state.regular_acc, state.regular_jerk) = (p.jerk.clone(), p.pos.clone());
    (state.regular_pot, state.radius) = (p.pot.clone(), p.mass.clone());
    state.radius[0] = f64::MAX;
    state.regular_step = (0..n).map(|i| Level((i % 5) as u8)).collect();
    state.regular_time = state.regular_step.iter().map(|_| Time::from_dt_max(step)).collect();
    state.regular_history = p.states.get::<History>().clone();
    for point in &mut state.regular_history.points {
        point.time = vec![Time::from_dt_max(step - 1); n];
    }
    let list =
        |i: usize| (0..n).filter(|j| *j != i && (i * 7 + j).is_multiple_of(i % 4 + 1)).map(|j| j as u32).collect();
    state.lists = (0..n).map(list).collect();
    p.states.set(state);
    c
}

#[test]
fn the_state_of_a_neighbour_scheme_comes_back_to_the_bit() {
    let dir = tempfile::tempdir().unwrap();
    for (n, points) in [(1, 1), (2, 0), (37, 0), (37, 1)] {
        let written = with_neighbours(n, 1, points);
        checkpoint::write(dir.path(), &written).unwrap();
        let read = checkpoint::read(&dir.path().join(NEWEST)).unwrap();
        assert_same_bits(&read, &written);
        let state = read.particles.states.get::<Neighbours>();
        assert!(state.has(n, points, 2 * points) && !state.is_empty());
    }
}

#[test]
fn neighbours_that_no_run_leaves_are_refused() {
    const ASCENDING: &str = "neighbour_lists: expected ascending numbers of other particles in each list";
    const WHEN: &str = "regular_time_ticks: particle 3 is not at a multiple of its step";
    let spoil: [(&str, Spoil); 11] = [
        (ASCENDING, |c| c.particles.states.get_mut::<Neighbours>().lists[0] = vec![2, 1]),
        (ASCENDING, |c| c.particles.states.get_mut::<Neighbours>().lists[1] = vec![2, 2]),
        (ASCENDING, |c| c.particles.states.get_mut::<Neighbours>().lists[2] = vec![1, 2]),
        (ASCENDING, |c| c.particles.states.get_mut::<Neighbours>().lists[3] = vec![5]),
        ("neighbour_counts", |c| c.particles.states.get_mut::<Neighbours>().lists.truncate(4)),
        ("regular_level: a level is above 36", |c| {
            c.particles.states.get_mut::<Neighbours>().regular_step[0] = Level(37)
        }),
        // Later than the run, and not at a multiple of the step.
        (WHEN, |c| c.particles.states.get_mut::<Neighbours>().regular_time[1] = Time(c.run.now.0 + 1)),
        (WHEN, |c| c.particles.states.get_mut::<Neighbours>().regular_time[1].0 -= 3),
        ("regular_time_ticks_before_1: particle 2 is at a later point", |c| {
            c.particles.states.get_mut::<Neighbours>().regular_history.points[0].time[2].0 += 1 << 40;
        }),
        ("neighbour_radius: a value is not a finite number", |c| {
            c.particles.states.get_mut::<Neighbours>().radius[4] = f64::INFINITY
        }),
        ("regular_jerk", |c| c.particles.states.get_mut::<Neighbours>().regular_jerk.truncate(3)),
    ];
    let dir = tempfile::tempdir().unwrap();
    for (expected, spoil) in spoil {
        let mut bad = with_neighbours(5, 1, 1);
        spoil(&mut bad);
        checkpoint::write(dir.path(), &bad).unwrap();
        let problem = checkpoint::read(&dir.path().join(NEWEST)).unwrap_err().to_string();
        assert!(problem.contains(expected), "expected {expected}, found {problem}");
    }
}

#[test]
fn counts_of_neighbours_that_do_not_add_up_are_refused() {
    const CHECKSUM: usize = 80;
    let dir = tempfile::tempdir().unwrap();
    for (count, with) in [(0, u32::MAX), (4, 0), (2, 77)] {
        checkpoint::write(dir.path(), &with_neighbours(5, 1, 1)).unwrap();
        let path = dir.path().join(NEWEST);
        let bytes = fs::read(&path).unwrap();
        // Without the checksum at its end, so that only the numbers speak against the file.
        fs::write(&path, &bytes[..bytes.len() - CHECKSUM]).unwrap();
        let file = hdf::change(&path);
        let counts = file.dataset("Particles/neighbour_counts").unwrap();
        let mut values = counts.read_raw::<u32>().unwrap();
        values[count] = with;
        counts.write_raw(&values).unwrap();
        drop((counts, file));
        checksum::append(&path).unwrap();
        let problem = checkpoint::read(&path).unwrap_err().to_string();
        assert!(problem.contains("neighbour_counts: expected 11 entries in all"), "{problem}");
    }
}

type Spoil = fn(&mut Checkpoint);

#[test]
fn states_that_no_run_leaves_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let spoil: [(&str, Spoil); 5] = [
        ("velocity: a value is not a finite number", |c| c.particles.vel[3][1] = f64::NAN),
        ("initial_energy: not a finite number", |c| c.run.references.energy = f64::INFINITY),
        ("two particles have the same id", |c| c.particles.id[0] = c.particles.id[1]),
        ("is not at a multiple of its step", |c| c.particles.time[0] = Time(12345)),
        ("level: a level is above 36", |c| c.particles.step[0] = Level(64)),
    ];
    for (expected, spoil) in spoil {
        let mut bad = checkpoint(5, 1);
        spoil(&mut bad);
        checkpoint::write(dir.path(), &bad).unwrap();
        let problem = checkpoint::read(&dir.path().join(NEWEST)).unwrap_err().to_string();
        assert!(problem.contains(expected), "{problem}");
    }
}

#[test]
fn inspect_names_the_units_of_the_run() {
    let dir = tempfile::tempdir().unwrap();
    let mut c = checkpoint(5, 1);
    // As runs write them, comments included, and as an unknown version may.
    for (units, expected) in [
        ("mass = \"Msun\"  # Unit of mass\nlength = \"au\"\ntime = \"yr\"  # Unit of time\n", " yr, "),
        ("mass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\"\n", " pc/(km/s), "),
        ("system = \"henon\"  # System of units\n", " T, "),
        ("mass = \"stone\"\nlength = \"pc\"\ntime = \"yr\"\n", " in the user's unit, "),
        ("", " in the user's unit, "),
    ] {
        c.provenance.config_resolved = format!("[run]\nname = \"x\"\n[units]\n{units}");
        checkpoint::write(dir.path(), &c).unwrap();
        let page = inspect::describe(&dir.path().join(NEWEST)).unwrap();
        let line = page.lines().find(|line| line.starts_with("time ")).unwrap();
        assert!(line.contains(&format!(" {}{expected}", c.run.time())), "{units}: {line}");
        let header = checkpoint::read_header(&dir.path().join(NEWEST)).unwrap();
        assert_eq!((header.n, header.run, &header.provenance), (5, c.run, &c.provenance));
    }
}

#[test]
fn inspect_shows_a_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    let c = checkpoint(5, 1);
    checkpoint::write(dir.path(), &c).unwrap();
    let page = inspect::describe(&dir.path().join(NEWEST)).unwrap();
    for word in
        ["tisane checkpoint", &format!("{:<28} 5", "particles"), "jerk", &c.particles.state_sha256(&c.run.clock)]
    {
        assert!(page.contains(word), "{word} is missing in\n{page}");
    }
}
