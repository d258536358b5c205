//! Forces between bodies: tides, the coupling of members with others, and the surroundings of a body.

pub mod bodies;
pub mod columns;
pub mod coupling;
pub mod orbit;
pub mod passing;
pub mod regions;
pub mod rings;
pub mod surroundings;
pub mod tides;
