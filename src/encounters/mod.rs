//! Close encounters and binaries without softening: subsystems of few bodies inside a Hermite integration.
//!
//! Where two bodies, or a few, attract each other much more than all others disturb them, they become a subsystem. Its centre
//! of mass is a particle of the block scheme; its members move about that by the methods of [`crate::few_body`], perturbed by
//! those that are near, which in turn feel the members instead of the centre of mass. Membership follows from positions,
//! velocities and masses at block times alone, by ratios of forces: there is no radius to choose, and the bits do not depend on
//! threads, engines or on where a run is interrupted.

mod changes;
mod contacts;
mod cube_root;
mod forces;
mod membership;
mod motion;
mod records;
mod settings;

pub use membership::decisions::LARGEST;
pub use motion::nested::may_be_followed;
pub use settings::section::EncounterSettings;
pub use settings::stars::{CollisionAction, Collisions, EscapeAction, EscapeRadius, Escapes, RadiusLaw, StarEvents};

use crate::integrator::{Integrator, Progress, Steps};
use crate::subsystems::{Description, Event, Subsystems};
use contacts::neighbours::Neighbours;
use contacts::ways::Crossings;
use forces::bodies::Units;
use forces::surroundings::{Positions, at};
use membership::change::Change;
use membership::coupled_engine::Coupled;
use membership::decisions::Look;
use membership::hierarchy::Hierarchy;
use motion::subsystem::Group;
use motion::touched::Touched;
use records::star_changes::Changed;
use records::state::{self, Centre, Recorded};
use records::store::store;
use records::{description, field};
use settings::rules::Rules;
use std::time::Instant;
use tisane_force::error::Result;
use tisane_force::force::block_steps::Pause;
use tisane_force::force::{Field, ForceEngine, Forces, Targets};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::{Clock, Level, Time};

/// Largest perturbation with which a pair forms.
pub const FORMS: f64 = 5e-4;
/// Largest perturbation with which a pair stays.
pub const DISSOLVES: f64 = 5e-3;
/// A unit looks for neighbours once in 2 to this power steps.
const LOOKS: u8 = 2;

/// Subsystems of few bodies on a scheme with block steps.
pub struct Encounters {
    scheme: Box<dyn Steps>,
    clock: Clock,
    /// The units, at their own times.
    particles: Particles,
    /// Ids of the stars.
    ids: Vec<u64>,
    subsystems: Hierarchy,
    positions: Positions,
    pause: Option<Pause>,
    /// Changes of the subsystems that were not handed over yet, if they are recorded.
    events: Option<Vec<Event>>,
    /// Contacts of subsystems that have ended in this block step.
    contacts: Vec<Touched>,
    recorded: Recorded,
    /// Search for contacts of stars in different units.
    crossings: Crossings,
    neighbours: Neighbours,
    /// Treatment of stars that leave.
    escapes: Option<Escapes>,
    /// Changes of the stars that the particles of the caller do not have yet.
    changed: Vec<Changed>,
}

impl Encounters {
    /// Creates subsystems on a scheme, for a run on the time axis `clock`, in internal units, without softening. Perturbations
    /// smaller than `perturbation` are neglected; with 0 there are no subsystems.
    #[must_use]
    pub fn new(scheme: Box<dyn Steps>, perturbation: f64, clock: Clock) -> Self {
        let rules = Rules { perturbation, means: true, forms: FORMS, dissolves: DISSOLVES };
        Self {
            scheme,
            clock,
            particles: Particles::default(),
            ids: Vec::new(),
            subsystems: Hierarchy::new(rules, clock),
            positions: Positions::default(),
            pause: None,
            events: None,
            contacts: Vec::new(),
            recorded: Recorded::default(),
            crossings: Crossings::default(),
            neighbours: Neighbours::default(),
            escapes: None,
            changed: Vec::new(),
        }
    }

    /// Creates subsystems by settings of users.
    #[must_use]
    pub fn from_settings(scheme: Box<dyn Steps>, settings: &EncounterSettings, clock: Clock) -> Self {
        Self::new(scheme, settings.perturbation.get(), clock).with_mean_orbits(settings.mean_orbits)
    }

    /// Follows all orbits one by one, where `means` is false: no pair and no stable system moves in the mean over its orbits.
    #[must_use]
    pub fn with_mean_orbits(mut self, means: bool) -> Self {
        self.subsystems.rules.means = means;
        self
    }

    /// Takes one block step, if it does not pass `until`. Returns true with it if stars touched, merged or escaped.
    fn step(&mut self, f: &mut dyn ForceEngine, until: Time) -> Result<(Progress, bool)> {
        let mut coupled = Coupled { engine: f, subsystems: &mut self.subsystems };
        let done = self.scheme.advance(&mut self.particles, &mut coupled, until, 1)?;
        if done.block_steps > 0 && self.subsystems.rules.perturbation > 0.0 {
            self.positions.clear();
            let block = self.scheme.block().to_vec();
            self.look_ahead(done.now, &block);
            let block = self.unite(f, done.now, block)?;
            self.review(f, done.now, &block)?;
            self.unite_rest(f, done.now)?;
            let touched = self.settle(done.now);
            let escaped = self.let_escape(f, done.now)?;
            return Ok((done, touched || escaped));
        }
        Ok((done, false))
    }

    /// Returns true if a unit looks at its neighbours at a step that ended at `now`.
    fn looks(&self, unit: usize, now: Time) -> bool {
        let level = self.particles.step[unit];
        now.is_multiple_of(Level(level.0.saturating_sub(LOOKS)))
    }

    /// Renews what depends on the units that have moved to `now`, and lets them join and split.
    fn review(&mut self, f: &mut dyn ForceEngine, now: Time, block: &[u32]) -> Result<()> {
        let mut changes = self.mergers();
        let mut taken: Vec<usize> = changes.iter().flat_map(Change::units).copied().collect();
        for unit in block.iter().map(|&i| i as usize) {
            let star = self.subsystems.units.stars[unit];
            let is_open = match self.subsystems.of_star(star) {
                Some(group) => group.settled(&self.subsystems.rules).is_none(),
                None => false,
            };
            if !(is_open || self.looks(unit, now)) {
                continue;
            }
            let mut look =
                Look { particles: &self.particles, subsystems: &self.subsystems, positions: &mut self.positions, now };
            let is_new = self.subsystems.of_star(star).is_some_and(|group| group.formed == now);
            let found = look.around(unit);
            let change = look.change(unit, found, is_new);
            if let (Some(found), Some(group)) = (found, self.subsystems.of_star_mut(star)) {
                group.field = found.weight + found.rest;
            }
            if let Some(change) = change.filter(|change| !change.units().iter().any(|unit| taken.contains(unit))) {
                taken.extend_from_slice(change.units());
                changes.push(change);
            }
        }
        self.follow(f, now, block)?;
        if changes.is_empty() { Ok(()) } else { self.change(f, now, &changes) }
    }

    /// Renews sizes, lists and perturbation of the subsystems in a block, and limits steps. Where this changes a force, those
    /// that feel it stand at `now`, and go on with what holds from then on.
    fn follow(&mut self, f: &mut dyn ForceEngine, now: Time, block: &[u32]) -> Result<()> {
        let (mut lists, mut changed) = (Vec::new(), Vec::new());
        let mut of_block = Vec::new();
        for unit in block.iter().map(|&i| i as usize) {
            let Some(place) = self.subsystems.place(self.subsystems.units.stars[unit]) else { continue };
            of_block.push((unit, place));
            let (group, rules) = (&mut self.subsystems.groups[place], self.subsystems.rules);
            let is_resized = group.measure(&rules) || group.far.is_some() || group.settled(&rules).is_none();
            if is_resized || now >= group.near_until {
                self.positions.set(&self.particles, &self.clock, now);
                let listed = self.subsystems.listed(place, &self.positions, now, self.particles.step[unit]);
                let refaded = self.subsystems.refaded(place, &listed, &self.positions);
                if !refaded.is_empty() {
                    changed.push(unit as u32);
                    changed.extend(refaded.into_iter().map(|k| k as u32));
                }
                lists.push((place, listed, is_resized));
            }
        }
        self.bring(f, now, changed.iter().copied())?;
        for (place, listed, is_resized) in lists {
            if is_resized {
                self.subsystems.list_again(place, listed, now)?;
            } else {
                self.subsystems.list(place, listed);
            }
        }
        let mut attended = Vec::new();
        for (unit, place) in of_block {
            if let Some(found) = self.subsystems.attend(place, now, self.particles.step[unit])? {
                let near = found.changed.iter().map(|&k| self.subsystems.groups[place].near[k].star);
                let both = near.map(|star| self.subsystems.units.of_star(star)).chain([unit]);
                changed.extend(both.map(|k| k as u32));
                attended.push((place, found));
            }
        }
        if !changed.is_empty() {
            changed.sort_unstable();
            changed.dedup();
            self.bring(f, now, changed.iter().copied())?;
            attended.into_iter().try_for_each(|(place, found)| self.subsystems.go_on(place, Some(found), now))?;
            let mut coupled = Coupled { engine: f, subsystems: &mut self.subsystems };
            self.scheme.evaluate_again(&mut self.particles, &mut coupled, changed, now)?;
        }
        self.limit(now, block);
        Ok(())
    }

    /// Moves those of some units that stand before `now` to that moment.
    fn bring(&mut self, f: &mut dyn ForceEngine, now: Time, units: impl Iterator<Item = u32>) -> Result<()> {
        let mut late: Vec<u32> = units.filter(|&unit| self.particles.time[unit as usize] < now).collect();
        if late.is_empty() {
            return Ok(());
        }
        late.sort_unstable();
        late.dedup();
        let mut coupled = Coupled { engine: f, subsystems: &mut self.subsystems };
        self.scheme.synchronise(&mut self.particles, &mut coupled, late, now)?;
        self.positions.clear();
        self.find_crossings(now)
    }

    /// Shortens the steps of subsystems in the block, and of units that feel their members, to resolve the internal motion.
    fn limit(&mut self, now: Time, block: &[u32]) {
        let Self { particles, subsystems, scheme, .. } = self;
        let Hierarchy { units, rules, clock, .. } = &*subsystems;
        let mut changed = Vec::new();
        let mut shorten = |particles: &mut Particles, i: usize, longest: f64| {
            if shorten(particles, i, (longest, Level::DEEPEST), clock, now) {
                changed.push(i as u32);
            }
        };
        for unit in block.iter().map(|&i| i as usize) {
            let star = units.stars[unit];
            let (pos, _) = at(particles, unit, clock, now);
            let is_within = |particles: &Particles, k: usize, outer2: f64| {
                (at(particles, k, clock, now).0 - pos).norm_squared() < outer2
            };
            if let Some(group) = subsystems.of_star(star).filter(|group| group.is_followed(rules)) {
                let longest = group.resolution(rules);
                shorten(particles, unit, longest);
                for near in group.near.iter().filter(|near| group.is_perturbed && !near.is_mean) {
                    let k = units.of_star(near.star);
                    if is_within(particles, k, near.outer2) {
                        shorten(particles, k, longest);
                    }
                }
            }
            let felt = subsystems.felt_by(star).filter(|(group, near)| group.is_perturbed && !near.is_mean);
            for (group, near) in felt {
                if is_within(particles, units.of_star(group.members[0]), near.outer2) {
                    shorten(particles, unit, group.resolution(rules));
                }
            }
        }
        changed.sort_unstable();
        changed.dedup();
        scheme.reschedule(particles, &changed);
    }

    /// Returns the sum of the binding energies of all subsystems.
    #[must_use]
    pub fn binding_energy(&self) -> f64 {
        self.subsystems.groups.iter().map(Group::binding).sum()
    }

    /// Returns the number of subsystems.
    #[must_use]
    pub fn number(&self) -> usize {
        self.subsystems.groups.len()
    }
}

/// Shortens the next step of a unit to a length, and to a level at the deepest, as far as its end is after `now`. Returns true if
/// that changes it.
fn shorten(p: &mut Particles, i: usize, (longest, floor): (f64, Level), clock: &Clock, now: Time) -> bool {
    let level = Level::not_longer_than(longest / clock.dt_max).unwrap_or(Level::DEEPEST).min(floor);
    let fits = |level: Level| p.time[i].after(level) > now;
    let deepest = (p.step[i].0..=level.0).map(Level).take_while(|level| fits(*level)).last();
    let found = deepest.filter(|level| *level > p.step[i]);
    found.into_iter().for_each(|level| p.step[i] = level);
    found.is_some()
}

impl Integrator for Encounters {
    type Evaluation = Forces;

    fn start(&mut self, p: &mut Particles, f: &mut dyn ForceEngine) -> Result<Progress> {
        self.ids.clone_from(&p.id);
        self.particles = p.clone();
        self.subsystems.groups.clear();
        let units = Units::new(p.clone(), (0..p.len() as u32).collect(), p.len()).with_rests_of(p);
        self.set_units(units, p);
        self.subsystems.index(p.len());
        self.recorded = Recorded::default();
        (self.crossings, self.neighbours) = (Crossings::default(), Neighbours::default());
        self.positions.clear();
        self.pair_up(Time::default())?;
        let mut coupled = Coupled { engine: f, subsystems: &mut self.subsystems };
        let started = self.scheme.start(&mut self.particles, &mut coupled)?;
        self.positions.clear();
        let all: Vec<u32> = (0..self.particles.len() as u32).collect();
        self.follow(f, Time::default(), &all)?;
        self.watch_neighbours(Time::default(), &all)?;
        store(&self.particles, &self.subsystems, &self.recorded, p)?;
        Ok(started)
    }

    fn resume(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine) -> Result<()> {
        let (found, recorded) = state::decode(&p.subsystems, p.len())?;
        self.recorded = recorded;
        self.ids.clone_from(&p.id);
        let mut is_single = vec![true; p.len()];
        for (group, _) in &found {
            group.members.iter().for_each(|&star| is_single[star as usize] = false);
        }
        let mut rows: Vec<(u32, Option<&Centre>)> =
            found.iter().map(|(group, it)| (group.members[0], Some(it))).collect();
        rows.extend((0..p.len() as u32).filter(|&star| is_single[star as usize]).map(|star| (star, None)));
        rows.sort_unstable_by_key(|row| row.0);
        let star = |row: &(u32, Option<&Centre>)| row.0 as usize;
        let vectors = |k: usize, column: &[Vec3]| {
            rows.iter().map(|row| row.1.map_or_else(|| column[star(row)], |it| it.state[k])).collect()
        };
        self.particles = Particles {
            id: rows.iter().map(|row| p.id[star(row)]).collect(),
            mass: rows.iter().map(|row| row.1.map_or_else(|| p.mass[star(row)], |it| it.mass)).collect(),
            pos: vectors(0, &p.pos),
            vel: vectors(1, &p.vel),
            acc: vectors(2, &p.acc),
            jerk: vectors(3, &p.jerk),
            pot: rows.iter().map(|row| row.1.map_or_else(|| p.pot[star(row)], |it| it.pot)).collect(),
            time: rows.iter().map(|row| row.1.map_or_else(|| p.time[star(row)], |it| it.time)).collect(),
            step: rows.iter().map(|row| row.1.map_or_else(|| p.step[star(row)], |it| it.step)).collect(),
            ..Particles::default()
        };
        let stars = rows.iter().map(|row| row.0).collect();
        let units = Units::new(self.particles.clone(), stars, p.len());
        self.set_units(units, p);
        self.subsystems.groups = found.into_iter().map(|(group, _)| group).collect();
        self.subsystems.index(p.len());
        self.positions.clear();
        let mut coupled = Coupled { engine: f, subsystems: &mut self.subsystems };
        self.scheme.resume(&self.particles, now, &mut coupled)?;
        (self.crossings, self.neighbours) = (Crossings::default(), Neighbours::default());
        self.watch_again(now)
    }

    fn synchronised(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine) -> Result<Particles> {
        let mut subsystems = self.subsystems.clone();
        subsystems.units.sizes.collisions = None;
        let mut coupled = Coupled { engine: f, subsystems: &mut subsystems };
        let particles = self.scheme.synchronised(&self.particles, now, &mut coupled)?;
        subsystems.advance(now, |_, _| true)?;
        let mut moved = p.clone();
        store(&particles, &subsystems, &self.recorded, &mut moved)?;
        Ok(moved)
    }

    fn field(&mut self, p: &Particles, now: Time, engine: &mut dyn ForceEngine, is_own: bool) -> Result<Field> {
        if !is_own {
            engine.load(&self.subsystems.units.all)?;
        }
        field::measure(&self.subsystems, p.len(), engine, now)
    }

    fn loaded<'a>(&'a self, _: &'a Particles) -> &'a Particles {
        &self.subsystems.units.all
    }

    fn subsystems(&mut self) -> Option<&mut dyn Subsystems> {
        Some(self)
    }

    fn set_start(&mut self, start: f64) {
        self.clock.start = start;
        self.subsystems.clock.start = start;
        self.scheme.set_start(start);
    }

    fn set_pause(&mut self, pause: Pause) {
        self.pause = Some(pause);
    }

    fn advance(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, until: Time, most: u64) -> Result<Progress> {
        let began = Instant::now();
        let mut done = Progress::default();
        while done.block_steps < most {
            let taken = self.step(f, until);
            let (one, ends) = taken.map_err(|error| self.named(error))?;
            self.changed.drain(..).for_each(|changed| changed.apply(p));
            done.now = one.now;
            if one.block_steps == 0 {
                break;
            }
            done.block_steps += one.block_steps;
            done.particle_steps += one.particle_steps;
            done.pairs += one.pairs;
            done.clamped += one.clamped;
            if ends || self.pause.as_ref().is_some_and(|pause| pause.is_due(began)) {
                break;
            }
        }
        store(&self.particles, &self.subsystems, &self.recorded, p)?;
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
        description::describe(&self.subsystems, &self.ids, now)
    }

    fn record_events(&mut self) {
        self.events.get_or_insert_default();
    }

    fn take_events(&mut self) -> Vec<Event> {
        self.events.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
