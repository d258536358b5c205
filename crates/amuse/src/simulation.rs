//! Simulation in memory behind the code, with the columns and indices of AMUSE.

use crate::columns::{Failure, Outcome};
use crate::particles::{Particles, Vector};
use std::path::Path;
use tisane::force::Forces;
use tisane::particles::Vec3;
use tisane::time::MAX_DT_MAX_STEPS;
use tisane_run::in_memory::{Changes, InMemory};
use tisane_run::system::System;

/// Started simulation.
pub struct Simulation {
    engine: InMemory,
    /// Latest time that the axis of the integration reaches.
    horizon: f64,
}

/// Gravity at points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// Accelerations.
    pub acc: Vec<Vector>,
    /// Potentials per unit mass.
    pub pot: Vec<f64>,
}

impl From<Forces> for Field {
    fn from(forces: Forces) -> Self {
        Self { acc: forces.acc.iter().map(to_vector).collect(), pot: forces.pot }
    }
}

fn to_vector(v: &Vec3) -> Vector {
    [v.x, v.y, v.z]
}

fn to_vec3(column: &[Vector]) -> Vec<Vec3> {
    column.iter().map(|&v| Vec3::from(v)).collect()
}

fn ids(index: &[i32]) -> Vec<u64> {
    index.iter().map(|&index| u64::from(index.unsigned_abs())).collect()
}

/// Gives some rows their values in the columns that the law reads; what AMUSE has not set is missed at the start.
fn give_columns(engine: &mut InMemory, p: &Particles, rows: impl Iterator<Item = usize> + Clone) -> Outcome {
    for (name, values) in &p.columns {
        let set: Vec<usize> = rows.clone().filter(|&row| !values[row].is_nan()).collect();
        let index: Vec<i32> = set.iter().map(|&row| p.index[row]).collect();
        let values: Vec<f64> = set.iter().map(|&row| values[row]).collect();
        if !set.is_empty() {
            engine.set_column(name, &ids(&index), &values)?;
        }
    }
    Ok(())
}

impl Simulation {
    /// Starts a simulation of particles by a configuration without `[initial]`.
    ///
    /// # Errors
    /// If configuration and particles are not valid, or the engine is not there.
    pub fn start(configuration: &str, particles: &Particles) -> Outcome<Self> {
        let mut engine = InMemory::new(configuration, Path::new(""), &[])?;
        let Particles { index, mass, pos, vel, .. } = particles;
        engine.add(Some(&ids(index)), mass, &to_vec3(pos), &to_vec3(vel))?;
        give_columns(&mut engine, particles, 0..particles.len())?;
        engine.start()?;
        let mut simulation = Self { engine, horizon: 0.0 };
        simulation.measure_horizon();
        Ok(simulation)
    }

    fn measure_horizon(&mut self) {
        // Less than the axis has, so that rounding cannot put a time just before its end beyond it.
        let periods = (MAX_DT_MAX_STEPS - 2) as f64;
        self.horizon = self.engine.time() + periods * self.engine.config().dt_max();
    }

    /// Takes over changes: particles that were added and removed since, and new values of those in `touched`.
    ///
    /// # Errors
    /// If the particles are not valid; none of them may stay, one at least must.
    pub fn update(&mut self, particles: &Particles, touched: &[i32]) -> Outcome {
        let known: Vec<u64> = self.engine.state()?.id;
        let is_known = |index: i32| known.binary_search(&u64::from(index.unsigned_abs())).is_ok();
        let new = particles.index.partition_point(|&index| is_known(index));
        let Particles { index, mass, pos, vel, .. } = particles;
        self.engine.add(Some(&ids(&index[new..])), &mass[new..], &to_vec3(&pos[new..]), &to_vec3(&vel[new..]))?;
        let stays = |id: u64| i32::try_from(id).is_ok_and(|id| particles.row(id).is_some());
        let gone: Vec<u64> = known.iter().copied().filter(|&id| !stays(id)).collect();
        self.engine.remove(&gone)?;
        let mut rows: Vec<usize> = touched.iter().filter_map(|&index| particles.row(index)).collect();
        rows.sort_unstable();
        rows.dedup();
        let (mass, pos, vel) = (
            rows.iter().map(|&row| mass[row]).collect::<Vec<_>>(),
            rows.iter().map(|&row| Vec3::from(pos[row])).collect::<Vec<_>>(),
            rows.iter().map(|&row| Vec3::from(vel[row])).collect::<Vec<_>>(),
        );
        let id: Vec<u64> = rows.iter().map(|&row| u64::from(index[row].unsigned_abs())).collect();
        self.engine.change(Changes { id: &id, mass: Some(&mass), pos: Some(&pos), vel: Some(&vel) })?;
        give_columns(&mut self.engine, particles, rows.into_iter().chain(new..particles.len()))?;
        self.engine.start()?;
        self.measure_horizon();
        Ok(())
    }

    /// Integrates to the earlier of the time `until` and the end of the axis of time, or until `go_on` returns 0: it returns
    /// the number of block steps after which it is called again at the latest. Returns true if no such call did.
    ///
    /// # Errors
    /// If the integration cannot continue.
    pub fn integrate(&mut self, until: f64, mut go_on: impl FnMut(&Motion<'_>) -> u64 + Send) -> Outcome<bool> {
        let mut done = true;
        self.engine.integrate(until.min(self.horizon), &mut |system| {
            let max = go_on(&Motion { system });
            done = max > 0;
            max
        })?;
        Ok(done)
    }

    /// Returns the motion since the last block step.
    #[must_use]
    pub fn motion(&self) -> Option<Motion<'_>> {
        self.engine.system().map(|system| Motion { system })
    }

    /// Time reached.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.engine.time()
    }

    /// Returns positions and velocities at the time reached.
    ///
    /// # Errors
    /// If an engine fails.
    pub fn state(&mut self) -> Outcome<(Vec<Vector>, Vec<Vector>)> {
        let state = self.engine.state()?;
        Ok((state.pos.iter().map(to_vector).collect(), state.vel.iter().map(to_vector).collect()))
    }

    /// Returns potential and kinetic energy.
    ///
    /// # Errors
    /// If an engine fails.
    pub fn potential_energy(&mut self) -> Outcome<f64> {
        Ok(self.engine.measure()?.potential_energy)
    }

    /// Returns accelerations and potentials at the particles.
    ///
    /// # Errors
    /// If an engine fails.
    pub fn field(&mut self) -> Outcome<Field> {
        Ok(self.engine.forces()?.into())
    }

    /// Returns accelerations and potentials at any points.
    ///
    /// # Errors
    /// If an engine fails.
    pub fn field_at(&mut self, points: &[Vector]) -> Outcome<Field> {
        Ok(self.engine.field_at(&to_vec3(points), &vec![Vec3::zeros(); points.len()])?.into())
    }
}

/// Motion of the particles between two block steps. In Hénon's units, those of the interface are those of the engine.
pub struct Motion<'a> {
    system: &'a System,
}

impl Motion<'_> {
    /// Returns the time of the last block step.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.system.state.clock.time(self.system.state.now)
    }

    /// Returns the length of time to the next block step.
    #[must_use]
    pub fn to_next(&self) -> f64 {
        let (p, state) = (&self.system.particles, &self.system.state);
        let next = p.time.iter().zip(&p.step).map(|(time, &step)| time.after(step)).min();
        next.map_or(0.0, |next| state.clock.between(state.now, next.max(state.now)))
    }

    /// Returns the positions of all particles, predicted to `dt` after the last block step.
    #[must_use]
    pub fn positions(&self, dt: f64) -> Vec<Vector> {
        let (p, state) = (&self.system.particles, &self.system.state);
        let position = |i: usize| {
            let dt = state.clock.between(p.time[i], state.now) + dt;
            let pos = p.pos[i] + (p.vel[i] + (p.acc[i] + p.jerk[i] * (dt / 3.0)) * (dt / 2.0)) * dt;
            to_vector(&pos)
        };
        (0..p.len()).map(position).collect()
    }
}

/// Checks a configuration without `[initial]`.
///
/// # Errors
/// With every mistake in it.
pub fn check(configuration: &str) -> Result<(), Failure> {
    Ok(InMemory::new(configuration, Path::new(""), &[]).map(|_| ())?)
}
