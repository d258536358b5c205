//! The density models: profiles, velocities and published numbers; the same seed gives the same bits on any machine.

#[path = "common/statistics.rs"]
mod statistics;

use statistics::{assert_isotropic, energies, integral, kolmogorov_smirnov};
use std::collections::BTreeSet;
use tisane::initial::eff::{Eff, Slopes};
use tisane::initial::king::{self, King};
use tisane::initial::{fractal, hernquist, uniform_sphere};
use tisane::particles::{Particles, Vec3};
use tisane::time::Clock;

/// Slopes of Elson, Fall & Freeman's profile.
const fn eff(gamma: f64) -> Slopes {
    Slopes { outer: gamma, inner: 0.0, sharpness: 2.0 }
}

fn radii(p: &Particles) -> Vec<f64> {
    p.pos.iter().map(Vec3::norm).collect()
}

#[test]
fn regress_the_samples_of_a_seed_never_change() {
    let hash = |p: Particles| p.state_sha256(&Clock { start: 0.0, dt_max: 1.0 });
    let found = [
        ("king", hash(King::new(6.0).sample(16, 1))),
        ("hernquist", hash(hernquist::sample(16, 1, 0.99))),
        ("eff", hash(Eff::new(eff(2.5), 20.0).sample(16, 1))),
        ("uniform sphere", hash(uniform_sphere::sample(16, 1, true))),
        ("fractal", hash(fractal::sample(16, 1, 1.6))),
    ];
    let expected = [
        ("king", "85faf708e807a2af62986186d803c35f9df61731697b3990fa28202e1d536368"),
        ("hernquist", "795d222603d504aa0d931f7023434806f0ad472ab67978a7bc0a85b284447b17"),
        ("eff", "7ffcf8db01466e04f9def505048df5be55236dc66a4c81f4d9ce8fc1492d6820"),
        ("uniform sphere", "ecf8d0264075f756375fb32227dbe4f22a661a202783eed99cd26412359e1d8a"),
        ("fractal", "8e8d4a4d2361f3cd9383fcbfe702e2180ba72d9411afc26ea9f65c43fe9a37c7"),
    ];
    assert_eq!(found, expected.map(|(name, hash)| (name, hash.to_owned())));
}

#[test]
fn a_larger_sample_starts_with_the_smaller() {
    let king = King::new(3.0);
    assert_eq!(king.sample(8, 2).pos, king.sample(16, 2).pos[..8]);
    assert_ne!(king.sample(8, 2).pos, king.sample(8, 3).pos);
    assert_eq!(hernquist::sample(8, 2, 0.9).vel, hernquist::sample(16, 2, 0.9).vel[..8]);
    assert!(king.sample(0, 1).is_empty() && hernquist::sample(0, 1, 1.0).is_empty());
    assert!(fractal::sample(0, 1, 2.0).is_empty());
}

#[test]
fn validate_king_concentrations() {
    // King (1966), table II; Binney & Tremaine (2008), fig. 4.9.
    for (w0, c) in [(3.0, 0.672), (5.0, 1.03), (6.0, 1.255), (7.0, 1.53), (8.0, 1.83), (9.0, 2.12), (12.0, 2.74)] {
        let found = King::new(w0).concentration();
        assert!((found - c).abs() < 0.005, "W0 = {w0}: c = {found}, published {c}");
    }
}

#[test]
fn verify_the_king_model_solves_poissons_equation() {
    // The mass that the density gives between two radii, and the force −M/R² as the slope of the potential.
    for w0 in [0.1, 1.0, 5.0, 12.0] {
        let (model, rt) = (King::new(w0), King::new(w0).tidal_radius());
        let density = |r: f64| 9.0 * king::density(model.depth(r)) / king::density(w0) * r * r;
        for (from, to) in [(0.01, 0.3), (0.3, 0.6), (0.6, 0.99)] {
            let (from, to) = (from * rt, to * rt);
            let mass = |r: f64| model.total_mass() * model.enclosed(r);
            let (table, found) = (mass(to) - mass(from), integral(density, from, to));
            assert!((found / table - 1.0).abs() < 1e-3, "W0 {w0}, {from} to {to}: mass {table}, density gives {found}");
            let (drop, force) = (model.depth(from) - model.depth(to), integral(|r| mass(r) / (r * r), from, to));
            assert!((force / drop - 1.0).abs() < 1e-4, "W0 {w0}: potential {drop}, force gives {force}");
        }
        assert_eq!(model.depth(rt), 0.0);
        assert!((model.depth(0.0) - w0).abs() < 1e-12);
    }
    // A shallow model is a polytrope of index 5/2: its density falls with W^(5/2).
    assert!((king::density(1e-4) / king::density(1e-6) / 1e5 - 1.0).abs() < 1e-4);
    // King (1966), eq. 12, with the error function at √W = 1.
    let direct = 1f64.exp() * 0.842_700_792_949_714_9 - (4.0 / std::f64::consts::PI).sqrt() * (5.0 / 3.0);
    assert!((king::density(1.0) - direct).abs() < 1e-14, "{} {direct}", king::density(1.0));
}

#[test]
fn verify_king_samples_follow_profile_and_distribution_function() {
    for (w0, seed) in [(0.1, 1), (3.0, 2), (6.0, 3), (9.0, 4), (12.0, 5)] {
        let model = King::new(w0);
        let p = model.sample(4096, seed);
        let off = kolmogorov_smirnov(radii(&p), |r| model.enclosed(r));
        assert!(off < 1.95, "W0 {w0}: radii {off}");
        assert_isotropic(&p);
        // The share of slower stars at each place is uniform: ∫ v² (exp(W − v²/2) − 1) dv.
        let sigma = model.total_mass().sqrt().recip();
        let share = |(x, v): (&Vec3, &Vec3)| {
            let (w, v) = (model.depth(x.norm()), v.norm() / sigma);
            let f = |v: f64| v * v * (w - v * v / 2.0).exp_m1();
            assert!(v * v <= 2.0 * w * (1.0 + 1e-12), "W0 {w0}: a star is not bound");
            integral(f, 0.0, v) / integral(f, 0.0, (2.0 * w).sqrt())
        };
        let off = kolmogorov_smirnov(p.pos.iter().zip(&p.vel).map(share).collect(), |u| u);
        assert!(off < 1.95, "W0 {w0}: speeds {off}");
        let (t, u) = energies(&p);
        assert!((-t / u - 0.5).abs() < 0.02, "W0 {w0}: Q {}", -t / u);
    }
}

#[test]
fn verify_hernquist_samples_follow_profile_and_distribution_function() {
    for share in [1.0, 0.9] {
        let p = hernquist::sample(8192, 1, share);
        let off = kolmogorov_smirnov(radii(&p), |r| (r / (1.0 + r)).powi(2) / share);
        assert!(off < 1.95, "{share}: {off}");
    }
    let p = hernquist::sample(40_000, 2, 0.99);
    assert_isotropic(&p);
    // Hernquist (1990), eq. 10.
    let dispersion = |r: f64| {
        let s = r + 1.0;
        let bracket = 25.0 + r * (52.0 + r * (42.0 + r * 12.0));
        (12.0 * r * s.powi(3) * (s / r).ln() - r / s * bracket) / 12.0
    };
    for (from, to) in [(0.01, 0.1), (0.1, 0.3), (0.3, 1.0), (1.0, 3.0), (3.0, 10.0)] {
        let here: Vec<(f64, f64)> = p.pos.iter().zip(&p.vel).map(|(x, v)| (x.norm(), v.norm().powi(2) / 3.0)).collect();
        let here: Vec<_> = here.into_iter().filter(|(r, _)| (from..to).contains(r)).collect();
        let ratio = here.iter().map(|(_, v)| v).sum::<f64>() / here.iter().map(|(r, _)| dispersion(*r)).sum::<f64>();
        // The mean of n squares scatters by √(2/3n) at most.
        let error = (2.0 / 3.0 / here.len() as f64).sqrt();
        assert!((ratio - 1.0).abs() < 4.0 * error, "{from} to {to}: {ratio} ± {error}");
    }
    // The series for small energies meets the closed form.
    let join = (0.5_f64 / 4.0).sin().powi(2);
    let (below, above) = (hernquist::distribution(join * (1.0 - 1e-9)), hernquist::distribution(join * (1.0 + 1e-9)));
    assert!((below / above - 1.0).abs() < 1e-8, "{below} {above}");
}

#[test]
fn verify_the_eff_density_is_abels_transform_of_its_surface_density() {
    for gamma in [1.5, 2.0, 3.0, 6.0] {
        let ratio = |r: f64| eff(gamma).density(r) * (1.0 + r * r).powf((gamma + 1.0) / 2.0);
        for r in [1e-6, 1e-3, 0.1, 1.0, 3.0, 100.0] {
            assert!((ratio(r) / ratio(1.0) - 1.0).abs() < 1e-9, "gamma {gamma}, r {r}: {}", ratio(r) / ratio(1.0));
        }
    }
    // A cusp: far inside a Nuker profile of inner slope g the density falls with the slope 1 + g.
    let nuker = Slopes { outer: 2.0, inner: 0.5, sharpness: 2.0 };
    assert!((nuker.density(1e-5) / nuker.density(1e-4) - 10f64.powf(1.5)).abs() < 0.01);
}

#[test]
fn verify_eff_samples_have_profile_and_dispersion() {
    // With gamma = 4 it is Plummer's model: M(r) and σ² = 1/(6 √(1 + r²)) are known.
    let (model, whole) = (Eff::new(eff(4.0), 1e4), 1.0);
    for r in [0.05, 0.5, 1.0, 2.0, 20.0_f64] {
        let mass = (r * r / (1.0 + r * r)).powf(1.5) * whole;
        assert!((model.enclosed(r) / mass - 1.0).abs() < 1e-3, "{r}: {} {mass}", model.enclosed(r));
        let sigma2 = 1.0 / (6.0 * (1.0 + r * r).sqrt());
        assert!((model.sigma(r).powi(2) / sigma2 - 1.0).abs() < 1e-3, "{r}: {} {sigma2}", model.sigma(r).powi(2));
    }
    // Mass without end, cut off: M(r) ∝ r − atan r for gamma = 1 + 0; here gamma = 2, M(r) ∝ asinh r − r/√(1 + r²).
    let (model, cut) = (Eff::new(eff(2.0), 10.0), 10.0_f64);
    let mass = |r: f64| r.asinh() - r / (1.0 + r * r).sqrt();
    let p = model.sample(8192, 3);
    assert!(radii(&p).iter().all(|r| *r <= cut));
    let off = kolmogorov_smirnov(radii(&p), |r| mass(r) / mass(cut));
    assert!(off < 1.95, "{off}");
    assert_isotropic(&p);
    let (t, u) = energies(&p);
    assert!((-t / u - 0.5).abs() < 0.02, "Q {}", -t / u);
    let ratio: f64 =
        p.pos.iter().zip(&p.vel).map(|(x, v)| v.norm().powi(2) / 3.0 / model.sigma(x.norm()).powi(2)).sum();
    // Speeds above that of escape are left out, which takes a little off the dispersion.
    assert!((0.95..1.01).contains(&(ratio / 8192.0)), "{}", ratio / 8192.0);
}

#[test]
fn verify_a_fractal_of_dimension_three_is_a_uniform_sphere() {
    let p = fractal::sample(20_000, 1, 3.0);
    let off = kolmogorov_smirnov(radii(&p), |r| r.powi(3));
    assert!(off < 1.95, "{off}");
    let off = kolmogorov_smirnov(radii(&fractal::sample(20_000, 1, 2.0)), |r| r.powi(3));
    assert!(off > 3.0, "a fractal is not one: {off}");
}

/// Number of cubes of side 2^(1 − g), within the cube of side 1 in the middle, that hold a particle.
fn cubes(p: &Particles, g: i32) -> f64 {
    let scale = 2f64.powi(g - 1);
    let cube = |x: &Vec3| <[f64; 3]>::from(*x).map(|x| (x * scale).floor() as i32);
    let inside = p.pos.iter().filter(|x| x.iter().all(|x| x.abs() < 0.5));
    inside.map(cube).collect::<BTreeSet<_>>().len() as f64
}

#[test]
fn verify_the_fractal_dimension_by_counting_boxes() {
    for dimension in [1.6, 2.0, 2.6] {
        let (mut coarse, mut fine) = (0.0, 0.0);
        for seed in 1..=200 {
            let p = fractal::sample(3000, seed, dimension);
            assert!(p.len() == 3000 && radii(&p).iter().all(|r| *r <= 1.0));
            coarse += cubes(&p, 2);
            fine += cubes(&p, 4);
        }
        let found = (fine / coarse).log2() / 2.0;
        assert!((found - dimension).abs() < 0.15, "D = {dimension}: counted {found}");
    }
}

#[test]
fn neighbours_in_a_fractal_move_together() {
    let p = fractal::sample(2000, 3, 2.0);
    let apart = |i: usize, j: usize, column: &[Vec3]| (column[i] - column[j]).norm();
    let (mut near, mut any) = (0.0, 0.0);
    for i in 0..500 {
        let other = |j: &usize| *j != i;
        let nearest = (0..2000).filter(other).min_by(|&a, &b| apart(i, a, &p.pos).total_cmp(&apart(i, b, &p.pos)));
        near += apart(i, nearest.unwrap(), &p.vel).powi(2);
        any += apart(i, i + 1000, &p.vel).powi(2);
    }
    assert!(near < 0.1 * any, "{near} {any}");
}
