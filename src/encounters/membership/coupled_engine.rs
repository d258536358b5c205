//! Force engine that adds the coupling of subsystems to the forces of an engine, to which they are points.

use crate::encounters::forces::bodies::motion_of;
use crate::encounters::forces::coupling::{self, PointMasses};
use crate::encounters::membership::each::{ASK, FOLLOW, WORK, each, each_mut, each_mut_with, those};
use crate::encounters::membership::hierarchy::{Hierarchy, NONE, Passage, Room};
use crate::encounters::motion::subsystem::{Perturber, Subsystem};
use crate::integrator::particle_slices::ParticleSlices;
use rayon::prelude::*;
use tisane_force::error::Result;
use tisane_force::force::block_steps::{NextStep, Pause, Span, StepRules, Taken};
use tisane_force::force::neighbours::{NeighbourForces, NeighbourTargets};
use tisane_force::force::watch::Watch;
use tisane_force::force::{ForceEngine, Forces, Targets};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::spin_pool::{min_share, share};
use tisane_force::time::Time;

/// Nanoseconds in which the state of a body is copied: most of them for the memory. Not measured.
const COPIED: usize = 100;

/// Number of block steps without a part of any subsystem after which an engine may take the next by itself: the least and the largest. It
/// doubles where fewer than [`WORTH`] follow, and one for [`BODIES`] bodies, since the engine is sent what it needs first. Not measured.
/// No result depends on these.
const ALONE: u32 = 8;
const MAX_ALONE: u32 = 1 << 12;
const WORTH: u32 = 16;
const BODIES: usize = 256;
/// Number of block steps that the host takes after an engine took none of those that it was asked for. No result depends on it.
const REFUSED: u32 = 1 << 10;

/// Engine with the coupling of subsystems.
pub struct CoupledEngine<'a> {
    /// The engine, to which subsystems are points.
    pub engine: &'a mut dyn ForceEngine,
    /// The subsystems.
    pub hierarchy: &'a mut Hierarchy,
}

impl ForceEngine for CoupledEngine<'_> {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.hierarchy.bodies.particles = motion_of(all);
        self.hierarchy.room.attended = 0;
        self.engine.load(all)?;
        self.hierarchy.bodies.set_derivatives(all, self.engine.derivatives());
        Ok(())
    }

    fn derivatives(&self) -> usize {
        self.engine.derivatives()
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.hierarchy.store(all, changed);
        self.engine.update(all, changed)
    }

    /// The rows of the bodies have changed before the scheme hears of it.
    fn replace(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.hierarchy.bodies.store_derivatives(all, changed);
        self.engine.replace(all, changed)
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
        if self.hierarchy.subsystems.is_empty() {
            return self.engine.evaluate(now, targets, out);
        }
        // The motion inside while a device is at work.
        self.engine.begin(now, targets)?;
        let advanced = self.hierarchy.advance_due(now, targets);
        self.engine.evaluate(now, targets, out)?;
        advanced?;
        for Coupling { target: k, acc, jerk } in self.hierarchy.added_by_coupling(now, targets) {
            out.acc[k] += acc;
            out.jerk[k] += jerk;
        }
        Ok(())
    }

    /// The coupling is in the irregular forces, by the old and by the new list alike.
    fn evaluate_neighbours(&mut self, task: &NeighbourTargets<'_>, out: &mut NeighbourForces<Forces>) -> Result<()> {
        if self.hierarchy.subsystems.is_empty() {
            return self.engine.evaluate_neighbours(task, out);
        }
        let (now, targets) = (task.now, task.targets);
        // The motion inside while a device is at work.
        self.engine.begin_neighbours(task)?;
        let advanced = self.hierarchy.advance_due(now, targets);
        self.engine.evaluate_neighbours(task, out)?;
        advanced?;
        let NeighbourForces { irregular, renewed, .. } = out;
        for Coupling { target: k, acc, jerk } in self.hierarchy.added_by_coupling(now, targets) {
            irregular.acc[k] += acc;
            irregular.jerk[k] += jerk;
            if let Ok(rank) = task.regular.binary_search(&(k as u32)) {
                renewed.acc[rank] += acc;
                renewed.jerk[rank] += jerk;
            }
        }
        Ok(())
    }

    /// The engine takes a step that no subsystem has a part in.
    fn take_step(&mut self, p: &mut Particles, rules: &StepRules, next: NextStep<'_>) -> Result<Option<Taken>> {
        if !self.hierarchy.leaves_to_engine(next.block) {
            return Ok(None);
        }
        let taken = self.engine.take_step(p, rules, next)?;
        match taken {
            Some(taken) if taken.block_steps > 0 => self.hierarchy.store(p, next.block),
            // It has to be sent all again.
            _ => self.hierarchy.room.alone = 0,
        }
        Ok(taken)
    }

    /// The engine takes steps that no subsystem has a part in: the caller has found them.
    fn take_watched_steps(
        &mut self,
        p: &mut Particles,
        rules: &StepRules,
        span: Span,
        watch: &mut Watch<'_>,
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        let taken = self.engine.take_watched_steps(p, rules, span, watch, pause)?;
        let Some(Taken { block_steps: 1.., .. }) = taken else {
            self.hierarchy.room.attended = REFUSED;
            return Ok(taken);
        };
        let mut moved = std::mem::take(&mut self.hierarchy.room.moved);
        moved.clear();
        let times = self.hierarchy.bodies.particles.time.iter().zip(&p.time).zip(0..);
        moved.extend(times.filter(|((before, now), _)| before != now).map(|(_, row)| row));
        self.hierarchy.store(p, &moved);
        self.hierarchy.room.moved = moved;
        Ok(taken)
    }

    fn reschedule(&mut self, changed: &[u32]) {
        self.engine.reschedule(changed);
    }

    fn set_start(&mut self, start: f64) {
        self.engine.set_start(start);
    }
}

/// What the coupling adds to the force on a target.
struct Coupling {
    /// Its place among the targets.
    target: usize,
    acc: Vec3,
    jerk: Vec3,
}

/// Returns true if a subsystem and a body near it feel each other otherwise than as points.
pub fn is_coupled(subsystem: &Subsystem, perturber: &Perturber) -> bool {
    if perturber.is_averaged { subsystem.averaged.is_some() } else { subsystem.is_perturbed }
}

impl Hierarchy {
    /// Takes note of the state of bodies that have moved.
    fn store(&mut self, all: &Particles, changed: &[u32]) {
        let Self { bodies, passed, .. } = self;
        let (own, is_watched) = (&mut bodies.particles, bodies.sizes.collisions.is_some());
        if is_watched {
            for i in changed.iter().map(|&i| i as usize).filter(|&i| own.time[i] < all.time[i]) {
                let state = [own.pos[i], own.vel[i], own.acc[i], own.jerk[i]];
                passed.push(Passage { body: i as u32, time: own.time[i], state });
            }
        }
        let copy = |(ParticleSlices { first, columns: to, .. }, rows): (ParticleSlices<'_>, &[u32])| {
            for i in rows.iter().map(|&i| i as usize) {
                let k = i - first;
                (to.pos[k], to.vel[k], to.acc[k], to.jerk[k]) = (all.pos[i], all.vel[i], all.acc[i], all.jerk[i]);
                to.time[k] = all.time[i];
            }
        };
        let (share, own) = (share(changed.len(), COPIED), ParticleSlices::all(own));
        if share >= changed.len() {
            copy((own, changed));
        } else {
            own.for_chunks(changed, share).into_par_iter().zip(changed.par_chunks(share)).for_each(copy);
        }
        bodies.store_derivatives(all, changed);
    }

    /// Returns true if an engine may take a step of some bodies by itself: no subsystem has a part in it, nor had one in those before.
    fn leaves_to_engine(&mut self, block: &[u32]) -> bool {
        if self.subsystems.is_empty() {
            return true;
        }
        let has_part = block.iter().any(|&i| self.has_part(i as usize));
        let Room { alone, host, .. } = &mut self.room;
        let least = (*host).max(ALONE);
        if !has_part {
            *alone += 1;
            return *alone > least;
        }
        if *alone > least {
            let is_worth = *alone - least >= WORTH + (self.bodies.stars.len() / BODIES) as u32;
            *host = if is_worth { least / 2 } else { MAX_ALONE.min(2 * least) };
        }
        *alone = 0;
        false
    }

    /// Returns true if forces on a body, or motions inside of it, are not those of a point.
    fn has_part(&self, body: usize) -> bool {
        let star = self.bodies.stars[body];
        self.of_star(star).is_some_and(|subsystem| {
            subsystem.is_followed(&self.rules) || subsystem.perturbers.iter().any(|by| is_coupled(subsystem, by))
        }) || self.perturbed_by(star).any(|(subsystem, by)| is_coupled(subsystem, by))
    }

    /// Finds the subsystems whose motion has to be known where the targets move, and advances it to `now`.
    fn advance_due(&mut self, now: Time, targets: Targets<'_>) -> Result<()> {
        let _phase = self.phase("internal_motion");
        let mut room = std::mem::take(&mut self.room);
        let Room { is_due, due, points, .. } = &mut room;
        is_due.resize(self.subsystems.len(), false);
        let needed = |&i: &u32| {
            let star = self.bodies.stars[i as usize];
            let by = self.perturbed[star as usize].iter().filter(|by| !by.is_averaged);
            let rows = by.map(|by| self.rows[by.star as usize] as usize);
            self.row(star).into_iter().chain(rows.filter(|&row| self.subsystems[row].is_perturbed))
        };
        let is_new = |row: &usize| !std::mem::replace(&mut is_due[*row], true);
        match min_share(ASK) {
            least if targets.len() >= 2 * least => {
                let rows: Vec<usize> = targets.index.par_iter().with_min_len(least).flat_map_iter(needed).collect();
                due.extend(rows.into_iter().filter(is_new));
            }
            _ => due.extend(targets.index.iter().flat_map(needed).filter(is_new)),
        }
        due.sort_unstable();
        let Self { subsystems, bodies, rules, clock, .. } = self;
        // Those of the targets are asked on threads whether they are followed: each is in other parts of the memory.
        let advance = |subsystem: &mut Subsystem| {
            if subsystem.is_followed(rules) { subsystem.advance(bodies, clock, rules, now) } else { Ok(()) }
        };
        let advanced = each_mut(subsystems, due, WORK, advance);
        points.resize(subsystems.len(), PointMasses::default());
        due.iter().for_each(|&row| is_due[row] = false);
        due.retain(|&row| subsystems[row].is_perturbed);
        let subsystems = &*subsystems;
        each_mut_with(points, due, due.clone(), FOLLOW, |points, row| points.follow(&subsystems[row].motion));
        due.clear();
        self.room = room;
        advanced.into_iter().collect()
    }

    /// Returns what the coupling at `now` adds to the forces on some of the targets.
    fn added_by_coupling(&mut self, now: Time, targets: Targets<'_>) -> Vec<Coupling> {
        let _phase = self.phase("coupling");
        let mut targets_of = std::mem::take(&mut self.room.targets);
        targets_of.resize(self.bodies.particles.len(), NONE);
        targets.index.iter().zip(0..).for_each(|(&i, k)| targets_of[i as usize] = k);
        let state = |i: usize| match targets_of[i] {
            NONE => self.bodies.source(i, self.clock.between(self.bodies.particles.time[i], now)),
            k => (targets.pos[k as usize], targets.vel[k as usize]),
        };
        // Returns what the perturber feels, if it is coupled, at this position relative to the subsystem.
        let force = |subsystem: &Subsystem, perturber: &Perturber, r: Vec3, v: Vec3| {
            if r.norm_squared() >= perturber.outer2 {
                return None;
            }
            Some(match &subsystem.averaged {
                Some((time, pair)) if perturber.is_averaged => {
                    coupling::averaged_force(&pair.after(self.clock.between(*time, now)), r, v, perturber.outer2)
                }
                _ => {
                    let row = self.rows[subsystem.stars[0] as usize] as usize;
                    coupling::force(&self.room.points[row], r, v, perturber.outer2)
                }
            })
        };
        let of_target = |k: usize| {
            let (i, pos, vel) = (targets.index[k] as usize, targets.pos[k], targets.vel[k]);
            let star = self.bodies.stars[i];
            let (mut acc, mut jerk) = (Vec3::zeros(), Vec3::zeros());
            if let Some(subsystem) = self.of_star(star) {
                for perturber in subsystem.perturbers.iter().filter(|perturber| is_coupled(subsystem, perturber)) {
                    let other = self.bodies.of_star(perturber.star);
                    let (x, v) = state(other);
                    if let Some((a, j)) = force(subsystem, perturber, x - pos, v - vel) {
                        let back = self.bodies.particles.mass[other] / self.bodies.particles.mass[i];
                        acc -= a * back;
                        jerk -= j * back;
                    }
                }
            }
            for (subsystem, perturber) in self.perturbed_by(star).filter(|(subsystem, by)| is_coupled(subsystem, by)) {
                let (x, v) = state(self.bodies.of_star(subsystem.stars[0]));
                if let Some((a, j)) = force(subsystem, perturber, pos - x, vel - v) {
                    acc += a;
                    jerk += j;
                }
            }
            Coupling { target: k, acc, jerk }
        };
        let coupled = those(targets.len(), ASK, |k| self.may_couple(targets.index[k] as usize));
        let found = each(&coupled, WORK, of_target);
        targets.index.iter().for_each(|&i| targets_of[i as usize] = NONE);
        self.room.targets = targets_of;
        found
    }
}
