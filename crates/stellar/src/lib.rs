//! Evolution of single stars: mass, radius, luminosity, temperature and type from birth to remnant, as pure functions
//! of the mass at birth, the metallicity and the options.
//!
//! The tracks are those of the fits of Hurley, Pols & Tout (2000), known as SSE, with newer winds and remnants. They
//! cover masses at birth from 0.1 to 100 solar masses (extrapolated from 0.01 to 150) and metallicities from 1e-4 to
//! 0.03. Nothing but `+ - * /`, square roots and `libm` is used: the same star has the same bits on every machine.
//!
//! ```
//! use tisane_stellar::{Kind, Model, Options, Star};
//!
//! let model = Model::new(0.02, Options::default())?;
//! let mut star = Star::new(&model, 42, 20.0, 0.0)?;
//! let mut events = Vec::new();
//! star.advance_to(&model, 5.0, &mut events);
//! let state = star.state_at(&model, 5.0);
//! assert_eq!(state.kind, Kind::MainSequence);
//! assert!(state.mass < 20.0 && state.radius > 5.0 && state.temperature() > 3e4);
//!
//! star.advance_to(&model, 20.0, &mut events);
//! let supernova = events.last().expect("a star of 20 solar masses explodes within 20 Myr");
//! assert!(supernova.after.kind == Kind::BlackHole || supernova.after.kind == Kind::NeutronStar);
//! # Ok::<(), tisane_stellar::Error>(())
//! ```
//!
//! # Units
//! Masses, radii and luminosities in those of the Sun, times in Myr, velocities in km/s, temperatures in K.
//!
//! # A track
//! A [`Star`] is a stretch of its track: the [`State`] at the begin, and when and with which mass the stretch ends.
//! Inside, the mass changes linearly. [`Star::advance_to`] follows the track until its stretch ends after a time; each
//! change of type on the way is an [`Event`], at the end of a stretch exactly, with supernova and kick.
//! [`Star::mass_at`] and [`Star::state_at`] look into the present stretch. The track does not depend on the times of
//! these calls. A star is plain data: it can be written and read back, and [`Star::resume`] makes one of a state alone.
//!
//! Stretches are as long as the time scales of the phase allow ([`Steps`]), lose at most 1 % of the mass, and change
//! the radius by at most 10 %. Against very fine steps, the default ones give the times of changes of type within 5e-4.
//! Masses of remnants differ by 0.1 % in the median, by 1 % at worst in nine of ten stars, by 2 % at worst in all.
//!
//! # Sources
//! | what | source | here |
//! |---|---|---|
//! | zero age | Tout, Pols, Eggleton & Han 1996, MNRAS 281, 257 | [`Landmarks`] |
//! | time scales, luminosities, radii, cores | Hurley, Pols & Tout 2000, MNRAS 315, 543 | [`Landmarks`], [`HeliumLandmarks`], [`Life`] |
//! | cooling of white dwarfs | Hurley & Shara 2003, ApJ 589, 179 | [`Life::evaluate`] |
//! | winds | the same; Vink et al. 2001, A&A 369, 574; Belczynski et al. 2010, ApJ 714, 1217 | [`Winds`] |
//! | remnants | the same; Belczynski et al. 2002, ApJ 572, 407 and 2008, ApJS 174, 223; Fryer et al. 2012, ApJ 749, 91 | [`Remnants`] |
//! | pair instability | Belczynski et al. 2016, A&A 594, A97; Leung et al. 2019, ApJ 887, 72 | [`PairInstability`] |
//! | kicks | Hobbs et al. 2005, MNRAS 360, 974 | [`Kicks`] |
//! | Roche lobes | Eggleton 1983, ApJ 268, 368 | [`roche_lobe`] |
//! | mergers | Hurley, Tout & Pols 2002, MNRAS 329, 897 | [`merge`] |
//! | light in V | Flower 1996, ApJ 469, 355; Torres 2010, AJ 140, 1158 | [`State::visual_luminosity`] |
//!
//! Equation numbers in these pages are those of Hurley, Pols & Tout (2000) where no other paper is named. Where the
//! paper and the authors' code differ, the code is followed: A_He = 8e-5, the exponents of b17 and of τ_bl, x of the
//! main sequence linear in Z, p and q between 2 and 2.5 solar masses. Z = 0.02 is the Sun's in all formulae.
//!
//! # What is not here
//! No stars before the main sequence, no rotation, no magnetic fields of pulsars. No mass transfer, common envelope or
//! tides: the radius of a star in a close binary may exceed its Roche lobe. No convective envelopes. White dwarfs get
//! no kicks. Electron capture is for hydrogen giants only. Above 100 solar masses the fits are extrapolated; SSE stops
//! them there. Above 150, where only mergers lead, a star has the time scales, luminosities and cores of one of 150.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod clock;
mod coefficients;
mod compact;
mod envelope;
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
mod photometry;
mod remnants;
mod roche;
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
pub use roche::roche_lobe;
pub use star::{Event, Star};
pub use state::{Class, Kind, State};
pub use winds::{WindRecipe, Winds};
