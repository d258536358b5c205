//! Evolution of single stars.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod clock;
mod coefficients;
mod compact;
mod error;
mod giants;
mod helium;
mod kicks;
mod landmarks;
mod main_sequence;
mod mergers;
mod metallicity;
mod model;
mod numbers;
mod phases;
mod remnants;
mod star;
mod state;
mod tables;
mod winds;

pub use clock::{Clock, Relation};
pub use error::Error;
pub use helium::HeliumLandmarks;
pub use kicks::{BlackHoleKicks, Kicks};
pub use landmarks::Landmarks;
pub use main_sequence::Shape;
pub use mergers::{Merger, merge, merged_kind};
pub use metallicity::Metallicity;
pub use model::{Model, Options, Steps};
pub use phases::{Evaluated, Life};
pub use remnants::{Cause, PairInstability, RemnantRecipe, Remnants, Supernova};
pub use star::{Event, Star};
pub use state::{Kind, State};
pub use winds::{WindRecipe, Winds};
