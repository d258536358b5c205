//! Promise: what is neglected does not add up. Over many changes of the subsystems the energy as the forces have it stays,
//! and that of all stars differs from it by what is neglected at that moment alone.

use crate::subsystems::{encounters_with, energy, engine, passage};
use tisane::initial::plummer;
use tisane::integrator::Integrator as _;
use tisane::time::Time;

/// Twelve units of the life of 24 stars, in which hard binaries form, with a large perturbation neglected.
#[test]
fn verify_what_is_neglected_does_not_add_up() {
    let mut events = 0;
    for seed in [1, 2, 11, 19] {
        let (mut p, mut f) = (plummer::sample(24, seed, 0.999), engine());
        let mut it = encounters_with(3e-4, 1e-3);
        it.record_events();
        it.start(&mut p, &mut *f).unwrap();
        let own = it.energy_of_forces(Time::default()).unwrap();
        let whole = energy(&mut it, &p, &mut *f, Time::default());
        for k in 1..=12 {
            let now = Time::from_dt_max(16 * k);
            it.advance(&mut p, &mut *f, now, u64::MAX).unwrap();
            let changed = it.energy_of_forces(now).unwrap() - own;
            let error = energy(&mut it, &p, &mut *f, now) - whole;
            events += it.take_events().len();
            assert!(changed.abs() < 3e-5 && error.abs() < 1e-4, "seed {seed}, {k}: {changed:e} {error:e}");
        }
    }
    assert!(events > 500, "{events}");
}

/// A star that passes a binary: where they change from the mean over the orbit to each other's places, both go on with the new force.
#[test]
fn forces_are_evaluated_anew_where_a_body_leaves_the_mean() {
    let (mut p, mut f, mut it) = (passage(), engine(), encounters_with(1e-3, 1e-6));
    it.start(&mut p, &mut *f).unwrap();
    let start = it.energy_of_forces(Time::default()).unwrap();
    for k in 1..=64 {
        let now = Time::from_dt_max(k);
        it.advance(&mut p, &mut *f, now, u64::MAX).unwrap();
        let changed = it.energy_of_forces(now).unwrap() - start;
        assert!(changed.abs() < 1e-8, "{k}: {changed:e}");
    }
}
