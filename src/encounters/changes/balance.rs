//! Energy that a change of the subsystems would make jump: the motion inside takes up the difference.

use crate::encounters::Encounters;
use crate::encounters::forces::surroundings::Positions;
use crate::encounters::membership::change::Change;
use crate::few_body::Motion;
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::time::Time;

impl Encounters {
    /// Returns the energy of all bodies and subsystems as the forces have it: what it lacks of that of all stars is neglected
    /// at this moment, and what it changes is the error of the integration.
    ///
    /// # Errors
    /// [`Error::Integration`](tisane_force::error::Error::Integration) where the motion of a subsystem cannot be followed to `now`.
    pub fn energy_of_forces(&self, now: Time) -> Result<f64> {
        let (mut hierarchy, mut positions) = (self.hierarchy.clone(), Positions::default());
        hierarchy.advance(now)?;
        positions.set(&self.particles, &self.clock, now);
        let all: Vec<usize> = (0..self.particles.len()).collect();
        Ok(hierarchy.energies(&self.particles, &positions, &[&all], now).iter().sum())
    }

    /// Returns the energies of the bodies of each change, where all of them stand at `now`. In an external field each body is a point:
    /// what stars have there beside their centre of mass goes to the motion inside when they join, and back when they part.
    pub(crate) fn energies<'a>(
        &mut self,
        f: &dyn ForceEngine,
        bodies: impl Iterator<Item = &'a [usize]>,
        now: Time,
    ) -> Result<Vec<f64>> {
        let Self { particles: p, hierarchy, positions, clock, .. } = self;
        positions.set(p, clock, now);
        let bodies: Vec<&[usize]> = bodies.collect();
        let mut found = hierarchy.energies(p, positions, &bodies, now);
        for (energy, bodies) in found.iter_mut().zip(bodies) {
            for &i in bodies {
                *energy += p.mass[i] * f.external_potential(now, positions.of(i))?;
            }
        }
        Ok(found)
    }

    /// Gives the bodies that each change led to, by their lowest stars, the energy of those that ended there.
    pub(crate) fn balance(
        &mut self,
        f: &dyn ForceEngine,
        changes: &[Change],
        energies: &[f64],
        begun: &[Vec<u32>],
        now: Time,
    ) -> Result<()> {
        let bodies = |stars: &Vec<u32>| stars.iter().map(|&star| self.hierarchy.bodies.of_star(star)).collect();
        let begun: Vec<Vec<usize>> = begun.iter().map(bodies).collect();
        let after = self.energies(f, begun.iter().map(Vec::as_slice), now)?;
        for (((change, bodies), before), after) in changes.iter().zip(&begun).zip(energies).zip(after) {
            // What a change of stars takes out of the system is recorded by itself.
            match change {
                Change::Merge(_) => {}
                Change::Unite(_, touched) => {
                    let removed = touched.merged.map_or(0.0, |removed| removed.energy);
                    self.take_up(bodies, before - after - removed);
                }
                Change::Evolve(_, evolved) => self.take_up(bodies, before - after - evolved.removed.energy),
                _ => self.take_up(bodies, before - after),
            }
        }
        Ok(())
    }

    /// Adds an energy to that of the motion inside of a body, or of two bodies about each other; inside of one of them where these
    /// hardly move.
    fn take_up(&mut self, bodies: &[usize], energy: f64) {
        let (p, hierarchy) = (&mut self.particles, &mut self.hierarchy);
        let rules = hierarchy.rules;
        match *bodies {
            [i] => {
                let star = hierarchy.bodies.stars[i];
                if let Some(subsystem) = hierarchy.of_star_mut(star) {
                    let is_settled = subsystem.settled(&rules).is_some();
                    subsystem.take_up(energy, is_settled);
                }
            }
            [i, k] => {
                let mut pair = Motion::new(&[p.mass[i], p.mass[k]], &[p.pos[i], p.pos[k]], &[p.vel[i], p.vel[k]]);
                let before = pair.speeds();
                if !pair.take_up(energy) {
                    let has_inside = |body: &usize| hierarchy.of_star(hierarchy.bodies.stars[*body]).is_some();
                    let inside = [i, k].into_iter().find(has_inside);
                    return inside.into_iter().for_each(|body| self.take_up(&[body], energy));
                }
                for ((body, before), after) in [i, k].into_iter().zip(before).zip(pair.speeds()) {
                    p.vel[body] += after - before;
                    hierarchy.bodies.particles.vel[body] = p.vel[body];
                }
            }
            _ => {}
        }
    }
}
