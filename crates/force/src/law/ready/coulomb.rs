//! Coulomb's force between charges, which the particles have as a column.

use super::entry::Ready;

/// U = k q_i q_j / s
pub const LAW: Ready = Ready {
    name: "coulomb",
    about: "electric force between charges, a column of the particles: k q_i q_j / s",
    source: "Coulomb 1785, Histoire de l'Académie Royale des Sciences, 569",
    is_acceleration: false,
    formula: "k*charge_i*charge_j/s",
    parameters: &[("k", "Coulomb's constant: energy times length, for charges that are pure numbers")],
    columns: &["charge"],
};

#[cfg(test)]
mod tests {
    use super::super::by_hand::{close, evaluate};

    #[test]
    fn values_by_hand() {
        // Charges of one sign repel: A = −k q_i q_j / (m_i s³) with k = 2, q = 3 and 5, m_i = 4, s = 2
        let of = evaluate(&super::LAW, &[("k", 2.0)], 2.0, [7.0, 4.0], [&[3.0], &[5.0]]);
        close(of.factor, -30.0 / 32.0);
        close(of.minus_potential, -30.0 / 8.0);
        close(of.slope, 3.0 * 30.0 / 128.0);
        assert!(evaluate(&super::LAW, &[("k", 2.0)], 2.0, [7.0, 4.0], [&[3.0], &[-5.0]]).factor > 0.0);
    }
}
