//! Numbers in text, as programs in C, Python and Fortran write them.

/// Parses a number, also in Fortran's notations: `1.5D+02`, `1.5Q+02`, and `1.5-100`, which stands for 1.5E-100: Fortran
/// drops the letter where the exponent has three digits.
pub(crate) fn number(word: &str) -> Option<f64> {
    if let Ok(x) = word.parse() {
        return Some(x);
    }
    let with_e = word.replace(['d', 'D', 'q', 'Q'], "e");
    if let Ok(x) = with_e.parse() {
        return Some(x);
    }
    // Fortran writes a point in every such number: a date or a range such as 1-100 has none.
    let at = word.rfind(['+', '-']).filter(|at| word[..*at].contains('.'))?;
    let (mantissa, exponent) = word.split_at(at);
    let digits = &exponent[1..];
    let is_exponent = (3..=4).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_exponent { format!("{mantissa}e{exponent}").parse().ok() } else { None }
}

/// Returns true for the text of a number other than 0 that is 0 as an 8-byte float, such as `1e-400`.
pub(crate) fn vanishes(word: &str) -> bool {
    let end = word.char_indices().find(|(at, c)| c.is_ascii_alphabetic() || *at > 0 && matches!(c, '+' | '-'));
    let mantissa = &word[..end.map_or(word.len(), |(at, _)| at)];
    mantissa.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) && number(word) == Some(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fortran_exponents_are_numbers_and_words_are_not() {
        for (word, value) in [
            ("1.5D+02", 150.0),
            ("-2d-1", -0.2),
            ("1.d0", 1.0),
            (".5D0", 0.5),
            ("1.5Q+02", 150.0),
            ("1e3", 1000.0),
            ("1.0-100", 1e-100),
            ("-0.25+102", -0.25e102),
            ("+1.-101", 1e-101),
        ] {
            assert_eq!(number(word), Some(value), "{word}");
        }
        for word in ["dd", "", "1-100", "1.0-10", "2020-01-150", "1.0-1a0", "-", "1.0-", "1.0-10000", "é.1-100"] {
            assert_eq!(number(word), None, "{word}");
        }
    }

    #[test]
    fn a_number_below_the_range_is_told_from_zero() {
        for word in ["1e-400", "-2.5D-999", "1.0-999", "0.001e-330"] {
            assert!(vanishes(word), "{word}");
        }
        for word in ["0", "0e-400", "-0.0", "5e-324", "1.0-100", "x", "", "nan", "é"] {
            assert!(!vanishes(word), "{word}");
        }
    }
}
