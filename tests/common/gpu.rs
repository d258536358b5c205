//! What the tests on a GPU take from the environment.

#![allow(dead_code, reason = "each test file uses its own part")]

use std::str::FromStr;
use tisane::error::Result;
#[cfg(feature = "cuda")]
use tisane::force::cuda::{AccelerationShape, CudaAccelerations, CudaEngine, LaunchShape};
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

/// Some shapes of each kind that the mode has kernels for.
#[cfg(feature = "cuda")]
pub fn shapes(engine: &CudaEngine) -> Vec<LaunchShape> {
    let few = few_shapes();
    let whole_of: &[_] = if few { &[(4, 2)] } else { &[(1, 1), (4, 1), (8, 1), (2, 4), (1, 128)] };
    let tiles_of: &[_] = if few { &[(64, 4)] } else { &[(32, 4), (128, 16), (256, 1024)] };
    let [whole, tiles] = engine.compiled_targets();
    let whole = whole
        .into_iter()
        .flat_map(|targets| whole_of.iter().map(move |&(warps, bags)| LaunchShape::Whole { targets, warps, bags }));
    let tiles = tiles.into_iter().flat_map(|targets| {
        tiles_of.iter().map(move |&(threads, span_bags)| LaunchShape::Tiles { targets, threads, span_bags })
    });
    whole.chain(tiles).collect()
}

/// Launch shapes with one, several and very many spans, for each number of targets a thread that there is a kernel for.
#[cfg(feature = "cuda")]
pub fn acceleration_shapes(precision: Precision, engine: &CudaAccelerations) -> Vec<AccelerationShape> {
    let of: &[_] = if few_shapes() {
        &[(64, 4), (64, 2048)]
    } else {
        &[(32, 1), (64, 8), (64, 2048), (96, 2), (128, 16), (256, 64), (256, 2048)]
    };
    let each = |targets| of.iter().map(move |&(threads, span_bags)| AccelerationShape { targets, threads, span_bags });
    engine.compiled_targets().into_iter().flat_map(each).filter(|shape| shape.is_valid(precision)).collect()
}
