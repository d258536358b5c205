//! Promises on bits: the same on anything, at any cadence, and through a stop and a resume.

mod changed_settings;
mod cluster_runs;
mod collisions;
mod columns_of_laws;
mod determinism;
mod encounters;
mod energy;
mod engine_choice;
mod ensemble;
mod ensembles_by_laws;
mod ensembles_that_lose_stars;
mod external_field;
mod extrapolated;
mod galactic_orbits;
#[path = "../../../../tests/common/hdf.rs"]
mod hdf;
mod journals_of_ensembles;
mod kill_safety;
#[path = "../../../../tests/common/matrix.rs"]
mod matrix;
mod moving_fields;
mod orbit;
#[path = "../../../../tests/common/outcome.rs"]
mod outcome;
#[path = "../../../../tests/common/program.rs"]
mod program;
mod restart_bitwise;
#[path = "../../../../tests/common/statistics.rs"]
mod statistics;
mod stellar_evolution;
mod tides;
mod verify_cluster;
mod written_config;
