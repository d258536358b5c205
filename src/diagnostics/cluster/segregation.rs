//! Mass segregation by minimum spanning trees.

use super::stars::Stars;
use rand::SeedableRng;
use rand::seq::index::sample;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Number of most massive particles, and of particles in a random set.
const MASSIVE: usize = 10;
/// Number of random sets.
const SETS: usize = 50;
/// Smallest number of particles for which Λ is defined: sets of fewer would be much the same.
const FEWEST: usize = 2 * MASSIVE;
/// Seed of the random sets. They are the same at every moment, so that Λ changes with the cluster alone.
const SEED: u64 = 1;

/// Returns Λ_MSR and its standard error (Allison et al. 2009, MNRAS 395, 1449, eq. 1): the mean length of the minimum
/// spanning trees of random sets of particles, and the dispersion of these lengths, over the length for as many most
/// massive particles. NaN for too few particles or equal masses. `which` are the indices of the particles that count.
#[must_use]
pub fn mass_segregation(stars: &Stars, which: &[u32]) -> [f64; 2] {
    let mut by_id = which.to_vec();
    by_id.sort_unstable_by_key(|&i| stars.id[i as usize]);
    let mass = |i: u32| stars.mass[i as usize];
    let equal = by_id.windows(2).all(|pair| mass(pair[0]) == mass(pair[1]));
    if by_id.len() < FEWEST || equal {
        return [f64::NAN; 2];
    }
    let mut massive = by_id.clone();
    let heavier =
        |a: &u32, b: &u32| mass(*b).total_cmp(&mass(*a)).then(stars.id[*a as usize].cmp(&stars.id[*b as usize]));
    massive.select_nth_unstable_by(MASSIVE, heavier);
    massive.truncate(MASSIVE);
    massive.sort_unstable_by(heavier);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(SEED);
    let mut random = [0.0; SETS];
    for tree in &mut random {
        let set: Vec<u32> = sample(&mut rng, by_id.len(), MASSIVE).iter().map(|k| by_id[k]).collect();
        *tree = spanning_tree(stars, &set);
    }
    let mean = random.iter().sum::<f64>() / SETS as f64;
    let spread = (random.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (SETS - 1) as f64).sqrt();
    [mean, spread].map(|x| x / spanning_tree(stars, &massive))
}

/// Returns the length of the minimum spanning tree of some particles (Prim's algorithm).
fn spanning_tree(stars: &Stars, set: &[u32]) -> f64 {
    let distance = |i: u32, j: u32| (stars.pos[i as usize] - stars.pos[j as usize]).norm();
    let Some((first, rest)) = set.split_first() else { return 0.0 };
    let mut outside: Vec<(f64, u32)> = rest.iter().map(|&i| (distance(*first, i), i)).collect();
    let mut total = 0.0;
    while let Some(nearest) = (0..outside.len()).min_by(|&a, &b| outside[a].0.total_cmp(&outside[b].0)) {
        let (edge, taken) = outside.swap_remove(nearest);
        total += edge;
        outside.iter_mut().for_each(|(far, i)| *far = far.min(distance(taken, *i)));
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane_force::particles::Vec3;

    /// Returns a hundred along a line, a unit apart; ten of them heavy.
    fn line(heavy: impl Fn(usize) -> bool) -> Stars {
        let mass = (0..100).map(|i| if heavy(i) { 10.0 } else { 1.0 }).collect();
        let pos = (0..100).map(|i| i as f64 * Vec3::x()).collect();
        Stars {
            id: (0..100).collect(),
            mass,
            pos,
            vel: vec![Vec3::zeros(); 100],
            pot: vec![0.0; 100],
            states: Vec::new(),
            followed: Vec::new(),
        }
    }

    #[test]
    fn a_tree_is_as_long_as_a_line() {
        let stars = line(|_| false);
        assert_eq!(spanning_tree(&stars, &[40, 3, 99, 17]), 96.0);
        assert_eq!(spanning_tree(&stars, &[7]), 0.0);
    }

    #[test]
    fn together_is_segregated_and_spread_is_not() {
        let all: Vec<u32> = (0..100).collect();
        let [together, error] = mass_segregation(&line(|i| (50..60).contains(&i)), &all);
        // The heavy ones span 9; ten random ones of a hundred 100 · 9/11 on average.
        assert!((together - 81.8 / 9.0).abs() < 0.5 && error > 0.5, "{together} ± {error}");
        let [spread, _] = mass_segregation(&line(|i| i % 11 == 0), &all);
        assert!(spread < 1.0, "{spread}");
        assert!(mass_segregation(&line(|_| false), &all)[0].is_nan());
        assert!(mass_segregation(&line(|i| i == 0), &all[..19])[0].is_nan());
    }
}
