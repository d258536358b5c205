//! Bodies that are bound to a cluster, in its own frame and by its own potential.
//!
//! Bound are the bodies of a set each of which has negative energy in the potential of the others, relative to the mean
//! velocity of the set. The potential of what is not in the set does not count: a tidal tail, escapers or another cluster
//! hold nothing together here. The search begins with the velocity of the stars around the densest place, not with that
//! of all particles, which is another one as soon as a tail or a heavy runaway takes part in it. Where much mass is left
//! over, it begins again at the densest place of the rest: there may be several clusters.

use super::stars::Stars;
use crate::density::{centre_of, densities};
use crate::nearest::Neighbours;
use rayon::prelude::*;
use tisane_force::compensated_sum::sum;
use tisane_force::pair::Body;
use tisane_force::particles::Vec3;

/// Largest number of dense places from which the search begins.
const MAX_STARTS: usize = 8;
/// Largest number of iterations of a choice of bodies, which ends when the choice repeats.
const MAX_ROUNDS: usize = 100;
/// Part of the mass of the most massive cluster from which another one counts as well. Of these it is the one with the
/// smallest id: of two like clusters it is the same one at all times.
const COMPARABLE: f64 = 0.5;
/// Least number of particles of a cluster in a system of many, and least part of the mass of one in a system of few:
/// anywhere some particles are slow relative to each other by chance.
const MIN_CLUSTER: (usize, f64) = (10, 0.1);
/// Smallest number of bodies on either side of a cut between two clusters.
const FEWEST: usize = 10;
/// Part of the mass that is left at most where a cut separates two clusters.
const CUT: f64 = 0.9;
/// Minimum number of bodies for a thread.
const MIN: usize = 64;

/// Particles that are bound to a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Their mean velocity; of all particles if none is bound.
    pub velocity: Vec3,
    /// Flag for each particle of the system.
    pub is_bound: Vec<bool>,
    /// Potential of the bound particles at each particle of the system, self term left out.
    pub pot: Vec<f64>,
    /// Flag for each particle that is bound in another cluster: by its own motion there it may be slow in this one.
    elsewhere: Vec<bool>,
}

impl Bound {
    /// Returns a choice of no particle.
    pub(super) fn none(stars: &Stars) -> Self {
        let n = stars.len();
        let velocity = centre_of(&stars.mass, &stars.vel);
        Self { velocity, is_bound: vec![false; n], pot: vec![0.0; n], elsewhere: vec![false; n] }
    }

    /// Returns the choice of the particles of one binary or hierarchy.
    pub(super) fn of_one(stars: &Stars, velocity: Vec3, of: &[u32], epsilon: f64) -> Self {
        let mut bound = Self { velocity, ..Self::none(stars) };
        let mut chosen = vec![false; stars.len()];
        of.iter().for_each(|&i| chosen[i as usize] = true);
        bound.choose(stars, &chosen, epsilon);
        bound
    }

    /// Returns the choice of all particles, seen from a velocity.
    fn all(stars: &Stars, velocity: Vec3) -> Self {
        Self { velocity, is_bound: vec![true; stars.len()], pot: stars.pot.clone(), ..Self::none(stars) }
    }

    /// Returns true if no particle is bound.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.is_bound.contains(&true)
    }

    /// Returns the mass of the bound particles.
    fn mass(&self, stars: &Stars) -> f64 {
        sum(stars.mass.iter().zip(&self.is_bound).map(|(mass, is_bound)| if *is_bound { *mass } else { 0.0 }))
    }

    /// Returns true if they are more than what is bound by chance.
    pub(super) fn is_cluster(&self, stars: &Stars) -> bool {
        let (number, part) = MIN_CLUSTER;
        let held = self.is_bound.iter().filter(|is_bound| **is_bound).count();
        held >= number || (held > 1 && self.mass(stars) >= part * sum(stars.mass.iter().copied()))
    }

    /// Returns the energy per unit mass of the centre of mass of the particles `of` in the potential of the bound
    /// particles outside of it.
    pub(super) fn energy(&self, stars: &Stars, of: &[u32], body: &Body, epsilon: f64) -> f64 {
        let kinetic = 0.5 * (body.vel - self.velocity).norm_squared();
        if let [one] = of {
            return kinetic + self.pot[*one as usize];
        }
        let mut pot = 0.0;
        for &i in of {
            let others = of.iter().filter(|&&j| j != i && self.is_bound[j as usize]);
            let own: f64 = others.map(|&j| attraction(stars, i, j, epsilon)).sum();
            let outside = self.pot[i as usize] + own;
            // Particles without mass have the mean for their centre of mass.
            pot +=
                if body.mass > 0.0 { stars.mass[i as usize] / body.mass * outside } else { outside / of.len() as f64 };
        }
        kinetic + pot
    }

    /// Makes the particles of `chosen` the bound ones, with their potential. Returns false if they are so already.
    pub(super) fn choose(&mut self, stars: &Stars, chosen: &[bool], epsilon: f64) -> bool {
        let indices = |which: &dyn Fn(usize) -> bool| (0..stars.len() as u32).filter(|&i| which(i as usize)).collect();
        let kept: Vec<u32> = indices(&|i| chosen[i]);
        let come: Vec<u32> = indices(&|i| chosen[i] && !self.is_bound[i]);
        let gone: Vec<u32> = indices(&|i| !chosen[i] && self.is_bound[i]);
        if come.is_empty() && gone.is_empty() {
            return false;
        }
        let anew = kept.len() <= come.len() + gone.len();
        self.pot.par_iter_mut().with_min_len(MIN).enumerate().for_each(|(i, pot)| {
            let i = i as u32;
            let of = |which: &[u32]| -> f64 {
                which.iter().filter(|&&j| j != i).map(|&j| attraction(stars, i, j, epsilon)).sum()
            };
            // Where particles coincide a potential is infinite, from which nothing can be taken away.
            *pot = if anew || !pot.is_finite() { -of(&kept) } else { *pot + of(&gone) - of(&come) };
        });
        self.is_bound.copy_from_slice(chosen);
        true
    }
}

/// Returns m / s of particle `j` at particle `i`.
fn attraction(stars: &Stars, i: u32, j: u32, epsilon: f64) -> f64 {
    let (i, j) = (i as usize, j as usize);
    stars.mass[j] / ((stars.pos[i] - stars.pos[j]).norm_squared() + epsilon * epsilon).sqrt()
}

/// Particles of a system as bodies: single ones, and those of a binary or hierarchy together.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    bodies: Vec<Body>,
    stars: Vec<u32>,
    /// End of each body in the list of particles.
    ends: Vec<usize>,
}

impl Groups {
    /// Adds the particles of a body.
    pub fn push(&mut self, body: Body, of: &[u32]) {
        self.bodies.push(body);
        self.stars.extend(of);
        self.ends.push(self.stars.len());
    }

    fn of(&self, k: usize) -> &[u32] {
        let start = k.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.stars[start..self.ends[k]]
    }

    fn is_held(&self, k: usize, bound: &Bound) -> bool {
        self.of(k).iter().all(|&i| bound.is_bound[i as usize])
    }

    /// Returns the body of each particle.
    fn body_of(&self) -> Vec<usize> {
        let mut body_of = vec![0; self.stars.len()];
        for k in 0..self.bodies.len() {
            self.of(k).iter().for_each(|&i| body_of[i as usize] = k);
        }
        body_of
    }

    /// Returns the energy per unit mass of each body, as [`Bound::energy`].
    pub fn energies(&self, bound: &Bound, stars: &Stars, epsilon: f64) -> Vec<f64> {
        let energy = |k: usize| bound.energy(stars, self.of(k), &self.bodies[k], epsilon);
        (0..self.bodies.len()).into_par_iter().with_min_len(MIN).map(energy).collect()
    }

    /// Returns 2/3 of the mean kinetic energy of the bound bodies; 0 if there are none.
    pub fn thermal_energy(&self, bound: &Bound) -> f64 {
        let held = (0..self.bodies.len()).filter(|&k| self.is_held(k, bound));
        let kinetic = |k: usize| 0.5 * self.bodies[k].mass * (self.bodies[k].vel - bound.velocity).norm_squared();
        let kinetic: Vec<f64> = held.map(kinetic).collect();
        let number = kinetic.len().max(1);
        2.0 / 3.0 * sum(kinetic.into_iter()) / number as f64
    }

    /// Returns the mean velocity of some bodies; [`None`] for fewer than two, and without mass.
    fn velocity(&self, chosen: &[bool]) -> Option<Vec3> {
        let bodies = || self.bodies.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(body, _)| body);
        let (mass, vel): (Vec<f64>, Vec<Vec3>) = bodies().map(|body| (body.mass, body.vel)).unzip();
        (mass.len() > 1 && mass.iter().any(|m| *m > 0.0)).then(|| centre_of(&mass, &vel))
    }
}

/// Search for the bodies that are bound.
pub(super) struct Search<'a> {
    pub stars: &'a Stars,
    pub groups: &'a Groups,
    pub epsilon: f64,
}

impl Search<'_> {
    /// Returns the particles that are bound to the cluster; [`None`] if there are no two bodies that are.
    pub fn find(&self, neighbours: &Neighbours<'_>) -> Option<Bound> {
        let stars = self.stars;
        let density = densities(&stars.mass, neighbours);
        let mut dense: Vec<u32> = (0..stars.len() as u32).filter(|&i| density[i as usize] > 0.0).collect();
        let key = |i: &u32| (density[*i as usize], stars.id[*i as usize]);
        dense.sort_unstable_by(|a, b| key(b).0.total_cmp(&key(a).0).then(key(a).1.cmp(&key(b).1)));
        let body_of = self.groups.body_of();
        let mut found = Found { stars, clusters: Vec::new(), is_left: vec![true; stars.len()] };
        let mut untried = vec![true; stars.len()];
        for _ in 0..MAX_STARTS {
            let next = dense.iter().find(|&&i| untried[i as usize] && found.is_left[i as usize]);
            let Some(&next) = next.filter(|_| found.may_be_more()) else { break };
            let mut around = vec![false; self.groups.bodies.len()];
            let near = neighbours.nearest(next as usize).iter().map(|neighbour| neighbour.index);
            for i in near.chain([next]) {
                untried[i as usize] = false;
                around[body_of[i as usize]] = true;
            }
            let velocity = self.groups.velocity(&around).unwrap_or(stars.vel[next as usize]);
            found.add(self.from(velocity, stars.pos[next as usize]));
        }
        if found.may_be_more() {
            found.add(self.from(centre_of(&stars.mass, &stars.vel), centre_of(&stars.mass, &stars.pos)));
        }
        let heaviest = self.groups.bodies.iter().reduce(|a, b| if b.mass > a.mass { b } else { a });
        if let Some(body) = heaviest.filter(|_| found.may_be_more()) {
            found.add(self.from(body.vel, body.pos));
        }
        found.cluster()
    }

    /// Returns the particles that are bound to each other about the place `about`, which moves at nearly `velocity`.
    fn from(&self, velocity: Vec3, about: Vec3) -> Option<Bound> {
        let mut bound = Bound::all(self.stars, velocity);
        let mut before = Vec::new();
        for _ in 0..MAX_ROUNDS {
            let chosen = self.chosen(&bound);
            bound.velocity = self.groups.velocity(&chosen)?;
            if chosen == before {
                break;
            }
            before = chosen;
        }
        bound.choose(self.stars, &self.particles(&before), self.epsilon);
        let mut bound = self.settle(bound)?;
        while let Some(inner) = self.cut(&bound, about) {
            match self.without_other(&bound, &inner) {
                Some(part) if part.mass(self.stars) < CUT * bound.mass(self.stars) => bound = part,
                _ => break,
            }
        }
        Some(bound)
    }

    /// Returns what is bound to the `inner` bodies of the bound ones, without those that are bound to each other among the
    /// others.
    fn without_other(&self, bound: &Bound, inner: &[bool]) -> Option<Bound> {
        let inside = self.particles(inner);
        let part = |chosen: Vec<bool>, elsewhere: Vec<bool>| {
            let mut part = Bound { elsewhere, ..bound.clone() };
            part.choose(self.stars, &chosen, self.epsilon);
            let of = (0..chosen.len()).filter(|&i| chosen[i]);
            let (mass, vel): (Vec<f64>, Vec<Vec3>) = of.map(|i| (self.stars.mass[i], self.stars.vel[i])).unzip();
            part.velocity = centre_of(&mass, &vel);
            self.settle(part)
        };
        let outside: Vec<bool> = inside.iter().zip(&bound.is_bound).map(|(inside, held)| *held && !inside).collect();
        let only_outside = outside.iter().map(|outside| !outside).collect();
        let mut elsewhere = bound.elsewhere.clone();
        if let Some(other) = part(outside, only_outside) {
            elsewhere.iter_mut().zip(other.is_bound).for_each(|(elsewhere, held)| *elsewhere |= held);
        }
        part(inside, elsewhere)
    }

    /// Chooses anew by the potential of the chosen, until the choice repeats; [`None`] if none is left.
    pub fn settle(&self, mut bound: Bound) -> Option<Bound> {
        for _ in 0..MAX_ROUNDS {
            let chosen = self.chosen(&bound);
            let velocity = self.groups.velocity(&chosen)?;
            let changed = bound.choose(self.stars, &self.particles(&chosen), self.epsilon);
            if !changed && velocity == bound.velocity {
                break;
            }
            bound.velocity = velocity;
        }
        self.holds_together(&bound).then_some(bound)
    }

    /// Returns true for a cluster, and for a few bodies with negative energy in all: of two that fly apart each may have
    /// negative energy in the potential of the other, which counts that potential twice.
    fn holds_together(&self, bound: &Bound) -> bool {
        let held: Vec<usize> = (0..self.groups.bodies.len()).filter(|&k| self.groups.is_held(k, bound)).collect();
        let energies = self.groups.energies(bound, self.stars, self.epsilon);
        let twice = |&k: &usize| {
            let body = &self.groups.bodies[k];
            body.mass * (energies[k] + 0.5 * (body.vel - bound.velocity).norm_squared())
        };
        held.len() >= FEWEST || held.iter().map(twice).sum::<f64>() < 0.0
    }

    /// Returns a flag for each body with negative energy.
    fn chosen(&self, bound: &Bound) -> Vec<bool> {
        let energies = self.groups.energies(bound, self.stars, self.epsilon);
        let is_here = |k: usize| self.groups.of(k).iter().all(|&i| !bound.elsewhere[i as usize]);
        energies.into_iter().enumerate().map(|(k, energy)| energy < 0.0 && is_here(k)).collect()
    }

    /// Returns a flag for each particle, from those of the bodies.
    fn particles(&self, chosen: &[bool]) -> Vec<bool> {
        let mut particles = vec![false; self.stars.len()];
        for k in (0..chosen.len()).filter(|&k| chosen[k]) {
            self.groups.of(k).iter().for_each(|&i| particles[i as usize] = true);
        }
        particles
    }

    /// Returns the bodies within that distance from a place at which the bound ones fall into two parts that fly apart:
    /// each star is bound in one of two clusters, but the two are not bound to each other. [`None`] if there is none.
    fn cut(&self, bound: &Bound, about: Vec3) -> Option<Vec<bool>> {
        let bodies = &self.groups.bodies;
        let held = (0..bodies.len()).filter(|&k| self.groups.is_held(k, bound));
        let mut order: Vec<(f64, usize)> = held.map(|k| ((bodies[k].pos - about).norm(), k)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut inner = Part::default();
        let parts: Vec<Part> = order.iter().map(|&(r, k)| inner.add(&bodies[k], about, r)).collect();
        let all = *parts.last()?;
        let last = order.len().checked_sub(FEWEST)?;
        let (count, energy) = (FEWEST..=last)
            .map(|count| (count, parts[count - 1].energy_about(&all.without(&parts[count - 1]))))
            .filter(|(_, energy)| energy.is_finite())
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))?;
        (energy > 0.0).then(|| {
            let mut inner = vec![false; bodies.len()];
            order[..count].iter().for_each(|&(_, k)| inner[k] = true);
            inner
        })
    }
}

/// Part of a cluster: sums over its bodies of mass and mass times position, velocity, and square of the distance.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    mass: f64,
    pos: Vec3,
    vel: Vec3,
    square: f64,
}

impl Part {
    fn add(&mut self, body: &Body, about: Vec3, distance: f64) -> Self {
        self.mass += body.mass;
        self.pos += body.mass * (body.pos - about);
        self.vel += body.mass * body.vel;
        self.square += body.mass * distance * distance;
        *self
    }

    fn without(&self, inner: &Self) -> Self {
        Self {
            mass: self.mass - inner.mass,
            pos: self.pos - inner.pos,
            vel: self.vel - inner.vel,
            square: self.square - inner.square,
        }
    }

    /// Returns the energy per unit reduced mass of two parts about each other, with the potential of this one as that
    /// of a point at the mean square distance of the other; NaN without mass.
    fn energy_about(&self, outer: &Self) -> f64 {
        let [inner, outside] = [self, outer].map(|part| (part.pos / part.mass, part.vel / part.mass));
        let size = (outer.square / outer.mass - outside.0.norm_squared()).max(0.0);
        let distance = ((inner.0 - outside.0).norm_squared() + size).sqrt();
        0.5 * (inner.1 - outside.1).norm_squared() - (self.mass + outer.mass) / distance
    }
}

/// Clusters that were found in a system.
struct Found<'a> {
    stars: &'a Stars,
    /// Mass, smallest id and particles of each.
    clusters: Vec<(f64, u64, Bound)>,
    /// Flag for each particle that is in none of them.
    is_left: Vec<bool>,
}

impl Found<'_> {
    fn add(&mut self, bound: Option<Bound>) {
        let Some(bound) = bound.filter(|bound| bound.is_cluster(self.stars)) else { return };
        let ids = self.stars.id.iter().zip(&bound.is_bound).filter(|(_, is_bound)| **is_bound).map(|(id, _)| *id);
        let first = ids.min().unwrap_or(u64::MAX);
        self.is_left.iter_mut().zip(&bound.is_bound).for_each(|(left, is_bound)| *left &= !is_bound);
        self.clusters.push((bound.mass(self.stars), first, bound));
    }

    fn largest(&self) -> f64 {
        self.clusters.iter().map(|(mass, ..)| *mass).fold(0.0, f64::max)
    }

    /// Returns true if the rest may hold another cluster that counts.
    fn may_be_more(&self) -> bool {
        let left = self.stars.mass.iter().zip(&self.is_left).map(|(mass, left)| if *left { *mass } else { 0.0 });
        sum(left) > COMPARABLE * self.largest()
    }

    /// Returns the cluster that counts.
    fn cluster(self) -> Option<Bound> {
        let min = COMPARABLE * self.largest();
        let counts = self.clusters.into_iter().filter(|(mass, ..)| *mass >= min);
        let better = |a: &(f64, u64, Bound), b: &(f64, u64, Bound)| a.1.cmp(&b.1).then(b.0.total_cmp(&a.0));
        counts.min_by(better).map(|(.., bound)| bound)
    }
}

#[cfg(test)]
mod tests;
