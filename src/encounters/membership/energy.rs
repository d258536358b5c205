//! Energy of the bodies and their subsystems as the forces have it.
//!
//! Between changes of the subsystems and of their perturbers the forces conserve it. Where a change would make it jump, because
//! what was a point is resolved from then on, or the other way round, the motion inside of a subsystem takes up
//! the difference. Each is no more than what is neglected anyway, but over many changes they would add up.

use crate::encounters::forces::bodies::Bodies;
use crate::encounters::forces::coupling::{self, PointMasses};
use crate::encounters::forces::surroundings::{Positions, at};
use crate::encounters::membership::each::{SUM, WORK, each, each_mut_with};
use crate::encounters::membership::hierarchy::Hierarchy;
use crate::encounters::motion::elements::bound_by;
use crate::encounters::motion::subsystem::{Perturber, PerturberList, Subsystem};
use crate::encounters::settings::criteria::{self, Rules};
use tisane_force::error::Result;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::{Clock, Time};

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

    /// Returns the energy of the coupling with another body at `r` from the centre of mass, the motion that of `now`.
    fn coupling(&self, bodies: &Bodies, clock: &Clock, perturber: &Perturber, r: Vec3, now: Time) -> f64 {
        let factor = coupling::factor(r.norm_squared(), perturber.outer2);
        if factor == 0.0 {
            return 0.0;
        }
        let potential = match &self.averaged {
            Some((time, pair)) if perturber.is_averaged => pair.after(clock.between(*time, now)).potential(r),
            None if perturber.is_averaged => 0.0,
            _ => coupling::potential(&self.point_masses(), r),
        };
        factor * bodies.particles.mass[bodies.of_star(perturber.star)] * potential
    }

    /// Returns the energy with that of the coupling.
    fn coupled_energy(&self, bodies: &Bodies, clock: &Clock, now: Time) -> f64 {
        let place = |star: u32| at(&bodies.particles, bodies.of_star(star), clock, now).0;
        let pos = place(self.stars[0]);
        let coupling =
            |perturber: &Perturber| self.coupling(bodies, clock, perturber, place(perturber.star) - pos, now);
        self.energy() + self.perturbers.iter().map(coupling).sum::<f64>()
    }

    /// Takes a list of perturbers; the motion takes up the change of the energy. Returns those that it had before.
    fn take_list_conserving(
        &mut self,
        list: PerturberList,
        (bodies, clock, rules): (&Bodies, &Clock, &Rules),
        now: Time,
    ) -> Result<Vec<Perturber>> {
        self.advance(bodies, clock, rules, now)?;
        let is_settled = self.settled(rules).is_some();
        let before = self.coupled_energy(bodies, clock, now);
        let old = self.take_list(list);
        // The position of a settled pair changes with its size, and with it the energy of the coupling, by less each time.
        for _ in 0..if is_settled { criteria::REFINEMENTS } else { 1 } {
            let after = self.coupled_energy(bodies, clock, now);
            self.take_up(before - after, is_settled);
        }
        Ok(old)
    }
}

impl Hierarchy {
    /// Sets the lists of perturbers of the subsystems of some ascending rows; a flag says whose motions take up the change of the energy.
    pub fn set_lists(&mut self, rows: &[usize], lists: Vec<(PerturberList, bool)>, now: Time) -> Result<()> {
        let Self { subsystems, bodies, rules, clock, .. } = self;
        let by = (&*bodies, &*clock, &*rules);
        let old = each_mut_with(subsystems, rows, lists, WORK, |subsystem, (list, takes_up)| {
            if takes_up { subsystem.take_list_conserving(list, by, now) } else { Ok(subsystem.take_list(list)) }
        });
        for (&row, old) in rows.iter().zip(old) {
            self.follow_perturbers(row, &old?);
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
        let Self { bodies, clock, .. } = self;
        let star = bodies.stars[i];
        let (_, vel) = at(p, i, &self.clock, now);
        let between = |k: usize| positions.of(k) - positions.of(i);
        let counts = |k: &usize| p.mass[*k] > 0.0 && counted.binary_search(k).is_err();
        let other = |star: u32| Some(self.bodies.of_star(star)).filter(counts);
        let mut sum = p.mass[i] * (0.5 * vel.norm_squared() + positions.potential(i, counted));
        if let Some(subsystem) = self.of_star(star) {
            let couplings =
                subsystem.perturbers.iter().filter_map(|perturber| Some((perturber, other(perturber.star)?)));
            let couplings =
                couplings.map(|(perturber, k)| subsystem.coupling(bodies, clock, perturber, between(k), now));
            sum += subsystem.energy() + couplings.sum::<f64>();
        }
        for (subsystem, _) in self.perturbed_by(star) {
            let place = subsystem.perturbers.binary_search_by_key(&star, |perturber| perturber.star);
            if let (Ok(place), Some(k)) = (place, other(subsystem.stars[0])) {
                sum += subsystem.coupling(bodies, clock, &subsystem.perturbers[place], -between(k), now);
            }
        }
        sum
    }
}
