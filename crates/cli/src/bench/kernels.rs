//! `tisane bench kernels`.

use super::how::How;
use super::report::report;
use crate::arguments::one_of;
use tisane::error::Result;
use tisane_lab::bench::kernels::{self, KernelName, KernelRow, Sweep};
use tisane_lab::literature::kernel::{Root, Stage};

#[derive(Clone, Debug, clap::Args)]
pub struct KernelArgs {
    /// Kernels. On a GPU: ours; simple (pairwise); tiles (GPU Gems 3, chapter 31); tiles-2d (the 2-D tiling report).
    /// On the CPU: basic (all pairs) and edges (each pair once) [default: all of the engine's].
    #[arg(long, value_delimiter = ',', value_parser = one_of(KernelName::ALL, KernelName::name))]
    kernel: Vec<KernelName>,
    /// Numbers of particles [default: 1024,4096,16384; on the CPU 1024,4096].
    #[arg(long, value_delimiter = ',')]
    n: Vec<usize>,
    /// Threads per block; for tiles also targets per block and sources per tile [default: ours as the engine chooses,
    /// 128 for simple, 256 for tiles].
    #[arg(long, value_delimiter = ',')]
    p: Vec<usize>,
    /// For ours: targets per thread [default: as the engine chooses].
    #[arg(long, value_delimiter = ',')]
    targets: Vec<usize>,
    /// For ours: bags of sources per span [default: as the engine chooses].
    #[arg(long, value_delimiter = ',')]
    span: Vec<usize>,
    /// For simple and tiles: how 1/s³ is computed, by sqrt and division or by the hardware's rsqrt.
    #[arg(long, value_delimiter = ',', default_value = "rsqrt", value_parser = one_of(Root::ALL, Root::name))]
    root: Vec<Root>,
    /// For tiles: how often the loop is unrolled.
    #[arg(long, value_delimiter = ',', default_value = "1,4,32")]
    unroll: Vec<usize>,
    /// For tiles: threads per body.
    #[arg(long, value_delimiter = ',', default_value = "1,4")]
    q: Vec<usize>,
    /// For tiles-2d: the report's stages GPU2 to GPU8 by name [default: shared, banks, and with cuBLAS cublas and
    /// fixed].
    #[arg(long, value_delimiter = ',', value_parser = one_of(Stage::ALL, Stage::name))]
    stage: Vec<Stage>,
    /// For tiles-2d: threads per target in a block (the report's blockDim.x, or len).
    #[arg(long, value_delimiter = ',', default_value = "1")]
    block_x: Vec<usize>,
    /// For tiles-2d: targets per block (the report's blockDim.y, or wid).
    #[arg(long, value_delimiter = ',', default_value = "256")]
    block_y: Vec<usize>,
    /// For tiles-2d: sources per thread.
    #[arg(long, value_delimiter = ',', default_value = "1024")]
    luf: Vec<usize>,
    /// Leave out shapes of a sweep in which a kernel cannot be launched.
    #[arg(long)]
    skip_unfit: bool,
    #[command(flatten)]
    how: How,
}

pub fn bench(args: KernelArgs) -> Result<u8> {
    let KernelArgs { kernel, n, p, targets, span, root, unroll, q, stage, block_x, block_y, luf, skip_unfit, how } =
        args;
    let sweep = Sweep { kernel, n, p, targets, span, root, unroll, q, stage, block_x, block_y, luf, skip_unfit };
    let found = kernels::measure(&sweep, &how.options()?)?;
    let header =
        ["kernel", "precision", "parameters", "N", "ms", "call ms", "Gpair/s", "Gflop/s (20/pair)", "largest error"];
    let cells = |r: &KernelRow| {
        vec![
            r.kernel.into(),
            r.precision.into(),
            r.parameters.clone(),
            r.n.to_string(),
            format!("{:.4}", r.milliseconds),
            format!("{:.4}", r.call_milliseconds),
            format!("{:.3}", r.giga_pairs_per_second),
            format!("{:.1}", r.giga_flop_per_second),
            format!("{:.1e}", r.largest_error),
        ]
    };
    report(&found, how.json, &header, cells, |_| String::new())
}
