//! Validation: published and exact results, each as a case that is data, run and held against its reference.
//!
//! A [`case`] is a folder under `validation/` with a `case.toml`: which configurations to run, which quantities to take
//! from them, what they should be, from which source, and how far off they may be. [`library`] finds cases, in the
//! program itself or in a folder; [`measure`] runs their configurations and keeps the particles as they moved, [`rows`]
//! has the program measure something and takes the rows that it prints; [`quantity`] computes what a check
//! names from such a run; [`verdict`] compares, and [`report`] writes the table.

pub mod case;
pub mod library;
pub mod measure;
pub mod quantity;
pub mod report;
pub mod rows;
pub mod run;
pub mod verdict;
