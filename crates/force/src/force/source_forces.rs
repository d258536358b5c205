//! Forces of given sources at any points: what a program uses that integrates by itself, as it would a GRAPE.

use super::engine_kind::EngineKind;
use super::forces::Forces;
use super::points::{FieldEngine, NO_SOURCE, Points};
use super::precision::Precision;
use super::range::Range;
use crate::error::{Error, Result};
use crate::law::Law;
use crate::particles::{NamedColumn, Particles, Vec3};
use crate::spin_pool;
use crate::time::{Clock, Time};
use crate::units::Scale;
use std::sync::Arc;

/// Engine with its sources, at rest in time, in units with G = 1. Sources without mass are not given to the engine and
/// cost nothing, by Newton's law.
pub struct SourceForces {
    engine: Box<dyn FieldEngine>,
    /// Law in place of Newton's.
    law: Option<Arc<Law>>,
    range: Range,
    epsilon: f64,
    on_gpu: bool,
    process: u32,
    /// All sources, as the program numbers them.
    all: Particles,
    /// Place of each source in the engine, or [`NO_SOURCE`] if it has no mass.
    place: Vec<u32>,
    /// The sources that the engine holds.
    held: Particles,
}

impl SourceForces {
    /// Opens an engine without sources. `epsilon` is the Plummer softening, `device` the number of the GPU.
    ///
    /// # Errors
    /// [`Error::Input`] if the softening is not a finite number of zero or more, and as [`EngineKind::open`].
    pub fn open(kind: EngineKind, precision: Precision, epsilon: f64, device: usize) -> Result<Self> {
        check_softening(epsilon)?;
        let engine = kind.open(precision, epsilon, CLOCK, device)?;
        Ok(Self::new(engine, None, kind, precision, epsilon))
    }

    /// Opens an engine without sources for a law in place of Newton's.
    ///
    /// # Errors
    /// [`Error::Input`] if the softening is not a finite number of zero or more, and as [`EngineKind::open_with_law`].
    pub fn open_with_law(
        law: Arc<Law>,
        kind: EngineKind,
        precision: Precision,
        epsilon: f64,
        device: usize,
    ) -> Result<Self> {
        check_softening(epsilon)?;
        let engine = kind.open_with_law(&law, precision, epsilon, CLOCK, device)?;
        Ok(Self::new(engine, Some(law), kind, precision, epsilon))
    }

    fn new(
        engine: Box<dyn FieldEngine>,
        law: Option<Arc<Law>>,
        kind: EngineKind,
        precision: Precision,
        epsilon: f64,
    ) -> Self {
        let range = Range::for_precision(precision);
        let (on_gpu, process) = (kind == EngineKind::Cuda, std::process::id());
        let (all, held, place) = Default::default();
        Self { engine, law, range, epsilon, on_gpu, process, all, place, held }
    }

    /// Returns the number of sources.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns true if there are no sources.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Replaces all sources, which are numbered from 0.
    ///
    /// # Errors
    /// [`Error::Input`] for columns of different lengths, negative masses, and numbers that are not finite or that the
    /// mode cannot represent: then the sources stay as they were. Otherwise if the engine fails.
    pub fn set(&mut self, mass: &[f64], pos: &[Vec3], vel: &[Vec3]) -> Result<()> {
        self.set_with_columns(mass, pos, vel, Vec::new())
    }

    /// Replaces all sources as [`SourceForces::set`] does, with the columns that the law reads.
    ///
    /// # Errors
    /// As [`SourceForces::set`], and if a column is missing or has another length.
    pub fn set_with_columns(
        &mut self,
        mass: &[f64],
        pos: &[Vec3],
        vel: &[Vec3],
        columns: Vec<NamedColumn>,
    ) -> Result<()> {
        check_lengths(&[mass.len(), pos.len(), vel.len()])?;
        if mass.len() >= NO_SOURCE as usize {
            return Err(Error::input("sources", format!("{} are too many", mass.len())));
        }
        let all = Particles { columns, ..Particles::new(mass.to_vec(), pos.to_vec(), vel.to_vec()) };
        if let Some(law) = &self.law {
            law.columns(&all)?;
        }
        self.check(&all)?;
        self.all = all;
        self.load()
    }

    /// Changes the sources `index`. A number that comes twice gets its last values.
    ///
    /// # Errors
    /// As [`SourceForces::set`], and for a number of no source.
    pub fn set_some(&mut self, index: &[u64], mass: &[f64], pos: &[Vec3], vel: &[Vec3]) -> Result<()> {
        check_lengths(&[index.len(), mass.len(), pos.len(), vel.len()])?;
        let n = self.len();
        if let Some(i) = index.iter().find(|&&i| i >= n as u64) {
            return Err(Error::input("sources", format!("there is no source {i}: there are {n}, numbered from 0")));
        }
        let mut some = Particles::new(mass.to_vec(), pos.to_vec(), vel.to_vec());
        some.id = index.to_vec();
        self.check(&some)?;
        let (mut same_masses, mut changed) = (true, Vec::with_capacity(index.len()));
        for (k, i) in index.iter().map(|&i| i as usize).enumerate() {
            // Engines hold masses from their load on.
            same_masses &= self.all.mass[i] == mass[k];
            (self.all.mass[i], self.all.pos[i], self.all.vel[i]) = (mass[k], pos[k], vel[k]);
            changed.push(i);
        }
        if !same_masses {
            return self.load();
        }
        let mut places = Vec::with_capacity(changed.len());
        for i in changed {
            let place = self.place[i];
            if place != NO_SOURCE {
                (self.held.pos[place as usize], self.held.vel[place as usize]) = (self.all.pos[i], self.all.vel[i]);
                places.push(place);
            }
        }
        places.sort_unstable();
        places.dedup();
        self.engine.update(&self.held, &places)
    }

    /// Evaluates acceleration, jerk and potential at points with the positions `pos` and the velocities `vel`; for those
    /// at rest `vel` may be empty. Point k does not feel the source number `exclude[k]`: a particle not itself. A number
    /// of no source, such as [`u64::MAX`], excludes none, and so does an empty `exclude` for all points.
    ///
    /// # Errors
    /// [`Error::Input`] for columns of different lengths and for a point at which the force is not a finite number, as
    /// at the place of a source without softening; otherwise if the engine fails.
    pub fn evaluate(&mut self, exclude: &[u64], pos: &[Vec3], vel: &[Vec3], out: &mut Forces) -> Result<()> {
        let n = pos.len();
        let or_n = |column: usize| if column == 0 { n } else { column };
        check_lengths(&[n, or_n(vel.len()), or_n(exclude.len())])?;
        if let Some(k) = pos.iter().position(|x| !x.iter().all(|x| x.abs() <= self.range.coordinate)) {
            let max = self.range.coordinate;
            let problem = format!("point {k} is at {:?}: expected coordinates up to {max:.3e}", pos[k].as_slice());
            return Err(Error::input("points", problem));
        }
        let place = |source: &u64| {
            let source = usize::try_from(*source).unwrap_or(usize::MAX);
            self.place.get(source).copied().unwrap_or(NO_SOURCE)
        };
        let exclude = if exclude.is_empty() { vec![NO_SOURCE; n] } else { exclude.iter().map(place).collect() };
        let at_rest = if vel.is_empty() { vec![Vec3::zeros(); n] } else { Vec::new() };
        let vel = if vel.is_empty() { &at_rest } else { vel };
        if self.on_gpu && self.process != std::process::id() {
            let problem = "this engine was opened by the process from which this one was forked";
            return Err(Error::input("process", problem).with_help("open it in the process that uses it"));
        }
        let points = Points { exclude: &exclude, pos, vel };
        // A GPU needs no threads, and waking one takes as long as the forces on a few points.
        if self.on_gpu {
            self.engine.evaluate_at(Time::default(), points, out)?;
        } else {
            spin_pool::shared()?.install(|| self.engine.evaluate_at(Time::default(), points, out))?;
        }
        let finite = |k: usize| out.acc[k].iter().chain(&out.jerk[k]).chain([&out.pot[k]]).all(|x| x.is_finite());
        match (0..n).find(|&k| !finite(k)) {
            None => Ok(()),
            Some(k) => {
                let problem = format!("the force at point {k}, {:?}, is not a finite number", pos[k].as_slice());
                let help = "it is at the place of a source that it does not exclude, without softening, or its velocity \
                            is not a finite number";
                Err(Error::input("points", problem).with_help(help))
            }
        }
    }

    /// Checks that the mode can represent sources.
    fn check(&self, p: &Particles) -> Result<()> {
        if let Some(i) = p.mass.iter().position(|m| !(*m >= 0.0 && m.is_finite())) {
            let problem =
                format!("source {} has the mass {}: expected a finite number, zero or more", p.id[i], p.mass[i]);
            return Err(Error::input("sources", problem));
        }
        let described = self.range.check_start(p, self.epsilon);
        described.map_err(|what| {
            Error::input("sources", what.describe(p, &self.range, &Scale::IDENTITY)).with_help(self.range.advice())
        })
    }

    /// Gives the engine all sources that have a mass, or with a law all.
    fn load(&mut self) -> Result<()> {
        let held = |i: &usize| self.law.is_some() || self.all.mass[*i] > 0.0;
        let massive: Vec<usize> = (0..self.len()).filter(held).collect();
        self.place = vec![NO_SOURCE; self.len()];
        massive.iter().enumerate().for_each(|(place, &i)| self.place[i] = place as u32);
        let all = &self.all;
        self.held = Particles::new(
            massive.iter().map(|&i| all.mass[i]).collect(),
            massive.iter().map(|&i| all.pos[i]).collect(),
            massive.iter().map(|&i| all.vel[i]).collect(),
        );
        self.held.columns.clone_from(&self.all.columns);
        self.engine.load(&self.held)
    }
}

/// Time axis of sources at rest.
const CLOCK: Clock = Clock { start: 0.0, dt_max: 1.0 };

fn check_softening(epsilon: f64) -> Result<()> {
    if epsilon >= 0.0 && epsilon.is_finite() {
        return Ok(());
    }
    Err(Error::input("softening", format!("expected a finite number, zero or more, found {epsilon}")))
}

/// Checks that columns have one length.
fn check_lengths(lengths: &[usize]) -> Result<()> {
    if lengths.windows(2).all(|pair| pair[0] == pair[1]) {
        return Ok(());
    }
    Err(Error::input("columns", format!("expected one length, found {lengths:?}")))
}
