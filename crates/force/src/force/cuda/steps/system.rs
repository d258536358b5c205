//! System whose block steps the device takes.

use crate::force::block_steps::StepField;
use crate::particles::Particles;
use crate::time::Clock;

/// System that the device holds, with the particles of the host that get the new state.
pub struct System<'a> {
    /// Particles of the host.
    pub p: &'a mut Particles,
    /// Time axis.
    pub clock: Clock,
    /// ε².
    pub eps2: f64,
    /// External field.
    pub field: Option<StepField<'a>>,
}
