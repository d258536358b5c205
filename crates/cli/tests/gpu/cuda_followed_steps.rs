//! Promise: block steps that the host follows one by one, while the device works on the next, and those in which the device watches for
//! pairs by itself, by either kind of kernels, end in the state of those that the host takes, with changes between them. Without a GPU
//! each test reports that it is skipped. `TISANE_MODES` and `TISANE_SIZES` reduce the tests for a sanitizer.
#![cfg(feature = "cuda")]

use crate::gpu;
use gpu::{modes, needed, sizes};
use tisane::encounters::Encounters;
use tisane::error::Result;
use tisane::force::block_steps::{NextStep, Pause, Span, StepRules, Taken};
use tisane::force::cuda::{CudaEngine, StepKernels};
use tisane::force::precision::Precision;
use tisane::force::watch::Watch;
use tisane::force::{ForceEngine, Forces, Targets};
use tisane::initial::plummer;
use tisane::integrator::hermite4::{self, Hermite4};
use tisane::integrator::multipoint::{self, Multipoint};
use tisane::integrator::{Integrator, Steps};
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, Time};

const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.0625 };

/// Engine that counts the steps that it was asked for one by one, and those that it took; and of those that it takes by itself the
/// number, that of the calls, and how often it found that a pair may form.
struct Counting {
    engine: CudaEngine,
    asked: u64,
    taken: u64,
    watches: bool,
    unattended: u64,
    calls: u64,
    found: u64,
}

impl ForceEngine for Counting {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.engine.load(all)
    }

    fn derivatives(&self) -> usize {
        self.engine.derivatives()
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engine.update(all, changed)
    }

    fn replace(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engine.replace(all, changed)
    }

    fn begin(&mut self, now: Time, targets: Targets<'_>) -> Result<()> {
        self.engine.begin(now, targets)
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
        self.engine.evaluate(now, targets, out)
    }

    fn take_step(&mut self, p: &mut Particles, rules: &StepRules, next: NextStep<'_>) -> Result<Option<Taken>> {
        let taken = self.engine.take_step(p, rules, next)?;
        self.asked += 1;
        self.taken += taken.map_or(0, |taken| taken.block_steps);
        Ok(taken)
    }

    fn take_watched_steps(
        &mut self,
        p: &mut Particles,
        rules: &StepRules,
        span: Span,
        watch: &mut Watch<'_>,
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        if !self.watches {
            return Ok(None);
        }
        let taken = self.engine.take_watched_steps(p, rules, span, watch, pause)?;
        self.calls += 1;
        self.unattended += taken.map_or(0, |taken| taken.block_steps);
        self.found += u64::from(!watch.found.is_empty());
        Ok(taken)
    }

    fn reschedule(&mut self, changed: &[u32]) {
        self.engine.reschedule(changed);
    }
}

/// Who takes the steps: the host, the device one by one, or the device with a search for pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Host,
    Following,
    Watching(StepKernels),
}

/// An engine whose device takes steps so; [`None`] without a GPU.
fn engine(precision: Precision, epsilon: f64, by: By) -> Option<Counting> {
    let mut engine = needed(CudaEngine::new(precision, epsilon, CLOCK, 0))?;
    engine.set_stepping(by != By::Host);
    let watches = matches!(by, By::Watching(_));
    if let By::Watching(kernels) = by {
        engine.set_step_kernels(Some(kernels));
    }
    Some(Counting { engine, asked: 0, taken: 0, watches, unattended: 0, calls: 0, found: 0 })
}

/// Sphere with `pairs` pairs of some semi-major axes from `shortest` on.
fn cluster(n: usize, pairs: usize, shortest: f64) -> Particles {
    let mut p = plummer::sample(n, 3, 0.999);
    for i in (0..2 * pairs.min(n / 2)).step_by(2) {
        let a = shortest * (1 + i % 7) as f64;
        let (x, v) = (p.pos[i], p.vel[i]);
        p.pos[i + 1] = x + Vec3::x() * a;
        p.vel[i + 1] = v + Vec3::y() * (0.9 * (2.0 * p.mass[i] / a).sqrt());
    }
    p
}

fn schemes(precision: Precision) -> Vec<Box<dyn Steps>> {
    let order = |order| {
        let given = multipoint::Parameters::new(precision);
        Box::new(Multipoint::new(multipoint::Parameters { order, ..given }, CLOCK))
    };
    let plain = hermite4::Parameters::new(precision);
    vec![
        Box::new(Hermite4::new(plain, CLOCK)),
        Box::new(Hermite4::new(hermite4::Parameters { iterations: 2, ..plain }, CLOCK)),
        order(multipoint::Order::Six),
        order(multipoint::Order::Eight),
    ]
}

/// Takes up to `at_once` steps a call; returns the hash of the state, and the number of block steps.
fn run(
    integrator: &mut dyn Integrator<Evaluation = Forces>,
    f: &mut Counting,
    p: Particles,
    at_once: u64,
) -> (String, u64) {
    let (mut p, end, mut steps) = (p, Time::from_dt_max(3), 0);
    let mut now = integrator.start(&mut p, f).unwrap().now;
    while now < end {
        let done = integrator.advance(&mut p, f, end, at_once).unwrap();
        (now, steps) = (done.now, steps + done.block_steps);
    }
    (p.state_sha256(&CLOCK), steps)
}

#[test]
fn followed_steps_of_points_are_those_of_the_host() {
    for precision in modes() {
        for n in sizes() {
            for number in 0..4 {
                let [followed, of_host] = [By::Following, By::Host].map(|by| {
                    let mut f = engine(precision, 1.0 / 64.0, by)?;
                    let mut scheme = schemes(precision).swap_remove(number);
                    let found = run(&mut *scheme, &mut f, cluster(n, 0, 1e-4), 7);
                    // A particle without a force needs the host.
                    let expected = if by == By::Following && n > 1 { found.1 } else { 0 };
                    assert_eq!(f.taken, expected, "{} steps, n = {n}", found.1);
                    Some(found)
                });
                assert_eq!(followed, of_host, "{}, scheme {number}, n = {n}", precision.name());
            }
        }
    }
}

/// Returns where a cluster ends.
fn ended(
    precision: Precision,
    number: usize,
    (n, pairs, shortest): (usize, usize, f64),
    by: By,
) -> Option<(String, u64)> {
    let mut f = engine(precision, 0.0, by)?;
    let mut integrator = Encounters::new(schemes(precision).swap_remove(number), 1e-5, CLOCK);
    let found = run(&mut integrator, &mut f, cluster(n, pairs, shortest), u64::MAX);
    // With pairs the host has a part in many.
    let least = if pairs == 0 { found.1 / 2 } else { 1 };
    let is_right = match by {
        By::Host => f.taken == 0,
        By::Following => f.taken >= least,
        // Short spans are the host's.
        By::Watching(_) => pairs > 0 || f.unattended >= least / 4 && f.calls > f.found,
    };
    let Counting { unattended, taken, calls, found: ends, asked, .. } = f;
    assert!(is_right, "{taken} of {} steps, {asked} asked, n = {n}, {pairs} pairs", found.1);
    if matches!(by, By::Watching(_)) && number == 0 {
        let steps = found.1;
        println!(
            "n = {n}, {pairs} pairs, {by:?}: {unattended} of {steps} steps unattended in {calls} calls, {ends} ends"
        );
    }
    Some(found)
}

#[test]
fn followed_steps_with_subsystems_are_those_of_the_host() {
    for precision in modes() {
        // Pairs that nobody disturbs are points to the device; wide ones have a part in their steps.
        for (n, pairs, shortest) in [(40, 0, 1e-4), (300, 0, 1e-4), (300, 4, 1e-4), (300, 4, 4e-3), (1200, 3, 4e-3)] {
            for number in 0..4 {
                let of_host = ended(precision, number, (n, pairs, shortest), By::Host);
                let watching = [StepKernels::Resident, StepKernels::Launched].map(By::Watching);
                for by in [By::Following].into_iter().chain(watching) {
                    let found = ended(precision, number, (n, pairs, shortest), by);
                    assert_eq!(found, of_host, "{}, scheme {number}, n = {n}, {pairs} pairs, {by:?}", precision.name());
                }
            }
        }
        println!("{}: followed steps end in one state", precision.name());
    }
}
