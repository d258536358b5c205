//! Scheduler of block steps: the particles that move next.
//!
//! A particle of level `l` always stands at the last multiple of `dt_max / 2^l`, so that at a moment `t` exactly those
//! particles are due whose step divides `t`: their level determines it. The levels are the particles' own column, which
//! is searched in order for those that are due. The deepest level of every 64 particles is kept and searched first, so
//! that a small block of a large system costs no more than a small block.

use tisane_force::time::{Level, Time};

/// Number of particles in a group whose deepest level is kept, and of levels that are compared at a time, one bit of a
/// word each.
const GROUP: usize = u64::BITS as usize;

/// Moment of the last block, and deepest level of every group of particles.
#[derive(Clone, Debug)]
pub struct Scheduler {
    now: Time,
    deepest: Vec<Level>,
    /// Rows without a particle, ascending: of level 0, and never due.
    empty: Vec<u32>,
}

impl Scheduler {
    /// Creates a scheduler for particles with the given levels, at the moment `now` of the last block.
    #[must_use]
    pub fn new(now: Time, steps: &[Level]) -> Self {
        Self { now, deepest: steps.chunks(GROUP).map(deepest).collect(), empty: Vec::new() }
    }

    /// Goes on at another moment with other levels of the same rows.
    pub fn restart(&mut self, now: Time, steps: &[Level]) {
        let empty = std::mem::take(&mut self.empty);
        *self = Self { empty, ..Self::new(now, steps) };
    }

    /// Takes note of all rows without a particle, ascending, which have the level 0.
    pub fn set_empty(&mut self, empty: &[u32]) {
        self.empty.clear();
        self.empty.extend_from_slice(empty);
    }

    /// Returns the number of rows without a particle.
    #[must_use]
    pub fn empty(&self) -> usize {
        self.empty.len()
    }

    /// Takes note of rows in which particles begin, or that are left without one: both ascending. Rows at the end may be new.
    pub fn change_rows(&mut self, steps: &[Level], begun: &[u32], emptied: &[u32]) {
        self.empty.retain(|row| begun.binary_search(row).is_err());
        self.empty.extend_from_slice(emptied);
        self.empty.sort_unstable();
        self.empty.dedup();
        self.deepest.resize(steps.len().div_ceil(GROUP), Level::default());
        self.reschedule(steps, begun);
        self.reschedule(steps, emptied);
    }

    /// Takes rows without a particle out of an ascending list.
    pub fn leave_out_empty(&self, rows: &mut Vec<u32>) {
        let mut empty = self.empty.iter().copied().peekable();
        rows.retain(|&row| {
            while empty.next_if(|&other| other < row).is_some() {}
            empty.next_if_eq(&row).is_none()
        });
    }

    /// Returns the moment of the last block.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns the deepest level of all particles.
    #[must_use]
    pub fn deepest(&self) -> Level {
        deepest(&self.deepest)
    }

    /// Advances to the next moment at which particles are due, lists them in `block`, ascending, and returns the
    /// moment. If it is after `until`, returns [`None`] and changes nothing. `steps` are the levels of all particles;
    /// where they change, [`Self::reschedule`] must be called before the next block.
    pub fn next_block(&mut self, steps: &[Level], until: Time, block: &mut Vec<u32>) -> Option<Time> {
        let step = deepest(&self.deepest).ticks();
        let next = Time((self.now.0 / step + 1) * step);
        if next > until {
            return None;
        }
        self.now = next;
        block.clear();
        let due = self.now.shallowest_level();
        for (k, groups) in self.deepest.chunks(GROUP).enumerate() {
            for group in ones(at_least(due, groups)).map(|bit| k * GROUP + bit as usize) {
                let first = group * GROUP;
                let members = at_least(due, &steps[first..steps.len().min(first + GROUP)]);
                block.extend(ones(members).map(|bit| first as u32 + bit));
            }
        }
        if due == Level::default() {
            self.leave_out_empty(block);
        }
        Some(self.now)
    }

    /// Records the new levels of the particles in `block`, which is in ascending order.
    pub fn reschedule(&mut self, steps: &[Level], block: &[u32]) {
        if block.len() >= self.deepest.len() {
            // Most groups have changed.
            for (kept, levels) in self.deepest.iter_mut().zip(steps.chunks(GROUP)) {
                *kept = deepest(levels);
            }
            return;
        }
        let mut done = usize::MAX;
        for group in block.iter().map(|&i| i as usize / GROUP) {
            if group != done {
                let first = group * GROUP;
                self.deepest[group] = deepest(&steps[first..steps.len().min(first + GROUP)]);
                done = group;
            }
        }
    }
}

/// Returns the places of the set bits, ascending.
fn ones(bits: u64) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(bits), |bits| Some(bits & bits.wrapping_sub(1)))
        .take_while(|&bits| bits != 0)
        .map(u64::trailing_zeros)
}

/// Returns the deepest of some levels.
fn deepest(levels: &[Level]) -> Level {
    Level(levels.iter().map(|level| level.0).fold(0, u8::max))
}

/// Returns one bit for each of up to 64 levels, set if the level is `due` or deeper.
fn at_least(due: Level, levels: &[Level]) -> u64 {
    /// Word whose bytes are all one.
    const ONES: u64 = 0x0101_0101_0101_0101;
    // Levels stay far below 128: adding 128 − due to each of eight bytes sets the top bit of those that are due, and a
    // product gathers the eight top bits in one byte.
    let add = ONES * u64::from(128 - due.0);
    let eight = |levels: &[Level; 8]| {
        let top = (u64::from_le_bytes(levels.map(|level| level.0)) + add) >> 7 & ONES;
        top.wrapping_mul(0x0102_0408_1020_4080) >> 56
    };
    let (whole, rest) = levels.as_chunks::<8>();
    let bits = whole.iter().enumerate().fold(0, |bits, (k, levels)| bits | eight(levels) << (8 * k));
    let first = 8 * whole.len();
    rest.iter().enumerate().fold(bits, |bits, (k, &level)| bits | u64::from(level >= due) << (first + k))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane_force::time::LEVELS;

    #[test]
    fn a_bit_for_every_level_that_is_due() {
        for n in [0, 1, 7, 8, 9, 63, 64] {
            let levels: Vec<Level> = (0..n).map(|k| Level((k * 23 % LEVELS) as u8)).collect();
            for due in (0..LEVELS).map(|due| Level(due as u8)) {
                let expected = (0..n).filter(|&k| levels[k] >= due).fold(0, |bits, k| bits | 1 << k);
                assert_eq!(at_least(due, &levels), expected, "{n} levels, {due:?}");
            }
        }
    }

    /// Blocks of every size, in systems that end within a word and within a group.
    #[test]
    fn the_block_is_everyone_who_is_due_in_order() {
        for n in [1, 63, 64, 65, 1000, 5 * GROUP, GROUP * GROUP + 1] {
            let level = |i: usize, round: usize| Level(((i * i + 7 * round) % 97 % 9) as u8);
            let mut steps: Vec<Level> = (0..n).map(|i| level(i, 0)).collect();
            let mut scheduler = Scheduler::new(Time::default(), &steps);
            let (mut block, mut last) = (Vec::new(), Time::default());
            for round in 1..300 {
                let earliest = steps.iter().map(|level| Time((last.0 / level.ticks() + 1) * level.ticks())).min();
                let earliest = earliest.unwrap();
                block.clear();
                assert_eq!(scheduler.next_block(&steps, Time(earliest.0 - 1), &mut block), None);
                assert!(block.is_empty() && scheduler.now() == last, "nothing has changed");
                let now = scheduler.next_block(&steps, earliest, &mut block).unwrap();
                assert_eq!(now, earliest);
                let due: Vec<u32> = (0..n as u32).filter(|&i| now.is_multiple_of(steps[i as usize])).collect();
                assert_eq!(block, due, "{n} particles, round {round}");
                for &i in &block {
                    let i = i as usize;
                    steps[i] = crate::integrator::timestep::next_level(steps[i], level(i, round), now);
                }
                scheduler.reschedule(&steps, &block);
                last = now;
            }
        }
    }

    /// Rows begin and end between blocks, also new ones at the end.
    #[test]
    fn rows_without_a_particle_are_never_due() {
        let mut steps: Vec<Level> = (0..60).map(|i| Level(i % 3)).collect();
        let (mut scheduler, mut block) = (Scheduler::new(Time::default(), &steps), Vec::new());
        let mut empty: Vec<u32> = Vec::new();
        for round in 0..200u32 {
            let (begun, ended) = (round % 7 * 11, round % 5 * 13 + 2);
            let new = steps.len() as u32;
            let begun: Vec<u32> = if begun == ended { vec![new] } else { vec![begun.min(new), new] };
            let emptied: Vec<u32> = if begun.contains(&ended) || ended > new { Vec::new() } else { vec![ended] };
            steps.push(Level::default());
            begun
                .iter()
                .for_each(|&i| steps[i as usize] = Level((round % 4) as u8).max(scheduler.now().shallowest_level()));
            emptied.iter().for_each(|&i| steps[i as usize] = Level::default());
            empty.retain(|row| !begun.contains(row) && !emptied.contains(row));
            empty.extend(&emptied);
            empty.sort_unstable();
            scheduler.change_rows(&steps, &begun, &emptied);
            assert_eq!(scheduler.empty, empty);
            let now = scheduler.next_block(&steps, Time(u64::MAX), &mut block).unwrap();
            let is_due = |i: &u32| now.is_multiple_of(steps[*i as usize]) && !empty.contains(i);
            assert_eq!(block, (0..steps.len() as u32).filter(is_due).collect::<Vec<_>>(), "round {round}");
        }
        let (empty, last) = (scheduler.empty.clone(), scheduler.now());
        scheduler.restart(last, &steps);
        assert_eq!(scheduler.empty, empty);
        scheduler.set_empty(&[]);
        assert_eq!(scheduler.empty(), 0);
    }

    #[test]
    fn nobody_is_nobody() {
        let (mut scheduler, mut block) = (Scheduler::new(Time::default(), &[]), vec![1]);
        assert_eq!(scheduler.next_block(&[], Time::from_dt_max(1), &mut block), Some(Time::from_dt_max(1)));
        assert!(block.is_empty());
    }
}
