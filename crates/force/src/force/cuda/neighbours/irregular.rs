//! Irregular forces of large blocks, in steps that the host takes. The host sends the lists of the block, and the device sums them: from
//! some ten thousand entries on this is quicker than the threads of the host. New lists are on the device already.

use super::call::{NeighbourAddresses, NeighbourCall, RECORD, SUMS_STRIDE, SharerAddresses};
use super::kernels::NeighbourKernels;
use super::staged::Staged;
use crate::error::Result;
use crate::force::cuda::driver::device::Device;
use crate::force::cuda::driver::memory::Memory;
use crate::force::forces::Forces;
use crate::force::neighbours::NeighbourTargets;
use crate::particles::Vec3;
use crate::spin_pool::min_share;
use rayon::prelude::*;
use std::ops::Range;

/// Number of entries of lists that are sent at a time.
const ENTRIES: usize = 16 << 20;
/// Number of entries from which on the device sums the lists of a block, and part of the sources that adds to it, 1 / this number: it
/// predicts all of them. An estimate; no result depends on it.
const MIN_ENTRIES: usize = 1 << 15;
const PER_SOURCE: usize = 16;

/// Number of lists that a thread copies at least.
const PACKED: usize = 16;
/// Nanoseconds in which a list is copied, and a force.
const COPIED: usize = 200;
const READ: usize = 20;

/// Memory for irregular forces.
pub struct ListedForces {
    /// Predicted sources.
    records: Memory,
    /// The numbers from 0 on: the rows of the targets.
    rows: Memory,
    /// Lists one after the other, the places of their first entries, and their numbers of entries.
    lists: Staged,
    places: Staged,
    counts: Staged,
    room: usize,
    /// Forces by the lists of the targets, and by the new ones of regular targets.
    sums: Staged,
    renewed: Staged,
}

/// Returns true if a device sums the lists of a block sooner than the host, among a number of sources.
pub fn is_worth_sending(lists: &[&[u32]], sources: usize) -> bool {
    lists.iter().map(|list| list.len()).sum::<usize>() >= MIN_ENTRIES + sources / PER_SOURCE
}

/// Returns how many of the first lists have room for their entries, and stores the place of the first entry of each.
fn places_for(lists: &[&[u32]], room: usize, places: &mut [u32]) -> usize {
    let mut entries = 0;
    for (number, (list, place)) in lists.iter().zip(places).enumerate() {
        if entries + list.len() > room {
            return number;
        }
        *place = entries as u32;
        entries += list.len();
    }
    lists.len()
}

/// Copies lists one after the other.
fn pack(lists: &[&[u32]], mut to: &mut [u32]) {
    let mut pieces = Vec::with_capacity(lists.len().div_ceil(PACKED));
    for some in lists.chunks(PACKED) {
        let (piece, later) = to.split_at_mut(some.iter().map(|list| list.len()).sum());
        pieces.push((some, piece));
        to = later;
    }
    let copy = |(lists, mut to): (&[&[u32]], &mut [u32])| {
        for list in lists {
            let (place, later) = to.split_at_mut(list.len());
            place.copy_from_slice(list);
            to = later;
        }
    };
    pieces.into_par_iter().with_min_len(min_share(PACKED * COPIED)).for_each(copy);
}

impl ListedForces {
    /// Allocates memory for `slots` sources and as many targets.
    ///
    /// # Errors
    /// If there is too little.
    pub fn new(device: &Device, slots: usize) -> Result<Self> {
        let half = slots.div_ceil(2);
        let mut rows = Staged::new(device, half)?;
        rows.host::<u32>().iter_mut().zip(0..).for_each(|(row, k)| *row = k);
        rows.send::<u32>(device, slots)?;
        device.wait()?;
        Ok(Self {
            records: device.memory(8 * RECORD * slots)?,
            rows: rows.into_memory(),
            lists: Staged::new(device, 0)?,
            places: Staged::new(device, half)?,
            counts: Staged::new(device, half)?,
            room: 0,
            sums: Staged::new(device, SUMS_STRIDE * slots)?,
            renewed: Staged::new(device, SUMS_STRIDE * slots)?,
        })
    }

    /// Makes room for the entries of some lists, or as many as are sent at a time.
    fn make_room(&mut self, device: &Device, lists: &[&[u32]]) -> Result<()> {
        let longest = lists.iter().map(|list| list.len()).max().unwrap_or_default();
        let entries: usize = lists.iter().map(|list| list.len()).sum();
        let needed = entries.min(ENTRIES.max(longest)).max(2);
        if needed > self.room {
            device.wait()?;
            // Never both at a time.
            self.lists = Staged::new(device, 0)?;
            self.room = needed.next_power_of_two();
            self.lists = Staged::new(device, self.room / 2)?;
        }
        Ok(())
    }

    /// Starts the irregular forces of a task on the targets at some places, all of which were sent to the device, among `sources` sources
    /// that it holds. `call` has their arrays.
    ///
    /// # Errors
    /// If the device fails.
    pub fn begin(
        &mut self,
        device: &Device,
        kernels: &NeighbourKernels,
        (mut call, sources): (NeighbourCall<'_>, usize),
        (task, places): (&NeighbourTargets<'_>, Range<usize>),
    ) -> Result<()> {
        let n = task.lists.len();
        self.make_room(device, &task.lists[places.clone()])?;
        call.arrays = NeighbourAddresses {
            records: self.records.address(),
            counts: self.counts.address(),
            rows: [self.rows.address(); 2],
            packed: self.lists.address(),
            offsets: self.places.address(),
            ..NeighbourAddresses::default()
        }
        .of_one(SharerAddresses { sums: self.sums.address(), ..SharerAddresses::default() });
        self.counts.host::<u32>().iter_mut().zip(task.lists).for_each(|(count, list)| *count = list.len() as u32);
        self.counts.send::<u32>(device, n)?;
        kernels.predict(device, (sources, n), &call)?;
        let mut first = places.start;
        while first < places.end {
            if first > places.start {
                // The lists before are on their way from the same memory.
                device.wait()?;
            }
            let rest = &task.lists[first..places.end];
            let number = places_for(rest, self.room, &mut self.places.host::<u32>()[first..]);
            pack(&rest[..number], self.lists.host::<u32>());
            self.lists.send::<u32>(device, rest[..number].iter().map(|list| list.len()).sum())?;
            self.places.send::<u32>(device, first + number)?;
            kernels.irregular(device, (first, number), false, &call)?;
            first += number;
        }
        self.sums.fetch::<f64>(device, SUMS_STRIDE * places.end)
    }

    /// Starts the irregular forces on some regular targets by their new lists, which `call` has.
    ///
    /// # Errors
    /// If the device fails.
    pub fn renew(
        &self,
        device: &Device,
        kernels: &NeighbourKernels,
        mut call: NeighbourCall<'_>,
        part: Range<usize>,
    ) -> Result<()> {
        (call.arrays.records, call.arrays.sharers[0].sums) = (self.records.address(), self.renewed.address());
        kernels.irregular(device, (part.start, part.len()), true, &call)
    }

    /// Starts the copy of the forces on `n` regular targets by their new lists.
    ///
    /// # Errors
    /// If the device fails.
    pub fn fetch_renewed(&mut self, device: &Device, n: usize) -> Result<()> {
        self.renewed.fetch::<f64>(device, SUMS_STRIDE * n)
    }

    /// Stores the forces on the targets at some places, after the device is done.
    pub fn read(&mut self, out: &mut Forces, places: Range<usize>) {
        read_forces(&self.sums.host()[SUMS_STRIDE * places.start..], out, places);
    }

    /// Stores the forces on regular targets by their new lists, the first of which are those at some places, after the device is done.
    pub fn read_renewed(&mut self, out: &mut Forces, places: Range<usize>) {
        read_forces(self.renewed.host(), out, places);
    }
}

/// Stores the forces that sums are, from the first on, at some places.
pub fn read_forces(sums: &[f64], out: &mut Forces, places: Range<usize>) {
    let (sums, _) = sums.as_chunks::<SUMS_STRIDE>();
    let Forces { acc, jerk, pot, .. } = out;
    let vectors = acc[places.clone()].par_iter_mut().zip(&mut jerk[places.clone()]).zip(&mut pot[places]);
    vectors.zip(sums).with_min_len(min_share(READ)).for_each(|(((acc, jerk), pot), sum)| {
        (*acc, *jerk, *pot) = (Vec3::new(sum[0], sum[1], sum[2]), Vec3::new(sum[3], sum[4], sum[5]), sum[6]);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_follow_each_other_as_far_as_there_is_room() {
        let lists: [&[u32]; 4] = [&[1, 2, 3], &[], &[1; 7], &[4]];
        let mut places = [9; 4];
        assert_eq!((places_for(&lists, 100, &mut places), places), (4, [0, 3, 3, 10]));
        assert_eq!(places_for(&lists, 10, &mut places), 3);
        assert_eq!(places_for(&lists, 9, &mut places), 2);
        assert_eq!(places_for(&lists[2..], 7, &mut places), 1);
        let long: Vec<Vec<u32>> = (0..5 * PACKED as u32).map(|k| (0..k % 7).map(|e| 10 * k + e).collect()).collect();
        let lists: Vec<&[u32]> = long.iter().map(Vec::as_slice).collect();
        let mut packed = vec![0; long.iter().map(Vec::len).sum()];
        pack(&lists, &mut packed);
        assert_eq!(packed, long.concat());
    }

    #[test]
    fn a_device_sums_many_entries() {
        let list = [0; 1000];
        let lists = [&list[..]; 40];
        assert!(is_worth_sending(&lists, 1000) && !is_worth_sending(&lists[..30], 1000));
        assert!(!is_worth_sending(&lists, 1_000_000));
    }
}
