//! PeTar's raw input (Wang et al. 2020, MNRAS 497, 536), the data file that `petar.init` takes: one star a line, seven
//! columns separated by blanks, m x y z vx vy vz; under `petar -u 1` in solar masses, pc and pc/Myr.

use super::columns;
use super::format::{Format, WritableUnits, Writer};
use super::sniff::{FileProbe, Guess};
use super::state::FileState;
use std::path::Path;
use tisane::Result;
use tisane::units::Rates;
use tisane::units::Units;
use tisane::units::names::{LengthUnit, MassUnit, TimeUnit, VelocityUnit};

/// Entry of the format in [`super::FORMATS`].
pub(super) const FORMAT: Format = Format {
    name: "petar",
    description: "PeTar's raw input: one star a line, m x y z vx vy vz in Msun, pc, pc/Myr",
    schema_text: "Text with PeTar's 7 columns, velocities in pc/Myr.",
    schema_order: 5,
    detect,
    read,
    writer: Some(Writer { units: WritableUnits::Only(units), radii: false, loses: "ids, time", write }),
};

/// Returns the units of PeTar with `-u 1`.
pub(super) fn units() -> Units {
    Units::named(MassUnit::Msun, LengthUnit::Parsec, Rates::Both(VelocityUnit::ParsecPerMyr, TimeUnit::Megayear))
}

/// Recognises columns of numbers: the content does not distinguish them from other formats.
fn detect(probe: &FileProbe) -> Option<Guess> {
    columns::looks_like(&probe.head).then(|| Guess::unsure("the same seven columns, velocities in pc/Myr"))?
}

/// Reads the file.
fn read(path: &Path, _: &[String]) -> Result<FileState> {
    let (state, _) = columns::read(path, "petar", false)?;
    Ok(FileState { units: Some(units()), ..state })
}

/// Writes a file, in PeTar's or in N-body units.
fn write(path: &Path, state: &FileState) -> Result<Vec<String>> {
    columns::write_seven(path, state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verify_gravitational_constant_is_petars() {
        // G of older PeTar tools, from a solar mass in kg, and G from current constants.
        for (petar, relative) in [(0.004_498_309_979_594_38, 5e-5), (0.004_498_502_151_469_553, 5e-7)] {
            assert!((units().g() / petar - 1.0).abs() < relative, "{} is not {petar}", units().g());
        }
    }
}
