//! The star that two become when they merge, by Hurley, Tout & Pols (2002, MNRAS 329, 897), section 2.7.

use crate::clock::Relation;
use crate::compact::CHANDRASEKHAR;
use crate::giants::{l_bgb, mass_of_mc_bagb, mc_bagb};
use crate::helium::HeliumLandmarks;
use crate::landmarks::Landmarks;
use crate::model::Model;
use crate::numbers::inverse;
use crate::phases::{Life, dark_star};
use crate::remnants::{Cause, Remnant, Supernova};
use crate::star::Star;
use crate::state::{Kind, State};

/// Type that two become, by the numbers of their types: table 2 of Hurley, Tout & Pols (2002).
#[rustfmt::skip]
const KINDS: [[u8; 15]; 15] = [
    [ 1,  1,  2,  3,  4,  5,  6,  4,  6,  6,  3,  6,  6, 13, 14],
    [ 1,  1,  2,  3,  4,  5,  6,  4,  6,  6,  3,  6,  6, 13, 14],
    [ 2,  2,  3,  3,  4,  4,  5,  4,  4,  4,  3,  5,  5, 13, 14],
    [ 3,  3,  3,  3,  4,  4,  5,  4,  4,  4,  3,  5,  5, 13, 14],
    [ 4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4, 13, 14],
    [ 5,  5,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4,  4, 13, 14],
    [ 6,  6,  5,  5,  4,  4,  6,  4,  6,  6,  5,  6,  6, 13, 14],
    [ 4,  4,  4,  4,  4,  4,  4,  7,  8,  9,  7,  9,  9, 13, 14],
    [ 6,  6,  4,  4,  4,  4,  6,  8,  8,  9,  7,  9,  9, 13, 14],
    [ 6,  6,  4,  4,  4,  4,  6,  9,  9,  9,  7,  9,  9, 13, 14],
    [ 3,  3,  3,  3,  4,  4,  5,  7,  7,  7, 15,  9,  9, 13, 14],
    [ 6,  6,  5,  5,  4,  4,  6,  9,  9,  9,  9, 11, 12, 13, 14],
    [ 6,  6,  5,  5,  4,  4,  6,  9,  9,  9,  9, 12, 12, 13, 14],
    [13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 13, 14, 14],
    [14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14],
];

/// Share of the fuel of a new main-sequence star that the two have burnt: mixing brings hydrogen into the core (Tout et
/// al. 1997, MNRAS 291, 732).
const MIXED: f64 = 0.1;

/// Two stars that became one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Merger {
    /// The star. Where its mass is less than the sum of the two, the rest has left.
    pub star: Star,
    /// The supernova, if white dwarfs became too heavy.
    pub supernova: Option<Supernova>,
    /// Its kick, in km/s.
    pub kick: [f64; 3],
}

/// Returns the type that stars of two types become. The star may not be able to stay so: [`Star::advance_to`] tells.
#[must_use]
pub fn merged_kind(first: Kind, second: Kind) -> Kind {
    let other = first.min(second);
    if first.max(second) == Kind::NoRemnant {
        return other;
    }
    Kind::ALL[usize::from(KINDS[usize::from(first.number())][usize::from(second.number())])]
}

/// Returns the star that two stars become at a time, in Myr, inside of the stretches of both, by the models of the two and that of the new
/// star. It has the identity of the first, so that its supernovae go on with that number. No mass is lost but that of stars that meet a
/// neutron star or a black hole: it does not accrete them.
#[must_use]
pub fn merge(models: [&Model; 2], model: &Model, [first, second]: [&Star; 2], time: f64) -> Merger {
    let stars = [(models[0], first.state_at(models[0], time)), (models[1], second.state_at(models[1], time))];
    let birth_mass = first.birth_mass + second.birth_mass;
    let (state, supernova) = merged_state(model, &stars);
    let kick = |s| model.options().kicks.draw(state.kind, s, first.id, first.supernovae);
    let supernovae = first.supernovae + u32::from(supernova.is_some());
    let star = Star::with_state(model, first.id, birth_mass, time, state);
    Merger { star: Star { supernovae, ..star }, supernova, kick: supernova.as_ref().map_or([0.0; 3], kick) }
}

/// Returns the state of the new star, and its supernova. The two have their own models.
fn merged_state(model: &Model, of_two: &[(&Model, State); 2]) -> (State, Option<Supernova>) {
    let stars = &of_two.map(|(_, star)| star);
    if let Some(gone) = stars.iter().position(|star| star.kind == Kind::NoRemnant) {
        return (stars[1 - gone], None);
    }
    let kind = merged_kind(stars[0].kind, stars[1].kind);
    let mass: f64 = stars.iter().map(|star| star.mass).sum();
    let core: f64 = stars.iter().map(core).sum();
    let state = match kind {
        Kind::LowMassMainSequence | Kind::MainSequence => main_sequence(model, of_two, mass),
        Kind::HertzsprungGap => hertzsprung_gap(model, of_two, mass, core),
        Kind::GiantBranch => giant_branch(model, mass, core),
        Kind::CoreHeliumBurning => core_helium_burning(model, mass, core, burnt_helium(of_two)),
        Kind::EarlyAsymptoticGiant => {
            let marks = landmarks(model, mass_of_mc_bagb(&model.metallicity().c, core));
            hydrogen(kind, &marks, mass, core, marks.t_bagb)
        }
        Kind::ThermallyPulsingGiant => thermally_pulsing_giant(model, mass, core),
        Kind::HeliumMainSequence => {
            let marks = HeliumLandmarks::new(mass);
            helium(kind, &marks, mass, 0.0, burnt_helium(of_two) * marks.t_hems)
        }
        Kind::HeliumHertzsprungGap | Kind::HeliumGiantBranch => {
            helium_giant(kind, mass, stars.iter().map(carbon_core).sum())
        }
        _ => {
            let remnant = merged_remnant(model, kind, stars, mass);
            return (dark_star(model, remnant.kind, remnant.mass, 0.0), remnant.supernova);
        }
    };
    (state, None)
}

/// Returns the remnant that white dwarfs become, or that a neutron star or a black hole stays.
fn merged_remnant(model: &Model, kind: Kind, stars: &[State; 2], mass: f64) -> Remnant {
    match kind {
        Kind::CarbonOxygenWhiteDwarf if mass >= CHANDRASEKHAR => Remnant::nothing(Cause::Thermonuclear),
        Kind::OxygenNeonWhiteDwarf if mass >= CHANDRASEKHAR => Remnant::of_electron_capture(),
        Kind::NeutronStar | Kind::BlackHole => {
            let is_compact = |star: &&State| matches!(star.kind, Kind::NeutronStar | Kind::BlackHole);
            let compact: f64 = stars.iter().filter(is_compact).map(|star| star.mass).sum();
            let had_hole = stars.iter().any(|star| star.kind == Kind::BlackHole);
            let kind = if had_hole { Kind::BlackHole } else { model.options().remnants.compact_kind(compact) };
            Remnant::quiet(kind, compact)
        }
        Kind::NoRemnant => Remnant::nothing(Cause::Thermonuclear),
        _ => Remnant::quiet(kind, mass),
    }
}

/// Returns the core that a star brings into a giant: all of a helium star or a white dwarf.
fn core(star: &State) -> f64 {
    if star.kind >= Kind::HeliumMainSequence { star.mass } else { star.core_mass }
}

/// Returns the core of carbon and oxygen that a star brings into a helium giant.
fn carbon_core(star: &State) -> f64 {
    if star.kind == Kind::HeliumWhiteDwarf { 0.0 } else { star.core_mass }
}

/// Returns the share of its phase on the main sequence or in the Hertzsprung gap that a star has passed.
fn passed(model: &Model, star: &State) -> f64 {
    let marks = landmarks(model, star.effective_mass);
    let share = if star.kind == Kind::HertzsprungGap {
        (star.age - marks.t_ms) / (marks.t_bgb - marks.t_ms)
    } else {
        star.age / marks.t_ms
    };
    share.clamp(0.0, 1.0)
}

/// Returns the share of the helium in the cores of two stars that has burnt.
fn burnt_helium(stars: &[(&Model, State); 2]) -> f64 {
    let share = |model: &Model, star: &State| match (Life::new(model, star.kind, star.effective_mass), star.kind) {
        (Life::Hydrogen(marks), Kind::CoreHeliumBurning) => (star.age - marks.t_hei) / marks.t_he,
        (Life::Helium(marks), Kind::HeliumMainSequence) => star.age / marks.t_hems,
        (_, kind) if kind <= Kind::GiantBranch || kind == Kind::HeliumWhiteDwarf => 0.0,
        _ => 1.0,
    };
    let burnt: f64 = stars.iter().map(|(model, star)| core(star) * share(model, star)).sum();
    (burnt / stars.iter().map(|(_, star)| core(star)).sum::<f64>()).clamp(0.0, 1.0)
}

fn landmarks(model: &Model, m0: f64) -> Landmarks {
    Landmarks::new(model.metallicity(), &model.options().remnants, m0)
}

fn hydrogen(kind: Kind, marks: &Landmarks, mass: f64, core_mass: f64, age: f64) -> State {
    State { kind, effective_mass: marks.m0, mass, core_mass, age, luminosity: 0.0, radius: 0.0 }
}

fn helium(kind: Kind, marks: &HeliumLandmarks, mass: f64, core_mass: f64, age: f64) -> State {
    State { kind, effective_mass: marks.m0, mass, core_mass, age, luminosity: 0.0, radius: 0.0 }
}

/// Main-sequence star whose core has the mixed fuel of both (equation 80).
fn main_sequence(model: &Model, stars: &[(&Model, State); 2], mass: f64) -> State {
    let marks = landmarks(model, mass);
    let burnt: f64 = stars.iter().map(|(own, star)| star.mass * passed(own, star)).sum();
    hydrogen(Kind::MainSequence, &marks, mass, 0.0, MIXED * marks.t_ms * burnt / mass)
}

/// Star in the Hertzsprung gap at the place of the one that was there.
fn hertzsprung_gap(model: &Model, stars: &[(&Model, State); 2], mass: f64, core: f64) -> State {
    let marks = landmarks(model, mass);
    let share =
        stars.iter().find(|(_, star)| star.kind == Kind::HertzsprungGap).map_or(0.0, |(own, star)| passed(own, star));
    hydrogen(Kind::HertzsprungGap, &marks, mass, core, marks.t_ms + (marks.t_bgb - marks.t_ms) * share)
}

/// Giant that has this core at the base of the giant branch; one with a larger core ignites it.
fn giant_branch(model: &Model, mass: f64, core: f64) -> State {
    let z = model.metallicity();
    if core > z.mc_bgb_above_flash(z.m_fgb()) {
        return core_helium_burning(model, mass, core, 0.0);
    }
    let m0 = if core > z.mc_hef_bgb {
        inverse(core, (z.m_hef(), z.m_fgb()), |m| z.mc_bgb_above_flash(m))
    } else {
        inverse(core, (Star::BIRTH_MASSES.0, z.m_hef()), |m| Relation::hydrogen(&z.c, m).core(l_bgb(&z.c, m)))
    };
    let marks = landmarks(model, m0);
    hydrogen(Kind::GiantBranch, &marks, mass, core, marks.t_bgb)
}

/// Star that has burnt the share `tau` of the helium in this core. Below the core of a star of M_HeF it counts as one.
fn core_helium_burning(model: &Model, mass: f64, core: f64, tau: f64) -> State {
    let z = model.metallicity();
    let core_of = |m: f64| (1.0 - tau) * z.mc_hei_above_flash(m) + tau * mc_bagb(&z.c, m);
    let marks = landmarks(model, inverse(core, (z.m_hef(), Landmarks::HEAVIEST), core_of));
    hydrogen(Kind::CoreHeliumBurning, &marks, mass, core, marks.t_hei + tau * marks.t_he)
}

/// Giant that has this core after the second dredge-up (inverse of equations 69 and 75 of HPT 2000).
fn thermally_pulsing_giant(model: &Model, mass: f64, core: f64) -> State {
    let at_base = if core < 0.8 {
        core
    } else if core < 1.438 {
        (core - 0.448) / 0.44
    } else {
        (core + 0.35) / 0.773
    };
    let marks = landmarks(model, mass_of_mc_bagb(&model.metallicity().c, at_base));
    hydrogen(Kind::ThermallyPulsingGiant, &marks, mass, core, marks.t_du)
}

/// Helium giant with this core of carbon and oxygen. A core that is too small for the mass belongs to a lower effective
/// mass.
fn helium_giant(kind: Kind, mass: f64, core: f64) -> State {
    let first_core = |m0: f64| {
        let marks = HeliumLandmarks::new(m0);
        marks.relation.core(marks.l_the)
    };
    let m0 = if first_core(mass) <= core { mass } else { inverse(core, (0.0, mass), first_core) };
    let marks = HeliumLandmarks::new(m0);
    helium(kind, &marks, mass, core, marks.clock.time(core).max(marks.t_hems))
}
