//! Promise: in N-body units the size of numbers does not matter: a system whose masses and lengths are multiplied by
//! powers of two goes through the same steps to the same bits, in every mode and by both schemes.

use crate::common;
use common::parameters;
use tisane::force::cpu::{self, Width};
use tisane::force::precision::Precision;
use tisane::force::range::Range;
use tisane::initial::{plummer, scaling};
use tisane::integrator::Integrator;
use tisane::integrator::hermite4::{Hermite4, Limits, Parameters};
use tisane::integrator::leapfrog::Leapfrog;
use tisane::particles::Particles;
use tisane::time::{Clock, Level, Time};

const EPSILON: f64 = 1.0 / 128.0;
const DT_MAX: f64 = 1.0 / 16.0;
/// What masses and lengths are multiplied by, as powers of two. Velocities then take half their difference.
const SCALES: [[i32; 2]; 5] = [[0, 0], [20, 0], [-20, 0], [3, 17], [-11, -21]];

/// Two to a power.
fn two_to(power: i32) -> f64 {
    2.0f64.powi(power)
}

/// A cluster of unequal masses at a scale, its clock, and its softening.
fn cluster([mass, length]: [i32; 2]) -> (Particles, Clock, f64) {
    let velocity = (mass - length) / 2;
    assert_eq!(2 * velocity, mass - length, "no power of two");
    let mut p = plummer::sample(100, 5, 0.999);
    for (i, m) in p.mass.iter_mut().enumerate() {
        *m *= 0.5 + i as f64 / 100.0;
    }
    scaling::to_centre_of_mass(&mut p);
    scaling::rescale(&mut p, two_to(mass), two_to(length), two_to(velocity));
    (p, Clock { start: 0.0, dt_max: DT_MAX * two_to(length - velocity) }, EPSILON * two_to(length))
}

/// Where it gets to in four of the longest steps, at the scale 1, and in how many steps of a particle.
fn end(scale: [i32; 2], mode: Precision, leapfrog: bool) -> (Vec<[u64; 6]>, Vec<Level>, u64) {
    let (mut p, clock, epsilon) = cluster(scale);
    let width = Width::choose().unwrap();
    let end = Time::from_dt_max(4);
    let steps = if leapfrog {
        let mut engine = cpu::accelerations(mode, epsilon, width);
        let mut integrator = Leapfrog::new(clock, Range::for_precision(mode));
        integrator.start(&mut p, &mut *engine).unwrap();
        common::advance(&mut p, &mut integrator, &mut *engine, end)
    } else {
        let mut engine = cpu::engine(mode, epsilon, clock, width);
        let parameters =
            Parameters { limits: Limits { floor: Level::DEEPEST, ..Limits::new(mode) }, ..parameters(0.002) };
        let mut integrator = Hermite4::new(parameters, clock);
        integrator.start(&mut p, &mut *engine).unwrap();
        common::advance(&mut p, &mut integrator, &mut *engine, end)
    };
    let [mass, length] = scale.map(|power| -power);
    scaling::rescale(&mut p, two_to(mass), two_to(length), two_to((mass - length) / 2));
    let bits = |i: usize| {
        let (x, v) = (p.pos[i], p.vel[i]);
        [x.x, x.y, x.z, v.x, v.y, v.z].map(f64::to_bits)
    };
    ((0..p.len()).map(bits).collect(), p.step.clone(), steps)
}

#[test]
fn verify_systems_of_any_size_go_through_the_same_steps_to_the_same_bits() {
    for mode in Precision::ALL {
        for leapfrog in [false, true] {
            let expected = end(SCALES[0], mode, leapfrog);
            assert!(leapfrog || expected.2 > 2000, "{} steps: nothing happened", expected.2);
            for scale in SCALES {
                let found = end(scale, mode, leapfrog);
                let scheme = if leapfrog { "leapfrog" } else { "hermite4" };
                assert_eq!(found.2, expected.2, "{} {scheme}: steps at the scale 2^{scale:?}", mode.name());
                assert!(found == expected, "{} {scheme}: another state at the scale 2^{scale:?}", mode.name());
            }
        }
    }
}
