//! Bodies without a mass at the centre of mass of a subsystem. The force of a point there, which the coupling replaces by those of
//! the members, has no digits left for it; and as it attracts nothing, it never joins the subsystem. So these are single bodies
//! as long as it stands there.

use crate::encounters::forces::surroundings::at;
use crate::encounters::membership::change::Change;
use crate::encounters::membership::decisions::Look;
use crate::encounters::motion::member::Few;
use crate::encounters::motion::subsystem::Group;
use tisane_force::particles::Vec3;

/// Force of all members as a point, in units of the sum of their forces, from which on a subsystem splits, and up to which one
/// forms.
const LOST: f64 = 1e4;
const KEPT: f64 = 2.5e3;

/// Returns true if the force at `r` of members as a point is larger than theirs by a factor.
fn exceeds(factor: f64, r: Vec3, mut members: impl Iterator<Item = (f64, Vec3)>) -> bool {
    let (mut total, mut sum) = (0.0, 0.0);
    members.by_ref().for_each(|(mass, x)| (total, sum) = (total + mass, sum + mass / (r - x).norm_squared()));
    total / r.norm_squared() > factor * sum
}

/// Returns the bodies of a motion with their places.
fn members(few: &Few) -> Vec<(f64, Vec3)> {
    few.motion.masses().into_iter().zip(few.motion.offsets()).collect()
}

impl Look<'_> {
    /// Returns true if a body without a mass stands at the centre of mass of two units.
    pub(crate) fn is_at_centre(&self, units: [usize; 2]) -> bool {
        let (p, clock) = (self.particles, &self.subsystems.clock);
        let place = |k: usize| at(p, k, clock, self.now).0;
        let [(m, x), (n, y)] = units.map(|k| (p.mass[k], place(k)));
        let centre = x + (y - x) * (n / (m + n));
        let mut others = (0..p.len()).filter(|k| p.mass[*k] == 0.0 && !units.contains(k));
        others.any(|k| exceeds(KEPT, place(k) - centre, [(m, x - centre), (n, y - centre)].into_iter()))
    }

    /// Returns true if a body without a mass stands at the centre of mass of two bodies of the subsystem of unit `i`.
    pub(crate) fn is_at_centre_in(&self, i: usize, group: &Group, [a, b]: [usize; 2]) -> bool {
        let mut found = self.without_mass(i, group).peekable();
        if found.peek().is_none() {
            return false;
        }
        let (mass, offsets) = (group.motion.masses(), group.motion.offsets());
        let centre = offsets[a] + (offsets[b] - offsets[a]) * (mass[b] / (mass[a] + mass[b]));
        found.any(|r| exceeds(KEPT, r - centre, [a, b].into_iter().map(|k| (mass[k], offsets[k] - centre))))
    }

    /// Returns the change that splits the subsystem of unit `i`, or opens an inner one, at whose centre of mass a body without a
    /// mass stands.
    pub(crate) fn clears(&self, i: usize) -> Option<Change> {
        let group = self.group(i)?;
        let found: Vec<Vec3> = self.without_mass(i, group).collect();
        if found.is_empty() {
            return None;
        }
        let is_at = |place: Vec3, members: &[(f64, Vec3)]| {
            found.iter().any(|r| exceeds(LOST, r - place, members.iter().copied()))
        };
        if is_at(Vec3::zeros(), &members(&group.few())) {
            return Some(Change::split(i, group.parts().0));
        }
        let offsets = group.motion.offsets();
        let inner = group.bodies.iter().enumerate().filter_map(|(k, body)| Some((k, body.inner()?)));
        let mut lost = inner.filter(|(k, few)| is_at(offsets[*k], &members(few)));
        lost.next().map(|(k, _)| Change::Open(i, k))
    }

    /// Returns the places of the bodies without a mass near the subsystem of unit `i`, relative to it.
    fn without_mass(&self, i: usize, group: &Group) -> impl Iterator<Item = Vec3> {
        let near = group.near.iter().map(|near| self.subsystems.units.of_star(near.star));
        near.filter(|&k| self.particles.mass[k] == 0.0).map(move |k| self.relative(i, k).pos)
    }
}
