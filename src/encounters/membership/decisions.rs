//! Criteria by which particles join to subsystems and subsystems split: ratios of forces alone, no lengths or times.
//!
//! With the tidal field D = Σ m/r³ of all others, a pair of mass M at distance r is isolated by 2 r³ D / M, an upper bound of its
//! relative perturbation, which has no jumps where neighbours change. The mutual binding is measured by 2 M / (r v²), which is 1
//! on a parabola: encounters faster than that by less than a factor of two count too.

use crate::encounters::forces::regions::{Bounds, Regions, Strongest};
use crate::encounters::forces::rings::time_of_change;
use crate::encounters::forces::surroundings::{Positions, Surroundings, at};
use crate::encounters::membership::change::Change;
use crate::encounters::membership::each::{SEARCH, each};
use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::elements::{Elements, elements, pericentre};
use crate::encounters::motion::member::Few;
use crate::encounters::motion::nested::HierarchicalOrbits;
use crate::encounters::motion::subsystem::Subsystem;
use crate::encounters::settings::criteria::{self, Rules};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::{Clock, Level, Time};

/// Bound of the rounding of perturbations: an eccentricity near 0 has half of the digits of others.
const ROUNDING: f64 = 1e-6;
/// Membership of all bodies at a moment, and the criteria by which it changes.
#[derive(Clone, Copy)]
pub struct Membership<'a> {
    /// The bodies.
    pub particles: &'a Particles,
    /// Their subsystems.
    pub hierarchy: &'a Hierarchy,
    /// Bodies by regions.
    pub regions: &'a Regions,
    /// Positions of all bodies at the moment.
    pub positions: &'a Positions,
    /// Moment.
    pub now: Time,
}

/// What an update of the membership of a body has to know of its surroundings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look {
    /// Nothing: a single star that joins no other, or an open pair that stays what it is.
    Nothing,
    /// No more than that Σ m/r³ is below this: a pair of stars that stays what it is.
    Quiet(f64),
    /// The sum over all bodies.
    Sum,
}

/// Relative motion of two bodies.
pub(crate) struct Relative {
    pub(crate) pos: Vec3,
    vel: Vec3,
    r: f64,
    mass: f64,
}

impl Relative {
    /// Returns that of the members of a pair.
    fn of(pair: &Subsystem) -> Self {
        let (pos, vel) = pair.motion.pair();
        Self { pos, vel, r: pos.norm(), mass: pair.mass() }
    }

    /// Returns true if the members of a pair go apart.
    fn recedes(&self) -> bool {
        self.pos.dot(&self.vel) > 0.0 && !self.is_bound_by(criteria::MIN_BINDING_TO_STAY)
    }

    /// Returns 2 M / (r v²) ≥ `min`.
    fn is_bound_by(&self, min: f64) -> bool {
        2.0 * self.mass >= min * self.r * self.vel.norm_squared()
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

impl Membership<'_> {
    fn clock(&self) -> &Clock {
        &self.hierarchy.clock
    }

    pub(crate) fn subsystem(&self, body: usize) -> Option<&Subsystem> {
        self.hierarchy.of_star(self.hierarchy.bodies.stars[body])
    }

    /// Returns the number of members that a body brings, if it is `closed` or not.
    fn number(&self, body: usize, closed: bool) -> usize {
        self.subsystem(body).filter(|_| !closed).map_or(1, |subsystem| subsystem.members.len())
    }

    pub(crate) fn relative(&self, i: usize, k: usize) -> Relative {
        let p = self.particles;
        let ((x, v), (y, w)) = (at(p, i, self.clock(), self.now), at(p, k, self.clock(), self.now));
        let (pos, vel) = self.hierarchy.bodies.between([i, k], (y - x, w - v));
        Relative { pos, vel, r: pos.norm(), mass: p.mass[i] + p.mass[k] }
    }

    /// Returns the tidal field around some bodies, with that of `external` fields in the rest; [`None`] if there is no other body with a
    /// mass.
    pub fn surroundings(&self, bodies: &[usize], external: &[f64]) -> Vec<Option<Surroundings>> {
        let strongest = each(bodies, SEARCH, |i| self.strongest(i, &[]));
        let pair = |(&i, found): (&usize, &Option<Strongest>)| found.map(|found| [i, found.row]);
        let pairs: Vec<[usize; 2]> = bodies.iter().zip(&strongest).filter_map(pair).collect();
        let mut rests = self.positions.rests(&pairs).into_iter();
        let with_rest = |(found, external): (Option<Strongest>, &f64)| {
            let Strongest { row: strongest, weight, .. } = found?;
            Some(Surroundings { strongest, weight, rest: rests.next()? + external })
        };
        strongest.into_iter().zip(external).map(with_rest).collect()
    }

    /// Returns the strongest body at body `i` beside others.
    fn strongest(&self, i: usize, others: &[usize]) -> Option<Strongest> {
        self.regions.strongest(self.clock(), self.now, i, others)
    }

    /// Returns the strongest body at body `i`, if the two may join, in place of the whole sum that [`joins`](Self::joins) needs: most do
    /// not by a lower bound of the tidal field D of all others, which all ways to join ask to be small.
    pub fn possible_partner(&self, i: usize) -> Option<usize> {
        let max = self.hierarchy.rules.forms.max(criteria::MAX_PERTURBATION_TO_JOIN);
        if !self.regions.may_be_isolated(self.clock(), self.now, i, max) {
            return None;
        }
        let Strongest { row: k, min_rest, .. } = self.strongest(i, &[])?;
        let pair = self.relative(i, k);
        let limit = self.max_field_to_join([i, k], &pair);
        if limit < min_rest {
            return None;
        }
        let min = self.field([i, k], limit).min;
        (min <= limit && self.may_join([i, k], &pair, min)).then_some(k)
    }

    /// Returns bounds of the tidal field at body `i` by all others but body `k`, which tell if it is below a limit.
    fn field(&self, [i, k]: [usize; 2], limit: f64) -> Bounds {
        self.regions.field_bounds(self.clock(), self.now, [i, k], limit)
    }

    /// Returns the largest tidal field of all others in which two bodies may join; less than 0 if they do not in any.
    fn max_field_to_join(&self, [i, k]: [usize; 2], pair: &Relative) -> f64 {
        let forms = self.hierarchy.rules.forms;
        let isolated = |unit: Option<f64>, max: f64| unit.map_or(-1.0, |unit| max * (1.0 + 2.0 * ROUNDING) / unit);
        let (near, far) = (Some(pair.perturbation(1.0)), pair.at_apocentre(1.0));
        let mut limit = isolated(far, criteria::MAX_PERTURBATION_TO_JOIN);
        if pair.approaches() && self.is_pulled([i, k], pair) {
            limit = limit.max(isolated(near, criteria::MAX_PERTURBATION_TO_JOIN));
        }
        if pair.is_bound_by(criteria::MIN_BINDING_TO_FORM) {
            limit = limit.max(isolated(if pair.approaches() { near } else { far }, forms));
        }
        limit
    }

    /// Returns true if one of two bodies is a subsystem that the other perturbs.
    fn is_pulled(&self, [i, k]: [usize; 2], pair: &Relative) -> bool {
        [[i, k], [k, i]].into_iter().any(|two| self.strength(two, pair) > criteria::JOINS_ABOVE)
    }

    /// Returns true if two bodies may join of which the second is the strongest at the first, with a lower bound of the tidal field of
    /// all others. Two must be bound, or hyperbolic by less than a factor, approach or be isolated at their apocentre, and be each the
    /// strongest of the other; or one of them is a subsystem that the other perturbs.
    fn may_join(&self, [i, k]: [usize; 2], pair: &Relative, min_rest: f64) -> bool {
        let forms = self.hierarchy.rules.forms;
        let is_below = |perturbation: f64, max: f64| perturbation <= max * (1.0 + ROUNDING);
        let is_near = |max: f64| is_below(pair.perturbation(min_rest), max);
        let is_near_far = |max: f64| pair.at_apocentre(min_rest).is_some_and(|far| is_below(far, max));
        let is_bound = pair.is_bound_by(criteria::MIN_BINDING_TO_FORM);
        is_near(criteria::MAX_PERTURBATION_TO_JOIN) && pair.approaches() && self.is_pulled([i, k], pair)
            || (is_near(forms) && is_bound && (pair.approaches() || is_near_far(forms))
                || is_near_far(criteria::MAX_PERTURBATION_TO_JOIN)
                    && self.is_in_small_system(i, k, pair, min_rest * (1.0 - ROUNDING)))
                && self.is_mutual([i, k])
    }

    /// Returns true if body `i`, the strongest at which is body `k`, is the strongest at that one.
    fn is_mutual(&self, [i, k]: [usize; 2]) -> bool {
        self.regions.is_strongest(self.clock(), self.now, [k, i])
    }

    /// Returns the perturbation of the subsystem of a body by another body; 0 for a star.
    fn strength(&self, [subsystem, other]: [usize; 2], pair: &Relative) -> f64 {
        let size = self.subsystem(subsystem).map_or(0.0, Subsystem::reach) / pair.r;
        2.0 * self.particles.mass[other] / self.particles.mass[subsystem] * size * size * size
    }

    /// Returns true if the membership of body `i` is updated after its step that ended now.
    pub fn is_update_due(&self, i: usize) -> bool {
        let level = self.particles.step[i];
        self.now.is_multiple_of(Level(level.0.saturating_sub(criteria::LOG2_STEPS_PER_UPDATE)))
    }

    /// Returns what has to be known of the surroundings of body `i`, as far as their bounds tell. An open pair is looked at in each of
    /// its steps, but measured only where an update is due.
    pub fn look(&self, i: usize) -> Look {
        if self.possible_partner(i).is_some() {
            return Look::Sum;
        }
        let Some(subsystem) = self.subsystem(i) else { return Look::Nothing };
        let is_below = |max: f64| self.field([i, i], max - subsystem.external).max + subsystem.external < max;
        if !subsystem.is_pair_of_stars() || self.without_mass(i, subsystem).next().is_some() {
            return Look::Sum;
        }
        let rules = &self.hierarchy.rules;
        if !self.is_update_due(i) {
            let pair = Relative::of(subsystem);
            let stays = !pair.recedes() && is_below(rules.dissolves / pair.perturbation(1.0));
            return if stays { Look::Nothing } else { Look::Sum };
        }
        match subsystem.quiet_field_of_masses(rules) {
            Some(max) if is_below(max) => Look::Quiet(max),
            _ => Look::Sum,
        }
    }

    /// Returns the change of body `i` in its surroundings, if any; without others a subsystem may open for a contact. A new one
    /// only takes up others.
    pub fn change(&self, i: usize, found: Option<Surroundings>, is_new: bool) -> Option<Change> {
        if let Some(change) = self.clears(i).filter(|_| !is_new) {
            return Some(change);
        }
        match found {
            Some(found) => self.joins(i, found).or_else(|| if is_new { None } else { self.leaves(i, found) }),
            None if is_new => None,
            None => self.opens_for_contact(i).or_else(|| self.is_torn(i).then(|| Change::Split(i, vec![0]))),
        }
    }

    /// Returns true for a pair alone that external fields tear apart.
    fn is_torn(&self, i: usize) -> bool {
        let pair = self.subsystem(i).filter(|subsystem| subsystem.members.len() == 2);
        pair.is_some_and(|pair| Relative::of(pair).perturbation(pair.external) > self.hierarchy.rules.dissolves)
    }

    /// Returns the change that joins two bodies in the tidal field `rest` of all others. A settled pair that another body will not
    /// perturb on the orbit of both stays one body.
    fn join(&self, i: usize, k: usize, pair: &Relative, rest: f64) -> (Change, usize) {
        let bodies = [i.min(k), i.max(k)];
        let nearest = pericentre(pair.pos, pair.vel, pair.mass).min(pair.r);
        let rules = self.hierarchy.rules;
        let stays = pair.at_apocentre(rest).is_some_and(|far| far <= criteria::STABLE_STAYS_BELOW * rules.dissolves);
        let may_touch = self.may_touch(bodies, nearest);
        let closed = [0, 1].map(|side| {
            let (body, other) = (bodies[side], bodies[1 - side]);
            self.subsystem(body).filter(|_| !may_touch).is_some_and(|subsystem| {
                let size = subsystem.size / nearest;
                let mass = [body, other].map(|k| self.particles.mass[k]);
                let strength = 2.0 * mass[1] / mass[0] * size * size * size;
                let outer = elements(pair.pos, pair.vel, pair.mass, pair.beta());
                let is_simple = subsystem.members.iter().all(|member| member.inner().is_none());
                let is_stable = |inner| {
                    let orbits = outer.map(|outer| HierarchicalOrbits::of(&inner, &outer, mass));
                    rules.averages && stays && is_simple && orbits.is_some_and(|orbits| orbits.can_be_averaged(false))
                };
                strength < criteria::CLOSES_BELOW * rules.perturbation && subsystem.settled(&rules).is_some()
                    || subsystem.settled(&rules).is_some_and(is_stable)
            })
        });
        let number = self.number(bodies[0], closed[0]) + self.number(bodies[1], closed[1]);
        (Change::Join(bodies, closed), number)
    }

    /// Returns true if stars of two bodies may touch where the centres of mass come as near as this.
    fn may_touch(&self, bodies: [usize; 2], nearest: f64) -> bool {
        let sizes = &self.hierarchy.bodies.sizes;
        let reach = |body: usize| match self.subsystem(body) {
            Some(subsystem) => {
                subsystem.size + subsystem.largest_radius(sizes, &subsystem.stars) * criteria::CONTACT_MARGIN
            }
            None => sizes.radii[self.hierarchy.bodies.stars[body] as usize] * criteria::CONTACT_MARGIN,
        };
        sizes.collisions.is_some() && nearest < bodies.map(reach).iter().sum()
    }

    /// Returns true if a pair of bodies `i` and `k` is not isolated, with `rest` the tidal field of all others, but with one or two of them is: the inner one of a triple or quadruple.
    fn is_in_small_system(&self, i: usize, k: usize, pair: &Relative, mut rest: f64) -> bool {
        let (mut mass, mut reach, mut others) = (pair.mass, pair.r, vec![k]);
        (0..2).any(|_| {
            let Some(next) = self.strongest(i, &others) else { return true };
            others.push(next.row);
            rest = (rest - next.weight).max(0.0);
            mass += self.particles.mass[next.row];
            reach = reach.max(self.relative(i, next.row).r);
            2.0 * reach * reach * reach * rest <= self.hierarchy.rules.forms * mass
        })
    }

    /// Returns the change by which body `i` joins another, if any.
    pub fn joins(&self, i: usize, found: Surroundings) -> Option<Change> {
        let k = found.strongest;
        self.joins_strongest(i, found).filter(|_| !self.is_at_centre([i, k]))
    }

    fn joins_strongest(&self, i: usize, found: Surroundings) -> Option<Change> {
        let k = found.strongest;
        let pair = self.relative(i, k);
        let rules = self.hierarchy.rules;
        let (change, number) = self.join(i, k, &pair, found.rest);
        let isolation = pair.perturbation(found.rest);
        if number > 2 {
            let (outer, inner) = (self.strength([i, k], &pair), self.strength([k, i], &pair));
            if outer.max(inner) > criteria::JOINS_ABOVE
                && pair.approaches()
                && isolation < criteria::MAX_PERTURBATION_TO_JOIN
                && number <= criteria::MAX_MEMBERS
            {
                return Some(change);
            }
            let is_perturbed = outer.max(inner)
                > criteria::BOUND_JOINS_ABOVE * rules.perturbation.min(criteria::MAX_SMALLEST_FOR_BOUND);
            // Bodies that touch need steps that know of it, however light they are: those of a common motion.
            let nearest = pericentre(pair.pos, pair.vel, pair.mass).min(pair.r);
            // Not those that fall in from far away: they join when they are near.
            let touches = self.may_touch([i.min(k), i.max(k)], nearest.max(pair.r / 4.0));
            if !((is_perturbed || touches) && pair.is_bound_by(1.0) && number <= criteria::MAX_MEMBERS_BOUND) {
                return None;
            }
        }
        let at_apocentre = pair.at_apocentre(found.rest);
        let is_isolated = isolation <= rules.forms
            && pair.is_bound_by(criteria::MIN_BINDING_TO_FORM)
            && (pair.approaches() || at_apocentre.is_some_and(|far| far <= rules.forms))
            || at_apocentre.is_some_and(|far| far <= criteria::MAX_PERTURBATION_TO_JOIN)
                && self.is_in_small_system(i, k, &pair, found.rest);
        (is_isolated && self.is_mutual([i, k])).then_some(change)
    }

    /// Returns the change that opens an inner subsystem of body `i` whose stars another body may touch, if there is one.
    fn opens_for_contact(&self, i: usize) -> Option<Change> {
        let (subsystem, sizes) = (self.subsystem(i)?, &self.hierarchy.bodies.sizes);
        let may_touch =
            |&k: &usize| subsystem.members[k].inner().is_some_and(|few| subsystem.may_touch(sizes, &[k], few.size()));
        (0..subsystem.members.len()).find(may_touch).map(|member| Change::Open(i, member))
    }

    /// Returns the change inside of the subsystem of body `i`, if any: an inner subsystem that is perturbed opens, two bodies
    /// that nothing perturbs become one.
    fn opens(&self, i: usize, subsystem: &Subsystem) -> Option<Change> {
        let (min, sizes) = (self.hierarchy.rules.perturbation, &self.hierarchy.bodies.sizes);
        let for_contact = self.opens_for_contact(i);
        if for_contact.is_some() {
            return for_contact;
        }
        if subsystem.nested.is_some() && subsystem.is_nested(&self.hierarchy.rules) {
            return None;
        }
        if subsystem.members.len() > 2 {
            let mass = subsystem.motion.masses();
            let inner = subsystem.motion.order().windows(2).filter_map(|two| {
                let (a, b) = (two[0].min(two[1]), two[0].max(two[1]));
                let ((pos, vel), mu) = (subsystem.motion.vectors(a, b), mass[a] + mass[b]);
                let found = elements(pos, vel, mu, 2.0 * mu / pos.norm() - vel.norm_squared())?;
                let size = found.axis * (1.0 + found.eccentricity);
                if subsystem.may_touch(sizes, &[a, b], size) || self.is_at_centre_in(i, subsystem, [a, b]) {
                    return None;
                }
                let by = |j: usize| {
                    let nearest = subsystem.motion.vectors(a, j).0.norm().min(subsystem.motion.vectors(b, j).0.norm());
                    let ratio = size / nearest;
                    2.0 * mass[j] / mu * ratio * ratio * ratio
                };
                let sum: f64 = (0..mass.len()).filter(|j| ![a, b].contains(j)).map(by).sum();
                let rules = &self.hierarchy.rules;
                (sum < criteria::CLOSES_BELOW * min
                    || is_inner(subsystem, [a, b], &found, *rules)
                    || may_be_ring(subsystem, [a, b], &found, sum, rules))
                .then_some([a, b])
            });
            if let Some(two) = inner.take(1).next() {
                return Some(Change::Close(i, two));
            }
        }
        subsystem.opening_inner(&self.hierarchy.rules).map(|member| Change::Open(i, member))
    }

    /// Returns the change of the subsystem of body `i`, if any: it dissolves, splits, or takes up the next body.
    fn leaves(&self, i: usize, found: Surroundings) -> Option<Change> {
        let subsystem = self.subsystem(i)?;
        if let Some(change) = self.opens(i, subsystem) {
            return Some(change);
        }
        let field = found.weight + found.rest;
        if subsystem.members.len() == 2 {
            let pair = Relative::of(subsystem);
            let is_perturbed = pair.perturbation(field) > self.hierarchy.rules.dissolves;
            if is_perturbed {
                let k = found.strongest;
                let outer = self.relative(i, k);
                let (change, number) = self.join(i, k, &outer, found.rest);
                let isolated = outer.perturbation(found.rest) < criteria::MAX_PERTURBATION_TO_JOIN;
                let may_join =
                    isolated && number <= criteria::MAX_MEMBERS && (outer.is_bound_by(1.0) || outer.approaches());
                if may_join && !self.is_at_centre([i, k]) {
                    return Some(change);
                }
            }
            return (is_perturbed || pair.recedes()).then(|| Change::Split(i, vec![0]));
        }
        let (first, second, gap) = subsystem.parts();
        let split = || Some(Change::split(i, first));
        if 2.0 * gap * gap * gap * field > criteria::SPLITS_ABOVE * subsystem.mass() {
            return split();
        }
        let parts = [Part::new(subsystem, first), Part::new(subsystem, second)];
        let [a, b] = &parts;
        let outer =
            Relative { pos: b.pos - a.pos, vel: b.vel - a.vel, r: (b.pos - a.pos).norm(), mass: a.mass + b.mass };
        let strength = |of: &Part, by: &Part| {
            let size = of.size / outer.r;
            2.0 * by.mass / of.mass * size * size * size
        };
        let min = self.hierarchy.rules.perturbation.min(criteria::MAX_SMALLEST_FOR_BOUND);
        let max = if outer.is_bound_by(1.0) { criteria::BOUND_LEAVES_BELOW * min } else { criteria::LEAVES_BELOW };
        let sizes = &self.hierarchy.bodies.sizes;
        let touches = || subsystem.may_touch(sizes, first, a.size) || subsystem.may_touch(sizes, second, b.size);
        let stays = outer.is_bound_by(1.0)
            && (touches() || self.is_on_isolated_orbit(subsystem, [first, second], &outer, field));
        (!stays && !outer.approaches() && strength(a, b).max(strength(b, a)) < max).then(split).flatten()
    }

    /// Returns true if two parts of a subsystem, bodies or bound pairs, are on an isolated orbit about each other, with `field` that of all
    /// others. Where pairs are not averaged the period of that orbit is not much longer than those inside of them.
    fn is_on_isolated_orbit(&self, subsystem: &Subsystem, parts: [&[usize]; 2], outer: &Relative, field: f64) -> bool {
        let rules = &self.hierarchy.rules;
        let Some(orbit) = elements(outer.pos, outer.vel, outer.mass, outer.beta()) else { return false };
        let far = orbit.axis * (1.0 + orbit.eccentricity);
        let isolated = 2.0 * far * far * far * field <= criteria::STABLE_STAYS_BELOW * rules.dissolves * outer.mass;
        let max = if rules.averages { f64::INFINITY } else { criteria::MAX_PERIODS_TO_STAY };
        let follows =
            |part: &&[usize]| period_inside(subsystem, part).is_some_and(|inside| orbit.period <= max * inside);
        isolated && parts.iter().all(follows)
    }
}

/// Returns the period of the shortest orbit of two members that are a part of a subsystem; [`None`] if the part has more, or two that are
/// not bound.
fn period_inside(subsystem: &Subsystem, part: &[usize]) -> Option<f64> {
    match *part {
        [_] => Some(f64::INFINITY),
        [i, j] => {
            let ((pos, vel), mass) = (subsystem.motion.vectors(i, j), subsystem.motion.masses());
            let mu = mass[i] + mass[j];
            Some(elements(pos, vel, mu, 2.0 * mu / pos.norm() - vel.norm_squared())?.period)
        }
        _ => None,
    }
}

/// Returns true if two stars of a subsystem, a binary with these elements, are the inner one of a stable system with the rest.
fn is_inner(subsystem: &Subsystem, two: [usize; 2], pair: &Elements, rules: Rules) -> bool {
    let rest: Vec<usize> = (0..subsystem.members.len()).filter(|k| !two.contains(k)).collect();
    if !rules.averages || rest.len() > 2 || two.iter().any(|&k| subsystem.members[k].inner().is_some()) {
        return false;
    }
    let (a, b) = (Part::new(subsystem, &two), Part::new(subsystem, &rest));
    let (pos, vel, mass) = (b.pos - a.pos, b.vel - a.vel, a.mass + b.mass);
    let Some(outer) = elements(pos, vel, mass, 2.0 * mass / pos.norm() - vel.norm_squared()) else { return false };
    let nearest = outer.axis * (1.0 - outer.eccentricity);
    // The other two of four are the next to become one body.
    let is_pair = rest.len() == 1 || nearest > criteria::MIN_PERICENTRE_OF_QUADRUPLE * b.size;
    let far = outer.axis * (1.0 + outer.eccentricity);
    let stays = 2.0 * far * far * far * subsystem.field <= criteria::STABLE_STAYS_BELOW * rules.dissolves * mass;
    stays && is_pair && HierarchicalOrbits::of(pair, &outer, [a.mass, b.mass]).can_be_averaged(false)
}

/// Returns true if two stars of a subsystem, a binary with these elements that others perturb by so much, may be averaged over their
/// orbit.
fn may_be_ring(subsystem: &Subsystem, two: [usize; 2], pair: &Elements, perturbation: f64, rules: &Rules) -> bool {
    // The plane of the orbit needs digits enough for its mean.
    let is_flat = 1.0 - pair.eccentricity * pair.eccentricity > 4.0 * criteria::MIN_SQUARED_MINOR_AXIS;
    if !is_flat || two.iter().any(|&k| subsystem.members[k].inner().is_some()) {
        return false;
    }
    let mass = subsystem.motion.masses();
    let total = mass[two[0]] + mass[two[1]];
    let time = |j: usize| {
        let [(x, v), (y, w)] = two.map(|k| subsystem.motion.vectors(k, j));
        let share = [mass[two[0]] / total, mass[two[1]] / total];
        time_of_change(x * share[0] + y * share[1], v * share[0] + w * share[1], total + mass[j])
    };
    let shortest = (0..mass.len()).filter(|j| !two.contains(j)).map(time).fold(f64::INFINITY, f64::min);
    let periods = shortest / pair.period;
    periods > criteria::MIN_PERIODS_OF_RING && rules.is_averaged(perturbation, periods, false)
}

/// Part of a subsystem.
struct Part {
    mass: f64,
    pos: Vec3,
    vel: Vec3,
    size: f64,
}

impl Part {
    fn new(subsystem: &Subsystem, members: &[usize]) -> Self {
        let (mass, offsets, speeds) =
            (subsystem.motion.masses(), subsystem.motion.offsets(), subsystem.motion.speeds());
        let total: f64 = members.iter().map(|&k| mass[k]).sum();
        let mean = |of: &[Vec3]| members.iter().fold(Vec3::zeros(), |sum, &k| sum + of[k] * mass[k]) / total;
        let size = match *members {
            [i] => subsystem.members[i].inner().map_or(0.0, Few::size),
            [i, j] => {
                let ((pos, vel), mu) = (subsystem.motion.vectors(i, j), total);
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
