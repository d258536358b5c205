//! Giants with thin envelopes: section 6.3 of Hurley, Pols & Tout (2000).

use crate::state::Kind;
use libm::{log, log10, pow};

/// Returns how far a star is from the loss of its envelope: μ of equation 97 for types 2 to 6, [`None`] for all others.
pub(crate) fn envelope_share(kind: Kind, m: f64, core: f64, l: f64) -> Option<f64> {
    let has_hydrogen = (Kind::HertzsprungGap..=Kind::ThermallyPulsingGiant).contains(&kind);
    has_hydrogen.then(|| (m - core) / m * (1.0 / (l / 7e4).sqrt()).clamp(1.2, 5.0))
}

/// Returns luminosity and radius of a giant whose envelope is thin: they approach those of its core (equations 97 to
/// 105). `mu` is the envelope's share, `m` the mass; `star` and `core` are luminosity and radius of the two.
pub(crate) fn with_thin_envelope(mu: f64, m: f64, star: (f64, f64), core: (f64, f64)) -> (f64, f64) {
    if mu >= 1.0 {
        return star;
    }
    let b = 0.002 * (2.5 / m).max(1.0);
    let c = 0.006 * (2.5 / m).max(1.0);
    let towards = |scale: f64| (1.0 + pow(scale, 3.0)) * pow(mu / scale, 3.0) / (1.0 + pow(mu / scale, 3.0));
    let luminosity = core.0 * pow(star.0 / core.0, towards(b));
    let ratio = star.1 / core.1;
    if ratio <= 1.0 || mu <= 0.0 {
        return (luminosity, core.1);
    }
    let exponent = (0.1 / log(ratio)).min(-14.0 / log10(mu));
    (luminosity, core.1 * pow(ratio, towards(c) * pow(mu, exponent)))
}
