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
    /// One running sum in f32 over all sources, the DIRECT scheme of Hamada & Iitaka (2007); for studies.
    F32Direct,
    /// Bags of sources in f32, added up in order, the Chamomile scheme of Hamada & Iitaka (2007); for studies.
    F32Chamomile,
    /// Compensated sums in f32.
    F32Kahan,
    /// Chamomile bags with exact position differences and wide totals.
    Mixed,
    /// Pairs of f32 in all stages: needs no f64 hardware.
    DoubleFloat,
    /// `f64` with a faster 1/√ on GPUs, accurate to about an ulp. On the CPU it is `f64`.
    F64Fast,
    /// All stages in f64: the reference.
    #[default]
    F64,
}

/// Properties of a mode apart from its arithmetic.
struct ModeProperties {
    name: &'static str,
    in_f64: bool,
    noise: f64,
    audit_limit: f64,
    gpu_wins_from: usize,
    kernels: ModeKernels,
    references: &'static [&'static str],
}

/// Kernels of a mode in the CUDA engine, by their numbers of targets, and their speed.
#[derive(Clone, Copy, Debug)]
pub struct ModeKernels {
    /// Numbers of targets a lane of kernels for small blocks: `TISANE_EACH_WHOLE` of kernels/precision.cuh.
    pub whole: &'static [usize],
    /// Numbers of targets a thread of kernels for large blocks: `TISANE_EACH_TILES`.
    pub tiles: &'static [usize],
    /// Numbers of targets a thread of kernels of accelerations: `TISANE_EACH_ACCELERATION`.
    pub accelerations: &'static [usize],
    /// Approximate number of pairs a second, for estimates of the time that tuning takes.
    pub pairs_per_second: f64,
    /// Flag that the mode is used for runs of a million particles and therefore tuned for them.
    pub for_many: bool,
}

/// Paper of the sums over bags, which all modes have, and those of compensated sums and two-sums.
const BAGS: &[&str] = &["HamadaIitaka2007"];
const KAHAN: &[&str] = &["HamadaIitaka2007", "Kahan1965", "Knuth1969", "Dekker1971"];
const TWO_SUM: &[&str] = &["HamadaIitaka2007", "Knuth1969", "Dekker1971"];

impl Precision {
    /// All modes, from the coarsest to the reference.
    pub const ALL: [Self; 7] =
        [Self::F32Direct, Self::F32Chamomile, Self::F32Kahan, Self::Mixed, Self::DoubleFloat, Self::F64Fast, Self::F64];

    /// Returns the properties of a mode: the table of the modes. [`super::mode`] has the arithmetic of each, and
    /// kernels/precision.cuh that of its kernels.
    const fn properties(self) -> ModeProperties {
        let (name, in_f64, noise, audit_limit, gpu_wins_from, references) = match self {
            Self::F32Direct => ("f32-direct", false, 0.0, 1e-2, 8192, BAGS),
            Self::F32Chamomile => ("f32-chamomile", false, 0.0, 1e-2, 1024, BAGS),
            Self::F32Kahan => ("f32-kahan", false, 0.0, 1e-2, 1024, KAHAN),
            Self::Mixed => ("mixed", false, 4e-7, 1e-5, 1024, BAGS),
            Self::DoubleFloat => ("double-float", false, 4e-7, 1e-5, 1024, TWO_SUM),
            Self::F64Fast => ("f64-fast", true, 0.0, 1e-11, 1024, BAGS),
            Self::F64 => ("f64", true, 0.0, 1e-11, 1024, BAGS),
        };
        let (whole, tiles, accelerations, pairs_per_second, for_many): (&[_], &[_], &[_], _, _) = match self {
            Self::F32Direct => (&[], &[1, 2], &[1, 2, 4], 8e11, false),
            Self::F32Chamomile => (&[1, 2], &[1, 2], &[1, 2, 4], 8e11, false),
            Self::F32Kahan => (&[1, 2], &[2, 3], &[1, 4], 5e11, false),
            Self::Mixed => (&[1, 2], &[2, 3], &[1, 4], 5e11, true),
            Self::DoubleFloat => (&[1, 2], &[2, 3], &[1, 4], 3e11, false),
            Self::F64Fast => (&[1, 2], &[1], &[1, 2], 3e11, true),
            Self::F64 => (&[1, 2], &[1], &[1, 2], 3e11, true),
        };
        let kernels = ModeKernels { whole, tiles, accelerations, pairs_per_second, for_many };
        ModeProperties { name, in_f64, noise, audit_limit, gpu_wins_from, kernels, references }
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

    /// Returns the number of particles from which a run is faster on a GPU than on the CPU's cores.
    ///
    /// Measured with `tisane bench run` in f64 and mixed, on one NVIDIA H200 against a CPU with AVX-512 (docs: GPUs,
    /// Measured). The leapfrog, whose blocks are all particles, breaks even between 512 and 1024 there against 16
    /// cores. For fewer particles the CPU finishes a block before the copies, launches and waits of an evaluation on a
    /// GPU do. `f32-direct` has one sum over all sources in order, so that a small block occupies few threads of a GPU.
    #[must_use]
    pub const fn gpu_wins_from(self) -> usize {
        self.properties().gpu_wins_from
    }

    /// Returns the kernels of the mode in the CUDA engine.
    #[must_use]
    pub const fn kernels(self) -> ModeKernels {
        self.properties().kernels
    }

    /// Returns the papers that the mode is taken from, by their keys in the references of `tisane generate cite`.
    #[must_use]
    pub const fn references(self) -> &'static [&'static str] {
        self.properties().references
    }

    /// Returns the number of particles from which a run is faster on a GPU that takes whole block steps.
    ///
    /// Measured as [`Self::gpu_wins_from`], in f64: at 256 particles the GPU took 0.0035 s, 16 cores 0.0064 s.
    #[must_use]
    pub const fn gpu_steps_win_from(self) -> usize {
        // The kernels of all modes but one with a single sum take about as long for so few particles.
        if matches!(self, Self::F32Direct) { self.gpu_wins_from() } else { 256 }
    }

    /// Returns the number of particles on a GPU up to which a kernel that stays there takes whole block steps faster than
    /// several kernels a step, measured on an H200: beyond it forces by kernels of their own, on all multiprocessors, save
    /// more than the launches cost.
    #[must_use]
    pub const fn resident_wins_to(self) -> usize {
        match self {
            Self::F64 | Self::F64Fast => 1 << 14,
            // Its blocks are smaller: noise shortens its steps.
            Self::F32Kahan => 1 << 16,
            _ => 1 << 15,
        }
    }
}
