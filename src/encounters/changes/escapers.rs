//! Stars that leave the system for ever: they are taken out of the integration, or recorded.

use crate::encounters::Encounters;
use crate::encounters::forces::bodies::motion_of;
use crate::encounters::membership::coupled_engine::CoupledEngine;
use crate::encounters::motion::member;
use crate::encounters::records::star_changes::Changed;
use crate::encounters::settings::stars::{EscapeAction, EscapeRadius, Escapes};
use crate::subsystems::event::{Detail, Event, EventKind};
use crate::subsystems::stars::{Escape, Escaper, Removed};
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::particles::Vec3;
use tisane_force::time::Time;

impl Encounters {
    /// Finds the bodies that are farther than the escape radius from the centre of mass of all, and whose energy in its frame is
    /// positive, at `now`, a moment of all: the farthest first, each by the energy in the field of those that are left. Returns
    /// true if there were any that are not recorded yet.
    pub(crate) fn let_escape(&mut self, f: &mut dyn ForceEngine, now: Time) -> Result<bool> {
        let Some(Escapes { action, radius }) = self.escapes.filter(|_| now.is_synchronised()) else {
            return Ok(false);
        };
        let mut left = self.not_escaped(action);
        let radius = self.length(radius, &left);
        self.forget_returned(&mut left, radius);
        let (mut gone, mut any): (Vec<usize>, bool) = (Vec::new(), false);
        while let Some((body, energy)) = self.next_escape(&left, radius) {
            left.retain(|&k| k != body);
            let mut escape = self.escape_of(body, energy, &left, now)?;
            if action == EscapeAction::Record {
                let new = self.record_escape(body);
                escape.stars.retain(|star| new.contains(&star.id));
                escape.removed = Removed::default();
            } else {
                gone.push(body);
            }
            let event = Event::of_stars(now, EventKind::Escape, Detail::Escape(Box::new(escape)));
            self.events.push(event);
            any = true;
        }
        if !gone.is_empty() {
            let rows: Vec<u32> = gone.iter().map(|&body| body as u32).collect();
            self.scheme.retire(&mut self.particles, &rows, now);
            gone.sort_unstable();
            self.take_out_bodies(&gone);
            self.forget_places();
            let mut coupled = CoupledEngine { engine: f, hierarchy: &mut self.hierarchy };
            self.scheme.resume(&self.particles, now, &mut coupled)?;
        }
        Ok(any)
    }

    /// Returns the stars of a body.
    fn stars_of(&self, body: usize) -> Vec<u32> {
        let star = self.hierarchy.bodies.stars[body];
        self.hierarchy.of_star(star).map_or_else(|| vec![star], |subsystem| subsystem.stars.clone())
    }

    /// Returns the bodies that were not recorded as escapers, ascending. Where escapers are taken out, what was recorded before
    /// does not count.
    fn not_escaped(&mut self, action: EscapeAction) -> Vec<usize> {
        if action == EscapeAction::Remove {
            self.recorded.escaped.clear();
        }
        let has_left = |star: &u32| self.recorded.escaped.binary_search(star).is_ok();
        (0..self.particles.len()).filter(|&body| !self.stars_of(body).iter().all(has_left)).collect()
    }

    /// Records the escape of a body. Returns the ids of those of its stars that were not recorded before.
    fn record_escape(&mut self, body: usize) -> Vec<u64> {
        let mut new = Vec::new();
        for star in self.stars_of(body) {
            if let Err(place) = self.recorded.escaped.binary_search(&star) {
                self.recorded.escaped.insert(place, star);
                new.push(self.ids[star as usize]);
            }
        }
        new
    }

    /// Takes bodies that were recorded as escapers, and are within the radius again, back to those that are `left`.
    fn forget_returned(&mut self, left: &mut Vec<usize>, radius: f64) {
        let (centre, _) = self.centre(left);
        let is_within = |body: &usize| (self.particles.pos[*body] - centre).norm() <= radius;
        let all = 0..self.particles.len();
        let returned: Vec<usize> = all.filter(|body| left.binary_search(body).is_err()).filter(is_within).collect();
        for &body in &returned {
            let stars = self.stars_of(body);
            self.recorded.escaped.retain(|star| !stars.contains(star));
        }
        left.extend(returned);
        left.sort_unstable();
    }

    /// Returns position and velocity of the centre of mass of bodies.
    fn centre(&self, of: &[usize]) -> (Vec3, Vec3) {
        let p = &self.particles;
        let mass: f64 = of.iter().map(|&k| p.mass[k]).sum();
        let mean = |column: &[Vec3]| of.iter().fold(Vec3::zeros(), |sum, &k| sum + column[k] * p.mass[k]) / mass;
        (mean(&p.pos), mean(&p.vel))
    }

    /// Returns the escape radius at present as a length.
    fn length(&self, radius: EscapeRadius, left: &[usize]) -> f64 {
        let number = match radius {
            EscapeRadius::Length(length) => return length,
            EscapeRadius::HalfMassRadii(number) => number,
        };
        let (p, (centre, _)) = (&self.particles, self.centre(left));
        let mut by_distance: Vec<(f64, f64)> = left.iter().map(|&k| ((p.pos[k] - centre).norm(), p.mass[k])).collect();
        by_distance.sort_by(|a, b| a.0.total_cmp(&b.0));
        let half = 0.5 * by_distance.iter().map(|(_, mass)| mass).sum::<f64>();
        let mut within = 0.0;
        let reached = |(_, mass): &&(f64, f64)| {
            within += mass;
            within >= half
        };
        by_distance.iter().find(reached).map_or(f64::INFINITY, |(distance, _)| number * distance)
    }

    /// Returns the farthest of the bodies that escape from those that are `left`, with its energy per unit mass.
    fn next_escape(&self, left: &[usize], radius: f64) -> Option<(usize, f64)> {
        let (p, (centre, drift)) = (&self.particles, self.centre(left));
        let energy = |i: usize| {
            let pull = |&k: &usize| if k == i { 0.0 } else { p.mass[k] / (p.pos[k] - p.pos[i]).norm() };
            0.5 * (p.vel[i] - drift).norm_squared() - left.iter().map(pull).sum::<f64>()
        };
        let mut far: Vec<(f64, usize)> =
            left.iter().map(|&i| ((p.pos[i] - centre).norm(), i)).filter(|(distance, _)| *distance > radius).collect();
        far.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        far.into_iter().map(|(_, i)| (i, energy(i))).find(|(_, energy)| *energy > 0.0)
    }

    /// Returns the escape of a body from those that are `left`.
    fn escape_of(&self, body: usize, energy: f64, left: &[usize], now: Time) -> Result<Escape> {
        let (p, bodies) = (&self.particles, &self.hierarchy.bodies);
        let (mass, pos, vel) = (p.mass[body], p.pos[body], p.vel[body]);
        let of_star = |star: u32, mass: f64, x: Vec3, v: Vec3| Escaper {
            id: self.ids[star as usize],
            mass,
            pos: pos + x,
            vel: vel + v,
        };
        let (mut stars, mut inside) = (Vec::new(), 0.0);
        match self.hierarchy.of_star(bodies.stars[body]) {
            None => stars.push(of_star(bodies.stars[body], mass, Vec3::zeros(), Vec3::zeros())),
            Some(subsystem) => {
                let subsystem = subsystem.at(bodies, &self.clock, now)?;
                let found = member::stars(&subsystem.members, &subsystem.motion, &self.clock, now)?;
                stars.extend(found.into_iter().map(|star| of_star(star.of, star.mass, star.pos, star.vel)));
                inside = -subsystem.binding();
            }
        }
        let pull: f64 = left.iter().map(|&k| p.mass[k] / (p.pos[k] - pos).norm()).sum();
        let removed = Removed {
            energy: inside + mass * (0.5 * vel.norm_squared() - pull),
            momentum: vel * mass,
            mass,
            moment: (pos - vel * (self.clock.time(now) - self.clock.start)) * mass,
            angular_momentum: stars.iter().map(|star| star.pos.cross(&star.vel) * star.mass).sum(),
        };
        stars.sort_unstable_by_key(|star| star.id);
        Ok(Escape { stars, energy, removed })
    }

    /// Takes bodies, ascending, out of all that numbers bodies and stars.
    fn take_out_bodies(&mut self, gone: &[usize]) {
        let bodies = &self.hierarchy.bodies;
        let lowest: Vec<u32> = gone.iter().map(|&body| bodies.stars[body]).collect();
        let is_gone = |star: u32| lowest.binary_search(&star).is_ok();
        let mut stars: Vec<u32> = gone.iter().flat_map(|&body| self.stars_of(body)).collect();
        stars.sort_unstable();
        lowest.iter().for_each(|&star| self.hierarchy.end_body(star));
        let bodies = &mut self.hierarchy.bodies;
        let stays: Vec<u32> =
            (0..bodies.stars.len() as u32).filter(|row| !is_gone(bodies.stars[*row as usize])).collect();
        bodies.stars.retain(|&star| !is_gone(star));
        self.particles.select_rows(&stays);
        bodies.particles = motion_of(&self.particles);
        self.take_out(Changed { merged: Vec::new(), gone: stars });
    }
}
