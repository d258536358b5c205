//! HDF5 files of AMUSE, versions 1 and 2 (Portegies Zwart & McMillan 2018): a set of particles with a dataset for each
//! attribute and its unit as text. The pickled Python objects that AMUSE stores in an attribute are ignored.

use super::amuse_units::{self, AmuseUnit, LENGTH, MASS, System, TIME, VELOCITY};
use super::format::{Format, WritableUnits, Writer};
use super::physical::from_cgs;
use super::sniff::{FileProbe, Guess};
use super::state::{FileState, Locations};
use crate::elements::element_table::{ElementTable, ElementUnits, Phase};
use crate::hdf::third_party::{ThirdPartyFile, ThirdPartyGroup};
use crate::hdf::write::{H5Result, new_group, put, put_dataset, put_long_text, write_for_others};
use hdf5::Group;
use std::path::Path;
use tisane::particles::{Particles, Vec3};
use tisane::units::Units;
use tisane::{Error, Result};

/// Entry of the format in [`super::FORMATS`].
pub(super) const FORMAT: Format = Format {
    name: "amuse",
    description: "AMUSE's HDF5, versions 1 and 2",
    schema_text: "AMUSE's HDF5.",
    schema_order: 8,
    detect,
    read,
    writer: Some(Writer { units: WritableUnits::Named, radii: true, loses: "nothing", write }),
};

/// Group with the version of the format; absent in version 1.
const INFO: &str = "AMUSE_INF";
/// Groups of an unnamed set in versions 2 and 1.
const UNNAMED: [&str; 2] = ["data", "particles"];
/// Attributes of a particle that are read, with the powers of mass, length and time of their units.
const WANTED: [(&str, [i32; 3]); 7] =
    [("mass", MASS), ("x", LENGTH), ("y", LENGTH), ("z", LENGTH), ("vx", VELOCITY), ("vy", VELOCITY), ("vz", VELOCITY)];

/// Attribute of the radii, which is read where a set has it.
const RADIUS: &str = "radius";

/// Recognises HDF5 with the group of the version, or a set as written by version 1.
fn detect(probe: &FileProbe) -> Option<Guess> {
    let root = probe.hdf5.as_ref()?.root();
    if let Some(version) = root.group(INFO).and_then(|info| info.text("version").ok().flatten()) {
        return Guess::sure(format!("HDF5 with /{INFO}, version {version}"));
    }
    let set = root.group("particles")?.group("0000000001")?;
    set.group("attributes").and_then(|_| Guess::sure("HDF5 with /particles/0000000001/attributes, AMUSE's version 1"))
}

/// Reads the last state of the only set in the file.
fn read(path: &Path, _: &[String]) -> Result<FileState> {
    let file = ThirdPartyFile::open(path)?;
    let (set, mut notes) = last_state(&file)?;
    let n = set.rows("keys")?;
    let id = set.ids("keys", n)?;
    if let Some(claimed) = set.number("number_of_particles")?.filter(|claimed| *claimed != n as f64) {
        return Err(set.error("keys", format!("number_of_particles is {claimed}, found {n} keys")));
    }
    let attributes = set.group("attributes").ok_or_else(|| set.error("attributes", "no such group"))?;
    let mut others = check_attributes(&set, &attributes)?;
    let mut units = Vec::new();
    for (name, powers) in WANTED {
        units.push(unit_of(&attributes, name, powers)?);
    }
    // Converts to one unit for the three components, each of which may have its own.
    let column = |k: usize, first: usize| -> Result<Vec<f64>> {
        let values = attributes.floats(WANTED[k].0, n, 1)?;
        let factor = units[k].factor / units[first].factor;
        Ok(if factor == 1.0 { values } else { values.into_iter().map(|x| x * factor).collect() })
    };
    let mass = column(0, 0)?;
    let vectors = |first: usize| -> Result<Vec<Vec3>> {
        let [x, y, z] = [column(first, first)?, column(first + 1, first)?, column(first + 2, first)?];
        Ok(x.into_iter().zip(y).zip(z).map(|((x, y), z)| Vec3::new(x, y, z)).collect())
    };
    let mut particles = Particles { id, ..Particles::new(mass, vectors(1)?, vectors(4)?) };
    let radius_unit = unit_of(&attributes, RADIUS, LENGTH).ok().filter(|unit| unit.system == units[1].system);
    // Radii without a length are none.
    if let Some(unit) = radius_unit {
        others.retain(|name| name != RADIUS);
        let factor = unit.factor / units[1].factor;
        particles.radius = attributes.floats(RADIUS, n, 1)?.into_iter().map(|radius| radius * factor).collect();
    }
    let time = set.number("timestamp")?;
    let time_unit = time.map(|_| text_unit(&set, "timestamp_unit", TIME)).transpose()?;
    others.retain(|name| !WANTED.iter().any(|(wanted, _)| wanted == name));
    if !others.is_empty() {
        notes.push(format!("attributes that tisane does not use were ignored: {}", others.join(", ")));
    }
    let state = FileState { time, notes, ..FileState::new("amuse", particles, Locations::Records) };
    let of = [units[0], units[1], units[4]];
    in_units(state, of, time_unit).map_err(|problem| attributes.error("", problem))
}

/// Returns the last state of the only set in the file, with notes for the user.
fn last_state(file: &ThirdPartyFile) -> Result<(ThirdPartyGroup<'_>, Vec<String>)> {
    let (root, mut notes) = (file.root(), Vec::new());
    let unnamed =
        UNNAMED.into_iter().filter_map(|name| root.group(name)).find(|group| group.group("0000000001").is_some());
    let container = match unnamed {
        Some(container) => container,
        None => {
            let names: Vec<_> = root.members()?.into_iter().filter(|name| name != INFO).collect();
            match names.as_slice() {
                [one] => root.group(one).ok_or_else(|| root.error(one, "expected a group"))?,
                _ => {
                    let problem = format!("expected one set of particles, found {}: {}", names.len(), names.join(", "));
                    return Err(root.error("", problem).with_help("write the set to read into a file of its own"));
                }
            }
        }
    };
    let states = container.members()?;
    let last = states.last().ok_or_else(|| container.error("", "expected a set of particles, found nothing"))?;
    let set = container.group(last).ok_or_else(|| container.error(last, "expected a group"))?;
    if let Some(kind) = set.text("type")?.filter(|kind| kind != "particles") {
        return Err(set.error("type", format!("expected particles, found a {kind}")));
    }
    if states.len() > 1 {
        notes.push(format!("the file has {} states: the last one was read", states.len()));
    }
    Ok((set, notes))
}

/// Reads a set of orbital elements, in the names of AMUSE's table of the stars about the Galactic centre (after
/// Gillessen et al. 2009, table 7): `semimajor_axis` in arc seconds or a length, `omra` for the longitude of the node
/// and `Omega` for the argument of the pericentre.
pub(crate) fn elements(path: &Path) -> Result<ElementTable> {
    let file = ThirdPartyFile::open(path)?;
    let (set, _) = last_state(&file)?;
    let attributes = set.group("attributes").ok_or_else(|| set.error("attributes", "no such group"))?;
    let (axis, time) = ("semimajor_axis", "time_of_pericenter");
    let n = attributes.rows(axis)?;
    let column = |name: &str| -> Result<Vec<f64>> {
        let values = attributes.floats(name, n, 1)?;
        match values.iter().position(|x| !x.is_finite()) {
            Some(row) => Err(attributes.error(name, format!("row {row}: expected a finite number"))),
            None => Ok(values),
        }
    };
    let angle = attributes.dataset_text(axis, "units")?.is_none_or(|unit| unit == "none");
    let length = if angle { None } else { Some(unit_of(&attributes, axis, LENGTH)?.cgs()) };
    Ok(ElementTable {
        semi_major_axis: column(axis)?,
        eccentricity: column("eccentricity")?,
        inclination: column("inclination")?,
        node: column("omra")?,
        pericentre: column("Omega")?,
        phase: Phase::TimeOfPericentre(column(time)?),
        mass: Vec::new(),
        units: ElementUnits { length, time: Some(unit_of(&attributes, time, TIME)?.cgs()), ..ElementUnits::default() },
    })
}

/// Returns the names of all attributes after checking that the required ones exist.
fn check_attributes(set: &ThirdPartyGroup<'_>, attributes: &ThirdPartyGroup<'_>) -> Result<Vec<String>> {
    let found = attributes.members()?;
    let missing: Vec<_> =
        WANTED.into_iter().map(|(name, _)| name).filter(|name| !found.iter().any(|f| f == name)).collect();
    if missing.is_empty() {
        return Ok(found);
    }
    let problem = format!("missing {}; found {}", missing.join(", "), found.join(", "));
    let elements = ["eccentricity", "inclination"].iter().all(|name| found.iter().any(|f| f == name));
    let help = if elements {
        "these are orbital elements: read them with [initial.elements], with the central mass and the distance"
    } else {
        "set these attributes in AMUSE and write the set again"
    };
    Err(set.error("attributes", problem).with_help(help))
}

/// Reads the unit of an attribute, which must have the given powers of mass, length and time.
fn unit_of(attributes: &ThirdPartyGroup<'_>, name: &str, powers: [i32; 3]) -> Result<AmuseUnit> {
    let text = attributes.dataset_text(name, "units")?.ok_or_else(|| attributes.error(name, "no attribute `units`"))?;
    checked_unit(attributes, name, &text, powers)
}

/// Reads a unit from a text attribute of a group.
fn text_unit(set: &ThirdPartyGroup<'_>, name: &str, powers: [i32; 3]) -> Result<AmuseUnit> {
    let text = set.text(name)?.ok_or_else(|| set.error(name, "no such attribute"))?;
    checked_unit(set, name, &text, powers)
}

/// Parses a unit and checks its powers of mass, length and time.
fn checked_unit(at: &ThirdPartyGroup<'_>, name: &str, text: &str, powers: [i32; 3]) -> Result<AmuseUnit> {
    if text == "none" {
        return Err(at.error(name, "expected a unit, found none"));
    }
    let unit = amuse_units::parse(text).map_err(|problem| at.error(name, problem))?;
    if unit.powers != powers || unit.system.is_none() || !(unit.factor > 0.0 && unit.factor.is_finite()) {
        let [m, l, t] = powers;
        return Err(at.error(name, format!("expected a unit of mass^{m} length^{l} time^{t}, found {text}")));
    }
    Ok(unit)
}

/// Sets the units of a state: SI units by their sizes; N-body units after multiplying the values by the numerical
/// factors of their units.
fn in_units(mut state: FileState, of: [AmuseUnit; 3], time: Option<AmuseUnit>) -> Result<FileState, String> {
    let [mass, length, velocity] = of;
    let mut systems = of.iter().chain(&time).map(|unit| unit.system);
    let system = systems.next().flatten();
    if systems.any(|other| other != system) {
        return Err("expected all attributes in SI or all in N-body units, found both".into());
    }
    if system == Some(System::Nbody) {
        let p = &mut state.particles;
        if (mass.factor, length.factor, velocity.factor) != (1.0, 1.0, 1.0) {
            p.mass.iter_mut().for_each(|m| *m *= mass.factor);
            p.pos.iter_mut().for_each(|x| *x *= length.factor);
            p.radius.iter_mut().for_each(|r| *r *= length.factor);
            p.vel.iter_mut().for_each(|x| *x *= velocity.factor);
        }
        state.time = state.time.map(|t| t * time.map_or(1.0, |unit| unit.factor));
        state.units = Some(Units::henon());
    } else {
        let units = from_cgs(mass.cgs(), length.cgs(), velocity.cgs(), time.map(|unit| unit.cgs()));
        state.units = Some(units.ok_or("expected positive, finite sizes of units")?);
    }
    Ok(state)
}

/// Writes an unnamed set, version 2. The ids become the keys of AMUSE.
fn write(path: &Path, state: &FileState) -> Result<Vec<String>> {
    let units = state.units.as_ref().ok_or_else(|| Error::input(path, "the units are unknown"))?;
    write_for_others(path, |root| fill(root, state, units))?;
    Ok(Vec::new())
}

fn fill(root: &Group, state: &FileState, units: &Units) -> H5Result {
    let p = &state.particles;
    put_long_text(&*new_group(root, INFO)?, "version", "2.0")?;
    let set = new_group(&new_group(root, UNNAMED[0])?, "0000000001")?;
    put_long_text(&set, "type", "particles")?;
    put(&set, "number_of_particles", &(p.len() as i64))?;
    if let Some(time) = state.time {
        put(&set, "timestamp", &time)?;
        put_long_text(&set, "timestamp_unit", &amuse_units::write(units, TIME, &units.time))?;
    }
    put_dataset(&set, "keys", 1, &p.id)?;
    let attributes = new_group(&set, "attributes")?;
    for (k, (name, powers)) in WANTED.into_iter().enumerate() {
        let (values, unit): (Vec<f64>, _) = match k {
            0 => (p.mass.clone(), &units.mass),
            1..=3 => (p.pos.iter().map(|r| r[k - 1]).collect(), &units.length),
            _ => (p.vel.iter().map(|v| v[k - 4]).collect(), &units.velocity),
        };
        let dataset = put_dataset(&attributes, name, 1, &values)?;
        put_long_text(&dataset, "units", &amuse_units::write(units, powers, unit))?;
    }
    if !p.radius.is_empty() {
        let dataset = put_dataset(&attributes, RADIUS, 1, &p.radius)?;
        put_long_text(&dataset, "units", &amuse_units::write(units, LENGTH, &units.length))?;
    }
    Ok(())
}
