//! Row of the diagnostics, measured at an output.

use tisane::diagnostics::conserved::Conserved;
use tisane::diagnostics::force_audit::Audit;
use tisane::diagnostics::reference::{Basis, InternalEnergy, Left};
use tisane::diagnostics::relative_error::Spread;
use tisane::diagnostics::steps;
use tisane::error::{Error, Result};
use tisane::force::Field;
use tisane::particles::{Particles, Vec3};
use tisane::subsystems::Removed;
use tisane_io::checkpoint::{References, RunState};
use tisane_io::fields::DiagnosticsRow;

/// Default limit of the energy error, as a share of the larger of kinetic and potential energy.
const DEFAULT_LIMIT: f64 = 0.25;

/// Returns what was taken out of a system, as its errors know it.
fn left(removed: &Removed) -> Left {
    let Removed { energy, momentum, angular_momentum, mass, moment } = *removed;
    Left { energy, momentum, angular_momentum, mass, moment }
}

/// Returns the energy in the frame of the reference, with that of what was taken out: what errors of the energy compare.
pub(crate) fn energy_in_frame(particles: &Particles, references: &References, field: &Field) -> f64 {
    let start = &references.start;
    start.energy_of(particles, field) + start.energy_of_left(&left(&references.removed))
}

/// Returns the row of a synchronised state, from its field, conserved quantities and audit, in internal units. Errors of
/// quantities that the audit does not compare are NaN; without an audit all errors are zero.
pub(crate) fn new(
    particles: &Particles,
    state: &RunState,
    (field, conserved): (&Field, &Conserved),
    audit: Option<&Audit>,
) -> DiagnosticsRow {
    let errors = |of: fn(&Audit) -> Option<Spread>| {
        audit.map_or(Spread::default(), |audit| of(audit).unwrap_or(Spread::NOT_COMPARED))
    };
    let first = &state.references;
    let elapsed = state.now.0 as f64 * state.clock.tick();
    let energy_error = first.start.energy_error(energy_in_frame(particles, first, field));
    let angular_momentum = first.start.angular_momentum_of(particles, elapsed)
        + first.start.angular_momentum_of_left(&left(&first.removed));
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
        tidal_potential_energy: None,
        tidal_work: None,
        orbit_energy: None,
        jacobi_energy: None,
        jacobi_energy_error: None,
        removed_energy: None,
        particles: None,
        initial_mass: None,
        stellar_mass: None,
        luminosity: None,
        giants: None,
        white_dwarfs: None,
        neutron_stars: None,
        black_holes: None,
        remnant_mass: None,
        energy: conserved.energy(),
        relative_energy_error: energy_error,
        relative_energy_error_step: energy_error - first.relative_energy_error,
        cluster_energy_error: None,
        subsystems: None,
        binding_energy: None,
        binding_energy_change: None,
        outer_energy: None,
        outer_energy_error: None,
        neglected_energy: None,
        virial_ratio: conserved.virial_ratio(),
        momentum: conserved.momentum,
        momentum_drift: (conserved.momentum + first.removed.momentum - first.momentum).norm(),
        angular_momentum: conserved.angular_momentum,
        angular_momentum_error: first.start.angular_momentum_error(angular_momentum),
        centre_of_mass: conserved.centre_of_mass,
        centre_of_mass_drift: (conserved.centre_of_mass - expected_centre(first, conserved.mass, elapsed)).norm(),
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

/// Returns where the centre of mass of the remaining `mass` would be, had it moved on with its initial velocity for `elapsed`.
fn expected_centre(first: &References, mass: f64, elapsed: f64) -> Vec3 {
    let removed = &first.removed;
    // Those that were taken out would have moved on.
    let all = mass + removed.mass;
    let whole = first.centre_of_mass + first.momentum / all * elapsed;
    match removed.mass == 0.0 {
        true => whole,
        false => (whole * all - (removed.moment + removed.momentum * elapsed)) / mass,
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

/// Checks that the energy error of a row is at most `limit`. Without a limit the energy may change by a quarter of the largest
/// of its scale at the start, the kinetic energy in the own frame and the potential energy of the pairs: a larger change means
/// that an encounter without softening was not resolved. `time` is that of the row, for the message.
///
/// # Errors
/// [`Error::Integration`] with the error and the limit.
pub(crate) fn check_energy(
    row: &DiagnosticsRow,
    references: &References,
    internal: &InternalEnergy,
    limit: Option<f64>,
    time: &str,
) -> Result<()> {
    let start = &references.start;
    let error = row.relative_energy_error;
    if start.basis == Basis::NotMeasured {
        return Ok(());
    }
    let largest = start.energy_scale.max(internal.kinetic).max(internal.potential.abs());
    // Not `>`: a NaN must not pass, but where massless bodies have left that were measured.
    let (good, allowed) = match limit {
        Some(limit) => (error.abs() <= limit, format!("limits.energy_error, {limit:e}")),
        None => (
            error.abs() * start.energy_scale <= DEFAULT_LIMIT * largest,
            "a quarter of the larger of kinetic and potential energy in the system's own frame".into(),
        ),
    };
    if good || error.is_nan() && start.massless > 0 {
        return Ok(());
    }
    Err(Error::Integration {
        problem: format!(
            "the energy at t = {time} is off by {error:.3e} of the {} at the start, more than {allowed}",
            start.basis.name()
        ),
        help: Some(
            "an encounter was not resolved: take shorter steps (accuracy and dt_min of the integrator), with \
             on_dt_min = \"stop\", or set softening.epsilon > 0; a larger limits.energy_error accepts such errors"
                .into(),
        ),
    })
}
