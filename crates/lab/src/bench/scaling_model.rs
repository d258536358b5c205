//! Scaling of the timed workload by the performance model: no run is made.

use super::{Report, model};
use crate::study::model::Fit;
use crate::study::trials;
use serde::Serialize;
use tisane::error::Result;
use tisane::force::EngineKind;
use tisane::force::precision::Precision;
use tisane_run::several::{self, Gpus, workload};

/// Time units of the timed workload, from t = 0.25 to 0.5.
const SPAN: f64 = 0.25;
/// Bytes of a corrected particle and of a target, which rank 0 sends to all, and of the forces that come back.
const SENT: f64 = 108.0 + 52.0;
const RETURNED: f64 = 56.0;

/// Connection between ranks.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Seconds of a message.
    pub latency: f64,
    /// Bytes in a second.
    pub bandwidth: f64,
}

/// Time of the workload by the model.
#[derive(Clone, Debug, Serialize)]
pub struct ModelRow {
    /// What shares the work.
    pub parts: &'static str,
    /// Precision mode.
    pub precision: &'static str,
    /// Number of parts.
    pub count: usize,
    /// Number of particles.
    pub n: usize,
    /// Wall time from t = 0.25 to 0.5, in s.
    pub seconds: f64,
    /// Ratio of the time of one part to that.
    pub speed_up: f64,
    /// That over the number of parts.
    pub efficiency: f64,
}

/// Returns the seconds of a block step of `block` particles among `n` on ranks of the machine of `fit`.
///
/// Rank 0 takes the steps, all ranks predict their sources, and targets are shared. Rank 0 sends corrected particles and
/// targets to all, along a tree, and each of the others sends its forces back.
#[must_use]
pub fn step_on_ranks(fit: &Fit, link: Link, ranks: usize, [n, block]: [f64; 2]) -> f64 {
    let shared = (fit.force_target + fit.force_pair * n) * block;
    let alone = fit.step(n, block) - shared;
    if ranks < 2 {
        return alone + shared;
    }
    let k = ranks as f64;
    let sent = k.log2().ceil() * (link.latency + SENT * block / link.bandwidth);
    let returned = link.latency + RETURNED * block * (1.0 - 1.0 / k) / link.bandwidth;
    alone + shared / k + sent + returned
}

/// Predicts the workload on 1, 2, 4, … parts up to `max`: on GPUs like the H200, or on ranks of the machine of a fit.
fn rows(
    (parts, mode): (&'static str, Precision),
    (n, max): (&[usize], usize),
    step: impl Fn(usize, [f64; 2]) -> f64,
) -> Vec<ModelRow> {
    let mut rows = Vec::new();
    for &n in n {
        let [steps, block] = workload(n);
        let seconds = |count| SPAN * steps * step(count, [n as f64, block]);
        let one = seconds(1);
        rows.extend(several::counts(max).into_iter().map(|count| {
            let seconds = seconds(count);
            let speed_up = one / seconds;
            let efficiency = speed_up / count as f64;
            ModelRow { parts, precision: mode.name(), count, n, seconds, speed_up, efficiency }
        }));
    }
    rows
}

/// Predicts the workload on GPUs of one host, like the H200, and on ranks of this machine, if its model is fitted.
///
/// # Errors
/// If the file of the model cannot be read.
pub fn predict(
    options: &super::Options,
    modes: &[Precision],
    (n, max): (&[usize], usize),
    link: Link,
) -> Result<Report<ModelRow>> {
    let mut all = Vec::new();
    for &mode in modes {
        let gpus = Gpus::h200(mode);
        all.extend(rows(("GPUs", mode), (n, max), |count, [n, block]| gpus.step(count, n, block)));
    }
    for fit in model::of_cores(options.threads)? {
        if modes.contains(&fit.mode) {
            all.extend(rows(("ranks", fit.mode), (n, max), |count, at| step_on_ranks(&fit, link, count, at)));
        }
    }
    let precision = crate::study::report::mode_names(modes.iter().copied());
    let options = super::Options { engine: EngineKind::Cpu, ..options.clone() };
    Report::new("scaling, modelled", precision, &options, (all, trials::threads(options.threads as u32)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rows of the page that were measured on two H100, like the H200 of the model, and what stands beside them.
    #[test]
    fn the_model_is_that_of_two_gpus_and_the_page_shows_it() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reports/src/several.md");
        let page = std::fs::read_to_string(page).unwrap();
        let numbers = |line: &str| -> Vec<f64> {
            let cells = line.trim_matches('|').split('|');
            cells.map_while(|cell| cell.trim().trim_end_matches(" s").parse().ok()).collect()
        };
        let after = page.lines().skip_while(|line| !line.starts_with("| N | one, measured"));
        let measured: Vec<Vec<f64>> = after.skip(2).take_while(|line| line.starts_with('|')).map(numbers).collect();
        assert!(measured.len() >= 5, "{measured:?}");
        let gpus = Gpus::h200(Precision::Mixed);
        for row in measured {
            let [n, one, one_shown, two, two_shown, ..] = row[..] else { panic!("{row:?}") };
            for (count, seen, shown) in [(1, one, one_shown), (2, two, two_shown)] {
                let modelled = SPAN * gpus.time_unit(count, n as usize);
                assert!((modelled / shown - 1.0).abs() < 6e-3, "N = {n}, {count}: {modelled}, the page {shown}");
                assert!((modelled / seen).ln().abs() < 0.08, "N = {n}, {count}: {modelled}, measured {seen}");
            }
        }
    }

    #[test]
    fn ranks_share_pairs_and_pay_for_messages() {
        let fit = Fit { host_step: 1e-5, force_step: 1e-5, force_pair: 1e-9, ..Fit::default() };
        let link = Link { latency: 1e-5, bandwidth: 1e9 };
        let step = |ranks| step_on_ranks(&fit, link, ranks, [1e4, 1e3]);
        assert!((step(1) - 0.010_02).abs() < 1e-12);
        // Half of the pairs; 160 bytes a target there, 56 of half of them back, and two messages.
        assert!((step(2) - (0.005_02 + 2e-5 + 1.6e-4 + 2.8e-5)).abs() < 1e-12, "{}", step(2));
        assert!(step(4) < step(2) && step(2) < step(1));
        let one = step_on_ranks(&fit, link, 1, [100.0, 2.0]);
        assert!(step_on_ranks(&fit, link, 2, [100.0, 2.0]) > one);
    }
}
