//! Round lengths for scale bars.

/// The longest 1, 2 or 5 times a power of ten that is no longer than `max` pixels, and its length in pixels.
pub(super) fn bar(pixels: f64, max: f64) -> (f64, f64) {
    let power = (max / pixels).log10().floor() as i32;
    let candidates = (power - 1..=power).flat_map(|e| [1, 2, 5].map(|m| format!("{m}e{e}").parse().unwrap_or(1.0)));
    let round = candidates.filter(|x: &f64| x * pixels <= max).fold(0.0, f64::max);
    (round, round * pixels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_bar_is_round_and_fits() {
        assert_eq!(bar(100.0, 256.0), (2.0, 200.0));
        assert_eq!(bar(1.0, 50.0), (50.0, 50.0));
        for pixels in [1e-9, 0.3, 7.0, 4e11] {
            let (round, long) = bar(pixels, 200.0);
            assert!(long <= 200.0 && long > 200.0 / 2.6, "{pixels}: {round} {long}");
        }
    }
}
