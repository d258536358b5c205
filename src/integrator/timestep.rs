//! Time-step criteria, as pure functions of a particle's derivatives, and the rule of block steps.

use tisane_force::time::{Level, Time};

/// Returns the step of Aarseth's criterion, `sqrt(ν (|a||a⁽²⁾| + |k|²) / (|k||a⁽³⁾| + |a⁽²⁾|²))` (Aarseth 1985;
/// Portegies Zwart et al. 2007, eq. 9), from the derivatives at the end of a step of length `dt`. They are given as
/// `|a⁽²⁾| dt²` and `|a⁽³⁾| dt³`, so that no power of a short step can overflow. Infinite for a free particle, on
/// which nothing acts or whose force does not change; NaN if a derivative is.
#[inline(always)]
#[must_use]
pub fn aarseth(nu: f64, dt: f64, acc: f64, jerk: f64, snap_dt2: f64, crackle_dt3: f64) -> f64 {
    let jerk_dt = jerk * dt;
    let above = acc * snap_dt2 + jerk_dt * jerk_dt;
    let below = jerk_dt * crackle_dt3 + snap_dt2 * snap_dt2;
    // Outside the branch, so that loops over this function can be vectorised.
    let step = dt * (nu * above / below).sqrt();
    if below == 0.0 || above == 0.0 { f64::INFINITY } else { step }
}

/// Returns the first step, `ν |a| / |k|` (Portegies Zwart et al. 2007, eq. 2), no longer than `sqrt(ν |φ|) / |a|` and
/// no shorter than `2⁻⁶ ν sqrt(sqrt|φ| / |k|)`. Infinite for a free particle; NaN if an argument is.
///
/// The bounds are tisane's own, each about an orbital time, and take effect where eq. 2 has no meaning. A particle
/// (nearly) at rest has no jerk, and eq. 2 would give it too long a step. A particle at which the forces cancel (the
/// middle body of the figure-eight) has no acceleration, and eq. 2 would give it a step of zero. Without a potential,
/// as where an external one is zero, there is no longest step.
#[inline]
#[must_use]
pub fn initial(nu: f64, acc: f64, jerk: f64, pot: f64) -> f64 {
    if acc == 0.0 && jerk == 0.0 {
        return f64::INFINITY;
    }
    let by_jerk = nu * acc / jerk;
    if by_jerk.is_nan() {
        return f64::NAN;
    }
    let shortest = nu * (pot.abs().sqrt() / jerk).sqrt() / 64.0;
    let longest = if pot == 0.0 { f64::INFINITY } else { (nu * pot.abs()).sqrt() / acc };
    by_jerk.max(shortest).min(longest)
}

/// Returns the level after a step that ended at `now`, for a wanted level: shorten at once and by any number of levels,
/// lengthen by one level at most and only if `now` is a multiple of the longer step (McMillan 1986; Makino 1991). As
/// the end of a step, `now` is a multiple of the current step; it is one of the longer step if that level is not above
/// its shallowest level.
#[inline]
#[must_use]
pub fn next_level(current: Level, wanted: Level, now: Time) -> Level {
    let longer = Level(current.0.saturating_sub(1));
    wanted.max(longer).max(now.shallowest_level())
}

/// Returns the level of a step that began at `since`, of the level `current`, shortened to a length in units of `dt_max`, and to a
/// level at the deepest, as far as its end is after `now`; [`None`] if that changes nothing.
#[must_use]
pub fn shortened((since, current): (Time, Level), longest: f64, deepest: Level, now: Time) -> Option<Level> {
    let level = Level::not_longer_than(longest).unwrap_or(Level::DEEPEST).min(deepest);
    let found = (current.0..=level.0).map(Level).take_while(|level| since.after(*level) > now).last();
    found.filter(|level| *level > current)
}

/// Returns the level of half the step, but none below the floor.
#[must_use]
pub(super) fn deeper(level: Level, floor: Level) -> Level {
    if level < floor { Level(level.0 + 1) } else { level }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aarseth_on_a_circular_orbit_is_a_fraction_of_the_period() {
        // a = 1, k = 1, a⁽²⁾ = 1, a⁽³⁾ = 1 on the unit circle: dt = sqrt(ν).
        for dt in [0.1, 1e-6] {
            let step = aarseth(0.01, dt, 1.0, 1.0, dt * dt, dt * dt * dt);
            assert!((step - 0.1).abs() < 1e-12, "{step}");
        }
        assert_eq!(aarseth(0.01, 0.1, 0.0, 0.0, 0.0, 0.0), f64::INFINITY);
        // All others were removed.
        assert_eq!(aarseth(0.01, 0.1, 0.0, 0.0, 3.0, 1.0), f64::INFINITY);
        assert!(aarseth(0.01, 0.1, f64::NAN, 1.0, 1.0, 1.0).is_nan());
    }

    #[test]
    fn the_first_step_is_bounded_where_motion_or_force_vanish() {
        assert_eq!(initial(0.01, 2.0, 4.0, -1.0), 0.005);
        assert_eq!(initial(0.01, 2.0, 0.0, -1.0), 0.05);
        assert_eq!(initial(0.01, 0.0, 4.0, -1.0), 0.01 * 0.5 / 64.0);
        assert_eq!(initial(0.01, 1e-17, 4.0, -1.0), 0.01 * 0.5 / 64.0);
        assert_eq!(initial(0.01, 0.0, 0.0, 0.0), f64::INFINITY);
        assert_eq!(initial(0.01, 2.0, 4.0, 0.0), 0.005);
        assert!(initial(0.01, 1.0, f64::NAN, -1.0).is_nan() && initial(0.01, f64::NAN, 1.0, -1.0).is_nan());
    }

    #[test]
    fn steps_halve_freely_and_double_when_commensurate() {
        let even = Time::from_dt_max(1).after(Level(2));
        assert_eq!(next_level(Level(3), Level(9), even), Level(9));
        assert_eq!(next_level(Level(3), Level(0), even), Level(2));
        assert_eq!(next_level(Level(2), Level(0), even), Level(2));
        assert_eq!(next_level(Level(0), Level(0), Time::from_dt_max(5)), Level(0));
        // Against the rule in words, at every moment at which a particle of the level can stand.
        for (current, wanted, k) in (0..8).flat_map(|c| (0..8).flat_map(move |w| (0..40).map(move |k| (c, w, k)))) {
            let now = Time(k * Level(current).ticks());
            let expected = match Level(current.saturating_sub(1)) {
                _ if wanted >= current => wanted,
                longer if now.is_multiple_of(longer) => longer.0,
                _ => current,
            };
            assert_eq!(next_level(Level(current), Level(wanted), now), Level(expected), "{current} {wanted} {k}");
        }
    }
}
