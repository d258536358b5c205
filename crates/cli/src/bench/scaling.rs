//! `tisane bench scaling`.

use super::how::How;
use super::report::report;
use crate::arguments::{a_precision, one_of};
use crate::screen::print;
use std::path::PathBuf;
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::force::precision::Precision;
use tisane_lab::bench::scaling::{Kind, Scaling, ScalingRow, Share, measure, output};
use tisane_lab::bench::scaling_model::{Link, ModelRow, predict};
use tisane_lab::study::integrators::Integrator;
use tisane_run::config::DeviceSet;
use tisane_run::team::Team;

/// Options of the benchmark of scaling.
#[derive(Clone, Debug, clap::Args)]
pub struct ScalingArgs {
    /// Numbers of particles, of the smallest number of parts.
    #[arg(long, value_delimiter = ',', default_value = "1024,4096")]
    n: Vec<usize>,
    /// Kinds of scaling.
    #[arg(long, value_delimiter = ',', default_value = "strong,weak", value_parser = one_of(Kind::ALL, Kind::name))]
    kind: Vec<Kind>,
    /// Integrators, each with the middle accuracy of its trials.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "hermite4",
        value_parser = one_of(Integrator::all().iter().copied(), Integrator::name)
    )]
    integrator: Vec<Integrator>,
    /// Precision modes [default: f64].
    #[arg(long, value_delimiter = ',', value_parser = a_precision())]
    precision: Vec<Precision>,
    /// Numbers of threads that share the work of the engine cpu; with GPUs or ranks of MPI one number, that of each process
    /// [default: 1 and one per core].
    #[arg(long, value_delimiter = ',')]
    threads: Vec<usize>,
    /// Engine: cpu or cuda.
    #[arg(long, default_value = "cpu", value_parser = one_of([EngineKind::Cpu, EngineKind::Cuda], EngineKind::name))]
    engine: EngineKind,
    /// GPUs that share the work of the engine cuda: 1, 2, 4, … of them, and all.
    #[arg(long, value_name = "K,L,…", value_parser = DeviceSet::parse, default_value = "all")]
    devices: DeviceSet,
    /// Seed of the spheres.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Repetitions; the fastest counts.
    #[arg(long, default_value_t = 3)]
    repeat: usize,
    /// Write the table as CSV and HDF5, and a figure, into DIR.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,
    /// Print what the performance model says, without any run: of GPUs like the H200, and of ranks of this machine, if
    /// `tisane bench model --fit` has measured it.
    #[arg(long, conflicts_with_all = ["kind", "integrator", "engine", "devices", "seed", "repeat", "output"])]
    model: bool,
    /// Largest number of GPUs and ranks of the model.
    #[arg(long = "most", value_name = "MOST", default_value_t = 8, requires = "model", value_parser = clap::value_parser!(u16).range(1..))]
    max: u16,
    /// Latency of a message between ranks for the model, in µs.
    #[arg(long, default_value_t = LATENCY, requires = "model")]
    latency: f64,
    /// Bandwidth between ranks for the model, in GB/s.
    #[arg(long, default_value_t = BANDWIDTH, requires = "model")]
    bandwidth: f64,
}

/// Latency in µs and bandwidth in GB/s between ranks, as assumed where they are not given.
const LATENCY: f64 = 10.0;
const BANDWIDTH: f64 = 2.0;

impl ScalingArgs {
    fn how(&self, threads: usize) -> How {
        let Self { engine, repeat, json, .. } = *self;
        How { threads, engine, device: 0, devices: None, precision: None, repeat, json }
    }

    fn modes(&self) -> Vec<Precision> {
        if self.precision.is_empty() { vec![Precision::F64] } else { self.precision.clone() }
    }

    /// Returns the number of threads of a process.
    fn one_number(&self) -> Result<usize> {
        match self.threads[..] {
            [] => Ok(0),
            [threads] => Ok(threads),
            _ => Err(Error::input("--threads", "expected one number, that of each process")),
        }
    }

    /// Returns what shares the work, and the number of threads of a process.
    fn share(&self, team: Option<&'static Team>) -> Result<(Share, usize)> {
        if let Some(team) = team {
            return Ok((Share::Ranks(team), self.one_number()?));
        }
        if self.engine == EngineKind::Cuda {
            return Ok((Share::Gpus(self.devices), self.one_number()?));
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = if self.threads.is_empty() { vec![1, cores] } else { self.threads.clone() };
        if threads.contains(&0) {
            return Err(Error::input("--threads", "expected numbers above zero"));
        }
        Ok((Share::Threads(threads), 0))
    }
}

pub fn bench(args: &ScalingArgs, team: Option<&'static Team>) -> Result<u8> {
    if args.model {
        return modelled(args);
    }
    let (share, threads) = args.share(team)?;
    let how = args.how(threads);
    let ScalingArgs { n, integrator, kind, seed, .. } = args.clone();
    let work = Scaling { n, integrators: integrator, modes: args.modes(), kinds: kind, seed, share };
    let found = measure(&work, &how.options()?)?;
    if let Some(dir) = &args.output {
        std::fs::create_dir_all(dir).map_err(|e| Error::storage(dir, e))?;
        for path in output(&found).write(dir)? {
            tracing::info!(path = %path.display(), "wrote a table");
        }
    }
    let parts = work.share.name();
    let header =
        ["scaling", "integrator", "mode", parts, "N", "seconds", "Mpairs/s", "speed-up", "efficiency", "state"];
    let cells = |r: &ScalingRow| {
        vec![
            r.kind.name().into(),
            r.integrator.into(),
            r.precision.into(),
            r.count.to_string(),
            r.n.to_string(),
            format!("{:.4}", r.seconds),
            format!("{:.0}", r.mega_pairs_per_second),
            format!("{:.2}", r.speed_up),
            format!("{:.0} %", 100.0 * r.efficiency),
            match r.same_state {
                Some(true) => "the same".into(),
                Some(false) => "ANOTHER".into(),
                None => r.state_sha256[..12].to_owned(),
            },
        ]
    };
    let printed = report(&found, how.json, &header, cells, |_| String::new())?;
    if found.rows.iter().any(|row| row.same_state == Some(false)) {
        let problem = format!("the number of {parts} changed the state: a mistake in tisane");
        return Err(Error::Integration { problem, help: None });
    }
    Ok(printed)
}

/// Prints what the performance model says.
fn modelled(args: &ScalingArgs) -> Result<u8> {
    let how = args.how(args.one_number()?);
    let positive = |name: &str, x: f64| match x {
        x if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err(Error::input(name, "expected a number above zero")),
    };
    let link = Link {
        latency: 1e-6 * positive("--latency", args.latency)?,
        bandwidth: 1e9 * positive("--bandwidth", args.bandwidth)?,
    };
    let found = predict(&how.options()?, &args.modes(), (&args.n, args.max.into()), link)?;
    let header = ["parts", "mode", "number", "N", "seconds", "speed-up", "efficiency"];
    let cells = |r: &ModelRow| {
        vec![
            r.parts.into(),
            r.precision.into(),
            r.count.to_string(),
            r.n.to_string(),
            format!("{:.4}", r.seconds),
            format!("{:.2}", r.speed_up),
            format!("{:.0} %", 100.0 * r.efficiency),
        ]
    };
    let printed = report(&found, how.json, &header, cells, |_| String::new())?;
    if !how.json && !found.rows.iter().any(|row| row.parts == "ranks") {
        print("ranks are not modelled: `tisane bench model --fit` measures this machine\n")?;
    }
    Ok(printed)
}
