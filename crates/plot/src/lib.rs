//! Figures: one description, one drawing, written as SVG and as PNG, in a light and a dark theme.
//!
//! A [`Figure`] is a grid of [`Panel`]s, a panel two [`Axis`] and some [`Series`], over a [`Heat`] map where there is
//! one. Colours, markers, dashes, ticks, the room for labels and the place of the legend follow from that: nothing
//! about looks is asked of the caller. The same figure gives the same bytes.
//!
//! ```no_run
//! use tisane_plot::{Axis, Figure, Mark, Panel, Series, Theme};
//! let measured = vec![(0.1, 3e-6), (0.05, 2e-7), (0.025, 1.1e-8)];
//! let theory = vec![(0.1, 3e-6), (0.025, 1.17e-8)];
//! let mut panel = Panel::new("", Axis::log("ν"), Axis::log("|ΔE/E₀|"));
//! panel.series.push(Series::new("f64", Mark::LineAndPoints, measured));
//! panel.series.push(Series::new("∝ ν²", Mark::Dashed, theory));
//! let figure = Figure { title: "Energy error".into(), caption: String::new(), panels: vec![panel], columns: 1 };
//! figure.write("energy".as_ref(), &[Theme::Light, Theme::Dark])?;
//! # Ok::<(), tisane::Error>(())
//! ```

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod band;
mod binaries;
mod bins;
mod draw;
pub mod ensemble;
mod figure;
mod files;
mod font;
mod galaxy;
mod gallery;
mod heat;
pub mod initial;
mod journals;
mod layout;
mod legend;
mod mark;
mod mass_bins;
pub mod movie;
mod over_time;
mod palette;
mod quantity;
mod raster;
pub mod report;
mod room;
pub mod run;
mod scale;
mod segregation;
mod shells;
mod snapshots;
mod stellar;
mod subsystems;
mod svg;
pub mod table;
mod ticks;
mod tide;
mod track;

pub use figure::{Axis, Figure, Heat, Label, Mark, Panel, Scale, Series, Side, Theme};
pub use files::PictureFormat;
pub use tide::{ClusterTide, FindTide};

#[cfg(test)]
mod tests;
