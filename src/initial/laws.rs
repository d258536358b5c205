//! Distributions that a sample is drawn from, as curves for comparison.

use tisane_force::particles::Vec3;

/// Cumulative distribution as points: a value, and the fraction of the stars (or the mass) below it; both ascend.
pub type Curve = Vec<(f64, f64)>;

/// Distributions of a sampled model, in the units of the configuration. A curve is empty if there is no such
/// distribution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Laws {
    /// Centre of the model, if the centre of mass of the sample is at the origin.
    pub centre: Vec3,
    /// Distance from the centre, and mass of the stars within it. May extend beyond the sample.
    pub enclosed: Curve,
    /// Factor that the virial ratio applies to squared velocities, if velocities are isotropic and solve Jeans'
    /// equation.
    pub jeans: Option<f64>,
    /// Mass of the central body, which is the last particle.
    pub central: Option<f64>,
    /// Mass of a star.
    pub masses: Curve,
    /// Semi-major axis of a binary.
    pub semi_major_axes: Curve,
    /// Eccentricity of a binary.
    pub eccentricities: Curve,
    /// Flag for laws of masses and binaries at birth, of which the sample differs by its [eigenevolution](super::eigenevolution).
    pub of_birth: bool,
}

/// Returns points of a distribution over a range in steps of equal ratios.
#[must_use]
pub fn logarithmic(law: impl Fn(f64) -> f64, (from, to): (f64, f64)) -> Curve {
    const STEPS: u32 = 400;
    if !(from > 0.0 && from < to) {
        return Curve::new();
    }
    let x = |k: u32| from * (to / from).powf(f64::from(k) / f64::from(STEPS));
    (0..=STEPS).map(|k| (x(k), law(x(k)))).collect()
}
