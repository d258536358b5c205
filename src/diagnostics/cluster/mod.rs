//! Analysis of a star cluster at a moment: its centre and core, Lagrangian radii and shells, bound particles, binaries
//! and hierarchies, escapers, close encounters. Everything is a function of the particles alone, with the same bits on
//! any number of threads.

pub mod bodies;
pub mod bound;
pub mod catalogue;
pub mod followed;
pub mod groups;
pub mod members;
pub mod own_frame;
mod population;
pub mod segregation;
pub mod spheres;
mod stars;
pub mod systems;
mod tidal;

pub use population::Population;
pub use stars::Stars;
pub use tidal::{JacobiBody, JacobiEnergies, TidalSurvey};
pub use tisane_force::pair;

use super::structure;
use crate::density::{self, Core};
use crate::nearest::Neighbours;
use crate::tidal_frame::TidalFrame;
use bodies::BoundBodies;
use bound::Bound;
use catalogue::Entry;
use groups::Group;
use members::Members;
use pair::{Body, Pair};
use spheres::{Frame, RadialOrder, Shell};
use std::borrow::Cow;
use systems::{Hardness, System, Systems};
use tisane_force::compensated_sum::{sum, sum3};
use tisane_force::particles::Vec3;
use tisane_stellar::Class;

/// Mass whose fractions define the Lagrangian radii.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum LagrangianMass {
    /// Mass of all particles: the initial mass, where none is lost.
    #[default]
    Initial,
    /// Mass of the particles that are bound at the time.
    Current,
}

/// Settings of the analysis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Number of neighbours for the density, the last of them at the edge of the volume.
    pub neighbours: usize,
    /// Mass whose fractions define the Lagrangian radii.
    pub lagrangian_mass: LagrangianMass,
    /// Smallest binding energy of a binary, in kT.
    pub binary_hardness: f64,
    /// Distance beyond which an unbound particle has escaped, in half-mass radii.
    pub escape_radius: f64,
    /// Largest separation of a close encounter, in 4 r_h / N.
    pub encounter_radius: f64,
    /// Softening of the run, in internal units.
    pub epsilon: f64,
}

/// Properties of a cluster at a moment, for `F` mass fractions.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey<const F: usize> {
    /// Number of particles.
    pub number: u64,
    /// Density centre and core.
    pub core: Core,
    /// Mean velocity of the bound particles.
    pub velocity: Vec3,
    /// Mass and number within the core radius, and the velocity dispersion in one dimension of the bodies within it.
    pub within_core: (f64, u64, f64),
    /// Mass and number of the bound particles.
    pub bound: (f64, u64),
    /// Kinetic energy of the bound bodies, and their potential energy in the potential of each other.
    pub energies: [f64; 2],
    /// Thermal energy kT of the bound bodies.
    pub thermal_energy: f64,
    /// Angular momentum of the bound particles.
    pub angular_momentum: Vec3,
    /// Anisotropy of the bound particles.
    pub anisotropy: f64,
    /// Mass segregation ratio Λ_MSR and its standard error.
    pub mass_segregation: [f64; 2],
    /// Lagrangian radii of the mass fractions.
    pub lagrangian: [f64; F],
    /// Shells between the Lagrangian radii.
    pub shells: [Shell; F],
    /// Half-mass radius of the bound particles; of all if none is bound.
    pub half_mass_radius: f64,
    /// Half-mass relaxation time.
    pub relaxation_time: f64,
    /// Binaries and hierarchies, each after its components.
    pub systems: Vec<System>,
    /// Table of these and of the pairs that an integrator follows.
    pub catalogue: Vec<Entry>,
    /// Particles and systems that have escaped.
    pub escapers: Vec<Escaper>,
    /// Number of particles that have escaped.
    pub escaped: u64,
    /// Close encounters.
    pub encounters: Vec<Encounter>,
    /// The part within the tidal radius, if there is a tide that stretches the cluster.
    pub tidal: Option<TidalSurvey>,
    /// Bound stars by class, and their light, where stars age.
    pub population: Option<Population>,
    /// Bound particles in bins of mass; see [`groups::SHARES`].
    pub by_mass: [Group; groups::BINS],
    /// Bound stars of each class, in the order of their types, where stars age.
    pub by_class: Option<[Group; Class::ALL.len()]>,
}

/// Particle or system that has escaped.
#[derive(Clone, Debug, PartialEq)]
pub struct Escaper {
    /// Particles that it consists of.
    pub members: Members,
    /// Centre of mass.
    pub body: Body,
    /// Energy of the centre of mass per unit mass.
    pub energy: f64,
    /// Orbit of the components, and hardness, if it is a system.
    pub orbit: Option<(Pair, f64)>,
}

/// Two particles that are close to each other and not in one system.
#[derive(Clone, Debug, PartialEq)]
pub struct Encounter {
    /// Ids, the smaller one first.
    pub ids: [u64; 2],
    /// Relative orbit.
    pub pair: Pair,
    /// Energy of that orbit in kT, negative.
    pub hardness: f64,
}

impl<const F: usize> Survey<F> {
    /// Analyses a cluster, which may be in a tide; the `fractions` of the mass are ascending.
    #[must_use]
    pub fn new(stars: &Stars, settings: &Settings, fractions: [f64; F], tide: Option<&TidalFrame>) -> Self {
        let neighbours = Neighbours::new(&stars.id, &stars.pos, settings.neighbours);
        let hardness = Hardness::at_least(settings.binary_hardness);
        let systems = systems::find(stars, &neighbours, settings.epsilon, hardness);
        let Bound { velocity, is_bound, .. } = &systems.bound;
        let core = density::core(&stars.mass, &stars.pos, &neighbours, is_bound);
        let all = RadialOrder::new(&stars.id, &stars.pos, core.centre, 0..stars.len() as u32);
        let bound = all.only(|i| is_bound[i as usize]);
        // Lengths and numbers of the cluster; without one, of all that there is.
        let cluster = if bound.order.is_empty() { &all } else { &bound };
        let bodies = BoundBodies::new(stars, &systems);
        let angular_momentum = angular_momentum(stars, &bound.order, core.centre, *velocity);
        let frame = Frame { centre: core.centre, velocity: *velocity, axis: unit(angular_momentum) };
        let counted = if settings.lagrangian_mass == LagrangianMass::Initial { &all } else { &bound };
        let spheres = counted.spheres(&stars.mass, fractions);
        let [half] = cluster.spheres(&stars.mass, [0.5]);
        let half_mass_radius = cluster.radius_enclosing(half);
        let moved = without_inner_motion(stars, &systems);
        let shells = std::array::from_fn(|k| {
            let inside = if k == 0 { 0 } else { spheres[k - 1] };
            Shell::new(&moved, counted, inside..spheres[k], &frame)
        });
        let beyond = settings.escape_radius * half_mass_radius;
        let (escapers, escaped) = escapers(stars, &systems, &frame, beyond);
        let nearby = settings.encounter_radius * 4.0 * half_mass_radius / cluster.order.len() as f64;
        let encounters = encounters(stars, &neighbours, &systems, nearby, settings.epsilon);
        let tidal = tide.and_then(|tide| TidalSurvey::new(stars, &systems, tide, core.centre, settings.epsilon));
        Self {
            number: stars.len() as u64,
            core,
            velocity: *velocity,
            within_core: within_core(stars, &all, &systems, &core),
            bound: (bodies.mass, bound.order.len() as u64),
            energies: [bodies.kinetic, bodies.potential],
            thermal_energy: systems.thermal_energy,
            angular_momentum,
            anisotropy: Shell::new(&moved, &bound, 0..bound.order.len(), &frame).anisotropy(),
            mass_segregation: segregation::mass_segregation(stars, &bound.order),
            lagrangian: spheres.map(|held| counted.radius_enclosing(held)),
            shells,
            half_mass_radius,
            relaxation_time: structure::half_mass_relaxation_time(bound.order.len(), bodies.mass, half_mass_radius),
            catalogue: catalogue::entries(stars, &systems, &frame, beyond, settings.epsilon),
            systems: systems.all,
            escapers,
            escaped,
            encounters,
            tidal,
            population: Population::new(stars, &bound, core.centre),
            by_mass: groups::by_mass(&moved, &bound, frame.velocity),
            by_class: groups::by_class(&moved, &bound, frame.velocity),
        }
    }
}

impl<const F: usize> Survey<F> {
    /// Returns the distance of a body from the density centre, and its speed relative to the bound particles.
    #[must_use]
    pub fn from_centre(&self, body: &Body) -> [f64; 2] {
        [(body.pos - self.core.centre).norm(), (body.vel - self.velocity).norm()]
    }
}

/// Returns the particles with the velocity of its centre of mass for each particle of a binary or hierarchy.
fn without_inner_motion<'a>(stars: &'a Stars, systems: &Systems) -> Cow<'a, Stars> {
    if systems.all.is_empty() {
        return Cow::Borrowed(stars);
    }
    let vel = systems.part_of.iter().map(|&at| systems.body(stars, at).vel).collect();
    Cow::Owned(Stars { vel, ..stars.clone() })
}

fn angular_momentum(stars: &Stars, which: &[u32], centre: Vec3, velocity: Vec3) -> Vec3 {
    sum3(which.iter().map(|&i| {
        let body = stars.body(i);
        body.mass * (body.pos - centre).cross(&(body.vel - velocity))
    }))
}

/// Returns the direction of a vector; the z axis for a zero vector.
fn unit(v: Vec3) -> Vec3 {
    let l = v.norm();
    if l > 0.0 && l.is_finite() { v / l } else { Vec3::z() }
}

/// Returns mass and number of the particles within the core radius, and the velocity dispersion in one dimension of the
/// bodies within it.
fn within_core(stars: &Stars, all: &RadialOrder, systems: &Systems, core: &Core) -> (f64, u64, f64) {
    let held = all.radius.partition_point(|r| *r <= core.radius);
    let total = sum(all.order[..held].iter().map(|&i| stars.mass[i as usize]));
    let bodies = systems.outermost.iter().map(|&at| systems.body(stars, at));
    let inside = bodies.filter(|body| (body.pos - core.centre).norm() <= core.radius);
    let (mass, vel): (Vec<f64>, Vec<Vec3>) = inside.map(|body| (body.mass, body.vel)).unzip();
    let mean = density::centre_of(&mass, &vel);
    let squares = sum(mass.iter().zip(&vel).map(|(m, v)| m * (v - mean).norm_squared()));
    let dispersion = (squares / (3.0 * sum(mass.iter().copied()))).sqrt();
    (total, held as u64, if mass.len() < 2 { f64::NAN } else { dispersion })
}

/// Returns the unbound bodies beyond a radius, by id, and the number of their particles.
fn escapers(stars: &Stars, systems: &Systems, frame: &Frame, beyond: f64) -> (Vec<Escaper>, u64) {
    let (mut found, mut number) = (Vec::new(), 0);
    for (at, energy) in systems.outermost_energies() {
        let (system, body) = (systems.system(stars, at), systems.body(stars, at));
        if energy > 0.0 && (body.pos - frame.centre).norm() > beyond {
            number += systems.stars(stars, &at).len() as u64;
            let members = system.map_or_else(|| Members::One(stars.id[at as usize]), |system| system.members.clone());
            found.push(Escaper { members, body, energy, orbit: system.map(|system| (system.pair, system.hardness)) });
        }
    }
    found.sort_by_key(|escaper| escaper.members.first());
    (found, number)
}

/// Returns the pairs of neighbours within a distance that are not in one system, by their ids.
fn encounters(
    stars: &Stars,
    neighbours: &Neighbours<'_>,
    systems: &Systems,
    within: f64,
    epsilon: f64,
) -> Vec<Encounter> {
    let mut found = Vec::new();
    for i in 0..stars.len() as u32 {
        for neighbour in neighbours.nearest(i as usize).iter().take_while(|neighbour| neighbour.distance < within) {
            let j = neighbour.index;
            let (a, b) = (stars.id[i as usize], stars.id[j as usize]);
            let together = systems.part_of[i as usize] == systems.part_of[j as usize];
            // Two particles on each other's lists are recorded once, by the smaller id.
            let recorded = a > b && neighbours.nearest(j as usize).iter().any(|other| other.index == i);
            if !together && !recorded {
                let (i, j) = if a < b { (i, j) } else { (j, i) };
                let pair = Pair::new(&stars.body(i), &stars.body(j), epsilon);
                let hardness = pair.binding_energy() / systems.thermal_energy;
                found.push(Encounter { ids: [a.min(b), a.max(b)], pair, hardness });
            }
        }
    }
    found.sort_by_key(|encounter| encounter.ids);
    found
}
