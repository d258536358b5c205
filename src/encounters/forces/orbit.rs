//! Orbit-averaged motion of a binary: its mass spread over the orbit, and the slow change of that orbit in a tidal field.
//!
//! Where the tide is weak and changes little in a period, its effect is that of its mean over the orbit. With the
//! semi-major axis a, the eccentricity vector e and j = √(1 − e²) along the angular momentum, the mean of the second moments of the
//! relative position is a² (½ ((1 − e²) I − j jᵀ) + 5/2 e eᵀ); the orbit is a ring of these moments. In a field with the derivatives T of
//! the acceleration by the place (Milankovitch's equations; Tremaine, Touma & Namouni 2009, AJ 137, 3706):
//! dj/dt = −c (j × T j − 5 e × T e), de/dt = −c (e × T j − 5 j × T e), with c = √(a³ / M) / 2. The axis does not change, and
//! the energy of this ring in the field is conserved by both.

use crate::encounters::settings::criteria;
use crate::few_body::Motion;
use nalgebra::Matrix3;
use tisane_force::particles::Vec3;

/// Orbit of two bound bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// Total mass.
    pub mass: f64,
    /// Semi-major axis.
    pub axis: f64,
    /// Eccentricity vector.
    pub e: Vec3,
    /// Vector of the angular momentum, of length √(1 − e²).
    pub j: Vec3,
}

/// Second moments of the relative position times the reduced mass, and their change with time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AveragedPair {
    /// Moments.
    pub moments: Matrix3<f64>,
    /// Their derivative by the time.
    pub change: Matrix3<f64>,
}

impl AveragedPair {
    /// Returns the averaged pair after a time.
    pub fn after(&self, time: f64) -> Self {
        Self { moments: self.moments + self.change * time, change: self.change }
    }

    /// Returns the potential energy of a particle at `r` from the centre of mass, per unit of its mass, less that of a point.
    pub fn potential(&self, r: Vec3) -> f64 {
        let r2 = r.norm_squared();
        0.5 * (self.moments.trace() - 3.0 * r.dot(&(self.moments * r)) / r2) / (r2 * r2.sqrt())
    }

    /// Returns the acceleration of a particle at `r` from the centre of mass, less that by a point.
    pub fn pull(&self, r: Vec3) -> Vec3 {
        let r2 = r.norm_squared();
        let along = self.moments * r;
        let radial = 1.5 * self.moments.trace() - 7.5 * (along.dot(&r) / r2);
        (along * 3.0 + r * radial) * (1.0 / (r2 * r2 * r2.sqrt()))
    }
}

impl Orbit {
    /// Returns the orbit of a pair; [`None`] if it is not bound, or so near to a radial one that its plane has few digits.
    pub fn of(motion: &Motion) -> Option<Self> {
        let ((pos, vel), mass, (_, beta)) = (motion.pair(), motion.total_mass(), motion.pair_constants()?);
        let axis = mass / beta;
        let h = pos.cross(&vel);
        let (e, j) = (vel.cross(&h) / mass - pos / pos.norm(), h / (mass * axis).sqrt());
        (beta > 0.0 && j.norm_squared() > criteria::MIN_SQUARED_MINOR_AXIS).then(|| Self { mass, axis, e, j }.scaled())
    }

    /// Returns the orbit with e² + j² = 1.
    pub fn scaled(mut self) -> Self {
        let by = 1.0 / (self.e.norm_squared() + self.j.norm_squared()).sqrt();
        (self.e, self.j) = (self.e * by, self.j * by);
        self
    }

    /// Returns the second moments of the relative position times a reduced mass.
    pub fn moments(&self, reduced: f64) -> Matrix3<f64> {
        let (e, j) = (self.e, self.j);
        let moments = (Matrix3::identity() * j.norm_squared() - j * j.transpose()) * 0.5 + e * e.transpose() * 2.5;
        moments * (reduced * self.axis * self.axis)
    }

    /// Returns the averaged pair for a reduced mass in a field.
    pub fn averaged_pair(&self, reduced: f64, tide: &Matrix3<f64>) -> AveragedPair {
        let (e, j, scale) = (self.e, self.j, reduced * self.axis * self.axis);
        let (de, dj) = self.rates(tide);
        let outer = |a: Vec3, b: Vec3| a * b.transpose();
        let (ej, one) = (outer(dj, j), Matrix3::<f64>::identity());
        let ee = outer(de, e);
        let change = one * j.dot(&dj) - (ej + ej.transpose()) * 0.5 + (ee + ee.transpose()) * 2.5;
        AveragedPair { moments: self.moments(reduced), change: change * scale }
    }

    /// Returns de/dt and dj/dt in a field.
    pub fn rates(&self, tide: &Matrix3<f64>) -> (Vec3, Vec3) {
        let (e, j) = (self.e, self.j);
        let (te, tj, c) = (tide * e, tide * j, self.pace());
        ((j.cross(&te) * 5.0 - e.cross(&tj)) * c, (e.cross(&te) * 5.0 - j.cross(&tj)) * c)
    }

    /// Returns the orbit changed at these rates of e and j for a time.
    pub fn moved(&self, (e, j): (Vec3, Vec3), time: f64) -> Self {
        Self { e: self.e + e * time, j: self.j + j * time, ..*self }
    }

    fn pace(&self) -> f64 {
        0.5 * self.axis * (self.axis / self.mass).sqrt()
    }

    /// Returns the orbit after a time in a field that depends on the time.
    pub fn after(&self, time: f64, tide: impl Fn(f64) -> Matrix3<f64>) -> Self {
        let mut begin = tide(0.0);
        let angle = 5.0 * self.pace() * begin.norm() * time;
        let parts = (angle / criteria::MAX_TURN).ceil().max(1.0);
        let (mut orbit, h) = (*self, time / parts);
        let mut part = 0.0;
        while part < parts {
            let (middle, end) = (tide((part + 0.5) * h), tide((part + 1.0) * h));
            let k1 = orbit.rates(&begin);
            let k2 = orbit.moved(k1, 0.5 * h).rates(&middle);
            let k3 = orbit.moved(k2, 0.5 * h).rates(&middle);
            let k4 = orbit.moved(k3, h).rates(&end);
            let sum = |a: Vec3, b: Vec3, c: Vec3, d: Vec3| (a + (b + c) * 2.0 + d) / 6.0;
            orbit = orbit.moved((sum(k1.0, k2.0, k3.0, k4.0), sum(k1.1, k2.1, k3.1, k4.1)), h).scaled();
            (begin, part) = (end, part + 1.0);
        }
        orbit
    }

    /// Returns the directions of the major and the minor axis.
    fn axes(&self, pos: Vec3) -> (Vec3, Vec3) {
        let normal = self.j.normalize();
        // A circle has no major axis: any direction in the plane serves.
        let major = if self.e.norm_squared() > 0.0 { self.e } else { pos };
        let major = (major - normal * normal.dot(&major)).normalize();
        (major, normal.cross(&major))
    }

    /// Moves the pair, which has this orbit, to the same place of another orbit of the same axis.
    pub fn turn(&self, to: &Self, motion: &mut Motion) {
        let (pos, _) = motion.pair();
        let (major, minor) = self.axes(pos);
        let (x, y) = (pos.dot(&major) / self.axis + self.e.norm(), pos.dot(&minor) / (self.axis * self.j.norm()));
        let length = (x * x + y * y).sqrt();
        let (cos, sin) = if length > 0.0 { (x / length, y / length) } else { (1.0, 0.0) };
        let (major, minor) = to.axes(pos);
        let (e, b) = (to.e.norm(), to.j.norm());
        let speed = (self.mass / self.axis).sqrt() / (1.0 - e * cos);
        let pos = (major * (cos - e) + minor * (b * sin)) * self.axis;
        let vel = (minor * (b * cos) - major * sin) * speed;
        motion.set_pair_state(pos, vel, self.mass / self.axis);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> Motion {
        let at = |x: [f64; 3]| Vec3::from(x);
        Motion::new(&[0.75, 0.25], &[at([0.0; 3]), at([0.6, -0.1, 0.2])], &[at([0.0; 3]), at([-0.2, 1.1, 0.4])])
    }

    #[test]
    fn verify_moments_are_the_mean_over_an_orbit() {
        let motion = pair();
        let orbit = Orbit::of(&motion).unwrap();
        let period = std::f64::consts::TAU * orbit.axis * (orbit.axis / orbit.mass).sqrt();
        let (mut mean, parts) = (Matrix3::zeros(), 2000);
        let mut later = motion.clone();
        for _ in 0..parts {
            later.advance(period / f64::from(parts), None).unwrap();
            let x = later.pair().0;
            mean += x * x.transpose() / f64::from(parts);
        }
        let averaged = orbit.averaged_pair(0.1875, &Matrix3::zeros());
        assert!((mean * 0.1875 - averaged.moments).norm() < 1e-9, "{mean} {}", averaged.moments);
    }

    #[test]
    fn verify_turning_to_the_same_orbit_changes_nothing() {
        let motion = pair();
        let (orbit, mut turned) = (Orbit::of(&motion).unwrap(), motion.clone());
        orbit.turn(&orbit, &mut turned);
        let ((x, v), (y, w)) = (motion.pair(), turned.pair());
        assert!((x - y).norm() < 1e-14 && (v - w).norm() < 1e-14);
        assert!((motion.binding() - turned.binding()).abs() < 1e-15);
    }

    #[test]
    fn verify_the_change_of_an_orbit_in_a_tide() {
        let tide = Matrix3::new(1.0, 2.0, 0.5, 2.0, -2.0, 1.0, 0.5, 1.0, 1.0) * 1e-3;
        let motion = pair();
        let orbit = Orbit::of(&motion).unwrap();
        let later = orbit.after(400.0, |_| tide);
        // Of the tide's energy nothing is lost, and the moments change as they say.
        let energy = |orbit: &Orbit| (tide * orbit.averaged_pair(1.0, &tide).moments).trace();
        assert!((energy(&later) - energy(&orbit)).abs() < 1e-6 * energy(&orbit).abs());
        let h = 1e-3;
        let (averaged, next) = (orbit.averaged_pair(1.0, &tide), orbit.after(h, |_| tide).averaged_pair(1.0, &tide));
        assert!(((next.moments - averaged.moments) / h - averaged.change).norm() < 1e-4 * averaged.change.norm());
        // As the motion itself in the same field does in the mean over some orbits.
        struct Field(Matrix3<f64>);
        impl crate::few_body::Tide for Field {
            fn acc(&self, _: f64, offsets: &[Vec3], acc: &mut [Vec3]) {
                acc.iter_mut().zip(offsets).for_each(|(acc, x)| *acc = self.0 * x);
            }
        }
        let mut moved = motion.clone();
        moved.advance(400.0, Some(&Field(tide))).unwrap();
        let moved = Orbit::of(&moved).unwrap();
        let off = [(moved.e - later.e).norm(), (moved.j - later.j).norm()];
        assert!(off[0].max(off[1]) < 0.01, "{off:?}");
        let turned = (later.j - orbit.j).norm();
        assert!(turned > 0.15, "{turned}");
    }
}
