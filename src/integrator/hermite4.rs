//! The 4th-order Hermite scheme with individual block time steps (Makino & Aarseth 1992, PASJ 44, 141; Portegies Zwart
//! et al. 2007, eqs 2–9): predict, evaluate, correct. The corrector may be iterated, P(EC)ⁿ.

mod corrector;

pub use super::hermite::{Limits, OnFloor};

pub(super) use corrector::brackets;
use corrector::correct;

use super::checks::{InvalidSetting, positive};
use super::hermite::compensated::{Motion, advance};
use super::hermite::limits::StepRange;
use super::hermite::{BlockHermite, FirstStep, HermiteScheme, LANES, StepEnd};
use super::particle_slices::ParticleSlices;
use super::settings::{AnyIntegrator, BlockSteps, Scheme, SchemeInfo};
use super::steps::Steps;
use super::timestep::aarseth;
use super::variant::Variant;
use crate::real;
use std::num::NonZeroU32;
use tisane_force::force::block_steps::StepScheme;
use tisane_force::force::precision::Precision;
use tisane_force::gravity::predict;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::Clock;
use tisane_force::units::Real;

/// Hermite integrator.
pub type Hermite4 = BlockHermite<FourthOrder>;

/// Parameters of the scheme, in internal units.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Accuracy parameter ν of Aarseth's criterion.
    pub nu: f64,
    /// Accuracy parameter of the first step.
    pub nu_start: f64,
    /// Number of evaluations and corrections a step: the n of P(EC)ⁿ.
    pub iterations: u32,
    /// Limits of the steps, and properties of the forces.
    pub limits: Limits,
}

impl Parameters {
    /// Returns the defaults for forces of a precision mode: ν = 0.01, of the first step ν/16, one evaluation a step, steps down to
    /// dt_max/2²³, and [`OnFloor::Stop`] below.
    #[must_use]
    pub const fn new(precision: Precision) -> Self {
        Self { nu: 0.01, nu_start: 0.01 / 16.0, iterations: 1, limits: Limits::new(precision) }
    }
}

impl Hermite4 {
    /// Creates an integrator for a run on the time axis `clock`, in internal units.
    #[must_use]
    pub fn new(parameters: Parameters, clock: Clock) -> Self {
        let Parameters { nu, nu_start, iterations, limits } = parameters;
        Self::from_scheme(FourthOrder { nu, nu_start, iterations }, limits, clock)
    }
}

/// Predictor, corrector and step criterion of 4th order.
#[derive(Clone, Copy, Debug)]
pub struct FourthOrder {
    nu: f64,
    nu_start: f64,
    iterations: u32,
}

/// Additions of further points: there are none.
const NOTHING: [Vec3; 2] = [Vec3::new(0.0, 0.0, 0.0); 2];

impl HermiteScheme for FourthOrder {
    type Lanes = Lanes;

    fn info(&self) -> SchemeInfo {
        Hermite4Settings::info()
    }

    #[inline(always)]
    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn step_scheme(&self) -> Option<StepScheme> {
        Some(StepScheme::Hermite4 { nu: self.nu, iterations: self.iterations })
    }

    fn natural_step(&self) -> f64 {
        self.nu.sqrt()
    }

    fn first_step(&self) -> FirstStep {
        FirstStep::FromJerk(self.nu_start)
    }

    #[inline(always)]
    fn predict(&self, p: &Particles, i: usize, dt: f64) -> (Vec3, Vec3) {
        predict(p.pos[i], p.vel[i], p.acc[i], p.jerk[i], dt)
    }

    #[inline(always)]
    fn iterate(&self, p: &Particles, i: usize, low: Option<[Vec3; 2]>, end: &StepEnd) -> (Vec3, Vec3) {
        let (old, new) = ((p.acc[i], p.jerk[i]), (end.acc, end.jerk));
        if let Some(low) = low {
            let [pos, vel] = advance(end.dt, Motion { high: [p.pos[i], p.vel[i]], low }, [old, new], NOTHING).high;
            return (pos, vel);
        }
        let corrected = correct(end.dt, (end.pos, end.vel), old, new);
        (corrected.pos, corrected.vel)
    }

    #[inline(always)]
    fn correct(&self, p: &mut ParticleSlices<'_>, i: usize, end: &StepEnd, lanes: &mut Lanes, lane: usize) {
        let ParticleSlices { columns: p, low, .. } = p;
        let (old, new) = ((p.acc[i], p.jerk[i]), (end.acc, end.jerk));
        let corrected = correct(end.dt, (end.pos, end.vel), old, new);
        if low.pos.is_empty() {
            (p.pos[i], p.vel[i]) = (corrected.pos, corrected.vel);
        } else {
            let from = Motion { high: [p.pos[i], p.vel[i]], low: [low.pos[i], low.vel[i]] };
            let to = advance(end.dt, from, [old, new], NOTHING);
            ([p.pos[i], p.vel[i]], [low.pos[i], low.vel[i]]) = (to.high, to.low);
        }
        (p.acc[i], p.jerk[i], p.time[i]) = (end.acc, end.jerk, end.now);
        lanes.set(lane, end.dt, end.noise, [end.acc_for_step, end.jerk, corrected.snap, corrected.crackle]);
    }

    /// A function of its own, so that the compiler vectorises the loop.
    #[inline(never)]
    fn wanted(&self, lanes: &Lanes, wanted: &mut [f64]) {
        for (lane, wanted) in wanted.iter_mut().take(LANES).enumerate() {
            let (acc, jerk) = (lanes.acc2[lane].sqrt(), lanes.jerk2[lane].sqrt());
            let (snap, crackle) = (lanes.snap2[lane].sqrt(), lanes.crackle2[lane].sqrt());
            *wanted = aarseth(self.nu, lanes.dt[lane], acc, jerk, snap, crackle);
        }
    }
}

/// Arguments of the step criterion for some particles, in columns: squares of norms.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lanes {
    dt: [f64; LANES],
    acc2: [f64; LANES],
    jerk2: [f64; LANES],
    snap2: [f64; LANES],
    crackle2: [f64; LANES],
}

impl Lanes {
    /// Stores the arguments of one particle. Only the part of the derivatives above the `noise` of the acceleration
    /// counts, which the corrector multiplies by 6 and by 12; otherwise the step would shrink to resolve rounding
    /// errors.
    #[inline(always)]
    fn set(&mut self, lane: usize, dt: f64, noise: f64, [acc, jerk, snap, crackle]: [Vec3; 4]) {
        self.dt[lane] = dt;
        self.acc2[lane] = acc.dot(&acc);
        self.jerk2[lane] = jerk.dot(&jerk);
        self.snap2[lane] = snap.dot(&snap);
        self.crackle2[lane] = crackle.dot(&crackle);
        if noise > 0.0 {
            let noise2 = noise * noise;
            self.snap2[lane] = (self.snap2[lane] - 36.0 * noise2).max(0.0);
            self.crackle2[lane] = (self.crackle2[lane] - 144.0 * noise2).max(0.0);
        }
    }
}

/// Hermite scheme of 4th order with individual block time steps.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "serde", schemars(rename = "Hermite4"))]
pub struct Hermite4Settings {
    /// Accuracy of the time step, above 0: dt = sqrt(nu ...). In codes with dt = eta sqrt(...), eta is sqrt(nu).
    pub nu: Real,
    /// Accuracy of the first time step, above 0. Default: nu/16, with which the first step adds no error that shows.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    nu_start: Option<Real>,
    /// Longest time step; unit: time. Default: 1/8 in N-body units, otherwise by the crossing time or shortest period.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    dt_max: Option<Real>,
    /// Shortest time step; unit: time. At least dt_max/2^36, which is the default with subsystems. Default without: dt_max/2^23;
    /// where dt_max follows from the system, less if its binaries need it. With this key subsystems are no default.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    dt_min: Option<Real>,
    /// Evaluations and corrections in each step: the n of P(EC)^n.
    #[cfg_attr(feature = "serde", schemars(range(min = 1, max = 10)))]
    pub iterations: u32,
    /// Flag that the corrector keeps what the rounding of positions and velocities cuts off, so that rounding errors do not
    /// add up. Default: true in modes with forces in f64, otherwise false.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    compensated: Option<bool>,
    /// Treatment of a particle that needs a step below dt_min.
    pub on_dt_min: OnFloor,
}

impl Default for Hermite4Settings {
    fn default() -> Self {
        Self {
            nu: real!(0.01),
            nu_start: None,
            dt_max: None,
            dt_min: None,
            iterations: 1,
            compensated: None,
            on_dt_min: OnFloor::default(),
        }
    }
}

/// Default of ν over that of the first step. With equal ones the largest energy error in the first half time unit of
/// Plummer spheres is up to twice as large; docs/reports/src/schemes.md has the measurements.
const NU_START_PARTS: NonZeroU32 = NonZeroU32::new(16).unwrap();

impl Hermite4Settings {
    fn nu_start(&self) -> Real {
        self.nu_start.unwrap_or(self.nu.divided_by(NU_START_PARTS))
    }

    fn parameters(&self, precision: Precision) -> Parameters {
        Parameters {
            nu: self.nu.get(),
            nu_start: self.nu_start().get(),
            iterations: self.iterations,
            limits: Limits { floor: self.steps().floor(), on_floor: self.on_dt_min, ..Limits::new(precision) }
                .compensated(self.compensated),
        }
    }

    fn steps(&self) -> StepRange {
        StepRange { dt_max: self.dt_max, dt_min: self.dt_min }
    }
}

/// What studies know of it. Plummer spheres of 256 and 1024 particles show powers of the error of 2.1 to 2.4.
const VARIANTS: [Variant; 1] = [Variant {
    name: "hermite4",
    order: 4,
    has_order_key: false,
    start_key: Some("nu_start"),
    step_power: 0.5,
    error_powers: (1.5, 2.5),
    tried: [0.04, 0.01, 0.0025],
    range: (1e-4, 0.1),
    max_stable: f64::INFINITY,
    relative_step: None,
    is_advised: false,
}];

impl Scheme for Hermite4Settings {
    fn info() -> SchemeInfo {
        SchemeInfo {
            section: "integrator.hermite4",
            title: "the Hermite scheme",
            order: 4,
            accuracy_key: "nu",
            dt_max_key: "dt_max",
            state_keys: &[],
            references: &[
                "MakinoAarseth1992",
                "PortegiesZwartBellemanGeldof2007",
                "Aarseth1985",
                "McMillan1986",
                "Makino1991",
            ],
        }
    }

    fn variants() -> &'static [Variant] {
        &VARIANTS
    }

    fn variant(&self) -> Option<&'static Variant> {
        VARIANTS.first()
    }

    fn dt_max(&self) -> f64 {
        self.steps().longest()
    }

    fn block_steps(&self) -> Option<BlockSteps> {
        let range = [self.steps().shortest(), self.dt_max()];
        Some(BlockSteps { nu: self.nu.get(), range, evaluations: self.iterations, first: self.nu_start().get() })
    }

    fn steps_set(&self) -> Option<StepRange> {
        Some(self.steps())
    }

    fn replace_steps(&mut self, steps: StepRange) {
        StepRange { dt_max: self.dt_max, dt_min: self.dt_min } = steps;
    }

    fn describe(&self) -> [String; 2] {
        let iterations = match self.iterations {
            1 => String::new(),
            n => format!(", P(EC)^{n}"),
        };
        [format!("hermite4, nu = {}{iterations}", self.nu.get()), self.steps().describe()]
    }

    fn resolve(&mut self) {
        self.nu_start = Some(self.nu_start());
        self.replace_steps(self.steps().resolved());
    }

    fn check(&self, physical: bool, _: Precision, found: &mut Vec<InvalidSetting>) -> bool {
        positive(found, "nu", Some(self.nu));
        positive(found, "nu_start", self.nu_start);
        self.steps().check(physical, found)
    }

    fn doubt(&self, _: Precision) -> Option<String> {
        let nu = self.nu;
        (nu.get() > 0.1).then(|| format!("nu = {nu} is large: expect large energy errors (0.01 is usual)"))
    }

    fn build(&self, precision: Precision, clock: Clock) -> AnyIntegrator {
        AnyIntegrator::Forces(Box::new(Hermite4::new(self.parameters(precision), clock)))
    }

    fn build_steps(&self, precision: Precision, clock: Clock) -> Option<Box<dyn Steps>> {
        Some(Box::new(Hermite4::new(self.parameters(precision), clock)))
    }
}
