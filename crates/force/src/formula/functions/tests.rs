//! Values against a reference of many digits, which `table.py` printed, and against another library all over the ranges.

use super::*;
use std::f64::consts::{FRAC_PI_2, LN_2};

/// Argument or two, the value rounded to f64, and the rest of it.
fn table() -> impl Iterator<Item = (&'static str, Vec<f64>, [f64; 2])> {
    include_str!("table.txt").lines().map(|line| {
        let mut words = line.split(' ');
        let name = words.next().unwrap();
        let mut numbers: Vec<_> = words.map(|word| f64::from_bits(u64::from_str_radix(word, 16).unwrap())).collect();
        let rest = numbers.pop().unwrap();
        let value = numbers.pop().unwrap();
        (name, numbers, [value, rest])
    })
}

/// Spacing of the numbers at x, of a type with `digits` bits and the smallest number 2 to the power `smallest`.
fn spacing(x: f64, digits: i32, smallest: i32) -> f64 {
    let exponent = ((x.abs().to_bits() >> 52) as i32 - 1023).max(smallest + digits - 1);
    let exponent = exponent - (digits - 1);
    // In two steps: the spacing may be denormal.
    2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
}

fn compute<R: Real>(name: &str, x: &[R]) -> R {
    match name {
        "exp" => exp(x[0]),
        "log" => log(x[0]),
        "sin" => sin(x[0]),
        "cos" => cos(x[0]),
        _ => pow(x[0], x[1]),
    }
}

#[test]
fn errors_in_f64_are_below_a_unit_in_the_last_place() {
    for (bounded, bound) in [("exp", 0.53), ("log", 0.52), ("sin", 0.7), ("cos", 0.7), ("pow", 0.7)] {
        let mut largest = (0.0, Vec::new());
        for (_, x, [value, rest]) in table().filter(|(name, ..)| *name == bounded) {
            let got = compute(bounded, &x);
            let error = ((got - value) - rest).abs() / spacing(value, 53, -1074);
            // Where the exact value is denormal the last bit is rounded twice.
            let error = if value.abs() < f64::MIN_POSITIVE { error - 0.5 } else { error };
            assert!(error.is_finite(), "{bounded}{x:?} is {got}, not {value}");
            if error > largest.0 {
                largest = (error, x);
            }
        }
        println!("{bounded}: {:.4} ulp at {:?}", largest.0, largest.1);
        assert!(largest.0 < bound && largest.0 > 0.4, "{bounded}: {} ulp at {:?}", largest.0, largest.1);
    }
}

#[test]
fn errors_in_f32_are_those_of_one_rounding_and_of_exp_below_a_unit() {
    let (mut compared, mut largest, mut largest_of_exp) = (0, 0.0f64, 0.0f64);
    for (name, x, _) in table() {
        let x: Vec<f32> = x.iter().map(|&x| x as f32).collect();
        let wide: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
        let exact = match name {
            "exp" => libm::exp(wide[0]),
            "log" => libm::log(wide[0]),
            "sin" => libm::sin(wide[0]),
            "cos" => libm::cos(wide[0]),
            _ => libm::pow(wide[0], wide[1]),
        };
        let got = compute(name, &x);
        if (exact as f32).is_finite() {
            let error = (f64::from(got) - exact).abs() / spacing(exact, 24, -149);
            let of = if name == "exp" { &mut largest_of_exp } else { &mut largest };
            *of = of.max(error);
            compared += 1;
        } else {
            assert!(got == exact as f32 || got.is_nan() && exact.is_nan(), "{name}{x:?} is {got}, not {exact}");
        }
    }
    assert!(compared > 1000 && largest > 0.4 && largest < 0.500_001, "{compared} values, {largest} ulp");
    for k in 0..400_000 {
        let x = -104.0 + 192.7 * k as f32 / 400_000.0;
        let exact = libm::exp(f64::from(x));
        let error = (f64::from(exp(x)) - exact).abs() / spacing(exact, 24, -149);
        // Where the exact value is denormal the last bit is rounded twice.
        let error = if exact < f64::from(f32::MIN_POSITIVE) { error - 0.5 } else { error };
        largest_of_exp = largest_of_exp.max(error);
    }
    println!("exp in f32: {largest_of_exp:.4} ulp");
    assert!(largest_of_exp > 0.5 && largest_of_exp < 1.0, "{largest_of_exp} ulp");
    let ends: [(f32, f32); 6] = [
        (f32::NEG_INFINITY, 0.0),
        (-104.1, 0.0),
        (0.0, 1.0),
        (88.73, f32::INFINITY),
        (1e30, f32::INFINITY),
        (-1e30, 0.0),
    ];
    for (x, want) in ends {
        assert!(exp(x) == want, "exp({x}) is {}, not {want}", exp(x));
    }
    assert!(exp(f32::NAN).is_nan());
}

/// Another library with errors below 1 ulp, at regular places between those of the table.
#[test]
fn values_between_agree_with_another_library() {
    let check = |name: &str, x: &[f64], other: f64| {
        let got = compute(name, x);
        assert!((got - other).abs() <= 2.0 * spacing(other, 53, -1074), "{name}{x:?} is {got}, not {other}");
    };
    for k in 0..200_000 {
        let t = f64::from(k) / 200_000.0;
        let x = -745.0 + 1454.5 * t;
        check("exp", &[x], libm::exp(x));
        let x = (2090.0 * t - 1068.0).exp2();
        check("log", &[x], libm::log(x));
        let x = 1e-9 + 1000.0 * t;
        check("sin", &[x], libm::sin(x));
        check("cos", &[-x], libm::cos(x));
        let (x, y) = (0.01 + 30.0 * t, 12.5 - 25.0 * t);
        check("pow", &[x, y], libm::pow(x, y));
    }
}

#[test]
fn ends_of_the_ranges() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let same = |got: f64, want: f64| {
        assert!(got.to_bits() == want.to_bits() || (got.is_nan() && want.is_nan()), "{got} is not {want}")
    };
    for (x, want) in
        [(0.0, 1.0), (-0.0, 1.0), (inf, inf), (-inf, 0.0), (709.79, inf), (-745.2, 0.0), (1e300, inf), (nan, nan)]
    {
        same(exp(x), want);
    }
    for (x, want) in
        [(1.0, 0.0), (0.0, -inf), (-0.0, -inf), (inf, inf), (-1.0, nan), (-inf, nan), (nan, nan), (2.0, LN_2)]
    {
        same(log(x), want);
    }
    let beyond = 1.000_001 * 2f64.powi(40);
    for (x, want) in [(0.0, 0.0), (FRAC_PI_2, 1.0), (5e-324, 5e-324), (beyond, nan), (-inf, nan), (nan, nan)] {
        same(sin(x), want);
    }
    for (x, want) in [(0.0, 1.0), (5e-324, 1.0), (beyond, nan), (inf, nan), (nan, nan)] {
        same(cos(x), want);
    }
}

/// The table of C's `pow`.
#[test]
fn powers_have_the_special_values_of_c() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let numbers = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 2.5, -2.5, 5e-324, inf, -inf, nan, 1e16];
    for x in numbers {
        for y in numbers {
            let (got, want) = (pow(x, y), libm::pow(x, y));
            assert!(
                got.to_bits() == want.to_bits()
                    || (got.is_nan() && want.is_nan())
                    || (got - want).abs() <= spacing(want, 53, -1074),
                "{x}^{y} is {got}, not {want}"
            );
        }
    }
}
