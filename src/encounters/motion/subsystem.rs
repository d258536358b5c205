//! Subsystem of few bodies inside an integration: its internal motion, and its perturbers.

use crate::encounters::cube_root::cube_root;
use crate::encounters::forces::bodies::Bodies;
use crate::encounters::forces::coupling::{self, PointMasses};
use crate::encounters::forces::orbit::AveragedPair;
use crate::encounters::forces::passing::Passing;
use crate::encounters::forces::regions::{Grip, Regions};
use crate::encounters::forces::rings::{RingTide, move_alone};
use crate::encounters::forces::surroundings::{Reach, at};
use crate::encounters::forces::tides::{Far, Tides};
use crate::encounters::motion::elements::{Elements, apocentre, extent, pair_elements, pericentre};
use crate::encounters::motion::member::{Few, Member};
use crate::encounters::motion::touched::Touched;
use crate::encounters::settings::criteria::{self, Rules};
use crate::few_body::Motion;
use tisane_force::error::Result;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::{Clock, Level, Time};

/// Body that perturbs a subsystem: it and the members feel each other, in place of the centre of mass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Perturber {
    /// Lowest star of the body.
    pub star: u32,
    /// Square of the distance within which they do.
    pub outer2: f64,
    /// True if the coupling is averaged over the orbit of the subsystem, a pair.
    pub is_averaged: bool,
}

/// Subsystem: its centre of mass is a particle of the integration.
#[derive(Clone, Debug, PartialEq)]
pub struct Subsystem {
    /// Stars, ascending.
    pub stars: Vec<u32>,
    /// Members that move about each other, in the order of their lowest stars.
    pub members: Vec<Member>,
    /// Internal motion, at [`time`](Self::time).
    pub motion: Motion,
    /// Moment of the internal motion.
    pub time: Time,
    /// Moment at which the subsystem formed.
    pub formed: Time,
    /// Size: distance that its perturbation is measured by.
    pub size: f64,
    /// Σ m/r³ of all others when its surroundings were measured last; for a pair that is quiet, what it was [found below]
    /// (Self::quiet_field).
    pub field: f64,
    /// What external fields are in that: half of the largest eigenvalue of their tidal tensor, without its sign; 0 without a field.
    pub external: f64,
    /// The perturbers, ascending.
    pub perturbers: Vec<Perturber>,
    /// Moment up to which the list of perturbers holds.
    pub perturbers_until: Time,
    /// Tide of all others, for subsystems that are not settled.
    pub far: Option<Far>,
    /// True while the motion is integrated with the perturbation of others.
    pub is_perturbed: bool,
    /// The pair averaged over its orbit, at some moment, for the perturbers whose coupling is.
    pub averaged: Option<(Time, AveragedPair)>,
    /// Moment of the orbits of a stable triple or quadruple while they are averaged.
    pub nested: Option<Time>,
    /// Stars that touched since the last block step.
    pub contacts: Vec<Touched>,
}

/// List of the perturbers of a subsystem.
#[derive(Clone, Debug)]
pub struct PerturberList {
    /// The perturbers, ascending.
    pub perturbers: Vec<Perturber>,
    /// Moment up to which the list holds.
    pub until: Time,
    /// Tide of all others, for subsystems that are not settled.
    pub far: Option<Far>,
}

/// What is found where a subsystem is measured.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// True if its size has changed.
    pub is_resized: bool,
    /// True if it is a settled pair.
    pub is_settled: bool,
}

/// What lists of perturbers follow from.
#[derive(Clone, Copy)]
pub struct PerturberSearch<'a> {
    /// Bodies.
    pub bodies: &'a Bodies,
    /// Time axis.
    pub clock: &'a Clock,
    /// Criteria that depend on the accuracy.
    pub rules: &'a Rules,
    /// Bodies by regions.
    pub regions: &'a Regions,
    /// Moment.
    pub now: Time,
}

impl Subsystem {
    /// Creates a subsystem at the moment `now`.
    pub fn new(Few { members, motion, time: now }: Few, field: f64) -> Self {
        let mut stars: Vec<u32> = members.iter().flat_map(Member::stars).collect();
        stars.sort_unstable();
        Self {
            stars,
            members,
            motion,
            time: now,
            formed: now,
            size: 0.0,
            field,
            external: 0.0,
            perturbers: Vec::new(),
            perturbers_until: now,
            far: None,
            is_perturbed: false,
            averaged: None,
            nested: None,
            contacts: Vec::new(),
        }
    }

    /// Returns the members and their motion.
    pub fn few(&self) -> Few {
        Few { members: self.members.clone(), motion: self.motion.clone(), time: self.time }
    }

    /// Returns the total mass.
    pub fn mass(&self) -> f64 {
        self.motion.total_mass()
    }

    /// Returns the binding energy inside, with that of inner subsystems.
    pub fn binding(&self) -> f64 {
        self.motion.binding() + self.members.iter().map(Member::binding).sum::<f64>()
    }

    /// Returns the elements of a pair that is bound.
    pub fn elements(&self) -> Option<Elements> {
        pair_elements(&self.motion)
    }

    /// Returns the elements of a bound pair whose apocentre, too, is isolated, and that feels no external field; such a pair stays
    /// one. One that was not settled so far has to be isolated more.
    pub fn settled(&self, rules: &Rules) -> Option<Elements> {
        let found = self.elements()?;
        let far = found.axis * (1.0 + found.eccentricity);
        let margin = if self.far.is_some() { criteria::SETTLES_BELOW } else { 1.0 };
        let is_below = |field: f64, max: f64| 2.0 * far * far * far * field <= margin * max * self.mass();
        (is_below(self.field, rules.dissolves) && is_below(self.external, rules.perturbation)).then_some(found)
    }

    /// Returns true if the members are two stars.
    pub fn is_pair_of_stars(&self) -> bool {
        self.members.len() == 2 && self.members.iter().all(|member| member.inner().is_none())
    }

    /// Returns the Σ m/r³ of all others up to which a settled pair of stars stays what it is, if it joins no other; [`None`] for other
    /// subsystems, and with perturbers without a mass, as those may stand between the stars.
    pub fn quiet_field(&self, rules: &Rules, bodies: &Bodies) -> Option<f64> {
        let has_mass = |perturber: &Perturber| bodies.particles.mass[bodies.of_star(perturber.star)] > 0.0;
        self.quiet_field_of_masses(rules).filter(|_| self.perturbers.iter().all(has_mass))
    }

    /// Returns the same where all perturbers have a mass.
    pub fn quiet_field_of_masses(&self, rules: &Rules) -> Option<f64> {
        let pair = self.is_pair_of_stars().then(|| self.settled(rules)).flatten()?;
        let far = pair.axis * (1.0 + pair.eccentricity);
        Some(criteria::QUIET_BELOW * rules.dissolves * self.mass() / (2.0 * far * far * far))
    }

    /// Returns the largest distance of two members.
    pub fn extent(&self) -> f64 {
        extent(&self.motion)
    }

    /// Returns how strongly each inner subsystem is perturbed by the other members: its place, and its perturbation at the distances
    /// `r(i, j)`.
    pub(crate) fn perturbed_inner(&self, r: impl Fn(usize, usize) -> f64) -> Vec<(usize, f64)> {
        let mass = self.motion.masses();
        let perturbed = |(i, member): (usize, &Member)| {
            let size = member.inner()?.size();
            let by = |j: usize| perturbation((size, mass[i]), (r(i, j), mass[j]));
            Some((i, (0..mass.len()).filter(|&j| j != i).map(by).sum()))
        };
        self.members.iter().enumerate().filter_map(perturbed).collect()
    }

    /// Returns true if an inner subsystem may be perturbed before the next step of the centre of mass.
    pub fn is_watched(&self, rules: &Rules) -> bool {
        if self.nested.is_some() || self.members.iter().all(|member| member.inner().is_none()) {
            return false;
        }
        let [m1, m2] = self.motion.masses()[..] else { return true };
        let (pos, vel) = self.motion.pair();
        let nearest = pericentre(pos, vel, m1 + m2);
        self.perturbed_inner(|_, _| nearest).iter().any(|(_, by)| *by > rules.perturbation)
    }

    /// Renews the size if it has changed.
    pub fn measure(&mut self, rules: &Rules) -> Measured {
        let (size, is_settled) = match self.settled(rules) {
            Some(pair) => (pair.axis * (1.0 + pair.eccentricity), true),
            None => (self.extent(), false),
        };
        let renewed = if is_settled {
            ((size - self.size).abs() > criteria::SIZE_CHANGES_ABOVE * self.size).then_some(size)
        } else {
            (size > self.size || criteria::SIZE_MARGIN * size < 0.25 * self.size)
                .then_some(criteria::SIZE_MARGIN * size)
        };
        self.size = renewed.unwrap_or(self.size);
        Measured { is_resized: renewed.is_some(), is_settled }
    }

    /// Returns the distance at apocentre of two bound bodies, otherwise the extent of now.
    pub fn reach(&self) -> f64 {
        apocentre(&self.motion).unwrap_or_else(|| self.extent())
    }

    /// Returns the perturbation by a body of a mass at a distance, given as its square, as far as steps depend on it. A body counts as
    /// heavy as the subsystem at least: a lighter one hardly perturbs it, but the members change its own energy as much.
    pub fn felt_by(&self, mass: f64, r2: f64) -> f64 {
        perturbation((self.size, self.mass()), (r2.sqrt(), mass.max(self.mass())))
    }

    /// Returns the longest step of the centre of mass, in internal units, that resolves the internal motion as far as perturbers feel it.
    /// `felt` is the sum of the perturbations by those within their outer radius; [`None`] if there is none. A smaller perturbation allows
    /// a longer step.
    ///
    /// Without perturbers the step of an open pair, or of more members, does not resolve their motion. It is the step at
    /// [`criteria::RESOLVED_ALONE`] times the distance at which they part in any case, if they are closer. For more than two it is at most
    /// that at [`criteria::RESOLVED_ALONE_IN_GAPS`] times their widest gap.
    pub fn resolution(&self, rules: &Rules, felt: Option<f64>) -> f64 {
        let (mass, alone) = (self.mass(), felt.is_none());
        let passage = |r: f64, speed: f64| 0.2 * r / (speed + (mass / r).sqrt());
        let of_pair = || {
            let (pos, vel) = self.motion.pair();
            (pos.norm(), vel.norm())
        };
        if let Some(pair) = self.settled(rules) {
            let part = resolved_part(rules, felt.unwrap_or_default());
            let turn = pair.period / (criteria::STEPS_PER_PERIOD * part);
            let (r, speed) = of_pair();
            return if self.is_watched(rules) { turn.min(passage(r, speed)) } else { turn };
        }
        if self.members.len() == 2 {
            let (r, speed) = of_pair();
            let wide = criteria::RESOLVED_ALONE * cube_root(rules.dissolves * mass / (2.0 * self.field));
            if alone && r < wide {
                // The speed at the wider distance, on the same orbit.
                let square = speed * speed - 2.0 * mass * (1.0 / r - 1.0 / wide);
                return passage(wide, square.max(0.0).sqrt());
            }
            return passage(r, speed) / resolved_part(rules, 2.0 * r * r * r * self.field / mass);
        }
        let gap = self.gaps().fold(0.0, f64::max);
        // Other members may come so near to an inner pair that it has to open, however wide the widest gap is.
        let approaches = self.approaches(rules).map(|(r, speed)| passage(r, speed));
        let resolved = approaches.fold(0.15 * (gap * gap * gap / mass).sqrt(), f64::min);
        let parted = criteria::RESOLVED_ALONE * cube_root(criteria::SPLITS_ABOVE * mass / (2.0 * self.field));
        let wide = parted.min(criteria::RESOLVED_ALONE_IN_GAPS * gap);
        // An inner subsystem must not be found late to be perturbed.
        if alone && gap < wide && !self.is_watched(rules) {
            // About the speed with which one may be thrown out.
            let speed = |two: &[usize]| {
                let (pos, vel) = self.motion.vectors(two[0], two[1]);
                (vel.norm_squared() + 2.0 * mass / pos.norm()).sqrt()
            };
            return resolved.max(passage(wide, self.motion.order().windows(2).map(speed).fold(0.0, f64::max)));
        }
        resolved
    }

    /// Returns the distances of inner subsystems from members that would perturb them on their present orbit about each other, and the
    /// relative speeds.
    fn approaches(&self, rules: &Rules) -> impl Iterator<Item = (f64, f64)> {
        let (mass, n) = (self.motion.masses(), self.members.len());
        let sizes = self.members.iter().enumerate().filter_map(|(i, member)| Some((i, member.inner()?.size())));
        let pairs = sizes.flat_map(move |(i, size)| (0..n).filter(move |&j| j != i).map(move |j| (i, j, size)));
        pairs.filter_map(move |(i, j, size)| {
            let (pos, vel) = self.motion.vectors(i, j);
            let nearest = pericentre(pos, vel, mass[i] + mass[j]);
            let by = perturbation((size, mass[i]), (nearest, mass[j]));
            (by > rules.perturbation).then(|| (pos.norm(), vel.norm()))
        })
    }

    /// Returns the distances of neighbours along the chain.
    pub fn gaps(&self) -> impl Iterator<Item = f64> {
        self.motion.order().windows(2).map(|two| self.motion.vectors(two[0], two[1]).0.norm())
    }

    /// Returns the members on both sides of the widest gap of the chain, in its order, and that gap.
    pub fn parts(&self) -> (&[usize], &[usize], f64) {
        let gaps: Vec<f64> = self.gaps().collect();
        let widest = (0..gaps.len()).fold(0, |best, k| if gaps[k] > gaps[best] { k } else { best });
        let (first, second) = self.motion.order().split_at(widest + 1);
        (first, second, gaps[widest])
    }

    /// Returns the state of the members as others see it.
    pub fn point_masses(&self) -> PointMasses {
        let mut points = PointMasses::default();
        points.follow(&self.motion);
        points
    }

    /// Advances the internal motion to `now`, and finds contacts on the way.
    pub fn advance(&mut self, bodies: &Bodies, clock: &Clock, rules: &Rules, now: Time) -> Result<()> {
        if now > self.time && bodies.sizes.collisions.is_some() && self.is_watched(rules) {
            // Rings have passed those when others ask for them.
            self.find_contacts_of_inner(bodies, clock, now, Vec::new());
        }
        let moves = |it: &mut Self, times: [f64; 2], tide: &RingTide<'_>| it.move_watched(times, tide, bodies, clock);
        self.advance_by(bodies, clock, rules, now, moves)
    }

    /// Returns the perturbation by others over the time `dt`.
    fn tides(&self, bodies: &Bodies, clock: &Clock, dt: f64) -> Tides {
        let here = bodies.of_star(self.stars[0]);
        let course = |k: usize| Course::of(&bodies.particles, k, clock, self.time);
        let own = course(here);
        let mut passing = Passing::default();
        for perturber in self.perturbers.iter().filter(|perturber| !perturber.is_averaged) {
            let k = bodies.of_star(perturber.star);
            if own.approach(&course(k)).comes_within(dt, perturber.outer2) {
                passing.push(bodies, clock, self.time, [here, k], perturber.outer2);
            }
        }
        Tides { passing, far: self.far }
    }

    /// Advances the internal motion to `now` by a function, which gets a time and the time since the begin, and returns the time after
    /// which it ended where that is shorter.
    fn advance_by(
        &mut self,
        bodies: &Bodies,
        clock: &Clock,
        rules: &Rules,
        now: Time,
        moves: impl Fn(&mut Self, [f64; 2], &RingTide<'_>) -> Result<Option<f64>>,
    ) -> Result<()> {
        if now <= self.time {
            return Ok(());
        }
        let dt = clock.between(self.time, now);
        let tides = self.is_perturbed.then(|| self.tides(bodies, clock, dt));
        let mut rings = self.begin_rings(rules, clock)?;
        let mut done = 0.0;
        loop {
            let rest = dt - done;
            let length = self.step_of_rings(&rings).min(rest);
            self.turn_rings(&mut rings, 0.5 * length);
            let tide = self.tide_of_rings(&rings, tides.as_ref(), done);
            let ended = moves(self, [length, done], &tide)?;
            let taken = ended.unwrap_or(length);
            self.turn_rings(&mut rings, taken - 0.5 * length);
            if ended.is_none() && length == rest {
                break;
            }
            done += taken;
        }
        self.end_rings(&rings, dt, now)?;
        self.time = now;
        Ok(())
    }

    /// Returns the internal motion at a moment not before the present one, in which no one perturbs it, without looking for
    /// contacts.
    pub fn at(&self, bodies: &Bodies, clock: &Clock, rules: &Rules, now: Time) -> Result<Self> {
        let mut later = self.clone();
        let moves = |it: &mut Self, [dt, _]: [f64; 2], tide: &RingTide<'_>| move_alone(&mut it.motion, dt, tide);
        later.advance_by(bodies, clock, rules, now, moves)?;
        later.resolve(bodies, clock, now)?;
        Ok(later)
    }

    /// Returns the perturbers within the next steps of the centre of mass, of level `step`, and what the tidal field `tide` of all
    /// others has beside them: it is that of a subsystem that is not settled.
    pub fn perturber_list(&self, search: &PerturberSearch<'_>, tide: Option<Far>, step: Level) -> PerturberList {
        let PerturberSearch { bodies, clock, rules, regions, now } = *search;
        let here = bodies.of_star(self.stars[0]);
        let own = Course::of(&bodies.particles, here, clock, now);
        let (mass, dt, is_settled) = (self.mass(), step.step(clock.dt_max), tide.is_none());
        let min = self.min(rules, is_settled);
        // The list of a pair holds for some steps, in which others come by a part of the distance that counts.
        let distance = self.size * cube_root(2.0 / (mass * min));
        let typical = distance * cube_root(mass);
        let mut steps = match self.members.len() {
            2 if is_settled => criteria::MAX_STEPS_OF_LIST,
            2 => criteria::MAX_STEPS_OF_OPEN_LIST,
            _ => 1,
        };
        while steps > 1 && criteria::SPEED_MARGIN * steps as f64 * dt * own.vel.norm() > 0.5 * typical {
            steps /= 2;
        }
        let time = steps as f64 * dt;
        let until = Time(now.0.saturating_add(steps * step.ticks()));
        let mut perturbers = Vec::new();
        let reach = Reach {
            distance,
            min: cube_root(criteria::MIN_PERTURBER_MASS * mass),
            time: criteria::SPEED_MARGIN * time,
            speed: (2.0 * mass / typical).sqrt(),
        };
        for (k, outer) in regions.within(clock, now, here, reach) {
            let other = Course::of(&bodies.particles, k, clock, now);
            if own.approach(&other).comes_within(time, outer * outer) {
                let star = bodies.stars[k];
                let known = self.perturbers.binary_search_by_key(&star, |perturber| perturber.star);
                let is_averaged = known.is_ok_and(|known| self.perturbers[known].is_averaged);
                perturbers.push(Perturber { star, outer2: outer * outer, is_averaged });
            }
        }
        perturbers.sort_unstable_by_key(|perturber| perturber.star);
        let far = tide.map(|tide| far_field(tide, &perturbers, search, here));
        PerturberList { perturbers, until, far }
    }

    /// Takes a list of perturbers, and returns those that it had before.
    pub fn take_list(&mut self, PerturberList { perturbers, until, far }: PerturberList) -> Vec<Perturber> {
        (self.perturbers_until, self.far) = (until, far);
        std::mem::replace(&mut self.perturbers, perturbers)
    }

    /// Returns whom the present list of perturbers may have to take up.
    pub fn grip(&self, rules: &Rules) -> Grip {
        let distance = self.size * cube_root(2.0 / (self.mass() * self.min(rules, true)));
        Grip { distance, until: self.perturbers_until }
    }

    /// Returns body `k`, which is new, if it is a perturber.
    pub fn new_perturber(
        &self,
        bodies: &Bodies,
        clock: &Clock,
        rules: &Rules,
        now: Time,
        k: usize,
    ) -> Option<Perturber> {
        let course = |k: usize| Course::of(&bodies.particles, k, clock, now);
        let approach = course(bodies.of_star(self.stars[0])).approach(&course(k));
        let (time, mass, other) =
            (clock.between(now, self.perturbers_until.max(now)), self.mass(), bodies.particles.mass[k]);
        let min = self.min(rules, self.far.is_none());
        let counts = other.max(criteria::MIN_PERTURBER_MASS * mass);
        // Most are far away: the cube of the distance says so without cube roots.
        let r = approach.pos.norm();
        let way = criteria::SPEED_MARGIN * time * (approach.vel.norm_squared() + 2.0 * approach.mass / r).sqrt();
        let (nearest, size) = ((r - way).max(0.0), self.size);
        if nearest * nearest * nearest > 2.0 * size * size * size * counts / (mass * min) * (1.0 + 1e-9) {
            return None;
        }
        let outer = size * cube_root(2.0 / (mass * min)) * cube_root(counts);
        let perturber = Perturber { star: bodies.stars[k], outer2: outer * outer, is_averaged: false };
        approach.comes_within(time, perturber.outer2).then_some(perturber)
    }

    /// Returns the smallest perturbation by a perturber.
    fn min(&self, rules: &Rules, is_settled: bool) -> f64 {
        if is_settled { rules.perturbation } else { criteria::OPEN_PERTURBED_ABOVE * rules.perturbation }
    }

    /// Returns true if its motion has to be known wherever its centre of mass moves.
    pub fn is_followed(&self, rules: &Rules) -> bool {
        self.is_perturbed || self.members.len() > 2 || self.settled(rules).is_none() || self.is_watched(rules)
    }
}

/// Returns the perturbation of a subsystem of a size and mass by a body at a distance, with its mass: a ratio of forces.
fn perturbation((size, mass): (f64, f64), (r, other): (f64, f64)) -> f64 {
    let ratio = size / r;
    2.0 * other / mass * ratio * ratio * ratio
}

/// Returns the number of steps that resolve the motion of a pair with a perturbation, as a part of the largest.
fn resolved_part(rules: &Rules, perturbation: f64) -> f64 {
    (perturbation / (criteria::RESOLVED_ABOVE * rules.perturbation)).sqrt().clamp(criteria::MIN_RESOLVED_PART, 1.0)
}

/// Returns the tidal field of all others at a body, which is `tide` in sum, as far as they are no perturbers.
fn far_field(tide: Far, perturbers: &[Perturber], search: &PerturberSearch<'_>, here: usize) -> Far {
    let PerturberSearch { bodies, clock, now, .. } = *search;
    let position = |i: usize| bodies.source(i, clock.between(bodies.particles.time[i], now)).0;
    let (mut far, pos) = (tide, position(here));
    for perturber in perturbers {
        let k = bodies.of_star(perturber.star);
        let r = position(k) - pos;
        let factor = coupling::factor(r.norm_squared(), perturber.outer2);
        if factor > 0.0 {
            far.add(-factor * bodies.particles.mass[k], r);
        }
    }
    far
}

/// Two bodies that may meet.
#[derive(Clone, Copy, Debug)]
pub struct Approach {
    /// Position and velocity of one relative to the other.
    pub pos: Vec3,
    pub vel: Vec3,
    /// Sum of the norms of their accelerations.
    pub acc: f64,
    /// Sum of their masses.
    pub mass: f64,
}

/// Body on its path at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    pos: Vec3,
    vel: Vec3,
    /// Norm of the acceleration.
    acc: f64,
    mass: f64,
}

impl Course {
    /// Returns that of body `i`.
    pub fn of(p: &Particles, i: usize, clock: &Clock, now: Time) -> Self {
        let (pos, vel) = at(p, i, clock, now);
        Self { pos, vel, acc: p.acc[i].norm(), mass: p.mass[i] }
    }

    /// Returns how another body approaches this one.
    pub fn approach(&self, other: &Self) -> Approach {
        Approach {
            pos: other.pos - self.pos,
            vel: other.vel - self.vel,
            acc: self.acc + other.acc,
            mass: self.mass + other.mass,
        }
    }
}

impl Approach {
    /// Returns true if the two may come within a distance, given as its square, in a time.
    pub fn comes_within(&self, time: f64, distance2: f64) -> bool {
        let Self { pos, vel, acc, mass } = self;
        let (r2, v2) = (pos.norm_squared(), vel.norm_squared());
        if r2 < distance2 {
            return true;
        }
        let (r, distance, way) = (r2.sqrt(), distance2.sqrt(), criteria::SPEED_MARGIN * time);
        let rest = r - distance;
        if rest * rest >= way * way * (v2 + 2.0 * mass / r) {
            return false;
        }
        // The pericentre of the hyperbola with the impact parameter of the straight path, less what other forces bend it.
        let passage = -pos.dot(vel);
        let along = if passage > 0.0 { (passage / v2).min(time) } else { 0.0 };
        let (nearest2, half_axis) = ((pos + vel * along).norm_squared(), mass / v2);
        let nearest = nearest2 / ((nearest2 + half_axis * half_axis).sqrt() + half_axis);
        nearest < distance + 0.5 * criteria::BENDING_MARGIN * acc * time * time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn approach(pos: [f64; 3], vel: [f64; 3], acc: f64, mass: f64) -> Approach {
        Approach { pos: pos.into(), vel: vel.into(), acc, mass }
    }

    #[test]
    fn bodies_come_within_a_distance_that_their_path_leads_to() {
        let comes =
            |impact: f64, time: f64| approach([-1.0, impact, 0.0], [1.0, 0.0, 0.0], 0.0, 1e-9).comes_within(time, 0.01);
        assert!(comes(0.09, 1.0) && !comes(0.11, 1.0), "an impact parameter on either side of 0.1");
        assert!(comes(0.0, 0.91) && !comes(0.0, 0.4), "no sooner than by twice the speed");
        assert!(
            comes(0.0, 2.0) && approach([0.05; 3], [1.0; 3], 0.0, 0.0).comes_within(0.0, 0.01),
            "it is there already"
        );
        assert!(!approach([1.0, 0.0, 0.0], [1.0, 0.0, 0.0], 0.0, 0.0).comes_within(9.0, 0.01), "it recedes");
    }

    #[test]
    fn their_attraction_and_that_of_others_bend_the_path() {
        let start = [-1.0, 0.4, 0.0];
        assert!(!approach(start, [1.0, 0.0, 0.0], 0.0, 1e-9).comes_within(2.0, 0.01));
        // A hyperbola with the impact parameter 0.4: pericentre sqrt(0.25 + 0.16) - 0.5 = 0.14 for M = 0.5, 0.08 for M = 1.
        assert!(!approach(start, [1.0, 0.0, 0.0], 0.0, 0.5).comes_within(2.0, 0.01));
        assert!(approach(start, [1.0, 0.0, 0.0], 0.0, 1.0).comes_within(2.0, 0.01));
        // Twice 0.2 t^2 / 2 with t = 2 reaches 0.8 aside.
        assert!(approach(start, [1.0, 0.0, 0.0], 0.2, 1e-9).comes_within(2.0, 0.01));
        assert!(approach([1.0, 0.0, 0.0], [0.0; 3], 0.5, 1.0).comes_within(2.0, 0.01), "at rest");
    }

    /// Two bodies at a distance on a parabola, in a tidal field.
    fn passing(r: f64, field: f64) -> Subsystem {
        let motion = Motion::from_vectors(&[0.5, 0.5], &[Vec3::x() * r], &[Vec3::y() * (2.0 / r).sqrt()]);
        let few = Few { members: vec![Member::Star(0), Member::Star(1)], motion, time: Time::default() };
        Subsystem { far: Some(Far::default()), ..Subsystem::new(few, field) }
    }

    #[test]
    fn an_open_pair_that_nobody_feels_is_resolved_where_it_dissolves() {
        let rules = Rules { perturbation: 1e-5, averages: true, forms: 5e-4, dissolves: 5e-3 };
        // 2 r^3 D / M is 5e-3 at r = 1.
        let (near, wide) = (passing(1e-3, 2.5e-3), passing(0.8, 2.5e-3));
        let at_half = 0.2 * 0.5 / (2.0 + std::f64::consts::SQRT_2);
        assert!((near.resolution(&rules, None) / at_half - 1.0).abs() < 1e-6, "{}", near.resolution(&rules, None));
        assert!(near.resolution(&rules, Some(1.0)) < 1e-3 * at_half);
        assert_eq!(wide.resolution(&rules, None), wide.resolution(&rules, Some(1.0)));
    }

    #[test]
    fn a_pair_that_others_hardly_perturb_needs_fewer_steps() {
        let rules = Rules { perturbation: 1e-5, averages: true, forms: 5e-4, dissolves: 5e-3 };
        let motion = Motion::from_vectors(&[0.5, 0.5], &[Vec3::x()], &[Vec3::y()]);
        let few = Few { members: vec![Member::Star(0), Member::Star(1)], motion, time: Time::default() };
        let mut pair = Subsystem::new(few, 1e-4);
        pair.measure(&rules);
        let steps = |felt| std::f64::consts::TAU / pair.resolution(&rules, felt);
        let expected = [(None, 6.0), (Some(0.0), 6.0), (Some(1.25e-3), 12.0), (Some(5e-3), 24.0), (Some(1.0), 24.0)];
        for (felt, number) in expected {
            assert!((steps(felt) / number - 1.0).abs() < 1e-9, "{felt:?}: {} steps a period", steps(felt));
        }
        // Twice the mass of both at ten times the size, and bodies that are not heavier than both.
        for (mass, felt) in [(2.0, 4e-3), (1.0, 2e-3), (0.5, 2e-3), (0.0, 2e-3)] {
            assert!((pair.felt_by(mass, 100.0) / felt - 1.0).abs() < 1e-9, "{mass}: {}", pair.felt_by(mass, 100.0));
        }
        // With a smaller one that it feels.
        let finer = Rules { perturbation: 1e-7, ..rules };
        assert!((std::f64::consts::TAU / pair.resolution(&finer, Some(1.25e-5)) / 12.0 - 1.0).abs() < 1e-9);
        // An open one, with a perturbation that dissolves it at the distance 1.
        let passage =
            |r: f64| passing(r, 2.5e-3).resolution(&rules, Some(1.0)) / passing(r, 1e-9).resolution(&rules, Some(1.0));
        assert!(
            (passage(1.0) - 0.25).abs() < 1e-9 && (passage(0.3) - 1.0).abs() < 1e-9,
            "{} {}",
            passage(1.0),
            passage(0.3)
        );
    }

    #[test]
    fn regress_a_member_does_not_run_through_an_inner_pair_in_one_step() {
        let rules = Rules { perturbation: 1e-5, averages: true, forms: 5e-4, dissolves: 5e-3 };
        let now = Time::default();
        let longest = |size: f64, vel: [f64; 3]| {
            let two = Motion::from_vectors(&[0.5, 0.5], &[Vec3::x() * size], &[Vec3::y() * size.recip().sqrt()]);
            let inner = Few { members: vec![Member::Star(0), Member::Star(1)], motion: two, time: now };
            let members = vec![Member::Inner(Box::new(inner)), Member::Star(2), Member::Star(3)];
            let pos = [0.0, 0.3, 10.0].map(|x| Vec3::x() * x);
            let motion = Motion::new(&[1.0; 3], &pos, &[Vec3::zeros(), vel.into(), Vec3::zeros()]);
            Subsystem::new(Few { members, motion, time: now }, 1e-4).resolution(&rules, None)
        };
        // Head on, and on an orbit on which it stays away.
        let (meets, passes) = (longest(1e-3, [-3.0, 0.0, 0.0]), longest(1e-3, [0.0, 3.0, 0.0]));
        assert!(meets < 0.2 * 0.3 / 3.0 && passes > 1.0, "{meets} {passes}");
        assert!(longest(0.03, [0.0, 3.0, 0.0]) < 0.2 * 0.3 / 3.0);
    }
}
