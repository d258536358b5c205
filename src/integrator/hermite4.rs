//! The 4th-order Hermite scheme with individual block time steps (Makino & Aarseth 1992, PASJ 44, 141; Portegies Zwart
//! et al. 2007, eqs 2–9): predict, evaluate, correct. The corrector may be iterated, P(EC)ⁿ.

mod corrector;
mod settings;

pub use super::hermite::{Limits, OnFloor};
pub use settings::Hermite4Settings;

pub(super) use corrector::brackets;
use corrector::correct;

use super::hermite::{BlockHermite, FirstStep, HermiteScheme, LANES, StepEnd};
use super::particle_slices::ParticleSlices;
use super::timestep::aarseth;
use super::{Scheme, SchemeInfo};
use tisane_force::force::block_steps::StepScheme;
use tisane_force::force::precision::Precision;
use tisane_force::gravity::predict;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::Clock;

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

impl HermiteScheme for FourthOrder {
    type Lanes = Lanes;

    fn info(&self) -> SchemeInfo {
        Hermite4Settings::info()
    }

    #[inline(always)]
    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn step_scheme(&self) -> StepScheme {
        StepScheme::Hermite4 { nu: self.nu, iterations: self.iterations }
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
    fn iterate(&self, p: &Particles, i: usize, end: &StepEnd) -> (Vec3, Vec3) {
        let corrected = correct(end.dt, (end.pos, end.vel), (p.acc[i], p.jerk[i]), (end.acc, end.jerk));
        (corrected.pos, corrected.vel)
    }

    #[inline(always)]
    fn correct(&self, p: &mut ParticleSlices<'_>, i: usize, end: &StepEnd, lanes: &mut Lanes, lane: usize) {
        let p = &mut p.columns;
        let corrected = correct(end.dt, (end.pos, end.vel), (p.acc[i], p.jerk[i]), (end.acc, end.jerk));
        (p.pos[i], p.vel[i]) = (corrected.pos, corrected.vel);
        (p.acc[i], p.jerk[i], p.time[i]) = (end.acc, end.jerk, end.now);
        lanes.set(lane, end.dt, end.noise, [end.acc_for_step, end.jerk, corrected.snap, corrected.crackle]);
    }

    /// A function of its own, so that the compiler vectorises the loop.
    #[inline(never)]
    fn wanted(&self, lanes: &Lanes, wanted: &mut [f64; LANES]) {
        for (lane, wanted) in wanted.iter_mut().enumerate() {
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
