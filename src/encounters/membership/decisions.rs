//! Criteria by which particles join to subsystems and subsystems split: ratios of forces alone, no lengths or times.
//!
//! With the tidal field D = Σ m/r³ of all others, a pair of mass M at distance r is isolated by 2 r³ D / M, an upper bound of its
//! relative perturbation, which has no jumps where neighbours change. The mutual binding is measured by 2 M / (r v²), which is 1
//! on a parabola: encounters faster than that by less than a factor of two count too.

use crate::encounters::contacts::inside::NEAR;
use crate::encounters::forces::surroundings::{Positions, Surroundings, at};
use crate::encounters::membership::change::Change;
use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::elements::{Elements, elements, pericentre};
use crate::encounters::motion::member::Few;
use crate::encounters::motion::nested::is_stable;
use crate::encounters::motion::subsystem::Group;
use crate::encounters::settings::rules::Rules;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::{Clock, Time};

/// Smallest 2 M / (r v²) of a pair that forms, and below which a receding one is dissolved.
const FORMS_BOUND: f64 = 0.5;
const DISSOLVES_BOUND: f64 = 0.25;
/// Largest perturbation with which a subsystem of more than two forms, and with which it splits in any case.
const JOINS_ISOLATED: f64 = 0.02;
const BREAKS: f64 = 0.2;
/// Perturbation from which on an approaching body joins a subsystem, and below which a receding one leaves it.
const JOINS: f64 = 0.03;
const LEAVES: f64 = 0.008;
/// Perturbation, in units of the smallest one that is felt, from which on a bound companion joins, and below which it leaves; and
/// largest value of that unit, with which a companion that has left is far from dissolving the pair.
const JOINS_BOUND: f64 = 40.0;
const LEAVES_BOUND: f64 = 10.0;
const MOST_BOUND: f64 = 2.5e-4;
/// Largest number of bodies of subsystems that form of settled ones.
const MOST_SETTLED: usize = 5;
/// Largest number of bodies of a subsystem.
pub const LARGEST: usize = 8;
/// Largest perturbation of the outer orbit of a system that is followed in the mean, in units of that with which it dissolves.
const SETTLED: f64 = 0.5;
/// Distance, in sizes of a pair, beyond which another may be the outer one of a stable quadruple.
const WIDE: f64 = 4.0;
/// Perturbation, in units of the smallest one that is felt, below which a pair becomes one body of another subsystem.
const CLOSES: f64 = 0.25;

/// State of all units for the criteria.
pub struct Look<'a> {
    /// The units.
    pub particles: &'a Particles,
    /// Their subsystems.
    pub subsystems: &'a Hierarchy,
    /// Places of all units.
    pub positions: &'a mut Positions,
    /// Moment.
    pub now: Time,
}

/// Relative motion of two bodies.
pub(crate) struct Relative {
    pub(crate) pos: Vec3,
    vel: Vec3,
    r: f64,
    mass: f64,
}

impl Relative {
    /// Returns 2 M / (r v²) ≥ `least`.
    fn is_bound_by(&self, least: f64) -> bool {
        2.0 * self.mass >= least * self.r * self.vel.norm_squared()
    }

    fn approaches(&self) -> bool {
        self.pos.dot(&self.vel) < 0.0
    }

    /// Returns the perturbation by a tidal field.
    fn perturbation(&self, field: f64) -> f64 {
        2.0 * self.r * self.r * self.r * field / self.mass
    }

    /// Returns 2 M / r − v².
    fn beta(&self) -> f64 {
        2.0 * self.mass / self.r - self.vel.norm_squared()
    }

    /// Returns the perturbation at the apocentre of a bound orbit.
    fn at_apocentre(&self, field: f64) -> Option<f64> {
        let found = elements(self.pos, self.vel, self.mass, self.beta())?;
        let far = found.axis * (1.0 + found.eccentricity);
        Some(2.0 * far * far * far * field / self.mass)
    }
}

impl Look<'_> {
    fn clock(&self) -> &Clock {
        &self.subsystems.clock
    }

    pub(crate) fn group(&self, unit: usize) -> Option<&Group> {
        self.subsystems.of_star(self.subsystems.units.stars[unit])
    }

    /// Returns the number of bodies that a unit is, if it is `closed` or not.
    fn number(&self, unit: usize, closed: bool) -> usize {
        self.group(unit).filter(|_| !closed).map_or(1, |group| group.bodies.len())
    }

    pub(crate) fn relative(&self, i: usize, k: usize) -> Relative {
        let p = self.particles;
        let ((x, v), (y, w)) = (at(p, i, self.clock(), self.now), at(p, k, self.clock(), self.now));
        let (pos, vel) = self.subsystems.units.between([i, k], (y - x, w - v));
        Relative { pos, vel, r: pos.norm(), mass: p.mass[i] + p.mass[k] }
    }

    /// Returns the tidal field around a unit.
    pub fn around(&mut self, i: usize) -> Option<Surroundings> {
        self.positions.set(self.particles, &self.subsystems.clock, self.now);
        self.positions.around(i)
    }

    /// Returns the change of unit `i` in its surroundings, if any; without others a subsystem may open for a contact. A new one
    /// only takes up others.
    pub fn change(&mut self, i: usize, found: Option<Surroundings>, is_new: bool) -> Option<Change> {
        if let Some(change) = self.clears(i).filter(|_| !is_new) {
            return Some(change);
        }
        match found {
            Some(found) => self.joins(i, found).or_else(|| if is_new { None } else { self.leaves(i, found) }),
            None if is_new => None,
            None => self.opens_for_contact(i),
        }
    }

    /// Returns the change that joins two units in the tidal field `rest` of all others. A settled pair that another unit will not
    /// perturb on the orbit of both stays one body.
    fn join(&self, i: usize, k: usize, pair: &Relative, rest: f64) -> (Change, usize) {
        let units = [i.min(k), i.max(k)];
        let nearest = pericentre(pair.pos, pair.vel, pair.mass).min(pair.r);
        let rules = self.subsystems.rules;
        let stays = pair.at_apocentre(rest).is_some_and(|far| far <= SETTLED * rules.dissolves);
        let may_touch = self.may_touch(units, nearest);
        let closed = [0, 1].map(|side| {
            let (unit, other) = (units[side], units[1 - side]);
            self.group(unit).filter(|_| !may_touch).is_some_and(|group| {
                let size = group.size / nearest;
                let masses = (self.particles.mass[unit], self.particles.mass[other]);
                let strength = 2.0 * masses.1 / masses.0 * size * size * size;
                let outer = elements(pair.pos, pair.vel, pair.mass, pair.beta());
                let is_simple = group.bodies.iter().all(|body| body.inner().is_none());
                let is_stable = |inner| {
                    let orbit = outer.map(|outer| (outer.axis * (1.0 - outer.eccentricity), outer.eccentricity));
                    rules.means
                        && stays
                        && is_simple
                        && orbit.is_some_and(|orbit| is_stable(&inner, masses, orbit, false))
                };
                strength < CLOSES * rules.perturbation && group.settled(&rules).is_some()
                    || group.settled(&rules).is_some_and(is_stable)
            })
        });
        let number = self.number(units[0], closed[0]) + self.number(units[1], closed[1]);
        (Change::Join(units, closed), number)
    }

    /// Returns true if stars of two units may touch where the centres of mass come as near as this.
    fn may_touch(&self, units: [usize; 2], nearest: f64) -> bool {
        let sizes = &self.subsystems.units.sizes;
        let reach = |unit: usize| match self.group(unit) {
            Some(group) => group.size + group.largest_radius(sizes, &group.members) * NEAR,
            None => sizes.radii[self.subsystems.units.stars[unit] as usize] * NEAR,
        };
        sizes.collisions.is_some() && nearest < units.map(reach).iter().sum()
    }

    /// Returns true if a pair of unit `i` is not isolated, but with one or two others is: the inner one of a triple or quadruple.
    fn is_in_small_system(&mut self, i: usize, pair: &Relative) -> bool {
        let Some(found) = self.around(i) else { return false };
        let (mut rest, mut mass, mut reach) = (found.rest, pair.mass, pair.r);
        (0..2).any(|_| {
            let (k, weight) = self.positions.next();
            rest = (rest - weight).max(0.0);
            mass += self.particles.mass[k];
            reach = reach.max(self.relative(i, k).r);
            2.0 * reach * reach * reach * rest <= self.subsystems.rules.forms * mass
        })
    }

    /// Returns the change by which unit `i` joins another, if any.
    pub fn joins(&mut self, i: usize, found: Surroundings) -> Option<Change> {
        let k = found.strongest;
        self.joins_strongest(i, found).filter(|_| !self.is_at_centre([i, k]))
    }

    fn joins_strongest(&mut self, i: usize, found: Surroundings) -> Option<Change> {
        let k = found.strongest;
        let pair = self.relative(i, k);
        let rules = self.subsystems.rules;
        let (change, number) = self.join(i, k, &pair, found.rest);
        let isolation = pair.perturbation(found.rest);
        if number > 2 {
            let strength = |group: usize, other: usize| {
                let size = self.group(group).map_or(0.0, Group::reach) / pair.r;
                2.0 * self.particles.mass[other] / self.particles.mass[group] * size * size * size
            };
            let (outer, inner) = (strength(i, k), strength(k, i));
            if outer.max(inner) > JOINS && pair.approaches() && isolation < JOINS_ISOLATED && number <= LARGEST {
                return Some(change);
            }
            let felt = outer.max(inner) > JOINS_BOUND * rules.perturbation.min(MOST_BOUND);
            // Bodies that touch need steps that know of it, however light they are: those of a common motion.
            let nearest = pericentre(pair.pos, pair.vel, pair.mass).min(pair.r);
            // Not those that fall in from far away: they join when they are near.
            let touches = self.may_touch([i.min(k), i.max(k)], nearest.max(pair.r / 4.0));
            if !((felt || touches) && pair.is_bound_by(1.0) && number <= MOST_SETTLED) {
                return None;
            }
        }
        let at_apocentre = pair.at_apocentre(found.rest);
        let is_isolated = isolation <= rules.forms
            && pair.is_bound_by(FORMS_BOUND)
            && (pair.approaches() || at_apocentre.is_some_and(|far| far <= rules.forms))
            || at_apocentre.is_some_and(|far| far <= JOINS_ISOLATED) && self.is_in_small_system(i, &pair);
        (is_isolated && self.around(k).is_some_and(|back| back.strongest == i)).then_some(change)
    }

    /// Returns the change that opens an inner subsystem of unit `i` whose stars another body may touch, if there is one.
    fn opens_for_contact(&self, i: usize) -> Option<Change> {
        let (group, sizes) = (self.group(i)?, &self.subsystems.units.sizes);
        let may_touch =
            |&k: &usize| group.bodies[k].inner().is_some_and(|few| group.may_touch(sizes, &[k], few.size()));
        (0..group.bodies.len()).find(may_touch).map(|body| Change::Open(i, body))
    }

    /// Returns the change inside of the subsystem of unit `i`, if any: an inner subsystem that is perturbed opens, two bodies
    /// that nothing perturbs become one.
    fn opens(&self, i: usize, group: &Group) -> Option<Change> {
        let (least, sizes) = (self.subsystems.rules.perturbation, &self.subsystems.units.sizes);
        let for_contact = self.opens_for_contact(i);
        if for_contact.is_some() {
            return for_contact;
        }
        if group.nested.is_some() && group.is_nested(&self.subsystems.rules) {
            return None;
        }
        if group.bodies.len() > 2 {
            let mass = group.motion.masses();
            let inner = group.motion.order().windows(2).filter_map(|two| {
                let (a, b) = (two[0].min(two[1]), two[0].max(two[1]));
                let ((pos, vel), mu) = (group.motion.vectors(a, b), mass[a] + mass[b]);
                let found = elements(pos, vel, mu, 2.0 * mu / pos.norm() - vel.norm_squared())?;
                let size = found.axis * (1.0 + found.eccentricity);
                if group.may_touch(sizes, &[a, b], size) || self.is_at_centre_in(i, group, [a, b]) {
                    return None;
                }
                let by = |j: usize| {
                    let nearest = group.motion.vectors(a, j).0.norm().min(group.motion.vectors(b, j).0.norm());
                    let ratio = size / nearest;
                    2.0 * mass[j] / mu * ratio * ratio * ratio
                };
                let sum: f64 = (0..mass.len()).filter(|j| ![a, b].contains(j)).map(by).sum();
                (sum < CLOSES * least || is_inner(group, [a, b], &found, self.subsystems.rules)).then_some([a, b])
            });
            if let Some(two) = inner.take(1).next() {
                return Some(Change::Close(i, two));
            }
        }
        let (body, most) = group.perturbed_inner()?;
        (most > least).then_some(Change::Open(i, body))
    }

    /// Returns the change of the subsystem of unit `i`, if any: it dissolves, splits, or takes up the next body.
    fn leaves(&mut self, i: usize, found: Surroundings) -> Option<Change> {
        let group = self.group(i)?;
        if let Some(change) = self.opens(i, group) {
            return Some(change);
        }
        let motion = &group.motion;
        let field = found.weight + found.rest;
        if group.bodies.len() == 2 {
            let (pos, vel) = motion.pair();
            let pair = Relative { pos, vel, r: pos.norm(), mass: group.mass() };
            let is_perturbed = pair.perturbation(field) > self.subsystems.rules.dissolves;
            let recedes = pos.dot(&vel) > 0.0 && !pair.is_bound_by(DISSOLVES_BOUND);
            if is_perturbed {
                let k = found.strongest;
                let outer = self.relative(i, k);
                let (change, number) = self.join(i, k, &outer, found.rest);
                let isolated = outer.perturbation(found.rest) < JOINS_ISOLATED;
                let may_join = isolated && number <= LARGEST && (outer.is_bound_by(1.0) || outer.approaches());
                if may_join && !self.is_at_centre([i, k]) {
                    return Some(change);
                }
            }
            return (is_perturbed || recedes).then(|| Change::Split(i, vec![0]));
        }
        let (first, second, gap) = group.parts();
        let split = || Some(Change::split(i, first));
        if 2.0 * gap * gap * gap * field > BREAKS * group.mass() {
            return split();
        }
        let parts = [Part::new(group, first), Part::new(group, second)];
        let [a, b] = &parts;
        let outer =
            Relative { pos: b.pos - a.pos, vel: b.vel - a.vel, r: (b.pos - a.pos).norm(), mass: a.mass + b.mass };
        let strength = |of: &Part, by: &Part| {
            let size = of.size / outer.r;
            2.0 * by.mass / of.mass * size * size * size
        };
        let least = self.subsystems.rules.perturbation.min(MOST_BOUND);
        let most = if outer.is_bound_by(1.0) { LEAVES_BOUND * least } else { LEAVES };
        let sizes = &self.subsystems.units.sizes;
        let touches = || group.may_touch(sizes, first, a.size) || group.may_touch(sizes, second, b.size);
        let stays = outer.is_bound_by(1.0) && touches();
        (!stays && !outer.approaches() && strength(a, b).max(strength(b, a)) < most).then(split).flatten()
    }
}

/// Returns true if two stars of a subsystem, a binary with these elements, are the inner one of a stable system with the rest.
fn is_inner(group: &Group, two: [usize; 2], pair: &Elements, rules: Rules) -> bool {
    let rest: Vec<usize> = (0..group.bodies.len()).filter(|k| !two.contains(k)).collect();
    if !rules.means || rest.len() > 2 || two.iter().any(|&k| group.bodies[k].inner().is_some()) {
        return false;
    }
    let (a, b) = (Part::new(group, &two), Part::new(group, &rest));
    let (pos, vel, mass) = (b.pos - a.pos, b.vel - a.vel, a.mass + b.mass);
    let Some(outer) = elements(pos, vel, mass, 2.0 * mass / pos.norm() - vel.norm_squared()) else { return false };
    let nearest = outer.axis * (1.0 - outer.eccentricity);
    // The other two of four are the next to become one body.
    let is_pair = rest.len() == 1 || nearest > WIDE * b.size;
    let far = outer.axis * (1.0 + outer.eccentricity);
    let stays = 2.0 * far * far * far * group.field <= SETTLED * rules.dissolves * mass;
    stays && is_pair && is_stable(pair, (a.mass, b.mass), (nearest, outer.eccentricity), false)
}

/// Part of a subsystem.
struct Part {
    mass: f64,
    pos: Vec3,
    vel: Vec3,
    size: f64,
}

impl Part {
    fn new(group: &Group, members: &[usize]) -> Self {
        let (mass, offsets, speeds) = (group.motion.masses(), group.motion.offsets(), group.motion.speeds());
        let total: f64 = members.iter().map(|&k| mass[k]).sum();
        let mean = |of: &[Vec3]| members.iter().fold(Vec3::zeros(), |sum, &k| sum + of[k] * mass[k]) / total;
        let size = match *members {
            [i] => group.bodies[i].inner().map_or(0.0, Few::size),
            [i, j] => {
                let ((pos, vel), mu) = (group.motion.vectors(i, j), total);
                let beta = 2.0 * mu / pos.norm() - vel.norm_squared();
                elements(pos, vel, mu, beta).map_or(pos.norm(), |pair| pair.axis * (1.0 + pair.eccentricity))
            }
            _ => {
                let pairs = members.iter().flat_map(|&j| members.iter().map(move |&i| (i, j)));
                pairs.map(|(i, j)| (offsets[i] - offsets[j]).norm()).fold(0.0, f64::max)
            }
        };
        Self { mass: total, pos: mean(&offsets), vel: mean(&speeds), size }
    }
}
