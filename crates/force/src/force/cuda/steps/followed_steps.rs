//! Block steps on the device of systems that change between them. The host follows them one by one: it looks at each while the
//! device works on the next. What that one computes is stored with the particles once the host asks for it; until then it can be
//! dropped. Or the device takes many, with a search for pairs that may form: by the kernel of [`super::watched_steps`], or for large systems
//! by those of [`super::launched_steps`].

use super::device_steps::StepKernels;
use super::field_call::FieldCall;
use super::launched_call::LaunchedCall;
use super::launched_steps::{LaunchedSteps, Launcher};
use super::step_history::{Kept, StepHistory};
use super::step_memory::Report;
use super::system::System;
use super::watch_memory::{CompoundFlags, WatchMemory};
use super::watched_steps::{WatchedSteps, due};
use crate::error::Result;
use crate::force::block_steps::{NextStep, Pause, Span, StepRules, Taken, is_at_its_moment, is_on_schedule};
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::Pinned;
use crate::force::cuda::shapes::layout::index_words;
use crate::force::cuda::shapes::step_shape::{COLUMNS, StepShape};
use crate::force::precision::Precision;
use crate::force::watch::Watch;
use crate::particles::{Particles, Vec3};
use crate::time::{Clock, Level, Time};
use rayon::prelude::*;

/// Part of all particles, 1 / this number, that the host changed, from which on all are sent. Not measured; no result depends on it.
const MIN_SHARE_TO_SEND_ALL: usize = 4;
/// Number of rows from which on threads share them. Not measured.
const MIN_TO_SHARE: usize = 512;

/// Kernels of block steps with their memory, and what the device has computed ahead.
pub struct FollowedSteps {
    steps: LaunchedSteps,
    precision: Precision,
    sizes: (usize, usize),
    /// What particles have after a step: columns of numbers, and behind them their levels, and where the host does not know them their
    /// rows and their number. Two, by turns.
    results: Option<[Pinned; 2]>,
    /// Kernel that takes steps with a search for pairs in shared memory, once there was one, if there is one.
    watched: Option<Option<Box<WatchedSteps>>>,
    /// Largest number of its thread blocks; none where launched kernels take the steps.
    blocks: Option<usize>,
    /// Memory of that search by launched kernels, once there was one; none where there is too little.
    watch: Option<Option<WatchMemory>>,
    /// Flags of subsystems, once there was a search.
    compound: Option<CompoundFlags>,
    /// What the host has given some particles, in the same columns, on its way to the device.
    given: Option<Pinned>,
    /// Those particles, of which the device has the states and times alone, in any order.
    changed: Vec<u32>,
    /// What of the scheme there is room for.
    kept: Kept,
    /// Flag that the host has no memory for the results.
    is_full: bool,
    ahead: Option<Ahead>,
}

/// Step that is listed on the device, or in progress.
struct Ahead {
    /// Number of the last report, and what it said.
    number: u64,
    report: Report,
    is_launched: bool,
    /// External field, and the moment at which its orbit begins.
    field: (FieldCall, Option<Time>),
}

impl FollowedSteps {
    /// Prepares the steps of `sources` sources in `slots` places; [`None`] if there are no kernels for this device, or too little
    /// memory. Steps with a search for pairs are taken by the kernels that were asked for, or else by the quicker ones; the resident
    /// kernel has up to `blocks` thread blocks.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(
        device: &Device,
        precision: Precision,
        sizes: (usize, usize),
        (kernels, blocks): (Option<StepKernels>, usize),
    ) -> Result<Option<Self>> {
        let Some(mut steps) = LaunchedSteps::new(device, precision, sizes)? else { return Ok(None) };
        let kernels = kernels.unwrap_or_else(|| StepKernels::choose(precision, sizes.0, 1));
        let shape = StepShape::choose(precision, sizes.0, blocks, device.max_shared_bytes()?);
        let shape = shape.filter(|_| kernels == StepKernels::Resident);
        steps.keep_besides(shape.map_or(0, |shape| shape.working()));
        Ok(Some(Self {
            steps,
            precision,
            watched: None,
            blocks: shape.map(|_| blocks),
            compound: None,
            sizes,
            results: None,
            given: None,
            changed: Vec::new(),
            watch: None,
            kept: Kept::default(),
            is_full: false,
            ahead: None,
        }))
    }

    /// Notes another number of sources, for which there are slots, and which are [divided alike](StepShape::is_alike).
    pub fn set_sources(&mut self, sources: usize) {
        self.outdate();
        self.sizes.0 = sources;
        self.steps.set_sources(sources);
        self.watched.iter_mut().flatten().for_each(|steps| steps.set_sources(sources));
    }

    /// Notes that the host changed some particles: that is sent with the next step, unless all is.
    pub fn note_changed(&mut self, changed: &[u32]) {
        self.drop_ahead();
        if self.steps.is_current() && self.changed.len() + changed.len() <= self.sizes.0 / MIN_SHARE_TO_SEND_ALL {
            self.changed.extend_from_slice(changed);
        } else {
            self.outdate();
        }
    }

    /// Notes that the host changed particles, or has their memory for itself.
    pub fn outdate(&mut self) {
        self.drop_ahead();
        self.changed.clear();
        self.steps.outdate();
    }

    /// Drops what the device has computed ahead.
    pub fn drop_ahead(&mut self) {
        self.ahead = None;
    }

    /// Returns true if the device has the state that a scheme needs by its rules, but for what the host has changed of some particles.
    #[must_use]
    pub fn is_current(&self, rules: &StepRules) -> bool {
        self.steps.is_current() && self.results.is_some() && self.kept == Kept::by(rules)
    }

    /// Returns true if the particles are on schedule at the moment of the last block, as far as the device does not know.
    #[must_use]
    pub fn can_follow(&self, p: &Particles, from: Time) -> bool {
        let stands = |&i: &u32| is_at_its_moment(p.time[i as usize], p.step[i as usize], from);
        let is_known = self.steps.is_current();
        !self.is_full && if is_known { self.changed.iter().all(stands) } else { is_on_schedule(p, from) }
    }

    /// Takes the step `next` with the particles that the arrays of `launcher` hold, stores the new state of its block in `p`, and
    /// starts the one after it. What is sent of the state passes `through` pinned memory. [`None`] if the device does not have this
    /// step next, or has too little memory.
    ///
    /// # Errors
    /// If the device fails.
    pub fn take(
        &mut self,
        launcher: Launcher<'_>,
        System { p, clock, eps2, field }: System<'_>,
        rules: &StepRules,
        next: NextStep<'_>,
        through: &mut Pinned,
    ) -> Result<Option<Taken>> {
        let device = launcher.device;
        let orbit = field.and_then(|field| field.orbit).map(|orbit| orbit.from);
        let is_next = |report: &Report| report.moment == next.now && report.targets == next.block.len() as u64;
        let mut ahead = match self.ahead.take().filter(|ahead| is_next(&ahead.report)) {
            Some(ahead) => ahead,
            None => {
                let span = Span { from: next.from, until: next.now, max: 1 };
                let Some(field) = self.steps.field_call(device, field)? else { return Ok(None) };
                if !self.send(launcher, (p, clock, eps2), (rules, span), through)? {
                    return Ok(None);
                }
                let call = self.steps.begin(launcher, (clock, eps2), rules, span)?;
                let call = LaunchedCall { field, ..call };
                self.steps.advance(launcher, &call)?;
                let report = self.steps.report(device, 0)?;
                if !is_next(&report) {
                    return Ok(None);
                }
                Ahead { number: 0, report, is_launched: false, field: (field, orbit) }
            }
        };
        if ahead.field.1 != orbit {
            let Some(call) = self.steps.field_call(device, field)? else { return Ok(None) };
            ahead.field = (call, orbit);
        }
        let Some(results) = &self.results else { return Ok(None) };
        let call = LaunchedCall { field: ahead.field.0, ..self.steps.call(launcher, (clock, eps2), rules) };
        // Two steps are on their way at most: one that the host reads, and the next.
        let into = |number: u64| call.followed_by(results[number as usize % 2].address());
        if !ahead.is_launched {
            self.steps.take_one(launcher, into(ahead.number + 1), rules, &ahead.report)?;
        }
        // The host asks for it: it is stored.
        self.steps.advance(launcher, &call)?;
        let clamped = ahead.report.clamped;
        ahead.number += 1;
        ahead.report = self.steps.report(device, ahead.number)?;
        if ahead.report.refused {
            return Ok(Some(Taken { now: next.from, refused: 1, ..Taken::default() }));
        }
        let is_below_floor = !rules.clamps && ahead.report.deepest > u64::from(rules.floor.0);
        ahead.is_launched = ahead.report.moment <= next.until && !is_below_floor;
        if ahead.is_launched {
            self.steps.take_one(launcher, into(ahead.number + 1), rules, &ahead.report)?;
        }
        let taken = Taken {
            now: next.now,
            block_steps: 1,
            particle_steps: next.block.len() as u64,
            clamped: ahead.report.clamped - clamped,
            ..Taken::default()
        };
        read(&results[ahead.number as usize % 2], (self.sizes.1, self.kept), (p, next.now), next.block);
        self.ahead = Some(ahead);
        Ok(Some(taken))
    }

    /// Takes steps up to the first after which a particle of the block may form a pair by `watch`, and stores the new state of those
    /// that have moved in `p`. What is sent of the state passes `through` pinned memory. [`None`] if the device has too little memory.
    ///
    /// # Errors
    /// If the device fails.
    pub fn take_watched(
        &mut self,
        launcher: Launcher<'_>,
        System { p, clock, eps2, field }: System<'_>,
        (rules, span): (&StepRules, Span),
        (watch, pause): (&mut Watch<'_>, Option<&Pause>),
        through: &mut Pinned,
    ) -> Result<Option<Taken>> {
        let device = launcher.device;
        self.drop_ahead();
        if self.compound.is_none() {
            self.compound = Some(CompoundFlags::new(device, self.sizes.1)?);
        }
        let Some(flags) = &mut self.compound else { return Ok(None) };
        let compound = flags.send(device, watch.compound)?;
        if let (Some(blocks), None) = (self.blocks, &self.watched) {
            let steps = WatchedSteps::new(device, self.precision, self.sizes, blocks)?;
            self.watched = Some(steps.map(Box::new));
        }
        let is_resident = field.is_none() && matches!(self.watched, Some(Some(_)));
        if !is_resident && self.watch.is_none() {
            self.watch = Some(WatchMemory::new(device, self.sizes.1)?);
        }
        let Some(field) = self.steps.field_call(device, field)? else { return Ok(None) };
        if !self.send(launcher, (p, clock, eps2), (rules, span), through)? {
            return Ok(None);
        }
        let (taken, looks_at_due) = match (&mut self.watched, &mut self.watch) {
            (Some(Some(steps)), _) if is_resident => {
                self.steps.clear(device)?;
                let held = (device, launcher.arrays, self.steps.state());
                steps.take(held, (&*p, clock, eps2), (rules, span), ((&*watch, compound), pause))?
            }
            (_, Some(Some(memory))) => {
                let watch = memory.call(watch, compound);
                let call = LaunchedCall { field, watch, ..self.steps.begin(launcher, (clock, eps2), rules, span)? };
                (self.steps.take_up_to(launcher, call, rules, span, pause)?, false)
            }
            _ => return Ok(None),
        };
        watch.found.clear();
        let Some([result, _]) = self.results.as_ref().filter(|_| taken.block_steps > 0) else { return Ok(Some(taken)) };
        let call = self.steps.call(launcher, (clock, eps2), rules).followed_by(result.address());
        self.steps.gather(launcher, &call, span.from)?;
        device.wait()?;
        let first = (COLUMNS + self.kept.columns()) * self.sizes.1 + self.sizes.1.div_ceil(8);
        let rows: &[u32] = bytemuck::cast_slice(&result.words()[first..]);
        let moved = &rows[..rows[self.sizes.1] as usize];
        read(result, (self.sizes.1, self.kept), (p, taken.now), moved);
        match &self.watch {
            Some(Some(memory)) if !is_resident => memory.read(&mut watch.found),
            _ if looks_at_due => watch.found = due(p, taken.now, moved, watch.log2_steps),
            _ => {}
        }
        Ok(Some(taken))
    }

    /// Brings the device up to the state of the host. Returns false if there is too little memory.
    fn send(
        &mut self,
        launcher: Launcher<'_>,
        (p, clock, eps2): (&Particles, Clock, f64),
        (rules, span): (&StepRules, Span),
        through: &mut Pinned,
    ) -> Result<bool> {
        if !self.make_room(launcher.device, rules) {
            return Ok(false);
        }
        let was_current = self.steps.is_current();
        if !self.steps.send(launcher, p, (rules, span), through)? {
            return Ok(false);
        }
        if let Some(given) = self.given.as_mut().filter(|_| was_current && !self.changed.is_empty()) {
            write(given, (self.sizes.1, self.kept), p, &self.changed);
            let call = self.steps.call(launcher, (clock, eps2), rules).followed_by(given.address());
            self.steps.scatter(launcher, &call, self.changed.len())?;
        }
        self.changed.clear();
        Ok(true)
    }

    /// Makes room for what the host gets of a step. Returns false if there is too little memory.
    fn make_room(&mut self, device: &Device, rules: &StepRules) -> bool {
        let kept = Kept::by(rules);
        if self.results.is_none() || self.kept != kept {
            let slots = self.sizes.1;
            let words = (COLUMNS + kept.columns()) * slots + slots.div_ceil(8) + index_words(slots + 1);
            (self.results, self.given) = (None, None);
            let all = [(); 3].map(|()| device.pinned(words));
            if let [Ok(one), Ok(other), Ok(given)] = all {
                (self.results, self.given) = (Some([one, other]), Some(given));
            }
            (self.kept, self.is_full) = (kept, self.results.is_none());
            // What was noted has other columns.
            self.outdate();
        }
        !self.is_full
    }
}

/// Writes what the host has given some rows besides states and times, with these rows and their number.
fn write(to: &mut Pinned, (slots, kept): (usize, Kept), p: &Particles, rows: &[u32]) {
    let (columns, levels) = to.words_mut().split_at_mut((COLUMNS + kept.columns()) * slots);
    let (state, history) = columns.split_at_mut(COLUMNS * slots);
    let (levels, list) = levels.split_at_mut(slots.div_ceil(8));
    let levels: &mut [u8] = bytemuck::cast_slice_mut(levels);
    for (k, i) in rows.iter().map(|&i| i as usize).enumerate() {
        (state[12 * slots + k], levels[k]) = (p.pot[i].to_bits(), p.step[i].0);
    }
    if kept.columns() > 0 {
        StepHistory::pack_rows((history, slots), kept, &p.states, rows);
    }
    let list: &mut [u32] = bytemuck::cast_slice_mut(list);
    list[..rows.len()].copy_from_slice(rows);
    list[slots] = rows.len() as u32;
}

/// Reads what the particles of some rows have after steps up to `now`.
fn read(from: &Pinned, (slots, kept): (usize, Kept), (p, now): (&mut Particles, Time), rows: &[u32]) {
    let (columns, levels) = from.words().split_at((COLUMNS + kept.columns()) * slots);
    let (state, history) = columns.split_at(COLUMNS * slots);
    let (state, levels): (&[f64], &[u8]) = (bytemuck::cast_slice(state), bytemuck::cast_slice(levels));
    let vectors = |(to, first): (&mut Vec<Vec3>, usize)| {
        for (k, &i) in rows.iter().enumerate() {
            to[i as usize] = Vec3::from_fn(|c, _| state[(first + c) * slots + k]);
        }
    };
    let all = [(&mut p.pos, 0), (&mut p.vel, 3), (&mut p.acc, 6), (&mut p.jerk, 9)];
    if rows.len() < MIN_TO_SHARE {
        all.into_iter().for_each(vectors);
    } else {
        all.into_par_iter().for_each(vectors);
    }
    for (k, i) in rows.iter().map(|&i| i as usize).enumerate() {
        let step = Level(levels[k]);
        (p.pot[i], p.step[i], p.time[i]) = (state[12 * slots + k], step, Time(now.0 / step.ticks() * step.ticks()));
    }
    if kept.columns() > 0 {
        StepHistory::unpack_rows((history, slots), kept, &mut p.states, rows);
    }
}
