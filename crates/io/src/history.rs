//! What has been told of in the events of a run: kept in its checkpoints, so that a resumed run tells nothing twice.

use super::hdf::read::TisaneGroup;
use super::hdf::write::{H5Result, put, put_dataset};
use hdf5::Group;
use tisane::error::Result;

/// What a run knows of the outputs before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// True once there was an output.
    pub begun: bool,
    /// Binaries and hierarchies of the last output, by their members as text.
    pub systems: Vec<String>,
    /// Ids of the particles whose escape was told, ascending.
    pub escaped: Vec<u64>,
    /// Close encounters of the last output, by ids.
    pub encounters: Vec<[u64; 2]>,
}

pub(super) fn write(history: &History, group: &Group) -> H5Result {
    put(group, "begun", &u64::from(history.begun))?;
    // As one text of lines: there may be more of them than an attribute holds.
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
