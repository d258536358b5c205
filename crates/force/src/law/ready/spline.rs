//! Softening by a spline, as in Gadget: Newton's force from the distance h on.

use super::entry::Ready;

/// U = G m_i m_j W(s / h) / h
pub const LAW: Ready = Ready {
    name: "spline",
    about: "gravity softened by a spline within h, Newton's beyond; h = 2.8 times the Plummer length of the same depth",
    source: "Springel, Yoshida & White 2001, New Astronomy 6, 79, appendix",
    is_acceleration: false,
    formula: "G*m_i*m_j/h*if(s < h/2, \
              16/3*(s/h)^2 - 48/5*(s/h)^4 + 32/5*(s/h)^5 - 14/5, if(s < h, \
              h/(15*s) + 32/3*(s/h)^2 - 16*(s/h)^3 + 48/5*(s/h)^4 - 32/15*(s/h)^5 - 16/5, \
              -h/s))",
    parameters: &[("h", "distance from which the force is Newton's")],
    columns: &[],
};

#[cfg(test)]
mod tests {
    use super::super::by_hand::{close, evaluate};

    #[test]
    fn values_by_hand() {
        let at = |s: f64| evaluate(&super::LAW, &[("h", 2.0)], s, [3.0, 1.0], [&[], &[]]);
        // Centre: φ = −14/5 m / h, A = 32/3 m / h³, no division by 0.
        let centre = at(0.0);
        close(centre.minus_potential, 3.0 / 2.0 * 14.0 / 5.0);
        close(centre.factor, 3.0 / 8.0 * 32.0 / 3.0);
        assert!(centre.slope.is_finite());
        // u = 1/4: g(u) = 32/3 − 192/5 u² + 32 u³
        close(at(0.5).factor, 3.0 / 8.0 * (32.0 / 3.0 - 192.0 / 5.0 / 16.0 + 0.5));
        // u = 3/4: g(u) = 64/3 − 48 u + 192/5 u² − 32/3 u³ − 1/15 u⁻³
        let u = 0.75_f64;
        let g = 64.0 / 3.0 - 48.0 * u + 192.0 / 5.0 * u * u - 32.0 / 3.0 * u.powi(3) - 1.0 / (15.0 * u.powi(3));
        assert!((at(1.5).factor - 3.0 / 8.0 * g).abs() < 1e-13);
        // Beyond h: Newton
        close(at(4.0).factor, 3.0 / 64.0);
        close(at(4.0).minus_potential, 3.0 / 4.0);
        close(at(4.0).slope, -9.0 / 1024.0);
    }
}
