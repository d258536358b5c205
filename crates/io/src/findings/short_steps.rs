//! The particles that take the most steps, their partners, and the part of the work that they take.

use super::state::State;
use std::collections::{BTreeMap, HashMap, HashSet};
use tisane::diagnostics::cluster::Stars;
use tisane::diagnostics::cluster::pair::{Body, Pair};
use tisane::nearest::Neighbours;

/// Number of rows.
const ROWS: usize = 8;
/// Largest number of particles whose partners are looked for.
const LOOKED_AT: usize = 64;
/// Number of nearest neighbours, and of the heaviest particles, among which a partner is looked for.
const NEIGHBOURS: usize = 6;
const HEAVIEST: usize = 3;
/// Share of the particle steps that the group with the most steps takes at least.
const GROUP_SHARE: f64 = 0.5;
/// Share of the particle steps, or of the block steps, from which one pair dominates a run.
const DOMINANT_SHARE: [f64; 2] = [0.5, 0.75];

/// Particles that take the most steps. Lengths and times are in the user's units.
#[derive(Clone, Debug, PartialEq)]
pub struct ShortSteps {
    /// File of the state.
    pub source: String,
    /// Time of the state.
    pub time: f64,
    /// Number of particles.
    pub n: usize,
    /// Shortest step in use.
    pub shortest: f64,
    /// Particles that take half of the particle steps together.
    pub group: Group,
    /// Pairs and particles that take the most steps, without those with the longest step; empty if too many particles
    /// take as many steps.
    pub rows: Vec<ShortStep>,
}

/// Particles that take the most steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Number of particles.
    pub particles: usize,
    /// Number of binaries among them.
    pub pairs: usize,
    /// Work that they take.
    pub share: Share,
}

/// Part of the work that some particles take. In a binary the step follows the separation: its mean over an orbit
/// counts; all others keep their steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Share {
    /// Share of the particle steps.
    pub particle_steps: f64,
    /// Share of the block steps that hold no other particle.
    pub block_steps: f64,
}

/// Particle with its partner.
#[derive(Clone, Debug, PartialEq)]
pub struct ShortStep {
    /// Id of the particle, of a pair the smaller one.
    pub id: u64,
    /// Shortest present step of the two, or of the particle.
    pub step: f64,
    /// Partner: the other particle of a binary, else the one that attracts it most.
    pub partner: Option<Partner>,
    /// Work that the pair takes, or the particle alone.
    pub share: Share,
}

/// Partner of a particle.
#[derive(Clone, Debug, PartialEq)]
pub struct Partner {
    /// Id.
    pub id: u64,
    /// Flag that the particle is its partner in turn: then the row counts both.
    pub mutual: bool,
    /// Separation.
    pub separation: f64,
    /// Kepler orbit of the two, if they are bound.
    pub orbit: Option<Orbit>,
}

/// Kepler orbit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    /// Semi-major axis.
    pub semi_major_axis: f64,
    /// Eccentricity.
    pub eccentricity: f64,
    /// Period.
    pub period: f64,
}

impl ShortSteps {
    /// Finds the particles that take the most steps in a state, with the softening `epsilon` in the user's unit;
    /// [`None`] without particles.
    #[must_use]
    pub fn find(state: &State, epsilon: f64) -> Option<Self> {
        let deepest = state.levels.iter().max()?;
        let search = Search::new(state, epsilon / state.scale.length);
        let group = search.group();
        Some(Self {
            source: state.source.clone(),
            time: state.time,
            n: state.levels.len(),
            shortest: deepest.step(state.dt_max),
            rows: if search.max.len() > LOOKED_AT { vec![] } else { search.rows() },
            group,
        })
    }

    /// Returns the bound pair that dominates the work, if one does.
    #[must_use]
    pub fn dominant(&self) -> Option<(&ShortStep, &Partner, Orbit)> {
        let max = self.rows.first()?;
        let [of_particles, of_blocks] = DOMINANT_SHARE;
        let dominates = max.share.particle_steps >= of_particles || max.share.block_steps >= of_blocks;
        let partner = max.partner.as_ref().filter(|_| dominates)?;
        Some((max, partner, partner.orbit?))
    }

    /// Returns true if few of the particles take half of the particle steps.
    #[must_use]
    pub fn is_concentrated(&self) -> bool {
        self.group.particles * 20 <= self.n
    }
}

/// Search in a state.
struct Search<'a> {
    state: &'a State,
    epsilon: f64,
    /// Steps of each particle in the longest step, in a binary the mean over an orbit.
    rates: Vec<f64>,
    total: f64,
    /// Indices of the particles from the most steps on.
    order: Vec<usize>,
    /// Indices of the particles with the most steps: as many as are looked at, or all that take as many as the first.
    max: Vec<usize>,
    neighbours: Neighbours<'a>,
    heaviest: Vec<usize>,
    /// The other particle of each in a binary, by index.
    other: HashMap<usize, usize>,
}

impl<'a> Search<'a> {
    fn new(state: &'a State, epsilon: f64) -> Self {
        let (stars, levels) = (&state.stars, &state.levels);
        let mut rates: Vec<f64> = levels.iter().map(|level| 1.0 / level.step(1.0)).collect();
        let neighbours = Neighbours::new(&stars.id, &stars.pos, 2);
        let mut other = HashMap::new();
        for (i, rate) in rates.iter_mut().enumerate() {
            let Some((j, orbit)) = binary(stars, &neighbours, i, epsilon) else { continue };
            other.insert(i, j);
            *rate = (*rate * mean_over_orbit(&orbit)).max(1.0);
        }
        let id = |i: &usize| stars.id[*i];
        let mut order: Vec<usize> = (0..stars.len()).collect();
        order.sort_unstable_by(|a, b| rates[*b].total_cmp(&rates[*a]).then(id(a).cmp(&id(b))));
        let equal = order.iter().take_while(|&&i| rates[i] == rates[order[0]]).count();
        let max = order[..order.len().min(equal.max(LOOKED_AT))].to_vec();
        let mut heaviest: Vec<usize> = (0..stars.len()).collect();
        let by_mass = |a: &usize, b: &usize| stars.mass[*b].total_cmp(&stars.mass[*a]).then(id(a).cmp(&id(b)));
        if heaviest.len() > HEAVIEST {
            heaviest.select_nth_unstable_by(HEAVIEST, by_mass);
            heaviest.truncate(HEAVIEST);
        }
        Self { state, epsilon, total: rates.iter().sum(), rates, order, max, neighbours, heaviest, other }
    }

    /// Returns the work of some particles. A block step that only they need is one that no slower particle shares:
    /// blocks are commensurate.
    fn share(&self, own: &[usize]) -> Share {
        let rate = |i: usize| self.rates[i];
        let fastest = self.order.first().map_or(1.0, |&i| rate(i));
        // Among the first that are more than the own ones, there is another one.
        let others = self.order.iter().take(own.len() + 1).find(|i| !own.contains(i)).map_or(0.0, |&i| rate(i));
        Share {
            particle_steps: own.iter().map(|&i| rate(i)).sum::<f64>() / self.total,
            block_steps: 1.0 - others / fastest,
        }
    }

    /// Returns the particles that take half of the steps: whole binaries, and all that take as many steps as the last.
    fn group(&self) -> Group {
        let (mut held, mut sum, mut last) = (HashSet::new(), 0.0, f64::INFINITY);
        for &i in &self.order {
            if sum >= GROUP_SHARE * self.total && self.rates[i] < last {
                break;
            }
            last = self.rates[i];
            for j in std::iter::once(i).chain(self.other.get(&i).copied()) {
                sum += if held.insert(j) { self.rates[j] } else { 0.0 };
            }
        }
        let pairs = held.iter().filter(|i| self.other.contains_key(i)).count() / 2;
        let rate = |at: Option<&usize>| at.map_or(0.0, |&i| self.rates[i]);
        let others = rate(self.order.iter().find(|i| !held.contains(i)));
        let share = Share { particle_steps: sum / self.total, block_steps: 1.0 - others / rate(self.order.first()) };
        Group { particles: held.len(), pairs, share }
    }

    fn rows(&self) -> Vec<ShortStep> {
        let mut rows = BTreeMap::new();
        for &i in &self.max {
            let partner = self.partner(i);
            let mutual = partner.filter(|&j| self.partner(j) == Some(i));
            let id = |i: usize| self.state.stars.id[i];
            let [i, j] = match mutual {
                Some(j) if id(j) < id(i) => [j, i],
                _ => [i, partner.unwrap_or(i)],
            };
            let row = || self.row(i, partner.map(|_| j), mutual.is_some());
            rows.entry((id(i), mutual.map(|_| id(j)))).or_insert_with(row);
        }
        let mut rows: Vec<ShortStep> = rows.into_values().collect();
        rows.sort_by(|a, b| {
            let work = b.share.particle_steps.total_cmp(&a.share.particle_steps);
            work.then(a.step.total_cmp(&b.step)).then(a.id.cmp(&b.id))
        });
        // A particle with the longest step is none with a short one.
        rows.retain(|row| row.step < self.state.dt_max);
        rows.truncate(ROWS);
        rows
    }

    fn row(&self, i: usize, partner: Option<usize>, mutual: bool) -> ShortStep {
        let State { stars, levels, scale, dt_max, .. } = self.state;
        let own: Vec<usize> = std::iter::once(i).chain(partner.filter(|_| mutual)).collect();
        let level = own.iter().map(|&i| levels[i]).max().unwrap_or(levels[i]);
        let of = |j: usize| {
            let pair = pair(stars, i, j, self.epsilon);
            let orbit = (pair.energy < 0.0).then(|| Orbit {
                semi_major_axis: pair.semi_major_axis * scale.length,
                eccentricity: pair.eccentricity,
                period: pair.period() * scale.time,
            });
            Partner { id: stars.id[j], mutual, separation: pair.distance * scale.length, orbit }
        };
        ShortStep { id: stars.id[i], step: level.step(*dt_max), partner: partner.map(of), share: self.share(&own) }
    }

    /// Returns the other particle of a binary, else the particle that attracts a particle most, among its neighbours and
    /// the heaviest of all.
    fn partner(&self, i: usize) -> Option<usize> {
        if let Some(&other) = self.other.get(&i) {
            return Some(other);
        }
        let stars = &self.state.stars;
        let near = self.neighbours.nearest_to(stars.pos[i], NEIGHBOURS + 1);
        let candidates = near.iter().map(|neighbour| neighbour.index as usize).chain(self.heaviest.iter().copied());
        let pull = |j: usize| {
            let r2 = (stars.pos[j] - stars.pos[i]).norm_squared() + self.epsilon * self.epsilon;
            stars.mass[j] / r2
        };
        candidates.filter(|&j| j != i).max_by(|&a, &b| pull(a).total_cmp(&pull(b)).then(stars.id[b].cmp(&stars.id[a])))
    }
}

fn pair(stars: &Stars, i: usize, j: usize, epsilon: f64) -> Pair {
    let body = |i: usize| Body { mass: stars.mass[i], pos: stars.pos[i], vel: stars.vel[i] };
    Pair::new(&body(i), &body(j), epsilon)
}

/// Returns the other particle of a binary and the orbit about it: each is the nearest neighbour of the other, they are
/// bound, and no third one is within the size of the orbit.
fn binary(stars: &Stars, neighbours: &Neighbours<'_>, i: usize, epsilon: f64) -> Option<(usize, Pair)> {
    let j = neighbours.nearest(i).first()?.index as usize;
    let mutual = neighbours.nearest(j).first().is_some_and(|nearest| nearest.index as usize == i);
    let orbit = pair(stars, i, j, epsilon);
    let third = [i, j].map(|k| neighbours.nearest(k).get(1).map_or(f64::INFINITY, |third| third.distance));
    let alone = third.iter().all(|third| 2.0 * orbit.semi_major_axis < *third);
    (mutual && orbit.energy < 0.0 && alone).then_some((j, orbit))
}

/// Returns the mean number of steps in a time, over the orbit of a binary, relative to the present one. Steps go with
/// r^(3/2) along the orbit, and the mean of r^(−3/2) over time is about a^(−3/2) (1 − e²)^(−3/8).
fn mean_over_orbit(pair: &Pair) -> f64 {
    let mean = (pair.distance / pair.semi_major_axis).powf(1.5) * (1.0 - pair.eccentricity.powi(2)).powf(-0.375);
    if mean.is_finite() { mean } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::Provenance;
    use tisane::particles::Vec3;
    use tisane::time::Level;
    use tisane::units::Scale;

    /// Particles: mass, position, velocity, level.
    fn state(all: &[(f64, Vec3, Vec3, u8)]) -> State {
        let column = |of: fn(&(f64, Vec3, Vec3, u8)) -> Vec3| all.iter().map(of).collect();
        let stars = Stars {
            id: (0..all.len() as u64).collect(),
            mass: all.iter().map(|one| one.0).collect(),
            pos: column(|one| one.1),
            vel: column(|one| one.2),
            pot: vec![-1e6; all.len()],
            states: Vec::new(),
            followed: Vec::new(),
        };
        let levels = all.iter().map(|one| Level(one.3)).collect();
        let scale = Scale { mass: 1.0, length: 2.0, velocity: 1.0, time: 3.0 };
        let (source, provenance) = ("x".into(), Provenance::default());
        State { source, time: 1.0, stars, levels, dt_max: 3.0, internal_motion: None, scale, provenance }
    }

    /// A lattice of 1000 particles on level 0, whose neighbours move against each other, with particles added.
    fn lattice(added: &[(f64, Vec3, Vec3, u8)]) -> State {
        let place = |k: usize| [k % 10, k / 10 % 10, k / 100];
        let one = |k: usize| {
            let [x, y, z] = place(k);
            let side = if (x + y + z) % 2 == 0 { 2.0 } else { -2.0 };
            (1.0, Vec3::new(x as f64, y as f64, z as f64), side * Vec3::z(), 0)
        };
        state(&(0..1000).map(one).chain(added.iter().copied()).collect::<Vec<_>>())
    }

    /// A pair of masses 1 at its pericentre, in the middle of a cell of the lattice.
    fn pair(pericentre: f64, eccentricity: f64, level: u8) -> [(f64, Vec3, Vec3, u8); 2] {
        let (middle, v) = (Vec3::repeat(4.5), (2.0 * (1.0 + eccentricity) / pericentre).sqrt() / 2.0);
        [1.0, -1.0].map(|side| (1.0, middle + side * pericentre / 2.0 * Vec3::x(), side * v * Vec3::y(), level))
    }

    fn close(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} is not {expected}");
    }

    #[test]
    fn one_binary_that_takes_the_steps_is_found_with_its_orbit() {
        let found = ShortSteps::find(&lattice(&pair(0.01, 0.0, 12)), 0.0).unwrap();
        assert_eq!((found.n, found.shortest, found.rows.len()), (1002, 3.0 / 4096.0, 1));
        assert_eq!((found.group.particles, found.group.pairs, found.is_concentrated()), (2, 1, true));
        let (row, partner, orbit) = found.dominant().unwrap();
        assert_eq!((row.id, partner.id, partner.mutual, row.step), (1000, 1001, true, found.shortest));
        for share in [row.share, found.group.share] {
            close(share.particle_steps, 8192.0 / 9192.0);
            close(share.block_steps, 1.0 - 1.0 / 4096.0);
        }
        close(partner.separation, 0.02);
        close(orbit.semi_major_axis, 0.02);
        close(orbit.period, 3.0 * std::f64::consts::TAU * (1e-6_f64 / 2.0).sqrt());
        assert!(orbit.eccentricity < 1e-6, "{orbit:?}");
    }

    #[test]
    fn the_steps_of_a_binary_are_those_of_its_mean_over_an_orbit() {
        let found = ShortSteps::find(&lattice(&pair(0.001, 0.9, 12)), 0.0).unwrap();
        let mean = 4096.0 * 0.1_f64.powf(1.5) * 0.19_f64.powf(-0.375);
        close(found.rows[0].share.particle_steps, 2.0 * mean / (2.0 * mean + 1000.0));
        close(found.rows[0].share.block_steps, 1.0 - 1.0 / mean);
        assert_eq!(found.rows[0].step, 3.0 / 4096.0, "the present one");
        // Not as short as to be longer than the longest.
        let slow = ShortSteps::find(&lattice(&pair(0.001, 0.9, 1)), 0.0).unwrap();
        close(slow.rows.first().map_or(1.0, |row| row.share.particle_steps * 501.0), 1.0);
    }

    #[test]
    fn a_group_holds_whole_binaries() {
        let [mut heavy, light] = pair(0.01, 0.0, 12);
        // Its components need not have equal steps.
        heavy.3 = 10;
        let moved = pair(0.01, 0.0, 11).map(|(m, x, v, level)| (m, x + 2.0 * Vec3::x(), v, level));
        let found = ShortSteps::find(&lattice(&[heavy, light, moved[0], moved[1]]), 0.0).unwrap();
        assert_eq!((found.group.particles, found.group.pairs), (2, 1));
        close(found.group.share.particle_steps, 5120.0 / (5120.0 + 4096.0 + 1000.0));
        close(found.group.share.block_steps, 0.5);
    }

    #[test]
    fn an_encounter_has_a_partner_and_no_orbit() {
        let [a, mut b] = pair(0.01, 0.0, 12);
        b.2 = -100.0 * Vec3::x();
        let found = ShortSteps::find(&lattice(&[a, b]), 0.0).unwrap();
        let partner = found.rows[0].partner.as_ref().unwrap();
        assert_eq!((partner.id, partner.orbit, found.group.pairs), (1001, None, 0));
        assert_eq!(found.dominant(), None);
    }

    #[test]
    fn stars_about_a_heavy_one_have_it_as_partner() {
        let star = |r: f64, level| (1e-6, r * Vec3::z(), (1.0 / r).sqrt() * Vec3::x(), level);
        let all = [(1.0, Vec3::zeros(), Vec3::zeros(), 8), star(0.1, 10), star(0.3, 9), star(0.8, 7)];
        let found = ShortSteps::find(&state(&all), 0.0).unwrap();
        let partner = |row: &ShortStep| row.partner.as_ref().map(|partner| (partner.id, partner.mutual));
        let rows: Vec<_> = found.rows.iter().map(|row| (row.id, partner(row))).collect();
        // The innermost is the most bound: with the heavy one it is a binary.
        assert_eq!(rows, [(0, Some((1, true))), (2, Some((0, false))), (3, Some((0, false)))]);
        let orbit = found.rows[1].partner.as_ref().unwrap().orbit.unwrap();
        assert!((orbit.semi_major_axis / 0.6 - 1.0).abs() < 1e-4, "{orbit:?}");
        assert!((found.rows[1].share.particle_steps / (512.0 / 1920.0) - 1.0).abs() < 1e-4, "{:?}", found.rows);
    }

    #[test]
    fn where_all_have_the_same_step_no_particle_stands_out() {
        let found = ShortSteps::find(&lattice(&[]), 0.0).unwrap();
        assert!(found.rows.is_empty() && found.dominant().is_none() && !found.is_concentrated());
        assert_eq!((found.group.particles, found.group.pairs, found.shortest), (1000, 0, 3.0));
        assert_eq!(found.group.share, Share { particle_steps: 1.0, block_steps: 1.0 });
        assert_eq!(ShortSteps::find(&state(&[]), 0.0), None);
        let one = ShortSteps::find(&state(&[(1.0, Vec3::zeros(), Vec3::zeros(), 1)]), 0.0).unwrap();
        assert_eq!((one.rows.len(), &one.rows[0].partner), (1, &None));
    }
}
