//! Stars that evolve, in a snapshot: datasets next to those of the particles, from which a run starts anew. None where stars do not
//! age.

use super::file_units::{self, FileUnits};
use super::hdf::read::TisaneGroup;
use super::hdf::write::{H5Result, put_dataset};
use hdf5::Group;
use tisane::error::Result;
use tisane::particles::EvolvingStar;
use tisane::units::names::{G_CGS, GM_SUN_CGS, R_SUN_CGS, YEAR_CGS};
use tisane::units::{Dimension, Units};
use tisane_stellar::{Kind, Metallicity, Star, State};

/// Star of a snapshot, in solar units and Myr.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StarState {
    /// Mass at birth.
    pub initial_mass: f64,
    /// Metallicity Z; none where the file does not say it, as all have that of the run.
    pub metallicity: Option<f64>,
    /// State at the time of the snapshot.
    pub state: State,
}

impl StarState {
    /// Returns the state with the radius that a snapshot in these units gives back: what follows from it has the same bits.
    #[must_use]
    pub fn as_in_snapshot(&self, units: &Units) -> State {
        let factor = length(units);
        State { radius: self.state.radius * factor / factor, ..self.state }
    }

    /// Returns the effective temperature, in K; NaN where nothing is left.
    #[must_use]
    pub fn temperature(&self) -> f64 {
        if self.state.radius > 0.0 { self.state.temperature() } else { f64::NAN }
    }

    /// Returns the star as one of a particle of an id: its track begins at the time 0, and has no length yet. It is put on it where a run
    /// begins; until then it has been seen at no time, −∞.
    #[must_use]
    pub fn begun(&self, id: u64) -> EvolvingStar {
        let Self { initial_mass: birth_mass, metallicity, state } = *self;
        let (begin, end, end_mass) = (0.0, 0.0, state.mass);
        let supernovae = u32::from(matches!(state.kind, Kind::NeutronStar | Kind::BlackHole));
        let track = Star { id, birth_mass, state, begin, end, end_mass, supernovae, stretches: 0 };
        EvolvingStar { track, seen: f64::NEG_INFINITY, fills_lobe: false, metallicity, kick: [0.0; 3] }
    }
}

/// Dataset of a snapshot with stars that evolve.
#[derive(Clone, Copy, Debug)]
pub struct StellarField {
    /// Name of the dataset.
    pub name: &'static str,
    /// Dimension, from which the unit follows.
    pub dimension: Dimension,
    /// Description.
    pub description: &'static str,
    value: fn(&StarState, f64) -> f64,
    unit: fn(&Units) -> f64,
}

/// Name of the dataset of the types.
pub const STELLAR_TYPE: &str = "StellarType";
/// Its description.
pub const STELLAR_TYPE_TEXT: &str = "type of the star, 0 to 15 (Hurley, Pols & Tout 2000)";

/// Name of the dataset of metallicities, of runs in which stars have their own.
pub const METALLICITY: &str = "Metallicity";
/// Its description.
pub const METALLICITY_TEXT: &str =
    "metallicity Z of the star; only in runs where stars have metallicities of their own";

fn mass(units: &Units) -> f64 {
    GM_SUN_CGS / G_CGS / units.mass.cgs
}

fn time(units: &Units) -> f64 {
    1e6 * YEAR_CGS / units.time.cgs
}

fn length(units: &Units) -> f64 {
    R_SUN_CGS / units.length.cgs
}

fn pure(_: &Units) -> f64 {
    1.0
}

/// Datasets of numbers, in the order in which they are written and hashed.
pub const STELLAR: [StellarField; 7] = [
    StellarField {
        name: "InitialMass",
        dimension: Dimension::MASS,
        description: "mass at birth",
        value: |star, _| star.initial_mass,
        unit: mass,
    },
    StellarField {
        name: "EffectiveMass",
        dimension: Dimension::MASS,
        description: "effective initial mass M0, which fixes time scales and luminosities",
        value: |star, _| star.state.effective_mass,
        unit: mass,
    },
    StellarField {
        name: "CoreMass",
        dimension: Dimension::MASS,
        description: "mass of the core",
        value: |star, _| star.state.core_mass,
        unit: mass,
    },
    StellarField {
        name: "Epoch",
        dimension: Dimension::TIME,
        description: "time at which the present life of the star had the age 0",
        value: |star, now| now - star.state.age,
        unit: time,
    },
    StellarField {
        name: "Luminosity",
        dimension: Dimension::NONE,
        description: "luminosity, in solar luminosities",
        value: |star, _| star.state.luminosity,
        unit: pure,
    },
    StellarField {
        name: "Temperature",
        dimension: Dimension::NONE,
        description: "effective temperature, in K; NaN where nothing is left",
        value: |star, _| star.temperature(),
        unit: pure,
    },
    StellarField {
        name: "StellarRadius",
        dimension: Dimension::LENGTH,
        description: "radius of the star",
        value: |star, _| star.state.radius,
        unit: length,
    },
];

/// Returns true if the fits have this metallicity.
pub(crate) fn is_metallicity(value: f64) -> bool {
    (Metallicity::RANGE.0..=Metallicity::RANGE.1).contains(&value)
}

/// Returns what is wrong with another value.
pub(crate) fn expected_metallicity(value: f64) -> String {
    format!("expected a metallicity Z from {} to {}, found {value}", Metallicity::RANGE.0, Metallicity::RANGE.1)
}

/// Values of a dataset as bytes, for its hash.
pub(super) type Hashed<'a> = &'a mut dyn FnMut(&str, Vec<[u8; 8]>);

/// Writes the stars of a snapshot at a time in the user's unit into the group of the particles.
pub(super) fn write(group: &Group, stars: &[StarState], at: f64, units: &FileUnits, hash: Hashed<'_>) -> H5Result {
    if stars.is_empty() {
        return Ok(());
    }
    let kinds: Vec<u64> = stars.iter().map(|star| star.state.kind.number().into()).collect();
    hash(STELLAR_TYPE, kinds.iter().map(|value| value.to_le_bytes()).collect());
    let dataset = put_dataset(group, STELLAR_TYPE, 1, &kinds)?;
    file_units::describe(&dataset, &units.units, Dimension::NONE, STELLAR_TYPE_TEXT)?;
    if let Some(values) = stars.iter().map(|star| star.metallicity).collect::<Option<Vec<f64>>>() {
        hash(METALLICITY, values.iter().map(|value| value.to_le_bytes()).collect());
        let dataset = put_dataset(group, METALLICITY, 1, &values)?;
        file_units::describe(&dataset, &units.units, Dimension::NONE, METALLICITY_TEXT)?;
    }
    let now = at / time(&units.units);
    for field in STELLAR {
        let factor = (field.unit)(&units.units);
        let values: Vec<f64> = stars.iter().map(|star| (field.value)(star, now) * factor).collect();
        hash(field.name, values.iter().map(|value| value.to_le_bytes()).collect());
        let dataset = put_dataset(group, field.name, 1, &values)?;
        file_units::describe(&dataset, &units.units, field.dimension, field.description)?;
    }
    Ok(())
}

/// Reads the stars of a snapshot whose particles have these masses, at a time in the user's unit; none of one without them.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) for values that no star has.
pub(super) fn read(
    group: &TisaneGroup<'_>,
    masses: &[f64],
    at: f64,
    units: &Units,
    hash: Hashed<'_>,
) -> Result<Vec<StarState>> {
    if !group.has_dataset(STELLAR_TYPE) {
        return Ok(Vec::new());
    }
    let n = masses.len();
    let kinds: Vec<u64> = group.column(STELLAR_TYPE, Some(n), 1)?;
    hash(STELLAR_TYPE, kinds.iter().map(|value| value.to_le_bytes()).collect());
    let mut metallicities: Vec<f64> = Vec::new();
    if group.has_dataset(METALLICITY) {
        metallicities = group.column(METALLICITY, Some(n), 1)?;
        hash(METALLICITY, metallicities.iter().map(|value| value.to_le_bytes()).collect());
        if let Some(value) = metallicities.iter().find(|value| !is_metallicity(**value)) {
            return Err(group.error(METALLICITY, expected_metallicity(*value)));
        }
    }
    let mut numbers: Vec<Vec<f64>> = Vec::with_capacity(STELLAR.len());
    for field in STELLAR {
        let values: Vec<f64> = group.column(field.name, Some(n), 1)?;
        hash(field.name, values.iter().map(|value| value.to_le_bytes()).collect());
        if field.name != "Temperature" && values.iter().any(|value| !value.is_finite()) {
            return Err(group.error(field.name, "a value is not a finite number"));
        }
        let factor = (field.unit)(units);
        numbers.push(values.into_iter().map(|value| value / factor).collect());
    }
    let now = at / time(units);
    let star = |i: usize| {
        let [initial_mass, effective_mass, core_mass, epoch, luminosity, _, radius] =
            std::array::from_fn(|k| numbers[k][i]);
        let found = u8::try_from(kinds[i]).ok().and_then(Kind::from_number);
        let kind = found.ok_or_else(|| group.error(STELLAR_TYPE, format!("expected 0 to 15, found {}", kinds[i])))?;
        let mass = masses[i] / mass(units);
        let age = (now - epoch).max(0.0);
        let core_mass = f64::min(core_mass, mass);
        let state = State { kind, effective_mass, mass, core_mass, age, luminosity, radius };
        Ok(StarState { initial_mass, metallicity: metallicities.get(i).copied(), state })
    };
    (0..n).map(star).collect()
}
