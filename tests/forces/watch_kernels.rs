//! Promise: the kernels that search for pairs compare with the fields with which pairs form, and where the state of a pair is known
//! within limits, with none that is smaller. The function is compiled for the host here, as there may be no GPU.

use crate::law_kernels::{compile_with, filtered};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tisane::force::watch::{StrongestPair, Watch};
use tisane::particles::Vec3;

const WATCH: Watch<'static> =
    Watch { compound: &[], forms: 5e-4, joins: 0.02, min_binding: 0.5, log2_steps: 2, found: Vec::new() };

fn direction(rng: &mut Xoshiro256PlusPlus) -> Vec3 {
    Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0_f64)).normalize()
}

/// Pairs at all distances and speeds from a small part of the circular one to beyond a parabola.
fn pairs(rng: &mut Xoshiro256PlusPlus, count: usize) -> Vec<StrongestPair> {
    let pair = |_| {
        let (r, mass) = (10.0_f64.powf(rng.random_range(-4.0..0.0)), 10.0_f64.powf(rng.random_range(-4.0..0.0)));
        let speed = (mass / r).sqrt() * rng.random_range(0.01..3.0);
        let (pos, vel) = (direction(rng) * r, direction(rng) * speed);
        StrongestPair { pos, vel, mass, is_compound: rng.random_range(0..3) == 0 }
    };
    (0..count).map(pair).collect()
}

fn numbers(pair: &StrongestPair, part: f64, speed: f64) -> impl Iterator<Item = f64> {
    let state: Vec<f64> = pair.pos.iter().chain(&pair.vel).copied().collect();
    state.into_iter().chain([pair.mass, f64::from(u8::from(pair.is_compound)), part, speed])
}

#[test]
fn the_kernel_finds_all_pairs_that_may_form() {
    let folder = tempfile::tempdir().unwrap();
    let Some(program) = compile_with("", ("UNUSED", "watch_on_host.cpp"), folder.path()) else { return };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let known = pairs(&mut rng, 20_000);
    let limits = [WATCH.forms, WATCH.joins, WATCH.min_binding];
    let largest = |input: Vec<f64>| filtered(&program, None, &[&limits[..], &input].concat());
    let exact = largest(known.iter().flat_map(|pair| numbers(pair, 0.0, 0.0)).collect());
    let (mut form, mut differ) = (0, 0);
    for (pair, &field) in known.iter().zip(&exact) {
        let decides = field == 0.0 || WATCH.may_form(pair, field * (1.0 - 1e-6));
        assert!(decides && !WATCH.may_form(pair, field * (1.0 + 1e-6) + 1e-300), "{pair:?}: {field}");
        form += usize::from(field > 0.0);
    }
    // The state of a pair, and one that differs from it within limits.
    let (part, share) = (2.5e-3, 0.02);
    let off = |pair: &StrongestPair, rng: &mut Xoshiro256PlusPlus| {
        let (r, speed) = (pair.pos.norm(), share * (pair.mass / pair.pos.norm()).sqrt());
        let other = StrongestPair {
            pos: pair.pos + direction(rng) * (0.999 * part * r),
            vel: pair.vel + direction(rng) * (0.999 * speed),
            ..*pair
        };
        (other, speed)
    };
    let others: Vec<(StrongestPair, f64)> = known.iter().map(|pair| off(pair, &mut rng)).collect();
    let bounds = largest(known.iter().zip(&others).flat_map(|(pair, it)| numbers(pair, part, it.1)).collect());
    let of_others = largest(others.iter().flat_map(|(pair, _)| numbers(pair, 0.0, 0.0)).collect());
    for (k, (bound, other)) in bounds.iter().zip(&of_others).enumerate() {
        assert!(bound >= other && *bound >= exact[k], "{:?}: {bound} is below {other}", others[k]);
        differ += usize::from(*bound < 1.5 * exact[k]);
    }
    assert!(form > 10_000 && differ > 8_000, "{form} pairs may form, of which {differ} within half of the bound");
}
