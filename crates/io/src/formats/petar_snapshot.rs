//! PeTar's snapshots as text (Wang et al. 2020, MNRAS 497, 536): a header `file_id N time`, with an external potential
//! followed by the position and velocity of the system's centre, then one star a line: m x y z vx vy vz, its state as a
//! binary, columns of stellar evolution if it was run with them, and 12 or 13 columns of the integrator, the second of
//! which is the id. `petar.init` writes such a file for the start of a run.

use super::columns::{COLUMNS, Columns};
use super::format::Format;
use super::petar;
use super::sniff::{FileProbe, Guess};
use super::state::{FileState, Locations};
use super::text::{Lines, first_content_line, number_at};
use crate::number::number;
use std::path::Path;
use tisane::{Error, Result};

/// Entry of the format in [`super::FORMATS`].
pub(super) const FORMAT: Format = Format {
    name: "petar-snapshot",
    description: "PeTar's snapshot as text: a header file_id N time, then a star a line",
    schema_text: "PeTar's snapshot as text, with a header.",
    schema_order: 10,
    detect,
    read,
    writer: None,
};

/// Columns before the integrator's: mass, position, velocity, state as a binary.
const FIRST: usize = 8;
/// Columns of the integrator from the search radius on: 6 of the star and 6 of the force, 7 with an external potential.
const LAST: [usize; 2] = [12, 13];
/// Numbers in the header, without and with the centre of the system.
const HEADERS: [usize; 2] = [3, 9];

/// Header of a snapshot.
struct Header {
    particles: u64,
    time: f64,
    /// Position and velocity of the centre, if the file has them.
    centre: Option<[f64; 6]>,
}

impl Header {
    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().collect();
        if !HEADERS.contains(&words.len()) {
            return None;
        }
        words[0].parse::<u64>().ok()?;
        let numbers: Option<Vec<f64>> = words[2..].iter().map(|word| number(word)).collect();
        let numbers = numbers?;
        let centre = numbers.get(1..7).and_then(|centre| centre.try_into().ok());
        Some(Self { particles: words[1].parse::<u64>().ok().filter(|n| *n > 0)?, time: numbers[0], centre })
    }
}

/// Recognises a header of a whole file number, a number of stars and a time before lines of more columns.
fn detect(probe: &FileProbe) -> Option<Guess> {
    let header = Header::parse(&first_content_line(&probe.head)?)?;
    let text = String::from_utf8_lossy(&probe.head);
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let second: Vec<&str> = lines.nth(1)?.split_whitespace().collect();
    let wide = second.len() >= FIRST + LAST[0] && second.iter().all(|word| number(word).is_some());
    let n = header.particles;
    wide.then(|| Guess::sure(format!("a header of PeTar's snapshots (file_id N time) with N = {n}")))?
}

/// Reads the file.
fn read(path: &Path, _: &[String]) -> Result<FileState> {
    let mut lines = Lines::open(path)?;
    let wrong = |line: u64, problem: String| Error::input(path, format!("line {line}: {problem}"));
    let (line, text) = lines.next()?.ok_or_else(|| Error::input(path, "expected a header, found none"))?;
    let header = Header::parse(text)
        .ok_or_else(|| wrong(line, "expected PeTar's header: the number of the file, N, the time".into()))?;
    let (mut columns, mut places, mut ids, mut width) = (Columns::default(), Vec::new(), Vec::new(), 0);
    while let Some((line, text)) = lines.next()? {
        let words: Vec<&str> = text.split_whitespace().collect();
        if places.is_empty() {
            width = words.len();
        }
        if words.len() < COLUMNS.len() || words.len() != width {
            let expected = width.max(COLUMNS.len());
            return Err(wrong(line, format!("expected {expected} columns, found {}", words.len())));
        }
        let mut star = [0.0; 7];
        for ((value, name), word) in star.iter_mut().zip(COLUMNS).zip(&words) {
            *value = number_at(path, line, name, word)?;
        }
        columns.push(star);
        places.push(line);
        ids.push(LAST.map(|last| words.get(id_column(width, last)?)?.parse::<u64>().ok()));
    }
    if places.len() as u64 != header.particles {
        let problem = format!("the header announces {} stars, found {}", header.particles, places.len());
        return Err(Error::input(path, problem).with_help("the file is truncated, or made of several"));
    }
    let mut notes = Vec::new();
    let mut particles = columns.finish();
    match (0..LAST.len()).find_map(|k| unique(ids.iter().map(|id| id[k]))) {
        Some(found) => particles.id = found,
        None => notes.push(format!("no column of ids is known among {width} columns: ids were assigned from 0")),
    }
    if let Some([x, y, z, vx, vy, vz]) = header.centre {
        let centre = format!("the centre of the system is at ({x}, {y}, {z}), with the velocity ({vx}, {vy}, {vz})");
        notes.push(format!("{centre}, according to the header: positions and velocities are relative to it"));
    }
    notes.push("units as of petar -u 1: the file does not state them".into());
    let state = FileState::new("petar-snapshot", particles, Locations::Lines(places));
    Ok(FileState { time: Some(header.time), units: Some(petar::units()), notes, ..state })
}

/// Returns the place of the ids in lines of `width` columns, of which `last` are the integrator's.
fn id_column(width: usize, last: usize) -> Option<usize> {
    let start = width.checked_sub(last).filter(|start| *start >= FIRST)?;
    Some(start + 1)
}

/// Returns ids if all are whole numbers above 0, and no two are equal.
fn unique(ids: impl Iterator<Item = Option<u64>>) -> Option<Vec<u64>> {
    let ids: Vec<u64> = ids.map(|id| id.filter(|id| *id > 0)).collect::<Option<_>>()?;
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1]).then_some(ids)
}
