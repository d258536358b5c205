//! Settings of one session of a run.

use crate::config::{DeviceSet, Engine};
use crate::team::Team;

/// Settings of one session of a run, which override those of the configuration and are not saved in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Session {
    /// Engine in place of the configured one.
    pub engine: Option<Engine>,
    /// Number of the GPU in place of the configured one.
    pub device: Option<u32>,
    /// Numbers of several GPUs in place of the configured ones.
    pub devices: Option<DeviceSet>,
    /// Flag that several GPUs are taken also where one is quicker, to measure them.
    pub always_several: bool,
    /// Flag to profile the session.
    pub profile: bool,
    /// Ranks of MPI that compute the forces together.
    pub team: Option<&'static Team>,
}
