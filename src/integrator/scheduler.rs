//! Who moves next. No physics.
//!
//! A particle of level `l` always stands at the last multiple of `dt_max / 2^l`, so all particles of a level are due
//! together, and at a moment `t` exactly those levels are due whose step divides `t`. Lists by level are all that is needed.

use crate::time::{LEVELS, Level, Time};

/// The particles, listed by block level.
#[derive(Clone, Debug)]
pub struct Scheduler {
    now: Time,
    levels: Vec<Vec<u32>>,
}

impl Scheduler {
    /// A schedule for particles with the given levels, at the moment `now` of the last block.
    #[must_use]
    pub fn new(now: Time, steps: &[Level]) -> Self {
        let mut scheduler = Self { now, levels: vec![Vec::new(); LEVELS] };
        for (i, &level) in steps.iter().enumerate() {
            scheduler.add(i as u32, level);
        }
        scheduler
    }

    /// The moment of the last block.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Moves on to the next moment at which somebody is due and takes those particles out of the schedule, in ascending
    /// order, into `block`. Each must be given back with [`Self::add`].
    pub fn next_block(&mut self, block: &mut Vec<u32>) -> Time {
        block.clear();
        let deepest = self.levels.iter().rposition(|list| !list.is_empty()).unwrap_or(0);
        let step = Level(deepest as u8).ticks();
        self.now = Time((self.now.0 / step + 1) * step);
        for list in &mut self.levels[usize::from(self.now.shallowest_level().0)..=deepest] {
            block.append(list);
        }
        block.sort_unstable();
        self.now
    }

    /// Puts particle `i` on the schedule with steps of `level`.
    pub fn add(&mut self, i: u32, level: Level) {
        self.levels[usize::from(level.0)].push(i);
    }
}
