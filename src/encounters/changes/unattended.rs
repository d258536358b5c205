//! Block steps that an engine takes without the host, as no subsystem has a part in them. It searches for pairs that may form.

use crate::encounters::Encounters;
use crate::encounters::membership::coupled_engine::{CoupledEngine, is_coupled};
use crate::encounters::membership::hierarchy::{Hierarchy, Room};
use crate::encounters::motion::subsystem::Subsystem;
use crate::encounters::settings::criteria;
use crate::integrator::Progress;
use std::time::Instant;
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::force::watch::Watch;
use tisane_force::particles::Particles;
use tisane_force::time::{TICKS_PER_DT_MAX, Time};

/// Shortest time up to the next step of a subsystem for which an engine is asked, in steps of the deepest level: it has to be sent first
/// what has changed. With 1, 2 or 4 an H200 was no quicker. No result depends on it.
const WORTH: u64 = 8;
/// Number of subsystems whose next steps are found in the time of a block step. No result depends on it.
const FOUND_PER_STEP: usize = 64;
/// Number of steps below which a call was too short, and one more for every [`BODIES`] bodies. After such a call the host takes some steps
/// before the engine is asked again: the least and the largest number. It doubles each time. With smaller numbers an H200 was no quicker.
/// No result depends on these.
const LONG: u64 = 16;
const BODIES: usize = 256;
const PATIENCE: [u32; 2] = [16, 1 << 14];
/// Largest number of stars for which an engine is asked: with 65536 it took 1.02 to 1.08 of the time. No result depends on it.
const MOST: usize = 1 << 15;

impl Encounters {
    /// Lets the engine take up to `max` block steps in which no subsystem has a part, up to the first after which a pair may form. Returns
    /// the progress with the bodies that may form one; [`None`] if the next step is the host's.
    pub(crate) fn step_unattended(
        &mut self,
        f: &mut dyn ForceEngine,
        (until, max): (Time, u64),
        began: Instant,
    ) -> Result<Option<(Progress, Vec<u32>)>> {
        if !self.may_be_unattended() {
            return Ok(None);
        }
        let Some((from, deepest)) = self.scheme.unattended_from() else { return Ok(None) };
        let end = self.hierarchy.unattended_until(&self.particles, from).min(until);
        if end.0 < from.0 + WORTH * deepest.ticks() {
            self.hierarchy.room.attended = (self.hierarchy.subsystems.len() / FOUND_PER_STEP) as u32;
            return Ok(None);
        }
        let Self { scheme, particles, hierarchy, pause, .. } = self;
        let bodies = &hierarchy.bodies;
        let mut compound: Vec<u32> =
            hierarchy.subsystems.iter().map(|subsystem| bodies.of_star(subsystem.stars[0]) as u32).collect();
        compound.sort_unstable();
        let mut watch = Watch {
            compound: &compound,
            forms: hierarchy.rules.forms,
            joins: criteria::MAX_PERTURBATION_TO_JOIN,
            min_binding: criteria::MIN_BINDING_TO_FORM,
            log2_steps: criteria::LOG2_STEPS_PER_UPDATE,
            found: Vec::new(),
        };
        let pause = pause.as_ref().map(|pause| pause.left(began));
        let mut coupled = CoupledEngine { engine: f, hierarchy };
        let taken = scheme.advance_watched(particles, &mut coupled, (end, max), (&mut watch, pause.as_ref()))?;
        let Some(done) = taken.filter(|done| done.block_steps > 0) else { return Ok(None) };
        let Room { attended, patience, moved, .. } = &mut self.hierarchy.room;
        if done.block_steps < LONG + (self.particles.len() / BODIES) as u64 {
            *patience = (2 * *patience).clamp(PATIENCE[0], PATIENCE[1]);
            *attended = *patience;
        } else {
            *patience /= 2;
        }
        let moved = std::mem::take(moved);
        self.follow(moved.iter().copied());
        self.hierarchy.room.moved = moved;
        Ok(Some((done, watch.found)))
    }

    /// Returns true if an engine may be asked for such steps: contacts of stars are not looked for, none was thrown out and passes
    /// others, and positions have no [rests](crate::encounters::forces::bodies::Bodies::rests).
    fn may_be_unattended(&mut self) -> bool {
        let Hierarchy { rules, bodies, room, .. } = &mut self.hierarchy;
        let is_due = room.attended == 0;
        room.attended = room.attended.saturating_sub(1);
        is_due
            && self.recorded.thrown.is_empty()
            && bodies.stars.len() <= MOST
            && rules.perturbation > 0.0
            && bodies.sizes.collisions.is_none()
            && bodies.rests.is_empty()
    }
}

impl Hierarchy {
    /// Returns the last moment before the next one at which all bodies are due, or one that is a subsystem or coupled to one.
    fn unattended_until(&self, p: &Particles, from: Time) -> Time {
        let next = |star: u32| {
            let body = self.bodies.of_star(star);
            p.time[body].0 + p.step[body].ticks()
        };
        let first = |subsystem: &Subsystem| {
            let coupled = subsystem.perturbers.iter().filter(|by| is_coupled(subsystem, by)).map(|by| by.star);
            coupled.chain([subsystem.stars[0]]).map(next).min()
        };
        let of_all = (from.0 / TICKS_PER_DT_MAX + 1) * TICKS_PER_DT_MAX;
        Time(self.subsystems.iter().filter_map(first).fold(of_all, u64::min) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encounters::forces::surroundings::at;
    use crate::initial::plummer;
    use crate::integrator::hermite4::{Hermite4, Parameters};
    use crate::integrator::{Integrator, Steps};
    use crate::subsystems::Subsystems;
    use tisane_force::force::block_steps::{Pause, Span, StepRules, Taken};
    use tisane_force::force::precision::Precision;
    use tisane_force::force::watch::StrongestPair;
    use tisane_force::force::{FieldEngine, Forces, Targets, reference};
    use tisane_force::particles::Vec3;
    use tisane_force::time::{Clock, Level};

    const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.0625 };

    fn scheme(precision: Precision) -> Hermite4 {
        Hermite4::new(Parameters::new(precision), CLOCK)
    }

    /// Takes watched steps by a scheme of its own, and looks at all pairs of particles whose update is due.
    struct Watching {
        engine: Box<dyn FieldEngine>,
        precision: Precision,
        takes: bool,
        taken: u64,
        spans: u64,
        found: u64,
    }

    impl Watching {
        fn new(precision: Precision, takes: bool) -> Self {
            Self { engine: reference::engine(precision, 0.0, CLOCK), precision, takes, taken: 0, spans: 0, found: 0 }
        }
    }

    /// Returns true if a particle may form a pair with the strongest of the others.
    fn may_form(p: &Particles, i: usize, now: Time, watch: &Watch<'_>) -> bool {
        let state = |k: usize| at(p, k, &CLOCK, now);
        let weights =
            (0..p.len()).filter(|&k| k != i).map(|k| (k, p.mass[k] / (state(k).0 - state(i).0).norm().powi(3)));
        let (strongest, most) = weights.clone().fold((i, 0.0), |most, it| if it.1 > most.1 { it } else { most });
        let rest: f64 = weights.filter(|&(k, _)| k != strongest).map(|(_, weight)| weight).sum();
        let ((x, v), (y, w)) = (state(i), state(strongest));
        let is_compound = watch.compound.binary_search(&(strongest as u32)).is_ok();
        let mass = p.mass[i] + p.mass[strongest];
        most > 0.0 && watch.may_form(&StrongestPair { pos: y - x, vel: w - v, mass, is_compound }, rest * (1.0 - 1e-3))
    }

    impl ForceEngine for Watching {
        fn load(&mut self, all: &Particles) -> Result<()> {
            self.engine.load(all)
        }

        fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
            self.engine.update(all, changed)
        }

        fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
            self.engine.evaluate(now, targets, out)
        }

        fn take_watched_steps(
            &mut self,
            p: &mut Particles,
            _: &StepRules,
            span: Span,
            watch: &mut Watch<'_>,
            _: Option<&Pause>,
        ) -> Result<Option<Taken>> {
            if !self.takes {
                return Ok(None);
            }
            let (mut own, mut all) = (scheme(self.precision), Taken { now: span.from, ..Taken::default() });
            own.resume(p, span.from, &mut *self.engine)?;
            self.spans += 1;
            watch.found.clear();
            while watch.found.is_empty() && all.block_steps < span.max {
                let done = own.advance(p, &mut *self.engine, span.until, 1)?;
                if done.block_steps == 0 {
                    break;
                }
                assert!(own.block().iter().all(|row| watch.compound.binary_search(row).is_err()));
                let is_found = |&i: &u32| {
                    let (i, level) = (i as usize, p.step[i as usize].0.saturating_sub(watch.log2_steps));
                    done.now.is_multiple_of(Level(level)) && may_form(p, i, done.now, watch)
                };
                let found = own.block().iter().copied().filter(is_found).collect();
                watch.found = found;
                (all.now, all.block_steps) = (done.now, all.block_steps + 1);
                all.particle_steps += done.particle_steps;
            }
            self.taken += all.block_steps;
            self.found += u64::from(!watch.found.is_empty());
            Ok(Some(all))
        }
    }

    /// Sphere with some pairs.
    fn cluster(n: usize, pairs: usize, axis: f64) -> Particles {
        let mut p = plummer::sample(n, 5, 0.999);
        for i in (0..2 * pairs).step_by(2) {
            let a = axis * (1 + i % 7) as f64;
            p.pos[i + 1] = p.pos[i] + Vec3::x() * a;
            p.vel[i + 1] = p.vel[i] + Vec3::y() * (0.9 * (2.0 * p.mass[i] / a).sqrt());
        }
        p
    }

    /// Bodies are put near others, at all distances and speeds. Where a body may join another by the criteria of membership, the search
    /// has to find it.
    #[test]
    fn the_search_finds_all_bodies_that_may_join_another() {
        let (mut seen, mut looked) = ([0, 0], 0);
        for round in 0..12 {
            let (mut p, mut f) = (cluster(80, 6, 2e-4), Watching::new(Precision::F64, false));
            let mut it = Encounters::new(Box::new(scheme(Precision::F64)), 1e-5, CLOCK);
            it.start(&mut p, &mut f).unwrap();
            let mut compound: Vec<u32> = it.hierarchy.subsystems.iter().map(|it| it.stars[0]).collect();
            compound.sort_unstable();
            let watch = Watch {
                compound: &compound,
                forms: criteria::MAX_PERTURBATION_TO_FORM,
                joins: criteria::MAX_PERTURBATION_TO_JOIN,
                min_binding: criteria::MIN_BINDING_TO_FORM,
                log2_steps: criteria::LOG2_STEPS_PER_UPDATE,
                found: Vec::new(),
            };
            for i in (7..it.particles.len()).step_by(2) {
                // Each a few times nearer than the one before, and faster or slower than a parabola.
                let (k, q) = (if i % 4 == 1 { (i + round) % 6 } else { i - 1 }, (i + round) as f64);
                let r = 0.5f64.powf(1.0 + q % 13.0);
                let angle = Vec3::new(q.sin(), q.cos(), (2.0 * q).sin()).normalize();
                let speed = (2.0 * (it.particles.mass[i] + it.particles.mass[k]) / r).sqrt() * (0.3 + q % 5.0 * 0.3);
                it.particles.pos[i] = it.particles.pos[k] + angle * r;
                it.particles.vel[i] =
                    it.particles.vel[k] + Vec3::new((3.0 * q).cos(), (5.0 * q).sin(), q.cos()).normalize() * speed;
            }
            let now = Time::default();
            it.regions.outdate();
            it.renew_regions(now);
            let membership = it.membership(now);
            for i in it.hierarchy.bodies.occupied().filter(|&i| membership.subsystem(i).is_none()) {
                let (is_found, joins) = (may_form(&it.particles, i, now, &watch), membership.possible_partner(i));
                assert!(is_found || joins.is_none(), "round {round}: {i} joins {joins:?}");
                looked += 1;
                seen[0] += usize::from(is_found);
                seen[1] += usize::from(joins.is_some());
            }
        }
        println!("{looked} bodies, {seen:?} found and join");
        assert!(seen[1] > 20 && seen[0] < looked / 2, "{looked} bodies, {seen:?} found and join");
    }

    #[test]
    fn unattended_steps_end_in_the_state_of_attended_ones() {
        const F64: Precision = Precision::F64;
        let cases = [
            (64, 0, 0.0, u64::MAX, F64),
            (64, 0, 0.0, 20, F64),
            (200, 2, 1e-4, 100, F64),
            (48, 3, 4e-3, u64::MAX, F64),
        ];
        let modes = Precision::ALL.map(|precision| (300, 4, 4e-3, u64::MAX, precision));
        for (n, pairs, axis, at_once, precision) in cases.into_iter().chain(modes) {
            let [by_engine, by_host] = [true, false].map(|takes| {
                let (mut f, mut p) = (Watching::new(precision, takes), cluster(n, pairs, axis));
                let mut integrator = Encounters::new(Box::new(scheme(precision)), 1e-5, CLOCK);
                let end = Time::from_dt_max(if n == 300 { 3 } else { 12 });
                let mut done = integrator.start(&mut p, &mut f).unwrap();
                integrator.record_events();
                while done.now < end {
                    done = done.plus(&integrator.advance(&mut p, &mut f, end, at_once).unwrap());
                }
                let is_right = (f.taken > 0) == takes;
                assert!(is_right, "{} of {} steps in {} spans, {} ends", f.taken, done.block_steps, f.spans, f.found);
                println!(
                    "{precision:?} {} of {} steps in {} spans, {} ends",
                    f.taken, done.block_steps, f.spans, f.found
                );
                // As text, since a period may be NaN.
                (p.state_sha256(&CLOCK), done, format!("{:?}", integrator.take_events()))
            });
            assert!(by_host.2.contains("kind: Form"), "subsystems form");
            assert_eq!(by_engine, by_host, "n = {n}, {pairs} pairs, {precision:?}");
        }
    }
}
