//! The tide on the cluster of a configuration.

use super::engine::task::Task;
use crate::config::Config;
use tisane::error::Result;
use tisane::force::external::ExternalSettings;
use tisane::particles::Vec3;
use tisane::tidal_frame::{Circle, TideSource};
use tisane::units::{Real, Scale};

/// Returns the tide on a cluster by the engine that is built for it, if there is one: see [`Config::tide_columns`].
pub(super) fn of_task(config: &Config, task: &Task<'_>) -> Option<TideSource> {
    let circle = match config.orbit {
        Some(_) => None,
        None => Some(circle(config, task.scale)?),
    };
    Some(TideSource { field: task.field?.clone(), circle })
}

/// Returns the tide on the cluster of a configuration, where `scale` has the user units in one internal unit.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) for values that make no field.
pub fn tide_source(config: &Config, scale: &Scale) -> Result<Option<TideSource>> {
    let circle = circle(config, scale);
    if config.orbit.is_none() && circle.is_none() {
        return Ok(None);
    }
    let field = config.external_field(scale)?;
    Ok(field.map(|field| TideSource { field, circle: circle.filter(|_| config.orbit.is_none()) }))
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
