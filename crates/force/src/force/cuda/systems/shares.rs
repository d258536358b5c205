//! How many steps each of many systems takes in a launch: shares of what each is expected to take to its end, so that
//! all end at about the same time and no multiprocessor is idle before.

use crate::force::block_steps::{SystemSteps, Taken};

/// Number of steps from which on they tell how many are to come.
const KNOWN_FROM: u64 = 256;
/// Largest share, in those of the mean system: expectations may be wrong, and a launch is as long as its longest system.
const MAX_SHARE: f64 = 4.0;
/// Part of the expected steps from which on a launch goes to the end, with as much to spare.
const TO_THE_END: f64 = 0.5;

/// Returns the number of steps that a system is expected to take from where it is to the end of its span, as many in a
/// time as until now; [`None`] if that is not known.
pub fn expected_steps(system: &SystemSteps<'_>, taken: &Taken) -> Option<f64> {
    let SystemSteps { span, before, .. } = system;
    let (steps, begin) = if *before > 0 { (before + taken.block_steps, 0) } else { (taken.block_steps, span.from.0) };
    let ticks = |from: u64, to: u64| to.saturating_sub(from) as f64;
    let (over, rest) = (ticks(begin, taken.now.0), ticks(taken.now.0, span.until.0));
    (steps >= KNOWN_FROM && over > 0.0).then(|| (steps as f64 * rest / over).max(1.0))
}

/// Returns the largest numbers of steps of systems in a launch of `steps` steps in the mean, by the steps that each is
/// expected to take to its end: `steps` where that is not known.
pub fn shares(expected: &[Option<f64>], steps: u64) -> Vec<u64> {
    let known = expected.iter().flatten();
    let mean = known.clone().sum::<f64>() / known.count().max(1) as f64;
    let part = steps as f64 / mean;
    let (part, max) = if part < TO_THE_END { (part, steps as f64) } else { (1.0 / TO_THE_END, mean.max(steps as f64)) };
    let share = |expected: f64| (expected * part).min(MAX_SHARE * max).ceil() as u64;
    expected.iter().map(|expected| expected.map_or(steps, share)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::block_steps::{Span, StepRules, StepScheme};
    use crate::force::noise::Noise;
    use crate::force::range::Thresholds;
    use crate::particles::Particles;
    use crate::time::{Clock, Level, Time};

    const RULES: StepRules = StepRules {
        scheme: StepScheme::Hermite4 { nu: 0.01, iterations: 1 },
        dt_max: 1.0,
        floor: Level::DEEPEST,
        clamps: false,
        compensated: false,
        noise: Noise {
            relative: 0.0,
            per_mass: 1.0,
            square: 1.0,
            per_rest: 1.0,
            square_of_rest: 1.0,
            heaviest: u32::MAX,
        },
        thresholds: Thresholds { coordinate: 1.0, speed: 1.0, min_acc: 0.0, max_acc: 1.0 },
    };

    #[test]
    fn systems_have_equal_parts_of_what_they_are_expected_to_take() {
        assert_eq!(shares(&[Some(1000.0), Some(2000.0), Some(3000.0)], 200), [100, 200, 300]);
        // One of which much is expected must not make the others wait.
        assert_eq!(shares(&[Some(0.0); 99].into_iter().chain([Some(1e6)]).collect::<Vec<_>>(), 100)[99], 400);
        assert_eq!(shares(&[None, Some(500.0), None], 100), [100, 100, 100]);
        assert_eq!(shares(&[None, None], 64), [64, 64]);
        assert!(shares(&[], 64).is_empty());
    }

    #[test]
    fn near_the_end_a_launch_goes_there_with_some_to_spare() {
        assert_eq!(shares(&[Some(1000.0), Some(2000.0)], 750), [2000, 4000]);
        assert_eq!(shares(&[Some(1.0), Some(3.0)], 64), [2, 6]);
    }

    #[test]
    fn a_system_is_expected_to_go_on_as_it_did() {
        let mut particles = Particles::default();
        let mut expected = |before: u64, taken: u64, now: u64| {
            let span = Span { from: Time(600), until: Time(1000), max: u64::MAX };
            let clock = Clock { start: 0.0, dt_max: 1.0 };
            let system = SystemSteps { particles: &mut particles, clock, epsilon: 0.0, rules: RULES, span, before };
            expected_steps(&system, &Taken { now: Time(now), block_steps: taken, ..Taken::default() })
        };
        assert_eq!(expected(0, 0, 600), None);
        assert_eq!(expected(0, 100, 700), None);
        assert_eq!(expected(0, 400, 700), Some(1200.0));
        assert_eq!(expected(1200, 0, 600), Some(800.0));
        assert_eq!(expected(1200, 300, 750), Some(500.0));
        assert_eq!(expected(1200, 800, 1000), Some(1.0));
    }
}
