//! Vector instructions, chosen at run time.

use pulp::{Scalar, Simd, WithSimd, x86::V3, x86::V4};

/// Set of vector instructions that this machine supports.
#[derive(Clone, Copy, Debug)]
pub enum Width {
    /// AVX-512 (x86-64-v4): 8 lanes of f64.
    Avx512(V4),
    /// AVX2 and FMA (x86-64-v3): 4 lanes.
    Avx2(V3),
    /// Any machine: one lane; the fused multiply-add may be a slow library call.
    Baseline(Scalar),
}

impl Width {
    /// Names by which a width can be forced.
    pub const NAMES: [&'static str; 3] = ["avx512", "avx2", "baseline"];
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
            "avx2" => V3::try_new().map(Self::Avx2),
            "baseline" => Some(Self::Baseline(Scalar)),
            _ => None,
        }
    }

    /// Returns the widest set of instructions that this machine supports.
    #[must_use]
    pub fn widest() -> Self {
        Self::available().first().copied().unwrap_or(Self::Baseline(Scalar))
    }

    /// Returns the widest width, or the one that [`Self::VARIABLE`] forces.
    ///
    /// # Errors
    /// A message with the widths of this machine, if the variable names none of them.
    pub fn choose() -> Result<Self, String> {
        match std::env::var(Self::VARIABLE) {
            Err(_) => Ok(Self::widest()),
            Ok(name) => Self::from_name(&name).ok_or_else(|| {
                let here: Vec<_> = Self::available().iter().map(Self::name).collect();
                format!("{}={name}: this machine has {}", Self::VARIABLE, here.join(", "))
            }),
        }
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Avx512(_) => "avx512",
            Self::Avx2(_) => "avx2",
            Self::Baseline(_) => "baseline",
        }
    }

    /// Runs `work` compiled for these instructions.
    #[inline]
    pub fn run<W: WithSimd>(self, work: W) -> W::Output {
        match self {
            Self::Avx512(simd) => Simd::vectorize(simd, work),
            Self::Avx2(simd) => Simd::vectorize(simd, work),
            Self::Baseline(simd) => Simd::vectorize(simd, work),
        }
    }
}
