//! Records of the changes of subsystems, as plain data: what ended, what began, and the orbit that it is about.

use super::Encounters;
use super::bodies::{Body, Few};
use super::collisions::{Collision, Escape, Removed};
use super::coupled::Subsystems;
use super::group::Group;
use super::membership::Change;
use crate::few_body::Motion;
use std::collections::BTreeMap;
use std::f64::consts::TAU;
use std::fmt;
use tisane_force::error::Result;
use tisane_force::time::Time;

/// Kind of a change of subsystems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// Two stars become a subsystem.
    Form,
    /// A star or a subsystem joins a subsystem.
    Join,
    /// The members of an inner subsystem become bodies of the subsystem that it is inside of.
    Open,
    /// Two bodies of a subsystem become one.
    Close,
    /// A subsystem splits in two parts, of which one at least is a subsystem.
    Split,
    /// A subsystem splits in two stars.
    Dissolve,
    /// Two stars touch and go on.
    Touch,
    /// Two stars become one.
    Merge,
    /// A star or a subsystem leaves the system.
    Escape,
}

/// Data of an event of stars.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Detail {
    /// Nothing: a change of subsystems.
    #[default]
    None,
    /// Two stars touch, or become one.
    Collision(Box<Collision>),
    /// Stars leave the system.
    Escape(Box<Escape>),
}

impl EventKind {
    /// All changes of subsystems. The other kinds are events of stars.
    pub const ALL: [Self; 6] = [Self::Form, Self::Join, Self::Open, Self::Close, Self::Split, Self::Dissolve];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Form => "form",
            Self::Join => "join",
            Self::Open => "open",
            Self::Close => "close",
            Self::Split => "split",
            Self::Dissolve => "dissolve",
            Self::Touch => "touch",
            Self::Merge => "merge",
            Self::Escape => "escape",
        }
    }
}

/// Star, or bodies that move about each other, by ids. Written as `7`, `(3+7)`, `((3+7)+12)`, `(3+7+12)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Component {
    /// Star.
    Star(u64),
    /// Two or more bodies, in the order of their smallest ids.
    Several(Vec<Component>),
}

impl Component {
    /// Returns some bodies as one component; `ids` has the ids of all stars.
    pub(super) fn of(bodies: &[Body], ids: &[u64]) -> Self {
        let part = |body: &Body| match body {
            Body::Star(star) => Self::Star(ids[*star as usize]),
            Body::Inner(few) => Self::of(&few.bodies, ids),
        };
        let mut parts: Vec<Self> = bodies.iter().map(part).collect();
        parts.sort_unstable_by_key(Self::first);
        Self::Several(parts)
    }

    /// Returns the smallest id.
    #[must_use]
    pub fn first(&self) -> u64 {
        match self {
            Self::Star(id) => *id,
            Self::Several(parts) => parts.iter().map(Self::first).min().unwrap_or(u64::MAX),
        }
    }

    /// Returns the ids of all stars, in the order in which they are written.
    #[must_use]
    pub fn ids(&self) -> Vec<u64> {
        match self {
            Self::Star(id) => vec![*id],
            Self::Several(parts) => parts.iter().flat_map(Self::ids).collect(),
        }
    }

    /// Returns true for a star.
    #[must_use]
    pub const fn is_star(&self) -> bool {
        matches!(self, Self::Star(_))
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Star(id) => write!(f, "{id}"),
            Self::Several(parts) => {
                for (k, part) in parts.iter().enumerate() {
                    write!(f, "{}{part}", if k == 0 { '(' } else { '+' })?;
                }
                write!(f, ")")
            }
        }
    }
}

/// Kepler orbit of two bodies, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairOrbit {
    /// Masses of the bodies, that with the smaller id first.
    pub mass: [f64; 2],
    /// Semi-major axis; negative where they are not bound.
    pub semi_major_axis: f64,
    /// Eccentricity.
    pub eccentricity: f64,
    /// Period; NaN where they are not bound.
    pub period: f64,
}

impl PairOrbit {
    /// Returns the orbit of the bodies of a motion; [`None`] if they are not two.
    pub(super) fn of(bodies: &[Body], motion: &Motion, ids: &[u64]) -> Option<Self> {
        let ([a, b], [m1, m2]) = (bodies, &motion.masses()[..]) else { return None };
        let first = |body: &Body| body.stars().into_iter().map(|star| ids[star as usize]).min();
        let ((_, beta), (pos, vel), mu) = (motion.pair_constants()?, motion.pair(), motion.total_mass());
        let axis = mu / beta;
        Some(Self {
            mass: if first(a) < first(b) { [*m1, *m2] } else { [*m2, *m1] },
            semi_major_axis: axis,
            eccentricity: (1.0 - pos.cross(&vel).norm_squared() / (axis * mu)).max(0.0).sqrt(),
            period: TAU * axis / beta.sqrt(),
        })
    }
}

/// Star or subsystem that ends or begins.
#[derive(Clone, Debug, PartialEq)]
pub struct EventUnit {
    /// Its stars.
    pub members: Component,
    /// Mass.
    pub mass: f64,
    /// Binding energy inside; 0 for a star.
    pub binding: f64,
}

/// Change of the subsystems, in internal units.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Moment.
    pub time: Time,
    /// Kind.
    pub kind: EventKind,
    /// What ended, in the order of the smallest ids.
    pub before: Vec<EventUnit>,
    /// What began, likewise.
    pub after: Vec<EventUnit>,
    /// Orbit that it is about: that of the new pair, of the inner pair that opens or closes, of the pair that dissolves, and
    /// after a split that of the pair that is left, of two the one with the larger binding energy. [`None`] where there is
    /// no pair.
    pub orbit: Option<PairOrbit>,
    /// Perturbation 2 r³ D / M of the subsystem of mass M, that which begins or at a split that which ended, with its extent r
    /// and D = Σ m/r³ of all others; of an inner pair that by the other bodies of the subsystem, at its apocentre.
    pub perturbation: f64,
    /// Data of stars that touch, merge or escape; what ended and began is empty then.
    pub detail: Detail,
}

impl Event {
    /// Returns what the event takes out of the system, if it does.
    #[must_use]
    pub fn removed(&self) -> Option<Removed> {
        match &self.detail {
            Detail::None => None,
            Detail::Collision(collision) => collision.merged.map(|merged| merged.removed),
            Detail::Escape(escape) => Some(escape.removed),
        }
    }

    /// Creates an event of stars.
    pub(super) fn of_stars(time: Time, kind: EventKind, detail: Detail) -> Self {
        let (before, after) = (Vec::new(), Vec::new());
        Self { time, kind, before, after, orbit: None, perturbation: 0.0, detail }
    }
}

/// Event of which what begins is not known yet.
pub(super) struct Ending {
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
        let Subsystems { units, clock, .. } = &self.subsystems;
        self.subsystems.of_star(star).map(|group| group.at(units, clock, now.max(group.time))).transpose()
    }

    /// Returns the unit whose lowest star is `star`, and its subsystem.
    fn event_unit(&self, star: u32, group: Option<&Group>) -> EventUnit {
        match group {
            None => {
                let mass = self.particles.mass[self.subsystems.units.of_star(star)];
                EventUnit { members: Component::Star(self.ids[star as usize]), mass, binding: 0.0 }
            }
            Some(group) => EventUnit {
                members: Component::of(&group.bodies, &self.ids),
                mass: group.mass(),
                binding: group.binding(),
            },
        }
    }

    /// Returns the events of changes that are about to be made at `now`; none unless events are recorded.
    pub(super) fn ending(&self, now: Time, changes: &[Change]) -> Result<Vec<Ending>> {
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
                event.orbit = PairOrbit::of(&group.bodies, &group.motion, &self.ids);
                event.perturbation = perturbation(group);
            }
            (Change::Open(_, place), Some(group)) => {
                if let Some(few) = group.bodies[*place].inner() {
                    event.orbit = PairOrbit::of(&few.bodies, &few.motion, &self.ids);
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
    pub(super) fn record(&mut self, ending: Vec<Ending>, now: Time, begun: &[u32]) -> Result<()> {
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
        let orbit = |group: &Group| PairOrbit::of(&group.bodies, &group.motion, &self.ids);
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
                    event.orbit = PairOrbit::of(&few.bodies, &few.motion, &self.ids);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_written_by_ids_in_order() {
        let ids = [40, 7, 3, 12];
        let inner = {
            let motion =
                Motion::from_vectors(&[1.0, 2.0], &[tisane_force::particles::Vec3::x()], &[Default::default()]);
            Few { bodies: vec![Body::Star(1), Body::Star(2)], motion, time: Time::default() }
        };
        let orbit = PairOrbit::of(&inner.bodies, &inner.motion, &ids).unwrap();
        assert_eq!(orbit.mass, [2.0, 1.0], "that of star 2, whose id is 3, first");
        let component = Component::of(&[Body::Star(0), Body::Inner(Box::new(inner)), Body::Star(3)], &ids);
        assert_eq!((component.to_string(), component.ids()), ("((3+7)+12+40)".into(), vec![3, 7, 12, 40]));
        assert!(!component.is_star() && Component::Star(5).is_star());
    }
}
