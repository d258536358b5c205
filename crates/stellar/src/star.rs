//! A star's track: stretches of time over which its mass changes linearly, each found from the one before.

use crate::error::Error;
use crate::landmarks::Landmarks;
use crate::model::Model;
use crate::phases::Life;
use crate::remnants::Supernova;
use crate::state::{Kind, State};

/// Largest share of the mass that a stretch loses.
const LARGEST_LOSS: f64 = 0.01;
/// Largest relative change of the radius over a stretch, and what a longer one is shortened to.
const LARGEST_SWELLING: f64 = 0.1;
const INTENDED_SWELLING: f64 = 0.09;
/// Shortest stretch as a share of the age, and in Myr: some phases have no length at all.
const SHORTEST: f64 = 1e-7;
const SHORTEST_MYR: f64 = 1e-9;
/// Longest stretch of thermal pulses, in Myr.
const LONGEST_OF_PULSES: f64 = 0.005;

/// A star on its track, as plain data: the state at the begin of the present stretch, and when and with which mass it
/// ends.
///
/// Inside of the stretch the mass changes linearly, and the type does not change. The track is a function of the star's
/// birth and the [`Model`] alone: it does not depend on how often, or at which times, the star is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Star {
    /// Identity: kicks are drawn by it.
    pub id: u64,
    /// Mass at birth, in solar masses.
    pub birth_mass: f64,
    /// State at the begin of the stretch.
    pub state: State,
    /// Begin of the stretch, in Myr.
    pub begin: f64,
    /// End of the stretch, in Myr: infinite for remnants, which do not change their mass any more.
    pub end: f64,
    /// Mass at the end of the stretch, in solar masses, before any change of type there.
    pub end_mass: f64,
    /// Number of supernovae of this star so far.
    pub supernovae: u32,
    /// Number of stretches so far.
    pub stretches: u32,
}

/// Change of type of a star, with the supernova if it was one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// Identity of the star.
    pub id: u64,
    /// Time, in Myr.
    pub time: f64,
    /// State before: masses and age at the moment; core, luminosity and radius at the begin of the last stretch.
    pub before: State,
    /// State after.
    pub after: State,
    /// The supernova.
    pub supernova: Option<Supernova>,
    /// Kick, in km/s: zero without supernova.
    pub kick: [f64; 3],
}

impl Star {
    /// Least and greatest mass at birth, in solar masses. The fits are made for 0.1 to 100; outside they are
    /// extrapolated.
    pub const BIRTH_MASSES: (f64, f64) = (0.01, Landmarks::HEAVIEST);

    /// Greatest age with which a star may begin, and latest start of a run with stars, in Myr: some seventy Hubble times. Of much larger
    /// ones a stretch is lost in the rounding.
    pub const LATEST: f64 = 1e6;

    /// Creates a star of mass `birth_mass`, in solar masses, on the zero-age main sequence at the time `birth`, in Myr.
    ///
    /// # Errors
    /// If the mass is outside of [`Self::BIRTH_MASSES`].
    pub fn new(model: &Model, id: u64, birth_mass: f64, birth: f64) -> Result<Self, Error> {
        let mass = Error::unless_within("mass at birth in solar masses", birth_mass, Self::BIRTH_MASSES)?;
        let state = State {
            kind: Kind::MainSequence,
            effective_mass: mass,
            mass,
            core_mass: 0.0,
            age: 0.0,
            luminosity: 0.0,
            radius: 0.0,
        };
        let life = Life::new(model, state.kind, mass);
        Ok(Self::with_state(model, id, mass, birth, life.evaluate(model, &state).state))
    }

    /// Creates a star in a given state at a time, in Myr: one of a snapshot. Luminosity and radius follow from the
    /// rest.
    ///
    /// # Errors
    /// If masses or age are out of range.
    pub fn resume(model: &Model, id: u64, birth_mass: f64, time: f64, state: &State) -> Result<Self, Error> {
        let least = if state.kind == Kind::NoRemnant { 0.0 } else { f64::MIN_POSITIVE };
        Error::unless_within("present mass in solar masses", state.mass, (least, f64::MAX))?;
        Error::unless_within("effective initial mass in solar masses", state.effective_mass, (least, f64::MAX))?;
        Error::unless_within("core mass in solar masses", state.core_mass, (0.0, state.mass))?;
        Error::unless_within("age in Myr", state.age, (0.0, f64::MAX))?;
        Ok(Self::with_state(model, id, birth_mass, time, *state))
    }

    /// Returns a star in this state. Where its type ends just now, the stretch has no length: the next advance changes
    /// it.
    pub(crate) fn with_state(model: &Model, id: u64, birth_mass: f64, time: f64, state: State) -> Self {
        let life = Life::new(model, state.kind, state.effective_mass);
        let found = life.evaluate(model, &state).state;
        let state = State { luminosity: found.luminosity, radius: found.radius, ..state };
        let star =
            Self { id, birth_mass, state, begin: time, end: time, end_mass: state.mass, supernovae: 0, stretches: 0 };
        if found.kind == state.kind { star.with_stretch(model, &life, found, time) } else { star }
    }

    /// Returns the epoch, in Myr: the time at which the present life had the age 0.
    #[must_use]
    pub fn epoch(&self) -> f64 {
        self.begin - self.state.age
    }

    /// Advances the track until its stretch ends after `now`, in Myr, and appends the changes of type on the way.
    pub fn advance_to(&mut self, model: &Model, now: f64, events: &mut Vec<Event>) {
        if self.end > now {
            return;
        }
        let mut life = Life::new(model, self.state.kind, self.state.effective_mass);
        while self.end <= now {
            let (end, before) = (self.end, events.len());
            events.extend(self.advance(model, &mut life));
            // So far from the time 0 a stretch has no length among the numbers: others would follow for ever.
            if self.end == end && events.len() == before {
                return;
            }
        }
    }

    /// Advances the track by one stretch. `life` are the time scales of the star before and after.
    fn advance(&mut self, model: &Model, life: &mut Life) -> Option<Event> {
        let before = self.moved(model, life, self.end, self.end_mass);
        let found = life.evaluate(model, &before);
        if !life.is_of(&found.state) {
            *life = Life::new(model, found.state.kind, found.state.effective_mass);
        }
        let (kind, time) = (self.state.kind, self.end);
        let kick = |s| model.options().kicks.draw(found.state.kind, s, self.id, self.supernovae);
        let event = (found.state.kind != kind).then(|| Event {
            id: self.id,
            time,
            before: State { kind, ..before },
            after: found.state,
            supernova: found.supernova,
            kick: found.supernova.as_ref().map_or([0.0; 3], kick),
        });
        self.supernovae += u32::from(found.supernova.is_some());
        *self = self.with_stretch(model, life, found.state, time);
        event
    }

    /// Returns the star with the stretch that begins with a state at a time.
    fn with_stretch(&self, model: &Model, life: &Life, state: State, begin: f64) -> Self {
        let (length, loss) = stretch(model, life, &state);
        let (end, end_mass) = (begin + length, state.mass - loss);
        Self { state, begin, end, end_mass, stretches: self.stretches + 1, ..*self }
    }

    /// Returns the star's state at a time inside of the stretch and with a mass, before its phase is looked at. Young
    /// stars and helium stars that lose mass become those of a lower effective mass, at the same share of their phase.
    /// `life` are the time scales before and after.
    fn moved(&self, model: &Model, life: &mut Life, time: f64, mass: f64) -> State {
        let (state, passed) = (self.state, time - self.begin);
        let stays = State { mass, age: state.age + passed, ..state };
        if mass >= state.mass {
            return stays;
        }
        let changes = state.kind <= Kind::HertzsprungGap || state.kind == Kind::HeliumMainSequence;
        let new = if changes { Life::new(model, state.kind, mass) } else { return stays };
        let begin = match (&*life, &new) {
            (Life::Hydrogen(old), Life::Hydrogen(new)) if state.kind == Kind::HertzsprungGap => {
                // A lighter star must not have a core that it could not have made.
                if new.mc_bgb < state.core_mass || !old.is_below_fgb() {
                    return stays;
                }
                let share = (state.age - old.t_ms) / (old.t_bgb - old.t_ms);
                new.t_ms + (new.t_bgb - new.t_ms) * share
            }
            (Life::Hydrogen(old), Life::Hydrogen(new)) => state.age * new.t_ms / old.t_ms,
            (Life::Helium(old), Life::Helium(new)) => state.age * new.t_hems / old.t_hems,
            _ => return stays,
        };
        *life = new;
        State { effective_mass: mass, age: begin + passed, ..stays }
    }

    /// Returns the mass at a time of the present stretch, in solar masses.
    #[must_use]
    pub fn mass_at(&self, time: f64) -> f64 {
        if time >= self.end {
            return self.end_mass;
        }
        let share = ((time - self.begin) / (self.end - self.begin)).max(0.0);
        self.state.mass + (self.end_mass - self.state.mass) * share
    }

    /// Returns the state at a time of the present stretch. The type is that of the stretch: it changes at its end.
    #[must_use]
    pub fn state_at(&self, model: &Model, time: f64) -> State {
        let time = time.max(self.begin).min(self.end);
        let mut life = Life::new(model, self.state.kind, self.state.effective_mass);
        let state = self.moved(model, &mut life, time, self.mass_at(time));
        let found = life.evaluate(model, &state).state;
        let is_helium_giant = |kind| matches!(kind, Kind::HeliumHertzsprungGap | Kind::HeliumGiantBranch);
        if found.kind == state.kind || (is_helium_giant(found.kind) && is_helium_giant(state.kind)) {
            State { kind: state.kind, ..found }
        } else {
            // Within rounding of the end: what the star becomes is not for now.
            State { luminosity: self.state.luminosity, radius: self.state.radius, ..state }
        }
    }
}

/// Returns the length of the stretch that begins with a state, in Myr, and the mass lost in it.
fn stretch(model: &Model, life: &Life, star: &State) -> (f64, f64) {
    let Some(phase) = Phase::of(model, life, star) else { return (f64::INFINITY, 0.0) };
    let length = step(model, life, star, &phase);
    let rate = model.options().winds.mass_loss(model.metallicity().z(), star);
    let (loss, envelope, most) = (rate * length, star.mass - star.core_mass, LARGEST_LOSS * star.mass);
    if loss <= 0.0 {
        return (length, 0.0);
    }
    let (length, loss) = if envelope < loss { (length * envelope / loss, envelope) } else { (length, loss) };
    if loss > most { (length * most / loss, most) } else { (length, loss) }
}

/// What bounds the step of a phase, in Myr.
struct Phase {
    /// Share of a time scale of the phase.
    step: f64,
    /// Rest of the phase.
    rest: f64,
}

impl Phase {
    /// Returns the bounds for a star, [`None`] for remnants.
    fn of(model: &Model, life: &Life, star: &State) -> Option<Self> {
        let (steps, t, m) = (&model.options().steps, star.age, star.mass);
        let (step, end) = match life {
            Life::Remnant => return None,
            Life::Helium(marks) if star.kind == Kind::HeliumMainSequence => {
                (steps.main_sequence * marks.t_hems, marks.t_hems)
            }
            Life::Helium(marks) => (steps.giants * (marks.clock.end(t) - t), marks.t_n(m)),
            Life::Hydrogen(marks) => {
                let t_n = marks.t_n(star.kind, m);
                match star.kind {
                    Kind::HertzsprungGap => (steps.main_sequence * (marks.t_bgb - marks.t_ms), marks.t_bgb),
                    Kind::GiantBranch => (steps.giants * (marks.giant_branch.end(t) - t), marks.t_hei.min(t_n)),
                    Kind::CoreHeliumBurning => (steps.giants * marks.t_he, marks.t_bagb.min(t_n)),
                    Kind::EarlyAsymptoticGiant => {
                        (steps.asymptotic * (marks.early_agb.end(t) - t), marks.t_du.min(t_n))
                    }
                    Kind::ThermallyPulsingGiant => {
                        ((steps.asymptotic * (marks.pulsing_agb.end(t) - t)).min(LONGEST_OF_PULSES), t_n)
                    }
                    _ => (steps.main_sequence * marks.t_ms, marks.t_ms),
                }
            }
        };
        Some(Self { step, rest: end - t })
    }
}

/// Returns the length of a step, in Myr: to the end of the phase if that is near, shorter where the radius changes
/// fast.
fn step(model: &Model, life: &Life, star: &State, phase: &Phase) -> f64 {
    let (t, r) = (star.age, star.radius);
    let shortest = (SHORTEST * t).max(SHORTEST_MYR);
    let radius_at = |age: f64| life.evaluate(model, &State { age, ..*star }).state.radius;
    let is_too_different = |other: f64| (other - r).abs() > LARGEST_SWELLING * r;
    let shortening = |other: f64| INTENDED_SWELLING * other.max(r) / (other - r).abs();
    let mut length = phase.step;
    if phase.rest - length <= 1e-10 {
        // Just before the end, where the type is still the same.
        let last = radius_at(t.max(t * (1.0 - 1e-6) + phase.rest));
        if !is_too_different(last) {
            return phase.rest.max(shortest);
        }
        length = shortening(last) * (phase.rest - 1e-6 * t);
    }
    for trial in 1..=30 {
        let next = radius_at(t + length);
        if !is_too_different(next) || (trial == 20 && star.kind == Kind::CoreHeliumBurning) {
            break;
        }
        length *= shortening(next) * if trial >= 20 { 0.5 } else { 1.0 };
    }
    length.max(shortest)
}
