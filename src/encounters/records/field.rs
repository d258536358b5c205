//! Accelerations and potentials of all stars of a system with subsystems, for measurements: inside of subsystems from
//! the relative positions, which have more digits than the positions of the stars.

use crate::encounters::cube_root::cube_root;
use crate::encounters::forces::columns::{self, Column, Coordinates, LANES, Within};
use crate::encounters::forces::coupling::{self, PointMasses};
use crate::encounters::forces::regions::Regions;
use crate::encounters::forces::surroundings::{Reach, at};
use crate::encounters::membership::each::{WORK, each};
use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::member::{Member, Placed, placed};
use crate::encounters::settings::criteria;
use crate::few_body::Motion;
use tisane_force::error::Result;
use tisane_force::force::{Field, ForceEngine};
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Time};

/// Number of subsystems whose corrections are kept at once: there may be one for each other body. No result depends on it.
const MAX_AT_ONCE: usize = 64;

/// Returns the field of `n` stars at `now`, where all bodies stand. The engine holds the bodies.
pub fn measure(hierarchy: &Hierarchy, n: usize, engine: &mut dyn ForceEngine, now: Time) -> Result<Field> {
    let bodies = &hierarchy.bodies;
    let p = &bodies.particles;
    let mut of_bodies = Field::from_engine(p, engine, now)?;
    let places = Places::of(hierarchy, now);
    let rows: Vec<usize> = hierarchy.rows_in_order().collect();
    let mut inside: Vec<Vec<Star>> = vec![Vec::new(); hierarchy.subsystems.len()];
    for rows in rows.chunks(MAX_AT_ONCE) {
        for (&row, found) in rows.iter().zip(each(rows, WORK, |row| correction(hierarchy, &places, row, now))) {
            let Correction { stars, others } = found?;
            let here = bodies.of_star(hierarchy.subsystems[row].stars[0]);
            for (k, potential) in others {
                of_bodies.pot[k] += potential;
                of_bodies.pot[here] += potential * p.mass[k] / p.mass[here];
            }
            inside[row] = stars;
        }
    }
    let has_external = !of_bodies.external.is_empty();
    let zeros = vec![0.0; n];
    let mut field = Field {
        acc: vec![Vec3::zeros(); n],
        pot: zeros.clone(),
        external: if has_external { zeros } else { Vec::new() },
        about: None,
    };
    let mut set = |star: u32, body: usize, acc: Vec3, pot: f64, external: f64| {
        let i = star as usize;
        field.acc[i] = of_bodies.acc[body] + acc;
        field.pot[i] = of_bodies.pot[body] + pot;
        if has_external {
            field.external[i] = external;
        }
    };
    let of_body = |body: usize| of_bodies.external.get(body).copied().unwrap_or_default();
    for body in bodies.occupied() {
        let star = bodies.stars[body];
        let Some(row) = hierarchy.row(star) else {
            set(star, body, Vec3::zeros(), 0.0, of_body(body));
            continue;
        };
        // Members that feel a tide have the potential at their own places, others that of the point that they are in the field.
        let feels = has_external && hierarchy.subsystems[row].far.is_some();
        for it in &inside[row] {
            let external = if feels { engine.external_potential(now, p.pos[body] + it.pos)? } else { of_body(body) };
            set(it.star, body, it.acc, it.pot, external);
        }
    }
    Ok(field)
}

/// Number of bodies by which is chosen how others are searched, and that of near ones among them from which on all bodies are looked at:
/// a search of the regions takes as long for some 2 % of 43691. No result depends on them.
const SAMPLE: usize = 64;
const MIN_NEAR_OF_SAMPLE: usize = 2;

/// Places of all bodies at a moment.
pub struct Places {
    /// Bodies by regions.
    pub regions: Regions,
    /// Positions.
    pub pos: Vec<Vec3>,
    /// Positions and cube roots of the masses in columns, and a column of zeros.
    columns: Coordinates,
    roots: Column,
    zeros: Column,
}

impl Places {
    /// Returns the places at `now`.
    pub fn of(hierarchy: &Hierarchy, now: Time) -> Self {
        let (p, clock) = (&hierarchy.bodies.particles, &hierarchy.clock);
        let mut regions = Regions::default();
        regions.renew(p, clock, now);
        let pos: Vec<Vec3> = (0..p.len()).map(|k| at(p, k, clock, now).0).collect();
        let columns = std::array::from_fn(|axis| columns::filled(pos.iter().map(|pos| pos[axis]), columns::FAR));
        let roots = columns::filled(p.mass.iter().map(|&mass| cube_root(mass)), 0.0);
        let zeros = vec![[0.0; LANES]; roots.len()];
        Self { regions, pos, columns, roots, zeros }
    }

    /// Returns the rows, ascending, of the bodies within a `factor` times the cube root of their mass from that of a row. Where these are
    /// many, as around wide pairs, a look at all bodies takes less time than a search of the regions.
    pub fn within(&self, clock: &Clock, now: Time, row: usize, factor: f64) -> Vec<usize> {
        let all = Within {
            root: &self.roots,
            pos: &self.columns,
            speed: &self.zeros,
            from: self.pos[row].into(),
            factor,
            min: 0.0,
            slack: 0.0,
            time: 0.0,
        };
        let (n, roots) = (self.pos.len(), self.roots.as_flattened());
        let is_near = |&k: &usize| k != row && (self.pos[k] - self.pos[row]).norm() < factor * roots[k];
        if (0..n).step_by(n.div_ceil(SAMPLE)).filter(is_near).count() >= MIN_NEAR_OF_SAMPLE {
            let mut near = columns::run(all);
            near.retain(|&k| k != row);
            return near;
        }
        let reach = Reach { distance: factor, min: 0.0, time: 0.0, speed: 0.0 };
        self.regions.within(clock, now, row, reach).into_iter().map(|(k, _)| k).collect()
    }
}

/// Star inside of a subsystem: its position relative to the centre of mass, and what the others inside do to it.
#[derive(Clone)]
struct Star {
    star: u32,
    mass: f64,
    pos: Vec3,
    acc: Vec3,
    pot: f64,
}

/// Returns the stars of a subsystem at `now`, the moment of its motion. Places inside of an inner subsystem are not taken from
/// those in the outer one, which have fewer digits.
fn stars(members: &[Member], motion: &Motion, clock: &Clock, now: Time) -> Result<Vec<Star>> {
    let mut found: Vec<Star> = Vec::new();
    let mut rest = &placed(members, motion)[..];
    while let Some((Placed { of, mass, pos, .. }, later)) = rest.split_first() {
        let mut inside = match of {
            Member::Star(star) => {
                vec![Star { star: *star, mass: *mass, pos: Vec3::zeros(), acc: Vec3::zeros(), pot: 0.0 }]
            }
            Member::Inner(few) => {
                let stars_before = found.iter().map(|star| (star.mass, star.pos - pos));
                let others = stars_before.chain(later.iter().map(|member| (member.mass, member.pos - pos)));
                let few = few.opened(clock, now, others)?;
                stars(&few.members, &few.motion, clock, now)?
            }
        };
        rest = later;
        for star in &mut inside {
            star.pos += pos;
            for other in &mut found {
                let d = other.pos - star.pos;
                let r = d.norm();
                let per_r3 = d / (r * r * r);
                star.acc += per_r3 * other.mass;
                other.acc -= per_r3 * star.mass;
                star.pot -= other.mass / r;
                other.pot -= star.mass / r;
            }
        }
        found.extend(inside);
    }
    Ok(found)
}

/// What is known of a subsystem beside its centre of mass.
struct Correction {
    stars: Vec<Star>,
    /// Other bodies, ascending, with what the members change in the potential there.
    others: Vec<(usize, f64)>,
}

/// Returns the stars of the subsystem of a row at `now`, and what they change in the potentials of others.
fn correction(hierarchy: &Hierarchy, places: &Places, row: usize, now: Time) -> Result<Correction> {
    let (bodies, clock, subsystem) = (&hierarchy.bodies, &hierarchy.clock, &hierarchy.subsystems[row]);
    let (p, here) = (&bodies.particles, bodies.of_star(subsystem.stars[0]));
    let later = subsystem.at(bodies, clock, &hierarchy.rules, now.max(subsystem.time))?;
    let stars = stars(&later.members, &later.motion, clock, now)?;
    let mass = stars.iter().map(|star| star.mass).collect();
    let offsets: Vec<Vec3> = stars.iter().map(|star| star.pos).collect();
    let points = PointMasses { mass, speeds: vec![Vec3::zeros(); offsets.len()], offsets };
    let (mass, size, pos) = (p.mass[here], size(&points), &places.pos);
    let min = criteria::min_correction(p.len());
    let of = |k: usize| {
        let r = pos[k] - pos[here];
        let ratio = size * size / r.norm_squared();
        let is_noticed = p.mass[k] * ratio * ratio.sqrt() > min * mass;
        is_noticed.then(|| (k, coupling::potential(&points, r)))
    };
    let others =
        places.within(clock, now, here, noticed_within(&points, mass, p.len())).into_iter().filter_map(of).collect();
    Ok(Correction { stars, others })
}

/// Returns the largest distance of a member from the centre of mass.
fn size(points: &PointMasses) -> f64 {
    points.offsets.iter().map(|x| x.norm()).fold(0.0, f64::max)
}

/// Returns the distance within which others, of a number of bodies, notice the members of a subsystem of this mass, in units of the cube
/// root of their own: where the correction of their potential is above [`criteria::min_correction`].
pub fn noticed_within(points: &PointMasses, mass: f64, bodies: usize) -> f64 {
    let above_rounding = 1.0 + 1e-9;
    size(points) / cube_root(criteria::min_correction(bodies) * mass) * above_rounding
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encounters::settings::criteria::Rules;
    use tisane_force::particles::Particles;
    use tisane_force::time::Level;

    #[test]
    fn a_look_at_all_bodies_finds_those_of_a_search_of_the_regions() {
        let n = 500;
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1_u64 << 53) as f64
        };
        let pos: Vec<Vec3> = (0..n).map(|_| Vec3::from_fn(|_, _| random() - 0.5) * (0.1 / random())).collect();
        let mass = (0..n).map(|k| if k % 50 == 7 { 0.0 } else { random().powi(4) / n as f64 }).collect();
        let mut p = Particles::new(mass, pos.clone(), pos);
        (p.acc, p.jerk) = (vec![Vec3::x(); n], vec![Vec3::y(); n]);
        (p.time, p.step) = (vec![Time::default(); n], vec![Level::default(); n]);
        let (clock, now) = (Clock { start: 0.0, dt_max: 0.125 }, Time(Level(3).ticks()));
        let mut hierarchy =
            Hierarchy::new(Rules { perturbation: 1e-5, averages: true, forms: 0.0, dissolves: 0.0 }, clock);
        hierarchy.bodies.particles = p;
        let places = Places::of(&hierarchy, now);
        let (mut few, mut many) = (0, 0);
        for row in (0..n).step_by(9) {
            for factor in [0.1, 1.0, 3.0, 10.0, 1000.0] {
                let reach = Reach { distance: factor, min: 0.0, time: 0.0, speed: 0.0 };
                let found = places.within(&clock, now, row, factor);
                let by_regions = places.regions.within(&clock, now, row, reach).into_iter().map(|(k, _)| k);
                assert_eq!(found, by_regions.collect::<Vec<_>>(), "{row} {factor}");
                *(if found.len() < n / 5 { &mut few } else { &mut many }) += 1;
            }
        }
        assert!(few > 20 && many > 20, "{few} {many}");
    }
}
