//! Promises of simulations in memory.

#[path = "../../../../tests/common/cluster.rs"]
mod cluster;
mod law_columns;
mod simulation;
mod stars;
