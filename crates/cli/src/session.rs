//! Options of `tisane run` and `tisane resume` for one session.

use super::arguments::a_device;
use super::trace::TraceFile;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use tisane::error::Result;
use tisane_run::assemble::Session;
use tisane_run::config::{Config, DeviceSet, Engine, MAX_THREADS, WallTime};
use tisane_run::simulation::Simulation;
use tisane_run::team::Team;
use tisane_view::Port;

/// Options of this session. They replace those of the configuration but are not written into it, so that a resume does
/// not inherit them.
#[derive(Debug, Args)]
pub(super) struct SessionArgs {
    /// Threads [default: force.threads, one per core]. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_THREADS)))]
    threads: Option<u32>,
    /// Stop with a checkpoint after this wall time of the session, as 90s or 1h30m [default: limits.wall_time].
    #[arg(long, value_name = "TIME", value_parser = WallTime::parse)]
    time_limit: Option<WallTime>,
    /// GPU that the engine cuda computes on [default: force.device]. `tisane verify` lists them.
    #[arg(long, value_name = "K", value_parser = a_device())]
    device: Option<u32>,
    /// GPUs that the engine cuda computes on together, as 0,1 or all [default: force.devices].
    #[arg(long, value_name = "K,L,…", value_parser = DeviceSet::parse, conflicts_with = "device")]
    devices: Option<DeviceSet>,
    /// Time the phases of the block steps; the result is in summary.json.
    #[arg(long)]
    profile: bool,
    /// Show the run in a browser while it is in progress, as `tisane view` does, at this port of 127.0.0.1 [default:
    /// any free one].
    #[arg(long, value_name = "PORT", num_args = 0..=1, require_equals = true, default_missing_value = "0")]
    view: Option<u16>,
    /// Record when the run steps, measures and writes, in a new file that ui.perfetto.dev and chrome://tracing show as a
    /// timeline.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
}

impl SessionArgs {
    pub(super) fn threads(&self, config: &Config) -> usize {
        self.threads.unwrap_or(config.force.threads) as usize
    }

    /// Returns the number of threads of this rank.
    pub(super) fn threads_in(&self, team: Option<&'static Team>, config: &Config) -> usize {
        let threads = self.threads(config);
        team.map_or(threads, |team| team.take_threads(threads))
    }

    /// Returns the options that the engine is built for.
    pub(super) fn engine(&self, engine: Option<Engine>) -> Session {
        Session { engine, device: self.device, devices: self.devices, profile: self.profile, ..Session::default() }
    }

    /// Returns the port of the view of this session, if it is asked for.
    pub(super) fn port(&self) -> Result<Option<Port>> {
        self.view.map(Port::open).transpose()
    }

    /// Returns the limit of the wall time of this session.
    pub(super) fn wall_time(&self, config: &Config) -> Option<Duration> {
        self.time_limit.or(config.limits.wall_time).map(WallTime::get)
    }

    /// Returns an option that an ensemble does not have, if it is given.
    pub(super) fn not_for_ensembles(&self) -> Option<&'static str> {
        let view = self.view.map(|_| "--view");
        self.profile.then_some("--profile").or(view).or(self.trace.as_ref().map(|_| "--trace"))
    }

    /// Returns the file for the trace of this session, if it is asked for.
    pub(super) fn trace(&self) -> Result<Option<TraceFile>> {
        self.trace.as_deref().map(TraceFile::new).transpose()
    }

    pub(super) fn limit(&self, simulation: &mut Simulation) {
        if let Some(limit) = self.time_limit {
            simulation.limit_wall_time(limit.get());
        }
    }
}
