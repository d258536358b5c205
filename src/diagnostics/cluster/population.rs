//! The stars of a cluster that age: masses and numbers by class, the light, and the radii that it gives.

use super::spheres::RadialOrder;
use super::stars::Stars;
use tisane_force::compensated_sum::sum;
use tisane_force::particles::Vec3;
use tisane_stellar::{Class, State};

/// Bound stars by class, and their light.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Population {
    /// Mass of each class, in the order of [`Class::ALL`].
    pub mass: [f64; Class::ALL.len()],
    /// Number of stars of each class.
    pub number: [u64; Class::ALL.len()],
    /// Sum of the luminosities, in solar luminosities.
    pub luminosity: f64,
    /// Light in the band V, in that of the Sun.
    pub visual_luminosity: f64,
    /// Radius of the sphere about the density centre that holds half of the mass; NaN where nothing is bound.
    pub half_mass_radius: f64,
    /// The same of the light; NaN where its innermost star alone has more.
    pub half_light_radius: f64,
    /// Radius of the circle about the density centre that holds half of the mass in projection: mean over the directions x, y and
    /// z.
    pub projected_half_mass_radius: f64,
    /// Radius of the circle that holds half of the light in projection, likewise.
    pub projected_half_light_radius: f64,
    /// The same of the light in V.
    pub projected_visual_half_light_radius: f64,
}

impl Population {
    /// Counts the stars of an order about the density centre; [`None`] where stars do not age.
    pub(super) fn new(stars: &Stars, bound: &RadialOrder, centre: Vec3) -> Option<Self> {
        if stars.states.len() != stars.len() || stars.is_empty() {
            return None;
        }
        let of = |class: Class| {
            bound.order.iter().map(|&i| i as usize).filter(move |&i| stars.states[i].kind.class() == Some(class))
        };
        let light: Vec<f64> = stars.states.iter().map(|state| state.luminosity).collect();
        let visual: Vec<f64> = stars.states.iter().map(State::visual_luminosity).collect();
        let total = |weights: &[f64]| sum(bound.order.iter().map(|&i| weights[i as usize]));
        let half = |radial: &RadialOrder, weights: &[f64]| {
            let [held] = radial.spheres(weights, [0.5]);
            radial.radius_enclosing(held)
        };
        let projected: Vec<RadialOrder> = (0..3).map(|along| projection(stars, bound, centre, along)).collect();
        let mean = |weights: &[f64]| projected.iter().map(|radial| half(radial, weights)).sum::<f64>() / 3.0;
        Some(Self {
            mass: Class::ALL.map(|class| sum(of(class).map(|i| stars.mass[i]))),
            number: Class::ALL.map(|class| of(class).count() as u64),
            luminosity: total(&light),
            visual_luminosity: total(&visual),
            half_mass_radius: half(bound, &stars.mass),
            half_light_radius: half(bound, &light),
            projected_half_mass_radius: mean(&stars.mass),
            projected_half_light_radius: mean(&light),
            projected_visual_half_light_radius: mean(&visual),
        })
    }
}

/// Sorts stars by their distance from the centre in the projection along an axis.
fn projection(stars: &Stars, bound: &RadialOrder, centre: Vec3, along: usize) -> RadialOrder {
    let flat = |x: &Vec3| {
        let mut x = *x;
        x[along] = centre[along];
        x
    };
    let pos: Vec<Vec3> = stars.pos.iter().map(flat).collect();
    RadialOrder::new(&stars.id, &pos, centre, bound.order.iter().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane_stellar::Kind;

    fn state(kind: Kind, luminosity: f64) -> State {
        State { kind, effective_mass: 1.0, mass: 1.0, core_mass: 0.0, age: 0.0, luminosity, radius: 1.0 }
    }

    /// Stars on the axes at the distances 1 to 5 from a centre, of masses 1 to 5, and one that is not bound.
    fn stars(light: [f64; 6]) -> (Stars, RadialOrder, Vec3) {
        let centre = Vec3::new(10.0, -3.0, 2.0);
        let kinds = [
            Kind::BlackHole,
            Kind::NeutronStar,
            Kind::LowMassMainSequence,
            Kind::MainSequence,
            Kind::GiantBranch,
            Kind::CarbonOxygenWhiteDwarf,
        ];
        let axes = [Vec3::x(), Vec3::y(), Vec3::z(), -Vec3::x(), -Vec3::y(), Vec3::x()];
        let stars = Stars {
            id: (0..6).collect(),
            mass: (1..=6).map(f64::from).collect(),
            pos: axes.iter().zip(1..).map(|(axis, k)| centre + f64::from(k) * axis).collect(),
            vel: vec![Vec3::zeros(); 6],
            pot: vec![0.0; 6],
            states: kinds.iter().zip(light).map(|(kind, light)| state(*kind, light)).collect(),
            followed: Vec::new(),
        };
        let bound = RadialOrder::new(&stars.id, &stars.pos, centre, 0..5);
        (stars, bound, centre)
    }

    #[test]
    fn bound_stars_are_counted_by_class_with_their_masses() {
        let (stars, bound, centre) = stars([0.0, 1.0, 2.0, 3.0, 100.0, 1e6]);
        let found = Population::new(&stars, &bound, centre).unwrap();
        assert_eq!(found.number, [2, 1, 0, 0, 1, 1]);
        assert_eq!(found.mass, [7.0, 5.0, 0.0, 0.0, 2.0, 1.0]);
        assert_eq!(found.luminosity, 106.0);
        // Black holes do not shine; the white dwarf is not bound.
        let visual: f64 = stars.states[1..5].iter().map(State::visual_luminosity).sum();
        assert!((found.visual_luminosity / visual - 1.0).abs() < 1e-15);
    }

    #[test]
    fn half_of_the_light_is_within_the_right_star() {
        // Half of 10 is reached by the fourth star; in the projection along x the first and the fourth are in the centre.
        let (stars, bound, centre) = stars([1.0, 1.0, 1.0, 3.0, 4.0, 0.0]);
        let found = Population::new(&stars, &bound, centre).unwrap();
        assert_eq!((found.half_mass_radius, found.half_light_radius), (4.0, 4.0));
        // Along x: at 0: 1 + 3, at 2: 1. Along y: at 0: 1 + 4. Along z: at 0: 1, at 1: 1, at 2: 1, at 4: 3.
        assert_eq!(found.projected_half_light_radius, (2.0 + 0.0 + 4.0) / 3.0);
        // Half of the mass 15. Along x: 0: 5, 2: 2, 3: 3. Along y: 0: 7, 1: 1. Along z: 0: 3, 1: 1, 2: 2, 4: 4.
        assert_eq!(found.projected_half_mass_radius, (3.0 + 1.0 + 4.0) / 3.0);
    }

    #[test]
    fn a_star_that_outshines_the_rest_in_the_centre_leaves_no_radius() {
        let (stars, bound, centre) = stars([100.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert!(Population::new(&stars, &bound, centre).unwrap().half_light_radius.is_nan());
    }

    #[test]
    fn stars_that_do_not_age_have_no_population() {
        let (stars, bound, centre) = stars([1.0; 6]);
        assert_eq!(Population::new(&Stars { states: Vec::new(), ..stars }, &bound, centre), None);
    }
}
