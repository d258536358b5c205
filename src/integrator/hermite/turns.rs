//! Turns of host and engine, where the engine takes block steps by itself.

/// Number of steps that the host takes at least after the engine refused one. It doubles with every refusal: a system
/// may have forces that always need the closer look.
const HOST_TURN: u64 = 16;
const MOST_HOST_TURN: u64 = 1 << 16;

/// Smallest number of steps that the engine is asked to take: for fewer it costs more to bring the state back.
const LEAST: u64 = 16;

/// Turns of host and engine.
#[derive(Debug)]
pub struct Turns {
    /// Number of steps that are the host's.
    host: u64,
    /// Number of them after the next refusal.
    next: u64,
}

impl Default for Turns {
    fn default() -> Self {
        Self { host: 0, next: HOST_TURN }
    }
}

impl Turns {
    /// Returns true if the next step may be the engine's, of `most` that are left.
    pub const fn is_engines(&self, most: u64) -> bool {
        self.host == 0 && most >= LEAST
    }

    /// Notes that the engine took steps and left at least `refused` to the host. Returns true if it left none.
    pub fn note_engine(&mut self, refused: u64) -> bool {
        if refused == 0 {
            self.next = HOST_TURN.max(self.next / 2);
        } else {
            self.host = refused.max(self.next);
            self.next = MOST_HOST_TURN.min(2 * self.next);
        }
        refused == 0
    }

    /// Notes a step of the host.
    pub const fn note_host(&mut self) {
        self.host = self.host.saturating_sub(1);
    }
}
