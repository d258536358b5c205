//! Configurations of the tests in this folder: two systems, with outputs as a test needs them.

/// Binaries and encounters for the journals of the cluster, with softening.
pub const SOFTENED: &str = r#"
[run]
name = "loss"
t_end = 0.5
[initial.plummer]
n = 256
[initial.binaries]
fraction = 0.2
a_min = 0.003
a_max = 0.01
[softening]
epsilon = "1/1024"
[cluster]
encounter_radius = 8.0
"#;

/// Subsystems, which change from time to time, and the journal of their changes.
pub const SUBSYSTEMS: &str = r#"
[run]
name = "loss"
t_end = 0.5
[initial.plummer]
n = 128
seed = 2
[initial.binaries]
fraction = 0.6
a_min = 1e-5
a_max = 0.02
[encounters]
[cluster]
encounter_radius = 8.0
"#;

/// Returns the configuration of a system with all outputs as often as possible.
pub fn often(system: &str) -> String {
    let outputs = r#"
[integrator.hermite4]
dt_max = "1/32"
[output]
interval = "1/32"
snapshot_interval = "1/16"
[checkpoint]
interval = "5ms"
"#;
    format!("{system}{outputs}")
}

/// Returns the configuration of a system with few outputs, and no checkpoints between them.
pub fn seldom(system: &str) -> String {
    let outputs = r#"
[output]
interval = "1/8"
[checkpoint]
interval = "1h"
"#;
    format!("{system}{outputs}")
}
