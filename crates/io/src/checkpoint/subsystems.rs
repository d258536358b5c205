//! State of subsystems in a checkpoint: two columns, which only schemes with subsystems have.

use crate::hdf::read::TisaneGroup;
use crate::hdf::write::{H5Result, put, put_dataset};
use hdf5::Group;
use tisane::Result;
use tisane::particles::SubsystemState;

/// Attributes, which only schemes with subsystems have: the lengths of the datasets of the same names.
const SUBSYSTEM_WORDS: &str = "subsystem_words";
const SUBSYSTEM_NUMBERS: &str = "subsystem_numbers";

/// Writes the state; nothing where it is empty.
pub(super) fn write(state: &SubsystemState, g: &Group) -> H5Result {
    let SubsystemState { words, numbers } = state;
    if words.is_empty() {
        return Ok(());
    }
    put(g, SUBSYSTEM_WORDS, &(words.len() as u64))?;
    put(g, SUBSYSTEM_NUMBERS, &(numbers.len() as u64))?;
    put_dataset(g, SUBSYSTEM_WORDS, 1, words)?;
    put_dataset(g, SUBSYSTEM_NUMBERS, 1, numbers).map(drop)
}

/// Reads the state of subsystems; an empty one where there are none.
pub(super) fn read(g: &TisaneGroup<'_>) -> Result<SubsystemState> {
    if !g.has(SUBSYSTEM_WORDS) {
        return Ok(SubsystemState::default());
    }
    let count = |name: &str| usize::try_from(g.get::<u64>(name)?).map_err(|e| g.error(name, e));
    let numbers: Vec<f64> = g.column(SUBSYSTEM_NUMBERS, Some(count(SUBSYSTEM_NUMBERS)?), 1)?;
    if !numbers.iter().all(|number| number.is_finite()) {
        return Err(g.error(SUBSYSTEM_NUMBERS, "a value is not a finite number"));
    }
    Ok(SubsystemState { words: g.column(SUBSYSTEM_WORDS, Some(count(SUBSYSTEM_WORDS)?), 1)?, numbers })
}
