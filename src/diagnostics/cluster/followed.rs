//! Bound pairs that an integrator follows as subsystems.

use super::members::Members;
use crate::subsystems::{Component, Description, PairOrbit};

/// Bound pair of stars or of smaller systems that an integrator follows, in internal units.
#[derive(Clone, Debug, PartialEq)]
pub struct FollowedPair {
    /// Its stars.
    pub members: Members,
    /// Semi-major axis.
    pub semi_major_axis: f64,
    /// Eccentricity.
    pub eccentricity: f64,
    /// Period.
    pub period: f64,
    /// Binding energy of its two components on each other, positive.
    pub binding: f64,
}

impl FollowedPair {
    /// Returns the pair that a subsystem is; [`None`] for three or more bodies that move about each other, and for two that are
    /// not bound.
    #[must_use]
    pub fn of(subsystem: &Description) -> Option<Self> {
        let PairOrbit { semi_major_axis, eccentricity, period, .. } = subsystem.orbit?;
        let members = pairs_of(&subsystem.members).filter(|_| semi_major_axis > 0.0)?;
        Some(Self { members, semi_major_axis, eccentricity, period, binding: subsystem.binding })
    }
}

/// Returns a component as pairs of pairs; [`None`] where more than two bodies move about each other.
fn pairs_of(component: &Component) -> Option<Members> {
    match component {
        Component::Star(id) => Some(Members::One(*id)),
        Component::Several(parts) => match parts.as_slice() {
            [a, b] => Some(Members::two(pairs_of(a)?, pairs_of(b)?)),
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_two_bodies_are_a_pair() {
        let several = |parts: Vec<u64>| Component::Several(parts.into_iter().map(Component::Star).collect());
        let text = |component: &Component| pairs_of(component).map(|members| members.to_string());
        assert_eq!(text(&several(vec![3, 7])), Some("(3+7)".into()));
        let triple = Component::Several(vec![several(vec![3, 7]), Component::Star(12)]);
        assert_eq!(text(&triple), Some(triple.to_string()));
        assert_eq!(text(&several(vec![3, 7, 12])), None);
        assert_eq!(text(&Component::Several(vec![several(vec![3, 7, 12]), Component::Star(1)])), None);
    }

    #[test]
    fn a_flyby_is_no_bound_pair() {
        let orbit = PairOrbit { mass: [1.0, 2.0], semi_major_axis: 0.5, eccentricity: 0.2, period: 1.3 };
        let of = |orbit: Option<PairOrbit>| {
            FollowedPair::of(&Description {
                members: Component::Several(vec![Component::Star(3), Component::Star(7)]),
                inside_of: None,
                mass: 3.0,
                binding: 2.0,
                orbit,
                is_perturbed: false,
                is_averaged: false,
                neglected: 0.0,
                stars: Vec::new(),
            })
        };
        let found = of(Some(orbit)).unwrap();
        assert_eq!((found.semi_major_axis, found.eccentricity, found.period, found.binding), (0.5, 0.2, 1.3, 2.0));
        assert_eq!(of(Some(PairOrbit { semi_major_axis: -0.5, ..orbit })), None);
        assert_eq!(of(None), None);
    }
}
