//! Promises on integrators: block steps, orders of convergence, rounding, scaling.

mod ahmad_cohen;
mod block_steps;
mod changing_rows;
mod collisions;
#[path = "../common/mod.rs"]
mod common;
mod compensated;
mod contacts;
mod encounters;
mod escapers;
mod evolving;
mod external_field;
mod far_from_origin;
mod fast_bodies;
mod hermite4_order;
mod kinds;
mod laws;
mod leapfrog_order;
mod meetings;
mod multipoint_order;
mod rounding_steps;
mod steps_one_by_one;
mod subsystem_energy;
mod subsystem_events;
mod subsystems;
mod symmetry;
mod synchronised;
mod verify_scaling;
