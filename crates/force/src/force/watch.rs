//! Search for particles that may form a pair, in block steps that an engine takes without the host.

use crate::particles::Vec3;

/// Who may form a pair, by ratios of forces: with the tidal field D = Σ m/r³ of all others a pair of mass M at distance r is
/// perturbed by 2 r³ D / M. The search may find too much, never too little.
#[derive(Clone, Debug)]
pub struct Watch<'a> {
    /// Particles that are subsystems, ascending: others may join them however wide the orbit is. None of them is due.
    pub compound: &'a [u32],
    /// Largest perturbation with which a pair forms.
    pub forms: f64,
    /// Largest perturbation at apocentre of a pair in a system of three or four, and of a particle that joins a subsystem.
    pub joins: f64,
    /// Smallest 2 M / (r v²) of a pair that forms; 1 is a parabola.
    pub min_binding: f64,
    /// A particle is looked at after its step if the moment is a multiple of 2 to the power of this many of its next steps.
    pub log2_steps: u8,
    /// Particles of which the host has to look whether they form a pair after the last step that was taken, ascending: those that
    /// may, or where one may all whose update is due.
    pub found: Vec<u32>,
}

/// A particle's strongest source, by m/r³: the relative state, and the mass of both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrongestPair {
    /// Relative position.
    pub pos: Vec3,
    /// Relative velocity.
    pub vel: Vec3,
    /// Mass of both.
    pub mass: f64,
    /// Flag that the source is a subsystem.
    pub is_compound: bool,
}

impl Watch<'_> {
    /// Returns true if a particle and its strongest source may form a pair, or one of them joins the other, with `field` a lower
    /// bound of Σ m/r³ of all others. The kernel `judge` has the same operations (kernels/watch.cu).
    #[must_use]
    pub fn may_form(&self, pair: &StrongestPair, field: f64) -> bool {
        /// Above the rounding of perturbations.
        const MARGIN: f64 = 1.0 + 1e-4;
        let StrongestPair { pos, vel, mass, is_compound } = *pair;
        let (r2, v2, rv) = (pos.norm_squared(), vel.norm_squared(), pos.dot(&vel));
        let (r, per_cube) = (r2.sqrt(), 2.0 * field / (MARGIN * mass));
        let near = r * r2 * per_cube;
        let beta = 2.0 * mass / r - v2;
        let far = if beta > 0.0 {
            let (axis, h2) = (mass / beta, (r2 * v2 - rv * rv).max(0.0));
            let apocentre = axis * (1.0 + (1.0 - h2 / (axis * mass)).max(0.0).sqrt());
            apocentre.powi(3) * per_cube
        } else {
            f64::INFINITY
        };
        let approaches = rv <= 1e-9 * r * v2.sqrt();
        let is_bound = 2.0 * (1.0 + 1e-9) * mass >= self.min_binding * r * v2;
        far <= self.joins
            || approaches && is_compound && near <= self.joins
            || is_bound && (if approaches { near } else { far }) <= self.forms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WATCH: Watch<'static> =
        Watch { compound: &[], forms: 5e-4, joins: 0.02, min_binding: 0.5, log2_steps: 2, found: Vec::new() };

    fn pair(vel: Vec3) -> StrongestPair {
        StrongestPair { pos: Vec3::x(), vel, mass: 1.0, is_compound: false }
    }

    /// At distance 1 and with mass 1 the perturbation is twice the field.
    #[test]
    fn a_pair_may_form_where_it_is_bound_and_others_hardly_disturb_it() {
        let may = |vel: Vec3, perturbation: f64| WATCH.may_form(&pair(vel), 0.5 * perturbation);
        // On a circle, which is at apocentre everywhere.
        assert!(may(Vec3::y(), 0.0199) && !may(Vec3::y(), 0.0201));
        // An ellipse of axis 2/3 from its apocentre 1 on; and of axis 2, from its pericentre on, to 3.
        assert!(may(Vec3::y() * 0.5f64.sqrt(), 0.0199));
        assert!(may(Vec3::y() * 1.5f64.sqrt(), 0.0199 / 27.0) && !may(Vec3::y() * 1.5f64.sqrt(), 0.0201 / 27.0));
        // Hyperbolic by less than a factor of two: while it approaches.
        let fast = Vec3::x() * 1.9;
        assert!(may(-fast, 4.9e-4) && !may(-fast, 5.1e-4) && !may(fast, 4.9e-4) && !may(-fast * 1.1, 1e-9));
        // A subsystem takes up what comes near.
        let comes = StrongestPair { is_compound: true, ..pair(-fast * 2.0) };
        assert!(WATCH.may_form(&comes, 0.0099) && !WATCH.may_form(&comes, 0.0101));
        assert!(!WATCH.may_form(&StrongestPair { vel: fast * 2.0, ..comes }, 1e-9));
    }
}
