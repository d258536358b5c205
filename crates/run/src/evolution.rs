//! Stars of a system that evolve: what is due at a moment, and what is told of it.

use crate::config::Config;
use rayon::prelude::*;
use tisane::compensated_sum::sum;
use tisane::particles::{EvolvingStar, Particles, Vec3};
use tisane::star_changes::{Loss, StarChange};
use tisane::time::{Clock, Time};
use tisane::units::Scale;
use tisane::units::names::{G_CGS, GM_SUN_CGS, R_SUN_CGS, YEAR_CGS};
use tisane_io::fields::{DiagnosticsRow, StellarRow, UserTime};
use tisane_stellar::{Error, Event, Kind, Model, Star, State};

/// Evolution of the stars of a system, with the sizes of its internal units.
#[derive(Clone, Debug)]
pub struct Evolution {
    /// Model of the stars.
    pub model: Model,
    /// Internal unit of mass, in solar masses.
    msun: f64,
    /// Internal unit of time, in Myr.
    myr: f64,
    /// Internal unit of velocity, in km/s.
    km_s: f64,
    /// Internal unit of length, in solar radii.
    rsun: f64,
    /// Largest relative loss of mass that the orbits do not follow yet.
    mass_step: f64,
}

/// Change of type of a star, as it is told.
#[derive(Clone, Copy, Debug)]
pub struct TypeChange {
    /// The change, in solar units, Myr and km/s.
    pub event: Event,
    /// Mass of the star at birth, in solar masses.
    pub birth_mass: f64,
    /// Moment at which the orbits have it.
    pub applied: Time,
}

impl Evolution {
    /// Returns the evolution of a configuration in which `scale` is the size of the internal units; [`None`] where stars do not age.
    ///
    /// # Errors
    /// If a number is outside of its range.
    pub fn of(config: &Config, scale: &Scale) -> Result<Option<Self>, Error> {
        let Some(settings) = &config.stellar_evolution else { return Ok(None) };
        let units = config.units();
        let seed = config.initial.sampled().map(|(_, _, seed)| seed);
        Ok(Some(Self {
            model: settings.model(seed)?,
            msun: scale.mass * units.mass.cgs / (GM_SUN_CGS / G_CGS),
            myr: scale.time * units.time.cgs / (1e6 * YEAR_CGS),
            km_s: scale.velocity * units.velocity.cgs / 1e5,
            rsun: scale.length * units.length.cgs / R_SUN_CGS,
            mass_step: settings.mass_step.get(),
        }))
    }

    /// Returns a moment in Myr.
    pub(crate) fn time(&self, clock: &Clock, now: Time) -> f64 {
        clock.time(now) * self.myr
    }

    /// Puts stars on their tracks at the start of a run: those of a snapshot go on, others are of an age (internal units) and their masses
    /// those at birth, and get their masses at the start.
    ///
    /// # Errors
    /// The id of the first star whose mass is out of range, with the error.
    pub(crate) fn begin(&self, p: &mut Particles, clock: &Clock, age: f64) -> Result<(), (u64, Error)> {
        let now = self.time(clock, Time::default());
        let known = if p.stars.len() == p.len() { std::mem::take(&mut p.stars) } else { Vec::new() };
        let is_known = !known.is_empty();
        let star = |row: usize| {
            let id = p.id[row];
            let track = match known.get(row).map(|star| star.track) {
                Some(Star { birth_mass, state, supernovae, .. }) => {
                    Star::resume(&self.model, id, birth_mass, now, &state).map(|track| Star { supernovae, ..track })
                }
                None => Star::new(&self.model, id, p.mass[row] * self.msun, now - age * self.myr),
            };
            let mut track = track.map_err(|error| (id, error))?;
            track.advance_to(&self.model, now, &mut Vec::new());
            Ok(EvolvingStar { track, seen: now })
        };
        let found: Vec<Result<EvolvingStar, (u64, Error)>> = (0..p.len()).into_par_iter().map(star).collect();
        p.stars = found.into_iter().collect::<Result<_, _>>()?;
        if age > 0.0 && !is_known {
            p.mass = p.stars.iter().map(|star| star.track.mass_at(now) / self.msun).collect();
        }
        Ok(())
    }

    /// Advances all tracks to `now`. Returns the changes that the orbits take over, in the order of the rows, and the changes of type.
    pub(crate) fn advance(&self, p: &mut Particles, clock: &Clock, now: Time) -> (Vec<StarChange>, Vec<TypeChange>) {
        let time = self.time(clock, now);
        let mut due: Vec<(usize, Vec<Event>)> = p
            .stars
            .par_iter_mut()
            .enumerate()
            .filter(|(_, star)| star.track.end <= time)
            .map(|(row, star)| {
                let mut events = Vec::new();
                star.track.advance_to(&self.model, time, &mut events);
                (row, events)
            })
            .collect();
        due.sort_by_key(|(row, _)| *row);
        let mut due = due.into_iter().peekable();
        let (mut changes, mut told) = (Vec::new(), Vec::new());
        for row in 0..p.stars.len() {
            let events = due.next_if(|(of, _)| *of == row).map(|(_, events)| events).unwrap_or_default();
            changes.extend(self.change(p, row, &events, time));
            let birth_mass = p.stars[row].track.birth_mass;
            told.extend(events.into_iter().map(|event| TypeChange { event, birth_mass, applied: now }));
        }
        for change in &changes {
            p.stars[change.row as usize].seen = time;
        }
        (changes, told)
    }

    /// Returns the change of a star that is due at a time in Myr, after changes of type.
    fn change(&self, p: &Particles, row: usize, events: &[Event], time: f64) -> Option<StarChange> {
        let EvolvingStar { track, seen } = &p.stars[row];
        let mass = track.mass_at(time) / self.msun;
        let ends = events.iter().any(|event| event.after.kind.is_remnant());
        if !ends && (mass - p.mass[row]).abs() <= self.mass_step * p.mass[row] {
            return None;
        }
        let kick = events.iter().map(|event| Vec3::from(event.kick) / self.km_s).sum::<Vec3>();
        let is_sudden = events.iter().any(|event| event.supernova.is_some());
        let loss = if is_sudden { Loss::Sudden } else { Loss::Slow((time - seen) / self.myr) };
        Some(StarChange { row: row as u32, mass, loss, kick, radius: None })
    }

    /// Returns the state of each star at a moment.
    #[must_use]
    pub fn states(&self, p: &Particles, clock: &Clock, now: Time) -> Vec<State> {
        let time = self.time(clock, now);
        p.stars.par_iter().map(|star| star.track.state_at(&self.model, time)).collect()
    }

    /// Sets what a row of diagnostics has of the stars at a moment.
    pub(crate) fn measure(&self, row: &mut DiagnosticsRow, p: &Particles, clock: &Clock, now: Time) {
        let states = self.states(p, clock, now);
        let count = |is: fn(Kind) -> bool| Some(states.iter().filter(|state| is(state.kind)).count() as u64);
        let remnants = states.iter().filter(|state| state.kind.is_remnant());
        row.initial_mass = Some(sum(p.stars.iter().map(|star| star.track.birth_mass / self.msun)));
        row.stellar_mass = Some(sum(states.iter().map(|state| state.mass / self.msun)));
        row.luminosity = Some(sum(states.iter().map(|state| state.luminosity)));
        row.giants = count(|kind| (Kind::HertzsprungGap..=Kind::ThermallyPulsingGiant).contains(&kind));
        row.white_dwarfs = count(|kind| (Kind::HeliumWhiteDwarf..=Kind::OxygenNeonWhiteDwarf).contains(&kind));
        row.neutron_stars = count(|kind| kind == Kind::NeutronStar);
        row.black_holes = count(|kind| kind == Kind::BlackHole);
        row.remnant_mass = Some(sum(remnants.map(|state| state.mass / self.msun)));
    }

    /// Returns the rows of changes of type.
    pub(crate) fn rows(&self, changes: &[TypeChange], clock: &Clock, scale: &Scale) -> Vec<StellarRow> {
        let row = |TypeChange { event, birth_mass, applied }: &TypeChange| {
            let Event { before, after, .. } = event;
            let kind = match (after.kind, event.supernova) {
                (Kind::NoRemnant, _) => "end",
                (_, Some(_)) => "supernova",
                (_, None) => "type",
            };
            StellarRow {
                time: UserTime(event.time / self.myr * scale.time),
                applied: UserTime(clock.time(*applied) * scale.time),
                id: event.id,
                event: kind.into(),
                type_before: before.kind.number().into(),
                stellar_type: after.kind.number().into(),
                initial_mass: birth_mass / self.msun,
                mass_before: before.mass / self.msun,
                mass: after.mass / self.msun,
                core_mass: after.core_mass / self.msun,
                radius: after.radius / self.rsun,
                luminosity: after.luminosity,
                temperature: if after.radius > 0.0 { after.temperature() } else { f64::NAN },
                kick: Vec3::from(event.kick) / self.km_s,
                fallback: event.supernova.map_or(f64::NAN, |supernova| supernova.fallback),
            }
        };
        changes.iter().map(row).collect()
    }
}
