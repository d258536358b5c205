//! Wall times in words, to the accuracy of a prediction.

/// Wall time of a run as it is expected.
#[derive(Clone, Debug, PartialEq)]
pub struct WallTime {
    /// Wall time on a machine that has nothing else to do, in s.
    pub seconds: f64,
    /// Factor within which it lies either way.
    pub within: f64,
    /// What it rests on, as it follows the range in a sentence.
    pub why: String,
}

impl WallTime {
    /// Describes the wall time of `runs` such runs, one after another.
    #[must_use]
    pub fn of(&self, runs: f64) -> String {
        describe_range(runs * self.seconds, self.within)
    }
}

/// Describes a wall time in s with the range of a factor `within` either way.
#[must_use]
pub fn describe_range(seconds: f64, within: f64) -> String {
    let [likely, min, max] = [seconds, seconds / within, seconds * within].map(describe_seconds);
    format!("about {likely} ({min} to {max})")
}

/// Describes a wall time with two significant digits, the accuracy of a prediction.
#[must_use]
pub fn describe_seconds(seconds: f64) -> String {
    match seconds {
        ..1.0 => format!("{:.0} ms", (seconds * 1e3).max(1.0)),
        ..90.0 => format!("{seconds:.0} s"),
        ..5400.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.1} d", seconds / 86400.0),
    }
}
