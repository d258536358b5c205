//! Events that a run has reported: stored in its checkpoints, so that a resumed run reports none twice.

use super::hdf::read::TisaneGroup;
use super::hdf::write::{H5Result, put, put_dataset};
use hdf5::Group;
use tisane::error::Result;

/// State of the event detection after the last output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// True after the first output.
    pub begun: bool,
    /// Binaries and hierarchies at the last output, each as the text of its members.
    pub systems: Vec<String>,
    /// Ids of the particles whose escape was reported, ascending.
    pub escaped: Vec<u64>,
    /// Pairs of ids of the close encounters at the last output.
    pub encounters: Vec<[u64; 2]>,
}

pub(super) fn write(history: &History, group: &Group) -> H5Result {
    put(group, "begun", &u64::from(history.begun))?;
    // A dataset of lines: they may exceed the size of an attribute.
    put_dataset(group, "systems", 1, history.systems.join("\n").as_bytes())?;
    put_dataset(group, "escaped", 1, &history.escaped)?;
    put_dataset(group, "encounters", 2, history.encounters.as_flattened())?;
    Ok(())
}

pub(super) fn read(node: &TisaneGroup<'_>) -> Result<History> {
    let systems: Vec<u8> = node.column("systems", None, 1)?;
    let systems = String::from_utf8(systems).map_err(|_| node.error("systems", "not UTF-8"))?;
    let encounters: Vec<u64> = node.column("encounters", None, 2)?;
    Ok(History {
        begun: node.get::<u64>("begun")? != 0,
        systems: systems.lines().map(str::to_owned).collect(),
        escaped: node.column("escaped", None, 1)?,
        encounters: encounters.as_chunks::<2>().0.to_vec(),
    })
}
