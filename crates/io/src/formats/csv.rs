//! Comma-separated text with a header of the columns m, x, y, z, vx, vy, vz and optionally id and radius, in any order; with the
//! comments of ECSV at its beginning it states units, and its columns may be separated by blanks. Blank
//! lines and lines that start with `#` are skipped; a field may be in double quotes. Fields are numbers and names
//! without commas and line breaks, so that lines are split here, which keeps the line numbers of messages right.

use super::column_names::meant;
use super::columns::{self, COLUMNS as REQUIRED, Columns};
use super::ecsv::{self, fields};
use super::format::{Format, WritableUnits, Writer};
use super::physical::from_cgs;
use super::sniff::{FileProbe, Guess};
use super::state::{FileState, Locations};
use super::text::{Lines, first_content_line, number_at, shown};
use super::unit_text::{LENGTH, MASS, TIME, VELOCITY};
use std::path::Path;
use tisane::particles::{NamedColumn, Particles};
use tisane::units::Units;
use tisane::{Error, Result};

/// Entry of the format in [`super::FORMATS`].
pub(super) const FORMAT: Format = Format {
    name: "csv",
    description: "comma-separated text, or ECSV, with the header m,x,y,z,vx,vy,vz[,id][,radius]",
    schema_text: "Text with the columns m,x,y,z,vx,vy,vz and optionally id and radius; ECSV with its units.",
    schema_order: 2,
    detect,
    read,
    writer: Some(Writer { units: WritableUnits::Unnamed, radii: true, loses: "time, units", write }),
};

/// Names of the optional columns of ids and radii.
const ID: &str = "id";
const RADIUS: &str = "radius";
/// Names of wanted columns of ages and metallicities of stars.
const AGE: &str = "age";
const METALLICITY: &str = "metallicity";

/// Recognises ECSV, and text with a comma in its first content line.
fn detect(probe: &FileProbe) -> Option<Guess> {
    if ecsv::looks_like(&probe.head) {
        return Guess::sure("ECSV");
    }
    let comma = first_content_line(&probe.head).is_some_and(|line| line.contains(','));
    comma.then(|| Guess::sure("text with commas"))?
}

/// Index of each column, from the header.
struct ColumnOrder {
    required: [usize; 7],
    id: Option<usize>,
    radius: Option<usize>,
    /// Further columns that are wanted and there.
    named: Vec<(String, usize)>,
}

/// Reads the file.
fn read(path: &Path, wanted: &[String]) -> Result<FileState> {
    let stated = ecsv::Header::read(path)?;
    let blanks = stated.as_ref().is_some_and(|header| header.blanks);
    let mut lines = Lines::open(path)?;
    let first = lines.next()?.ok_or_else(|| Error::input(path, "expected a header line, found none"))?;
    let header = header(path, first, (wanted, blanks))?;
    let further = usize::from(header.id.is_some()) + usize::from(header.radius.is_some()) + header.named.len();
    let width = REQUIRED.len() + further;
    let mut named = vec![Vec::new(); header.named.len()];
    let (mut columns, mut ids, mut radii, mut places) = (Columns::default(), Vec::new(), Vec::new(), Vec::new());
    while let Some((line, text)) = lines.next()? {
        let words: Vec<&str> = fields(text, blanks).collect();
        if words.len() != width {
            let problem = format!("line {line}: expected {width} columns as in the header, found {}", words.len());
            return Err(Error::input(path, problem));
        }
        let mut values = [0.0; 7];
        for ((value, name), &column) in values.iter_mut().zip(REQUIRED).zip(&header.required) {
            *value = number_at(path, line, name, words[column])?;
        }
        columns.push(values);
        if let Some(column) = header.id {
            ids.push(id_at(path, line, words[column])?);
        }
        if let Some(column) = header.radius {
            radii.push(number_at(path, line, RADIUS, words[column])?);
        }
        for (values, (name, column)) in named.iter_mut().zip(&header.named) {
            values.push(number_at(path, line, name, words[*column])?);
        }
        places.push(line);
    }
    let (mut particles, places) = (columns.finish(), Locations::Lines(places));
    if header.id.is_some() {
        particles.id = ids;
    }
    particles.radius = radii;
    let named = header.named.into_iter().zip(named);
    particles.columns = named.map(|((name, _), values)| NamedColumn { name, values }).collect();
    let mut state = FileState::new("csv", particles, places);
    if let Some(stated) = stated {
        state.units = convert(path, &stated, &mut state.particles)?;
        let mut named: Vec<&String> = state.particles.columns.iter().map(|column| &column.name).collect();
        named.retain(|name| stated.states(name));
        if named.iter().any(|name| *name == AGE) {
            state.age_unit = stated.unit(path, AGE, &[TIME])?.map(|unit| unit.size);
            named.retain(|name| *name != AGE);
        }
        let note = |name: &String| {
            let says =
                if name == METALLICITY { "it is the share Z of the mass" } else { "[force.law] says what it is" };
            format!("the unit of {name} in the file is not read: {says}")
        };
        state.notes = named.into_iter().map(note).collect();
    }
    Ok(state)
}

/// Brings the columns of each quantity to one unit, and returns the units of the particles; [`None`] if the header states none.
fn convert(path: &Path, stated: &ecsv::Header, p: &mut Particles) -> Result<Option<Units>> {
    let radius: &[&str] = if p.radius.is_empty() { &[] } else { &[RADIUS] };
    let names = [&REQUIRED[..], radius].concat();
    if !stated.states_all(path, &names)? {
        return Ok(None);
    }
    let mut sizes = Vec::with_capacity(names.len());
    for (k, name) in names.iter().enumerate() {
        let powers = match k {
            0 => MASS,
            4..=6 => VELOCITY,
            _ => LENGTH,
        };
        sizes.extend(stated.unit(path, name, &[powers])?.map(|unit| unit.size));
    }
    for (first, vectors) in [(1, &mut p.pos), (4, &mut p.vel)] {
        for axis in 1..3 {
            let factor = sizes[first + axis] / sizes[first];
            vectors.iter_mut().for_each(|vector| vector[axis] *= factor);
        }
    }
    if let Some(size) = sizes.get(REQUIRED.len()) {
        p.radius.iter_mut().for_each(|value| *value *= size / sizes[1]);
    }
    let found = from_cgs(sizes[0], sizes[1], sizes[4], None);
    found.map(Some).ok_or_else(|| Error::input(path, "the ECSV header: expected units with positive, finite sizes"))
}

/// Writes a file with ids, and radii if the particles have them. Returns descriptions of the information that was lost.
fn write(path: &Path, state: &FileState) -> Result<Vec<String>> {
    let p = &state.particles;
    let more = if p.radius.is_empty() { String::new() } else { format!(",{RADIUS}") };
    let header = format!("{},{ID}{more}\n", REQUIRED.join(","));
    columns::write(path, &header, p, |text, i| {
        columns::join(text, columns::row(p, i), ",");
        text.push_str(&format!(",{}", p.id[i]));
        text.extend(p.radius.get(i).map(|radius| format!(",{radius:?}")));
    })?;
    Ok(columns::lost_time(state).into_iter().collect())
}

/// Parses the header line: every required name once, `id`, `radius` and the wanted names at most once, nothing else.
fn header(path: &Path, (line, text): (u64, &str), (wanted, blanks): (&[String], bool)) -> Result<ColumnOrder> {
    let names: Vec<&str> = fields(text, blanks).collect();
    let wrong = |problem: String| {
        let more: String = wanted.iter().map(|name| format!("[,{name}]")).collect();
        let help = format!("the header is {}[,{ID}][,{RADIUS}]{more} in any order", REQUIRED.join(","));
        Error::input(path, format!("line {line}, header: {problem}")).with_help(help)
    };
    for (column, name) in names.iter().enumerate() {
        let is_wanted = wanted.iter().any(|wanted| wanted == name);
        if !REQUIRED.contains(name) && ![ID, RADIUS].contains(name) && !is_wanted {
            let valid: Vec<&str> =
                REQUIRED.into_iter().chain([ID, RADIUS]).chain(wanted.iter().map(String::as_str)).collect();
            let guess = meant(name, &valid).map(|guess| format!(" (nearest: {guess})")).unwrap_or_default();
            return Err(wrong(format!("column {} is {}: not a column of this format{guess}", column + 1, shown(name))));
        }
        if names[..column].contains(name) {
            return Err(wrong(format!("column {name} occurs twice")));
        }
    }
    let position = |name: &str| names.iter().position(|found| *found == name);
    let mut required = [0; 7];
    for (place, name) in required.iter_mut().zip(REQUIRED) {
        let missing = || wrong(format!("expected a column {name}, found {}", names.join(",")));
        *place = position(name).ok_or_else(missing)?;
    }
    let named = wanted.iter().filter_map(|name| Some((name.clone(), position(name)?))).collect();
    Ok(ColumnOrder { required, id: position(ID), radius: position(RADIUS), named })
}

/// Parses an id in the given line.
fn id_at(path: &Path, line: u64, word: &str) -> Result<u64> {
    // The library takes a sign too.
    let digits = word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| digits).ok_or_else(|| {
        let found = shown(word);
        let problem = format!("line {line}, column {ID}: expected a whole number from 0 to 2^64 - 1, found {found}");
        Error::input(path, problem)
    })
}
