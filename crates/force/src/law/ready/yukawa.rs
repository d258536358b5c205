//! Yukawa's potential with gravity's strength: screened gravity.

use super::entry::Ready;

/// U = −G m_i m_j e^(−s/λ) / s
pub const LAW: Ready = Ready {
    name: "yukawa",
    about: "gravity that a screening length λ weakens: −G m_i m_j exp(−s/λ)/s",
    source: "Yukawa 1935, Proc. Phys.-Math. Soc. Japan 17, 48",
    is_acceleration: false,
    formula: "-G*m_i*m_j*exp(-s/lambda)/s",
    parameters: &[("lambda", "screening length")],
    columns: &[],
};

#[cfg(test)]
mod tests {
    use super::super::by_hand::{close, evaluate};

    #[test]
    fn values_by_hand() {
        // U / m_i = −m_j e^(−s/λ) / s; A = m_j e^(−s/λ) (1 + s/λ) / s³ at s = 2, λ = 1: e⁻² 3 / 8
        let of = evaluate(&super::LAW, &[("lambda", 1.0)], 2.0, [3.0, 0.0], [&[], &[]]);
        let e = (-2.0_f64).exp();
        close(of.minus_potential, 3.0 * e / 2.0);
        close(of.factor, 3.0 * e * 3.0 / 8.0);
        // A′ / s = −m_j e^(−s/λ) (s² + 3 s + 3) / s⁵ with λ = 1
        close(of.slope, -3.0 * e * 13.0 / 32.0);
    }
}
