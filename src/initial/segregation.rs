//! Primordial mass segregation.

use super::random::{Purpose, Uniform};
use tisane_force::particles::Particles;

/// Largest number of orbits that are drawn for each star.
const MAX_ORBITS: f64 = 32.0;

/// Returns the number of orbits from which stars of these masses are to choose: ⟨m⟩/m_min for each star (Baumgardt, De
/// Marchi & Kroupa 2008, ApJ 685, 247, appendix), so that the lightest star too has one of its own; at most 32 for
/// each.
#[must_use]
pub fn orbits(masses: &[f64]) -> usize {
    let n = masses.len() as f64;
    let min = masses.iter().copied().fold(f64::INFINITY, f64::min);
    let mean = masses.iter().sum::<f64>() / n;
    let each = (mean / min).clamp(1.0, MAX_ORBITS);
    if n > 0.0 { (n * each).ceil() as usize } else { 0 }
}

/// Returns the orbit of each star, as an index into `orbits` (equal masses about the origin; at least as many as
/// stars).
///
/// The stars are ordered from the centre outwards: strictly by mass for the `degree` S = 1, at random for 0, and in
/// between as in Küpper et al. (2011, MNRAS 417, 2300, sect. 2.3): the stars from the heaviest down take, of the places
/// that are left, the one with the number (left) (1 − X^(1−S)), X uniform. Then, as in Baumgardt et al., the orbits are
/// sorted by specific energy, and each star gets one of those between the fractions of the mass before and behind it,
/// so that the profile of the *mass* of the whole cluster is the model's at every degree. The energy is that in the
/// potential of the sampled orbits, taken as spherical.
///
/// # Panics
/// If there are fewer orbits than stars.
#[must_use]
pub fn assign(masses: &[f64], orbits: &Particles, degree: f64, seed: u64) -> Vec<usize> {
    let (n, total) = (masses.len(), masses.iter().sum::<f64>());
    assert!(orbits.len() >= n, "{} orbits for {n} stars", orbits.len());
    let mut random = Uniform::for_purpose(seed, Purpose::Segregation);
    let order = order(masses, degree, &mut random);
    let energy = energies(orbits);
    let mut sorted: Vec<usize> = (0..orbits.len()).collect();
    sorted.sort_by(|&a, &b| energy[a].total_cmp(&energy[b]));
    let mut orbit = vec![0; n];
    let (mut inside, mut next) = (0.0, 0);
    for (place, &star) in order.iter().enumerate() {
        let from = inside / total * orbits.len() as f64;
        inside += masses[star];
        let to = inside / total * orbits.len() as f64;
        let wanted = from.ceil() + random.next() * (to.ceil() - from.ceil());
        // Every star gets an orbit of its own, and enough remain for the stars behind it.
        let choice = (wanted as usize).clamp(next, orbits.len() - (n - place));
        orbit[star] = sorted[choice];
        next = choice + 1;
    }
    orbit
}

/// Returns the stars in order from the centre outwards.
fn order(masses: &[f64], degree: f64, random: &mut Uniform) -> Vec<usize> {
    let n = masses.len();
    let mut heaviest: Vec<usize> = (0..n).collect();
    heaviest.sort_by(|&a, &b| masses[b].total_cmp(&masses[a]));
    let (mut free, mut order) = (Free::new(n), vec![0; n]);
    for (chosen, star) in heaviest.into_iter().enumerate() {
        let left = n - chosen;
        let x = random.next();
        let step = left as f64 * (1.0 - libm::pow(1.0 - x, 1.0 - degree));
        order[free.take((step as usize).min(left - 1))] = star;
    }
    order
}

/// Returns v²/2 + Φ(r) of each particle, with Φ of all others spread over spheres, G = 1.
fn energies(p: &Particles) -> Vec<f64> {
    let radius: Vec<f64> = p.pos.iter().map(|x| x.norm()).collect();
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| radius[a].total_cmp(&radius[b]));
    let mut energy: Vec<f64> = p.vel.iter().map(|v| 0.5 * v.norm_squared()).collect();
    let mut inside = 0.0;
    for &i in &order {
        energy[i] -= inside / radius[i].max(f64::MIN_POSITIVE);
        inside += p.mass[i];
    }
    let mut outside = 0.0;
    for &i in order.iter().rev() {
        energy[i] -= outside;
        outside += p.mass[i] / radius[i].max(f64::MIN_POSITIVE);
    }
    energy
}

/// Set of free places, of which the k-th can be found and taken in log n steps (Fenwick 1994).
struct Free {
    counts: Vec<usize>,
}

impl Free {
    fn new(n: usize) -> Self {
        // Row k of the tree counts the lowest-set-bit(k) places up to k.
        Self { counts: (0..=n).map(|k| k & k.wrapping_neg()).collect() }
    }

    /// Takes the free place number `k`, counted from 0, and returns it.
    fn take(&mut self, k: usize) -> usize {
        let n = self.counts.len() - 1;
        let (mut place, mut left, mut step) = (0, k, n.next_power_of_two());
        while step > 0 {
            if place + step <= n && self.counts[place + step] <= left {
                place += step;
                left -= self.counts[place];
            }
            step /= 2;
        }
        let mut row = place + 1;
        while row <= n {
            self.counts[row] -= 1;
            row += row & row.wrapping_neg();
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_places_are_taken_by_their_number() {
        let mut free = Free::new(5);
        let mut left: Vec<usize> = (0..5).collect();
        for k in [1, 3, 0, 1, 0] {
            assert_eq!(free.take(k), left.remove(k));
        }
        assert!(left.is_empty());
    }
}
