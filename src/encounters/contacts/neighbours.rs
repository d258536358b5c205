//! Lists of the bodies that each body may touch soon, so that contacts are looked for among a few only.
//!
//! A list holds up to a moment that no step of its body passes. It has all bodies that can come within reach until then, as long
//! as none is faster than the speed it is known by; one that becomes faster makes its own list anew, and enters those of others.
//! Lists are never too short, and what is found does not depend on how long they are. Speeds are relative to the mean velocity:
//! a cluster that moves as a whole has the lists of one at rest.

use std::collections::BTreeMap;
use tisane_force::particles::Vec3;
use tisane_force::time::Time;

/// Bodies that a body may touch up to a moment, by lowest stars.
#[derive(Clone, Debug, Default)]
pub struct List {
    /// Moment.
    pub until: Time,
    /// Speed by which the body is known, in the frame of the lists.
    pub speed: f64,
    /// Those, ascending.
    pub neighbours: Vec<u32>,
}

/// Lists by lowest stars.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    /// The lists.
    pub lists: Vec<List>,
    /// Velocity of the frame in which speeds are measured.
    pub frame: Vec3,
    /// Moments at which pairs of bodies, by lowest stars, will touch by what was known when one of them last moved.
    expected: BTreeMap<[u32; 2], f64>,
}

impl Neighbours {
    /// Returns the bodies on the list of a body, by lowest stars; they may have ended.
    pub fn of(&self, star: u32) -> &[u32] {
        self.lists.get(star as usize).map_or(&[], |list| &list.neighbours)
    }

    /// Forgets the list of a body that ends or begins.
    pub fn forget(&mut self, star: u32) {
        if let Some(list) = self.lists.get_mut(star as usize) {
            (list.until, list.speed) = (Time::default(), 0.0);
        }
        self.expected.retain(|pair, _| !pair.contains(&star));
    }

    /// Takes note of the moments at which a body will touch others, all by lowest stars, in place of those that were known.
    pub fn expect(&mut self, star: u32, found: impl IntoIterator<Item = (u32, f64)>) {
        self.expected.retain(|pair, _| !pair.contains(&star));
        self.expected.extend(found.into_iter().map(|(other, time)| ([star.min(other), star.max(other)], time)));
    }

    /// Returns the bodies, by lowest stars, that were to touch up to a moment.
    pub fn due(&self, until: f64) -> Vec<u32> {
        self.expected.iter().filter(|(_, time)| **time <= until).flat_map(|(pair, _)| *pair).collect()
    }

    /// Takes out stars, and gives the others new numbers.
    pub fn renumber(&mut self, stays: impl Fn(u32) -> bool, number: impl Fn(u32) -> u32) {
        let mut star = 0..;
        self.lists.retain(|_| star.next().is_some_and(&stays));
        for list in &mut self.lists {
            list.neighbours.retain(|&star| stays(star));
            list.neighbours.iter_mut().for_each(|star| *star = number(*star));
        }
        let expected = std::mem::take(&mut self.expected).into_iter();
        let stays = expected.filter(|(pair, _)| pair.iter().all(|&star| stays(star)));
        self.expected = stays.map(|(pair, time)| (pair.map(&number), time)).collect();
    }
}
