//! The precision modes (method.md, "Precision modes").

/// Types in which forces are computed. Only whole modes exist, not free combinations of stages.
///
/// | mode | position difference | pair | sum in a bag | sum over bags |
/// |---|---|---|---|---|
/// | `f32-direct` | f32 | f32 | f32, one running sum over all sources | – |
/// | `f32-chamomile` | f32 | f32 | f32 | f32, in order |
/// | `f32-kahan` | f32 | f32 | f32, compensated | pairs of f32, tree |
/// | `mixed` | two f32 | f32 | f32 | f64, tree |
/// | `double-float` | two f32 | f32 | two-sum pairs of f32 | two-sum pairs of f32, tree |
/// | `f64-fast` | f64 | f64, 1/√ within an ulp or so on GPUs | f64 | f64, tree |
/// | `f64` | f64 | f64 | f64 | f64, tree |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Precision {
    /// Hamada & Iitaka's (2007) DIRECT: for studies.
    F32Direct,
    /// Their Chamomile scheme: bags in f32, added up in order. For studies.
    F32Chamomile,
    /// Compensated sums of f32.
    F32Kahan,
    /// Chamomile bags with exact position differences and wide totals.
    Mixed,
    /// Pairs of f32 all the way: needs no f64 hardware.
    DoubleFloat,
    /// `f64` with a faster 1/√ on GPUs, right to about an ulp. On the CPU it is `f64`.
    F64Fast,
    /// Everything in f64: the reference.
    #[default]
    F64,
}

/// Properties of a mode apart from its arithmetic.
struct ModeProperties {
    name: &'static str,
    in_f64: bool,
    noise: f64,
    audit_limit: f64,
}

impl Precision {
    /// All modes, from the coarsest to the reference.
    pub const ALL: [Self; 7] =
        [Self::F32Direct, Self::F32Chamomile, Self::F32Kahan, Self::Mixed, Self::DoubleFloat, Self::F64Fast, Self::F64];

    /// Returns the properties of a mode: the table of the modes. [`super::mode`] has the arithmetic of each, and the
    /// CUDA engine its kernels.
    const fn properties(self) -> ModeProperties {
        match self {
            Self::F32Direct => ModeProperties { name: "f32-direct", in_f64: false, noise: 0.0, audit_limit: 1e-2 },
            Self::F32Chamomile => {
                ModeProperties { name: "f32-chamomile", in_f64: false, noise: 0.0, audit_limit: 1e-2 }
            }
            Self::F32Kahan => ModeProperties { name: "f32-kahan", in_f64: false, noise: 0.0, audit_limit: 1e-2 },
            Self::Mixed => ModeProperties { name: "mixed", in_f64: false, noise: 4e-7, audit_limit: 1e-5 },
            Self::DoubleFloat => ModeProperties { name: "double-float", in_f64: false, noise: 4e-7, audit_limit: 1e-5 },
            Self::F64Fast => ModeProperties { name: "f64-fast", in_f64: true, noise: 0.0, audit_limit: 1e-11 },
            Self::F64 => ModeProperties { name: "f64", in_f64: true, noise: 0.0, audit_limit: 1e-11 },
        }
    }

    /// Returns the name in configurations and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.properties().name
    }

    /// Returns true if every stage is in f64. On the CPU these modes have the same bits.
    #[must_use]
    pub const fn in_f64(self) -> bool {
        self.properties().in_f64
    }

    /// Returns the rounding error of an acceleration relative to max(|a|, φ²/M), which the step criterion must not take
    /// for a derivative. It is given for the two modes that are accurate to the rounding of their pairs; 0 for f64,
    /// where it does not matter, and for the coarser modes, whose errors depend on the positions of the particles.
    #[must_use]
    pub const fn noise(self) -> f64 {
        self.properties().noise
    }

    /// Returns the relative force error at which an audit stops a run by default: at least a hundred times the error
    /// that the mode shows on star clusters, so that only a fault or an unsuitable mode exceeds it. Modes that round
    /// positions to one f32 are inaccurate for close pairs.
    #[must_use]
    pub const fn audit_limit(self) -> f64 {
        self.properties().audit_limit
    }
}
