//! Promise: the state that a run ends in depends on its input, mode and scheme alone. For each of them the table
//! `tests/determinism.txt` has one hash, and runs on any number of threads, on every vector width that this machine
//! has, by the engines `cpu` and `reference`, with any outputs, stopped and resumed anywhere, all end there. What
//! `restart_bitwise.rs` shows of the program with its files is here done in the library, where more ways can be tried;
//! `gpu/cuda_determinism.rs` does the same on a GPU.
//!
//! The table holds for every machine. A change of it changes the results of users: CHANGELOG.md says so under *Results
//! change*. `cargo test --release --test bits determinism -- --ignored --nocapture` prints the table anew.

use crate::matrix;
use matrix::{Job, STRAIGHT, Scheme, System, assert_ends_in, end_of, jobs, row, schemes};
use tisane::force::cpu::Width;
use tisane::force::precision::Precision;

const THREADS: [usize; 5] = [1, 2, 3, 7, 5];

/// The vector widths of this machine; says which are not there.
fn widths() -> Vec<Width> {
    for name in Width::NAMES {
        if Width::from_name(name).is_none() {
            eprintln!("SKIPPED: this machine has no {name}");
        }
    }
    Width::available()
}

/// Engines of the CPU, the reference as `None`.
fn engines() -> Vec<Option<Width>> {
    widths().into_iter().map(Some).chain([None]).collect()
}

/// Modes that share the pairs of the four schemes between them.
const HALVES: [Precision; 2] = [Precision::F64, Precision::Mixed];

/// Every pair of an engine with its width, a number of threads, a cadence and a way of stopping, by four schemes: half of
/// the pairs in `f64`, half in `mixed`. The other modes differ in the arithmetic of the forces alone, and the multi-point
/// schemes share all of the rest with the scheme of 4th order: there each scheme takes two of five pairs, other ones than
/// the next scheme and mode, and each engine, number, cadence and way comes up in every mode. The fifth engine is another one
/// each session. A second system takes two of these pairs, too.
fn every_way(precision: Precision) {
    let engines = engines();
    let mode = Precision::ALL.iter().position(|one| *one == precision).unwrap();
    let half = HALVES.iter().position(|one| *one == precision);
    for (number, scheme) in schemes(precision).enumerate() {
        let all = matches!(scheme, Scheme::Hermite4 | Scheme::AhmadCohen6 | Scheme::Leapfrog | Scheme::Encounters);
        let (first, second) = (scheme.systems()[0], scheme.systems()[1]);
        let pairs = (0..25).map(|k| (first, k / 5, k % 5)).filter(move |(_, i, j)| match half {
            Some(half) if all => (i + j) % 2 == half,
            _ => i == j && (i + 2 * number + mode) % 5 < 2,
        });
        let rows = pairs.chain([mode, mode + 2].map(|k| (second, k % 5, k % 5)));
        for (system, i, j) in rows {
            let job = Job { precision, scheme, system };
            let (course, engine, threads) = row(i, j);
            let way = |session: usize| {
                let turn = if engine == 4 { session } else { 0 };
                ((THREADS[threads] + turn), engines[(engine + turn) % engines.len()])
            };
            let (count, one) = way(0);
            let what = format!("begun by {} on {count} threads", one.map_or("reference", |width| width.name()));
            assert_ends_in(job.expected(), &job, &course, &what, &|session| {
                let (threads, engine) = way(session);
                (threads, job.on_cpu(engine))
            });
        }
        if !scheme.systems().contains(&System::Large) {
            continue;
        }
        let job = Job { precision, scheme, system: System::Large };
        for (i, width) in widths().into_iter().enumerate() {
            let threads = if half.is_some() && i == 0 { &THREADS[..] } else { &THREADS[(mode + i) % 5..][..1] };
            for threads in threads {
                let what = format!("{} on {threads} threads", width.name());
                assert_ends_in(job.expected(), &job, &STRAIGHT, &what, &|_| (*threads, job.on_cpu(Some(width))));
            }
        }
    }
}

/// Engines that share the targets, another number of them in each session. Each scheme takes its two small systems by
/// turns over the modes.
#[test]
fn any_number_of_engines_ends_in_one_state() {
    let engines = engines();
    for (mode, precision) in Precision::ALL.into_iter().enumerate() {
        for (number, scheme) in schemes(precision).enumerate() {
            let k = (mode + number) % 2;
            let job = Job { precision, scheme, system: scheme.systems()[k] };
            let several = |session: usize| -> Vec<_> {
                (0..2 + (k + session) % 3).map(|i| engines[(i + session) % engines.len()]).collect()
            };
            let what = format!("begun by {} engines", several(0).len());
            let (course, ..) = row(k, 1 + k);
            assert_ends_in(job.expected(), &job, &course, &what, &|session| (1, job.on_several(&several(session))));
        }
    }
}

#[test]
fn every_mode_ends_in_one_state() {
    std::thread::scope(|all| {
        for precision in Precision::ALL {
            all.spawn(move || every_way(precision));
        }
    });
}

/// Only then does a hash say something of the mode: but `f64-fast`, which on the CPU is `f64`, and two modes that differ
/// where there are more units than one bag holds, each has a state of its own.
#[test]
fn modes_schemes_and_systems_end_in_different_states() {
    let is_other = |job: &&Job| match job.precision {
        Precision::F64Fast => true,
        Precision::F32Chamomile => job.system == System::Hierarchies,
        _ => false,
    };
    let mut hashes: Vec<_> = jobs().iter().filter(|job| !is_other(job)).map(Job::expected).collect();
    let all = hashes.len();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), all);
}

#[test]
#[ignore = "prints the table"]
fn table() {
    for job in jobs() {
        println!("{} {}", job.name(), end_of(&job, &STRAIGHT, &|_| (1, job.on_cpu(None))));
    }
}
