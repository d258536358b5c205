//! Slices of the particles' columns, so that threads can move the parts of a block at the same time.

use crate::particles::{Particles, Vec3};
use crate::time::{Level, Time};

/// Columns that a step changes, of consecutive particles from `first` on.
#[derive(Debug)]
pub struct ParticleSlices<'a> {
    /// Index of the first particle.
    pub first: usize,
    /// Columns, as in [`Particles`].
    pub pos: &'a mut [Vec3],
    pub vel: &'a mut [Vec3],
    pub acc: &'a mut [Vec3],
    pub jerk: &'a mut [Vec3],
    pub pot: &'a mut [f64],
    pub time: &'a mut [Time],
    pub step: &'a mut [Level],
}

impl<'a> ParticleSlices<'a> {
    /// Returns one slice of all particles.
    pub fn all(p: &'a mut Particles) -> Self {
        let Particles { id: _, mass: _, pos, vel, acc, jerk, pot, time, step } = p;
        Self { first: 0, pos, vel, acc, jerk, pot, time, step }
    }

    /// Splits into the particles before index `i`, and the others.
    fn split(self, i: usize) -> (Self, Self) {
        let at = i - self.first;
        let (pos, vel) = (self.pos.split_at_mut(at), self.vel.split_at_mut(at));
        let (acc, jerk) = (self.acc.split_at_mut(at), self.jerk.split_at_mut(at));
        let (pot, time, step) = (self.pot.split_at_mut(at), self.time.split_at_mut(at), self.step.split_at_mut(at));
        (
            Self {
                first: self.first,
                pos: pos.0,
                vel: vel.0,
                acc: acc.0,
                jerk: jerk.0,
                pot: pot.0,
                time: time.0,
                step: step.0,
            },
            Self { first: i, pos: pos.1, vel: vel.1, acc: acc.1, jerk: jerk.1, pot: pot.1, time: time.1, step: step.1 },
        )
    }

    /// Splits into one slice for each `size` entries of the ascending list `index`, which contains their particles.
    pub fn for_chunks(self, index: &[u32], size: usize) -> Vec<Self> {
        let (mut rest, mut slices) = (self, Vec::with_capacity(index.len().div_ceil(size)));
        for chunk in index.chunks(size) {
            let end = chunk.last().map_or(rest.first, |&i| i as usize + 1);
            let (slice, after) = rest.split(end);
            slices.push(slice);
            rest = after;
        }
        slices
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_cover_their_chunks_and_do_not_overlap() {
        let mut p = Particles::new(vec![1.0; 50], vec![Vec3::zeros(); 50], vec![Vec3::zeros(); 50]);
        (0..50).for_each(|i| p.pot[i] = i as f64);
        let index = [0, 3, 4, 20, 21, 30, 49];
        for size in 1..9 {
            let slices = ParticleSlices::all(&mut p).for_chunks(&index, size);
            assert_eq!(slices.len(), index.len().div_ceil(size));
            let mut end = 0;
            for (slice, chunk) in slices.iter().zip(index.chunks(size)) {
                assert_eq!(slice.first, end);
                end = slice.first + slice.step.len();
                for i in chunk.iter().map(|&i| i as usize) {
                    assert_eq!(slice.pot[i - slice.first], i as f64);
                }
            }
        }
    }
}
