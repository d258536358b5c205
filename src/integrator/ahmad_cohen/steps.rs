//! Steps, forces and begins of some particles alone, for a system that changes between block steps.
//!
//! A regular force is a polynomial that holds at any moment, so only the irregular one is evaluated where particles take a step
//! of any length or feel a jump. Particles that begin get both, as at the start.
//!
//! Lists of others have the rows of particles that end. The others know nothing of it until their next regular step, so their
//! lists go on with those who take their places: whoever had all that ended has all that begin. Where a list had only some, the
//! mass of the others was in the regular force: the list has all that begin, and that mass moves from one part to the
//! other, as a pair does that enters a list. It moves from the centre of mass of those that begin: where it was is not known any
//! more, so that until the next regular step the regular force keeps an error of about 2 d / r of the pair, d being that distance.

use super::AhmadCohen;
use super::lists::Holders;
use super::particle::Corrector;
use super::slices;
use crate::integrator::block_loop::BlockLoop as _;
use crate::integrator::pair_series::{Relative, Source, add_sources, pair_series};
use crate::integrator::steps::{RowChange, Steps, Succession};
use crate::integrator::timestep::{deeper, shortened};
use rayon::prelude::*;
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::spin_pool::min_share;
use tisane_force::states::history::History;
use tisane_force::states::neighbours::Neighbours;
use tisane_force::time::{Level, Time};

impl Steps for AhmadCohen {
    fn block(&self) -> &[u32] {
        &self.block
    }

    fn works_by_lists(&self) -> bool {
        true
    }

    fn floor(&self) -> Level {
        self.parameters.limits.floor
    }

    fn natural_step(&self) -> f64 {
        self.parameters.eta
    }

    /// No irregular step is longer than the regular one: the caller shortens it too.
    fn shorten_regular(&self, p: &mut Particles, particle: usize, other: usize, longest: f64, now: Time) {
        let of = p.states.get_mut::<Neighbours>();
        if of.lists[particle].binary_search(&(other as u32)).is_err() {
            let (since, step) = (of.regular_time[particle], &mut of.regular_step[particle]);
            let found = shortened((since, *step), longest / self.clock.dt_max, self.parameters.limits.floor, now);
            found.into_iter().for_each(|level| *step = level);
        }
    }

    /// No regular step ends here: those of the block have taken theirs.
    fn synchronise(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, late: Vec<u32>, now: Time) -> Result<()> {
        self.move_late(p, f, late, now)
    }

    fn evaluate_again(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, index: Vec<u32>, now: Time) -> Result<()> {
        self.block = index;
        self.predict_targets(p, now, |_| false);
        self.evaluate(p, f, now)?;
        self.check_finite(p, now)?;
        let (corrector, floor) = (self.corrector(now), self.parameters.limits.floor);
        let mut slices = slices::all(p).of_equal_length();
        for k in 0..self.block.len() {
            let i = self.block[k] as usize;
            if let [Some(irregular), ..] = self.parts(k)
                && corrector.renew_irregular(&mut slices, i, &irregular)
            {
                // Without an earlier point a step is of 4th order: half as long it keeps the error of the 6th.
                slices.columns.step[i] = deeper(slices.columns.step[i], floor);
            }
        }
        self.scheduler.reschedule(&p.step, &self.block);
        f.update(p, &self.block)
    }

    fn admit(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, change: &RowChange, now: Time) -> Result<()> {
        let (n, rows) = (p.len(), change.rows());
        let mut holders = self.clear_rows(p, change, now);
        self.guard.note(p, &rows);
        self.masses.change(&p.mass, &rows);
        self.noise = self.masses.noise(self.parameters.limits.noise);
        f.replace(p, &rows)?;
        self.scheduler.change_rows(&p.step, &change.begun, &change.emptied);
        self.block.clone_from(&change.begun);
        self.set_number(n - self.scheduler.empty());
        if !self.block.is_empty() {
            self.predict_targets(p, now, |_| true);
            self.evaluate(p, f, now)?;
            self.check_finite(p, now)?;
            self.begin_particles(p, now)?;
            f.update(p, &self.block)?;
        }
        self.scheduler.reschedule(&p.step, &change.begun);
        let lists = &p.states.get::<Neighbours>().lists;
        change.begun.iter().for_each(|&i| holders.enter(i, &lists[i as usize]));
        for Followed { owner, entered, entering } in follow(p, &mut holders, change) {
            holders.enter(owner, &entered);
            for (mass, of) in entering {
                self.enter(p, owner as usize, mass, &change.successions[of].begun, now);
            }
        }
        self.holders = Some(holders);
        Ok(())
    }

    fn set_empty(&mut self, empty: &[u32]) {
        self.scheduler.set_empty(empty);
        self.set_number(self.masses.len().saturating_sub(empty.len()));
    }

    fn add_sources(&self, p: &mut Particles, sources: &[Source], eps2: f64, gone: &[u32], now: Time) {
        let corrector = self.corrector(now);
        let stays = |i: usize| gone.binary_search(&(i as u32)).is_err();
        add_sources(p, sources, eps2, stays, |p, i, source, force, pair| {
            let is_irregular = p.states.get::<Neighbours>().lists[i].binary_search(&source).is_ok();
            corrector.add_pair(&mut slices::all(p).of_equal_length(), i, is_irregular, (force, pair));
        });
    }

    fn reschedule(&mut self, p: &Particles, changed: &[u32]) {
        self.scheduler.reschedule(&p.step, changed);
    }
}

/// Nanoseconds in which a list follows successions: most of them for the memory.
const FOLLOWED: usize = 500;

/// Change of a list by successions: rows that entered it, ascending, and the masses that enter by it, with the places of their
/// successions.
#[derive(Debug, Default)]
struct Followed {
    owner: u32,
    entered: Vec<u32>,
    entering: Vec<(f64, usize)>,
}

impl Followed {
    /// Lets those that begin take the places of those that end in a list. Returns what has changed.
    fn by(owner: u32, list: &mut Vec<u32>, outdated: &[u32], successions: &[Succession]) -> Self {
        let has = |list: &[u32], row: u32| list.binary_search(&row).is_ok();
        let mut left: Vec<u32> = outdated.iter().copied().filter(|&row| has(list, row)).collect();
        let (mut entered, mut entering) = (Vec::new(), Vec::new());
        let of_list = |of: &Succession| of.ended.iter().any(|&(row, _)| has(&left, row));
        for (place, of) in successions.iter().enumerate().filter(|(_, of)| of_list(of)) {
            entered.extend(of.begun.iter().map(|&(row, _)| row));
            let missing: f64 = of.ended.iter().filter(|&&(row, _)| !has(&left, row)).map(|(_, mass)| mass).sum();
            if missing > 0.0 && !of.begun.is_empty() {
                entering.push((missing, place));
            }
        }
        entered.sort_unstable();
        entered.dedup();
        // Rows that stay, with other particles in them.
        let stay: Vec<u32> = entered.iter().copied().filter(|&row| has(&left, row)).collect();
        left.retain(|&row| !has(&stay, row));
        entered.retain(|&row| !has(&stay, row));
        for row in &left {
            list.remove(list.partition_point(|other| other < row));
        }
        for &row in &entered {
            list.insert(list.partition_point(|&other| other < row), row);
        }
        Self { owner, entered, entering }
    }
}

/// Lets all lists follow the successions of a change, on threads. Returns what has changed in each.
fn follow(p: &mut Particles, holders: &mut Holders, change: &RowChange) -> Vec<Followed> {
    let outdated = outdated(change);
    let lists = &mut p.states.get_mut::<Neighbours>().lists;
    let owners = owners(holders, &outdated, &change.begun);
    let mut taken: Vec<(u32, Vec<u32>)> =
        owners.into_iter().map(|owner| (owner, std::mem::take(&mut lists[owner as usize]))).collect();
    let by = |(owner, list): &mut (u32, Vec<u32>)| Followed::by(*owner, list, &outdated, &change.successions);
    let followed = taken.par_iter_mut().with_min_len(min_share(FOLLOWED)).map(by).collect();
    taken.into_iter().for_each(|(owner, list)| lists[owner as usize] = list);
    followed
}

/// Returns the radius for the list of a row that begins: that of the first row which it succeeds, or its own; 0 if it is new.
fn first_radius(radius: &[f64], successions: &[Succession], row: u32) -> f64 {
    let begins = |of: &&Succession| of.begun.iter().any(|&(begun, _)| begun == row);
    let ended = successions.iter().find(begins).and_then(|of| of.ended.first());
    radius.get(ended.map_or(row, |&(ended, _)| ended) as usize).copied().unwrap_or_default()
}

/// Returns the rows whose entries in lists have lost their meaning, ascending: those of successions, and those that are left
/// without a particle.
fn outdated(change: &RowChange) -> Vec<u32> {
    let of_successions = change.successions.iter().flat_map(|of| of.ended.iter().chain(&of.begun).map(|(row, _)| row));
    let mut rows: Vec<u32> = of_successions.chain(&change.emptied).copied().collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// Returns the owners of lists with such rows, ascending, without those that begin themselves: their lists are new.
fn owners(holders: &mut Holders, outdated: &[u32], begun: &[u32]) -> Vec<u32> {
    let mut owners = holders.owners(outdated);
    owners.retain(|owner| begun.binary_search(owner).is_err());
    owners.sort_unstable();
    owners.dedup();
    owners
}

impl AhmadCohen {
    /// Clears the states of rows that change, but for the radii of those that begin. Returns who has whom without their lists.
    fn clear_rows(&mut self, p: &mut Particles, change: &RowChange, now: Time) -> Holders {
        let (n, rows) = (p.len(), change.rows());
        let (history, of) = p.states.two_mut::<History, Neighbours>();
        let mut holders = self.holders.take().unwrap_or_default();
        if holders.is_outgrown() {
            holders.collect(&of.lists);
        }
        holders.grow(n);
        let radii: Vec<f64> = change.begun.iter().map(|&i| first_radius(&of.radius, &change.successions, i)).collect();
        history.begin(n, &rows, now);
        of.begin(n, &rows, now);
        change.begun.iter().zip(radii).for_each(|(&i, radius)| of.radius[i as usize] = radius);
        holders
    }

    fn corrector(&self, now: Time) -> Corrector {
        Corrector { order: self.parameters.order, clock: self.clock, now }
    }

    /// Moves a mass at the centre of mass of particles that have begun to the irregular part of the force on particle `i`.
    fn enter(&self, p: &mut Particles, i: usize, mass: f64, begun: &[(u32, f64)], now: Time) {
        let at = self.relative(p, i, begun, now);
        let pot = -mass / (at.pos.norm_squared() + self.forces.eps2).sqrt();
        let pair = pair_series(mass, &at, self.forces.eps2);
        self.corrector(now).enter(&mut slices::all(p).of_equal_length(), i, &pair, pot);
    }

    /// Returns the state of the centre of mass of particles that have begun at `now`, relative to particle `i`.
    fn relative(&self, p: &Particles, i: usize, begun: &[(u32, f64)], now: Time) -> Relative {
        let total: f64 = begun.iter().map(|(_, mass)| mass).sum();
        let mean =
            |column: &[Vec3]| begun.iter().map(|&(row, mass)| column[row as usize] * (mass / total)).sum::<Vec3>();
        let (pos, vel) = self.predicted(p, i, now, true);
        Relative {
            pos: mean(&p.pos) - pos,
            vel: mean(&p.vel) - vel,
            acc: mean(&p.acc) - (p.acc[i] + p.jerk[i] * self.clock.between(p.time[i], now)),
            jerk: mean(&p.jerk) - p.jerk[i],
        }
    }
}
