//! Energy of the bodies and their subsystems as the forces have it.
//!
//! Between changes of the subsystems and of their perturbers the forces conserve it. Where a change would make it jump, because
//! what was a point is resolved from then on, or the other way round, the motion inside of a subsystem takes up
//! the difference. Each is no more than what is neglected anyway, but over many changes they would add up.

use crate::encounters::forces::coupling::{self, PointMasses};
use crate::encounters::forces::surroundings::{Positions, at};
use crate::encounters::membership::each::{SUM, each};
use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::elements::bound_by;
use crate::encounters::motion::subsystem::{Perturber, PerturberList, Subsystem};
use crate::encounters::settings::criteria;
use tisane_force::error::Result;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::Time;

impl Subsystem {
    /// Returns the energy inside, with that of inner subsystems and of the far field.
    fn energy(&self) -> f64 {
        let far = self.far.map_or(0.0, |far| {
            let PointMasses { mass, offsets, .. } = self.point_masses();
            mass.iter().zip(&offsets).map(|(mass, x)| -0.5 * mass * x.dot(&(far.tide * x))).sum()
        });
        far + self.nested_energy() - self.binding()
    }

    /// Adds an energy to that of the internal motion: a settled pair changes in size, others in their speeds.
    pub fn take_up(&mut self, energy: f64, is_settled: bool) {
        if is_settled {
            self.motion = bound_by(&self.motion, -energy);
        } else {
            self.motion.take_up(energy);
        }
    }
}

impl Hierarchy {
    /// Returns the energy of the coupling of a subsystem, its motion that of `now`, with another body at `r` from its
    /// centre of mass.
    fn coupling(&self, subsystem: &Subsystem, perturber: &Perturber, r: Vec3, now: Time) -> f64 {
        let factor = coupling::factor(r.norm_squared(), perturber.outer2);
        if factor == 0.0 {
            return 0.0;
        }
        let potential = match &subsystem.averaged {
            Some((time, pair)) if perturber.is_averaged => pair.after(self.clock.between(*time, now)).potential(r),
            None if perturber.is_averaged => 0.0,
            _ => coupling::potential(&subsystem.point_masses(), r),
        };
        factor * self.bodies.particles.mass[self.bodies.of_star(perturber.star)] * potential
    }

    /// Returns the energy of the subsystem of a row with that of its coupling.
    fn coupled_energy(&self, row: usize, now: Time) -> f64 {
        let (subsystem, all) = (&self.subsystems[row], &self.bodies.particles);
        let (pos, _) = at(all, self.bodies.of_star(subsystem.stars[0]), &self.clock, now);
        let coupling = |perturber: &Perturber| {
            let r = at(all, self.bodies.of_star(perturber.star), &self.clock, now).0 - pos;
            self.coupling(subsystem, perturber, r, now)
        };
        subsystem.energy() + subsystem.perturbers.iter().map(coupling).sum::<f64>()
    }

    /// Sets the list of perturbers of the subsystem of a row, whose motion takes up the change of the energy.
    pub fn set_perturbers_conserving(&mut self, row: usize, list: PerturberList, now: Time) -> Result<()> {
        let Self { subsystems, bodies, rules, clock, .. } = self;
        subsystems[row].advance(bodies, clock, rules, now)?;
        let is_settled = subsystems[row].settled(rules).is_some();
        let before = self.coupled_energy(row, now);
        self.set_perturbers(row, list);
        // The position of a settled pair changes with its size, and with it the energy of the coupling, by less each time.
        for _ in 0..if is_settled { criteria::REFINEMENTS } else { 1 } {
            let after = self.coupled_energy(row, now);
            self.subsystems[row].take_up(before - after, is_settled);
        }
        Ok(())
    }

    /// Returns the energies of groups of bodies, with those of their coupling: what two of them have together counts for the later one.
    pub fn energies(&self, p: &Particles, positions: &Positions, groups: &[&[usize]], now: Time) -> Vec<f64> {
        let all = groups.concat();
        let places: Vec<usize> = (0..all.len()).collect();
        // One that counts knows those before it no more.
        let mut found = each(&places, SUM, |place| {
            let mut counted = all[..=place].to_vec();
            counted.sort_unstable();
            self.energy(p, positions, all[place], &counted, now)
        })
        .into_iter();
        groups.iter().map(|group| found.by_ref().take(group.len()).sum()).collect()
    }

    /// Returns the energy of body `i` with all others but some, ascending, among which it is, with that of its coupling.
    fn energy(&self, p: &Particles, positions: &Positions, i: usize, counted: &[usize], now: Time) -> f64 {
        let star = self.bodies.stars[i];
        let (_, vel) = at(p, i, &self.clock, now);
        let between = |k: usize| positions.of(k) - positions.of(i);
        let counts = |k: &usize| p.mass[*k] > 0.0 && counted.binary_search(k).is_err();
        let other = |star: u32| Some(self.bodies.of_star(star)).filter(counts);
        let mut sum = p.mass[i] * (0.5 * vel.norm_squared() + positions.potential(i, counted));
        if let Some(subsystem) = self.of_star(star) {
            let couplings =
                subsystem.perturbers.iter().filter_map(|perturber| Some((perturber, other(perturber.star)?)));
            let couplings = couplings.map(|(perturber, k)| self.coupling(subsystem, perturber, between(k), now));
            sum += subsystem.energy() + couplings.sum::<f64>();
        }
        for (subsystem, _) in self.perturbed_by(star) {
            let place = subsystem.perturbers.binary_search_by_key(&star, |perturber| perturber.star);
            if let (Ok(place), Some(k)) = (place, other(subsystem.stars[0])) {
                sum += self.coupling(subsystem, &subsystem.perturbers[place], -between(k), now);
            }
        }
        sum
    }
}
