//! Paczyński and Wiita's potential of a black hole without rotation.

use super::entry::Ready;

/// U = −G m_i m_j / (s − r_g) with r_g = 2 G (m_i + m_j) / c². For a light particle that is the potential of the paper;
/// with the sum of the masses the two particles can be exchanged, so that momentum is conserved.
pub const LAW: Ready = Ready {
    name: "paczynski-wiita",
    about: "pseudo-Newtonian black hole: −G m_i m_j / (s − 2 G (m_i + m_j) / c²)",
    source: "Paczyński & Wiita 1980, A&A 88, 23",
    is_acceleration: false,
    formula: "-G*m_i*m_j/(s - 2*G*(m_i + m_j)/c^2)",
    parameters: &[("c", "velocity of light")],
    columns: &[],
};

#[cfg(test)]
mod tests {
    use super::super::by_hand::{close, evaluate};

    #[test]
    fn values_by_hand() {
        // A hole of mass 1 and c = 1: r_g = 2. At s = 6, the innermost stable orbit: φ = −1/4, A = 1 / (4² · 6)
        let of = evaluate(&super::LAW, &[("c", 1.0)], 6.0, [1.0, 0.0], [&[], &[]]);
        close(of.minus_potential, 0.25);
        close(of.factor, 1.0 / 96.0);
        // A′ = −2 / (4³ · 6) − 1 / (4² · 36)
        close(of.slope, (-2.0 / 384.0 - 1.0 / 576.0) / 6.0);
    }
}
