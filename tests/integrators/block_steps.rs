//! Promise: block-step bookkeeping is exact, for any sequence of wanted steps. No physics.

use proptest::prelude::*;
use tisane::integrator::scheduler::Scheduler;
use tisane::integrator::timestep::next_level;
use tisane::time::{Level, TICKS_PER_DT_MAX, Time};

/// A moment after all others.
const LAST: Time = Time(u64::MAX);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Random wishes for steps: every invariant of the scheme must hold at every block.
    #[test]
    fn verify_invariants_of_block_steps(
        start in prop::collection::vec(0u8..9, 1..40), wishes in prop::collection::vec(0u8..12, 400), periods in 0u64..5
    ) {
        let begin = Time::from_dt_max(periods);
        let mut step: Vec<Level> = start.into_iter().map(Level).collect();
        let mut time = vec![begin; step.len()];
        let mut scheduler = Scheduler::new(begin, &step);
        let (mut block, mut wishes) = (Vec::new(), wishes.into_iter().cycle());
        for _ in 0..300 {
            let due: Vec<Time> = time.iter().zip(&step).map(|(&t, &l)| t.after(l)).collect();
            let earliest = *due.iter().min().unwrap();
            let before = scheduler.next_block(&step, Time(earliest.0 - 1), &mut block);
            prop_assert_eq!(before, None, "nobody is due before");
            let now = scheduler.next_block(&step, earliest, &mut block).unwrap();
            prop_assert_eq!(now, earliest, "the smallest t + dt comes next");
            let expected: Vec<u32> = (0..step.len() as u32).filter(|&i| due[i as usize] == earliest).collect();
            prop_assert_eq!(&block, &expected, "everyone due then, in order, and nobody else");
            for i in block.iter().map(|&i| i as usize) {
                time[i] = now;
                let (old, wanted) = (step[i], Level(wishes.next().unwrap()));
                step[i] = next_level(old, wanted, now);
                prop_assert!(step[i].0 + 1 >= old.0, "doubles at most once");
                prop_assert!(wanted < old || step[i] == wanted, "halves as far as wanted");
                prop_assert!(now.is_multiple_of(step[i]), "a particle's time is a multiple of its step");
            }
            scheduler.reschedule(&step, &block);
            if now.is_synchronised() {
                prop_assert!(time.iter().all(|&t| t == now), "everyone stands at a multiple of dt_max");
            }
        }
    }

    /// A schedule rebuilt in mid-flight goes on as the old one.
    #[test]
    fn a_rebuilt_schedule_is_the_same(start in prop::collection::vec(0u8..7, 1..30), stop in 1usize..60) {
        let mut step: Vec<Level> = start.into_iter().map(Level).collect();
        let mut scheduler = Scheduler::new(Time::default(), &step);
        let mut block = Vec::new();
        for round in 0..stop {
            let now = scheduler.next_block(&step, LAST, &mut block).unwrap();
            for &i in &block {
                let wanted = Level(((round + i as usize) % 7) as u8);
                step[i as usize] = next_level(step[i as usize], wanted, now);
            }
            scheduler.reschedule(&step, &block);
        }
        let mut rebuilt = Scheduler::new(scheduler.now(), &step);
        let mut other = Vec::new();
        prop_assert_eq!(scheduler.next_block(&step, LAST, &mut block), rebuilt.next_block(&step, LAST, &mut other));
        prop_assert_eq!(block, other);
    }
}

#[test]
fn ticks_do_not_overflow_within_the_longest_run() {
    let last = Time::from_dt_max(tisane::time::MAX_DT_MAX_STEPS);
    assert!(last.0.checked_add(TICKS_PER_DT_MAX).is_some());
}
