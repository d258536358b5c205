//! Correction of one particle.

use super::Order;
use super::slices::Slices;
use crate::integrator::multipoint::{Stencil, amplification, correction};
use crate::integrator::pair_series::{Series, before};
use crate::integrator::particle_slices::PointSlices;
use tisane_force::gravity::{Force, predict};
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Time};

/// Derivatives of one part of the force at the end of its step.
pub struct Derivatives {
    /// Length of the step.
    pub dt: f64,
    /// dtᵏ a⁽ᵏ⁾, k = 2 … 5.
    pub scaled: [Vec3; 4],
    /// Factors of the earlier point.
    stencil: Option<Stencil<f64>>,
}

impl Derivatives {
    /// Returns those of a force of which nothing is known yet but its first derivative.
    pub const fn none() -> Self {
        Self { dt: 1.0, scaled: [Vec3::new(0.0, 0.0, 0.0); 4], stencil: None }
    }

    /// Returns the standard errors of the derivatives, for this one of the accelerations.
    pub fn noise(&self, of_acc: f64) -> [f64; 4] {
        if of_acc > 0.0 { amplification(self.stencil).map(|factor| factor * of_acc) } else { [0.0; 4] }
    }

    /// Returns the second and third derivative.
    fn unscaled(&self) -> [Vec3; 2] {
        let per_dt = 1.0 / self.dt;
        let square = per_dt * per_dt;
        [self.scaled[0] * square, self.scaled[1] * (square * per_dt)]
    }

    /// Adds second and third derivatives.
    fn add(&mut self, [snap, crackle]: [Vec3; 2]) {
        let square = self.dt * self.dt;
        self.scaled[0] += snap * square;
        self.scaled[1] += crackle * (square * self.dt);
    }
}

/// Corrector of the particles of a block at the moment `now`.
pub struct Corrector {
    pub order: Order,
    pub clock: Clock,
    pub now: Time,
}

impl Corrector {
    /// Returns the factors of an earlier point for a step from `start`, and the point; [`None`] if there is none.
    #[inline(always)]
    fn earlier(&self, point: &PointSlices<'_>, i: usize, start: Time) -> Option<(Stencil<f64>, (Vec3, Vec3))> {
        if self.order == Order::Four || point.time[i] >= start {
            return None;
        }
        // Exact: all are whole numbers of ticks.
        let ratio = (start.0 - point.time[i].0) as f64 / (self.now.0 - start.0) as f64;
        Some((Stencil::new(ratio, None), (point.acc[i], point.jerk[i])))
    }

    /// Returns the derivatives of P, from the second on, a time `s` after the last regular step.
    #[inline(always)]
    fn regular_derivatives(&self, p: &Slices<'_>, i: usize, s: f64) -> [Vec3; 2] {
        match self.order {
            Order::Four => [Vec3::zeros(); 2],
            Order::Six => {
                let crackle = p.own.neighbours.regular_crackle[i];
                [p.own.neighbours.regular_snap[i] + crackle * s, crackle]
            }
        }
    }

    /// Corrects particle `i` of the slices for the irregular force: moves it to the end of its step, and its point and
    /// force with it.
    #[inline(always)]
    pub fn correct_irregular(&self, p: &mut Slices<'_>, i: usize, new: &Force) -> Derivatives {
        let start = p.columns.time[i];
        let dt = self.clock.between(start, self.now);
        let earlier = self.earlier(&p.points[0], i, start);
        let [snap, crackle] =
            self.regular_derivatives(p, i, self.clock.between(p.own.neighbours.regular_time[i], start));
        let (c, of) = (&mut p.columns, &mut p.own.neighbours);
        let (pos, vel) = predict(c.pos[i], c.vel[i], c.acc[i], c.jerk[i], dt);
        let points = earlier.as_ref().map(|(stencil, point)| (stencil, [*point; 2]));
        let found = correction(dt, points, (of.acc[i], of.jerk[i]), (new.acc, new.jerk));
        let square = dt * dt;
        (c.pos[i], c.vel[i]) = (pos + found.pos * square, vel + found.vel * dt);
        if self.order == Order::Six {
            // The prediction has P to its first degree.
            c.pos[i] += (snap + crackle * (dt / 5.0)) * (square * square / 24.0);
            c.vel[i] += (snap + crackle * (dt / 4.0)) * (square * dt / 6.0);
            let point = &mut p.points[0];
            (point.acc[i], point.jerk[i], point.time[i]) = (of.acc[i], of.jerk[i], start);
        }
        (of.acc[i], of.jerk[i], c.time[i]) = (new.acc, new.jerk, self.now);
        Derivatives { dt, scaled: found.derivatives, stencil: earlier.map(|(stencil, _)| stencil) }
    }

    /// Corrects particle `i`, which [`Self::correct_irregular`] has moved, for the regular force at the end of a regular
    /// step: `old` is the irregular force by the list that it had, and `new` that by the list that it gets.
    #[inline(always)]
    pub fn correct_regular(
        &self,
        p: &mut Slices<'_>,
        i: usize,
        [old, regular, new]: [&Force; 3],
        exchange: Option<&Series>,
    ) -> Derivatives {
        let start = p.own.neighbours.regular_time[i];
        let dt = self.clock.between(start, self.now);
        let earlier = self.earlier(&p.own.regular_point, i, start);
        let [snap, crackle] = self.regular_derivatives(p, i, 0.0);
        let (c, of) = (&mut p.columns, &mut p.own.neighbours);
        let points = earlier.as_ref().map(|(stencil, point)| (stencil, [*point; 2]));
        let as_before = (regular.acc + (new.acc - old.acc), regular.jerk + (new.jerk - old.jerk));
        let found = correction(dt, points, (of.regular_acc[i], of.regular_jerk[i]), as_before);
        let square = dt * dt;
        c.pos[i] += found.pos * square;
        c.vel[i] += found.vel * dt;
        let mut derivatives =
            Derivatives { dt, scaled: found.derivatives, stencil: earlier.map(|(stencil, _)| stencil) };
        if self.order == Order::Six {
            // What the irregular steps had of P beyond its first degree.
            c.pos[i] -= (snap + crackle * (dt / 5.0)) * (square * square / 24.0);
            c.vel[i] -= (snap + crackle * (dt / 4.0)) * (square * dt / 6.0);
            let point = &mut p.own.regular_point;
            (point.acc[i], point.jerk[i], point.time[i]) = (of.regular_acc[i], of.regular_jerk[i], start);
            if let Some(exchange) = exchange {
                let (acc, jerk) = before(exchange, dt);
                point.acc[i] -= acc;
                point.jerk[i] -= jerk;
                derivatives.add([-exchange[2], -exchange[3]]);
            }
        }
        if regular.pot == 0.0 {
            // No source is beyond the list: without it there was no regular force before either, and what is left of it
            // are errors of the exchange.
            derivatives.scaled = [Vec3::zeros(); 4];
            if self.order == Order::Six {
                let point = &mut p.own.regular_point;
                (point.acc[i], point.jerk[i]) = (Vec3::zeros(), Vec3::zeros());
            }
        }
        if self.order == Order::Six {
            [of.regular_snap[i], of.regular_crackle[i]] = derivatives.unscaled();
        }
        (of.regular_acc[i], of.regular_jerk[i], of.regular_pot[i]) = (regular.acc, regular.jerk, regular.pot);
        (of.acc[i], of.jerk[i], of.regular_time[i]) = (new.acc, new.jerk, self.now);
        derivatives
    }

    /// Moves the pairs of a changed list to the irregular part.
    #[inline(always)]
    pub fn exchange(&self, p: &mut Slices<'_>, i: usize, irregular: &mut Derivatives, exchange: Option<&Series>) {
        let Some(exchange) = exchange else { return };
        let point = &mut p.points[0];
        let (acc, jerk) = before(exchange, self.clock.between(point.time[i], self.now));
        point.acc[i] += acc;
        point.jerk[i] += jerk;
        irregular.add([exchange[2], exchange[3]]);
    }

    /// Gives particle `i`, which stands at `now`, an irregular force that differs by a jump from the one before. Returns true if
    /// it had an earlier point, which is forgotten.
    pub fn renew_irregular(&self, p: &mut Slices<'_>, i: usize, new: &Force) -> bool {
        let of = &mut p.own.neighbours;
        (of.acc[i], of.jerk[i]) = (new.acc, new.jerk);
        let mut had_point = false;
        if self.order == Order::Six {
            let time = &mut p.points[0].time[i];
            had_point = std::mem::replace(time, self.now) < self.now;
        }
        self.finish(p, i, new.pot, Some(&Derivatives::none()));
        had_point
    }

    /// Moves a pair, with these derivatives at `now` and this potential, from the regular to the irregular part of the force on
    /// particle `i`, which may stand at any moment before. Each part changes where it stands, by the pair's Taylor series; the
    /// whole force does not.
    pub fn enter(&self, p: &mut Slices<'_>, i: usize, pair: &Series, pot: f64) {
        let at = |time: Time| before(pair, self.clock.between(time, self.now));
        let of = &mut p.own.neighbours;
        let (acc, jerk) = at(of.regular_time[i]);
        of.regular_acc[i] -= acc;
        of.regular_jerk[i] -= jerk;
        of.regular_pot[i] -= pot;
        let (acc, jerk) = at(p.columns.time[i]);
        of.acc[i] += acc;
        of.jerk[i] += jerk;
        if self.order == Order::Six {
            of.regular_snap[i] -= pair[2] - pair[3] * self.clock.between(of.regular_time[i], self.now);
            of.regular_crackle[i] -= pair[3];
            let point = &mut p.own.regular_point;
            let (acc, jerk) = at(point.time[i]);
            point.acc[i] -= acc;
            point.jerk[i] -= jerk;
            let point = &mut p.points[0];
            let (acc, jerk) = at(point.time[i]);
            point.acc[i] += acc;
            point.jerk[i] += jerk;
        }
    }

    /// Adds a pair, with this force at `now` and this series of it, to what the parts of the force on particle `i` know, both
    /// of which stand at `now`: to the irregular one, or to the regular one. The whole force is not changed.
    pub fn add_pair(&self, p: &mut Slices<'_>, i: usize, is_irregular: bool, (force, pair): (&Force, &Series)) {
        let of = &mut p.own.neighbours;
        if is_irregular {
            of.acc[i] += force.acc;
            of.jerk[i] += force.jerk;
        } else {
            of.regular_acc[i] += force.acc;
            of.regular_jerk[i] += force.jerk;
            of.regular_pot[i] += force.pot;
        }
        if self.order == Order::Four {
            return;
        }
        let point = if is_irregular { &mut p.points[0] } else { &mut p.own.regular_point };
        let (acc, jerk) = before(pair, self.clock.between(point.time[i], self.now));
        point.acc[i] += acc;
        point.jerk[i] += jerk;
        p.derivatives[0][i] += pair[2];
        p.derivatives[1][i] += pair[3];
        if !is_irregular {
            of.regular_snap[i] += pair[2];
            of.regular_crackle[i] += pair[3];
        }
    }

    /// Stores the total force on particle `i`, and the derivatives for its next prediction, if it has any.
    #[inline(always)]
    pub fn finish(&self, p: &mut Slices<'_>, i: usize, irregular_pot: f64, irregular: Option<&Derivatives>) {
        let s = self.clock.between(p.own.neighbours.regular_time[i], self.now);
        let [snap, crackle] = self.regular_derivatives(p, i, 0.0);
        let of = &p.own.neighbours;
        let acc = of.regular_acc[i] + (of.regular_jerk[i] + (snap * 0.5 + crackle * (s / 6.0)) * s) * s;
        let jerk = of.regular_jerk[i] + (snap + crackle * (0.5 * s)) * s;
        p.columns.acc[i] = of.acc[i] + acc;
        p.columns.jerk[i] = of.jerk[i] + jerk;
        p.columns.pot[i] = irregular_pot + of.regular_pot[i];
        if self.order == Order::Six
            && let Some(irregular) = irregular
        {
            let [irregular_snap, irregular_crackle] = irregular.unscaled();
            p.derivatives[0][i] = irregular_snap + (snap + crackle * s);
            p.derivatives[1][i] = irregular_crackle + crackle;
        }
    }
}
