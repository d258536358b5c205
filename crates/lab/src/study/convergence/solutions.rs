//! Converged solutions: two solutions of one system, of different tolerances, that agree to the digits wanted at every moment.
//! The coarser one is then right to these digits (Boekholt & Portegies Zwart 2015, Computational Astrophysics and Cosmology 2,
//! 2). How many digits a tolerance needs follows from how fast the first two solutions part.

use super::divergence::{Difference, Divergence, Size};
use super::points::{self, Key, Measured};
use super::system::{State, System};
use crate::study::config::ConvergenceSweep;
use crate::study::journal::{Journal, Outcome};
use crate::study::points::{Work, finish};
use tisane::error::{Error, Result};

/// Digits of the first tolerance beyond those wanted.
const FIRST: u32 = 6;
/// Digits between the first two tolerances.
const APART: u32 = 8;
/// Digits of a tolerance beyond those that the growth of errors asks for.
const SPARE: f64 = 2.0;
/// Digits between a solution and the one that confirms it.
const CONFIRMING: u32 = 2;
/// Difference in half-mass radii or rms speeds up to which two solutions still part exponentially.
const PARTED: f64 = 0.01;

/// Two solutions of a system, and what they have in common.
#[derive(Clone, Debug)]
pub struct Pair {
    /// System.
    pub system: System,
    /// Digits of the tolerances of the coarser and of the finer solution.
    pub digits: [u32; 2],
    /// Bits of both.
    pub bits: [u32; 2],
    /// Pairs evaluated by both.
    pub pairs: [u64; 2],
    /// Half-mass radius and rms speed at the start.
    pub size: Size,
    /// Differences at each moment, without the start.
    pub differences: Vec<Difference>,
    /// Number of moments to which they agree.
    pub converged: usize,
}

impl Pair {
    fn of(system: &System, wanted: u32, [a, b]: [&Solved; 2]) -> Self {
        let size = a.states.first().map_or(Size { radius: f64::NAN, speed: f64::NAN }, Size::of);
        let states = a.states.iter().zip(&b.states).skip(1);
        let differences: Vec<Difference> = states.map(|(a, b)| Difference::of(a, b, size)).collect();
        let bound = 10f64.powi(-(wanted as i32));
        let converged = differences.iter().take_while(|it| it.largest < bound).count();
        Self {
            system: *system,
            digits: [a.digits, b.digits],
            bits: [a.bits, b.bits],
            pairs: [a.pairs, b.pairs],
            size,
            differences,
            converged,
        }
    }

    /// Returns true if they agree at all moments.
    #[must_use]
    pub const fn is_converged(&self) -> bool {
        self.converged == self.system.moments
    }

    /// Returns the time to which they agree.
    #[must_use]
    pub fn converged_to(&self) -> f64 {
        self.converged as f64 * self.system.interval
    }

    /// Returns the largest difference up to that time; NaN if they agree at no moment.
    #[must_use]
    pub fn agreement(&self) -> f64 {
        self.differences[..self.converged].iter().map(|it| it.largest).fold(f64::NAN, f64::max)
    }

    /// Returns how they part, with a threshold in half-mass radii.
    #[must_use]
    pub fn divergence(&self, threshold: f64) -> Divergence {
        let distances: Vec<f64> = self.differences.iter().map(|it| it.distance).collect();
        Divergence::of(&distances, self.system.interval, threshold)
    }

    /// Returns the digits of a tolerance that by their growth leaves the `wanted` ones at the last moment.
    fn needed(&self, wanted: u32) -> u32 {
        let last = self.differences.iter().rposition(|it| it.largest > 0.0 && it.largest < PARTED);
        let Some(last) = last else { return self.digits[1] + APART };
        let left = (self.differences.len() - 1 - last) as f64 * self.system.interval;
        let rate = self.divergence(PARTED).rate.map_or(0.0, |rate| rate.value.max(0.0));
        let growth = f64::from(self.digits[0]) + self.differences[last].largest.log10() + rate * left / 10f64.ln();
        (f64::from(wanted) + growth + SPARE).ceil().max(1.0) as u32
    }
}

/// Solution that is there.
struct Solved {
    digits: u32,
    bits: u32,
    states: Vec<State>,
    pairs: u64,
}

/// State of the search for a converged solution of a system.
struct Search {
    system: System,
    solved: Vec<Solved>,
    /// Why a solution of more digits could not be found.
    failure: Option<String>,
}

impl Search {
    fn pair(&self, wanted: u32) -> Option<Pair> {
        let [.., a, b] = &self.solved[..] else { return None };
        Some(Pair::of(&self.system, wanted, [a, b]))
    }

    /// Returns the next solution to find, as digits and bits; [`None`] if two agree, one failed, or no more digits are allowed.
    fn next(&self, it: &ConvergenceSweep) -> Option<(u32, u32)> {
        if self.failure.is_some() {
            return None;
        }
        let allowed = |digits: u32| Some((digits, it.bits(digits)?));
        let most = |from: u32| (from..).map_while(allowed).last();
        let digits = match (&self.solved[..], self.pair(it.digits)) {
            ([], _) => it.digits + FIRST,
            ([first], _) => first.digits + APART,
            (_, Some(pair)) if pair.is_converged() => return None,
            // Where the last one was to be right, the next one confirms it.
            ([.., last], Some(pair)) => pair.needed(it.digits).max(last.digits + CONFIRMING),
            ([.., last], None) => last.digits + APART,
        };
        let beyond = self.solved.last().map_or(1, |last| last.digits + 1);
        let (last, bits) = most(beyond)?;
        // One with the most digits that are allowed confirms the one before it.
        if digits + CONFIRMING <= last || digits <= last && self.solved.is_empty() {
            return allowed(digits);
        }
        let before = last.saturating_sub(CONFIRMING);
        if before >= beyond { allowed(before) } else { Some((last, bits)) }
    }
}

/// Converged solution of a system, or the two that agree for the longest time.
#[derive(Clone, Debug)]
pub struct Converged {
    /// System.
    pub system: System,
    /// The last two solutions; [`None`] if there are not two, for `failure`.
    pub pair: Option<Pair>,
    /// States of the coarser one, at the start and at each moment.
    pub states: Vec<State>,
    /// Why a solution of more digits could not be found: the integration cannot go on.
    pub failure: Option<String>,
}

/// Finds converged solutions of some systems, with all solutions kept in `journal`.
///
/// # Errors
/// As the journal; if the first two solutions need more bits than are allowed.
pub fn solve(
    it: &ConvergenceSweep,
    systems: &[System],
    journal: &mut Journal<Key, Measured>,
    work: &Work<'_>,
) -> Result<Vec<Converged>> {
    let moments = it.moments();
    let mut searches: Vec<Search> =
        systems.iter().map(|system| Search { system: *system, solved: Vec::new(), failure: None }).collect();
    loop {
        let mut keys = Vec::new();
        let mut which = Vec::new();
        for (k, search) in searches.iter().enumerate() {
            if let Some((digits, bits)) = search.next(it) {
                keys.push(Key::Solution { system: search.system, digits, bits });
                which.push(k);
            }
        }
        if keys.is_empty() {
            return searches.into_iter().map(|search| search.end(it.digits)).collect();
        }
        let results = finish(journal, &keys, work, Key::cost, points::describe, |key| key.measure(moments, &[]))?;
        for ((k, key), result) in which.into_iter().zip(keys).zip(results) {
            let search = &mut searches[k];
            match (key, result) {
                (Key::Solution { digits, bits, .. }, Outcome::Done(Measured::Solution { states, pairs })) => {
                    search.solved.push(Solved { digits, bits, states, pairs });
                }
                (_, Outcome::Failed(why)) => search.failure = Some(why),
                (_, Outcome::Done(_)) => {
                    let problem = "a point of the journal is no solution".into();
                    return Err(Error::Integration { problem, help: None });
                }
            }
        }
    }
}

impl Search {
    fn end(mut self, wanted: u32) -> Result<Converged> {
        let pair = self.pair(wanted);
        if pair.is_none() && self.failure.is_none() {
            return Err(Error::Integration {
                problem: "two solutions need more bits than `max_bits`".into(),
                help: Some("allow more bits, or ask for fewer digits".into()),
            });
        }
        let coarse = self.solved.len().checked_sub(2);
        let states = coarse.map_or_else(Vec::new, |coarse| self.solved.swap_remove(coarse).states);
        Ok(Converged { system: self.system, pair, states, failure: self.failure })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOMENTS: usize = 80;

    fn sweep(max_bits: u32) -> ConvergenceSweep {
        ConvergenceSweep { max_bits, digits: 6, ..ConvergenceSweep::default() }
    }

    /// A solution of this tolerance whose error grows by `rate` digits a unit of time.
    fn solved(digits: u32, bits: u32, rate: f64) -> Solved {
        let state = |k: usize| {
            let error = (f64::from(-(digits as i32)) + rate * k as f64 / 8.0).min(0.0);
            let low = if k == 0 { 0.0 } else { 10f64.powf(error) };
            State {
                pos: vec![1.0, 0.0, 0.0, -1.0, 0.0, 0.0],
                pos_low: vec![low; 6],
                vel: vec![1.0; 6],
                vel_low: vec![0.0; 6],
            }
        };
        Solved { digits, bits, states: (0..=MOMENTS).map(state).collect(), pairs: 1 }
    }

    /// Returns the digits of all solutions that are found, and the moments to which the last two agree.
    fn search(max_bits: u32, rate: f64) -> (Vec<u32>, usize) {
        let it = sweep(max_bits);
        let system = System { n: 2, seed: 1, epsilon: 0.0, interval: 0.125, moments: MOMENTS };
        let mut search = Search { system, solved: Vec::new(), failure: None };
        while let Some((digits, bits)) = search.next(&it) {
            assert!(bits <= max_bits && search.solved.iter().all(|it| it.digits < digits));
            search.solved.push(solved(digits, bits, rate));
        }
        let found = search.solved.iter().map(|it| it.digits).collect();
        (found, search.end(it.digits).unwrap().pair.unwrap().converged)
    }

    #[test]
    fn the_growth_of_errors_tells_the_digits_that_are_needed() {
        // 0.5 digits a unit: 12 digits less 5 leave 7 of 6 wanted.
        assert_eq!(search(256, 0.5), (vec![12, 20], MOMENTS));
        // 2 digits a unit: 6 wanted, 20 by growth, 2 to spare; the next one confirms them.
        assert_eq!(search(256, 2.0), (vec![12, 20, 28, 30], MOMENTS));
        // More than double-double has: the last two have as many as there are.
        let (digits, converged) = search(106, 2.0);
        assert_eq!(digits, [12, 20, 24, 26]);
        // 24 less 6 digits by 2 a unit: 9 units of time.
        assert_eq!(converged, 72);
    }

    #[test]
    fn a_solution_that_cannot_be_found_leaves_what_there_is() {
        let it = sweep(256);
        let system = System { n: 2, seed: 1, epsilon: 0.0, interval: 0.125, moments: MOMENTS };
        let end = |digits: &[u32]| {
            let solved = digits.iter().map(|&digits| solved(digits, 106, 2.0)).collect();
            let search = Search { system, solved, failure: Some("planted".into()) };
            assert_eq!(search.next(&it), None);
            search.end(it.digits).unwrap()
        };
        // 12 less 6 digits by 2 a unit: 3 units of time.
        let two = end(&[12, 20]);
        assert_eq!((two.pair.unwrap().converged, two.states.len()), (24, MOMENTS + 1));
        let one = end(&[12]);
        assert!(one.pair.is_none() && one.states.is_empty());
        assert_eq!(one.failure.as_deref(), Some("planted"));
    }
}
