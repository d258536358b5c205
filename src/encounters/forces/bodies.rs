//! Particles of the integration: stars that are alone, and centres of mass of subsystems.

use crate::encounters::settings::stars::Collisions;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tisane_force::gravity::predict_by;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::{Level, Time};

/// Mark of a star without a row, and of one whose row is empty.
const NONE: u32 = u32::MAX;
const EMPTY: u32 = 1 << 31;

/// Place of empty rows on the first axis: far from all bodies, and within the range of all arithmetic.
const FAR: f64 = 1e9;

/// Stars that are alone and centres of mass of subsystems, each in a row.
///
/// A row belongs to a star, the lowest one of its body. Where a body ends, its row is empty until a body of the same star begins; a star
/// that has no row gets one at the end. So rows keep their numbers until they are all put in order, which is that of their stars or, where
/// a scheme works by lists of neighbours, that of their places.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    /// The bodies as particles; empty rows are particles without a mass that are far away and at rest.
    pub particles: Particles,
    /// Derivatives of their accelerations from the second on, as far as the engine predicts by them.
    pub derivatives: Vec<Vec<Vec3>>,
    /// Star of each row.
    pub stars: Vec<u32>,
    /// Row of each star that has one, marked where it is empty.
    rows: Vec<u32>,
    /// Empty rows, ascending.
    empty: Vec<u32>,
    /// Radii of the stars.
    pub sizes: Sizes,
    /// What positions and velocities of the bodies lack by rounding, where that is known: at the start. Empty later.
    pub rests: Vec<[Vec3; 2]>,
}

/// State of a body that begins.
#[derive(Clone, Copy, Debug)]
pub struct FirstState {
    /// Mass.
    pub mass: f64,
    /// Position.
    pub pos: Vec3,
    /// Velocity.
    pub vel: Vec3,
    /// What position and velocity lack by rounding.
    pub rest: [Vec3; 2],
}

impl FirstState {
    /// Returns a state of which no more is known than its rounded numbers.
    pub fn rounded(mass: f64, pos: Vec3, vel: Vec3) -> Self {
        Self { mass, pos, vel, rest: [Vec3::zeros(); 2] }
    }
}

impl Bodies {
    /// Creates the bodies with these lowest stars of `n`.
    pub fn new(particles: Particles, stars: Vec<u32>, n: usize) -> Self {
        let mut rows = vec![NONE; n];
        stars.iter().zip(0..).for_each(|(&star, row)| rows[star as usize] = row);
        let (empty, sizes, rests) = (Vec::new(), Sizes::default(), Vec::new());
        Self { particles, derivatives: Vec::new(), stars, rows, empty, sizes, rests }
    }

    /// Takes over the derivatives of all bodies, of which an engine predicts by the first `known`.
    pub fn set_derivatives(&mut self, all: &Particles, known: usize) {
        self.derivatives = all.derivatives().iter().take(known).cloned().collect();
    }

    /// Keeps the derivatives of some rows alone, in this order.
    pub fn select_derivatives(&mut self, rows: &[u32]) {
        for column in &mut self.derivatives {
            *column = rows.iter().map(|&row| column[row as usize]).collect();
        }
    }

    /// Takes over the derivatives of some bodies, of which those at the end may be new.
    pub fn store_derivatives(&mut self, all: &Particles, changed: &[u32]) {
        for (column, of) in self.derivatives.iter_mut().zip(all.derivatives()) {
            column.resize(of.len(), Vec3::zeros());
            changed.iter().map(|&i| i as usize).for_each(|i| column[i] = of[i]);
        }
    }

    /// Returns the position and velocity of row `i` at a time `dt` after its own, as the engine predicts a source.
    #[inline]
    pub fn source(&self, i: usize, dt: f64) -> (Vec3, Vec3) {
        let p = &self.particles;
        predict_by((p.pos[i], p.vel[i]), (p.acc[i], p.jerk[i]), (&self.derivatives, i), dt)
    }

    /// Returns the acceleration and its derivatives of row `i` at a time `dt` after its own, by all that are known: up to the
    /// fifth; those beyond the jerk only where the engine predicts by them.
    pub fn accelerations(&self, i: usize, dt: f64) -> ([Vec3; 2], Option<[Vec3; 4]>) {
        let (acc, jerk) = (self.particles.acc[i], self.particles.jerk[i]);
        if self.derivatives.is_empty() {
            return ([acc + jerk * dt, jerk], None);
        }
        let more = |k: usize| self.derivatives.get(k).map_or_else(Vec3::zeros, |column| column[i]);
        let mut of = [acc, jerk, more(0), more(1), more(2), more(3)];
        // Each by Horner's scheme, from those above it.
        for k in 0..of.len() {
            let above = (k + 1..of.len()).rev().fold(Vec3::zeros(), |sum, j| (sum + of[j]) * (dt / (j - k) as f64));
            of[k] += above;
        }
        let [acc, jerk, further @ ..] = of;
        ([acc, jerk], Some(further))
    }

    /// Returns the rows with a body, ascending.
    pub fn occupied(&self) -> impl Iterator<Item = usize> {
        (0..self.stars.len()).filter(|&row| self.is_occupied(row))
    }

    /// Returns true if a row has a body.
    pub fn is_occupied(&self, row: usize) -> bool {
        self.of_star(self.stars[row]) == row
    }

    /// Returns the rows without one, ascending.
    pub fn empty(&self) -> &[u32] {
        &self.empty
    }

    /// Returns true if all rows have bodies, in the order of their stars.
    pub fn in_order(&self) -> bool {
        self.empty.is_empty() && self.stars.is_sorted()
    }

    /// Ends the body of a row at `now`. The row stands at the last moment of all, as its level has it.
    pub fn end(&mut self, row: usize, now: Time) {
        self.rows[self.stars[row] as usize] |= EMPTY;
        let place = self.empty.partition_point(|&other| (other as usize) < row);
        self.empty.insert(place, row as u32);
        let all = Level::default().ticks();
        set(
            &mut self.particles,
            row,
            0.0,
            [Vec3::x() * FAR, Vec3::zeros()],
            (Time(now.0 / all * all), Level::default()),
        );
        self.derivatives.iter_mut().for_each(|column| column[row] = Vec3::zeros());
    }

    /// Begins a body of the lowest star `star`, of an identity, at `now`. Returns its row.
    pub fn begin(&mut self, star: u32, id: u64, state: &FirstState, now: Time) -> usize {
        let known = self.rows[star as usize];
        let row = if known == NONE { self.stars.len() } else { (known & !EMPTY) as usize };
        if let Ok(place) = self.empty.binary_search(&(row as u32)) {
            self.empty.remove(place);
        }
        if known == NONE {
            self.stars.push(star);
            push(&mut self.particles);
            self.derivatives.iter_mut().for_each(|column| column.push(Vec3::zeros()));
            if !self.rests.is_empty() {
                self.rests.push([Vec3::zeros(); 2]);
            }
        }
        self.rows[star as usize] = row as u32;
        self.particles.id[row] = id;
        set(&mut self.particles, row, state.mass, [state.pos, state.vel], (now, now.shallowest_level()));
        self.derivatives.iter_mut().for_each(|column| column[row] = Vec3::zeros());
        self.rests.get_mut(row).into_iter().for_each(|rest| *rest = state.rest);
        row
    }

    /// Copies a row into the particles of a scheme, which may have one row less.
    pub fn copy_row(&self, row: usize, to: &mut Particles) {
        if row == to.len() {
            push(to);
        }
        let from = &self.particles;
        (to.id[row], to.mass[row], to.pot[row]) = (from.id[row], from.mass[row], from.pot[row]);
        (to.pos[row], to.vel[row], to.acc[row], to.jerk[row]) =
            (from.pos[row], from.vel[row], from.acc[row], from.jerk[row]);
        (to.time[row], to.step[row]) = (from.time[row], from.step[row]);
    }

    /// Returns the rows of bodies in the order of their stars.
    pub fn ordered_rows(&self) -> Vec<u32> {
        let mut rows: Vec<u32> = self.occupied().map(|row| row as u32).collect();
        rows.sort_unstable_by_key(|&row| self.stars[row as usize]);
        rows
    }

    /// Returns the bodies, of one star each, with what the relative states of stars say of them.
    pub fn with_rests_of(mut self, stars: &Particles) -> Self {
        if !stars.close.is_empty() {
            self.rests = vec![[Vec3::zeros(); 2]; stars.len()];
        }
        for close in &stars.close {
            let rests = close.rests(&stars.pos, &stars.vel);
            close.rows.iter().zip(rests).for_each(|(&row, rest)| self.rests[row] = rest);
        }
        self
    }

    /// Returns the state of body `k` relative to a point, from that of its rounded state. Without rests not even the sign of a zero
    /// changes.
    pub fn with_rest(&self, k: usize, (pos, vel): (Vec3, Vec3)) -> (Vec3, Vec3) {
        self.rests.get(k).map_or((pos, vel), |[x, v]| (pos + x, vel + v))
    }

    /// Returns the state of body `k` relative to body `i`, from that of their rounded states.
    pub fn between(&self, [i, k]: [usize; 2], (pos, vel): (Vec3, Vec3)) -> (Vec3, Vec3) {
        let rests = self.rests.get(i).zip(self.rests.get(k));
        rests.map_or((pos, vel), |(from, to)| (pos + (to[0] - from[0]), vel + (to[1] - from[1])))
    }

    /// Returns the bodies with these radii of the stars.
    pub fn with_sizes(self, sizes: Sizes) -> Self {
        Self { sizes, ..self }
    }

    /// Returns the row of the body whose lowest star is `star`; a number beyond all rows if there is none.
    pub fn of_star(&self, star: u32) -> usize {
        self.rows[star as usize] as usize
    }
}

/// Radii of the stars, and what happens where two of them touch.
#[derive(Clone, Debug, Default)]
pub struct Sizes {
    /// Radii by stars; empty without collisions.
    pub radii: Vec<f64>,
    /// Treatment of collisions, if they are looked for.
    pub collisions: Option<Collisions>,
    /// True if subsystems may have contacts that are not settled: any thread finds some. So none is asked where there are none.
    has_contacts: Arc<AtomicBool>,
}

impl Sizes {
    /// Returns true if subsystems may have contacts.
    pub fn have_contacts(&self) -> bool {
        self.has_contacts.load(Ordering::Relaxed)
    }

    /// Takes note that a subsystem has contacts, or that none has any.
    pub fn set_contacts(&self, any: bool) {
        self.has_contacts.store(any, Ordering::Relaxed);
    }
}

/// Returns true if a row of the bodies has none.
pub fn is_empty(bodies: &Particles, row: usize) -> bool {
    bodies.mass[row] == 0.0 && bodies.pos[row] == Vec3::x() * FAR
}

/// Returns the columns of particles that bodies have: no states of a scheme.
pub fn motion_of(p: &Particles) -> Particles {
    Particles {
        id: p.id.clone(),
        mass: p.mass.clone(),
        pos: p.pos.clone(),
        vel: p.vel.clone(),
        acc: p.acc.clone(),
        jerk: p.jerk.clone(),
        pot: p.pot.clone(),
        time: p.time.clone(),
        step: p.step.clone(),
        ..Particles::default()
    }
}

/// Adds a row of nothing.
fn push(p: &mut Particles) {
    p.id.push(0);
    p.mass.push(0.0);
    p.pot.push(0.0);
    [&mut p.pos, &mut p.vel, &mut p.acc, &mut p.jerk].into_iter().for_each(|column| column.push(Vec3::zeros()));
    p.time.push(Time::default());
    p.step.push(Level::default());
}

/// Sets a row to a mass, a position and a velocity, without forces.
fn set(p: &mut Particles, row: usize, mass: f64, [pos, vel]: [Vec3; 2], (time, step): (Time, Level)) {
    (p.mass[row], p.pot[row], p.pos[row], p.vel[row]) = (mass, 0.0, pos, vel);
    (p.acc[row], p.jerk[row], p.time[row], p.step[row]) = (Vec3::zeros(), Vec3::zeros(), time, step);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(n: u32) -> Bodies {
        let p = Particles::new(vec![1.0; n as usize], vec![Vec3::zeros(); n as usize], vec![Vec3::zeros(); n as usize]);
        Bodies::new(p, (0..n).collect(), n as usize + 2)
    }

    fn state(mass: f64) -> FirstState {
        FirstState::rounded(mass, Vec3::repeat(mass), Vec3::zeros())
    }

    #[test]
    fn all_derivatives_of_a_path_agree() {
        let (mut it, dt) = (bodies(1), 0.25);
        (it.particles.acc[0], it.particles.jerk[0]) = (Vec3::repeat(3.0), Vec3::repeat(-2.0));
        assert_eq!(it.accelerations(0, dt), ([Vec3::repeat(2.5), Vec3::repeat(-2.0)], None));
        assert_eq!(it.source(0, dt).1, Vec3::repeat(0.6875));
        const OF: [f64; 6] = [3.0, -2.0, 7.0, -11.0, 13.0, -17.0];
        it.derivatives = OF[2..].iter().map(|&of| vec![Vec3::repeat(of)]).collect();
        let sum = |k: usize, dt: f64| {
            let term = |j: usize| (1..=j - k).map(|it| dt / it as f64).product::<f64>();
            (k..6).map(|j| OF[j] * term(j)).sum::<f64>()
        };
        let ([acc, jerk], further) = it.accelerations(0, dt);
        let all = [[acc, jerk].as_slice(), &further.unwrap()].concat();
        for (k, found) in all.iter().enumerate() {
            assert!((found.y - sum(k, dt)).abs() < 1e-13, "{k}: {found} {}", sum(k, dt));
        }
        // The velocity is their integral: by Simpson's rule, whose error is of the 5th order.
        let simpson = (OF[0] + 4.0 * sum(0, 0.5 * dt) + sum(0, dt)) * dt / 6.0;
        assert!((it.source(0, dt).1.x - simpson).abs() < 20.0 * dt.powi(5) / 2880.0);
    }

    #[test]
    fn rows_keep_their_numbers_until_they_are_put_in_order() {
        let (mut it, now) = (bodies(4), Time(12));
        let mut scheme = it.particles.clone();
        // Stars 1 and 3 join, then 3 parts again; star 5 had no row.
        [1, 3].into_iter().for_each(|row| it.end(row, now));
        assert_eq!((it.begin(1, 11, &state(2.0), now), it.empty(), it.in_order()), (1, &[3][..], false));
        assert!(is_empty(&it.particles, 3) && !is_empty(&it.particles, 1) && it.of_star(3) >= it.stars.len());
        assert_eq!(it.occupied().collect::<Vec<_>>(), [0, 1, 2]);
        assert_eq!((it.begin(5, 15, &state(3.0), now), it.begin(3, 13, &state(4.0), now)), (4, 3));
        assert_eq!((it.empty(), it.in_order(), &it.stars[..]), (&[][..], true, &[0, 1, 2, 3, 5][..]));
        (0..5).for_each(|row| it.copy_row(row, &mut scheme));
        assert_eq!(scheme, it.particles);
        assert_eq!((scheme.mass[3], scheme.id[4], scheme.time[4]), (4.0, 15, now));
        // A star with a lower number behind others.
        it.end(4, now);
        it.begin(4, 14, &state(5.0), now);
        assert_eq!((it.in_order(), it.ordered_rows()), (false, vec![0, 1, 2, 3, 5]));
    }
}
