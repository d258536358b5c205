//! Accelerations and potentials of all stars of a system with subsystems, for measurements: inside of subsystems from
//! the relative positions, which have more digits than the positions of the stars.

use crate::encounters::cube_root::cube_root;
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

/// Places of all bodies at a moment.
pub struct Places {
    /// Bodies by regions.
    pub regions: Regions,
    /// Positions.
    pub pos: Vec<Vec3>,
}

impl Places {
    /// Returns the places at `now`.
    pub fn of(hierarchy: &Hierarchy, now: Time) -> Self {
        let (p, clock) = (&hierarchy.bodies.particles, &hierarchy.clock);
        let mut regions = Regions::default();
        regions.renew(p, clock, now);
        Self { regions, pos: (0..p.len()).map(|k| at(p, k, clock, now).0).collect() }
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
    let later = subsystem.at(bodies, clock, now.max(subsystem.time))?;
    let stars = stars(&later.members, &later.motion, clock, now)?;
    let mass = stars.iter().map(|star| star.mass).collect();
    let offsets: Vec<Vec3> = stars.iter().map(|star| star.pos).collect();
    let points = PointMasses { mass, speeds: vec![Vec3::zeros(); offsets.len()], offsets };
    let (mass, size, Places { regions, pos }) = (p.mass[here], size(&points), places);
    let min = criteria::min_correction(p.len());
    let of = |(k, _): (usize, f64)| {
        let r = pos[k] - pos[here];
        let ratio = size * size / r.norm_squared();
        let is_noticed = p.mass[k] * ratio * ratio.sqrt() > min * mass;
        is_noticed.then(|| (k, coupling::potential(&points, r)))
    };
    let others =
        regions.within(clock, now, here, noticed_within(&points, mass, p.len())).into_iter().filter_map(of).collect();
    Ok(Correction { stars, others })
}

/// Returns the largest distance of a member from the centre of mass.
fn size(points: &PointMasses) -> f64 {
    points.offsets.iter().map(|x| x.norm()).fold(0.0, f64::max)
}

/// Returns the distance within which others, of a number of bodies, notice the members of a subsystem of this mass: where the
/// correction of their potential is above [`criteria::min_correction`].
pub fn noticed_within(points: &PointMasses, mass: f64, bodies: usize) -> Reach {
    let above_rounding = 1.0 + 1e-9;
    let distance = size(points) / cube_root(criteria::min_correction(bodies) * mass) * above_rounding;
    Reach { distance, min: 0.0, time: 0.0, speed: 0.0 }
}
