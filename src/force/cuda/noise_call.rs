//! Rounding errors of accelerations as kernels know them.

use crate::force::noise::Noise;
use bytemuck::{Pod, Zeroable};

/// [`Noise`], with the layout of `Noise` in kernels/noise.cuh. Both must be changed together.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct NoiseCall {
    relative: f64,
    cancelled: f64,
    per_mass: f64,
    per_rest: f64,
    heaviest: u32,
    unused: u32,
}

impl From<Noise> for NoiseCall {
    fn from(Noise { relative, cancelled, per_mass, per_rest, heaviest }: Noise) -> Self {
        Self { relative, cancelled, per_mass, per_rest, heaviest, unused: 0 }
    }
}
