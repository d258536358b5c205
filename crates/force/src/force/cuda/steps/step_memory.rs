//! Memory of whole block steps by kernels that the host launches one after the other, and their reports.

use super::field_call::FieldCall;
use super::launched_call::{LaunchedArrays, LaunchedCall, WatchCall};
use super::step_state::StepState;
use crate::error::Result;
use crate::force::block_steps::StepRules;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};
use crate::force::cuda::forces::launch::{Arrays, Call, Columns, Scalars};
use crate::force::cuda::shapes::layout::{FORCE, STATE, index_words};
use crate::time::{Clock, LEVELS, Time};

/// Number of particles, and of threads, of a thread block of `advance` (`STEP_CHUNK` of kernels/launched_steps.cuh).
pub const CHUNK: usize = 512;
/// Words of a report: step, moment, targets, deepest level, whether a target was refused, clamped steps; and of the
/// neighbour scheme regular targets, pairs; of watched steps targets whose update is due, and how many of the step before
/// may form a pair.
const REPORT: usize = 10;
/// Bytes of the schedule on the device (`Schedule`).
const SCHEDULE_BYTES: usize = 16 + 4 * (10 + LEVELS);

/// Memory for a number of sources.
pub struct StepMemory {
    /// Potentials, levels and histories.
    pub state: StepState,
    /// Number of sources.
    pub sources: usize,
    /// Number of sources and padding.
    pub slots: usize,
    /// Number of particles for which there is room besides, for what a scheme keeps.
    pub working: usize,
    new_level: Memory,
    chunk_at_least: Memory,
    first_of_chunk: Memory,
    schedule: Memory,
    /// Forces, where the force kernels complete them.
    out: Memory,
    report: Pinned,
}

/// What the device reports after a step.
#[derive(Clone, Copy)]
pub struct Report {
    /// Next moment.
    pub moment: Time,
    /// Number of its targets.
    pub targets: u64,
    /// Deepest level of all particles.
    pub deepest: u64,
    /// Flag that the host has to take the step.
    pub refused: bool,
    /// Number of clamped steps so far.
    pub clamped: u64,
    /// Number of the targets with a regular step, and of pairs so far, by the neighbour scheme.
    pub regular: u64,
    pub pairs: u64,
    /// Number of targets whose update is due, where the device looks for pairs, and of those of the step before that may form one.
    pub looked: u64,
    pub found: u64,
}

impl StepMemory {
    /// Allocates memory for `sources` sources in `slots` places; [`None`] if there is too little.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(device: &Device, (sources, slots): (usize, usize)) -> Result<Option<Self>> {
        let chunks = slots.div_ceil(CHUNK);
        let sizes = [slots, 4 * LEVELS * chunks, 4 * chunks, SCHEDULE_BYTES, 8 * FORCE * slots];
        if sizes.iter().sum::<usize>() + StepState::bytes(slots) > device.free_bytes()? {
            return Ok(None);
        }
        let [new_level, chunk_at_least, first_of_chunk, schedule, out] = sizes.map(|bytes| device.memory(bytes));
        Ok(Some(Self {
            state: StepState::new(device, slots)?,
            new_level: new_level?,
            chunk_at_least: chunk_at_least?,
            first_of_chunk: first_of_chunk?,
            schedule: schedule?,
            out: out?,
            report: device.pinned(REPORT)?,
            sources,
            slots,
            working: slots,
        }))
    }

    /// Prepares schedule and report for a call.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn clear(&mut self, device: &Device) -> Result<()> {
        // No step has this number.
        self.report.words_mut()[0] = u64::MAX;
        device.clear(&self.schedule)
    }

    /// Returns the address of the schedule, which other devices may read.
    #[must_use]
    pub fn schedule_address(&self) -> u64 {
        self.schedule.address()
    }

    /// Waits for the report after step `number` of a call, in which the devices `with` share.
    ///
    /// # Errors
    /// If a device fails.
    pub fn wait_for(&self, device: &Device, number: u64, with: &[&Device]) -> Result<Report> {
        device.wait_for(&self.report, 0, number, with)?;
        let words = self.report.words();
        Ok(Report {
            moment: Time(words[1]),
            targets: words[2],
            deepest: words[3],
            refused: words[4] != 0,
            clamped: words[5],
            regular: words[6],
            pairs: words[7],
            looked: words[8],
            found: words[9],
        })
    }

    /// Returns the call of the kernels, without a moment.
    pub fn call<'a>(&self, arrays: &'a Arrays, (clock, eps2): (Clock, f64), rules: &StepRules) -> LaunchedCall<'a> {
        let slots = self.slots;
        // The upload is free while the device takes steps: the corrected state, and the targets behind it.
        let index = index_words(slots);
        let targets = index + STATE * slots;
        let scalars = Scalars {
            now: 0,
            tick: clock.tick(),
            eps2,
            sources: self.sources as u32,
            slots: slots as u32,
            changed: 0,
            targets: 0,
            columns: Columns { changed: [0, index, index], targets: [targets, targets + index] },
            out: self.out.address(),
        };
        let thresholds = rules.thresholds;
        LaunchedCall {
            force: Call::new(arrays, &scalars),
            arrays: LaunchedArrays {
                pot: self.state.pot.address(),
                level: self.state.level.address(),
                corrected: arrays.upload.address() + 8 * index as u64,
                new_level: self.new_level.address(),
                chunk_at_least: self.chunk_at_least.address(),
                first_of_chunk: self.first_of_chunk.address(),
                schedule: self.schedule.address(),
                history: self.state.history_addresses(),
                report: self.report.address(),
                followed: 0,
            },
            rules: [rules.dt_max, rules.scheme.accuracy()],
            noise: rules.noise.into(),
            limits: [thresholds.coordinate, thresholds.speed, thresholds.min_acc, thresholds.max_acc],
            chunks: slots.div_ceil(CHUNK) as u32,
            floor: u32::from(rules.floor.0),
            clamps: u32::from(rules.clamps),
            parts: 0,
            points: rules.scheme.points(),
            third: u32::from(rules.scheme.is_third()),
            last: 1,
            compensated: u32::from(rules.compensated),
            field: FieldCall::default(),
            watch: WatchCall::default(),
        }
    }
}
