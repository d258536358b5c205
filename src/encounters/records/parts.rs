//! Members of subsystems by their ids, and orbits of pairs.

use crate::encounters::motion::member::Member;
use crate::few_body::Motion;
use crate::subsystems::component::{Component, PairOrbit};
use std::f64::consts::TAU;

/// Returns some members as one component; `ids` has the ids of all stars.
pub fn component(members: &[Member], ids: &[u64]) -> Component {
    let part = |member: &Member| match member {
        Member::Star(star) => Component::Star(ids[*star as usize]),
        Member::Inner(few) => component(&few.members, ids),
    };
    let mut parts: Vec<Component> = members.iter().map(part).collect();
    parts.sort_unstable_by_key(Component::first);
    Component::Several(parts)
}

/// Returns the orbit of the members of a motion; [`None`] if they are not two.
pub fn pair_orbit(members: &[Member], motion: &Motion, ids: &[u64]) -> Option<PairOrbit> {
    let ([a, b], [m1, m2]) = (members, &motion.masses()[..]) else { return None };
    let first = |member: &Member| member.stars().into_iter().map(|star| ids[star as usize]).min();
    let ((_, beta), (pos, vel), mu) = (motion.pair_constants()?, motion.pair(), motion.total_mass());
    let axis = mu / beta;
    Some(PairOrbit {
        mass: if first(a) < first(b) { [*m1, *m2] } else { [*m2, *m1] },
        semi_major_axis: axis,
        eccentricity: (1.0 - pos.cross(&vel).norm_squared() / (axis * mu)).max(0.0).sqrt(),
        period: TAU * axis / beta.sqrt(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encounters::motion::member::Few;
    use tisane_force::time::Time;

    #[test]
    fn components_are_written_by_ids_in_order() {
        let ids = [40, 7, 3, 12];
        let inner = {
            let motion =
                Motion::from_vectors(&[1.0, 2.0], &[tisane_force::particles::Vec3::x()], &[Default::default()]);
            Few { members: vec![Member::Star(1), Member::Star(2)], motion, time: Time::default() }
        };
        let orbit = pair_orbit(&inner.members, &inner.motion, &ids).unwrap();
        assert_eq!(orbit.mass, [2.0, 1.0], "that of star 2, whose id is 3, first");
        let component = component(&[Member::Star(0), Member::Inner(Box::new(inner)), Member::Star(3)], &ids);
        assert_eq!((component.to_string(), component.ids()), ("((3+7)+12+40)".into(), vec![3, 7, 12, 40]));
        assert!(!component.is_star() && Component::Star(5).is_star());
    }
}
