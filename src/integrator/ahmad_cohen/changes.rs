//! Pairs that entered or left a list: what the two parts of the force exchange.

use super::lists::{Change, Changes};
use super::{AhmadCohen, Order};
use crate::integrator::hermite::piece;
use crate::integrator::pair_series::{Relative, Series, pair_series};
use rayon::prelude::*;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::states::neighbours::Neighbours;
use tisane_force::time::Time;

impl AhmadCohen {
    /// Finds what changes in the lists of the targets with a new one, and what the parts of the force on each exchange.
    pub(super) fn find_changes(&mut self, p: &Particles, now: Time) {
        let (mut changes, mut exchanges) = (std::mem::take(&mut self.changes), std::mem::take(&mut self.exchanges));
        let (n, size) = (self.regular.len(), piece(self.regular.len()));
        changes.resize_with(n.div_ceil(size).max(1), Changes::default);
        changes.iter_mut().for_each(Changes::clear);
        exchanges.resize(n, None);
        let lists = &p.states.get::<Neighbours>().lists;
        let part = |(k, (changes, exchanges)): (usize, (&mut Changes, &mut [Option<Series>]))| {
            for (rank, exchange) in (k * size..).zip(exchanges) {
                let place = self.regular[rank] as usize;
                let change = changes.push(&lists[self.block[place] as usize], &self.forces.lists[rank]);
                *exchange = self.exchange(p, now, [place, rank], change);
            }
        };
        if size >= n {
            changes.iter_mut().zip(exchanges.chunks_mut(size)).enumerate().for_each(part);
        } else {
            changes.par_iter_mut().zip(exchanges.par_chunks_mut(size)).enumerate().for_each(part);
        }
        (self.changes, self.exchanges) = (changes, exchanges);
    }

    /// Returns the exchange of the target `k` of the block, whose new forces are those at `rank`. Reads positions and
    /// velocities as they stood before the block step, so the result does not depend on the order of correction.
    fn exchange(&self, p: &Particles, now: Time, [k, rank]: [usize; 2], change: Change<'_>) -> Option<Series> {
        if self.parameters.order == Order::Four || change.is_none() {
            return None;
        }
        let acc = self.forces.regular.acc[rank] + self.forces.renewed.acc[rank];
        let jerk = self.forces.regular.jerk[rank] + self.forces.renewed.jerk[rank];
        let mut sum = [Vec3::zeros(); 4];
        let signs = change.left.iter().map(|j| (j, -1.0)).chain(change.entered.iter().map(|j| (j, 1.0)));
        for (j, sign) in signs.map(|(&j, sign)| (j as usize, sign)) {
            let dt = self.clock.between(p.time[j], now);
            let (pos, vel) = self.predicted(p, j, now, p.step[j] >= now.shallowest_level());
            let relative = Relative {
                pos: pos - self.targets.pos[k],
                vel: vel - self.targets.vel[k],
                acc: p.acc[j] + p.jerk[j] * dt - acc,
                jerk: p.jerk[j] - jerk,
            };
            let pair = pair_series(sign * p.mass[j], &relative, self.forces.eps2);
            sum.iter_mut().zip(pair).for_each(|(sum, term)| *sum += term);
        }
        Some(sum)
    }
}
