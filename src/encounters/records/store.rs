//! State of the stars, from that of the bodies and of the subsystems.

use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::member;
use crate::encounters::records::state::{self, Recorded};
use tisane_force::error::Result;
use tisane_force::particles::{Particles, Vec3};

/// Stores the state of all stars in `p`, that of the subsystems, and the stars whose events were recorded.
pub fn store(own: &Particles, hierarchy: &Hierarchy, recorded: &Recorded, p: &mut Particles) -> Result<()> {
    let (bodies, clock) = (&hierarchy.bodies, &hierarchy.clock);
    for (body, &star) in bodies.stars.iter().enumerate() {
        let mut row = |i: usize, x: Vec3, v: Vec3| {
            (p.pos[i], p.vel[i]) = (own.pos[body] + x, own.vel[body] + v);
            (p.acc[i], p.jerk[i], p.pot[i]) = (own.acc[body], own.jerk[body], own.pot[body]);
            (p.time[i], p.step[i]) = (own.time[body], own.step[body]);
        };
        match hierarchy.of_star(star) {
            None => row(star as usize, Vec3::zeros(), Vec3::zeros()),
            Some(subsystem) => {
                let now = own.time[body].max(subsystem.time);
                let later = subsystem.at(bodies, clock, now)?;
                let stars = member::stars(&later.members, &later.motion, clock, now)?;
                stars.into_iter().for_each(|star| row(star.of as usize, star.pos, star.vel));
            }
        }
    }
    let places = hierarchy.subsystems.iter().map(|subsystem| (subsystem, bodies.of_star(subsystem.stars[0])));
    p.close.clear();
    p.states.set(state::encode(places, own, recorded));
    Ok(())
}
