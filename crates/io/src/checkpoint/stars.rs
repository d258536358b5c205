//! Tracks of stars that evolve, in a checkpoint: datasets `star_NAME`, in solar units and Myr. None where stars do not age.

use crate::hdf::read::TisaneGroup;
use crate::hdf::write::{H5Result, put_dataset};
use crate::stellar_columns::{expected_metallicity, is_metallicity};
use hdf5::Group;
use tisane::error::Result;
use tisane::particles::EvolvingStar;
use tisane_stellar::{Kind, Star, State};

/// Number of a star.
type Number = fn(&EvolvingStar) -> f64;

/// Columns of numbers: name, value of a star.
const NUMBERS: [(&str, Number); 14] = [
    ("star_birth_mass", |star| star.track.birth_mass),
    ("star_effective_mass", |star| star.track.state.effective_mass),
    ("star_mass", |star| star.track.state.mass),
    ("star_core_mass", |star| star.track.state.core_mass),
    ("star_age", |star| star.track.state.age),
    ("star_luminosity", |star| star.track.state.luminosity),
    ("star_radius", |star| star.track.state.radius),
    ("star_begin", |star| star.track.begin),
    ("star_end", |star| star.track.end),
    ("star_end_mass", |star| star.track.end_mass),
    ("star_seen", |star| star.seen),
    ("star_kick_x", |star| star.kick[0]),
    ("star_kick_y", |star| star.kick[1]),
    ("star_kick_z", |star| star.kick[2]),
];
const KIND: &str = "star_type";
/// Metallicities of their own, NaN of stars without; left out where none has one.
const METALLICITY: &str = "star_metallicity";
/// 1 of stars that fill their Roche lobes, else 0; left out where none does.
const FILLS_LOBE: &str = "star_fills_lobe";
const SUPERNOVAE: &str = "star_supernovae";
const STRETCHES: &str = "star_stretches";

/// Writes the tracks into the group of the particles.
pub(super) fn write(g: &Group, stars: &[EvolvingStar]) -> H5Result {
    if stars.is_empty() {
        return Ok(());
    }
    put_dataset(g, KIND, 1, &stars.iter().map(|star| star.track.state.kind.number()).collect::<Vec<u8>>())?;
    for (name, of) in NUMBERS {
        put_dataset(g, name, 1, &stars.iter().map(of).collect::<Vec<f64>>())?;
    }
    if stars.iter().any(|star| star.metallicity.is_some()) {
        let values = stars.iter().map(|star| star.metallicity.unwrap_or(f64::NAN));
        put_dataset(g, METALLICITY, 1, &values.collect::<Vec<f64>>())?;
    }
    if stars.iter().any(|star| star.fills_lobe) {
        put_dataset(g, FILLS_LOBE, 1, &stars.iter().map(|star| u8::from(star.fills_lobe)).collect::<Vec<u8>>())?;
    }
    put_dataset(g, SUPERNOVAE, 1, &stars.iter().map(|star| star.track.supernovae).collect::<Vec<u32>>())?;
    put_dataset(g, STRETCHES, 1, &stars.iter().map(|star| star.track.stretches).collect::<Vec<u32>>())?;
    Ok(())
}

/// Reads the tracks of particles with these ids; none where there are none.
///
/// # Errors
/// [`Error::Input`](tisane::Error::Input) for values that no track has.
pub(super) fn read(g: &TisaneGroup<'_>, id: &[u64]) -> Result<Vec<EvolvingStar>> {
    if !g.has_dataset(KIND) {
        return Ok(Vec::new());
    }
    let n = id.len();
    let kinds: Vec<u8> = g.column(KIND, Some(n), 1)?;
    let mut numbers: Vec<Vec<f64>> = Vec::with_capacity(NUMBERS.len());
    for (name, _) in NUMBERS {
        let values: Vec<f64> = g.column(name, Some(n), 1)?;
        // A remnant's stretch has no end; a star may be born before the time 0.
        let is_valid = |value: &f64| match name {
            "star_end" => !value.is_nan(),
            "star_begin" | "star_seen" | "star_kick_x" | "star_kick_y" | "star_kick_z" => value.is_finite(),
            _ => value.is_finite() && *value >= 0.0,
        };
        if !values.iter().all(is_valid) {
            return Err(g.error(name, "a value is not a number of a track"));
        }
        numbers.push(values);
    }
    let mut metallicities: Vec<f64> = Vec::new();
    if g.has_dataset(METALLICITY) {
        metallicities = g.column(METALLICITY, Some(n), 1)?;
        let wrong = metallicities.iter().find(|value| !value.is_nan() && !is_metallicity(**value));
        if let Some(value) = wrong {
            return Err(g.error(METALLICITY, expected_metallicity(*value)));
        }
    }
    let fill: Vec<u8> = if g.has_dataset(FILLS_LOBE) { g.column(FILLS_LOBE, Some(n), 1)? } else { Vec::new() };
    let supernovae: Vec<u32> = g.column(SUPERNOVAE, Some(n), 1)?;
    let stretches: Vec<u32> = g.column(STRETCHES, Some(n), 1)?;
    let star = |i: usize| {
        let [birth_mass, effective_mass, mass, core_mass, age, luminosity, radius, begin, end, end_mass, seen, x, y, z] =
            std::array::from_fn(|k| numbers[k][i]);
        let kind = Kind::from_number(kinds[i]).ok_or_else(|| g.error(KIND, "expected types from 0 to 15"))?;
        if end < begin {
            return Err(g.error("star_end", "a stretch of a track ends before it begins"));
        }
        let state = State { kind, effective_mass, mass, core_mass, age, luminosity, radius };
        let (supernovae, stretches) = (supernovae[i], stretches[i]);
        let track = Star { id: id[i], birth_mass, state, begin, end, end_mass, supernovae, stretches };
        let metallicity = metallicities.get(i).copied().filter(|value| !value.is_nan());
        let fills_lobe = fill.get(i).is_some_and(|value| *value != 0);
        Ok(EvolvingStar { track, seen, fills_lobe, metallicity, kick: [x, y, z] })
    };
    (0..n).map(star).collect()
}
