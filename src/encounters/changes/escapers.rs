//! Stars that leave the system for ever: they are taken out of the integration, or recorded.
//!
//! In a system alone they have positive energy in the field of those that are left. In a tide they have more than the critical
//! Jacobi energy, by the potential of the bodies within the tidal radius of those that are left: see [`tidal_frame`](crate::tidal_frame).

use crate::density;
use crate::encounters::Encounters;
use crate::encounters::forces::bodies::motion_of;
use crate::encounters::membership::coupled_engine::CoupledEngine;
use crate::encounters::motion::member;
use crate::encounters::records::star_changes::Changed;
use crate::encounters::settings::stars::{EscapeAction, EscapeRadius, Escapes};
use crate::integrator::Source;
use crate::nearest::Neighbours;
use crate::subsystems::event::{Detail, Event, EventKind};
use crate::subsystems::stars::{Escape, Escaper, Removed};
use crate::tidal_frame::{StarColumns, TidalFrame, TidalPart, TideSource};
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::force::external::guide::MovingOrigin;
use tisane_force::particles::Vec3;
use tisane_force::time::Time;

/// Number of neighbours for the density centre in a tide, the default of the surveys of a cluster.
const NEIGHBOURS: usize = 6;

/// Edge beyond which bodies escape that have the energy to.
enum Edge {
    /// Distance from the centre of mass, in a system alone.
    Alone(f64),
    /// That in a tide.
    Tidal(Box<TidalEdge>),
}

/// Edge of a cluster in its tide at a moment.
struct TidalEdge {
    frame: TidalFrame,
    /// The bodies within the tidal radius, by their rows.
    part: TidalPart,
    /// Distance from the density centre beyond which bodies escape.
    radius: f64,
}

impl Encounters {
    /// Lets stars that leave be looked for in a tide, about the origin of coordinates, if it moves.
    #[must_use]
    pub fn with_tide(mut self, tide: Option<(TideSource, Option<MovingOrigin>)>) -> Self {
        self.tide = tide;
        self
    }

    /// Finds the bodies that escape at `now`, a moment of all, the farthest first. Returns true if there were any that are not
    /// recorded yet.
    pub(crate) fn let_escape(&mut self, f: &mut dyn ForceEngine, now: Time) -> Result<bool> {
        let Some(Escapes { action, radius }) = self.escapes.filter(|_| now.is_synchronised()) else {
            return Ok(false);
        };
        let mut left = self.not_escaped(action);
        let edge = match radius {
            EscapeRadius::Length(length) => Edge::Alone(length),
            EscapeRadius::HalfMassRadii(number) => Edge::Alone(self.half_mass_radii(number, &left)),
            EscapeRadius::TidalRadii(number) => match self.tidal_edge(number, &left, now)? {
                Some(edge) => Edge::Tidal(Box::new(edge)),
                // Nothing leaves where the tide holds all together.
                None => return Ok(false),
            },
        };
        self.forget_returned(&mut left, &edge);
        let (mut gone, mut any): (Vec<usize>, bool) = (Vec::new(), false);
        while let Some((body, energy)) = self.next_escape(&left, &edge) {
            left.retain(|&k| k != body);
            let mut escape =
                self.escape_of((body, energy), &left, f.external_potential(now, self.particles.pos[body])?, now)?;
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
            let sources: Vec<Source> = rows.iter().map(|&row| Source::without(&self.particles, row)).collect();
            gone.sort_unstable();
            let rows: Vec<u32> = gone.iter().map(|&body| body as u32).collect();
            self.scheme.add_sources(&mut self.particles, &sources, 0.0, &rows, now);
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
    fn forget_returned(&mut self, left: &mut Vec<usize>, edge: &Edge) {
        let (centre, radius) = match edge {
            Edge::Alone(radius) => (self.centre(left).0, *radius),
            Edge::Tidal(edge) => (edge.part.centre.pos, edge.radius),
        };
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

    /// Returns the edge of the cluster in its tide at present, at a number of tidal radii; [`None`] where there is no tidal radius.
    fn tidal_edge(&self, number: f64, left: &[usize], now: Time) -> Result<Option<TidalEdge>> {
        let Some((source, origin)) = &self.tide else { return Ok(None) };
        let (p, frame) = (&self.particles, source.at(origin.as_ref(), now, &self.clock)?);
        let id: Vec<u64> = left.iter().map(|&k| self.ids[self.hierarchy.bodies.stars[k] as usize]).collect();
        let mass: Vec<f64> = left.iter().map(|&k| p.mass[k]).collect();
        let [pos, vel]: [Vec<Vec3>; 2] = [&p.pos, &p.vel].map(|column| left.iter().map(|&k| column[k]).collect());
        let neighbours = Neighbours::new(&id, &pos, NEIGHBOURS);
        let centre = density::core(&mass, &pos, &neighbours, &vec![false; left.len()]).centre;
        let stars = StarColumns { id: &id, mass: &mass, pos: &pos, vel: &vel };
        Ok(frame.part(stars, centre).map(|mut part| {
            part.stars.iter_mut().for_each(|row| *row = left[*row as usize] as u32);
            TidalEdge { frame, radius: number * part.radius, part }
        }))
    }

    /// Returns a number of half-mass radii at present as a length.
    fn half_mass_radii(&self, number: f64, left: &[usize]) -> f64 {
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

    /// Returns the farthest of the bodies that escape from those that are `left`, with its energy per unit mass; in a tide that is
    /// the Jacobi energy less the critical one.
    fn next_escape(&self, left: &[usize], edge: &Edge) -> Option<(usize, f64)> {
        let p = &self.particles;
        let pull = |i: usize, k: usize| if k == i { 0.0 } else { p.mass[k] / (p.pos[k] - p.pos[i]).norm() };
        let (centre, drift, radius) = match edge {
            Edge::Alone(radius) => {
                let (centre, drift) = self.centre(left);
                (centre, drift, *radius)
            }
            Edge::Tidal(edge) => (edge.part.centre.pos, edge.part.centre.vel, edge.radius),
        };
        let energy = |i: usize| {
            let kinetic = 0.5 * (p.vel[i] - drift).norm_squared();
            match edge {
                Edge::Alone(_) => kinetic - left.iter().map(|&k| pull(i, k)).sum::<f64>(),
                Edge::Tidal(edge) => {
                    let TidalEdge { frame, part, .. } = &**edge;
                    let alone = kinetic - part.stars.iter().map(|&k| pull(i, k as usize)).sum::<f64>();
                    alone + frame.energy(&part.centre, p.pos[i], p.vel[i]) - part.critical_energy()
                }
            }
        };
        let mut far: Vec<(f64, usize)> =
            left.iter().map(|&i| ((p.pos[i] - centre).norm(), i)).filter(|(distance, _)| *distance > radius).collect();
        far.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        far.into_iter().map(|(_, i)| (i, energy(i))).find(|(_, energy)| *energy > 0.0)
    }

    /// Returns the escape of a body, with its energy per unit mass, from those that are `left`; `external` is the potential of
    /// external fields there.
    fn escape_of(&self, (body, energy): (usize, f64), left: &[usize], external: f64, now: Time) -> Result<Escape> {
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
                let subsystem = subsystem.at(bodies, &self.clock, &self.hierarchy.rules, now)?;
                let found = member::stars(&subsystem.members, &subsystem.motion, &self.clock, now)?;
                stars.extend(found.into_iter().map(|star| of_star(star.of, star.mass, star.pos, star.vel)));
                inside = -subsystem.binding();
            }
        }
        let pull: f64 = left.iter().map(|&k| p.mass[k] / (p.pos[k] - pos).norm()).sum();
        let removed = Removed {
            energy: inside + mass * (0.5 * vel.norm_squared() - pull + external),
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
        let mut lowest: Vec<u32> = gone.iter().map(|&body| bodies.stars[body]).collect();
        lowest.sort_unstable();
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
        bodies.select_derivatives(&stays);
        self.take_out(Changed { merged: Vec::new(), gone: stars });
    }
}
