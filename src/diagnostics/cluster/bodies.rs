//! A cluster whose binaries and hierarchies count as one body each: their inner motion is not that of the cluster, and
//! may hold most of the energy.

use super::stars::Stars;
use super::systems::{self, Hardness, System, Systems};
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
    /// ids, ascending, is known with more digits than their places have.
    #[must_use]
    pub fn internal_energy_with(&self, stars: &Stars, known: &[(Vec<u64>, f64)]) -> f64 {
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
        sum(self.systems.outermost.iter().filter_map(|&at| self.systems.system(stars, at)).map(of))
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
        let with = found.internal_energy_with(&stars, &[(vec![ids[0], 9999], 1.0), (ids, own + 0.25)]);
        assert!((with - found.internal_energy - 0.25).abs() < 1e-9, "{with}");
        let period = std::f64::consts::TAU * (1e-12_f64 / 0.005).sqrt();
        assert!((found.fastest().unwrap().pair.period() / period - 1.0).abs() < 1e-6);
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
