//! Promises on input: mistakes are reported with their locations, and hostile input does no harm.

mod bad_input;
#[path = "../../../../tests/common/cluster.rs"]
mod cluster;
mod config_files;
mod derived_steps;
mod external_fields;
mod fuzz_corpus;
#[path = "../../../../tests/common/hdf.rs"]
mod hdf;
mod initial_elements;
mod initial_sections;
#[path = "../../../../tests/common/mount.rs"]
mod mount;
#[path = "../../../../tests/common/outcome.rs"]
mod outcome;
#[path = "../../../../tests/common/program.rs"]
mod program;
mod reports;
mod security;
#[path = "../../../../tests/common/statistics.rs"]
mod statistics;
#[path = "../../../../tests/common/strace.rs"]
mod strace;
mod subsystems_by_default;
#[path = "../../../../tests/common/transcript.rs"]
mod transcript;
mod uniform_sphere;
mod units_everywhere;
