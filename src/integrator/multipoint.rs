//! Multi-point Hermite schemes of 6th and 8th order with individual block time steps (after Dittmann 2024,
//! arXiv:2410.17311).
//!
//! The corrector goes through acceleration and jerk at the two ends of a step, as in the scheme of 4th order, and at
//! one or two earlier points, which the particle keeps: the order rises by two a point, at one evaluation a step and by
//! the same forces. Particles are predicted with as many derivatives as the order needs (d²a/dt² and d³a/dt³ at order 6,
//! also the next two at order 8). In f64 that holds for all, also as sources of the others: a source that is predicted to
//! the jerk alone jumps by a⁽²⁾h⁴/24 at the end of its step h, which targets with shorter steps take for high derivatives.
//! In the other modes, whose derivatives have the noise of f32, only the particles of a block are predicted so, and all
//! other sources to the jerk. A particle without earlier points takes a step of 4th order, which is that of
//! [`hermite4`](super::hermite4) bit for bit.

mod stencil;

pub use super::hermite::{Limits, OnFloor};
pub use stencil::{Addition, Node, Stencil};

use super::checks::{InvalidSetting, positive};
use super::hermite::compensated::{Motion, advance};
use super::hermite::limits::StepRange;
use super::hermite::{BlockHermite, FirstStep, HermiteScheme, LANES, StepEnd};
use super::hermite4::brackets;
use super::particle_slices::ParticleSlices;
use super::settings::{AnyIntegrator, BlockSteps, Scheme, SchemeInfo};
use super::steps::Steps;
use super::variant::Variant;
use crate::real;
use tisane_force::force::block_steps::StepScheme;
use tisane_force::force::precision::Precision;
use tisane_force::gravity::{predict, predict_by};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::states::history::History;
use tisane_force::time::{Clock, Time};
use tisane_force::units::Real;

/// Multi-point Hermite integrator.
pub type Multipoint = BlockHermite<MultipointScheme>;

/// Order of a multi-point scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Without earlier points: the corrector of [`hermite4`](super::hermite4).
    Four,
    /// One earlier point.
    Six,
    /// Two earlier points.
    Eight,
}

impl Order {
    /// Returns the numbers of earlier points, and of derivatives for the prediction: as many as the order needs.
    #[must_use]
    pub const fn history(self) -> [usize; 2] {
        match self {
            Self::Four => [0, 0],
            Self::Six => [1, 2],
            Self::Eight => [2, 4],
        }
    }

    /// Returns the largest η at which a circular orbit lasts, as measured over 10⁴ periods: its step is η/ω, and beyond
    /// the prediction by high derivatives feeds their errors back.
    #[must_use]
    pub const fn stable_eta(self) -> f64 {
        match self {
            Self::Four | Self::Six => 0.5,
            Self::Eight => 0.22,
        }
    }
}

/// Step criterion (Nitadori & Makino 2008), with A_k = √(|a⁽ᵏ⁻¹⁾| |a⁽ᵏ⁺¹⁾| + |a⁽ᵏ⁾|²). The step is not longer than 0.8
/// and not shorter than 0.25 times η A₁/A₂, which is Aarseth's with ν = η².
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Criterion {
    /// η A₁/A₂: Aarseth's. The one of these that needs no derivative beyond the third, and the least sensitive to rounding
    /// errors.
    Second,
    /// η (A₁/A₃)^(1/2), which withstands the rounding errors of forces that are not in f64.
    Third,
    /// η (A₁/A₄)^(1/3).
    Fourth,
}

impl Criterion {
    /// Returns the criterion for forces of a precision mode.
    #[must_use]
    pub const fn for_precision(precision: Precision) -> Self {
        if precision.in_f64() { Self::Fourth } else { Self::Third }
    }
}

/// Bounds of the step, in units of η A₁/A₂: for robustness against a vanishing or a noisy high derivative.
const BOUNDS: [f64; 2] = [0.25, 0.8];
/// First step, in units of η A₁/A₂. It is of 4th order, so that it has to be shorter than those that follow.
const FIRST: f64 = 0.14;
/// First step of all particles where the longest step sets those that follow, in units of the time A₁/A₂ of the fastest
/// particle, over the power order/4 of the longest step in the same units: then the error of one step of 4th order is no
/// larger than that of the steps that follow. It may be much shorter than by [`FIRST`], with η no measure of their length.
const FIRST_OF_LONGEST: f64 = 1.0;

/// Parameters of the scheme, in internal units.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Order.
    pub order: Order,
    /// Accuracy parameter η of the step criterion.
    pub eta: f64,
    /// Step criterion.
    pub criterion: Criterion,
    /// Limits of the steps, and properties of the forces.
    pub limits: Limits,
}

impl Parameters {
    /// Returns the defaults for forces of a precision mode: order 6, η = 0.35, steps down to dt_max/2²³, and
    /// [`OnFloor::Stop`] below.
    #[must_use]
    pub const fn new(precision: Precision) -> Self {
        let criterion = Criterion::for_precision(precision);
        Self { order: Order::Six, eta: 0.35, criterion, limits: Limits::new(precision) }
    }
}

impl Multipoint {
    /// Creates an integrator for a run on the time axis `clock`, in internal units.
    #[must_use]
    pub fn new(parameters: Parameters, clock: Clock) -> Self {
        let Parameters { order, eta, criterion, limits } = parameters;
        Self::from_scheme(MultipointScheme { order, eta, criterion }, limits, clock)
    }
}

/// Predictor, corrector and step criterion of a multi-point scheme.
#[derive(Clone, Copy, Debug)]
pub struct MultipointScheme {
    order: Order,
    eta: f64,
    criterion: Criterion,
}

/// Corrections of a step of length h to a predicted position, in units of h², and velocity, in units of h; the part of
/// these by earlier points; and hᵏ a⁽ᵏ⁾ at its end for k = 2 … 5.
pub(super) struct Correction {
    pub pos: Vec3,
    pub vel: Vec3,
    pub additions: [Vec3; 2],
    pub derivatives: [Vec3; 4],
}

/// Acceleration and jerk at a moment.
pub(super) type Moment = (Vec3, Vec3);

/// Returns the corrections of a step of length `dt` from `old` to `new`. `earlier` are the factors of the earlier points,
/// and these points, the later one first; without a second one its numbers are not used.
#[inline(always)]
pub(super) fn correction(
    dt: f64,
    earlier: Option<(&Stencil<f64>, [Moment; 2])>,
    old: Moment,
    new: Moment,
) -> Correction {
    let [mut pos, mut vel, a2, a3] = brackets(dt, old, new);
    let mut derivatives = [a2 + a3, a3, Vec3::zeros(), Vec3::zeros()];
    let mut additions = [Vec3::zeros(); 2];
    if let Some((stencil, [near, far])) = earlier {
        let nodes = [far, near, old, new].map(|(acc, jerk)| (acc, jerk * dt));
        for k in 0..3 {
            let addition = stencil.addition(nodes.map(|(acc, jerk)| Node { acc: acc[k], jerk: jerk[k] }));
            pos[k] += addition.pos;
            vel[k] += addition.vel;
            (additions[0][k], additions[1][k]) = (addition.pos, addition.vel);
            for (sum, term) in derivatives.iter_mut().zip(addition.derivatives) {
                sum[k] += term;
            }
        }
    }
    Correction { pos, vel, additions, derivatives }
}

impl MultipointScheme {
    /// Corrects particle `i` of the slices: returns its position and velocity, with their low parts where these are kept and
    /// otherwise with zeros, the derivatives of [`Correction`], and the factors of its earlier points.
    #[inline(always)]
    fn corrected(&self, p: &ParticleSlices<'_>, i: usize, end: &StepEnd) -> (Motion, [Vec3; 4], Option<Stencil<f64>>) {
        let (c, low, dt) = (&p.columns, &p.low, end.dt);
        let stencil = self.stencil(p, i, end.now);
        let [near, far] = &p.points;
        let far = if self.order == Order::Eight { far } else { near };
        let points = stencil.as_ref().map(|stencil| (stencil, [near, far].map(|point| (point.acc[i], point.jerk[i]))));
        let (old, new) = ((c.acc[i], c.jerk[i]), (end.acc, end.jerk));
        let found = correction(dt, points, old, new);
        let motion = if low.pos.is_empty() {
            let (pos, vel) = predict(c.pos[i], c.vel[i], old.0, old.1, dt);
            Motion { high: [pos + found.pos * (dt * dt), vel + found.vel * dt], low: [Vec3::zeros(); 2] }
        } else {
            let from = Motion { high: [c.pos[i], c.vel[i]], low: [low.pos[i], low.vel[i]] };
            advance(dt, from, [old, new], found.additions)
        };
        (motion, found.derivatives, stencil)
    }

    /// Returns the factors of the earlier points of particle `i` for its step to `now`; [`None`] if it has none.
    #[inline(always)]
    fn stencil(&self, p: &ParticleSlices<'_>, i: usize, now: Time) -> Option<Stencil<f64>> {
        if self.order == Order::Four {
            return None;
        }
        let [near, far] = &p.points;
        let start = p.columns.time[i];
        let step = (now.0 - start.0) as f64;
        // Exact: both are whole numbers of ticks.
        let ratio = |time: Time| (start.0 - time.0) as f64 / step;
        let near = near.time[i];
        let far = if self.order == Order::Eight { far.time[i] } else { near };
        (near < start).then(|| Stencil::new(ratio(near), (far < near).then(|| ratio(far))))
    }
}

/// Returns the standard error of hᵏ a⁽ᵏ⁾, k = 2 … 5, for independent errors of 1 in the accelerations at all points.
pub(super) fn amplification(stencil: Option<Stencil<f64>>) -> [f64; 4] {
    // Of the cubic: at the beginning and at the end of the step.
    let cubic = [[0.0; 4], [0.0; 4], [6.0, 12.0, 0.0, 0.0], [-6.0, -12.0, 0.0, 0.0]];
    let mut variance = [0.0; 4];
    for (wrong, cubic) in cubic.iter().enumerate() {
        let nodes = std::array::from_fn(|k| Node { acc: if k == wrong { 1.0 } else { 0.0 }, jerk: 0.0 });
        let added = stencil.map_or([0.0; 4], |stencil| stencil.addition(nodes).derivatives);
        for ((sum, added), cubic) in variance.iter_mut().zip(added).zip(cubic) {
            *sum += (added + cubic) * (added + cubic);
        }
    }
    variance.map(f64::sqrt)
}

impl HermiteScheme for MultipointScheme {
    type Lanes = Lanes;

    fn info(&self) -> SchemeInfo {
        MultipointSettings::info()
    }

    #[inline(always)]
    fn history(&self) -> [usize; 2] {
        self.order.history()
    }

    fn step_scheme(&self) -> Option<StepScheme> {
        let [points, _] = self.order.history();
        Some(StepScheme::Multipoint { points: points as u32, eta: self.eta, third: self.criterion == Criterion::Third })
    }

    fn natural_step(&self) -> f64 {
        self.eta
    }

    fn first_step(&self) -> FirstStep {
        FirstStep::Measured((FIRST * self.eta).powi(2))
    }

    fn first_of_longest_steps(&self, shortest: f64, dt_max: f64) -> Option<f64> {
        let time = shortest / (FIRST * self.eta);
        let longest = dt_max / time;
        let ratio = match self.order {
            Order::Four => return None,
            Order::Six => longest * longest.sqrt(),
            Order::Eight => longest * longest,
        };
        // Nothing accelerates particles whose time is infinite.
        (longest > 0.0 && longest <= BOUNDS[1] * self.eta).then_some(FIRST_OF_LONGEST * ratio * time)
    }

    #[inline(always)]
    fn predict(&self, p: &Particles, i: usize, dt: f64) -> (Vec3, Vec3) {
        let (pos, vel, acc, jerk) = (p.pos[i], p.vel[i], p.acc[i], p.jerk[i]);
        let derivatives = &p.states.get::<History>().derivatives;
        let [_, kept] = self.order.history();
        predict_by((pos, vel), (acc, jerk), (&derivatives[..kept], i), dt)
    }

    #[inline(always)]
    fn correct(&self, p: &mut ParticleSlices<'_>, i: usize, end: &StepEnd, lanes: &mut Lanes, lane: usize) {
        let (motion, corrected, stencil) = self.corrected(p, i, end);
        let noise = if end.noise > 0.0 { amplification(stencil).map(|factor| factor * end.noise) } else { [0.0; 4] };
        let ParticleSlices { columns: c, low, derivatives, points: [near, far], .. } = p;
        if self.order == Order::Eight {
            (far.acc[i], far.jerk[i], far.time[i]) = (near.acc[i], near.jerk[i], near.time[i]);
        }
        if self.order != Order::Four {
            (near.acc[i], near.jerk[i], near.time[i]) = (c.acc[i], c.jerk[i], c.time[i]);
            let (per_dt, mut scale) = (1.0 / end.dt, 1.0 / end.dt);
            let [_, kept] = self.order.history();
            for (column, derivative) in derivatives.iter_mut().zip(&corrected).take(kept) {
                scale *= per_dt;
                column[i] = derivative * scale;
            }
        }
        [c.pos[i], c.vel[i]] = motion.high;
        if !low.pos.is_empty() {
            [low.pos[i], low.vel[i]] = motion.low;
        }
        (c.acc[i], c.jerk[i], c.time[i]) = (end.acc, end.jerk, end.now);
        lanes.set(lane, end.dt, (end.acc_for_step, end.jerk), &corrected, noise);
    }

    fn wanted(&self, lanes: &Lanes, wanted: &mut [f64]) {
        lanes.wanted(self.eta, self.criterion, wanted);
    }
}

/// Arguments of the step criterion for some particles, in columns: squares of norms of dtᵏ a⁽ᵏ⁾, k = 0 … 5.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lanes {
    dt: [f64; LANES],
    squares: [[f64; LANES]; 6],
}

impl Lanes {
    /// Stores the arguments of one particle. Only the part of the derivatives above their `noise` counts; otherwise
    /// the step would shrink to resolve rounding errors.
    #[inline(always)]
    pub(super) fn set(&mut self, lane: usize, dt: f64, (acc, jerk): Moment, derivatives: &[Vec3; 4], noise: [f64; 4]) {
        self.dt[lane] = dt;
        let jerk = jerk * dt;
        self.squares[0][lane] = acc.dot(&acc);
        self.squares[1][lane] = jerk.dot(&jerk);
        for k in 0..4 {
            let square = derivatives[k].dot(&derivatives[k]);
            self.squares[k + 2][lane] = if noise[k] == 0.0 { square } else { (square - noise[k] * noise[k]).max(0.0) };
        }
    }

    /// Computes the steps that a criterion gives in the first lanes: as many as `wanted` has places.
    pub(super) fn wanted(&self, eta: f64, criterion: Criterion, wanted: &mut [f64]) {
        let mut ratios = [0.0; LANES];
        self.ratios(criterion, wanted, &mut ratios);
        for ((wanted, ratio), dt) in wanted.iter_mut().zip(ratios).zip(self.dt) {
            let step = match criterion {
                Criterion::Second => {
                    *wanted *= eta * dt;
                    continue;
                }
                Criterion::Third => ratio,
                // Not that of the system's library, whose last bit depends on its version.
                Criterion::Fourth => libm::cbrt(ratio),
            };
            let [min, max] = BOUNDS.map(|bound| bound * *wanted);
            // As comparisons, so that a NaN stays one.
            let step = if step < min { min } else { step };
            *wanted = eta * dt * if step > max { max } else { step };
        }
    }

    /// Computes, in units of the last step, A₁/A₂ and, for the criterion of third or fourth derivatives, (A₁/A₃)^(1/2)
    /// or A₁/A₄: infinite where nothing acts or the derivatives vanish. A function of its own, so that the compiler vectorises the
    /// loop.
    #[inline(never)]
    fn ratios(&self, criterion: Criterion, second: &mut [f64], higher: &mut [f64; LANES]) {
        let quotient = |above: f64, below: f64| {
            let root = (above / below).sqrt();
            if below == 0.0 || above == 0.0 { f64::INFINITY } else { root }
        };
        for lane in 0..second.len().min(LANES) {
            let n = self.squares.each_ref().map(|column| column[lane].sqrt());
            let square = |k: usize| n[k - 1] * n[k + 1] + n[k] * n[k];
            second[lane] = quotient(square(1), square(2));
            higher[lane] = match criterion {
                Criterion::Second => 0.0,
                Criterion::Third => quotient(square(1), square(3)).sqrt(),
                Criterion::Fourth => quotient(square(1), square(4)),
            };
        }
    }
}

/// Multi-point Hermite scheme of 6th or 8th order with individual block time steps.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "serde", schemars(rename = "Multipoint"))]
pub struct MultipointSettings {
    /// Order: 6, or 8 with forces in f64.
    #[cfg_attr(feature = "serde", schemars(extend("enum" = [6, 8])))]
    pub order: u32,
    /// Accuracy of the time step, above 0 and at most 0.7. Orbits that last are stable up to 0.5, at order 8 up to
    /// 0.22. Default: 0.35, at order 8 0.2.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    eta: Option<Real>,
    /// Longest time step; unit: time. Default: 1/8 in N-body units, otherwise by the crossing time or shortest period.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    dt_max: Option<Real>,
    /// Shortest time step; unit: time. At least dt_max/2^36. Default: dt_max/2^23; where dt_max follows from the system,
    /// less if its binaries need it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    dt_min: Option<Real>,
    /// Flag that the corrector keeps what the rounding of positions and velocities cuts off, so that rounding errors do not
    /// add up. Default: true in modes with forces in f64, otherwise false.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    compensated: Option<bool>,
    /// Treatment of a particle that needs a step below dt_min.
    pub on_dt_min: OnFloor,
}

impl Default for MultipointSettings {
    fn default() -> Self {
        Self { order: 6, eta: None, dt_max: None, dt_min: None, compensated: None, on_dt_min: OnFloor::default() }
    }
}

/// Largest η that is accepted.
const MAX_ETA: f64 = 0.7;
/// Smallest η that is wise in modes whose rounding errors the criterion does not know: on Plummer spheres of 1024
/// particles steps are short at 0.1 and as they should be at 0.2.
const MIN_NOISY_ETA: f64 = 0.2;

impl MultipointSettings {
    fn order(&self) -> Order {
        if self.order == 8 { Order::Eight } else { Order::Six }
    }

    fn eta(&self) -> Real {
        self.eta.unwrap_or(match self.order() {
            Order::Eight => real!(0.2),
            _ => real!(0.35),
        })
    }

    fn parameters(&self, precision: Precision) -> Parameters {
        Parameters {
            order: self.order(),
            eta: self.eta().get(),
            criterion: Criterion::for_precision(precision),
            limits: Limits { floor: self.steps().floor(), on_floor: self.on_dt_min, ..Limits::new(precision) }
                .compensated(self.compensated),
        }
    }

    fn steps(&self) -> StepRange {
        StepRange { dt_max: self.dt_max, dt_min: self.dt_min }
    }
}

/// What studies know of it. Plummer spheres of 256 and 1024 particles show powers of the error of 4.3 to 4.9 at order 6 and
/// of 3.5 to 4.2 at order 8; on spheres of 256 to 4096 particles steps by forces that are not in f64 are 1.3 times as long, to
/// 20 %.
const VARIANTS: [Variant; 2] = [
    Variant {
        name: "multipoint6",
        order: 6,
        has_order_key: true,
        start_key: None,
        step_power: 1.0,
        error_powers: (3.5, 6.5),
        tried: [0.5, 0.35, 0.2],
        range: (0.02, Order::Six.stable_eta()),
        max_stable: Order::Six.stable_eta(),
        relative_step: Some(1.3),
        is_advised: true,
    },
    Variant {
        name: "multipoint8",
        order: 8,
        has_order_key: true,
        start_key: None,
        step_power: 1.0,
        error_powers: (3.0, 8.0),
        tried: [0.22, 0.15, 0.1],
        range: (0.02, Order::Eight.stable_eta()),
        max_stable: Order::Eight.stable_eta(),
        relative_step: Some(1.3),
        is_advised: false,
    },
];

impl Scheme for MultipointSettings {
    fn info() -> SchemeInfo {
        SchemeInfo {
            section: "integrator.multipoint",
            title: "the multi-point Hermite scheme",
            order: 6,
            accuracy_key: "eta",
            dt_max_key: "dt_max",
            state_keys: &["order"],
            references: &["Dittmann2024", "MakinoAarseth1992", "NitadoriMakino2008", "McMillan1986", "Makino1991"],
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
        // Measured on Plummer spheres: the steps are half of those by Aarseth's criterion with ν = η².
        let nu = (0.5 * self.eta().get()).powi(2);
        Some(BlockSteps { nu, range, evaluations: 1, first: FIRST * self.eta().get() })
    }

    fn steps_set(&self) -> Option<StepRange> {
        Some(self.steps())
    }

    fn replace_steps(&mut self, steps: StepRange) {
        StepRange { dt_max: self.dt_max, dt_min: self.dt_min } = steps;
    }

    fn describe(&self) -> [String; 2] {
        [format!("multipoint, order {}, eta = {}", self.order, self.eta()), self.steps().describe()]
    }

    fn resolve(&mut self) {
        self.eta = Some(self.eta());
        self.replace_steps(self.steps().resolved());
    }

    fn check(&self, physical: bool, precision: Precision, found: &mut Vec<InvalidSetting>) -> bool {
        match self.order {
            6 => {}
            8 if precision.in_f64() => {}
            8 => {
                let problem = format!(
                    "order 8 needs forces in f64, and those of \"{}\" are not: their rounding errors would take the \
                     place of the high derivatives; expected 6",
                    precision.name()
                );
                found.push(InvalidSetting::Wrong("order", problem));
            }
            other => found.push(InvalidSetting::Wrong("order", format!("expected 6 or 8, found {other}"))),
        }
        positive(found, "eta", self.eta);
        if self.eta().get() > MAX_ETA {
            let problem = format!("expected at most {MAX_ETA}, found {}: the scheme is not stable beyond", self.eta());
            found.push(InvalidSetting::Wrong("eta", problem));
        }
        self.steps().check(physical, found)
    }

    fn doubt(&self, precision: Precision) -> Option<String> {
        let (eta, stable) = (self.eta(), self.order().stable_eta());
        if eta.get() > stable {
            return Some(format!(
                "eta = {eta} is above {stable}: orbits that last, such as those of binaries and planets, are not stable \
                 there at order {}, and their energy error grows without bound",
                self.order
            ));
        }
        // Modes with a known noise of the acceleration leave it out of the criterion.
        let resolves_rounding = !precision.in_f64() && precision.noise() == 0.0 && eta.get() < MIN_NOISY_ETA;
        resolves_rounding.then(|| {
            format!(
                "eta = {eta} is below {MIN_NOISY_ETA}: in \"{}\" the steps may become very short, to resolve the \
                 rounding errors of the forces; \"mixed\" allows smaller ones",
                precision.name()
            )
        })
    }

    fn build(&self, precision: Precision, clock: Clock) -> AnyIntegrator {
        AnyIntegrator::Forces(Box::new(Multipoint::new(self.parameters(precision), clock)))
    }

    fn build_steps(&self, precision: Precision, clock: Clock) -> Option<Box<dyn Steps>> {
        Some(Box::new(Multipoint::new(self.parameters(precision), clock)))
    }
}
