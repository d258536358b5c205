//! Contacts of stars inside of subsystems: on the way of a motion, and on orbits that nothing disturbs.

use crate::encounters::forces::bodies::{Bodies, Sizes};
use crate::encounters::forces::coupling;
use crate::encounters::forces::rings::{RingTide, move_alone};
use crate::encounters::motion::elements::pericentre;
use crate::encounters::motion::member::{Few, Member};
use crate::encounters::motion::subsystem::Subsystem;
use crate::encounters::motion::touched::Touched;
use crate::encounters::settings::criteria;
use crate::encounters::settings::stars::{CollisionAction, Collisions};
use crate::few_body::{Contact, Motion, Watch};
use crate::subsystems::stars::Removed;
use tisane_force::error::Result;
use tisane_force::gravity::predict;
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Time};

/// Returns the time from one moment to another, negative for an earlier one: a pair that nothing disturbs stands behind its
/// centre of mass.
pub fn elapsed(clock: &Clock, from: Time, to: Time) -> f64 {
    if to >= from { clock.between(from, to) } else { -clock.between(to, from) }
}

/// Angular momentum of two bodies about their centre of mass.
pub fn spin([a, b]: [f64; 2], [pos, vel]: [Vec3; 2]) -> Vec3 {
    if a == 0.0 || b == 0.0 { Vec3::zeros() } else { pos.cross(&vel) * (a * b / (a + b)) }
}

/// Returns the stars of two members, if they are stars.
fn two_stars(members: &[Member], [i, j]: [usize; 2]) -> Option<[u32; 2]> {
    match (&members[i], &members[j]) {
        (Member::Star(a), Member::Star(b)) => Some([*a, *b]),
        _ => None,
    }
}

/// Members about their centre of mass, in a subsystem or inside of one.
#[derive(Clone, Copy)]
struct Inside<'a> {
    members: &'a [Member],
    motion: &'a Motion,
    /// Moment of the motion.
    time: Time,
    /// Position and velocity of the centre of mass relative to that of the subsystem.
    centre: [Vec3; 2],
}

impl<'a> Inside<'a> {
    fn of(subsystem: &'a Subsystem) -> Self {
        let Subsystem { members, motion, time, .. } = subsystem;
        Self { members, motion, time: *time, centre: [Vec3::zeros(); 2] }
    }

    /// Returns the members of the inner subsystems.
    fn inner(self) -> impl Iterator<Item = Self> {
        let has_inner = self.members.iter().any(|member| member.inner().is_some());
        let states = if has_inner { (self.motion.offsets(), self.motion.speeds()) } else { Default::default() };
        self.members.iter().enumerate().filter_map(move |(k, member)| {
            let Few { members, motion, time } = member.inner()?;
            let centre = [self.centre[0] + states.0[k], self.centre[1] + states.1[k]];
            Some(Self { members, motion, time: *time, centre })
        })
    }
}

impl Subsystem {
    /// Returns the radius of a star, also of one that two have become since the last block step.
    pub(crate) fn radius(&self, sizes: &Sizes, star: u32) -> f64 {
        let merged = self.contacts.iter().rev().find(|touched| touched.merged.is_some() && touched.stars[0] == star);
        match (merged, sizes.collisions) {
            (Some(touched), Some(Collisions { law, .. })) => law.merged(touched.mass.iter().sum(), touched.radius),
            _ => sizes.radii[star as usize],
        }
    }

    /// Returns the largest radius of some stars.
    pub(crate) fn largest_radius(&self, sizes: &Sizes, stars: &[u32]) -> f64 {
        stars.iter().map(|star| self.radius(sizes, *star)).fold(0.0, f64::max)
    }

    /// Returns true if another member comes so near to some members, which are one of this size or are to become one, now or on its
    /// orbit about them, that it may touch their stars: then these have to be members of their own.
    pub(crate) fn may_touch(&self, sizes: &Sizes, of: &[usize], size: f64) -> bool {
        if sizes.collisions.is_none() {
            return false;
        }
        let radius = |k: usize| self.largest_radius(sizes, &self.members[k].stars());
        let own = of.iter().map(|&k| radius(k)).fold(0.0, f64::max);
        let mass = self.motion.masses();
        let total: f64 = of.iter().map(|&i| mass[i]).sum();
        let mut others = (0..self.members.len()).filter(|k| !of.contains(k));
        others.any(|k| {
            let to = |i: usize| self.motion.vectors(i, k);
            let now = of.iter().map(|&i| to(i).0.norm()).fold(f64::INFINITY, f64::min);
            let mean = |x: fn((Vec3, Vec3)) -> Vec3| of.iter().map(|&i| x(to(i)) * (mass[i] / total)).sum::<Vec3>();
            // An orbit-averaged hierarchy has an outer orbit that stays.
            let nearest = match self.nested {
                Some(_) => now,
                None => now.min(pericentre(mean(|it| it.0), mean(|it| it.1), total + mass[k])),
            };
            nearest
                < size + self.members[k].inner().map_or(0.0, Few::size) + criteria::CONTACT_MARGIN * (own + radius(k))
        })
    }

    /// Returns the watch over the contacts of members, of which those that are no stars touch none.
    fn watch(&self, sizes: &Sizes, members: &[Member], ends: bool) -> Watch {
        let radius = |member: &Member| match member {
            Member::Star(star) => self.radius(sizes, *star),
            Member::Inner(_) => f64::NEG_INFINITY,
        };
        Watch::new(members.iter().map(radius).collect(), ends)
    }

    /// Returns a contact of two stars of some members, `since` after the moment of their motion.
    fn touched(
        &self,
        of: Inside<'_>,
        contact: &Contact,
        since: f64,
        bodies: &Bodies,
        clock: &Clock,
    ) -> Option<Touched> {
        let Inside { members, motion, time: from, centre } = of;
        let [i, j] = contact.bodies;
        let stars = two_stars(members, [i, j])?;
        let (p, here, mass) = (&bodies.particles, bodies.of_star(self.stars[0]), motion.masses());
        let dt = elapsed(clock, p.time[here], from) + since;
        let (pos, vel) = predict(p.pos[here], p.vel[here], p.acc[here], p.jerk[here], dt);
        let [x, v] = [0, 1].map(|k| centre[k] + contact.centre[k]);
        Some(Touched {
            stars,
            mass: [mass[i], mass[j]],
            radius: stars.map(|star| self.radius(&bodies.sizes, star)),
            time: clock.time(from) + since,
            centre: [pos + x, vel + v],
            relative: [contact.pos, contact.vel],
            pericentre: contact.pericentre,
            merged: None,
        })
    }

    /// Advances the internal motion by the time `dt`, from the time `done` after its moment on, and finds the contacts on the way. Where
    /// stars merge, and others move with them, it ends at the moment of the contact, and returns the time until then: the others go on
    /// with the merged star.
    pub(crate) fn move_watched(
        &mut self,
        [dt, done]: [f64; 2],
        tide: &RingTide<'_>,
        bodies: &Bodies,
        clock: &Clock,
    ) -> Result<Option<f64>> {
        let Some(collisions) = bodies.sizes.collisions else { return move_alone(&mut self.motion, dt, tide) };
        let ends = collisions.action == CollisionAction::Merge && self.members.len() > 2;
        let mut watch = self.watch(&bodies.sizes, &self.members, ends);
        let taken = self.motion.advance_watched(dt, tide.tide(), &mut watch)?;
        let since = |contact: &Contact| done + contact.time;
        let found: Vec<(Touched, [usize; 2])> = watch
            .found
            .iter()
            .filter_map(|it| {
                let touched = self.touched(Inside::of(self), it, since(it), bodies, clock)?;
                Some((touched, it.bodies))
            })
            .collect();
        if let (true, Some((touched, members))) = (ends, found.first()) {
            let (touched, members) = (touched.clone(), *members);
            self.merge_two(touched, members, done + taken, bodies, clock);
            return Ok(Some(taken));
        }
        self.add_contacts(found.into_iter().map(|it| it.0), &bodies.sizes);
        Ok(None)
    }

    /// Makes one star of two of three or more members, at the present position of the motion, `since` after its moment.
    fn merge_two(&mut self, touched: Touched, [i, j]: [usize; 2], since: f64, bodies: &Bodies, clock: &Clock) {
        let (mass, before, energy) = (self.motion.masses(), self.point_masses(), -self.motion.binding());
        let relative = self.motion.vectors(i, j);
        let share = mass[j] / (mass[i] + mass[j]);
        let whole = mass[i] + mass[j];
        let kept: Vec<usize> = (0..mass.len()).filter(|&k| k != j).collect();
        // Differences along the list, from the motion's own vectors, which have more digits than positions.
        let difference = |k: usize, l: usize| {
            let (x, v) = self.motion.vectors(k, l);
            let part = if l == i {
                share
            } else if k == i {
                -share
            } else {
                0.0
            };
            (x + relative.0 * part, v + relative.1 * part)
        };
        let (x, v): (Vec<Vec3>, Vec<Vec3>) = kept.windows(2).map(|two| difference(two[0], two[1])).unzip();
        let masses: Vec<f64> = kept.iter().map(|&k| if k == i { whole } else { mass[k] }).collect();
        self.motion = Motion::from_vectors(&masses, &x, &v);
        self.members.remove(j);
        let inside = energy + self.motion.binding();
        let after = self.point_masses();
        let outside = |r: Vec3| coupling::potential(&before, r) - coupling::potential(&after, r);
        let (p, here) = (&bodies.particles, bodies.of_star(self.stars[0]));
        let position =
            |k: usize| predict(p.pos[k], p.vel[k], p.acc[k], p.jerk[k], elapsed(clock, p.time[k], self.time) + since).0;
        let centre = position(here);
        let others = (0..p.len()).filter(|&k| k != here).map(|k| p.mass[k] * outside(position(k) - centre));
        let removed = Removed {
            energy: inside + others.sum::<f64>(),
            angular_momentum: spin([mass[i], mass[j]], relative.into()),
            ..Removed::default()
        };
        self.add_contacts([Touched { merged: Some(removed), ..touched }], &bodies.sizes);
    }

    /// Takes in contacts.
    fn add_contacts(&mut self, found: impl IntoIterator<Item = Touched>, sizes: &Sizes) {
        let before = self.contacts.len();
        self.contacts.extend(found);
        if self.contacts.len() > before {
            sizes.set_contacts(true);
        }
    }

    /// Finds the contacts up to `now` of pairs that nothing moves: of the subsystem, if it is a pair that is left alone, and
    /// of its inner ones.
    pub(crate) fn find_contacts_ahead(&mut self, bodies: &Bodies, clock: &Clock, now: Time) {
        let mut found = Vec::new();
        if self.members.len() == 2 && self.time < now && !self.is_perturbed {
            self.find_contacts_of(Inside::of(self), bodies, clock, now, &mut found);
        }
        self.find_contacts_of_inner(bodies, clock, now, found);
    }

    /// Finds the contacts up to `now` of inner pairs that nothing moves, beside those that were found.
    pub(crate) fn find_contacts_of_inner(
        &mut self,
        bodies: &Bodies,
        clock: &Clock,
        now: Time,
        mut found: Vec<Touched>,
    ) {
        self.find_contacts_inside(Inside::of(self), bodies, clock, now, &mut found);
        found.retain(|touched| !self.contacts.iter().any(|other| other.stars == touched.stars));
        self.add_contacts(found, &bodies.sizes);
    }

    fn find_contacts_of(&self, of: Inside<'_>, bodies: &Bodies, clock: &Clock, now: Time, found: &mut Vec<Touched>) {
        let mut watch = self.watch(&bodies.sizes, of.members, false);
        of.motion.look_ahead(clock.between(of.time, now), &mut watch);
        found.extend(watch.found.iter().filter_map(|it| self.touched(of, it, it.time, bodies, clock)));
    }

    fn find_contacts_inside(
        &self,
        of: Inside<'_>,
        bodies: &Bodies,
        clock: &Clock,
        now: Time,
        found: &mut Vec<Touched>,
    ) {
        for inner in of.inner() {
            self.find_contacts_of(inner, bodies, clock, now, found);
            self.find_contacts_inside(inner, bodies, clock, now, found);
        }
    }

    /// Returns the contact of the two stars of a pair, if they touched and are to become one.
    pub(crate) fn pair_contact(&self) -> Option<&Touched> {
        let [Member::Star(_), Member::Star(_)] = self.members[..] else { return None };
        self.contacts.iter().find(|touched| touched.merged.is_none() && touched.stars[..] == self.stars[..])
    }

    /// Makes one star of two that are an inner subsystem. Returns what that takes out of the system; [`None`] if they are not.
    pub(crate) fn merge_inner(&mut self, stars: [u32; 2]) -> Option<Removed> {
        if stars.iter().all(|star| self.stars.contains(star)) {
            self.resolve_nested();
        }
        merge_inside(&mut self.members, stars)
    }

    /// Returns true if both stars are members of this subsystem, or of one inside of it, whose orbit about each other leads them
    /// within the sum of their radii.
    pub(crate) fn still_touch(&self, sizes: &Sizes, stars: [u32; 2]) -> bool {
        still_touch(&self.members, &self.motion, sizes, stars)
    }
}

fn still_touch(members: &[Member], motion: &Motion, sizes: &Sizes, stars: [u32; 2]) -> bool {
    let place = |star: u32| members.iter().position(|member| matches!(member, Member::Star(it) if *it == star));
    let [Some(i), Some(j)] = stars.map(place) else {
        let inner = |few: &Few| still_touch(&few.members, &few.motion, sizes, stars);
        return members.iter().filter_map(Member::inner).any(inner);
    };
    let ((pos, vel), mass) = (motion.vectors(i, j), motion.masses());
    let distance = sizes.radii[stars[0] as usize] + sizes.radii[stars[1] as usize];
    leads_inside(pos, vel, mass[i] + mass[j], distance)
}

/// Returns true if two bodies of mass `mu` are within a distance, or their orbit about each other leads them there.
pub fn leads_inside(pos: Vec3, vel: Vec3, mu: f64, distance: f64) -> bool {
    let is_bound = 2.0 * mu > pos.norm() * vel.norm_squared();
    pos.norm() < distance || ((is_bound || pos.dot(&vel) < 0.0) && pericentre(pos, vel, mu) < distance)
}

fn merge_inside(members: &mut [Member], stars: [u32; 2]) -> Option<Removed> {
    for member in members {
        let Member::Inner(few) = member else { continue };
        if two_stars(&few.members, [0, 1]) != Some(stars) {
            if let Some(removed) = merge_inside(&mut few.members, stars) {
                return Some(removed);
            }
            continue;
        }
        let ([a, b], relative) = (few.motion.masses()[..].try_into().ok()?, few.motion.pair());
        let angular_momentum = spin([a, b], relative.into());
        let removed = Removed { energy: -few.motion.binding(), angular_momentum, ..Removed::default() };
        *member = Member::Star(stars[0]);
        return Some(removed);
    }
    None
}
