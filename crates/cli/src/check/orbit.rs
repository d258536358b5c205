//! The orbit of the cluster in the external fields.

use tisane::units::Dimension;
use tisane_run::assemble::Setup;

/// Returns the lines about the orbit of the origin of coordinates; none where it does not move.
pub fn describe(setup: &Setup) -> Vec<(&'static str, String)> {
    let Some(orbit) = &setup.config.orbit else { return Vec::new() };
    let units = setup.config.units();
    let mut lines = vec![("orbit", orbit.describe(&units))];
    let Some(shape) = setup.orbit_shape() else { return lines };
    let value = |x: f64, d: Dimension| match x.is_finite() {
        true => units.readable(x * setup.scale.factor(d), d),
        false => "none".into(),
    };
    lines.push((
        "",
        format!(
            "pericentre {}, apocentre {}, period {}, circular velocity {}",
            value(shape.pericentre, Dimension::LENGTH),
            value(shape.apocentre, Dimension::LENGTH),
            value(shape.period, Dimension::TIME),
            value(shape.circular_velocity, Dimension::VELOCITY)
        ),
    ));
    lines
}
