//! Velocity that a neutron star or a black hole gets at its birth, in km/s.

use crate::remnants::{Cause, Supernova};
use crate::state::Kind;
use libm::{cos, log, sin};
use std::f64::consts::TAU;

/// Kicks of black holes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlackHoleKicks {
    /// Kicks of neutron stars and black holes times one minus the share of the mass that falls back.
    #[default]
    Fallback,
    /// No kicks of black holes, full ones of neutron stars.
    None,
    /// Full kicks of both.
    Full,
}

impl BlackHoleKicks {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Fallback, Self::None, Self::Full];

    /// Returns the name in options and files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fallback => "fallback",
            Self::None => "none",
            Self::Full => "full",
        }
    }
}

/// Settings of the kicks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Kicks {
    /// Dispersion of each component after the collapse of an iron core, in km/s (Hobbs et al. 2005, MNRAS 360, 974).
    pub sigma: f64,
    /// The same after electron capture, in km/s.
    pub sigma_electron_capture: f64,
    /// Kicks of black holes.
    pub black_holes: BlackHoleKicks,
    /// Seed of the random numbers.
    pub seed: u64,
}

impl Default for Kicks {
    fn default() -> Self {
        Self { sigma: 265.0, sigma_electron_capture: 3.0, black_holes: BlackHoleKicks::default(), seed: 1 }
    }
}

impl Kicks {
    /// Returns the kick in km/s of a remnant of type `kind`: a velocity of Maxwell's distribution. It depends only on
    /// the seed, the star's identity and the number of its supernova, from 0: not on other stars, nor on the order.
    #[must_use]
    pub fn draw(&self, kind: Kind, supernova: &Supernova, id: u64, number: u32) -> [f64; 3] {
        let dispersion = match supernova.cause {
            Cause::ElectronCapture => self.sigma_electron_capture,
            _ => self.sigma,
        };
        let share = match (kind, self.black_holes) {
            (Kind::NeutronStar | Kind::BlackHole, BlackHoleKicks::Fallback) => 1.0 - supernova.fallback,
            (Kind::NeutronStar, _) | (Kind::BlackHole, BlackHoleKicks::Full) => 1.0,
            _ => 0.0,
        };
        if share == 0.0 {
            return [0.0; 3];
        }
        normal_deviates(self.seed, id, number).map(|deviate| dispersion * share * deviate)
    }
}

/// Returns three normal deviates of dispersion 1 (Box & Muller 1958, Ann. Math. Stat. 29, 610).
fn normal_deviates(seed: u64, id: u64, number: u32) -> [f64; 3] {
    let key = [id, u64::from(number)].iter().fold(mixed(seed), |key, &part| mixed(key ^ part));
    let uniform = |counter: u64| {
        const STEP: f64 = 1.0 / (1u64 << 53) as f64;
        (mixed(key.wrapping_add(counter.wrapping_mul(GOLDEN))) >> 11) as f64 * STEP
    };
    let radius = |counter: u64| (-2.0 * log(1.0 - uniform(counter))).sqrt();
    let (first, second) = (radius(1), radius(3));
    let (angle, other) = (TAU * uniform(2), TAU * uniform(4));
    [first * cos(angle), first * sin(angle), second * cos(other)]
}

/// Step of the counter: 2⁶⁴ over the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns 64 well mixed bits: SplitMix64 (Steele, Lea & Flood 2014, OOPSLA 2014, 453), a bijection.
fn mixed(bits: u64) -> u64 {
    let bits = bits.wrapping_add(GOLDEN);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
