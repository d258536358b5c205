//! Accelerations and potentials of all stars of a system with subsystems, for measurements: inside of subsystems from
//! the relative positions, which have more digits than the positions of the stars.

use crate::encounters::forces::coupling::{self, PointMasses};
use crate::encounters::forces::surroundings::at;
use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::member::{Member, Placed, placed};
use crate::encounters::settings::criteria;
use crate::few_body::Motion;
use tisane_force::error::Result;
use tisane_force::force::{Field, ForceEngine};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::{Clock, Time};

/// Returns the field of `n` stars at `now`, where all bodies stand. The engine holds the bodies.
pub fn measure(hierarchy: &Hierarchy, n: usize, engine: &mut dyn ForceEngine, now: Time) -> Result<Field> {
    let (bodies, clock) = (&hierarchy.bodies, &hierarchy.clock);
    let p = &bodies.particles;
    let mut of_bodies = Field::from_engine(p, engine, now)?;
    let mut inside: Vec<Vec<Star>> = Vec::with_capacity(hierarchy.subsystems.len());
    for subsystem in &hierarchy.subsystems {
        let subsystem = subsystem.at(bodies, clock, now.max(subsystem.time))?;
        let found = stars(&subsystem.members, &subsystem.motion, clock, now)?;
        let here = bodies.of_star(subsystem.stars[0]);
        let mass = found.iter().map(|star| star.mass).collect();
        let offsets: Vec<Vec3> = found.iter().map(|star| star.pos).collect();
        let points = PointMasses { mass, speeds: vec![Vec3::zeros(); offsets.len()], offsets };
        add_coupling(&mut of_bodies, p, here, &points, |k| at(p, k, clock, now).0);
        inside.push(found);
    }
    let has_external = !of_bodies.external.is_empty();
    let zeros = vec![0.0; n];
    let mut field = Field {
        acc: vec![Vec3::zeros(); n],
        pot: zeros.clone(),
        external: if has_external { zeros } else { Vec::new() },
    };
    let mut set = |star: u32, body: usize, acc: Vec3, pot: f64| {
        let i = star as usize;
        field.acc[i] = of_bodies.acc[body] + acc;
        field.pot[i] = of_bodies.pot[body] + pot;
        if has_external {
            field.external[i] = of_bodies.external[body];
        }
    };
    let mut subsystems = hierarchy.subsystems.iter().zip(&inside).peekable();
    for (body, &star) in bodies.stars.iter().enumerate() {
        match subsystems.next_if(|(subsystem, _)| subsystem.stars[0] == star) {
            None => set(star, body, Vec3::zeros(), 0.0),
            Some((_, inside)) => {
                inside.iter().for_each(|it| set(it.star, body, it.acc, it.pot));
            }
        }
    }
    Ok(field)
}

/// Star inside of a subsystem: its position relative to the centre of mass, and what the others inside do to it.
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

/// Adds what the members of the subsystem of body `here` change in the potentials of all others, and back.
fn add_coupling(field: &mut Field, p: &Particles, here: usize, points: &PointMasses, pos: impl Fn(usize) -> Vec3) {
    let size = points.offsets.iter().map(|x| x.norm()).fold(0.0, f64::max);
    let (mass, centre) = (p.mass[here], pos(here));
    for k in (0..p.len()).filter(|&k| k != here) {
        let r = pos(k) - centre;
        let ratio = size * size / r.norm_squared();
        if p.mass[k] * ratio * ratio.sqrt() > criteria::MIN_CORRECTION * mass {
            let potential = coupling::potential(points, r);
            field.pot[k] += potential;
            field.pot[here] += potential * p.mass[k] / mass;
        }
    }
}
