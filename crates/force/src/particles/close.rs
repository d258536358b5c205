//! Stars near each other, with the digits that positions far from the origin lack.

use crate::vector::Vec3;

/// Stars near each other with their positions and velocities relative to a common point near them. Far from the origin these
/// have more digits than differences of positions and velocities, which they agree with to rounding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CloseStars {
    /// Rows of the stars, each once.
    pub rows: Vec<usize>,
    /// Their positions relative to that point.
    pub pos: Vec<Vec3>,
    /// Their velocities relative to it.
    pub vel: Vec<Vec3>,
}

impl CloseStars {
    /// Multiplies positions and velocities by one factor each.
    pub fn rescale(&mut self, length: f64, velocity: f64) {
        self.pos.iter_mut().for_each(|x| *x *= length);
        self.vel.iter_mut().for_each(|v| *v *= velocity);
    }

    /// Returns what differences of positions and velocities of the particles lack, from the first star to each: what is to be
    /// added to the position and the velocity of each star.
    #[must_use]
    pub fn rests(&self, pos: &[Vec3], vel: &[Vec3]) -> Vec<[Vec3; 2]> {
        let Some(&first) = self.rows.first() else { return Vec::new() };
        let of = |column: &[Vec3], own: &[Vec3], k: usize| (own[k] - own[0]) - (column[self.rows[k]] - column[first]);
        (0..self.rows.len()).map(|k| [of(pos, &self.pos, k), of(vel, &self.vel, k)]).collect()
    }

    /// Returns true if positions and velocities agree with those of the particles within the rounding of the latter, each of
    /// which was rounded up to twice.
    #[must_use]
    pub fn agree(&self, pos: &[Vec3], vel: &[Vec3]) -> bool {
        const ROUNDINGS: f64 = 4.0;
        // Differences that change nothing, as of stars at the origin.
        const NONE: f64 = 1e-12;
        let largest = |column: &[Vec3]| self.rows.iter().map(|&row| column[row].amax()).fold(0.0, f64::max);
        let far = [largest(pos), largest(vel)].map(|max| ROUNDINGS * f64::EPSILON * max);
        let own = [&self.pos, &self.vel];
        let is_small = |(k, rest): (usize, [Vec3; 2])| {
            (0..2).all(|of| rest[of].amax() <= far[of] + NONE * (own[of][k] - own[of][0]).amax())
        };
        self.rests(pos, vel).into_iter().enumerate().all(is_small)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::particles::Particles;

    /// Two stars 1e-6 apart at 1e4, the second of which is where the first is but for that.
    fn close() -> (Particles, CloseStars) {
        let (at, apart) = ([Vec3::repeat(1e4), Vec3::repeat(200.0)], [Vec3::x() * 1e-6, Vec3::y() * 30.0]);
        let p = Particles::new(
            vec![1.0; 3],
            vec![Vec3::zeros(), at[0] + apart[0], at[0]],
            vec![at[1], at[1] + apart[1], at[1]],
        );
        let close = CloseStars {
            rows: vec![2, 1],
            pos: vec![-0.5 * apart[0], 0.5 * apart[0]],
            vel: vec![-0.5 * apart[1], 0.5 * apart[1]],
        };
        (p, close)
    }

    #[test]
    fn relative_states_agree_with_positions_to_rounding() {
        let (p, close) = close();
        assert!(close.agree(&p.pos, &p.vel));
        let [first, second] = close.rests(&p.pos, &p.vel)[..] else { panic!("two stars") };
        assert_eq!(first, [Vec3::zeros(); 2]);
        let apart = (p.pos[1] - p.pos[2]) + second[0];
        assert!((p.pos[1] - p.pos[2]).x != 1e-6 && (apart.x / 1e-6 - 1.0).abs() < 1e-15, "{apart}");
        for (of, change) in [(0, 1e-11), (1, 1e-10)] {
            let mut other = close.clone();
            [&mut other.pos, &mut other.vel][of][1].z += change;
            assert!(!other.agree(&p.pos, &p.vel), "{of}");
            other.rows.truncate(1);
            assert!(other.agree(&p.pos, &p.vel), "one star alone");
        }
        // All moved, and in other units.
        let mut far = Particles { close: vec![close], ..p };
        far.pos.iter_mut().for_each(|x| *x *= 1.0 / 3.0);
        far.vel.iter_mut().for_each(|v| *v *= 7.0);
        far.close[0].rescale(1.0 / 3.0, 7.0);
        let moved: Vec<Vec3> = far.pos.iter().map(|x| x + Vec3::repeat(1e5)).collect();
        assert!(far.close[0].agree(&far.pos, &far.vel) && far.close[0].agree(&moved, &far.vel));
    }

    #[test]
    fn relative_states_of_changed_stars_are_forgotten() {
        let (mut p, close) = close();
        p.close = vec![close];
        p.forget_close(&[0]);
        assert_eq!(p.close.len(), 1);
        p.forget_close(&[0, 1]);
        assert!(p.close.is_empty());
    }
}
