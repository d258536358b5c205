//! Cube root.

/// Returns the cube root of a positive number by Newton's method: the same bits on every machine, unlike that of a
/// system's library.
pub fn cube_root(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return x;
    }
    // A third of the exponent is within a factor of two of it.
    let mut root = f64::from_bits(x.to_bits() / 3 + 0x2a9f_7893_0000_0000);
    for _ in 0..6 {
        root -= (root - x / (root * root)) / 3.0;
    }
    root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verify_cube_roots() {
        for x in [1e-300, 1e-12, 0.3, 1.0, 8.0, 27.0, 1e6, 3e200] {
            let root = cube_root(x);
            assert!((root * root * root / x - 1.0).abs() < 1e-15, "{x}: {root}");
        }
        assert_eq!(cube_root(0.0), 0.0);
    }
}
