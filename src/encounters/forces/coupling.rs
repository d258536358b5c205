//! Coupling of a subsystem with a particle outside: forces of its members instead of that of their centre of mass,
//! within a distance, faded in so that an energy exists.
//!
//! With φ the potential energy of an outer particle and the members, less that of the particle and their centre of mass, the
//! coupling is V = K(R) φ. K is a function of the distance R alone: 0 from the outer radius on, 1 up to half of it, with two
//! continuous derivatives. All forces below follow from V, those on the particle, on the centre of mass and on the members, so that
//! a particle that comes and goes leaves no jump in the energy (changeover functions, as between the parts of a
//! Hamiltonian: Chambers 1999, MNRAS 304, 793).

use crate::encounters::forces::orbit::AveragedPair;
use crate::encounters::settings::criteria;
use crate::few_body::Motion;
use tisane_force::particles::Vec3;

/// Members of a subsystem, relative to their centre of mass.
#[derive(Clone, Debug, Default)]
pub struct PointMasses {
    /// Masses.
    pub mass: Vec<f64>,
    /// Positions.
    pub offsets: Vec<Vec3>,
    /// Velocities.
    pub speeds: Vec<Vec3>,
}

impl PointMasses {
    /// Takes the members of a motion where they stand, in the memory that there is.
    pub fn follow(&mut self, motion: &Motion) {
        self.mass.resize(motion.len(), 0.0);
        self.offsets.resize(motion.len(), Vec3::zeros());
        self.speeds.resize(motion.len(), Vec3::zeros());
        motion.store([&mut self.offsets, &mut self.speeds], &mut self.mass);
    }
}

/// Fading factor K and its first two derivatives by R².
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fading {
    value: f64,
    slope: f64,
    bend: f64,
}

/// Returns the width, in squares of distances, in which K fades in.
pub fn width(outer2: f64) -> f64 {
    outer2 - outer2 / criteria::SQUARED_RATIO_OF_RADII
}

/// Returns K at this part of the [`width`] from the outer radius.
#[inline(always)]
pub fn factor_within(z: f64) -> f64 {
    let faded = z * z * z * (10.0 - z * (15.0 - 6.0 * z));
    let value = if z < 1.0 { faded } else { 1.0 };
    if z > 0.0 { value } else { 0.0 }
}

/// Returns K at the squared distance `r2` for the squared outer radius `outer2`.
fn fading(r2: f64, outer2: f64) -> Fading {
    let width = width(outer2);
    let z = (outer2 - r2) / width;
    if z <= 0.0 {
        return Fading { value: 0.0, slope: 0.0, bend: 0.0 };
    }
    if z >= 1.0 {
        return Fading { value: 1.0, slope: 0.0, bend: 0.0 };
    }
    let rest = 1.0 - z;
    Fading {
        value: factor_within(z),
        slope: -30.0 * z * z * rest * rest / width,
        bend: 60.0 * z * rest * (rest - z) / (width * width),
    }
}

/// Returns K at the squared distance `r2` for the squared outer radius `outer2`.
pub fn factor(r2: f64, outer2: f64) -> f64 {
    fading(r2, outer2).value
}

/// What φ of a particle does to it, per unit of its mass.
struct Pull {
    /// Acceleration and its derivative by the time.
    tide: Vec3,
    change: Vec3,
    /// φ and its derivative by the time.
    potential: f64,
    power: f64,
}

impl Pull {
    /// Returns acceleration and jerk by K φ of a particle at `r` with velocity `v`.
    fn faded(self, k: Fading, r: Vec3, v: Vec3) -> (Vec3, Vec3) {
        let Self { tide, change, potential, power } = self;
        let rate = 2.0 * r.dot(&v);
        let acc = tide * k.value - r * (2.0 * potential * k.slope);
        let jerk = tide * (k.slope * rate) + change * k.value
            - r * (2.0 * (power * k.slope + potential * k.bend * rate))
            - v * (2.0 * potential * k.slope);
        (acc, jerk)
    }
}

/// Returns the acceleration and the jerk of a particle by the coupling, per unit of its mass, to be added to those by the centre of
/// mass; it stands at `r` with velocity `v` relative to the centre of mass. That on the centre of mass is
/// −m/M times as large.
pub fn force(points: &PointMasses, r: Vec3, v: Vec3, outer2: f64) -> (Vec3, Vec3) {
    let r2 = r.norm_squared();
    let k = fading(r2, outer2);
    if k.value == 0.0 {
        return (Vec3::zeros(), Vec3::zeros());
    }
    let total: f64 = points.mass.iter().sum();
    let mut pull = Pull { tide: Vec3::zeros(), change: Vec3::zeros(), potential: 0.0, power: 0.0 };
    let mut add = |mass: f64, d: Vec3, w: Vec3| {
        let d2 = d.norm_squared();
        let m_d = mass / d2.sqrt();
        let m_d3 = m_d / d2;
        let dw = d.dot(&w);
        pull.tide -= d * m_d3;
        pull.change -= (w - d * (3.0 * dw / d2)) * m_d3;
        pull.potential -= m_d;
        pull.power += m_d3 * dw;
    };
    for ((mass, offset), speed) in points.mass.iter().zip(&points.offsets).zip(&points.speeds) {
        add(*mass, r - offset, v - speed);
    }
    add(-total, r, v);
    pull.faded(k, r, v)
}

/// Returns what [`force`] returns, for an orbit-averaged pair.
pub fn averaged_force(pair: &AveragedPair, r: Vec3, v: Vec3, outer2: f64) -> (Vec3, Vec3) {
    let r2 = r.norm_squared();
    let k = fading(r2, outer2);
    if k.value == 0.0 {
        return (Vec3::zeros(), Vec3::zeros());
    }
    // φ = (p − 3 q / r²) / (2 r³) with the trace p of the moments and q = r·P r.
    let AveragedPair { moments, change } = pair;
    let (along, turning) = (moments * r, change * r);
    let (p, q) = (moments.trace(), along.dot(&r) / r2);
    let (dp, s) = (change.trace(), r.dot(&v) / r2);
    let dq = (2.0 * along.dot(&v) + turning.dot(&r)) / r2;
    let per_r5 = 1.0 / (r2 * r2 * r2.sqrt());
    let radial = 1.5 * p - 7.5 * q;
    let tide = pair.pull(r);
    let by_time = (moments * v + turning) * 3.0 - along * (15.0 * s)
        + v * radial
        + r * (1.5 * dp - 7.5 * p * s - 7.5 * dq + 52.5 * q * s);
    let potential = 0.5 * (p - 3.0 * q) * per_r5 * r2;
    let power = 0.5 * (dp - 3.0 * turning.dot(&r) / r2) * per_r5 * r2 - tide.dot(&v);
    Pull { tide, change: by_time * per_r5, potential, power }.faded(k, r, v)
}

/// Returns φ per unit mass of a particle at `r` from the centre of mass.
pub fn potential(points: &PointMasses, r: Vec3) -> f64 {
    let parts = points.mass.iter().zip(&points.offsets).map(|(mass, offset)| mass / (r - offset).norm());
    points.mass.iter().sum::<f64>() / r.norm() - parts.sum::<f64>()
}

/// Returns the acceleration by a particle of mass `mass` at `r` of a member at `offset`, both from the centre of mass.
#[cfg(test)]
pub fn tide(mass: f64, r: Vec3, offset: Vec3, outer2: f64) -> Vec3 {
    let d = r - offset;
    let d2 = d.norm_squared();
    d * (factor(r.norm_squared(), outer2) * mass / (d2 * d2.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Matrix3;

    fn points() -> PointMasses {
        let (mass, x, u) = ([0.75, 0.25], Vec3::new(0.3, -0.1, 0.2), Vec3::new(-0.5, 1.0, 0.25));
        PointMasses { mass: mass.to_vec(), offsets: vec![x * -0.25, x * 0.75], speeds: vec![u * -0.25, u * 0.75] }
    }

    /// Potential energy of the coupling of a particle of mass 1.
    fn energy(points: &PointMasses, r: Vec3, outer2: f64) -> f64 {
        factor(r.norm_squared(), outer2) * potential(points, r)
    }

    #[test]
    fn verify_forces_are_derivatives_of_the_energy() {
        let (m, v, h) = (points(), Vec3::new(0.3, -0.7, 0.1), 1e-5);
        for outer2 in [3.0, 6.0, 40.0] {
            let r = Vec3::new(1.0, 1.0, -0.5);
            let (acc, jerk) = force(&m, r, v, outer2);
            for axis in 0..3 {
                let step = Vec3::from_fn(|k, _| if k == axis { h } else { 0.0 });
                let slope = (energy(&m, r + step, outer2) - energy(&m, r - step, outer2)) / (2.0 * h);
                assert!((acc[axis] + slope).abs() < 1e-9, "{outer2}: {} {slope}", acc[axis]);
                // On a member: the mean, which is that of the coupling on the centre of mass, is not the tide's.
                for j in 0..2 {
                    let moved = |by: Vec3| {
                        let mut m = m.clone();
                        m.offsets[j] += by;
                        energy(&m, r, outer2)
                    };
                    let slope = (moved(step) - moved(-step)) / (2.0 * h);
                    let found = m.mass[j] * tide(1.0, r, m.offsets[j], outer2)[axis];
                    assert!((found + slope).abs() < 1e-9, "{outer2}, member {j}: {found} {slope}");
                }
            }
            let at = |t: f64| {
                let offsets = m.offsets.iter().zip(&m.speeds).map(|(x, u)| x + u * t).collect();
                force(&PointMasses { offsets, ..m.clone() }, r + v * t, v, outer2).0
            };
            let difference = (at(h) - at(-h)) / (2.0 * h);
            assert!((jerk - difference).norm() < 1e-8, "{outer2}: {jerk} {difference}");
        }
    }

    #[test]
    fn verify_forces_of_a_ring_are_derivatives_of_the_energy() {
        let moments = Matrix3::new(0.3, 0.02, -0.05, 0.02, 0.1, 0.04, -0.05, 0.04, 0.2);
        let change = Matrix3::new(0.01, 0.05, 0.03, 0.05, -0.04, 0.02, 0.03, 0.02, 0.05);
        let (pair, v, h) = (AveragedPair { moments, change }, Vec3::new(0.3, -0.7, 0.1), 1e-5);
        let energy = |r: Vec3, outer2: f64| factor(r.norm_squared(), outer2) * pair.potential(r);
        for outer2 in [3.0, 6.0, 40.0] {
            let r = Vec3::new(1.0, 1.0, -0.5);
            let (acc, jerk) = averaged_force(&pair, r, v, outer2);
            for axis in 0..3 {
                let step = Vec3::from_fn(|k, _| if k == axis { h } else { 0.0 });
                let slope = (energy(r + step, outer2) - energy(r - step, outer2)) / (2.0 * h);
                assert!((acc[axis] + slope).abs() < 1e-9, "{outer2}: {} {slope}", acc[axis]);
            }
            let at = |t: f64| averaged_force(&pair.after(t), r + v * t, v, outer2).0;
            let difference = (at(h) - at(-h)) / (2.0 * h);
            assert!((jerk - difference).norm() < 1e-8, "{outer2}: {jerk} {difference}");
        }
    }

    #[test]
    fn the_coupling_begins_and_ends_smoothly() {
        let (m, v) = (points(), Vec3::new(0.3, -0.7, 0.1));
        assert_eq!([0.9, 1.0, 4.0, 4.1].map(|r2| factor(r2, 4.0)), [1.0, 1.0, 0.0, 0.0]);
        let at = |r2: f64| force(&m, Vec3::new(r2.sqrt(), 0.0, 0.0), v, 4.0);
        for r2 in [1.0, 4.0] {
            let (inside, outside) = (at(r2 - 1e-7), at(r2 + 1e-7));
            assert!((inside.0 - outside.0).norm() < 1e-6 && (inside.1 - outside.1).norm() < 1e-5, "{r2}");
        }
        assert_eq!(at(4.5), (Vec3::zeros(), Vec3::zeros()));
    }
}
