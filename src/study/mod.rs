//! Studies: sweeps that end in a table and figures.

pub mod config;
pub mod journal;
pub mod papers;
pub mod trial;
