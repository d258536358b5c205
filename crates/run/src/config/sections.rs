//! Sections of the configuration. The documentation of each key is also its description in the JSON Schema and in the
//! resolved configuration: one line with its meaning and unit.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::devices::DeviceSet;
use super::law::LawSection;
use tisane::diagnostics::cluster::LagrangianMass;
use tisane::force::EngineKind;
use tisane::force::precision::Precision;
use tisane::real;
pub use tisane::spin_pool::MAX_THREADS;
use tisane::units::Real;
use tisane::units::names::{LengthUnit, MassUnit, TimeUnit, VelocityUnit};
use tisane::units::{Rates, Units};

/// Name, start and end of the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Name of the run and of its directory: letters, digits and `.`, `_`, `-`.
    pub name: String,
    /// Time at which the run ends; unit: time.
    pub t_end: Real,
    /// Time at which the run starts; unit: time. Default: the time in the input file, otherwise 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub t_start: Option<Real>,
}

/// Units of everything in this file and of all output.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnitsSection {
    /// System of units, in place of the names of single units. Default: henon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) system: Option<System>,
    /// Unit of mass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mass: Option<MassUnit>,
    /// Unit of length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) length: Option<LengthUnit>,
    /// Unit of velocity. Default: length / time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) velocity: Option<VelocityUnit>,
    /// Unit of time. Default: length / velocity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) time: Option<TimeUnit>,
}

/// System of units with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum System {
    /// N-body units: G = 1, total mass 1, energy −1/4 (Heggie & Mathieu 1986).
    Henon,
}

impl UnitsSection {
    /// Returns the units that are given by name; [`None`] if they are incomplete.
    pub(super) fn named(&self) -> Option<Units> {
        Some(Units::named(self.mass?, self.length?, Rates::from_names(self.velocity, self.time)?))
    }
}

/// Softening of the pair force.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Softening {
    /// Plummer softening length, 0 or more; unit: length.
    pub epsilon: Real,
}

impl Default for Softening {
    fn default() -> Self {
        Self { epsilon: real!(0.0) }
    }
}

/// Engine that computes the forces, and its precision mode.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Force {
    /// Force engine.
    pub engine: Engine,
    /// Number of the GPU that the engine cuda computes on; `tisane verify` lists them.
    #[schemars(range(max = MAX_DEVICE))]
    pub device: u32,
    /// Numbers of several GPUs that the engine cuda computes on together, or "all", instead of device. Bits do not depend on
    /// it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub devices: Option<DeviceSet>,
    /// Place where whole block steps are taken with the engine cuda. Bits do not depend on it.
    pub stepping: Stepping,
    /// Precision mode: the types in which forces are computed. Energies are always measured in f64. Default: mixed with the engine cuda, otherwise f64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) precision: Option<Precision>,
    /// Number of threads of the CPU engine; 0 for one per core.
    #[schemars(range(max = MAX_THREADS))]
    pub threads: u32,
    /// Law of the force between two particles in place of Newton's: a ready one by its name, or a formula. Default: Newton's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law: Option<LawSection>,
}

/// Place where whole block steps are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stepping {
    /// On the device where it can.
    #[default]
    Auto,
    /// By the host, which asks the device for forces.
    Host,
    /// On the device; a warning tells why where it cannot.
    Device,
}

/// Highest number of a GPU that a run may ask for.
pub const MAX_DEVICE: u32 = 1023;

impl Force {
    /// Returns the precision mode. With `auto` the default is f64 on any machine, so that the result does not depend on
    /// the hardware.
    #[must_use]
    pub fn precision(&self) -> Precision {
        let default = if self.engine == Engine::Cuda { Precision::Mixed } else { Precision::F64 };
        self.precision.unwrap_or(default)
    }
}

/// Force engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// CUDA if there is a GPU and N is large enough for it to be faster, otherwise the CPU. The run reports its choice
    /// with the reason.
    #[default]
    Auto,
    /// Vector units of all CPU cores.
    Cpu,
    /// NVIDIA GPU.
    Cuda,
    /// Scalar implementation on one thread: slow, for checks of the other engines.
    Reference,
}

impl Engine {
    /// All engines.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Cpu, Self::Cuda, Self::Reference];

    /// Returns the kind of the engine; [`None`] for `auto`.
    #[must_use]
    pub const fn kind(self) -> Option<EngineKind> {
        match self {
            Self::Auto => None,
            Self::Cpu => Some(EngineKind::Cpu),
            Self::Cuda => Some(EngineKind::Cuda),
            Self::Reference => Some(EngineKind::Reference),
        }
    }

    /// Returns the name in configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.kind() {
            None => "auto",
            Some(kind) => kind.name(),
        }
    }
}

/// Output: directory and intervals, which are whole multiples of dt_max, with the leapfrog of dt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Output {
    /// Time between snapshots and between rows of diagnostics; unit: time. Default: dt_max, with the leapfrog 128 dt;
    /// where dt_max follows from the system, for at most 500 of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) interval: Option<Real>,
    /// Time between snapshots; unit: time. Default: interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) snapshot_interval: Option<Real>,
    /// Time between rows of diagnostics; unit: time. Default: interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) diagnostics_interval: Option<Real>,
    /// Directory of the output, relative to the current one. Default: `runs/<name of the run>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Reaction to a full disk or an exhausted quota.
    pub on_full: OnFull,
}

/// Reaction to a full disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnFull {
    /// Stop the run with an error; its last checkpoint stays valid.
    #[default]
    Stop,
    /// Wait until there is space, and go on.
    Wait,
}

/// Cluster diagnostics: centre, core, Lagrangian radii, binaries, escapers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClusterSection {
    /// Flag that the cluster is analysed at the interval.
    pub enabled: bool,
    /// Time between analyses; unit: time. Default: output.interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) interval: Option<Real>,
    /// Number of neighbours for the density at a particle, the j of Casertano & Hut (1985).
    #[schemars(range(min = 2, max = 64))]
    pub neighbours: u32,
    /// Mass whose fractions define the Lagrangian radii.
    pub lagrangian_mass: LagrangianMass,
    /// Least binding energy of a binary or hierarchy, in kT; 0 or more.
    pub binary_hardness: Real,
    /// Distance from the density centre beyond which an unbound particle has escaped, in half-mass radii, above 0.
    pub escape_radius: Real,
    /// Largest separation of a close encounter, in 4 half-mass radii / N; 0 for none.
    pub encounter_radius: Real,
}

impl Default for ClusterSection {
    fn default() -> Self {
        Self {
            enabled: true,
            interval: None,
            neighbours: 6,
            lagrangian_mass: LagrangianMass::Initial,
            binary_hardness: real!(1.0),
            escape_radius: real!(10.0),
            encounter_radius: real!(1.0),
        }
    }
}
