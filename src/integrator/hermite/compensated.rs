//! Compensated corrector: a step goes from the old point, and what the rounding of position and velocity cuts off is kept
//! as their low parts, so that rounding errors do not add up from step to step. It is the corrector of 4th order through
//! acceleration and jerk at both ends (Makino & Aarseth 1992, PASJ 44, 141), with additions of schemes of higher order; the
//! sums are those of Kahan (1965, Comm. ACM 8, 40), as Rein & Spiegel (2015, MNRAS 446, 1424) use them.

use tisane_force::compensated_sum::two_sum;
use tisane_force::particles::Vec3;

/// Position and velocity with their low parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Position and velocity.
    pub high: [Vec3; 2],
    /// Their low parts.
    pub low: [Vec3; 2],
}

/// Returns the motion after a step of length `dt` from acceleration and jerk `old` to `new`. `more` are additions of
/// further points, to the position in units of dt², and to the velocity in units of dt.
#[inline(always)]
pub fn advance(dt: f64, from: Motion, [old, new]: [(Vec3, Vec3); 2], more: [Vec3; 2]) -> Motion {
    let mut to = from;
    for c in 0..3 {
        let [pos, vel] = from.high.map(|of| of[c]);
        let [low_pos, low_vel] = from.low.map(|of| of[c]);
        let (old_jerk, new_jerk) = (old.1[c] * dt, new.1[c] * dt);
        let rise = new.0[c] - old.0[c];
        // The largest terms have factors that are exact: rounded ones would be wrong alike in all steps.
        let bend = rise * 0.15 + (old_jerk * 0.05 - new_jerk * (1.0 / 30.0)) + more[0][c];
        let for_pos = (old.0[c] * 0.5 + bend) * dt * dt;
        let mean = (old.0[c] + new.0[c]) * 0.5;
        let for_vel = (mean + ((old_jerk - new_jerk) * (1.0 / 12.0) + more[1][c])) * dt;
        let way = vel * dt;
        let (sum, lost) = two_sum(pos, way);
        let low = (low_pos + lost) + (low_vel * dt + product_error(vel, dt, way));
        (to.high[0][c], to.low[0][c]) = two_sum(sum, for_pos + low);
        (to.high[1][c], to.low[1][c]) = two_sum(vel, for_vel + low_vel);
    }
    to
}

/// Returns what the rounding of the product of a number and a time has cut off.
#[inline(always)]
fn product_error(number: f64, dt: f64, product: f64) -> f64 {
    const MANTISSA: u64 = (1 << (f64::MANTISSA_DIGITS - 1)) - 1;
    // By a power of two it is exact: no operation that some machines have to emulate.
    if dt.to_bits() & MANTISSA == 0 { 0.0 } else { number.mul_add(dt, -product) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a constant jerk the corrector is exact; what is lost of 10⁵ steps is what two numbers of 53 bits cannot hold.
    #[test]
    fn steps_of_a_motion_that_the_scheme_solves_add_up_without_rounding_errors() {
        for dt in [1.0 / 1024.0, 0.001] {
            let (jerk, start) = (Vec3::new(0.3, -0.7, 0.1), Vec3::new(1.0, -2.0, 0.3));
            let mut motion = Motion { high: [Vec3::new(1.0, 3.0, -7.0), start], low: [Vec3::zeros(); 2] };
            let [first, _] = motion.high;
            let mut plain = first;
            let steps = 100_000;
            for k in 0..steps {
                let at = |k: i32| (jerk * (f64::from(k) * dt), jerk);
                plain += motion.high[1] * dt + (at(k).0 * 0.5 + jerk * (dt / 6.0)) * (dt * dt);
                motion = advance(dt, motion, [at(k), at(k + 1)], [Vec3::zeros(); 2]);
            }
            let t = f64::from(steps) * dt;
            let exact = [first + start * t + jerk * (t * t * t / 6.0), start + jerk * (t * t / 2.0)];
            let error = (motion.high[0] - exact[0]).norm() / exact[0].norm();
            assert!(error < 4e-16, "{error:e} at dt = {dt}");
            assert!((motion.high[1] - exact[1]).norm() < 4e-16 * exact[1].norm());
            assert!((plain - exact[0]).norm() > 4.0 * error * exact[0].norm(), "without compensation it is worse");
            let half_unit = |of: f64| 0.5 * (of.abs().next_up() - of.abs());
            for (high, low) in motion.high.iter().zip(motion.low) {
                assert!(high.iter().zip(&low).all(|(high, low)| low.abs() <= half_unit(*high)));
            }
        }
    }

    #[test]
    fn a_product_by_a_power_of_two_has_no_error() {
        for number in [1.0 / 3.0, -1e-300, 0.0, 5e-324_f64] {
            for dt in [0.125, 2f64.powi(-40), 1.0] {
                assert_eq!(
                    number.mul_add(dt, -(number * dt)).to_bits(),
                    product_error(number, dt, number * dt).to_bits()
                );
            }
        }
        assert_eq!(product_error(1.0 / 3.0, 0.3, 1.0 / 3.0 * 0.3), (1.0f64 / 3.0).mul_add(0.3, -(1.0 / 3.0 * 0.3)));
    }
}
