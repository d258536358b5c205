//! Promises on loss: kills, power cuts, full disks, lost devices, numbers that are not finite.

mod audit;
#[path = "../../../../tests/common/mod.rs"]
mod common;
mod configs;
mod ensembles;
mod failing_storage;
#[path = "../../../../tests/common/faulty.rs"]
mod faulty;
#[path = "../../../../tests/common/hdf.rs"]
mod hdf;
mod kills;
mod lost_engine;
#[path = "../../../../tests/common/mount.rs"]
mod mount;
mod not_finite;
#[path = "../../../../tests/common/outcome.rs"]
mod outcome;
mod power_cut;
#[path = "../../../../tests/common/program.rs"]
mod program;
mod short_steps;
#[path = "../../../../tests/common/simulated.rs"]
mod simulated;
#[path = "../../../../tests/common/strace.rs"]
mod strace;
mod verify_stress;
