//! Bodies by regions: who is near a place, without a look at all bodies.
//!
//! The regions are the nodes of a balanced k-d tree over the places at the moment at which it was made. Each body bounds its distance
//! from the box of its node by the highest speed in its present step. So a search leaves out whole nodes of which none can be among
//! those asked for, and looks at the others one by one, at their predicted places. Its answers are those of a search through all
//! bodies, to the last bit, whenever the tree was made: it is no state of a run.

use crate::encounters::cube_root::cube_root;
use crate::encounters::forces::bodies::is_empty;
use crate::encounters::forces::columns::NEAREST2;
use crate::encounters::forces::surroundings::{Reach, at};
use rayon::prelude::*;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ops::Range;
use tisane_force::gravity::predict;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::spin_pool::{min_share, share};
use tisane_force::time::{Clock, Level, Time};

/// Largest number of bodies in a leaf, and number of its places for others that begin there. No result depends on them.
const MAX_IN_LEAF: usize = 8;
const SPARE: usize = 1;
/// The tree is made anew after a step of this level, as bodies leave the boxes of their nodes. From level 3 to 7 searches took the
/// same time (N = 16384 with dt_max = 1/32, 6144 with 1/16), and the trees of level 7 as much as all searches. At level 4 they took
/// 1.4 times as much as all looks (N = 4096, no binaries). No result depends on it.
const AGE: Level = Level(3);
/// Number of bodies from which on threads share the making of a node. No result depends on it.
const MIN_JOINED: usize = 1024;
/// Number of bodies outside of the tree from which on it is made anew, and that of large trees in units of the root of their number:
/// the more a tree costs, the longer a search looks at each of those outside. No result depends on them.
const MAX_OUTSIDE: usize = 64;
const MAX_OUTSIDE_PER_ROOT: f64 = 0.5;
/// Part of all bodies, 1 / this number, from which on those that a search finds come in order by a column of all rows, not by
/// sorting. No result depends on it.
const MIN_SHARE_IN_COLUMN: usize = 16;
/// Number of nodes that a comparison of a sum over all bodies with a limit opens at most beyond those that it has to, and that of
/// bodies for each of them: the sum itself is not slower then. No result depends on them.
const MAX_OPENED: usize = 32;
const MIN_BODIES_PER_OPENED: usize = 64;
/// Factor of a bound that is above the rounding of what it bounds.
const UP: f64 = 1.0 + 1e-12;
/// The same for a bound below it.
const DOWN: f64 = 1.0 - 1e-12;
/// Bound of the rounding of a place, in units of its largest coordinate.
const ROUNDING: f64 = 1e-14;
/// Bound of the rounding of sums over all bodies, in any order.
const ROUNDING_OF_SUMS: f64 = 1e-9;
/// Factor of a perturbation that is above the rounding of orbits: an eccentricity near 0 has half of the digits of others.
const MARGIN: f64 = 1.0 + 1e-5;
/// Distance, in units of the largest coordinate, from which on the rounding of places changes its cube by less than that.
const NEAREST_KNOWN: f64 = 1e-9;
/// Time in which the state of a body is renewed, in nanoseconds.
const WORK: usize = 50;
/// Mark of no node.
const NONE: u32 = u32::MAX;

/// The body with the largest m/r³ at another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strongest {
    /// Its row: the first among equals.
    pub row: usize,
    /// Its m/r³.
    pub weight: f64,
    /// Lower bound of the sum of m/r³ of the others.
    pub min_rest: f64,
}

impl Strongest {
    /// Takes in a body.
    fn add(&mut self, row: usize, weight: f64) {
        if weight > self.weight || weight == self.weight && row < self.row {
            self.min_rest += self.weight;
            (self.row, self.weight) = (row, weight);
        } else {
            self.min_rest += weight;
        }
    }
}

/// Bounds of a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Lower one.
    pub min: f64,
    /// Upper one.
    pub max: f64,
}

/// Node of the tree: bodies in a box. What a move of a body asks for is in the first line of a cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
struct Node {
    /// Corners of the box of the places at the moment of the tree.
    low: Vec3,
    high: Vec3,
    /// No body is farther from the box than by `lead` and the time since at this speed.
    lead: f64,
    speed: f64,
    /// Largest mass, and its cube root.
    mass: f64,
    root: f64,
    /// Sum of the masses at the moment of the tree, and of those that have left since.
    total: f64,
    lost: f64,
    /// Bounds of the grips of the subsystems.
    grip: Grip,
    parent: u32,
    /// Second child, the first comes next; [`NONE`] for a leaf.
    second: u32,
    /// States of a leaf, and the number of its places for them.
    first: u32,
    count: u16,
    room: u16,
}

impl Node {
    /// Returns the distance of a place from the box.
    fn distance(&self, from: Vec3) -> f64 {
        let outside = |k: usize| (self.low[k] - from[k]).max(from[k] - self.high[k]).max(0.0);
        let [x, y, z] = [outside(0), outside(1), outside(2)];
        (x * x + y * y + z * z).sqrt() * DOWN
    }

    /// Returns the largest distance of a place from one in the box.
    fn max_distance(&self, from: Vec3) -> f64 {
        let far = |k: usize| (self.high[k] - from[k]).abs().max((from[k] - self.low[k]).abs());
        let [x, y, z] = [far(0), far(1), far(2)];
        (x * x + y * y + z * z).sqrt() * UP
    }

    /// Returns the places of the states of a leaf.
    fn places(&self) -> Range<usize> {
        self.first as usize..self.first as usize + usize::from(self.count)
    }

    /// Returns the `lead` that holds a body at a place, where that is `way` off since the making of the tree at its speed.
    fn lead_of(&self, place: Vec3, way: f64) -> f64 {
        self.distance(place) * (UP * UP) - way + ROUNDING * place.amax()
    }

    /// Raises the bounds to those of a body or a node in the box.
    fn include(&mut self, mass: f64, root: f64, speed: f64) {
        (self.mass, self.root) = (self.mass.max(mass), self.root.max(root));
        self.speed = self.speed.max(speed);
    }

    /// Returns the largest distance of a body from the box, `since` the making of which this time has passed.
    fn way(&self, since: f64) -> f64 {
        (self.lead + self.speed * since) * UP
    }
}

/// Whom a subsystem takes up as perturbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Grip {
    /// Distance within which another body perturbs it, in units of the cube root of the mass that counts.
    pub distance: f64,
    /// Moment up to which its list of perturbers holds.
    pub until: Time,
}

/// Bounds of the search for subsystems that a body may perturb.
#[derive(Clone, Copy, Debug)]
pub struct Gripping {
    /// Smallest mass that counts for the distance, as the cube root of its ratio to the mass of the subsystem.
    pub min: f64,
    /// Safety factor of ways.
    pub margin: f64,
}

/// State of a body: two lines of a cache.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct State {
    row: u32,
    /// Node that has it, if one does.
    leaf: u32,
    time: Time,
    mass: f64,
    /// Cube root of the mass.
    root: f64,
    pos: Vec3,
    vel: Vec3,
    acc: Vec3,
    jerk: Vec3,
}

impl State {
    #[inline(always)]
    fn new(p: &Particles, row: usize, leaf: u32, root: f64) -> Self {
        let (pos, vel, acc, jerk) = (p.pos[row], p.vel[row], p.acc[row], p.jerk[row]);
        Self { row: row as u32, leaf, time: p.time[row], mass: p.mass[row], root, pos, vel, acc, jerk }
    }

    /// Takes time, place and derivatives of the row.
    #[inline(always)]
    fn follow(&mut self, p: &Particles, row: usize) {
        (self.time, self.pos, self.vel, self.acc, self.jerk) =
            (p.time[row], p.pos[row], p.vel[row], p.acc[row], p.jerk[row]);
    }

    fn at(&self, clock: &Clock, now: Time) -> Vec3 {
        predict(self.pos, self.vel, self.acc, self.jerk, clock.between(self.time, now)).0
    }

    /// Returns the square of the distance from a place as the sums over all bodies have it.
    fn square(&self, clock: &Clock, now: Time, from: Vec3) -> f64 {
        let r = self.at(clock, now) - from;
        let square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
        if square > NEAREST2 { square } else { NEAREST2 }
    }

    /// Returns m/r³ at a place.
    fn weight(&self, clock: &Clock, now: Time, from: Vec3) -> f64 {
        let r2 = self.square(clock, now, from);
        self.mass / (r2 * r2.sqrt())
    }
}

/// Body, in the making of a tree.
#[derive(Clone, Copy)]
struct Placed {
    place: Vec3,
    row: u32,
}

/// Part of a tree in the making: a node, and those below it.
struct Part<'a> {
    bodies: &'a mut [Placed],
    nodes: &'a mut [Node],
    states: &'a mut [State],
    /// First node and state, in the lists of all.
    node: u32,
    first: u32,
}

impl Part<'_> {
    /// Makes the nodes, and the states of the bodies.
    fn make(self, p: &Particles, clock: &Clock, roots: &[[f64; 2]], parent: u32) {
        let Self { bodies, nodes, states, node, first } = self;
        let Some((own, below)) = nodes.split_first_mut() else { return };
        let (mut low, mut high) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
        for Placed { place, .. } in &*bodies {
            (low, high) = (low.inf(place), high.sup(place));
        }
        let (lead, count) = (ROUNDING * low.amax().max(high.amax()), bodies.len());
        let (of_leaf, room) = (count.min(MAX_IN_LEAF) as u16, (MAX_IN_LEAF.min(count) + SPARE) as u16);
        *own = Node { low, high, lead, parent, second: NONE, first, count: of_leaf, room, ..Node::default() };
        if count <= MAX_IN_LEAF {
            bodies.sort_unstable_by_key(|body| body.row);
            for (body, state) in bodies.iter().zip(states) {
                let row = body.row as usize;
                *state = State::new(p, row, node, roots[row][1]);
                own.include(state.mass, state.root, max_speed(p, clock, row));
                own.total += state.mass;
            }
            return;
        }
        let (axis, half) = ((high - low).imax(), count / 2);
        bodies.select_nth_unstable_by(half, |a, b| a.place[axis].total_cmp(&b.place[axis]));
        let [number, _] = numbers_of_nodes(half);
        own.second = node + 1 + number as u32;
        let places = places_for(half, number);
        let (nodes, states) = (below.split_at_mut(number), states.split_at_mut(places));
        let bodies = bodies.split_at_mut(half);
        let one = Part { bodies: bodies.0, nodes: &mut *nodes.0, states: states.0, node: node + 1, first };
        let (second, first) = (own.second, first + places as u32);
        let two = Part { bodies: bodies.1, nodes: &mut *nodes.1, states: states.1, node: second, first };
        let make = |part: Part<'_>| part.make(p, clock, roots, node);
        if count < MIN_JOINED {
            [one, two].into_iter().for_each(make);
        } else {
            rayon::join(|| make(one), || make(two));
        }
        for child in [&nodes.0[0], &nodes.1[0]] {
            own.include(child.mass, child.root, child.speed);
            own.total += child.total;
        }
    }
}

/// Returns the numbers of nodes of trees of `n` bodies and of one more.
fn numbers_of_nodes(n: usize) -> [usize; 2] {
    let with = |n: usize, below: usize| if n <= MAX_IN_LEAF { 1 } else { 1 + below };
    if n < MAX_IN_LEAF {
        return [1, 1];
    }
    let [half, more] = numbers_of_nodes(n / 2);
    if n.is_multiple_of(2) {
        [with(n, 2 * half), with(n + 1, half + more)]
    } else {
        [with(n, half + more), with(n + 1, 2 * more)]
    }
}

/// Returns the number of places for states in a tree of `n` bodies with this number of nodes, of which each but the leaves has two.
fn places_for(n: usize, nodes: usize) -> usize {
    n + SPARE * nodes.div_ceil(2)
}

/// Bounds of a body that those of its leaf do not hold.
struct Raise {
    leaf: u32,
    lead: f64,
    speed: f64,
}

/// Bodies by regions.
#[derive(Clone, Debug, Default)]
pub struct Regions {
    /// Moment at which the tree was made; [`None`] if it does not hold.
    made: Option<Time>,
    /// Nodes, each before its children.
    nodes: Vec<Node>,
    /// States of the bodies: those of a leaf side by side, then those outside of the tree.
    states: Vec<State>,
    /// Grips of their subsystems, in the same order.
    grips: Vec<Grip>,
    /// Number of places in the tree.
    inside: usize,
    /// Place of the state of each row in the list; [`NONE`] for an empty row.
    places: Vec<u32>,
    /// Cube roots of the masses of the rows, with those masses.
    roots: Vec<[f64; 2]>,
    /// Rows that may have no mass.
    massless: Vec<u32>,
    /// Rows of which it is not known yet whether they have a grip.
    unknown: Vec<u32>,
}

impl Regions {
    /// Returns true if the tree holds at `now`, and is not so old that a new one is worth its time.
    pub fn is_current(&self, now: Time) -> bool {
        let outside = self.states.len() - self.inside;
        let max = MAX_OUTSIDE.max((MAX_OUTSIDE_PER_ROOT * (self.inside as f64).sqrt()) as usize);
        self.made.is_some_and(|made| now.0 - made.0 < AGE.ticks()) && outside < max
    }

    /// Forgets the tree, since rows have another meaning or all bodies have changed.
    pub fn outdate(&mut self) {
        self.made = None;
    }

    /// Makes the tree anew from the places at `now`, unless it is current. Returns true if it did: then no grip is known.
    pub fn renew(&mut self, p: &Particles, clock: &Clock, now: Time) -> bool {
        let is_old = !self.is_current(now);
        if is_old {
            self.make(p, clock, now);
        }
        is_old
    }

    /// Returns the rows of bodies in the order of their places at `now`: near ones side by side, as in the leaves of a tree that is made
    /// at that moment. Those of a leaf are in the order of their stars.
    pub fn rows_by_place(p: &Particles, stars: &[u32], clock: &Clock, now: Time) -> Vec<u32> {
        let mut regions = Self::default();
        regions.make(p, clock, now);
        let mut rows: Vec<u32> = Vec::with_capacity(p.len());
        for leaf in regions.leaves() {
            let first = rows.len();
            rows.extend(regions.in_leaf(leaf).iter().map(|state| state.row));
            rows[first..].sort_unstable_by_key(|&row| stars[row as usize]);
        }
        rows
    }

    fn make(&mut self, p: &Particles, clock: &Clock, now: Time) {
        let n = p.len();
        self.roots.resize(n, [0.0; 2]);
        for row in 0..n {
            self.root(p, row);
        }
        let placed =
            |row: usize| (!is_empty(p, row)).then(|| Placed { place: at(p, row, clock, now).0, row: row as u32 });
        let mut bodies: Vec<Placed> = match n {
            n if n < MIN_JOINED => (0..n).filter_map(placed).collect(),
            n => (0..n).into_par_iter().with_min_len(min_share(WORK)).filter_map(placed).collect(),
        };
        self.massless = bodies.iter().map(|body| body.row).filter(|&row| p.mass[row as usize] == 0.0).collect();
        self.nodes.resize(if bodies.is_empty() { 0 } else { numbers_of_nodes(bodies.len())[0] }, Node::default());
        self.inside = places_for(bodies.len(), self.nodes.len());
        self.states.resize(self.inside, State::default());
        let (nodes, states) = (&mut self.nodes[..], &mut self.states[..]);
        Part { bodies: &mut bodies, nodes, states, node: 0, first: 0 }.make(p, clock, &self.roots, NONE);
        self.places.clear();
        self.places.resize(n, NONE);
        for leaf in self.nodes.iter().filter(|node| node.second == NONE) {
            for place in leaf.places() {
                self.places[self.states[place].row as usize] = place as u32;
            }
        }
        self.grips.clear();
        self.grips.resize(self.inside, Grip::default());
        self.unknown.clear();
        self.made = Some(now);
    }

    /// Returns the cube root of the mass of a row.
    fn root(&mut self, p: &Particles, row: usize) -> f64 {
        let [mass, root] = &mut self.roots[row];
        if *mass != p.mass[row] {
            (*mass, *root) = (p.mass[row], cube_root(p.mass[row]));
        }
        *root
    }

    /// Raises the bounds of a node, and of those above it.
    fn raise(&mut self, mut node: u32, lead: f64, speed: f64) {
        while let Some(bounds) = self.nodes.get_mut(node as usize) {
            // Those above have bounds that are no smaller.
            if lead <= bounds.lead && speed <= bounds.speed {
                break;
            }
            bounds.lead = bounds.lead.max(lead);
            bounds.speed = bounds.speed.max(speed);
            node = bounds.parent;
        }
    }

    /// Takes note of the grips of all subsystems, with their rows, after the tree was made: no other body has one.
    pub fn set_all_grips(&mut self, grips: &[(usize, Grip)]) {
        let Self { nodes, grips: known, places, .. } = self;
        for &(row, grip) in grips {
            known.get_mut(places[row] as usize).into_iter().for_each(|known| *known = grip);
        }
        let of_both = |a: Grip, b: &Grip| Grip { distance: a.distance.max(b.distance), until: a.until.max(b.until) };
        // Each comes before its children.
        for at in (0..nodes.len()).rev() {
            nodes[at].grip = match nodes[at].second {
                NONE => known[nodes[at].places()].iter().fold(Grip::default(), of_both),
                second => of_both(nodes[at + 1].grip, &nodes[second as usize].grip),
            };
        }
    }

    /// Takes note of the grip of the subsystem of a row.
    pub fn set_grip(&mut self, row: usize, Grip { distance, until }: Grip) {
        let Some(&place) = self.places.get(row) else { return };
        let Some(state) = self.states.get(place as usize) else { return };
        self.grips[place as usize] = Grip { distance, until };
        self.unknown.retain(|&it| it as usize != row);
        let mut node = state.leaf;
        while let Some(Node { grip, parent, .. }) = self.nodes.get_mut(node as usize) {
            if distance <= grip.distance && until <= grip.until {
                break;
            }
            (grip.distance, grip.until) = (grip.distance.max(distance), grip.until.max(until));
            node = *parent;
        }
    }

    /// Takes note of bodies that have moved on their paths, or have other steps or derivatives.
    pub fn moved(&mut self, p: &Particles, clock: &Clock, rows: &[u32]) {
        let Some(made) = self.made else { return };
        let Self { nodes, states, places, .. } = self;
        let (nodes, places) = (&*nodes, &*places);
        // Renews those states that have places in a part of the list. Returns what the bounds of their leaves do not hold.
        let part = |first: usize, states: &mut [State]| {
            let mut found = Vec::new();
            for row in rows.iter().map(|&row| row as usize) {
                let Some(state) = states.get_mut((places[row] as usize).wrapping_sub(first)) else { continue };
                state.follow(p, row);
                let (leaf, since) = (state.leaf, p.time[row].max(made));
                let Some(node) = nodes.get(leaf as usize) else { continue };
                let (place, speed) = (at(p, row, clock, since).0, max_speed(p, clock, row));
                let lead = node.lead_of(place, speed * clock.between(made, since));
                if lead > node.lead || speed > node.speed {
                    found.push(Raise { leaf, lead, speed });
                }
            }
            found
        };
        let threads = rows.len().div_ceil(share(rows.len(), WORK).max(1));
        let raised = if threads <= 1 {
            part(0, states)
        } else {
            let size = states.len().div_ceil(threads);
            let parts = states.par_chunks_mut(size).enumerate().map(|(k, states)| part(k * size, states));
            parts.flatten_iter().collect()
        };
        raised.into_iter().for_each(|Raise { leaf, lead, speed }| self.raise(leaf, lead, speed));
    }

    /// Takes note of a body that has another place or mass by a jump, of a new one, or of a row that is empty now. A body takes a free
    /// place of the leaf where it is; where there is none it stays outside of the tree, and each search looks at it.
    pub fn changed(&mut self, p: &Particles, clock: &Clock, row: usize) {
        let Some(made) = self.made else { return };
        if self.places.len() < p.len() {
            self.places.resize(p.len(), NONE);
            self.roots.resize(p.len(), [0.0; 2]);
        }
        self.take_out(row);
        if is_empty(p, row) {
            return;
        }
        let (root, since) = (self.root(p, row), p.time[row].max(made));
        let place = at(p, row, clock, since).0;
        let leaf = self.leaf_with_room(place);
        let state = State::new(p, row, leaf.unwrap_or(NONE), root);
        match leaf {
            Some(leaf) => {
                let node = &mut self.nodes[leaf as usize];
                let (to, speed) = (node.places().end, max_speed(p, clock, row));
                node.count += 1;
                let lead = node.lead_of(place, speed * clock.between(made, since));
                self.places[row] = to as u32;
                (self.states[to], self.grips[to]) = (state, Grip::default());
                self.raise(leaf, lead, speed);
                let mut above = leaf;
                while let Some(node) = self.nodes.get_mut(above as usize) {
                    node.include(state.mass, root, speed);
                    node.total += state.mass;
                    above = node.parent;
                }
            }
            None => {
                self.places[row] = self.states.len() as u32;
                self.states.push(state);
                self.grips.push(Grip::default());
            }
        }
        self.massless.extend((state.mass == 0.0).then_some(row as u32));
        self.unknown.push(row as u32);
    }

    /// Returns the leaf nearest to a place by its boxes, if that has a free place and the place is not far from it.
    fn leaf_with_room(&self, place: Vec3) -> Option<u32> {
        let mut at = 0;
        loop {
            let node = self.nodes.get(at as usize)?;
            if node.second == NONE {
                let is_near = node.distance(place) <= (node.high - node.low).norm();
                return (is_near && node.count < node.room).then_some(at);
            }
            let [one, two] = [at + 1, node.second].map(|at| self.nodes[at as usize].distance(place));
            at = if two < one { node.second } else { at + 1 };
        }
    }

    /// Takes out the state of a row, if there is one.
    fn take_out(&mut self, row: usize) {
        let place = std::mem::replace(&mut self.places[row], NONE) as usize;
        self.unknown.retain(|&it| it as usize != row);
        let Some(&State { leaf, mass, .. }) = self.states.get(place) else { return };
        let mut above = leaf;
        while let Some(node) = self.nodes.get_mut(above as usize) {
            node.lost += mass;
            above = node.parent;
        }
        let last = match self.nodes.get_mut(leaf as usize) {
            // The last one of a leaf takes the place, whose own is no one's then.
            Some(leaf) => {
                leaf.count -= 1;
                let last = leaf.places().end;
                self.states.swap(place, last);
                self.grips.swap(place, last);
                place != last
            }
            None => {
                self.states.swap_remove(place);
                self.grips.swap_remove(place);
                place < self.states.len()
            }
        };
        if last {
            self.places[self.states[place].row as usize] = place as u32;
        }
    }

    /// Returns the rows that may have no mass.
    pub fn massless(&self) -> &[u32] {
        &self.massless
    }

    /// Returns the strongest body at that of a row, which must be known, beside others; [`None`] if there is none with a mass.
    pub fn strongest(&self, clock: &Clock, now: Time, row: usize, others: &[usize]) -> Option<Strongest> {
        self.stronger(clock, now, row, others, Strongest { row: usize::MAX, weight: 0.0, min_rest: 0.0 })
    }

    /// Returns the strongest body at that of a row beside others, or the one that was found if none is stronger.
    fn stronger(&self, clock: &Clock, now: Time, row: usize, others: &[usize], found: Strongest) -> Option<Strongest> {
        let own = &self.states[self.places[row] as usize];
        let from = own.at(clock, now);
        let since = self.since(clock, now);
        let mut search = Search { regions: self, clock, now, since, from, row, others, found };
        search.weigh(&self.states[self.inside..]);
        // From the own leaf upwards: near ones come first.
        match self.nodes.get(own.leaf as usize) {
            Some(leaf) => search.weigh(self.in_leaf(leaf)),
            None if !self.nodes.is_empty() => search.descend(0, self.nodes[0].distance(from)),
            None => {}
        }
        let (mut node, mut above) = (own.leaf, self.parent(own.leaf));
        while let Some(parent) = self.nodes.get(above as usize) {
            let other = if node == parent.second { above + 1 } else { parent.second };
            search.descend(other, self.nodes[other as usize].distance(from));
            (node, above) = (above, parent.parent);
        }
        (search.found.weight > 0.0).then_some(search.found)
    }

    /// Returns false if the body of a row, which must be known, is isolated with no other one: for each of these 2 r³ D / M, with M the
    /// mass of both and D the sum of m/r³ of all others, is above `max`. It may return true too where that is so, which depends on
    /// the tree.
    pub fn may_be_isolated(&self, clock: &Clock, now: Time, row: usize, max: f64) -> bool {
        let own = &self.states[self.places[row] as usize];
        let from = own.at(clock, now);
        let (since, half, nearest) = (self.since(clock, now), 0.5 * max * MARGIN, NEAREST_KNOWN * from.amax());
        let seen = Seen { sum: 0.0, max: 0.0 };
        let mut search =
            Companions { regions: self, clock, now, since, from, row, mass: own.mass, half, nearest, seen };
        // Near ones first: they are most of the sum.
        match self.nodes.get(own.leaf as usize) {
            Some(leaf) => search.weigh(self.in_leaf(leaf)),
            None if !self.nodes.is_empty() => search.descend(0, self.nodes[0].distance(from)),
            None => {}
        }
        search.weigh(&self.states[self.inside..]);
        let (mut node, mut above) = (own.leaf, self.parent(own.leaf));
        while let Some(parent) = self.nodes.get(above as usize) {
            let other = if node == parent.second { above + 1 } else { parent.second };
            search.descend(other, self.nodes[other as usize].distance(from));
            (node, above) = (above, parent.parent);
        }
        search.seen.max >= search.seen.sum
    }

    /// Returns true if the second of two bodies, which must be known, is the strongest one at the first: the first row among equals.
    pub fn is_strongest(&self, clock: &Clock, now: Time, [row, other]: [usize; 2]) -> bool {
        let from = self.states[self.places[row] as usize].at(clock, now);
        let other = &self.states[self.places[other] as usize];
        let mut found = Strongest { row: usize::MAX, weight: 0.0, min_rest: 0.0 };
        found.add(other.row as usize, other.weight(clock, now, from));
        self.stronger(clock, now, row, &[], found).is_some_and(|found| found.row == other.row as usize)
    }

    /// Returns bounds of the sum of m/r³ at the body of a row, which must be known, by all others but one, which tell on which side of
    /// `limit` it is unless it is near that. The bounds depend on the tree: no result may depend on how wide they are.
    pub fn field_bounds(&self, clock: &Clock, now: Time, [row, but]: [usize; 2], limit: f64) -> Bounds {
        let from = self.states[self.places[row] as usize].at(clock, now);
        // The node that has the body that does not count is one of those from which on the others are told apart.
        let leaf_of_but = self.places.get(but).and_then(|&place| self.states.get(place as usize)).map(|it| it.leaf);
        let (since, but) = (self.since(clock, now), (but, leaf_of_but.unwrap_or(NONE)));
        let bounds = Bounds { min: 0.0, max: 0.0 };
        let closed = BinaryHeap::new();
        let mut sum = FieldSum { regions: self, clock, now, since, from, row, but, limit, bounds, closed };
        sum.add(&self.states[self.inside..]);
        if let Some(root) = self.nodes.first() {
            sum.descend(0..self.nodes.len() as u32, root.distance(from));
        }
        sum.refine(MAX_OPENED.max(self.inside / MIN_BODIES_PER_OPENED));
        let Bounds { min, max } = sum.bounds;
        Bounds { min: min.max(0.0) * (1.0 - ROUNDING_OF_SUMS), max: max * (1.0 + ROUNDING_OF_SUMS) }
    }

    /// Returns the rows, ascending, of the bodies that may come near that of a row, which must be known, by a bound of their motion,
    /// each with the distance that counts.
    pub fn within(&self, clock: &Clock, now: Time, row: usize, reach: Reach) -> Vec<(usize, f64)> {
        let (own, since) = (&self.states[self.places[row] as usize], self.since(clock, now));
        let from = own.at(clock, now);
        let Reach { distance: factor, min, time, .. } = reach;
        let way = |vel: Vec3| if time > 0.0 { time * vel.norm_squared().sqrt() } else { 0.0 };
        let slack = time * (own.vel.norm_squared().sqrt() + reach.speed);
        let distance = |root: f64| factor * if root > min { root } else { min };
        let mut found: Vec<(usize, f64)> = Vec::new();
        // None of the states is farther than `max_distance`: most of a search that reaches far are known to be near.
        let mut look = |states: &[State], max_distance: f64| {
            for state in states.iter().filter(|state| state.row as usize != row) {
                let distance = distance(state.root);
                let max = distance + (slack + way(state.vel));
                if max_distance < max || state.square(clock, now, from) < max * max {
                    found.push((state.row as usize, distance));
                }
            }
        };
        look(&self.states[self.inside..], f64::INFINITY);
        let mut open: Vec<u32> = (0..self.nodes.len().min(1) as u32).collect();
        while let Some(at) = open.pop() {
            let node = &self.nodes[at as usize];
            let max = distance(node.root) + (slack + time * node.speed);
            if node.distance(from) - node.way(since) > max * UP + NEAREST2.sqrt() {
                continue;
            }
            if node.second == NONE {
                look(self.in_leaf(node), (node.max_distance(from) + node.way(since)) * UP + NEAREST2.sqrt());
            } else {
                open.extend([at + 1, node.second]);
            }
        }
        if found.len() > self.places.len() / MIN_SHARE_IN_COLUMN {
            let mut by_row = vec![f64::NAN; self.places.len()];
            found.drain(..).for_each(|(row, distance)| by_row[row] = distance);
            found.extend(by_row.into_iter().enumerate().filter(|(_, distance)| !distance.is_nan()));
        } else {
            found.sort_unstable_by_key(|found| found.0);
        }
        found
    }

    /// Returns rows, in any order, among which are all whose subsystems may take up the body of a row, which must be known and
    /// stand at `now`, as a perturber before their lists are made anew.
    pub fn gripping(&self, clock: &Clock, now: Time, row: usize, by: Gripping) -> Vec<usize> {
        let (own, since) = (&self.states[self.places[row] as usize], self.since(clock, now));
        let speed = own.vel.norm();
        // Above the rounding of both sides.
        let is_beyond = |r: f64, way: f64, grip: &Grip, root: f64| {
            r - way > grip.distance * own.root.max(by.min * root) * (1.0 + 1e-8)
        };
        let time = |until: Time| if until > now { clock.between(now, until) } else { 0.0 };
        let mut found: Vec<usize> = self.unknown.iter().map(|&other| other as usize).filter(|&it| it != row).collect();
        let mut look = |places: Range<usize>| {
            for (state, grip) in self.states[places.clone()].iter().zip(&self.grips[places]) {
                if grip.distance == 0.0 || state.row as usize == row {
                    continue;
                }
                let dt = clock.between(state.time, now);
                let (pos, vel) = predict(state.pos, state.vel, state.acc, state.jerk, dt);
                let (r, v2) = ((pos - own.pos).norm(), (vel - own.vel).norm_squared());
                let way = by.margin * time(grip.until) * (v2 + 2.0 * (state.mass + own.mass) / r).sqrt();
                if !is_beyond(r, way, grip, state.root) {
                    found.push(state.row as usize);
                }
            }
        };
        look(self.inside..self.states.len());
        let mut open: Vec<u32> = (0..self.nodes.len().min(1) as u32).collect();
        while let Some(at) = open.pop() {
            let node = &self.nodes[at as usize];
            let r = node.distance(own.pos) - node.way(since);
            let way = || {
                let most = (node.speed + speed).powi(2) + 2.0 * (node.mass + own.mass) / r;
                by.margin * time(node.grip.until) * most.sqrt()
            };
            if node.grip.distance == 0.0 || r > 0.0 && is_beyond(r, way(), &node.grip, node.root) {
                continue;
            }
            if node.second == NONE {
                look(node.places());
            } else {
                open.extend([at + 1, node.second]);
            }
        }
        found
    }

    /// Returns the time since the tree was made.
    fn since(&self, clock: &Clock, now: Time) -> f64 {
        self.made.map_or(0.0, |made| clock.between(made, now))
    }

    fn parent(&self, node: u32) -> u32 {
        self.nodes.get(node as usize).map_or(NONE, |node| node.parent)
    }

    fn in_leaf(&self, leaf: &Node) -> &[State] {
        &self.states[leaf.places()]
    }

    fn leaves(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.second == NONE)
    }
}

/// Search for the strongest body.
struct Search<'a> {
    regions: &'a Regions,
    clock: &'a Clock,
    now: Time,
    since: f64,
    from: Vec3,
    row: usize,
    others: &'a [usize],
    found: Strongest,
}

impl Search<'_> {
    /// Looks at all states of a list.
    fn weigh(&mut self, states: &[State]) {
        for state in states {
            let row = state.row as usize;
            if row == self.row || self.others.contains(&row) {
                continue;
            }
            self.found.add(row, state.weight(self.clock, self.now, self.from));
        }
    }

    /// Looks at the bodies of a node, whose box is at a distance, unless all are weaker than the strongest one so far.
    fn descend(&mut self, at: u32, distance: f64) {
        let node = &self.regions.nodes[at as usize];
        let r = distance - node.way(self.since);
        if r > 0.0 && node.mass * UP < self.found.weight * (r * r * r) {
            return;
        }
        if node.second == NONE {
            return self.weigh(self.regions.in_leaf(node));
        }
        let [one, two] = [at + 1, node.second].map(|at| (at, self.regions.nodes[at as usize].distance(self.from)));
        let (near, far) = if two.1 < one.1 { (two, one) } else { (one, two) };
        self.descend(near.0, near.1);
        self.descend(far.0, far.1);
    }
}

/// Sums over bodies that a search for companions has looked at.
struct Seen {
    /// Sum of their m/r³.
    sum: f64,
    /// No one of them is isolated if the sum of m/r³ of all bodies is larger.
    max: f64,
}

/// Search for bodies that may be isolated with another one.
struct Companions<'a> {
    regions: &'a Regions,
    clock: &'a Clock,
    now: Time,
    since: f64,
    from: Vec3,
    row: usize,
    mass: f64,
    /// Half of the largest perturbation.
    half: f64,
    /// Distance within which rounding counts.
    nearest: f64,
    seen: Seen,
}

impl Companions<'_> {
    /// Looks at all states of a list.
    fn weigh(&mut self, states: &[State]) {
        let Self { half, nearest, mass, .. } = *self;
        for state in states.iter().filter(|state| state.row as usize != self.row) {
            let r2 = state.square(self.clock, self.now, self.from);
            let inverse = 1.0 / (r2 * r2.sqrt());
            let (weight, pair) = (state.mass * inverse, half * (mass + state.mass) * inverse);
            self.seen.sum += weight;
            let max = if r2 > nearest * nearest { weight + pair } else { f64::INFINITY };
            self.seen.max = self.seen.max.max(max);
        }
    }

    /// Looks at the bodies of a node, whose box is at a distance, unless none can be isolated beside those that were looked at.
    fn descend(&mut self, at: u32, distance: f64) {
        let node = &self.regions.nodes[at as usize];
        let r = distance - node.way(self.since) - self.nearest;
        if r > 0.0 && self.half * (self.mass + node.mass) < self.seen.sum * (r * r * r) {
            return;
        }
        if node.second == NONE {
            return self.weigh(self.regions.in_leaf(node));
        }
        let [one, two] = [at + 1, node.second].map(|at| (at, self.regions.nodes[at as usize].distance(self.from)));
        let (near, far) = if two.1 < one.1 { (two, one) } else { (one, two) };
        self.descend(near.0, near.1);
        self.descend(far.0, far.1);
    }
}

/// Node that counts as a whole in a sum, with the bounds of its part, and with all nodes below it.
struct Closed {
    bounds: Bounds,
    nodes: Range<u32>,
}

impl Closed {
    fn width(&self) -> f64 {
        self.bounds.max - self.bounds.min
    }
}

impl Ord for Closed {
    fn cmp(&self, other: &Self) -> Ordering {
        self.width().total_cmp(&other.width())
    }
}

impl PartialOrd for Closed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Closed {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Closed {}

/// Bounds of the sum of m/r³ at a place.
struct FieldSum<'a> {
    regions: &'a Regions,
    clock: &'a Clock,
    now: Time,
    since: f64,
    from: Vec3,
    row: usize,
    /// Row that does not count, and its leaf.
    but: (usize, u32),
    /// Value with which the sum is compared.
    limit: f64,
    bounds: Bounds,
    /// Nodes that count as a whole.
    closed: BinaryHeap<Closed>,
}

impl FieldSum<'_> {
    /// Adds all states of a list.
    fn add(&mut self, states: &[State]) {
        let others = states.iter().filter(|state| ![self.row, self.but.0].contains(&(state.row as usize)));
        let sum = others.fold(0.0, |sum, state| sum + state.weight(self.clock, self.now, self.from));
        self.bounds.min += sum;
        self.bounds.max += sum;
    }

    /// Adds the bodies of a node, whose box is at a distance, with all below it: as a whole, if by this the sum may be below the limit.
    fn descend(&mut self, nodes: Range<u32>, distance: f64) {
        let node = &self.regions.nodes[nodes.start as usize];
        let way = node.way(self.since);
        let near = distance - way;
        let max = node.total / (near * near * near);
        if near > 0.0 && max <= self.limit && !nodes.contains(&self.but.1) {
            let far = node.max_distance(self.from) + way;
            let min = (node.total - node.lost) / (far * far * far);
            self.bounds = Bounds { min: self.bounds.min + min, max: self.bounds.max + max };
            self.closed.push(Closed { bounds: Bounds { min, max }, nodes });
        } else {
            self.open(nodes);
        }
    }

    /// Adds the bodies of a node one by one, or the nodes in it: near ones first, and no more where the sum is known to be above the limit.
    fn open(&mut self, nodes: Range<u32>) {
        let all = &self.regions.nodes;
        let node = &all[nodes.start as usize];
        if node.second == NONE {
            return self.add(self.regions.in_leaf(node));
        }
        let children = [nodes.start + 1..node.second, node.second..nodes.end];
        let [one, two] = children.map(|of| (all[of.start as usize].distance(self.from), of));
        let (near, far) = if two.0 < one.0 { (two, one) } else { (one, two) };
        self.descend(near.1, near.0);
        if self.bounds.min > self.limit {
            self.bounds.max = f64::INFINITY;
        } else {
            self.descend(far.1, far.0);
        }
    }

    /// Opens up to a number of nodes, those first of which least is known, until the sum is known to be on one side of the limit.
    fn refine(&mut self, max_number: usize) {
        for _ in 0..max_number {
            if self.bounds.min > self.limit || self.bounds.max < self.limit {
                break;
            }
            let Some(Closed { bounds: Bounds { min, max }, nodes }) = self.closed.pop() else { break };
            self.bounds = Bounds { min: self.bounds.min - min, max: self.bounds.max - max };
            self.open(nodes);
        }
    }
}

/// Returns a bound of the speed of a body during its step.
#[inline(always)]
fn max_speed(p: &Particles, clock: &Clock, row: usize) -> f64 {
    let dt = p.step[row].step(clock.dt_max);
    (p.vel[row].norm() + dt * (p.acc[row].norm() + 0.5 * dt * p.jerk[row].norm())) * UP
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: Clock = Clock { start: 0.0, dt_max: 0.125 };

    /// Random number from 0 to 1.
    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn direction(state: &mut u64) -> Vec3 {
        Vec3::from_fn(|_, _| random(state) - 0.5).normalize()
    }

    /// Plummer sphere with heavy stars and some without a mass, and with steps of many lengths.
    fn cluster(n: usize) -> Particles {
        let state = &mut 1;
        let radius = |part: f64| 1.0 / (part.max(1e-3).powf(-2.0 / 3.0) - 1.0).sqrt();
        let pos: Vec<Vec3> = (0..n).map(|_| direction(state) * radius(random(state))).collect();
        let vel = pos.iter().map(|x| direction(state) * (1.0 + x.norm_squared()).powf(-0.25)).collect();
        let mass = |i: usize| match i {
            i if i % 61 == 0 => 0.0,
            i if i % 97 == 0 => 300.0,
            i => 1.0 / (1 + i % 5) as f64,
        };
        let mut p = Particles::new((0..n).map(|i| mass(i + 1) / n as f64).collect(), pos, vel);
        p.time = vec![Time::default(); n];
        p.step = (0..n).map(|i| Level((i % 9) as u8)).collect();
        let slowed = |x: &Vec3, y: &Vec3| -y / (1.0 + x.norm_squared()).powf(1.5);
        p.acc = p.pos.iter().map(|x| slowed(x, x)).collect();
        p.jerk = p.pos.iter().zip(&p.vel).map(|(x, v)| slowed(x, v)).collect();
        p
    }

    /// What [`Regions::strongest`] finds, by a look at all bodies, with the sum of all others.
    fn strongest(p: &Particles, now: Time, row: usize, others: &[usize]) -> Strongest {
        let from = at(p, row, &CLOCK, now).0;
        let mut found = Strongest { row: usize::MAX, weight: 0.0, min_rest: 0.0 };
        for k in (0..p.len()).filter(|&k| k != row && !others.contains(&k)) {
            let r2 = (at(p, k, &CLOCK, now).0 - from).norm_squared().max(NEAREST2);
            let weight = p.mass[k] / (r2 * r2.sqrt());
            found.min_rest += weight.min(found.weight);
            if weight > found.weight {
                (found.row, found.weight) = (k, weight);
            }
        }
        found
    }

    /// What [`Regions::within`] finds, by a look at all bodies.
    fn within(p: &Particles, now: Time, row: usize, reach: Reach) -> Vec<(usize, f64)> {
        let from = at(p, row, &CLOCK, now).0;
        let slack = reach.time * (p.vel[row].norm_squared().sqrt() + reach.speed);
        let near = |k: usize| {
            let distance = reach.distance * cube_root(p.mass[k]).max(reach.min);
            let max = distance + (slack + reach.time * p.vel[k].norm_squared().sqrt());
            let r2 = (at(p, k, &CLOCK, now).0 - from).norm_squared().max(NEAREST2);
            (r2 < max * max).then_some((k, distance))
        };
        (0..p.len()).filter(|&k| k != row).filter_map(near).collect()
    }

    /// Σ m/r³ at a body by all but another one.
    fn field(p: &Particles, now: Time, [row, but]: [usize; 2]) -> f64 {
        let from = at(p, row, &CLOCK, now).0;
        let weight = |k: usize| {
            let r2 = (at(p, k, &CLOCK, now).0 - from).norm_squared().max(NEAREST2);
            p.mass[k] / (r2 * r2.sqrt())
        };
        (0..p.len()).filter(|k| ![row, but].contains(k)).map(weight).sum()
    }

    /// Compares bounds with the sum over all bodies, which is far from some limits.
    fn compare_bounds(regions: &Regions, p: &Particles, now: Time) {
        for row in (0..p.len()).filter(|&row| !is_empty(p, row)) {
            let strongest = regions.strongest(&CLOCK, now, row, &[]).unwrap().row;
            for but in [row, strongest] {
                let sum = field(p, now, [row, but]);
                for share in [0.01, 0.3, 0.99, 1.0, 1.01, 3.0, 100.0] {
                    let Bounds { min, max } = regions.field_bounds(&CLOCK, now, [row, but], share * sum);
                    assert!(min <= sum && sum <= max, "{row} {but}: {sum} not in {min} to {max}");
                    assert!(share > 0.02 || min > share * sum, "{row} {but}: {min} of {sum}");
                    assert!(share < 50.0 || max < share * sum, "{row} {but}: {max} of {sum}");
                }
            }
        }
    }

    /// Largest perturbation of an isolated pair in tests.
    const MAX: f64 = 0.02;

    /// Returns true if the body of a row is isolated with another one, by a look at all bodies.
    fn is_isolated(p: &Particles, now: Time, row: usize) -> bool {
        let from = at(p, row, &CLOCK, now).0;
        let cube = |k: usize| (at(p, k, &CLOCK, now).0 - from).norm_squared().max(NEAREST2).powf(1.5);
        let others: Vec<[f64; 2]> = (0..p.len()).filter(|&k| k != row).map(|k| [p.mass[k], cube(k)]).collect();
        let sum: f64 = others.iter().map(|[mass, cube]| mass / cube).sum();
        let is_isolated =
            |[mass, cube]: &[f64; 2]| *mass > 0.0 && 2.0 * (cube * sum - mass) <= MAX * (p.mass[row] + mass);
        others.iter().any(is_isolated)
    }

    /// Asks each body if it may be isolated with another one. Returns how many are, and how many are found to be not.
    fn compare_isolation(regions: &Regions, p: &Particles, now: Time) -> [usize; 2] {
        let mut numbers = [0; 2];
        for row in (0..p.len()).filter(|&row| !is_empty(p, row)) {
            let (is, may_be) = (is_isolated(p, now, row), regions.may_be_isolated(&CLOCK, now, row, MAX));
            assert!(may_be || !is, "{row}");
            numbers = [numbers[0] + usize::from(is), numbers[1] + usize::from(!may_be)];
        }
        numbers
    }

    /// Compares all answers with those of a look at all bodies.
    fn compare(regions: &Regions, p: &Particles, now: Time) {
        compare_bounds(regions, p, now);
        let [_, excluded] = compare_isolation(regions, p, now);
        assert!(2 * excluded > p.len() || p.len() < 200, "{excluded}");
        let mut looked_at = 0;
        for row in (0..p.len()).filter(|&row| !is_empty(p, row)) {
            let (found, all) = (regions.strongest(&CLOCK, now, row, &[]).unwrap(), strongest(p, now, row, &[]));
            assert_eq!((found.row, found.weight), (all.row, all.weight), "{row}");
            let next = regions.strongest(&CLOCK, now, row, &[all.row]).unwrap();
            assert_eq!(next.row, strongest(p, now, row, &[all.row]).row, "{row}");
            for k in [found.row, next.row, 0, p.len() - 1].into_iter().filter(|&k| k != row && !is_empty(p, k)) {
                assert_eq!(regions.is_strongest(&CLOCK, now, [row, k]), k == all.row, "{row} {k}");
            }
            assert!(found.min_rest <= all.min_rest * (1.0 + 1e-9), "{row}: {} {}", found.min_rest, all.min_rest);
            for (distance, time) in [(0.01, 0.0), (0.1, 0.05), (2.0, 0.01), (0.0, 0.1)] {
                let reach = Reach { distance, min: 0.05, time, speed: 0.5 };
                let near = regions.within(&CLOCK, now, row, reach);
                looked_at += near.len();
                assert_eq!(near, within(p, now, row, reach), "{row}");
            }
        }
        assert!(looked_at > p.len());
    }

    #[test]
    fn rows_by_place_are_all_bodies_near_ones_side_by_side() {
        let mut p = cluster(3000);
        let empty = [9, 700];
        for row in empty {
            (p.mass[row], p.pos[row]) = (0.0, Vec3::x() * 1e9);
        }
        let now = Time(Level(4).ticks());
        let stars: Vec<u32> = (0..p.len() as u32).collect();
        let rows = Regions::rows_by_place(&p, &stars, &CLOCK, now);
        let mut sorted = rows.clone();
        sorted.sort_unstable();
        let occupied = (0..p.len() as u32).filter(|row| !empty.contains(&(*row as usize)));
        assert_eq!(sorted, occupied.collect::<Vec<_>>());
        let between = |rows: &[u32]| -> f64 {
            let place = |row: u32| at(&p, row as usize, &CLOCK, now).0;
            rows.windows(2).map(|two| (place(two[1]) - place(two[0])).norm()).sum()
        };
        assert!(between(&rows) < 0.4 * between(&sorted), "{} {}", between(&rows), between(&sorted));
        let by_threads = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Regions::rows_by_place(&p, &stars, &CLOCK, now))
        };
        assert!(by_threads(1) == rows && by_threads(4) == rows);
        // Few bodies are in the order of their stars.
        let few = Particles::new(p.mass[..7].to_vec(), p.pos[..7].to_vec(), p.vel[..7].to_vec());
        let few = Particles { time: vec![now; 7], step: p.step[..7].to_vec(), ..few };
        assert_eq!(Regions::rows_by_place(&few, &[4, 9, 0, 3, 8, 1, 2], &CLOCK, now), [2, 5, 6, 3, 0, 4, 1]);
    }

    #[test]
    fn searches_are_those_of_all_bodies_after_moves_and_changes() {
        let mut p = cluster(700);
        let mut regions = Regions::default();
        assert!(!regions.is_current(Time::default()));
        regions.renew(&p, &CLOCK, Time::default());
        compare(&regions, &p, Time::default());
        for block in 1..=6_u64 {
            // Deep levels first, so that bodies that do not move are predicted to moments within their steps.
            let level = Level(9 - block as u8);
            let now = Time(level.ticks());
            let moving: Vec<usize> = (0..p.len()).filter(|&row| p.step[row].0 >= level.0).collect();
            for row in moving {
                let (pos, vel) = at(&p, row, &CLOCK, now);
                // A correction that no prediction knows.
                (p.pos[row], p.vel[row]) = (pos + vel * (0.001 * block as f64), vel * 1.1);
                p.time[row] = now;
                p.step[row] = Level(level.0 - 1);
                regions.moved(&p, &CLOCK, &[row as u32]);
            }
            compare(&regions, &p, now);
            if block == 3 {
                // Two bodies become one, in the row of the first; a row at the end begins.
                (p.mass[5], p.pos[5], p.time[5]) = (p.mass[5] + p.mass[9], p.pos[9] * 1.5, now);
                (p.mass[9], p.pos[9], p.time[9]) = (0.0, Vec3::x() * 1e9, now);
                (p.vel[9], p.acc[9], p.jerk[9]) = (Vec3::zeros(), Vec3::zeros(), Vec3::zeros());
                let mut more = Particles::new(vec![0.2], vec![Vec3::new(0.1, 0.2, -0.1)], vec![Vec3::zeros()]);
                p.mass.append(&mut more.mass);
                p.pos.append(&mut more.pos);
                p.vel.append(&mut more.vel);
                p.acc.push(Vec3::zeros());
                p.jerk.push(Vec3::zeros());
                p.time.push(now);
                p.step.push(level);
                p.id.push(p.len() as u64);
                [5, 9, 700].into_iter().for_each(|row| regions.changed(&p, &CLOCK, row));
                compare(&regions, &p, now);
                // One that is outside of the tree moves, and changes again.
                p.pos[5] *= 0.5;
                regions.moved(&p, &CLOCK, &[5]);
                p.mass[700] = 0.01;
                regions.changed(&p, &CLOCK, 700);
                compare(&regions, &p, now);
                // The heaviest ones leave their nodes, whose other bodies are no heavier for that.
                for row in [96, 193, 290] {
                    p.pos[row] *= 20.0;
                    regions.changed(&p, &CLOCK, row);
                }
                compare(&regions, &p, now);
            }
        }
    }

    /// Bodies with these masses, places and velocities, all at the start of steps of a level.
    fn bodies(level: u8, all: Vec<(f64, Vec3, Vec3)>) -> Particles {
        let n = all.len();
        let column = |of: fn(&(f64, Vec3, Vec3)) -> Vec3| all.iter().map(of).collect::<Vec<_>>();
        let mut p = Particles::new(all.iter().map(|it| it.0).collect(), column(|it| it.1), column(|it| it.2));
        (p.acc, p.jerk) = (vec![Vec3::zeros(); n], vec![Vec3::zeros(); n]);
        (p.time, p.step) = (vec![Time::default(); n], vec![Level(level); n]);
        p
    }

    #[test]
    fn no_body_that_is_isolated_with_another_one_is_left_out() {
        let zero = Vec3::zeros();
        let lattice = |k: usize| Vec3::new((k % 6) as f64, (k / 6 % 6) as f64, (k / 36) as f64);
        let random_place = |state: &mut u64| direction(state) * random(state).cbrt();
        let state = &mut 5;
        let mut all = vec![
            bodies(0, vec![(1.0, zero, zero), (1.0, Vec3::x(), zero)]),
            bodies(0, vec![(1.0, zero, zero), (0.0, Vec3::x(), zero), (1e-9, Vec3::y(), zero)]),
            // Equal masses and distances, at the faces of leaves.
            bodies(0, (0..216).map(|k| (1.0, lattice(k), zero)).collect()),
            // Pairs of unequal masses, far from each other.
            bodies(
                0,
                (0..216)
                    .map(|k| (0.1_f64.powi(k as i32 % 5), lattice(k / 2) + Vec3::x() * (k % 2) as f64 * 0.03, zero))
                    .collect(),
            ),
            // One place but for rounding.
            bodies(0, (0..40).map(|k| (1.0, Vec3::repeat(1.0 + f64::EPSILON * k as f64), zero)).collect()),
        ];
        // Small systems with a heavy body far away, at rest and in fast motion through each other.
        for (speed, heavy) in [(0.0, 1e3), (0.0, 1e9), (30.0, 1.0), (3000.0, 1e6)] {
            let mut few: Vec<_> = (0..300)
                .map(|k| {
                    let place = random_place(state);
                    let place = if k % 3 == 0 { place } else { place * 1e-3 + Vec3::y() * (k % 7) as f64 };
                    (random(state).powi(6) + 1e-3, place, direction(state) * speed)
                })
                .collect();
            few.push((heavy, Vec3::x() * 20.0, Vec3::zeros()));
            all.push(bodies(2, few));
        }
        let mut numbers = [0; 2];
        for mut p in all {
            let mut regions = Regions::default();
            regions.renew(&p, &CLOCK, Time::default());
            for now in [Time::default(), Time(Level(7).ticks()), Time(Level(5).ticks())] {
                let moving: Vec<usize> = (0..p.len()).filter(|row| row % 5 == 1).collect();
                for row in moving {
                    let (pos, vel) = at(&p, row, &CLOCK, now);
                    (p.pos[row], p.vel[row], p.time[row]) = (pos, vel * 1.5, now);
                    regions.moved(&p, &CLOCK, &[row as u32]);
                }
                let found = compare_isolation(&regions, &p, now);
                numbers = [numbers[0] + found[0], numbers[1] + found[1]];
                for row in (0..p.len()).step_by(7) {
                    let strongest = strongest(&p, now, row, &[]).row;
                    for k in (0..p.len()).filter(|&k| k != row) {
                        assert_eq!(regions.is_strongest(&CLOCK, now, [row, k]), k == strongest, "{row} {k}");
                    }
                }
            }
        }
        assert!(numbers[0] > 100 && numbers[1] > 1000, "{numbers:?}");
    }

    #[test]
    fn subsystems_that_a_body_may_perturb_are_found() {
        let mut p = cluster(600);
        let mut regions = Regions::default();
        assert!(regions.renew(&p, &CLOCK, Time::default()));
        let by = Gripping { min: 0.5, margin: 2.0 };
        let mut state = 77;
        let mut grip = |row: usize| {
            let until = Time((random(&mut state) * Level(0).ticks() as f64) as u64);
            Grip { distance: if row.is_multiple_of(3) { 3.0 * random(&mut state).powi(5) } else { 0.0 }, until }
        };
        let mut grips: Vec<Grip> = (0..p.len()).map(&mut grip).collect();
        let with_grip = grips.iter().copied().enumerate().filter(|(_, grip)| grip.distance > 0.0);
        regions.set_all_grips(&with_grip.collect::<Vec<_>>());
        // Some get others, larger or smaller.
        for row in (0..p.len()).step_by(9) {
            grips[row] = grip(row);
            regions.set_grip(row, grips[row]);
        }
        let (now, mut number) = (Time(Level(7).ticks()), [0; 3]);
        for row in 0..p.len() {
            if row % 20 == 0 {
                let (pos, vel) = at(&p, row, &CLOCK, now);
                (p.pos[row], p.vel[row], p.time[row]) = (pos, vel, now);
                regions.moved(&p, &CLOCK, &[row as u32]);
            }
        }
        // Of those that change it is not known whether they have one, until they are told.
        let changed: Vec<usize> = (0..p.len()).step_by(31).collect();
        changed.iter().for_each(|&row| regions.changed(&p, &CLOCK, row));
        for &row in changed.iter().step_by(2) {
            grips[row] = grip(row);
            regions.set_grip(row, grips[row]);
        }
        let is_unknown = |row: usize| changed.iter().skip(1).step_by(2).any(|&changed| changed == row);
        for row in (0..p.len()).step_by(20) {
            let found = regions.gripping(&CLOCK, now, row, by);
            for (other, grip) in grips.iter().enumerate().filter(|&(other, _)| other != row) {
                let ((x, v), (y, w)) = (at(&p, row, &CLOCK, now), at(&p, other, &CLOCK, now));
                let (r, mass) = ((y - x).norm(), p.mass[row] + p.mass[other]);
                let time = CLOCK.between(now, grip.until.max(now));
                let way = by.margin * time * ((w - v).norm_squared() + 2.0 * mass / r).sqrt();
                let counts = cube_root(p.mass[row]).max(by.min * cube_root(p.mass[other]));
                let is_near = grip.distance > 0.0 && r - way <= grip.distance * counts;
                assert_eq!(found.contains(&other), is_near || is_unknown(other), "{row} {other}");
                let kind = [is_near && other % 9 == 0, is_near, is_unknown(other)];
                number.iter_mut().zip(kind).for_each(|(number, is)| *number += usize::from(is));
            }
        }
        assert!(number.iter().all(|&number| number > 5), "{number:?}");
    }

    #[test]
    fn threads_make_the_same_tree_and_bounds() {
        let moved = || {
            let (mut p, mut regions) = (cluster(3000), Regions::default());
            regions.renew(&p, &CLOCK, Time::default());
            let now = Time(Level(6).ticks());
            let rows: Vec<u32> = (0..3000).filter(|row| row % 7 < 3).collect();
            for row in rows.iter().map(|&row| row as usize) {
                let (pos, vel) = at(&p, row, &CLOCK, now);
                (p.pos[row], p.vel[row], p.time[row]) = (pos + vel * 0.01, vel * 1.2, now);
            }
            regions.moved(&p, &CLOCK, &rows);
            format!("{regions:?}")
        };
        let by_one = moved();
        assert!(tisane_force::spin_pool::run(3, moved).unwrap() == by_one);
    }

    #[test]
    fn trees_have_as_many_nodes_as_their_bodies_need() {
        fn number(n: usize) -> usize {
            if n <= MAX_IN_LEAF { 1 } else { 1 + number(n / 2) + number(n - n / 2) }
        }
        (1..300).for_each(|n| assert_eq!(numbers_of_nodes(n), [number(n), number(n + 1)], "{n}"));
    }

    #[test]
    fn a_tree_ages_and_takes_in_what_is_outside() {
        let mut p = cluster(100);
        let mut regions = Regions::default();
        regions.renew(&p, &CLOCK, Time::default());
        assert!(regions.is_current(Time(AGE.ticks() - 1)) && !regions.is_current(Time(AGE.ticks())));
        // Each finds the place that it had.
        (0..100).for_each(|row| regions.changed(&p, &CLOCK, row));
        assert_eq!(regions.states.len(), regions.inside);
        compare(&regions, &p, Time::default());
        // One leaf has no room for all.
        for row in 0..80 {
            p.pos[row] = p.pos[99] + p.pos[row] * 1e-3;
            regions.changed(&p, &CLOCK, row);
        }
        assert!(regions.states.len() > regions.inside + MAX_OUTSIDE);
        assert!(!regions.is_current(Time::default()));
        compare(&regions, &p, Time::default());
        regions.renew(&p, &CLOCK, Time::default());
        assert!(regions.is_current(Time::default()));
        compare(&regions, &p, Time::default());
        regions.outdate();
        assert!(!regions.is_current(Time::default()));
    }

    #[test]
    fn few_bodies_have_regions_too() {
        let mut regions = Regions::default();
        regions.renew(&Particles::default(), &CLOCK, Time::default());
        for n in [1, 2, 9] {
            let p = cluster(n);
            regions.outdate();
            regions.renew(&p, &CLOCK, Time::default());
            let found = regions.strongest(&CLOCK, Time::default(), 0, &[]);
            assert_eq!(found.map(|found| found.row), (n > 1).then(|| strongest(&p, Time::default(), 0, &[]).row));
        }
        assert!(Regions::default().massless().is_empty());
    }
}
