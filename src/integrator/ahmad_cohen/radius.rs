//! Radius within which a particle's neighbours lie, so that their number stays near the one that is wanted.

use super::AhmadCohen;
use crate::nearest::Neighbours;
#[cfg(doc)]
use tisane_force::force::neighbours::next_radius;
use tisane_force::particles::Particles;

/// Number of nearest particles that a first radius is measured by.
const MEASURED: usize = 32;

impl AhmadCohen {
    /// Returns the first radius of every particle: the wanted number of neighbours lies within it, if that is small;
    /// otherwise it follows from the density of the nearest ones.
    pub(super) fn first_radii(&self, p: &Particles) -> Vec<f64> {
        // Radii that stay as they are: see [`next_radius`].
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
