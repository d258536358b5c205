//! Contacts of bodies on their way.

use super::kepler::{Touch, step};
use tisane_force::particles::Vec3;

/// Contact of two bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Numbers of the bodies, the lower first.
    pub bodies: [usize; 2],
    /// Time since the begin of the motion that was watched.
    pub time: f64,
    /// Position and velocity of the second relative to the first at the contact.
    pub pos: Vec3,
    /// Velocity.
    pub vel: Vec3,
    /// Pericentre of their orbit about each other at that moment.
    pub pericentre: f64,
    /// Position and velocity of the centre of mass of the two, relative to that of all bodies.
    pub centre: [Vec3; 2],
}

/// Watch over the distances of the bodies of a motion, to the accuracy of their orbits about each other within one step.
#[derive(Clone, Debug)]
pub struct Watch {
    radii: Vec<f64>,
    /// True if the motion of three or more bodies ends at the first contact.
    ends: bool,
    /// Contacts so far, each pair once, in the order of the steps.
    pub found: Vec<Contact>,
}

/// Relative motion of two bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Two {
    pub bodies: [usize; 2],
    pub pos: Vec3,
    pub vel: Vec3,
    pub mu: f64,
    pub beta: f64,
}

impl Watch {
    /// Creates the watch over bodies with these radii; one with a radius of −∞ touches none. With `ends` the motion of three
    /// or more bodies ends at the first contact.
    #[must_use]
    pub fn new(radii: Vec<f64>, ends: bool) -> Self {
        Self { radii, ends, found: Vec::new() }
    }

    fn is_open(&self, [i, j]: [usize; 2]) -> Option<f64> {
        let distance = self.radii[i] + self.radii[j];
        (distance > 0.0 && !self.found.iter().any(|contact| contact.bodies == [i, j])).then_some(distance)
    }

    /// Looks ahead over the time `dt` on the orbit of two bodies that nothing disturbs.
    pub(super) fn ahead(&mut self, two: Two, dt: f64) {
        let Some(distance) = self.is_open(two.bodies) else { return };
        let Some(touch) = Touch::new(two.pos, two.vel, (two.mu, two.beta), distance) else { return };
        if let Some(ahead) = touch.ahead().filter(|ahead| *ahead <= dt) {
            self.add(two, &touch, ahead, ahead);
        }
    }

    /// Looks at two bodies at the begin of a motion.
    pub(super) fn begin(&mut self, two: Two) {
        let Some(distance) = self.is_open(two.bodies).filter(|distance| two.pos.norm() < *distance) else { return };
        if let Some(touch) = Touch::new(two.pos, two.vel, (two.mu, two.beta), distance) {
            self.add(two, &touch, 0.0, 0.0);
        }
    }

    /// Looks at two bodies after a step of the time `dt` that ends `now`, before the end of the motion at `until`.
    pub(super) fn passed(&mut self, two: Two, did_approach: bool, dt: f64, (now, until): (f64, f64)) {
        let Some(distance) = self.is_open(two.bodies) else { return };
        let passes = did_approach && two.pos.dot(&two.vel) >= 0.0;
        if !(dt > 0.0 && (passes || two.pos.norm() < distance)) {
            return;
        }
        if let Some(touch) = Touch::new(two.pos, two.vel, (two.mu, two.beta), distance) {
            // Two that turn away from each other far apart, by the pull of others, are at no pericentre: their present orbit about
            // each other may have led them within the distance only before the step.
            let is_here = touch.past() <= dt || two.pos.norm() < distance;
            let back = touch.past().min(dt);
            if is_here && now - back <= until {
                self.add(two, &touch, now - back, -back);
            }
        }
    }

    fn add(&mut self, two: Two, touch: &Touch, time: f64, by: f64) {
        let (pos, vel) = step(two.pos, two.vel, two.mu, by);
        self.found.push(Contact {
            bodies: two.bodies,
            time,
            pos,
            vel,
            pericentre: touch.pericentre,
            centre: [Vec3::zeros(); 2],
        });
    }

    /// Returns the time of the contact at which the motion ends, if it does.
    pub(super) fn end(&self) -> Option<f64> {
        self.found.iter().map(|contact| contact.time).reduce(f64::min).filter(|_| self.ends)
    }

    /// Leaves the contact at which the motion ended as the only one.
    pub(super) fn finish(&mut self) {
        if let Some(first) = self.end() {
            self.found.retain(|contact| contact.time == first);
            self.found.truncate(1);
        }
    }
}
