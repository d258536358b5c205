//! Luminosity and radius of white dwarfs, neutron stars and black holes: section 6.2 of Hurley, Pols & Tout (2000),
//! white dwarfs with the modified cooling of Hurley & Shara (2003, ApJ 589, 179).

use crate::state::Kind;
use libm::pow;

/// Chandrasekhar's mass, in solar masses.
pub(crate) const CHANDRASEKHAR: f64 = 1.44;
/// Radius of a neutron star, in solar radii (below equation 93).
pub(crate) const NEUTRON_STAR_RADIUS: f64 = 1.4e-5;
/// Luminosity and radius of what has none: small enough for every use, and with a logarithm.
const DARK: f64 = 1e-10;

/// Returns the luminosity of a remnant of mass `m` and age `t` (equations 90 and 93; the light of a black hole stands
/// for 0).
pub(crate) fn luminosity(kind: Kind, m: f64, t: f64, z: f64) -> f64 {
    match kind {
        Kind::HeliumWhiteDwarf => white_dwarf_luminosity(4.0, m, t, z),
        Kind::CarbonOxygenWhiteDwarf | Kind::OxygenNeonWhiteDwarf => white_dwarf_luminosity(16.0, m, t, z),
        Kind::NeutronStar => 0.02 * pow(m, 0.67) / (t.max(0.1) * t.max(0.1)),
        _ => DARK,
    }
}

/// Returns the radius of a remnant (equations 91 to 94).
pub(crate) fn radius(kind: Kind, m: f64) -> f64 {
    match kind {
        Kind::HeliumWhiteDwarf | Kind::CarbonOxygenWhiteDwarf | Kind::OxygenNeonWhiteDwarf => white_dwarf_radius(m),
        Kind::NeutronStar => NEUTRON_STAR_RADIUS,
        Kind::BlackHole => 4.24e-6 * m,
        _ => DARK,
    }
}

/// Mean baryon number `a` of the ions: 4 for helium, 16 for carbon and oxygen as SSE has it (paper: 15, and 17 for
/// neon).
fn white_dwarf_luminosity(a: f64, m: f64, t: f64, z: f64) -> f64 {
    let scale = 300.0 * m * pow(z, 0.4);
    let clock = a * (t + 0.1);
    if t < 9000.0 { scale / pow(clock, 1.18) } else { scale * pow(9000.1 * a, 5.3) / pow(clock, 6.48) }
}

fn white_dwarf_radius(m: f64) -> f64 {
    let ratio = pow(CHANDRASEKHAR / m, 2.0 / 3.0);
    // At least the radius of a neutron star.
    let square = (ratio - 1.0 / ratio).max(1.482_04e-6);
    (0.0115 * square.sqrt()).min(0.1)
}
