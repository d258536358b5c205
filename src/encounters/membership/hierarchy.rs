//! All subsystems, with the bodies of the integration and the lists of those that perturb them.

use crate::encounters::forces::bodies::Bodies;
use crate::encounters::forces::coupling::{self, PointMasses};
use crate::encounters::forces::surroundings::Positions;
use crate::encounters::motion::averaged::CouplingChoice;
use crate::encounters::motion::subsystem::{Perturber, PerturberList, PerturberSearch, Subsystem};
use crate::encounters::settings::criteria::{self, Rules};
use rayon::prelude::*;
use tisane_force::error::Result;
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Level, Time};

/// Mark of a body that is no target, and of a star that is the lowest of no subsystem.
pub const NONE: u32 = u32::MAX;

/// Number of subsystems up to which one thread advances them: waking others costs as much as some of them.
pub const SHARE: usize = 16;

/// All subsystems, and the bodies as the engine knows them.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// The subsystems, in the order of their lowest stars.
    pub subsystems: Vec<Subsystem>,
    /// Stars that are alone, and centres of mass.
    pub bodies: Bodies,
    /// Criteria.
    pub rules: Rules,
    /// Time axis.
    pub clock: Clock,
    /// Row of the subsystem of each star that is the lowest of one.
    pub rows: Vec<u32>,
    /// States that bodies had before they moved, since contacts were looked for; none without collisions.
    pub passed: Vec<Passage>,
    /// Subsystems that the body of each lowest star perturbs, in order: the lists of perturbers the other way round, with the lowest
    /// star of the subsystem.
    pub perturbed: Vec<Vec<Perturber>>,
    /// Columns that are kept for their memory.
    pub room: Room,
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
    /// Flag of each subsystem that its motion has to be known now.
    pub is_due: Vec<bool>,
    /// The rows of those.
    pub due: Vec<u32>,
    /// Their members, as others see them.
    pub points: Vec<PointMasses>,
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
            passed: Vec::new(),
            perturbed: Vec::new(),
            room: Room::default(),
        }
    }

    /// Takes note of the subsystems after bodies have changed.
    pub fn index(&mut self, stars: usize) {
        self.rows.clear();
        self.rows.resize(stars, NONE);
        self.subsystems.iter().zip(0..).for_each(|(subsystem, row)| self.rows[subsystem.stars[0] as usize] = row);
        self.perturbed.iter_mut().for_each(Vec::clear);
        self.perturbed.resize(stars, Vec::new());
        for subsystem in &self.subsystems {
            for perturber in &subsystem.perturbers {
                self.perturbed[perturber.star as usize].push(Perturber { star: subsystem.stars[0], ..*perturber });
            }
        }
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

    /// Returns the subsystems that the body of a lowest star perturbs, and how the two feel each other.
    pub fn perturbed_by(&self, star: u32) -> impl Iterator<Item = (&Subsystem, &Perturber)> {
        let by_row = |row: u32| &self.subsystems[row as usize];
        self.perturbed[star as usize].iter().map(move |it| (by_row(self.rows[it.star as usize]), it))
    }

    /// Returns a new list of perturbers of the subsystem of a row, whose centre of mass moves with steps of level `step`.
    pub fn perturber_list(&self, row: usize, positions: &Positions, now: Time, step: Level) -> PerturberList {
        let Self { bodies, clock, rules, .. } = self;
        self.subsystems[row].perturber_list(&PerturberSearch { bodies, clock, rules, positions, now }, step)
    }

    /// Returns the bodies whose coupling with the subsystem of a row changes by another list.
    pub fn coupling_changed(&self, row: usize, list: &PerturberList, positions: &Positions) -> Vec<usize> {
        let subsystem = &self.subsystems[row];
        let here = positions.of(self.bodies.of_star(subsystem.stars[0]));
        let factor = |perturbers: &[Perturber], star: u32, r2: f64| {
            let known = perturbers.binary_search_by_key(&star, |perturber| perturber.star);
            known.map_or(0.0, |k| coupling::factor(r2, perturbers[k].outer2))
        };
        let is_changed = |perturber: &&Perturber| {
            let r2 = (positions.of(self.bodies.of_star(perturber.star)) - here).norm_squared();
            let [before, after] = [&subsystem.perturbers, &list.perturbers].map(|of| factor(of, perturber.star, r2));
            (before - after).abs() > criteria::RECOMPUTE_ABOVE
        };
        let both = subsystem.perturbers.iter().chain(&list.perturbers).filter(is_changed);
        both.map(|perturber| self.bodies.of_star(perturber.star)).collect()
    }

    /// Sets the list of perturbers of the subsystem of a row.
    pub fn set_perturbers(&mut self, row: usize, list: PerturberList) {
        let Self { subsystems, perturbed, .. } = self;
        let subsystem = &mut subsystems[row];
        let star = subsystem.stars[0];
        for perturber in &subsystem.perturbers {
            let by = &mut perturbed[perturber.star as usize];
            if let Ok(k) = by.binary_search_by_key(&star, |it| it.star) {
                by.remove(k);
            }
        }
        PerturberList { perturbers: subsystem.perturbers, until: subsystem.perturbers_until, far: subsystem.far } =
            list;
        for perturber in &subsystem.perturbers {
            let by = &mut perturbed[perturber.star as usize];
            by.insert(by.partition_point(|it| it.star < star), Perturber { star, ..*perturber });
        }
    }

    /// Chooses for each perturber of the subsystem of a row: direct or orbit-averaged coupling, until the centre of mass, now of
    /// level `step`, moves again. Where that changes, [`Self::apply_coupling`] follows.
    pub fn choose_coupling(&mut self, row: usize, now: Time, step: Level) -> Result<Option<CouplingChoice>> {
        let Self { subsystems, bodies, rules, clock, .. } = self;
        let choice = subsystems[row].choose_coupling(bodies, clock, rules, now, step)?;
        Ok(Some(choice).filter(|choice| !choice.changed.is_empty()))
    }

    /// Applies a choice of the coupling of the subsystem of a row, if it changes for someone.
    pub fn apply_coupling(&mut self, row: usize, choice: Option<CouplingChoice>, now: Time) -> Result<()> {
        let Some(choice) = choice else { return Ok(()) };
        let Self { subsystems, bodies, clock, perturbed, .. } = self;
        let subsystem = &mut subsystems[row];
        subsystem.apply_coupling(&choice, bodies, clock, now)?;
        for perturber in choice.changed.iter().map(|&k| &subsystem.perturbers[k]) {
            let by = &mut perturbed[perturber.star as usize];
            if let Ok(k) = by.binary_search_by_key(&subsystem.stars[0], |it| it.star) {
                by[k].is_averaged = perturber.is_averaged;
            }
        }
        Ok(())
    }

    /// Adds a new body to the perturbers of the subsystem of a row, if it is one. Returns true if so.
    pub fn add_perturber(&mut self, row: usize, now: Time, body: usize) -> Result<bool> {
        let Self { subsystems, bodies, rules, clock, .. } = self;
        let (subsystem, star) = (&mut subsystems[row], bodies.stars[body]);
        let Err(place) = subsystem.perturbers.binary_search_by_key(&star, |it| it.star) else { return Ok(false) };
        let Some(perturber) = subsystem.new_perturber(bodies, clock, rules, now, body) else { return Ok(false) };
        subsystem.advance(bodies, clock, now)?;
        let mut perturbers = subsystem.perturbers.clone();
        perturbers.insert(place, perturber);
        let list = PerturberList { perturbers, until: subsystem.perturbers_until, far: subsystem.far };
        self.set_perturbers(row, list);
        Ok(true)
    }

    /// Advances the internal motion of those subsystems to `now` for which `is_due` holds.
    pub fn advance(&mut self, now: Time, is_due: impl Fn(usize, &Subsystem) -> bool + Sync) -> Result<()> {
        let Self { subsystems, bodies, clock, .. } = self;
        let due = |(row, subsystem): &(usize, &mut Subsystem)| subsystem.time < now && is_due(*row, subsystem);
        let advance = |(_, subsystem): (usize, &mut Subsystem)| subsystem.advance(bodies, clock, now);
        subsystems.par_iter_mut().enumerate().filter(due).try_for_each(advance)
    }
}
