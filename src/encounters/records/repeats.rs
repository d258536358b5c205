//! Repeated changes of a subsystem between the same two states, such as a wide binary that dissolves and forms once an orbit:
//! one event in place of many.
//!
//! The first event by which stars separate is reported at once. Later changes of the same stars between the same two states are
//! counted and not reported. The count ends when one of the stars takes part in a different change, and at multiples of
//! [`MAX_HELD_BACK`] longest steps. Then the last change is reported, with the number of changes that it stands for. If that number
//! is even, the last two changes are reported, so that the states before and after still follow each other.

use crate::subsystems::event::{Event, EventBody, EventKind};
use std::collections::BTreeMap;
use tisane_force::time::Time;

/// Interval at which all counted changes are reported, in units of the longest step.
pub const MAX_HELD_BACK: u64 = 64;

/// Changes of some stars between two states.
#[derive(Clone, Debug, PartialEq)]
pub struct Cycle {
    /// The last change.
    pub last: Event,
    /// The one before it, if both are held back.
    pub before_last: Option<Event>,
    /// Number of changes that are held back.
    pub held_back: u64,
    /// Moment of the first of these.
    pub since: Time,
}

impl Cycle {
    /// Begins with a change that is told.
    fn new(told: Event) -> Self {
        Self { since: told.time, last: told, before_last: None, held_back: 0 }
    }

    /// Returns true if a change makes the last one undone.
    fn is_undone_by(&self, event: &Event) -> bool {
        let same = |a: &[EventBody], b: &[EventBody]| a.iter().map(|it| &it.members).eq(b.iter().map(|it| &it.members));
        same(&self.last.before, &event.after) && same(&self.last.after, &event.before)
    }

    fn hold_back(&mut self, event: Event) {
        if self.held_back == 0 {
            (self.since, self.last) = (event.time, event);
        } else {
            self.before_last = Some(std::mem::replace(&mut self.last, event));
        }
        self.held_back += 1;
    }

    /// Returns what tells of the changes that are held back.
    fn events(&self) -> Vec<Event> {
        let Self { last, before_last, held_back, since } = self;
        let told = |event: &Event, changes: u64| Event { changes, since: *since, ..event.clone() };
        match (held_back, before_last) {
            (0, _) => Vec::new(),
            (held_back, Some(before_last)) if held_back.is_multiple_of(2) => {
                vec![told(before_last, held_back - 1), last.clone()]
            }
            (held_back, _) => vec![told(last, *held_back)],
        }
    }

    /// Returns the ids of its stars.
    fn stars(&self) -> impl Iterator<Item = u64> {
        self.last.before.iter().flat_map(|body| body.members.ids())
    }
}

/// Changes that are held back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repeats {
    /// By the lowest id of their stars. No two share a star.
    cycles: BTreeMap<u64, Cycle>,
    /// Lowest id of the cycle of each star that is in one.
    lowest: BTreeMap<u64, u64>,
}

impl Repeats {
    /// Creates them from cycles of which no two share a star.
    pub fn new(cycles: Vec<Cycle>) -> Self {
        let mut repeats = Self::default();
        cycles.into_iter().for_each(|cycle| repeats.begin(cycle));
        repeats
    }

    /// Returns all cycles.
    pub fn cycles(&self) -> impl ExactSizeIterator<Item = &Cycle> {
        self.cycles.values()
    }

    /// Takes in a change. Returns what is to be told at once.
    pub fn add(&mut self, event: Event) -> Vec<Event> {
        let mut stars: Vec<u64> = event.before.iter().flat_map(|body| body.members.ids()).collect();
        stars.sort_unstable();
        let mut known: Vec<u64> = stars.iter().filter_map(|star| self.lowest.get(star)).copied().collect();
        known.sort_unstable();
        known.dedup();
        if let [lowest] = known[..]
            && let Some(cycle) = self.cycles.get_mut(&lowest).filter(|cycle| cycle.is_undone_by(&event))
        {
            cycle.hold_back(event);
            return Vec::new();
        }
        let ended = known.into_iter().filter_map(|lowest| self.cycles.remove(&lowest));
        let mut told = Vec::new();
        for cycle in ended {
            told.extend(cycle.events());
            for star in cycle.stars() {
                self.lowest.remove(&star);
            }
        }
        told.push(event.clone());
        if matches!(event.kind, EventKind::Split | EventKind::Dissolve | EventKind::Open) {
            self.begin(Cycle::new(event));
        }
        told
    }

    fn begin(&mut self, cycle: Cycle) {
        let Some(lowest) = cycle.stars().min() else { return };
        self.lowest.extend(cycle.stars().map(|star| (star, lowest)));
        self.cycles.insert(lowest, cycle);
    }

    /// Returns what tells of all changes that are held back, in order of time.
    pub fn events(&self) -> Vec<Event> {
        let mut events: Vec<Event> = self.cycles().flat_map(Cycle::events).collect();
        events.sort_by_key(|event| event.time);
        events
    }

    /// Ends all cycles. Returns what tells of the changes that were held back.
    pub fn end(&mut self) -> Vec<Event> {
        let events = self.events();
        *self = Self::default();
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::subsystems::component::Component;
    use crate::subsystems::event::Detail;

    /// Change of two stars, or of their pair and a third, at a moment.
    fn change(time: u64, kind: EventKind) -> Event {
        let pair = Component::Several(vec![Component::Star(3), Component::Star(7)]);
        let body = |members: Component| EventBody { members, mass: 1.0, binding: 0.0 };
        let stars = vec![body(Component::Star(3)), body(Component::Star(7))];
        let three = Component::Several(vec![pair.clone(), Component::Star(9)]);
        let (before, after) = match kind {
            EventKind::Form => (stars, vec![body(pair)]),
            EventKind::Join => (vec![body(pair), body(Component::Star(9))], vec![body(three)]),
            _ => (vec![body(pair)], stars),
        };
        Event { before, after, ..Event::of_stars(Time(time), kind, Detail::None) }
    }

    /// Kinds, times, numbers of changes and their first times.
    fn told(events: Vec<Event>) -> Vec<(EventKind, u64, u64, u64)> {
        events.into_iter().map(|it| (it.kind, it.time.0, it.changes, it.since.0)).collect()
    }

    #[test]
    fn changes_to_and_fro_are_told_once() {
        use EventKind::{Dissolve, Form, Join};
        for last in 2..9 {
            let mut repeats = Repeats::default();
            for (time, kind) in [(0, Form), (1, Dissolve)] {
                assert_eq!(told(repeats.add(change(time, kind))), [(kind, time, 1, time)]);
            }
            assert!(repeats.events().is_empty());
            for time in 2..=last {
                let kind = if time % 2 == 0 { Form } else { Dissolve };
                assert!(repeats.add(change(time, kind)).is_empty());
                let copy = Repeats::new(repeats.cycles().cloned().collect());
                assert_eq!(copy, repeats);
            }
            // The last row leaves the stars as they are.
            let want = match last % 2 {
                0 => vec![(Form, last, last - 1, 2)],
                _ => vec![(Form, last - 1, last - 2, 2), (Dissolve, last, 1, last)],
            };
            assert_eq!(told(repeats.events()), want);
            if last % 2 == 0 {
                let found = told(repeats.add(change(last + 1, Join)));
                assert_eq!(found, [&want[..], &[(Join, last + 1, 1, last + 1)]].concat());
                assert!(repeats == Repeats::default());
            } else {
                assert_eq!(told(repeats.end()), want);
                // The next one begins anew.
                assert_eq!(told(repeats.add(change(last + 1, Form))), [(Form, last + 1, 1, last + 1)]);
            }
        }
    }
}
