//! Simulation in memory behind the code, with the columns and indices of AMUSE.

use crate::columns::{Failure, Outcome};
use crate::parameters::{Parameters, Sizes};
use crate::particles::{Particles, State, Vector};
use std::path::Path;
use tisane::force::Forces;
use tisane::particles::Vec3;
use tisane::time::MAX_DT_MAX_STEPS;
use tisane_run::in_memory::{Changes, InMemory, Stars};
use tisane_run::system::System;

/// Largest relative difference of a mass that AMUSE sets from that of a star that ages at which it is the same: what converting units
/// there and back leaves.
const SAME_MASS: f64 = 1e-9;

/// Started simulation.
pub struct Simulation {
    engine: InMemory,
    sizes: Sizes,
    /// Flag that stars age.
    ages: bool,
    /// Latest time that the axis of the integration reaches.
    horizon: f64,
    /// Time reached, where it is one that was given: converting it there and back may change its last bit. None where the
    /// engine has stopped before.
    reached: Option<f64>,
}

/// Gravity at points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Field {
    /// Accelerations.
    pub acc: Vec<Vector>,
    /// Potentials per unit mass.
    pub pot: Vec<f64>,
}

impl Field {
    fn new(forces: &Forces, sizes: &Sizes) -> Self {
        let velocity = sizes.velocity();
        let (acc, pot) = (velocity / sizes.time, velocity * velocity);
        Self {
            acc: forces.acc.iter().map(|a| to_vector(&(a / acc))).collect(),
            pot: forces.pot.iter().map(|p| p / pot).collect(),
        }
    }
}

fn to_vector(v: &Vec3) -> Vector {
    [v.x, v.y, v.z]
}

fn to_vec3(column: &[Vector], size: f64) -> Vec<Vec3> {
    column.iter().map(|&v| Vec3::from(v) * size).collect()
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
    /// Starts a simulation of particles at a time by parameters.
    ///
    /// # Errors
    /// If parameters and particles are not valid, or the engine is not there.
    pub fn start(parameters: &Parameters, time: f64, particles: &Particles) -> Outcome<Self> {
        let (sizes, ages) = (parameters.sizes()?, parameters.ages());
        let mut engine = InMemory::new(&parameters.configuration(time)?, Path::new(""), &[])?;
        let Particles { index, mass, pos, vel, .. } = particles;
        let mass: Vec<f64> = mass.iter().map(|mass| mass * sizes.mass).collect();
        engine.add(Some(&ids(index)), &mass, &to_vec3(pos, sizes.length), &to_vec3(vel, sizes.velocity()))?;
        give_columns(&mut engine, particles, 0..particles.len())?;
        engine.start()?;
        let mut simulation = Self { engine, sizes, ages, horizon: 0.0, reached: Some(time) };
        simulation.measure_horizon();
        Ok(simulation)
    }

    fn measure_horizon(&mut self) {
        // Less than the axis has, so that rounding cannot put a time just before its end beyond it.
        let periods = (MAX_DT_MAX_STEPS - 2) as f64;
        self.horizon = self.time() + periods * self.engine.config().dt_max() / self.sizes.time;
    }

    /// Returns true if stars age: then their tracks are here alone.
    #[must_use]
    pub fn ages(&self) -> bool {
        self.ages
    }

    /// Refuses parameters with other units, or by which stars would begin or cease to age.
    fn check_same(&self, parameters: &Parameters) -> Outcome {
        let problem = if parameters.ages() != self.ages {
            let is = &parameters.stellar_evolution;
            format!(
                "stellar_evolution is {is:?}: stars can neither begin nor cease to age any more: the simulation has started"
            )
        } else if parameters.sizes()? != self.sizes {
            let Sizes { mass, length, .. } = self.sizes;
            let (to_mass, to_length) = (parameters.unit_of_mass, parameters.unit_of_length);
            format!(
                "unit_of_mass and unit_of_length are {to_mass} and {to_length}, and were {mass} and {length}: they cannot change any more: \
                 stars have begun to age"
            )
        } else {
            return Ok(());
        };
        Err(Failure(problem))
    }

    /// Begins a new axis of time at the present time, by parameters of which those of units and stars are the same.
    ///
    /// # Errors
    /// If the parameters are not valid, or units or stars are others.
    pub fn begin_anew(&mut self, parameters: &Parameters) -> Outcome {
        self.check_same(parameters)?;
        let table = parameters.configuration(self.time())?.parse::<toml::Table>();
        let table = table.map_err(|error| Failure(error.message().to_owned()))?;
        // The end goes with the longest step.
        let is_set = |name: &str| ["run", "softening", "integrator", "force", "stellar_evolution"].contains(&name);
        let sections = table.into_iter().filter(|(name, _)| is_set(name));
        let settings: Vec<String> = sections.map(|(name, section)| format!("{name}={section}")).collect();
        self.engine.set_all(&settings)?;
        self.engine.start()?;
        self.measure_horizon();
        Ok(())
    }

    /// Takes over changes: particles that were added and removed since, and new values of those in `touched`.
    ///
    /// # Errors
    /// If the particles are not valid, or a mass is not that of a star that ages; none of the particles may stay, one at least must.
    pub fn update(&mut self, particles: &Particles, touched: &[i32]) -> Outcome {
        let before = self.engine.state()?;
        let known = before.id;
        let is_known = |index: i32| known.binary_search(&u64::from(index.unsigned_abs())).is_ok();
        let new = particles.index.partition_point(|&index| is_known(index));
        let Particles { index, mass, pos, vel, .. } = particles;
        let Sizes { mass: unit, length, .. } = self.sizes;
        let velocity = self.sizes.velocity();
        let of_new: Vec<f64> = mass[new..].iter().map(|mass| mass * unit).collect();
        let (x, v) = (to_vec3(&pos[new..], length), to_vec3(&vel[new..], velocity));
        self.engine.add(Some(&ids(&index[new..])), &of_new, &x, &v)?;
        let stays = |id: u64| i32::try_from(id).is_ok_and(|id| particles.row(id).is_some());
        let gone: Vec<u64> = known.iter().copied().filter(|&id| !stays(id)).collect();
        self.engine.remove(&gone)?;
        let mut rows: Vec<usize> = touched.iter().filter_map(|&index| particles.row(index)).collect();
        rows.sort_unstable();
        rows.dedup();
        // New ones are as they were added.
        rows.retain(|&row| row < new);
        let id: Vec<u64> = rows.iter().map(|&row| u64::from(index[row].unsigned_abs())).collect();
        let mass_of = |row: usize, id: u64| {
            let given = mass[row] * unit;
            let place = known.binary_search(&id).ok().filter(|_| self.ages);
            let present = place.map(|place| before.mass[place]);
            present.filter(|present| (given - present).abs() <= SAME_MASS * present).unwrap_or(given)
        };
        let mass: Vec<f64> = rows.iter().zip(&id).map(|(&row, &id)| mass_of(row, id)).collect();
        let pos: Vec<Vec3> = rows.iter().map(|&row| Vec3::from(pos[row]) * length).collect();
        let vel: Vec<Vec3> = rows.iter().map(|&row| Vec3::from(vel[row]) * velocity).collect();
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
        let (mut done, sizes) = (true, self.sizes);
        let until = until.min(self.horizon);
        // A present time that was not given may be before that of the engine by a bit.
        let end = (until * sizes.time).max(self.engine.time());
        self.reached = None;
        let is_there = self.engine.integrate(end, &mut |system| {
            let max = go_on(&Motion { system, sizes });
            done = max > 0;
            max
        })?;
        self.reached = is_there.then_some(until);
        Ok(done)
    }

    /// Returns the motion since the last block step.
    #[must_use]
    pub fn motion(&self) -> Option<Motion<'_>> {
        self.engine.system().map(|system| Motion { system, sizes: self.sizes })
    }

    /// Time reached.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.reached.unwrap_or(self.engine.time() / self.sizes.time)
    }

    /// Returns the particles at the time reached.
    ///
    /// # Errors
    /// If an engine fails.
    pub fn state(&mut self) -> Outcome<State> {
        let state = self.engine.state()?;
        let (length, velocity) = (self.sizes.length, self.sizes.velocity());
        let mut found = State {
            pos: state.pos.iter().map(|x| to_vector(&(x / length))).collect(),
            vel: state.vel.iter().map(|v| to_vector(&(v / velocity))).collect(),
            ..State::default()
        };
        if self.ages {
            found.mass = state.mass.iter().map(|mass| mass / self.sizes.mass).collect();
            found.radius = self.engine.stars()?.radius.iter().map(|radius| radius / length).collect();
        }
        Ok(found)
    }

    /// Returns the stars at the time reached, in solar masses, parsecs and Myr.
    ///
    /// # Errors
    /// If stars do not age.
    pub fn stars(&mut self) -> Outcome<Stars> {
        Ok(self.engine.stars()?)
    }

    /// Returns the potential energy.
    ///
    /// # Errors
    /// If an engine fails.
    pub fn potential_energy(&mut self) -> Outcome<f64> {
        let velocity = self.sizes.velocity();
        Ok(self.engine.measure()?.potential_energy / (self.sizes.mass * velocity * velocity))
    }

    /// Returns accelerations and potentials at the particles.
    ///
    /// # Errors
    /// If an engine fails.
    pub fn field(&mut self) -> Outcome<Field> {
        Ok(Field::new(&self.engine.forces()?, &self.sizes))
    }

    /// Returns accelerations and potentials at any points.
    ///
    /// # Errors
    /// If an engine fails.
    pub fn field_at(&mut self, points: &[Vector]) -> Outcome<Field> {
        let at = to_vec3(points, self.sizes.length);
        Ok(Field::new(&self.engine.field_at(&at, &vec![Vec3::zeros(); points.len()])?, &self.sizes))
    }
}

/// Motion of the particles between two block steps.
pub struct Motion<'a> {
    system: &'a System,
    sizes: Sizes,
}

impl Motion<'_> {
    /// Returns the internal units of time and length in those of the interface.
    fn units(&self) -> (f64, f64) {
        let scale = &self.system.state.scale;
        (scale.time / self.sizes.time, scale.length / self.sizes.length)
    }

    /// Returns the time of the last block step.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.system.state.clock.time(self.system.state.now) * self.units().0
    }

    /// Returns the length of time to the next block step.
    #[must_use]
    pub fn to_next(&self) -> f64 {
        let (p, state) = (&self.system.particles, &self.system.state);
        let next = p.time.iter().zip(&p.step).map(|(time, &step)| time.after(step)).min();
        next.map_or(0.0, |next| state.clock.between(state.now, next.max(state.now)) * self.units().0)
    }

    /// Returns the positions of all particles, predicted to `dt` after the last block step.
    #[must_use]
    pub fn positions(&self, dt: f64) -> Vec<Vector> {
        let (p, state) = (&self.system.particles, &self.system.state);
        let (time, length) = self.units();
        let position = |i: usize| {
            let dt = state.clock.between(p.time[i], state.now) + dt / time;
            let pos = p.pos[i] + (p.vel[i] + (p.acc[i] + p.jerk[i] * (dt / 3.0)) * (dt / 2.0)) * dt;
            to_vector(&(pos * length))
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
