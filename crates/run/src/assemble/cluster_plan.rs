//! Plan and settings of the surveys of the cluster.

use crate::cluster::Plan;
use crate::config::Config;
use tisane::diagnostics::cluster::Settings;
use tisane::units::Scale;

/// Returns the interval and settings of the surveys; [`None`] if they are disabled.
pub(super) fn cluster_plan(config: &Config, scale: &Scale) -> Option<Plan> {
    let plan = || Plan {
        every: config.cluster_every(),
        settings: cluster_settings(config, scale),
        columns: config.cluster_columns(),
    };
    config.cluster.enabled.then(plan)
}

/// Returns the settings of a survey in internal units, where `scale` has the user units in one internal unit.
#[must_use]
pub fn cluster_settings(config: &Config, scale: &Scale) -> Settings {
    let of = &config.cluster;
    Settings {
        neighbours: of.neighbours as usize,
        lagrangian_mass: of.lagrangian_mass,
        binary_hardness: of.binary_hardness.get(),
        escape_radius: of.escape_radius.get(),
        encounter_radius: of.encounter_radius.get(),
        epsilon: config.softening.epsilon.get() / scale.length,
    }
}
