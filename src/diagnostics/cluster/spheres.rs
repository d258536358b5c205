//! Spheres about a centre that hold fractions of the mass, and the kinematics of the shells between them.

use super::stars::Stars;
use std::ops::Range;
use tisane_force::compensated_sum::sum;
use tisane_force::particles::Vec3;

/// Relative amount by which the mass inside may fall short of a fraction: sums of equal masses are rounded.
const ROUNDING: f64 = 1e-12;

/// Particles in order of distance from a centre; of equally distant ones the smaller id first.
#[derive(Clone, Debug, PartialEq)]
pub struct RadialOrder {
    /// Indices of the particles.
    pub order: Vec<u32>,
    /// Distances from the centre.
    pub radius: Vec<f64>,
}

impl RadialOrder {
    /// Sorts the particles `which` by distance from `centre`.
    #[must_use]
    pub fn new(id: &[u64], pos: &[Vec3], centre: Vec3, which: impl Iterator<Item = u32>) -> Self {
        let mut sorted: Vec<(f64, u64, u32)> =
            which.map(|i| ((pos[i as usize] - centre).norm(), id[i as usize], i)).collect();
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        Self {
            order: sorted.iter().map(|(_, _, i)| *i).collect(),
            radius: sorted.iter().map(|(radius, ..)| *radius).collect(),
        }
    }

    /// Returns those of the particles that are in the set.
    #[must_use]
    pub fn only(&self, is_in: impl Fn(u32) -> bool) -> Self {
        let (order, radius) =
            self.order.iter().zip(&self.radius).filter(|(i, _)| is_in(**i)).map(|(i, r)| (*i, *r)).unzip();
        Self { order, radius }
    }

    /// Returns for each mass fraction, ascending, the number of particles in the smallest sphere that holds it; 0 if
    /// the innermost particle alone exceeds the fraction.
    #[must_use]
    pub fn spheres<const F: usize>(&self, mass: &[f64], fractions: [f64; F]) -> [usize; F] {
        let masses = || self.order.iter().map(|&i| mass[i as usize]);
        let total = sum(masses());
        let first = masses().next().unwrap_or(0.0);
        let mut spheres = [0; F];
        // Compensated, so that the right one of a million equal masses completes a fraction.
        let (mut inside, mut lost, mut held) = (0.0f64, 0.0f64, 0);
        for (sphere, fraction) in spheres.iter_mut().zip(fractions) {
            let wanted = fraction * total * (1.0 - ROUNDING);
            while inside + lost < wanted && held < self.order.len() {
                let m = mass[self.order[held] as usize];
                let t = inside + m;
                lost += if inside.abs() >= m.abs() { (inside - t) + m } else { (m - t) + inside };
                inside = t;
                held += 1;
            }
            let whole = first * (1.0 - ROUNDING) <= fraction * total;
            *sphere = if whole { held } else { 0 };
        }
        spheres
    }

    /// Returns the radius of the sphere that holds the `held` innermost particles; NaN for none.
    #[must_use]
    pub fn radius_enclosing(&self, held: usize) -> f64 {
        held.checked_sub(1).and_then(|last| self.radius.get(last)).copied().unwrap_or(f64::NAN)
    }
}

/// Frame in which velocities are decomposed: a centre, its velocity, and an axis of rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// Centre.
    pub centre: Vec3,
    /// Velocity of the centre.
    pub velocity: Vec3,
    /// Axis of rotation, a unit vector.
    pub axis: Vec3,
}

/// Mean properties of some particles, such as those of a shell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shell {
    /// Number of particles.
    pub number: u64,
    /// Mean mass; NaN for none.
    pub mean_mass: f64,
    /// Radial velocity dispersion, about the mean; NaN for fewer than two.
    pub radial: f64,
    /// Tangential velocity dispersion in one dimension, about the mean rotation; NaN for fewer than two.
    pub tangential: f64,
    /// Mean rotation velocity; NaN for none.
    pub rotation: f64,
}

impl Shell {
    /// Computes the properties of the particles at the places `range` of an order.
    #[must_use]
    pub fn new(stars: &Stars, radial: &RadialOrder, range: Range<usize>, frame: &Frame) -> Self {
        let inside = &radial.order[range];
        let moved: Vec<(f64, [f64; 3])> =
            inside.iter().map(|&i| (stars.mass[i as usize], apart(stars, i, frame))).collect();
        let mass = sum(moved.iter().map(|(m, _)| *m));
        let mean = |of: &dyn Fn([f64; 3]) -> f64| sum(moved.iter().map(|(m, v)| m * of(*v))) / mass;
        let (streaming, rotation) = (mean(&|[r, _, _]| r), mean(&|[_, _, phi]| phi));
        let radial = mean(&|[r, _, _]| (r - streaming).powi(2)).sqrt();
        let tangential =
            (0.5 * mean(&|[_, t2, phi]| (t2 - 2.0 * rotation * phi + rotation * rotation).max(0.0))).sqrt();
        let two = |x: f64| if moved.len() < 2 { f64::NAN } else { x };
        Self {
            number: inside.len() as u64,
            mean_mass: mass / inside.len() as f64,
            radial: two(radial),
            tangential: two(tangential),
            rotation,
        }
    }

    /// Returns the anisotropy 1 − σ_t² / σ_r² with the dispersion σ_t in one dimension (Binney & Tremaine 2008, eq.
    /// 4.61).
    #[must_use]
    pub fn anisotropy(&self) -> f64 {
        1.0 - (self.tangential / self.radial).powi(2)
    }
}

/// Returns the radial velocity, the square of the tangential velocity, and the velocity about the axis of a particle.
fn apart(stars: &Stars, i: u32, frame: &Frame) -> [f64; 3] {
    let (d, v) = (stars.pos[i as usize] - frame.centre, stars.vel[i as usize] - frame.velocity);
    let r = d.norm();
    let radial = if r == 0.0 { 0.0 } else { d.dot(&v) / r };
    let around = frame.axis.cross(&d);
    let from_axis = around.norm();
    let phi = if from_axis == 0.0 { 0.0 } else { around.dot(&v) / from_axis };
    [radial, (v.norm_squared() - radial * radial).max(0.0), phi]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fraction_of_equal_masses_is_met_by_the_right_particle() {
        for n in [10usize, 1000, 4096] {
            let pos: Vec<Vec3> = (0..n).map(|i| (i as f64 + 1.0) * Vec3::x()).collect();
            let (id, mass) = ((0..n as u64).collect::<Vec<_>>(), vec![1.0 / n as f64; n]);
            let radial = RadialOrder::new(&id, &pos, Vec3::zeros(), 0..n as u32);
            let spheres = radial.spheres(&mass, [0.001, 0.1, 0.5, 0.9, 1.0]);
            let of = |thousandths: usize| if n * thousandths < 1000 { 0 } else { (n * thousandths).div_ceil(1000) };
            assert_eq!(spheres, [1, 100, 500, 900, 1000].map(of), "N = {n}");
            assert_eq!(radial.radius_enclosing(spheres[4]), n as f64);
        }
    }

    #[test]
    fn less_than_one_particle_has_no_radius() {
        let radial = RadialOrder::new(&[5, 4, 3], &[Vec3::repeat(1.0); 3], Vec3::zeros(), 0..3);
        assert_eq!(radial.order, [2, 1, 0], "equally far: by id");
        let spheres = radial.spheres(&[1.0, 1.0, 8.0], [0.5, 0.8, 0.85, 0.95]);
        assert_eq!(spheres, [0, 1, 2, 3]);
        assert!(radial.radius_enclosing(0).is_nan());
    }

    #[test]
    fn rotation_and_dispersions_by_hand() {
        // Four on a ring that turns at speed 2 about z and widens at speed 3, and a frame that moves along.
        let ring = [Vec3::x(), Vec3::y(), -Vec3::x(), -Vec3::y()];
        let vel = ring.map(|r| Vec3::new(3.0 * r.x - 2.0 * r.y + 10.0, 3.0 * r.y + 2.0 * r.x, 0.0));
        let stars = Stars {
            id: vec![0, 1, 2, 3],
            mass: vec![1.0; 4],
            pos: ring.to_vec(),
            vel: vel.to_vec(),
            pot: vec![0.0; 4],
            states: Vec::new(),
            followed: Vec::new(),
        };
        let frame = Frame { centre: Vec3::zeros(), velocity: 10.0 * Vec3::x(), axis: Vec3::z() };
        let radial = RadialOrder::new(&stars.id, &stars.pos, frame.centre, 0..4);
        let shell = Shell::new(&stars, &radial, 0..4, &frame);
        assert_eq!((shell.number, shell.mean_mass, shell.rotation), (4, 1.0, 2.0));
        assert_eq!((shell.radial, shell.tangential), (0.0, 0.0), "streaming and rotation are no dispersion");
        let upwards = Stars {
            vel: [[10.0, 1.0], [10.0, -1.0], [11.0, 1.0], [9.0, -1.0]].map(|[x, z]| Vec3::new(x, 0.0, z)).to_vec(),
            ..stars
        };
        let shell = Shell::new(&upwards, &radial, 0..4, &frame);
        // v_z² = 1 for all, v_phi = 0, 0, 0, 1 → in one dimension σ_t² = (1 + 1/4 − 1/16) / 2; v_r = 0, 0, −1, 0.
        assert!((shell.tangential.powi(2) - 0.5 * (1.0 + 0.25 - 0.0625)).abs() < 1e-15, "{shell:?}");
        assert!((shell.radial.powi(2) - (0.25 - 0.0625)).abs() < 1e-15, "{shell:?}");
    }
}
