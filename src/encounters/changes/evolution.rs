//! Stars that evolve: single ones, and those inside of subsystems.
//!
//! The energy that is taken out is that of all stars as points, as it is measured: that inside of a subsystem by its binding energy,
//! that of its stars with all others by their places.

use crate::compensated_sum::sum;
use crate::encounters::Encounters;
use crate::encounters::membership::change::Change;
use crate::encounters::membership::coupled_engine::CoupledEngine;
use crate::encounters::motion::evolved::{Changes, Evolved};
use crate::encounters::motion::member::{self, Few};
use crate::encounters::records::store::store;
use crate::integrator::{RowChange, Source};
use crate::star_changes::{Lost, Point, StarChange, StarChanges, disturbed};
use crate::subsystems::Removed;
use std::collections::BTreeMap;
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::Time;

/// Subsystem some stars of which evolve.
struct Evolving {
    body: usize,
    evolved: Evolved,
    /// Its stars before and after.
    stars: [Vec<Point>; 2],
    /// Its centre of mass before and after, with what is inside.
    whole: [Whole; 2],
}

/// Subsystem as a whole.
#[derive(Clone, Copy)]
struct Whole {
    centre: Point,
    binding: f64,
    /// Potential energy in external fields.
    external: f64,
}

impl Encounters {
    /// Changes stars at `now`, a moment of all; `p` are all stars, as they are now.
    pub(crate) fn evolve(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        changes: &StarChanges<'_>,
        now: Time,
    ) -> Result<Lost> {
        let is_single = |change: &&StarChange| self.hierarchy.with_star(change.row).is_none();
        let moving = changes.all.iter().filter(|change| change.moves(p));
        let (single, inside): (Vec<StarChange>, Vec<StarChange>) = moving.partition(is_single);
        self.bring_around(&single, &inside, now)?;
        let of_single = StarChanges { all: &single, ..*changes };
        let mut lost = of_single.apply(p, |pos| f.external_potential(now, pos))?;
        let mut evolving = self.evolving(f, &inside, now)?;
        self.book(p, &mut evolving, changes.since_start);
        for Evolving { evolved, whole: [before, after], .. } in &evolving {
            lost.add(evolved.removed, &before.centre, &after.centre);
        }
        if !single.is_empty() || !evolving.is_empty() {
            self.take_over(f, &single, &evolving, now)?;
        }
        for change in changes.all {
            if inside.binary_search_by_key(&change.row, |change| change.row).is_ok() {
                p.mass[change.row as usize] = change.mass;
            }
            if let Some(radius) = change.radius {
                let i = change.row as usize;
                p.radius.get_mut(i).into_iter().for_each(|of| *of = radius);
                self.hierarchy.bodies.sizes.radii.get_mut(i).into_iter().for_each(|of| *of = radius);
            }
        }
        if self.action().is_some() {
            (self.crossings, self.neighbours) = Default::default();
            self.watch_again(now)?;
        }
        store(&self.particles, &self.hierarchy, &self.recorded, p)?;
        Ok(lost)
    }

    /// Brings the motion inside of subsystems to `now` that feel stars which change, or have them.
    fn bring_around(&mut self, single: &[StarChange], inside: &[StarChange], now: Time) -> Result<()> {
        let of_inside = inside.iter().filter_map(|change| Some(self.hierarchy.with_star(change.row)?.stars[0]));
        let mut lowest: Vec<u32> = single.iter().map(|change| change.row).chain(of_inside).collect();
        lowest.sort_unstable();
        lowest.dedup();
        self.hierarchy.advance_around(&lowest, now)
    }

    /// Returns the subsystems with stars that change, in the order of their lowest stars, before and after.
    fn evolving(&self, f: &dyn ForceEngine, inside: &[StarChange], now: Time) -> Result<Vec<Evolving>> {
        let mut by_body: BTreeMap<u32, Vec<StarChange>> = BTreeMap::new();
        for change in inside {
            if let Some(subsystem) = self.hierarchy.with_star(change.row) {
                by_body.entry(subsystem.stars[0]).or_default().push(*change);
            }
        }
        let (p, rules) = (&self.particles, &self.hierarchy.rules);
        let mut found = Vec::with_capacity(by_body.len());
        for (star, all) in by_body {
            let Some(subsystem) = self.hierarchy.of_star(star) else { continue };
            let body = self.hierarchy.bodies.of_star(star);
            let of = Changes { all: &all, clock: &self.clock, now };
            let evolved = Evolved::new(&subsystem.few(), subsystem.settled(rules).is_some(), &of)?;
            let before = Point { mass: p.mass[body], pos: p.pos[body], vel: p.vel[body] };
            let [pos, vel] = evolved.shift;
            let after = Point { mass: evolved.mass, pos: before.pos + pos, vel: before.vel + vel };
            let (few, feels) = (subsystem.few(), subsystem.far.is_some());
            let (first, second) =
                (self.whole(f, &few, before, feels, now)?, self.whole(f, &evolved.few, after, feels, now)?);
            found.push(Evolving { body, evolved, stars: [first.0, second.0], whole: [first.1, second.1] });
        }
        Ok(found)
    }

    /// Returns the stars of a subsystem about its centre of mass, and what it is as a whole. Its stars feel external fields one by one,
    /// where it `feels` them.
    fn whole(
        &self,
        f: &dyn ForceEngine,
        few: &Few,
        centre: Point,
        feels: bool,
        now: Time,
    ) -> Result<(Vec<Point>, Whole)> {
        let inside = member::stars(&few.members, &few.motion, &self.clock, now)?;
        let place = |x: Vec3, v: Vec3, mass: f64| Point { mass, pos: centre.pos + x, vel: centre.vel + v };
        let stars: Vec<Point> = inside.iter().map(|star| place(star.pos, star.vel, star.mass)).collect();
        let mut external = 0.0;
        for point in if feels { &stars[..] } else { std::slice::from_ref(&centre) } {
            external += point.mass * f.external_potential(now, point.pos)?;
        }
        let binding = few.motion.binding() + few.members.iter().map(member::Member::binding).sum::<f64>();
        Ok((stars, Whole { centre, binding, external }))
    }

    /// Finds what each change takes out of the system; what two subsystems have together counts for the earlier one.
    fn book(&self, p: &Particles, evolving: &mut [Evolving], since_start: f64) {
        let mut is_other = vec![true; p.len()];
        for one in &*evolving {
            let star = self.hierarchy.bodies.stars[one.body];
            let stars = self.hierarchy.of_star(star).map_or(&[][..], |subsystem| &subsystem.stars);
            stars.iter().for_each(|&star| is_other[star as usize] = false);
        }
        let others: Vec<Point> = (0..p.len())
            .filter(|&i| is_other[i])
            .map(|i| Point { mass: p.mass[i], pos: p.pos[i], vel: p.vel[i] })
            .collect();
        let held = |k: usize, state: usize| {
            let (one, whole) = (&evolving[k], &evolving[k].whole[state]);
            let later = evolving[k + 1..].iter().map(|later| between(&one.stars[state], &later.stars[state]));
            let centre = &whole.centre;
            let energy = 0.5 * centre.mass * centre.vel.norm_squared() - whole.binding
                + whole.external
                + between(&one.stars[state], &others)
                + later.sum::<f64>();
            let spin = one.stars[state].iter().map(|star| star.pos.cross(&star.vel) * star.mass).sum();
            Removed { angular_momentum: spin, ..centre.held(since_start, energy) }
        };
        let removed: Vec<Removed> = (0..evolving.len()).map(|k| held(k, 0).less(&held(k, 1))).collect();
        evolving.iter_mut().zip(removed).for_each(|(one, removed)| one.evolved.removed = removed);
    }

    /// Lets the bodies go on with the changes: their masses, the forces of them, steps and perturbers.
    fn take_over(
        &mut self,
        f: &mut dyn ForceEngine,
        single: &[StarChange],
        evolving: &[Evolving],
        now: Time,
    ) -> Result<()> {
        let before = self.particles.acc.clone();
        let mut sources: Vec<Source> = Vec::with_capacity(2 * (single.len() + evolving.len()));
        let mut kicked: Vec<u32> = Vec::new();
        for change in single {
            let body = self.hierarchy.bodies.of_star(change.row) as u32;
            sources.extend(Source::of_change(&self.particles, body, change.mass, change.kick));
            self.particles.mass[body as usize] = change.mass;
            self.particles.vel[body as usize] += change.kick;
            kicked.extend(Some(body).filter(|_| change.is_kicked()));
        }
        for Evolving { body, whole, .. } in evolving {
            let row = *body as u32;
            let source =
                |sign: f64, point: &Point| Source { row, mass: sign * point.mass, pos: point.pos, vel: point.vel };
            sources.extend([source(-1.0, &whole[0].centre), source(1.0, &whole[1].centre)]);
        }
        self.scheme.add_sources(&mut self.particles, &sources, 0.0, &[], now);
        self.forget_places();
        let mut coupled = CoupledEngine { engine: f, hierarchy: &mut self.hierarchy };
        self.scheme.resume(&self.particles, now, &mut coupled)?;
        let inside: Vec<Change> =
            evolving.iter().map(|one| Change::Evolve(one.body, Box::new(one.evolved.clone()))).collect();
        if !inside.is_empty() {
            self.change(f, now, &inside)?;
        }
        kicked.sort_unstable();
        let began = |row: u32| evolving.iter().any(|one| one.body as u32 == row);
        let mut begun = disturbed(&self.particles.acc, &before, |row| kicked.binary_search(&row).is_ok());
        begun.retain(|&row| !began(row));
        if !begun.is_empty() {
            let change = RowChange { begun, ..RowChange::default() };
            let mut coupled = CoupledEngine { engine: f, hierarchy: &mut self.hierarchy };
            self.scheme.admit(&mut self.particles, &mut coupled, &change, now)?;
            self.follow(change.begun.iter().copied());
        }
        if !kicked.is_empty() {
            // Lists of perturbers hold for the speeds that bodies had.
            self.hierarchy.subsystems.iter_mut().for_each(|subsystem| subsystem.perturbers_until = now);
        }
        let all: Vec<u32> = self.hierarchy.bodies.occupied().map(|body| body as u32).collect();
        self.update_couplings(f, now, &all)?;
        let kick = |change: &StarChange| (self.hierarchy.bodies.of_star(change.row), change.kick);
        let recoil = |one: &Evolving| (one.body, one.whole[1].centre.vel - one.whole[0].centre.vel);
        let kicks = single.iter().filter(|change| change.is_kicked()).map(kick);
        // Those that recoil too, as what their change disturbs has begun since.
        let jumps: Vec<(usize, Vec3)> = kicks.chain(evolving.iter().map(recoil)).collect();
        self.limit_by_passages(now, &jumps);
        Ok(())
    }
}

/// Returns the potential energy of points with others.
fn between(points: &[Point], others: &[Point]) -> f64 {
    let pair =
        |a: &Point, b: &Point| if a.mass * b.mass == 0.0 { 0.0 } else { a.mass * b.mass / (a.pos - b.pos).norm() };
    -points.iter().map(|a| sum(others.iter().map(|b| pair(a, b)))).sum::<f64>()
}
