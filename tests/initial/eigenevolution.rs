//! Eigenevolution of binaries: the formulas of Kroupa (1995), and what they make of a population.

use std::f64::consts::TAU;
use tisane::initial::binaries::{self, Eccentricities, PeriodLaw, SemiMajorAxes};
use tisane::initial::deviates;
use tisane::initial::eigenevolution::{Eigenevolved, NoOrbit, Pair, Sun, orbits};
use tisane::stellar::main_sequence_radius;
use tisane::units::names::{AU_CGS, DAY_CGS, GM_SUN_CGS, R_SUN_CGS, YEAR_CGS};

/// Solar masses and radii.
const SUN: Sun = Sun { mass: 1.0, radius: 1.0 };
/// Gravitational constant and Sun in Msun, au and yr.
const IN_AU: (f64, Sun) =
    (GM_SUN_CGS * YEAR_CGS * YEAR_CGS / (AU_CGS * AU_CGS * AU_CGS), Sun { mass: 1.0, radius: R_SUN_CGS / AU_CGS });
const DAY: f64 = DAY_CGS / YEAR_CGS;

#[test]
fn verify_pairs_by_hand() {
    // A pericentre of 28 R⊙ has ρ = 1: e falls by the factor e = 2.718…, and the masses become equal.
    let close = Pair { masses: [1.0, 0.4], semi_major_axis: 70.0, eccentricity: 0.6 }.eigenevolved(SUN);
    // One of 16 · 28 R⊙ has ρ = 16^(−3/4) = 1/8.
    let wide = Pair { masses: [1.0, 0.4], semi_major_axis: 560.0, eccentricity: 0.2 }.eigenevolved(SUN);
    for (found, masses, e, a) in [
        (close, [1.0, 1.0], 0.220_727_664_702_865_4, 35.930_956_010_806_76),
        (wide, [1.0, 0.475], 0.176_499_380_516_919_08, 544.019_020_023_584),
    ] {
        let ratios = [
            found.masses[0] / masses[0],
            found.masses[1] / masses[1],
            found.eccentricity / e,
            found.semi_major_axis / a,
        ];
        assert!(ratios.iter().all(|ratio| (ratio - 1.0).abs() < 1e-12), "{found:?}: {ratios:?}");
    }
    // Circular pairs stay so, and their secondaries gain mass all the same.
    let circular = Pair { masses: [2.0, 0.5], semi_major_axis: 448.0, eccentricity: 0.0 }.eigenevolved(SUN);
    assert_eq!((circular.eccentricity, circular.semi_major_axis, circular.masses), (0.0, 448.0, [2.0, 0.6875]));
}

/// Period in days of a pair with lengths in au and masses in Msun.
fn period(pair: &Pair) -> f64 {
    let (a, mass) = (pair.semi_major_axis, pair.masses[0] + pair.masses[1]);
    TAU * (a * a * a / (IN_AU.0 * mass)).sqrt() / DAY
}

/// ρ by the paper's formula from the period in days: R_peri = (1 − e) P^(2/3) m^(1/3) in au, P in years.
fn rho_of_period(days: f64, e: f64, mass: f64) -> f64 {
    let pericentre = (1.0 - e) * (days * DAY).powf(2.0 / 3.0) * mass.cbrt() * (IN_AU.0 / (TAU * TAU)).cbrt();
    (28.0 * IN_AU.1.radius / pericentre).powf(0.75)
}

#[test]
fn verify_eigenevolution_has_the_formulas_and_bounds_of_the_paper() {
    let random = deviates(5, 4 * 2000);
    for u in random.chunks_exact(4) {
        let m1 = 0.08 * 1000f64.powf(u[0]);
        let semi_major_axis = 0.01 * 1e6f64.powf(u[2]);
        let birth = Pair { masses: [m1, (m1 * u[1]).max(0.01)], semi_major_axis, eccentricity: u[3] };
        let found = birth.eigenevolved(IN_AU.1);
        let ([m1, m2], [n1, n2]) = (birth.masses, found.masses);
        let rho = rho_of_period(period(&birth), u[3], m1 + m2);
        let (q, grown) = (m2 / m1, n2 / n1);
        assert!((grown - (q + (1.0 - q) * rho.min(1.0))).abs() < 1e-12, "{birth:?} {found:?}");
        assert!((found.eccentricity - u[3] * (-rho).exp()).abs() < 1e-12, "{birth:?} {found:?}");
        let shape = ((1.0 - u[3]) / (1.0 - found.eccentricity)).powf(1.5);
        let expected = period(&birth) * ((m1 + m2) / (n1 + n2)).sqrt() * shape;
        assert!((period(&found) / expected - 1.0).abs() < 1e-12, "{birth:?} {found:?}");
        assert!((found.pericentre() / birth.pericentre() - 1.0).abs() < 1e-13, "{birth:?} {found:?}");
        assert!(n1 == m1 && m2 <= n2 && n2 <= n1, "{birth:?} {found:?}");
        assert!(found.eccentricity <= u[3] && period(&found) <= period(&birth), "{birth:?} {found:?}");
        // Where ρ is small, all changes are of its order.
        if rho < 1e-3 {
            assert!((period(&found) / period(&birth) - 1.0).abs() < 3.0 * rho / (1.0 - u[3]), "{birth:?} {found:?}");
        }
    }
    let far = Pair { masses: [1.0, 0.5], semi_major_axis: 1e4, eccentricity: 0.7 };
    let found = far.eigenevolved(IN_AU.1);
    assert!((period(&found) / period(&far) - 1.0).abs() < 3e-3 && found.masses[1] < 0.501, "{found:?}");
}

const MASSES: [f64; 2] = [1.0, 0.5];

/// Binaries of one pair of masses with the birth periods of Kroupa (1995) and thermal eccentricities.
fn population(n: usize, seed: u64) -> Eigenevolved {
    let axes = SemiMajorAxes::Periods { law: PeriodLaw::Kroupa, day: DAY, limits: (0.0, f64::INFINITY) };
    orbits(&vec![MASSES; n], (&axes, Eccentricities::Thermal), IN_AU, seed).unwrap()
}

fn pairs(found: &Eigenevolved) -> Vec<Pair> {
    let both = found.masses.iter().zip(&found.orbits);
    both.map(|(&masses, orbit)| {
        let (semi_major_axis, eccentricity) = (orbit.semi_major_axis, orbit.eccentricity);
        Pair { masses, semi_major_axis, eccentricity }
    })
    .collect()
}

/// Shares of a population by the formulas: with periods below 10 days; of these, with e < 0.1; redrawn; with e below a tenth of that
/// at birth. By the midpoint rule over both random numbers.
fn expected_shares() -> [f64; 4] {
    const STEPS: u32 = 1500;
    let mass = MASSES[0] + MASSES[1];
    let all = 1.25 * (1.0 + 7.43f64.powi(2) / 45.0).ln();
    let [mut free, mut short, mut circular, mut fallen] = [0.0; 4];
    for k in 0..STEPS {
        let place = |k: u32| (f64::from(k) + 0.5) / f64::from(STEPS);
        let days = 10f64.powf(1.0 + (45.0 * ((all * place(k) / 1.25).exp() - 1.0)).sqrt());
        for j in 0..STEPS {
            let e = place(j).sqrt();
            let rho = rho_of_period(days, e, mass);
            let pericentre = 28.0 / rho.powf(4.0 / 3.0);
            let secondary = MASSES[0] * (0.5 + 0.5 * rho.min(1.0));
            if pericentre < main_sequence_radius(MASSES[0]) + main_sequence_radius(secondary) {
                continue;
            }
            let left = e * (-rho).exp();
            let after = days * (mass / (MASSES[0] + secondary)).sqrt() * ((1.0 - e) / (1.0 - left)).powf(1.5);
            free += 1.0;
            fallen += f64::from(u8::from(left < 0.1 * e));
            short += f64::from(u8::from(after < 10.0));
            circular += f64::from(u8::from(after < 10.0 && left < 0.1));
        }
    }
    [short / free, circular / short, 1.0 - free / f64::from(STEPS).powi(2), fallen / free]
}

#[test]
fn verify_the_shares_of_circular_and_of_replaced_orbits() {
    const N: usize = 60_000;
    let found = population(N, 3);
    let short: Vec<Pair> = pairs(&found).into_iter().filter(|pair| period(pair) < 10.0).collect();
    let circular = short.iter().filter(|pair| pair.eccentricity < 0.1).count();
    let [share_short, share_circular, redrawn, fallen] = expected_shares();
    for (name, count, of, share) in [
        ("below 10 days", short.len(), N, share_short),
        ("circular", circular, short.len(), share_circular),
        ("redrawn", found.redrawn, N, redrawn),
        ("below a tenth", found.circularised, N, fallen),
    ] {
        let (expected, off) = (share * of as f64, (share * (1.0 - share) * of as f64).sqrt());
        assert!((count as f64 - expected).abs() < 4.0 * off + 1.0, "{name}: {count}, expected {expected} ± {off}");
    }
}

#[test]
fn verify_no_pair_is_beyond_the_envelope_and_none_touch() {
    // The pericentre stays, so that an orbit with e at birth below 1 ends below exp(−ρ) of its own pericentre.
    let found = population(20_000, 4);
    for pair in pairs(&found) {
        let bound = (-(28.0 * IN_AU.1.radius / pair.pericentre()).powf(0.75)).exp();
        assert!(pair.eccentricity < bound, "{pair:?}: {bound}");
        assert!(!pair.touches(IN_AU.1), "{pair:?}");
        let radii = pair.masses.map(main_sequence_radius);
        assert!(pair.pericentre() > (radii[0] + radii[1]) * IN_AU.1.radius, "{pair:?}");
        assert!(period(&pair) > 5.0 || pair.eccentricity < 0.17, "{pair:?}: {}", period(&pair));
    }
    assert_eq!(found, population(20_000, 4));
    assert_ne!(found.orbits, population(20_000, 5).orbits);
}

#[test]
fn wide_pairs_are_those_without_eigenevolution() {
    let axes = SemiMajorAxes::Opik(1e3, 1e4);
    let found = orbits(&[MASSES; 500], (&axes, Eccentricities::Uniform), IN_AU, 2).unwrap();
    let birth = binaries::orbits(&[IN_AU.0 * 1.5; 500], &axes, Eccentricities::Uniform, 2).unwrap();
    assert_eq!(found.redrawn, 0);
    for (after, before) in found.orbits.iter().zip(&birth) {
        let angles = |of: &tisane::initial::kepler::Elements| [of.inclination, of.node, of.pericentre, of.mean_anomaly];
        assert_eq!(angles(after), angles(before));
        let evolved =
            Pair { masses: MASSES, semi_major_axis: before.semi_major_axis, eccentricity: before.eccentricity }
                .eigenevolved(IN_AU.1);
        assert_eq!((after.semi_major_axis, after.eccentricity), (evolved.semi_major_axis, evolved.eccentricity));
    }
}

#[test]
fn a_binary_without_an_orbit_is_told() {
    let touching = SemiMajorAxes::Opik(0.001, 0.002);
    let masses = [[0.3, 0.2], [20.0, 5.0]];
    let found = orbits(&masses, (&touching, Eccentricities::Thermal), IN_AU, 1);
    assert_eq!(found, Err(NoOrbit::Touching([0.3, 0.2])));
    let never = SemiMajorAxes::Periods { law: PeriodLaw::Kroupa, day: DAY, limits: (0.0, 1e-3) };
    assert_eq!(orbits(&masses, (&never, Eccentricities::Thermal), IN_AU, 1), Err(NoOrbit::NoPeriod));
}
