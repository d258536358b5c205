//! McLuster's table, `mcluster -C 3` (Küpper et al. 2011, MNRAS 417, 2300): a header that names the columns and their
//! units, then one star a line: m x y z vx vy vz, and columns of stellar evolution if it was compiled with them.

use super::columns;
use super::format::Format;
use super::sniff::{FileProbe, Guess};
use super::state::FileState;
use std::path::Path;
use tisane::units::names::{LengthUnit, MassUnit, VelocityUnit};
use tisane::units::{Rates, Units};
use tisane::{Error, Result};

/// Entry of the format in [`super::FORMATS`].
pub(super) const FORMAT: Format = Format {
    name: "mcluster",
    description: "McLuster's table (-C 3): a header #Mass_[Msun] x_[pc] ... and a star a line",
    schema_text: "McLuster's table with a header (-C 3).",
    schema_order: 4,
    detect,
    read,
    writer: None,
};

/// First columns of the header, the same in all versions of McLuster.
const HEADER: [&str; 7] = ["#Mass_[Msun]", "x_[pc]", "y_[pc]", "z_[pc]", "vx_[km/s]", "vy_[km/s]", "vz_[km/s]"];

/// Recognises the header in the first line.
fn detect(probe: &FileProbe) -> Option<Guess> {
    let first = probe.head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let words = std::str::from_utf8(first).ok()?.split_whitespace();
    if words.take(7).eq(HEADER) { Guess::sure("the header #Mass_[Msun] x_[pc] ... vz_[km/s]") } else { None }
}

/// Reads the file.
fn read(path: &Path, _: &[String]) -> Result<FileState> {
    if detect(&FileProbe::open(path)?).is_none() {
        return Err(Error::input(path, format!("line 1: expected the header {}", HEADER.join(" "))));
    }
    let (state, max) = columns::read(path, "mcluster", true)?;
    let rates = Rates::Velocity(VelocityUnit::KilometrePerSecond);
    let units = Some(Units::named(MassUnit::Msun, LengthUnit::Parsec, rates));
    // The header names these units even if option -u chose others.
    let mut notes = vec!["units as in the header: if McLuster was run with -u 0, read the file as nbody6".to_owned()];
    if max > HEADER.len() {
        notes.push(format!("{} columns of stellar evolution were ignored", max - HEADER.len()));
    }
    Ok(FileState { units, notes, ..state })
}
