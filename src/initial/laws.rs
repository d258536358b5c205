//! What a sample is drawn from, as curves that it can be held against.

use crate::particles::Vec3;

/// A law as points: a value, and the share of the stars (or the mass) that lies below it; both rise.
pub type Curve = Vec<(f64, f64)>;

/// The laws behind a sampled model, in the units of the configuration. A curve is empty where there is no law.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Laws {
    /// Centre of the model, when the centre of mass of the sample is at the origin.
    pub centre: Vec3,
    /// Distance from there, and mass of the stars within it. May reach beyond the sample.
    pub enclosed: Curve,
    /// Where velocities are isotropic and solve Jeans' equation: the factor that the virial ratio puts on their squares.
    pub jeans: Option<f64>,
    /// Mass of the central body, which is the last particle.
    pub central: Option<f64>,
    /// Mass of a star.
    pub masses: Curve,
    /// Semi-major axis of a binary.
    pub semi_major_axes: Curve,
    /// Eccentricity of a binary.
    pub eccentricities: Curve,
}

/// Points of a law over a range in steps of equal ratios.
#[must_use]
pub fn logarithmic(law: impl Fn(f64) -> f64, (from, to): (f64, f64)) -> Curve {
    const STEPS: u32 = 400;
    if !(from > 0.0 && from < to) {
        return Curve::new();
    }
    let x = |k: u32| from * (to / from).powf(f64::from(k) / f64::from(STEPS));
    (0..=STEPS).map(|k| (x(k), law(x(k)))).collect()
}
