//! What the stars of a sampled model are like: mass functions, binaries, segregation, rotation, a central body,
//! encounters.

use crate::statistics;

use statistics::{assert_isotropic, energies, integral, kolmogorov_smirnov};
use std::f64::consts::TAU;
use tisane::initial::binaries::{self, Eccentricities, Pairing, PeriodLaw, SemiMajorAxes, pair};
use tisane::initial::masses::MassFunction;
use tisane::initial::{central_body, encounter, plummer, rotation, segregation};
use tisane::particles::{Particles, Vec3};

const N: usize = 20_000;

/// dN/dm without its factor.
type Density = Box<dyn Fn(f64) -> f64>;

/// Each function by name with its density from the papers' formulas, and its limits.
fn functions() -> Vec<(&'static str, MassFunction, Density, [f64; 2])> {
    let kroupa = |m: f64| {
        if m < 0.08 {
            (m / 0.08).powf(-0.3)
        } else if m < 0.5 {
            (m / 0.08).powf(-1.3)
        } else {
            (0.5_f64 / 0.08).powf(-1.3) * (m / 0.5).powf(-2.3)
        }
    };
    let l3 = |m: f64| (m / 0.2).powf(-2.3) * (1.0 + (m / 0.2).powf(-1.3)).powf(-1.4);
    vec![
        ("salpeter", MassFunction::salpeter(0.1, 100.0), Box::new(|m: f64| m.powf(-2.35)), [0.1, 100.0]),
        ("kroupa", MassFunction::kroupa(0.01, 100.0), Box::new(kroupa), [0.01, 100.0]),
        ("kroupa, part", MassFunction::kroupa(0.1, 0.4), Box::new(kroupa), [0.1, 0.4]),
        ("maschberger", MassFunction::maschberger(0.01, 150.0), Box::new(l3), [0.01, 150.0]),
        ("slope 1", MassFunction::power_law(&[1.0], &[0.5, 8.0]), Box::new(|m: f64| 1.0 / m), [0.5, 8.0]),
        ("slope 2", MassFunction::power_law(&[2.0], &[0.5, 8.0]), Box::new(|m: f64| m.powi(-2)), [0.5, 8.0]),
        ("rising", MassFunction::power_law(&[-1.0, 0.0], &[1.0, 2.0, 3.0]), Box::new(|m: f64| m.min(2.0)), [1.0, 3.0]),
    ]
}

#[test]
fn verify_masses_follow_their_function() {
    for (name, function, density, [min, max]) in functions() {
        // In ln m, where Simpson's rule sees every part.
        let count = |to: f64| integral(|x: f64| density(x.exp()) * x.exp(), min.ln(), to.ln());
        let mass = integral(|x: f64| density(x.exp()) * (2.0 * x).exp(), min.ln(), max.ln());
        let all = count(max);
        assert!((function.mean() / (mass / all) - 1.0).abs() < 2e-3, "{name}: {} {}", function.mean(), mass / all);
        for k in 1..20 {
            let m = min * (max / min).powf(f64::from(k) / 20.0);
            assert!((function.cumulative(m) - count(m) / all).abs() < 1e-3, "{name} at {m}");
            let again = function.quantile(function.cumulative(m));
            assert!((again / m - 1.0).abs() < 1e-6, "{name}: {m} {again}");
        }
        let drawn = function.draw(N, 1);
        assert!(drawn.iter().all(|m| (min..=max).contains(m)), "{name}");
        let off = kolmogorov_smirnov(drawn, |m| function.cumulative(m));
        assert!(off < 1.95, "{name}: {off}");
        assert_eq!(function.quantile(0.0), min, "{name}");
        assert!((function.quantile(1.0) / max - 1.0).abs() < 1e-11, "{name}: {}", function.quantile(1.0));
    }
}

#[test]
fn validate_mean_masses_of_published_functions() {
    // Kroupa (2001) from 0.01 to 50 and Maschberger (2013, table 1) from 0.01 to 150 solar masses: means of 0.36 and
    // 0.36.
    assert!((MassFunction::kroupa(0.01, 50.0).mean() - 0.36).abs() < 0.03);
    assert!((MassFunction::maschberger(0.01, 150.0).mean() - 0.36).abs() < 0.03);
}

#[test]
fn a_mass_is_filled_to_the_nearest_star() {
    let function = MassFunction::kroupa(0.08, 100.0);
    for (total, seed) in [(1000.0, 1), (1000.0, 2), (50.0, 3), (0.01, 4)] {
        let masses = function.draw_total(total, seed);
        assert_eq!(masses, function.draw(masses.len(), seed), "the first stars of the seed");
        let next = function.draw(masses.len() + 1, seed)[masses.len()];
        let sum: f64 = masses.iter().sum();
        let last = masses[masses.len() - 1];
        let off = (sum - total).abs();
        assert!(masses.len() == 1 || off <= (sum - last - total).abs(), "{total}: nearer without the last");
        assert!(sum >= total || off <= (sum + next - total).abs(), "{total}: nearer with one more");
    }
}

#[test]
fn pairing_keeps_every_star_once() {
    let masses = MassFunction::kroupa(0.08, 100.0).draw(2001, 1);
    for pairing in [Pairing::Random, Pairing::Ordered(1.0), Pairing::UniformRatio(1.0)] {
        for number in [0, 1, 300, 1000] {
            let systems = pair(&masses, number, pairing, 7);
            assert_eq!(systems.binaries.len(), number, "{pairing:?}");
            let mut all: Vec<usize> = systems.binaries.iter().flatten().chain(&systems.singles).copied().collect();
            all.sort_unstable();
            assert_eq!(all, (0..2001).collect::<Vec<_>>(), "{pairing:?}");
            assert!(systems.binaries.iter().all(|pair| masses[pair[0]] >= masses[pair[1]]), "{pairing:?}");
            assert_eq!(systems, pair(&masses, number, pairing, 7));
            assert!(number == 0 || systems != pair(&masses, number, pairing, 8));
        }
    }
    // B/(S + B) systems are binaries; all stars are paired at fraction 1.
    for (stars, fraction, expected) in [(1000, 0.0, 0), (1000, 1.0, 500), (1500, 0.5, 500), (1001, 1.0, 500)] {
        assert_eq!(binaries::count(stars, fraction), expected);
    }
}

#[test]
fn verify_pairing_by_mass() {
    let masses = MassFunction::salpeter(0.5, 100.0).draw(40_000, 2);
    let systems = pair(&masses, 10_000, Pairing::Ordered(5.0), 1);
    let mut massive: Vec<f64> = masses.iter().copied().filter(|m| *m > 5.0).collect();
    massive.sort_by(|a, b| b.total_cmp(a));
    assert!(massive.len() > 1000);
    for (two, pair) in massive.chunks_exact(2).zip(&systems.binaries) {
        assert_eq!([masses[pair[0]], masses[pair[1]]], [two[0], two[1]]);
    }
    let systems = pair(&masses, 10_000, Pairing::UniformRatio(20.0), 1);
    let ratios: Vec<f64> = systems
        .binaries
        .iter()
        .map(|pair| (masses[pair[0]], masses[pair[1]] / masses[pair[0]]))
        .filter(|(primary, _)| *primary > 20.0)
        .map(|(_, q)| q)
        .collect();
    assert!(ratios.len() > 100, "{}", ratios.len());
    let off = kolmogorov_smirnov(ratios, |q| ((q - 0.1) / 0.9).clamp(0.0, 1.0));
    assert!(off < 1.95, "{off}");
    // Random pairs: no relation of the two masses.
    let systems = pair(&masses, 20_000, Pairing::Random, 1);
    let mut sorted = masses.clone();
    sorted.sort_by(f64::total_cmp);
    let light = |star: usize| masses[star] < sorted[sorted.len() / 2];
    let mixed = systems.binaries.iter().filter(|pair| light(pair[0]) != light(pair[1])).count();
    assert!((mixed as f64 - 10_000.0).abs() < 4.0 * 5000f64.sqrt(), "{mixed} of 20000 pairs are mixed");
}

#[test]
fn verify_the_laws_of_binary_orbits() {
    let mu = vec![2.0; N];
    let draw = |axes, e| binaries::orbits(&mu, &axes, e, 3).unwrap();
    let axes = |axes| draw(axes, Eccentricities::Thermal).iter().map(|o| o.semi_major_axis).collect::<Vec<_>>();
    let off = kolmogorov_smirnov(axes(SemiMajorAxes::Opik(0.1, 100.0)), |a| (a / 0.1).log10() / 3.0);
    assert!(off < 1.95, "Öpik: {off}");
    let off = kolmogorov_smirnov(axes(SemiMajorAxes::Uniform(2.0, 6.0)), |a| (a - 2.0) / 4.0);
    assert!(off < 1.95, "uniform: {off}");
    // log₁₀ of the period in days from Kepler's law, a day being 0.5.
    let log_period = |a: f64| (TAU * (a.powi(3) / 2.0).sqrt() / 0.5).log10();
    let periods = |law, limits| {
        axes(SemiMajorAxes::Periods { law, day: 0.5, limits }).into_iter().map(log_period).collect::<Vec<f64>>()
    };
    let all = (0.0, f64::INFINITY);
    // Kroupa (1995): f = 2.5 (x − 1)/(45 + (x − 1)²), of which the integral to 8.43 is 1.
    let kroupa = |x: f64| integral(|x| 2.5 * (x - 1.0) / (45.0 + (x - 1.0).powi(2)), 1.0, x);
    assert!((kroupa(8.43) - 1.0).abs() < 1e-3, "{}", kroupa(8.43));
    let off = kolmogorov_smirnov(periods(PeriodLaw::Kroupa, all), |x| kroupa(x) / kroupa(8.43));
    assert!(off < 1.95, "Kroupa: {off}");
    let bell = |to: f64| integral(|x| (-((x - 4.8) / 2.3).powi(2) / 2.0).exp(), 0.0, to);
    let off = kolmogorov_smirnov(periods(PeriodLaw::DuquennoyMayor, all), |x| bell(x) / bell(10.0));
    assert!(off < 1.95, "Duquennoy & Mayor: {off}");
    let (min, max) = (50.0, 5000.0);
    let cut = periods(PeriodLaw::Kroupa, (min, max));
    let (from, to) = (log_period(min), log_period(max));
    assert!(cut.iter().all(|x| (from - 1e-9..=to + 1e-9).contains(x)));
    let off = kolmogorov_smirnov(cut, |x| (kroupa(x) - kroupa(from)) / (kroupa(to) - kroupa(from)));
    assert!(off < 1.95, "Kroupa, cut: {off}");
    let never = SemiMajorAxes::Periods { law: PeriodLaw::Kroupa, day: 0.5, limits: (0.0, 1e-6) };
    assert_eq!(binaries::orbits(&mu, &never, Eccentricities::Thermal, 1), None);

    for (law, cumulative) in [
        (Eccentricities::Thermal, Box::new(|e: f64| e * e) as Box<dyn Fn(f64) -> f64>),
        (Eccentricities::Uniform, Box::new(|e| e)),
    ] {
        let orbits = draw(SemiMajorAxes::Opik(1.0, 1.0), law);
        let off = kolmogorov_smirnov(orbits.iter().map(|o| o.eccentricity).collect(), cumulative);
        assert!(off < 1.95, "{law:?}: {off}");
        assert!(orbits.iter().all(|o| o.semi_major_axis == 1.0));
        let off = kolmogorov_smirnov(orbits.iter().map(|o| o.mean_anomaly).collect(), |m| m / TAU);
        assert!(off < 1.95, "{law:?}: phase {off}");
    }
    assert!(draw(SemiMajorAxes::Opik(1.0, 2.0), Eccentricities::Fixed(0.3)).iter().all(|o| o.eccentricity == 0.3));
}

#[test]
fn verify_the_curves_of_the_laws_are_what_orbits_follow() {
    // Each binary at its own place in its own law: the mass moves a law of periods along the axis.
    let mu: Vec<f64> = (0..4000).map(|k| 0.1 + f64::from(k % 50)).collect();
    let periods = |law, limits| SemiMajorAxes::Periods { law, day: 0.5, limits };
    let all = (0.0, f64::INFINITY);
    for axes in [
        SemiMajorAxes::Opik(0.1, 100.0),
        SemiMajorAxes::Uniform(2.0, 6.0),
        periods(PeriodLaw::Kroupa, all),
        periods(PeriodLaw::Kroupa, (50.0, 5000.0)),
        periods(PeriodLaw::DuquennoyMayor, all),
    ] {
        for eccentricities in [Eccentricities::Thermal, Eccentricities::Uniform] {
            let orbits = binaries::orbits(&mu, &axes, eccentricities, 11).unwrap();
            let places = orbits.iter().zip(&mu).map(|(o, mu)| axes.cumulative(o.semi_major_axis, *mu)).collect();
            let off = kolmogorov_smirnov(places, |u| u);
            assert!(off < 1.95, "{axes:?}: {off}");
            let off =
                kolmogorov_smirnov(orbits.iter().map(|o| eccentricities.cumulative(o.eccentricity)).collect(), |u| u);
            assert!(off < 1.95, "{eccentricities:?}: {off}");
        }
    }
}

#[test]
fn verify_members_of_binaries_are_on_their_orbits_in_random_orientation() {
    let (m, g, pos, vel) = ([2.0, 0.5], 3.0, Vec3::new(10.0, -20.0, 5.0), Vec3::new(1.0, 2.0, 3.0));
    let mu = vec![g * 2.5; 4000];
    let orbits = binaries::orbits(&mu, &SemiMajorAxes::Opik(0.01, 1.0), Eccentricities::Thermal, 5).unwrap();
    let (mut normals, mut pericentres) = (vec![], vec![]);
    for orbit in &orbits {
        let [(x1, v1), (x2, v2)] = binaries::members(m, orbit, g, pos, vel);
        for k in 0..3 {
            assert!((m[0] * x1[k] + m[1] * x2[k] - 2.5 * pos[k]).abs() < 1e-12);
            assert!((m[0] * v1[k] + m[1] * v2[k] - 2.5 * vel[k]).abs() < 1e-12 * v2.norm());
        }
        let (x, v) = (x2 - x1, v2 - v1);
        let energy = v.norm().powi(2) / 2.0 - g * 2.5 / x.norm();
        let a = -g * 2.5 / (2.0 * energy);
        assert!((a / orbit.semi_major_axis - 1.0).abs() < 1e-5, "{a} {orbit:?}");
        let l = x.cross(&v);
        normals.push(l[2] / l.norm());
        let e = v.cross(&l) / (g * 2.5) - x / x.norm();
        pericentres.push(e[0] / e.norm());
    }
    for (name, cosines) in [("normal", normals), ("pericentre", pericentres)] {
        let off = kolmogorov_smirnov(cosines, |c| (c + 1.0) / 2.0);
        assert!(off < 1.95, "{name}: {off}");
    }
}

/// Stars on orbits of a Plummer model at a degree of segregation.
fn segregated(masses: &[f64], degree: f64) -> Particles {
    let orbits = plummer::sample(segregation::orbits(masses), 1, 1.0);
    let chosen = segregation::assign(masses, &orbits, degree, 1);
    let total: f64 = masses.iter().sum();
    let column = |of: &[Vec3]| chosen.iter().map(|&orbit| of[orbit]).collect();
    Particles::new(masses.iter().map(|m| m / total).collect(), column(&orbits.pos), column(&orbits.vel))
}

#[test]
fn verify_segregation_by_its_degree() {
    let masses = MassFunction::kroupa(0.08, 20.0).draw(8000, 3);
    let mut by_mass: Vec<usize> = (0..masses.len()).collect();
    by_mass.sort_by(|&a, &b| masses[b].total_cmp(&masses[a]));
    // Binding energy in Plummer's potential, of structural length a: −Φ = 1/√(r² + a²).
    let a = plummer::STRUCTURAL_LENGTH;
    let bound =
        |p: &Particles, i: usize| 1.0 / (p.pos[i].norm().powi(2) + a * a).sqrt() - p.vel[i].norm().powi(2) / 2.0;
    let mean = |p: &Particles, stars: &[usize]| stars.iter().map(|&i| bound(p, i)).sum::<f64>() / stars.len() as f64;
    let (heavy, light) = (&by_mass[..400], &by_mass[4000..]);
    let mut before = -1.0;
    for degree in [0.0, 0.3, 0.6, 0.9, 1.0] {
        let p = segregated(&masses, degree);
        let excess = mean(&p, heavy) - mean(&p, light);
        assert!(excess > before + 0.02 || (degree == 0.0 && excess.abs() < 0.05), "S = {degree}: {excess} {before}");
        before = excess;
        // At every degree the profile of the mass is Plummer's: the mass inside its half-mass radius.
        let rh = a / (0.5_f64.powf(-2.0 / 3.0) - 1.0).sqrt();
        let inside: f64 = (0..p.len()).filter(|&i| p.pos[i].norm() < rh).map(|i| p.mass[i]).sum();
        assert!((inside - 0.5).abs() < 0.03, "S = {degree}: {inside}");
        let (t, u) = energies(&p);
        assert!((-t / u - 0.5).abs() < 0.04, "S = {degree}: Q {}", -t / u);
        assert_eq!(
            p.pos
                .iter()
                .map(|x| <[f64; 3]>::from(*x).map(f64::to_bits))
                .collect::<std::collections::BTreeSet<_>>()
                .len(),
            p.len()
        );
    }
    // At degree 1 the order of masses is that of the energies, up to the scatter of the sample's potential.
    let p = segregated(&masses, 1.0);
    let wrong = by_mass.windows(100).step_by(100).collect::<Vec<_>>();
    let means: Vec<f64> = wrong.iter().map(|stars| mean(&p, stars)).collect();
    assert!(means.windows(2).all(|pair| pair[0] > pair[1] - 1e-3), "{means:?}");
}

#[test]
fn verify_flipping_turns_stars_round_and_nothing_else() {
    let still = plummer::sample(N, 2, 0.999);
    let turning = |p: &Particles, i: usize| p.pos[i][0] * p.vel[i][1] - p.pos[i][1] * p.vel[i][0];
    for share in [0.0, 0.5, 1.0] {
        let mut p = still.clone();
        rotation::flip(&mut p, share, 1);
        let (mut back, mut turned) = (0, 0);
        for i in 0..N {
            let (before, after) = (turning(&still, i), turning(&p, i));
            assert!((before.abs() - after.abs()).abs() < 1e-12);
            assert!((p.vel[i].norm() - still.vel[i].norm()).abs() < 1e-12);
            assert_eq!(p.vel[i][2], still.vel[i][2]);
            let radial = |v: &Vec3| p.pos[i][0] * v[0] + p.pos[i][1] * v[1];
            assert!((radial(&p.vel[i]) - radial(&still.vel[i])).abs() < 1e-12);
            back += i32::from(before < 0.0);
            turned += i32::from(before < 0.0 && after > 0.0);
        }
        assert_eq!(p.pos, still.pos);
        let found = f64::from(turned) / f64::from(back);
        assert!((found - share).abs() < 4.0 * (share * (1.0 - share) / f64::from(back)).sqrt() + 1e-12, "{found}");
    }
}

#[test]
fn verify_a_solid_body_holds_its_share_of_the_kinetic_energy() {
    let still = plummer::sample(2000, 2, 0.999);
    for share in [0.0, 0.1, 0.5] {
        let mut p = still.clone();
        rotation::solid_body(&mut p, share);
        let inertia: f64 = (0..p.len()).map(|i| p.mass[i] * (p.pos[i][0].powi(2) + p.pos[i][1].powi(2))).sum();
        let omega = rotation::angular_velocity(&p);
        let (kinetic, _) = energies(&p);
        assert!((0.5 * inertia * omega * omega / kinetic - share).abs() < 1e-12, "{share}: {omega}");
        assert!(share == 0.0 || omega > 0.0);
    }
    let mut on_axis = Particles::new(vec![1.0], vec![Vec3::z()], vec![Vec3::repeat(1.0)]);
    rotation::solid_body(&mut on_axis, 0.5);
    assert_eq!(on_axis.vel, [Vec3::repeat(1.0)]);
}

#[test]
fn verify_a_central_body_raises_dispersions_to_equilibrium() {
    // Plummer's model with a = 1, M = 1 and a point of mass b: ρσ² = ∫ ρ (M(r) + b)/r² dr.
    let (n, body) = (60_000, 0.2);
    let mut p = plummer::sample(n, 3, 1.0);
    let a = plummer::STRUCTURAL_LENGTH;
    tisane::initial::scaling::rescale(&mut p, 1.0, 1.0 / a, a.sqrt());
    central_body::raise_dispersions(&mut p, body);
    let rho = |r: f64| (1.0 + r * r).powf(-2.5);
    let pressure = |r: f64, body: f64| {
        // In ln r, out to where nothing is left.
        let term = |x: f64| rho(x.exp()) * ((x.exp().powi(2) / (1.0 + x.exp().powi(2))).powf(1.5) + body) / x.exp();
        integral(term, r.ln(), 200f64.ln())
    };
    assert!((pressure(1.0, 0.0) / rho(1.0) - 1.0 / (6.0 * 2f64.sqrt())).abs() < 1e-6);
    for (from, to) in [(0.1, 0.2), (0.3, 0.5), (0.8, 1.2), (2.0, 3.0)] {
        let here: Vec<usize> = (0..n).filter(|&i| (from..to).contains(&p.pos[i].norm())).collect();
        let ratios = here.iter().map(|&i| {
            let r = p.pos[i].norm();
            p.vel[i].norm().powi(2) / 3.0 / (pressure(r, body) / rho(r))
        });
        let mean = ratios.sum::<f64>() / here.len() as f64;
        assert!((mean - 1.0).abs() < 0.06, "{from} to {to}: {mean} of {}", here.len());
    }
    assert_isotropic(&p);
    let (t, u) = energies(&Particles::new(p.mass[..4000].to_vec(), p.pos[..4000].to_vec(), p.vel[..4000].to_vec()));
    let by_body: f64 = p.pos[..4000].iter().map(|x| -p.mass[0] * body / x.norm()).sum();
    // Of a share s of the stars T and their part of U with the body go with s, U among them with s².
    let s = 4000.0 / n as f64;
    let q = t / s / -(u / (s * s) + by_body / s);
    assert!((q - 0.5).abs() < 0.03, "Q {q}");
}

#[test]
fn verify_encounters_are_on_their_orbit() {
    for (q, e, d, mu) in
        [(1.0, 1.0, 10.0, 2.0), (0.5, 1.5, 8.0, 1.0), (1.0, 0.5, 2.0, 3.0), (2.0, 0.0, 2.0, 1.0), (1.0, 0.5, 3.0, 1.0)]
    {
        let (x, v) = encounter::approach(q, e, d, mu);
        assert_eq!(x.norm(), d);
        assert!(v[0] <= 0.0 && v[1] > 0.0 && v[2] == 0.0, "{v:?}");
        let energy = v.norm().powi(2) / 2.0 - mu / d;
        assert!((energy + mu * (1.0 - e) / (2.0 * q)).abs() < 1e-12, "q {q} e {e}: {energy}");
        let l = x.cross(&v).z;
        assert!((l * l / mu / (1.0 + e) - q).abs() < 1e-12, "q {q} e {e}: {l}");
    }
}
