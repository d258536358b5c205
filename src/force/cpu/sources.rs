//! How the CPU engine lays out its sources: bag-interleaved, eight neighbouring bags side by side.
//!
//! Eight bags of 64 form a *group*. Slot `t` of a group holds source `t` of each of its eight bags, so that one vector load
//! fetches the same element of neighbouring bags (lanes over bags), and one broadcast fetches a single source (lanes over
//! targets). All columns of a slot are adjacent: a sweep is one stream.

use crate::force::canonical::{BAG, bags};
use crate::gravity::predict_component;
use crate::particles::{Particles, Vec3};
use crate::time::Time;
use bytemuck::{Pod, Zeroable};

/// Bags side by side in a slot: the widest vector unit's lanes.
pub const GROUP_BAGS: usize = 8;
/// Values in a slot of predicted sources: position, velocity, mass of eight sources.
pub const SLOT_COLUMNS: usize = 7;

/// One value of the eight sources of a slot.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Octet(pub [f64; GROUP_BAGS]);

/// Predicted state of eight sources; [`SLOT_COLUMNS`] octets: x y z vx vy vz mass.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Slot {
    pos: [Octet; 3],
    vel: [Octet; 3],
    mass: Octet,
}

/// State of eight sources at their own times, from which they are predicted.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Held {
    pos: [Octet; 3],
    vel: [Octet; 3],
    acc: [Octet; 3],
    jerk: [Octet; 3],
    ticks: [u64; GROUP_BAGS],
}

/// Where a lane without a source stands: so far away that with mass 0 it adds exact zeros, near enough that no square
/// overflows to a NaN.
const NOWHERE: f64 = 1e150;

/// The sources, held and predicted.
#[derive(Debug, Default)]
pub struct Sources {
    held: Vec<Held>,
    predicted: Vec<Slot>,
    len: usize,
}

/// Slot and lane of source `i`.
#[inline(always)]
fn place(i: usize) -> (usize, usize) {
    let bag = i / BAG;
    ((bag / GROUP_BAGS) * BAG + i % BAG, bag % GROUP_BAGS)
}

impl Sources {
    /// Number of sources.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The predicted slots, [`BAG`] a group.
    pub fn predicted(&self) -> &[Slot] {
        &self.predicted
    }

    /// Takes over all particles.
    pub fn load(&mut self, p: &Particles) {
        self.len = p.len();
        let slots = bags(p.len()).div_ceil(GROUP_BAGS) * BAG;
        let mut empty_held = Held::zeroed();
        empty_held.pos = [Octet([NOWHERE; GROUP_BAGS]); 3];
        let mut empty_slot = Slot::zeroed();
        empty_slot.pos = empty_held.pos;
        self.held = vec![empty_held; slots];
        self.predicted = vec![empty_slot; slots];
        for i in 0..p.len() {
            let (slot, lane) = place(i);
            self.predicted[slot].mass.0[lane] = p.mass[i];
            self.store(p, i);
        }
    }

    /// Takes over the state of particle `i`.
    #[inline]
    pub fn store(&mut self, p: &Particles, i: usize) {
        let (slot, lane) = place(i);
        let held = &mut self.held[slot];
        for k in 0..3 {
            held.pos[k].0[lane] = p.pos[i][k];
            held.vel[k].0[lane] = p.vel[i][k];
            held.acc[k].0[lane] = p.acc[i][k];
            held.jerk[k].0[lane] = p.jerk[i][k];
        }
        held.ticks[lane] = p.time[i].0;
    }

    /// Held and predicted slots in pieces of whole groups, to be predicted apart.
    pub fn pieces(&mut self, groups: usize) -> impl Iterator<Item = Piece<'_>> + Send {
        let slots = groups * BAG;
        self.held.chunks(slots).zip(self.predicted.chunks_mut(slots)).map(|(held, predicted)| Piece { held, predicted })
    }

    /// Puts the predicted source `i` at a given state.
    #[inline]
    pub fn put(&mut self, i: usize, pos: Vec3, vel: Vec3) {
        let (slot, lane) = place(i);
        let slot = &mut self.predicted[slot];
        for k in 0..3 {
            slot.pos[k].0[lane] = pos[k];
            slot.vel[k].0[lane] = vel[k];
        }
    }
}

/// Some slots, held and to be predicted.
pub struct Piece<'a> {
    held: &'a [Held],
    predicted: &'a mut [Slot],
}

impl Piece<'_> {
    /// Predicts every source of the piece to `now`. Plain loops over octets, which the compiler turns into vector code
    /// where this is inlined into a function built for the wider instruction set.
    #[inline(always)]
    pub fn predict(self, now: Time, tick: f64) {
        for (held, slot) in self.held.iter().zip(self.predicted) {
            let dt = held.ticks.map(|ticks| (now.0 - ticks) as f64 * tick);
            for k in 0..3 {
                for lane in 0..GROUP_BAGS {
                    (slot.pos[k].0[lane], slot.vel[k].0[lane]) = predict_component(
                        held.pos[k].0[lane],
                        held.vel[k].0[lane],
                        held.acc[k].0[lane],
                        held.jerk[k].0[lane],
                        dt[lane],
                    );
                }
            }
        }
    }
}
