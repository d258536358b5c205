//! `tisane bench systems`.

use super::how::How;
use tisane::error::Result;

/// Options of the benchmark of many systems.
#[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "a program without CUDA says so whatever they are"))]
#[derive(Clone, Debug, clap::Args)]
pub struct SystemsArgs {
    /// Numbers of particles of a system.
    #[arg(long, value_delimiter = ',', default_value = "64,128,256,512,1024")]
    n: Vec<usize>,
    /// Number of systems [default: as many as have 270336 particles together].
    #[arg(long)]
    systems: Option<usize>,
    /// Softening length.
    #[arg(long, default_value_t = 1.0 / 256.0)]
    epsilon: f64,
    /// Beginning of the timed steps, in longest steps of 1/8.
    #[arg(long, default_value_t = 2)]
    from: u64,
    /// End of the timed steps, in longest steps.
    #[arg(long, default_value_t = 4)]
    until: u64,
    /// Largest number of timed block steps of a system.
    #[arg(long = "most", value_name = "MOST", default_value_t = u64::MAX, hide_default_value = true)]
    max: u64,
    /// Shape that is tried instead of the program's: threads, targets at a time, warps whose lanes share a bag, and pairs
    /// of target and bag up to which they do.
    #[arg(long, value_delimiter = ',')]
    shape: Vec<usize>,
    #[command(flatten)]
    how: How,
}

#[cfg(not(feature = "cuda"))]
pub fn bench(_: &SystemsArgs) -> Result<u8> {
    tisane_run::assemble::gpus().map(|_| 0)
}

#[cfg(feature = "cuda")]
pub fn bench(args: &SystemsArgs) -> Result<u8> {
    use tisane::error::Error;
    use tisane::force::EngineKind;
    use tisane::force::cuda::SystemShape;
    use tisane_lab::bench::systems::{Ensembles, SystemsRow, measure};

    let SystemsArgs { n, systems, epsilon, from, until, max, shape, how } = args;
    let shape = match shape[..] {
        [threads, tile, sharers, cooperates] => {
            let shape = SystemShape { threads, tile, sharers, cooperates };
            let problem = "expected whole warps up to 512 threads, a multiple of 4, and some of the warps";
            Some(shape).filter(SystemShape::is_valid).ok_or_else(|| Error::input("--shape", problem)).map(Some)?
        }
        [] => None,
        _ => return Err(Error::input("--shape", "expected four numbers")),
    };
    if from > until {
        return Err(Error::input("--from", "expected a beginning before the end"));
    }
    let ensembles =
        Ensembles { n: n.clone(), systems: *systems, epsilon: *epsilon, span: [*from, *until], max: *max, shape };
    // There are no such steps on the CPU.
    let options = tisane_lab::bench::Options { engine: EngineKind::Cuda, ..how.options()? };
    let header = ["N", "systems", "block steps", "mean block", "refused", "seconds", "Msteps/s", "Mpairs/s"];
    let cells = |r: &SystemsRow| {
        vec![
            r.n.to_string(),
            r.systems.to_string(),
            r.block_steps.to_string(),
            format!("{:.1}", r.mean_block),
            r.refused.to_string(),
            format!("{:.6}", r.seconds),
            format!("{:.2}", r.mega_steps_per_second),
            format!("{:.0}", r.mega_pairs_per_second),
        ]
    };
    super::report::report(&measure(&ensembles, &options)?, how.json, &header, cells, |_| String::new())
}
