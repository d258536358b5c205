//! Radius within which a particle's neighbours lie, so that their number stays near the one that is wanted.

use super::AhmadCohen;
use crate::nearest::Neighbours;
use crate::particles::Particles;

/// Smallest number of neighbours that is wanted.
pub const LEAST: f64 = 4.0;
/// Largest number of neighbours in a list, in units of the one that is wanted. Beyond, the list stays empty until the
/// radius has shrunk: as right, and not dearer than a list of most particles.
pub const MOST: f64 = 4.0;
/// Largest and smallest ratio of the radii of two regular steps.
const RATIOS: [f64; 2] = [0.9, 1.1];
/// Ratio where there was no neighbour: the volume doubles.
const WITHOUT: f64 = 1.26;
/// Number of nearest particles that a first radius is measured by.
const MEASURED: usize = 32;

/// Returns the next radius of a particle that had `found` particles within its radius: the one that would have the wanted
/// number at the same density, within limits, so that the number does not swing.
pub fn next(radius: f64, found: u32, wanted: f64) -> f64 {
    let ratio = if found == 0 {
        WITHOUT
    } else {
        let [least, most] = RATIOS;
        libm::cbrt(wanted / f64::from(found)).clamp(least, most)
    };
    let next = radius * ratio;
    // Zero and the largest number stay what they are.
    if next.is_normal() { next } else { radius }
}

impl AhmadCohen {
    /// Returns the first radius of every particle: the wanted number of neighbours lies within it, if that is small;
    /// otherwise it follows from the density of the nearest ones.
    pub(super) fn first_radii(&self, p: &Particles) -> Vec<f64> {
        // Radii that stay as they are: see [`next`].
        if self.wanted >= p.len().saturating_sub(1) as f64 {
            return vec![f64::MAX; p.len()];
        }
        if self.wanted == 0.0 {
            return vec![0.0; p.len()];
        }
        let wanted = self.wanted.round() as usize;
        let measured = wanted.min(MEASURED);
        let nearest = Neighbours::new(&p.id, &p.pos, measured + 1);
        let scale = libm::cbrt(self.wanted.round() / measured.max(1) as f64);
        let widest = p.pos.iter().flatten().fold(0.0, |widest: f64, x| widest.max(x.abs()));
        let radius = |i: usize| {
            let near = nearest.nearest(i);
            let at = |k: usize| near.get(k).map_or(0.0, |neighbour| neighbour.distance);
            // Between the last that is wanted and the next one.
            let (last, next) = (at(measured.saturating_sub(1)), at(measured));
            let middle = if next > last { 0.5 * (last + next) } else { 1.1 * last };
            if middle > 0.0 { scale * middle } else { widest }
        };
        (0..p.len()).map(radius).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_comes_near_the_wanted_one_and_stays() {
        // 10 neighbours in the unit sphere, at a uniform density.
        let found = |radius: f64| (10.0 * radius.powi(3)) as u32;
        for (first, steps) in [(0.02, 60), (1.0, 10), (40.0, 60)] {
            let mut radius: f64 = first;
            for _ in 0..steps {
                radius = next(radius, found(radius), 24.0);
            }
            for _ in 0..20 {
                radius = next(radius, found(radius), 24.0);
                assert!((22..=26).contains(&found(radius)), "from {first}: {radius}");
            }
        }
    }

    #[test]
    fn a_radius_stays_a_number() {
        let mut radius = 1e300;
        for _ in 0..1000 {
            radius = next(radius, 0, 4.0);
        }
        assert!(radius.is_finite());
        assert_eq!(next(0.0, 0, 4.0), 0.0);
        assert_eq!(next(f64::MAX, 9, 4.0), f64::MAX * 0.9);
        assert_eq!(next(f64::MAX, 9, 9.0), f64::MAX);
    }
}
