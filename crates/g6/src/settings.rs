//! What the user chooses by environment variables, since the interface has no argument for it.

use crate::failure::{Code, Failure, Result};
use tisane::force::EngineKind;
use tisane::force::precision::Precision;

/// Number of pipelines of GRAPE-6 and Phantom-GRAPE. Clients for these have arrays of this size.
pub const GRAPE_PIPES: usize = 48;
/// Number of pipelines of Sapporo. Clients for it allocate as many as there are.
pub const GPU_PIPES: usize = 256;
/// Largest number of targets in a call, and of pipelines that can be asked for.
pub const MAX_TARGETS: usize = 1 << 17;

/// Engine and mode that `g6_open` opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Kind of engine.
    pub kind: EngineKind,
    /// Number of the GPU.
    pub device: usize,
    /// Precision mode.
    pub precision: Precision,
    /// Number of targets that clients send in one call.
    pub pipes: usize,
}

impl Settings {
    /// Reads the settings from the environment.
    ///
    /// # Errors
    /// [`Code::Setting`] with the variable and its possible values.
    pub fn from_environment() -> Result<Self> {
        Self::read(|name| std::env::var(name).ok())
    }

    /// Reads the settings from `variable`, which returns the value of a variable. An empty value counts as none.
    ///
    /// # Errors
    /// [`Code::Setting`] with the variable and its possible values.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        let wrong = |name: &str, value: &str, expected: &str| {
            Failure::new(Code::Setting, format!("{name}={value}: expected {expected}"))
        };
        let (kind, device) = match variable("TISANE_DEVICE").as_deref() {
            None | Some("cpu") => (EngineKind::Cpu, 0),
            Some(number) => {
                let expected = "\"cpu\" or the number of a GPU, the first being 0";
                (EngineKind::Cuda, number.parse().map_err(|_| wrong("TISANE_DEVICE", number, expected))?)
            }
        };
        let on_gpu = kind == EngineKind::Cuda;
        let precision = match variable("TISANE_PRECISION") {
            None if on_gpu => Precision::Mixed,
            None => Precision::F64,
            Some(name) => Precision::ALL.into_iter().find(|mode| mode.name() == name).ok_or_else(|| {
                let modes = Precision::ALL.map(Precision::name).join(", ");
                wrong("TISANE_PRECISION", &name, &format!("one of {modes}"))
            })?,
        };
        let pipes = match variable("TISANE_NPIPES") {
            None if on_gpu => GPU_PIPES,
            None => GRAPE_PIPES,
            Some(text) => {
                let number = text.parse().ok().filter(|n| (1..=MAX_TARGETS).contains(n));
                number.ok_or_else(|| wrong("TISANE_NPIPES", &text, &format!("a number from 1 to {MAX_TARGETS}")))?
            }
        };
        Ok(Self { kind, device, precision, pipes })
    }

    /// Returns true if neighbour lists contain the particle itself. They do in Sapporo and do not on a GRAPE-6; kira
    /// decides by the number of pipelines what to expect.
    #[must_use]
    pub const fn lists_contain_self(&self) -> bool {
        self.pipes > GRAPE_PIPES
    }

    /// Describes engine and mode.
    #[must_use]
    pub fn describe(&self) -> String {
        let engine = match self.kind {
            EngineKind::Cuda => format!("GPU {}", self.device),
            _ => format!("CPU with {} threads", crate::pool::threads()),
        };
        format!("{engine}, {}", self.precision.name())
    }
}

/// Returns true if `TISANE_VERBOSE=1` asks for messages.
#[must_use]
pub fn verbose() -> bool {
    std::env::var("TISANE_VERBOSE").is_ok_and(|value| value == "1")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Settings> {
        Settings::read(|name| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into()))
    }

    #[test]
    fn the_default_is_what_a_grape_was() {
        let settings = read(&[]).unwrap();
        assert_eq!((settings.kind, settings.precision, settings.pipes), (EngineKind::Cpu, Precision::F64, 48));
        assert!(!settings.lists_contain_self());
        assert_eq!(read(&[("TISANE_DEVICE", ""), ("TISANE_PRECISION", "")]), Ok(settings));
    }

    #[test]
    fn a_gpu_is_what_sapporo_was() {
        let settings = read(&[("TISANE_DEVICE", "2")]).unwrap();
        assert_eq!((settings.kind, settings.device), (EngineKind::Cuda, 2));
        assert_eq!((settings.precision, settings.pipes), (Precision::Mixed, 256));
        assert!(settings.lists_contain_self());
        assert_eq!(read(&[("TISANE_DEVICE", "0"), ("TISANE_PRECISION", "f64")]).unwrap().precision, Precision::F64);
    }

    #[test]
    fn a_wrong_value_is_named_with_the_right_ones() {
        for (name, value, expected) in [
            ("TISANE_DEVICE", "gpu", "number of a GPU"),
            ("TISANE_DEVICE", "-1", "number of a GPU"),
            ("TISANE_PRECISION", "f16", "f32-direct, f32-chamomile"),
            ("TISANE_NPIPES", "0", "from 1 to 131072"),
        ] {
            let failure = read(&[(name, value)]).unwrap_err();
            assert_eq!(failure.code, Code::Setting);
            assert!(failure.problem.starts_with(&format!("{name}={value}")) && failure.problem.contains(expected));
        }
    }
}
