//! A system in its own frame: its size, energies and time scales about its density centre and relative to its mean
//! velocity, whatever it does as a whole and whatever stands far from it. What a page, a row or a picture says of a system
//! as a whole comes from here.

use super::bodies::{Bodies, MIN_BODIES};
use super::bound::Bound;
use super::spheres::RadialOrder;
use super::stars::Stars;
use crate::density::{self, Core};
use crate::diagnostics::structure;
use crate::nearest::Neighbours;
use std::borrow::Cow;
use tisane_force::compensated_sum::{sum, sum3};
use tisane_force::pair::Body;
use tisane_force::particles::Vec3;

/// Part of the total mass above which one body dominates: then orbits about it are the motion of the system.
const DOMINANT: f64 = 0.5;
/// Number of neighbours for the density, the default of the surveys of a cluster.
const NEIGHBOURS: usize = 6;
/// Distance beyond which an unbound body has left, in half-mass radii: the default of the surveys for escapers.
const ESCAPED: f64 = 10.0;
/// Energy of a body that leaves at once, in units of its potential: at √2 times the speed of escape.
const FAST: f64 = 1.0;
/// Part of the mass that is not far above which bodies that are so fast are the system itself, which flies apart.
const MANY: f64 = 0.5;
/// Least number of bound particles whose half-mass radius is that of the system.
const MIN_BOUND: usize = 10;

/// Kind of system, which decides what its bodies and its time scale are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A cluster, with binaries and hierarchies as one body each, and the crossing time of its bodies.
    Cluster,
    /// Bodies about one that has more than half of the mass.
    Orbits,
    /// A few bodies.
    Few,
}

/// A system in its own frame, without the energy in an external field; G = 1.
///
/// In a cluster, binaries and hierarchies of at least 1 kT are one body each, and bodies that leave it do not count: those
/// that are unbound and farther than 10 half-mass radii from its centre, as the escapers of a survey, and those faster
/// than √2 times the speed of escape, unless the cluster as a whole flies apart. In other systems every particle counts.
#[derive(Clone, Debug, PartialEq)]
pub struct OwnFrame {
    /// Kind of the system.
    pub kind: Kind,
    /// Bodies that count.
    pub bodies: Vec<Body>,
    /// Number of particles in them.
    pub particles: usize,
    /// Number of particles that leave it.
    pub leaving: usize,
    /// Mass of the bodies.
    pub mass: f64,
    /// Density centre of a cluster; centre of mass of another system.
    pub centre: Vec3,
    /// Mean velocity of the bodies.
    pub velocity: Vec3,
    /// Kinetic energy of the bodies relative to it.
    pub kinetic: f64,
    /// Potential energy of the bodies, softened as the potentials are.
    pub potential: f64,
    /// Radius about the centre that holds half of their mass.
    pub half_mass_radius: f64,
}

impl OwnFrame {
    /// Measures particles that all stand at one time; `stars` has their potentials, softened with `epsilon`.
    #[must_use]
    pub fn find(stars: &Stars, epsilon: f64) -> Self {
        match stars.len() < MIN_BODIES {
            true => Self::of_particles(stars),
            false => Self::new(stars, &Bodies::find(stars, epsilon), epsilon),
        }
    }

    /// Measures particles whose binaries and hierarchies have been found with the softening `epsilon`.
    #[must_use]
    pub fn new(stars: &Stars, found: &Bodies, epsilon: f64) -> Self {
        let kind = kind(stars, found);
        if kind != Kind::Cluster {
            return Self { kind, ..Self::of_particles(stars) };
        }
        let neighbours = Neighbours::new(&stars.id, &stars.pos, NEIGHBOURS);
        let Core { centre, .. } = density::core(&stars.mass, &stars.pos, &neighbours, &found.systems.bound.is_bound);
        let leaves = leaving(stars, found, centre);
        let systems = &found.systems;
        let counts = |i: &u32| systems.outermost.binary_search(&systems.part_of[*i as usize]).is_ok_and(|k| !leaves[k]);
        let members: Vec<u32> = (0..stars.len() as u32).filter(counts).collect();
        // Without the potential of those that leave.
        let pot = if members.len() == stars.len() {
            Cow::from(&stars.pot)
        } else {
            let mut chosen = vec![false; stars.len()];
            members.iter().for_each(|&i| chosen[i as usize] = true);
            let mut own = systems.bound.clone();
            own.choose(stars, &chosen, epsilon);
            Cow::from(own.pot)
        };
        let staying = || systems.outermost.iter().zip(&leaves).filter(|(_, leaves)| !**leaves).map(|(&at, _)| at);
        let inside = staying().filter_map(|at| systems.system(stars, at)).map(|system| system.internal_potential());
        let bodies = found.bodies.iter().zip(&leaves).filter(|(_, leaves)| !**leaves).map(|(body, _)| *body).collect();
        Self::of_bodies(kind, bodies, stars, &members, &pot, sum(inside), centre)
    }

    /// Measures particles each of which counts: a few, or those that another law than Newton's moves.
    #[must_use]
    pub fn of_particles(stars: &Stars) -> Self {
        let members: Vec<u32> = (0..stars.len() as u32).collect();
        let bodies = members.iter().map(|&i| stars.body(i)).collect();
        Self::of_bodies(
            Kind::Few,
            bodies,
            stars,
            &members,
            &stars.pot,
            0.0,
            density::centre_of(&stars.mass, &stars.pos),
        )
    }

    /// Measures bodies made of the particles `members`, whose potential is `pot` at each particle; `inside` is missing in the
    /// potential energy of the bodies.
    fn of_bodies(
        kind: Kind,
        bodies: Vec<Body>,
        stars: &Stars,
        members: &[u32],
        pot: &[f64],
        inside: f64,
        centre: Vec3,
    ) -> Self {
        let mass = sum(bodies.iter().map(|body| body.mass));
        let momentum = sum3(bodies.iter().map(|body| body.mass * body.vel));
        let velocity = if mass > 0.0 { momentum / mass } else { Vec3::zeros() };
        let of = |&i: &u32| stars.mass[i as usize] * pot[i as usize];
        let radial = RadialOrder::new(&stars.id, &stars.pos, centre, members.iter().copied());
        let [half] = radial.spheres(&stars.mass, [0.5]);
        Self {
            kind,
            kinetic: 0.5 * sum(bodies.iter().map(|body| body.mass * (body.vel - velocity).norm_squared())),
            potential: 0.5 * sum(members.iter().map(of)) + inside,
            half_mass_radius: radial.radius_enclosing(half),
            particles: members.len(),
            leaving: stars.len() - members.len(),
            mass,
            centre,
            velocity,
            bodies,
        }
    }

    /// Returns the total energy.
    #[must_use]
    pub fn energy(&self) -> f64 {
        self.kinetic + self.potential
    }

    /// Returns the virial ratio T / |U|: ½ in equilibrium, infinite or NaN without potential energy.
    #[must_use]
    pub fn virial_ratio(&self) -> f64 {
        self.kinetic / self.potential.abs()
    }

    /// Returns the virial radius.
    #[must_use]
    pub fn virial_radius(&self) -> f64 {
        structure::virial_radius(self.mass, self.potential)
    }

    /// Returns the crossing time; that of virial equilibrium, if the energy is not negative. NaN without potential energy.
    #[must_use]
    pub fn crossing_time(&self) -> f64 {
        structure::crossing_time_of(self.mass, [self.kinetic, self.potential])
    }

    /// Returns the half-mass relaxation time of the bodies.
    #[must_use]
    pub fn relaxation_time(&self) -> f64 {
        structure::half_mass_relaxation_time(self.bodies.len(), self.mass, self.half_mass_radius)
    }

    /// Returns the mean separation of the bodies within the half-mass radius.
    #[must_use]
    pub fn mean_separation(&self) -> f64 {
        structure::mean_separation(self.bodies.len(), self.half_mass_radius)
    }

    /// Describes the particles that leave the system; [`None`] if there are none.
    #[must_use]
    pub fn describe_leaving(&self) -> Option<String> {
        let all = self.particles + self.leaving;
        (self.leaving > 0).then(|| {
            format!("{} of the {all} particles, unbound and far or fast, are in none of these numbers", self.leaving)
        })
    }
}

/// Returns the kind of a system whose binaries and hierarchies have been found.
#[must_use]
pub fn kind(stars: &Stars, found: &Bodies) -> Kind {
    let heaviest = found.bodies.iter().map(|body| body.mass).fold(0.0, f64::max);
    let all = sum(stars.mass.iter().copied());
    match () {
        () if !found.is_cluster() || all == 0.0 => Kind::Few,
        () if heaviest > DOMINANT * all => Kind::Orbits,
        () => Kind::Cluster,
    }
}

/// Finds the bodies that leave a cluster: a flag for each of its bodies.
fn leaving(stars: &Stars, found: &Bodies, centre: Vec3) -> Vec<bool> {
    let systems = &found.systems;
    let Bound { velocity, is_bound, .. } = &systems.bound;
    let bound: Vec<u32> = (0..stars.len() as u32).filter(|&i| is_bound[i as usize]).collect();
    let members = if bound.len() < MIN_BOUND { (0..stars.len() as u32).collect() } else { bound };
    let radial = RadialOrder::new(&stars.id, &stars.pos, centre, members.into_iter());
    let [half] = radial.spheres(&stars.mass, [0.5]);
    let beyond = ESCAPED * radial.radius_enclosing(half);
    let each = || systems.outermost_energies().map(|(_, energy)| energy).zip(&found.bodies);
    let is_far = |(energy, body): (f64, &Body)| energy > 0.0 && (body.pos - centre).norm() > beyond;
    let is_fast = |(energy, body): (f64, &Body)| {
        // Energy less half of v² is the potential of the bound particles.
        let kinetic = 0.5 * (body.vel - velocity).norm_squared();
        energy > FAST * (kinetic - energy).abs()
    };
    let mass = |of: &dyn Fn((f64, &Body)) -> bool| sum(each().filter(|one| of(*one)).map(|(_, body)| body.mass));
    let flies_apart = mass(&|one| !is_far(one) && is_fast(one)) >= MANY * mass(&|one| !is_far(one));
    each().map(|one| is_far(one) || (!flies_apart && is_fast(one))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::conserved::Conserved;
    use crate::initial::{plummer, two_body};
    use tisane_force::particles::{Particles, Vec3};

    /// Particles with their potentials, by the sum over all pairs.
    fn stars(p: &Particles) -> Stars {
        let pot = |i: usize| {
            let of = |j: usize| p.mass[j] / (p.pos[i] - p.pos[j]).norm();
            -sum((0..p.len()).filter(|&j| j != i).map(of))
        };
        Stars::new(p, &(0..p.len()).map(pot).collect::<Vec<_>>())
    }

    fn measured(p: &Particles) -> OwnFrame {
        OwnFrame::find(&stars(p), 0.0)
    }

    fn joined(one: &Particles, two: &Particles) -> Particles {
        let mass = [&one.mass[..], &two.mass].concat();
        Particles::new(mass, [&one.pos[..], &two.pos].concat(), [&one.vel[..], &two.vel].concat())
    }

    fn moved(p: &Particles, pos: Vec3, vel: Vec3) -> Particles {
        let by = |column: &[Vec3], by: Vec3| column.iter().map(|x| x + by).collect();
        Particles::new(p.mass.clone(), by(&p.pos, pos), by(&p.vel, vel))
    }

    /// Numbers that say the same of a system wherever it is and however it moves.
    fn internal(found: &OwnFrame) -> [f64; 8] {
        let energies = [found.kinetic, found.potential, found.energy(), found.virial_ratio()];
        let scales = [found.half_mass_radius, found.virial_radius(), found.crossing_time(), found.mass];
        [energies, scales].concat().try_into().unwrap()
    }

    fn assert_same(found: &OwnFrame, other: &OwnFrame, within: f64) {
        assert_eq!(
            (found.kind, found.particles, found.leaving, found.bodies.len()),
            (other.kind, other.particles, other.leaving, other.bodies.len())
        );
        for (a, b) in internal(found).into_iter().zip(internal(other)) {
            assert!((a - b).abs() <= within * b.abs() || (a.is_nan() && b.is_nan()), "{a} is not {b}");
        }
    }

    /// A sphere in which each eighth star is a circular pair of separation 1e-4.
    fn with_binaries() -> Particles {
        let single = plummer::sample(200, 2, 0.999);
        let mut all = Particles::default();
        for i in 0..single.len() {
            let one = |k: f64, m: f64| {
                let apart = k * 1e-4 * Vec3::x();
                let speed = k * (2.0 * m / 1e-4).sqrt() * Vec3::y();
                Particles::new(vec![m], vec![single.pos[i] + apart], vec![single.vel[i] + speed])
            };
            let m = single.mass[i];
            all = match i % 8 {
                0 => joined(&joined(&all, &one(-0.5, 0.5 * m)), &one(0.5, 0.5 * m)),
                _ => joined(&all, &one(0.0, m)),
            };
        }
        all
    }

    #[test]
    fn a_boost_changes_nothing_inside() {
        let far = (Vec3::new(8500.0, 30.0, -7.0), Vec3::new(3.0, 220.0, -40.0));
        for p in [plummer::sample(300, 1, 0.999), with_binaries(), two_body::orbit(1.0, 2.0, 1.0, 0.5, true, 1.0)] {
            let (here, there) = (measured(&p), measured(&moved(&p, far.0, far.1)));
            // Positions at 8500 have 12 digits after the point, of separations of 1e-4.
            assert_same(&there, &here, 1e-6);
            assert!((there.centre - here.centre - far.0).norm() < 1e-9, "{:?}", there.centre);
            assert!((there.velocity - here.velocity - far.1).norm() < 1e-9, "{:?}", there.velocity);
        }
    }

    #[test]
    fn verify_a_sphere_has_the_sums_over_its_particles() {
        let p = plummer::sample(300, 1, 0.999);
        let (found, stars) = (measured(&p), stars(&p));
        let sums = Conserved::from_particles(&p, &stars.pot);
        assert_eq!((found.kind, found.particles, found.leaving), (Kind::Cluster, 300, 0));
        // Pairs that happen to be bound by 1 kT hold little energy.
        let kinetic = sums.kinetic - 0.5 * sums.momentum.norm_squared() / sums.mass;
        assert!((found.energy() / (kinetic + sums.potential) - 1.0).abs() < 0.02, "{}", found.energy());
        let all = OwnFrame::of_particles(&stars);
        assert!((all.kinetic / kinetic - 1.0).abs() < 1e-12, "{} {kinetic}", all.kinetic);
        assert!((all.potential / sums.potential - 1.0).abs() < 1e-12, "{}", all.potential);
    }

    #[test]
    fn binaries_are_one_body_each() {
        let (whole, single) = (measured(&with_binaries()), measured(&plummer::sample(200, 2, 0.999)));
        assert_eq!((whole.bodies.len(), whole.particles), (single.bodies.len(), single.particles + 25));
        assert!((whole.virial_ratio() - single.virial_ratio()).abs() < 1e-5, "{}", whole.virial_ratio());
        assert!((whole.energy() / single.energy() - 1.0).abs() < 1e-5);
    }

    #[test]
    fn one_that_runs_away_does_not_count() {
        let p = plummer::sample(300, 1, 0.999);
        let alone = measured(&p);
        let star = |x: Vec3, v: Vec3| Particles::new(vec![1.0 / 300.0], vec![x], vec![v]);
        for (pos, vel) in [(1e3, 1e3), (1e5, 0.1), (0.3, 50.0), (-40.0, 3.0)] {
            let with = measured(&joined(&p, &star(pos * Vec3::x(), vel * Vec3::y())));
            assert_eq!((with.particles, with.leaving), (300, 1), "{pos} {vel}");
            for (a, b) in internal(&with).into_iter().zip(internal(&alone)) {
                assert!((a / b - 1.0).abs() < 0.02, "{pos} {vel}: {a} {b}");
            }
        }
        // One that stays counts, wherever it is.
        let bound = measured(&joined(&p, &star(40.0 * Vec3::x(), Vec3::zeros())));
        assert_eq!(bound.leaving, 0);
    }

    #[test]
    fn a_system_that_flies_apart_counts_as_a_whole() {
        let p = plummer::sample(300, 1, 0.999);
        let cold = measured(&p).virial_ratio();
        for heat in [1.3, 10.0, 1e3] {
            let vel = p.vel.iter().map(|v| v * heat).collect();
            let hot = measured(&moved(&Particles::new(p.mass.clone(), p.pos.clone(), vel), Vec3::x(), 5e4 * Vec3::z()));
            assert!((hot.virial_ratio() / (cold * heat * heat) - 1.0).abs() < 0.03, "{heat}: {}", hot.virial_ratio());
        }
    }

    #[test]
    fn a_tail_around_an_orbit_is_not_the_cluster() {
        let cluster = moved(&plummer::sample(100, 1, 0.999), 100.0 * Vec3::x(), 11.0 * Vec3::y());
        let ring = |k: usize| {
            let (s, c) = (0.3 + 5.0 * k as f64 / 300.0).sin_cos();
            (100.0 * Vec3::new(c, s, 0.0), 11.0 * Vec3::new(-s, c, 0.0))
        };
        let (pos, vel) = (0..300).map(ring).unzip();
        let found = measured(&joined(&cluster, &Particles::new(vec![0.002; 300], pos, vel)));
        let alone = measured(&cluster);
        assert_eq!((found.particles, found.leaving), (100, 300));
        // By its own potential: that of the ring is 0.6/100.
        for (with, without) in internal(&found).into_iter().zip(internal(&alone)) {
            assert!((with / without - 1.0).abs() < 1e-9, "{with} {without}");
        }
        assert!((found.half_mass_radius - alone.half_mass_radius).abs() < 0.1 && (found.mass - 1.0).abs() < 1e-12);
    }

    #[test]
    fn bodies_about_a_heavy_one_and_a_few_are_no_cluster() {
        let light = plummer::sample(30, 1, 0.999);
        let heavy = Particles::new(vec![10.0], vec![Vec3::zeros()], vec![Vec3::zeros()]);
        let orbits = measured(&joined(&light, &heavy));
        assert_eq!((orbits.kind, orbits.particles, orbits.bodies.len()), (Kind::Orbits, 31, 31));
        for n in 1..MIN_BOUND {
            let few = measured(&plummer::sample(n, 4, 0.999));
            assert_eq!((few.kind, few.particles, few.leaving), (Kind::Few, n, 0));
        }
        let circle = measured(&two_body::orbit(1.0, 2.0, 1.0, 0.0, true, 1.0));
        assert!((circle.virial_ratio() - 0.5).abs() < 1e-12, "{circle:?}");
        // Massless bodies have no energy, and none but massless ones have no frame.
        let massless = Particles::new(vec![0.0; 12], plummer::sample(12, 1, 0.999).pos, vec![Vec3::x(); 12]);
        let none = measured(&massless);
        assert_eq!((none.kind, none.kinetic, none.mass, none.velocity), (Kind::Few, 0.0, 0.0, Vec3::zeros()));
        assert!(none.virial_ratio().is_nan() && none.crossing_time().is_nan());
    }
}
