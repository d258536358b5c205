//! What outputs of a run know of those before: stored in its checkpoints, so that a resumed run reports no event twice and goes on with
//! the stars whose errors are measured.

use super::hdf::read::TisaneGroup;
use super::hdf::write::{H5Result, put, put_dataset};
use hdf5::Group;
use tisane::diagnostics::runaways::{Runaway, Runaways};
use tisane::error::Result;
use tisane::time::Time;

/// State of the event detection and of the measured errors after the last output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// True after the first output.
    pub begun: bool,
    /// Binaries and hierarchies at the last output, each as the text of its members.
    pub systems: Vec<String>,
    /// Ids of the particles whose escape was reported, ascending.
    pub escaped: Vec<u64>,
    /// Pairs of ids of the close encounters at the last output.
    pub encounters: Vec<[u64; 2]>,
    /// Stars that have left the cluster, whose errors are not its own.
    pub runaways: Runaways,
}

/// Numbers of a star that has left the cluster in a file: mass, energy, power and its derivative, work.
const NUMBERS: usize = 5;

pub(super) fn write(history: &History, group: &Group) -> H5Result {
    put(group, "begun", &u64::from(history.begun))?;
    // A dataset of lines: they may exceed the size of an attribute.
    put_dataset(group, "systems", 1, history.systems.join("\n").as_bytes())?;
    put_dataset(group, "escaped", 1, &history.escaped)?;
    put_dataset(group, "encounters", 2, history.encounters.as_flattened())?;
    write_runaways(&history.runaways, group)
}

/// Writes the stars that have left the cluster, and their error, if there are any.
pub(super) fn write_runaways(runaways: &Runaways, group: &Group) -> H5Result {
    let Runaways { until, error, stars } = runaways;
    if stars.is_empty() && *error == 0.0 {
        return Ok(());
    }
    put(group, "runaways_ticks", &until.0)?;
    put(group, "runaways_error", error)?;
    put_dataset(group, "runaways", 1, &stars.iter().map(|star| star.id).collect::<Vec<u64>>())?;
    let numbers = |star: &Runaway| [star.mass, star.energy, star.power[0], star.power[1], star.work];
    let numbers: Vec<[f64; NUMBERS]> = stars.iter().map(numbers).collect();
    put_dataset(group, "runaways_numbers", NUMBERS, numbers.as_flattened())?;
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
        runaways: read_runaways(node)?,
    })
}

/// Reads the stars that have left the cluster; none where a file does not have them.
pub(super) fn read_runaways(node: &TisaneGroup<'_>) -> Result<Runaways> {
    if !node.has_dataset("runaways") {
        return Ok(Runaways::default());
    }
    let ids: Vec<u64> = node.column("runaways", None, 1)?;
    let numbers: Vec<f64> = node.column("runaways_numbers", Some(ids.len()), NUMBERS)?;
    let star = |(id, of): (&u64, &[f64; NUMBERS])| {
        let [mass, energy, power, change, work] = *of;
        Runaway { id: *id, mass, energy, power: [power, change], work }
    };
    let stars = ids.iter().zip(numbers.as_chunks().0).map(star).collect();
    Ok(Runaways { until: Time(node.get("runaways_ticks")?), error: node.get("runaways_error")?, stars })
}
