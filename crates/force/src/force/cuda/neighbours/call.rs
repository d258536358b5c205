//! Argument of the kernels of the neighbour scheme.

use crate::force::cuda::driver::module::KernelArgument;
use crate::force::cuda::steps::launched_call::LaunchedCall;

/// Argument of the kernels, with the layout of `Neighbours` in kernels/neighbours.cuh, which describes the arrays. Both
/// must be changed together. The arrays are borrowed for the lifetime of the call.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct NeighbourCall<'a> {
    /// Forces, and whole block steps.
    pub launched: LaunchedCall<'a>,
    /// Addresses of the arrays.
    pub arrays: NeighbourAddresses,
    /// η of the regular steps.
    pub eta_regular: f64,
    /// Number of entries of a row of the lists.
    pub capacity: u32,
    /// Largest number of neighbours.
    pub max: u32,
    /// Number of ratios of radii.
    pub ratio_count: u32,
    /// Highest derivative of the criterion of irregular, and of regular steps.
    pub criteria: [u32; 2],
    /// 1 at order 6.
    pub six: u32,
    /// Number of targets, or of regular ones, of a launch.
    pub number: u32,
    /// 1 for the new lists.
    pub renewed: u32,
    /// Distance of the parts of the sums.
    pub sums_stride: u32,
    /// 1 for whole block steps.
    pub steps: u32,
    /// Number of the devices that share the steps, and of this one among them.
    pub devices: [u32; 2],
}

// SAFETY: has the layout of `Neighbours` in kernels/neighbours.cuh; whoever launches checks what it points to.
#[allow(unsafe_code, reason = "what a kernel is given")]
unsafe impl KernelArgument for NeighbourCall<'static> {
    type For<'a> = NeighbourCall<'a>;
}

/// Addresses of the arrays.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct NeighbourAddresses {
    /// Predicted sources in f64: 8 f64 for each slot and one more.
    pub records: u64,
    /// What the scheme keeps of the particles, and of the targets after their step: [`KEPT`] columns of f64.
    pub kept: [u64; 2],
    /// Levels of regular steps, of the particles and of the targets after their step: u8.
    pub regular_level: [u64; 2],
    /// Row in use of each particle: u8.
    pub side: u64,
    /// Rows of the lists: u32.
    pub lists: u64,
    /// Number of entries of each row: u32.
    pub counts: u64,
    /// Rows of the targets, and new ones of the regular targets: u32.
    pub rows: [u64; 2],
    /// Places of the regular targets: u32.
    pub regular: u64,
    /// Regular targets whose lists would be too long: [`MAX_CUT`] u32.
    pub cut: u64,
    /// Places of the targets that the device owns: u32.
    pub own: u64,
    /// Schedule of the regular steps.
    pub schedule: u64,
    /// Ratios of radii: f64.
    pub ratios: u64,
    /// Radius of each regular target, for steps by the host: f64.
    pub radius: u64,
    /// Entries of lists on their way, or which the host has sent: u32.
    pub packed: u64,
    /// Place of the first entry of each list among them: u32.
    pub offsets: u64,
    /// What each device that shares the steps computes for all.
    pub sharers: [SharerAddresses; MAX_SHARERS],
}

/// Addresses of what a device that shares the steps computes for all, with the layout of `Sharer`.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct SharerAddresses {
    /// Forces: 3 parts of 8 f64 for each target.
    pub sums: u64,
    /// Derivatives of pairs that entered or left a list: 13 f64 for each regular target.
    pub exchanges: u64,
    /// Number of sources within the radius of each regular target: u32.
    pub within: u64,
    /// Schedule of the block steps.
    pub schedule: u64,
}

impl NeighbourAddresses {
    /// Returns the addresses with those of what one device computes.
    #[must_use]
    pub fn of_one(mut self, own: SharerAddresses) -> Self {
        self.sharers[0] = own;
        self
    }
}

/// Largest number of devices that share the steps (`MAX_SHARERS`), and number of particles after each other that one owns (`OWNED`).
pub const MAX_SHARERS: usize = 8;
pub const OWNED: usize = 32;

/// Number of columns that the scheme keeps of a particle (`KEPT_COLUMNS` of kernels/neighbours.cuh).
pub const KEPT: usize = 27;
/// Distance of the forces in the sums (`SUMS_STRIDE`).
pub const SUMS_STRIDE: usize = 8;
/// Number of numbers of a record (`RECORD`).
pub const RECORD: usize = 8;
/// Number of numbers of an exchange (`EXCHANGE`).
pub const EXCHANGE: usize = 13;
/// Largest number of lists that may be too long in a step (`MAX_CUT`).
pub const MAX_CUT: usize = 256;
/// Number of threads of most kernels (`NEAR_THREADS`).
pub const THREADS: usize = 256;

impl NeighbourCall<'_> {
    /// Returns the call for some targets, or regular targets with their new lists, from number `first` on.
    #[must_use]
    pub fn of(mut self, first: usize, number: usize, renewed: bool) -> Self {
        self.launched.force = self.launched.force.batch((first, number), (0, 0));
        (self.number, self.renewed) = (number as u32, u32::from(renewed));
        self
    }
}
