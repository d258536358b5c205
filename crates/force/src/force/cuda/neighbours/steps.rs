//! Whole block steps of the neighbour scheme on the device, by kernels that the host launches one after the other
//! (kernels/neighbours.cu). The state and the lists stay on the device; the host learns the next moment and the numbers of
//! its targets and regular targets. Several devices share the forces: each has those on the particles that it owns, whose lists it
//! alone keeps, and corrects all targets by the sums that it reads from the others.

use super::call::{
    EXCHANGE, KEPT, MAX_CUT, MAX_SHARERS, NeighbourAddresses, NeighbourCall, OWNED, RECORD, SUMS_STRIDE,
    SharerAddresses,
};
use super::kernels::NeighbourKernels;
use crate::error::Result;
use crate::force::block_steps::{Pause, Span, StepRules, StepScheme, Taken, is_on_schedule};
use crate::force::cuda::driver::device::{Device, Signal};
use crate::force::cuda::driver::memory::{Memory, Pinned};
use crate::force::cuda::forces::launch::Arrays;
use crate::force::cuda::steps::launched_span::LaunchedSpan;
use crate::force::cuda::steps::step_memory::{Report, StepMemory};
use crate::force::cuda::steps::system::System;
use crate::force::neighbours::next_radius;
use crate::force::precision::Precision;
use crate::particles::Vec3;
use crate::states::history::History;
use crate::states::neighbours::Neighbours;
use crate::time::{Clock, LEVELS, Level, Time};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// Number of times as long as a state takes to be handed over that the device works on it.
const WORTH: u32 = 20;
/// Number of entries of lists on their way at a time.
const PACKED: usize = 16 << 20;
/// Bytes of the schedule of the regular steps (`NeighbourSchedule`).
const SCHEDULE_BYTES: usize = 8 + 4 * (3 + LEVELS) + 4;
/// First columns of what is kept of a particle (`KEPT_IRREGULAR` and so on).
const IRREGULAR: usize = 0;
const REGULAR: usize = 6;
const POT: usize = 12;
const SNAP: usize = 13;
const POINT: usize = 19;
const MOMENT: usize = 25;
const RADIUS: usize = 26;

/// Block steps of the neighbour scheme for a number of sources.
pub struct NeighbourSteps {
    kernels: NeighbourKernels,
    memory: StepMemory,
    arrays: OwnArrays,
    /// Number of entries of a row.
    capacity: usize,
    /// Memory for the way of what is kept, and of lists.
    kept: Pinned,
    levels: Pinned,
    lengths: Pinned,
    packed: Pinned,
    offsets: Pinned,
    /// Time that the last state took to be handed over.
    handed_over: Duration,
    /// What it was made for: number of neighbours that is wanted, and the largest number; number of the devices that share the steps, and
    /// of this one among them.
    pub made_for: (f64, usize, [usize; 2]),
}

/// Arrays of the scheme on the device.
struct OwnArrays {
    records: Memory,
    kept: [Memory; 2],
    regular_level: [Memory; 2],
    side: Memory,
    lists: Memory,
    counts: Memory,
    rows: [Memory; 2],
    regular: Memory,
    cut: Memory,
    own: Memory,
    /// What it computes for all: several devices take turns, so that one can go on while others read.
    shared: Vec<SharedArrays>,
    schedule: Memory,
    ratios: Memory,
    packed: Memory,
    offsets: Memory,
    ratio_count: usize,
}

/// Arrays of what a device computes for all that share the steps.
struct SharedArrays {
    sums: Memory,
    exchanges: Memory,
    within: Memory,
}

/// A device that takes steps, alone or with others.
pub struct NeighbourMember<'a> {
    /// Device, and its arrays.
    pub device: &'a Device,
    /// Arrays of the forces.
    pub arrays: &'a Arrays,
    /// Its steps.
    pub steps: &'a mut NeighbourSteps,
    /// Pinned memory through which its state passes.
    pub through: &'a mut Pinned,
}

impl NeighbourSteps {
    /// Prepares the steps of `sources` sources with lists of up to `max` neighbours, wanted `wanted` of them, on device `k` of `number`;
    /// [`None`] if there are no kernels for this device, or too little memory.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn new(
        device: &Device,
        precision: Precision,
        (sources, slots): (usize, usize),
        made_for: (f64, usize, [usize; 2]),
    ) -> Result<Option<Self>> {
        let (wanted, max, [number, _]) = made_for;
        let Some(kernels) = NeighbourKernels::load(device, precision)? else { return Ok(None) };
        let capacity = (max.min(sources) + 1).next_multiple_of(4);
        let ratios = ratios(wanted);
        let (word, double) = (4 * slots, 8 * slots);
        let sizes = [
            RECORD * (double + 8),
            KEPT * double,
            KEPT * double,
            slots,
            slots,
            slots,
            2 * word * capacity,
            2 * word,
            word,
            word,
            word,
            4 * MAX_CUT,
            if number > 1 { word } else { 0 },
            SCHEDULE_BYTES,
            8 * ratios.len(),
            4 * PACKED,
            word,
        ];
        let Some(memory) = StepMemory::new(device, (sources, slots))? else { return Ok(None) };
        let of_turn = [3 * SUMS_STRIDE * double, EXCHANGE * double, word];
        let turns = if number > 1 { 2 } else { 1 };
        // A tenth stays free for what others allocate.
        let needed = sizes.iter().sum::<usize>() + turns * of_turn.iter().sum::<usize>();
        if !kernels.can_sort(capacity) || needed > device.free_bytes()? / 10 * 9 {
            return Ok(None);
        }
        let shared = |_| -> Result<SharedArrays> {
            let [sums, exchanges, within] = of_turn.map(|bytes| device.memory(bytes));
            Ok(SharedArrays { sums: sums?, exchanges: exchanges?, within: within? })
        };
        let shared: Vec<SharedArrays> = (0..turns).map(shared).collect::<Result<_>>()?;
        let mut sizes = sizes.into_iter().map(|bytes| device.memory(bytes));
        let mut next = || sizes.next().unwrap_or_else(|| device.memory(0));
        let arrays = OwnArrays {
            records: next()?,
            kept: [next()?, next()?],
            regular_level: [next()?, next()?],
            side: next()?,
            lists: next()?,
            counts: next()?,
            rows: [next()?, next()?],
            regular: next()?,
            cut: next()?,
            own: next()?,
            shared,
            schedule: next()?,
            ratios: next()?,
            packed: next()?,
            offsets: next()?,
            ratio_count: ratios.len(),
        };
        let mut kept = device.pinned(KEPT * slots)?;
        bytemuck::cast_slice_mut::<_, f64>(&mut kept.words_mut()[..ratios.len()]).copy_from_slice(&ratios);
        device.copy_up(&kept, 0..ratios.len(), &arrays.ratios)?;
        device.wait()?;
        let half = slots.div_ceil(2);
        Ok(Some(Self {
            kernels,
            memory,
            arrays,
            capacity,
            kept,
            levels: device.pinned(slots.div_ceil(8))?,
            lengths: device.pinned(half)?,
            packed: device.pinned(PACKED / 2)?,
            offsets: device.pinned(half)?,
            handed_over: Duration::ZERO,
            made_for,
        }))
    }

    /// Notes that the host changed particles.
    pub fn outdate(&mut self) {
        self.memory.state.current = false;
    }

    /// Sends the state of the particles, `through` pinned memory, unless the device has it. Returns the call of the kernels in
    /// the first turn, without what other devices compute; [`None`] if they are not on schedule, or there is too little memory for their history.
    fn prepare<'a>(
        &mut self,
        (device, arrays, through): (&Device, &'a Arrays, &mut Pinned),
        System { p, clock, eps2, .. }: &System<'_>,
        rules: &StepRules,
        span: Span,
    ) -> Result<Option<NeighbourCall<'a>>> {
        let StepMemory { state, sources, slots, .. } = &mut self.memory;
        if !state.prepare(device, rules, (*sources, *slots), None)? {
            return Ok(None);
        }
        let Some(call) = self.call(arrays, (*clock, *eps2), rules) else { return Ok(None) };
        if !self.memory.state.current {
            if !is_on_schedule(p, span.from) || !is_on_regular_schedule(p.states.get(), span.from) {
                return Ok(None);
            }
            let longest = p.states.get::<Neighbours>().lists.iter().map(Vec::len).max().unwrap_or_default();
            if longest >= self.capacity {
                return Ok(None);
            }
            self.memory.state.send(device, p, through)?;
            self.send(device, p.states.get(), &call)?;
        }
        Ok(Some(call))
    }

    /// Returns the addresses of what the device computes for all, in a turn.
    fn shared_addresses(&self, turn: usize) -> SharerAddresses {
        let SharedArrays { sums, exchanges, within } = &self.arrays.shared[turn];
        let schedule = self.memory.schedule_address();
        SharerAddresses { sums: sums.address(), exchanges: exchanges.address(), within: within.address(), schedule }
    }

    /// Launches the forces on the targets of a report that the device owns.
    fn sum(&self, device: &Device, report: &Report, call: &NeighbourCall<'_>) -> Result<()> {
        let (targets, regular) = (report.targets as usize, report.regular as usize);
        self.kernels.irregular(device, (0, targets), false, call)?;
        if regular > 0 {
            self.kernels.regular(device, self.memory.sources, (0, regular), call)?;
            self.kernels.sort(device, (0, regular), call)?;
            self.kernels.cut(device, self.memory.sources, call)?;
            self.kernels.irregular(device, (0, regular), true, call)?;
            self.kernels.exchange(device, regular, call)?;
        }
        Ok(())
    }

    /// Returns the call of the kernels; [`None`] for another scheme.
    fn call<'a>(&self, arrays: &'a Arrays, physics: (Clock, f64), rules: &StepRules) -> Option<NeighbourCall<'a>> {
        let StepScheme::AhmadCohen { points, eta: [_, eta_regular], criteria, max, .. } = rules.scheme else {
            return None;
        };
        let (own, [_, device]) = (&self.arrays, self.made_for.2);
        let mut sharers = [SharerAddresses::default(); MAX_SHARERS];
        sharers[device] = self.shared_addresses(0);
        let pair = |[a, b]: &[Memory; 2]| [a.address(), b.address()];
        Some(NeighbourCall {
            launched: self.memory.call(arrays, physics, rules),
            arrays: NeighbourAddresses {
                records: own.records.address(),
                kept: pair(&own.kept),
                regular_level: pair(&own.regular_level),
                side: own.side.address(),
                lists: own.lists.address(),
                counts: own.counts.address(),
                rows: pair(&own.rows),
                regular: own.regular.address(),
                cut: own.cut.address(),
                own: own.own.address(),
                schedule: own.schedule.address(),
                ratios: own.ratios.address(),
                radius: 0,
                packed: own.packed.address(),
                offsets: own.offsets.address(),
                sharers,
            },
            eta_regular,
            capacity: self.capacity as u32,
            max: max.min(self.memory.sources) as u32,
            ratio_count: own.ratio_count as u32,
            criteria,
            six: points,
            number: 0,
            renewed: 0,
            sums_stride: self.memory.slots as u32,
            steps: 1,
            devices: self.made_for.2.map(|number| number as u32),
        })
    }

    /// Copies what the scheme keeps of the particles to the device.
    fn send(&mut self, device: &Device, state: &Neighbours, call: &NeighbourCall<'_>) -> Result<()> {
        device.wait()?;
        let (slots, n) = (self.memory.slots, self.memory.sources);
        let columns: &mut [f64] = bytemuck::cast_slice_mut(self.kept.words_mut());
        let mut vectors = |first: usize, column: &[Vec3]| {
            for c in 0..3 {
                let to = &mut columns[(first + c) * slots..][..column.len()];
                to.par_iter_mut().zip(column).for_each(|(to, vector)| *to = vector[c]);
            }
        };
        vectors(IRREGULAR, &state.acc);
        vectors(IRREGULAR + 3, &state.jerk);
        vectors(REGULAR, &state.regular_acc);
        vectors(REGULAR + 3, &state.regular_jerk);
        let History { derivatives, points } = &state.regular_history;
        derivatives.iter().enumerate().for_each(|(k, column)| vectors(SNAP + 3 * k, column));
        if let Some(point) = points.first() {
            vectors(POINT, &point.acc);
            vectors(POINT + 3, &point.jerk);
            let moments = columns[MOMENT * slots..].iter_mut().zip(&point.time);
            moments.for_each(|(to, moment)| *to = f64::from_bits(moment.0));
        }
        columns[POT * slots..][..n].copy_from_slice(&state.regular_pot);
        columns[RADIUS * slots..][..n].copy_from_slice(&state.radius);
        device.copy_up(&self.kept, 0..KEPT * slots, &self.arrays.kept[0])?;
        let levels: &mut [u8] = bytemuck::cast_slice_mut(self.levels.words_mut());
        levels.iter_mut().zip(&state.regular_step).for_each(|(to, level)| *to = level.0);
        device.copy_up(&self.levels, 0..slots.div_ceil(8), &self.arrays.regular_level[0])?;
        device.clear(&self.arrays.side)?;
        let lengths: &mut [u32] = bytemuck::cast_slice_mut(self.lengths.words_mut());
        lengths.iter_mut().zip(&state.lists).for_each(|(to, list)| *to = list.len() as u32);
        device.copy_up(&self.lengths, 0..n.div_ceil(2), &self.arrays.shared[0].within)?;
        for (first, last) in self.parts() {
            let packed: &mut [u32] = bytemuck::cast_slice_mut(self.packed.words_mut());
            let mut place = 0;
            for list in &state.lists[first..last] {
                packed[place..place + list.len()].copy_from_slice(list);
                place += list.len();
            }
            self.set_offsets(first, last);
            device.copy_up(&self.packed, 0..place.div_ceil(2), &self.arrays.packed)?;
            device.copy_up(&self.offsets, 0..(last - first).div_ceil(2), &self.arrays.offsets)?;
            self.kernels.pack(device, (first, last - first), true, call)?;
            device.wait()?;
        }
        Ok(())
    }

    /// Reads what the scheme keeps of the particles back, after steps up to `now`, but the lists.
    fn read(&mut self, device: &Device, (state, now): (&mut Neighbours, Time)) -> Result<()> {
        let (slots, n) = (self.memory.slots, self.memory.sources);
        device.copy_down(&self.arrays.kept[0], &mut self.kept, 0)?;
        device.copy_words_down(&self.arrays.regular_level[0], &mut self.levels, slots / 8)?;
        device.wait()?;
        let columns: &[f64] = bytemuck::cast_slice(self.kept.words());
        let vectors = |first: usize, column: &mut [Vec3]| {
            column.par_iter_mut().enumerate().for_each(|(i, to)| {
                *to = Vec3::from([0, 1, 2].map(|c| columns[(first + c) * slots + i]));
            });
        };
        vectors(IRREGULAR, &mut state.acc);
        vectors(IRREGULAR + 3, &mut state.jerk);
        vectors(REGULAR, &mut state.regular_acc);
        vectors(REGULAR + 3, &mut state.regular_jerk);
        let History { derivatives, points } = &mut state.regular_history;
        derivatives.iter_mut().enumerate().for_each(|(k, column)| vectors(SNAP + 3 * k, column));
        if let Some(point) = points.first_mut() {
            vectors(POINT, &mut point.acc);
            vectors(POINT + 3, &mut point.jerk);
            let moments = point.time.iter_mut().zip(&columns[MOMENT * slots..]);
            moments.for_each(|(to, moment)| *to = Time(moment.to_bits()));
        }
        state.regular_pot.copy_from_slice(&columns[POT * slots..][..n]);
        state.radius.copy_from_slice(&columns[RADIUS * slots..][..n]);
        let levels: &[u8] = bytemuck::cast_slice(self.levels.words());
        for ((step, time), &level) in state.regular_step.iter_mut().zip(&mut state.regular_time).zip(levels) {
            *step = Level(level);
            *time = Time(now.0 / step.ticks() * step.ticks());
        }
        Ok(())
    }

    /// Reads the lists of the particles that the device owns.
    fn read_lists(&mut self, device: &Device, lists: &mut [Vec<u32>], call: &NeighbourCall<'_>) -> Result<()> {
        let (slots, n, [number, own]) = (self.memory.slots, self.memory.sources, self.made_for.2);
        self.kernels.lengths(device, n, call)?;
        device.copy_words_down(&self.arrays.shared[0].within, &mut self.lengths, n.div_ceil(2).min(slots / 2))?;
        device.wait()?;
        for (first, last) in self.parts() {
            let entries = self.set_offsets(first, last);
            device.copy_up(&self.offsets, 0..(last - first).div_ceil(2), &self.arrays.offsets)?;
            self.kernels.pack(device, (first, last - first), false, call)?;
            device.copy_words_down(&self.arrays.packed, &mut self.packed, entries.div_ceil(2))?;
            device.wait()?;
            let [packed, offsets, lengths]: [&[u32]; 3] =
                [&self.packed, &self.offsets, &self.lengths].map(|pinned| bytemuck::cast_slice(pinned.words()));
            let of_part = lists[first..last].par_iter_mut().enumerate().with_min_len(256);
            of_part.filter(|(k, _)| (first + k) / OWNED % number == own).for_each(|(k, list)| {
                list.clear();
                list.extend_from_slice(&packed[offsets[k] as usize..][..lengths[first + k] as usize]);
            });
        }
        Ok(())
    }

    /// Returns runs of particles, first and last, whose lists are on their way together.
    fn parts(&self) -> Vec<(usize, usize)> {
        let lengths: &[u32] = bytemuck::cast_slice(self.lengths.words());
        let (mut parts, mut first, mut entries) = (Vec::new(), 0, 0);
        for (i, &length) in lengths[..self.memory.sources].iter().enumerate() {
            if entries + length as usize > PACKED {
                parts.push((first, i));
                (first, entries) = (i, 0);
            }
            entries += length as usize;
        }
        parts.push((first, self.memory.sources));
        parts
    }

    /// Sets the places of the first entries of the lists of a run of particles; returns the number of entries.
    fn set_offsets(&mut self, first: usize, last: usize) -> usize {
        let lengths: &[u32] = bytemuck::cast_slice(self.lengths.words());
        let offsets: &mut [u32] = bytemuck::cast_slice_mut(self.offsets.words_mut());
        let mut place = 0;
        for (offset, length) in offsets.iter_mut().zip(&lengths[first..last]) {
            *offset = place;
            place += length;
        }
        place as usize
    }
}

/// Takes steps by all members, each with a signal for the others, and stores the new state in the particles; [`None`] if they are not on
/// schedule, or a device has too little memory for their history.
///
/// # Errors
/// If a device fails.
pub fn take_together(
    members: &mut [NeighbourMember<'_>],
    signals: &[Signal],
    system: System<'_>,
    rules: &StepRules,
    (span, pause): (Span, Option<&Pause>),
) -> Result<Option<Taken>> {
    let mut calls = Vec::with_capacity(members.len());
    for NeighbourMember { device, arrays, steps, through } in members.iter_mut() {
        device.bind()?;
        let Some(call) = steps.prepare((device, arrays, through), &system, rules, span)? else { return Ok(None) };
        calls.push(call);
    }
    let turns = members[0].steps.arrays.shared.len();
    let in_turn = |turn: usize| {
        let mut sharers = [SharerAddresses::default(); MAX_SHARERS];
        sharers.iter_mut().zip(&*members).for_each(|(sharer, it)| *sharer = it.steps.shared_addresses(turn));
        let mut calls = calls.clone();
        calls.iter_mut().for_each(|call| call.arrays.sharers = sharers);
        calls
    };
    let calls: Vec<Vec<NeighbourCall<'_>>> = (0..turns).map(in_turn).collect();
    let taken = take_up_to(members, signals, &calls, rules, (span, pause))?;
    let began = Instant::now();
    if taken.block_steps > 0 {
        let NeighbourMember { device, arrays, steps, through } = &mut members[0];
        steps.memory.state.read(device, arrays, (&mut *system.p, taken.now), through)?;
        steps.read(device, (system.p.states.get_mut(), taken.now))?;
        for (NeighbourMember { device, steps, .. }, call) in members.iter_mut().zip(&calls[0]) {
            device.bind()?;
            steps.read_lists(device, &mut system.p.states.get_mut::<Neighbours>().lists, call)?;
        }
        members[0].device.bind()?;
        members[0].steps.handed_over = began.elapsed();
    } else {
        members[0].device.wait()?;
    }
    Ok(Some(taken))
}

/// Takes steps with the particles on the devices. `calls` has those of the members for each turn.
fn take_up_to(
    members: &mut [NeighbourMember<'_>],
    signals: &[Signal],
    calls: &[Vec<NeighbourCall<'_>>],
    rules: &StepRules,
    (span, pause): (Span, Option<&Pause>),
) -> Result<Taken> {
    let mut steps = LaunchedSpan::new(rules, span, (pause, WORTH * members[0].steps.handed_over));
    for (NeighbourMember { device, steps, .. }, call) in members.iter_mut().zip(&calls[0]) {
        device.bind()?;
        steps.memory.clear(device)?;
        device.clear(&steps.arrays.schedule)?;
        let call = NeighbourCall { launched: call.launched.at(span.from, 0), ..*call };
        steps.kernels.schedule(device, call.launched.chunks, true, &call)?;
    }
    let devices: Vec<&Device> = members.iter().map(|member| member.device).collect();
    for calls in calls.iter().cycle() {
        // They are at work, with the moment from the device, while the host hears of it.
        for (NeighbourMember { device, steps, .. }, call) in members.iter().zip(calls) {
            device.bind()?;
            steps.kernels.schedule(device, call.launched.chunks, false, call)?;
        }
        // All devices come to the same report.
        let Some(report) = steps.next(devices[0], &members[0].steps.memory, &devices[1..])? else { break };
        for (k, (NeighbourMember { device, steps, .. }, call)) in members.iter().zip(calls).enumerate() {
            device.bind()?;
            steps.sum(device, &report, call)?;
            signals.get(k).map_or(Ok(()), |signal| device.give(signal))?;
        }
        for (k, (NeighbourMember { device, steps, .. }, call)) in members.iter().zip(calls).enumerate() {
            device.bind()?;
            let others = signals.iter().enumerate().filter(|(other, _)| *other != k);
            others.into_iter().try_for_each(|(_, signal)| device.wait_for_signal(signal))?;
            steps.kernels.correct(device, report.targets as usize, call)?;
        }
    }
    for device in &devices[1..] {
        device.bind()?;
        device.wait()?;
    }
    devices[0].bind()?;
    Ok(steps.taken())
}

/// Returns the ratios of the next radius to the last, by the number of sources within it, up to where they stay the same.
fn ratios(wanted: f64) -> Vec<f64> {
    let max = (2.0 * wanted) as u32 + 2;
    (0..=max).map(|found| next_radius(1.0, found, wanted)).collect()
}

/// Returns true if the last regular step of every particle ended at the last moment, not after `now`, of its level.
fn is_on_regular_schedule(state: &Neighbours, now: Time) -> bool {
    state
        .regular_time
        .iter()
        .zip(&state.regular_step)
        .all(|(time, level)| time.0 == now.0 / level.ticks() * level.ticks())
}
