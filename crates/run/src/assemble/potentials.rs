//! Potentials of particles: by the sum over all pairs, or estimated where that takes too long for a forecast.

use super::gpu::{OnGpu, Physics, cuda};
use super::width::width;
use crate::config::{Engine, Force};
use rayon::prelude::*;
use tisane::diagnostics::conserved::Conserved;
use tisane::diagnostics::structure::median_radius;
use tisane::error::Result;
use tisane::force::cpu;
use tisane::force::precision::Precision;
use tisane::force::{Field, Forces, Targets};
use tisane::nearest::Neighbours;
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, Time};

/// Largest number of particles for which a forecast sums over all pairs.
pub const MAX_SUMMED: usize = 1 << 16;
/// Number of particles whose forces a forecast of more is made from.
pub const SAMPLE: usize = 1 << 12;
/// Number of particles from which a GPU sums in less time than it takes to open it.
const MIN_ON_GPU: usize = 1 << 15;
/// Number of nearest neighbours, and of the heaviest particles, whose potentials an estimate has without error.
const NEAREST: usize = 6;
const HEAVIEST: usize = 64;

/// Time axis of forces that are evaluated once.
const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 };

/// Computes the potential energy with the CPU engine in f64, with softening `epsilon`, in units with G = 1.
///
/// # Errors
/// As the engine.
pub fn potential_energy(p: &Particles, epsilon: f64) -> Result<f64> {
    Ok(energy(p, &potentials(p, epsilon)?))
}

/// Computes the potentials of particles as [`potential_energy`] does their energy.
pub(crate) fn potentials(p: &Particles, epsilon: f64) -> Result<Vec<f64>> {
    let mut engine = cpu::engine(Precision::F64, epsilon, CLOCK, width(Precision::F64)?);
    engine.load(p)?;
    Ok(Field::from_engine(p, &mut *engine, Time::default())?.pot)
}

/// Returns the potential energy of particles with these potentials.
pub(super) fn energy(p: &Particles, pot: &[f64]) -> f64 {
    Conserved::from_particles(p, pot).potential
}

/// Computes potentials at the start of a run, or estimates them where `estimates` allows it and there are more than
/// [`MAX_SUMMED`] particles. Where the run may use a GPU, that sums many particles, with the same bits.
pub(super) fn potentials_for(p: &Particles, epsilon: f64, force: &Force, estimates: bool) -> Result<Vec<f64>> {
    if estimates && p.len() > MAX_SUMMED {
        return estimated(p, epsilon, SAMPLE);
    }
    if matches!(force.engine, Engine::Cuda | Engine::Auto) && p.len() >= MIN_ON_GPU {
        let device = force.devices.and_then(|devices| devices.numbers(1).first().copied()).unwrap_or(force.device);
        let on = OnGpu { device, room_for: p.len(), ..OnGpu::default() };
        // Without a usable GPU the CPU does it; a run that needs one says so later.
        if let Ok((mut engine, _)) = cuda(None, Physics { precision: Precision::F64, epsilon, clock: CLOCK }, on) {
            engine.load(p)?;
            return Ok(Field::from_engine(p, &mut *engine, Time::default())?.pot);
        }
    }
    potentials(p, epsilon)
}

/// Returns `count` of the particles, ascending: evenly distributed in the order of the distances from the centre of mass.
#[must_use]
pub fn sample(p: &Particles, count: usize) -> Vec<u32> {
    let (n, centre) = (p.len(), Conserved::from_particles(p, &p.pot).centre_of_mass);
    let mut order: Vec<(f64, u32)> = (0..n).map(|i| ((p.pos[i] - centre).norm_squared(), i as u32)).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let count = count.min(n);
    // In the middle of parts of equal numbers.
    let mut sample: Vec<u32> = (0..count).map(|k| order[(2 * k + 1) * n / (2 * count)].1).collect();
    sample.sort_unstable();
    sample
}

/// Estimates the potentials of particles from those of `count` of them. The part of the nearest neighbours and of the heaviest
/// particles is without error for all. The remaining one is that of the nearest particle of the sample, times the ratio of
/// the two in a Plummer sphere of the size of the system: right far outside, and near one within.
fn estimated(p: &Particles, epsilon: f64, count: usize) -> Result<Vec<f64>> {
    let mut engine = cpu::engine(Precision::F64, epsilon, CLOCK, width(Precision::F64)?);
    engine.load(p)?;
    let index = sample(p, count);
    let column = |of: &[Vec3]| index.iter().map(|&i| of[i as usize]).collect::<Vec<_>>();
    let (pos, vel) = (column(&p.pos), column(&p.vel));
    let mut forces = Forces::default();
    engine.evaluate(Time::default(), Targets { index: &index, pos: &pos, vel: &vel }, &mut forces)?;

    let mut heaviest: Vec<u32> = (0..p.len() as u32).collect();
    heaviest.sort_unstable_by(|&a, &b| p.mass[b as usize].total_cmp(&p.mass[a as usize]).then(a.cmp(&b)));
    heaviest.truncate(HEAVIEST);
    let nearest = Neighbours::new(&p.id, &p.pos, NEAREST);
    let near = |i: usize| -> f64 {
        let neighbours = nearest.nearest(i).iter().map(|neighbour| neighbour.index);
        let others = neighbours.filter(|j| !heaviest.contains(j)).chain(heaviest.iter().copied());
        let pot = |j: u32| match (p.pos[j as usize] - p.pos[i]).norm().hypot(epsilon) {
            s if s > 0.0 => -p.mass[j as usize] / s,
            _ => 0.0,
        };
        others.filter(|&j| j as usize != i).map(pot).sum()
    };
    let far: Vec<f64> = index.iter().zip(&forces.pot).map(|(&i, pot)| pot - near(i as usize)).collect();
    let id: Vec<u64> = (0..index.len() as u64).collect();
    let sampled = Neighbours::new(&id, &pos, 0);
    let centre = Conserved::from_particles(p, &p.pot).centre_of_mass;
    let size = median_radius(p, centre);
    let distance = |x: Vec3| (x - centre).norm().hypot(size);
    let far_at = |x: Vec3| {
        let found = sampled.nearest_to(x, 1).first().map(|it| it.index as usize)?;
        Some(far[found] * (distance(pos[found]) / distance(x)))
    };
    let pot = |i: usize| near(i) + far_at(p.pos[i]).filter(|pot| pot.is_finite()).unwrap_or(0.0);
    Ok((0..p.len()).into_par_iter().map(pot).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane::initial::plummer;

    fn spheres() -> Particles {
        // Two of different sizes and mass functions, with a heavy body, and a close pair in place of each tenth particle.
        let (one, two) = (plummer::sample(9000, 1, 0.999), plummer::sample(3000, 2, 0.999));
        let mass = |i: usize| if i == 0 { 2000.0 } else { 1.0 + (i % 97) as f64 };
        let shifted = two.pos.iter().map(|x| x * 0.3 + Vec3::new(5.0, 1.0, 0.0));
        let mut pos: Vec<Vec3> = one.pos.iter().copied().chain(shifted).collect();
        for i in (10..pos.len()).step_by(10) {
            pos[i] = pos[i - 1] + Vec3::new(1e-6, 0.0, 2e-6);
        }
        let n = pos.len();
        Particles::new((0..n).map(mass).collect(), pos, vec![Vec3::zeros(); n])
    }

    #[test]
    fn verify_estimated_potentials_are_near_the_sums() {
        let p = spheres();
        for epsilon in [0.0, 1e-3] {
            let exact = potentials(&p, epsilon).unwrap();
            let found = estimated(&p, epsilon, 2048).unwrap();
            let error = energy(&p, &found) / energy(&p, &exact) - 1.0;
            assert!(error.abs() < 1e-2, "energy: {error:e}");
            let mut errors: Vec<f64> = found.iter().zip(&exact).map(|(a, b)| (a / b - 1.0).abs()).collect();
            errors.sort_by(f64::total_cmp);
            // A few between the two, next to a sampled one deep in the other, are worse.
            let [median, max] = [errors[p.len() / 2], errors[p.len() / 100 * 99]];
            assert!(median < 0.05 && max < 0.5, "{median:e} {max:e}");
            for &i in &sample(&p, 2048) {
                let i = i as usize;
                assert!((found[i] / exact[i] - 1.0).abs() < 1e-12, "particle {i} is in the sample");
            }
        }
    }

    #[test]
    fn verify_the_energy_of_a_sphere_is_right_to_a_thousandth() {
        let p = plummer::sample(30_000, 3, 0.999);
        let error = energy(&p, &estimated(&p, 0.0, SAMPLE).unwrap()) / potential_energy(&p, 0.0).unwrap() - 1.0;
        assert!(error.abs() < 1e-3, "{error:e}");
    }

    #[test]
    fn few_particles_are_never_estimated() {
        let p = plummer::sample(300, 1, 0.999);
        assert_eq!(potentials_for(&p, 0.0, &Force::default(), true).unwrap(), potentials(&p, 0.0).unwrap());
        assert_eq!(sample(&p, 1000), (0..300).collect::<Vec<u32>>());
    }
}
