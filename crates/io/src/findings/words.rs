//! Numbers, times and shares as the page of findings has them.

use tisane::units::digits;

/// Cell without a value.
pub(super) const NONE: &str = "–";

/// Returns a time or another number with at most six significant digits: `0.53125`, `2`.
pub(super) fn number(x: f64) -> String {
    let rounded: f64 = format!("{x:.5e}").parse().unwrap_or(x);
    if rounded == 0.0 || (1e-4..1e7).contains(&rounded.abs()) || !rounded.is_finite() {
        return rounded.to_string();
    }
    format!("{rounded:e}")
}

/// Returns a wall time: `37.1 ms`, `0.11 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`, `1.2e+03 yr`.
pub(super) fn duration(seconds: f64) -> String {
    const YEAR: f64 = 365.25 * 86400.0;
    if !seconds.is_finite() {
        return "an unknown time".into();
    }
    let parts = |unit: u64, names: [&str; 2], smaller: u64| {
        // In whole smaller units, so that no part is rounded up to a whole of the greater.
        let whole = (seconds / smaller as f64).round() as u64;
        let per = unit / smaller;
        match (whole / per, whole % per) {
            (great, 0) => format!("{great} {}", names[0]),
            (great, small) => format!("{great} {} {small} {}", names[0], names[1]),
        }
    };
    match seconds {
        s if s < 0.1 => format!("{} ms", digits(s * 1e3)),
        s if s < 59.5 => format!("{} s", digits(s)),
        s if s < 3570.0 => parts(60, ["min", "s"], 1),
        s if s < 86_400.0 - 30.0 => parts(3600, ["h", "min"], 60),
        s if s < YEAR => parts(86_400, ["d", "h"], 3600),
        s => format!("{} yr", digits(s / YEAR)),
    }
}

/// Returns a share in percent; a small one is not called 0, and a large one not 100.
pub(super) fn percent(share: f64) -> String {
    match 100.0 * share {
        p if p > 0.0 && p < 0.5 => "under 1 %".into(),
        p if (99.5..100.0).contains(&p) => "over 99 %".into(),
        p => format!("{p:.0} %"),
    }
}

/// Returns a share in percent, for a table: `<1 %`, `>99 %`.
pub(super) fn short_percent(share: f64) -> String {
    percent(share).replace("under ", "<").replace("over ", ">")
}

/// Returns a relative error with its sign: `-3.6e-8`; a dash where it was not measured.
pub(super) fn error(x: f64) -> String {
    match x {
        0.0 => "0".into(),
        x if x.is_nan() => NONE.into(),
        x => format!("{x:+.1e}"),
    }
}

/// Returns a count with its noun, in the plural if there are several: `1 pair`, `6 pairs`.
pub(super) fn count(n: usize, noun: &str) -> String {
    format!("{n} {noun}{}", if n == 1 { "" } else { "s" })
}

/// Returns text that is cut to a number of characters.
pub(super) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{} …", text[..at].trim_end()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_plain() {
        for (x, expected) in
            [(2.0, "2"), (0.53125, "0.53125"), (1234.5678, "1234.57"), (0.0, "0"), (1.5e-9, "1.5e-9"), (2e9, "2e9")]
        {
            assert_eq!(number(x), expected);
        }
        assert_eq!([error(-3.61e-8), error(0.0), error(f64::NAN)], ["-3.6e-8", "0", NONE]);
        assert_eq!([count(1, "pair"), count(6, "pair")], ["1 pair", "6 pairs"]);
    }

    #[test]
    fn durations_have_two_parts_that_matter() {
        for (seconds, expected) in [
            (0.0, "0 ms"),
            (0.01234, "12.3 ms"),
            (0.1123, "0.112 s"),
            (59.4, "59.4 s"),
            (59.9, "1 min"),
            (200.0, "3 min 20 s"),
            (3599.0, "1 h"),
            (7500.0, "2 h 5 min"),
            (86_399.0, "1 d"),
            (273_600.0, "3 d 4 h"),
            (1e12, "31700 yr"),
            (f64::NAN, "an unknown time"),
        ] {
            assert_eq!(duration(seconds), expected, "{seconds}");
        }
    }

    #[test]
    fn shares_are_neither_nothing_nor_all_unless_they_are() {
        let shares = [0.0, 1e-6, 0.12, 0.832, 0.999, 1.0].map(percent);
        assert_eq!([short_percent(1e-6), short_percent(0.5)], ["<1 %", "50 %"]);
        assert_eq!(shares, ["0 %", "under 1 %", "12 %", "83 %", "over 99 %", "100 %"]);
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!([shortened("äöü", 2), shortened("äöü", 3)], ["äö …", "äöü"]);
    }
}
