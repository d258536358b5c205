//! Where the ticks of an axis stand and what is written at them.

use super::figure::Scale;
use super::quantity::raise;

/// Decades from one label to the next.
const STRIDES: [i32; 11] = [1, 2, 3, 4, 5, 10, 20, 30, 50, 100, 200];
/// With longer strides, decades without a label have no ticks.
const MAX_BETWEEN: i32 = 5;

/// A tick with a label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub value: f64,
    pub label: String,
}

/// The ticks of an axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ticks {
    /// With labels.
    pub major: Vec<Tick>,
    /// Without.
    pub minor: Vec<f64>,
}

impl Ticks {
    /// Returns those at whole numbers, as there are no counts between them.
    pub fn at_whole_numbers(mut self) -> Self {
        let is_whole = |x: f64| (x - x.round()).abs() < 1e-6;
        self.major.retain(|tick| is_whole(tick.value));
        self.minor.retain(|x| is_whole(*x));
        // A step below 1 has written decimals.
        for tick in self.major.iter_mut().filter(|tick| tick.label.contains('.')) {
            tick.label = plain_decimal(tick.value, 0);
        }
        self
    }
}

/// The most ticks, up to `max` or so, whose labels have room, which `fits` says: two at least where that can be.
pub(super) fn ticks(scale: Scale, ends: (f64, f64), max: usize, fits: impl Fn(&[Tick]) -> bool) -> Ticks {
    let (low, high) = (ends.0.min(ends.1), ends.0.max(ends.1));
    let of = |count| match scale {
        Scale::Linear => linear(low, high, count),
        Scale::Log10 => logarithmic(low, high, count),
    };
    // No multiple of a coarse step need lie on a short axis: finer ones are tried last.
    let tried: Vec<Ticks> = (1..=max).rev().chain(max + 1..max + 9).map(of).collect();
    let several = tried.iter().find(|ticks| ticks.major.len() > 1 && fits(&ticks.major));
    let mut found = several.or_else(|| tried.iter().find(|ticks| !ticks.major.is_empty())).cloned().unwrap_or_default();
    if several.is_none() {
        found.major.truncate(1);
    }
    found
}

/// At most `count` or so multiples of a round step.
fn linear(low: f64, high: f64, count: usize) -> Ticks {
    let raw = (high - low) / count as f64;
    let power = raw.log10().floor();
    let (factor, parts) = [(1.0, 5), (2.0, 4), (5.0, 5), (10.0, 5)]
        .into_iter()
        .find(|(factor, _)| factor * 10f64.powf(power) >= raw * (1.0 - 1e-9))
        .unwrap_or((10.0, 5));
    let (factor, power) = if factor == 10.0 { (1.0, power + 1.0) } else { (factor, power) };
    let step = factor * 10f64.powf(power);
    let values = multiples(low, high, step);
    let minor = multiples(low, high, step / f64::from(parts));
    let near = |a: f64, b: f64| (a - b).abs() < 0.1 * step / f64::from(parts);
    let minor = minor.into_iter().filter(|m| !values.iter().any(|v| near(*m, *v))).collect();
    let labels = decimal_labels(&values, step);
    Ticks { major: values.into_iter().zip(labels).map(|(value, label)| Tick { value, label }).collect(), minor }
}

/// Multiples of `step` between two values.
fn multiples(low: f64, high: f64, step: f64) -> Vec<f64> {
    let slack = 1e-9;
    let (first, last) = ((low / step - slack).ceil(), (high / step + slack).floor());
    if !(step > 0.0 && first.is_finite() && last - first < 1000.0) {
        return Vec::new();
    }
    // A multiple that is zero but for rounding is zero.
    (0..=(last - first).max(-1.0) as i64).map(|k| (first + k as f64) * step + 0.0).collect()
}

/// Decades where there are several; else their multiples by 1, 2, 5; else the ticks of a linear axis.
fn logarithmic(low: f64, high: f64, count: usize) -> Ticks {
    let slack = 1e-9;
    let (first, last) = ((low.log10() - slack).ceil() as i32, (high.log10() + slack).floor() as i32);
    let decades = last - first + 1;
    let inside = |x: &f64| (low * (1.0 - slack)..=high * (1.0 + slack)).contains(x);
    let digits = |of: &'static [i32]| {
        let all = (first - 1..=last).flat_map(move |e| of.iter().map(move |m| (*m, e)));
        all.filter(move |&(m, e)| inside(&power(m, e))).collect::<Vec<_>>()
    };
    if decades >= 2 {
        let min = (decades as usize).div_ceil(count) as i32;
        let stride = STRIDES.into_iter().find(|stride| *stride >= min).unwrap_or(min);
        let on = |e: &i32| e.rem_euclid(stride) == 0;
        let exponents: Vec<i32> = (first..=last).filter(on).collect();
        let minor = if stride == 1 {
            digits(&[2, 3, 4, 5, 6, 7, 8, 9]).into_iter().map(|(m, e)| power(m, e)).collect()
        } else if stride <= MAX_BETWEEN {
            (first..=last).filter(|e| !on(e)).map(|e| power(1, e)).collect()
        } else {
            Vec::new()
        };
        let plain = exponents.iter().all(|e| (-2..=3).contains(e));
        let label =
            |e| if plain { plain_decimal(power(1, e), (-e).max(0) as usize) } else { format!("10{}", superscript(e)) };
        return Ticks {
            major: exponents.iter().map(|&e| Tick { value: power(1, e), label: label(e) }).collect(),
            minor,
        };
    }
    let fine = digits(&[1, 2, 5]);
    if fine.len() < 2 || fine.len() > count {
        return linear(low, high, count);
    }
    let minor = digits(&[3, 4, 6, 7, 8, 9]).into_iter().map(|(m, e)| power(m, e)).collect();
    let plain = fine.iter().all(|(_, e)| (-3..=4).contains(e));
    let label = |(m, e): (i32, i32)| match m {
        _ if plain => plain_decimal(power(m, e), (-e).max(0) as usize),
        1 => format!("10{}", superscript(e)),
        _ => format!("{m}×10{}", superscript(e)),
    };
    Ticks { major: fine.iter().map(|&(m, e)| Tick { value: power(m, e), label: label((m, e)) }).collect(), minor }
}

/// m · 10^e, as the decimal number reads: no rounding of powers.
fn power(m: i32, e: i32) -> f64 {
    format!("{m}e{e}").parse().unwrap_or(f64::NAN)
}

/// As many decimals as the step asks for; powers of ten where the numbers are far from one.
fn decimal_labels(values: &[f64], step: f64) -> Vec<String> {
    let largest = values.iter().fold(0f64, |max, x| max.max(x.abs()));
    let step_power = (step * (1.0 + 1e-9)).log10().floor() as i32;
    if largest < 1e6 && (largest == 0.0 || largest >= 1e-3 || step_power >= -4) {
        return values.iter().map(|&x| plain_decimal(x, (-step_power).clamp(0, 17) as usize)).collect();
    }
    let power_of_ten = largest.log10().floor() as i32;
    let decimals = (power_of_ten - step_power).clamp(0, 16) as usize;
    let label = |x: f64| {
        if x == 0.0 {
            return "0".to_owned();
        }
        // Through the decimal form: a power of ten beyond 10^308 need not be a number.
        let text = format!("{:.*e}", decimals.saturating_sub((power_of_ten - exponent(x)).max(0) as usize), x);
        match text.split_once('e') {
            Some((mantissa, e)) => {
                format!("{}×10{}", mantissa.replace('-', "−"), superscript(e.parse().unwrap_or(0)))
            }
            None => text,
        }
    };
    values.iter().map(|&x| label(x)).collect()
}

fn exponent(x: f64) -> i32 {
    format!("{x:e}").split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0)
}

fn plain_decimal(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    if text.trim_start_matches(['-', '0', '.']).is_empty() { text.replace('-', "") } else { text.replace('-', "−") }
}

/// An integer raised.
fn superscript(n: i32) -> String {
    n.to_string().chars().map(raise).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, low: f64, high: f64, max: usize) -> Vec<String> {
        ticks(scale, (low, high), max, |_| true).major.into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn labels_are_what_a_paper_would_print() {
        use Scale::{Linear, Log10};
        assert_eq!(labels(Linear, -0.4, 10.4, 6), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(labels(Linear, -0.3, 0.31, 7), ["−0.3", "−0.2", "−0.1", "0.0", "0.1", "0.2", "0.3"]);
        assert_eq!(labels(Linear, 0.49, 0.52, 4), ["0.49", "0.50", "0.51", "0.52"]);
        assert_eq!(labels(Linear, 0.0, 4.1e-7, 5), ["0", "1×10⁻⁷", "2×10⁻⁷", "3×10⁻⁷", "4×10⁻⁷"]);
        assert_eq!(labels(Linear, 0.0, 2.1e9, 3), ["0", "1×10⁹", "2×10⁹"]);
        assert_eq!(labels(Log10, 1e-9, 1e-6, 9), ["10⁻⁹", "10⁻⁸", "10⁻⁷", "10⁻⁶"]);
        assert_eq!(labels(Log10, 1e-16, 1e-2, 5), ["10⁻¹⁵", "10⁻¹²", "10⁻⁹", "10⁻⁶", "10⁻³"]);
        assert_eq!(labels(Log10, 0.5, 200.0, 9), ["1", "10", "100"]);
        assert_eq!(labels(Log10, 3e-7, 6e-6, 9), ["5×10⁻⁷", "10⁻⁶", "2×10⁻⁶", "5×10⁻⁶"]);
        assert_eq!(labels(Log10, 150.0, 700.0, 9), ["200", "500"]);
        assert_eq!(labels(Log10, 1.01, 1.052, 5), ["1.01", "1.02", "1.03", "1.04", "1.05"]);
    }

    #[test]
    fn counts_have_no_ticks_between_whole_numbers() {
        for ((low, high), expected) in [
            ((-0.04, 1.04), &["0", "1"][..]),
            ((0.0, 2.0), &["0", "1", "2"]),
            ((-0.2, 4.2), &["0", "1", "2", "3", "4"]),
            ((-4.0, 104.0), &["0", "20", "40", "60", "80", "100"]),
        ] {
            let found = ticks(Scale::Linear, (low, high), 6, |_| true).at_whole_numbers();
            assert_eq!(found.major.iter().map(|tick| &*tick.label).collect::<Vec<_>>(), expected);
            assert!(found.minor.iter().all(|x| (x - x.round()).abs() < 1e-9), "{found:?}");
        }
    }

    #[test]
    fn labels_tell_their_ticks_apart_and_lie_on_the_axis() {
        let (mut low, mut tried) = (1e-290, 0);
        while low < 1e290 {
            for span in [1e-9, 1e-3, 0.5, 3.0, 1e4, 1e12] {
                let high = low * (1.0 + span);
                for scale in [Scale::Linear, Scale::Log10] {
                    for max in [2, 5, 9] {
                        let ticks = ticks(scale, (low, high), max, |_| true);
                        tried += 1;
                        assert!(!ticks.major.is_empty(), "{scale:?} {low} {high} {max}");
                        assert!(ticks.major.len() <= max + 2, "{scale:?} {low} {high} {max}: {ticks:?}");
                        for pair in ticks.major.windows(2) {
                            assert!(pair[0].value < pair[1].value && pair[0].label != pair[1].label, "{pair:?}");
                        }
                        for x in ticks.major.iter().map(|t| t.value).chain(ticks.minor) {
                            assert!(
                                x >= low - 1e-6 * (high - low) && x <= high + 1e-6 * (high - low),
                                "{x}: {low} {high}"
                            );
                        }
                    }
                }
            }
            low *= 3.7e4;
        }
        assert!(tried > 4000);
    }

    #[test]
    fn fewer_where_there_is_no_room() {
        let narrow = ticks(Scale::Log10, (1e-12, 1.0), 12, |ticks| ticks.len() <= 4);
        assert_eq!(narrow.major.len(), 4);
        assert_eq!(ticks(Scale::Linear, (0.0, 1.0), 5, |_| false).major.len(), 1);
        assert!(ticks(Scale::Log10, (1.0, 1e6), 9, |_| true).minor.len() > 40);
    }
}
