//! Lennard-Jones' force between neutral atoms: repulsion near, attraction far.

use super::entry::Ready;

/// U = 4 ε ((σ/s)¹² − (σ/s)⁶)
pub const LAW: Ready = Ready {
    name: "lennard-jones",
    about: "force between neutral atoms: 4 depth ((sigma/s)^12 − (sigma/s)^6)",
    source: "Lennard-Jones 1931, Proc. Phys. Soc. 43, 461",
    is_acceleration: false,
    formula: "4*depth*((sigma/s)^12 - (sigma/s)^6)",
    parameters: &[("sigma", "distance at which the potential is 0"), ("depth", "depth of the well: an energy")],
    columns: &[],
};

#[cfg(test)]
mod tests {
    use super::super::by_hand::{close, evaluate};

    #[test]
    fn values_by_hand() {
        let parameters = [("sigma", 1.0), ("depth", 0.5)];
        // s = σ: U = 0, U′ = 4 ε (−12 + 6) / σ = −12
        let at_sigma = evaluate(&super::LAW, &parameters, 1.0, [1.0, 2.0], [&[], &[]]);
        assert_eq!(at_sigma.minus_potential, 0.0);
        close(at_sigma.factor, -6.0);
        // The minimum is at 2^(1/6) σ with U = −ε.
        let minimum = evaluate(&super::LAW, &parameters, 2.0_f64.powf(1.0 / 6.0), [1.0, 2.0], [&[], &[]]);
        close(minimum.minus_potential, 0.25);
        assert!(minimum.factor.abs() < 1e-14);
        // A′ / s = U″ / (m_i s²) there, and U″ = 72 ε / s².
        assert!((minimum.slope - 72.0 * 0.25 / 2.0_f64.powf(2.0 / 3.0)).abs() < 1e-12);
    }
}
