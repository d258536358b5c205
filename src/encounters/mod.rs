//! Close encounters and binaries without softening: subsystems of few bodies on a scheme with block steps.
//!
//! Where two bodies, or a few, attract each other much more than all others disturb them, they become a subsystem. Its centre
//! of mass is a particle of the scheme, a body like the stars that are alone. Its members move about it by the methods of
//! [`crate::few_body`]. Bodies near it are its perturbers: they and the members feel each other, in place of the centre of mass.
//! Membership follows from positions, velocities and masses at block times alone, by ratios of forces: there is no radius to
//! choose, and the bits do not depend on threads, engines or on where a run is interrupted.
//!
//! The folders, each of which imports earlier ones only: `settings` (also the criteria), `forces` (coupling, tides,
//! surroundings), `motion` (one subsystem), `contacts` (of stars), `membership` (all subsystems, and who joins and leaves),
//! `records` (plain data for files and measurements); then [`Encounters`], and `changes`, which it makes at block times.

mod changes;
mod contacts;
mod cube_root;
mod forces;
mod membership;
mod motion;
mod records;
mod settings;

pub use motion::nested::HierarchicalOrbits;
pub use records::repeats::MAX_HELD_BACK;
pub use records::state::{InternalWork, SubsystemState};
pub use settings::criteria::{MAX_MEMBERS, MAX_PERTURBATION_TO_FORM, MAX_PERTURBATION_TO_STAY};
pub use settings::section::EncounterSettings;
pub use settings::stars::{CollisionAction, Collisions, EscapeAction, EscapeRadius, Escapes, RadiusLaw, StarEvents};

use crate::integrator::timestep::shortened;
use crate::integrator::{Integrator, Passages, Progress, Steps};
use crate::star_changes::{Lost, StarChanges};
use crate::subsystems::{Description, Event, Subsystems};
use crate::tidal_frame::TideSource;
use contacts::neighbours::Neighbours;
use contacts::ways::Crossings;
use forces::bodies::Bodies;
use forces::regions::{Grip, Regions};
use forces::surroundings::{Positions, Surroundings, at};
use forces::tides::{Far, external_field};
use membership::change::Change;
use membership::coupled_engine::CoupledEngine;
use membership::decisions::{Look, Membership};
use membership::each::{ASK, MEASURE, SEARCH, WORK, each, each_mut, those};
use membership::hierarchy::{CouplingChange, Hierarchy};
use motion::subsystem::{Measured, PerturberList, Subsystem};
use motion::touched::Touched;
use records::repeats::Repeats;
use records::star_changes::Changed;
use records::state::{self, Decoded, Recorded};
use records::store::store;
use records::{description, field};
use settings::criteria::{self, Rules};
use std::time::{Duration, Instant};
use tisane_force::error::Result;
use tisane_force::force::block_steps::Pause;
use tisane_force::force::external::guide::MovingOrigin;
use tisane_force::force::profile::Profiler;
use tisane_force::force::{Field, ForceEngine, Forces, Targets};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::spin_pool;
use tisane_force::time::{Clock, Level, TICKS_PER_DT_MAX, Time};

/// Steps pause after this many times the time that it takes to give the caller the state: that costs as much as all stars. No result
/// depends on it.
const MIN_TIMES_STORING: u32 = 50;

/// Subsystems of few bodies on a scheme with block steps.
pub struct Encounters {
    scheme: Box<dyn Steps>,
    clock: Clock,
    /// The bodies, at their own times.
    particles: Particles,
    /// Ids of the stars.
    ids: Vec<u64>,
    hierarchy: Hierarchy,
    positions: Positions,
    regions: Regions,
    pause: Option<Pause>,
    /// Events that were not handed over yet.
    events: Vec<Event>,
    /// True if changes of the subsystems are among these.
    records_changes: bool,
    /// Contacts of subsystems that have ended in this block step.
    contacts: Vec<Touched>,
    recorded: Recorded,
    /// Search for contacts of stars in different bodies.
    crossings: Crossings,
    neighbours: Neighbours,
    /// Treatment of stars that leave.
    escapes: Option<Escapes>,
    /// Tide in which they do, if there is one, and the origin of coordinates, if it moves.
    tide: Option<(TideSource, Option<MovingOrigin>)>,
    /// Changes of the stars that the particles of the caller do not have yet.
    changed: Vec<Changed>,
    /// Time that it took to give the caller the state last.
    storing: Duration,
}

impl Encounters {
    /// Creates subsystems on a scheme, for a run on the time axis `clock`, in internal units, without softening. Perturbations
    /// smaller than `perturbation` are neglected; with 0 there are no subsystems.
    #[must_use]
    pub fn new(scheme: Box<dyn Steps>, perturbation: f64, clock: Clock) -> Self {
        let rules = Rules {
            perturbation,
            averages: true,
            forms: criteria::MAX_PERTURBATION_TO_FORM,
            dissolves: criteria::MAX_PERTURBATION_TO_STAY,
        };
        Self {
            scheme,
            clock,
            particles: Particles::default(),
            ids: Vec::new(),
            hierarchy: Hierarchy::new(rules, clock),
            positions: Positions::default(),
            regions: Regions::default(),
            pause: None,
            events: Vec::new(),
            records_changes: false,
            contacts: Vec::new(),
            recorded: Recorded::default(),
            crossings: Crossings::default(),
            neighbours: Neighbours::default(),
            escapes: None,
            tide: None,
            changed: Vec::new(),
            storing: Duration::ZERO,
        }
    }

    /// Creates subsystems by settings of users.
    #[must_use]
    pub fn from_settings(scheme: Box<dyn Steps>, settings: &EncounterSettings, clock: Clock) -> Self {
        Self::new(scheme, settings.perturbation.get(), clock).with_mean_orbits(settings.mean_orbits)
    }

    /// Follows all orbits one by one, where `averages` is false: no pair and no stable system is orbit-averaged.
    #[must_use]
    pub fn with_mean_orbits(mut self, averages: bool) -> Self {
        self.hierarchy.rules.averages = averages;
        self
    }

    /// Takes a block step, or up to `max` in which no subsystem has a part, if it does not pass `until`. Returns true with it if stars
    /// touched, merged or escaped.
    fn step(&mut self, f: &mut dyn ForceEngine, (until, max): (Time, u64), began: Instant) -> Result<(Progress, bool)> {
        let (done, block) = match self.step_unattended(f, (until, max), began)? {
            Some((done, found)) if found.is_empty() => return Ok((done, false)),
            // The others stay alone.
            Some(unattended) => unattended,
            None => {
                let mut coupled = CoupledEngine { engine: f, hierarchy: &mut self.hierarchy };
                let done = self.scheme.advance(&mut self.particles, &mut coupled, until, 1)?;
                if done.block_steps == 0 {
                    return Ok((done, false));
                }
                if self.hierarchy.rules.perturbation == 0.0 {
                    self.follow_thrown(done.now);
                    return Ok((done, false));
                }
                let block = self.scheme.block().to_vec();
                self.follow(block.iter().copied());
                (done, block)
            }
        };
        self.find_contacts_ahead(done.now, &block);
        let block = self.unite(f, done.now, block)?;
        self.update_membership(f, done.now, &block)?;
        self.unite_rest(f, done.now)?;
        let touched = self.settle(f, done.now)?;
        self.follow_thrown(done.now);
        if done.now.is_synchronised() {
            self.order_rows(f, done.now)?;
        }
        let escaped = self.let_escape(f, done.now)?;
        if done.now.0.is_multiple_of(MAX_HELD_BACK * TICKS_PER_DT_MAX) {
            self.tell_held_back();
        }
        Ok((done, touched || escaped))
    }

    /// Lets bodies that have moved to `now` join and split, and renews what depends on them.
    fn update_membership(&mut self, f: &mut dyn ForceEngine, now: Time, block: &[u32]) -> Result<()> {
        let looks = self.hierarchy.phase("looks");
        let mut changes = self.mergers();
        let mut taken: Vec<usize> = changes.iter().flat_map(Change::bodies).copied().collect();
        let all: Vec<usize> = block.iter().map(|&i| i as usize).collect();
        let membership = self.membership(now);
        let asked = each(&all, ASK, |body| {
            let subsystem = membership.subsystem(body);
            let looks = subsystem.is_some_and(|it| it.far.is_some()) || membership.is_update_due(body);
            (looks, looks && subsystem.is_some())
        });
        let chosen = |of: fn(&(bool, bool)) -> bool| {
            all.iter().zip(&asked).filter(|(_, asked)| of(asked)).map(|(&body, _)| body).collect::<Vec<_>>()
        };
        let (looking, subsystems) = (chosen(|asked| asked.0), chosen(|asked| asked.1));
        for (body, external) in subsystems.iter().zip(self.external_fields(f, &subsystems, now)?) {
            let star = self.hierarchy.bodies.stars[*body];
            self.hierarchy.of_star_mut(star).into_iter().for_each(|subsystem| subsystem.external = external);
        }
        for (body, found) in self.surroundings(f, now, looking)? {
            let star = self.hierarchy.bodies.stars[body];
            let is_new = self.hierarchy.of_star(star).is_some_and(|subsystem| subsystem.formed == now);
            let change = self.membership(now).change(body, found, is_new);
            // Not where the sum is known by chance: that depends on the regions.
            let is_measured = self.hierarchy.is_chain(star) || self.membership(now).is_update_due(body);
            if let Some(found) = found.filter(|_| is_measured) {
                self.hierarchy.set_field(star, found.weight + found.rest);
            }
            if let Some(change) = change.filter(|change| !change.bodies().iter().any(|body| taken.contains(body))) {
                taken.extend_from_slice(change.bodies());
                changes.push(change);
            }
        }
        drop(looks);
        self.update_couplings(f, now, block)?;
        if changes.is_empty() { Ok(()) } else { self.change(f, now, &changes) }
    }

    /// Returns the membership at a moment to which the regions and, for sums, the positions belong.
    fn membership(&self, now: Time) -> Membership<'_> {
        let Self { particles, hierarchy, regions, positions, .. } = self;
        Membership { particles, hierarchy, regions, positions, now }
    }

    /// Returns those of some bodies that may change at `now`, with their surroundings. Left out, most often nearly all, without a
    /// sum over all bodies: single stars that can join no other, pairs that stay what they are.
    fn surroundings(
        &mut self,
        f: &dyn ForceEngine,
        now: Time,
        mut bodies: Vec<usize>,
    ) -> Result<Vec<(usize, Option<Surroundings>)>> {
        self.renew_regions(now);
        let membership = self.membership(now);
        let mut looks = each(&bodies, SEARCH, |body| membership.look(body)).into_iter();
        bodies.retain(|&body| match looks.next() {
            Some(Look::Quiet(field)) => {
                let star = self.hierarchy.bodies.stars[body];
                self.hierarchy.of_star_mut(star).into_iter().for_each(|subsystem| subsystem.field = field);
                false
            }
            look => look == Some(Look::Sum),
        });
        if bodies.is_empty() {
            return Ok(Vec::new());
        }
        self.positions.set(&self.particles, &self.clock, now);
        let external = self.external_fields(f, &bodies, now)?;
        let membership = self.membership(now);
        let found = membership.surroundings(&bodies, &external);
        Ok(bodies.into_iter().zip(found).collect())
    }

    /// Returns the tidal tensors of external fields at some bodies at `now`; none without a field.
    fn external_tides(&self, f: &dyn ForceEngine, bodies: &[usize], now: Time) -> Result<Vec<[f64; 6]>> {
        let pos: Vec<_> = bodies.iter().map(|&body| at(&self.particles, body, &self.clock, now).0).collect();
        f.external_tides(now, &pos)
    }

    /// Returns how much external fields perturb bodies at `now`, as Σ m/r³ of others; 0 without a field.
    fn external_fields(&self, f: &dyn ForceEngine, bodies: &[usize], now: Time) -> Result<Vec<f64>> {
        let mut found: Vec<f64> = self.external_tides(f, bodies, now)?.into_iter().map(external_field).collect();
        found.resize(bodies.len(), 0.0);
        Ok(found)
    }

    /// Forgets where the bodies are, since rows have another meaning or all have other forces.
    fn forget_places(&mut self) {
        self.positions.forget();
        self.regions.outdate();
    }

    /// Takes note of bodies that have moved, or have other forces or steps.
    fn follow(&mut self, bodies: impl Iterator<Item = u32>) {
        let bodies: Vec<u32> = bodies.collect();
        self.positions.moved(&bodies);
        self.regions.moved(&self.particles, &self.clock, &bodies);
    }

    /// Makes the regions anew at `now`, unless they are current.
    fn renew_regions(&mut self, now: Time) {
        let Self { particles, hierarchy: Hierarchy { subsystems, bodies, rules, .. }, regions, clock, .. } = self;
        if regions.renew(particles, clock, now) {
            let grip = |subsystem: &Subsystem| (bodies.of_star(subsystem.stars[0]), subsystem.grip(rules));
            regions.set_all_grips(&spin_pool::map(subsystems, ASK, grip));
        }
    }

    /// Returns new lists of the perturbers at `now` of the subsystems of some ascending rows.
    fn perturber_lists(&mut self, f: &dyn ForceEngine, rows: &[usize], now: Time) -> Result<Vec<PerturberList>> {
        let Hierarchy { subsystems, bodies, rules, .. } = &self.hierarchy;
        let body = |row: usize| bodies.of_star(subsystems[row].stars[0]);
        let is_open = |row: usize| subsystems[row].settled(rules).is_none();
        let open: Vec<usize> = rows.iter().copied().filter(|&row| is_open(row)).collect();
        let all: Vec<usize> = open.iter().map(|&row| body(row)).collect();
        let external = self.external_tides(f, &all, now)?;
        let Self { particles, hierarchy, regions, positions, clock, .. } = self;
        let Hierarchy { subsystems, bodies, rules, .. } = &*hierarchy;
        let body = |row: usize| bodies.of_star(subsystems[row].stars[0]);
        if !open.is_empty() {
            positions.set(particles, clock, now);
        }
        let (search, tides) = (hierarchy.search(regions, now), positions.tides(&all));
        let found = each(rows, WORK, |row| {
            let (subsystem, body) = (&subsystems[row], body(row));
            let tide = open.binary_search(&row).ok().map(|k| {
                let mut tide = Far::new(tides[k]);
                external.get(k).into_iter().for_each(|external| tide.add_external(*external));
                tide
            });
            let list = subsystem.perturber_list(&search, tide, particles.step[body]);
            let grip = Grip { until: list.until, ..subsystem.grip(rules) };
            (grip, list)
        });
        let taken = rows.iter().zip(found).map(|(&row, (grip, list))| {
            regions.set_grip(body(row), grip);
            list
        });
        Ok(taken.collect())
    }

    /// Renews sizes and perturbers of the subsystems of some rows. Returns the bodies that feel others than before: they stand
    /// at `now`.
    fn renew_perturbers(&mut self, f: &mut dyn ForceEngine, now: Time, rows: &[usize]) -> Result<Vec<u32>> {
        let Hierarchy { subsystems, rules, .. } = &mut self.hierarchy;
        let (mut due, mut takes_up) = (Vec::new(), Vec::new());
        let measured = each_mut(subsystems, rows, MEASURE, |subsystem| {
            let Measured { is_resized, is_settled } = subsystem.measure(rules);
            let is_chain = subsystem.members.len() > 2;
            let was_settled = subsystem.far.is_none();
            let is_due = is_resized || is_chain || is_settled != was_settled || now >= subsystem.perturbers_until;
            is_due.then_some(is_resized || !is_settled || !was_settled)
        });
        for (&row, measured) in rows.iter().zip(measured) {
            if let Some(takes) = measured {
                due.push(row);
                takes_up.push(takes);
            }
        }
        let lists = self.perturber_lists(f, &due, now)?;
        let mut changed = Vec::new();
        let pairs: Vec<(usize, &PerturberList)> = due.iter().copied().zip(&lists).collect();
        let others = spin_pool::map(&pairs, WORK, |&(row, list)| self.hierarchy.coupling_changed(row, list, now));
        for (&row, others) in due.iter().zip(others) {
            if !others.is_empty() {
                let bodies = &self.hierarchy.bodies;
                changed.push(bodies.of_star(self.hierarchy.subsystems[row].stars[0]) as u32);
                changed.extend(others.into_iter().map(|k| k as u32));
            }
        }
        self.synchronise(f, now, changed.iter().copied())?;
        self.hierarchy.set_lists(&due, lists.into_iter().zip(takes_up).collect(), now)?;
        Ok(changed)
    }

    /// Renews sizes, perturbers and coupling of the subsystems in a block, and limits steps. Where this changes a force, the
    /// bodies that feel it take a step to `now` first, and get new forces.
    fn update_couplings(&mut self, f: &mut dyn ForceEngine, now: Time, block: &[u32]) -> Result<()> {
        let _phase = self.hierarchy.phase("perturbers");
        self.renew_regions(now);
        let row = |&body: &u32| self.hierarchy.row(self.hierarchy.bodies.stars[body as usize]);
        let mut rows: Vec<usize> = match self.hierarchy.subsystems.len() {
            0 => Vec::new(),
            _ => spin_pool::map(block, ASK, row).into_iter().flatten().collect(),
        };
        rows.sort_unstable();
        let mut changed = self.renew_perturbers(f, now, &rows)?;
        let choices = self.hierarchy.choose_couplings(&rows, now, &self.particles.step)?;
        for CouplingChange { row, choice } in &choices {
            let subsystem = &self.hierarchy.subsystems[*row];
            let perturbers = choice.changed.iter().map(|&k| subsystem.perturbers[k].star);
            let both = perturbers.chain([subsystem.stars[0]]).map(|star| self.hierarchy.bodies.of_star(star));
            changed.extend(both.map(|k| k as u32));
        }
        if !changed.is_empty() {
            changed.sort_unstable();
            changed.dedup();
            self.synchronise(f, now, changed.iter().copied())?;
            self.hierarchy.apply_couplings(&choices, now)?;
            let mut coupled = CoupledEngine { engine: f, hierarchy: &mut self.hierarchy };
            self.scheme.evaluate_again(&mut self.particles, &mut coupled, changed.clone(), now)?;
            self.follow(changed.into_iter());
        }
        self.limit(now, block);
        Ok(())
    }

    /// Takes those of some bodies that stand before `now` to that moment.
    fn synchronise(&mut self, f: &mut dyn ForceEngine, now: Time, bodies: impl Iterator<Item = u32>) -> Result<()> {
        let mut late: Vec<u32> = bodies.filter(|&body| self.particles.time[body as usize] < now).collect();
        if late.is_empty() {
            return Ok(());
        }
        late.sort_unstable();
        late.dedup();
        let mut coupled = CoupledEngine { engine: f, hierarchy: &mut self.hierarchy };
        self.scheme.synchronise(&mut self.particles, &mut coupled, late.clone(), now)?;
        self.follow(late.into_iter());
        self.find_crossings(now)
    }

    /// Shortens the steps of subsystems in the block, and of their perturbers, to resolve the internal motion.
    fn limit(&mut self, now: Time, block: &[u32]) {
        let Self { particles, hierarchy, scheme, .. } = self;
        let mut bodies = those(block.len(), ASK, |k| hierarchy.may_couple(block[k] as usize));
        bodies.iter_mut().for_each(|body| *body = block[*body] as usize);
        let longest = each(&bodies, WORK, |body| hierarchy.longest_steps(particles, body, now));
        let mut changed = Vec::new();
        for (body, longest) in longest.into_iter().flatten() {
            if shorten(particles, body, longest, Level::DEEPEST, &hierarchy.clock, now) {
                changed.push(body as u32);
            }
        }
        changed.sort_unstable();
        changed.dedup();
        scheme.reschedule(particles, &changed);
    }

    /// Shortens the steps of all bodies that others may pass whose velocities have jumped at `now`, by these vectors; from then on
    /// [`Self::follow_thrown`] does.
    fn limit_by_passages(&mut self, now: Time, jumps: &[(usize, Vec3)]) {
        let Self { scheme, particles, hierarchy: Hierarchy { bodies, .. }, clock, recorded, .. } = self;
        let all = || bodies.occupied().map(|body| body as u32).collect();
        let fast = Passages { clock, eps2: 0.0, now }.limit_by_jumps(&mut **scheme, particles, all, jumps);
        recorded.thrown.extend(fast.into_iter().map(|body| bodies.stars[body]));
        recorded.thrown.sort_unstable();
        recorded.thrown.dedup();
    }

    /// Shortens the steps that begin at `now` of bodies that others pass which were thrown out, and of these. Those that pass no other any
    /// more are followed no longer.
    fn follow_thrown(&mut self, now: Time) {
        if self.recorded.thrown.is_empty() {
            return;
        }
        let Self { scheme, particles, hierarchy, clock, recorded, .. } = self;
        let body = |star: &u32| {
            let lowest = hierarchy.with_star(*star).map_or(*star, |subsystem| subsystem.stars[0]);
            hierarchy.bodies.of_star(lowest)
        };
        let mut bodies: Vec<usize> = recorded.thrown.iter().map(body).collect();
        bodies.sort_unstable();
        bodies.dedup();
        let all: Vec<u32> = hierarchy.bodies.occupied().map(|body| body as u32).collect();
        let passing = Passages { clock, eps2: 0.0, now }.limit_by_thrown(&mut **scheme, particles, &all, &bodies);
        recorded.thrown.retain(|star| passing.contains(&body(star)));
    }

    /// Returns the sum of the binding energies of all subsystems.
    #[must_use]
    pub fn binding_energy(&self) -> f64 {
        self.hierarchy.in_order().map(Subsystem::binding).sum()
    }

    /// Returns the number of subsystems.
    #[must_use]
    pub fn number(&self) -> usize {
        self.hierarchy.subsystems.len()
    }
}

/// Shortens the next step of a body to a length, and to a level at the deepest, as far as its end is after `now`. Returns true if
/// that changes it.
fn shorten(p: &mut Particles, i: usize, longest: f64, floor: Level, clock: &Clock, now: Time) -> bool {
    let found = shortened((p.time[i], p.step[i]), longest / clock.dt_max, floor, now);
    found.into_iter().for_each(|level| p.step[i] = level);
    found.is_some()
}

/// Returns the particles with the columns alone that bodies have.
fn bare(p: &Particles) -> Particles {
    Particles { radius: Vec::new(), columns: Vec::new(), stars: Vec::new(), close: Vec::new(), ..p.clone() }
}

impl Integrator for Encounters {
    type Evaluation = Forces;

    fn start(&mut self, p: &mut Particles, f: &mut dyn ForceEngine) -> Result<Progress> {
        self.ids.clone_from(&p.id);
        self.particles = bare(p);
        self.hierarchy.subsystems.clear();
        let bodies = Bodies::new(self.particles.clone(), (0..p.len() as u32).collect(), p.len()).with_rests_of(p);
        self.set_bodies(bodies, p);
        self.hierarchy.index(p.len());
        self.recorded = Recorded::default();
        (self.crossings, self.neighbours) = (Crossings::default(), Neighbours::default());
        self.forget_places();
        self.pair_up(f, Time::default())?;
        let mut coupled = CoupledEngine { engine: f, hierarchy: &mut self.hierarchy };
        let started = self.scheme.start(&mut self.particles, &mut coupled)?;
        self.forget_places();
        let all: Vec<u32> = (0..self.particles.len() as u32).collect();
        self.update_couplings(f, Time::default(), &all)?;
        self.watch_neighbours(Time::default(), &all)?;
        store(&self.particles, &self.hierarchy, &self.recorded, p)?;
        Ok(started)
    }

    fn resume(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine) -> Result<()> {
        let Decoded { subsystems: found, recorded, rows } = state::decode(p.states.get(), p.len())?;
        self.recorded = recorded;
        if !self.records_changes {
            self.recorded.repeats = Repeats::default();
        }
        self.ids.clone_from(&p.id);
        let mut inside = vec![false; p.len()];
        for (subsystem, _) in &found {
            subsystem.stars[1..].iter().for_each(|&star| inside[star as usize] = true);
        }
        let lowest = || (0..p.len() as u32).filter(|&star| !inside[star as usize]).collect();
        let stars: Vec<u32> = if rows.is_empty() { lowest() } else { rows };
        let mut all = bare(p);
        all.select_rows(&stars);
        let empty: Vec<usize> = (0..stars.len()).filter(|&row| inside[stars[row] as usize]).collect();
        let mut bodies = Bodies::new(all, stars, p.len());
        for (subsystem, centre) in &found {
            let row = bodies.of_star(subsystem.stars[0]);
            centre.set(&mut bodies.particles, row);
        }
        empty.into_iter().for_each(|row| bodies.end(row, now));
        self.particles = bodies.particles.clone();
        self.set_bodies(bodies, p);
        self.hierarchy.subsystems = found.into_iter().map(|(subsystem, _)| subsystem).collect();
        self.hierarchy.index(p.len());
        self.forget_places();
        let mut coupled = CoupledEngine { engine: f, hierarchy: &mut self.hierarchy };
        self.scheme.resume(&self.particles, now, &mut coupled)?;
        self.scheme.set_empty(self.hierarchy.bodies.empty());
        (self.crossings, self.neighbours) = (Crossings::default(), Neighbours::default());
        self.watch_again(now)
    }

    fn synchronised(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine) -> Result<Particles> {
        let mut hierarchy = self.hierarchy.clone();
        hierarchy.bodies.sizes.collisions = None;
        let mut coupled = CoupledEngine { engine: f, hierarchy: &mut hierarchy };
        let particles = self.scheme.synchronised(&self.particles, now, &mut coupled)?;
        hierarchy.advance(now)?;
        let mut moved = p.clone();
        store(&particles, &hierarchy, &self.recorded, &mut moved)?;
        Ok(moved)
    }

    fn field(&mut self, p: &Particles, now: Time, engine: &mut dyn ForceEngine, is_own: bool) -> Result<Field> {
        if !is_own {
            engine.load(&self.hierarchy.bodies.particles)?;
        }
        field::measure(&self.hierarchy, p.len(), engine, now)
    }

    fn change_stars(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        changes: &StarChanges<'_>,
        now: Time,
    ) -> Result<Lost> {
        self.evolve(p, f, changes, now).map_err(|error| self.named(error))
    }

    fn loaded<'a>(&'a self, _: &'a Particles) -> &'a Particles {
        &self.hierarchy.bodies.particles
    }

    fn subsystems(&mut self) -> Option<&mut dyn Subsystems> {
        Some(self)
    }

    fn set_start(&mut self, start: f64) {
        self.clock.start = start;
        self.hierarchy.clock.start = start;
        self.scheme.set_start(start);
    }

    fn set_profiler(&mut self, profiler: &Profiler) {
        self.hierarchy.profiler = Some(profiler.clone());
    }

    fn set_pause(&mut self, pause: Pause) {
        self.pause = Some(pause);
    }

    fn advance(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, until: Time, max: u64) -> Result<Progress> {
        let began = Instant::now();
        let mut done = Progress::default();
        while done.block_steps < max {
            let taken = self.step(f, (until, max - done.block_steps), began);
            let (one, ends) = taken.map_err(|error| self.named(error))?;
            self.changed.drain(..).for_each(|changed| changed.apply(p));
            done.now = one.now;
            if one.block_steps == 0 {
                break;
            }
            if let Some(profiler) = &self.hierarchy.profiler {
                profiler.end_block_steps(one.block_steps, one.particle_steps);
            }
            done.block_steps += one.block_steps;
            done.particle_steps += one.particle_steps;
            done.pairs += one.pairs;
            done.clamped += one.clamped;
            if ends
                || self.pause.as_ref().is_some_and(|pause| pause.is_due_after(began, MIN_TIMES_STORING * self.storing))
            {
                break;
            }
        }
        let began = Instant::now();
        store(&self.particles, &self.hierarchy, &self.recorded, p)?;
        self.storing = began.elapsed();
        Ok(done)
    }

    fn forces(&mut self, _: &Particles, now: Time, targets: Targets<'_>, f: &mut dyn ForceEngine) -> Result<Forces> {
        let mut found = Forces::default();
        f.evaluate(now, targets, &mut found)?;
        Ok(found)
    }
}

impl Subsystems for Encounters {
    fn describe(&self, now: Time) -> Result<Vec<Description>> {
        description::describe(&self.hierarchy, &self.ids, now)
    }

    fn orbits(&self, now: Time) -> Result<Vec<Description>> {
        description::orbits(&self.hierarchy, &self.ids, now)
    }

    fn record_events(&mut self) {
        self.records_changes = true;
    }

    fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn held_back(&self) -> Vec<Event> {
        self.recorded.repeats.events()
    }
}
