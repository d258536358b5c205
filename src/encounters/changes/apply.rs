//! Changes of the subsystems: bodies that take part come to one moment, others begin there.

use crate::encounters::Encounters;
use crate::encounters::membership::change::Change;
use crate::encounters::membership::coupled_engine::CoupledEngine;
use crate::encounters::membership::decisions::Membership;
use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::subsystem::Subsystem;
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::time::Time;

impl Encounters {
    /// Applies changes at `now`: all that take part take a step to it, and new bodies get forces and steps.
    pub(crate) fn change(&mut self, f: &mut dyn ForceEngine, now: Time, changes: &[Change]) -> Result<()> {
        let disturbed = self.disturbed(changes, now);
        let mut taking: Vec<usize> = changes.iter().flat_map(Change::bodies).chain(&disturbed).copied().collect();
        taking.sort_unstable();
        self.synchronise(f, now, taking.iter().map(|&body| body as u32))?;
        let ended: Vec<u32> = taking.iter().map(|&i| self.hierarchy.bodies.stars[i]).collect();
        let ends = |subsystem: &Subsystem| ended.binary_search(&subsystem.stars[0]).is_ok();
        self.hierarchy.advance(now, |_, subsystem| subsystem.is_perturbed || ends(subsystem))?;
        let Hierarchy { subsystems, bodies, clock, .. } = &mut self.hierarchy;
        subsystems
            .iter_mut()
            .filter(|subsystem| ends(subsystem))
            .try_for_each(|subsystem| subsystem.resolve(bodies, clock, now))?;
        let disturbed: Vec<u32> = disturbed.iter().map(|&body| self.hierarchy.bodies.stars[body]).collect();
        let changes = self.with_mergers(changes);
        // What touched inside of a body comes before its union with another, also at one moment.
        self.take_contacts(now, &changes);
        let changes = self.with_removed(changes, now)?;
        let ending = self.ending(now, &changes)?;
        self.positions.clear();
        let gone =
            changes.iter().flat_map(Change::bodies).map(|&body| self.hierarchy.bodies.stars[body]).collect::<Vec<_>>();
        let energies = self.energies(changes.iter().map(Change::bodies), now);
        let by_change = self.rebuild(now, &changes)?;
        let begun = sorted(&by_change);
        self.ended(&gone, &begun);
        let changed = self.prepare(now, &begun)?;
        self.balance(&changes, &energies, &by_change, now);
        for row in changed {
            let body = self.hierarchy.bodies.of_star(self.hierarchy.subsystems[row].stars[0]);
            let choice = self.hierarchy.choose_coupling(row, now, self.particles.step[body])?;
            self.hierarchy.apply_coupling(row, choice, now)?;
        }
        let mut coupled = CoupledEngine { engine: f, hierarchy: &mut self.hierarchy };
        let index = begun.iter().chain(&disturbed).map(|&star| coupled.hierarchy.bodies.of_star(star) as u32);
        let mut index: Vec<u32> = index.collect();
        index.sort_unstable();
        self.scheme.admit(&mut self.particles, &mut coupled, index.clone(), now)?;
        self.positions.clear();
        self.update_couplings(f, now, &index)?;
        self.record(ending, now, &begun)
    }

    /// Prepares new bodies, given by their lowest stars: what perturbs them, and whom they perturb. Returns the rows of the
    /// other subsystems that they perturb.
    fn prepare(&mut self, now: Time, begun: &[u32]) -> Result<Vec<usize>> {
        let mut changed = Vec::new();
        for &star in begun {
            let body = self.hierarchy.bodies.of_star(star);
            self.positions.set(&self.particles, &self.clock, now);
            let field = self.positions.surroundings(body).map_or(0.0, |found| found.weight + found.rest);
            let step = self.particles.step[body];
            for row in 0..self.hierarchy.subsystems.len() {
                let subsystem = &mut self.hierarchy.subsystems[row];
                if subsystem.stars[0] == star {
                    subsystem.field = field;
                    subsystem.measure(&self.hierarchy.rules);
                    subsystem.nest(&self.hierarchy.rules, now);
                    let list = self.hierarchy.perturber_list(row, &self.positions, now, step);
                    self.hierarchy.set_perturbers(row, list);
                    let choice = self.hierarchy.choose_coupling(row, now, step)?;
                    self.hierarchy.apply_coupling(row, choice, now)?;
                } else if begun.binary_search(&subsystem.stars[0]).is_err()
                    && self.hierarchy.add_perturber(row, now, body)?
                {
                    changed.push(row);
                }
            }
        }
        changed.sort_unstable();
        changed.dedup();
        Ok(changed)
    }

    /// Forms the subsystems of stars at time zero.
    pub(crate) fn pair_up(&mut self, now: Time) -> Result<()> {
        if self.hierarchy.rules.perturbation <= 0.0 {
            return Ok(());
        }
        loop {
            let (mut changes, mut taken) = (Vec::new(), vec![false; self.particles.len()]);
            for body in 0..self.particles.len() {
                let mut membership = Membership {
                    particles: &self.particles,
                    hierarchy: &self.hierarchy,
                    positions: &mut self.positions,
                    now,
                };
                let Some(found) = membership.surroundings(body) else { continue };
                let Some(change) = membership.joins(body, found) else { continue };
                if !change.bodies().iter().any(|&body| taken[body]) {
                    change.bodies().iter().for_each(|&body| taken[body] = true);
                    changes.push(change);
                }
            }
            if changes.is_empty() {
                self.hierarchy.bodies.rests.clear();
                return Ok(());
            }
            let ending = self.ending(now, &changes)?;
            let begun = sorted(&self.rebuild(now, &changes)?);
            self.prepare(now, &begun)?;
            self.record(ending, now, &begun)?;
        }
    }
}

/// Returns all stars, ascending.
fn sorted(stars: &[Vec<u32>]) -> Vec<u32> {
    let mut all = stars.concat();
    all.sort_unstable();
    all
}
