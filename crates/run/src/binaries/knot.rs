//! Knots: many bodies in a small part of a system, too many for one subsystem, whose motion all others wait for.
//!
//! Where there is one, the densest place of the system is in it. Bodies around that place are a knot if they are bound, if the tide
//! of all others on them is as small as on a subsystem, and if they are more than a subsystem holds. There is no length to choose.

use super::terms::Terms;
use tisane::diagnostics::cluster::Stars;
use tisane::diagnostics::cluster::bodies::Bodies;
use tisane::diagnostics::conserved::Conserved;
use tisane::diagnostics::structure::{crossing_time_of, median_radius};
use tisane::encounters::{MAX_MEMBERS, MAX_PERTURBATION_TO_STAY};
use tisane::nearest::Neighbours;
use tisane::particles::{Particles, Vec3};

/// Least length of the run, in crossing times of the knot, for a warning: each crossing time takes some thousand block steps.
const MANY_CROSSINGS: f64 = 1e4;
/// Potential energy of most clusters in units of −G M² / r_h, with the half-mass radius (Spitzer 1969, ApJ 158, L139).
const POTENTIAL: f64 = 0.4;

/// Bodies in a small part of a system, far from all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knot {
    /// Number of bodies: stars, binaries, hierarchies.
    pub bodies: usize,
    /// Id of a particle in the middle.
    pub id: u64,
    /// Half-mass radius, in internal units.
    pub radius: f64,
    /// Crossing time, in internal units.
    pub crossing_time: f64,
}

impl Knot {
    /// Finds the knot about the densest place of a cluster of particles; [`None`] if there is none, or none that a run sees
    /// cross many times.
    pub(super) fn find(p: &Particles, cluster: &Bodies, terms: &Terms) -> Option<Self> {
        if !terms.encounters {
            return None;
        }
        let all = cluster.particles();
        let densest = densest(&all)?;
        let mut near: Vec<(f64, usize)> = (0..all.len()).map(|k| ((all.pos[k] - all.pos[densest]).norm(), k)).collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let (mut field, mut mass) = (0.0, all.total_mass());
        let mut isolated = None;
        // From the outside: the tide of those farther than each.
        for count in (MAX_MEMBERS + 1..=all.len()).rev() {
            let (r, k) = near[count - 1];
            let is_isolated = 2.0 * r * r * r * field <= MAX_PERTURBATION_TO_STAY * mass;
            if is_isolated && 2 * count <= all.len() {
                isolated = Some(count);
            }
            field += all.mass[k] / (r * r * r);
            mass -= all.mass[k];
        }
        let of: Vec<usize> = near[..isolated?].iter().map(|(_, k)| *k).collect();
        let column = |from: &[Vec3]| of.iter().map(|&k| from[k]).collect();
        let knot = Particles::new(of.iter().map(|&k| all.mass[k]).collect(), column(&all.pos), column(&all.vel));
        let sums = Conserved::from_particles(&knot, &knot.pot);
        let (mass, radius) = (sums.mass, median_radius(&knot, sums.centre_of_mass));
        let kinetic = sums.kinetic - 0.5 * sums.momentum.norm_squared() / mass;
        let potential = -POTENTIAL * mass * mass / radius;
        let crossing_time = crossing_time_of(mass, [kinetic, potential]);
        let systems = &cluster.systems;
        let particle = systems.part_of.iter().position(|&of| of == systems.outermost[densest])?;
        let is_told = kinetic + potential < 0.0 && terms.span > MANY_CROSSINGS * crossing_time;
        is_told.then(|| Self { bodies: knot.len(), id: p.id[particle], radius, crossing_time })
    }
}

/// Returns the particle with the densest surroundings, by as many neighbours as a subsystem may hold.
fn densest(p: &Particles) -> Option<usize> {
    let stars = Stars::new(p, &p.pot);
    let neighbours = Neighbours::new(&stars.id, &stars.pos, MAX_MEMBERS);
    let density = |i: usize| {
        let near = neighbours.nearest(i);
        let farthest = near.last()?.distance;
        let mass: f64 = near.iter().map(|other| p.mass[other.index as usize]).sum();
        Some((mass / (farthest * farthest * farthest), i)).filter(|(density, _)| density.is_finite())
    };
    (0..p.len()).filter_map(density).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, i)| i)
}

#[cfg(test)]
mod tests {
    use super::super::Binaries;
    use super::*;
    use crate::config::Config;
    use std::path::Path;
    use tisane::initial::plummer;
    use tisane::units::Scale;

    /// Returns what is found in a sphere of 100 stars, of which the first is `inner` stars in a sphere smaller by `size`,
    /// with velocities as in equilibrium times `heat`.
    fn found(inner: usize, (size, heat): (f64, f64), t_end: f64) -> Binaries {
        let (outer, knot) = (plummer::sample(101, 5, 0.99), plummer::sample(inner, 6, 0.99));
        let (mass, m) = (inner as f64 / (inner + 100) as f64, 1.0 / (inner + 100) as f64);
        let of = |k: usize| {
            let speed = heat * (mass / size).sqrt();
            (outer.pos[0] + knot.pos[k] * size, outer.vel[0] + knot.vel[k] * speed)
        };
        let (pos, vel): (Vec<Vec3>, Vec<Vec3>) =
            (0..inner).map(of).chain((1..101).map(|k| (outer.pos[k], outer.vel[k]))).unzip();
        let p = Particles::new(vec![m; pos.len()], pos, vel);
        let others = |i: usize| (0..p.len()).filter(move |&k| k != i);
        let pot = |i: usize| -others(i).map(|k| m / (p.pos[k] - p.pos[i]).norm()).sum::<f64>();
        let pot: Vec<f64> = (0..p.len()).map(pot).collect();
        let text = format!(
            "[run]\nname = \"a\"\nt_end = {t_end:e}\n[initial.plummer]\nn = 8\n[softening]\nepsilon = 0.0\n[encounters]"
        );
        let config = Config::from_str("a", &text, Path::new(""), &[]).unwrap().config;
        Binaries::find(&p, &pot, Terms::new(&config, &Scale::IDENTITY, 0.0))
    }

    #[test]
    fn many_bodies_in_one_place_are_told() {
        let all = found(100, (1e-4, 1.0), 1.0);
        let knot = all.knot.expect("a knot");
        assert!((90..=100).contains(&knot.bodies) && knot.id < 100, "{knot:?}");
        // Of a Plummer sphere in N-body units: 0.77, and 2 √2 for mass 1.
        assert!((knot.radius / 0.77e-4 - 1.0).abs() < 0.3, "{knot:?}");
        assert!((knot.crossing_time / (8.0f64.sqrt() * 1e-6 / 0.5f64.sqrt()) - 1.0).abs() < 0.3, "{knot:?}");
        let told = all.warnings().into_iter().find(|text| text.contains("are a knot")).expect("a warning");
        assert!(told.contains("A subsystem holds up to 8"), "{told}");
        assert!(found(20, (1e-4, 1.0), 1.0).knot.is_some_and(|knot| (9..=20).contains(&knot.bodies)));
    }

    #[test]
    fn other_systems_have_no_knot() {
        // Few crossing times, stars that a subsystem holds, a place that is denser by little, and stars that fly apart.
        for (inner, sphere, t_end) in
            [(100, (0.01, 1.0), 1.0), (8, (1e-5, 1.0), 1.0), (50, (0.3, 1.0), 1e4), (50, (1e-4, 3.0), 1.0)]
        {
            let knot = found(inner, sphere, t_end).knot;
            assert_eq!(knot, None, "{inner} {sphere:?} {t_end}");
        }
    }
}
