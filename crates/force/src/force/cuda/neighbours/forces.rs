//! Regular forces and new lists for steps that the host takes: the start, steps that need its closer look, and those with
//! subsystems. The irregular forces are the host's, which has the lists, but for those of large blocks: see [`super::irregular`].

use super::call::{NeighbourAddresses, NeighbourCall, SUMS_STRIDE, SharerAddresses};
use super::irregular::{ListedForces, read_forces};
use super::kernels::NeighbourKernels;
use super::staged::Staged;
use crate::error::Result;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::{Memory, Pinned};
use crate::force::cuda::forces::launch::Call;
use crate::force::cuda::steps::launched_call::LaunchedCall;
use crate::force::forces::Forces;
use crate::force::neighbours::{NeighbourForces, NeighbourTargets};
use crate::spin_pool::min_share;
use rayon::prelude::*;
use std::ops::Range;

/// Number of entries of the new lists that are made at a time.
const ENTRIES: usize = 16 << 20;

/// Nanoseconds in which a list is copied.
const COPIED: usize = 200;

/// Memory for regular forces and new lists.
pub struct HostNeighbours {
    kernels: NeighbourKernels,
    /// Arrays with one entry a regular target.
    row: Staged,
    regular: Staged,
    within: Staged,
    radius: Staged,
    sums: Staged,
    /// Rows of the new lists, and their numbers of entries.
    lists: Memory,
    counts: Memory,
    /// The lists one after the other, and the number of all entries with the place of the first one of each.
    packed: Pinned,
    places: Staged,
    capacity: usize,
    /// Number of regular targets at a time.
    chunk: usize,
    sources: usize,
    slots: usize,
    /// Irregular forces, if the device was asked for any.
    listed: Option<ListedForces>,
    /// Flag that those of the present task are the device's.
    is_listed: bool,
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
            row: staged(half)?,
            regular: staged(half)?,
            within: staged(half)?,
            radius: staged(slots)?,
            sums: staged(SUMS_STRIDE * slots)?,
            lists: device.memory(0)?,
            counts: device.memory(0)?,
            packed: device.pinned(0)?,
            places: staged(half + 1)?,
            capacity: 0,
            chunk: 0,
            sources,
            slots,
            listed: None,
            is_listed: false,
        })
    }

    /// Makes room for lists of `capacity` entries of up to `targets` regular targets at a time.
    fn make_room(&mut self, device: &Device, capacity: usize, targets: usize) -> Result<()> {
        let capacity = capacity.max(self.capacity).next_multiple_of(2);
        // By a factor, as blocks of more and more targets come: pinned memory takes milliseconds.
        let chunk = targets.next_power_of_two().min(ENTRIES / capacity).max(1).next_multiple_of(2);
        let chunk = chunk.max(self.chunk.min(ENTRIES / capacity));
        if (capacity, chunk) != (self.capacity, self.chunk) {
            device.wait()?;
            // Never both at a time.
            (self.lists, self.packed) = (device.memory(0)?, device.pinned(0)?);
            self.lists = device.memory(4 * chunk * capacity)?;
            self.packed = device.pinned((chunk * capacity).div_ceil(2))?;
            self.counts = device.memory(4 * chunk)?;
            (self.capacity, self.chunk) = (capacity, chunk);
        }
        Ok(())
    }

    /// Starts the regular forces of the sources that the arrays hold on targets that were sent to them, and their new lists:
    /// those of the first regular targets, as far as there is room. Before them the irregular forces on the targets at the places
    /// `listed`, if they are the devices'.
    ///
    /// # Errors
    /// If the device fails.
    pub fn begin(
        &mut self,
        device: &Device,
        force: Call<'_>,
        task: &NeighbourTargets<'_>,
        listed: Option<Range<usize>>,
    ) -> Result<()> {
        self.is_listed = listed.is_some();
        if let Some(places) = listed {
            let call = (self.call(force, task), self.sources);
            let listed = match &mut self.listed {
                Some(listed) => listed,
                none => none.insert(ListedForces::new(device, self.slots)?),
            };
            listed.begin(device, &self.kernels, call, (task, places))?;
        }
        let (of_regular, max) = (task.regular.len(), task.max.min(self.sources));
        if of_regular == 0 {
            return Ok(());
        }
        self.make_room(device, max + 1, of_regular)?;
        self.regular.host::<u32>()[..of_regular].copy_from_slice(task.regular);
        self.regular.send::<u32>(device, of_regular)?;
        self.radius.host::<f64>()[..of_regular].copy_from_slice(task.radius);
        self.radius.send::<f64>(device, of_regular)?;
        let chunk = self.chunk;
        self.row.host::<u32>()[..of_regular].iter_mut().enumerate().for_each(|(r, row)| *row = (r % chunk) as u32);
        self.row.send::<u32>(device, of_regular)?;
        device.clear(&self.within.memory)?;
        self.launch(device, force, 0, task)
    }

    /// Launches the kernels for the regular targets from number `first` on.
    fn launch(&mut self, device: &Device, force: Call<'_>, first: usize, task: &NeighbourTargets<'_>) -> Result<()> {
        let part = (first, self.chunk.min(task.regular.len() - first));
        let call = self.call(force, task);
        self.kernels.regular(device, self.sources, part, &call)?;
        self.kernels.sort(device, part, &call)?;
        if let Some(listed) = self.listed.as_ref().filter(|_| self.is_listed) {
            listed.renew(device, &self.kernels, call, first..first + part.1)?;
        }
        device.clear(&self.places.memory)?;
        self.kernels.hand_over(device, part, &call)?;
        self.within.fetch::<u32>(device, first + part.1)?;
        self.places.fetch::<u32>(device, first + part.1 + 1)
    }

    /// Notes another number of sources in the same memory.
    pub fn set_sources(&mut self, sources: usize) {
        self.sources = sources;
    }

    /// Completes the regular forces and the new lists that [`Self::begin`] started, and stores them from place `to` on; the irregular
    /// forces on the targets at some places too, if they are the devices'.
    ///
    /// # Errors
    /// If the device fails.
    pub fn end(
        &mut self,
        device: &Device,
        force: Call<'_>,
        task: &NeighbourTargets<'_>,
        (out, to, places): (&mut NeighbourForces<Forces>, usize, &Range<usize>),
    ) -> Result<()> {
        let (of_regular, max) = (task.regular.len(), task.max.min(self.sources) as u32);
        let within = &mut out.within[to..][..of_regular];
        let lists = &mut out.lists[to..][..of_regular];
        for first in (0..of_regular).step_by(self.chunk.max(1)) {
            device.wait()?;
            let part = first..of_regular.min(first + self.chunk);
            within[part.clone()].copy_from_slice(&self.within.host::<u32>()[part.clone()]);
            let packed: &[u32] = bytemuck::cast_slice(self.packed.words());
            let places = &self.places.host::<u32>()[1..][part.clone()];
            let read = |(list, (&place, &within)): (&mut Vec<u32>, (&u32, &u32))| {
                list.clear();
                if within <= max {
                    list.extend_from_slice(&packed[place as usize..][..within as usize]);
                }
            };
            let found = places.par_iter().zip(&within[part.clone()]);
            lists[part.clone()].par_iter_mut().zip(found).with_min_len(min_share(COPIED)).for_each(read);
            for r in part.filter(|&r| within[r] > max) {
                // Its regular force is that of all sources.
                self.radius.host::<f64>()[r] = 0.0;
                self.radius.send::<f64>(device, r + 1)?;
                let call = self.call(force, task);
                self.kernels.regular(device, self.sources, (r, 1), &call)?;
                device.wait()?;
            }
            if first + self.chunk < of_regular {
                self.launch(device, force, first + self.chunk, task)?;
            }
        }
        self.sums.fetch::<f64>(device, SUMS_STRIDE * of_regular)?;
        let mut listed = self.listed.as_mut().filter(|_| self.is_listed);
        if let Some(listed) = &mut listed {
            listed.fetch_renewed(device, of_regular)?;
        }
        device.wait()?;
        read_forces(self.sums.host(), &mut out.regular, to..to + of_regular);
        if let Some(listed) = listed {
            listed.read(&mut out.irregular, places.clone());
            listed.read_renewed(&mut out.renewed, to..to + of_regular);
        }
        Ok(())
    }

    /// Returns the call of the kernels.
    fn call<'a>(&self, force: Call<'a>, task: &NeighbourTargets<'_>) -> NeighbourCall<'a> {
        NeighbourCall {
            launched: LaunchedCall::of_forces(force),
            arrays: NeighbourAddresses {
                lists: self.lists.address(),
                counts: self.counts.address(),
                rows: [0, self.row.address()],
                regular: self.regular.address(),
                radius: self.radius.address(),
                packed: self.packed.address(),
                offsets: self.places.address(),
                ..NeighbourAddresses::default()
            }
            .of_one(SharerAddresses {
                sums: self.sums.address(),
                within: self.within.address(),
                ..SharerAddresses::default()
            }),
            eta_regular: 0.0,
            capacity: self.capacity as u32,
            max: task.max.min(self.sources) as u32,
            ratio_count: 0,
            criteria: [0; 2],
            six: 0,
            number: 0,
            renewed: 0,
            // There are regular forces alone: no other part is before them.
            sums_stride: 0,
            steps: 0,
            devices: [1, 0],
        }
    }
}
