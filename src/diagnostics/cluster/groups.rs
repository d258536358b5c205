//! Light and heavy stars of a cluster, and those of each class: how many there are, how far out, and how fast.

use super::spheres::RadialOrder;
use super::stars::Stars;
use tisane_force::compensated_sum::sum;
use tisane_force::particles::Vec3;
use tisane_stellar::Class;

/// Shares of the bound particles, by mass, at which the bins begin after the first: half of them are light, a twentieth are heavy.
pub const SHARES: [f64; 3] = [0.5, 0.8, 0.95];
/// Number of the bins.
pub const BINS: usize = SHARES.len() + 1;

/// Some of the particles of a cluster, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// Number of particles.
    pub number: u64,
    /// Least mass of one; NaN for none.
    pub least_mass: f64,
    /// Mean mass; NaN for none.
    pub mean_mass: f64,
    /// Radii about the density centre that hold 10 % and 50 % of their mass; NaN where the innermost particle alone has more.
    pub radii: [f64; 2],
    /// Velocity dispersion in one dimension about the velocity of the cluster, mass-weighted; NaN for fewer than two.
    pub dispersion: f64,
}

impl Group {
    /// Group of nothing.
    const NONE: Self =
        Self { number: 0, least_mass: f64::NAN, mean_mass: f64::NAN, radii: [f64::NAN; 2], dispersion: f64::NAN };

    /// Measures the particles of an order about the density centre; `velocity` is that of the cluster.
    fn new(stars: &Stars, radial: &RadialOrder, velocity: Vec3) -> Self {
        let masses = || radial.order.iter().map(|&i| stars.mass[i as usize]);
        let (number, mass) = (radial.order.len(), sum(masses()));
        if number == 0 {
            return Self::NONE;
        }
        let square = |&i: &u32| stars.mass[i as usize] * (stars.vel[i as usize] - velocity).norm_squared();
        let squares = sum(radial.order.iter().map(square));
        Self {
            number: number as u64,
            least_mass: masses().fold(f64::INFINITY, f64::min),
            mean_mass: mass / number as f64,
            radii: radial.spheres(&stars.mass, [0.1, 0.5]).map(|held| radial.radius_enclosing(held)),
            dispersion: if number < 2 { f64::NAN } else { (squares / (3.0 * mass)).sqrt() },
        }
    }
}

/// Bound particles in bins of mass: the lightest half, the next 30 %, the next 15 %, and the heaviest 5 %. Of equal masses the
/// smaller id counts as lighter. Groups of nothing where all masses are equal.
pub(super) fn by_mass(stars: &Stars, bound: &RadialOrder, velocity: Vec3) -> [Group; BINS] {
    let mut sorted = bound.order.clone();
    sorted.sort_unstable_by(|&a, &b| {
        let [a, b] = [a, b].map(|i| i as usize);
        stars.mass[a].total_cmp(&stars.mass[b]).then(stars.id[a].cmp(&stars.id[b]))
    });
    let mass = |at: Option<&u32>| at.map(|&i| stars.mass[i as usize]);
    if mass(sorted.first()) == mass(sorted.last()) {
        return [Group::NONE; BINS];
    }
    let begins = SHARES.map(|share| (share * sorted.len() as f64).round() as usize);
    let mut bin = vec![0; stars.len()];
    for (rank, &i) in sorted.iter().enumerate() {
        bin[i as usize] = begins.partition_point(|begin| *begin <= rank);
    }
    std::array::from_fn(|k| Group::new(stars, &bound.only(|i| bin[i as usize] == k), velocity))
}

/// Bound stars of each class, in the order of [`Class::ALL`]; [`None`] where stars do not age.
pub(super) fn by_class(stars: &Stars, bound: &RadialOrder, velocity: Vec3) -> Option<[Group; Class::ALL.len()]> {
    let is_aging = stars.states.len() == stars.len() && !stars.is_empty();
    let of = |class: Class| {
        let here = bound.only(|i| stars.states[i as usize].kind.class() == Some(class));
        Group::new(stars, &here, velocity)
    };
    is_aging.then(|| Class::ALL.map(of))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane_stellar::{Kind, State};

    /// Twenty stars on the axis x at the distances 1 to 20, the mass of each 21 less its distance, at the speeds ± 3 along y in a cluster
    /// that moves.
    fn stars(mass: impl Fn(usize) -> f64) -> (Stars, RadialOrder, Vec3) {
        let velocity = Vec3::new(100.0, -20.0, 3.0);
        let sign = |i: usize| if i.is_multiple_of(2) { 1.0 } else { -1.0 };
        let stars = Stars {
            id: (0..20).collect(),
            mass: (0..20).map(mass).collect(),
            pos: (0..20).map(|i| (i as f64 + 1.0) * Vec3::x()).collect(),
            vel: (0..20).map(|i| velocity + 3.0 * sign(i) * Vec3::y()).collect(),
            pot: vec![0.0; 20],
            states: Vec::new(),
            followed: Vec::new(),
        };
        let bound = RadialOrder::new(&stars.id, &stars.pos, Vec3::zeros(), 0..20);
        (stars, bound, velocity)
    }

    #[test]
    fn bins_of_mass_by_hand() {
        let (stars, bound, velocity) = stars(|i| 20.0 - i as f64);
        let found = by_mass(&stars, &bound, velocity);
        assert_eq!(found.map(|group| group.number), [10, 6, 3, 1]);
        assert_eq!(found.map(|group| group.least_mass), [1.0, 11.0, 17.0, 20.0]);
        assert_eq!(found.map(|group| group.mean_mass), [5.5, 13.5, 18.0, 20.0]);
        // The light half is at 11 to 20 with the masses 10 to 1: half of 55 is reached by the fourth, a tenth within the first.
        assert_eq!(found[0].radii[1], 14.0);
        assert!(found[0].radii[0].is_nan(), "the innermost has 10 of 55");
        // 17 of 54 at 4, 18 at 3, 19 at 2.
        assert_eq!(found[2].radii[1], 3.0);
        assert!((found[0].dispersion - 3f64.sqrt()).abs() < 1e-15 && found[3].dispersion.is_nan());
    }

    #[test]
    fn equal_masses_have_no_bins() {
        let (stars, bound, velocity) = stars(|_| 1.0);
        assert!(by_mass(&stars, &bound, velocity).iter().all(|group| group.number == 0 && group.mean_mass.is_nan()));
        let none = bound.only(|_| false);
        assert!(by_mass(&stars, &none, velocity).iter().all(|group| group.number == 0));
        assert_eq!(by_class(&stars, &bound, velocity), None);
    }

    #[test]
    fn classes_by_hand() {
        let (mut stars, bound, velocity) = stars(|i| 20.0 - i as f64);
        let state = |kind| State {
            kind,
            effective_mass: 1.0,
            mass: 1.0,
            core_mass: 0.0,
            age: 0.0,
            luminosity: 1.0,
            radius: 1.0,
        };
        let kind = |i: usize| if i < 3 { Kind::BlackHole } else { Kind::MainSequence };
        stars.states = (0..20).map(|i| state(kind(i))).collect();
        let found = by_class(&stars, &bound, velocity).unwrap();
        assert_eq!(found.map(|group| group.number), [17, 0, 0, 0, 0, 3]);
        let holes = found[5];
        assert_eq!((holes.mean_mass, holes.radii[1]), (19.0, 2.0));
        assert!((holes.dispersion - 3f64.sqrt()).abs() < 1e-15 && found[1].radii[1].is_nan());
    }
}
