//! Neighbour scheme of 6th or 4th order with individual block time steps (Ahmad & Cohen 1973, J. Comput. Phys. 12, 389;
//! with Hermite steps Makino & Aarseth 1992, PASJ 44, 141).
//!
//! The acceleration is the sum of an irregular part by a list of neighbours, a = a_I + a_R, which is evaluated in every
//! step, and a regular one by all other particles, which changes slowly and is evaluated in regular steps, each as long as
//! one or more irregular steps. Between them it is the polynomial
//! P(s) = a_R + j_R s + ä_R s²/2 + a⃛_R s³/6 of the time s since the last regular step (4th order: its first two terms).
//!
//! Both parts have Hermite steps, of 6th order with one earlier point each, as [`multipoint`] has
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
mod lists;
mod memory;
mod numbers;
mod particle;
mod radius;
mod slices;
mod start;
mod steps;
mod synchronised;

pub use super::hermite::{Limits, OnFloor};
pub use super::multipoint::Criterion;
pub use numbers::{Order, neighbour_number};

use super::block_loop::{BlockLoop, Schedule, Turns};
use super::checks::{InvalidSetting, positive};
use super::contract::{Integrator, Progress};
use super::evolving;
use super::hermite::StepGuards;
use super::hermite::limits::StepRange;
use super::masses::Masses;
use super::multipoint;
use super::pair_series::Series;
use super::scheduler::Scheduler;
use super::settings::{AnyIntegrator, BlockSteps, LateSetting, Scheme, SchemeInfo};
use super::steps::Steps;
use super::variant::Variant;
use crate::real;
use crate::star_changes::{Lost, StarChanges};
use lists::{Changes, Holders};
use numbers::{MAX_LISTED, default_number};
use tisane_force::error::{Error, Result};
use tisane_force::force::block_steps::{Pause, StepRules, StepScheme, Taken};
use tisane_force::force::neighbours::{NeighbourForces, NeighbourTargets};
use tisane_force::force::noise::Noise;
use tisane_force::force::precision::Precision;
use tisane_force::force::range::RangeGuard;
use tisane_force::force::{Block, ForceEngine, Forces, Targets};
use tisane_force::particles::Particles;
use tisane_force::states::history::History;
use tisane_force::states::neighbours::Neighbours;
use tisane_force::time::{Clock, Time};
use tisane_force::units::Real;

/// ν of the first irregular steps in units of η², as the plain scheme of 4th order has it. They are of that order, as there
/// is no earlier point.
const FIRST: f64 = 1.0 / 16.0;

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
    const MAX: f64 = 0.7;

    /// Returns η in a system of `n` particles, where that of the irregular steps is `eta`.
    #[must_use]
    pub fn eta(self, eta: f64, n: usize) -> f64 {
        match self {
            Self::Given(eta) => eta,
            Self::PerIrregular([above, below]) => {
                let min = eta * f64::from(above) / f64::from(below);
                let growth = (n as f64 / 1024.0).sqrt().sqrt().sqrt().clamp(1.0, std::f64::consts::SQRT_2);
                (min * growth).min(Self::MAX.max(min))
            }
        }
    }
}

impl Parameters {
    /// Returns the defaults of an order, for regular forces of a precision mode: see [`AhmadCohenSettings`].
    #[must_use]
    pub fn new(order: Order, precision: Precision) -> Self {
        let (eta, eta_regular, criteria) = defaults(order, precision);
        Self { order, eta, eta_regular, criteria, neighbours: None, limits: Limits::new(precision) }
    }
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
    /// What changes in the lists of these, in one part for each thread, and what the parts of the force exchange by it.
    changes: Vec<Changes>,
    exchanges: Vec<Option<Series>>,
    guard: RangeGuard,
    masses: Masses,
    noise: Noise,
    eta_regular: f64,
    /// Target of the number of neighbours, and the largest number in a list.
    wanted: f64,
    max: usize,
    /// Owners of lists by their entries, once rows have changed, as long as the host takes the steps one by one.
    holders: Option<Holders>,
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
            changes: Vec::new(),
            exchanges: Vec::new(),
            guard: RangeGuard::new(parameters.limits.range, clock.dt_max),
            masses: Masses::default(),
            noise: Noise::new(parameters.limits.noise, &[], 0.0),
            eta_regular: 0.0,
            wanted: 0.0,
            max: 0,
            holders: None,
            pause: None,
            turns: Turns::default(),
        }
    }

    /// Loads all particles into the guard and the engine.
    fn load(&mut self, p: &Particles, f: &mut dyn ForceEngine) -> Result<()> {
        self.guard.load(p);
        self.masses = Masses::new(&p.mass);
        self.noise = self.masses.noise(self.parameters.limits.noise);
        self.holders = None;
        self.set_number(p.len());
        f.load(p)
    }

    /// Sets what follows from the number of particles.
    fn set_number(&mut self, n: usize) {
        self.eta_regular = self.parameters.eta_regular.eta(self.parameters.eta, n);
        let wanted = self.parameters.neighbours.unwrap_or_else(|| default_number(n));
        self.wanted = wanted.min(n.saturating_sub(1) as f64);
        self.max = (MAX_LISTED * self.wanted) as usize + 1;
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
            max: self.max,
        }
    }
}

impl BlockLoop for AhmadCohen {
    fn schedule(&mut self) -> Schedule<'_> {
        let Self { scheduler, block, turns, pause, .. } = self;
        Schedule { scheduler, block, turns, pause: pause.as_ref() }
    }

    fn guards(&self) -> StepGuards {
        StepGuards { limits: self.parameters.limits, clock: self.clock, info: AhmadCohenSettings::info() }
    }

    fn present_rules(&self) -> Option<StepRules> {
        let rules = self.guards().rules(self.scheme(), self.noise, &self.guard);
        Some(StepRules { compensated: false, ..rules })
    }

    fn move_block(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, now: Time) -> Result<u64> {
        self.step(p, f, now)
    }

    fn pairs_of_block(&self, p: &Particles) -> u64 {
        self.pairs(p)
    }

    fn pairs_taken(&self, _: &Particles, taken: &Taken) -> u64 {
        taken.pairs.unwrap_or_default()
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

    fn advance(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, until: Time, max: u64) -> Result<Progress> {
        if max > 1 {
            // An engine may take steps, and then does not tell whose lists have changed.
            self.holders = None;
        }
        self.take_steps(p, f, until, max)
    }

    fn change_stars(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        changes: &StarChanges<'_>,
        now: Time,
    ) -> Result<Lost> {
        let clock = self.clock;
        evolving::change_stars(self, p, f, changes, (&clock, now))
    }

    /// The regular force beyond the present radius of each target, plus the irregular one within it.
    fn forces(&mut self, p: &Particles, now: Time, targets: Targets<'_>, f: &mut dyn ForceEngine) -> Result<Forces> {
        let regular: Vec<u32> = (0..targets.len() as u32).collect();
        let radius = &p.states.get::<Neighbours>().radius;
        let radius: Vec<f64> = targets.index.iter().map(|&i| radius[i as usize]).collect();
        let lists = vec![&[][..]; targets.len()];
        let max = self.max;
        let task = NeighbourTargets { now, targets, lists: &lists, regular: &regular, radius: &radius, max };
        let mut found = NeighbourForces::default();
        f.evaluate_neighbours(&task, &mut found)?;
        Ok(found.regular.plus(&found.renewed))
    }
}

/// Neighbour scheme of Ahmad and Cohen with individual block time steps.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "serde", schemars(rename = "AhmadCohen"))]
pub struct AhmadCohenSettings {
    /// Order of both parts of the force: 6 or 4.
    #[cfg_attr(feature = "serde", schemars(extend("enum" = [4, 6])))]
    pub order: u32,
    /// Accuracy of the irregular steps, above 0 and at most 0.7. Default: 0.36, at order 4 0.1, which is Aarseth's
    /// criterion with nu = 0.01.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    eta: Option<Real>,
    /// Accuracy of the regular steps, above 0 and at most 0.7; in modes whose regular forces are not in f64 it is that of
    /// Aarseth's criterion. Default: 5/6 of eta, in those modes 5/18 of it, at order 4 7/10; more for over 1024 particles.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    eta_regular: Option<Real>,
    /// Mean number of neighbours. Default: 0.75 √N.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    neighbours: Option<Real>,
    /// Longest time step; unit: time. Default: 1/8 in N-body units, otherwise by the crossing time or shortest period.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    dt_max: Option<Real>,
    /// Shortest time step; unit: time. At least dt_max/2^36. Default: dt_max/2^23; where dt_max follows from the system,
    /// less if its binaries need it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    dt_min: Option<Real>,
    /// Treatment of a particle that needs a step below dt_min.
    pub on_dt_min: OnFloor,
}

impl Default for AhmadCohenSettings {
    fn default() -> Self {
        Self {
            order: 6,
            eta: None,
            eta_regular: None,
            neighbours: None,
            dt_max: None,
            dt_min: None,
            on_dt_min: OnFloor::default(),
        }
    }
}

/// Largest η at which orbits last at order 6.
const STABLE_ETA: f64 = 0.5;

/// Returns the default η of the irregular steps, and of the regular ones in units of it.
const fn etas(order: Order, precision: Precision) -> (Real, RegularAccuracy) {
    let (eta, fraction) = match (order, precision.in_f64()) {
        (Order::Six, true) => (real!(0.36), [5, 6]),
        (Order::Six, false) => (real!(0.36), [5, 18]),
        (Order::Four, _) => (real!(0.1), [7, 10]),
    };
    (eta, RegularAccuracy::PerIrregular(fraction))
}

/// Returns the defaults of η for irregular and regular steps, and the criteria of both.
fn defaults(order: Order, precision: Precision) -> (f64, RegularAccuracy, [Criterion; 2]) {
    let (eta, eta_regular) = etas(order, precision);
    (eta.get(), eta_regular, criteria(order, precision))
}

/// Returns the criteria of irregular and regular steps. High derivatives of a regular force that is not in f64 are its
/// rounding errors.
const fn criteria(order: Order, precision: Precision) -> [Criterion; 2] {
    match order {
        Order::Four => [Criterion::Second; 2],
        Order::Six if precision.in_f64() => [Criterion::Fourth; 2],
        Order::Six => [Criterion::Fourth, Criterion::Second],
    }
}

impl AhmadCohenSettings {
    fn order(&self) -> Order {
        if self.order == 4 { Order::Four } else { Order::Six }
    }

    fn eta(&self) -> Real {
        self.eta.unwrap_or(etas(self.order(), Precision::F64).0)
    }

    fn eta_regular(&self, precision: Precision) -> RegularAccuracy {
        self.eta_regular.map_or(etas(self.order(), precision).1, |eta| RegularAccuracy::Given(eta.get()))
    }

    fn parameters(&self, precision: Precision) -> Parameters {
        let order = self.order();
        Parameters {
            order,
            eta: self.eta().get(),
            eta_regular: self.eta_regular(precision),
            criteria: criteria(order, precision),
            neighbours: self.neighbours.map(Real::get),
            limits: Limits { floor: self.steps().floor(), on_floor: self.on_dt_min, ..Limits::new(precision) },
        }
    }

    fn steps(&self) -> StepRange {
        StepRange { dt_max: self.dt_max, dt_min: self.dt_min }
    }
}

/// What studies know of it, at order 6, which is cheaper than order 4 at any error.
const VARIANTS: [Variant; 1] = [Variant {
    name: "ahmad_cohen6",
    order: 6,
    has_order_key: true,
    start_key: None,
    step_power: 1.0,
    error_powers: (3.5, 6.5),
    tried: [0.5, 0.36, 0.2],
    range: (0.02, multipoint::Order::Six.stable_eta()),
    max_stable: multipoint::Order::Six.stable_eta(),
    relative_step: Some(1.0),
    is_advised: true,
}];

impl Scheme for AhmadCohenSettings {
    fn info() -> SchemeInfo {
        SchemeInfo {
            section: "integrator.ahmad_cohen",
            title: "the neighbour scheme",
            order: 6,
            accuracy_key: "eta",
            dt_max_key: "dt_max",
            state_keys: &["order"],
            references: &[
                "AhmadCohen1973",
                "MakinoAarseth1992",
                "Dittmann2024",
                "NitadoriMakino2008",
                "McMillan1986",
                "Makino1991",
            ],
        }
    }

    fn variants() -> &'static [Variant] {
        &VARIANTS
    }

    fn variant(&self) -> Option<&'static Variant> {
        VARIANTS.iter().find(|it| it.order == self.order)
    }

    fn dt_max(&self) -> f64 {
        self.steps().longest()
    }

    fn block_steps(&self) -> Option<BlockSteps> {
        let range = [self.steps().shortest(), self.dt_max()];
        // As of the multi-point scheme, whose criterion this is.
        let eta = self.eta().get();
        let nu = if self.order() == Order::Six { (0.5 * eta).powi(2) } else { eta * eta };
        Some(BlockSteps { nu, range, evaluations: 1, first: FIRST * eta * eta })
    }

    fn steps_set(&self) -> Option<StepRange> {
        Some(self.steps())
    }

    fn replace_steps(&mut self, steps: StepRange) {
        StepRange { dt_max: self.dt_max, dt_min: self.dt_min } = steps;
    }

    fn describe(&self) -> [String; 2] {
        let regular = self.eta_regular.map_or(String::new(), |eta| format!(", eta_regular = {eta}"));
        let number = self.neighbours.map_or("0.75 √N".into(), |number| number.to_string());
        [
            format!("ahmad_cohen, order {}, eta = {}{regular}, {number} neighbours", self.order, self.eta()),
            self.steps().describe(),
        ]
    }

    fn resolve(&mut self) {
        self.eta = Some(self.eta());
        self.replace_steps(self.steps().resolved());
    }

    fn late_settings(&self, precision: Precision, n: usize) -> Vec<LateSetting> {
        let by_eta = etas(self.order(), precision).1.eta(self.eta().get(), n);
        let all = [("eta_regular", self.eta_regular, by_eta), ("neighbours", self.neighbours, default_number(n))];
        let late = |(key, value, default)| Some(LateSetting { key, value, default: Real::new(default)? });
        all.into_iter().filter_map(late).collect()
    }

    fn resolve_late(&mut self, precision: Precision, n: usize) {
        for LateSetting { key, default, .. } in self.late_settings(precision, n) {
            let of = if key == "neighbours" { &mut self.neighbours } else { &mut self.eta_regular };
            of.get_or_insert(default);
        }
    }

    fn growth(&self) -> Option<f64> {
        // As measured from 8192 to 131072 particles with the default number of neighbours.
        Some(2.0)
    }

    fn extra_memory(&self, n: u64, has_subsystems: bool) -> [u64; 2] {
        let number = self.neighbours.map_or_else(|| default_number(n as usize), Real::get);
        memory::needed(self.order(), n, number, has_subsystems)
    }

    fn check(&self, physical: bool, _: Precision, found: &mut Vec<InvalidSetting>) -> bool {
        if ![4, 6].contains(&self.order) {
            found.push(InvalidSetting::Wrong("order", format!("expected 4 or 6, found {}", self.order)));
        }
        for (key, eta) in [("eta", self.eta), ("eta_regular", self.eta_regular)] {
            positive(found, key, eta);
            if let Some(eta) = eta.filter(|eta| eta.get() > RegularAccuracy::MAX) {
                let max = RegularAccuracy::MAX;
                let problem = format!("expected at most {max}, found {eta}: the scheme is not stable beyond");
                found.push(InvalidSetting::Wrong(key, problem));
            }
        }
        positive(found, "neighbours", self.neighbours);
        self.steps().check(physical, found)
    }

    fn doubt(&self, _: Precision) -> Option<String> {
        let eta = self.eta();
        (eta.get() > STABLE_ETA).then(|| {
            format!(
                "eta = {eta} is above {STABLE_ETA}: orbits that last, such as those of binaries and planets, are not \
                 stable there, and their energy error grows without bound"
            )
        })
    }

    fn needs_lists(&self) -> bool {
        true
    }

    fn build(&self, precision: Precision, clock: Clock) -> AnyIntegrator {
        AnyIntegrator::Forces(Box::new(AhmadCohen::new(self.parameters(precision), clock)))
    }

    fn build_steps(&self, precision: Precision, clock: Clock) -> Option<Box<dyn Steps>> {
        Some(Box::new(AhmadCohen::new(self.parameters(precision), clock)))
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
