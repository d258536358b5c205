//! PeTar's raw input (Wang et al. 2020, MNRAS 497, 536), the data file that `petar.init` takes: one star a line, seven columns
//! separated by blanks, m x y z vx vy vz; under `petar -u 1` in solar masses, pc and pc/Myr.

use super::columns;
use super::sniff::{FileProbe, Guess};
use super::state::FileState;
use super::{Format, WritableUnits, Writer};
use std::path::Path;
use tisane::Result;
use tisane::units::Rates;
use tisane::units::Units;
use tisane::units::names::{LengthUnit, MassUnit, TimeUnit, VelocityUnit};

/// The format's entry in [`super::FORMATS`].
pub(super) const FORMAT: Format = Format {
    name: "petar",
    description: "PeTar's raw input: one star a line, m x y z vx vy vz in Msun, pc, pc/Myr",
    schema_text: "Text with PeTar's 7 columns, velocities in pc/Myr.",
    schema_order: 5,
    detect,
    read,
    writer: Some(Writer { units: WritableUnits::Only(units), loses: "ids, time", write }),
};

/// PeTar's units under `-u 1`.
pub(super) fn units() -> Units {
    Units::named(MassUnit::Msun, LengthUnit::Parsec, Rates::Both(VelocityUnit::ParsecPerMyr, TimeUnit::Megayear))
}

/// Nothing in the content tells it from other columns of numbers.
fn detect(probe: &FileProbe) -> Option<Guess> {
    columns::looks_like(&probe.head).then(|| Guess::unsure("the same seven columns, velocities in pc/Myr"))?
}

/// Reads the file.
fn read(path: &Path) -> Result<FileState> {
    let (state, _) = columns::read(path, "petar", false)?;
    Ok(FileState { units: Some(units()), ..state })
}

/// Writes a file, in these units or in Hénon units.
fn write(path: &Path, state: &FileState) -> Result<Vec<String>> {
    columns::write_seven(path, state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verify_gravitational_constant_is_petars() {
        // The one that PeTar's tools have carried, from a solar mass in kg, and the one from G and constants of today.
        for (petar, relative) in [(0.004_498_309_979_594_38, 5e-5), (0.004_498_502_151_469_553, 5e-7)] {
            assert!((units().g() / petar - 1.0).abs() < relative, "{} is not {petar}", units().g());
        }
    }
}
