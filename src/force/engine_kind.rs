//! Kinds of engines: the identity of an engine in configurations, in files and on the screen.

use super::precision::Precision;

/// Kind of a force engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EngineKind {
    /// CPU, with vector units and all cores.
    Cpu,
    /// NVIDIA GPU.
    Cuda,
    /// Scalar CPU code, clear and slow, against which the others are checked.
    Reference,
}

impl EngineKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Cpu, Self::Cuda, Self::Reference];

    /// Returns the name in configurations and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
            Self::Reference => "reference",
        }
    }

    /// Finds a kind by its name; [`None`] if there is no such kind.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns true if engines of both kinds give the same bits in a mode. All do in f64; in the other modes only the
    /// 1/√ of a GPU differs.
    #[must_use]
    pub fn same_bits(self, other: Self, precision: Precision) -> bool {
        precision == Precision::F64 || (self == Self::Cuda) == (other == Self::Cuda)
    }

    /// Returns true if this engine evaluates the mode in f64 and fast enough to measure energies too, so that a run
    /// needs no separate engine for measurements.
    #[must_use]
    pub fn measures_energy(self, precision: Precision) -> bool {
        match self {
            Self::Cpu => precision.in_f64(),
            Self::Cuda => precision == Precision::F64,
            Self::Reference => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_kinds() {
        for kind in EngineKind::ALL {
            assert_eq!(EngineKind::from_name(kind.name()), Some(kind));
        }
        assert_eq!(EngineKind::from_name("auto"), None);
    }

    #[test]
    fn bits_differ_between_a_gpu_and_the_rest_below_f64() {
        use EngineKind::{Cpu, Cuda, Reference};
        for precision in Precision::ALL {
            let exact = precision == Precision::F64;
            assert!(Cpu.same_bits(Reference, precision) && Cuda.same_bits(Cuda, precision));
            for (one, other) in [(Cpu, Cuda), (Cuda, Cpu), (Cuda, Reference)] {
                assert_eq!(one.same_bits(other, precision), exact, "{one:?} {other:?} {}", precision.name());
            }
        }
    }
}
