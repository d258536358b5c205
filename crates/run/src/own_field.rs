//! Fields that a program brings itself, beside those of the configuration.

use std::sync::Arc;
use tisane::Result;
use tisane::force::external::{ExternalField, FieldSum};
use tisane::particles::Vec3;
use tisane::units::{Dimension, Scale};

/// Field in the units of the configuration, as an internal one. Its tidal tensor and rate are the trait's, by differences
/// in internal units.
struct InUserUnits {
    field: Arc<dyn ExternalField>,
    scale: Scale,
}

impl ExternalField for InUserUnits {
    fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
        let Scale { length, time, .. } = self.scale;
        self.field.acc(pos * length, t * time) / self.scale.factor(Dimension::ACCELERATION)
    }

    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        let Scale { length, velocity, time, .. } = self.scale;
        let jerk = self.field.jerk(pos * length, vel * velocity, t * time);
        jerk / (self.scale.factor(Dimension::ACCELERATION) / time)
    }

    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        let Scale { length, time, .. } = self.scale;
        self.field.pot(pos * length, t * time) / self.scale.factor(Dimension::POTENTIAL)
    }

    fn covers(&self, t: f64) -> Result<()> {
        self.field.covers(t * self.scale.time)
    }
}

/// Returns the sum of the field of a configuration, in internal units, and of a program's own, in those of the
/// configuration.
pub(crate) fn total(
    configured: Option<Arc<dyn ExternalField>>,
    own: Option<&Arc<dyn ExternalField>>,
    scale: &Scale,
) -> Option<Arc<dyn ExternalField>> {
    let Some(own) = own else { return configured };
    let own = InUserUnits { field: own.clone(), scale: *scale };
    Some(match configured {
        None => Arc::new(own),
        Some(configured) => Arc::new(FieldSum(vec![Box::new(configured), Box::new(own)])),
    })
}
