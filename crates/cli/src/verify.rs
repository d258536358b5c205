//! `tisane verify`: a table of every engine on this machine, with a verdict.

use super::screen::print;
use comfy_table::{Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use tisane::error::Result;
use tisane::force::precision::Precision;
use tisane_lab::verify::{Agreement, N, Row, Verification, verify as verify_engines};

/// Exit code if an engine is wrong.
const WRONG: u8 = 4;

pub fn verify() -> Result<u8> {
    let bar = ProgressBar::new(Precision::ALL.len() as u64).with_style(
        ProgressStyle::with_template("{bar:28} {pos}/{len} modes  {msg}")
            .unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let mut begun = 0;
    let found = verify_engines(&mut |mode| {
        bar.set_position(begun);
        bar.set_message(mode.name());
        begun += 1;
    })?;
    bar.finish_and_clear();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "engine",
        "precision",
        "threads",
        "force error",
        "as reference",
        "alone",
        "dE/E",
        "as each other",
        "verdict",
    ]);
    for row in &found.rows {
        table.add_row(cells(row));
    }
    let verdict =
        if found.passed() { "every engine agrees with the reference" } else { "AN ENGINE IS WRONG on this machine" };
    print(&format!(
        "Plummer sphere, N = {N}, softening 1/256: forces on all particles, then a run to t = 0.25 with nu = 0.01.\n\
         force error: largest relative error against the reference in f64; as reference: the bits of the reference in\n\
         the same mode; alone: the engine that computes accelerations alone, the leapfrog's, has their bits; as each\n\
         other: the same final state on every instruction set and number of threads. A GPU has the bits of the\n\
         reference in f64; in the other modes it may be off by the rounding of its 1/sqrt.\n\n{table}\n\n{}{verdict}\n",
        gpus(&found)
    ))?;
    Ok(if found.passed() { 0 } else { WRONG })
}

fn cells(row: &Row) -> [String; 9] {
    let yes = |x: bool| if x { "yes" } else { "NO" }.to_owned();
    [
        row.engine.clone(),
        row.precision.name().into(),
        row.threads.map_or_else(|| "-".into(), |threads| threads.to_string()),
        format!("{:.1e}", row.force_error),
        match row.reference {
            Agreement::Bits(same) => yes(same),
            Agreement::Difference(off) => format!("{off:.1e} off"),
        },
        yes(row.alone),
        format!("{:+.1e}", row.energy_error),
        row.same_state.map_or_else(|| "-".into(), yes),
        if row.passed { "pass" } else { "FAIL" }.into(),
    ]
}

/// Describes the GPUs, a line each, or why there are none.
fn gpus(found: &Verification) -> String {
    if found.gpus.is_empty() {
        return format!("GPUs: none used: {}\n", found.no_gpus);
    }
    let lines = found.gpus.iter().enumerate().map(|(device, gpu)| {
        let line = gpu.as_ref().map_or_else(Clone::clone, |gpu| gpu.about.clone());
        format!("GPU {device}: {line}\n")
    });
    lines.collect()
}
