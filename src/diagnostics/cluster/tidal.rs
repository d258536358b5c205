//! The part of a cluster within its tidal radius, and who is bound there.

use super::stars::Stars;
use super::systems::Systems;
use crate::tidal_frame::{StarColumns, TidalFrame, TidalPart};
use tisane_force::compensated_sum::sum;
use tisane_force::particles::Vec3;

/// Part of a cluster within its tidal radius, in internal units.
#[derive(Clone, Debug, PartialEq)]
pub struct TidalSurvey {
    /// Tidal radius of the mass within it; 0 where the cluster has dissolved.
    pub radius: f64,
    /// Tidal radius of that mass at the last pericentre of the orbit, as [`TidalFrame::at_pericentre`]; NaN where the tide has none there, and
    /// in the linear tide.
    pub radius_at_pericentre: f64,
    /// Mass within it.
    pub mass: f64,
    /// Number of particles within it.
    pub number: u64,
    /// Radius of the smallest sphere about the density centre that holds half of that mass; NaN where it is 0.
    pub half_mass_radius: f64,
    /// Mass of the bodies within it whose Jacobi energy is at most the critical one.
    pub jacobi_bound_mass: f64,
    /// Number of the particles of the other bodies within it.
    pub potential_escapers: u64,
}

/// Jacobi energies of the bodies of a cluster, in internal units.
#[derive(Clone, Debug, PartialEq)]
pub struct JacobiEnergies {
    /// The part of the cluster within its tidal radius.
    pub part: TidalPart,
    /// The bodies, on either side of the tidal radius.
    pub bodies: Vec<JacobiBody>,
}

/// Single particle, binary or hierarchy with its Jacobi energy, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JacobiBody {
    /// Mass.
    pub mass: f64,
    /// Number of its particles.
    pub number: u64,
    /// Distance from the density centre.
    pub distance: f64,
    /// Jacobi energy per unit mass; see [`tidal_frame`](crate::tidal_frame).
    pub energy: f64,
}

impl JacobiEnergies {
    /// Measures the bodies of a cluster whose binaries and hierarchies were found, about its density centre `centre`; [`None`] where the
    /// tide has no radius. A binary or hierarchy has the energy of its centre of mass, without its own part of the potential.
    #[must_use]
    pub fn new(stars: &Stars, systems: &Systems, tide: &TidalFrame, centre: Vec3, epsilon: f64) -> Option<Self> {
        let Stars { id, mass, pos, vel, .. } = stars;
        let part = tide.part(StarColumns { id, mass, pos, vel }, centre)?;
        let mut chosen = vec![false; stars.len()];
        part.stars.iter().for_each(|&i| chosen[i as usize] = true);
        let mut inside = systems.bound.clone();
        inside.velocity = part.centre.vel;
        inside.choose(stars, &chosen, epsilon);
        let of_body = |at: &u32| {
            let (body, of) = (systems.body(stars, *at), systems.stars(stars, at));
            let energy = inside.energy(stars, of, &body, epsilon) + tide.energy(&part.centre, body.pos, body.vel);
            let distance = (body.pos - part.centre.pos).norm();
            JacobiBody { mass: body.mass, number: of.len() as u64, distance, energy }
        };
        let bodies = systems.outermost.iter().map(of_body).collect();
        Some(Self { part, bodies })
    }
}

impl TidalSurvey {
    /// Measures a cluster, as [`JacobiEnergies::new`].
    pub(super) fn new(stars: &Stars, systems: &Systems, tide: &TidalFrame, centre: Vec3, epsilon: f64) -> Option<Self> {
        let JacobiEnergies { part, bodies } = JacobiEnergies::new(stars, systems, tide, centre, epsilon)?;
        let critical = part.critical_energy();
        let TidalPart { radius, mass, stars: within, half_mass_radius, .. } = part;
        let (bound, free): (Vec<&JacobiBody>, Vec<&JacobiBody>) =
            bodies.iter().filter(|body| body.distance <= radius).partition(|body| body.energy <= critical);
        let potential_escapers = free.iter().map(|body| body.number).sum();
        let (number, jacobi_bound_mass) = (within.len() as u64, sum(bound.iter().map(|body| body.mass)));
        let at_pericentre = tide.at_pericentre().and_then(|tide| tide.radius(mass));
        // That of no mass is 0.
        let radius_at_pericentre = at_pericentre.unwrap_or(if mass > 0.0 { f64::NAN } else { 0.0 });
        Some(Self {
            radius,
            radius_at_pericentre,
            mass,
            number,
            half_mass_radius,
            jacobi_bound_mass,
            potential_escapers,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::cluster::systems::{self, Hardness};
    use crate::diagnostics::cluster::{LagrangianMass, Settings, Survey};
    use crate::initial::plummer;
    use crate::nearest::Neighbours;
    use crate::tidal_frame::TideSource;
    use std::sync::Arc;
    use tisane_force::force::external::Plummer;
    use tisane_force::force::external::guide::OrbitState;
    use tisane_force::particles::Particles;

    const SETTINGS: Settings = Settings {
        neighbours: 6,
        lagrangian_mass: LagrangianMass::Current,
        binary_hardness: 1.0,
        escape_radius: 10.0,
        encounter_radius: 1.0,
        epsilon: 1.0 / 64.0,
    };

    /// The tide on a circle of radius 100 about a point mass of 10⁴: a mass of 1 has the tidal radius 3.22.
    fn tide() -> TidalFrame {
        let galaxy = Plummer { mass: 1e4, position: Vec3::zeros(), scale_radius: 0.0 };
        let orbit = OrbitState { pos: 100.0 * Vec3::x(), vel: 10.0 * Vec3::y() };
        TideSource { field: Arc::new(galaxy), circle: None, conserves: false }.with_origin(Some(orbit), 0.0)
    }

    fn stars(p: &Particles) -> Stars {
        let pot = |i: usize| {
            let of = |j: usize| p.mass[j] / ((p.pos[i] - p.pos[j]).norm_squared() + SETTINGS.epsilon.powi(2)).sqrt();
            -(0..p.len()).filter(|&j| j != i).map(of).sum::<f64>()
        };
        Stars::new(p, &(0..p.len()).map(pot).collect::<Vec<_>>())
    }

    fn tidal(p: &Particles) -> TidalSurvey {
        Survey::new(&stars(p), &SETTINGS, [0.5], Some(&tide())).tidal.unwrap()
    }

    /// A sphere with the mass 1 of `n` stars, and stars of the same mass along its orbit, on either side.
    fn with_tails(n: usize, tail: usize) -> Particles {
        let sphere = plummer::sample(n, 5, 0.99);
        let along = |k: usize| {
            let (s, c) = ((1.0 - 2.0 * (k % 2) as f64) * (0.06 + 0.002 * k as f64)).sin_cos();
            // Relative to the origin, which is on the orbit.
            (100.0 * Vec3::new(c - 1.0, s, 0.0), 10.0 * Vec3::new(-s, c - 1.0, 0.0))
        };
        let (pos, vel): (Vec<_>, Vec<_>) = (0..tail).map(along).unzip();
        let mass = [sphere.mass.clone(), vec![1.0 / n as f64; tail]].concat();
        Particles::new(mass, [sphere.pos, pos].concat(), [sphere.vel, vel].concat())
    }

    #[test]
    fn tails_change_nothing_of_the_part_within_the_tidal_radius() {
        let alone = tidal(&with_tails(250, 0));
        // Nearly all of the sphere; its tidal radius is that of the mass within.
        let radius = 100.0 * (alone.mass / 3e4f64).cbrt();
        assert!((alone.radius / radius - 1.0).abs() < 1e-12 && alone.mass > 0.9, "{alone:?}");
        assert_eq!(alone.number, (250.0 * alone.mass).round() as u64);
        assert!((alone.half_mass_radius - 0.75).abs() < 0.15, "{alone:?}");
        for tail in [100, 600] {
            let found = tidal(&with_tails(250, tail));
            assert_eq!((found.number, found.potential_escapers), (alone.number, alone.potential_escapers));
            for (a, b) in [(found.radius, alone.radius), (found.jacobi_bound_mass, alone.jacobi_bound_mass)] {
                assert!((a / b - 1.0).abs() < 1e-12, "{tail}: {a} {b}");
            }
        }
    }

    #[test]
    fn energies_are_those_in_the_potential_of_the_part_within_the_tidal_radius() {
        let p = with_tails(250, 40);
        let stars = stars(&p);
        let neighbours = Neighbours::new(&p.id, &p.pos, SETTINGS.neighbours);
        let systems = systems::find(&stars, &neighbours, SETTINGS.epsilon, Hardness::at_least(f64::INFINITY));
        let found = JacobiEnergies::new(&stars, &systems, &tide(), Vec3::zeros(), SETTINGS.epsilon).unwrap();
        assert_eq!(found.bodies.len(), p.len());
        let JacobiEnergies { part, bodies } = found;
        for (i, body) in bodies.iter().enumerate() {
            let of = |&j: &u32| {
                let (j, s2) = (j as usize, (p.pos[i] - p.pos[j as usize]).norm_squared() + SETTINGS.epsilon.powi(2));
                if j == i { 0.0 } else { p.mass[j] / s2.sqrt() }
            };
            let own: f64 = part.stars.iter().map(of).sum();
            let kinetic = 0.5 * (p.vel[i] - part.centre.vel).norm_squared();
            let expected = kinetic - own + tide().energy(&part.centre, p.pos[i], p.vel[i]);
            assert!((body.energy - expected).abs() < 1e-12 * own.max(kinetic), "{i}: {} {expected}", body.energy);
            assert_eq!((body.mass, body.number, body.distance), (p.mass[i], 1, p.pos[i].norm()));
        }
        // The tails, on the orbit of the cluster, have left: they are beyond the radius with the energy for that.
        assert!(bodies[250..].iter().all(|body| body.distance > part.radius && body.energy > part.critical_energy()));
    }

    #[test]
    fn potential_escapers_are_those_with_the_energy_to_leave() {
        let mut p = with_tails(250, 0);
        let before = tidal(&p);
        assert!(before.jacobi_bound_mass > 0.8 && before.jacobi_bound_mass < before.mass, "{before:?}");
        let counted = |found: &TidalSurvey| (250.0 * found.jacobi_bound_mass).round() as u64 + found.potential_escapers;
        assert_eq!(counted(&before), before.number);
        // Ten stars of the centre are made faster than any that stays: they are within the radius, and not bound.
        let mut order: Vec<usize> = (0..250).collect();
        order.sort_by(|&a, &b| p.pos[a].norm().total_cmp(&p.pos[b].norm()));
        order[..10].iter().enumerate().for_each(|(k, &i)| p.vel[i] = (1.0 - 2.0 * (k % 2) as f64) * 5.0 * Vec3::z());
        let after = tidal(&p);
        assert_eq!((after.number, after.potential_escapers), (before.number, before.potential_escapers + 10));
        assert_eq!(counted(&after), after.number);
    }
}
