//! One row of the diagnostics: what is measured at an output.

use crate::auditor::Audit;
use crate::diagnostics::conserved::{Conserved, relative};
use crate::diagnostics::steps;
use crate::integrator::timestep::norm;
use crate::io::checkpoint::RunState;
use crate::io::fields::{DiagnosticsRow, Spread};
use crate::particles::{Particles, Vec3};

/// The row for a synchronised state, from its conserved quantities and audit; internal units. What an audit does not compare
/// is not a number; without an audit the errors are zero.
pub(super) fn of(
    particles: &Particles,
    state: &RunState,
    conserved: &Conserved,
    audit: Option<&Audit>,
) -> DiagnosticsRow {
    let errors = |of: fn(&Audit) -> Option<Spread>| {
        audit.map_or(Spread::default(), |audit| of(audit).unwrap_or(Spread::NOT_COMPARED))
    };
    let first = &state.references;
    let elapsed = state.now.0 as f64 * state.clock.tick();
    let expected_centre = [0, 1, 2].map(|k| first.centre_of_mass[k] + first.momentum[k] / conserved.mass * elapsed);
    let steps_level = steps::histogram(&particles.step);
    let (step_min, step_mean, step_max) = steps::min_mean_max(&steps_level, state.clock.dt_max);
    let (done, before) = (&state.counters, &first.previous_counters);
    let blocks = (done.block_steps - before.block_steps).max(1) as f64;
    let pairs = (done.pair_interactions - before.pair_interactions) as f64;
    let seconds = state.wall_seconds - first.previous_wall_seconds;
    DiagnosticsRow {
        time: state.clock.time(state.now),
        kinetic_energy: conserved.kinetic,
        potential_energy: conserved.potential,
        energy: conserved.energy(),
        relative_energy_error: relative(conserved.energy(), first.energy),
        relative_energy_error_step: (conserved.energy() - first.previous_energy) / nonzero(first.energy.abs()),
        virial_ratio: conserved.virial_ratio(),
        momentum: conserved.momentum,
        momentum_drift: distance(conserved.momentum, first.momentum),
        angular_momentum: conserved.angular_momentum,
        angular_momentum_error: distance(conserved.angular_momentum, first.angular_momentum)
            / nonzero(distance(first.angular_momentum, [0.0; 3])),
        centre_of_mass: conserved.centre_of_mass,
        centre_of_mass_drift: distance(conserved.centre_of_mass, expected_centre),
        audit_sample: audit.map_or(0, |audit| audit.sample),
        audit_acceleration: errors(|audit| Some(audit.acc)),
        audit_jerk: errors(|audit| audit.jerk),
        audit_potential: errors(|audit| audit.pot),
        step_min,
        step_mean,
        step_max,
        steps_level,
        block_steps: done.block_steps,
        particle_steps: done.particle_steps,
        clamped_steps: done.clamped_steps,
        pair_interactions: done.pair_interactions,
        mean_block_size: (done.particle_steps - before.particle_steps) as f64 / blocks,
        wall_seconds: state.wall_seconds,
        pairs_per_second: if seconds > 0.0 { pairs / seconds } else { 0.0 },
    }
}

/// The value, or 1 where it is zero: an error relative to nothing is an absolute one.
fn nonzero(x: f64) -> f64 {
    if x == 0.0 { 1.0 } else { x }
}

fn distance(a: Vec3, b: Vec3) -> f64 {
    norm([0, 1, 2].map(|k| a[k] - b[k]))
}
