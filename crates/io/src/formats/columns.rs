//! Text files with the seven columns m x y z vx vy vz, as several programs write them.

use super::state::{FileState, Locations};
use super::text::{Lines, first_content_line, number_at};
use crate::atomic::write_atomically;
use crate::number::number;
use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use tisane::particles::{Particles, Vec3};
use tisane::{Error, Result};

/// Names of the columns, in order.
pub(super) const COLUMNS: [&str; 7] = ["m", "x", "y", "z", "vx", "vy", "vz"];

/// Columns of particles that are being read.
#[derive(Default)]
pub(super) struct Columns {
    mass: Vec<f64>,
    pos: Vec<Vec3>,
    vel: Vec<Vec3>,
}

impl Columns {
    /// Appends a particle given as m, x, y, z, vx, vy, vz.
    pub(super) fn push(&mut self, [m, x, y, z, vx, vy, vz]: [f64; 7]) {
        self.mass.push(m);
        self.pos.push(Vec3::new(x, y, z));
        self.vel.push(Vec3::new(vx, vy, vz));
    }

    /// Returns the particles, with ids in file order.
    pub(super) fn finish(self) -> Particles {
        Particles::new(self.mass, self.pos, self.vel)
    }
}

/// Returns a particle as m, x, y, z, vx, vy, vz.
pub(super) fn row(p: &Particles, i: usize) -> [f64; 7] {
    let (x, v) = (p.pos[i], p.vel[i]);
    [p.mass[i], x.x, x.y, x.z, v.x, v.y, v.z]
}

/// Returns true for text whose first content line starts with a number and has no comma.
pub(super) fn looks_like(head: &[u8]) -> bool {
    first_content_line(head).is_some_and(|line| {
        !line.contains(',') && line.split_whitespace().next().is_some_and(|word| number(word).is_some())
    })
}

/// Reads a file of exactly seven columns, or of seven or more with `more`. Returns the state and the largest number of
/// columns of a line.
pub(super) fn read(path: &Path, format: &'static str, more: bool) -> Result<(FileState, usize)> {
    let (mut columns, mut places, mut max) = (Columns::default(), Vec::new(), 0);
    let mut lines = Lines::open(path)?;
    while let Some((line, text)) = lines.next()? {
        let found = text.split_whitespace().count();
        if found < COLUMNS.len() || (found > COLUMNS.len() && !more) {
            let problem = format!("line {line}: expected 7 columns ({}), found {found}", COLUMNS.join(" "));
            return Err(Error::input(path, problem).with_help("a file with a header line and commas is read as csv"));
        }
        let mut star = [0.0; 7];
        for ((value, name), word) in star.iter_mut().zip(COLUMNS).zip(text.split_whitespace()) {
            *value = number_at(path, line, name, word)?;
        }
        columns.push(star);
        places.push(line);
        max = max.max(found);
    }
    Ok((FileState::new(format, columns.finish(), Locations::Lines(places)), max))
}

/// Writes a header and a line for each particle, which `line` appends to the text.
pub(super) fn write(path: &Path, header: &str, p: &Particles, line: impl Fn(&mut String, usize)) -> Result<()> {
    write_atomically(path, |temporary| {
        let failed = |e: std::io::Error| Error::storage(path, e);
        let mut file = BufWriter::new(std::fs::File::create(temporary).map_err(failed)?);
        file.write_all(header.as_bytes()).map_err(failed)?;
        let mut text = String::new();
        for i in 0..p.len() {
            text.clear();
            line(&mut text, i);
            text.push('\n');
            file.write_all(text.as_bytes()).map_err(failed)?;
        }
        file.flush().map_err(failed)
    })
}

/// Writes seven columns without a header. Returns descriptions of the information that was lost.
pub(super) fn write_seven(path: &Path, state: &FileState) -> Result<Vec<String>> {
    let p = &state.particles;
    write(path, "", p, |text, i| join(text, row(p, i), " "))?;
    Ok(lost_ids(p).into_iter().chain(lost_time(state)).collect())
}

/// Appends numbers to a line, in the shortest form that reads back to the same bits.
pub(super) fn join(text: &mut String, values: [f64; 7], between: &str) {
    for (k, value) in values.into_iter().enumerate() {
        let _ = write!(text, "{}{value:?}", if k == 0 { "" } else { between });
    }
}

/// Describes the loss of ids; [`None`] if they are 0 … N−1, which a reader assigns again.
pub(super) fn lost_ids(p: &Particles) -> Option<String> {
    let default_ids = p.id.iter().enumerate().all(|(i, id)| *id == i as u64);
    (!default_ids).then(|| "the particles' ids: the format has none".into())
}

/// Describes the loss of the time; [`None`] if there is none.
pub(super) fn lost_time(state: &FileState) -> Option<String> {
    state.time.map(|time| format!("the time, {time}: the format has none"))
}
