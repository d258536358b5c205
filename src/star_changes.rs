//! What the evolution of stars changes in a system at a moment: masses, velocities, radii.

use crate::compensated_sum::sum;
use crate::subsystems::{Removed, TakenOut};
use tisane_force::error::Result;
use tisane_force::particles::{Particles, Vec3};

/// Relative change of an acceleration above which a particle goes on with a first step: it feels a jump.
const JUMP: f64 = 1e-2;

/// How a star loses mass. A wind takes no momentum from the star, in its own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Over this time, as by a wind: an orbit that is short against it changes adiabatically.
    Slow(f64),
    /// At once, as in a supernova: at the present phase of an orbit.
    Sudden,
}

/// Change of one star at a moment, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StarChange {
    /// Row of the star among the particles.
    pub row: u32,
    /// Mass from now on.
    pub mass: f64,
    /// How the difference was lost.
    pub loss: Loss,
    /// Change of the velocity.
    pub kick: Vec3,
    /// Radius from now on, where stars have radii.
    pub radius: Option<f64>,
}

impl StarChange {
    /// Returns true if the velocity changes.
    #[must_use]
    pub fn is_kicked(&self) -> bool {
        self.kick != Vec3::zeros()
    }

    /// Returns true if the mass or the velocity of a star of the particles changes, and not the radius alone.
    pub(crate) fn moves(&self, p: &Particles) -> bool {
        self.is_kicked() || self.mass != p.mass[self.row as usize]
    }

    /// Gives a star of the particles the new state.
    pub(crate) fn set(&self, p: &mut Particles) {
        let i = self.row as usize;
        p.mass[i] = self.mass;
        p.vel[i] += self.kick;
        p.radius.get_mut(i).into_iter().zip(self.radius).for_each(|(of, radius)| *of = radius);
    }
}

/// Changes of stars at one moment, at which all particles stand.
#[derive(Clone, Copy, Debug)]
pub struct StarChanges<'a> {
    /// The changes, in the order of their rows, one a row.
    pub all: &'a [StarChange],
    /// Softening of the pair force, squared.
    pub eps2: f64,
    /// Flag that another law than Newton's acts: then the caller measures what is lost of the potential energy.
    pub by_law: bool,
    /// Time since the start of the run, in internal units.
    pub since_start: f64,
}

/// What changes of stars take out of a system, in internal units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lost {
    /// Energy, momentum, angular momentum, mass.
    pub removed: Removed,
    /// The same as masses at places: those of before, and negative ones of after. A moving origin does no more work on them.
    pub parts: Vec<TakenOut>,
}

impl Lost {
    /// Adds what is lost where a mass becomes another one.
    pub(crate) fn add(&mut self, removed: Removed, before: &Point, after: &Point) {
        self.removed += removed;
        let part = |sign: f64, point: &Point| TakenOut { mass: sign * point.mass, pos: point.pos, vel: point.vel };
        self.parts.extend([part(1.0, before), part(-1.0, after)]);
    }
}

impl StarChanges<'_> {
    /// Makes the changes, one after the other, in stars that are points. Returns what they take out of the system; by another law than
    /// Newton's without potential energy. `external` is the potential of external fields at a place.
    pub(crate) fn apply(&self, p: &mut Particles, external: impl Fn(Vec3) -> Result<f64>) -> Result<Lost> {
        let mut lost = Lost::default();
        for change in self.all {
            let i = change.row as usize;
            let potential = if self.by_law { 0.0 } else { self.potential(p, i) + external(p.pos[i])? };
            let before = Point { mass: p.mass[i], pos: p.pos[i], vel: p.vel[i] };
            change.set(p);
            let after = Point { mass: p.mass[i], pos: p.pos[i], vel: p.vel[i] };
            lost.add(before.less(&after, potential, self.since_start), &before, &after);
        }
        Ok(lost)
    }

    /// Returns the potential of all others at a particle.
    fn potential(&self, p: &Particles, i: usize) -> f64 {
        let pull = |j: usize| p.mass[j] / ((p.pos[j] - p.pos[i]).norm_squared() + self.eps2).sqrt();
        -sum((0..p.len()).filter(|&j| j != i).map(pull))
    }
}

/// Returns the rows of particles that go on with first steps, ascending: those that are kicked, and those on which the force has
/// changed by a jump. The accelerations were `before`, and are `after` now.
pub(crate) fn disturbed(after: &[Vec3], before: &[Vec3], is_kicked: impl Fn(u32) -> bool) -> Vec<u32> {
    let jumps = |i: usize| (after[i] - before[i]).norm_squared() > JUMP * JUMP * before[i].norm_squared();
    (0..after.len()).filter(|&i| is_kicked(i as u32) || jumps(i)).map(|i| i as u32).collect()
}

/// Mass at a place, with its velocity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub mass: f64,
    pub pos: Vec3,
    pub vel: Vec3,
}

impl Point {
    /// Returns what is taken out of a system where this becomes a point `after`, in a potential that is the same for both;
    /// `since_start` is the time since the start of the run.
    pub fn less(&self, after: &Self, potential: f64, since_start: f64) -> Removed {
        let energy = |point: &Self| point.mass * (0.5 * point.vel.norm_squared() + potential);
        let before = self.held(since_start, energy(self));
        let held = after.held(since_start, energy(after));
        before.less(&held)
    }

    /// Returns what a system has of this point.
    pub fn held(&self, since_start: f64, energy: f64) -> Removed {
        let momentum = self.vel * self.mass;
        Removed {
            energy,
            momentum,
            angular_momentum: self.pos.cross(&momentum),
            mass: self.mass,
            moment: (self.pos - self.vel * since_start) * self.mass,
        }
    }
}
