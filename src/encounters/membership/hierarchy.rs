//! All subsystems, with the bodies of the integration and the lists of those that perturb them.

use crate::encounters::cube_root::cube_root;
use crate::encounters::forces::bodies::Bodies;
use crate::encounters::forces::coupling::{self, PointMasses};
use crate::encounters::forces::regions::{Gripping, Regions};
use crate::encounters::forces::surroundings::at;
use crate::encounters::membership::each::{GRIPS, WORK, each, each_mut};
use crate::encounters::motion::averaged::CouplingChoice;
use crate::encounters::motion::subsystem::{Perturber, PerturberList, PerturberSearch, Subsystem};
use crate::encounters::settings::criteria::{self, Rules};
use rayon::prelude::*;
use tisane_force::error::Result;
use tisane_force::force::profile::{Phase, Profiler};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::{Clock, Level, Time};

/// Mark of a body that is no target, and of a star that is the lowest of no subsystem.
pub const NONE: u32 = u32::MAX;

/// All subsystems, and the bodies as the engine knows them.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// The subsystems, in any order.
    pub subsystems: Vec<Subsystem>,
    /// Stars that are alone, and centres of mass.
    pub bodies: Bodies,
    /// Criteria.
    pub rules: Rules,
    /// Time axis.
    pub clock: Clock,
    /// Row of the subsystem of each star that is the lowest of one.
    pub rows: Vec<u32>,
    /// Lowest star of the subsystem of each star that is in one.
    lowest: Vec<u32>,
    /// States that bodies had before they moved, since contacts were looked for; none without collisions.
    pub passed: Vec<Passage>,
    /// Subsystems that the body of each lowest star perturbs, in order: the lists of perturbers the other way round, with the lowest
    /// star of the subsystem.
    pub perturbed: Vec<Vec<Perturber>>,
    /// Columns that are kept for their memory.
    pub room: Room,
    /// Stopwatch of the phases of the host's work.
    pub profiler: Option<Profiler>,
}

/// Change between direct and orbit-averaged coupling of a subsystem with some of its perturbers.
#[derive(Clone, Debug)]
pub struct CouplingChange {
    /// Row of the subsystem.
    pub row: usize,
    /// The coupling from now on.
    pub choice: CouplingChoice,
}

/// State of a body before it moved.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// The body.
    pub body: u32,
    /// Time of the state.
    pub time: Time,
    /// Position, velocity, acceleration and jerk.
    pub state: [Vec3; 4],
}

/// Columns that are kept for their memory.
#[derive(Clone, Debug, Default)]
pub struct Room {
    /// Target of each body.
    pub targets: Vec<u32>,
    /// Flag of each subsystem that its motion may have to be known now.
    pub is_due: Vec<bool>,
    /// The rows of those.
    pub due: Vec<usize>,
    /// Their members, as others see them.
    pub points: Vec<PointMasses>,
    /// Number of block steps since the last in which a subsystem had a part.
    pub alone: u32,
    /// Number of them that the host takes before an engine may.
    pub host: u32,
    /// Number of block steps that the host takes before it looks anew how many an engine may take.
    pub attended: u32,
    /// The same number after a call that was not worth it.
    pub patience: u32,
    /// Bodies that have moved in steps that an engine took.
    pub moved: Vec<u32>,
}

impl Hierarchy {
    /// Creates the hierarchy of bodies that are all single stars.
    pub fn new(rules: Rules, clock: Clock) -> Self {
        Self {
            subsystems: Vec::new(),
            bodies: Bodies::default(),
            rules,
            clock,
            rows: Vec::new(),
            lowest: Vec::new(),
            passed: Vec::new(),
            perturbed: Vec::new(),
            room: Room::default(),
            profiler: None,
        }
    }

    /// Starts a phase of the host's work, if these are measured.
    pub fn phase(&self, name: &'static str) -> Option<Phase> {
        self.profiler.as_ref().map(|profiler| profiler.phase(name))
    }

    /// Takes note of all subsystems.
    pub fn index(&mut self, stars: usize) {
        self.rows.clear();
        self.rows.resize(stars, NONE);
        self.lowest.clear();
        self.lowest.resize(stars, NONE);
        for (subsystem, row) in self.subsystems.iter().zip(0..) {
            self.rows[subsystem.stars[0] as usize] = row;
            subsystem.stars.iter().for_each(|&star| self.lowest[star as usize] = subsystem.stars[0]);
        }
        self.perturbed.iter_mut().for_each(Vec::clear);
        self.perturbed.resize(stars, Vec::new());
        let Self { subsystems, perturbed, rows, .. } = self;
        for subsystem in rows.iter().filter(|&&row| row != NONE).map(|&row| &subsystems[row as usize]) {
            for perturber in &subsystem.perturbers {
                perturbed[perturber.star as usize].push(Perturber { star: subsystem.stars[0], ..*perturber });
            }
        }
    }

    /// Takes in a subsystem that begins, without perturbers.
    pub fn begin_subsystem(&mut self, subsystem: Subsystem) {
        self.rows[subsystem.stars[0] as usize] = self.subsystems.len() as u32;
        subsystem.stars.iter().for_each(|&star| self.lowest[star as usize] = subsystem.stars[0]);
        self.subsystems.push(subsystem);
    }

    /// Takes out the body of a lowest star: from the lists of the subsystems that it perturbs, and its own subsystem.
    pub fn end_body(&mut self, star: u32) {
        for by in std::mem::take(&mut self.perturbed[star as usize]) {
            remove(&mut self.subsystems[self.rows[by.star as usize] as usize].perturbers, star);
        }
        let Some(row) = self.row(star) else { return };
        let ended = self.subsystems.swap_remove(row);
        self.rows[star as usize] = NONE;
        ended.stars.iter().for_each(|&star| self.lowest[star as usize] = NONE);
        if let Some(moved) = self.subsystems.get(row) {
            self.rows[moved.stars[0] as usize] = row as u32;
        }
        ended.perturbers.iter().for_each(|perturber| remove(&mut self.perturbed[perturber.star as usize], star));
    }

    /// Returns the rows of the subsystems in the order of their lowest stars.
    pub fn rows_in_order(&self) -> impl Iterator<Item = usize> {
        self.rows.iter().filter(|&&row| row != NONE).map(|&row| row as usize)
    }

    /// Returns the subsystems in the order of their lowest stars.
    pub fn in_order(&self) -> impl Iterator<Item = &Subsystem> {
        self.rows_in_order().map(|row| &self.subsystems[row])
    }

    /// Returns the row of the subsystem whose lowest star is `star`.
    pub fn row(&self, star: u32) -> Option<usize> {
        Some(self.rows[star as usize]).filter(|&row| row != NONE).map(|row| row as usize)
    }

    /// Returns the subsystem whose lowest star is `star`.
    pub fn of_star(&self, star: u32) -> Option<&Subsystem> {
        self.row(star).map(|row| &self.subsystems[row])
    }

    /// Returns the subsystem whose lowest star is `star`, mutably.
    pub fn of_star_mut(&mut self, star: u32) -> Option<&mut Subsystem> {
        self.row(star).map(|row| &mut self.subsystems[row])
    }

    /// Returns true if the subsystem whose lowest star is `star` has more than two members.
    pub fn is_chain(&self, star: u32) -> bool {
        self.of_star(star).is_some_and(|subsystem| subsystem.members.len() > 2)
    }

    /// Sets the Σ m/r³ of all others at the subsystem whose lowest star is `star`, if there is one. A quiet pair takes the value below
    /// which it is quiet: so it does not depend on whether the sum was needed.
    pub fn set_field(&mut self, star: u32, field: f64) {
        let Self { subsystems, bodies, rules, rows, .. } = self;
        if let Some(subsystem) = subsystems.get_mut(rows[star as usize] as usize) {
            subsystem.field = field.max(subsystem.quiet_field(rules, bodies).unwrap_or(0.0));
        }
    }

    /// Returns the subsystem that a star is in.
    pub fn with_star(&self, star: u32) -> Option<&Subsystem> {
        self.of_star(Some(self.lowest[star as usize]).filter(|&lowest| lowest != NONE)?)
    }

    /// Returns the subsystem that a star is in, mutably.
    pub fn with_star_mut(&mut self, star: u32) -> Option<&mut Subsystem> {
        self.of_star_mut(Some(self.lowest[star as usize]).filter(|&lowest| lowest != NONE)?)
    }

    /// Returns the subsystems that the body of a lowest star perturbs, and how the two feel each other.
    pub fn perturbed_by(&self, star: u32) -> impl Iterator<Item = (&Subsystem, &Perturber)> {
        let by_row = |row: u32| &self.subsystems[row as usize];
        self.perturbed[star as usize].iter().map(move |it| (by_row(self.rows[it.star as usize]), it))
    }

    /// Returns true if a body may feel members of a subsystem one by one: as its centre of mass, or as a perturber.
    pub fn may_couple(&self, body: usize) -> bool {
        let star = self.bodies.stars[body] as usize;
        self.rows[star] != NONE || !self.perturbed[star].is_empty()
    }

    /// Returns bodies, each with the longest step, in internal units, that resolves the motion in subsystems at `now`, where it is
    /// shorter than that which the body has: of a body and of those that it is coupled with.
    pub fn longest_steps(&self, p: &Particles, body: usize, now: Time) -> Vec<(usize, f64)> {
        let (star, (pos, _)) = (self.bodies.stars[body], at(p, body, &self.clock, now));
        let square = |k: usize| (at(p, k, &self.clock, now).0 - pos).norm_squared();
        let mut found = Vec::new();
        let mut limit = |k: usize, longest: f64| {
            if longest < p.step[k].step(self.clock.dt_max) {
                found.push((k, longest));
            }
        };
        if let Some(subsystem) = self.of_star(star).filter(|subsystem| subsystem.is_followed(&self.rules)) {
            // Perturbers within the outer radius, each with its perturbation.
            let within = |perturber: &Perturber| {
                let k = self.bodies.of_star(perturber.star);
                let r2 = square(k);
                (r2 < perturber.outer2).then(|| (k, subsystem.felt_by(p.mass[k], r2), perturber.is_averaged))
            };
            let within: Vec<(usize, f64, bool)> = subsystem.perturbers.iter().filter_map(within).collect();
            let resolving = || within.iter().filter(|(.., is_averaged)| !is_averaged);
            let felt = (!within.is_empty()).then(|| resolving().map(|(_, perturbation, _)| perturbation).sum());
            limit(body, subsystem.resolution(&self.rules, felt));
            if subsystem.is_perturbed {
                resolving().for_each(|&(k, by, _)| limit(k, subsystem.resolution(&self.rules, Some(by))));
            }
        }
        for (subsystem, perturber) in self.perturbed_by(star) {
            let r2 = square(self.bodies.of_star(subsystem.stars[0]));
            if subsystem.is_perturbed && !perturber.is_averaged && r2 < perturber.outer2 {
                let perturbation = subsystem.felt_by(p.mass[body], r2);
                limit(body, subsystem.resolution(&self.rules, Some(perturbation)));
            }
        }
        found
    }

    /// Returns what lists of perturbers at `now` follow from.
    pub fn search<'a>(&'a self, regions: &'a Regions, now: Time) -> PerturberSearch<'a> {
        let Self { bodies, clock, rules, .. } = self;
        PerturberSearch { bodies, clock, rules, regions, now }
    }

    /// Returns the bodies whose coupling with the subsystem of a row changes by another list at `now`.
    pub fn coupling_changed(&self, row: usize, list: &PerturberList, now: Time) -> Vec<usize> {
        let (subsystem, all) = (&self.subsystems[row], &self.bodies.particles);
        let position = |star: u32| at(all, self.bodies.of_star(star), &self.clock, now).0;
        let here = position(subsystem.stars[0]);
        let factor = |perturbers: &[Perturber], star: u32, r2: f64| {
            let known = perturbers.binary_search_by_key(&star, |perturber| perturber.star);
            known.map_or(0.0, |k| coupling::factor(r2, perturbers[k].outer2))
        };
        let is_changed = |perturber: &&Perturber| {
            let r2 = (position(perturber.star) - here).norm_squared();
            let [before, after] = [&subsystem.perturbers, &list.perturbers].map(|of| factor(of, perturber.star, r2));
            (before - after).abs() > criteria::RECOMPUTE_ABOVE
        };
        let both = subsystem.perturbers.iter().chain(&list.perturbers).filter(is_changed);
        both.map(|perturber| self.bodies.of_star(perturber.star)).collect()
    }

    /// Sets the list of perturbers of the subsystem of a row.
    pub fn set_perturbers(&mut self, row: usize, list: PerturberList) {
        let old = self.subsystems[row].take_list(list);
        self.follow_perturbers(row, &old);
    }

    /// Lets the lists the other way round follow the list of the subsystem of a row, which had these perturbers before.
    pub fn follow_perturbers(&mut self, row: usize, old: &[Perturber]) {
        let Self { subsystems, perturbed, .. } = self;
        let subsystem = &subsystems[row];
        let star = subsystem.stars[0];
        // Heavy bodies perturb many: only what changes is looked up in their lists.
        let mut old = old.iter().copied().peekable();
        for new in &subsystem.perturbers {
            while let Some(gone) = old.next_if(|old| old.star < new.star) {
                remove(&mut perturbed[gone.star as usize], star);
            }
            if old.next_if(|old| old.star == new.star).is_none_or(|old| old != *new) {
                put(&mut perturbed[new.star as usize], Perturber { star, ..*new });
            }
        }
        old.for_each(|gone| remove(&mut perturbed[gone.star as usize], star));
    }

    /// Chooses for each perturber of the subsystems of some ascending rows: direct or orbit-averaged coupling, until the centre of mass moves
    /// again, with `steps` those of all bodies. Returns the choices that change a coupling: [`Self::apply_couplings`] follows.
    pub fn choose_couplings(&mut self, rows: &[usize], now: Time, steps: &[Level]) -> Result<Vec<CouplingChange>> {
        let Self { subsystems, bodies, rules, clock, .. } = self;
        let choices = each_mut(subsystems, rows, WORK, |subsystem| {
            let step = steps[bodies.of_star(subsystem.stars[0])];
            subsystem.choose_coupling(bodies, clock, rules, now, step)
        });
        let mut changes = Vec::new();
        for (&row, choice) in rows.iter().zip(choices) {
            changes
                .extend(Some(choice?).filter(|it| !it.changed.is_empty()).map(|choice| CouplingChange { row, choice }));
        }
        Ok(changes)
    }

    /// Applies changes of the coupling.
    pub fn apply_couplings(&mut self, changes: &[CouplingChange], now: Time) -> Result<()> {
        let Self { subsystems, bodies, rules, clock, perturbed, .. } = self;
        for CouplingChange { row, choice } in changes {
            let subsystem = &mut subsystems[*row];
            subsystem.apply_coupling(choice, bodies, clock, rules, now)?;
            for perturber in choice.changed.iter().map(|&k| &subsystem.perturbers[k]) {
                let by = &mut perturbed[perturber.star as usize];
                if let Ok(k) = by.binary_search_by_key(&subsystem.stars[0], |it| it.star) {
                    by[k].is_averaged = perturber.is_averaged;
                }
            }
        }
        Ok(())
    }

    /// Returns the rows of the subsystems, ascending, that some new bodies perturb at `now`, each with these. The bodies' own
    /// subsystems are not asked.
    pub fn new_perturbers(&self, regions: &Regions, now: Time, new: &[usize]) -> Vec<(usize, Vec<Perturber>)> {
        let by = Gripping { min: cube_root(criteria::MIN_PERTURBER_MASS), margin: criteria::SPEED_MARGIN };
        let bodies = &self.bodies;
        let mut is_new = new.to_vec();
        is_new.sort_unstable();
        let of_new = |k: usize| {
            let perturbed = |body: usize| {
                let row = self.row(bodies.stars[body]).filter(|_| is_new.binary_search(&body).is_err())?;
                let perturber = self.subsystems[row].new_perturber(bodies, &self.clock, &self.rules, now, k);
                perturber.map(|perturber| (row, perturber))
            };
            regions.gripping(&self.clock, now, k, by).into_iter().filter_map(perturbed).collect::<Vec<_>>()
        };
        let mut found: Vec<_> = each(new, GRIPS, of_new).into_iter().flatten().collect();
        // Stable: the new bodies of each in their order.
        found.sort_by_key(|found| found.0);
        found.chunk_by(|a, b| a.0 == b.0).map(|of| (of[0].0, of.iter().map(|found| found.1).collect())).collect()
    }

    /// Adds new bodies to the perturbers of the subsystem of a row.
    pub fn add_perturbers(&mut self, row: usize, now: Time, new: Vec<Perturber>) -> Result<()> {
        let Self { subsystems, bodies, rules, clock, perturbed, .. } = self;
        let subsystem = &mut subsystems[row];
        subsystem.advance(bodies, clock, rules, now)?;
        for perturber in new {
            put(&mut subsystem.perturbers, perturber);
            put(&mut perturbed[perturber.star as usize], Perturber { star: subsystem.stars[0], ..perturber });
        }
        Ok(())
    }

    /// Advances what a change of some bodies, by their lowest stars, touches to `now`: their own subsystems with what is inside of
    /// them, and those that they perturb.
    pub fn advance_around(&mut self, changing: &[u32], now: Time) -> Result<()> {
        let own = changing.iter().filter_map(|&star| self.row(star));
        let own: Vec<usize> = own.collect();
        let perturbed = changing.iter().flat_map(|&star| &self.perturbed[star as usize]);
        let mut due: Vec<usize> = perturbed.map(|by| self.rows[by.star as usize] as usize).collect();
        due.retain(|&row| self.subsystems[row].is_perturbed);
        due.extend_from_slice(&own);
        due.sort_unstable();
        due.dedup();
        let Self { subsystems, bodies, rules, clock, perturbed, .. } = self;
        let advanced = each_mut(subsystems, &due, WORK, |subsystem| subsystem.advance(bodies, clock, rules, now));
        advanced.into_iter().collect::<Result<()>>()?;
        for row in own {
            let subsystem = &mut subsystems[row];
            subsystem.resolve(bodies, clock, now)?;
            // The lists the other way round: a subsystem that does not end is resolved too, beside others that do.
            for perturber in &subsystem.perturbers {
                let by = &mut perturbed[perturber.star as usize];
                if let Ok(k) = by.binary_search_by_key(&subsystem.stars[0], |it| it.star) {
                    by[k].is_averaged = perturber.is_averaged;
                }
            }
        }
        Ok(())
    }

    /// Advances the internal motion of all subsystems to `now`.
    pub fn advance(&mut self, now: Time) -> Result<()> {
        let Self { subsystems, bodies, rules, clock, .. } = self;
        subsystems.par_iter_mut().try_for_each(|subsystem| subsystem.advance(bodies, clock, rules, now))
    }
}

/// Removes the entry of a star from an ascending list.
fn remove(list: &mut Vec<Perturber>, star: u32) {
    if let Ok(k) = list.binary_search_by_key(&star, |it| it.star) {
        list.remove(k);
    }
}

/// Puts an entry into an ascending list, in place of the one of its star.
fn put(list: &mut Vec<Perturber>, entry: Perturber) {
    match list.binary_search_by_key(&entry.star, |it| it.star) {
        Ok(k) => list[k] = entry,
        Err(k) => list.insert(k, entry),
    }
}
