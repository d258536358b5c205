//! Memory of the sources, and their copy in the engine.
//!
//! A client writes sources to *addresses*; a call takes the first `nj` addresses. Those of them that hold a source are
//! the *slots* of the engine. The engine predicts a source by acceleration and jerk where this is all there is to it: no
//! higher derivative, and both its time and the time of the call whole ticks of the [axis], the first not after
//! the second. Any other source is *placed*: predicted here, and given to the engine as one that stands still. Only
//! slots that changed go to the engine.

use crate::axis;
use crate::failure::{Failure, Result};
use rayon::prelude::*;
use std::collections::BTreeSet;
use tisane::force::FieldEngine;
use tisane::gravity::predict;
use tisane::particles::{Particles, Vec3};
use tisane::time::Time;

/// Largest number of addresses.
pub const MAX_ADDRESSES: usize = 1 << 23;
/// Identity of an address that counts as empty, as in AMUSE's `libg6`.
pub const NO_IDENTITY: i32 = -1;
/// Value of [`Sources::slot_of`] of an address without a slot.
const NO_SLOT: u32 = u32::MAX;
/// Number of sources from which predictions are shared among threads, and the share of one.
const SHARE: usize = 1024;

/// Source at a time of its own, in the quantities of the interface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    /// Identity: the "index", which a target with the same one does not feel.
    pub identity: i32,
    /// Its time.
    pub time: f64,
    /// Mass.
    pub mass: f64,
    /// Second derivative of the acceleration, divided by 18.
    pub snap18: Vec3,
    /// Jerk, divided by 6.
    pub jerk6: Vec3,
    /// Acceleration, divided by 2.
    pub acc2: Vec3,
    /// Velocity.
    pub vel: Vec3,
    /// Position.
    pub pos: Vec3,
}

impl Source {
    /// Returns position and velocity at the time `t`: the Taylor series in which `snap18` adds ¾ dt⁴ and 3 dt³. Without
    /// `snap18` the bits are those of the engines.
    #[must_use]
    pub fn predict(&self, t: f64) -> (Vec3, Vec3) {
        let dt = t - self.time;
        let (pos, vel) = predict(self.pos, self.vel, self.acc(), self.jerk(), dt);
        if self.snap18 == Vec3::zeros() {
            return (pos, vel);
        }
        let cube = dt * dt * dt;
        (pos + self.snap18 * (0.75 * dt * cube), vel + self.snap18 * (3.0 * cube))
    }

    /// Acceleration.
    #[must_use]
    pub fn acc(&self) -> Vec3 {
        self.acc2 * 2.0
    }

    /// Jerk.
    #[must_use]
    pub fn jerk(&self) -> Vec3 {
        self.jerk6 * 6.0
    }

    /// Returns the source's moment, if an engine can predict it from there.
    fn moment(&self) -> Option<Time> {
        if self.snap18 == Vec3::zeros() { axis::moment(self.time) } else { None }
    }
}

/// State of a slot of the engine.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    /// Flag that the engine must get it before the next call; then it is in [`Sources::pending`].
    pending: bool,
    /// Flag that the engine has it as a source that stands still; then it is in [`Sources::placed`].
    placed: bool,
}

/// All sources of a cluster.
#[derive(Debug, Default)]
pub struct Sources {
    addresses: Vec<Option<Source>>,
    /// Addresses whose last source was refused.
    refused: BTreeSet<usize>,
    /// Number of addresses that the slots are made of.
    nj: usize,
    /// Address of each slot, ascending.
    slots: Vec<u32>,
    /// Slot of each of the first `nj` addresses.
    slot_of: Vec<u32>,
    /// Identity and slot, sorted.
    identities: Vec<(i32, u32)>,
    /// What the engine holds, one entry a slot.
    image: Particles,
    marks: Vec<Mark>,
    pending: Vec<u32>,
    placed: Vec<u32>,
    /// Time at which the placed sources stand.
    placed_at: f64,
    /// Bounds on the moments of the sources that the engine predicts.
    moments: [u64; 2],
    /// Flag that the slots must be made anew.
    slots_changed: bool,
    /// Flag that the engine must get the masses, and so everything.
    masses_changed: bool,
    /// Number that changes with any source.
    version: u64,
}

impl Sources {
    /// Returns the source at an address, if there is one.
    #[must_use]
    pub fn at(&self, address: usize) -> Option<&Source> {
        self.addresses.get(address)?.as_ref()
    }

    /// Number of slots.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns true if there are no slots.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the source of a slot.
    ///
    /// # Panics
    /// If there is no such slot: a programming error.
    #[must_use]
    #[allow(clippy::expect_used, reason = "slots are made of addresses that hold a source")]
    pub fn slot(&self, slot: usize) -> &Source {
        self.addresses[self.slots[slot] as usize].as_ref().expect("a source in every slot")
    }

    /// Returns identity and slot of the sources with this identity, by slot.
    #[must_use]
    pub fn with_identity(&self, identity: i32) -> &[(i32, u32)] {
        let first = self.identities.partition_point(|&(other, _)| other < identity);
        let rest = &self.identities[first..];
        &rest[..rest.iter().take_while(|&&(other, _)| other == identity).count()]
    }

    /// Returns a number that changes whenever a source does.
    #[must_use]
    pub const fn version(&self) -> u64 {
        self.version
    }

    /// Predicts the positions of all slots to the time `t`, in columns that are made as long as needed.
    pub fn predict(&self, t: f64, columns: &mut [Vec<f64>; 3]) {
        columns.iter_mut().for_each(|column| column.resize(self.len(), 0.0));
        let [x, y, z] = columns.each_mut().map(|column| column.par_chunks_mut(SHARE));
        x.zip(y).zip(z).enumerate().for_each(|(share, ((x, y), z))| {
            for (k, slot) in (share * SHARE..).take(x.len()).enumerate() {
                [x[k], y[k], z[k]] = self.slot(slot).predict(t).0.into();
            }
        });
    }

    /// Stores a source.
    ///
    /// # Errors
    /// If the address is out of range.
    pub fn set(&mut self, address: i32, source: Source) -> Result<()> {
        let address = checked(address)?;
        if address >= self.addresses.len() {
            self.addresses.resize(address + 1, None);
        }
        let before = self.addresses[address].replace(source);
        self.refused.remove(&address);
        self.version += 1;
        let slot = self.slot_of.get(address).copied().unwrap_or(NO_SLOT);
        match before.filter(|before| slot != NO_SLOT && before.identity == source.identity) {
            Some(before) => {
                self.masses_changed |= before.mass != source.mass;
                self.image.mass[slot as usize] = source.mass;
                self.mark(slot);
                if let Some(moment) = source.moment() {
                    self.moments = [self.moments[0].min(moment.0), self.moments[1].max(moment.0)];
                }
            }
            None => self.slots_changed |= address < self.nj,
        }
        Ok(())
    }

    /// Remembers that the source for an address was refused, so that calls that would need it fail.
    ///
    /// # Errors
    /// If the address is out of range.
    pub fn refuse(&mut self, address: i32) -> Result<()> {
        self.refused.insert(checked(address)?);
        Ok(())
    }

    /// Makes the slots of the first `nj` addresses and brings the engine up to date for an evaluation at the time `t`.
    /// Returns its moment on the engine's axis.
    ///
    /// # Errors
    /// If one of the sources was refused, or the engine fails.
    pub fn bring(&mut self, engine: &mut dyn FieldEngine, t: f64, nj: usize) -> Result<Time> {
        if let Some(address) = self.refused.range(..nj).next() {
            return Err(Failure::argument(format!("the source for address {address} was refused")));
        }
        // Addresses beyond the last one written are empty.
        let nj = nj.min(self.addresses.len());
        if self.slots_changed || nj != self.nj {
            self.make_slots(nj);
        }
        let now = axis::moment(t);
        self.mark_what_cannot_stay(t, now);
        let mut changed = std::mem::take(&mut self.pending);
        changed.sort_unstable();
        for &slot in &changed {
            self.write(slot, t, now);
        }
        let everything = std::mem::replace(&mut self.masses_changed, false);
        let done = if everything { engine.load(&self.image) } else { engine.update(&self.image, &changed) };
        // An engine that failed may hold anything.
        self.slots_changed = done.is_err();
        changed.clear();
        self.pending = changed;
        done?;
        Ok(now.unwrap_or(axis::any_moment()))
    }

    fn make_slots(&mut self, nj: usize) {
        let holds = |address: &usize| self.addresses[*address].is_some_and(|source| source.identity != NO_IDENTITY);
        self.slots = (0..nj).filter(holds).map(|address| address as u32).collect();
        self.slot_of = vec![NO_SLOT; nj];
        for (slot, &address) in self.slots.iter().enumerate() {
            self.slot_of[address as usize] = slot as u32;
        }
        let n = self.len();
        self.identities = (0..n).map(|slot| (self.slot(slot).identity, slot as u32)).collect();
        self.identities.sort_unstable();
        let zeros = || vec![Vec3::zeros(); n];
        self.image = Particles::new((0..n).map(|slot| self.slot(slot).mass).collect(), zeros(), zeros());
        self.marks = vec![Mark::default(); n];
        self.pending.clear();
        self.placed.clear();
        self.mark_all();
        self.find_moments();
        (self.nj, self.masses_changed) = (nj, true);
        self.version += 1;
    }

    fn mark(&mut self, slot: u32) {
        if !std::mem::replace(&mut self.marks[slot as usize].pending, true) {
            self.pending.push(slot);
        }
    }

    fn mark_all(&mut self) {
        (0..self.len() as u32).for_each(|slot| self.mark(slot));
    }

    fn find_moments(&mut self) {
        let moments = (0..self.len()).filter_map(|slot| self.slot(slot).moment());
        self.moments = moments.fold([u64::MAX, 0], |[min, max], t| [min.min(t.0), max.max(t.0)]);
    }

    /// Marks the slots that the engine would have at the wrong place at the time `t`.
    fn mark_what_cannot_stay(&mut self, t: f64, now: Option<Time>) {
        let moved = self.placed_at.to_bits() != t.to_bits();
        self.placed_at = t;
        if moved {
            for slot in std::mem::take(&mut self.placed) {
                self.marks[slot as usize].placed = false;
                self.mark(slot);
            }
        }
        let Some(now) = now else {
            if moved {
                self.mark_all();
            }
            return;
        };
        // The bounds include sources that have been replaced, and so may be too wide.
        if within(self.moments, now) {
            return;
        }
        self.find_moments();
        if within(self.moments, now) {
            return;
        }
        for slot in 0..self.len() {
            let out = self.slot(slot).moment().is_some_and(|then| !within([then.0; 2], now));
            if out && !self.marks[slot].placed {
                self.mark(slot as u32);
            }
        }
    }

    /// Writes a slot as the engine is to have it at the time `t`, which is the moment `now` if it is on the axis.
    fn write(&mut self, slot: u32, t: f64, now: Option<Time>) {
        let i = slot as usize;
        let source = *self.slot(i);
        let image = &mut self.image;
        let predictable = source.moment().filter(|then| now.is_some_and(|now| within([then.0; 2], now)));
        if let Some(then) = predictable {
            (image.pos[i], image.vel[i], image.time[i]) = (source.pos, source.vel, then);
            (image.acc[i], image.jerk[i]) = (source.acc(), source.jerk());
        } else {
            (image.pos[i], image.vel[i]) = source.predict(t);
            (image.acc[i], image.jerk[i]) = (Vec3::zeros(), Vec3::zeros());
            image.time[i] = now.unwrap_or(axis::any_moment());
            if !std::mem::replace(&mut self.marks[i].placed, true) {
                self.placed.push(slot);
            }
        }
        self.marks[i].pending = false;
    }
}

/// Returns true if an engine can predict sources with moments between these to `now`.
const fn within([min, max]: [u64; 2], now: Time) -> bool {
    max <= now.0 && now.0.saturating_sub(min) <= axis::LONGEST
}

/// Returns an address of a client as an index.
fn checked(address: i32) -> Result<usize> {
    let problem = || Failure::argument(format!("address {address}: expected 0 to {}", MAX_ADDRESSES - 1));
    usize::try_from(address).ok().filter(|&address| address < MAX_ADDRESSES).ok_or_else(problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane::force::precision::Precision;
    use tisane::force::{Forces, NO_SOURCE, Points, reference};

    /// Source at the time 1, in whose components only powers of two are found.
    fn source(snap18: f64) -> Source {
        let vector = |x: f64| Vec3::new(x, 0.0, -x);
        let [acc2, vel, pos] = [0.25, 2.0, 8.0].map(vector);
        Source { identity: 5, time: 1.0, mass: 1.0, snap18: vector(snap18), jerk6: vector(0.5), acc2, vel, pos }
    }

    /// x = 8 + 2 s + s²/4 + s³/2 + ¾ k s⁴ and its derivative.
    #[test]
    fn the_predictor_is_the_polynomial() {
        for k in [0.0, 1.0, -4.0] {
            for s in [0.0, 0.5, -0.25, 2.0f64] {
                let (pos, vel) = source(k).predict(1.0 + s);
                let x = 8.0 + 2.0 * s + s * s / 4.0 + s.powi(3) / 2.0 + 0.75 * k * s.powi(4);
                let v = 2.0 + s / 2.0 + 1.5 * s * s + 3.0 * k * s.powi(3);
                for (got, want) in [(pos.x, x), (vel.x, v), (-pos.z, x), (-vel.z, v), (pos.y, 0.0)] {
                    assert!((got - want).abs() <= 1e-15 * want.abs(), "k = {k}, s = {s}: {got}, expected {want}");
                }
            }
        }
    }

    fn acc(engine: &mut dyn FieldEngine, sources: &mut Sources, t: f64, nj: usize) -> f64 {
        let now = sources.bring(engine, t, nj).unwrap();
        let (pos, vel, mut out) = ([Vec3::zeros()], [Vec3::zeros()], Forces::default());
        engine.evaluate_at(now, Points { exclude: &[NO_SOURCE], pos: &pos, vel: &vel }, &mut out).unwrap();
        out.acc[0].x
    }

    /// Only what cannot be left as it is goes to the engine again.
    #[test]
    fn sources_are_placed_only_where_the_engine_cannot_predict() {
        let mut engine = reference::engine(Precision::F64, 0.0, axis::CLOCK);
        let mut sources = Sources::default();
        for (address, snap18) in [(0, 0.0), (1, 2.0), (3, 0.0)] {
            sources.set(address, source(snap18)).unwrap();
        }
        let want = |sources: &Sources, t: f64| -> f64 {
            let all = (0..sources.len()).map(|slot| sources.slot(slot).predict(t).0);
            all.map(|x| x.x / x.norm().powi(3)).sum()
        };
        for (t, placed) in [(2.0, 1), (2.0, 1), (1.5, 1), (0.5, 3), (0.1, 3), (0.1, 3), (3.0, 1), (200.0, 3), (1.0, 1)]
        {
            let got = acc(&mut *engine, &mut sources, t, 4);
            assert!((got / want(&sources, t) - 1.0).abs() < 1e-12, "t = {t}");
            assert_eq!(sources.placed.len(), placed, "t = {t}");
        }
    }

    #[test]
    fn slots_are_the_addresses_that_hold_somebody() {
        let mut engine = reference::engine(Precision::F64, 0.0, axis::CLOCK);
        let mut sources = Sources::default();
        for (address, identity) in [(0, 9), (2, NO_IDENTITY), (5, 9), (7, 3)] {
            sources.set(address, Source { identity, ..source(0.0) }).unwrap();
        }
        acc(&mut *engine, &mut sources, 2.0, 100);
        assert_eq!((sources.slots.as_slice(), sources.with_identity(9)), (&[0, 5, 7][..], &[(9, 0), (9, 1)][..]));
        acc(&mut *engine, &mut sources, 2.0, 7);
        assert_eq!((sources.len(), sources.with_identity(3)), (2, &[][..]));
        assert!(sources.set(-1, source(0.0)).is_err() && sources.set(1 << 23, source(0.0)).is_err());
    }
}
