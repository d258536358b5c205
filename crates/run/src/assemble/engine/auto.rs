//! Choice between the CPU and a GPU for a run that leaves it to the program.

use super::super::gpu::Gpu;
use super::scheme::scheme_on_device;
use crate::config::Config;
use tisane::error::{Error, Result};
use tisane::force::precision::Precision;

/// Reason for the CPU where no GPU can be used: for lack of one, of its driver, or of a new one.
const NO_GPU: &str = "no usable GPU on this machine (`tisane verify` says why)";

/// Returns the number of particles from which a GPU is faster than the cores: fewer where it takes whole block steps.
fn wins_from(config: &Config) -> usize {
    let precision = config.force.precision();
    // Steps by lists have so few pairs that the cores are quicker up to where they are without whole block steps.
    if scheme_on_device(config).is_some() && !config.integrator.scheme().needs_lists() {
        precision.gpu_steps_win_from()
    } else {
        precision.gpu_wins_from()
    }
}

/// Decides for `auto` in a new run of `n` particles: true for the GPU, and the reason.
pub(super) fn decide(config: &Config, n: usize, gpus: impl FnOnce() -> Result<Vec<Gpu>>) -> (bool, String) {
    if config.integrator.scheme().max_particles().is_some() {
        return (false, format!("{} has its own forces on the CPU", config.integrator.info().title));
    }
    prefer_gpu(config.force.precision(), (n, wins_from(config)), gpus)
}

/// Decides for `auto` where a GPU wins `from` a number of particles: true for the GPU, and the reason.
fn prefer_gpu(
    precision: Precision,
    (n, from): (usize, usize),
    gpus: impl FnOnce() -> Result<Vec<Gpu>>,
) -> (bool, String) {
    let mode = precision.name();
    if n < from {
        return (false, format!("N = {n} is below {from}, from where a GPU wins in {mode}"));
    }
    match gpus() {
        Err(Error::Config(e)) => (false, e.problem),
        Err(_) => (false, NO_GPU.into()),
        Ok(gpus) if gpus.is_empty() => (false, NO_GPU.into()),
        Ok(_) => (true, format!("N = {n} is at least {from}, from where a GPU wins in {mode}")),
    }
}

/// Problem of an error, without its place and advice.
pub(super) fn problem(error: &Error) -> String {
    match error {
        Error::Input { problem, .. } | Error::Integration { problem, .. } => problem.clone(),
        Error::Config(e) => e.problem.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn gpu() -> Gpu {
        Gpu { name: "a GPU".into(), about: "a GPU of a test".into() }
    }

    #[test]
    fn auto_takes_the_gpu_from_where_it_wins_and_says_why() {
        for precision in Precision::ALL {
            let from = precision.gpu_wins_from();
            let (wins, why) = prefer_gpu(precision, (from - 1, from), || panic!("too few particles to ask the driver"));
            assert!(!wins && why.starts_with(&format!("N = {} is below {from}", from - 1)), "{why}");
            let (wins, why) = prefer_gpu(precision, (from, from), || Ok(vec![gpu()]));
            assert!(wins && why.starts_with(&format!("N = {from} is at least {from}")), "{why}");
            let (wins, why) = prefer_gpu(precision, (from, from), || Ok(Vec::new()));
            assert!(!wins && why == NO_GPU, "{why}");
            let (wins, why) = prefer_gpu(precision, (from, from), || Err(Error::input("CUDA", "no NVIDIA driver")));
            assert!(!wins && why == NO_GPU, "{why}");
        }
    }

    #[test]
    fn a_neighbour_scheme_and_a_law_take_the_gpu_later() {
        let text = "run = { name = 'x', t_end = 1 }\ninitial.plummer.n = 9\nintegrator.";
        let from = |rest: &str| {
            let text = text.to_owned() + rest;
            let read = Config::from_str("test", &text, Path::new(""), &[]).map(|loaded| loaded.config);
            wins_from(&read.unwrap())
        };
        let by_host = Precision::F64.gpu_wins_from();
        assert!(from("multipoint = {}") < by_host);
        assert_eq!(from("ahmad_cohen = {}"), by_host);
        assert_eq!(from("multipoint = {}\nforce.law.potential = '-G*m_i*m_j/s'"), by_host);
    }
}
