//! Which vector instructions to use, chosen at run time.

use pulp::{Scalar, Simd, WithSimd, x86::V3, x86::V4};

/// A set of vector instructions that this machine has.
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
    /// The names by which a width can be forced.
    pub const NAMES: [&'static str; 3] = ["avx512", "avx2", "baseline"];
    /// Environment variable that forces a width.
    pub const VARIABLE: &'static str = "TISANE_SIMD";

    /// The widths that this machine has, widest first.
    #[must_use]
    pub fn available() -> Vec<Self> {
        Self::NAMES.iter().filter_map(|name| Self::by_name(name)).collect()
    }

    /// The width of that name, if it is one and this machine has it.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "avx512" => V4::try_new().map(Self::Avx512),
            "avx2" => V3::try_new().map(Self::Avx2),
            "baseline" => Some(Self::Baseline(Scalar)),
            _ => None,
        }
    }

    /// Returns the widest set of instructions that this machine has.
    #[must_use]
    pub fn widest() -> Self {
        Self::available().first().copied().unwrap_or(Self::Baseline(Scalar))
    }

    /// The widest there is, or the one that [`Self::VARIABLE`] forces.
    ///
    /// # Errors
    /// If the variable names no width of this machine: says which there are.
    pub fn choose() -> Result<Self, String> {
        match std::env::var(Self::VARIABLE) {
            Err(_) => Ok(Self::widest()),
            Ok(name) => Self::by_name(&name).ok_or_else(|| {
                let here: Vec<_> = Self::available().iter().map(Self::name).collect();
                format!("{}={name}: this machine has {}", Self::VARIABLE, here.join(", "))
            }),
        }
    }

    /// Its name.
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
