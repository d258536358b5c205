//! Forces in two parts for steps that the host takes: the start, and steps that need its closer look.

use super::call::{NeighbourAddresses, NeighbourCall, RECORD, SUMS_STRIDE};
use super::kernels::NeighbourKernels;
use crate::error::Result;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};
use crate::force::cuda::forces::launch::Call;
use crate::force::cuda::steps::launched_call::LaunchedCall;
use crate::force::forces::Forces;
use crate::force::neighbours::{NeighbourForces, NeighbourTargets};
use crate::particles::Vec3;
use bytemuck::Pod;

/// Number of entries of the lists of the targets that are evaluated at a time.
const ENTRIES: usize = 16 << 20;

/// Array on the device with pinned memory for its way there and back.
struct Staged {
    memory: Memory,
    pinned: Pinned,
}

impl Staged {
    fn new(device: &Device, words: usize) -> Result<Self> {
        Ok(Self { memory: device.memory(8 * words)?, pinned: device.pinned(words)? })
    }

    /// Returns the host's memory.
    fn host<T: Pod>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(self.pinned.words_mut())
    }

    /// Starts the copy of the first `n` numbers to the device.
    fn send<T: Pod>(&self, device: &Device, n: usize) -> Result<()> {
        device.copy_up(&self.pinned, 0..(n * size_of::<T>()).div_ceil(8), &self.memory)
    }

    /// Starts the copy of the first `n` numbers from the device.
    fn fetch<T: Pod>(&mut self, device: &Device, n: usize) -> Result<()> {
        device.copy_words_down(&self.memory, &mut self.pinned, (n * size_of::<T>()).div_ceil(8))
    }

    fn address(&self) -> u64 {
        self.memory.address()
    }
}

/// Memory for forces in two parts.
pub struct HostNeighbours {
    kernels: NeighbourKernels,
    records: Memory,
    /// Arrays with one entry a target or regular target.
    old_row: Staged,
    new_row: Staged,
    regular: Staged,
    within: Staged,
    radius: Staged,
    sums: Staged,
    /// Rows of the lists, and their numbers of entries: those of targets, and behind them new ones.
    lists: Staged,
    counts: Staged,
    capacity: usize,
    /// Number of targets at a time.
    chunk: usize,
    sources: usize,
}

/// Reads forces that the device computed.
fn read(sums: &[f64], out: &mut Forces) {
    for (k, sum) in sums.chunks_exact(SUMS_STRIDE).enumerate().take(out.pot.len()) {
        out.acc[k] = Vec3::new(sum[0], sum[1], sum[2]);
        out.jerk[k] = Vec3::new(sum[3], sum[4], sum[5]);
        out.pot[k] = sum[6];
    }
}

impl HostNeighbours {
    /// Allocates memory for `sources` sources.
    ///
    /// # Errors
    /// If there is too little.
    pub fn new(device: &Device, kernels: NeighbourKernels, (sources, slots): (usize, usize)) -> Result<Self> {
        let staged = |words: usize| Staged::new(device, words);
        let half = slots.div_ceil(2);
        Ok(Self {
            kernels,
            records: device.memory(8 * RECORD * (slots + 1))?,
            old_row: staged(half)?,
            new_row: staged(half)?,
            regular: staged(half)?,
            within: staged(half)?,
            radius: staged(slots)?,
            sums: staged(3 * SUMS_STRIDE * slots)?,
            lists: staged(0)?,
            counts: staged(0)?,
            capacity: 0,
            chunk: 0,
            sources,
        })
    }

    /// Makes room for lists of `capacity` entries of up to `targets` targets at a time.
    fn make_room(&mut self, device: &Device, capacity: usize, targets: usize) -> Result<()> {
        let capacity = capacity.max(self.capacity).next_multiple_of(2);
        let chunk = targets.min(ENTRIES / capacity).max(1).next_multiple_of(2).max(self.chunk.min(ENTRIES / capacity));
        if (capacity, chunk) != (self.capacity, self.chunk) {
            device.wait()?;
            // Never both at a time.
            self.lists = Staged::new(device, 0)?;
            self.lists = Staged::new(device, chunk * capacity)?;
            self.counts = Staged::new(device, chunk)?;
            (self.capacity, self.chunk) = (capacity, chunk);
        }
        Ok(())
    }

    /// Evaluates the forces of the sources that the arrays hold on targets that were sent to them.
    ///
    /// # Errors
    /// If the device fails.
    pub fn evaluate(
        &mut self,
        device: &Device,
        (call, eps2): (Call<'_>, f64),
        task: &NeighbourTargets<'_>,
        out: &mut NeighbourForces<Forces>,
    ) -> Result<()> {
        let NeighbourTargets { targets, lists, regular, radius, max, .. } = *task;
        let (n, of_regular) = (targets.len(), regular.len());
        let max = max.min(self.sources);
        let longest = lists.iter().map(|list| list.len()).max().unwrap_or_default();
        self.make_room(device, longest.max(if of_regular > 0 { max } else { 0 }) + 1, n)?;
        out.eps2 = eps2;
        out.resize(of_regular);
        self.regular.host::<u32>()[..of_regular].copy_from_slice(regular);
        self.regular.send::<u32>(device, of_regular)?;
        self.radius.host::<f64>()[..of_regular].copy_from_slice(radius);
        self.radius.send::<f64>(device, of_regular)?;
        device.clear(&self.within.memory)?;
        let stride = n.max(of_regular);
        let call = self.call(call, (max, stride));
        self.kernels.predict(device, self.sources, n, &call)?;
        for first in (0..n).step_by(self.chunk) {
            let last = n.min(first + self.chunk);
            let [begin, end] = [first, last].map(|place| regular.partition_point(|&k| (k as usize) < place));
            self.evaluate_chunk(device, (first, &lists[first..last]), (begin, end), &call, out)?;
        }
        self.sums.fetch::<f64>(device, 3 * SUMS_STRIDE * stride)?;
        device.wait()?;
        let sums: &[f64] = self.sums.host();
        for (part, (forces, n)) in
            [(&mut out.irregular, n), (&mut out.regular, of_regular), (&mut out.renewed, of_regular)]
                .into_iter()
                .enumerate()
        {
            forces.resize(n);
            read(&sums[part * SUMS_STRIDE * stride..], forces);
        }
        Ok(())
    }

    /// Evaluates the forces on the targets from `first` on that have these lists, of which the regular ones are numbers
    /// `begin` to `end`, and stores their new lists.
    fn evaluate_chunk(
        &mut self,
        device: &Device,
        (first, lists): (usize, &[&[u32]]),
        (begin, end): (usize, usize),
        call: &NeighbourCall<'_>,
        out: &mut NeighbourForces<Forces>,
    ) -> Result<()> {
        let (capacity, chunk) = (self.capacity, self.chunk);
        // The memory is free: the last chunk waited for the device.
        for (k, list) in lists.iter().enumerate() {
            self.lists.host::<u32>()[k * capacity..][..list.len()].copy_from_slice(list);
            self.counts.host::<u32>()[k] = list.len() as u32;
            self.old_row.host::<u32>()[first + k] = k as u32;
        }
        for r in begin..end {
            self.new_row.host::<u32>()[r] = (chunk + r - begin) as u32;
        }
        self.lists.send::<u32>(device, lists.len() * capacity)?;
        self.counts.send::<u32>(device, lists.len())?;
        self.old_row.send::<u32>(device, first + lists.len())?;
        self.new_row.send::<u32>(device, end)?;
        self.kernels.irregular(device, (first, lists.len()), false, call)?;
        if begin == end {
            return device.wait();
        }
        let number = end - begin;
        self.kernels.regular(device, self.sources, (begin, number), call)?;
        self.kernels.sort(device, (begin, number), call)?;
        self.kernels.irregular(device, (begin, number), true, call)?;
        self.within.fetch::<u32>(device, end)?;
        self.lists.fetch::<u32>(device, (chunk + number) * capacity)?;
        device.wait()?;
        for r in begin..end {
            out.within[r] = self.within.host::<u32>()[r];
            out.lists[r].clear();
            if out.within[r] <= call.max {
                let row = &self.lists.host::<u32>()[(chunk + r - begin) * capacity..];
                out.lists[r].extend_from_slice(&row[..out.within[r] as usize]);
            } else {
                // Its regular force is that of all sources.
                self.radius.host::<f64>()[r] = 0.0;
                self.radius.send::<f64>(device, r + 1)?;
                self.kernels.regular(device, self.sources, (r, 1), call)?;
                device.wait()?;
            }
        }
        Ok(())
    }

    /// Returns the call of the kernels.
    fn call<'a>(&self, force: Call<'a>, (max, stride): (usize, usize)) -> NeighbourCall<'a> {
        NeighbourCall {
            launched: LaunchedCall::of_forces(force),
            arrays: NeighbourAddresses {
                records: self.records.address(),
                lists: self.lists.address(),
                counts: self.counts.address(),
                rows: [self.old_row.address(), self.new_row.address()],
                regular: self.regular.address(),
                within: self.within.address(),
                sums: self.sums.address(),
                radius: self.radius.address(),
                ..NeighbourAddresses::default()
            },
            eta_regular: 0.0,
            capacity: self.capacity as u32,
            max: max as u32,
            ratio_count: 0,
            criteria: [0; 2],
            six: 0,
            number: 0,
            renewed: 0,
            sums_stride: stride as u32,
            steps: 0,
        }
    }
}
