//! Numbers, times and shares as the page of findings has them.

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
pub(super) fn shortened(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
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
