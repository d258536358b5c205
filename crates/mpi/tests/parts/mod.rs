//! The parts that the ranks play.

use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};
use tisane_mpi::{Fault, Wait, World, launched};

/// Exit code of the parts that end by an abort.
pub const ABORTED: i32 = 7;
/// Longer than any part takes, so that one that hangs fails.
const PATIENCE: Duration = Duration::from_secs(60);
/// A time limit that runs out.
const SHORT: Duration = Duration::from_millis(300);
/// How long a rank sleeps that does not answer: longer than the test may take.
pub const ASLEEP: Duration = Duration::from_secs(40);

pub fn play(part: &str) {
    assert!(launched(), "started by mpirun");
    let world = World::init().expect("an MPI library");
    match part {
        "place" => place(world),
        "broadcast" => broadcast(world),
        "gather" => gather(world),
        "round_trip" => round_trip(world),
        "large" => large(world),
        "late_answer" => late_answer(world),
        "late_broadcast" => late_broadcast(world),
        "stop" => stop(world),
        "wrong_calls" => wrong_calls(world),
        _ => panic!("no part {part}"),
    }
}

fn patient() -> Wait<'static> {
    Wait::at_most(PATIENCE)
}

/// Bytes that differ from place to place and from message to message.
fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|k| ((k * 31 + k / 251 + seed * 7) % 256) as u8).collect()
}

fn place(world: World) {
    assert!(world.rank() < world.size() && world.host_rank() < world.host_size());
    // All ranks of the test are on this host.
    assert_eq!((world.host_rank(), world.host_size()), (world.rank(), world.size()));
    assert!(!world.version().is_empty() && !world.version().contains('\n'), "{:?}", world.version());
    assert!(World::init().is_err(), "a second time");
    if world.rank() == 0 {
        println!("measured: {}", world.version());
    }
    world.finalize().unwrap();
}

fn broadcast(mut world: World) {
    // None, one, around a piece of 4 MiB, some pieces.
    for (seed, length) in [0, 1, 4 << 20, (4 << 20) + 1, 10_000_000, 1000].into_iter().enumerate() {
        let expected = pattern(length, seed);
        let mut bytes = if world.rank() == 0 { expected.clone() } else { vec![0; length] };
        world.broadcast(&mut bytes, &patient()).unwrap();
        assert!(bytes == expected, "{length} bytes on rank {}", world.rank());
    }
    world.finalize().unwrap();
}

fn gather(mut world: World) {
    let mut buffers = Vec::new();
    let mut before = Vec::new();
    world.agree_on_longest(if world.rank() == 0 { 2_000_000 } else { 0 }, &patient()).unwrap();
    world.agree_on_longest(1, &patient()).unwrap();
    // Long, then short in the same memory, then none.
    for (seed, unit) in [1_000_000, 13, 0, 1_000_000].into_iter().enumerate() {
        let length = |rank: usize| rank * unit;
        if world.rank() > 0 {
            world.send(&pattern(length(world.rank()), seed), &patient()).unwrap();
            continue;
        }
        let pending = world.expect(buffers).unwrap();
        thread::sleep(Duration::from_millis(20));
        buffers = world.complete(pending, &patient()).unwrap();
        let memory: Vec<_> = buffers.iter().map(|buffer| (buffer.as_ptr(), buffer.capacity())).collect();
        assert!(before.is_empty() || memory == before, "{memory:?}");
        before = memory;
        for (rank, buffer) in buffers.iter().enumerate().skip(1) {
            assert!(*buffer == pattern(length(rank), seed), "from rank {rank}: {} bytes", buffer.len());
        }
    }
    world.finalize().unwrap();
}

/// What is wrong on one side only is refused before it begins, and the world is then of no more use.
fn wrong_calls(mut world: World) {
    world.agree_on_longest(10, &patient()).unwrap();
    let refused = match world.rank() {
        0 => world.send(&[1], &patient()),
        1 => world.send(&[1; 11], &patient()),
        _ => world.expect(Vec::new()).map(drop),
    };
    assert!(matches!(&refused, Err(Fault::Mpi(text)) if text.contains("a mistake in tisane")), "{refused:?}");
    let after = world.broadcast(&mut [1], &patient());
    assert!(matches!(&after, Err(Fault::Mpi(text)) if text.contains("before this one")), "{after:?}");
    if world.rank() == 2 {
        // The last of them, so that the others have checked theirs.
        thread::sleep(SHORT);
        abort(world, refused);
    }
    println!("refused on rank {}", world.rank());
    thread::sleep(ASLEEP);
}

/// Returns the mean time, in µs, of a broadcast answered by all ranks.
fn trip(world: &mut World, trips: usize, bytes: usize) -> f64 {
    let mut question = vec![1; bytes];
    let answer = vec![2; bytes];
    let mut buffers = Vec::new();
    world.agree_on_longest(bytes, &patient()).unwrap();
    let began = Instant::now();
    for _ in 0..trips {
        if world.rank() == 0 {
            let pending = world.expect(buffers).unwrap();
            world.broadcast(&mut question, &patient()).unwrap();
            buffers = world.complete(pending, &patient()).unwrap();
            assert!(buffers.iter().skip(1).all(|buffer| buffer.len() == bytes));
        } else {
            world.broadcast(&mut question, &patient()).unwrap();
            world.send(&answer, &patient()).unwrap();
        }
    }
    began.elapsed().as_secs_f64() / trips as f64 * 1e6
}

fn round_trip(mut world: World) {
    let mean = trip(&mut world, 20_000, 1024);
    if world.rank() == 0 {
        println!("measured: {mean:.2} µs for a round trip of 1 kB");
    }
    world.finalize().unwrap();
}

/// Large messages, at once and after so long a wait that the ranks sleep between polls.
fn large(mut world: World) {
    let bytes = 10_000_000;
    trip(&mut world, 2, bytes);
    let at_once = trip(&mut world, 10, bytes) / 1e3;
    let mut after_a_wait = 0.0;
    for _ in 0..5 {
        if world.rank() == 0 {
            thread::sleep(Duration::from_millis(100));
        }
        after_a_wait += trip(&mut world, 1, bytes) / 1e3 / 5.0;
    }
    let mut buffers = Vec::new();
    let mut late_answers = 0.0;
    for _ in 0..5 {
        let began = Instant::now();
        if world.rank() == 0 {
            let pending = world.expect(buffers).unwrap();
            buffers = world.complete(pending, &patient()).unwrap();
        } else {
            thread::sleep(Duration::from_millis(100));
            world.send(&vec![1; bytes], &patient()).unwrap();
        }
        late_answers += (began.elapsed().as_secs_f64() * 1e3 - 100.0) / 5.0;
        trip(&mut world, 1, 1);
    }
    if world.rank() == 0 && world.size() > 1 {
        println!(
            "measured: {at_once:.1} ms for a round trip of 10 MB, {after_a_wait:.1} ms after a wait of the others"
        );
        println!("measured: {late_answers:.1} ms for answers of 10 MB after a wait of rank 0");
    }
    world.finalize().unwrap();
}

/// Prints the fault and ends all ranks.
fn abort<T>(world: World, result: Result<T, Fault>) -> ! {
    match result {
        Ok(_) => panic!("no fault on rank {}", world.rank()),
        Err(fault) => println!("{fault}"),
    }
    // Time for mpirun to take over the line, which an abort may cut off.
    thread::sleep(Duration::from_millis(200));
    world.abort(ABORTED)
}

/// Rank 1 of 3 does not answer.
fn late_answer(mut world: World) {
    world.agree_on_longest(10, &patient()).unwrap();
    match world.rank() {
        0 => {
            let pending = world.expect(Vec::new()).unwrap();
            let result = world.complete(pending, &Wait::at_most(SHORT));
            assert!(matches!(&result, Err(Fault::TimedOut { ranks, waited }) if *ranks == [1] && *waited >= SHORT));
            assert!(world.broadcast(&mut [], &patient()).is_err(), "after a fault");
            abort(world, result)
        }
        1 => thread::sleep(ASLEEP),
        _ => {
            world.send(&[1, 2, 3], &patient()).unwrap();
            let _ = world.broadcast(&mut [0], &patient());
        }
    }
}

/// Rank 0 does not broadcast.
fn late_broadcast(mut world: World) {
    match world.rank() {
        0 => thread::sleep(ASLEEP),
        1 => {
            let result = world.broadcast(&mut [0; 5000], &Wait::at_most(SHORT));
            abort(world, result)
        }
        _ => drop(world.broadcast(&mut [0; 5000], &patient())),
    }
}

/// A flag that is set ends a wait without limit.
fn stop(mut world: World) {
    if world.rank() > 0 {
        return thread::sleep(ASLEEP);
    }
    let flag = AtomicBool::new(true);
    let pending = world.expect(Vec::new()).unwrap();
    let result = world.complete(pending, &Wait::forever().with_stop(&flag, SHORT));
    assert!(matches!(&result, Err(Fault::TimedOut { ranks, .. }) if *ranks == [1]), "{result:?}");
    abort(world, result)
}
