//! Quantities with their units, as axes say them.

use tisane::units::{Dimension, Units};

/// Quantity with its unit: `density [Msun pc⁻³]`.
pub(super) fn quantity(units: &Units, what: &str, dimension: Dimension) -> String {
    if units.is_henon() {
        return format!("{what} [N-body units]");
    }
    format!("{what} [{}]", with_raised(&units.label(dimension)))
}

/// A unit with its powers raised: `Msun (km/s)²` for `Msun (km/s)^2`.
pub(super) fn with_raised(text: &str) -> String {
    let mut unit = String::new();
    let mut raised = false;
    for c in text.chars() {
        raised = c == '^' || (raised && (c == '-' || c.is_ascii_digit()));
        match (raised, c) {
            (true, '^') => {}
            (true, c) => unit.push(raise(c)),
            (false, c) => unit.push(c),
        }
    }
    unit
}

/// A digit or a minus sign raised.
pub(super) fn raise(c: char) -> char {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    c.to_digit(10).map_or('⁻', |d| RAISED[d as usize])
}
