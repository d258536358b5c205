//! Kinds of engines: the identity of an engine in configurations, in files and on the screen.

use super::cpu::Width;
use super::points::FieldEngine;
use super::precision::Precision;
use super::{cpu, reference};
use crate::error::{Error, Result};
use crate::law::Law;
use crate::time::Clock;
use std::sync::Arc;

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

    /// Creates an engine of this kind without sources. `epsilon` is the Plummer softening, `clock` the time axis of the
    /// sources (internal units), `device` the number of the GPU.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no such GPU or this build has no engine for GPUs, or if `TISANE_SIMD` names
    /// instructions that this machine does not have.
    pub fn open(self, precision: Precision, epsilon: f64, clock: Clock, device: usize) -> Result<Box<dyn FieldEngine>> {
        Ok(match self {
            Self::Cpu => {
                let width = Width::choose_for(precision).map_err(|problem| Error::input(Width::VARIABLE, problem))?;
                cpu::engine(precision, epsilon, clock, width)
            }
            #[cfg(feature = "cuda")]
            Self::Cuda => Box::new(super::cuda::CudaEngine::new(precision, epsilon, clock, device)?),
            #[cfg(not(feature = "cuda"))]
            Self::Cuda => return Err(without_cuda(device)),
            Self::Reference => reference::engine(precision, epsilon, clock),
        })
    }

    /// Opens an engine without sources for a law in place of Newton's; see [`Self::open`].
    ///
    /// # Errors
    /// As [`Self::open`], and if the kernels of the law cannot be compiled, or if `TISANE_SIMD` names instructions that this machine does
    /// not have.
    pub fn open_with_law(
        self,
        law: &Arc<Law>,
        precision: Precision,
        epsilon: f64,
        clock: Clock,
        device: usize,
    ) -> Result<Box<dyn FieldEngine>> {
        match self {
            Self::Cpu => {
                let width = Width::choose_for(precision).map_err(|problem| Error::input(Width::VARIABLE, problem))?;
                Ok(cpu::law_engine(law, precision, epsilon, clock, width))
            }
            #[cfg(feature = "cuda")]
            Self::Cuda => Ok(Box::new(super::cuda::CudaEngine::with_law(law, precision, epsilon, clock, device)?)),
            #[cfg(not(feature = "cuda"))]
            Self::Cuda => Err(without_cuda(device)),
            Self::Reference => Ok(reference::law_engine(law, precision, epsilon, clock)),
        }
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

/// Returns the error of a build without the engine for GPUs.
#[cfg(not(feature = "cuda"))]
fn without_cuda(device: usize) -> Error {
    Error::input("CUDA", format!("device {device}: this tisane was built without its engine for GPUs"))
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
