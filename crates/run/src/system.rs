//! System of particles with the engines that move and measure it: what a run with its files and a simulation in memory
//! share.

use crate::cluster::TimedSurvey;
use crate::evolution::{Evolution, TypeChange};
use crate::roche_contacts;
use crate::row;
use crate::subsystems::binding_energy;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use tisane::diagnostics::cluster::Stars;
use tisane::diagnostics::cluster::bodies::{Bodies, BoundBodies};
use tisane::diagnostics::cluster::own_frame::{self, Kind, OwnFrame};
use tisane::diagnostics::conserved::{Conserved, nonzero};
use tisane::diagnostics::force_audit::{Audit, Auditor};
use tisane::diagnostics::reference::{InternalEnergy, Reference};
use tisane::diagnostics::runaways::Runaways;
use tisane::diagnostics::tidal_work::TidalWork;
use tisane::error::{Error, Result, StepBelowFloor};
use tisane::force::external::guide::{MovingOrigin, OrbitState, Work};
use tisane::force::{EngineKind, Field};
use tisane::integrator::Progress;
use tisane::law::Law;
use tisane::particles::{EvolvingStar, Particles, Vec3};
use tisane::propagator::Propagator;
use tisane::star_changes::StarChanges;
use tisane::subsystems::{Description, Detail, Event, Removed, Subsystems, TakenOut};
use tisane::tidal_frame::{TidalFrame, TideSource};
use tisane::time::{Clock, TICKS_PER_DT_MAX, Time};
use tisane_io::checkpoint::{OrbitNumbers, RunState};
use tisane_io::fields::{DiagnosticsRow, FieldColumns};
use tisane_io::stellar_columns::StarState;

/// Engines of a system.
pub struct Engines {
    /// Kind of the engine that computes the forces.
    pub kind: EngineKind,
    /// Propagator, which moves the particles and measures energies in f64.
    pub propagator: Propagator,
    /// Auditor of the forces; none if the f64 CPU engine computes them.
    pub auditor: Option<Auditor>,
    /// Law of the forces in place of Newton's.
    pub law: Option<Arc<Law>>,
    /// Origin of coordinates, if it moves in an external field.
    pub origin: Option<MovingOrigin>,
    /// Tide on the cluster, if there is one.
    pub tide: Option<TideSource>,
    /// Softening length, in internal units.
    pub epsilon: f64,
    /// Evolution of the stars, if they age.
    pub evolution: Option<Evolution>,
}

impl Engines {
    /// Returns true if the forces have a potential, so that there is an energy.
    pub(crate) fn has_energy(&self) -> bool {
        self.law.as_ref().is_none_or(|law| law.has_potential())
    }
}

/// System of particles with its engines and counters, in internal units.
pub struct System {
    /// The particles.
    pub particles: Particles,
    /// Time, counters and reference values.
    pub state: RunState,
    /// Engines.
    pub engines: Engines,
    /// Columns of the diagnostics by the external field that acts on the particles.
    pub field: FieldColumns,
    /// Changes of subsystems and stars that were not handed over yet.
    pub events: Vec<Event>,
    /// Changes of types of stars that were not handed over yet.
    pub type_changes: Vec<TypeChange>,
    /// Stars that have left the cluster, and the energy error of their motion.
    pub runaways: Runaways,
}

impl System {
    /// Computes the first forces and steps.
    ///
    /// # Errors
    /// As [`Propagator::start`].
    pub fn start(&mut self) -> Result<()> {
        let done = self.engines.propagator.start(&mut self.particles)?;
        self.count(done);
        self.state.orbit = None;
        self.follow_origin(&[], &[])
    }

    /// Takes the present state as the one that energies and momenta are compared with.
    pub fn set_references(&mut self, measured: &Field) {
        let conserved = Conserved::in_field(&self.particles, measured);
        let jacobi_energy = self.jacobi_energy(measured, &conserved);
        let references = &mut self.state.references;
        references.jacobi_energy = jacobi_energy;
        references.energy = conserved.energy();
        references.start = Reference::new(&self.particles, measured);
        references.relative_energy_error = 0.0;
        (references.removed, references.previous_removed_energy) = (Removed::default(), 0.0);
        references.previous_energy = conserved.energy();
        references.angular_momentum = conserved.angular_momentum;
        references.momentum = conserved.momentum;
        references.centre_of_mass = conserved.centre_of_mass;
    }

    /// Advances the particles by up to `max` block steps, and by none that would pass `until`.
    ///
    /// # Errors
    /// As [`Propagator::advance`].
    pub fn advance(&mut self, until: Time, max: u64) -> Result<Progress> {
        let mut sum = Progress { now: self.state.now, ..Progress::default() };
        loop {
            let end = self.next_sum_of_work(until);
            let merges = self.engines.evolution.as_ref().is_some_and(|evolution| evolution.merges);
            let before = if merges { self.particles.stars.clone() } else { Vec::new() };
            let done = self.engines.propagator.advance(&mut self.particles, end, max - sum.block_steps)?;
            self.count(done);
            let events = self.new_events();
            self.merge_tracks(&before, &events);
            if done.block_steps > 0 && done.now.is_synchronised() {
                let lost = self.evolve()?;
                self.follow_origin(&events, &lost)?;
                self.follow_runaways()?;
                self.note_contacts()?;
            }
            self.events.extend(events);
            sum = sum.plus(&done);
            if sum.block_steps >= max {
                return Ok(sum);
            }
            // An integrator that pauses leaves steps: only one that takes none, or ends there, has done all up to the end.
            let is_paused = done.block_steps > 0 && done.now < end;
            if !is_paused {
                self.pass_moment(end)?;
            }
            if is_paused || end == until || (done.now < end && end.is_synchronised()) {
                return Ok(sum);
            }
        }
    }

    /// Puts stars that two became on their tracks; `before` are those of all stars before the events.
    fn merge_tracks(&mut self, before: &[EvolvingStar], events: &[Event]) {
        let Some(evolution) = self.engines.evolution.as_ref().filter(|_| !before.is_empty()) else { return };
        let collisions = events.iter().filter_map(|event| match &event.detail {
            Detail::Collision(collision) => Some((event.time, collision)),
            _ => None,
        });
        let mut merged: BTreeMap<u64, EvolvingStar> = BTreeMap::new();
        for (now, collision) in collisions {
            let Some(id) = collision.merged.map(|merged| merged.id) else { continue };
            let other = if collision.id[0] == id { collision.id[1] } else { collision.id[0] };
            // A star may have merged before, in the same step.
            let mut of =
                |id: u64| merged.remove(&id).or_else(|| before.iter().find(|star| star.track.id == id).copied());
            let (Some(first), Some(second)) = (of(id), of(other)) else { continue };
            let applied = Time::from_dt_max(now.0.div_ceil(TICKS_PER_DT_MAX));
            let (star, told) = evolution.merge([first, second], collision.time, applied);
            merged.insert(id, star);
            self.type_changes.extend(told);
        }
        for (id, star) in self.particles.id.iter().zip(&mut self.particles.stars) {
            if let Some(new) = merged.get(id) {
                *star = *new;
            }
        }
    }

    /// Tells which stars begin to fill their Roche lobes at a synchronised time.
    fn note_contacts(&mut self) -> Result<()> {
        if self.engines.evolution.is_none() {
            return Ok(());
        }
        let RunState { now, clock, .. } = self.state;
        let found = self.engines.propagator.subsystems().map(|it| it.orbits(now)).transpose()?.unwrap_or_default();
        if let Some(evolution) = &self.engines.evolution {
            let told = roche_contacts::note(evolution, &mut self.particles, &found, (now, clock.time(now)));
            self.type_changes.extend(told);
        }
        Ok(())
    }

    /// Lets the stars age to a synchronised time. Returns what they have lost.
    fn evolve(&mut self) -> Result<Vec<TakenOut>> {
        let Some(evolution) = &self.engines.evolution else { return Ok(Vec::new()) };
        let RunState { now, clock, .. } = self.state;
        let (changes, told) = evolution.advance(&mut self.particles, &clock, now);
        self.type_changes.extend(told);
        if changes.is_empty() {
            return Ok(Vec::new());
        }
        let (eps2, by_law) = (self.engines.epsilon * self.engines.epsilon, self.engines.law.is_some());
        let changes = StarChanges { all: &changes, eps2, by_law, since_start: clock.time(now) - clock.start };
        let before = self.energy_by_law()?;
        let lost = self.engines.propagator.change_stars(&mut self.particles, &changes, now);
        let lost = lost.map_err(|error| match error {
            // The tracks are ahead of the orbits: only an earlier checkpoint is one to go on from.
            Error::StepBelowFloor(what) => {
                Error::StepBelowFloor(Box::new(StepBelowFloor { resumable: false, ..*what }))
            }
            other => other,
        })?;
        let mut removed = lost.removed;
        if let (Some(before), Some(after)) = (before, self.energy_by_law()?) {
            removed.energy = before - after;
        }
        if !self.engines.has_energy() {
            removed.energy = 0.0;
        }
        self.state.references.removed += removed;
        Ok(lost.parts)
    }

    /// Returns the energy at a synchronised time without the work of a moving origin, where a law of force of one's own gives it.
    fn energy_by_law(&mut self) -> Result<Option<f64>> {
        if self.engines.law.is_none() || !self.engines.has_energy() {
            return Ok(None);
        }
        let field = self.engines.propagator.field(&self.particles, self.state.now)?;
        let Conserved { kinetic, potential, external, .. } = Conserved::in_field(&self.particles, &field);
        Ok(Some(kinetic + potential + external))
    }

    /// Returns the next moment at which stars age or the work of a moving origin is summed, at most `until`: a multiple of dt_max, or a
    /// moment of the field between them.
    fn next_sum_of_work(&self, until: Time) -> Time {
        let next = until.min(Time::from_dt_max(self.state.now.0 / TICKS_PER_DT_MAX + 1));
        let Some(origin) = &self.engines.origin else {
            let each = self.engines.evolution.is_some() || !self.runaways.stars.is_empty();
            return if each { next } else { until };
        };
        let summed = self.state.orbit.map_or(self.state.now, |orbit| orbit.tidal.until);
        origin.moment_after(summed).map_or(next, |moment| next.min(moment.at))
    }

    /// Sums the work up to a moment of the field between multiples of dt_max, from the particles as they are then; does nothing at
    /// another time.
    fn pass_moment(&mut self, at: Time) -> Result<()> {
        let (Some(origin), Some(orbit)) = (self.engines.origin.clone(), self.state.orbit) else { return Ok(()) };
        let is_one = origin.moment_after(orbit.tidal.until).is_some_and(|moment| moment.at == at);
        if !is_one || at.is_synchronised() {
            return Ok(());
        }
        let then = self.engines.propagator.synchronised(&self.particles, at)?;
        let tidal = Self::summed(&origin, &self.state, (at, &then), &Particles::default())?;
        self.state.orbit = Some(OrbitNumbers { origin: origin.beginning(at)?, tidal });
        sum_runaways(&mut self.runaways, Some(&origin), (at, &self.state.clock), (&then, self.engines.epsilon))
    }

    /// Adds up the work on the stars that are followed, until a synchronised time.
    fn follow_runaways(&mut self) -> Result<()> {
        let Self { engines, state, .. } = self;
        let p = (engines.propagator.loaded(&self.particles), engines.epsilon);
        sum_runaways(&mut self.runaways, engines.origin.as_ref(), (state.now, &state.clock), p)
    }

    /// Begins an interval of the stars whose errors are not those of the cluster, at a synchronised time.
    ///
    /// # Errors
    /// If the origin of coordinates cannot be followed.
    pub(crate) fn choose_runaways(&mut self, ids: &[u64], measured: &Field) -> Result<()> {
        self.runaways.begin(ids, self.state.now, &self.particles, &measured.external);
        self.follow_runaways()
    }

    /// Takes down the state of a moving origin at a synchronised time, and the work that it has done: on the particles that `events`
    /// took out and on what stars have `lost` too, until now.
    fn follow_origin(&mut self, events: &[Event], lost: &[TakenOut]) -> Result<()> {
        let Some(origin) = &self.engines.origin else { return Ok(()) };
        let now = self.state.now;
        let mut gone = Particles::default();
        let escaped = events.iter().filter(|event| event.time == now).filter_map(Event::taken_out);
        for TakenOut { mass, pos, vel } in escaped.chain(lost.iter().copied()) {
            gone.mass.push(mass);
            gone.pos.push(pos);
            gone.vel.push(vel);
        }
        let tidal = self.tidal_work(&gone)?;
        self.state.orbit = Some(OrbitNumbers { origin: origin.beginning(now)?, tidal });
        Ok(())
    }

    /// Returns the work of the moving origin at a synchronised time, also on particles that are `gone` then.
    fn tidal_work(&self, gone: &Particles) -> Result<TidalWork> {
        let Some(origin) = &self.engines.origin else { return Ok(TidalWork::default()) };
        Self::summed(origin, &self.state, (self.state.now, self.engines.propagator.loaded(&self.particles)), gone)
    }

    /// Returns the work of a moving origin at a moment at which the particles stand, also on particles that are `gone` then. The power
    /// that a next sum begins with is that after it, without these.
    fn summed(
        origin: &MovingOrigin,
        state: &RunState,
        (now, p): (Time, &Particles),
        gone: &Particles,
    ) -> Result<TidalWork> {
        let [mut before, power] = origin.power(now, p)?;
        if !gone.is_empty() {
            let [on_gone, _] = origin.power(now, gone)?;
            before.iter_mut().zip(on_gone).for_each(|(work, of)| work.masses += of.masses);
        }
        Ok(match &state.orbit {
            Some(orbit) => TidalWork { power, ..orbit.tidal.at(now, &state.clock, before) },
            None => TidalWork { until: now, power, work: Work::default() },
        })
    }

    /// Returns the states of stars that evolve at a synchronised time; none where they do not.
    #[must_use]
    pub fn star_states(&self) -> Vec<StarState> {
        let evolution = self.engines.evolution.as_ref();
        let at = self.state.clock.time(self.state.now);
        evolution.map(|evolution| evolution.stars_at(&self.particles, at)).unwrap_or_default()
    }

    /// Returns what happened to subsystems and stars since the last call, and counts what was taken out of the system.
    pub fn take_events(&mut self) -> Vec<Event> {
        let new = self.new_events();
        self.events.extend(new);
        std::mem::take(&mut self.events)
    }

    /// Returns what the integrator has not handed over yet, and counts what was taken out of the system.
    fn new_events(&mut self) -> Vec<Event> {
        let events = self.engines.propagator.subsystems().map(Subsystems::take_events).unwrap_or_default();
        let counters = &mut self.state.counters;
        for event in &events {
            match &event.detail {
                Detail::None => {}
                Detail::Collision(_) => counters.contacts += 1,
                Detail::Escape(escape) => counters.escapes += escape.stars.len() as u64,
            }
        }
        for removed in events.iter().filter_map(Event::removed) {
            self.state.references.removed += removed;
        }
        events
    }

    /// Returns what stands for changes of subsystems that are held back so far.
    pub(crate) fn held_back(&mut self) -> Vec<Event> {
        self.engines.propagator.subsystems().map(|it| it.held_back()).unwrap_or_default()
    }

    /// Returns the subsystems at a synchronised time.
    pub(crate) fn describe_subsystems(&mut self) -> Result<Vec<Description>> {
        let now = self.state.now;
        self.engines.propagator.subsystems().map_or_else(|| Ok(Vec::new()), |it| it.describe(now))
    }

    /// Counts block steps.
    pub(crate) fn count(&mut self, done: Progress) {
        let counters = &mut self.state.counters;
        counters.block_steps += done.block_steps;
        counters.particle_steps += done.particle_steps;
        counters.pair_interactions += done.pairs;
        counters.clamped_steps += done.clamped;
        self.state.now = done.now;
    }

    /// Measures the field at a synchronised time, in f64.
    ///
    /// # Errors
    /// As [`Propagator::field`].
    pub fn field(&mut self) -> Result<Field> {
        let mut field = self.engines.propagator.field(&self.particles, self.state.now)?;
        if let Some(origin) = &self.engines.origin {
            let work = match self.state.orbit.filter(|orbit| orbit.tidal.until == self.state.now) {
                Some(orbit) => orbit.tidal,
                None => self.tidal_work(&Particles::default())?,
            };
            field.about = Some(origin.tidal(self.state.now)?.about(work.work));
        }
        Ok(field)
    }

    /// Measures the row of diagnostics at a synchronised time, and its audit, if there is one.
    ///
    /// # Errors
    /// If an engine fails.
    pub fn measure(&mut self, measured: &Field) -> Result<(DiagnosticsRow, Option<Audit>)> {
        let Engines { propagator, auditor, .. } = &mut self.engines;
        let audit = match auditor {
            Some(auditor) => auditor.audit(&self.particles, self.state.now, propagator)?,
            None => None,
        };
        let conserved = Conserved::in_field(&self.particles, measured);
        let mut row = row::new(&self.particles, &self.state, (measured, &conserved), audit.as_ref());
        match measured.about {
            Some(about) => {
                row.tidal_potential_energy = Some(conserved.external);
                row.tidal_work = Some(about.work.masses);
                row.orbit_energy = Some(about.orbit_energy);
            }
            None => {
                row.external_potential_energy = (self.field == FieldColumns::External).then_some(conserved.external)
            }
        }
        row.jacobi_energy = self.jacobi_energy(measured, &conserved);
        row.jacobi_energy_error = row.jacobi_energy.map(|now| self.jacobi_energy_error(measured, now));
        row.virial_ratio = self.in_own_frame(measured).virial_ratio();
        if let Some(evolution) = &self.engines.evolution {
            evolution.measure(&mut row, &self.particles, &self.state.clock, self.state.now);
        }
        Ok((if self.engines.has_energy() { row } else { row::without_energy(row) }, audit))
    }

    /// Returns the Jacobi energy at a synchronised time, if it is conserved.
    fn jacobi_energy(&self, measured: &Field, of: &Conserved) -> Option<f64> {
        let frame = self.frame_of_conserved(measured)?;
        Some(frame.jacobi_energy(of.kinetic + of.potential + of.external, of.angular_momentum, of.momentum))
    }

    /// Returns the change of the Jacobi energy since the start to `now`, with what was taken out, relative to the internal energy
    /// at the start. NaN where that of the start is not known.
    fn jacobi_energy_error(&self, measured: &Field, now: f64) -> f64 {
        let references = &self.state.references;
        let removed = &references.removed;
        let gone = self
            .frame_of_conserved(measured)
            .map_or(0.0, |frame| frame.jacobi_energy(removed.energy, removed.angular_momentum, removed.momentum));
        (now + gone - references.jacobi_energy.unwrap_or(f64::NAN)) / nonzero(references.start.energy_scale)
    }

    /// Returns the tide at a synchronised time, if it conserves the Jacobi energy.
    fn frame_of_conserved(&self, measured: &Field) -> Option<TidalFrame> {
        let source = self.engines.tide.as_ref().filter(|source| source.conserves)?;
        let origin = measured.about.map(|about| about.origin);
        Some(source.with_origin(origin, self.state.clock.time(self.state.now)))
    }

    /// Returns the tide on the cluster at a synchronised time, if there is one, with the digits of a snapshot.
    #[must_use]
    pub(crate) fn tide(&self, measured: &Field) -> Option<TidalFrame> {
        let RunState { now, clock, scale, .. } = &self.state;
        let in_units = |OrbitState { pos, vel }| OrbitState { pos: pos * scale.length, vel: vel * scale.velocity };
        let orbit = measured.about.map(|about| in_units(about.origin));
        let source = self.engines.tide.as_ref()?;
        Some(TimedSurvey::tide(source, orbit, clock.time(*now) * scale.time, scale))
    }

    /// Measures the system in its own frame.
    fn in_own_frame(&self, measured: &Field) -> OwnFrame {
        let stars = Stars::new(&self.particles, &measured.pot);
        match self.engines.law {
            Some(_) => OwnFrame::of_particles(&stars),
            None => OwnFrame::find(&stars, self.engines.epsilon),
        }
    }

    /// Returns the energy errors of a row relative to the present energy of the bodies that are bound to the cluster, in its own
    /// frame ([`BoundBodies::energy_scale`]): with each binary and hierarchy as one body, and with each of the `subsystems` as
    /// one. NaN where fewer than ten bodies are bound: the cluster has dissolved. For fewer bodies than a cluster has in all,
    /// and by another law than Newton's, the first one is that of the row; the second one is that of the row where nothing
    /// remains. `epsilon` is the softening. The `subsystems` know the energy inside of them, with more digits than the places
    /// of their stars.
    #[must_use]
    pub fn cluster_energy_errors(
        &self,
        row: &DiagnosticsRow,
        (measured, subsystems): (&Field, &[Description]),
        epsilon: f64,
    ) -> ClusterErrors {
        let whole = InternalEnergy::new(&self.particles, &measured.pot);
        let error = |rest: Option<InternalEnergy>| {
            let scale = rest.map(|rest| rest.scale().0).filter(|scale| *scale > 0.0);
            scale.map_or(row.relative_energy_error, |scale| {
                row.relative_energy_error * (self.state.references.start.energy_scale / scale)
            })
        };
        let binding = binding_energy(subsystems);
        let outer = |energy: InternalEnergy| error(energy.without(-binding, self.outer_kinetic_energy(subsystems)));
        let stars = Stars::new(&self.particles, &measured.pot);
        let found = self.engines.law.is_none().then(|| Bodies::find(&stars, epsilon)).filter(Bodies::is_cluster);
        let Some(bodies) = found else {
            return ClusterErrors {
                with_binaries_as_bodies: row.relative_energy_error,
                outer: outer(whole),
                runaways: Vec::new(),
            };
        };
        let known = known_energies(subsystems);
        if own_frame::kind(&stars, &bodies) != Kind::Cluster {
            let inside = bodies.internal_energy_with(&stars, &known, false);
            let centres = bodies.particles();
            let kinetic = InternalEnergy::new(&centres, &vec![0.0; centres.len()]).kinetic;
            return ClusterErrors {
                with_binaries_as_bodies: error(whole.without(inside, kinetic)),
                outer: outer(whole),
                runaways: Vec::new(),
            };
        }
        let bound = BoundBodies::new(&stars, &bodies.systems);
        if !bound.is_cluster() {
            return ClusterErrors { with_binaries_as_bodies: f64::NAN, outer: f64::NAN, runaways: Vec::new() };
        }
        let scale = bound.energy_scale(0.0);
        let all = row.relative_energy_error * self.state.references.start.energy_scale;
        let change = all - self.runaways.energy_error(&self.particles, &measured.external);
        let is_bound: HashMap<u64, bool> =
            stars.id.iter().copied().zip(bodies.systems.bound.is_bound.clone()).collect();
        let held = known.iter().filter(|(ids, _)| ids.iter().all(|id| is_bound.get(id).copied().unwrap_or(false)));
        // Energy inside of binaries that are no subsystems.
        let inside = bodies.internal_energy_with(&stars, &known, true) - held.map(|(_, energy)| energy).sum::<f64>();
        ClusterErrors {
            with_binaries_as_bodies: change / scale,
            outer: change / bound.energy_scale(inside),
            runaways: self.new_runaways(&stars, &bodies, scale, subsystems),
        }
    }

    /// Returns the ids of the single stars that have left the cluster in an external field: unbound, with more kinetic energy than
    /// `scale`, the energy of the cluster, and so far away that they are bodies of their own, and a step dt_max is short for them.
    fn new_runaways(&self, stars: &Stars, found: &Bodies, scale: f64, subsystems: &[Description]) -> Vec<u64> {
        if self.field == FieldColumns::None {
            return Vec::new();
        }
        let together: HashSet<u64> = subsystems.iter().flat_map(|one| one.members.ids()).collect();
        let (velocity, dt_max) = (found.systems.bound.velocity, self.state.clock.dt_max);
        let (centre, half_mass_radius) = found.bound_size(stars);
        let has_left = |i: usize, energy: f64| {
            let (v, d) = ((stars.vel[i] - velocity).norm(), (stars.pos[i] - centre).norm());
            energy > 0.0 && d > FAR * half_mass_radius.max(v * dt_max) && 0.5 * stars.mass[i] * v * v > scale
        };
        let bodies = found.systems.outermost_energies().map(|(at, energy)| (at as usize, energy));
        let left = bodies.filter(|&(at, energy)| at < stars.len() && has_left(at, energy)).map(|(at, _)| stars.id[at]);
        left.filter(|id| !together.contains(id)).collect()
    }

    /// Returns the kinetic energy in the system's own frame of all bodies, each of the `subsystems` as one.
    fn outer_kinetic_energy(&self, subsystems: &[Description]) -> f64 {
        let p = &self.particles;
        let row_of: HashMap<u64, usize> = p.id.iter().enumerate().map(|(row, id)| (*id, row)).collect();
        let (mut mass, mut vel) = (p.mass.clone(), p.vel.clone());
        for subsystem in subsystems.iter().filter(|one| one.inside_of.is_none()) {
            let rows: Vec<usize> = subsystem.members.ids().iter().filter_map(|id| row_of.get(id).copied()).collect();
            let of = |row: &usize| (p.mass[*row], p.mass[*row] * p.vel[*row]);
            let (total, momentum) = rows.iter().map(of).fold((0.0, Vec3::zeros()), |(m, p), (dm, dp)| (m + dm, p + dp));
            rows.iter().for_each(|&row| mass[row] = 0.0);
            if let Some(&first) = rows.first().filter(|_| total > 0.0) {
                (mass[first], vel[first]) = (total, momentum / total);
            }
        }
        let n = mass.len();
        let centres = Particles::new(mass, p.pos.clone(), vel);
        InternalEnergy::new(&centres, &vec![0.0; n]).kinetic
    }

    /// Returns an error for a row, at `time` as text, whose energy error exceeds `limit`.
    ///
    /// # Errors
    /// [`tisane::Error::Integration`] with the error and the limit.
    pub fn check_energy(&self, row: &DiagnosticsRow, measured: &Field, limit: Option<f64>, time: &str) -> Result<()> {
        if !self.engines.has_energy() {
            return Ok(());
        }
        let internal = InternalEnergy::new(&self.particles, &measured.pot);
        row::check_energy(row, &self.state.references, &internal, limit, time)
    }

    /// Returns an error for an audit, at `time` as text, that exceeds its limit.
    ///
    /// # Errors
    /// [`tisane::Error::Integration`] with the errors and the limit.
    pub fn check_audit(&self, audit: Option<&Audit>, time: &str) -> Result<()> {
        match (&self.engines.auditor, audit) {
            (Some(auditor), Some(audit)) => auditor.check(audit, time),
            _ => Ok(()),
        }
    }
}

/// Distance from which a star that leaves a cluster is followed on its own, in half-mass radii and in ways of a step dt_max.
const FAR: f64 = 10.0;

/// Adds up the work on the stars that are followed until a moment at which the particles stand.
fn sum_runaways(
    runaways: &mut Runaways,
    origin: Option<&MovingOrigin>,
    at: (Time, &Clock),
    (p, epsilon): (&Particles, f64),
) -> Result<()> {
    if runaways.stars.is_empty() {
        return Ok(());
    }
    let power = |alone: &Particles| match origin {
        Some(origin) => Ok(origin.power(at.0, alone)?.map(|power| power.map(|work| work.masses))),
        None => Ok([[0.0; 2]; 2]),
    };
    runaways.advance(at, (p, epsilon * epsilon), power)
}

/// Energy errors of a row relative to the present internal energy of the cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterErrors {
    /// With each binary and hierarchy as one body.
    pub with_binaries_as_bodies: f64,
    /// With each subsystem as one body.
    pub outer: f64,
    /// Ids of the stars that have left with so much energy that the errors of their motion are to be measured from now on.
    pub runaways: Vec<u64>,
}

/// Returns the ids of the stars of each subsystem that is inside of none, ascending, and the energy inside of it.
fn known_energies(subsystems: &[Description]) -> Vec<(Vec<u64>, f64)> {
    let mut found: Vec<(Vec<u64>, f64)> = Vec::new();
    // Inner ones follow the one that they are inside of.
    for one in subsystems {
        match found.last_mut().filter(|_| one.inside_of.is_some()) {
            Some(outer) => outer.1 -= one.binding,
            None => {
                let mut ids = one.members.ids();
                ids.sort_unstable();
                found.push((ids, -one.binding));
            }
        }
    }
    found
}
