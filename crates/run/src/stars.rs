//! Collisions and escapers of a run: rows of the journal `stars`, and lines of the log.

use tisane::particles::Vec3;
use tisane::subsystems::{Collision, Detail, Escape, Event};
use tisane::time::Clock;
use tisane::units::{Dimension, Scale, Units};
use tisane_io::fields::{StarRow, UserTime};

/// Returns the rows of the events of stars: those of each block step by their time and by the id of the first star.
pub(crate) fn rows(events: &[Event], clock: &Clock, scale: &Scale) -> Vec<StarRow> {
    let of = |event: &Event| match &event.detail {
        Detail::None => Vec::new(),
        Detail::Collision(it) => vec![of_collision(event, it, scale)],
        Detail::Escape(it) => of_escape(event, it, clock.time(event.time) * scale.time),
    };
    let of_step = |events: &[Event]| {
        let mut rows: Vec<StarRow> = events.iter().flat_map(of).collect();
        rows.sort_by(|a, b| a.time.0.total_cmp(&b.time.0).then(a.id.cmp(&b.id)));
        rows
    };
    events.chunk_by(|a, b| a.time == b.time).flat_map(of_step).collect()
}

fn of_collision(event: &Event, it: &Collision, scale: &Scale) -> StarRow {
    let ([relative_position, relative_velocity], [position, velocity]) = (it.relative, it.centre);
    let mu = it.mass[0] + it.mass[1];
    StarRow {
        time: UserTime(it.time * scale.time),
        event: event.kind.name().into(),
        id: it.id[0],
        other_id: it.id[1].to_string(),
        new_id: it.merged.map_or_else(String::new, |merged| merged.id.to_string()),
        mass: it.mass[0],
        other_mass: it.mass[1],
        radius: it.radius[0],
        other_radius: it.radius[1],
        new_radius: it.merged.map_or(f64::NAN, |merged| merged.radius),
        position,
        velocity,
        relative_position,
        relative_velocity,
        pericentre: it.pericentre,
        specific_energy: 0.5 * relative_velocity.norm_squared() - mu / relative_position.norm(),
        removed_energy: it.merged.map_or(0.0, |merged| merged.removed.energy),
    }
}

fn of_escape(event: &Event, it: &Escape, time: f64) -> Vec<StarRow> {
    let none = Vec3::repeat(f64::NAN);
    let row = |(k, star): (usize, &tisane::subsystems::Escaper)| StarRow {
        time: UserTime(time),
        event: event.kind.name().into(),
        id: star.id,
        other_id: String::new(),
        new_id: String::new(),
        mass: star.mass,
        other_mass: f64::NAN,
        radius: f64::NAN,
        other_radius: f64::NAN,
        new_radius: f64::NAN,
        position: star.pos,
        velocity: star.vel,
        relative_position: none,
        relative_velocity: none,
        pericentre: f64::NAN,
        specific_energy: it.energy,
        removed_energy: if k == 0 { it.removed.energy } else { 0.0 },
    };
    it.stars.iter().enumerate().map(row).collect()
}

/// Describes the contacts and mergers of stars, each in one line.
pub(crate) fn describe(events: &[Event], units: &Units, scale: &Scale) -> Vec<String> {
    let of = |event: &Event| {
        let Detail::Collision(it) = &event.detail else { return None };
        let length = |x: f64| units.readable(x * scale.length, Dimension::LENGTH);
        let ([a, b], time) = (it.id, units.readable(it.time * scale.time, Dimension::TIME));
        let speed = units.readable(it.relative[1].norm() * scale.velocity, Dimension::VELOCITY);
        let what = match it.merged {
            None => "touch".to_owned(),
            Some(merged) => format!("become star {}, with a radius of {},", merged.id, length(merged.radius)),
        };
        let [r, q] = [length(it.radius[0] + it.radius[1]), length(it.pericentre)];
        Some(format!(
            "stars {a} and {b} {what} at t = {time}: sum of their radii {r}, pericentre {q}, relative speed {speed}"
        ))
    };
    events.iter().filter_map(of).collect()
}
