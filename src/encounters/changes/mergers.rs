//! Contacts at the end of a block step: their events, and stars that become one.

use crate::encounters::Encounters;
use crate::encounters::contacts::inside::spin;
use crate::encounters::forces::bodies::Bodies;
use crate::encounters::forces::coupling;
use crate::encounters::forces::surroundings::at;
use crate::encounters::membership::change::Change;
use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::member::Member;
use crate::encounters::motion::subsystem::Subsystem;
use crate::encounters::motion::touched::Touched;
use crate::encounters::records::star_changes::Changed;
use crate::encounters::records::state::Recorded;
use crate::encounters::settings::stars::{CollisionAction, StarEvents};
use crate::subsystems::event::{Detail, Event, EventKind};
use crate::subsystems::stars::{Collision, Merged, Removed};
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::particles::Particles;
use tisane_force::time::Time;

impl Encounters {
    /// Looks for collisions and escapers from the start on. Their events are among those that
    /// [`Subsystems::take_events`](crate::subsystems::Subsystems::take_events) returns.
    #[must_use]
    pub fn with_star_events(mut self, StarEvents { collisions, escapes }: StarEvents) -> Self {
        self.hierarchy.bodies.sizes.collisions = collisions;
        self.escapes = escapes;
        self
    }

    /// Takes over bodies, with the radii of the stars.
    pub(crate) fn set_bodies(&mut self, bodies: Bodies, stars: &Particles) {
        let mut sizes = std::mem::take(&mut self.hierarchy.bodies.sizes);
        sizes.radii = match sizes.collisions {
            Some(_) if stars.radius.is_empty() => vec![0.0; stars.len()],
            Some(_) => stars.radius.clone(),
            None => Vec::new(),
        };
        self.hierarchy.bodies = bodies.with_sizes(sizes);
    }

    pub(crate) fn action(&self) -> Option<CollisionAction> {
        self.hierarchy.bodies.sizes.collisions.map(|collisions| collisions.action)
    }

    /// Finds the contacts of pairs in the block that nothing moves.
    pub(crate) fn find_contacts_ahead(&mut self, now: Time, block: &[u32]) {
        if self.action().is_none() {
            return;
        }
        let _phase = self.hierarchy.phase("contacts");
        let Hierarchy { subsystems, bodies, rows, clock, .. } = &mut self.hierarchy;
        for star in block.iter().map(|&body| bodies.stars[body as usize]) {
            if let Some(subsystem) = subsystems.get_mut(rows[star as usize] as usize) {
                subsystem.find_contacts_ahead(bodies, clock, now);
            }
        }
    }

    /// Returns the mergers of pairs whose stars touched.
    pub(crate) fn mergers(&self) -> Vec<Change> {
        if self.action() != Some(CollisionAction::Merge) || !self.hierarchy.bodies.sizes.have_contacts() {
            return Vec::new();
        }
        let pairs = self.hierarchy.subsystems.iter().filter(|subsystem| subsystem.pair_contact().is_some());
        let mut stars: Vec<u32> = pairs.map(|subsystem| subsystem.stars[0]).collect();
        stars.sort_unstable();
        stars.into_iter().map(|star| Change::Merge(self.hierarchy.bodies.of_star(star))).collect()
    }

    /// Returns the perturbers of the subsystems whose stars merge or evolve, and the bodies on which the force of two that become one
    /// changes, ascending.
    pub(crate) fn disturbed(&self, changes: &[Change], now: Time) -> Vec<usize> {
        let bodies = &self.hierarchy.bodies;
        let of_stars = changes.iter().filter(|change| change.is_of_stars()).flat_map(Change::bodies);
        let pairs = of_stars.filter_map(|&body| self.hierarchy.of_star(bodies.stars[body]));
        let mut found: Vec<usize> = pairs
            .flat_map(|subsystem| subsystem.perturbers.iter().map(|perturber| bodies.of_star(perturber.star)))
            .collect();
        for change in changes {
            if let Change::Unite(two, touched) = change {
                found.extend(self.disturbed_by_union(*two, touched.mass, now));
            }
        }
        found.retain(|body| !changes.iter().any(|change| change.bodies().contains(body)));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Replaces changes of pairs whose stars have touched by their mergers. All that take part stand at the present moment.
    pub(crate) fn with_mergers(&self, changes: &[Change]) -> Vec<Change> {
        let mergers = self.mergers();
        let merges = |body: &usize| mergers.contains(&Change::Merge(*body));
        let of = |change: &Change| match change.bodies().iter().any(merges) {
            true => change.bodies().iter().filter(|body| merges(body)).map(|&body| Change::Merge(body)).collect(),
            false => vec![change.clone()],
        };
        changes.iter().flat_map(of).collect()
    }

    /// Takes the contacts of the subsystems of bodies that end, with what the mergers among the changes take out of the system.
    pub(crate) fn take_contacts(&mut self, now: Time, changes: &[Change]) {
        for change in changes {
            for &body in change.bodies() {
                let star = self.hierarchy.bodies.stars[body];
                let removed = match (change, self.hierarchy.of_star(star)) {
                    (Change::Merge(_), Some(subsystem)) => self.removed_by(body, subsystem, now),
                    _ => None,
                };
                let Some(subsystem) = self.hierarchy.of_star_mut(star) else { continue };
                let pair = subsystem.pair_contact().cloned().map(|touched| Touched { merged: removed, ..touched });
                let mut found = std::mem::take(&mut subsystem.contacts);
                if let Some(pair) = pair.filter(|pair| pair.merged.is_some()) {
                    found.retain(|touched| touched.stars != pair.stars || touched.merged.is_some());
                    found.push(pair);
                }
                self.contacts.extend(found);
            }
        }
    }

    /// Returns what the merger of the pair of a body, at `now`, takes out of the system.
    fn removed_by(&self, body: usize, subsystem: &Subsystem, now: Time) -> Option<Removed> {
        let [a, b] = subsystem.motion.masses()[..] else { return None };
        let (p, points) = (&self.particles, subsystem.point_masses());
        let (pos, _) = at(p, body, &self.clock, now);
        let others = (0..p.len()).filter(|&k| k != body);
        let outside = |k: usize| p.mass[k] * coupling::potential(&points, at(p, k, &self.clock, now).0 - pos);
        let energy = others.map(outside).sum::<f64>() - subsystem.motion.binding();
        Some(Removed { energy, angular_momentum: spin([a, b], subsystem.motion.pair().into()), ..Removed::default() })
    }

    /// Records all contacts of the block step that ended at `now`, and makes the stars that two became one in all that numbers
    /// stars. Returns true if there were any.
    ///
    /// # Errors
    /// If the engine fails.
    pub(crate) fn settle(&mut self, f: &mut dyn ForceEngine, now: Time) -> Result<bool> {
        let Some(action) = self.action() else { return Ok(false) };
        let mut found = std::mem::take(&mut self.contacts);
        if self.hierarchy.bodies.sizes.have_contacts() {
            self.hierarchy.bodies.sizes.set_contacts(false);
            let touched = self.hierarchy.subsystems.iter_mut().filter(|subsystem| !subsystem.contacts.is_empty());
            let mut touched: Vec<&mut Subsystem> = touched.collect();
            touched.sort_unstable_by_key(|subsystem| subsystem.stars[0]);
            touched.into_iter().for_each(|subsystem| found.append(&mut subsystem.contacts));
        }
        match action {
            // Those at one moment stay in the order in which they became one: a new star may touch the next at once.
            CollisionAction::Merge => found.sort_by(|a, b| a.time.total_cmp(&b.time)),
            CollisionAction::Stop | CollisionAction::Record => {
                found.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.stars.cmp(&b.stars)));
            }
        }
        let before = self.events.len();
        let mut changed = Changed::default();
        for touched in found {
            if action == CollisionAction::Merge {
                self.settle_merger(now, touched, &mut changed);
            } else if let Err(place) = self.recorded.touching.binary_search(&touched.stars) {
                self.recorded.touching.insert(place, touched.stars);
                self.tell(now, &touched, None);
            }
        }
        let mut touching = std::mem::take(&mut self.recorded.touching);
        touching.retain(|stars| self.still_touch(*stars));
        self.recorded.touching = touching;
        if !changed.gone.is_empty() {
            // Empty rows belong to stars, which get other numbers now.
            self.order_rows(f, now)?;
            self.take_out(changed);
        }
        Ok(self.events.len() > before)
    }

    fn settle_merger(&mut self, now: Time, touched: Touched, changed: &mut Changed) {
        let [first, second] = touched.stars;
        let mut inner = || self.hierarchy.with_star_mut(first)?.merge_inner(touched.stars);
        // A pair that another change took up in this very step: it touches again.
        let Some(removed) = touched.merged.or_else(&mut inner) else { return };
        let Some(collisions) = self.hierarchy.bodies.sizes.collisions else { return };
        let id = touched.stars.map(|star| self.ids[star as usize]);
        let heavier = match touched.mass[0].total_cmp(&touched.mass[1]) {
            std::cmp::Ordering::Less => id[1],
            std::cmp::Ordering::Greater => id[0],
            std::cmp::Ordering::Equal => id[0].min(id[1]),
        };
        let mass = touched.mass[0] + touched.mass[1];
        let radius = collisions.law.merged(mass, touched.radius);
        self.tell(now, &touched, Some(Merged { id: heavier, radius, removed }));
        self.ids[first as usize] = heavier;
        self.hierarchy.bodies.sizes.radii[first as usize] = radius;
        changed.merged.push((first, heavier, mass, radius));
        let place = changed.gone.partition_point(|&star| star < second);
        changed.gone.insert(place, second);
    }

    fn tell(&mut self, now: Time, touched: &Touched, merged: Option<Merged>) {
        let id = touched.stars.map(|star| self.ids[star as usize]);
        let Touched { time, mass, radius, centre, relative, pericentre, .. } = *touched;
        let collision = Collision { id, time, mass, radius, centre, relative, pericentre, merged };
        let kind = if merged.is_some() { EventKind::Merge } else { EventKind::Touch };
        let event = Event::of_stars(now, kind, Detail::Collision(Box::new(collision)));
        self.events.push(event);
    }

    /// Takes stars that are gone out of all that numbers stars, with the changes of others, and keeps both for the caller. All
    /// rows have bodies.
    pub(crate) fn take_out(&mut self, changed: Changed) {
        self.tell_held_back();
        let gone = &changed.gone;
        let stays = |star: u32| gone.binary_search(&star).is_err();
        let number = |star: u32| star - gone.partition_point(|&it| it < star) as u32;
        let keep = |k: usize| stays(k as u32);
        let mut k = 0..self.ids.len();
        self.ids.retain(|_| k.next().is_some_and(keep));
        let mut bodies = std::mem::take(&mut self.hierarchy.bodies);
        let mut k = 0..bodies.sizes.radii.len();
        bodies.sizes.radii.retain(|_| k.next().is_some_and(keep));
        let stars: Vec<u32> = bodies.stars.iter().map(|&star| number(star)).collect();
        for (id, &star) in self.particles.id.iter_mut().zip(&stars) {
            *id = self.ids[star as usize];
        }
        bodies.particles.id.clone_from(&self.particles.id);
        let (all, sizes) = (std::mem::take(&mut bodies.particles), std::mem::take(&mut bodies.sizes));
        let derivatives = bodies.derivatives;
        self.hierarchy.bodies = Bodies::new(all, stars, self.ids.len()).with_sizes(sizes);
        self.hierarchy.bodies.derivatives = derivatives;
        for subsystem in &mut self.hierarchy.subsystems {
            subsystem.stars.retain(|&star| stays(star));
            subsystem.stars.iter_mut().for_each(|star| *star = number(*star));
            subsystem.perturbers.iter_mut().for_each(|perturber| perturber.star = number(perturber.star));
            subsystem.members.iter_mut().for_each(|member| renumber(member, &number));
        }
        self.hierarchy.index(self.ids.len());
        self.neighbours.renumber(stays, number);
        let Recorded { touching, escaped, thrown, .. } = &mut self.recorded;
        touching.retain(|stars| stars.iter().all(|&star| stays(star)));
        escaped.retain(|&star| stays(star));
        thrown.retain(|&star| stays(star));
        touching.iter_mut().flatten().chain(escaped).chain(thrown).for_each(|star| *star = number(*star));
        self.changed.push(changed);
    }
}

fn renumber(member: &mut Member, number: &impl Fn(u32) -> u32) {
    match member {
        Member::Star(star) => *star = number(*star),
        Member::Inner(few) => few.members.iter_mut().for_each(|member| renumber(member, number)),
    }
}
