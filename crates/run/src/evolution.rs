//! Evolution of the stars of a system: the changes that are due at a moment, and the rows of the journal about them.

pub(crate) mod births;

use crate::config::{Config, Radii};
use rayon::prelude::*;
use std::borrow::Cow;
use tisane::compensated_sum::sum;
use tisane::encounters::CollisionAction;
use tisane::particles::{EvolvingStar, Particles, Vec3};
use tisane::star_changes::{Loss, StarChange};
use tisane::time::{Clock, Time};
use tisane::units::Scale;
use tisane::units::names::{G_CGS, GM_SUN_CGS, R_SUN_CGS, YEAR_CGS};
use tisane_io::fields::{DiagnosticsRow, StellarRow, UserTime};
use tisane_io::stellar_columns::StarState;
use tisane_stellar::{Class, Error, Event, Kind, Merger, Model, State, merge};

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
    /// Internal unit of time, in that of the user.
    user_time: f64,
    /// Age of stars where they begin, in Myr.
    age: f64,
    /// Largest relative loss of mass that the orbits do not follow yet.
    mass_step: f64,
    /// Flag that the particles have the radii of the stars.
    has_radii: bool,
    /// Flag that stars may become one.
    pub(crate) merges: bool,
}

/// Relative change of a radius from which on particles have the new one.
const RADIUS_STEP: f64 = 0.01;

/// Change of type of a star, for the journal.
#[derive(Clone, Copy, Debug)]
pub struct TypeChange {
    /// The change, in solar units, Myr and km/s.
    pub event: Event,
    /// Mass of the star at birth, in solar masses.
    pub birth_mass: f64,
    /// Moment at which the orbits have it.
    pub applied: Time,
    /// The other star, where two have become one.
    pub merged: Option<u64>,
    /// The other star of the pair, or one of the others, where the star has begun to fill its Roche lobe: then its type stays.
    pub contact: Option<u64>,
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
        let myr = scale.time * units.time.cgs / (1e6 * YEAR_CGS);
        Ok(Some(Self {
            model: settings.model(seed)?,
            msun: scale.mass * units.mass.cgs / (GM_SUN_CGS / G_CGS),
            myr,
            user_time: scale.time,
            age: settings.start_age.get() / scale.time * myr,
            km_s: scale.velocity * units.velocity.cgs / 1e5,
            rsun: scale.length * units.length.cgs / R_SUN_CGS,
            mass_step: settings.mass_step.get(),
            has_radii: config.collisions.as_ref().is_some_and(|it| it.radii == Radii::Evolution),
            merges: config.collisions.as_ref().is_some_and(|it| it.action == CollisionAction::Merge),
        }))
    }

    /// Returns the internal unit of length, in solar radii.
    pub(crate) const fn rsun(&self) -> f64 {
        self.rsun
    }

    /// Returns a moment in Myr.
    pub(crate) fn time(&self, clock: &Clock, now: Time) -> f64 {
        clock.time(now) * self.myr
    }

    /// Returns the model of a star with this metallicity of its own, or that of all.
    pub(crate) fn model_of(&self, metallicity: Option<f64>) -> Cow<'_, Model> {
        let own = metallicity.filter(|z| *z != self.model.metallicity().z());
        #[allow(clippy::expect_used, reason = "every star gets its metallicity by a model that could be made")]
        own.map_or(Cow::Borrowed(&self.model), |z| {
            Cow::Owned(self.model.at_metallicity(z).expect("a metallicity of the fits"))
        })
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
                let model = self.model_of(star.metallicity);
                star.track.advance_to(&model, time, &mut events);
                (row, events)
            })
            .collect();
        due.sort_by_key(|(row, _)| *row);
        let mut due = due.into_iter().peekable();
        let radii = if self.has_radii { self.radii(p, time) } else { Vec::new() };
        let (mut changes, mut told) = (Vec::new(), Vec::new());
        for row in 0..p.stars.len() {
            let events = due.next_if(|(of, _)| *of == row).map(|(_, events)| events).unwrap_or_default();
            changes.extend(self.change(p, row, (&events, radii.get(row).copied()), time));
            let birth_mass = p.stars[row].track.birth_mass;
            told.extend(events.into_iter().map(|event| TypeChange {
                event,
                birth_mass,
                applied: now,
                merged: None,
                contact: None,
            }));
        }
        for change in &changes {
            let star = &mut p.stars[change.row as usize];
            (star.seen, star.kick) = (time, [0.0; 3]);
        }
        (changes, told)
    }

    /// Returns the state of a star at a time in Myr, to which its track has been followed.
    fn state_at(&self, star: &EvolvingStar, time: f64) -> State {
        star.track.state_at(&self.model_of(star.metallicity), time)
    }

    /// Returns a time in internal units in Myr, and the state of a star then, to which its track has been followed.
    pub(crate) fn present(&self, star: &EvolvingStar, at: f64) -> (f64, State) {
        let time = at * self.myr;
        (time, self.state_at(star, time))
    }

    /// Returns the radii of the stars at a time in Myr.
    fn radii(&self, p: &Particles, time: f64) -> Vec<f64> {
        p.stars.par_iter().map(|star| self.state_at(star, time).radius / self.rsun).collect()
    }

    /// Returns the change of a star that is due at a time in Myr, after changes of type, where it has a radius then.
    fn change(
        &self,
        p: &Particles,
        row: usize,
        (events, radius): (&[Event], Option<f64>),
        time: f64,
    ) -> Option<StarChange> {
        let EvolvingStar { track, seen, kick: pending, .. } = &p.stars[row];
        let mass = track.mass_at(time) / self.msun;
        let ends = events.iter().any(|event| event.after.kind.is_remnant());
        let is_resized = radius.is_some_and(|radius| (radius - p.radius[row]).abs() > RADIUS_STEP * p.radius[row]);
        let loses = ends || *pending != [0.0; 3] || (mass - p.mass[row]).abs() > self.mass_step * p.mass[row];
        if !loses {
            let (mass, loss, kick) = (p.mass[row], Loss::Sudden, Vec3::zeros());
            return is_resized.then_some(StarChange { row: row as u32, mass, loss, kick, radius });
        }
        let kicks = events.iter().map(|event| &event.kick).chain([pending]);
        let kick = kicks.map(|kick| Vec3::from(*kick) / self.km_s).sum::<Vec3>();
        let is_sudden = events.iter().any(|event| event.supernova.is_some());
        let loss = if is_sudden { Loss::Sudden } else { Loss::Slow((time - seen) / self.myr) };
        Some(StarChange { row: row as u32, mass, loss, kick, radius })
    }

    /// Returns the star that two become by a merger at a time in internal units, with the id of `first`, and the row for the journal.
    pub(crate) fn merge(
        &self,
        [mut first, mut second]: [EvolvingStar; 2],
        time: f64,
        applied: Time,
    ) -> (EvolvingStar, Vec<TypeChange>) {
        let (time, mut told) = (time * self.myr, Vec::new());
        for star in [&mut first, &mut second] {
            let mut events = Vec::new();
            star.track.advance_to(&self.model_of(star.metallicity), time, &mut events);
            let (id, birth_mass) = (star.track.id, star.track.birth_mass);
            for event in events {
                (0..3).for_each(|k| star.kick[k] += event.kick[k]);
                told.push(TypeChange {
                    event: Event { id, ..event },
                    birth_mass,
                    applied,
                    merged: None,
                    contact: None,
                });
            }
        }
        let (before, other) = (self.state_at(&first, time), second.track.id);
        let metallicity = self.mixed([&first, &second], time);
        let [model, of_first, of_second] =
            [metallicity, first.metallicity, second.metallicity].map(|z| self.model_of(z));
        let tracks = [&first.track, &second.track];
        let Merger { star: track, supernova, kick } = merge([&of_first, &of_second], &model, tracks, time);
        let after = track.state_at(&model, time);
        let event = Event { id: track.id, time, before, after, supernova, kick };
        told.push(TypeChange { event, birth_mass: track.birth_mass, applied, merged: Some(other), contact: None });
        let kick = std::array::from_fn(|k| first.kick[k] + kick[k]);
        (EvolvingStar { track, seen: first.seen.max(second.seen), fills_lobe: false, metallicity, kick }, told)
    }

    /// Returns the metallicity of two stars that have become one at a time in Myr: the mean by mass, of its own where one of them has one.
    fn mixed(&self, stars: [&EvolvingStar; 2], time: f64) -> Option<f64> {
        if stars[0].metallicity == stars[1].metallicity {
            return stars[0].metallicity;
        }
        let [one, two] = stars.map(|star| (star.track.mass_at(time), self.metallicity_of(star)));
        let mass = one.0 + two.0;
        Some(if mass > 0.0 { one.1 + (two.1 - one.1) * (two.0 / mass) } else { one.1 })
    }

    /// Returns the metallicity of a star.
    fn metallicity_of(&self, star: &EvolvingStar) -> f64 {
        star.metallicity.unwrap_or(self.model.metallicity().z())
    }

    /// Returns the stars at a time in internal units, to which their tracks are followed, in the order of the particles.
    #[must_use]
    pub fn stars_at(&self, p: &Particles, at: f64) -> Vec<StarState> {
        let time = at * self.myr;
        let own = p.stars.iter().any(|star| star.metallicity.is_some());
        let star = |star: &EvolvingStar| {
            let (mut track, model) = (star.track, self.model_of(star.metallicity));
            track.advance_to(&model, time, &mut Vec::new());
            let metallicity = own.then(|| model.metallicity().z());
            StarState { initial_mass: track.birth_mass, metallicity, state: track.state_at(&model, time) }
        };
        p.stars.par_iter().map(star).collect()
    }

    /// Returns the state of each star at a moment.
    #[must_use]
    pub fn states(&self, p: &Particles, clock: &Clock, now: Time) -> Vec<State> {
        let time = self.time(clock, now);
        p.stars.par_iter().map(|star| self.state_at(star, time)).collect()
    }

    /// Sets what a row of diagnostics has of the stars at a moment.
    pub(crate) fn measure(&self, row: &mut DiagnosticsRow, p: &Particles, clock: &Clock, now: Time) {
        let states = self.states(p, clock, now);
        let count = |class| Some(states.iter().filter(|state| state.kind.class() == Some(class)).count() as u64);
        let remnants = states.iter().filter(|state| state.kind.is_remnant());
        row.initial_mass = Some(sum(p.stars.iter().map(|star| star.track.birth_mass / self.msun)));
        row.stellar_mass = Some(sum(states.iter().map(|state| state.mass / self.msun)));
        row.luminosity = Some(sum(states.iter().map(|state| state.luminosity)));
        row.giants = count(Class::Giant);
        row.white_dwarfs = count(Class::WhiteDwarf);
        row.neutron_stars = count(Class::NeutronStar);
        row.black_holes = count(Class::BlackHole);
        row.remnant_mass = Some(sum(remnants.map(|state| state.mass / self.msun)));
    }

    /// Returns the rows of changes of type.
    pub(crate) fn rows(&self, changes: &[TypeChange], clock: &Clock, scale: &Scale) -> Vec<StellarRow> {
        let row = |TypeChange { event, birth_mass, applied, merged, contact }: &TypeChange| {
            let Event { before, after, .. } = event;
            let kind = match (after.kind, event.supernova, merged) {
                _ if contact.is_some() => "roche",
                (_, _, Some(_)) => "merger",
                (Kind::NoRemnant, ..) => "end",
                (_, Some(_), _) => "supernova",
                (_, None, _) => "type",
            };
            StellarRow {
                time: UserTime(event.time / self.myr * scale.time),
                applied: UserTime(clock.time(*applied) * scale.time),
                id: event.id,
                other_id: merged.or(*contact).map_or_else(String::new, |id| id.to_string()),
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
