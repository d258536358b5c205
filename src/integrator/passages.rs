//! Steps in which others pass: those under way where a body is thrown out.
//!
//! A scheme finds the step of a particle by the forces that it has felt. One that a supernova or an encounter throws out may pass
//! another and be gone within a step that this began before: only one of the two is deflected, and the energy is off for good. So steps
//! that are under way are limited by the time r / v of the passage, as far as its force counts. Those that follow are found as always: they
//! know of it by its force, so that one may still be too long that begins where this is below some 10⁻³ of all.

use super::steps::Steps;
use super::timestep::shortened;
use rayon::prelude::*;
use tisane_force::gravity::predict;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::spin_pool::min_share;
use tisane_force::time::{Clock, Time};

/// Square of the jump of a velocity, over the potential there, from which on a particle is thrown out: with 2 it escapes from rest.
const THROWN_ABOVE: f64 = 1.0;
/// Longest step of a particle that another one approaches, in units of their distance over their relative speed.
const STEP_OF_APPROACH: f64 = 0.5;
/// Nanoseconds in which the passage of one particle is looked at.
const WORK: usize = 50;

/// Particle that passes another, from where that is.
struct Passage {
    pos: Vec3,
    vel: Vec3,
    mass: f64,
}

impl Passage {
    /// Returns the longest step, in internal units, of the other particle, which all accelerate by `acc`, by a scheme whose step on a
    /// circular orbit is `natural` times r / v; [`None`] if there is no longest one. The force is softened by `eps2 = ε²`.
    ///
    /// A force of the fraction f of all has the error f x⁴ of the acceleration in steps of x r / v, where the scheme takes `natural`⁴.
    /// What comes nearer is met with steps of half of the distance.
    fn longest_step(&self, acc: f64, natural: f64, eps2: f64) -> Option<f64> {
        let (r2, v2, along) = (self.pos.norm_squared(), self.vel.norm_squared(), self.pos.dot(&self.vel));
        // Where the forces of others cancel, this one is all.
        let acc = acc.max(self.mass / (r2 + eps2));
        let in_time = |r2: f64| natural * (acc * (r2 + eps2) / self.mass).sqrt().sqrt();
        let (here, time) = (in_time(r2), ((r2 + eps2) / v2).sqrt());
        if along >= 0.0 {
            return (here < 1.0).then_some(here * time);
        }
        let nearest = in_time((r2 - along * along / v2).max(0.0));
        (nearest < 1.0).then_some(here.min(STEP_OF_APPROACH) * time)
    }
}

/// Shortens the steps under way of the particles that others may pass which are thrown out at `now`. `all` returns the rows of all
/// particles, ascending; `jumps` has rows and jumps of velocities, internal units. Forces are those of `now`, softened by `eps2 = ε²`.
pub fn limit_by_passages(
    scheme: &mut (impl Steps + ?Sized),
    p: &mut Particles,
    all: impl FnOnce() -> Vec<u32>,
    jumps: &[(usize, Vec3)],
    (clock, eps2, now): (&Clock, f64, Time),
) {
    let is_thrown =
        |&&(i, jump): &&(usize, Vec3)| p.mass[i] > 0.0 && jump.norm_squared() > THROWN_ABOVE * p.pot[i].abs();
    let thrown: Vec<usize> = jumps.iter().filter(is_thrown).map(|(i, _)| *i).collect();
    if thrown.is_empty() {
        return;
    }
    let (natural, floor, all) = (scheme.natural_step(), scheme.floor(), all());
    let total: f64 = all.iter().map(|&i| p.mass[i as usize]).sum();
    let mut changed = Vec::new();
    for thrown in thrown {
        let of = &*p;
        let at = |i: usize| predict(of.pos[i], of.vel[i], of.acc[i], of.jerk[i], clock.between(of.time[i], now));
        let (pos, vel) = at(thrown);
        let longest = |&i: &u32| {
            let i = i as usize;
            let (x, v) = at(i);
            let passage = Passage { pos: pos - x, vel: vel - v, mass: of.mass[thrown] };
            // Not more than all together accelerate at this potential: an external field may be strong and nearly the same everywhere.
            let acc = of.acc[i].norm().min(of.pot[i] * of.pot[i] / total);
            let longest = passage.longest_step(acc, natural, eps2).filter(|longest| i != thrown && longest.is_finite());
            Some((i, longest?))
        };
        let found: Vec<(usize, f64)> = all.par_iter().with_min_len(min_share(WORK)).filter_map(longest).collect();
        for (i, longest) in found {
            scheme.shorten_regular(p, i, thrown, longest, now);
            if let Some(level) = shortened((p.time[i], p.step[i]), longest / clock.dt_max, floor, now) {
                p.step[i] = level;
                changed.push(i as u32);
            }
        }
    }
    changed.sort_unstable();
    changed.dedup();
    scheme.reschedule(p, &changed);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn longest(pos: [f64; 3], mass: f64) -> Option<f64> {
        Passage { pos: pos.into(), vel: Vec3::new(-10.0, 0.0, 0.0), mass }.longest_step(1.0, 0.1, 0.0)
    }

    #[test]
    fn steps_are_those_of_the_scheme_where_the_passage_is_all_that_acts() {
        // At its pericentre r = 1, as on a circular orbit there: a tenth of r / v.
        let is = |mass: f64, want: f64| (longest([0.0, 1.0, 0.0], mass).unwrap() / want - 1.0).abs() < 1e-12;
        assert!(is(1.0, 0.01));
        // A sixteenth of the force may be resolved half as well.
        assert!(is(1.0 / 16.0, 0.02));
    }

    #[test]
    fn what_is_weak_limits_nothing() {
        assert_eq!(longest([0.0, 1.0, 0.0], 1e-4), None);
        // Gone already, or far from the path.
        assert_eq!(longest([-200.0, 1.0, 0.0], 1.0), None);
        assert_eq!(longest([200.0, 150.0, 0.0], 1.0), None);
    }

    #[test]
    fn what_comes_near_is_met_at_half_of_the_distance() {
        let found = longest([200.0, 1.0, 0.0], 1.0).unwrap();
        assert!((found / 10.0 - 1.0).abs() < 1e-4, "{found}");
    }
}
