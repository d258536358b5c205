//! The film of a run: frames between its snapshots, each a picture of the light of all particles.
//!
//! [`Film::survey`] reads every snapshot once and settles what all frames share: the view, the range of the colours,
//! the moments. [`Film::render`] then draws frames on all cores, with a few snapshots in memory at a time. A frame
//! depends on the snapshots and the settings alone.

mod animation;
mod canvas;
mod cast;
mod film;
mod framing;
mod interpolation;
mod map;
mod overlay;
mod scale_bar;
mod settings;
mod shades;

pub use animation::Animation;
pub use film::Film;
pub use framing::default_colour;
pub use settings::{Axes, Centre, Colour, Frames, Settings};
