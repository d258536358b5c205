//! Changes of the subsystems: units that take part come to one moment, others begin there.

use crate::encounters::Encounters;
use crate::encounters::membership::change::Change;
use crate::encounters::membership::coupled_engine::Coupled;
use crate::encounters::membership::decisions::Look;
use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::subsystem::Group;
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::time::Time;

impl Encounters {
    /// Applies changes at `now`: brings all that take part to that moment, and gives the new units forces and steps.
    pub(crate) fn change(&mut self, f: &mut dyn ForceEngine, now: Time, changes: &[Change]) -> Result<()> {
        let felt = self.felt(changes, now);
        let mut taking: Vec<usize> = changes.iter().flat_map(Change::units).chain(&felt).copied().collect();
        taking.sort_unstable();
        self.bring(f, now, taking.iter().map(|&unit| unit as u32))?;
        let ended: Vec<u32> = taking.iter().map(|&i| self.subsystems.units.stars[i]).collect();
        let ends = |group: &Group| ended.binary_search(&group.members[0]).is_ok();
        self.subsystems.advance(now, |_, group| group.is_perturbed || ends(group))?;
        let Hierarchy { groups, units, clock, .. } = &mut self.subsystems;
        groups.iter_mut().filter(|group| ends(group)).try_for_each(|group| group.resolve(units, clock, now))?;
        let felt: Vec<u32> = felt.iter().map(|&unit| self.subsystems.units.stars[unit]).collect();
        let changes = self.with_mergers(changes);
        // What touched inside of a unit comes before its union with another, also at one moment.
        self.take_contacts(now, &changes);
        let changes = self.with_removed(changes, now)?;
        let ending = self.ending(now, &changes)?;
        self.positions.clear();
        let gone =
            changes.iter().flat_map(Change::units).map(|&unit| self.subsystems.units.stars[unit]).collect::<Vec<_>>();
        let energies = self.energies(changes.iter().map(Change::units), now);
        let by_change = self.rebuild(now, &changes)?;
        let begun = sorted(&by_change);
        self.ended(&gone, &begun);
        let changed = self.prepare(now, &begun)?;
        self.balance(&changes, &energies, &by_change, now);
        for place in changed {
            let unit = self.subsystems.units.of_star(self.subsystems.groups[place].members[0]);
            let attended = self.subsystems.attend(place, now, self.particles.step[unit])?;
            self.subsystems.go_on(place, attended, now)?;
        }
        let mut coupled = Coupled { engine: f, subsystems: &mut self.subsystems };
        let index = begun.iter().chain(&felt).map(|&star| coupled.subsystems.units.of_star(star) as u32);
        let mut index: Vec<u32> = index.collect();
        index.sort_unstable();
        self.scheme.admit(&mut self.particles, &mut coupled, index.clone(), now)?;
        self.positions.clear();
        self.follow(f, now, &index)?;
        self.record(ending, now, &begun)
    }

    /// Prepares new units, given by their lowest stars: what perturbs them, and whom they perturb. Returns the places of the
    /// other subsystems that feel them.
    fn prepare(&mut self, now: Time, begun: &[u32]) -> Result<Vec<usize>> {
        let mut changed = Vec::new();
        for &star in begun {
            let unit = self.subsystems.units.of_star(star);
            self.positions.set(&self.particles, &self.clock, now);
            let field = self.positions.around(unit).map_or(0.0, |found| found.weight + found.rest);
            let step = self.particles.step[unit];
            for place in 0..self.subsystems.groups.len() {
                let group = &mut self.subsystems.groups[place];
                if group.members[0] == star {
                    group.field = field;
                    group.measure(&self.subsystems.rules);
                    group.nest(&self.subsystems.rules, now);
                    let listed = self.subsystems.listed(place, &self.positions, now, step);
                    self.subsystems.list(place, listed);
                    let attended = self.subsystems.attend(place, now, step)?;
                    self.subsystems.go_on(place, attended, now)?;
                } else if begun.binary_search(&group.members[0]).is_err()
                    && self.subsystems.list_new(place, now, unit)?
                {
                    changed.push(place);
                }
            }
        }
        changed.sort_unstable();
        changed.dedup();
        Ok(changed)
    }

    /// Forms the subsystems of stars at time zero.
    pub(crate) fn pair_up(&mut self, now: Time) -> Result<()> {
        if self.subsystems.rules.perturbation <= 0.0 {
            return Ok(());
        }
        loop {
            let (mut changes, mut taken) = (Vec::new(), vec![false; self.particles.len()]);
            for unit in 0..self.particles.len() {
                let mut look = Look {
                    particles: &self.particles,
                    subsystems: &self.subsystems,
                    positions: &mut self.positions,
                    now,
                };
                let Some(found) = look.around(unit) else { continue };
                let Some(change) = look.joins(unit, found) else { continue };
                if !change.units().iter().any(|&unit| taken[unit]) {
                    change.units().iter().for_each(|&unit| taken[unit] = true);
                    changes.push(change);
                }
            }
            if changes.is_empty() {
                self.subsystems.units.rests.clear();
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
