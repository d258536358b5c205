//! Gravity with the smooth cut-off of P³M and tree-PM codes: the part that the pairs have and the mesh has not.

use super::entry::Ready;

/// a = G m_j g(ξ) / s² with ξ = 2 s / radius: a point mass minus the mass of a sphere of the density S2, both felt by
/// another such sphere.
pub const LAW: Ready = Ready {
    name: "p3m-cutoff",
    about: "gravity with the cut-off of P³M and tree-PM codes: none from the distance radius on",
    source: "Yoshikawa & Fukushige 2005, PASJ 57, 849",
    is_acceleration: true,
    formula: "if(s < radius/2, \
              G*m_j/s^2*(1 - (224*(2*s/radius)^3 - 224*(2*s/radius)^5 + 70*(2*s/radius)^6 + 48*(2*s/radius)^7 \
              - 21*(2*s/radius)^8)/140), if(s < radius, \
              G*m_j/s^2*(1 - (12 - 224*(2*s/radius)^2 + 896*(2*s/radius)^3 - 840*(2*s/radius)^4 \
              + 224*(2*s/radius)^5 + 70*(2*s/radius)^6 - 48*(2*s/radius)^7 + 7*(2*s/radius)^8)/140), 0))",
    parameters: &[("radius", "distance from which there is no force")],
    columns: &[],
};

#[cfg(test)]
mod tests {
    use super::super::by_hand::{close, evaluate};

    #[test]
    fn values_by_hand() {
        let at = |s: f64| evaluate(&super::LAW, &[("radius", 2.0)], s, [3.0, 1.0], [&[], &[]]);
        // ξ = 1: g = 1 − 97/140 from either side
        assert!((at(1.0).factor - 3.0 * 43.0 / 140.0).abs() < 1e-13);
        assert!((at(1.0_f64.next_down()).factor - at(1.0).factor).abs() < 1e-13);
        // ξ = 1/2: 224/8 − 224/32 + 70/64 + 48/128 − 21/256 = 22.38671875
        close(at(0.5).factor, 3.0 * (1.0 - 22.386_718_75 / 140.0) / 0.125);
        // Newton far inside, nothing outside
        assert!((at(1e-4).factor * 1e-12 - 3.0).abs() < 1e-10);
        assert_eq!((at(2.0).factor, at(5.0).factor, at(5.0).slope), (0.0, 0.0, 0.0));
        assert!(at(1.999).factor.abs() < 1e-6);
    }
}
