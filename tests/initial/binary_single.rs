//! Encounters of a binary with a single star have the orbits and the distributions that were asked for.

use tisane::diagnostics::orbit::Orbit;
use tisane::initial::binaries::Eccentricities;
use tisane::initial::binary_single::{Encounter, Encounters, largest_impact_parameter, tidal_radius};
use tisane::particles::{Particles, Vec3};

const ENCOUNTERS: Encounters = Encounters {
    masses: [0.5, 0.3, 0.7],
    semi_major_axis: 2.0,
    eccentricities: Eccentricities::Thermal,
    velocity: 0.7,
    impact_parameter: 6.0,
    tidal_tolerance: 1e-5,
};

/// Position and velocity of the single star relative to the centre of mass of the binary.
fn outer(p: &Particles) -> (Vec3, Vec3) {
    let centre = |of: &[Vec3]| (p.mass[0] * of[0] + p.mass[1] * of[1]) / (p.mass[0] + p.mass[1]);
    (p.pos[2] - centre(&p.pos), p.vel[2] - centre(&p.vel))
}

fn drawn(encounters: Encounters, n: u64, g: f64) -> Vec<Encounter> {
    (1..=n).map(|seed| encounters.draw(seed, g)).collect()
}

#[test]
fn verify_the_orbits_have_energy_and_angular_momentum_from_infinity() {
    for g in [1.0, 39.5] {
        for e in drawn(ENCOUNTERS, 200, g) {
            let p = &e.particles;
            let ((x, v), mu) = (outer(p), g * p.total_mass());
            // The critical velocity by hand: G m1 m2 M / (m3 (m1 + m2) a).
            let critical = (g * 0.5 * 0.3 * 1.5 / (0.7 * 0.8 * 2.0)).sqrt();
            assert!((e.velocity / (0.7 * critical) - 1.0).abs() < 1e-14);
            let energy = 0.5 * v.norm_squared() - mu / x.norm();
            assert!((2.0 * energy / e.velocity.powi(2) - 1.0).abs() < 1e-11, "{e:?}");
            let momentum = x.cross(&v);
            assert!((momentum.norm() / (e.impact_parameter * e.velocity) - 1.0).abs() < 1e-12, "{e:?}");
            assert!(x.dot(&v) < 0.0 && momentum.z > 0.0, "it approaches, in the positive sense");
            let unperturbed = tidal_radius([0.8, 0.7], 2.0, e.eccentricity, 1e-5);
            assert!((x.norm() / unperturbed - 1.0).abs() < 1e-13 && e.separation == unperturbed);
            let inner = Orbit::from_state(p.pos[1] - p.pos[0], p.vel[1] - p.vel[0], g * 0.8);
            assert!((inner.semi_major_axis / 2.0 - 1.0).abs() < 1e-10, "{inner:?}");
            assert!((inner.eccentricity - e.eccentricity).abs() < 1e-10, "{inner:?}");
            for column in [&p.pos, &p.vel] {
                let sum: Vec3 = p.mass.iter().zip(column).map(|(m, v)| *m * v).sum();
                assert!(sum.norm() < 1e-13 * g, "{sum:?}");
            }
        }
    }
}

#[test]
fn a_star_that_stays_outside_starts_at_its_pericentre() {
    let encounters = Encounters { velocity: 100.0, impact_parameter: 1e6, ..ENCOUNTERS };
    for e in drawn(encounters, 20, 1.0) {
        let (x, v) = outer(&e.particles);
        assert!(e.separation > tidal_radius([0.8, 0.7], 2.0, e.eccentricity, 1e-5));
        assert!(x.dot(&v).abs() < 1e-6 * x.norm() * v.norm(), "{e:?}");
    }
}

#[test]
fn one_seed_gives_one_encounter_and_another_seed_another() {
    assert_eq!(ENCOUNTERS.draw(7, 1.0), ENCOUNTERS.draw(7, 1.0));
    assert_ne!(ENCOUNTERS.draw(7, 1.0).particles.pos, ENCOUNTERS.draw(8, 1.0).particles.pos);
}

/// The largest distance of the distribution of `values` from the uniform one from 0 to 1 (Kolmogorov), times √n: above 1.95
/// with a probability of 1e-3.
fn distance_from_uniform(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let off = |(k, u): (usize, &f64)| (u - k as f64 / n).abs().max((u - (k + 1) as f64 / n).abs());
    values.iter().enumerate().map(off).fold(0.0, f64::max) * n.sqrt()
}

#[test]
fn verify_areas_eccentricities_planes_and_phases_are_distributed_as_said() {
    let all = drawn(ENCOUNTERS, 4000, 1.0);
    let of = |value: &dyn Fn(&Encounter) -> f64| all.iter().map(value).collect::<Vec<_>>();
    let normal = |e: &Encounter| {
        let p = &e.particles;
        (p.pos[1] - p.pos[0]).cross(&(p.vel[1] - p.vel[0])).normalize()
    };
    let phase = |e: &Encounter| {
        let p = &e.particles;
        let (x, v) = (p.pos[1] - p.pos[0], p.vel[1] - p.vel[0]);
        // Mean anomaly from e cos E = 1 − r/a and e sin E = x·v/√(μ a).
        let (cos, sin) = (1.0 - x.norm() / 2.0, x.dot(&v) / (0.8f64 * 2.0).sqrt());
        ((sin.atan2(cos) - sin) / std::f64::consts::TAU).rem_euclid(1.0)
    };
    for (name, values) in [
        ("b²", of(&|e| (e.impact_parameter / 12.0).powi(2))),
        ("e²", of(&|e| e.eccentricity.powi(2))),
        ("normal x", of(&|e| 0.5 + 0.5 * normal(e).x)),
        ("normal y", of(&|e| 0.5 + 0.5 * normal(e).y)),
        ("normal z", of(&|e| 0.5 + 0.5 * normal(e).z)),
        ("mean anomaly", of(&phase)),
    ] {
        let distance = distance_from_uniform(values);
        assert!(distance < 1.95, "{name}: {distance}");
    }
    // Neighbouring seeds are independent: no correlation of the areas of one and the next.
    let areas = of(&|e| (e.impact_parameter / 12.0).powi(2) - 0.5);
    let products = areas.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>() * 12.0 / (areas.len() as f64).sqrt();
    assert!(products.abs() < 3.5, "correlation {products}");
}

#[test]
fn the_largest_impact_parameter_is_that_of_the_paper() {
    assert!((largest_impact_parameter(0.5, 0.0) - 8.6).abs() < 1e-14);
    assert!((largest_impact_parameter(4.0, 1.0) - 2.2).abs() < 1e-14);
}

#[test]
#[should_panic(expected = "velocity: 0.0")]
fn an_encounter_without_velocity_is_a_programming_error() {
    let _ = Encounters { velocity: 0.0, ..ENCOUNTERS }.draw(1, 1.0);
}
