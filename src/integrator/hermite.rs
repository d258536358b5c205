//! Hermite integrators with individual block time steps: predict, evaluate, correct (Makino & Aarseth 1992, PASJ 44,
//! 141). A [`HermiteScheme`] says how particles are predicted and corrected and how long their next steps are;
//! [`BlockHermite`] does everything else: blocks, tiles, threads, the floor of the steps, guards.

mod cancelled;
pub(super) mod compensated;
pub(super) mod guards;
pub mod limits;
mod scheme;
mod start;
mod steps;
mod synchronised;

pub(super) use guards::{MIN_SHARE, StepGuards};
pub use limits::OnFloor;
pub use scheme::{FirstStep, HermiteScheme, LANES, Limits, StepEnd};

use super::block_loop::{BlockLoop, Schedule, Turns};
use super::contract::{Integrator, Progress, out_of_range};
use super::evolving;
use super::masses::Masses;
use super::particle_slices::ParticleSlices;
use super::scheduler::Scheduler;
use super::timestep::next_level;
use crate::star_changes::{Lost, StarChanges};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use tisane_force::error::{Error, Result};
use tisane_force::force::block_steps::{Pause, StepRules, StepScheme, Taken};
use tisane_force::force::noise::Noise;
use tisane_force::force::range::RangeGuard;
use tisane_force::force::{Block, ForceEngine, Forces, Targets};
use tisane_force::gravity::Force;
use tisane_force::law::Law;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::spin_pool;
use tisane_force::states::history::History;
use tisane_force::states::low_parts::LowParts;
use tisane_force::time::{Clock, Level, Time};

/// Largest number of targets that are evaluated at a time, which bounds the memory for them.
const TILE: usize = 1 << 14;
/// Time in which a particle is predicted or corrected, in nanoseconds.
const WORK: usize = 40;

/// Law of the forces, and its softening squared.
#[derive(Clone, Debug)]
pub(super) struct PairLaw {
    pub law: Arc<Law>,
    pub eps2: f64,
}

/// Hermite integrator with individual block time steps.
#[derive(Debug)]
pub struct BlockHermite<S> {
    scheme: S,
    limits: Limits,
    clock: Clock,
    scheduler: Scheduler,
    block: Vec<u32>,
    targets: Block,
    predicted: (Vec<Vec3>, Vec<Vec3>),
    forces: Forces,
    guard: RangeGuard,
    masses: Masses,
    noise: Noise,
    /// Law in place of Newton's, and least steps of the targets on which its forces cancel.
    law: Option<PairLaw>,
    min_steps: Vec<f64>,
    pause: Option<Pause>,
    turns: Turns,
}

/// Result of moving a part of a block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moved {
    /// Number of particles clamped to the floor.
    pub(super) clamped: u64,
    /// First target that cannot continue, and the step that it needs.
    pub(super) refused: Option<(usize, f64)>,
}

impl Moved {
    /// Combines two results; `self` comes first in the block.
    pub(super) fn and(self, later: Self) -> Self {
        Self { clamped: self.clamped + later.clamped, refused: self.refused.or(later.refused) }
    }

    /// Returns the allowed level of target `k`, if any, and records clamping or refusal.
    #[inline(always)]
    pub(super) fn level(&mut self, k: usize, wanted: f64, allowed: Option<(Level, bool)>) -> Option<Level> {
        match allowed {
            Some((level, held)) => {
                self.clamped += u64::from(held);
                Some(level)
            }
            None => {
                self.refused = self.refused.or(Some((k, wanted)));
                None
            }
        }
    }
}

/// Returns the tiles of `n` particles.
pub(super) fn tiles(n: usize) -> impl Iterator<Item = Range<usize>> {
    (0..n).step_by(TILE).map(move |begin| begin..n.min(begin + TILE))
}

/// Number of pieces of uneven work for each thread. No result depends on it.
const PIECES: usize = 4;

/// Returns the number of particles for each thread, of `n`.
pub(super) fn share(n: usize) -> usize {
    spin_pool::share(n, WORK)
}

/// Returns the number of particles in a piece of work on `n` that takes longer for some than for others: there are some for each thread,
/// unless they are too few.
pub(super) fn piece(n: usize) -> usize {
    match share(n) {
        all if all >= n => n.max(1),
        share => share.div_ceil(PIECES).max(spin_pool::min_share(WORK)),
    }
}

impl<S: HermiteScheme> BlockHermite<S> {
    /// Creates an integrator for a run on the time axis `clock`, in internal units.
    #[must_use]
    pub fn from_scheme(scheme: S, limits: Limits, clock: Clock) -> Self {
        Self {
            scheme,
            limits,
            clock,
            scheduler: Scheduler::new(Time::default(), &[]),
            block: Vec::new(),
            targets: Block::default(),
            predicted: Default::default(),
            forces: Forces::default(),
            guard: RangeGuard::new(limits.range, clock.dt_max),
            masses: Masses::default(),
            noise: Noise::new(limits.noise, &[], 0.0),
            law: None,
            min_steps: Vec::new(),
            pause: None,
            turns: Turns::default(),
        }
    }

    /// Loads all particles into the guard and the engine.
    fn load(&mut self, p: &Particles, f: &mut dyn ForceEngine) -> Result<()> {
        self.note(p);
        self.law = f.law().map(|(law, eps2)| PairLaw { law, eps2 });
        f.load(p)
    }

    /// Notes what guard and step criterion need to know of all particles.
    fn note(&mut self, p: &Particles) {
        self.guard.load(p);
        self.masses = Masses::new(&p.mass);
        self.noise = self.masses.noise(self.limits.noise);
    }

    /// Notes the same of rows that have changed.
    fn note_changed(&mut self, p: &Particles, changed: &[u32]) {
        self.guard.note(p, changed);
        self.masses.change(&p.mass, changed);
        self.noise = self.masses.noise(self.limits.noise);
    }

    /// Returns the largest number of targets that may be evaluated at a time.
    ///
    /// Iterated targets act on each other as corrected, and where the engine predicts by fewer derivatives than the scheme,
    /// as the scheme has them: there the block must stay in one piece.
    fn tile(&self, f: &dyn ForceEngine) -> usize {
        let [_, derivatives] = self.scheme.history();
        if self.scheme.iterations() == 1 && f.derivatives() == derivatives { TILE } else { usize::MAX }
    }

    /// Predicts the particles `tile` of the block into the targets, each by the time `dt` of its index.
    fn predict_targets(&mut self, p: &Particles, tile: Range<usize>, dt: impl Fn(usize) -> f64 + Sync) {
        let Self { targets, block, scheme, .. } = self;
        targets.index.clear();
        targets.index.extend_from_slice(&block[tile]);
        let n = targets.index.len();
        targets.pos.resize(n, Vec3::zeros());
        targets.vel.resize(n, Vec3::zeros());
        let part = |((index, pos), vel): ((&[u32], &mut [Vec3]), &mut [Vec3])| {
            for ((&i, pos), vel) in index.iter().zip(pos).zip(vel) {
                let i = i as usize;
                (*pos, *vel) = scheme.predict(p, i, dt(i));
            }
        };
        match share(n) {
            share if share == n => part(((&targets.index, &mut targets.pos), &mut targets.vel)),
            share => {
                let parts = targets.index.par_chunks(share).zip(targets.pos.par_chunks_mut(share));
                parts.zip(targets.vel.par_chunks_mut(share)).for_each(part);
            }
        }
    }

    /// Evaluates the forces on the targets, and checks that their numbers are within the range of the engine's
    /// arithmetic.
    fn evaluate(&mut self, p: &Particles, f: &mut dyn ForceEngine, now: Time) -> Result<()> {
        f.evaluate(now, self.targets.view(), &mut self.forces)?;
        let checked = self.guard.check(p, self.targets.view(), &self.forces);
        checked.map_err(|what| out_of_range(p, what, &self.limits.range, self.clock.time(now)))
    }

    /// Corrects the targets in place for the next evaluation: every correction starts from the prediction.
    fn correct_targets(&mut self, p: &Particles, now: Time) {
        let Self { targets, clock, predicted, forces, scheme, limits, .. } = self;
        let (index, low) = (&targets.index, p.states.get::<LowParts>());
        // Those that are not known yet are zero.
        let low = |i: usize| [&low.pos, &low.vel].map(|column| column.get(i).copied().unwrap_or_default());
        let compensated = limits.compensated;
        let least = share(index.len());
        targets.pos.par_iter_mut().zip(&mut targets.vel).enumerate().with_min_len(least).for_each(|(k, (pos, vel))| {
            let i = index[k] as usize;
            let end = StepEnd {
                now,
                dt: clock.between(p.time[i], now),
                noise: 0.0,
                pos: predicted.0[k],
                vel: predicted.1[k],
                acc: forces.acc[k],
                acc_for_step: forces.acc[k],
                jerk: forces.jerk[k],
            };
            (*pos, *vel) = scheme.iterate(p, i, compensated.then(|| low(i)), &end);
        });
    }

    /// Moves the targets' particles to `now`: corrects them, and gives each its new step. Returns the number of clamped
    /// particles.
    fn move_particles(&self, p: &mut Particles, now: Time) -> Result<u64> {
        let n = self.targets.len();
        let all = ParticleSlices::all(p);
        let moved = match share(n) {
            share if share == n => self.move_part(all, 0..n, now),
            share => {
                let slices = all.for_chunks(&self.targets.index, share).into_par_iter().enumerate();
                let part = |(k, slice)| self.move_part(slice, k * share..n.min((k + 1) * share), now);
                slices.map(part).reduce(Moved::default, Moved::and)
            }
        };
        self.check(p, now, moved)
    }

    /// Moves the targets `part`, whose particles lie in the slice `p`.
    fn move_part(&self, p: ParticleSlices<'_>, part: Range<usize>, now: Time) -> Moved {
        let Self { scheme, clock, forces, targets, noise, .. } = self;
        let predicted = match scheme.iterations() {
            1 => (&targets.pos, &targets.vel),
            _ => (&self.predicted.0, &self.predicted.1),
        };
        let n = part.len();
        let (index, pos, vel) = (&targets.index[part.clone()], &predicted.0[part.clone()], &predicted.1[part.clone()]);
        let (acc, jerk) = (&forces.acc[part.clone()][..n], &forces.jerk[part.clone()][..n]);
        let (pot, mut p) = (&forces.pot[part.clone()][..n], p.of_equal_length());
        let (mut moved, guards) = (Moved::default(), self.guards());
        for begin in (0..n).step_by(LANES) {
            let end = n.min(begin + LANES);
            let (mut lanes, mut squares, mut min) = (S::Lanes::default(), [0.0; LANES], [0.0; LANES]);
            for k in begin..end {
                let i = index[k] as usize - p.first;
                let (dt, norm2) = (clock.between(p.columns.time[i], now), acc[k].dot(&acc[k]));
                squares[k - begin] = norm2 + jerk[k].dot(&jerk[k]);
                min[k - begin] = self.min_step((part.start + k, index[k]), norm2, pot[k]);
                let noise = noise.of(index[k], norm2, pot[k]);
                let acc_for_step = forces.acc_for_step(part.start + k);
                let end =
                    StepEnd { now, dt, noise, pos: pos[k], vel: vel[k], acc: acc[k], acc_for_step, jerk: jerk[k] };
                scheme.correct(&mut p, i, &end, &mut lanes, k - begin);
                p.columns.pot[i] = pot[k];
            }
            let mut wanted = [0.0; LANES];
            scheme.wanted(&lanes, &mut wanted[..end - begin]);
            for k in begin..end {
                let lane = k - begin;
                // As a comparison, so that a NaN stays one.
                if wanted[lane] < min[lane] {
                    wanted[lane] = min[lane];
                }
                let target = part.start + k;
                let allowed = guards
                    .allowed(wanted[lane])
                    .filter(|_| (squares[lane] + pot[k]).is_finite() || self.is_finite(target));
                if let Some(level) = moved.level(target, wanted[lane], allowed) {
                    let step = &mut p.columns.step[index[k] as usize - p.first];
                    *step = next_level(*step, level, now);
                }
            }
        }
        moved
    }

    /// Returns true if all numbers of the force on target `k` are finite.
    fn is_finite(&self, k: usize) -> bool {
        let Forces { acc, jerk, pot, .. } = &self.forces;
        acc[k].iter().chain(&jerk[k]).chain([&pot[k]]).all(|x| x.is_finite())
    }

    /// Checks that the forces on all targets are finite numbers.
    fn check_finite(&self, p: &Particles, now: Time) -> Result<()> {
        match (0..self.targets.len()).find(|&k| !self.is_finite(k)) {
            Some(k) => Err(self.not_finite(p, k, now)),
            None => Ok(()),
        }
    }

    /// Predicts the particles `tile` of the block to `now`, and evaluates the forces on them for the last correction.
    fn predict_and_evaluate(
        &mut self,
        p: &Particles,
        tile: Range<usize>,
        now: Time,
        f: &mut dyn ForceEngine,
    ) -> Result<()> {
        let clock = self.clock;
        self.predict_targets(p, tile, |i| clock.between(p.time[i], now));
        if self.scheme.iterations() > 1 {
            self.predicted.0.clone_from(&self.targets.pos);
            self.predicted.1.clone_from(&self.targets.vel);
        }
        self.evaluate(p, f, now)?;
        for _ in 1..self.scheme.iterations() {
            self.correct_targets(p, now);
            self.evaluate(p, f, now)?;
        }
        Ok(())
    }

    /// Lets particles have low parts, or none, as the corrector keeps them.
    fn prepare_low_parts(&self, p: &mut Particles) {
        let n = p.len();
        LowParts::keep(&mut p.states, n, self.limits.compensated);
    }

    /// Moves the particles of the block to `now`; returns the number of clamped particles.
    fn step(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, now: Time) -> Result<u64> {
        let (n, tile, mut clamped) = (self.block.len(), self.tile(f), 0);
        for begin in (0..n).step_by(tile) {
            self.predict_and_evaluate(p, begin..n.min(begin.saturating_add(tile)), now, f)?;
            self.find_cancelled(p, now)?;
            clamped += self.move_particles(p, now)?;
        }
        self.scheduler.reschedule(&p.step, &self.block);
        f.update(p, &self.block)?;
        Ok(clamped)
    }

    /// Checks that the particles have the history that the scheme needs.
    fn check_history(&self, p: &Particles) -> Result<()> {
        let [points, derivatives] = self.scheme.history();
        let history = p.states.get::<History>();
        if history.has(p.len(), points, derivatives) {
            return Ok(());
        }
        let (section, found) = (self.scheme.info().section, history.points.len());
        let problem = format!("{section} needs particles with a history of {points} points, found {found}");
        Err(Error::Integration { problem, help: Some("start the integrator, or resume the state that it left".into()) })
    }

    /// Returns the number of particles clamped to the floor, or the error that ends the run.
    fn check(&self, p: &Particles, now: Time, moved: Moved) -> Result<u64> {
        let Some((k, wanted)) = moved.refused else { return Ok(moved.clamped) };
        let i = self.targets.index[k] as usize;
        if wanted.is_nan() || !self.is_finite(k) {
            return Err(self.not_finite(p, k, now));
        }
        Err(self.guards().below_floor(p, (i, 1), now, wanted))
    }

    /// Returns the error that names the particle of target `k`, whose force is not finite.
    fn not_finite(&self, p: &Particles, k: usize, now: Time) -> Error {
        let Forces { acc, jerk, pot, .. } = &self.forces;
        self.guards().not_finite(
            p,
            self.targets.index[k] as usize,
            now,
            &Force { acc: acc[k], jerk: jerk[k], pot: pot[k] },
        )
    }

    /// Returns the number of pairs of some particle steps.
    fn pairs(&self, p: &Particles, particle_steps: u64) -> u64 {
        particle_steps * (p.len() as u64).saturating_sub(1) * u64::from(self.scheme.iterations())
    }
}

impl<S: HermiteScheme> BlockLoop for BlockHermite<S> {
    fn schedule(&mut self) -> Schedule<'_> {
        let Self { scheduler, block, turns, pause, .. } = self;
        Schedule { scheduler, block, turns, pause: pause.as_ref() }
    }

    fn guards(&self) -> StepGuards {
        StepGuards { limits: self.limits, clock: self.clock, info: self.scheme.info() }
    }

    fn present_rules(&self) -> Option<StepRules> {
        Some(self.guards().rules(self.scheme.step_scheme()?, self.noise, &self.guard))
    }

    fn move_block(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, now: Time) -> Result<u64> {
        self.step(p, f, now)
    }

    fn pairs_of_block(&self, p: &Particles) -> u64 {
        self.pairs(p, self.block.len() as u64)
    }

    fn pairs_taken(&self, p: &Particles, taken: &Taken) -> u64 {
        self.pairs(p, taken.particle_steps)
    }
}

impl<S: HermiteScheme> Integrator for BlockHermite<S> {
    type Evaluation = Forces;

    fn start(&mut self, p: &mut Particles, f: &mut dyn ForceEngine) -> Result<Progress> {
        self.begin(p, f)
    }

    fn resume(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine) -> Result<()> {
        self.check_history(p)?;
        self.load(p, f)?;
        self.scheduler = Scheduler::new(now, &p.step);
        Ok(())
    }

    fn synchronised(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine) -> Result<Particles> {
        self.at(p, now, f)
    }

    fn set_start(&mut self, start: f64) {
        self.clock.start = start;
    }

    fn step_scheme(&self) -> Option<StepScheme> {
        self.scheme.step_scheme()
    }

    fn step_rules(&mut self, p: &Particles) -> Option<StepRules> {
        self.note(p);
        self.present_rules()
    }

    fn set_pause(&mut self, pause: Pause) {
        self.pause = Some(pause);
    }

    fn advance(&mut self, p: &mut Particles, f: &mut dyn ForceEngine, until: Time, max: u64) -> Result<Progress> {
        self.prepare_low_parts(p);
        self.take_steps(p, f, until, max)
    }

    fn change_stars(
        &mut self,
        p: &mut Particles,
        f: &mut dyn ForceEngine,
        changes: &StarChanges<'_>,
        now: Time,
    ) -> Result<Lost> {
        let clock = self.clock;
        evolving::change_stars(self, p, f, changes, (&clock, now))
    }

    fn forces(&mut self, _: &Particles, now: Time, targets: Targets<'_>, f: &mut dyn ForceEngine) -> Result<Forces> {
        let mut found = Forces::default();
        f.evaluate(now, targets, &mut found)?;
        Ok(found)
    }
}
