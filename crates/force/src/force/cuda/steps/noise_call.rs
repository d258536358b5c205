//! Scales of accelerations as kernels know them.

use crate::force::noise::Noise;
use bytemuck::{Pod, Zeroable};

/// [`Noise`], with the layout of `Noise` in kernels/noise.cuh. Both must be changed together.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct NoiseCall {
    relative: f64,
    per_mass: f64,
    square: f64,
    per_rest: f64,
    square_of_rest: f64,
    heaviest: u32,
    unused: u32,
}

impl From<Noise> for NoiseCall {
    fn from(Noise { relative, per_mass, square, per_rest, square_of_rest, heaviest }: Noise) -> Self {
        Self { relative, per_mass, square, per_rest, square_of_rest, heaviest, unused: 0 }
    }
}
