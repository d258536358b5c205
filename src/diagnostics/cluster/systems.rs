//! Binaries and hierarchies of particles that are bound to each other.
//!
//! A pair is two bodies each of which is, among the nearest neighbours, the one that the other is bound to most
//! strongly. Pairs with at least the smallest hardness become one body at their centre of mass, and the search
//! continues with these bodies, which gives triples, quadruples and more. A hierarchy is a pair one of whose components
//! is itself a pair, on a wider orbit than that of the component: a body that passes through a pair is no companion of
//! it.

use super::bound::{self, Bound, Groups};
use super::members::Members;
use super::stars::Stars;
use crate::nearest::Neighbours;
use rayon::prelude::*;
use std::collections::BTreeSet;
use tisane_force::compensated_sum::sum;
use tisane_force::pair::{Body, Pair};

/// Largest number of particles in a system; larger ones are subclusters.
const MAX_MEMBERS: usize = 6;
/// Minimum number of searches for a thread.
const MIN: usize = 256;

/// Binary or hierarchy.
#[derive(Clone, Debug, PartialEq)]
pub struct System {
    /// Particles that it consists of.
    pub members: Members,
    /// Relative orbit of its two components, in the order of the members.
    pub pair: Pair,
    /// Centre of mass.
    pub body: Body,
    /// Binding energy of the orbit, in kT.
    pub hardness: f64,
    /// Angle between outer and inner orbit of a hierarchy, in radians; NaN for a binary.
    pub inclination: f64,
    /// Flag that is false for a hierarchy that is not expected to be stable.
    pub stable: bool,
    /// Energy of the centre of mass per unit mass in the potential of the bound particles that are not in it.
    pub energy: f64,
    /// Flag that it is bound to the cluster, or the only thing that is bound.
    pub bound: bool,
    /// Indices in the list of the components that are systems themselves.
    inner: [Option<usize>; 2],
    /// Indices of its particles.
    stars: Vec<u32>,
    /// Sum of m m / s over the pairs of its particles.
    inside: f64,
}

/// Binaries, hierarchies and single particles of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Systems {
    /// Binaries and hierarchies, each after its components.
    pub all: Vec<System>,
    /// Particles and systems that are not part of a larger one: an index below N is a particle, from N on a system.
    pub outermost: Vec<u32>,
    /// Outermost body that each particle belongs to.
    pub part_of: Vec<u32>,
    /// Thermal energy kT: 2/3 of the mean kinetic energy of the bound bodies; 0 if there are none.
    pub thermal_energy: f64,
    /// Particles that are bound to the cluster. Without a cluster they are those of the most massive binary or hierarchy.
    pub bound: Bound,
    /// Energy of each outermost body, as [`System::energy`].
    energies: Vec<f64>,
}

/// Least binding energy of a binary or hierarchy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hardness {
    /// In kT.
    pub min: f64,
    /// Part of the kT of virial equilibrium below which that takes the place of the measured one; 0 for kT as it is, by
    /// which all pairs of a system at rest are hard.
    pub coldest: f64,
}

impl Hardness {
    /// Returns the hardness of at least `min` kT.
    #[must_use]
    pub const fn at_least(min: f64) -> Self {
        Self { min, coldest: 0.0 }
    }
}

/// Finds the particles that are bound to a cluster, and binaries and hierarchies that are hard enough.
#[must_use]
pub fn find(stars: &Stars, neighbours: &Neighbours<'_>, epsilon: f64, hardness: Hardness) -> Systems {
    let n = stars.len() as u32;
    let part_of: Vec<u32> = (0..n).collect();
    let mut search = Search { stars, neighbours, epsilon, all: Vec::new(), part_of };
    let partner: Vec<Option<u32>> = (0..n).into_par_iter().with_min_len(MIN).map(|i| search.partner(i)).collect();
    let mutual = |&i: &u32| partner[i as usize].filter(|&j| i < j && partner[j as usize] == Some(i)).map(|j| (i, j));
    let pairs: Vec<(u32, u32)> = (0..n).filter_map(|i| mutual(&i)).collect();
    let groups = search.groups(&pairs);
    let bound = bound::Search { stars, groups: &groups, epsilon }.find(neighbours);
    let mut thermal_energy = bound.as_ref().map_or(0.0, |bound| groups.thermal_energy(bound));
    if hardness.coldest > 0.0 {
        let virial = search.virial_thermal_energy(&pairs);
        thermal_energy = if thermal_energy < hardness.coldest * virial { virial } else { thermal_energy };
    }
    let min = hardness.min;
    let mut fresh: Vec<u32> = pairs.into_iter().filter_map(|(i, j)| search.join(i, j, thermal_energy, min)).collect();
    while !fresh.is_empty() {
        let mut next = Vec::new();
        for body in fresh {
            // An earlier body of this round may have taken it as a component.
            let Some(other) = search.is_outermost(body).then(|| search.partner(body)).flatten() else { continue };
            if search.partner(other) == Some(body) {
                next.extend(search.join(body, other, thermal_energy, min));
            }
        }
        fresh = next;
    }
    search.finish(bound, thermal_energy)
}

struct Search<'a> {
    stars: &'a Stars,
    neighbours: &'a Neighbours<'a>,
    epsilon: f64,
    all: Vec<System>,
    part_of: Vec<u32>,
}

impl Search<'_> {
    /// Returns the system with the index of a body; [`None`] for a particle.
    fn system(&self, body: u32) -> Option<&System> {
        (body as usize).checked_sub(self.stars.len()).map(|at| &self.all[at])
    }

    fn body(&self, body: u32) -> Body {
        self.system(body).map_or_else(|| self.stars.body(body), |system| system.body)
    }

    fn first_id(&self, body: u32) -> u64 {
        self.system(body).map_or_else(|| self.stars.id[body as usize], |system| system.members.first())
    }

    fn is_outermost(&self, body: u32) -> bool {
        let a_star = self.system(body).map_or(body, |system| system.stars[0]);
        self.part_of[a_star as usize] == body
    }

    /// Returns the body that a body is bound to most strongly, among its neighbours.
    fn partner(&self, body: u32) -> Option<u32> {
        let own = self.body(body);
        let mut best: Option<(f64, u64, u32)> = None;
        let mut look = |other: u32| {
            if other == body {
                return;
            }
            let pair = Pair::new(&own, &self.body(other), self.epsilon);
            let key = (-pair.binding_energy(), self.first_id(other), other);
            if pair.energy < 0.0 && key.0.is_finite() && best.is_none_or(|best| key < best) {
                best = Some(key);
            }
        };
        match self.system(body) {
            None => {
                let near = self.neighbours.nearest(body as usize);
                near.iter().for_each(|neighbour| look(self.part_of[neighbour.index as usize]));
            }
            Some(system) => {
                let near = self.neighbours.nearest_to(own.pos, self.neighbours.count() + system.stars.len());
                near.iter().for_each(|neighbour| look(self.part_of[neighbour.index as usize]));
            }
        }
        best.map(|(.., other)| other)
    }

    /// Returns all particles as bodies, with each of these pairs as one.
    fn groups(&self, pairs: &[(u32, u32)]) -> Groups {
        let mut partner = vec![None; self.stars.len()];
        pairs.iter().for_each(|&(i, j)| (partner[i as usize], partner[j as usize]) = (Some(j), Some(i)));
        let mut groups = Groups::default();
        for (i, partner) in (0..).zip(partner) {
            match partner {
                Some(j) if j < i => {}
                Some(j) => groups.push(Body::merged(&self.stars.body(i), &self.stars.body(j)), &[i, j]),
                None => groups.push(self.stars.body(i), &[i]),
            }
        }
        groups
    }

    /// Returns what was found, with the choice of bound particles made again for binaries and hierarchies as one body.
    fn finish(mut self, bound: Option<Bound>, thermal_energy: f64) -> Systems {
        let (stars, epsilon) = (self.stars, self.epsilon);
        let outermost: Vec<u32> = self.part_of.iter().copied().collect::<BTreeSet<u32>>().into_iter().collect();
        let mut groups = Groups::default();
        for body in &outermost {
            groups.push(self.body(*body), self.system(*body).map_or(std::slice::from_ref(body), System::stars));
        }
        let search = bound::Search { stars, groups: &groups, epsilon };
        let alone = || {
            let systems = outermost.iter().filter_map(|&body| self.system(body));
            systems.reduce(|a, b| if b.body.mass > a.body.mass { b } else { a })
        };
        let of_one = |system: &System| Bound::of_one(stars, system.body.vel, &system.stars, epsilon);
        let bound = bound.and_then(|bound| search.settle(bound)).or_else(|| alone().map(of_one));
        let bound = bound.filter(|bound| bound.is_cluster(stars)).unwrap_or_else(|| Bound::none(stars));
        let energies = groups.energies(&bound, stars, epsilon);
        for system in &mut self.all {
            system.energy = bound.energy(stars, &system.stars, &system.body, epsilon);
            system.bound = system.stars.iter().all(|&i| bound.is_bound[i as usize]);
        }
        Systems { all: self.all, outermost, part_of: self.part_of, thermal_energy, bound, energies }
    }

    /// Returns kT in virial equilibrium, with each of these pairs as one body: a third of their potential energy for
    /// each body.
    fn virial_thermal_energy(&self, pairs: &[(u32, u32)]) -> f64 {
        let potential = 0.5 * sum(self.stars.mass.iter().zip(&self.stars.pot).map(|(mass, pot)| mass * pot));
        let inside = sum(pairs.iter().map(|&(i, j)| self.attraction(&[i], &[j])));
        let bodies = (self.stars.len() - pairs.len()).max(1);
        (-(potential + inside) / (3.0 * bodies as f64)).max(0.0)
    }

    /// Returns Σ m m / s over the pairs of one particle of `here` and one of `there`.
    fn attraction(&self, here: &[u32], there: &[u32]) -> f64 {
        let of = |i: u32, j: u32| {
            let (a, b) = (self.stars.body(i), self.stars.body(j));
            a.mass * b.mass / ((a.pos - b.pos).norm_squared() + self.epsilon * self.epsilon).sqrt()
        };
        here.iter().map(|&i| there.iter().map(|&j| of(i, j)).sum::<f64>()).sum()
    }

    /// Joins two bodies to a system, if their hardness is at least `min`; returns its index as a body.
    fn join(&mut self, a: u32, b: u32, thermal_energy: f64, min: f64) -> Option<u32> {
        let (a, b) = if self.first_id(a) <= self.first_id(b) { (a, b) } else { (b, a) };
        let pair = Pair::new(&self.body(a), &self.body(b), self.epsilon);
        let hardness = pair.binding_energy() / thermal_energy;
        let parts = [a, b].map(|body| self.system(body).map_or(vec![body], |system| system.stars.clone()));
        if hardness.is_nan() || hardness < min || parts[0].len() + parts[1].len() > MAX_MEMBERS {
            return None;
        }
        let members = |body: u32| {
            self.system(body).map_or_else(|| Members::One(self.stars.id[body as usize]), |s| s.members.clone())
        };
        let inner = [a, b].map(|body| (body as usize).checked_sub(self.stars.len()));
        let wider = |at: &usize| pair.semi_major_axis > self.all[*at].pair.semi_major_axis;
        if !inner.iter().flatten().all(wider) {
            return None;
        }
        let inside =
            self.attraction(&parts[0], &parts[1]) + inner.iter().flatten().map(|&at| self.all[at].inside).sum::<f64>();
        let body = Body::merged(&self.body(a), &self.body(b));
        let stars = parts.concat();
        let (inclination, stable) = self.hierarchy(&pair, inner);
        let system = System {
            members: Members::two(members(a), members(b)),
            energy: f64::NAN,
            bound: false,
            pair,
            body,
            hardness,
            inclination,
            stable,
            inner,
            inside,
            stars,
        };
        let at = (self.stars.len() + self.all.len()) as u32;
        system.stars.iter().for_each(|&i| self.part_of[i as usize] = at);
        self.all.push(system);
        Some(at)
    }

    /// Returns inclination and stability of an outer orbit about inner ones.
    fn hierarchy(&self, outer: &Pair, inner: [Option<usize>; 2]) -> (f64, bool) {
        tilt_and_stability(outer, inner.map(|at| at.map(|at| &self.all[at].pair)))
    }
}

/// Returns the inclination of an outer orbit to the wider of the `inner` ones of its two components, in radians, and whether
/// it is stable about them all; NaN and true where there are none.
pub(super) fn tilt_and_stability(outer: &Pair, inner: [Option<&Pair>; 2]) -> (f64, bool) {
    let inside = |side: usize| inner[side].map(|pair| (pair, outer.mass[1 - side] / outer.mass[side]));
    let wider =
        [inside(0), inside(1)].into_iter().flatten().max_by(|a, b| a.0.semi_major_axis.total_cmp(&b.0.semi_major_axis));
    let Some((pair, _)) = wider else { return (f64::NAN, true) };
    let stable =
        [inside(0), inside(1)].into_iter().flatten().all(|(inner, mass_ratio)| is_stable(outer, inner, mass_ratio));
    (outer.inclination_to(pair), stable)
}

/// Returns true if an inner orbit is stable against an outer companion of `mass_ratio` times its mass: the outer
/// pericentre is beyond 2.8 a_in [(1 + q) (1 + e_out) / sqrt(1 − e_out)]^(2/5) (1 − 0.3 i / 180°) (Mardling & Aarseth
/// 2001, eq. 90).
fn is_stable(outer: &Pair, inner: &Pair, mass_ratio: f64) -> bool {
    let e = outer.eccentricity;
    if e >= 1.0 {
        return false;
    }
    let limit = 2.8 * ((1.0 + mass_ratio) * (1.0 + e) / (1.0 - e).sqrt()).powf(0.4);
    let tilt = 1.0 - 0.3 * outer.inclination_to(inner) / std::f64::consts::PI;
    outer.semi_major_axis * (1.0 - e) > inner.semi_major_axis * limit * tilt
}

impl Systems {
    /// Returns the outermost bodies, each with its energy per unit mass in the potential of the bound particles.
    pub fn outermost_energies(&self) -> impl Iterator<Item = (u32, f64)> {
        self.outermost.iter().copied().zip(self.energies.iter().copied())
    }

    /// Returns the particles of a body.
    #[must_use]
    pub fn stars<'a>(&'a self, stars: &Stars, body: &'a u32) -> &'a [u32] {
        self.system(stars, *body).map_or(std::slice::from_ref(body), System::stars)
    }

    /// Returns a body as a point: a particle, or the centre of mass of a system.
    #[must_use]
    pub fn body(&self, stars: &Stars, body: u32) -> Body {
        self.system(stars, body).map_or_else(|| stars.body(body), |system| system.body)
    }

    /// Returns the system with the index of a body; [`None`] for a particle.
    #[must_use]
    pub fn system(&self, stars: &Stars, body: u32) -> Option<&System> {
        (body as usize).checked_sub(stars.len()).map(|at| &self.all[at])
    }
}

impl System {
    /// Returns true if a component is itself a system.
    #[must_use]
    pub fn is_hierarchy(&self) -> bool {
        self.inner.iter().any(Option::is_some)
    }

    /// Returns the places in the list of the components that are systems themselves.
    #[must_use]
    pub const fn inner(&self) -> [Option<usize>; 2] {
        self.inner
    }

    /// Returns the indices of its particles.
    #[must_use]
    pub fn stars(&self) -> &[u32] {
        &self.stars
    }

    /// Returns Σ m m / s over the pairs of its particles.
    #[must_use]
    pub fn internal_potential(&self) -> f64 {
        self.inside
    }
}
