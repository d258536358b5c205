//! Another longest step for a run that is resumed: the same moments and steps, counted in other ticks.

use tisane::error::Result;
use tisane::force::external::ExternalField;
use tisane::force::external::guide::segment::{Segment, follow};
use tisane::particles::Particles;
use tisane::states::{Values, ValuesMut};
use tisane::time::{Clock, Level, MAX_DT_MAX_STEPS, TICKS_PER_DT_MAX, Time};
use tisane_io::checkpoint::OrbitNumbers;

/// Why a run cannot continue with another longest step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// The ratio of the two is not a power of two.
    Ratio,
    /// Particles stand between moments that both can count, or have steps longer than the new longest one.
    Moment,
    /// There are subsystems: a state with times and steps that only its scheme reads.
    Subsystems,
}

/// Counts the times and steps of a run in ticks of another longest step, by a power of two shorter or longer. Steps
/// longer than it become it, which is possible only where they end after `now`.
pub(super) fn rebase(p: &mut Particles, now: &mut Time, clock: &mut Clock, dt_max: f64) -> Result<(), Obstacle> {
    let halvings = (clock.dt_max / dt_max).log2().round();
    if !(halvings.abs() < 64.0 && dt_max * 2f64.powf(halvings) == clock.dt_max) {
        return Err(Obstacle::Ratio);
    }
    if p.states.iter().any(|state| state.columns().iter().any(|column| matches!(column.values, Values::Words(_)))) {
        return Err(Obstacle::Subsystems);
    }
    let shift = halvings as i32;
    let max = MAX_DT_MAX_STEPS.saturating_mul(TICKS_PER_DT_MAX);
    let count = |time: Time| match shift {
        0.. => time.0.checked_shl(shift as u32).filter(|ticks| ticks >> shift == time.0 && *ticks <= max),
        _ => time.0.is_multiple_of(1 << -shift).then(|| time.0 >> -shift),
    };
    let moment = |time: Time| count(time).map(Time).ok_or(Obstacle::Moment);
    let then = moment(*now)?;
    let mut moved = p.clone();
    let step = |time: Time, level: Level| {
        let time = moment(time)?;
        let level = i32::from(level.0) - shift;
        if level < 0 && time.0 + TICKS_PER_DT_MAX <= then.0 || level > i32::from(Level::DEEPEST.0) {
            return Err(Obstacle::Moment);
        }
        Ok((time, Level(level.max(0) as u8)))
    };
    for i in 0..p.len() {
        (moved.time[i], moved.step[i]) = step(p.time[i], p.step[i])?;
    }
    for column in moved.states.iter_mut().flat_map(|state| state.columns_mut()) {
        match column.values {
            ValuesMut::Steps(times, levels) => {
                for (time, level) in times.iter_mut().zip(levels) {
                    (*time, *level) = step(*time, *level)?;
                }
            }
            ValuesMut::Moments(times) => {
                for time in times {
                    *time = moment(*time)?;
                }
            }
            _ => {}
        }
    }
    *p = moved;
    (*now, clock.dt_max) = (then, dt_max);
    Ok(())
}

/// Lets the orbit of the origin go on from the beginning of the present step of another longest one. `before` and `after` are the
/// time axis and the moment as both count it.
///
/// # Errors
/// As [`follow`].
pub(super) fn rebase_orbit(
    orbit: &mut OrbitNumbers,
    field: &dyn ExternalField,
    before: (Clock, Time),
    after: (Clock, Time),
) -> Result<()> {
    let beginning = |(clock, now): (Clock, Time)| {
        let step = now.0 / TICKS_PER_DT_MAX;
        (clock.time(Time::from_dt_max(step)), step as f64 * clock.dt_max)
    };
    let ((t, old), (_, new)) = (beginning(before), beginning(after));
    if new != old {
        let segments = follow(field, t, orbit.origin, new - old)?;
        orbit.origin = segments.last().map_or(orbit.origin, Segment::end);
    }
    orbit.tidal.until = in_ticks(orbit.tidal.until, before.0, after.0);
    Ok(())
}

/// Returns a multiple of the old longest step, at which work is known, in ticks of another one: its ticks are whole numbers of them.
pub(super) fn in_ticks(until: Time, before: Clock, after: Clock) -> Time {
    Time((until.0 as f64 * (before.dt_max / after.dt_max)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tisane::diagnostics::tidal_work::TidalWork;
    use tisane::encounters::SubsystemState;
    use tisane::force::external::Plummer;
    use tisane::force::external::guide::{MovingOrigin, OrbitState};
    use tisane::particles::Vec3;
    use tisane::states::neighbours::Neighbours;

    const CLOCK: Clock = Clock { start: 1.0, dt_max: 0.5 };

    fn three(times: [u64; 3], levels: [u8; 3]) -> Particles {
        let mut p = Particles::new(vec![1.0; 3], vec![Vec3::zeros(); 3], vec![Vec3::zeros(); 3]);
        (p.time, p.step) = (times.map(Time).to_vec(), levels.map(Level).to_vec());
        p
    }

    #[test]
    fn moments_and_steps_stay_as_they_are() {
        let unit = TICKS_PER_DT_MAX;
        for dt_max in [0.25, 1.0, 0.125, 0.5] {
            let (mut p, mut now, mut clock) = (three([2 * unit; 3], [2, 3, 9]), Time(2 * unit), CLOCK);
            rebase(&mut p, &mut now, &mut clock, dt_max).unwrap();
            assert_eq!((clock.time(now), clock.dt_max), (2.0, dt_max));
            for (i, level) in [2, 3, 9].into_iter().enumerate() {
                assert_eq!(p.step[i].step(dt_max), Level(level).step(0.5));
                assert_eq!(clock.time(p.time[i]), 2.0);
            }
        }
    }

    /// Three particles of a neighbour scheme that stand at one moment, whose regular steps began before it.
    fn with_regular_steps(times: [u64; 3], levels: [u8; 3]) -> Particles {
        let mut p = three([TICKS_PER_DT_MAX; 3], [4, 5, 9]);
        let mut of = Neighbours::new(3, 1, 2);
        of.regular_time = times.map(Time).to_vec();
        of.regular_step = levels.map(Level).to_vec();
        of.regular_history.points[0].time = times.map(|time| Time(time - TICKS_PER_DT_MAX / 8)).to_vec();
        p.states.set(of);
        p
    }

    #[test]
    fn regular_steps_stay_as_they_are() {
        let unit = TICKS_PER_DT_MAX;
        for dt_max in [0.25, 1.0, 0.125, 0.5] {
            let before = with_regular_steps([unit, unit, unit - unit / 16], [2, 3, 4]);
            let (mut p, mut now, mut clock) = (before.clone(), Time(unit), CLOCK);
            rebase(&mut p, &mut now, &mut clock, dt_max).unwrap();
            for i in 0..3 {
                let [then, later] = [(&before, &CLOCK), (&p, &clock)].map(|(p, clock)| {
                    let of = p.states.get::<Neighbours>();
                    let earlier = of.regular_history.points[0].time[i];
                    [clock.time(of.regular_time[i]), of.regular_step[i].step(clock.dt_max), clock.time(earlier)]
                });
                assert_eq!(then, later, "particle {i}, dt_max = {dt_max}");
            }
        }
    }

    #[test]
    fn regular_steps_that_cannot_be_counted_are_refused() {
        let unit = TICKS_PER_DT_MAX;
        for (times, levels, dt_max) in [
            // An odd number of ticks has no half.
            ([unit, unit, unit - 1], [2, 3, 36], 1.0),
            // A regular step of a quarter that has begun is longer than the new longest step.
            ([unit, unit, unit - unit / 8], [2, 3, 2], 1.0 / 32.0),
        ] {
            let (mut p, mut now, mut clock) = (with_regular_steps(times, levels), Time(unit), CLOCK);
            let before = p.clone();
            assert_eq!(rebase(&mut p, &mut now, &mut clock, dt_max), Err(Obstacle::Moment), "dt_max = {dt_max}");
            assert!(p == before && (now, clock) == (Time(unit), CLOCK));
        }
    }

    #[test]
    fn an_orbit_goes_on_from_the_present_step_of_another_longest_one() {
        let field = Plummer { mass: 1.0, position: Vec3::zeros(), scale_radius: 0.0 };
        let start = OrbitState { pos: Vec3::x(), vel: 0.8 * Vec3::y() };
        let unit = TICKS_PER_DT_MAX;
        // One and three quarters of a step: the new ones begin at 1.5, 1.75 and 0 old ones.
        for (dt_max, now) in [(0.25, 7 * unit / 2), (0.125, 7 * unit), (1.0, 7 * unit / 8)] {
            let origin = MovingOrigin::new(Arc::new(field), CLOCK, (0, start));
            let then = Time(7 * unit / 4);
            let tidal = TidalWork { until: Time(unit), ..TidalWork::default() };
            let mut orbit = OrbitNumbers { origin: origin.beginning(then).unwrap(), tidal };
            let clock = Clock { dt_max, ..CLOCK };
            rebase_orbit(&mut orbit, &field, (CLOCK, then), (clock, Time(now))).unwrap();
            assert_eq!(clock.time(orbit.tidal.until), CLOCK.time(Time(unit)));
            let anew = MovingOrigin::new(Arc::new(field), clock, (now / unit, orbit.origin));
            let off = (anew.at(Time(now)).unwrap().pos - origin.at(then).unwrap().pos).norm();
            assert!(off < 1e-14, "{off:e}");
        }
    }

    #[test]
    fn what_cannot_be_counted_is_refused_and_nothing_changes() {
        let unit = TICKS_PER_DT_MAX;
        for (times, levels, now, dt_max, obstacle) in [
            ([unit; 3], [0, 1, 2], unit, 0.3, Obstacle::Ratio),
            // The first would have moved before now.
            ([unit, unit, unit + unit / 2 + unit / 4], [0, 2, 2], unit + unit / 2 + unit / 4, 0.25, Obstacle::Moment),
            // An odd number of ticks has no half.
            ([unit + 1, unit, unit], [36, 1, 2], unit + 1, 1.0, Obstacle::Moment),
            ([unit; 3], [36, 1, 2], unit, 1.0, Obstacle::Moment),
        ] {
            let (mut p, mut now, mut clock) = (three(times, levels), Time(now), CLOCK);
            let before = (p.clone(), now, clock);
            assert_eq!(rebase(&mut p, &mut now, &mut clock, dt_max), Err(obstacle));
            assert_eq!((p, now, clock), before);
        }
        let (mut p, mut now, mut clock) = (three([unit; 3], [0, 1, 4]), Time(unit), CLOCK);
        p.states.get_mut::<SubsystemState>().words.push(2);
        assert_eq!(rebase(&mut p, &mut now, &mut clock, 0.25), Err(Obstacle::Subsystems));
        // At a synchronised moment long steps become the new longest one.
        let (mut p, mut now, mut clock) = (three([unit; 3], [0, 1, 4]), Time(unit), CLOCK);
        rebase(&mut p, &mut now, &mut clock, 0.125).unwrap();
        assert_eq!(p.step, [Level(0), Level(0), Level(2)]);
    }
}
