//! Simulation in memory after its start: the system with its engines, and the state at the time that was asked for.

mod turns;

use super::state::State;
use crate::assemble;
use crate::config::{Config, Loaded, Real};
use crate::simulation::SessionInfo;
use crate::system::System;
use std::sync::Arc;
use tisane::diagnostics::force_audit::Audit;
use tisane::diagnostics::runaways::Runaways;
use tisane::error::{Error, Result, RunContext};
use tisane::force::external::ExternalField;
use tisane::force::external::guide::{OrbitPoint, OrbitState};
use tisane::force::precision::Precision;
use tisane::force::{EngineKind, Field, FieldEngine, Forces, NO_SOURCE, Points};
use tisane::initial::InitialState;
use tisane::particles::{Particles, Vec3};
use tisane::time::{Clock, LOG2_TICKS_PER_DT_MAX, Level, MAX_DT_MAX_STEPS, Time};
use tisane::units::Dimension;
use tisane_io::fields::{DiagnosticsRow, FieldColumns, StellarRow};
use tisane_io::provenance::Provenance;

/// Energies, momenta and errors at one time, in the units of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Time; unit: time.
    pub time: f64,
    /// Kinetic energy; unit: mass velocity².
    pub kinetic_energy: f64,
    /// Potential energy of the pairs.
    pub potential_energy: f64,
    /// Potential energy in external fields.
    pub external_potential_energy: f64,
    /// Total energy.
    pub energy: f64,
    /// (E − E₀) / |E₀|, where E₀ is the energy at the start and what the program's own changes added to it.
    pub energy_error: f64,
    /// Momentum; unit: mass velocity.
    pub momentum: Vec3,
    /// Angular momentum about the origin; unit: mass length velocity.
    pub angular_momentum: Vec3,
    /// Centre of mass; unit: length.
    pub centre_of_mass: Vec3,
    /// Virial ratio T / |U| of the system in its own frame, as [`OwnFrame`](tisane::diagnostics::cluster::own_frame::OwnFrame) measures it.
    pub virial_ratio: f64,
    /// Errors of the forces against f64, where they are not computed in f64 on the CPU.
    pub audit: Option<Audit>,
}

/// Started simulation.
pub(super) struct Started {
    pub(super) system: System,
    pub(super) info: SessionInfo,
    pub(super) provenance: Provenance,
    /// Time that the program asked for last, in its unit, and the tick nearest to it.
    pub(super) time: f64,
    pub(super) until: Time,
    /// True if the settings have changed, so that engines and integrator must be built anew.
    pub(super) rebuild: bool,
    /// Number of particles that the integrator was built for.
    pub(super) number: usize,
    /// Changes of type of stars, in the units of the program.
    pub(super) star_events: Vec<StellarRow>,
    /// All particles at `until`, once they were asked for, unless they all stand there.
    synchronised: Option<Particles>,
    measured: Option<(Measured, Field)>,
    /// Particles that the program has changed.
    edited: Option<Particles>,
    /// Energy that the reference energy is below the energy before the change.
    excess: f64,
    /// Engine of forces at points, and the moment of the particles that it holds.
    field: Option<(Box<dyn FieldEngine>, Option<Time>)>,
    external: Option<Arc<dyn ExternalField>>,
    /// Error that ended the integration.
    failed: Option<String>,
}

/// Returns the columns of energies in a field, which may be a program's own.
pub(super) fn field_columns(config: &Config, has_field: bool) -> FieldColumns {
    match config.field_columns() {
        FieldColumns::None if has_field => FieldColumns::External,
        columns => columns,
    }
}

/// Returns the whole number of ticks that a time means which is a number rounded to within `rounding` ticks: the end of a far
/// longer step within that, as late times of a fine cadence are, or the nearest one.
fn within_rounding(ticks: f64, rounding: f64) -> f64 {
    const FAR_LONGER: f64 = 1024.0;
    let steps = (0..=LOG2_TICKS_PER_DT_MAX).rev().map(|level| f64::from(level).exp2());
    let ends = steps.take_while(|step| *step >= FAR_LONGER * rounding).map(|step| (ticks / step).round() * step);
    ends.into_iter().find(|end| (end - ticks).abs() <= rounding).unwrap_or_else(|| ticks.round())
}

impl Started {
    /// Computes the first forces and steps. Returns the configuration too, with what follows from the particles; `ends`
    /// is true if it has an end.
    pub(super) fn new(
        (mut loaded, ends): (Loaded, bool),
        initial: InitialState,
        own: Option<&Arc<dyn ExternalField>>,
    ) -> Result<(Self, Config)> {
        let start = loaded.config.t_start().unwrap_or(initial.time);
        let ends = ends && loaded.config.check_end(start).is_ok();
        if loaded.config.has_steps() && loaded.config.steps_to_end(start).is_err() {
            // Without a section [run] there is no end; the run must have one.
            let end = Real::new(start + loaded.config.dt_max());
            loaded.config.run.t_end = end.ok_or_else(|| Error::input("time", format!("{start}: too large")))?;
        }
        let setup = assemble::set_up(loaded, initial, Vec::new(), ends)?;
        let (n, clock, scale) = (setup.particles.len(), setup.clock, &setup.scale);
        let (engines, info, external) = assemble::engines_at(&setup.config, None, n, clock, scale, own, None)?;
        let provenance = assemble::provenance(&setup.config, setup.provenance.clone(), (engines.kind, &info))?;
        let state = setup.state();
        let system = System {
            particles: setup.particles,
            state,
            engines,
            field: field_columns(&setup.config, external.is_some()),
            events: Vec::new(),
            type_changes: Vec::new(),
            runaways: Runaways::default(),
        };
        let mut started = Self::from_system(system, info, provenance, external);
        started.system.start()?;
        let field = started.system.field()?;
        started.system.set_references(&field);
        started.time = start;
        Ok((started, setup.config))
    }

    /// Creates the simulation of a system at the time of its last block step.
    pub(super) fn from_system(
        system: System,
        info: SessionInfo,
        provenance: Provenance,
        external: Option<Arc<dyn ExternalField>>,
    ) -> Self {
        let (state, number) = (&system.state, system.particles.len());
        Self {
            time: state.clock.time(state.now) * state.scale.time,
            until: state.now,
            system,
            info,
            provenance,
            rebuild: false,
            number,
            star_events: Vec::new(),
            synchronised: None,
            measured: None,
            edited: None,
            excess: 0.0,
            field: None,
            external,
            failed: None,
        }
    }

    /// Returns place and velocity of a moving origin at the present time, in internal units.
    fn origin(&self) -> Result<Option<OrbitState>> {
        let at = self.system.engines.origin.as_ref().map(|origin| origin.at(self.until)).transpose()?;
        Ok(at.map(|OrbitPoint { pos, vel, .. }| OrbitState { pos, vel }))
    }

    /// Returns place and velocity of a moving origin at the present time, in the units of the program.
    pub(super) fn orbit(&self) -> Result<Option<[Vec3; 2]>> {
        let scale = &self.system.state.scale;
        Ok(self.origin()?.map(|state| [state.pos * scale.length, state.vel * scale.velocity]))
    }

    pub(super) fn len(&self) -> usize {
        self.edited.as_ref().unwrap_or(&self.system.particles).len()
    }

    /// Returns the particles as the program knows them, apart from the time of positions and velocities.
    pub(super) fn particles(&self) -> &Particles {
        self.edited.as_ref().unwrap_or(&self.system.particles)
    }

    /// Returns true if both go on with the same bits.
    pub(super) fn same_bits(&self, other: &Self) -> bool {
        let (a, b) = (&self.system, &other.system);
        a.particles == b.particles
            && (a.state.now, a.state.clock, a.state.scale) == (b.state.now, b.state.clock, b.state.scale)
            && (self.until, &self.edited) == (other.until, &other.edited)
    }

    /// Returns the moment nearest to a time in the program's unit.
    pub(super) fn moment(&self, t: f64) -> Result<Time> {
        let (clock, scale) = (self.system.state.clock, self.system.state.scale);
        let periods = (t / scale.time - clock.start) / clock.dt_max;
        let wrong = |what: String| Err(Error::input("time", format!("{t}: {what}")));
        if !t.is_finite() {
            return wrong("expected a finite number".into());
        }
        if periods >= MAX_DT_MAX_STEPS as f64 {
            return wrong(format!("more than {MAX_DT_MAX_STEPS} steps of dt_max after the start"));
        }
        // Whole periods and the rest apart, so that nothing is lost far from the start.
        let whole = periods.floor().max(0.0);
        let ticks = f64::from(LOG2_TICKS_PER_DT_MAX).exp2();
        let late = t.abs().max((clock.start * scale.time).abs());
        let rounding = 2.0 * f64::EPSILON * late / (scale.time * clock.dt_max) * ticks;
        let rest = within_rounding((periods - whole) * ticks, rounding);
        Ok(Time(Time::from_dt_max(whole as u64).0.saturating_add_signed(rest as i64)))
    }

    /// Returns an error if the integration has failed.
    pub(super) fn check_whole(&self) -> Result<()> {
        let Some(problem) = &self.failed else { return Ok(()) };
        let problem = format!("the integration has failed: {problem}");
        Err(Error::Integration { problem, help: Some("change the particles, or load a state that was saved".into()) })
    }

    /// Ends the integration by an error. Particles of its last block may stand at the end of their step: that is the
    /// present time, so that none is ahead of it.
    fn fail(&mut self, error: Error, config: &Config) -> Error {
        let System { particles, state, .. } = &self.system;
        let run = RunContext {
            units: config.units(),
            scale: state.scale,
            epsilon: config.softening.epsilon.get() / state.scale.length,
            t_end: None,
            seconds_per_block_step: None,
            directory: None,
        };
        let latest = particles.time.iter().fold(state.now, |latest, time| latest.max(*time));
        let (time, error) = (state.clock.time(latest) * state.scale.time, error.in_run(&run));
        self.failed = Some(error.to_string());
        self.arrive(latest, time);
        error
    }

    /// Sets the present time.
    fn arrive(&mut self, until: Time, time: f64) {
        if until != self.until {
            (self.synchronised, self.measured) = (None, None);
            if let Some((_, held)) = &mut self.field {
                *held = None;
            }
        }
        (self.until, self.time) = (until, time);
    }

    /// Returns true if all particles of the integration stand at the present time.
    fn is_synchronised(&self) -> bool {
        self.system.state.now == self.until && self.system.particles.time.iter().all(|time| *time == self.until)
    }

    /// Returns all particles at the present time, in internal units.
    fn now(&mut self) -> Result<&Particles> {
        if let Some(edited) = &self.edited {
            return Ok(edited);
        }
        if self.is_synchronised() {
            return Ok(&self.system.particles);
        }
        let Self { system, synchronised, until, .. } = self;
        let state = match synchronised.take() {
            Some(state) => state,
            None => system.engines.propagator.synchronised(&system.particles, *until)?,
        };
        Ok(synchronised.insert(state))
    }

    pub(super) fn state(&mut self) -> Result<State> {
        let scale = self.system.state.scale;
        Ok(State::new(self.now()?, [scale.mass, scale.length, scale.velocity]))
    }

    /// Measures at the present time, once.
    pub(super) fn measured(&mut self) -> Result<&(Measured, Field)> {
        let found = match self.measured.take() {
            Some(found) => found,
            None => {
                let (row, audit, field) = self.measure()?;
                (self.in_user_units(&row, audit), field)
            }
        };
        Ok(self.measured.insert(found))
    }

    fn measure(&mut self) -> Result<(DiagnosticsRow, Option<Audit>, Field)> {
        if self.is_synchronised() {
            let field = self.system.field()?;
            let (row, audit) = self.system.measure(&field)?;
            return Ok((row, audit, field));
        }
        // The engines are lent the state at the present time, and are given back the integration's own.
        let (now, at) = (self.system.state.now, self.now()?.clone());
        let own = std::mem::replace(&mut self.system.particles, at);
        self.system.state.now = self.until;
        let found = self.measure_lent();
        (self.system.particles, self.system.state.now) = (own, now);
        let System { particles, state, engines, .. } = &mut self.system;
        engines.propagator.resume(particles, state.now)?;
        found
    }

    fn measure_lent(&mut self) -> Result<(DiagnosticsRow, Option<Audit>, Field)> {
        let System { particles, state, engines, .. } = &mut self.system;
        engines.propagator.resume(particles, state.now)?;
        let field = self.system.field()?;
        let (row, audit) = self.system.measure(&field)?;
        Ok((row, audit, field))
    }

    fn in_user_units(&self, row: &DiagnosticsRow, audit: Option<Audit>) -> Measured {
        let scale = &self.system.state.scale;
        let energy = scale.factor(Dimension::ENERGY);
        Measured {
            time: self.time,
            kinetic_energy: row.kinetic_energy * energy,
            potential_energy: row.potential_energy * energy,
            external_potential_energy: row.external_potential_energy.or(row.tidal_potential_energy).unwrap_or(0.0)
                * energy,
            energy: row.energy * energy,
            energy_error: row.relative_energy_error,
            momentum: row.momentum * scale.factor(Dimension::MOMENTUM),
            angular_momentum: row.angular_momentum * scale.factor(Dimension::ANGULAR_MOMENTUM),
            centre_of_mass: row.centre_of_mass * scale.length,
            virial_ratio: row.virial_ratio,
            audit,
        }
    }

    pub(super) fn forces(&mut self) -> Result<Forces> {
        self.measured()?;
        let jerk = self.now()?.jerk.clone();
        let (_, field) = self.measured()?;
        let (acc, pot) = (field.acc.clone(), field.pot.clone());
        let external = field.external.clone();
        Ok(self.forces_in_user_units(Forces { acc, jerk, pot, external, ..Forces::default() }))
    }

    /// Converts forces, and adds the potential of external fields to that of the pairs.
    fn forces_in_user_units(&self, mut forces: Forces) -> Forces {
        let scale = &self.system.state.scale;
        let (acc, pot) = (scale.factor(Dimension::ACCELERATION), scale.factor(Dimension::POTENTIAL));
        let jerk = acc / scale.time;
        forces.pot.iter_mut().zip(&forces.external).for_each(|(pot, external)| *pot += external);
        forces.external.clear();
        forces.acc.iter_mut().for_each(|a| *a *= acc);
        forces.jerk.iter_mut().for_each(|j| *j *= jerk);
        forces.pot.iter_mut().for_each(|p| *p *= pot);
        forces
    }

    pub(super) fn field_at(&mut self, config: &Config, pos: &[Vec3], vel: &[Vec3]) -> Result<Forces> {
        let (scale, clock, until) = (self.system.state.scale, self.system.state.clock, self.until);
        let mut held = match self.field.take() {
            Some(held) => held,
            None => {
                let kind = match self.system.engines.kind {
                    EngineKind::Cuda => EngineKind::Cuda,
                    _ => EngineKind::Cpu,
                };
                let epsilon = config.softening.epsilon.get() / scale.length;
                let device = config.force.device as usize;
                let opened = match &self.system.engines.law {
                    Some(law) => kind.open_with_law(law, Precision::F64, epsilon, clock, device),
                    None => kind.open(Precision::F64, epsilon, clock, device),
                };
                (opened?, None)
            }
        };
        if held.1 != Some(until) {
            let mut at = self.now()?.clone();
            at.time.fill(until);
            held.0.load(&at)?;
            held.1 = Some(until);
        }
        let pos: Vec<Vec3> = pos.iter().map(|x| x / scale.length).collect();
        let vel: Vec<Vec3> = vel.iter().map(|v| v / scale.velocity).collect();
        let mut found = Forces::default();
        let evaluated = held.0.evaluate_at(
            until,
            Points { exclude: &vec![NO_SOURCE; pos.len()], pos: &pos, vel: &vel },
            &mut found,
        );
        self.field = Some(held);
        evaluated?;
        let tidal = self.system.engines.origin.as_ref().map(|origin| origin.tidal(until)).transpose()?;
        let at_rest = self.external.as_deref();
        if let Some(external) = tidal.as_ref().map(|tidal| tidal as &dyn ExternalField).or(at_rest) {
            let t = clock.time(until);
            for k in 0..pos.len() {
                found.acc[k] += external.acc(pos[k], t);
                found.jerk[k] += external.jerk(pos[k], vel[k], t);
                found.pot[k] += external.pot(pos[k], t);
            }
        }
        Ok(self.forces_in_user_units(found))
    }

    /// Returns the particles at the present time to be changed. Measures the energy first, unless that was done.
    pub(super) fn edit(&mut self) -> Result<&mut Particles> {
        let edited = match self.edited.take() {
            Some(edited) => edited,
            None => {
                let error = self.measured()?.0.energy_error * self.system.state.references.start.energy_scale;
                self.excess = if error.is_nan() { 0.0 } else { error };
                let p = self.now()?.clone();
                self.arrive_changed();
                p
            }
        };
        Ok(self.edited.insert(edited))
    }

    /// Forgets what was measured.
    fn arrive_changed(&mut self) {
        (self.synchronised, self.measured, self.field) = (None, None, None);
    }

    /// Starts the integration anew at the present time, if particles or settings have changed.
    pub(super) fn restart_if_changed(
        &mut self,
        loaded: &mut Loaded,
        own: Option<&Arc<dyn ExternalField>>,
    ) -> Result<()> {
        let Some(edited) = &self.edited else { return Ok(()) };
        let (scale, start) = (self.system.state.scale, self.system.state.clock.time(self.until));
        assemble::check_changed(loaded, edited, &scale)?;
        if !loaded.config.has_steps() {
            // From a scheme with one step to one with individual steps.
            assemble::steps::derive(loaded, edited, (&scale, start * scale.time), false)?;
        }
        let clock = Clock { start, dt_max: loaded.config.dt_max() / scale.time };
        let n = edited.len();
        // The origin goes on from where it is.
        let orbit = self.origin()?;
        if self.rebuild || (n != self.number && loaded.config.integrator.scheme().needs_lists()) {
            let begin = orbit.map(|state| (0, state));
            let (engines, info, external) = assemble::engines_at(&loaded.config, None, n, clock, &scale, own, begin)?;
            (self.system.engines, self.info, self.external) = (engines, info, external);
            self.system.field = field_columns(&loaded.config, self.external.is_some());
            self.number = n;
        } else {
            self.system.engines.propagator.set_start(start);
            if let (Some(origin), Some(state)) = (&self.system.engines.origin, orbit) {
                origin.begin(clock, state);
            }
        }
        let mut p = edited.clone();
        p.time.fill(Time::default());
        p.step.fill(Level::default());
        p.states.clear();
        self.system.particles = p;
        (self.system.state.clock, self.system.state.now, self.until) = (clock, Time::default(), Time::default());
        self.system.start()?;
        let field = self.system.field()?;
        self.system.set_references(&field);
        self.system.state.references.energy -= self.excess;
        self.system.state.references.start.energy -= self.excess;
        // If any of this fails the change is still there, and may be changed.
        (self.edited, self.rebuild, self.failed) = (None, false, None);
        Ok(())
    }
}
