//! The Plummer model: the sample follows the distribution function, the same seed gives the same bits, scaling is
//! exact.

use crate::statistics;

use statistics::{assert_isotropic, energies, integral, kolmogorov_smirnov};
use tisane::initial::{plummer, scaling};
use tisane::particles::Vec3;
use tisane::time::Clock;

const STRUCTURAL_LENGTH: f64 = 3.0 * std::f64::consts::PI / 16.0;

/// Plummer's enclosed mass, M(<r) = (1 + a²/r²)^(−3/2).
fn enclosed_mass(r: f64) -> f64 {
    (1.0 + (STRUCTURAL_LENGTH / r).powi(2)).powf(-1.5)
}

/// Cumulative distribution of q = v / v_esc, the integral of g(q) = q² (1 − q²)^(7/2).
fn speed_distribution() -> impl Fn(f64) -> f64 {
    let g = |q: f64| q * q * (1.0 - q * q).powf(3.5);
    let whole = integral(g, 0.0, 1.0);
    move |q| integral(g, 0.0, q) / whole
}

#[test]
fn regress_the_sample_of_a_seed_never_changes() {
    let hash = plummer::sample(16, 1, 0.999).state_sha256(&Clock { start: 0.0, dt_max: 0.125 });
    assert_eq!(hash, "6528581be80f43ff22b451e007b658ed00a84f13239474e0647222d2618eefcd");
}

#[test]
fn seeds_differ_and_a_larger_sample_starts_with_the_smaller() {
    let (a, b, larger) = (plummer::sample(8, 1, 1.0), plummer::sample(8, 2, 1.0), plummer::sample(16, 1, 1.0));
    assert_ne!(a.pos, b.pos);
    assert_eq!(a.pos, larger.pos[..8]);
    assert_eq!(a.id, (0..8).collect::<Vec<u64>>());
    assert_eq!(a.mass, vec![0.125; 8]);
    assert!(plummer::sample(0, 1, 1.0).is_empty());
}

#[test]
fn verify_the_density_profile_is_plummers() {
    for seed in 1..=8 {
        let radii: Vec<f64> = plummer::sample(4096, seed, 1.0).pos.iter().map(Vec3::norm).collect();
        let distance = kolmogorov_smirnov(radii, enclosed_mass);
        assert!(distance < 1.95, "seed {seed}: {distance}");
    }
}

#[test]
fn verify_the_cut_leaves_out_the_halo_only() {
    const FRACTION: f64 = 0.9;
    let radii: Vec<f64> = plummer::sample(4096, 5, FRACTION).pos.iter().map(Vec3::norm).collect();
    assert!(radii.iter().all(|&r| enclosed_mass(r) <= FRACTION + 1e-12));
    let distance = kolmogorov_smirnov(radii, |r| enclosed_mass(r) / FRACTION);
    assert!(distance < 1.95, "{distance}");
}

#[test]
fn verify_the_speeds_follow_the_distribution_function() {
    for seed in 1..=8 {
        let p = plummer::sample(4096, seed, 1.0);
        // Φ = −(r² + a²)^(−1/2), v_esc = (−2Φ)^(1/2)
        let escape = |x: &Vec3| (2.0 / (x.norm().powi(2) + STRUCTURAL_LENGTH.powi(2)).sqrt()).sqrt();
        let q: Vec<f64> = p.pos.iter().zip(&p.vel).map(|(x, v)| v.norm() / escape(x)).collect();
        assert!(q.iter().all(|&q| q < 1.0), "every star is bound");
        let distance = kolmogorov_smirnov(q, speed_distribution());
        assert!(distance < 1.95, "seed {seed}: {distance}");
    }
}

#[test]
fn verify_positions_and_velocities_are_isotropic_and_independent() {
    assert_isotropic(&plummer::sample(8192, 3, 1.0));
}

#[test]
fn verify_samples_scatter_about_virial_equilibrium_as_their_number_allows() {
    const N: usize = 1024;
    let samples: Vec<(f64, f64)> = (1..=16).map(|seed| energies(&plummer::sample(N, seed, 1.0))).collect();
    let mean = |f: &dyn Fn(&(f64, f64)) -> f64| samples.iter().map(f).sum::<f64>() / samples.len() as f64;
    let (q, kinetic, potential) = (mean(&|(t, u)| -t / u), mean(&|s| s.0), mean(&|s| s.1));
    // One sample scatters by about 2 % at this N, a mean of 16 by 0.5 %; the bounds are four times that.
    assert!((q - 0.5).abs() < 0.01, "Q {q}");
    assert!((kinetic - 0.25).abs() < 0.005, "T {kinetic}");
    assert!((potential + 0.5).abs() < 0.01, "U {potential}");
}

#[test]
fn verify_scaling_gives_exactly_q_one_half_and_e_minus_one_quarter() {
    for (n, seed, ratio) in [(2, 1, 0.5), (100, 2, 0.5), (1000, 3, 0.5), (500, 4, 0.1)] {
        let mut p = plummer::sample(n, seed, 0.999);
        scaling::to_centre_of_mass(&mut p);
        let (_, potential) = energies(&p);
        assert!(scaling::to_virial(&mut p, potential, ratio, -0.25));
        let (t, u) = energies(&p);
        assert!((t + u + 0.25).abs() < 1e-14, "N {n}: E {}", t + u);
        assert!((-t / u - ratio).abs() < 1e-14, "N {n}: Q {}", -t / u);
        for axis in 0..3 {
            let mean = |column: &[Vec3]| p.mass.iter().zip(column).map(|(m, v)| m * v[axis]).sum::<f64>();
            assert!(mean(&p.pos).abs() < 1e-15 && mean(&p.vel).abs() < 1e-15, "N {n}: centre of mass moves");
        }
    }
}

#[test]
fn rescaling_multiplies_each_column_by_its_own_factor() {
    let mut p = plummer::sample(4, 1, 1.0);
    let before = p.clone();
    scaling::rescale(&mut p, 2.0, 4.0, 0.5);
    for i in 0..4 {
        assert_eq!(p.mass[i], 2.0 * before.mass[i]);
        assert_eq!(p.pos[i], before.pos[i].map(|x| 4.0 * x));
        assert_eq!(p.vel[i], before.vel[i].map(|v| 0.5 * v));
    }
}

#[test]
#[should_panic(expected = "mass fraction")]
fn a_mass_fraction_above_one_is_a_programming_error() {
    let _ = plummer::sample(1, 1, 1.5);
}
