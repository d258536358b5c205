//! The particles with the shortest steps, their partners, and the part of the work that they take.

use super::state::State;
use std::collections::BTreeMap;
use tisane::diagnostics::cluster::neighbours::Neighbours;
use tisane::diagnostics::cluster::pair::{Body, Pair};
use tisane::diagnostics::steps;
use tisane::time::{LEVELS, Level};

/// Number of rows.
const ROWS: usize = 8;
/// Largest number of particles whose partners are looked for.
const LOOKED_AT: usize = 64;
/// Number of nearest neighbours, and of the heaviest particles, among which a partner is looked for.
const NEIGHBOURS: usize = 6;
const HEAVIEST: usize = 3;
/// Share of the particle steps that the group with the shortest steps takes at least.
const GROUP_SHARE: f64 = 0.5;
/// Share of the particle steps, or of the block steps, from which one pair dominates a run.
const DOMINANT_SHARE: [f64; 2] = [0.25, 0.75];

/// Particles with the shortest steps. Lengths and times are in the user's units.
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
    /// Particles on the shortest levels that take half of the particle steps together.
    pub group: Group,
    /// Pairs and particles with the shortest steps, without those with the longest step; empty if too many particles
    /// have the shortest.
    pub rows: Vec<ShortStep>,
}

/// Particles on the shortest levels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// Number of particles.
    pub particles: usize,
    /// Number of bound pairs among them; 0 if there are too many to look.
    pub pairs: usize,
    /// Work that they take.
    pub share: Share,
}

/// Part of the work that some particles take, if all keep their steps.
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
    /// Shortest step of the two, or of the particle.
    pub step: f64,
    /// Partner: the particle that attracts it most.
    pub partner: Option<Partner>,
    /// Work that the pair takes, or the particle alone.
    pub share: Share,
}

/// Partner of a particle.
#[derive(Clone, Debug, PartialEq)]
pub struct Partner {
    /// Id.
    pub id: u64,
    /// Flag that it is attracted most by the particle in turn: then the row counts both.
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
    /// Finds the particles with the shortest steps in a state, with the softening `epsilon` in the user's unit; [`None`]
    /// without particles.
    #[must_use]
    pub fn find(state: &State, epsilon: f64) -> Option<Self> {
        let search = Search::new(state, epsilon / state.scale.length);
        let step = |level: Level| level.step(state.dt_max);
        let deepest = search.deepest()?;
        let group = search.group();
        let rows = if search.histogram[usize::from(deepest.0)] > LOOKED_AT as u64 { vec![] } else { search.rows() };
        Some(Self {
            source: state.source.clone(),
            time: state.time,
            n: state.levels.len(),
            shortest: step(deepest),
            group,
            rows,
        })
    }

    /// Returns the bound pair that dominates the work, if one does.
    #[must_use]
    pub fn dominant(&self) -> Option<(&ShortStep, &Partner, Orbit)> {
        let most = self.rows.iter().max_by(|a, b| a.share.particle_steps.total_cmp(&b.share.particle_steps))?;
        let [of_particles, of_blocks] = DOMINANT_SHARE;
        let dominates = most.share.particle_steps >= of_particles || most.share.block_steps >= of_blocks;
        let partner = most.partner.as_ref().filter(|_| dominates)?;
        Some((most, partner, partner.orbit?))
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
    histogram: [u64; LEVELS],
    neighbours: Neighbours<'a>,
    heaviest: Vec<usize>,
    /// Indices of the particles with the shortest steps, from the shortest.
    shortest: Vec<usize>,
}

impl<'a> Search<'a> {
    fn new(state: &'a State, epsilon: f64) -> Self {
        let (stars, levels) = (&state.stars, &state.levels);
        let first = |count: usize, mut all: Vec<usize>, compare: &dyn Fn(&usize, &usize) -> std::cmp::Ordering| {
            if all.len() > count {
                all.select_nth_unstable_by(count, compare);
                all.truncate(count);
            }
            all.sort_by(compare);
            all
        };
        let id = |i: &usize| stars.id[*i];
        let all = || (0..stars.len()).collect::<Vec<_>>();
        Self {
            state,
            epsilon,
            histogram: steps::histogram(levels),
            neighbours: Neighbours::new(stars, 0),
            heaviest: first(HEAVIEST, all(), &|a, b| stars.mass[*b].total_cmp(&stars.mass[*a]).then(id(a).cmp(&id(b)))),
            shortest: first(LOOKED_AT, all(), &|a, b| levels[*b].cmp(&levels[*a]).then(id(a).cmp(&id(b)))),
        }
    }

    /// Returns the deepest level in use.
    fn deepest(&self) -> Option<Level> {
        deepest(&self.histogram)
    }

    /// Returns the work of the particles that `own` counts by level.
    fn share(&self, own: &[u64; LEVELS]) -> Share {
        let work = |histogram: &[u64; LEVELS]| -> f64 {
            histogram.iter().enumerate().map(|(level, &n)| n as f64 * steps_of(Level(level as u8))).sum()
        };
        let others = std::array::from_fn(|level| self.histogram[level] - own[level]);
        let blocks = |histogram: &[u64; LEVELS]| deepest(histogram).map_or(0.0, steps_of);
        Share {
            particle_steps: work(own) / work(&self.histogram),
            block_steps: 1.0 - blocks(&others) / blocks(&self.histogram),
        }
    }

    fn group(&self) -> Group {
        let mut own = [0; LEVELS];
        for level in (0..LEVELS).rev() {
            own[level] = self.histogram[level];
            if self.share(&own).particle_steps >= GROUP_SHARE {
                break;
            }
        }
        let particles = own.iter().sum::<u64>() as usize;
        let held = self.shortest.get(..particles).unwrap_or_default();
        let pairs = held.iter().filter_map(|&i| {
            let j = self.partner(i).filter(|&j| j > i && self.partner(j) == Some(i) && held.contains(&j))?;
            (self.pair(i, j).energy < 0.0).then_some(())
        });
        Group { particles, pairs: pairs.count(), share: self.share(&own) }
    }

    fn rows(&self) -> Vec<ShortStep> {
        let mut rows = BTreeMap::new();
        for &i in &self.shortest {
            let partner = self.partner(i);
            let mutual = partner.filter(|&j| self.partner(j) == Some(i));
            let id = |i: usize| self.state.stars.id[i];
            let [i, j] = match mutual {
                Some(j) if id(j) < id(i) => [j, i],
                _ => [i, partner.unwrap_or(i)],
            };
            rows.entry((id(i), mutual.map(|_| id(j))))
                .or_insert_with(|| self.row(i, partner.map(|_| j), mutual.is_some()));
        }
        let mut rows: Vec<ShortStep> = rows.into_values().collect();
        rows.sort_by(|a, b| {
            let work = b.share.particle_steps.total_cmp(&a.share.particle_steps);
            a.step.total_cmp(&b.step).then(work).then(a.id.cmp(&b.id))
        });
        // A particle with the longest step is none with a short one.
        rows.retain(|row| row.step < self.state.dt_max);
        rows.truncate(ROWS);
        rows
    }

    fn row(&self, i: usize, partner: Option<usize>, mutual: bool) -> ShortStep {
        let State { stars, levels, scale, dt_max, .. } = self.state;
        let mut own = [0; LEVELS];
        let mut level = levels[i];
        own[usize::from(level.0)] += 1;
        if let Some(j) = partner.filter(|_| mutual) {
            own[usize::from(levels[j].0)] += 1;
            level = level.max(levels[j]);
        }
        let of = |j: usize| {
            let pair = self.pair(i, j);
            let orbit = (pair.energy < 0.0).then(|| Orbit {
                semi_major_axis: pair.semi_major_axis * scale.length,
                eccentricity: pair.eccentricity,
                period: pair.period() * scale.time,
            });
            Partner { id: stars.id[j], mutual, separation: pair.distance * scale.length, orbit }
        };
        ShortStep { id: stars.id[i], step: level.step(*dt_max), partner: partner.map(of), share: self.share(&own) }
    }

    /// Returns the particle that attracts a particle most, among its neighbours and the heaviest of all.
    fn partner(&self, i: usize) -> Option<usize> {
        let stars = &self.state.stars;
        let near = self.neighbours.nearest_to(stars.pos[i], NEIGHBOURS + 1);
        let candidates = near.iter().map(|neighbour| neighbour.index as usize).chain(self.heaviest.iter().copied());
        let pull = |j: usize| {
            let r2 = (stars.pos[j] - stars.pos[i]).norm_squared() + self.epsilon * self.epsilon;
            stars.mass[j] / r2
        };
        candidates.filter(|&j| j != i).max_by(|&a, &b| pull(a).total_cmp(&pull(b)).then(stars.id[b].cmp(&stars.id[a])))
    }

    fn pair(&self, i: usize, j: usize) -> Pair {
        let stars = &self.state.stars;
        let body = |i: usize| Body { mass: stars.mass[i], pos: stars.pos[i], vel: stars.vel[i] };
        Pair::new(&body(i), &body(j), self.epsilon)
    }
}

/// Returns the number of steps of a level in the longest step.
fn steps_of(level: Level) -> f64 {
    1.0 / level.step(1.0)
}

/// Returns the deepest level with particles.
fn deepest(histogram: &[u64; LEVELS]) -> Option<Level> {
    histogram.iter().rposition(|&n| n > 0).map(|level| Level(level as u8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::Provenance;
    use tisane::diagnostics::cluster::Stars;
    use tisane::particles::Vec3;
    use tisane::units::Scale;

    /// A lattice of 1000 particles at rest on level 0, with these particles added: mass, position, velocity, level.
    fn state(added: &[(f64, Vec3, Vec3, u8)]) -> State {
        let grid = |k: usize| Vec3::new((k % 10) as f64, (k / 10 % 10) as f64, (k / 100) as f64);
        let mut stars = Stars {
            id: (0..1000 + added.len() as u64).collect(),
            mass: vec![1.0; 1000],
            pos: (0..1000).map(grid).collect(),
            vel: vec![Vec3::zeros(); 1000],
            pot: vec![0.0; 1000 + added.len()],
        };
        let mut levels = vec![Level(0); 1000];
        for &(mass, pos, vel, level) in added {
            stars.mass.push(mass);
            stars.pos.push(pos);
            stars.vel.push(vel);
            levels.push(Level(level));
        }
        let scale = Scale { mass: 1.0, length: 2.0, velocity: 1.0, time: 3.0 };
        State { source: "x".into(), time: 1.0, stars, levels, dt_max: 3.0, scale, provenance: Provenance::default() }
    }

    /// A circular pair of masses 1 at separation `d`, in the middle of a cell of the lattice.
    fn pair(d: f64, level: u8) -> [(f64, Vec3, Vec3, u8); 2] {
        let (middle, v) = (Vec3::repeat(4.5), (2.0 / d).sqrt() / 2.0);
        [1.0, -1.0].map(|side| (1.0, middle + side * d / 2.0 * Vec3::x(), side * v * Vec3::y(), level))
    }

    #[test]
    fn one_binary_that_takes_the_steps_is_found_with_its_orbit() {
        let found = ShortSteps::find(&state(&pair(0.01, 12)), 0.0).unwrap();
        assert_eq!((found.n, found.shortest), (1002, 3.0 / 4096.0));
        let share = Share { particle_steps: 8192.0 / 9192.0, block_steps: 1.0 - 1.0 / 4096.0 };
        assert_eq!(found.group, Group { particles: 2, pairs: 1, share });
        let (row, partner, orbit) = found.dominant().unwrap();
        assert_eq!((row.id, partner.id, partner.mutual, row.share), (1000, 1001, true, share));
        assert!((partner.separation - 0.02).abs() < 1e-12 && (orbit.semi_major_axis - 0.02).abs() < 1e-12);
        let period = 3.0 * std::f64::consts::TAU * (1e-6_f64 / 2.0).sqrt();
        assert!((orbit.period / period - 1.0).abs() < 1e-9 && orbit.eccentricity < 1e-6, "{orbit:?}");
        // The others have the longest step.
        assert!(found.is_concentrated() && found.rows.len() == 1);
    }

    #[test]
    fn an_encounter_has_a_partner_and_no_orbit() {
        let [a, mut b] = pair(0.01, 12);
        b.2 = -100.0 * Vec3::x();
        let found = ShortSteps::find(&state(&[a, b]), 0.0).unwrap();
        let partner = found.rows[0].partner.as_ref().unwrap();
        assert_eq!((partner.id, partner.orbit, found.group.pairs), (1001, None, 0));
        assert_eq!(found.dominant(), None);
    }

    #[test]
    fn stars_about_a_heavy_one_have_it_as_partner_and_count_alone() {
        let centre = Vec3::repeat(4.5);
        let star = |r: f64, level| (1e-6, centre + r * Vec3::z(), (1e6 / r).sqrt() * Vec3::x(), level);
        let found =
            ShortSteps::find(&state(&[(1e6, centre, Vec3::zeros(), 8), star(0.1, 10), star(0.3, 9)]), 0.0).unwrap();
        let partners: Vec<_> = found.rows[..2].iter().map(|row| (row.id, row.partner.as_ref().unwrap().id)).collect();
        // The heavy one is attracted most by a star of the lattice.
        assert_eq!(partners, [(1001, 1000), (1002, 1000)]);
        let orbit = found.rows[0].partner.as_ref().unwrap().orbit.unwrap();
        assert!((orbit.semi_major_axis / 0.2 - 1.0).abs() < 1e-6, "{orbit:?}");
        assert_eq!(found.rows[0].share.particle_steps, 1024.0 / (1024.0 + 512.0 + 256.0 + 1000.0));
    }

    #[test]
    fn where_all_have_the_same_step_no_particle_stands_out() {
        let found = ShortSteps::find(&state(&[]), 0.0).unwrap();
        assert!(found.rows.is_empty() && found.dominant().is_none() && !found.is_concentrated());
        assert_eq!((found.group.particles, found.group.pairs, found.shortest), (1000, 0, 3.0));
        assert_eq!(found.group.share, Share { particle_steps: 1.0, block_steps: 1.0 });
        let mut none = state(&[]);
        (none.stars, none.levels) = (Stars::default(), Vec::new());
        assert_eq!(ShortSteps::find(&none, 0.0), None);
        let mut one = state(&[]);
        one.levels = vec![Level(1)];
        let Stars { id, mass, pos, vel, pot } = &mut one.stars;
        (id.truncate(1), mass.truncate(1), pos.truncate(1), vel.truncate(1), pot.truncate(1));
        assert_eq!(ShortSteps::find(&one, 0.0).unwrap().rows[0].partner, None);
    }
}
