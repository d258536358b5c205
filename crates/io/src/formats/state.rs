//! Contents of a file of particles.

use super::physical::factor;
use tisane::particles::{Particles, Vec3};
use tisane::units::Units;

/// Kind of particles, with its smallest and largest softening length.
pub type SofteningRange = (&'static str, [f64; 2]);

/// Contents of a file of particles, in the units of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct FileState {
    /// Particles: `mass`, `pos`, `vel` and `id` are set (ids 0 … N−1 in file order if the file has none), `radius` and
    /// `close` if the file has them.
    pub particles: Particles,
    /// Time of the state in the unit of time of `units`, if the format has one.
    pub time: Option<f64>,
    /// Name of the format, as in [`FORMATS`](super::FORMATS).
    pub format: &'static str,
    /// Description of how the format was determined.
    pub guess: String,
    /// Kinds of particles that have softening lengths of their own, each with the smallest and the largest.
    pub softening: Vec<SofteningRange>,
    /// Units, if the file states them.
    pub units: Option<Units>,
    /// Size of the unit of the column of ages in s, if the file states it: the column is not converted.
    pub age_unit: Option<f64>,
    /// Remarks of the reader for the user: types that were merged, factors of h removed, columns ignored.
    pub notes: Vec<String>,
    /// Location of each particle in the file, for messages.
    pub(super) locations: Locations,
}

/// Locations of particles in a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Locations {
    /// Text file: line number of each particle, from 1.
    Lines(Vec<u64>),
    /// Binary file: the number of the particle, from 0.
    Records,
}

impl FileState {
    /// Creates a state without time, units and notes.
    pub(super) fn new(format: &'static str, particles: Particles, locations: Locations) -> Self {
        let (guess, notes, softening) = (String::new(), Vec::new(), Vec::new());
        Self { particles, time: None, format, guess, softening, units: None, age_unit: None, notes, locations }
    }

    /// Describes the softening lengths of the particles by kind, with the name of the unit of length; [`None`] if the
    /// file has none.
    #[must_use]
    pub fn softening_text(&self, unit: &str) -> Option<String> {
        // The digits of the 4-byte floats that files have.
        let number = |x: f64| format!("{:?}", x as f32);
        let range = |&(kind, [min, max]): &SofteningRange| match min == max {
            true => format!("{} {unit} ({kind})", number(min)),
            false => format!("{} to {} {unit} ({kind})", number(min), number(max)),
        };
        let ranges: Vec<_> = self.softening.iter().map(range).collect();
        (!ranges.is_empty()).then(|| ranges.join(", "))
    }

    /// Returns the location of particle `i`, for the start of a message.
    #[must_use]
    pub fn place(&self, i: usize) -> String {
        match &self.locations {
            Locations::Lines(lines) => format!("line {}", lines[i]),
            Locations::Records => format!("particle {i} (from 0)"),
        }
    }

    /// Converts the state to other units. Returns a description of the conversion, or [`None`] if the numbers stay. A
    /// state of unknown units is assumed to be in them already.
    ///
    /// # Errors
    /// A message if only one of the two systems is that of N-body units, which have no physical size, or if a number
    /// exceeds the range of 8-byte floats in the new units. The state must not be used after an error.
    pub fn to_units(&mut self, to: &Units) -> Result<Option<String>, String> {
        let Some(from) = self.units.replace(to.clone()) else { return Ok(None) };
        if from.is_henon() != to.is_henon() {
            let problem = format!("its units are {}, which cannot be converted to {}", from.describe(), to.describe());
            self.units = Some(from);
            return Err(problem);
        }
        let mass = factor(&from.mass, &to.mass);
        let length = factor(&from.length, &to.length);
        let velocity = factor(&from.velocity, &to.velocity);
        let time = factor(&from.time, &to.time);
        let p = &mut self.particles;
        let had_mass = p.total_mass() > 0.0;
        p.mass.iter_mut().for_each(|m| *m *= mass);
        let scale = |column: &mut [Vec3], by: f64| column.iter_mut().for_each(|x| *x *= by);
        scale(&mut p.pos, length);
        p.radius.iter_mut().for_each(|r| *r *= length);
        scale(&mut p.vel, velocity);
        p.close.iter_mut().for_each(|close| close.rescale(length, velocity));
        self.time = self.time.map(|t| t * time);
        self.softening.iter_mut().flat_map(|(_, range)| range).for_each(|x| *x *= length);
        self.check_range([mass, length, velocity, time], had_mass).map_err(|what| {
            format!("{what}, in {}, is beyond the range of 8-byte floats in {}", from.describe(), to.describe())
        })?;
        let same = [mass, length, velocity, time].iter().all(|f| *f == 1.0);
        Ok((!same).then(|| format!("converted from {} to {}", from.describe(), to.describe())))
    }

    /// Checks that values are still finite and the total mass positive, if it was, after multiplication by the factors of
    /// mass, length, velocity and time.
    fn check_range(&self, factors: [f64; 4], had_mass: bool) -> Result<(), String> {
        let names = ["mass", "length", "velocity", "time"];
        if let Some((name, _)) = names.iter().zip(factors).find(|(_, factor)| !factor.is_normal()) {
            return Err(format!("the unit of {name}"));
        }
        let p = &self.particles;
        for i in 0..p.len() {
            if let Some((name, _)) = columns(p, i).iter().find(|(_, values)| values.iter().any(|x| !x.is_finite())) {
                return Err(format!("{}: the {name}", self.place(i)));
            }
        }
        if had_mass != (p.total_mass() > 0.0) || !p.total_mass().is_finite() {
            return Err("the total mass".into());
        }
        if self.time.is_some_and(|t| !t.is_finite()) {
            return Err("the time".into());
        }
        Ok(())
    }
}

/// Returns the physical columns of particle `i` with their names; no radius where there is none.
pub(super) fn columns(p: &Particles, i: usize) -> [(&'static str, &[f64]); 4] {
    [
        ("mass", &p.mass[i..=i]),
        ("position", p.pos[i].as_slice()),
        ("velocity", p.vel[i].as_slice()),
        ("radius", p.radius.get(i..=i).unwrap_or_default()),
    ]
}
