//! What the stars of a run do until its end: exact, because tracks do not depend on orbits.

use crate::evolution::Evolution;
use rayon::prelude::*;
use tisane::compensated_sum::sum;
use tisane::particles::Particles;
use tisane::time::{Clock, Time};
use tisane_stellar::{Event, Kind};

/// Stars at the end of a run, in solar units, Myr and km/s.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StarForecast {
    /// Number of stars.
    pub stars: usize,
    /// Number of those that change their type.
    pub changing: usize,
    /// Number of new white dwarfs, neutron stars, black holes, and stars that leave nothing.
    pub white_dwarfs: usize,
    /// See [`Self::white_dwarfs`].
    pub neutron_stars: usize,
    /// See [`Self::white_dwarfs`].
    pub black_holes: usize,
    /// See [`Self::white_dwarfs`].
    pub nothing: usize,
    /// Mass of all at the start and at the end.
    pub mass: [f64; 2],
    /// Number of supernovae, and the time of the first.
    pub supernovae: usize,
    /// See [`Self::supernovae`].
    pub first_supernova: Option<f64>,
    /// Speeds of the kicks, ascending.
    pub kicks: Vec<f64>,
    /// Mean number of stretches of a track.
    pub stretches: f64,
}

impl StarForecast {
    /// Follows the stars of particles from the start of a time axis to its end.
    #[must_use]
    pub fn new(evolution: &Evolution, p: &Particles, clock: &Clock, end: Time) -> Self {
        let (start, end) = (evolution.time(clock, Time::default()), evolution.time(clock, end));
        let ends: Vec<(f64, f64, u32, Vec<Event>)> = p
            .stars
            .par_iter()
            .map(|star| {
                let (mut track, mut events) = (star.track, Vec::new());
                let before = track.stretches;
                track.advance_to(&evolution.model_of(star.metallicity), end, &mut events);
                (star.track.mass_at(start), track.mass_at(end), track.stretches - before, events)
            })
            .collect();
        let events = || ends.iter().flat_map(|(.., events)| events);
        let number =
            |is: fn(Kind) -> bool| events().filter(|event| is(event.after.kind) && !is(event.before.kind)).count();
        let supernovae = || events().filter(|event| event.supernova.is_some());
        let mut kicks: Vec<f64> =
            supernovae().map(|event| event.kick.iter().map(|v| v * v).sum::<f64>().sqrt()).collect();
        kicks.sort_by(f64::total_cmp);
        Self {
            stars: ends.len(),
            changing: ends.iter().filter(|(.., events)| !events.is_empty()).count(),
            white_dwarfs: number(|kind| kind >= Kind::HeliumWhiteDwarf && kind <= Kind::OxygenNeonWhiteDwarf),
            neutron_stars: number(|kind| kind == Kind::NeutronStar),
            black_holes: number(|kind| kind == Kind::BlackHole),
            nothing: number(|kind| kind == Kind::NoRemnant),
            mass: [sum(ends.iter().map(|end| end.0)), sum(ends.iter().map(|end| end.1))],
            supernovae: supernovae().count(),
            first_supernova: supernovae().map(|event| event.time).reduce(f64::min),
            kicks,
            stretches: ends.iter().map(|end| f64::from(end.2)).sum::<f64>() / ends.len().max(1) as f64,
        }
    }
}
