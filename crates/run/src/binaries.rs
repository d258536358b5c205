//! Binaries and other close pairs of the particles that a run starts from: how they count in the properties of the
//! system, how fast they turn, and what it takes to follow them. `tisane check` describes them, a run warns of them, and
//! default lengths of steps allow for them.
//!
//! Pairs are looked for without softening: a softening longer than their separations tears them apart at the start, and
//! nothing else would show it.

mod averaged;
mod close_orbit;
mod knot;
mod marginal;
mod orbit;
mod places;
mod report;
mod terms;

pub use close_orbit::CloseOrbit;
pub use knot::Knot;
pub use marginal::Marginal;
pub use terms::Terms;

use std::f64::consts::TAU;
use terms::Steps;
use tisane::diagnostics::cluster::Stars;
use tisane::diagnostics::cluster::bodies::Bodies;
pub use tisane::diagnostics::cluster::own_frame::Kind;
use tisane::diagnostics::cluster::own_frame::OwnFrame;
use tisane::diagnostics::cluster::pair::{Body, Pair};
use tisane::diagnostics::conserved::Conserved;
use tisane::diagnostics::structure::median_radius;
use tisane::nearest::Neighbours;
use tisane::particles::{Particles, Vec3};

/// Number of nearest neighbours of a particle whose softened potentials are replaced by those without softening.
const NEIGHBOURS: usize = 6;
/// Largest number of bodies for each of which the companion is looked for among all others.
const MAX_BODIES: usize = 1024;
/// Largest tidal force of other bodies on an orbit, in the force of the two on each other.
const MAX_TIDE: f64 = 0.1;
/// Binding energy in kT of pairs that are not there by chance.
const SURELY_HARD: f64 = 3.0;
/// Semi-major axes, in softening lengths, below which the softening changes an orbit.
const CHANGED_BELOW: f64 = 10.0;

/// Close pairs of the particles at the start of a run.
#[derive(Clone, Debug)]
pub struct Binaries {
    /// Kind of the system.
    pub kind: Kind,
    /// Particles, and binaries and hierarchies of at least 1 kT as one body each.
    pub bodies: Bodies,
    /// Orbits of the close pairs, the one with the shortest period first: the binaries of a cluster, or the orbits of a
    /// system that is none.
    pub orbits: Vec<CloseOrbit>,
    /// The system in its own frame, softened as the forces of the run are; internal units.
    pub whole: OwnFrame,
    /// Time scale of the system, in internal units: crossing time, shortest period or, without an orbit, the period of a
    /// body at the median radius. [`None`] where there is none.
    pub time_scale: Option<f64>,
    /// Wall time of the forces on two particles, in s, if it was measured: a block step of a close pair takes more.
    pub seconds: Option<f64>,
    /// Pairs whose stars touch at the pericentre, by their ids: nearest first.
    pub touching: Vec<[u64; 2]>,
    /// Stable triples and quadruples that a run with subsystems follows in the mean over their orbits, by the ids of their stars.
    pub averaged: Vec<Vec<u64>>,
    /// Pair whose separation has the fewest digits in the positions of its particles, by its ids, and the error that this leaves
    /// in it, relative; [`None`] where all pairs have enough.
    pub coarsest: Option<([u64; 2], f64)>,
    /// Many bodies in a small part of a cluster, which a run with subsystems integrates one by one.
    pub knot: Option<Knot>,
    terms: Terms,
}

impl Binaries {
    /// Finds the close pairs of particles that all stand at one time, in internal units; `pot` has their potentials,
    /// softened as the forces of the run are.
    #[must_use]
    pub fn find(p: &Particles, pot: &[f64], terms: Terms) -> Self {
        let stars = Stars::new(p, pot);
        let softened = Bodies::find(&stars, terms.epsilon);
        let whole = OwnFrame::new(&stars, &softened, terms.epsilon);
        let kind = whole.kind;
        let bodies = match terms.epsilon > 0.0 {
            true => Bodies::find(&without_softening(stars, terms.epsilon), 0.0),
            false => softened,
        };
        let heaviest = heaviest(&p.mass);
        let body = |i: usize| Body { mass: p.mass[i], pos: p.pos[i], vel: p.vel[i] };
        let orbit = |[i, j]: [usize; 2]| {
            let (a, b) = (body(i), body(j));
            let pair = Pair::new(&a, &b, 0.0);
            let hardness = pair.binding_energy() / bodies.systems.thermal_energy;
            let bound = Pair::new(&a, &b, terms.epsilon).energy < 0.0;
            (pair.energy < 0.0 && pair.energy.is_finite()).then(|| CloseOrbit {
                ids: [p.id[i], p.id[j]],
                hardness: if kind == Kind::Cluster { hardness } else { f64::INFINITY },
                step: terms.step(&pair, bound),
                bound,
                pair,
            })
        };
        let all = 0..p.len();
        let hard = || bodies.binaries().filter_map(|system| <[u32; 2]>::try_from(system.stars()).ok()).map(sorted);
        let mut pairs: Vec<[usize; 2]> = match (kind, heaviest) {
            (Kind::Cluster, _) | (_, None) => hard().collect(),
            (Kind::Orbits, Some(centre)) if p.len() > MAX_BODIES => {
                hard().chain(all.filter(|&i| i != centre).map(|i| sorted([i as u32, centre as u32]))).collect()
            }
            _ => {
                let found = all.filter_map(|i| closest_companion(i, &body, p.len()));
                found.filter(|&pair| is_undisturbed(pair, &body, p.len())).collect()
            }
        };
        pairs.sort_unstable();
        pairs.dedup();
        let mut orbits: Vec<CloseOrbit> = pairs.into_iter().filter_map(orbit).collect();
        orbits.sort_by(|a, b| a.pair.period().total_cmp(&b.pair.period()));
        let time_scale = match kind {
            Kind::Cluster => Some(whole.crossing_time()).filter(|time| !time.is_nan()),
            Kind::Orbits | Kind::Few => orbits.first().map(|orbit| orbit.pair.period()),
        };
        let time_scale = time_scale.or_else(|| dynamical_time(p)).filter(|time| time.is_finite() && *time > 0.0);
        let knot = if kind == Kind::Cluster { Knot::find(p, &bodies, &terms) } else { None };
        let (touching, coarsest) = (places::touching(p, &orbits), places::coarsest(p, &orbits));
        let averaged = if terms.means { averaged::find(p, &bodies, kind) } else { Vec::new() };
        Self { kind, bodies, orbits, whole, time_scale, seconds: None, touching, averaged, coarsest, knot, terms }
    }

    /// Returns the system as particles without pairs and without a time scale: by another law than Newton's there are no
    /// Kepler orbits. `stars` are the particles with their potentials by that law.
    #[must_use]
    pub(crate) fn without_pairs(self, stars: &Stars) -> Self {
        let whole = OwnFrame::of_particles(stars);
        let (orbits, touching, averaged) = (Vec::new(), Vec::new(), Vec::new());
        let (time_scale, coarsest, knot) = (None, None, None);
        Self { kind: Kind::Few, whole, orbits, time_scale, touching, averaged, coarsest, knot, ..self }
    }

    /// Returns the settings that the pairs are compared with.
    #[must_use]
    pub const fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Estimates the marginal pairs among the close pairs and the primordial binaries, of which `first` has the first stars, in the
    /// tidal field of all others at the start.
    #[must_use]
    pub fn marginal(&self, p: &Particles, first: &[usize]) -> Marginal {
        marginal::estimate(p, &self.orbits, first)
    }

    /// Returns the orbit that needs the shortest step; [`None`] without orbits, and for a scheme with one step for all.
    #[must_use]
    pub fn most_demanding(&self) -> Option<&CloseOrbit> {
        self.orbits.iter().min_by(|a, b| a.step.total_cmp(&b.step))
    }

    /// Returns the name of the time scale.
    #[must_use]
    pub fn time_scale_name(&self) -> &'static str {
        match self.kind {
            Kind::Cluster => "crossing time",
            _ if self.orbits.is_empty() => "dynamical time",
            _ => "shortest period",
        }
    }

    /// Returns the number of orbits that the softening of the run tears apart at the start.
    #[must_use]
    pub fn torn(&self) -> usize {
        self.orbits.iter().filter(|orbit| !orbit.bound).count()
    }

    /// Returns the number of orbits of the fastest pair until the end of the run; 0 without a pair.
    #[must_use]
    pub fn orbits_to_end(&self) -> f64 {
        self.orbits.first().map_or(0.0, |orbit| self.terms.span / orbit.pair.period())
    }

    /// Returns the number of steps of an orbit of the fastest pair; 0 without a pair, and where steps follow the motion.
    #[must_use]
    pub fn steps_per_orbit(&self) -> f64 {
        let Some(fastest) = self.orbits.first() else { return 0.0 };
        match self.terms.steps {
            Steps::Blocks(steps) => {
                let dt_max = steps.range[1] / self.terms.scale.time;
                orbit::steps_per_orbit(steps.nu, &fastest.pair, dt_max) * f64::from(steps.evaluations)
            }
            Steps::One(dt) => fastest.pair.period() * self.terms.scale.time / dt,
            Steps::ByMotion => 0.0,
        }
    }
}

fn sorted([i, j]: [u32; 2]) -> [usize; 2] {
    [i.min(j) as usize, i.max(j) as usize]
}

/// Returns the index of the largest mass.
fn heaviest(mass: &[f64]) -> Option<usize> {
    (0..mass.len()).max_by(|&i, &j| mass[i].total_cmp(&mass[j]))
}

/// Returns particle `i` of `n` and the one that it is bound to with the shortest period, the smaller index first.
fn closest_companion(i: usize, body: &impl Fn(usize) -> Body, n: usize) -> Option<[usize; 2]> {
    let period = |j: usize| Pair::new(&body(i), &body(j), 0.0).period();
    let bound = (0..n).filter(|&j| j != i).map(|j| (period(j), j)).filter(|(period, _)| period.is_finite());
    let (_, j) = bound.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some([i.min(j), i.max(j)])
}

/// Returns true if the others hardly disturb the orbit of two particles: at its apocentre their tidal force is below
/// [`MAX_TIDE`] of the force of the two on each other.
fn is_undisturbed([i, j]: [usize; 2], body: &impl Fn(usize) -> Body, n: usize) -> bool {
    let (a, b) = (body(i), body(j));
    let pair = Pair::new(&a, &b, 0.0);
    let force = |on: &Body, by: &Body| (by.pos - on.pos) * (by.mass / (by.pos - on.pos).norm().powi(3));
    let others = (0..n).filter(|&k| k != i && k != j).map(body);
    let tide: Vec3 = others.map(|other| force(&b, &other) - force(&a, &other)).sum();
    let apocentre = pair.semi_major_axis * (1.0 + pair.eccentricity);
    let own = (pair.mass[0] + pair.mass[1]) / pair.distance.powi(2);
    tide.norm() * (apocentre / pair.distance).powi(3) < MAX_TIDE * own
}

/// Returns the particles with potentials in which the nearest neighbours act without softening. The farther ones, whose
/// softened potentials stay, are many softening lengths away unless the softening exceeds the mean separation.
fn without_softening(mut stars: Stars, epsilon: f64) -> Stars {
    if epsilon > 0.0 {
        let neighbours = Neighbours::new(&stars.id, &stars.pos, NEIGHBOURS);
        let lost = |i: usize| -> f64 {
            let near = neighbours.nearest(i).iter().filter(|neighbour| neighbour.distance > 0.0);
            near.map(|neighbour| {
                let (mass, r) = (stars.mass[neighbour.index as usize], neighbour.distance);
                mass * (1.0 / r - 1.0 / r.hypot(epsilon))
            })
            .sum()
        };
        let lost: Vec<f64> = (0..stars.len()).map(lost).collect();
        stars.pot.iter_mut().zip(lost).for_each(|(pot, lost)| *pot -= lost);
    }
    stars
}

/// Returns the period 2π sqrt(r³/M) at the median distance from the centre of mass; [`None`] for one place or no mass.
fn dynamical_time(p: &Particles) -> Option<f64> {
    let conserved = Conserved::from_particles(p, &p.pot);
    let radius = median_radius(p, conserved.centre_of_mass);
    (radius > 0.0 && conserved.mass > 0.0).then(|| TAU * (radius.powi(3) / conserved.mass).sqrt())
}
