//! Pace of a run: the wall time that it still takes, for the progress on the screen and for `tisane why`.

/// Part of the wall time of a run, the last one, whose pace is the present one.
const RECENT: f64 = 0.1;

/// Moment of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    /// Time reached.
    pub time: f64,
    /// Wall time of the run until then, in s.
    pub wall_seconds: f64,
}

/// Returns the index of the moment from which on the pace is the present one: the last that lies at least a tenth of the
/// wall time back, else the first. [`None`] for fewer than two moments, and without wall time or progress between them.
#[must_use]
pub fn recent(moments: &[Moment]) -> Option<usize> {
    let [before @ .., last] = moments else { return None };
    let back = |moment: &Moment| last.wall_seconds - moment.wall_seconds >= RECENT * last.wall_seconds;
    let goes_on = |moment: &Moment| last.time > moment.time && last.wall_seconds > moment.wall_seconds;
    let from = before.iter().rposition(|moment| back(moment) && goes_on(moment)).unwrap_or(0);
    before.get(from).filter(|first| goes_on(first)).map(|_| from)
}

/// Returns the wall time that a run still takes from the last of some moments to `t_end`, in s, at its present pace.
#[must_use]
pub fn to_go(moments: &[Moment], t_end: f64) -> Option<f64> {
    let (from, last) = (moments[recent(moments)?], moments.last()?);
    let seconds = (t_end - last.time) * (last.wall_seconds - from.wall_seconds) / (last.time - from.time);
    Some(seconds).filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(all: &[(f64, f64)]) -> Vec<Moment> {
        all.iter().map(|&(time, wall_seconds)| Moment { time, wall_seconds }).collect()
    }

    #[test]
    fn the_present_pace_is_that_of_the_last_tenth() {
        // 1 s for each unit of time, and 50 s for the last one.
        let mut slow: Vec<(f64, f64)> = (0..=10).map(|k| (f64::from(k), f64::from(k))).collect();
        slow.push((11.0, 60.0));
        assert_eq!((recent(&moments(&slow)), to_go(&moments(&slow), 13.0)), (Some(10), Some(100.0)));
        // The last row alone is too short to tell.
        let even: Vec<(f64, f64)> = (0..=100).map(|k| (f64::from(k), 2.0 * f64::from(k))).collect();
        assert_eq!((recent(&moments(&even)), to_go(&moments(&even), 150.0)), (Some(90), Some(100.0)));
        assert_eq!(to_go(&moments(&[(0.0, 0.0), (1.0, 3.0)]), 1.0), Some(0.0));
    }

    #[test]
    fn without_progress_there_is_no_end() {
        for few in [
            &[][..],
            &[(1.0, 1.0)],
            &[(1.0, 1.0), (1.0, 2.0)],
            &[(1.0, 1.0), (2.0, 1.0)],
            &[(0.0, 0.0), (1.0, f64::NAN)],
        ] {
            assert_eq!(to_go(&moments(few), 3.0), None, "{few:?}");
        }
    }
}
