//! Neighbour scheme of 6th or 4th order with individual block time steps (Ahmad & Cohen 1973, J. Comput. Phys. 12, 389;
//! with Hermite steps Makino & Aarseth 1992, PASJ 44, 141).
//!
//! The acceleration is the sum of an irregular part by a list of neighbours, a = a_I + a_R, which is evaluated in every
//! step, and a regular one by all other particles, which changes slowly and is evaluated in regular steps, each as long as
//! one or more irregular steps. Between them it is the polynomial
//! P(s) = a_R + j_R s + ä_R s²/2 + a⃛_R s³/6 of the time s since the last regular step (4th order: its first two terms).
//!
//! Both parts have Hermite steps, of 6th order with one earlier point each, as [`multipoint`](super::multipoint) has
//! them. In a step of length h to a block time:
//! 1. The block is predicted, and its irregular forces are evaluated by the lists that it has.
//! 2. Particles whose regular step ends get a new list, and the regular and irregular forces by it, at the same predicted
//!    positions.
//! 3. Each particle is corrected for the irregular force, with P integrated exactly.
//! 4. After a regular step it is corrected for the regular force, as if the old list held: for its end the irregular force
//!    by the new list less that by the old one is added to the regular force, so that a change of list is no jump. What P
//!    gave before is taken off.
//! 5. The earlier points and derivatives of both parts are those of the old list. Pairs that entered or left it are moved
//!    from one part to the other by their Taylor series.
//! 6. Irregular steps follow from the irregular derivatives and the total acceleration, regular steps from the regular
//!    part alone, and no irregular step is longer than the regular one.

mod block;
mod changes;
mod memory;
mod particle;
mod radius;
mod settings;
mod slices;
mod start;
mod synchronised;

pub use super::hermite::{Limits, OnFloor};
pub use super::multipoint::Criterion;
pub use settings::AhmadCohenSettings;

use super::hermite::{LANES, StepGuards, Turns};
use super::scheduler::Scheduler;
use super::{Integrator, Progress, Scheme, out_of_range};
use std::time::Instant;
use tisane_force::error::{Error, Result};
use tisane_force::force::block_steps::{Pause, Span, StepScheme};
use tisane_force::force::neighbours::{NeighbourForces, NeighbourTargets};
use tisane_force::force::noise::Noise;
use tisane_force::force::precision::Precision;
use tisane_force::force::range::RangeGuard;
use tisane_force::force::{Block, ForceEngine, Forces, Targets};
use tisane_force::particles::Particles;
use tisane_force::states::history::History;
use tisane_force::states::neighbours::Neighbours;
use tisane_force::time::{Clock, Time};

/// Order of the scheme, of both parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Hermite steps between two points, with P of first degree.
    Four,
    /// Hermite steps with an earlier point, with P of third degree.
    Six,
}

impl Order {
    /// Returns the numbers of earlier points and of derivatives that particles keep of each part.
    #[must_use]
    pub const fn history(self) -> [usize; 2] {
        match self {
            Self::Four => [0, 0],
            Self::Six => [1, 2],
        }
    }
}

/// Parameters of the scheme, in internal units.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Order.
    pub order: Order,
    /// Accuracy η of the irregular steps.
    pub eta: f64,
    /// Accuracy η of the regular steps.
    pub eta_regular: RegularAccuracy,
    /// Criterion of the irregular and of the regular steps.
    pub criteria: [Criterion; 2],
    /// Mean number of neighbours: 0 for a regular force by all particles, infinite for an irregular one; [`None`] for
    /// [`neighbour_number`].
    pub neighbours: Option<f64>,
    /// Limits of the steps, and properties of the regular forces.
    pub limits: Limits,
}

/// Accuracy η of the regular steps.
#[derive(Clone, Copy, Debug)]
pub enum RegularAccuracy {
    /// This one.
    Given(f64),
    /// A fraction of that of the irregular steps, in systems of up to 1024 particles. In larger ones it grows with the eighth
    /// root of their number, up to √2 times as much from 16384 on: there the errors of the regular forces count less, and
    /// the energy error stays near that of [`Hermite4`](crate::integrator::hermite4::Hermite4) with ν = 0.01.
    PerIrregular([u32; 2]),
}

impl RegularAccuracy {
    /// Largest η: the scheme is not stable beyond.
    const MOST: f64 = 0.7;

    /// Returns η in a system of `n` particles, where that of the irregular steps is `eta`.
    #[must_use]
    pub fn eta(self, eta: f64, n: usize) -> f64 {
        match self {
            Self::Given(eta) => eta,
            Self::PerIrregular([above, below]) => {
                let least = eta * f64::from(above) / f64::from(below);
                let growth = (n as f64 / 1024.0).sqrt().sqrt().sqrt().clamp(1.0, std::f64::consts::SQRT_2);
                (least * growth).min(Self::MOST.max(least))
            }
        }
    }
}

impl Parameters {
    /// Returns the defaults of an order, for regular forces of a precision mode: see [`AhmadCohenSettings`].
    #[must_use]
    pub fn new(order: Order, precision: Precision) -> Self {
        let (eta, eta_regular, criteria) = settings::defaults(order, precision);
        Self { order, eta, eta_regular, criteria, neighbours: None, limits: Limits::new(precision) }
    }
}

/// Returns the default of the mean number of neighbours in a system of `n` particles, 0.75 √N: where the wall time on a
/// CPU is shortest. The number has hardly an influence on the error.
#[must_use]
pub fn neighbour_number(n: usize) -> f64 {
    0.75 * (n as f64).sqrt()
}

/// Returns the mean number of neighbours where the settings do not give it.
fn default_number(n: usize) -> f64 {
    neighbour_number(n).max(radius::LEAST)
}

/// Neighbour scheme.
#[derive(Debug)]
pub struct AhmadCohen {
    parameters: Parameters,
    clock: Clock,
    scheduler: Scheduler,
    /// Particles of the block, ascending.
    block: Vec<u32>,
    targets: Block,
    /// Places in the block of those whose regular step ends, and for each of the block its place among these.
    regular: Vec<u32>,
    rank: Vec<Option<u32>>,
    forces: NeighbourForces<Forces>,
    guard: RangeGuard,
    noise: Noise,
    eta_regular: f64,
    /// Target of the number of neighbours, and the largest number in a list.
    wanted: f64,
    most: usize,
    pause: Option<Pause>,
    turns: Turns,
}

impl AhmadCohen {
    /// Creates an integrator for a run on the time axis `clock`, in internal units.
    #[must_use]
    pub fn new(parameters: Parameters, clock: Clock) -> Self {
        Self {
            parameters,
            clock,
            scheduler: Scheduler::new(Time::default(), &[]),
            block: Vec::new(),
            targets: Block::default(),
            regular: Vec::new(),
            rank: Vec::new(),
            forces: NeighbourForces::default(),
            guard: RangeGuard::new(parameters.limits.range, clock.dt_max),
            noise: Noise::new(parameters.limits.noise, &[], 0.0),
            eta_regular: 0.0,
            wanted: 0.0,
            most: 0,
            pause: None,
            turns: Turns::default(),
        }
    }

    /// Returns what the limits of the steps and the errors need to know.
    fn guards(&self) -> StepGuards {
        StepGuards { limits: self.parameters.limits, clock: self.clock, info: AhmadCohenSettings::info() }
    }

    /// Loads all particles into the guard and the engine.
    fn load(&mut self, p: &Particles, f: &mut dyn ForceEngine) -> Result<()> {
        self.guard.load(p);
        self.noise = Noise::new(self.parameters.limits.noise, &p.mass, p.total_mass());
        self.eta_regular = self.parameters.eta_regular.eta(self.parameters.eta, p.len());
        let wanted = self.parameters.neighbours.unwrap_or_else(|| default_number(p.len()));
        self.wanted = wanted.min(p.len().saturating_sub(1) as f64);
        self.most = (radius::MOST * self.wanted) as usize + 1;
        f.load(p)
    }

    /// Checks that the particles have the state that the scheme needs.
    fn check_state(&self, p: &Particles) -> Result<()> {
        let [points, derivatives] = self.parameters.order.history();
        let n = p.len();
        if p.states.get::<History>().has(n, points, derivatives)
            && p.states.get::<Neighbours>().has(n, points, derivatives)
        {
            return Ok(());
        }
        let problem = format!(
            "{} needs particles with lists of neighbours and a history of {points} points of both parts of the force",
            AhmadCohenSettings::info().section
        );
        Err(Error::Integration { problem, help: Some("start the integrator, or resume the state that it left".into()) })
    }
}

impl AhmadCohen {
    /// Returns the scheme as an engine knows it that takes the steps by itself.
    fn scheme(&self) -> StepScheme {
        let Parameters { order, eta, criteria, .. } = self.parameters;
        let highest = |criterion| match criterion {
            Criterion::Second => 2,
            Criterion::Third => 3,
            Criterion::Fourth => 4,
        };
        let [points, _] = order.history();
        StepScheme::AhmadCohen {
            points: points as u32,
            eta: [eta, self.eta_regular],
            criteria: criteria.map(highest),
            wanted: self.wanted,
            most: self.most,
        }
    }

    /// Lets the engine take the steps. Returns true if nothing is left to do in this call.
    fn take_on_engine(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        (until, most): (Time, u64),
        done: &mut Progress,
    ) -> Result<bool> {
        let rules = self.guards().rules(self.scheme(), self.noise, &self.guard);
        let span = Span { from: self.scheduler.now(), until, most: most - done.block_steps };
        let Some(taken) = f.take_steps(p, &rules, span, self.pause.as_ref())? else { return Ok(false) };
        if taken.block_steps > 0 {
            self.scheduler = Scheduler::new(taken.now, &p.step);
            done.now = taken.now;
            done.block_steps += taken.block_steps;
            done.particle_steps += taken.particle_steps;
            done.pairs += taken.pairs.unwrap_or_default();
            done.clamped += taken.clamped;
        }
        Ok(self.turns.note_engine(taken.refused))
    }
}

impl Integrator for AhmadCohen {
    type Evaluation = Forces;

    fn start(&mut self, p: &mut Particles, f: &mut dyn ForceEngine) -> Result<Progress> {
        self.begin(p, f)
    }

    fn resume(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine) -> Result<()> {
        self.check_state(p)?;
        self.load(p, f)?;
        self.scheduler = Scheduler::new(now, &p.step);
        Ok(())
    }

    fn synchronised(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine) -> Result<Particles> {
        self.at(p, now, f)
    }

    fn set_start(&mut self, start: f64) {
        self.clock.start = start;
    }

    fn step_scheme(&self) -> Option<StepScheme> {
        Some(self.scheme())
    }

    fn set_pause(&mut self, pause: Pause) {
        self.pause = Some(pause);
    }

    fn advance(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, until: Time, most: u64) -> Result<Progress> {
        let began = Instant::now();
        let mut done = Progress { now: self.scheduler.now(), ..Progress::default() };
        while done.block_steps < most && !(self.is_below_floor() && self.scheduler.now() < until) {
            if self.turns.is_engines(most - done.block_steps) && self.take_on_engine(p, f, (until, most), &mut done)? {
                break;
            }
            let Some(now) = self.scheduler.next_block(&p.step, until, &mut self.block) else { break };
            let clamped = self.step(p, f, now)?;
            done.now = now;
            done.block_steps += 1;
            done.particle_steps += self.block.len() as u64;
            done.pairs += self.pairs(p);
            done.clamped += clamped;
            self.turns.note_host();
            if self.pause.as_ref().is_some_and(|pause| pause.is_due(began)) {
                break;
            }
        }
        if done.block_steps == 0 && most > 0 && self.scheduler.now() < until && self.is_below_floor() {
            self.guards().check_floor(p, self.scheduler.now())?;
        }
        Ok(done)
    }

    /// The regular force beyond the present radius of each target, plus the irregular one within it.
    fn forces(&mut self, p: &Particles, now: Time, targets: Targets<'_>, f: &mut dyn ForceEngine) -> Result<Forces> {
        let regular: Vec<u32> = (0..targets.len() as u32).collect();
        let radius = &p.states.get::<Neighbours>().radius;
        let radius: Vec<f64> = targets.index.iter().map(|&i| radius[i as usize]).collect();
        let lists = vec![&[][..]; targets.len()];
        let most = self.most;
        let task = NeighbourTargets { now, targets, lists: &lists, regular: &regular, radius: &radius, most };
        let mut found = NeighbourForces::default();
        f.evaluate_neighbours(&task, &mut found)?;
        Ok(found.regular.plus(&found.renewed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_steps_are_longer_in_large_systems() {
        let eta = |n| RegularAccuracy::PerIrregular([5, 6]).eta(0.36, n);
        assert_eq!([1, 1024].map(eta), [0.36 * 5.0 / 6.0; 2]);
        assert!((eta(4096) / eta(1) - 2f64.powf(0.25)).abs() < 1e-15);
        assert!(((eta(16_384) / eta(1)).powi(2) - 2.0).abs() < 1e-15 && eta(1_000_000) == eta(16_384));
        // No longer than is stable.
        assert_eq!(RegularAccuracy::PerIrregular([1, 1]).eta(0.6, 16_384), 0.7);
        assert_eq!(RegularAccuracy::Given(0.1).eta(0.36, 16_384), 0.1);
    }
}
