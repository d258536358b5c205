//! Density centre and core of a cluster.

use crate::nearest::Neighbours;
use std::f64::consts::PI;
use tisane_force::compensated_sum::{sum, sum3};
use tisane_force::particles::Vec3;

/// Centre and core of a cluster.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Core {
    /// Density centre.
    pub centre: Vec3,
    /// Mean mass density of the core.
    pub density: f64,
    /// Density radius.
    pub radius: f64,
}

/// Computes density centre, core density and core radius of Casertano & Hut (1985) from the particles that count: those
/// of the cluster, or all if none is flagged in `counts`. The density at each particle is the mass of its neighbours but
/// the last, over the volume out to the last, which is unbiased. The centre is the mean position with these weights, the
/// core radius the mean distance from it, the core density their mean. Where neighbours coincide the density is infinite
/// and only those particles count. Without densities, for fewer than 3 particles, the centre is the centre of mass and
/// the rest NaN. Masses and positions are in internal units, one entry a particle, as the flags.
#[must_use]
pub fn core(mass: &[f64], pos: &[Vec3], neighbours: &Neighbours<'_>, counts: &[bool]) -> Core {
    let all = !counts.contains(&true);
    let which: Vec<usize> = (0..mass.len()).filter(|&i| all || counts[i]).collect();
    let pos: Vec<Vec3> = which.iter().map(|&i| pos[i]).collect();
    let density: Vec<f64> = which.iter().map(|&i| density_at(mass, neighbours, i)).collect();
    let densest = density.iter().copied().fold(0.0, f64::max);
    let weight: Vec<f64> = if densest == f64::INFINITY {
        density.iter().map(|rho| f64::from(u8::from(*rho == densest))).collect()
    } else {
        density.iter().map(|rho| rho / densest).collect()
    };
    let total = sum(weight.iter().copied());
    if !(densest > 0.0 && total.is_finite()) {
        let mass: Vec<f64> = which.iter().map(|&i| mass[i]).collect();
        return Core { centre: centre_of(&mass, &pos), density: f64::NAN, radius: f64::NAN };
    }
    let centre = centre_of(&weight, &pos);
    let radius = sum(weight.iter().zip(&pos).map(|(w, x)| w * (x - centre).norm())) / total;
    Core { centre, density: densest * (sum(weight.iter().map(|w| w * w)) / total), radius }
}

/// Returns the density at each particle; NaN with fewer than two neighbours.
#[must_use]
pub fn densities(mass: &[f64], neighbours: &Neighbours<'_>) -> Vec<f64> {
    (0..mass.len()).map(|i| density_at(mass, neighbours, i)).collect()
}

/// Returns the density at a particle; NaN with fewer than two neighbours.
fn density_at(mass: &[f64], neighbours: &Neighbours<'_>, i: usize) -> f64 {
    match neighbours.nearest(i) {
        [nearer @ .., last] if !nearer.is_empty() => {
            let mass: f64 = nearer.iter().map(|neighbour| mass[neighbour.index as usize]).sum();
            if mass == 0.0 { 0.0 } else { mass / (4.0 / 3.0 * PI * last.distance.powi(3)) }
        }
        _ => f64::NAN,
    }
}

/// Returns the weighted mean of some vectors; zero if the total weight is.
#[must_use]
pub fn centre_of(weight: &[f64], vectors: &[Vec3]) -> Vec3 {
    let total = sum(weight.iter().copied());
    let moment = sum3(weight.iter().zip(vectors).map(|(w, x)| x * *w));
    if total == 0.0 { Vec3::zeros() } else { moment / total }
}
