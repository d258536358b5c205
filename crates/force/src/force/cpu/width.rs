//! Sets of vector instructions.

use pulp::{Scalar, Simd, WithSimd, x86::V3, x86::V4};

/// Set of vector instructions that this machine supports.
#[derive(Clone, Copy, Debug)]
pub enum Width {
    /// AVX-512 (x86-64-v4): 8 lanes of f64.
    Avx512(V4),
    /// AVX-512, with divisions in f64 by fused multiply-adds, of the same bits. Quicker where the unit for divisions is
    /// slow.
    Avx512Fma(V4),
    /// AVX2 and FMA (x86-64-v3): 4 lanes.
    Avx2(V3),
    /// Any machine: one lane; the fused multiply-add may be a slow library call.
    Baseline(Scalar),
}

impl Width {
    /// Names by which a width can be forced.
    pub const NAMES: [&'static str; 4] = ["avx512", "avx512-fma", "avx2", "baseline"];
    /// Environment variable that forces a width.
    pub const VARIABLE: &'static str = "TISANE_SIMD";

    /// Returns the widths that this machine supports, widest first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        Self::NAMES.iter().filter_map(|name| Self::from_name(name)).collect()
    }

    /// Returns the width of that name; [`None`] if there is none or this machine does not support it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "avx512" => V4::try_new().map(Self::Avx512),
            "avx512-fma" => V4::try_new().map(Self::Avx512Fma),
            "avx2" => V3::try_new().map(Self::Avx2),
            "baseline" => Some(Self::Baseline(Scalar)),
            _ => None,
        }
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Avx512(_) => "avx512",
            Self::Avx512Fma(_) => "avx512-fma",
            Self::Avx2(_) => "avx2",
            Self::Baseline(_) => "baseline",
        }
    }

    /// Returns the unit on which divisions in f64 are computed by fused multiply-adds; [`None`] for those of the machine.
    #[must_use]
    pub const fn divides_on(&self) -> Option<V4> {
        match self {
            Self::Avx512Fma(simd) => Some(*simd),
            Self::Avx512(_) | Self::Avx2(_) | Self::Baseline(_) => None,
        }
    }

    /// Returns the name of the set of instructions: the same for all divisions.
    #[must_use]
    pub const fn instructions(&self) -> &'static str {
        match self {
            Self::Avx512(_) | Self::Avx512Fma(_) => "avx512",
            Self::Avx2(_) => "avx2",
            Self::Baseline(_) => "baseline",
        }
    }

    /// Runs `work` compiled for these instructions.
    #[inline]
    pub fn run<W: WithSimd>(self, work: W) -> W::Output {
        match self {
            Self::Avx512(simd) | Self::Avx512Fma(simd) => Simd::vectorize(simd, work),
            Self::Avx2(simd) => Simd::vectorize(simd, work),
            Self::Baseline(simd) => Simd::vectorize(simd, work),
        }
    }
}
