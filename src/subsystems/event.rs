//! Changes of subsystems: what ended, what began, and the orbit that it is about.

use super::component::{Component, PairOrbit};
use super::stars::{Collision, Escape, Escaper, Removed, TakenOut};
use tisane_force::particles::Vec3;
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

/// Star or subsystem that ends or begins.
#[derive(Clone, Debug, PartialEq)]
pub struct EventBody {
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
    pub before: Vec<EventBody>,
    /// What began, likewise.
    pub after: Vec<EventBody>,
    /// Orbit that it is about: that of the new pair, of the inner pair that opens or closes, of the pair that dissolves, and
    /// after a split that of the pair that is left, of two the one with the larger binding energy. [`None`] where there is
    /// no pair.
    pub orbit: Option<PairOrbit>,
    /// Perturbation 2 r³ D / M of the subsystem of mass M, that which begins or at a split that which ended, with its extent r
    /// and D = Σ m/r³ of all others; of an inner pair that by the other bodies of the subsystem, at its apocentre.
    pub perturbation: f64,
    /// Number of changes that it stands for: itself, and those of the same stars to and fro before it that are not told.
    pub changes: u64,
    /// Moment of the first of these.
    pub since: Time,
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

    /// Returns the centre of mass of what an escape takes out of the system, if it does.
    #[must_use]
    pub fn taken_out(&self) -> Option<TakenOut> {
        let Detail::Escape(escape) = &self.detail else { return None };
        let mass = escape.removed.mass;
        let mean = |of: fn(&Escaper) -> Vec3| {
            escape.stars.iter().fold(Vec3::zeros(), |sum, star| sum + of(star) * star.mass) / mass
        };
        (mass > 0.0).then(|| TakenOut { mass, pos: mean(|star| star.pos), vel: mean(|star| star.vel) })
    }

    /// Creates an event of stars.
    pub(crate) fn of_stars(time: Time, kind: EventKind, detail: Detail) -> Self {
        let (before, after) = (Vec::new(), Vec::new());
        Self { time, kind, before, after, orbit: None, perturbation: 0.0, changes: 1, since: time, detail }
    }
}
