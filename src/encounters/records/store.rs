//! State of the stars, from that of the units and of the subsystems.

use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::member;
use crate::encounters::records::state::{self, Recorded};
use tisane_force::error::Result;
use tisane_force::particles::{Particles, Vec3};

/// Stores the state of all stars in `p`, that of the subsystems, and the stars whose events were recorded.
pub fn store(own: &Particles, subsystems: &Hierarchy, recorded: &Recorded, p: &mut Particles) -> Result<()> {
    let (units, clock) = (&subsystems.units, &subsystems.clock);
    for (unit, &star) in units.stars.iter().enumerate() {
        let mut row = |i: usize, x: Vec3, v: Vec3| {
            (p.pos[i], p.vel[i]) = (own.pos[unit] + x, own.vel[unit] + v);
            (p.acc[i], p.jerk[i], p.pot[i]) = (own.acc[unit], own.jerk[unit], own.pot[unit]);
            (p.time[i], p.step[i]) = (own.time[unit], own.step[unit]);
        };
        match subsystems.of_star(star) {
            None => row(star as usize, Vec3::zeros(), Vec3::zeros()),
            Some(group) => {
                let now = own.time[unit].max(group.time);
                let later = group.at(units, clock, now)?;
                let stars = member::stars(&later.bodies, &later.motion, clock, now)?;
                stars.into_iter().for_each(|star| row(star.of as usize, star.pos, star.vel));
            }
        }
    }
    let places = subsystems.groups.iter().map(|group| (group, units.of_star(group.members[0])));
    p.close.clear();
    p.subsystems = state::encode(places, own, recorded);
    Ok(())
}
