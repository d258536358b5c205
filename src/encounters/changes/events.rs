//! Events of the changes of subsystems, as they are recorded.

use crate::encounters::Encounters;
use crate::encounters::membership::change::Change;
use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::member::{Few, Member};
use crate::encounters::motion::subsystem::Subsystem;
use crate::encounters::records::parts::{component, pair_orbit};
use crate::subsystems::component::Component;
use crate::subsystems::event::{Detail, Event, EventBody, EventKind};
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
fn perturbation(subsystem: &Subsystem) -> f64 {
    let r = subsystem.extent();
    2.0 * r * r * r * subsystem.field / subsystem.mass()
}

/// Returns the perturbation of the inner subsystem at a place by the other bodies.
fn perturbation_inside(subsystem: &Subsystem, place: usize, few: &Few) -> f64 {
    let (mass, size) = (subsystem.motion.masses(), few.size());
    let by = |j: usize| {
        let ratio = size / subsystem.motion.vectors(place, j).0.norm();
        2.0 * mass[j] / mass[place] * ratio * ratio * ratio
    };
    (0..mass.len()).filter(|&j| j != place).map(by).sum()
}

impl Encounters {
    /// Returns the subsystem whose lowest star is `star`, at `now` and at the place of its members on their orbits.
    fn present(&self, star: u32, now: Time) -> Result<Option<Subsystem>> {
        let Hierarchy { bodies, rules, clock, .. } = &self.hierarchy;
        let at = |subsystem: &Subsystem| subsystem.at(bodies, clock, rules, now.max(subsystem.time));
        self.hierarchy.of_star(star).map(at).transpose()
    }

    /// Returns the body whose lowest star is `star`, and its subsystem.
    fn event_body(&self, star: u32, subsystem: Option<&Subsystem>) -> EventBody {
        match subsystem {
            None => {
                let mass = self.particles.mass[self.hierarchy.bodies.of_star(star)];
                EventBody { members: Component::Star(self.ids[star as usize]), mass, binding: 0.0 }
            }
            Some(subsystem) => EventBody {
                members: component(&subsystem.members, &self.ids),
                mass: subsystem.mass(),
                binding: subsystem.binding(),
            },
        }
    }

    /// Returns the events of changes that are about to be made at `now`; none unless events are recorded.
    pub(crate) fn ending(&self, now: Time, changes: &[Change]) -> Result<Vec<Ending>> {
        let changes = if self.records_changes { changes } else { &[] };
        // Those of stars are told as such.
        let changes = changes.iter().filter(|change| !change.is_of_stars());
        changes.map(|change| self.ending_by(now, change)).collect()
    }

    fn ending_by(&self, now: Time, change: &Change) -> Result<Ending> {
        let (mut before, mut subsystems) = (Vec::new(), Vec::new());
        for star in change.bodies().iter().map(|&body| self.hierarchy.bodies.stars[body]) {
            let subsystem = self.present(star, now)?;
            before.push(self.event_body(star, subsystem.as_ref()));
            subsystems.extend(subsystem);
        }
        before.sort_unstable_by_key(|body| body.members.first());
        let kind = match change {
            Change::Join(..) if subsystems.is_empty() => EventKind::Form,
            Change::Join(..) => EventKind::Join,
            Change::Split(..) | Change::Merge(_) | Change::Unite(..) | Change::Evolve(..) => EventKind::Split,
            Change::Open(..) => EventKind::Open,
            Change::Close(..) => EventKind::Close,
        };
        let mut event = Event { before, ..Event::of_stars(now, kind, Detail::None) };
        let mut closed = Vec::new();
        match (change, subsystems.first()) {
            (Change::Split(..), Some(subsystem)) => {
                event.orbit = pair_orbit(&subsystem.members, &subsystem.motion, &self.ids);
                event.perturbation = perturbation(subsystem);
            }
            (Change::Open(_, place), Some(subsystem)) => {
                if let Some(few) = subsystem.members[*place].inner() {
                    event.orbit = pair_orbit(&few.members, &few.motion, &self.ids);
                    event.perturbation = perturbation_inside(subsystem, *place, few);
                }
            }
            (Change::Close(_, two), Some(subsystem)) => {
                closed = two.iter().flat_map(|&place| subsystem.members[place].stars()).collect();
                closed.sort_unstable();
            }
            _ => {}
        }
        Ok(Ending { event, closed })
    }

    /// Records events with the bodies that have begun at `now`, given by their lowest stars.
    pub(crate) fn record(&mut self, ending: Vec<Ending>, now: Time, begun: &[u32]) -> Result<()> {
        if ending.is_empty() {
            return Ok(());
        }
        let bodies = ending.iter().enumerate().flat_map(|(k, it)| it.event.before.iter().map(move |body| (k, body)));
        let of_id: BTreeMap<u64, usize> =
            bodies.flat_map(|(k, body)| body.members.ids().into_iter().map(move |id| (id, k))).collect();
        let mut after: Vec<Vec<u32>> = vec![Vec::new(); ending.len()];
        for &star in begun {
            if let Some(&k) = of_id.get(&self.ids[star as usize]) {
                after[k].push(star);
            }
        }
        for (it, stars) in ending.into_iter().zip(after) {
            let event = self.begun(it, now, &stars)?;
            let told = self.recorded.repeats.add(event);
            self.events.extend(told);
        }
        Ok(())
    }

    /// Reports all changes that were counted and not reported.
    pub(crate) fn tell_held_back(&mut self) {
        let told = self.recorded.repeats.end();
        self.events.extend(told);
    }

    /// Returns an event with the bodies that have begun.
    fn begun(&self, Ending { mut event, closed }: Ending, now: Time, stars: &[u32]) -> Result<Event> {
        let mut subsystems = Vec::new();
        for &star in stars {
            let subsystem = self.present(star, now)?;
            event.after.push(self.event_body(star, subsystem.as_ref()));
            subsystems.extend(subsystem);
        }
        event.after.sort_unstable_by_key(|body| body.members.first());
        let orbit = |subsystem: &Subsystem| pair_orbit(&subsystem.members, &subsystem.motion, &self.ids);
        match (event.kind, subsystems.first()) {
            (EventKind::Form | EventKind::Join, Some(subsystem)) => {
                (event.orbit, event.perturbation) = (orbit(subsystem), perturbation(subsystem));
            }
            (EventKind::Close, Some(subsystem)) => {
                let is_it = |few: &Few| {
                    let mut stars: Vec<u32> = few.members.iter().flat_map(Member::stars).collect();
                    stars.sort_unstable();
                    stars == closed
                };
                let inner =
                    subsystem.members.iter().enumerate().filter_map(|(place, member)| Some((place, member.inner()?)));
                if let Some((place, few)) = inner.into_iter().find(|(_, few)| is_it(few)) {
                    event.orbit = pair_orbit(&few.members, &few.motion, &self.ids);
                    event.perturbation = perturbation_inside(subsystem, place, few);
                }
            }
            (EventKind::Split, None) => event.kind = EventKind::Dissolve,
            (EventKind::Split, Some(_)) => {
                let binding = |subsystem: &&Subsystem| subsystem.motion.binding();
                let pairs = subsystems.iter().filter(|subsystem| subsystem.elements().is_some());
                event.orbit = pairs.max_by(|a, b| binding(a).total_cmp(&binding(b))).and_then(orbit);
            }
            _ => {}
        }
        Ok(event)
    }
}
