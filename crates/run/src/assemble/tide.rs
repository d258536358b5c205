//! The tide on the cluster of a configuration.

use super::engine::task::Task;
use crate::config::Config;
use std::sync::Arc;
use tisane::error::Result;
use tisane::force::external::ready::tide::TideSettings;
use tisane::force::external::{ExternalField, ExternalSettings};
use tisane::particles::Vec3;
use tisane::tidal_frame::{Circle, TideSource, is_round};
use tisane::units::{Real, Scale};

/// Returns the tide on a cluster by the engine that is built for it, if there is one: see [`Config::tide_columns`].
pub(super) fn of_task(config: &Config, task: &Task<'_>) -> Option<TideSource> {
    source(config, task.scale, task.field?)
}

/// Returns the tide on the cluster of a configuration, where `scale` has the user units in one internal unit.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) for values that make no field.
pub fn tide_source(config: &Config, scale: &Scale) -> Result<Option<TideSource>> {
    let field = config.external_field(scale)?;
    Ok(field.and_then(|field| source(config, scale, &field)))
}

fn source(config: &Config, scale: &Scale, field: &Arc<dyn ExternalField>) -> Option<TideSource> {
    let circle = match config.orbit {
        Some(_) => None,
        None => Some(circle(config, scale)?),
    };
    Some(TideSource { field: field.clone(), circle, conserves: conserves(config, scale, field) })
}

/// Returns true if the Jacobi energy is conserved: on an orbit that was given as a circle, in fields that are constant and
/// round about the axis, and in the linear tide where nothing else acts.
fn conserves(config: &Config, scale: &Scale, field: &Arc<dyn ExternalField>) -> bool {
    if let Some(orbit) = &config.orbit {
        let start = config.t_start().unwrap_or(0.0) / scale.time;
        let radius = orbit.circular.map(|radius| radius.get() / scale.length);
        return config.external.is_constant(&config.units()) && radius.is_some_and(|r| is_round(&**field, r, start));
    }
    let acts_alone = |tide: &TideSettings| {
        tide.variation.is_none()
            && tide.motion.is_none()
            && (tide.radius.is_some() || config.external.iter().count() == 1)
    };
    config.external.tide.0.iter().all(acts_alone)
}

/// Returns the circle whose linear tide a configuration has, if it has one.
fn circle(config: &Config, scale: &Scale) -> Option<Circle> {
    let [tide] = &config.external.tide.0[..] else { return None };
    let frequency = |value: Real| value.get() * (scale.length / scale.velocity);
    let omega = match (tide.omega, tide.oort_a, tide.oort_b, tide.radius) {
        (Some(omega), ..) => frequency(omega),
        (None, Some(a), Some(b), _) => frequency(a) - frequency(b),
        (_, _, _, radius) => {
            // That of a circular orbit in the other fields.
            let others = ExternalSettings { tide: Default::default(), ..config.external.clone() };
            let others = Config { external: others, ..config.clone() }.external_field(scale).ok()??;
            let radius = radius?.get() / scale.length;
            (-others.acc(radius * Vec3::x(), 0.0).x / radius).sqrt()
        }
    };
    Some(Circle { centre: Vec3::from(tide.position.map(|x| x.get() / scale.length)), omega })
}
