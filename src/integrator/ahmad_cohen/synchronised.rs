//! State of all particles at any moment, between the block steps of an integration.

use super::{AhmadCohen, particle, slices};
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::particles::Particles;
use tisane_force::states::neighbours::Neighbours;
use tisane_force::time::Time;

impl AhmadCohen {
    /// Returns a copy of the particles in which those before `now` have taken a step to it, regular steps included: the
    /// correctors hold for any ratio of steps. The integration knows nothing of it.
    pub(super) fn at(&mut self, p: &Particles, now: Time, f: &mut dyn ForceEngine) -> Result<Particles> {
        let mut moved = p.clone();
        let regular_time = &p.states.get::<Neighbours>().regular_time;
        let due = |i: usize| p.time[i] < now || regular_time[i] < now;
        self.block = (0..p.len() as u32).filter(|&i| due(i as usize)).collect();
        self.scheduler.leave_out_empty(&mut self.block);
        if self.block.is_empty() {
            return Ok(moved);
        }
        self.predict_targets(p, now, |i| regular_time[i] < now);
        self.evaluate(p, f, now)?;
        self.check_finite(p, now)?;
        let corrector = particle::Corrector { order: self.parameters.order, clock: self.clock, now };
        let mut slices = slices::all(&mut moved).of_equal_length();
        for k in 0..self.block.len() {
            let i = self.block[k] as usize;
            let [irregular, regular, renewed] = self.parts(k);
            let Some(irregular) = irregular else { continue };
            if p.time[i] < now {
                corrector.correct_irregular(&mut slices, i, &irregular);
            }
            if let (Some(regular), Some(renewed)) = (regular, renewed) {
                corrector.correct_regular(&mut slices, i, [&irregular, &regular, &renewed], None);
            }
            corrector.finish(&mut slices, i, renewed.map_or(irregular.pot, |force| force.pot), None);
        }
        Ok(moved)
    }
}
