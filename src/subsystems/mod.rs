//! Subsystems of few bodies as plain data: what an integrator tells of them at a moment, and of their changes.

pub(crate) mod component;
pub(crate) mod description;
pub(crate) mod event;
pub(crate) mod stars;

pub use component::{Component, PairOrbit};
pub use description::{Description, StarInside};
pub use event::{Detail, Event, EventBody, EventKind};
pub use stars::{Collision, Escape, Escaper, Merged, Removed, TakenOut};

use tisane_force::error::Result;
use tisane_force::time::Time;

/// What an integrator with subsystems tells of them.
pub trait Subsystems {
    /// Returns the subsystems of a system that is synchronised at `now`, each followed by those inside of it.
    ///
    /// # Errors
    /// If the motion inside of a subsystem fails.
    fn describe(&self, now: Time) -> Result<Vec<Description>>;

    /// Returns the subsystems as [`describe`](Self::describe) does, but for what is neglected (0) and the places of their stars (none):
    /// at a cost that does not depend on the others.
    ///
    /// # Errors
    /// As [`describe`](Self::describe).
    fn orbits(&self, now: Time) -> Result<Vec<Description>>;

    /// Records changes of subsystems from now on, for [`take_events`](Self::take_events). Changes nothing in the integration.
    fn record_events(&mut self);

    /// Returns the changes of subsystems since the last call: those of the particles' state after a start or an advance without an
    /// error. Each follows from the ones before it. Changes of subsystems are among them only if they are recorded. Where the same
    /// stars change to and fro, one event stands for many: it comes later than others after it.
    fn take_events(&mut self) -> Vec<Event>;

    /// Returns events that stand for the changes that are held back so far: those that [`take_events`](Self::take_events) would
    /// return next if the stars changed in another way. They follow all events that it has returned.
    fn held_back(&self) -> Vec<Event>;
}
