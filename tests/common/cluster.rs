//! Configuration of a cluster, for tests of several crates.

/// A cluster in units by name, whose steps follow from its particles; without `[run]`.
pub const CLUSTER: &str = "
[units]
mass = 'Msun'
length = 'pc'
velocity = 'km/s'
time = 'Myr'
[initial.plummer]
n = 64
mass = 50.0
virial_radius = 1.0
[force]
threads = 1
";

/// The cluster in a run of 30 Myr.
pub fn run() -> String {
    format!("run = {{ name = 'x', t_end = 30.0 }}\n{CLUSTER}")
}
