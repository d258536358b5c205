//! Row of the diagnostics, measured at an output.

use tisane::diagnostics::conserved::{Conserved, nonzero, relative};
use tisane::diagnostics::force_audit::Audit;
use tisane::diagnostics::relative_error::Spread;
use tisane::diagnostics::steps;
use tisane::error::{Error, Result};
use tisane::particles::Particles;
use tisane_io::checkpoint::{References, RunState};
use tisane_io::fields::DiagnosticsRow;

/// Default limit of the energy error, as a share of the larger of kinetic and potential energy.
const DEFAULT_LIMIT: f64 = 0.25;

/// Returns the row of a synchronised state, from its conserved quantities and audit, in internal units. Errors of
/// quantities that the audit does not compare are NaN; without an audit all errors are zero.
pub(crate) fn new(
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
    let removed = &first.removed;
    // Those that were taken out would have moved on.
    let mass = conserved.mass + removed.mass;
    let whole = first.centre_of_mass + first.momentum / mass * elapsed;
    let expected_centre = match removed.mass == 0.0 {
        true => whole,
        false => (whole * mass - (removed.moment + removed.momentum * elapsed)) / conserved.mass,
    };
    let energy = conserved.energy() + removed.energy;
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
        external_potential_energy: None,
        removed_energy: None,
        particles: None,
        energy: conserved.energy(),
        relative_energy_error: relative(energy, first.energy),
        relative_energy_error_step: (energy - (first.previous_energy + first.previous_removed_energy))
            / nonzero(first.energy.abs()),
        cluster_energy_error: None,
        subsystems: None,
        binding_energy: None,
        binding_energy_change: None,
        outer_energy: None,
        outer_energy_error: None,
        neglected_energy: None,
        virial_ratio: conserved.virial_ratio(),
        momentum: conserved.momentum,
        momentum_drift: (conserved.momentum + removed.momentum - first.momentum).norm(),
        angular_momentum: conserved.angular_momentum,
        angular_momentum_error: (conserved.angular_momentum + removed.angular_momentum - first.angular_momentum).norm()
            / nonzero(first.angular_momentum.norm()),
        centre_of_mass: conserved.centre_of_mass,
        centre_of_mass_drift: (conserved.centre_of_mass - expected_centre).norm(),
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

/// Returns a row whose energies are not numbers, where the forces have no potential.
pub(crate) fn without_energy(row: DiagnosticsRow) -> DiagnosticsRow {
    DiagnosticsRow {
        potential_energy: f64::NAN,
        energy: f64::NAN,
        relative_energy_error: f64::NAN,
        relative_energy_error_step: f64::NAN,
        virial_ratio: f64::NAN,
        ..row
    }
}

/// Checks that the energy of a row, with what was taken out, differs from that of the references by at most `limit`, relative
/// to it.
/// Without a limit the difference may be a quarter of the larger of kinetic and potential energy: a larger one means
/// that an encounter without softening was not resolved. `time` is that of the row, for the message.
///
/// # Errors
/// [`Error::Integration`] with the error and the limit.
pub(crate) fn check_energy(
    row: &DiagnosticsRow,
    references: &References,
    limit: Option<f64>,
    time: &str,
) -> Result<()> {
    let first = references.energy;
    let external = row.external_potential_energy.map_or(0.0, f64::abs);
    let scale = first.abs().max(row.kinetic_energy).max(row.potential_energy.abs()).max(external);
    // Not `>`: a NaN must not pass.
    let (good, allowed) = match limit {
        Some(limit) => (row.relative_energy_error.abs() <= limit, format!("limits.energy_error, {limit:e}")),
        None => (
            (row.energy + references.removed.energy - first).abs() <= DEFAULT_LIMIT * scale,
            "a quarter of the larger of kinetic and potential energy".into(),
        ),
    };
    if good {
        return Ok(());
    }
    Err(Error::Integration {
        problem: format!(
            "the energy at t = {time} is off by {:.3e} of its value at the start, more than {allowed}",
            row.relative_energy_error
        ),
        help: Some(
            "an encounter was not resolved: take shorter steps (accuracy and dt_min of the integrator), with \
             on_dt_min = \"stop\", or set softening.epsilon > 0; a larger limits.energy_error accepts such errors"
                .into(),
        ),
    })
}
