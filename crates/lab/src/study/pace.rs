//! Pace of the beginning of a run, and the wall time that it gives for the whole.

use super::cpu_time::{Passed, load};
use super::wall_time::WallTime;
use crate::validate::verdict::number;

/// Scatter of a wall time, as ln: at least, as machines are never alike twice; and at most, also where the end of the
/// first dt_max is not reached.
const SCATTER: [f64; 2] = [0.2, 0.55];
/// Ratio of wall time and CPU time from which on the machine is called busy.
const BUSY: f64 = 1.5;

/// Part of the beginning of a run that was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stretch {
    /// Time that passed.
    pub passed: Passed,
    /// Pairs evaluated.
    pub pairs: u64,
    /// Time that was covered, in dt_max.
    pub covered: f64,
    /// Wall time of each whole dt_max, in s.
    pub whole: Vec<f64>,
}

/// Pace of the beginning of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pace {
    /// Wall time of the start in s: loading, the first forces, the first steps.
    pub start: f64,
    /// Pairs evaluated at the start.
    pub start_pairs: u64,
    /// Time of the first steps of the stars after it, in s, and what they covered, in dt_max: left out of what follows, as these
    /// steps are shorter than all others.
    pub skipped: [f64; 2],
    /// Wall time of the block steps after it, in s.
    pub seconds: f64,
    /// Pairs evaluated in them.
    pub pairs: u64,
    /// Time that they covered, in dt_max.
    pub covered: f64,
    /// Wall time of each whole dt_max, in s.
    pub whole: Vec<f64>,
    /// Pairs in one dt_max, if every particle keeps the time step that it had at the end.
    pub pairs_per_dt_max: f64,
    /// Wall time of all, and that without the time in which threads waited for a core. The other times are such ones.
    pub waited: Passed,
}

impl Pace {
    /// Takes in the part after what was measured: that is left out from now on, as its steps are shorter.
    pub fn go_on(&mut self, next: Stretch) {
        self.waited = self.waited.and(next.passed);
        if next.covered > 0.0 {
            self.skipped[0] += self.seconds;
            self.skipped[1] += self.covered;
            (self.seconds, self.pairs) = (next.passed.undisturbed, next.pairs);
            (self.covered, self.whole) = (next.covered, next.whole);
        }
    }

    /// Returns the wall time of one dt_max in s: the mean of those that were measured, or what the time steps say.
    ///
    /// In a part of a dt_max only the small blocks are seen. The wall time of a pair, at most that of the start, gives
    /// the cost of all pairs in a dt_max; the rest of the measured time is that of small blocks and goes on as it was.
    #[must_use]
    pub fn seconds_per_dt_max(&self) -> f64 {
        if !self.whole.is_empty() {
            return self.whole.iter().sum::<f64>() / self.whole.len() as f64;
        }
        // A particle alone has no pairs.
        let per_pair = |seconds: f64, pairs: u64| (pairs > 0).then(|| seconds / pairs as f64);
        let measured = [per_pair(self.start, self.start_pairs), per_pair(self.seconds, self.pairs)];
        let pair = measured.into_iter().flatten().reduce(f64::min).unwrap_or(0.0);
        let rest = self.seconds - pair * self.pairs as f64;
        pair * self.pairs_per_dt_max + if self.covered > 0.0 { rest / self.covered } else { 0.0 }
    }

    /// Returns the factor within which the wall time lies if the run goes on as it begins.
    #[must_use]
    pub fn within(&self) -> f64 {
        let [min, max] = SCATTER;
        let mean = self.seconds_per_dt_max();
        let misfit = self.whole.iter().map(|seconds| (seconds / mean).ln().powi(2)).sum::<f64>();
        let scatter = match self.whole.len() {
            0 => max,
            // Of a single dt_max the scatter is not known: half way.
            1 => 0.5 * (min + max),
            k => (misfit / k as f64).sqrt().clamp(min, max),
        };
        (2.0 * scatter).exp()
    }

    /// Returns the wall time of a run of `steps` dt_max, each `dt_max` long in `unit`, with what it rests on.
    #[must_use]
    pub fn wall_time(&self, steps: u64, dt_max: (f64, &str)) -> WallTime {
        WallTime { seconds: self.total(steps), within: self.within(), why: self.why(steps, dt_max) }
    }

    /// Describes what the wall time of a run rests on.
    fn why(&self, steps: u64, (dt_max, unit): (f64, &str)) -> String {
        let (whole, [_, skipped]) = (self.whole.len() as f64, self.skipped);
        if whole + skipped >= steps as f64 {
            return format!("; measured: the whole run{}", self.busy());
        }
        let seconds = |seconds: f64| format!("{} s", three_digits(seconds));
        let time = |covered: f64| three_digits(covered * dt_max);
        let first = |covered: f64| match skipped > 0.0 {
            true => format!("from {} to {} {unit}", time(skipped), time(skipped + covered)),
            false => format!("the first {} {unit}", time(covered)),
        };
        let percent = |part: f64| format!("{} %", three_digits(100.0 * part));
        let measured = if whole > 0.0 {
            let took = seconds(self.whole.iter().sum());
            format!("{took}, {} ({} of the run)", first(whole), percent(whole / steps as f64))
        } else if self.covered > 0.0 {
            let took = seconds(self.seconds);
            let (first, part) = (first(self.covered), percent(self.covered));
            format!("{took}, {first} ({part} of one dt_max), extrapolated by the time steps there")
        } else {
            format!("{}, the first forces alone, extrapolated by the time steps that they give", seconds(self.start))
        };
        format!(" if it goes on as it begins; measured: {measured}{}", self.busy())
    }

    /// Returns the wall time of a run of `steps` dt_max, in s.
    #[must_use]
    pub fn total(&self, steps: u64) -> f64 {
        let [seconds, skipped] = self.skipped;
        self.start + seconds + self.seconds_per_dt_max() * (steps as f64 - skipped).max(0.0)
    }

    /// Says what a machine with other work makes of the time; nothing where it has none.
    fn busy(&self) -> String {
        let Passed { wall, undisturbed } = self.waited;
        if wall < BUSY * undisturbed || undisturbed == 0.0 {
            return String::new();
        }
        let load = load().map_or_else(String::new, |load| format!(" ({load})"));
        format!(
            "; on a machine without other work: this one is busy{load}, and the run takes {} times as long now",
            three_digits(wall / undisturbed)
        )
    }
}

/// Three significant digits.
pub(super) fn three_digits(x: f64) -> String {
    number(format!("{x:.2e}").parse().unwrap_or(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(pace: &Pace, steps: u64, dt_max: (f64, &str)) -> String {
        let wall_time = pace.wall_time(steps, dt_max);
        wall_time.of(1.0) + &wall_time.why
    }

    #[test]
    fn whole_dt_max_are_extrapolated_by_their_mean_and_scatter() {
        let steady = Pace { covered: 4.3, whole: vec![0.1; 4], ..Pace::default() };
        assert!((steady.seconds_per_dt_max() - 0.1).abs() < 1e-15);
        assert!((steady.within() / 0.4f64.exp() - 1.0).abs() < 1e-12);
        let uneven = Pace { whole: vec![0.05, 0.15, 0.05, 0.15], ..steady.clone() };
        assert!((uneven.seconds_per_dt_max() - 0.1).abs() < 1e-15);
        assert!(uneven.within() > 2.0 && uneven.within() < 1.1f64.exp() * 1.001, "{}", uneven.within());
        let text = described(&steady, 100, (0.25, "Myr"));
        let expected =
            "about 10 s (7 s to 15 s) if it goes on as it begins; measured: 0.4 s, the first 1 Myr (4 % of the run)";
        assert_eq!(text, expected);
        assert_eq!(described(&steady, 4, (0.25, "Myr")), "about 400 ms (268 ms to 597 ms); measured: the whole run");
    }

    #[test]
    fn first_steps_are_left_out_and_a_busy_machine_is_told() {
        let waited = Passed { wall: 3.0, undisturbed: 0.5 };
        let part = Pace { start: 0.1, skipped: [0.2, 1e-3], seconds: 0.3, covered: 2e-3, waited, ..Pace::default() };
        assert!((part.seconds_per_dt_max() - 150.0).abs() < 1e-9 && (part.total(2) - 300.15).abs() < 1e-9);
        let text = described(&part, 2, (0.5, "Myr"));
        assert!(text.contains("measured: 0.3 s, from 5e-4 to 0.0015 Myr (0.2 % of one dt_max)"), "{text}");
        assert!(text.contains("; on a machine without other work: this one is busy (load "), "{text}");
        assert!(text.ends_with(", and the run takes 6 times as long now"), "{text}");
        let whole = Pace { skipped: [0.1, 1.0], whole: vec![0.2; 3], ..Pace::default() };
        assert_eq!(described(&whole, 4, (1.0, "T")), "about 700 ms (469 ms to 1 s); measured: the whole run");
    }

    /// The first part of a dt_max takes 8 times as long as the rest of it, and as much as a later one.
    #[test]
    fn what_comes_later_counts() {
        let passed = |seconds| Passed { wall: 2.0 * seconds, undisturbed: seconds };
        let part = |seconds, covered| Stretch { passed: passed(seconds), pairs: 0, covered, whole: Vec::new() };
        let mut it = Pace { start: 1.0, waited: passed(1.0), ..Pace::default() };
        it.go_on(part(0.8, 0.1));
        assert!((it.total(10) - (1.0 + 8.0 * 10.0)).abs() < 1e-12, "{}", it.total(10));
        it.go_on(part(0.9, 0.9));
        assert!((it.total(10) - (1.0 + 0.8 + 9.9)).abs() < 1e-12, "{}", it.total(10));
        it.go_on(Stretch { whole: vec![0.5, 0.7], ..part(1.3, 2.2) });
        assert!((it.total(10) - (1.0 + 0.8 + 0.9 + 0.6 * 9.0)).abs() < 1e-12, "{}", it.total(10));
        // One that covered nothing is no measure.
        let before = it.clone();
        it.go_on(part(0.1, 0.0));
        assert_eq!(it.waited, before.waited.and(passed(0.1)));
        assert_eq!(Pace { waited: before.waited, ..it }, before);
    }

    #[test]
    fn part_of_a_dt_max_is_extrapolated_by_the_time_steps() {
        // A pair takes 1 ns. In a thousandth of a dt_max small blocks took 10⁷ pairs, and 0.02 s more than these.
        let start = Pace { start: 0.1, start_pairs: 100_000_000, pairs_per_dt_max: 5e10, ..Pace::default() };
        let part = Pace { seconds: 0.03, pairs: 10_000_000, covered: 1e-3, ..start.clone() };
        assert!((part.seconds_per_dt_max() / (50.0 + 20.0) - 1.0).abs() < 1e-9, "{}", part.seconds_per_dt_max());
        // A start that loads much is no measure of a pair: the steps are.
        let slow = Pace { start: 100.0, ..part.clone() };
        assert!((slow.seconds_per_dt_max() / 150.0 - 1.0).abs() < 1e-9, "{}", slow.seconds_per_dt_max());
        assert!((start.seconds_per_dt_max() / 50.0 - 1.0).abs() < 1e-9);
        let text = described(&part, 2, (0.125, "T"));
        assert!(
            text.ends_with(
                "measured: 0.03 s, the first 1.25e-4 T (0.1 % of one dt_max), extrapolated by the time steps there"
            ),
            "{text}"
        );
        let text = described(&start, 2, (0.125, "T"));
        assert!(
            text.starts_with(
                "about 2 min (33 s to 5 min) if it goes on as it begins; measured: 0.1 s, the first forces"
            ),
            "{text}"
        );
        assert_eq!(described(&Pace::default(), 1, (1.0, "T")).split(" if ").next(), Some("about 1 ms (1 ms to 1 ms)"));
    }
}
