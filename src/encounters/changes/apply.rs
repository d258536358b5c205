//! Changes of the subsystems: bodies that take part come to one moment, others begin there.

use crate::encounters::Encounters;
use crate::encounters::changes::rebuild::Rebuilt;
use crate::encounters::membership::change::Change;
use crate::encounters::membership::coupled_engine::CoupledEngine;
use crate::encounters::membership::each::{SEARCH, each};
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::Time;

impl Encounters {
    /// Applies changes at `now`: all that take part take a step to it, and new bodies get forces and steps.
    pub(crate) fn change(&mut self, f: &mut dyn ForceEngine, now: Time, changes: &[Change]) -> Result<()> {
        let _phase = self.hierarchy.phase("changes");
        let disturbed = self.disturbed(changes, now);
        let mut taking: Vec<usize> = changes.iter().flat_map(Change::bodies).chain(&disturbed).copied().collect();
        taking.sort_unstable();
        self.synchronise(f, now, taking.iter().map(|&body| body as u32))?;
        let ended: Vec<u32> = taking.iter().map(|&i| self.hierarchy.bodies.stars[i]).collect();
        self.hierarchy.advance_around(&ended, now)?;
        let disturbed: Vec<u32> = disturbed.iter().map(|&body| self.hierarchy.bodies.stars[body]).collect();
        let changes = self.with_mergers(changes);
        // What touched inside of a body comes before its union with another, also at one moment.
        self.take_contacts(now, &changes);
        let changes = self.with_removed(changes, now)?;
        let ending = self.ending(now, &changes)?;
        let gone =
            changes.iter().flat_map(Change::bodies).map(|&body| self.hierarchy.bodies.stars[body]).collect::<Vec<_>>();
        let energies = self.energies(f, changes.iter().map(Change::bodies), now)?;
        let before: Vec<Vec3> = changes.iter().map(|change| self.mean_velocity(change.bodies())).collect();
        let Rebuilt { begun: by_change, rows: mut change } = self.rebuild(now, &changes)?;
        let begun = sorted(&by_change);
        self.ended(&gone, &begun);
        let changed = self.prepare(f, now, &begun)?;
        self.balance(f, &changes, &energies, &by_change, now)?;
        let choices = self.hierarchy.choose_couplings(&changed, now, &self.particles.step)?;
        self.hierarchy.apply_couplings(&choices, now)?;
        let mut coupled = CoupledEngine { engine: f, hierarchy: &mut self.hierarchy };
        change.begun.extend(disturbed.iter().map(|&star| coupled.hierarchy.bodies.of_star(star) as u32));
        change.begun.sort_unstable();
        self.scheme.admit(&mut self.particles, &mut coupled, &change, now)?;
        self.follow(change.begun.iter().copied());
        self.update_couplings(f, now, &change.begun)?;
        let of_change = |(begun, before): (&Vec<u32>, Vec3)| {
            let jump = |&star: &u32| {
                let body = self.hierarchy.bodies.of_star(star);
                (body, self.particles.vel[body] - before)
            };
            begun.iter().map(jump).collect::<Vec<_>>()
        };
        let jumps: Vec<(usize, Vec3)> = by_change.iter().zip(before).flat_map(of_change).collect();
        self.limit_by_passages(now, &jumps);
        self.record(ending, now, &begun)
    }

    /// Returns the velocity of the centre of mass of some bodies.
    fn mean_velocity(&self, bodies: &[usize]) -> Vec3 {
        let Particles { mass, vel, .. } = &self.particles;
        let total: f64 = bodies.iter().map(|&body| mass[body]).sum();
        bodies.iter().fold(Vec3::zeros(), |sum, &body| sum + vel[body] * mass[body]) / total
    }

    /// Prepares new bodies, given by their lowest stars: what perturbs them, and whom they perturb. Returns the rows of the
    /// other subsystems that they perturb.
    fn prepare(&mut self, f: &dyn ForceEngine, now: Time, begun: &[u32]) -> Result<Vec<usize>> {
        self.renew_regions(now);
        let bodies: Vec<usize> = begun.iter().map(|&star| self.hierarchy.bodies.of_star(star)).collect();
        let mut rows: Vec<usize> = begun.iter().filter_map(|&star| self.hierarchy.row(star)).collect();
        rows.sort_unstable();
        let has_others = rows.len() < self.hierarchy.subsystems.len();
        let of_rows: Vec<usize> =
            rows.iter().map(|&row| self.hierarchy.bodies.of_star(self.hierarchy.subsystems[row].stars[0])).collect();
        let external = self.external_fields(f, &of_rows, now)?;
        let fields = self.fields(&of_rows, &external, now);
        for ((&row, field), external) in rows.iter().zip(fields).zip(external) {
            let subsystem = &mut self.hierarchy.subsystems[row];
            (subsystem.field, subsystem.external) = (field, external);
            subsystem.measure(&self.hierarchy.rules);
            subsystem.nest(&self.hierarchy.rules, now);
        }
        let lists = self.perturber_lists(f, &rows, now)?;
        rows.iter().zip(lists).for_each(|(&row, list)| self.hierarchy.set_perturbers(row, list));
        let choices = self.hierarchy.choose_couplings(&rows, now, &self.particles.step)?;
        self.hierarchy.apply_couplings(&choices, now)?;
        let found = if has_others { self.hierarchy.new_perturbers(&self.regions, now, &bodies) } else { Vec::new() };
        let mut changed = Vec::with_capacity(found.len());
        for (row, new) in found {
            self.hierarchy.add_perturbers(row, now, new)?;
            changed.push(row);
        }
        Ok(changed)
    }

    /// Returns the tidal fields at `now` at some bodies, with those of `external` fields.
    fn fields(&mut self, bodies: &[usize], external: &[f64], now: Time) -> Vec<f64> {
        if bodies.is_empty() {
            return Vec::new();
        }
        self.positions.set(&self.particles, &self.clock, now);
        let membership = self.membership(now);
        let found = membership.surroundings(bodies, external).into_iter().zip(external);
        found.map(|(found, &external)| found.map_or(external, |found| found.weight + found.rest)).collect()
    }

    /// Forms the subsystems of stars at time zero.
    pub(crate) fn pair_up(&mut self, f: &dyn ForceEngine, now: Time) -> Result<()> {
        if self.hierarchy.rules.perturbation <= 0.0 {
            return Ok(());
        }
        loop {
            let changes = self.pairs(f, now)?;
            if changes.is_empty() {
                self.set_in_order(now);
                self.hierarchy.bodies.rests.clear();
                return Ok(());
            }
            let ending = self.ending(now, &changes)?;
            let begun = sorted(&self.rebuild(now, &changes)?.begun);
            self.prepare(f, now, &begun)?;
            self.record(ending, now, &begun)?;
        }
    }

    /// Returns the changes by which bodies join others at `now`: those of the first rows, of which no two share a body.
    fn pairs(&mut self, f: &dyn ForceEngine, now: Time) -> Result<Vec<Change>> {
        self.renew_regions(now);
        self.positions.set(&self.particles, &self.clock, now);
        let membership = self.membership(now);
        let all: Vec<usize> = self.hierarchy.bodies.occupied().collect();
        let mut partners = vec![None; self.particles.len()];
        let found = each(&all, SEARCH, |body| membership.possible_partner(body));
        all.iter().zip(found).for_each(|(&body, partner)| partners[body] = partner);
        // The second of two that have each other as partner need not be asked if the first joins it.
        let is_second = |body: usize, partner: usize| partner < body && partners[partner] == Some(body);
        let asked: Vec<usize> =
            all.into_iter().filter(|&body| partners[body].is_some_and(|partner| !is_second(body, partner))).collect();
        let external = self.external_fields(f, &asked, now)?;
        let joins = |bodies: &[usize], external: &[f64]| {
            let found = bodies.iter().zip(membership.surroundings(bodies, external));
            found.map(|(&body, found)| found.and_then(|found| membership.joins(body, found))).collect::<Vec<_>>()
        };
        let mut found = asked.iter().zip(joins(&asked, &external)).peekable();
        let (mut changes, mut taken) = (Vec::new(), vec![false; partners.len()]);
        for (body, partner) in partners.iter().enumerate().filter_map(|(body, partner)| Some((body, (*partner)?))) {
            let known = found.next_if(|found| *found.0 == body);
            if taken[body] || taken[partner] {
                continue;
            }
            let change = match known {
                Some(found) => found.1,
                None => joins(&[body], &self.external_fields(f, &[body], now)?).remove(0),
            };
            if let Some(change) = change {
                change.bodies().iter().for_each(|&body| taken[body] = true);
                changes.push(change);
            }
        }
        Ok(changes)
    }
}

/// Returns all stars, ascending.
fn sorted(stars: &[Vec<u32>]) -> Vec<u32> {
    let mut all = stars.concat();
    all.sort_unstable();
    all
}
