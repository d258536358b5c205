//! Start of the scheme: first radii, lists, forces and steps.

use super::{AhmadCohen, FIRST, Order, Parameters};
use crate::integrator::block_loop::BlockLoop as _;
use crate::integrator::contract::Progress;
use crate::integrator::hermite::{Moved, tiles};
use crate::integrator::scheduler::Scheduler;
use crate::integrator::timestep::initial;
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::force::neighbours::{NeighbourForces, next_radius};
use tisane_force::particles::Particles;
use tisane_force::states::history::History;
use tisane_force::states::low_parts::LowParts;
use tisane_force::states::neighbours::Neighbours;
use tisane_force::time::Time;

/// First regular step at order 6, in units of η times the natural time. Regular forces change smoothly, so that their jerk
/// says more of it than that of irregular ones, and a regular step is dear.
const FIRST_REGULAR: f64 = 0.035;

/// Returns the first regular step for these norms of acceleration and jerk, and this potential.
fn first_regular(order: Order, eta: f64, [acc, jerk]: [f64; 2], pot: f64) -> f64 {
    if order == Order::Four {
        return initial(FIRST * eta * eta, acc, jerk, pot);
    }
    let (first, by_jerk) = (FIRST_REGULAR * eta, initial(FIRST_REGULAR * eta, acc, jerk, pot));
    // No longer than for a particle at rest, whose jerk says nothing.
    if pot != 0.0 && acc > 0.0 { by_jerk.min(first * pot.abs().sqrt() / acc) } else { by_jerk }
}

impl AhmadCohen {
    /// Evaluates all particles at time zero and gives them their first lists and steps.
    pub(super) fn begin(&mut self, p: &mut Particles, f: &mut dyn ForceEngine) -> Result<Progress> {
        let (n, now) = (p.len(), Time::default());
        let [points, derivatives] = self.parameters.order.history();
        p.states.set(History::new(n, points, derivatives));
        p.states.set(Neighbours::new(n, points, derivatives));
        p.states.set(LowParts::default());
        p.time.fill(now);
        self.load(p, f)?;
        p.states.get_mut::<Neighbours>().radius = self.first_radii(p);
        let mut clamped = 0;
        for tile in tiles(n) {
            self.block = (tile.start as u32..tile.end as u32).collect();
            self.predict_targets(p, now, |_| true);
            self.evaluate(p, f, now)?;
            self.check_finite(p, now)?;
            clamped += self.begin_particles(p, now)?;
        }
        self.block = (0..n as u32).collect();
        f.update(p, &self.block)?;
        self.scheduler = Scheduler::new(now, &p.step);
        let n = n as u64;
        let listed: u64 = p.states.get::<Neighbours>().lists.iter().map(|list| list.len() as u64).sum();
        Ok(Progress { now, pairs: n * n.saturating_sub(1) + listed, clamped, ..Progress::default() })
    }

    /// Gives the particles of the block, which have regular forces, their forces, lists and first steps at the moment `now`.
    /// Returns the number of particles clamped to the floor.
    pub(super) fn begin_particles(&mut self, p: &mut Particles, now: Time) -> Result<u64> {
        let (mut moved, guards) = (Moved::default(), self.guards());
        let NeighbourForces { regular, renewed, lists, within, .. } = &mut self.forces;
        let (Parameters { eta, order, .. }, eta_regular) = (self.parameters, self.eta_regular);
        let of = p.states.get_mut::<Neighbours>();
        for (k, i) in self.block.iter().map(|&i| i as usize).enumerate() {
            (of.acc[i], of.jerk[i]) = (renewed.acc[k], renewed.jerk[k]);
            (of.regular_acc[i], of.regular_jerk[i]) = (regular.acc[k], regular.jerk[k]);
            of.regular_pot[i] = regular.pot[k];
            (p.acc[i], p.jerk[i]) = (of.acc[i] + of.regular_acc[i], of.jerk[i] + of.regular_jerk[i]);
            p.pot[i] = renewed.pot[k] + regular.pot[k];
            of.radius[i] = next_radius(of.radius[i], within[k], self.wanted);
            std::mem::swap(&mut of.lists[i], &mut lists[k]);
            let pot = p.pot[i].abs() + renewed.external.get(k).map_or(0.0, |pot| pot.abs());
            let norms = [of.regular_acc[i].norm(), of.regular_jerk[i].norm()];
            let wanted = first_regular(order, eta_regular, norms, of.regular_pot[i]);
            let allowed = guards.allowed(wanted).map(|(level, _)| (level, false));
            of.regular_step[i] = moved.level(k, wanted, allowed).unwrap_or_default().max(now.shallowest_level());
            let wanted = initial(FIRST * eta * eta, p.acc[i].norm(), of.jerk[i].norm(), pot);
            let level = moved.level(k, wanted, guards.allowed(wanted)).unwrap_or_default();
            p.step[i] = level.max(of.regular_step[i]);
        }
        self.check(p, now, moved)?;
        Ok(moved.clamped)
    }
}
