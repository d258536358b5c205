//! Fields that move on a path, and the acceleration of a frame by them.

use super::field::ExternalField;
use super::places::{FieldForces, LANES, Lanes, Places};
use crate::error::Result;
use crate::particles::Vec3;
use std::sync::Arc;

/// Place on a path with its derivatives by the time, in internal units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct PathPoint {
    pub pos: Vec3,
    pub vel: Vec3,
    pub acc: Vec3,
}

/// Motion of the centre of a field.
pub(super) trait Path: Send + Sync {
    /// Returns the point at the time `t`.
    fn at(&self, t: f64) -> PathPoint;

    /// Checks that the path is known at a time.
    ///
    /// # Errors
    /// [`Error::Input`](crate::Error::Input) or [`Error::Integration`](crate::Error::Integration) where it is not.
    fn covers(&self, t: f64) -> Result<()>;
}

/// Straight line with a constant velocity.
#[derive(Clone, Copy, Debug)]
pub(super) struct Straight {
    /// Time at which the centre is at `pos`.
    pub epoch: f64,
    pub pos: Vec3,
    pub vel: Vec3,
}

impl Path for Straight {
    fn at(&self, t: f64) -> PathPoint {
        PathPoint { pos: self.pos + (t - self.epoch) * self.vel, vel: self.vel, acc: Vec3::zeros() }
    }

    fn covers(&self, _: f64) -> Result<()> {
        Ok(())
    }
}

/// Field that moves: with the place d = x − P(t) relative to its centre and the velocity w = v − Ṗ(t),
/// φ(x, t) = φ₀(d, t).
#[derive(Clone)]
pub(super) struct Moving {
    /// The field with its centre at the origin.
    pub field: Arc<dyn ExternalField>,
    pub path: Arc<dyn Path>,
}

impl ExternalField for Moving {
    fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
        self.field.acc(pos - self.path.at(t).pos, t)
    }

    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        let centre = self.path.at(t);
        self.field.jerk(pos - centre.pos, vel - centre.vel, t)
    }

    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        self.field.pot(pos - self.path.at(t).pos, t)
    }

    fn tide(&self, pos: Vec3, t: f64) -> [f64; 6] {
        self.field.tide(pos - self.path.at(t).pos, t)
    }

    /// ∂φ/∂t = ∂φ₀/∂t + Ṗ · a₀, of which the second term changes along a path by P̈ · a₀ + Ṗ · j₀.
    fn rate(&self, pos: Vec3, vel: Vec3, t: f64) -> [f64; 2] {
        let centre = self.path.at(t);
        let (d, w) = (pos - centre.pos, vel - centre.vel);
        let (acc, jerk, [rate, change]) = (self.field.acc(d, t), self.field.jerk(d, w, t), self.field.rate(d, w, t));
        [rate + centre.vel.dot(&acc), change + centre.acc.dot(&acc) + centre.vel.dot(&jerk)]
    }

    fn accelerations(&self, at: &Places, t: f64) -> [Lanes; 3] {
        let centre = self.path.at(t);
        self.field.accelerations(&at.plus(-centre.pos, -centre.vel), t)
    }

    fn tides(&self, at: &Places, t: f64) -> [Lanes; 6] {
        let centre = self.path.at(t);
        self.field.tides(&at.plus(-centre.pos, -centre.vel), t)
    }

    fn forces(&self, at: &Places, t: f64) -> FieldForces {
        let centre = self.path.at(t);
        self.field.forces(&at.plus(-centre.pos, -centre.vel), t)
    }

    fn moments(&self) -> Vec<f64> {
        self.field.moments()
    }

    fn covers(&self, t: f64) -> Result<()> {
        self.path.covers(t)?;
        self.field.covers(t)
    }
}

/// Uniform acceleration −g(t) of a frame whose origin falls with the acceleration g(t) by a field there: φ = g(t) · x.
pub(super) struct Reflex(pub Moving);

/// Step of the difference in time of the second derivative of g, in internal units.
const STEP: f64 = 1.0 / 1024.0;

impl Reflex {
    fn g(&self, t: f64) -> Vec3 {
        self.0.acc(Vec3::zeros(), t)
    }

    fn change(&self, t: f64) -> Vec3 {
        self.0.jerk(Vec3::zeros(), Vec3::zeros(), t)
    }
}

impl ExternalField for Reflex {
    fn acc(&self, _: Vec3, t: f64) -> Vec3 {
        -self.g(t)
    }

    fn jerk(&self, _: Vec3, _: Vec3, t: f64) -> Vec3 {
        -self.change(t)
    }

    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        self.g(t).dot(&pos)
    }

    fn tide(&self, _: Vec3, _: f64) -> [f64; 6] {
        [0.0; 6]
    }

    /// ġ · x, which changes along a path by g̈ · x + ġ · v; g̈ by a difference of fourth order.
    fn rate(&self, pos: Vec3, vel: Vec3, t: f64) -> [f64; 2] {
        let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|steps| self.change(t + steps * STEP));
        let (change, second) = (self.change(t), (a - 8.0 * b + 8.0 * c - d) / (12.0 * STEP));
        [change.dot(&pos), second.dot(&pos) + change.dot(&vel)]
    }

    fn accelerations(&self, _: &Places, t: f64) -> [Lanes; 3] {
        uniform(-self.g(t))
    }

    fn forces(&self, at: &Places, t: f64) -> FieldForces {
        let g = self.g(t);
        FieldForces { acc: uniform(-g), jerk: uniform(-self.change(t)), pot: at.number(|lane| g.dot(&at.place(lane))) }
    }

    fn moments(&self) -> Vec<f64> {
        self.0.moments()
    }

    fn covers(&self, t: f64) -> Result<()> {
        self.0.covers(t)
    }
}

/// Returns a vector at all places.
fn uniform(vector: Vec3) -> [Lanes; 3] {
    std::array::from_fn(|axis| [vector[axis]; LANES])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::Plummer;
    use crate::force::external::field::tide_times;
    use crate::force::external::places::vector;

    /// A centre on a helix.
    struct Helix;

    impl Path for Helix {
        fn at(&self, t: f64) -> PathPoint {
            let (sine, cosine) = (2.0 * t).sin_cos();
            PathPoint {
                pos: Vec3::new(cosine, sine, 0.5 * t),
                vel: Vec3::new(-2.0 * sine, 2.0 * cosine, 0.5),
                acc: Vec3::new(-4.0 * cosine, -4.0 * sine, 0.0),
            }
        }

        fn covers(&self, _: f64) -> Result<()> {
            Ok(())
        }
    }

    /// Difference quotient of fourth order.
    fn slope(f: impl Fn(f64) -> f64) -> f64 {
        const H: f64 = 1e-3;
        let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(|k| f(k * H));
        (a - 8.0 * b + 8.0 * c - d) / (12.0 * H)
    }

    /// Asserts that all that a field tells are the derivatives of its potential.
    fn assert_derivatives(field: &dyn ExternalField) {
        let (x, v, t) = (Vec3::new(0.5, -1.0, 0.25), Vec3::new(1.0, 0.5, -0.75), 0.7);
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} is not {b}");
        for k in 0..3 {
            let unit = Vec3::from(std::array::from_fn(|j| f64::from(u8::from(j == k))));
            close(field.acc(x, t)[k], -slope(|h| field.pot(x + h * unit, t)));
            close(field.jerk(x, v, t)[k], slope(|h| field.acc(x + h * v, t + h)[k]));
            close(tide_times(field.tide(x, t), v)[k], slope(|h| field.acc(x + h * v, t)[k]));
        }
        let (places, speeds) = ([x, v, 3.0 * x], [v, x, 2.0 * v]);
        let at = Places::new(&places, &speeds);
        for (lane, (x, v)) in places.into_iter().zip(speeds).enumerate() {
            assert_eq!(field.forces(&at, t).of(lane), (field.acc(x, t), field.jerk(x, v, t), field.pot(x, t)));
            assert_eq!(vector(&field.accelerations(&at, t), lane), field.acc(x, t));
            assert_eq!(field.rates(&at, t).map(|rate| rate[lane]), field.rate(x, v, t));
            assert_eq!(field.tides(&at, t).map(|it| it[lane]), field.tide(x, t));
        }
        let [rate, along] = field.rate(x, v, t);
        close(rate, slope(|h| field.pot(x, t + h)));
        close(along, slope(|h| field.rate(x + h * v, v, t + h)[0]));
    }

    #[test]
    fn a_moving_field_and_its_reflex_have_the_derivatives_of_their_potentials() {
        let sphere = Plummer { mass: 1.5, position: Vec3::zeros(), scale_radius: 1.0 };
        let moving = Moving { field: Arc::new(sphere), path: Arc::new(Helix) };
        assert_eq!(moving.pot(Helix.at(0.3).pos, 0.3), -1.5);
        assert_derivatives(&moving);
        let reflex = Reflex(moving.clone());
        assert_eq!(reflex.acc(Vec3::x(), 0.4), -moving.acc(Vec3::zeros(), 0.4));
        assert_derivatives(&reflex);
    }

    #[test]
    fn a_straight_path_is_one() {
        let path = Straight { epoch: 3.0, pos: Vec3::x(), vel: Vec3::new(0.0, 2.0, 0.0) };
        let PathPoint { pos, vel, acc } = path.at(3.5);
        assert_eq!((pos, vel, acc), (Vec3::new(1.0, 1.0, 0.0), path.vel, Vec3::zeros()));
        assert!(path.covers(-1e9).is_ok());
    }
}
