//! Contacts at the end of a block step: their events, and stars that become one.

use crate::encounters::Encounters;
use crate::encounters::contacts::inside::spin;
use crate::encounters::forces::bodies::Units;
use crate::encounters::forces::coupling;
use crate::encounters::forces::surroundings::at;
use crate::encounters::membership::change::Change;
use crate::encounters::motion::member::Body;
use crate::encounters::motion::subsystem::Group;
use crate::encounters::motion::touched::Touched;
use crate::encounters::records::star_changes::Changed;
use crate::encounters::records::state::Recorded;
use crate::encounters::settings::stars::{CollisionAction, StarEvents};
use crate::subsystems::event::{Detail, Event, EventKind};
use crate::subsystems::stars::{Collision, Merged, Removed};
use tisane_force::particles::Particles;
use tisane_force::time::Time;

impl Encounters {
    /// Looks for collisions and escapers from the start on. Their events are among those that
    /// [`Integrator::take_events`](crate::integrator::Integrator::take_events) returns.
    #[must_use]
    pub fn with_star_events(mut self, StarEvents { collisions, escapes }: StarEvents) -> Self {
        self.subsystems.units.sizes.collisions = collisions;
        self.escapes = escapes;
        self
    }

    /// Takes over units, with the radii of the stars.
    pub(crate) fn set_units(&mut self, units: Units, stars: &Particles) {
        let mut sizes = std::mem::take(&mut self.subsystems.units.sizes);
        sizes.radii = match sizes.collisions {
            Some(_) if stars.radius.is_empty() => vec![0.0; stars.len()],
            Some(_) => stars.radius.clone(),
            None => Vec::new(),
        };
        self.subsystems.units = units.with_sizes(sizes);
    }

    pub(crate) fn action(&self) -> Option<CollisionAction> {
        self.subsystems.units.sizes.collisions.map(|collisions| collisions.action)
    }

    /// Finds the contacts of pairs in the block that nothing moves.
    pub(crate) fn look_ahead(&mut self, now: Time, block: &[u32]) {
        if self.action().is_none() {
            return;
        }
        let (groups, units, clock) = (&mut self.subsystems.groups, &self.subsystems.units, &self.clock);
        for star in block.iter().map(|&unit| units.stars[unit as usize]) {
            if let Ok(place) = groups.binary_search_by_key(&star, |group| group.members[0]) {
                groups[place].look_ahead(units, clock, now);
            }
        }
    }

    /// Returns the mergers of pairs whose stars touched.
    pub(crate) fn mergers(&self) -> Vec<Change> {
        if self.action() != Some(CollisionAction::Merge) {
            return Vec::new();
        }
        let pairs = self.subsystems.groups.iter().filter(|group| group.pair_contact().is_some());
        pairs.map(|group| Change::Merge(self.subsystems.units.of_star(group.members[0]))).collect()
    }

    /// Returns the units that feel the members of the subsystems whose stars merge, or on which the force of two that become one
    /// changes, ascending.
    pub(crate) fn felt(&self, changes: &[Change], now: Time) -> Vec<usize> {
        let units = &self.subsystems.units;
        let merging = changes.iter().filter(|change| change.is_merger()).flat_map(Change::units);
        let pairs = merging.filter_map(|&unit| self.subsystems.of_star(units.stars[unit]));
        let mut found: Vec<usize> =
            pairs.flat_map(|group| group.near.iter().map(|near| units.of_star(near.star))).collect();
        for change in changes {
            if let Change::Unite(two, touched) = change {
                found.extend(self.felt_of_union(*two, touched.mass, now));
            }
        }
        found.retain(|unit| !changes.iter().any(|change| change.units().contains(unit)));
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Replaces changes of pairs whose stars have touched by their mergers. All that take part stand at the present moment.
    pub(crate) fn with_mergers(&self, changes: &[Change]) -> Vec<Change> {
        let mergers = self.mergers();
        let merges = |unit: &usize| mergers.contains(&Change::Merge(*unit));
        let of = |change: &Change| match change.units().iter().any(merges) {
            true => change.units().iter().filter(|unit| merges(unit)).map(|&unit| Change::Merge(unit)).collect(),
            false => vec![change.clone()],
        };
        changes.iter().flat_map(of).collect()
    }

    /// Takes the contacts of the subsystems of units that end, with what the mergers among the changes take out of the system.
    pub(crate) fn take_contacts(&mut self, now: Time, changes: &[Change]) {
        for change in changes {
            for &unit in change.units() {
                let star = self.subsystems.units.stars[unit];
                let removed = match (change, self.subsystems.of_star(star)) {
                    (Change::Merge(_), Some(group)) => self.removed_by(unit, group, now),
                    _ => None,
                };
                let Some(group) = self.subsystems.of_star_mut(star) else { continue };
                let pair = group.pair_contact().cloned().map(|touched| Touched { merged: removed, ..touched });
                let mut found = std::mem::take(&mut group.contacts);
                if let Some(pair) = pair.filter(|pair| pair.merged.is_some()) {
                    found.retain(|touched| touched.stars != pair.stars || touched.merged.is_some());
                    found.push(pair);
                }
                self.contacts.extend(found);
            }
        }
    }

    /// Returns what the merger of the pair of a unit, at `now`, takes out of the system.
    fn removed_by(&self, unit: usize, group: &Group, now: Time) -> Option<Removed> {
        let [a, b] = group.motion.masses()[..] else { return None };
        let (p, members) = (&self.particles, group.members());
        let (pos, _) = at(p, unit, &self.clock, now);
        let others = (0..p.len()).filter(|&k| k != unit);
        let outside = |k: usize| p.mass[k] * coupling::potential(&members, at(p, k, &self.clock, now).0 - pos);
        let energy = others.map(outside).sum::<f64>() - group.motion.binding();
        Some(Removed { energy, angular_momentum: spin([a, b], group.motion.pair().into()), ..Removed::default() })
    }

    /// Records all contacts of the block step that ended at `now`, and makes the stars that two became one in all that numbers
    /// stars. Returns true if there were any.
    pub(crate) fn settle(&mut self, now: Time) -> bool {
        let Some(action) = self.action() else { return false };
        let mut found = std::mem::take(&mut self.contacts);
        self.subsystems.groups.iter_mut().for_each(|group| found.append(&mut group.contacts));
        match action {
            // Those at one moment stay in the order in which they became one: a new star may touch the next at once.
            CollisionAction::Merge => found.sort_by(|a, b| a.time.total_cmp(&b.time)),
            CollisionAction::Stop | CollisionAction::Record => {
                found.sort_by(|a, b| a.time.total_cmp(&b.time).then(a.stars.cmp(&b.stars)));
            }
        }
        let before = self.events.as_ref().map_or(0, Vec::len);
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
        self.take_out(changed);
        self.events.as_ref().map_or(0, Vec::len) > before
    }

    fn settle_merger(&mut self, now: Time, touched: Touched, changed: &mut Changed) {
        let [first, second] = touched.stars;
        let mut inner = || self.subsystems.groups.iter_mut().find_map(|group| group.merge_inner(touched.stars));
        // A pair that another change took up in this very step: it touches again.
        let Some(removed) = touched.merged.or_else(&mut inner) else { return };
        let Some(collisions) = self.subsystems.units.sizes.collisions else { return };
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
        self.subsystems.units.sizes.radii[first as usize] = radius;
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
        self.events.get_or_insert_default().push(event);
    }

    /// Takes stars that are gone out of all that numbers stars, with the changes of others, and keeps both for the caller.
    pub(crate) fn take_out(&mut self, changed: Changed) {
        if changed.gone.is_empty() {
            return;
        }
        let gone = &changed.gone;
        let stays = |star: u32| gone.binary_search(&star).is_err();
        let number = |star: u32| star - gone.partition_point(|&it| it < star) as u32;
        let keep = |k: usize| stays(k as u32);
        let mut k = 0..self.ids.len();
        self.ids.retain(|_| k.next().is_some_and(keep));
        let mut units = std::mem::take(&mut self.subsystems.units);
        let mut k = 0..units.sizes.radii.len();
        units.sizes.radii.retain(|_| k.next().is_some_and(keep));
        let stars: Vec<u32> = units.stars.iter().map(|&star| number(star)).collect();
        for (id, &star) in self.particles.id.iter_mut().zip(&stars) {
            *id = self.ids[star as usize];
        }
        units.all.id.clone_from(&self.particles.id);
        let (all, sizes) = (std::mem::take(&mut units.all), std::mem::take(&mut units.sizes));
        self.subsystems.units = Units::new(all, stars, self.ids.len()).with_sizes(sizes);
        for group in &mut self.subsystems.groups {
            group.members.retain(|&star| stays(star));
            group.members.iter_mut().for_each(|star| *star = number(*star));
            group.near.iter_mut().for_each(|near| near.star = number(near.star));
            group.bodies.iter_mut().for_each(|body| renumber(body, &number));
        }
        self.subsystems.index(self.ids.len());
        self.neighbours.renumber(stays, number);
        let Recorded { touching, escaped } = &mut self.recorded;
        touching.retain(|stars| stars.iter().all(|&star| stays(star)));
        escaped.retain(|&star| stays(star));
        touching.iter_mut().flatten().chain(escaped).for_each(|star| *star = number(*star));
        self.changed.push(changed);
    }
}

fn renumber(body: &mut Body, number: &impl Fn(u32) -> u32) {
    match body {
        Body::Star(star) => *star = number(*star),
        Body::Inner(few) => few.bodies.iter_mut().for_each(|body| renumber(body, number)),
    }
}
