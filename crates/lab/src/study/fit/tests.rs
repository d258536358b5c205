//! What fits make of planted points.

use super::*;
use proptest::prelude::*;

/// Factors that scatter about 1, the same at every call.
fn noise(k: usize, size: f64) -> f64 {
    (size * (1.7 * k as f64).sin()).exp()
}

proptest! {
    #[test]
    fn a_planted_power_law_is_found(c in 1e-9..1e9f64, p in -4.0..4.0f64) {
        let points: Vec<_> = (0..9).map(|k| f64::from(1 << k)).map(|x| (x, c * x.powf(p))).collect();
        let found = power(&points).unwrap();
        prop_assert!((found.coefficient / c - 1.0).abs() < 1e-9 && (found.exponent - p).abs() < 1e-9);
        prop_assert!(found.scatter < 1e-9);
    }

    #[test]
    fn a_planted_energy_law_is_found(a in -9.0..-3.0f64, p in 1.5..3.0f64, r in -13.0..-8.0f64) {
        let law = EnergyLaw::known(10f64.powf(a), p, 10f64.powf(r));
        let points: Vec<_> =
            (0..12).map(|k| 0.2 / f64::from(1 << k)).enumerate().map(|(k, nu)| (nu, law.at(nu) * noise(k, 0.1))).collect();
        let truncation = law.coefficient * 0.2f64.powf(p);
        let min = law.coefficient * (0.2f64 / 2048.0).powf(p);
        let free = energy(&points, Truncation::Free(2.0)).unwrap();
        let fixed = energy(&points, Truncation::Known(law.coefficient, p)).unwrap();
        // Where all is free, a round-off error above the truncation error at one point alone is not found: that point
        // lies off the law.
        let plateau = law.round_off > 1.3 * min * 2f64.powf(p);
        let at_one_point = law.round_off > min && !plateau;
        prop_assert!(fixed.scatter < 0.2 && (free.scatter < 0.2 || at_one_point), "{fixed:?} {free:?}");
        // A plateau of two points at least, and enough above it to see the power.
        if plateau && law.round_off < truncation / 100.0 {
            prop_assert!((fixed.round_off / law.round_off).ln().abs() < 0.15, "{fixed:?} for {law:?}");
            prop_assert!((free.round_off / law.round_off).ln().abs() < 0.3, "{free:?} for {law:?}");
            prop_assert!((free.exponent - p).abs() < 0.3, "{free:?} for {law:?}");
        }
    }

    #[test]
    fn planted_costs_are_found(c in prop::array::uniform4(0.0..10.0f64)) {
        let rows: Vec<_> = (0..40).map(|k| {
            let (n, b) = (f64::from(256 << (k % 5)), f64::from(1 << (k / 5)));
            let x = [1.0, n, b, n * b];
            (x, (0..4).map(|k| c[k] * x[k]).sum::<f64>())
        }).collect();
        let found = nonnegative(&rows);
        for k in 0..4 {
            prop_assert!((found[k] - c[k]).abs() < 1e-5 * (1.0 + c[k]), "{found:?} for {c:?}");
        }
    }
}

#[test]
fn laws_of_higher_orders_are_found() {
    // Order 6 and 8 in η, with a round-off error within the points, and with the coefficient or all left free.
    for (p, round_off) in [(6.0, 3e-12), (8.0, 1e-13)] {
        let law = EnergyLaw::known(2e-6, p, round_off);
        let etas = [0.5, 0.35, 0.25, 0.18, 0.13, 0.09, 0.06];
        let points: Vec<_> = etas.iter().enumerate().map(|(k, x)| (*x, law.at(*x) * noise(k, 0.1))).collect();
        for truncation in [Truncation::Free(p), Truncation::Power(p), Truncation::Known(2e-6, p)] {
            let found = energy(&points, truncation).unwrap();
            assert!((found.exponent - p).abs() < 0.4 && found.scatter < 0.2, "{truncation:?}: {found:?}");
            assert!((found.round_off / round_off).ln().abs() < 0.3, "{truncation:?}: {found:?}");
        }
    }
}

#[test]
fn few_points_have_no_floor_and_say_how_rough_the_law_is() {
    // Errors that fall more slowly at the smallest steps, in a case that was measured: no plateau.
    let three = [(0.04, 1.2e-7), (0.01, 4.5e-9), (0.0025, 7.5e-10)];
    let found = energy(&three, Truncation::Free(2.0)).unwrap();
    assert!(found.round_off == 0.0 && found.is_rough(), "{found:?}");
    assert_eq!((found.points, found.parameters), (3, 2));
    // By hand: a straight line through three points at equal distances d = ln 4 in ln x. Its slope is that from the
    // first to the last, the residuals are δ (1, -2, 1) / 6 of the second difference δ.
    let y = three.map(|(_, y)| y.ln());
    let slope = (y[0] - y[2]) / (2.0 * 4f64.ln());
    let scatter = ((y[0] - 2.0 * y[1] + y[2]).powi(2) / 6.0).sqrt();
    assert!((found.exponent / slope - 1.0).abs() < 1e-9, "{found:?}");
    assert!((found.scatter / scatter - 1.0).abs() < 1e-9, "{found:?} and {scatter}");
    let error = scatter / (2f64.sqrt() * 4f64.ln());
    assert!((found.exponent_error / error - 1.0).abs() < 1e-6, "{found:?} and {error}");
    // Two points and a known power: one parameter. Two of a known law: none, so that the scatter is the misfit.
    let two = energy(&three[..2], Truncation::Power(2.0)).unwrap();
    assert!(two.parameters == 1 && two.exponent_error.is_nan() && two.round_off == 0.0, "{two:?}");
}

#[test]
fn a_floor_needs_a_plateau() {
    // Twelve points that scatter by a tenth about a law that reaches its floor at the last point alone, or at three.
    let of = |round_off: f64| {
        let law = EnergyLaw::known(1e-4, 2.0, round_off);
        let points: Vec<_> = (0..12).map(|k| 0.1 / f64::from(1 << k)).collect();
        let points: Vec<_> = points.iter().enumerate().map(|(k, x)| (*x, law.at(*x) * noise(k, 0.05))).collect();
        (points.clone(), energy(&points, Truncation::Free(2.0)).unwrap())
    };
    let min = 1e-4 * (0.1f64 / 2048.0).powi(2);
    let (_, without) = of(1.2 * min);
    assert_eq!(without.round_off, 0.0, "{without:?}");
    let (points, with) = of(20.0 * min);
    assert!((with.round_off / (20.0 * min)).ln().abs() < 0.2, "{with:?}");
    let smallest = points.iter().map(|(_, y)| *y).fold(f64::INFINITY, f64::min);
    assert!(with.round_off < 1.2 * smallest && !with.is_rough(), "{with:?} and {smallest:e}");
    // What is known of the truncation error takes the place of a plateau: the mode is worse than f64.
    let above: Vec<_> = points.iter().map(|(x, _)| (*x, (1e-4 * x * x).hypot(5e-8) * noise(3, 0.01))).collect();
    let known = energy(&above[..4], Truncation::Known(1e-4, 2.0)).unwrap();
    assert!((known.round_off / 5e-8).ln().abs() < 0.1, "{known:?}");
}

#[test]
fn chance_gives_no_floor_more_than_once_in_a_hundred() {
    // Straight laws with a scatter of normal numbers: of 600, each through four to nine points.
    use rand::{RngExt, SeedableRng};
    let mut rng = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(5);
    let mut normal = || (0..12).map(|_| rng.random_range(-0.5..0.5)).sum::<f64>();
    let floors = (0..600).filter(|k| {
        let law = EnergyLaw::known(1e-4, 2.3, 0.0);
        let xs = (0..4 + k % 6).map(|k| 0.1 / 2f64.powi(k));
        let points: Vec<_> = xs.map(|x| (x, law.at(x) * (0.4 * normal()).exp())).collect();
        energy(&points, Truncation::Free(2.0)).unwrap().round_off > 0.0
    });
    assert!(floors.count() <= 12);
}

#[test]
fn no_cost_is_negative() {
    let rows: Vec<_> = (1..20).map(|k| ([1.0, f64::from(k)], 5.0 - 0.1 * f64::from(k))).collect();
    let [constant, slope] = nonnegative(&rows);
    assert!(slope == 0.0 && (constant - 4.0).abs() < 1e-9, "{constant} {slope}");
    assert_eq!(nonnegative::<2>(&[]), [0.0; 2]);
}

#[test]
fn between_points_is_straight_in_the_logarithms() {
    let points = [(0.1, 1e-3), (0.001, 1e-1), (0.01, 1e-2)];
    for (x, y) in [(0.1, 1e-3), (0.001, 1e-1), (0.03, 1e-4 / 0.03)] {
        assert!((between(&points, x) / y - 1.0).abs() < 1e-9, "{x}: {}", between(&points, x));
    }
    assert!(between(&points, 0.2).is_nan() && between(&points, 1e-4).is_nan() && between(&[], 1.0).is_nan());
}

#[test]
fn too_few_points_are_no_law() {
    assert_eq!(power(&[(1.0, 2.0)]), None);
    assert_eq!(power(&[(1.0, 2.0), (1.0, 3.0)]), None);
    assert_eq!(power(&[]), None);
    assert_eq!(energy(&[(0.1, 1e-6), (0.05, 1e-7)], Truncation::Free(2.0)), None);
    for truncation in [Truncation::Known(1.0, 2.0), Truncation::Power(2.0)] {
        assert_eq!(energy(&[(0.1, 0.0), (0.05, f64::NAN)], truncation), None);
    }
}

#[test]
fn a_goal_is_reached_or_not() {
    let law = EnergyLaw::known(1e-5, 2.0, 1e-10);
    let nu = law.accuracy_for(1e-9, (1e-4, 0.1)).unwrap();
    assert!((law.at(nu) / 1e-9 - 1.0).abs() < 1e-9);
    assert_eq!(law.accuracy_for(1e-3, (1e-4, 0.1)), Some(0.1));
    assert_eq!(law.accuracy_for(0.9e-10, (1e-9, 0.1)), None, "below the round-off error");
    assert_eq!(law.accuracy_for(1e-9, (0.05, 0.1)), None, "below the range");
}
