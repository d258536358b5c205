//! Block steps on the device that the host follows one by one: it looks at each while the device works on the next. What that one
//! computes is stored with the particles once the host asks for it; until then it can be dropped.

use super::field_call::FieldCall;
use super::launched_call::LaunchedCall;
use super::launched_steps::{LaunchedSteps, Launcher};
use super::step_history::{Kept, StepHistory};
use super::step_memory::Report;
use super::system::System;
use crate::error::Result;
use crate::force::block_steps::{NextStep, Span, StepRules, Taken, is_on_schedule};
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::Pinned;
use crate::force::cuda::shapes::step_shape::COLUMNS;
use crate::force::precision::Precision;
use crate::particles::{Particles, Vec3};
use crate::time::{Level, Time};

/// Kernels of block steps with their memory, and what the device has computed ahead.
pub struct FollowedSteps {
    steps: LaunchedSteps,
    sizes: (usize, usize),
    /// What the targets of a step have after it: columns of numbers, and behind them their levels. Two, by turns.
    results: Option<[Pinned; 2]>,
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
    /// memory.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(device: &Device, precision: Precision, sizes: (usize, usize)) -> Result<Option<Self>> {
        let steps = LaunchedSteps::new(device, precision, sizes)?;
        Ok(steps.map(|steps| Self { steps, sizes, results: None, kept: Kept::default(), is_full: false, ahead: None }))
    }

    /// Notes that the host changed particles, or has their memory for itself.
    pub fn outdate(&mut self) {
        self.drop_ahead();
        self.steps.outdate();
    }

    /// Drops what the device has computed ahead.
    pub fn drop_ahead(&mut self) {
        self.ahead = None;
    }

    /// Returns true if the particles are on schedule at the moment of the last block, as far as the device does not know.
    #[must_use]
    pub fn can_follow(&self, p: &Particles, from: Time) -> bool {
        !self.is_full && (self.steps.is_current() || is_on_schedule(p, from))
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
                if !self.steps.send(launcher, p, (rules, span), through)? || !self.make_room(device, rules) {
                    return Ok(None);
                }
                let Some(field) = self.steps.field_call(device, field)? else { return Ok(None) };
                let call = LaunchedCall { field, ..self.steps.begin(launcher, (clock, eps2), rules, span)? };
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
        read(&results[ahead.number as usize % 2], (self.sizes.1, self.kept), p, next);
        self.ahead = Some(ahead);
        Ok(Some(taken))
    }

    /// Makes room for what the host gets of a step. Returns false if there is too little memory.
    fn make_room(&mut self, device: &Device, rules: &StepRules) -> bool {
        let kept = Kept::by(rules);
        if self.results.is_none() || self.kept != kept {
            let slots = self.sizes.1;
            let words = (COLUMNS + kept.columns()) * slots + slots.div_ceil(8);
            self.results = None;
            let both = (device.pinned(words), device.pinned(words));
            self.results = if let (Ok(one), Ok(other)) = both { Some([one, other]) } else { None };
            (self.kept, self.is_full) = (kept, self.results.is_none());
        }
        !self.is_full
    }
}

/// Reads what the particles of a block have after their step.
fn read(from: &Pinned, (slots, kept): (usize, Kept), p: &mut Particles, next: NextStep<'_>) {
    let (columns, levels) = from.words().split_at((COLUMNS + kept.columns()) * slots);
    let (state, history) = columns.split_at(COLUMNS * slots);
    let (state, levels): (&[f64], &[u8]) = (bytemuck::cast_slice(state), bytemuck::cast_slice(levels));
    let vector = |first: usize, k: usize| Vec3::from_fn(|c, _| state[(first + c) * slots + k]);
    for (k, i) in next.block.iter().map(|&i| i as usize).enumerate() {
        (p.pos[i], p.vel[i], p.acc[i], p.jerk[i]) = (vector(0, k), vector(3, k), vector(6, k), vector(9, k));
        (p.pot[i], p.step[i], p.time[i]) = (state[12 * slots + k], Level(levels[k]), next.now);
    }
    if kept.columns() > 0 {
        StepHistory::unpack_rows((history, slots), kept, &mut p.states, next.block);
    }
}
