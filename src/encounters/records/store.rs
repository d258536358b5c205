//! State of the stars, from that of the bodies and of the subsystems.

use crate::encounters::membership::each::{WORK, each};
use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::member::{self, Placed};
use crate::encounters::records::state::{self, Recorded};
use tisane_force::error::Result;
use tisane_force::particles::{Particles, Vec3};

/// Stores the state of all stars in `p`, that of the subsystems, and the stars whose events were recorded.
pub fn store(own: &Particles, hierarchy: &Hierarchy, recorded: &Recorded, p: &mut Particles) -> Result<()> {
    let (bodies, clock) = (&hierarchy.bodies, &hierarchy.clock);
    let stars_of = |row: usize| {
        let subsystem = &hierarchy.subsystems[row];
        let now = own.time[bodies.of_star(subsystem.stars[0])].max(subsystem.time);
        let later = subsystem.at(bodies, clock, &hierarchy.rules, now)?;
        member::stars(&later.members, &later.motion, clock, now)
    };
    let rows: Vec<usize> = (0..hierarchy.subsystems.len()).collect();
    let inside: Vec<Vec<Placed<u32>>> = each(&rows, WORK, stars_of).into_iter().collect::<Result<_>>()?;
    for body in bodies.occupied() {
        let star = bodies.stars[body];
        let mut row = |i: usize, x: Vec3, v: Vec3| {
            (p.pos[i], p.vel[i]) = (own.pos[body] + x, own.vel[body] + v);
            (p.acc[i], p.jerk[i], p.pot[i]) = (own.acc[body], own.jerk[body], own.pot[body]);
            (p.time[i], p.step[i]) = (own.time[body], own.step[body]);
        };
        match hierarchy.row(star) {
            None => row(star as usize, Vec3::zeros(), Vec3::zeros()),
            Some(of) => inside[of].iter().for_each(|star| row(star.of as usize, star.pos, star.vel)),
        }
    }
    p.close.clear();
    // The schemes' columns of a body are in the row of its lowest star.
    let row = |star: usize| u32::try_from(bodies.of_star(star as u32)).ok().filter(|&row| (row as usize) < own.len());
    let rows: Vec<Option<u32>> = (0..p.len()).map(row).collect();
    p.states.take_rows(&own.states, &rows, &bodies.stars);
    let places = hierarchy.in_order().map(|subsystem| (subsystem, bodies.of_star(subsystem.stars[0])));
    let layout = Some(&bodies.stars[..]).filter(|_| !bodies.in_order());
    p.states.set(state::encode(places, own, layout, recorded));
    Ok(())
}
