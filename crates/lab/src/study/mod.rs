//! Studies: sweeps that end in a table and figures.
//!
//! A study is one TOML ([`config`]) that says what to sweep over. Each finished point is kept at once in a [`journal`];
//! a study that is killed goes on where it was. What is measured is a [`trial`], a run without files, or the error of
//! some forces. The rows become tables ([`tisane_io::table`]) and [`figures`], beside what the [papers](crate::literature::tables) report and
//! what theory says ([`laws`]).
//!
//! From trials come three helpers of users: the performance [`model`] of a machine, which [`predict`]s what a run will
//! take, the [`forecast`] by the [`pace`] of its beginning, which does so without a model, and [`advise`], which recommends an integrator, a mode and an accuracy.

pub mod advise;
pub mod config;
pub mod convergence;
pub mod cost;
pub mod cpu_time;
pub mod energy;
pub mod figures;
pub mod fit;
pub mod force;
pub mod forecast;
pub mod integrators;
pub mod journal;
pub mod laws;
pub mod model;
pub mod pace;
pub mod plummer;
pub mod points;
pub mod predict;
pub mod report;
pub mod together;
pub mod trial;
pub mod trials;
pub mod wall_time;
