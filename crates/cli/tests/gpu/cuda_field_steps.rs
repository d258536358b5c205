//! Promise: block steps that the GPU takes by itself in an external field have the bits of those that the host takes, in every mode, also
//! about a moving origin; in f64 those of the CPU. Without a GPU each test reports that it is skipped. The GPU needs NVRTC.
#![cfg(feature = "cuda")]

use crate::cuda_steps::{CLOCK, engine, hermite, other_schemes, run};
use crate::gpu::{modes, sizes};
use std::sync::Arc;
use tisane::force::block_steps::Span;
use tisane::force::cpu::{self, Width};
use tisane::force::cuda::StepKernels;
use tisane::force::external::guide::{MovingOrigin, OrbitState};
use tisane::force::external::{ExternalField, FieldSource, FieldSum, FormulaField, Plummer, Summand, WithExternal};
use tisane::force::precision::Precision;
use tisane::force::{ForceEngine, Forces};
use tisane::initial::plummer;
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::Limits;
use tisane::particles::{Particles, Vec3};
use tisane::time::{Level, Time};

const EPSILON: f64 = 1.0 / 64.0;
/// Kernels that take steps in fields.
const BY: Option<StepKernels> = Some(StepKernels::Launched);

fn formula(text: &str, position: Vec3) -> Box<dyn ExternalField> {
    Box::new(FormulaField::new(&FieldSource::new(text, &[]), position).expect("a field"))
}

fn sphere(mass: f64, position: Vec3, scale_radius: f64) -> Plummer {
    Plummer { mass, position, scale_radius }
}

/// Returns a field with all operations, sums within sums, and a change in time.
fn galaxy() -> FieldSum {
    let (origin, aside) = (Vec3::zeros(), Vec3::new(0.25, 0.5, -0.125));
    let halo = FieldSum(vec![
        formula("log(x^2 + 2*y^2 + 3*z^2 + 0.4) + 0.01*x*y*cos(2*t) - R^1.7/(30 + r)", aside),
        formula("if(r < 1.2, r^4/(9 + R), r^3*1.2/(9 + R))*0.1 + 2^(-r) + min(x, y)*max(y, z)*1e-3", origin),
    ]);
    let bulge = formula("-exp(-0.1*t)*gammap(0.6, r^2/2)/sqrt(r^2 + 0.25)*(3 + sin(t))", origin);
    FieldSum(vec![Box::new(sphere(5.0, Vec3::new(3.0, -1.0, 0.5), 0.25)), Box::new(halo), bulge])
}

/// A galaxy with gas that moves with the origin.
struct WithGas(FieldSum, Plummer);

impl ExternalField for WithGas {
    fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
        self.0.acc(pos, t)
    }
    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        self.0.jerk(pos, vel, t)
    }
    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        self.0.pot(pos, t)
    }
    fn carried(&self) -> Option<&dyn ExternalField> {
        Some(&self.1)
    }
    fn parts(&self) -> Option<Summand> {
        self.0.parts()
    }
}

/// What the particles are in.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// A galaxy at rest.
    AtRest,
    /// An orbit in it, of which a step is one segment.
    OnOrbit,
    /// One past a mass, of which a step has several segments, with gas that moves along.
    WithGas,
}

const PLACES: [Place; 3] = [Place::AtRest, Place::OnOrbit, Place::WithGas];

fn placed(place: Place, engine: Box<dyn ForceEngine>) -> WithExternal<Forces> {
    let origin = |field: Arc<dyn ExternalField>, pos: Vec3, vel: Vec3| {
        MovingOrigin::new(field, CLOCK, (0, OrbitState { pos, vel }))
    };
    match place {
        Place::AtRest => WithExternal::new(engine, Arc::new(galaxy()), CLOCK),
        Place::OnOrbit => {
            let about = origin(Arc::new(galaxy()), Vec3::new(8.0, 1.0, 0.5), Vec3::new(0.25, 2.0, 0.125));
            WithExternal::about(engine, about, CLOCK)
        }
        Place::WithGas => {
            let field = WithGas(galaxy(), sphere(0.5, Vec3::new(0.125, 0.0, 0.0), 0.5));
            let about = origin(Arc::new(field), Vec3::new(3.2, -2.0, 0.3), Vec3::new(0.5, 6.0, 0.3));
            WithExternal::about(engine, about, CLOCK)
        }
    }
}

fn unlimited(limits: Limits) -> Limits {
    Limits { floor: Level::DEEPEST, ..limits }
}

#[test]
fn steps_in_a_field_end_in_the_hosts_state_in_every_mode() {
    for precision in modes() {
        for n in sizes().into_iter().filter(|n| *n <= 3000) {
            for place in PLACES {
                let start = plummer::sample(n, n as u64, 0.999);
                let Some(host) = engine(precision, EPSILON, None) else { return };
                let mut host = placed(place, Box::new(host));
                let want = run(&mut host, &mut hermite(precision, unlimited), &start, u64::MAX);
                let Some(device) = engine(precision, EPSILON, BY) else { return };
                let mut device = placed(place, Box::new(device));
                for max in [u64::MAX, 100, 17] {
                    let got = run(&mut device, &mut hermite(precision, unlimited), &start, max);
                    assert_eq!(got, want, "{} N = {n}, {place:?}, {max} steps a call", precision.name());
                }
                println!("{} N = {n}, {place:?}: {:?}", precision.name(), want.1);
            }
        }
    }
}

#[test]
fn steps_of_other_schemes_in_a_field_end_in_the_hosts_state() {
    for precision in modes() {
        for n in sizes().into_iter().filter(|n| *n <= 1000) {
            for place in PLACES {
                let start = plummer::sample(n, n as u64, 0.999);
                let Some(host) = engine(precision, EPSILON, None) else { return };
                let mut host = placed(place, Box::new(host));
                let of_host = other_schemes(precision).into_iter();
                let want: Vec<_> =
                    of_host.map(|(_, mut scheme)| run(&mut host, &mut *scheme, &start, u64::MAX)).collect();
                let Some(device) = engine(precision, EPSILON, BY) else { return };
                let mut device = placed(place, Box::new(device));
                for ((name, mut scheme), want) in other_schemes(precision).into_iter().zip(&want) {
                    let got = run(&mut device, &mut *scheme, &start, u64::MAX);
                    assert_eq!(&got, want, "{} {name} N = {n}, {place:?}", precision.name());
                }
            }
        }
    }
}

#[test]
fn in_f64_steps_in_a_field_end_in_the_state_of_the_cpu() {
    let start = plummer::sample(700, 3, 0.999);
    for place in PLACES {
        let mut on_cpu = placed(place, cpu::engine(Precision::F64, EPSILON, CLOCK, Width::choose().unwrap()));
        let want = run(&mut on_cpu, &mut hermite(Precision::F64, unlimited), &start, u64::MAX);
        let Some(device) = engine(Precision::F64, EPSILON, BY) else { return };
        let mut device = placed(place, Box::new(device));
        let got = run(&mut device, &mut hermite(Precision::F64, unlimited), &start, u64::MAX);
        assert_eq!(got, want, "{place:?}");
    }
}

/// The tests above would hold, too, if the host took all steps.
#[test]
fn the_device_takes_the_steps_in_a_field() {
    for place in PLACES {
        // By the kernels that are chosen in a field, and those that are asked for.
        for by in [BY, None] {
            let Some(mut device) = engine(Precision::F64, EPSILON, BY) else { return };
            device.set_step_kernels(by);
            let (mut device, mut integrator) = (placed(place, Box::new(device)), hermite(Precision::F64, unlimited));
            let mut p: Particles = plummer::sample(500, 4, 0.999);
            let now = integrator.start(&mut p, &mut device).unwrap().now;
            assert!(device.can_take_steps().unwrap(), "NVRTC is needed to compile the field");
            let span = Span { from: now, until: Time::from_dt_max(2), max: u64::MAX };
            let rules = integrator.step_rules(&p).unwrap();
            let taken = device.take_steps(&mut p, &rules, span, None).unwrap().expect("steps of the device");
            assert_eq!((taken.now, taken.refused), (span.until, 0), "{place:?}, {by:?}");
            assert!(taken.block_steps > 20, "{taken:?}");
        }
    }
}
