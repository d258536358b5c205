//! State of the code: particles, parameters and stopping conditions as AMUSE has set them, and the simulation of them.
//!
//! The particles here are those at the time reached. What AMUSE changes is given to the simulation when it is needed
//! next, so that any order of calls is good.

use crate::columns::{Arguments, Failure, NOT_FOUND, Outcome, Outputs, Status};
use crate::parameters::Parameters;
use crate::particles::{Particles, State, Vector};
use crate::simulation::{self, Field, Motion, Simulation};
use crate::stopping::Conditions;
use std::time::Instant;
use tisane_run::in_memory::Stars;

/// The code.
#[derive(Default)]
pub struct Code {
    /// Parameters.
    pub parameters: Parameters,
    /// Stopping conditions.
    pub conditions: Conditions,
    /// Interval that AMUSE sets for polling messages, in microseconds; kept for it, a socket is not polled.
    pub polling_interval: i32,
    particles: Particles,
    time: f64,
    /// None until it is needed, and after a change of parameters.
    simulation: Option<Simulation>,
    /// True if particles were added or removed since the simulation was updated.
    regrouped: bool,
    /// Indices of the particles that were changed since.
    touched: Vec<i32>,
    /// Gravity at the particles, once it was asked for.
    field: Option<Field>,
}

impl Code {
    /// Forgets the simulation: it is started anew, from the particles here, when it is needed.
    pub fn discard(&mut self) {
        (self.simulation, self.field) = (None, None);
    }

    /// Lets the simulation go on by the parameters as they are now: by those that have changed, from the present time.
    fn renew(&mut self) -> Outcome {
        match self.simulation.as_mut().filter(|simulation| simulation.ages()) {
            // The tracks of its stars are nowhere else.
            Some(simulation) => simulation.begin_anew(&self.parameters)?,
            None => self.simulation = None,
        }
        self.field = None;
        Ok(())
    }

    /// Forgets everything: parameters, particles and time.
    pub fn reset(&mut self) {
        *self = Self { polling_interval: self.polling_interval, ..Self::default() };
    }

    /// Checks the parameters, which hold from the next call on.
    ///
    /// # Errors
    /// With every mistake in them.
    pub fn commit_parameters(&mut self) -> Outcome {
        simulation::check(&self.parameters.configuration(self.time)?)?;
        self.renew()
    }

    /// Sets the time at which the simulation starts; one that has started is moved to the same time after it.
    ///
    /// # Errors
    /// If the time is not finite, or another one and stars have begun to age.
    pub fn set_begin_time(&mut self, time: f64) -> Outcome {
        if !time.is_finite() {
            return Err(Failure(format!("begin_time is {time}: expected a finite number")));
        }
        if self.simulation.as_ref().is_some_and(Simulation::ages) {
            if time == self.parameters.begin_time {
                return Ok(());
            }
            return Err(Failure("begin_time cannot change any more: stars have begun to age".to_owned()));
        }
        self.discard();
        let before = std::mem::replace(&mut self.parameters.begin_time, time);
        self.time = if self.time == before { time } else { self.time - before + time };
        Ok(())
    }

    /// Time reached.
    #[must_use]
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Particles at the time reached.
    #[must_use]
    pub fn particles(&self) -> &Particles {
        &self.particles
    }

    /// Gives the simulation what has changed; starts it if there are particles.
    ///
    /// # Errors
    /// If parameters or particles are not valid, or an engine fails.
    pub fn commit_particles(&mut self) -> Outcome {
        self.simulation().map(|_| ())
    }

    /// Returns the simulation of the present particles with the present parameters; [`None`] if there are no particles.
    fn simulation(&mut self) -> Outcome<Option<&mut Simulation>> {
        let changed = self.regrouped || !self.touched.is_empty();
        let mut is_new = false;
        if self.particles.is_empty() {
            self.simulation = None;
        } else if let Some(simulation) = &mut self.simulation {
            if changed {
                simulation.update(&self.particles, &self.touched)?;
            }
        } else {
            self.simulation = Some(Simulation::start(&self.parameters, self.time, &self.particles)?);
            is_new = true;
        }
        if let Some(simulation) = self.simulation.as_mut().filter(|of| of.ages() && (is_new || changed)) {
            let State { mass, radius, .. } = simulation.state()?;
            self.particles.take_over_stars(mass, radius);
        }
        self.regrouped = false;
        self.touched.clear();
        Ok(self.simulation.as_mut())
    }

    /// Integrates to the time `until`, or to a stopping condition.
    ///
    /// # Errors
    /// If the time is before the present one, or the integration cannot continue: then the particles stay where they
    /// were.
    pub fn evolve(&mut self, until: f64) -> Outcome {
        if !until.is_finite() {
            return Err(Failure(format!("the time to evolve to is {until}: expected a finite number")));
        }
        if until < self.time {
            let problem = format!("the time to evolve to is {until}, before the present time, {}", self.time);
            return Err(Failure(format!("{problem}: the integration goes forward only")));
        }
        self.conditions.clear();
        self.simulation()?;
        let mut watch = Watch { conditions: &mut self.conditions, began: Instant::now(), steps: 0, until };
        while let Some(simulation) = &mut self.simulation {
            let (met, state) = match watch.integrate(simulation, &self.particles) {
                Ok(reached) => reached,
                Err(failure) => {
                    // One in which stars age says at the next call that it has failed: their tracks are nowhere else.
                    self.simulation = self.simulation.take().filter(Simulation::ages);
                    return Err(failure);
                }
            };
            let before = std::mem::replace(&mut self.time, simulation.time());
            self.particles.take_over(state);
            self.field = None;
            if met || self.time >= until {
                return Ok(());
            }
            if self.time <= before {
                return Err(Failure(format!("the time {before} is too large for steps of dt_max")));
            }
            // The axis of time has ended: a new one begins here.
            match simulation.ages() {
                true => simulation.begin_anew(&self.parameters)?,
                false => *simulation = Simulation::start(&self.parameters, self.time, &self.particles)?,
            }
        }
        self.time = until;
        Ok(())
    }

    /// Returns gravity at the particles.
    fn field(&mut self) -> Outcome<&Field> {
        if self.field.is_none() || self.regrouped || !self.touched.is_empty() {
            let field = match self.simulation()? {
                Some(simulation) => simulation.field()?,
                None => Field::default(),
            };
            self.field = Some(field);
        }
        Ok(self.field.get_or_insert_default())
    }

    /// Returns the potential energy.
    ///
    /// # Errors
    /// If an engine fails.
    pub fn potential_energy(&mut self) -> Outcome<f64> {
        self.simulation()?.map_or(Ok(0.0), Simulation::potential_energy)
    }

    /// Returns the row of the particle with an index, which is about to be changed.
    fn touch(&mut self, index: i32) -> Result<usize, Status> {
        let row = self.row(index)?;
        self.touched.push(index);
        Ok(row)
    }

    fn row(&self, index: i32) -> Result<usize, Status> {
        self.particles.row(index).ok_or(NOT_FOUND)
    }
}

/// Evolution in progress, watched for stopping conditions.
struct Watch<'a> {
    conditions: &'a mut Conditions,
    began: Instant,
    /// Block steps so far.
    steps: u64,
    until: f64,
}

/// Parts of the time from the begin of a contact to the smallest distance at which it is looked for: the motion by
/// which it was foreseen is straight, the true one may be a little behind.
const INTO_CONTACT: [f64; 4] = [0.01, 0.1, 0.5, 1.0];

impl Watch<'_> {
    /// Integrates as far as the axis of time reaches; returns true if a condition was met, and the state.
    fn integrate(&mut self, simulation: &mut Simulation, particles: &Particles) -> Outcome<(bool, State)> {
        loop {
            let Some([begin, closest]) = self.integrate_to_contact(simulation, particles)? else {
                let state = simulation.state()?;
                let met =
                    self.conditions.is_met() || self.conditions.check_contacts(particles, (&state.pos, &state.vel));
                return Ok((met, state));
            };
            for part in INTO_CONTACT {
                // No block step is due before.
                let time = begin + part * (closest - begin);
                simulation.integrate(time.max(simulation.time()), |_| u64::MAX)?;
                let state = simulation.state()?;
                if self.conditions.check_contacts(particles, (&state.pos, &state.vel)) {
                    return Ok((true, state));
                }
            }
        }
    }

    /// Integrates until a contact is foreseen before the next block step. Returns when it begins and when it is closest;
    /// [`None`] if another condition was met, or at the end.
    fn integrate_to_contact(
        &mut self,
        simulation: &mut Simulation,
        particles: &Particles,
    ) -> Outcome<Option<[f64; 2]>> {
        let Self { conditions, began, steps, until } = self;
        let foresee = |conditions: &mut Conditions, motion: &Motion<'_>, from: f64, new: bool| {
            let span = (from, motion.to_next().min(*until - motion.time()));
            let contact = conditions.look_ahead(particles, motion, span, new)?;
            Some(contact.map(|dt| motion.time() + dt))
        };
        let now = simulation.time();
        let contact = simulation.motion().and_then(|motion| foresee(conditions, &motion, now - motion.time(), true));
        if contact.is_some() || now >= *until {
            return Ok(contact);
        }
        let mut contact = None;
        simulation.integrate(*until, |motion| {
            if !conditions.any_enabled() {
                return u64::MAX;
            }
            *steps += 1;
            if conditions.check(*began, *steps, particles, motion) {
                return 0;
            }
            contact = foresee(conditions, motion, 0.0, false);
            // Conditions are looked for at every block step.
            u64::from(contact.is_none())
        })?;
        Ok(contact)
    }
}

/// Serves `new_particle`: mass, position, velocity and radius; returns indices.
pub fn new_particle(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    code.regrouped = true;
    Ok(Outputs::ints(a.count(), |i| {
        let [[mass], [radius]] = [a.vector(0, i), a.vector(7, i)];
        Ok([code.particles.add(mass, a.vector(1, i), a.vector(4, i), radius).ok_or(NOT_FOUND)?])
    }))
}

/// Serves `delete_particle`.
pub fn delete_particle(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    code.regrouped = true;
    let mut rows = Vec::new();
    let mut outputs = Outputs::statuses(a.count(), |i| code.row(a.ints(0)[i]).map(|row| rows.push((row, i))));
    rows.sort_unstable();
    // Who is named twice is not there the second time.
    for pair in rows.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        outputs.status[pair[1].1] = NOT_FOUND;
    }
    let mut rows: Vec<usize> = rows.into_iter().map(|(row, _)| row).collect();
    rows.dedup();
    code.particles.remove(&rows);
    Ok(outputs)
}

/// Serves `get_state`.
pub fn get_state(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    let p = &code.particles;
    Ok(Outputs::doubles(a.count(), |i| {
        let row = code.row(a.ints(0)[i])?;
        let ([x, y, z], [vx, vy, vz]) = (p.pos[row], p.vel[row]);
        Ok([p.mass[row], x, y, z, vx, vy, vz, p.radius[row]])
    }))
}

/// Serves `set_state`.
pub fn set_state(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    Ok(Outputs::statuses(a.count(), |i| {
        let row = code.touch(a.ints(0)[i])?;
        let p = &mut code.particles;
        ([p.mass[row]], p.pos[row], p.vel[row]) = (a.vector(0, i), a.vector(1, i), a.vector(4, i));
        [p.radius[row]] = a.vector(7, i);
        Ok(())
    }))
}

/// Serves a function that returns a number of each particle.
pub fn get_scalar(code: &Code, a: &Arguments<'_>, column: &[f64]) -> Outcome<Outputs> {
    Ok(Outputs::doubles(a.count(), |i| Ok([column[code.row(a.ints(0)[i])?]])))
}

/// Serves a function that returns a vector of each particle.
pub fn get_vector(code: &Code, a: &Arguments<'_>, column: &[Vector]) -> Outcome<Outputs> {
    Ok(Outputs::doubles(a.count(), |i| Ok(column[code.row(a.ints(0)[i])?])))
}

/// Serves `set_mass`.
pub fn set_mass(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    Ok(Outputs::statuses(a.count(), |i| {
        let row = code.touch(a.ints(0)[i])?;
        code.particles.mass[row] = a.doubles(0)[i];
        Ok(())
    }))
}

/// Serves `set_radius`, which the integration does not depend on.
pub fn set_radius(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    Ok(Outputs::statuses(a.count(), |i| {
        let row = code.row(a.ints(0)[i])?;
        code.particles.radius[row] = a.doubles(0)[i];
        Ok(())
    }))
}

/// Serves `set_position`.
pub fn set_position(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    Ok(Outputs::statuses(a.count(), |i| {
        let row = code.touch(a.ints(0)[i])?;
        code.particles.pos[row] = a.vector(0, i);
        Ok(())
    }))
}

/// Serves `set_velocity`.
pub fn set_velocity(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    Ok(Outputs::statuses(a.count(), |i| {
        let row = code.touch(a.ints(0)[i])?;
        code.particles.vel[row] = a.vector(0, i);
        Ok(())
    }))
}

/// Serves `get_column`: the values in a column that a law reads, by its name.
pub fn get_column(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    Ok(Outputs::doubles(a.count(), |i| Ok([code.particles.value(&a.texts()[i], code.row(a.ints(0)[i])?)])))
}

/// Serves `set_column`.
pub fn set_column(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    Ok(Outputs::statuses(a.count(), |i| {
        let row = code.touch(a.ints(0)[i])?;
        code.particles.set_value(&a.texts()[i], row, a.doubles(0)[i]);
        Ok(())
    }))
}

/// Returns the stars at the time reached.
fn stars(code: &mut Code) -> Outcome<Stars> {
    match code.simulation()? {
        Some(simulation) => simulation.stars(),
        None => Ok(Stars::default()),
    }
}

/// Serves `get_stellar_type`.
pub fn get_stellar_type(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    let stars = stars(code)?;
    Ok(Outputs::ints(a.count(), |i| Ok([stars.stellar_type[code.row(a.ints(0)[i])?].into()])))
}

/// Serves a function that returns a quantity of stars that age, by its name among those of [`Stars`].
pub fn get_of_stars(code: &mut Code, a: &Arguments<'_>, name: &str) -> Outcome<Outputs> {
    let column = stars(code)?.column(name)?;
    get_scalar(code, a, &column)
}

/// Serves `get_acceleration`.
pub fn get_acceleration(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    let acc = code.field()?.acc.clone();
    get_vector(code, a, &acc)
}

/// Serves `get_potential`.
pub fn get_potential(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    let pot = code.field()?.pot.clone();
    get_scalar(code, a, &pot)
}

/// Returns gravity at the points of a message: softening lengths, which are not used, then x, y, z.
fn field_at(code: &mut Code, a: &Arguments<'_>) -> Outcome<Field> {
    let points: Vec<Vector> = (0..a.count()).map(|i| a.vector(1, i)).collect();
    match code.simulation()? {
        Some(simulation) => simulation.field_at(&points),
        None => Ok(Field { acc: vec![[0.0; 3]; points.len()], pot: vec![0.0; points.len()] }),
    }
}

/// Serves `get_gravity_at_point`.
pub fn get_gravity_at_point(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    let field = field_at(code, a)?;
    Ok(Outputs::doubles(a.count(), |i| Ok(field.acc[i])))
}

/// Serves `get_potential_at_point`.
pub fn get_potential_at_point(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    let pot = field_at(code, a)?.pot;
    Ok(Outputs { doubles: pot, ..Outputs::ok(a.count()) })
}

/// Serves `get_index_of_first_particle`.
pub fn first_particle(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    const NO_PARTICLES: Status = 1;
    Ok(Outputs::ints(a.count(), |_| Ok([*code.particles.index.first().ok_or(NO_PARTICLES)?])))
}

/// Serves `get_index_of_next_particle`.
pub fn next_particle(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    const LAST: Status = 1;
    Ok(Outputs::ints(a.count(), |i| {
        let row = code.row(a.ints(0)[i])?;
        Ok([*code.particles.index.get(row + 1).ok_or(LAST)?])
    }))
}

/// Serves `get_indices_of_colliding_particles`: the first pair that has stopped the last evolution.
pub fn colliding_particles(code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
    Ok(Outputs::ints(a.count(), |_| code.conditions.colliding().ok_or(NOT_FOUND)))
}
