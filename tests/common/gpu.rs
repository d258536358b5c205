//! What the tests on a GPU take from the environment.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::str::FromStr;
use tisane::error::Result;
use tisane::force::precision::Precision;

/// The list in an environment variable, if it is set.
pub fn listed<T: FromStr>(variable: &str) -> Option<Vec<T>> {
    let entry = |text: &str| text.parse().unwrap_or_else(|_| panic!("{variable}: {text}?"));
    std::env::var(variable).ok().map(|list| list.split(',').map(entry).collect())
}

/// Numbers of particles.
pub fn sizes() -> Vec<usize> {
    listed("TISANE_SIZES").unwrap_or(vec![1, 2, 31, 32, 33, 255, 256, 257, 1000, 4097])
}

/// Precision modes.
pub fn modes() -> Vec<Precision> {
    let Some(names) = listed::<String>("TISANE_MODES") else { return Precision::ALL.to_vec() };
    let mode = |name: &String| Precision::ALL.into_iter().find(|mode| mode.name() == name);
    names.iter().map(|name| mode(name).unwrap_or_else(|| panic!("TISANE_MODES: {name}?"))).collect()
}

/// Whether every mode is held to the CPU's bits, for kernels with IEEE 1/√.
pub fn held_to_bits() -> bool {
    std::env::var("TISANE_PARITY").is_ok_and(|what| what == "bits")
}

/// Whether few launch shapes are enough.
pub fn few_shapes() -> bool {
    std::env::var_os("TISANE_FEW_SHAPES").is_some()
}

/// What needs a GPU; without one says that it is skipped, or fails if it must not be.
pub fn needed<T>(made: Result<T>) -> Option<T> {
    match made {
        Ok(made) => Some(made),
        Err(e) if std::env::var_os("TISANE_NEED_GPU").is_some() => panic!("{e}"),
        Err(e) => {
            println!("skipped: {e}");
            None
        }
    }
}
