//! What an engine is built for.

use crate::team::Team;
use std::sync::Arc;
use tisane::force::external::ExternalField;
use tisane::force::external::guide::MovingOrigin;
use tisane::force::precision::Precision;
use tisane::law::Law;
use tisane::time::Clock;
use tisane::units::Scale;

/// Parameters of an engine, the number of particles that it will hold, and the external field that it adds.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub precision: Precision,
    pub epsilon: f64,
    pub clock: Clock,
    pub scale: &'a Scale,
    pub n: usize,
    pub field: Option<&'a Arc<dyn ExternalField>>,
    /// Origin of coordinates, if it moves in the field.
    pub origin: Option<&'a MovingOrigin>,
    /// Law in place of Newton's.
    pub law: Option<&'a Arc<Law>>,
    pub team: Option<&'static Team>,
}
