//! A cluster whose binaries and hierarchies count as one body each: their inner motion is not that of the cluster, and
//! may hold most of the energy.

use super::bound::Bound;
use super::spheres::RadialOrder;
use super::stars::Stars;
use super::systems::{self, Hardness, System, Systems};
use crate::density::{self, Core};
use crate::nearest::Neighbours;
use tisane_force::compensated_sum::sum;
use tisane_force::pair::Body;
use tisane_force::particles::{Particles, Vec3};

/// Number of nearest neighbours among which the partner of a particle is looked for.
const NEIGHBOURS: usize = 6;
/// Least binding energy of a binary or hierarchy. Before a collapse kT is that of virial equilibrium: pairs of particles
/// at rest are no binaries.
const HARDNESS: Hardness = Hardness { min: 1.0, coldest: 0.5 };
/// Least number of bodies of a cluster: with fewer, an orbit about the heaviest one is the motion of the system itself.
pub const MIN_BODIES: usize = 10;

/// Bodies of a cluster: particles, and binaries and hierarchies with at least 1 kT at their centres of mass.
#[derive(Clone, Debug, PartialEq)]
pub struct Bodies {
    /// Binaries and hierarchies.
    pub systems: Systems,
    /// Bodies, in the order of the indices of [`Systems::outermost`].
    pub bodies: Vec<Body>,
    /// Energy of the motion inside binaries and hierarchies.
    pub internal_energy: f64,
}

impl Bodies {
    /// Finds the binaries and hierarchies of particles that all stand at one time, with the softening `epsilon`.
    #[must_use]
    pub fn find(stars: &Stars, epsilon: f64) -> Self {
        let neighbours = Neighbours::new(&stars.id, &stars.pos, NEIGHBOURS);
        let systems = systems::find(stars, &neighbours, epsilon, HARDNESS);
        let outermost = || systems.outermost.iter().filter_map(|&at| systems.system(stars, at));
        Self {
            bodies: systems.outermost.iter().map(|&at| systems.body(stars, at)).collect(),
            internal_energy: sum(outermost().map(|system| internal_energy(stars, system))),
            systems,
        }
    }

    /// Returns the energy of the motion inside binaries and hierarchies where that of some groups of particles, by their
    /// ids, ascending, is known with more digits than their places have. With `bound` only that of those that are bound counts.
    #[must_use]
    pub fn internal_energy_with(&self, stars: &Stars, known: &[(Vec<u64>, f64)], bound: bool) -> f64 {
        let of = |system: &System| {
            let mut ids: Vec<u64> = system.stars().iter().map(|&i| stars.id[i as usize]).collect();
            ids.sort_unstable();
            let mut energy = internal_energy(stars, system);
            for (group, better) in known {
                if *group == ids {
                    return *better;
                }
                if group.iter().all(|id| ids.binary_search(id).is_ok()) {
                    energy += better - energy_by_places(stars, system, group);
                }
            }
            energy
        };
        let is_bound = &self.systems.bound.is_bound;
        let counts = |system: &&System| !bound || system.stars().iter().all(|&i| is_bound[i as usize]);
        sum(self.systems.outermost.iter().filter_map(|&at| self.systems.system(stars, at)).filter(counts).map(of))
    }

    /// Returns the density centre of the bound particles, and the radius about it that holds half of their mass.
    #[must_use]
    pub fn bound_size(&self, stars: &Stars) -> (Vec3, f64) {
        let is_bound = &self.systems.bound.is_bound;
        let neighbours = Neighbours::new(&stars.id, &stars.pos, NEIGHBOURS);
        let Core { centre, .. } = density::core(&stars.mass, &stars.pos, &neighbours, is_bound);
        let bound = (0..stars.len() as u32).filter(|&i| is_bound[i as usize]);
        let radial = RadialOrder::new(&stars.id, &stars.pos, centre, bound);
        let [half] = radial.spheres(&stars.mass, [0.5]);
        (centre, radial.radius_enclosing(half))
    }

    /// Returns true if there are enough bodies for the system to be a cluster, whose energy without that inside of
    /// binaries has a meaning.
    #[must_use]
    pub fn is_cluster(&self) -> bool {
        self.bodies.len() >= MIN_BODIES
    }

    /// Returns the bodies as particles, numbered from 0.
    #[must_use]
    pub fn particles(&self) -> Particles {
        let column = |of: fn(&Body) -> _| self.bodies.iter().map(of).collect();
        Particles::new(
            self.bodies.iter().map(|body| body.mass).collect(),
            column(|body| body.pos),
            column(|body| body.vel),
        )
    }

    /// Returns the binaries: pairs of particles, those inside of hierarchies included.
    pub fn binaries(&self) -> impl Iterator<Item = &System> {
        self.systems.all.iter().filter(|system| !system.is_hierarchy())
    }

    /// Returns the binary with the shortest period.
    #[must_use]
    pub fn fastest(&self) -> Option<&System> {
        self.binaries().min_by(|a, b| a.pair.period().total_cmp(&b.pair.period()))
    }
}

/// Bodies that are bound to a cluster, and their energies in its own frame, in internal units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BoundBodies {
    /// Number of bodies.
    pub number: usize,
    /// Their mass.
    pub mass: f64,
    /// Kinetic energy T relative to their mean velocity; 0 for one body.
    pub kinetic: f64,
    /// Potential energy U in the potential of each other, softened as the potentials are; 0 for one body.
    pub potential: f64,
}

impl BoundBodies {
    /// Adds up the bodies that are bound as a whole.
    #[must_use]
    pub fn new(stars: &Stars, systems: &Systems) -> Self {
        let Bound { velocity, is_bound, pot, .. } = &systems.bound;
        let (mut masses, mut kinetic, mut potential) = (Vec::new(), Vec::new(), Vec::new());
        for at in &systems.outermost {
            let (body, of) = (systems.body(stars, *at), systems.stars(stars, at));
            if of.iter().all(|&i| is_bound[i as usize]) {
                let inside = systems.system(stars, *at).map_or(0.0, System::internal_potential);
                let in_all: f64 = of.iter().map(|&i| stars.mass[i as usize] * pot[i as usize]).sum();
                masses.push(body.mass);
                kinetic.push(0.5 * body.mass * (body.vel - velocity).norm_squared());
                potential.push(0.5 * in_all + inside);
            }
        }
        let number = masses.len();
        if number == 1 {
            // A binary alone: what is left is rounding.
            (kinetic, potential) = (Vec::new(), Vec::new());
        }
        let [mass, kinetic, potential] = [masses, kinetic, potential].map(|terms| sum(terms.into_iter()));
        Self { number, mass, kinetic, potential }
    }

    /// Returns true if they are enough for an energy of the cluster to have a meaning.
    #[must_use]
    pub fn is_cluster(&self) -> bool {
        self.number >= MIN_BODIES
    }

    /// Returns the scale of errors of the energy: |T + U + `inside`|, but at least |U| / 2, that of virial equilibrium. Where a
    /// cluster expands, T + U may be 0. `inside` is the energy inside of binaries that is to count, 0 for binaries as bodies.
    #[must_use]
    pub fn energy_scale(&self, inside: f64) -> f64 {
        (self.kinetic + self.potential + inside).abs().max(0.5 * self.potential.abs())
    }
}

/// Returns the energy of the motion of the particles of a system about its centre of mass.
fn internal_energy(stars: &Stars, system: &System) -> f64 {
    let about = |&i: &u32| 0.5 * stars.mass[i as usize] * (stars.vel[i as usize] - system.body.vel).norm_squared();
    system.stars().iter().map(about).sum::<f64>() - system.internal_potential()
}

/// Returns the energy of the motion of some particles of a system, by their ids, about their centre of mass.
fn energy_by_places(stars: &Stars, system: &System, ids: &[u64]) -> f64 {
    let of = system.stars().iter().map(|&i| i as usize).filter(|&i| ids.contains(&stars.id[i]));
    let of: Vec<usize> = of.collect();
    let mass: f64 = of.iter().map(|&i| stars.mass[i]).sum();
    let drift = of.iter().map(|&i| stars.vel[i] * stars.mass[i]).sum::<Vec3>() / mass;
    let about = |&i: &usize| 0.5 * stars.mass[i] * (stars.vel[i] - drift).norm_squared();
    let pairs = of.iter().enumerate().flat_map(|(k, &i)| of[..k].iter().map(move |&j| (i, j)));
    let potential = pairs.map(|(i, j)| stars.mass[i] * stars.mass[j] / (stars.pos[i] - stars.pos[j]).norm());
    of.iter().map(about).sum::<f64>() - potential.sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::conserved::Conserved;
    use crate::initial::plummer;
    use tisane_force::force::Field;
    use tisane_force::force::cpu::{self, Width};
    use tisane_force::force::precision::Precision;
    use tisane_force::time::{Clock, Time};

    fn measured(p: &Particles) -> (Stars, Conserved) {
        let clock = Clock { start: 0.0, dt_max: 1.0 };
        let mut engine = cpu::engine(Precision::F64, 0.0, clock, Width::choose().unwrap());
        engine.load(p).unwrap();
        let field = Field::from_engine(p, &mut *engine, Time::default()).unwrap();
        (Stars::new(p, &field.pot), Conserved::in_field(p, &field))
    }

    #[test]
    fn binaries_count_as_one_body_and_their_energy_is_set_apart() {
        let single = plummer::sample(200, 2, 0.999);
        let without = measured(&single).1.energy();
        // Every fourth particle becomes a circular binary of separation 1e-4 about its place.
        let (mut mass, mut pos, mut vel) = (vec![], vec![], vec![]);
        for i in 0..single.len() {
            let m = single.mass[i];
            if i % 4 > 0 {
                mass.push(m);
                pos.push(single.pos[i]);
                vel.push(single.vel[i]);
                continue;
            }
            for side in [-0.5, 0.5] {
                mass.push(0.5 * m);
                pos.push(single.pos[i] + side * 1e-4 * Vec3::x());
                vel.push(single.vel[i] + side * (m / 1e-4).sqrt() * Vec3::y());
            }
        }
        let (stars, all) = measured(&Particles::new(mass, pos, vel));
        let found = Bodies::find(&stars, 0.0);
        assert_eq!((found.binaries().count(), found.bodies.len(), found.is_cluster()), (50, 200, true));
        let binding = 50.0 * 0.25 * 0.005 * 0.005 / (2.0 * 1e-4);
        assert!((found.internal_energy / -binding - 1.0).abs() < 1e-6, "{} {binding}", found.internal_energy);
        // What remains is the energy of the cluster of single particles, up to the quadrupoles of the binaries.
        assert!((all.energy() - found.internal_energy - without).abs() < 1e-6, "{without}");
        assert!((found.particles().total_mass() - 1.0).abs() < 1e-12);
        // Energies that are known with more digits: of a pair as a whole, and of one that is a part of a system.
        let system = found.systems.outermost.iter().find_map(|&at| found.systems.system(&stars, at)).unwrap();
        let mut ids: Vec<u64> = system.stars().iter().map(|&i| stars.id[i as usize]).collect();
        ids.sort_unstable();
        let own = internal_energy(&stars, system);
        assert!((energy_by_places(&stars, system, &ids) / own - 1.0).abs() < 1e-12);
        let with = found.internal_energy_with(&stars, &[(vec![ids[0], 9999], 1.0), (ids, own + 0.25)], false);
        assert!((with - found.internal_energy - 0.25).abs() < 1e-9, "{with}");
        let period = std::f64::consts::TAU * (1e-12_f64 / 0.005).sqrt();
        assert!((found.fastest().unwrap().pair.period() / period - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_energy_of_what_is_bound_is_without_what_has_left() {
        let sphere = plummer::sample(200, 2, 0.999);
        let of = |p: &Particles| {
            let (stars, all) = measured(p);
            (BoundBodies::new(&stars, &Bodies::find(&stars, 0.0).systems), all)
        };
        let (alone, all) = of(&sphere);
        assert!(alone.is_cluster() && (alone.energy_scale(0.0) / all.energy().abs() - 1.0).abs() < 0.05, "{alone:?}");
        // A kicked star with ten thousand times the energy of the cluster, slow ones on the way out, and all of it moving.
        let boost = Vec3::new(3.0, 220.0, -40.0);
        let mut more = sphere.clone();
        more.vel.iter_mut().for_each(|v| *v += boost);
        for (x, v) in [(3e3, 500.0), (1e3, 0.5), (-1e3, -0.5)] {
            let star = Particles::new(vec![0.02], vec![x * Vec3::x()], vec![boost + v * Vec3::x()]);
            let of = |a: &[Vec3], b: &[Vec3]| [a, b].concat();
            more = Particles::new(
                [&more.mass[..], &star.mass].concat(),
                of(&more.pos, &star.pos),
                of(&more.vel, &star.vel),
            );
        }
        let (with, all) = of(&more);
        assert!((with.number, with.mass) == (alone.number, alone.mass) && all.energy() > 1e3, "{with:?}");
        assert!(
            (with.kinetic / alone.kinetic - 1.0).abs() < 1e-9 && (with.potential / alone.potential - 1.0).abs() < 1e-9
        );
    }

    #[test]
    fn the_scale_of_a_cluster_that_expands_is_never_zero() {
        let of = |kinetic, potential| BoundBodies { number: 20, mass: 1.0, kinetic, potential };
        // In equilibrium, at rest, expanding with as much kinetic as potential energy.
        let scales = [(0.25, -0.5), (0.0, -0.5), (0.5, -0.5)].map(|(t, u)| of(t, u).energy_scale(0.0));
        assert_eq!(scales, [0.25, 0.5, 0.25]);
        assert_eq!(of(0.25, -0.5).energy_scale(-2.0), 2.25);
        assert!(!BoundBodies { number: 9, ..of(0.25, -0.5) }.is_cluster());
    }

    #[test]
    fn pairs_of_particles_at_rest_are_no_binaries() {
        let cold = crate::initial::uniform_sphere::sample(500, 1, false);
        let (stars, _) = measured(&cold);
        let found = Bodies::find(&stars, 0.0);
        assert_eq!((found.bodies.len(), found.internal_energy), (500, 0.0));
    }

    #[test]
    fn a_few_bodies_are_no_cluster_and_none_have_no_binary() {
        let p = Particles::new(vec![0.5; 2], vec![Vec3::zeros(), Vec3::x()], vec![Vec3::zeros(), Vec3::y()]);
        let found = Bodies::find(&measured(&p).0, 0.0);
        assert_eq!((found.bodies.len(), found.is_cluster(), found.binaries().count()), (1, false, 1));
        let none = Bodies::find(&Stars::default(), 0.0);
        assert!(none.fastest().is_none() && none.bodies.is_empty() && none.internal_energy == 0.0);
    }
}
