//! Motion of a few bodies about their centre of mass, alone or under a tide.

use super::chain::Chain;
use super::extrapolation::{COLUMNS, Leapfrog, extrapolate, projection};
use super::kepler::universal::Along;
use super::logarithmic::{self, Logarithmic, Room};
use super::regular::{self, Pair, PairState};
use super::tide::Tide;
use super::watch::{Two, Watch};
use tisane_force::compensated_sum::two_sum;
use tisane_force::error::{Error, Result};
use tisane_force::particles::Vec3;

/// Number of columns up to which the next step is longer, and from which on it is shorter.
const EASY: usize = 6;
const HARD: usize = 9;
/// Shortest part of its length to which a step is shortened before the integration is given up.
const SHORTEST: f64 = 1e-9;
/// First step of three or more bodies, in units of U times the shortest time r³ᐟ² / √(m₁ + m₂) of a pair.
const FIRST: f64 = 0.1;
/// Largest argument β s² of a step of a pair: a third of a revolution.
const LARGEST: f64 = 4.0;
/// Tolerance of a new motion, and the smallest one.
const TOLERANCE: f64 = 1e-13;
const MIN_TOLERANCE: f64 = 1e-14;
/// Largest product of a rest of time and the fastest rate of a pair that one leapfrog moves over; of a perturbed pair, whose
/// leapfrog has the error of the tide alone.
const REST: f64 = 5e-6;
const REST_OF_PAIR: f64 = 1e-4;
/// Advice where the motion of points ends.
pub(crate) const AT_ONE_PLACE: &str = "points that meet head on have no orbit after that: let stars become one, with \
                                       radii and `CollisionAction::Merge`, or move one of the two a little in the input";
pub(crate) const TOO_CLOSE: &str = "two of them collide; or the tolerance is too small";
/// Mass, in units of the sum, as which a smaller one counts among three or more bodies.
const MIN_MASS: f64 = 1e-30;

/// Two or more bodies about their centre of mass, in f64, with G = 1.
///
/// Two bodies move in regular coordinates, three or more in a chain by the logarithmic Hamiltonian. What rounding cuts off
/// the numbers of a chain is kept apart. The binding energy is a variable, which the work of a tide alone changes: energies
/// of close pairs keep the digits that positions and velocities near a pericentre do not have.
#[derive(Clone, Debug, PartialEq)]
pub struct Motion {
    pub(super) chain: Chain,
    /// Of two bodies β = 2μ/r − v², of more the binding energy; and what rounding has cut off.
    pub(super) energy: (f64, f64),
    /// Length of the next step, and of the first, in the fictitious time.
    pub(super) step: f64,
    pub(super) first: f64,
    pub(super) tolerance: f64,
    pub(super) evaluations: u64,
}

impl Motion {
    /// Creates the motion of bodies with these masses, positions and velocities, each column of two or more: finite numbers,
    /// masses not negative and one of them positive, no two bodies at one place. Those at rest with each other fall.
    #[must_use]
    pub fn new(mass: &[f64], pos: &[Vec3], vel: &[Vec3]) -> Self {
        Self::of(Chain::new(&weights(mass), pos, vel))
    }

    /// Creates the motion of bodies from the vectors of position and velocity from each to the next, one fewer than masses,
    /// so that no digits of close bodies are lost; else as [`Self::new`].
    #[must_use]
    pub fn from_vectors(mass: &[f64], pos: &[Vec3], vel: &[Vec3]) -> Self {
        Self::of(Chain::from_vectors(&weights(mass), pos, vel))
    }

    fn of(chain: Chain) -> Self {
        let (energy, first) = if chain.len() == 2 {
            let (r, mu) = (chain.pos[0].norm(), chain.total);
            let along = Along::new(chain.pos[0], chain.vel[0], mu);
            (along.beta, 1.0 / (chain.vel[0].norm_squared() + mu / r).sqrt())
        } else {
            let potential = potential(&chain);
            (potential - chain.kinetic(&chain.vel), FIRST * potential / chain.rates().0)
        };
        Self { chain, energy: (energy, 0.0), step: first, first, tolerance: TOLERANCE, evaluations: 0 }
    }

    /// Sets the relative tolerance of a step, the largest change by the last column of the extrapolation: 1e-13 unless set.
    /// Less than 1e-14, which f64 does not reach, counts as that.
    pub fn set_tolerance(&mut self, tolerance: f64) {
        self.tolerance = tolerance.max(MIN_TOLERANCE);
    }

    /// Returns the number of bodies.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.chain.len()
    }

    /// Returns the masses. Of three or more bodies each has 1e-30 of their sum at least.
    #[must_use]
    pub fn masses(&self) -> Vec<f64> {
        let mut found = vec![0.0; self.len()];
        self.chain.body.iter().zip(&self.chain.mass).for_each(|(&body, &mass)| found[body] = mass);
        found
    }

    /// Stores the positions and the velocities relative to those of the centre of mass, and the masses, in columns of as many as
    /// there are bodies.
    ///
    /// # Panics
    /// If a column is shorter: a programming error.
    pub fn store(&self, [offsets, speeds]: [&mut [Vec3]; 2], masses: &mut [f64]) {
        self.chain.store_offsets(&self.chain.pos, offsets);
        self.chain.store_offsets(&self.chain.vel, speeds);
        self.chain.body.iter().zip(&self.chain.mass).for_each(|(&body, &mass)| masses[body] = mass);
    }

    /// Returns the number of each body along the chain.
    #[must_use]
    pub fn order(&self) -> &[usize] {
        &self.chain.body
    }

    /// Returns the positions relative to the centre of mass.
    #[must_use]
    pub fn offsets(&self) -> Vec<Vec3> {
        self.chain.offsets(&self.chain.pos)
    }

    /// Returns the velocities relative to that of the centre of mass.
    #[must_use]
    pub fn speeds(&self) -> Vec<Vec3> {
        self.chain.offsets(&self.chain.vel)
    }

    /// Returns position and velocity of body `j` relative to body `i`: sums along the chain.
    ///
    /// # Panics
    /// If there are no such bodies: a programming error.
    #[must_use]
    pub fn vectors(&self, i: usize, j: usize) -> (Vec3, Vec3) {
        let place = |body: usize| self.chain.body.iter().position(|b| *b == body).unwrap_or(self.len());
        let (i, j) = (place(i), place(j));
        (Chain::between(&self.chain.pos, i, j), Chain::between(&self.chain.vel, i, j))
    }

    /// Returns position and velocity of body 1 relative to body 0.
    #[must_use]
    pub fn pair(&self) -> (Vec3, Vec3) {
        self.vectors(0, 1)
    }

    /// Returns the binding energy U − T, the variable.
    #[must_use]
    pub fn binding(&self) -> f64 {
        match self.chain.mass[..] {
            [a, b] => 0.5 * (a * b / self.chain.total) * self.energy.0,
            _ => self.energy.0,
        }
    }

    /// Returns the binding energy of the present positions and velocities. Each step moves them to [`Self::binding`], so that
    /// the difference is a rounding error and tells nothing of the accuracy of the orbits.
    #[must_use]
    pub fn present_binding(&self) -> f64 {
        potential(&self.chain) - self.chain.kinetic(&self.chain.vel)
    }

    /// Returns the total mass.
    #[must_use]
    pub fn total_mass(&self) -> f64 {
        self.chain.total
    }

    /// Returns m₁ m₂ / (m₁ + m₂) and β = 2μ/r − v² of two bodies; [`None`] for more.
    #[must_use]
    pub fn pair_constants(&self) -> Option<(f64, f64)> {
        let [a, b] = self.chain.mass[..] else { return None };
        Some((a * b / self.chain.total, self.energy.0))
    }

    /// Sets position and velocity of body 1 relative to body 0, of two, and β, which must be theirs up to rounding.
    pub(crate) fn set_pair_state(&mut self, pos: Vec3, vel: Vec3, beta: f64) {
        (self.chain.pos[0], self.chain.vel[0], self.energy.0) = (pos, vel, beta);
    }

    /// Adds an energy to that of the motion, by the speeds alone, if that changes the kinetic energy by less than half. Returns
    /// true if it does.
    pub(crate) fn take_up(&mut self, energy: f64) -> bool {
        let kinetic = self.chain.kinetic(&self.chain.vel);
        let part = energy / kinetic;
        // Bodies at rest have no speeds to change.
        if part.is_nan() || part.abs() > 0.5 {
            return false;
        }
        self.chain.stretch(0.0, (1.0 + part).sqrt() - 1.0);
        if let Some((reduced, beta)) = self.pair_constants() {
            self.energy.0 = beta - 2.0 * energy / reduced;
        } else {
            self.energy = two_sum(self.energy.0, self.energy.1 - energy);
        }
        true
    }

    /// Returns the number of evaluations of the forces so far.
    #[must_use]
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }

    /// Advances the bodies by the time `dt`.
    ///
    /// # Errors
    /// [`Error::Integration`] where no step is short enough for the tolerance, as in a collision of more than two bodies.
    pub fn advance(&mut self, dt: f64, tide: Option<&dyn Tide>) -> Result<()> {
        self.advance_under(dt, tide, None).map(drop)
    }

    pub(super) fn advance_under(
        &mut self,
        dt: f64,
        tide: Option<&dyn Tide>,
        mut watch: Option<&mut Watch>,
    ) -> Result<f64> {
        if self.len() > 2 {
            return self.advance_chain(dt, tide, watch);
        }
        if let Some(tide) = tide {
            self.advance_pair(dt, tide, watch)?;
        } else {
            watch.iter_mut().for_each(|watch| self.look_ahead(dt, watch));
            self.advance_alone(dt)?;
        }
        Ok(dt)
    }

    /// Advances a pair without a tide: to its place on the orbit.
    fn advance_alone(&mut self, dt: f64) -> Result<()> {
        let rest = self.along().within_a_turn(dt);
        if rest == 0.0 {
            return Ok(());
        }
        let mut change = [0.0; regular::WIDTH];
        let mut pair = self.pair_at(0.0, None);
        pair.leap(self.along().anomaly(rest), 1, &mut change);
        let after = pair.after(&change);
        self.set_pair(after, 1, dt)
    }

    fn advance_pair(&mut self, dt: f64, tide: &dyn Tide, mut watch: Option<&mut Watch>) -> Result<()> {
        let mut rows = [0.0; COLUMNS * regular::WIDTH];
        let mut clock = Clock::default();
        watch.iter_mut().for_each(|watch| watch.begin(self.two([0, 1])));
        loop {
            let along = self.along();
            let rest = clock.rest(dt);
            if rest == 0.0 {
                return Ok(());
            }
            let (r2, v2) = (along.r * along.r, self.chain.vel[0].norm_squared());
            let is_short = rest * rest * (along.mu / along.r + v2) <= REST_OF_PAIR * REST_OF_PAIR * r2;
            let mut pair = self.pair_at(clock.high, Some(tide));
            if is_short || rest.abs() <= f64::EPSILON * dt.abs() {
                pair.leap(along.anomaly(rest), 1, &mut rows[..regular::WIDTH]);
                let after = pair.after(&rows);
                self.set_pair(after, pair.evaluations, dt)?;
                watch.iter_mut().for_each(|it| it.passed(self.two([0, 1]), along.eta < 0.0, rest, (dt, dt)));
                return Ok(());
            }
            let whole = self.step.min((LARGEST / along.beta.abs()).sqrt()).copysign(rest);
            let passes = along.time_and_distance(whole).0.abs() >= rest.abs();
            let length = if passes { along.anomaly(rest) } else { whole };
            let taken = self.take(&mut pair, (length, clock.high), regular::WIDTH, &mut rows)?;
            self.learn(taken, passes);
            clock.add(rows[8]);
            let after = pair.after(&rows);
            self.set_pair(after, pair.evaluations, clock.high)?;
            let times = (rows[8], (clock.high, dt));
            watch.iter_mut().for_each(|it| it.passed(self.two([0, 1]), along.eta < 0.0, times.0, times.1));
        }
    }

    fn along(&self) -> Along {
        let (pos, vel) = (self.chain.pos[0], self.chain.vel[0]);
        Along { r: pos.norm(), eta: pos.dot(&vel), beta: self.energy.0, mu: self.chain.total }
    }

    fn pair_at<'a>(&self, time: f64, tide: Option<&'a dyn Tide>) -> Pair<'a> {
        let mass = [self.chain.mass[0], self.chain.mass[1]];
        let state = PairState { pos: self.chain.pos[0], vel: self.chain.vel[0], beta: self.energy.0 };
        Pair::new(mass, state, tide).at(time, self.tolerance)
    }

    /// Sets position, velocity and β of a pair.
    fn set_pair(&mut self, PairState { pos, vel, beta }: PairState, evaluations: u64, time: f64) -> Result<()> {
        self.evaluations += evaluations;
        if !pos.iter().chain(&vel).all(|x| x.is_finite()) || !pos.norm_squared().is_normal() {
            let problem = format!("two bodies are at one place at time {time}");
            return Err(Error::Integration { problem, help: Some(AT_ONE_PLACE.into()) });
        }
        (self.chain.pos[0], self.chain.vel[0], self.energy.0) = (pos, vel, beta);
        Ok(())
    }

    fn advance_chain(&mut self, dt: f64, tide: Option<&dyn Tide>, mut watch: Option<&mut Watch>) -> Result<f64> {
        let width = logarithmic::width(self.len());
        let (mut rows, mut room) = (vec![0.0; COLUMNS * width], Room::new(self.len()));
        let (mut clock, mut until) = (Clock::default(), dt);
        watch.iter_mut().for_each(|watch| self.look_at_begin(watch));
        loop {
            // A contact at which the motion ends: it goes back to that.
            if let Some(time) = watch.as_deref().and_then(Watch::end) {
                watch.take().into_iter().for_each(Watch::finish);
                until = time;
            }
            let approaching = if watch.is_some() { self.approaching() } else { Vec::new() };
            let rest = clock.rest(until);
            let (rate, slope) = self.chain.rates();
            let is_short = (rest * rate).abs() <= REST;
            if rest == 0.0 || (rest.abs() <= f64::EPSILON * dt.abs() && !is_short) {
                return Ok(until);
            }
            let begin = (clock.high, self.tolerance);
            let mut system = Logarithmic::new((&self.chain, self.energy.0), tide, begin, &mut room);
            if is_short {
                system.leap_in_time(rest, &mut rows[..width]);
                self.evaluations += system.evaluations;
                self.add(&rows[..width], &mut room);
                watch.iter_mut().for_each(|it| self.look(it, &approaching, rest, (until, until)));
                if watch.as_deref().and_then(Watch::end).is_none() {
                    return Ok(until);
                }
                clock.add(rest);
                continue;
            }
            // ds/dt = U. A step may pass the moment, and the next go back.
            let potential = system.potential;
            let curved = (slope * rest).abs() < potential;
            let wanted = (potential + if curved { 0.5 * slope * rest } else { 0.0 }) * rest;
            let approaches = wanted.abs() < self.step;
            let length = if approaches { wanted } else { self.step.copysign(rest) };
            let taken = self.take(&mut system, (length, clock.high), width, &mut rows)?;
            self.evaluations += system.evaluations;
            self.learn(taken, approaches);
            clock.add(rows[width - 2]);
            self.add(&rows[..width], &mut room);
            let (taken, now) = (rows[width - 2], clock.high);
            watch.iter_mut().for_each(|it| self.look(it, &approaching, taken, (now, until)));
        }
    }

    /// Adds the changes of a step to the numbers of a chain, and moves these to their binding energy.
    fn add(&mut self, change: &[f64], room: &mut Room) {
        let (vectors, scalars) = change.split_at(change.len() - 2);
        self.chain.add(vectors);
        self.energy = two_sum(self.energy.0, self.energy.1 + scalars[1]);
        let potential = self.chain.accelerations(&self.chain.pos, &mut room.acc);
        let (of_pos, of_vel) = projection(self.chain.kinetic(&self.chain.vel), potential, self.energy.0);
        self.chain.stretch(of_pos, of_vel);
        self.chain.renew();
    }

    /// Stores in `rows` the changes over a step of this length, or a shorter one where the extrapolation needs it. Returns
    /// the part of the length that was taken, and the number of columns.
    fn take(
        &self,
        system: &mut impl Leapfrog,
        (length, time): (f64, f64),
        width: usize,
        rows: &mut [f64],
    ) -> Result<Taken> {
        let mut part = length;
        loop {
            if let Some(columns) = extrapolate(system, part, width, rows) {
                return Ok(Taken { length: part, is_whole: part == length, columns });
            }
            part *= 0.5;
            if part.abs() < SHORTEST * length.abs().min(self.first) {
                let problem = format!("no step of the few bodies at time {time} is short enough");
                return Err(Error::Integration { problem, help: Some(TOO_CLOSE.into()) });
            }
        }
    }

    /// Learns the length of the next step from one that was taken. That of an approach to a moment tells little.
    fn learn(&mut self, taken: Taken, approaches: bool) {
        if !taken.is_whole {
            self.step = taken.length.abs();
        } else if !approaches && taken.columns <= EASY {
            self.step *= 1.25;
        } else if !approaches && taken.columns >= HARD {
            self.step *= 0.75;
        }
    }
}

/// Step that was taken.
struct Taken {
    length: f64,
    is_whole: bool,
    columns: usize,
}

/// Time since the begin, with what rounding has cut off.
#[derive(Default)]
struct Clock {
    high: f64,
    low: f64,
}

impl Clock {
    fn add(&mut self, change: f64) {
        (self.high, self.low) = two_sum(self.high, self.low + change);
    }

    fn rest(&self, until: f64) -> f64 {
        (until - self.high) - self.low
    }
}

/// Returns U of a chain.
fn potential(chain: &Chain) -> f64 {
    chain.accelerations(&chain.pos, &mut vec![Vec3::zeros(); chain.pos.len()])
}

/// Returns the masses as three or more bodies count them.
fn weights(mass: &[f64]) -> Vec<f64> {
    let min = if mass.len() > 2 { MIN_MASS * mass.iter().sum::<f64>() } else { 0.0 };
    mass.iter().map(|m| m.max(min)).collect()
}

impl Motion {
    /// Advances the bodies by the time `dt`, not negative, and looks for contacts on the way. Returns the time by which they
    /// were advanced: `dt`, or that of the contact at which the watch ends the motion.
    ///
    /// # Errors
    /// As [`Self::advance`].
    pub fn advance_watched(&mut self, dt: f64, tide: Option<&dyn Tide>, watch: &mut Watch) -> Result<f64> {
        self.advance_under(dt, tide, Some(watch))
    }

    /// Returns the relative motion of two bodies.
    pub(super) fn two(&self, bodies: [usize; 2]) -> Two {
        let ((pos, vel), mass) = (self.vectors(bodies[0], bodies[1]), self.masses());
        let mu = mass[bodies[0]] + mass[bodies[1]];
        let beta = self.pair_constants().map_or_else(|| 2.0 * mu / pos.norm() - vel.norm_squared(), |pair| pair.1);
        Two { bodies, pos, vel, mu, beta }
    }

    /// Returns all pairs of bodies.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        let n = self.len();
        (0..n).flat_map(move |j| (0..j).map(move |i| [i, j]))
    }

    /// Returns whether two bodies approach each other, of all pairs.
    pub(super) fn approaching(&self) -> Vec<bool> {
        let approaches = |two: Two| two.pos.dot(&two.vel) < 0.0;
        self.pairs().map(|bodies| approaches(self.two(bodies))).collect()
    }

    /// Looks for contacts after a step of the time `dt`, before which the pairs were `approaching` or not.
    pub(super) fn look(&self, watch: &mut Watch, approaching: &[bool], dt: f64, times: (f64, f64)) {
        for (bodies, did_approach) in self.pairs().zip(approaching) {
            let before = watch.found.len();
            watch.passed(self.two(bodies), *did_approach, dt, times);
            self.place(watch, before, times.0);
        }
    }

    /// Looks for contacts at the begin of the motion.
    pub(super) fn look_at_begin(&self, watch: &mut Watch) {
        for bodies in self.pairs() {
            let before = watch.found.len();
            watch.begin(self.two(bodies));
            self.place(watch, before, 0.0);
        }
    }

    /// Sets the centres of mass of the contacts from a number on, with those of the moment `now`.
    fn place(&self, watch: &mut Watch, from: usize, now: f64) {
        for contact in &mut watch.found[from..] {
            let (offsets, speeds, mass) = (self.offsets(), self.speeds(), self.masses());
            let [i, j] = contact.bodies;
            let share = mass[j] / (mass[i] + mass[j]);
            let between = |of: &[Vec3]| of[i] + (of[j] - of[i]) * share;
            let speed = between(&speeds);
            contact.centre = [between(&offsets) - speed * (now - contact.time), speed];
        }
    }

    /// Looks ahead over the time `dt` on the orbit of a pair that nothing disturbs; finds nothing of three or more bodies.
    pub fn look_ahead(&self, dt: f64, watch: &mut Watch) {
        if self.len() == 2 {
            watch.ahead(self.two([0, 1]), dt);
        }
    }
}
