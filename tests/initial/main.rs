//! Promises on initial models and on what is found of a cluster.

mod binary_single;
mod eigenevolution;
mod initial_models;
mod initial_population;
mod plummer;
mod small_models;
#[path = "../common/statistics.rs"]
mod statistics;
