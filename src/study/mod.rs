//! Studies: sweeps that end in a table and figures.

pub mod papers;
