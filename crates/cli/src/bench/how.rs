//! Options of all benchmarks.

use crate::arguments::{a_device, a_precision, one_of};
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::force::cpu::Width;
use tisane::force::precision::Precision;
use tisane_lab::bench::Options;
use tisane_run::config::DeviceSet;

/// Options of all benchmarks.
#[derive(Clone, Debug, clap::Args)]
pub struct How {
    /// Threads [default: one per core].
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub(super) threads: usize,
    /// Engine: cpu or cuda.
    #[arg(long, default_value = "cpu", value_parser = one_of([EngineKind::Cpu, EngineKind::Cuda], EngineKind::name))]
    pub(super) engine: EngineKind,
    /// GPU that the engine cuda computes on.
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = a_device())]
    pub(super) device: u32,
    /// GPUs that the engine cuda computes on together, as 0,1 or all: for the workload.
    #[arg(long, value_name = "K,L,…", value_parser = DeviceSet::parse, conflicts_with = "device")]
    pub(super) devices: Option<DeviceSet>,
    /// Precision mode [default: f64].
    #[arg(long, value_parser = a_precision())]
    pub(super) precision: Option<Precision>,
    /// Repetitions; the fastest counts.
    #[arg(long, default_value_t = 3)]
    pub(super) repeat: usize,
    /// Print JSON instead of a table.
    #[arg(long)]
    pub(super) json: bool,
}

impl How {
    /// Returns the options of the benchmarks.
    pub(super) fn options(&self) -> Result<Options> {
        let Self { threads, engine, device, devices, precision, repeat, json: _ } = *self;
        let width = Width::choose_for(precision.unwrap_or_default());
        let width = width.map_err(|problem| Error::input(Width::VARIABLE, problem))?;
        Ok(Options { width, threads, engine, device, devices, precision, repeat })
    }
}
