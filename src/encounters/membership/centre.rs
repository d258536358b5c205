//! Bodies without a mass at the centre of mass of a subsystem. The force of a point there, which the coupling replaces by those of
//! the members, has no digits left for it; and as it attracts nothing, it never joins the subsystem. So these are single bodies
//! as long as it stands there.

use crate::encounters::forces::surroundings::at;
use crate::encounters::membership::change::Change;
use crate::encounters::membership::decisions::Membership;
use crate::encounters::motion::member::Few;
use crate::encounters::motion::subsystem::Subsystem;
use crate::encounters::settings::criteria;
use tisane_force::particles::Vec3;

/// Returns true if the force at `r` of members as a point is larger than theirs by a factor.
fn exceeds(factor: f64, r: Vec3, mut points: impl Iterator<Item = (f64, Vec3)>) -> bool {
    let (mut total, mut sum) = (0.0, 0.0);
    points.by_ref().for_each(|(mass, x)| (total, sum) = (total + mass, sum + mass / (r - x).norm_squared()));
    total / r.norm_squared() > factor * sum
}

/// Returns the bodies of a motion with their places.
fn points(few: &Few) -> Vec<(f64, Vec3)> {
    few.motion.masses().into_iter().zip(few.motion.offsets()).collect()
}

impl Membership<'_> {
    /// Returns true if a body without a mass stands at the centre of mass of two bodies.
    pub(crate) fn is_at_centre(&self, bodies: [usize; 2]) -> bool {
        let (p, clock) = (self.particles, &self.hierarchy.clock);
        let position = |k: usize| at(p, k, clock, self.now).0;
        let [(m, x), (n, y)] = bodies.map(|k| (p.mass[k], position(k)));
        let centre = x + (y - x) * (n / (m + n));
        let massless = self.regions.massless().iter().map(|&k| k as usize);
        let mut others = massless.filter(|k| p.mass[*k] == 0.0 && !bodies.contains(k));
        others.any(|k| {
            exceeds(criteria::FORMS_AT_CENTRE, position(k) - centre, [(m, x - centre), (n, y - centre)].into_iter())
        })
    }

    /// Returns true if a body without a mass stands at the centre of mass of two bodies of the subsystem of body `i`.
    pub(crate) fn is_at_centre_in(&self, i: usize, subsystem: &Subsystem, [a, b]: [usize; 2]) -> bool {
        let mut found = self.without_mass(i, subsystem).peekable();
        if found.peek().is_none() {
            return false;
        }
        let (mass, offsets) = (subsystem.motion.masses(), subsystem.motion.offsets());
        let centre = offsets[a] + (offsets[b] - offsets[a]) * (mass[b] / (mass[a] + mass[b]));
        found.any(|r| {
            exceeds(criteria::FORMS_AT_CENTRE, r - centre, [a, b].into_iter().map(|k| (mass[k], offsets[k] - centre)))
        })
    }

    /// Returns the change that splits the subsystem of body `i`, or opens an inner one, at whose centre of mass a body without a
    /// mass stands.
    pub(crate) fn clears(&self, i: usize) -> Option<Change> {
        let subsystem = self.subsystem(i)?;
        let found: Vec<Vec3> = self.without_mass(i, subsystem).collect();
        if found.is_empty() {
            return None;
        }
        let is_at = |place: Vec3, points: &[(f64, Vec3)]| {
            found.iter().any(|r| exceeds(criteria::SPLITS_AT_CENTRE, r - place, points.iter().copied()))
        };
        if is_at(Vec3::zeros(), &points(&subsystem.few())) {
            return Some(Change::split(i, subsystem.parts().0));
        }
        let offsets = subsystem.motion.offsets();
        let inner = subsystem.members.iter().enumerate().filter_map(|(k, member)| Some((k, member.inner()?)));
        let mut lost = inner.filter(|(k, few)| is_at(offsets[*k], &points(few)));
        lost.next().map(|(k, _)| Change::Open(i, k))
    }

    /// Returns the positions of the perturbers without a mass of the subsystem of body `i`, relative to it.
    pub(crate) fn without_mass(&self, i: usize, subsystem: &Subsystem) -> impl Iterator<Item = Vec3> {
        // Most often there is none, and nobody has to be asked.
        let asked = if self.regions.massless().is_empty() { &[] } else { &subsystem.perturbers[..] };
        let bodies = asked.iter().map(|perturber| self.hierarchy.bodies.of_star(perturber.star));
        bodies.filter(|&k| self.particles.mass[k] == 0.0).map(move |k| self.relative(i, k).pos)
    }
}
