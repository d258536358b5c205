//! Stars that have left a cluster for good, and the energy error of their own motion.
//!
//! A neutron star with a kick has thousands of times the energy of the cluster that it leaves, and passes the centre of the
//! galaxy. The error of its orbit is in the energy of all stars, but says nothing of the cluster. It is measured star by star: over
//! an interval that is the change of m (v²/2 + φ), φ by the external field, less the work on the star of a moving origin and of
//! all other stars. The work is summed by Hermite's quadrature, which is accurate for a star whose distance hardly changes
//! in a step. One that passes another so near that its work may be off by an amount that counts is followed no longer.

use tisane_force::compensated_sum::{sum, sum3};
use tisane_force::gravity::pair;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::{Clock, Time};

/// Distance of another star, in units of their relative way in an interval, within which the quadrature may not resolve its work.
const NEAR: f64 = 10.0;
/// Potential energy of such stars at the least distances, in units of the kinetic energy of a star, above which it is followed no longer.
/// That kinetic energy exceeds the energy of the cluster. Without this limit a slow star of a tail had an error of 4 % of that energy.
const MAX_PASSING: f64 = 1e-6;

/// Star that is followed, in internal units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Runaway {
    /// Identity.
    pub id: u64,
    /// Mass. A star whose mass changes is followed no longer.
    pub mass: f64,
    /// Energy m (v²/2 + φ) at the beginning.
    pub energy: f64,
    /// Power of the origin and of the other stars on it at the last moment, and its derivative by the time.
    pub power: [f64; 2],
    /// Work of that power since the beginning.
    pub work: f64,
}

/// Stars that are followed, and the energy error of those that were.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Runaways {
    /// The moment up to which the work is known.
    pub until: Time,
    /// Energy error of the motion of all that were followed, up to the beginning.
    pub error: f64,
    /// Those that are followed now.
    pub stars: Vec<Runaway>,
}

impl Runaways {
    /// Returns the energy error of the motion of all that are or were followed; `external` is the potential of the external field at
    /// each of the particles, which stand at the moment up to which the work is known.
    #[must_use]
    pub fn energy_error(&self, p: &Particles, external: &[f64]) -> f64 {
        let of = |(star, row): (&Runaway, Option<usize>)| {
            let row = row.filter(|&row| p.mass[row] == star.mass)?;
            Some(energy(p, external, row) - star.energy - star.work)
        };
        self.error + sum(self.rows(p).filter_map(of))
    }

    /// Follows the stars of `ids` from a moment on at which the particles stand.
    pub fn begin(&mut self, ids: &[u64], now: Time, p: &Particles, external: &[f64]) {
        self.error = self.energy_error(p, external);
        self.until = now;
        self.stars = ids.iter().map(|&id| Runaway { id, ..Runaway::default() }).collect();
        let rows: Vec<Option<usize>> = self.rows(p).map(|(_, row)| row).collect();
        for (star, row) in self.stars.iter_mut().zip(rows) {
            let Some(row) = row else { continue };
            (star.mass, star.energy) = (p.mass[row], energy(p, external, row));
        }
    }

    /// Takes down the power at the beginning, or adds up the work until a moment at which the particles stand: `power` returns that of
    /// the origin on a particle, before the moment and after it. Stars are followed no longer if they are gone, have another mass or have
    /// passed others.
    ///
    /// # Errors
    /// Those of `power`.
    pub fn advance<E>(
        &mut self,
        (now, clock): (Time, &Clock),
        (p, eps2): (&Particles, f64),
        power: impl Fn(&Particles) -> Result<[[f64; 2]; 2], E>,
    ) -> Result<(), E> {
        let h = clock.between(self.until, now);
        let rows: Vec<Option<usize>> = self.rows(p).map(|(_, row)| row).collect();
        let mut kept = Vec::with_capacity(self.stars.len());
        for (star, row) in self.stars.iter().zip(rows) {
            let is_alone = |&row: &usize| p.mass[row] == star.mass && !has_passed(p, row, h, eps2);
            let Some(row) = row.filter(is_alone) else { continue };
            let alone = Particles::new(vec![p.mass[row]], vec![p.pos[row]], vec![p.vel[row]]);
            let of_pairs = power_of_pairs(p, row, eps2);
            let [before, after] = power(&alone)?.map(|of| [of[0] + of_pairs[0], of[1] + of_pairs[1]]);
            let first = star.power;
            let work = h / 2.0 * (first[0] + before[0]) + h * h / 12.0 * (first[1] - before[1]);
            kept.push(Runaway { power: after, work: star.work + if h > 0.0 { work } else { 0.0 }, ..*star });
        }
        (self.stars, self.until) = (kept, now);
        Ok(())
    }

    /// Returns each star with its row among particles.
    fn rows(&self, p: &Particles) -> impl Iterator<Item = (&Runaway, Option<usize>)> {
        self.stars.iter().map(|star| (star, p.id.iter().position(|id| *id == star.id)))
    }
}

/// Returns the energy m (v²/2 + φ) of a particle.
fn energy(p: &Particles, external: &[f64], row: usize) -> f64 {
    p.mass[row] * (0.5 * p.vel[row].norm_squared() + external.get(row).copied().unwrap_or(0.0))
}

/// Returns the power of all other particles on one, and its derivative by the time.
fn power_of_pairs(p: &Particles, row: usize, eps2: f64) -> [f64; 2] {
    let (pos, vel) = (p.pos[row], p.vel[row]);
    let of = |j: usize| {
        let force = pair(p.mass[j], (p.pos[j] - pos).into(), (p.vel[j] - vel).into(), eps2);
        (force.m_s3 * (p.pos[j] - pos), force.m_s3 * Vec3::from(force.d))
    };
    let others = || (0..p.len()).filter(|&j| j != row).map(of);
    let (acc, jerk) = (sum3(others().map(|(acc, _)| acc)), sum3(others().map(|(_, jerk)| jerk)));
    let all = p.acc.get(row).copied().unwrap_or(acc);
    [p.mass[row] * vel.dot(&acc), p.mass[row] * (all.dot(&acc) + vel.dot(&jerk))]
}

/// Returns true if a particle has passed others in the time `h` up to now, so that their work on it is not well known.
fn has_passed(p: &Particles, row: usize, h: f64, eps2: f64) -> bool {
    let energy = |j: usize| {
        let (r, v) = (p.pos[j] - p.pos[row], p.vel[j] - p.vel[row]);
        let v2 = v.norm_squared();
        // The least distance is where it was at a time before, by the present velocities.
        let ago = if v2 > 0.0 { (r.dot(&v) / v2).clamp(0.0, h) } else { 0.0 };
        let is_near = r.norm_squared() < NEAR * NEAR * v2 * h * h;
        if is_near { p.mass[j] / ((r - v * ago).norm_squared() + eps2).sqrt() } else { 0.0 }
    };
    let passing = sum((0..p.len()).filter(|&j| j != row).map(energy));
    passing > MAX_PASSING * 0.5 * p.vel[row].norm_squared()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.5 };

    /// A mass of 1 at rest, and a star of 0.25 on the parabola without angular momentum away from it: x = (9/2)^(1/3) t^(2/3).
    fn at(k: u64) -> Particles {
        let t = 100.0 + CLOCK.time(Time::from_dt_max(k));
        let (x, v) = ((4.5 * t * t).cbrt(), (4.0 / 3.0 / t).cbrt());
        let mut p =
            Particles::new(vec![1.0, 0.25], vec![Vec3::zeros(), x * Vec3::x()], vec![Vec3::zeros(), v * Vec3::x()]);
        p.acc = vec![Vec3::zeros(), -1.0 / (x * x) * Vec3::x()];
        p
    }

    fn none(_: &Particles) -> Result<[[f64; 2]; 2], ()> {
        Ok([[0.0; 2]; 2])
    }

    fn followed(until: u64) -> Runaways {
        let mut found = Runaways::default();
        found.begin(&[1], Time::default(), &at(0), &[]);
        for k in 0..=until {
            found.advance((Time::from_dt_max(k), &CLOCK), (&at(k), 0.0), none).unwrap();
        }
        found
    }

    #[test]
    fn the_work_of_the_others_is_no_error() {
        let end = at(40);
        let lost = 0.125 * (at(0).vel[1].norm_squared() - end.vel[1].norm_squared());
        let found = followed(40);
        assert!(lost > 1e-4 && found.energy_error(&end, &[]).abs() < 1e-9 * lost, "{lost} {found:?}");
    }

    #[test]
    fn an_error_of_the_motion_is_found_and_kept() {
        let mut found = followed(40);
        let mut end = at(40);
        end.vel[1].x *= 1.0 + 1e-6;
        let by_hand = 0.25 * at(40).vel[1].norm_squared() * 1e-6;
        let error = found.energy_error(&end, &[]);
        assert!((error / by_hand - 1.0).abs() < 1e-3, "{error} {by_hand}");
        // The next interval begins with it, also without stars.
        found.begin(&[], Time::from_dt_max(40), &end, &[]);
        assert_eq!((found.error, found.energy_error(&end, &[])), (error, error));
    }

    #[test]
    fn work_of_the_origin_counts_with_what_is_before_a_jump() {
        let star = |v: f64| Particles::new(vec![2.0], vec![Vec3::zeros()], vec![v * Vec3::x()]);
        let mut found = Runaways::default();
        found.begin(&[0], Time::default(), &star(0.0), &[3.0]);
        for (k, power) in [[[0.0; 2], [1.0, 0.0]], [[1.0, 0.0], [8.0, 0.0]]].into_iter().enumerate() {
            found.advance((Time::from_dt_max(k as u64), &CLOCK), (&star(0.0), 0.0), |_| Ok::<_, ()>(power)).unwrap();
        }
        assert_eq!((found.stars[0].work, found.stars[0].power), (0.5, [8.0, 0.0]));
        // 2 (1/2 + 3.5) - 2 · 3 - 0.5
        assert_eq!(found.energy_error(&star(1.0), &[3.5]), 1.5);
    }

    /// A fast star is followed where it passes another far away, and a slow one at the same distance is not.
    #[test]
    fn a_star_that_passes_another_is_followed_no_longer() {
        for (speed, distance, mass, stays) in
            [(3.0, 1.0, 1e-6, true), (3.0, 1.0, 1e-5, false), (0.3, 1.0, 1e-6, false), (0.3, 4.0, 1.0, true)]
        {
            let state = |x: f64| {
                let pos = vec![Vec3::zeros(), Vec3::new(x, distance, 0.0)];
                Particles::new(vec![mass, 0.25], pos, vec![Vec3::zeros(), speed * Vec3::x()])
            };
            let mut found = Runaways::default();
            found.begin(&[1], Time::default(), &state(-0.25 * speed), &[]);
            for (k, x) in [(0, -0.25 * speed), (1, 0.25 * speed)] {
                found.advance((Time::from_dt_max(k), &CLOCK), (&state(x), 0.0), none).unwrap();
            }
            assert_eq!(found.stars.len() == 1, stays, "{speed} {distance} {mass}");
        }
    }

    #[test]
    fn a_star_that_is_gone_or_has_lost_mass_is_followed_no_longer() {
        for end in [Particles::default(), Particles::new(vec![1.0, 0.2], at(3).pos, at(3).vel)] {
            let mut found = followed(2);
            assert_eq!(found.energy_error(&end, &[]), 0.0);
            found.advance((Time::from_dt_max(3), &CLOCK), (&end, 0.0), none).unwrap();
            assert_eq!(found.stars, []);
        }
    }
}
