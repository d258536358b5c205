//! Events of the changes of subsystems, as they are recorded.

use crate::encounters::Encounters;
use crate::encounters::membership::change::Change;
use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::member::{Body, Few};
use crate::encounters::motion::subsystem::Group;
use crate::encounters::records::parts::{component, pair_orbit};
use crate::subsystems::component::Component;
use crate::subsystems::event::{Detail, Event, EventKind, EventUnit};
use std::collections::BTreeMap;
use tisane_force::error::Result;
use tisane_force::time::Time;

/// Event of which what begins is not known yet.
pub(crate) struct Ending {
    event: Event,
    /// Stars of the inner pair that closes.
    closed: Vec<u32>,
}

/// Returns the perturbation of a subsystem by all others.
fn perturbation(group: &Group) -> f64 {
    let r = group.extent();
    2.0 * r * r * r * group.field / group.mass()
}

/// Returns the perturbation of the inner subsystem at a place by the other bodies.
fn perturbation_inside(group: &Group, place: usize, few: &Few) -> f64 {
    let (mass, size) = (group.motion.masses(), few.size());
    let by = |j: usize| {
        let ratio = size / group.motion.vectors(place, j).0.norm();
        2.0 * mass[j] / mass[place] * ratio * ratio * ratio
    };
    (0..mass.len()).filter(|&j| j != place).map(by).sum()
}

impl Encounters {
    /// Returns the subsystem whose lowest star is `star`, at `now` and at the place of its members on their orbits.
    fn present(&self, star: u32, now: Time) -> Result<Option<Group>> {
        let Hierarchy { units, clock, .. } = &self.subsystems;
        self.subsystems.of_star(star).map(|group| group.at(units, clock, now.max(group.time))).transpose()
    }

    /// Returns the unit whose lowest star is `star`, and its subsystem.
    fn event_unit(&self, star: u32, group: Option<&Group>) -> EventUnit {
        match group {
            None => {
                let mass = self.particles.mass[self.subsystems.units.of_star(star)];
                EventUnit { members: Component::Star(self.ids[star as usize]), mass, binding: 0.0 }
            }
            Some(group) => {
                EventUnit { members: component(&group.bodies, &self.ids), mass: group.mass(), binding: group.binding() }
            }
        }
    }

    /// Returns the events of changes that are about to be made at `now`; none unless events are recorded.
    pub(crate) fn ending(&self, now: Time, changes: &[Change]) -> Result<Vec<Ending>> {
        let changes = if self.events.is_some() { changes } else { &[] };
        // Mergers are events of their stars.
        let changes = changes.iter().filter(|change| !change.is_merger());
        changes.map(|change| self.ending_by(now, change)).collect()
    }

    fn ending_by(&self, now: Time, change: &Change) -> Result<Ending> {
        let (mut before, mut groups) = (Vec::new(), Vec::new());
        for star in change.units().iter().map(|&unit| self.subsystems.units.stars[unit]) {
            let group = self.present(star, now)?;
            before.push(self.event_unit(star, group.as_ref()));
            groups.extend(group);
        }
        before.sort_unstable_by_key(|unit| unit.members.first());
        let kind = match change {
            Change::Join(..) if groups.is_empty() => EventKind::Form,
            Change::Join(..) => EventKind::Join,
            Change::Split(..) | Change::Merge(_) | Change::Unite(..) => EventKind::Split,
            Change::Open(..) => EventKind::Open,
            Change::Close(..) => EventKind::Close,
        };
        let mut event = Event { before, ..Event::of_stars(now, kind, Detail::None) };
        let mut closed = Vec::new();
        match (change, groups.first()) {
            (Change::Split(..), Some(group)) => {
                event.orbit = pair_orbit(&group.bodies, &group.motion, &self.ids);
                event.perturbation = perturbation(group);
            }
            (Change::Open(_, place), Some(group)) => {
                if let Some(few) = group.bodies[*place].inner() {
                    event.orbit = pair_orbit(&few.bodies, &few.motion, &self.ids);
                    event.perturbation = perturbation_inside(group, *place, few);
                }
            }
            (Change::Close(_, two), Some(group)) => {
                closed = two.iter().flat_map(|&place| group.bodies[place].stars()).collect();
                closed.sort_unstable();
            }
            _ => {}
        }
        Ok(Ending { event, closed })
    }

    /// Records events with the units that have begun at `now`, given by their lowest stars.
    pub(crate) fn record(&mut self, ending: Vec<Ending>, now: Time, begun: &[u32]) -> Result<()> {
        if ending.is_empty() {
            return Ok(());
        }
        let units = ending.iter().enumerate().flat_map(|(k, it)| it.event.before.iter().map(move |unit| (k, unit)));
        let of_id: BTreeMap<u64, usize> =
            units.flat_map(|(k, unit)| unit.members.ids().into_iter().map(move |id| (id, k))).collect();
        let mut after: Vec<Vec<u32>> = vec![Vec::new(); ending.len()];
        for &star in begun {
            if let Some(&k) = of_id.get(&self.ids[star as usize]) {
                after[k].push(star);
            }
        }
        for (it, stars) in ending.into_iter().zip(after) {
            let event = self.begun(it, now, &stars)?;
            self.events.get_or_insert_default().push(event);
        }
        Ok(())
    }

    /// Returns an event with the units that have begun.
    fn begun(&self, Ending { mut event, closed }: Ending, now: Time, stars: &[u32]) -> Result<Event> {
        let mut groups = Vec::new();
        for &star in stars {
            let group = self.present(star, now)?;
            event.after.push(self.event_unit(star, group.as_ref()));
            groups.extend(group);
        }
        event.after.sort_unstable_by_key(|unit| unit.members.first());
        let orbit = |group: &Group| pair_orbit(&group.bodies, &group.motion, &self.ids);
        match (event.kind, groups.first()) {
            (EventKind::Form | EventKind::Join, Some(group)) => {
                (event.orbit, event.perturbation) = (orbit(group), perturbation(group));
            }
            (EventKind::Close, Some(group)) => {
                let is_it = |few: &Few| {
                    let mut stars: Vec<u32> = few.bodies.iter().flat_map(Body::stars).collect();
                    stars.sort_unstable();
                    stars == closed
                };
                let inner = group.bodies.iter().enumerate().filter_map(|(place, body)| Some((place, body.inner()?)));
                if let Some((place, few)) = inner.into_iter().find(|(_, few)| is_it(few)) {
                    event.orbit = pair_orbit(&few.bodies, &few.motion, &self.ids);
                    event.perturbation = perturbation_inside(group, place, few);
                }
            }
            (EventKind::Split, None) => event.kind = EventKind::Dissolve,
            (EventKind::Split, Some(_)) => {
                let binding = |group: &&Group| group.motion.binding();
                let pairs = groups.iter().filter(|group| group.elements().is_some());
                event.orbit = pairs.max_by(|a, b| binding(a).total_cmp(&binding(b))).and_then(orbit);
            }
            _ => {}
        }
        Ok(event)
    }
}
