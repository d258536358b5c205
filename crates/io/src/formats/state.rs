//! What a file of particles holds, in whatever units it is in.

use super::physical::factor;
use tisane::particles::{Particles, Vec3};
use tisane::units::Units;

/// What a file holds, in the file's own units.
#[derive(Clone, Debug, PartialEq)]
pub struct FileState {
    /// The particles: `mass`, `pos`, `vel`, `id` are set (ids 0 … N−1 in file order where the file has none).
    pub particles: Particles,
    /// The time of the state, where the format has one; in the unit of time that its units name.
    pub time: Option<f64>,
    /// Name of the format, as in [`FORMATS`](super::FORMATS).
    pub format: &'static str,
    /// How the format was told, for people.
    pub guess: String,
    /// Smallest and largest softening length, where the format has one for each particle.
    pub softening: Option<[f64; 2]>,
    /// The units, where the file names them.
    pub units: Option<Units>,
    /// What the reader did with the file that its owner should know: types merged, h taken out, columns passed over.
    pub notes: Vec<String>,
    /// Where each particle stands in the file, for messages.
    pub(super) places: Locations,
}

/// How to name a particle's place in its file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Locations {
    /// Text: the line of each particle, from 1.
    Lines(Vec<u64>),
    /// Binary records: the particle's number, from 0.
    Records,
}

impl FileState {
    /// Particles without time, units and notes.
    pub(super) fn new(format: &'static str, particles: Particles, places: Locations) -> Self {
        let (guess, notes) = (String::new(), Vec::new());
        Self { particles, time: None, format, guess, softening: None, units: None, notes, places }
    }

    /// The place of particle `i`, to start a message with.
    pub(super) fn place(&self, i: usize) -> String {
        match &self.places {
            Locations::Lines(lines) => format!("line {}", lines[i]),
            Locations::Records => format!("particle {i} (from 0)"),
        }
    }

    /// Brings the state to other units; says what was done, or [`None`] if the numbers stay. A state whose units are not
    /// known is taken to be in them already.
    ///
    /// # Errors
    /// What is wrong: Hénon units have no size, so that they cannot be turned into units that have; a number is beyond what 8-byte
    /// floats hold in the other units. The state is then of no use.
    pub fn to_units(&mut self, to: &Units) -> Result<Option<String>, String> {
        let Some(from) = self.units.replace(to.clone()) else { return Ok(None) };
        if from.is_henon() != to.is_henon() {
            let problem = format!("its units are {}, but {} are wanted", from.describe(), to.describe());
            self.units = Some(from);
            return Err(problem);
        }
        let mass = factor(&from.mass, &to.mass);
        let length = factor(&from.length, &to.length);
        let velocity = factor(&from.velocity, &to.velocity);
        let time = factor(&from.time, &to.time);
        let p = &mut self.particles;
        p.mass.iter_mut().for_each(|m| *m *= mass);
        let scale = |column: &mut [Vec3], by: f64| column.iter_mut().for_each(|x| *x *= by);
        scale(&mut p.pos, length);
        scale(&mut p.vel, velocity);
        self.time = self.time.map(|t| t * time);
        self.softening = self.softening.map(|range| range.map(|x| x * length));
        self.check_range([mass, length, velocity, time]).map_err(|what| {
            format!("{what}, in {}, is beyond the range of 8-byte floats in {}", from.describe(), to.describe())
        })?;
        let same = [mass, length, velocity, time].iter().all(|f| *f == 1.0);
        Ok((!same).then(|| format!("converted from {} to {}", from.describe(), to.describe())))
    }

    /// Names what is no number any more, or no mass, after it was multiplied by the factors of mass, length, velocity and time.
    fn check_range(&self, factors: [f64; 4]) -> Result<(), String> {
        let names = ["mass", "length", "velocity", "time"];
        if let Some((name, _)) = names.iter().zip(factors).find(|(_, factor)| !factor.is_normal()) {
            return Err(format!("the unit of {name}"));
        }
        let p = &self.particles;
        for i in 0..p.len() {
            let columns =
                [("mass", &p.mass[i..=i]), ("position", p.pos[i].as_slice()), ("velocity", p.vel[i].as_slice())];
            if let Some((name, _)) = columns.iter().find(|(_, values)| values.iter().any(|x| !x.is_finite())) {
                return Err(format!("{}: the {name}", self.place(i)));
            }
        }
        if !(p.total_mass() > 0.0 && p.total_mass().is_finite()) {
            return Err("the total mass".into());
        }
        if self.time.is_some_and(|t| !t.is_finite()) {
            return Err("the time".into());
        }
        Ok(())
    }
}
