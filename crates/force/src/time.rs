//! Exact time and block levels, without floating-point comparisons.
//!
//! The time axis is divided into integer *ticks*. The longest step `dt_max` is [`TICKS_PER_DT_MAX`] = 2³⁶ ticks, so
//! that `dt_max` may be any length of time while every step `dt_max / 2^level` is a whole number of ticks (method.md,
//! "block time steps"; the integer time line of block schemes after McMillan 1986 and Makino 1991).

/// log₂ of the number of ticks in `dt_max`; also the deepest level.
pub const LOG2_TICKS_PER_DT_MAX: u32 = 36;
/// Number of block levels, 0 … 36.
pub const LEVELS: usize = LOG2_TICKS_PER_DT_MAX as usize + 1;
/// Number of ticks in the longest step.
pub const TICKS_PER_DT_MAX: u64 = 1 << LOG2_TICKS_PER_DT_MAX;
/// Largest number of `dt_max` steps in a run; beyond it the tick counter would overflow.
pub const MAX_DT_MAX_STEPS: u64 = u64::MAX >> (LOG2_TICKS_PER_DT_MAX + 1);

/// Moment in whole ticks since the start of the time axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Time(pub u64);

impl Time {
    /// Returns the moment after `n` steps of `dt_max`.
    #[inline]
    #[must_use]
    pub const fn from_dt_max(n: u64) -> Self {
        Self(n * TICKS_PER_DT_MAX)
    }

    /// Returns true if the moment is a multiple of `dt_max`, where all particles are synchronised.
    #[inline]
    #[must_use]
    pub const fn is_synchronised(self) -> bool {
        self.0.is_multiple_of(TICKS_PER_DT_MAX)
    }

    /// Returns true if the moment is a multiple of the step of `level`.
    #[inline]
    #[must_use]
    pub const fn is_multiple_of(self, level: Level) -> bool {
        self.0.is_multiple_of(level.ticks())
    }

    /// Returns the moment one step of `level` later.
    #[inline]
    #[must_use]
    pub const fn after(self, level: Level) -> Self {
        Self(self.0 + level.ticks())
    }

    /// Returns the shallowest level (longest step) of whose step this moment is a multiple.
    #[inline]
    #[must_use]
    pub fn shallowest_level(self) -> Level {
        let zeros = self.0.trailing_zeros().min(LOG2_TICKS_PER_DT_MAX);
        Level((LOG2_TICKS_PER_DT_MAX - zeros) as u8)
    }
}

/// Block level: its step is `dt_max / 2^level`, 0 ≤ level ≤ 36.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Level(pub u8);

impl Level {
    /// Deepest level that the tick resolves.
    pub const DEEPEST: Self = Self(LOG2_TICKS_PER_DT_MAX as u8);

    /// Returns the step length in ticks.
    #[inline]
    #[must_use]
    pub const fn ticks(self) -> u64 {
        TICKS_PER_DT_MAX >> self.0
    }

    /// Returns the shallowest level whose step is no longer than `ratio · dt_max`; level 0 for `ratio ≥ 1`, and
    /// [`None`] where even the deepest level's step is too long (`ratio < 2⁻³⁶`, zero or NaN).
    #[inline]
    #[must_use]
    pub fn not_longer_than(ratio: f64) -> Option<Self> {
        if ratio >= 1.0 {
            return Some(Self(0));
        }
        // For a normal 0 < ratio < 1 the biased exponent is 1023 + floor(log2 ratio): exact, no logarithm.
        let exponent = 1023 - ((ratio.to_bits() >> 52) & 0x7ff) as i64;
        (ratio > 0.0 && exponent <= i64::from(LOG2_TICKS_PER_DT_MAX)).then_some(Self(exponent as u8))
    }

    /// Returns the deepest level whose step is no shorter than `ratio · dt_max` (0 < ratio ≤ 1), at most
    /// [`Level::DEEPEST`].
    #[inline]
    #[must_use]
    pub fn not_shorter_than(ratio: f64) -> Self {
        match Self::not_longer_than(ratio) {
            Some(level) if level.0 > 0 && level.step(1.0) < ratio => Self(level.0 - 1),
            Some(level) => level,
            None => Self::DEEPEST,
        }
    }

    /// Returns the step length for a given `dt_max`, in its unit: an exact scaling by a power of two.
    #[inline]
    #[must_use]
    pub fn step(self, dt_max: f64) -> f64 {
        dt_max * f64::from_bits((1023 - u64::from(self.0)) << 52)
    }
}

/// Conversion of ticks to floating-point time: the start of the axis and the length of `dt_max`, in one unit of time.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Clock {
    /// Time at tick 0.
    pub start: f64,
    /// Length of the longest step.
    pub dt_max: f64,
}

impl Clock {
    /// Returns the moment as a floating-point time, rounded once per operation. For output only, never compared.
    #[inline]
    #[must_use]
    pub fn time(&self, t: Time) -> f64 {
        let whole = (t.0 / TICKS_PER_DT_MAX) as f64;
        let part = (t.0 % TICKS_PER_DT_MAX) as f64 / TICKS_PER_DT_MAX as f64;
        self.start + (whole + part) * self.dt_max
    }

    /// Returns the length of time from `from` to `to` (`to ≥ from`). Exact where it is a power-of-two fraction of
    /// `dt_max`.
    #[inline]
    #[must_use]
    pub fn between(&self, from: Time, to: Time) -> f64 {
        (to.0 - from.0) as f64 * self.tick()
    }

    /// Returns the length of one tick.
    #[inline]
    #[must_use]
    pub fn tick(&self) -> f64 {
        self.dt_max / TICKS_PER_DT_MAX as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_bracket_a_step() {
        for (ratio, longer, shorter) in [
            (1.0, 0, 0),
            (2.0, 0, 0),
            (0.5, 1, 1),
            (0.6, 1, 0),
            (0.25, 2, 2),
            (0.249_999, 3, 2),
            (2f64.powi(-36), 36, 36),
        ] {
            assert_eq!(Level::not_longer_than(ratio), Some(Level(longer)), "not longer than {ratio}");
            assert_eq!(Level::not_shorter_than(ratio), Level(shorter), "not shorter than {ratio}");
        }
        for none in [2f64.powi(-37), 0.0, -1.0, f64::NAN, 5e-324] {
            assert_eq!(Level::not_longer_than(none), None, "{none}");
        }
    }

    #[test]
    fn a_moment_knows_its_shallowest_level() {
        assert_eq!(Time(0).shallowest_level(), Level(0));
        assert_eq!(Time::from_dt_max(3).shallowest_level(), Level(0));
        let t = Time::from_dt_max(1).after(Level(5));
        assert_eq!(t.shallowest_level(), Level(5));
        assert!(t.is_multiple_of(Level(6)) && !t.is_multiple_of(Level(4)) && !t.is_synchronised());
    }

    #[test]
    fn the_clock_is_exact_on_block_steps() {
        let clock = Clock { start: 0.0, dt_max: 0.125 };
        let t = Time::from_dt_max(2).after(Level(3));
        assert_eq!(clock.time(t), 0.25 + 0.125 / 8.0);
        assert_eq!(clock.between(Time::from_dt_max(2), t), 0.125 / 8.0);
    }
}
