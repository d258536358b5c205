//! The Sun and the eight planets at J2000.

use super::kepler::Elements;
use super::orbiting;
use tisane_force::particles::Particles;

/// Planet with its mean elements and its mass.
struct Planet {
    /// Elements a (au), e, I, L, ϖ, Ω (degrees) at J2000.
    elements: [f64; 6],
    /// Ratio of the mass of the Sun to that of the planet with its moons.
    sun_over_planet: f64,
}

/// Elements: Standish, "Keplerian Elements for Approximate Positions of the Major Planets" (JPL Solar System Dynamics),
/// Table 1, fitted over 1800–2050, mean ecliptic and equinox of J2000. Mass ratios: IAU 2009 system of astronomical
/// constants (Luzum et al. 2011, Celest. Mech. Dyn. Astron. 110, 293, Table 1); Earth and Moon together from M☉/M⊕ =
/// 332946.0487 and M☾/M⊕ = 0.0123000371 of the same table.
const PLANETS: [Planet; 8] = [
    // Mercury
    Planet {
        elements: [0.387_099_27, 0.205_635_93, 7.004_979_02, 252.250_323_50, 77.457_796_28, 48.330_765_93],
        sun_over_planet: 6.0236e6,
    },
    // Venus
    Planet {
        elements: [0.723_335_66, 0.006_776_72, 3.394_676_05, 181.979_099_50, 131.602_467_18, 76.679_842_55],
        sun_over_planet: 4.085_237_19e5,
    },
    // Earth-Moon barycentre
    Planet {
        elements: [1.000_002_61, 0.016_711_23, -0.000_015_31, 100.464_571_66, 102.937_681_93, 0.0],
        sun_over_planet: 332_946.048_7 / (1.0 + 0.012_300_037_1),
    },
    // Mars
    Planet {
        elements: [1.523_710_34, 0.093_394_10, 1.849_691_42, -4.553_432_05, -23.943_629_59, 49.559_538_91],
        sun_over_planet: 3.098_703_59e6,
    },
    // Jupiter
    Planet {
        elements: [5.202_887_00, 0.048_386_24, 1.304_396_95, 34.396_440_51, 14.728_479_83, 100.473_909_09],
        sun_over_planet: 1.047_348_644e3,
    },
    // Saturn
    Planet {
        elements: [9.536_675_94, 0.053_861_79, 2.485_991_87, 49.954_244_23, 92.598_878_31, 113.662_424_48],
        sun_over_planet: 3.497_901_8e3,
    },
    // Uranus
    Planet {
        elements: [19.189_164_64, 0.047_257_44, 0.772_637_83, 313.238_104_51, 170.954_276_30, 74.016_925_03],
        sun_over_planet: 2.290_298e4,
    },
    // Neptune
    Planet {
        elements: [30.069_922_76, 0.008_590_48, 1.770_043_47, -55.120_029_69, 44.964_762_27, 131.784_225_74],
        sun_over_planet: 1.941_226e4,
    },
];

/// Returns the Sun (id 0) and the planets Mercury to Neptune (ids 1 to 8; 3 is the Earth-Moon barycentre) at J2000.0
/// (JD 2451545.0 TT), barycentre at rest at the origin, mean ecliptic and equinox of J2000. Masses in solar masses,
/// lengths in au, velocities in the unit in which `g` is the gravitational constant (au · velocity² / solar mass).
///
/// Each planet is on its own mean heliocentric ellipse, accurate to the minutes of arc that Standish gives: for studies
/// of the method, not an ephemeris.
///
/// # Panics
/// Unless `g` is positive and finite.
#[must_use]
pub fn planets(g: f64) -> Particles {
    assert!(g > 0.0 && g.is_finite(), "gravitational constant {g}");
    let masses = PLANETS.each_ref().map(|planet| 1.0 / planet.sun_over_planet);
    orbiting::orbits(1.0, &PLANETS.each_ref().map(Planet::elements), &masses, g)
}

impl Planet {
    /// Returns the classical elements: ω = ϖ − Ω, M = L − ϖ.
    fn elements(&self) -> Elements {
        let [semi_major_axis, eccentricity, inclination, longitude, perihelion, node] = self.elements;
        Elements {
            semi_major_axis,
            eccentricity,
            inclination: inclination.to_radians(),
            node: node.to_radians(),
            pericentre: (perihelion - node).to_radians(),
            mean_anomaly: (longitude - perihelion).to_radians(),
        }
    }
}
