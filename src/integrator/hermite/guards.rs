//! Limits of the steps, the rules for engines that take them by themselves, and the errors that end an integration.

use super::limits::OnFloor;
use super::scheme::Limits;
use crate::integrator::settings::SchemeInfo;
use tisane_force::error::{Error, Result, StepBelowFloor};
use tisane_force::force::block_steps::{StepRules, StepScheme};
use tisane_force::force::noise::Noise;
use tisane_force::force::range::RangeGuard;
use tisane_force::gravity::{Force, predict};
use tisane_force::pair::Body;
use tisane_force::particles::Particles;
use tisane_force::time::{Clock, Level, Time};

/// Least step where the forces cancel, in units of the step on a circular orbit about all other mass at its mean distance, on
/// which nothing moves faster than the others do.
pub(crate) const MIN_SHARE: f64 = 2.0;

/// What the limits of the steps and the errors need to know of an integration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepGuards {
    pub limits: Limits,
    pub clock: Clock,
    pub info: SchemeInfo,
}

impl StepGuards {
    /// Returns the level for a wanted step, and true if it is clamped to the floor; [`None`] for
    /// NaN, and for a step shorter than any level. A run that has to stop at a level below the floor finishes the block
    /// step with it and stops before the next one: see [`Self::check_floor`].
    #[inline(always)]
    pub fn allowed(&self, wanted: f64) -> Option<(Level, bool)> {
        match Level::not_longer_than(wanted / self.clock.dt_max) {
            Some(level) if level <= self.limits.floor || self.limits.on_floor == OnFloor::Stop => Some((level, false)),
            _ if wanted.is_nan() || self.limits.on_floor == OnFloor::Stop => None,
            _ => Some((self.limits.floor, true)),
        }
    }

    /// Returns true if a run whose deepest level is `deepest` has to stop because particles have steps below the floor.
    pub fn is_below_floor(&self, deepest: Level) -> bool {
        self.limits.on_floor == OnFloor::Stop && deepest > self.limits.floor
    }

    /// Returns the error for particles with steps below the floor, if there are any, of which it names the one with the
    /// shortest step, and of those the one with the largest acceleration.
    pub fn check_floor(&self, p: &Particles, now: Time) -> Result<()> {
        let below = (0..p.len()).filter(|&i| p.step[i] > self.limits.floor);
        let strongest = |&i: &usize, &j: &usize| {
            p.step[i].cmp(&p.step[j]).then(p.acc[i].norm_squared().total_cmp(&p.acc[j].norm_squared()))
        };
        match below.clone().max_by(strongest) {
            Some(i) => {
                let wanted = p.step[i].step(self.clock.dt_max);
                Err(self.below_floor(p, (i, below.count()), now, wanted))
            }
            None => Ok(()),
        }
    }

    /// Returns the error that names particle `i`, the force on which is not finite.
    pub fn not_finite(&self, p: &Particles, i: usize, now: Time, force: &Force) -> Error {
        let (time, info) = (self.clock.time(now), self.info);
        Error::Integration {
            problem: format!(
                "the force on particle {} is not a finite number (time {time} in internal units, acceleration {:?}, \
                 jerk {:?}, potential {:?})",
                p.id[i],
                force.acc.as_slice(),
                force.jerk.as_slice(),
                force.pot
            ),
            help: Some(format!(
                "a collision without softening, or a close pair that was not resolved: lower {}.{}, or set a \
                 softening length{}",
                info.section,
                info.accuracy_key,
                self.limits.range.too_close()
            )),
        }
    }

    /// Returns the error that names particle `i`, the first of `number` that need too short a step, and its nearest
    /// neighbour at that moment.
    pub fn below_floor(&self, p: &Particles, (i, number): (usize, usize), now: Time, wanted: f64) -> Error {
        let at = |j: usize| {
            let (pos, vel) = predict(p.pos[j], p.vel[j], p.acc[j], p.jerk[j], self.clock.between(p.time[j], now));
            Body { mass: p.mass[j], pos, vel }
        };
        let here = at(i);
        let nearest = (0..p.len()).filter(|&j| j != i).map(|j| ((at(j).pos - here.pos).norm(), j));
        let partner = nearest.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, j)| (p.id[j], [here, at(j)]));
        let [floor, shortest] = [self.limits.floor, Level::DEEPEST].map(|level| level.step(self.clock.dt_max));
        Error::StepBelowFloor(Box::new(StepBelowFloor {
            number,
            id: p.id[i],
            time: self.clock.time(now),
            wanted,
            floor,
            shortest,
            section: self.info.section,
            partner,
            cancellation: p.acc[i].norm() / self.scale(p, i),
            resumable: wanted >= shortest,
            run: None,
        }))
    }

    /// Returns the least scale of the terms of the acceleration of particle `i`; see [`Noise`].
    fn scale(&self, p: &Particles, i: usize) -> f64 {
        Noise::new(self.limits.noise, &p.mass, p.total_mass()).scale(i as u32, p.pot[i])
    }

    /// Returns the rules by which an engine takes the steps, with the rounding errors as the integrator has them.
    pub fn rules(&self, scheme: StepScheme, noise: Noise, guard: &RangeGuard) -> StepRules {
        StepRules {
            scheme,
            dt_max: self.clock.dt_max,
            floor: self.limits.floor,
            clamps: self.limits.on_floor == OnFloor::Clamp,
            compensated: self.limits.compensated,
            noise,
            thresholds: guard.thresholds(),
        }
    }
}
