//! Figures of a cluster in its tide: what the tide leaves to it over time, and the Jacobi energies of its stars.

use super::figure::{Axis, Figure, Mark, Panel, Series};
use super::over_time::Run;
use super::quantity::quantity;
use super::snapshots::Look;
use std::path::Path;
use tisane::diagnostics::cluster::{JacobiBody, JacobiEnergies};
use tisane::error::Result as Found;
use tisane::force::external::guide::OrbitState;
use tisane::particles::Vec3;
use tisane::tidal_frame::TideSource;
use tisane::units::{Dimension, Scale};
use tisane_io::table::Table;

/// Tide on the cluster of a run, in internal units, as its configuration has it.
pub struct ClusterTide {
    /// The tide.
    pub source: TideSource,
    /// Softening of the pairs.
    pub epsilon: f64,
}

/// Finds the tide on the cluster of a run for internal units of a scale, if there is one.
pub type FindTide<'a> = &'a dyn Fn(&Scale) -> Found<Option<ClusterTide>>;

/// Least difference of the largest and the smallest distance of an orbit, relative to the former, with pericentres: it is no circle.
const ECCENTRIC: f64 = 1e-3;
/// Room above and below the values of a panel, as a part of their range.
const ROOM: f64 = 0.06;
/// Share of the bodies whose Jacobi energies are below the upper end of their axis.
const SHARE: f64 = 0.99;
/// Depth of the lower end of that axis below the critical energy, in that of the lowest body within the tidal radius, at most: far out in
/// the tails the energies about the cluster fall without end.
const DEPTH: f64 = 2.0;
/// Room beside the nearest and the farthest body, as a factor.
const BESIDE: f64 = 1.2;
/// Largest number of bodies that are drawn: the points of more would cover each other.
const MAX_DOTS: usize = 5000;

/// What the tide leaves to the cluster, over time; none of a run without a tide.
pub(super) fn over_time(dir: &Path, table: &Table) -> Option<Result<Figure, String>> {
    table.column("tidal_radius")?;
    let run = Run { table };
    let panels = || {
        let passages = pericentres(table);
        let marked = |mut panel: Panel| {
            mark(&mut panel, &passages);
            panel
        };
        let masses = [
            ("within the tidal radius", "tidal_mass", true),
            ("bound by their Jacobi energy", "jacobi_bound_mass", true),
        ];
        let mass = run.panel("Mass", Axis::linear(run.label("mass", "tidal_mass")?), &masses, |m| m)?;
        let mut radii =
            vec![("tidal radius", "tidal_radius", true), ("half-mass radius", "tidal_half_mass_radius", true)];
        if differ(table, "tidal_radius", "tidal_radius_at_pericentre") {
            radii.push(("tidal radius at the last pericentre", "tidal_radius_at_pericentre", true));
        }
        let radii = run.panel("Radii", Axis::linear(run.label("radius", "tidal_radius")?), &radii, |r| r)?;
        let filling = filling(&run, &radii)?;
        let numbers =
            [("within the tidal radius", "tidal_number", true), ("potential escapers", "potential_escapers", true)];
        let numbers = run.panel("Particles", Axis::counts("number"), &numbers, |n| n)?;
        Some([mass, radii, filling, numbers].map(marked).to_vec())
    };
    Some(panels().map(|panels| run.figure(dir, panels)).ok_or_else(|| "cluster.csv lacks columns".to_owned()))
}

/// Half-mass radius in units of the tidal radius, from the panel that has both.
fn filling(run: &Run<'_>, radii: &Panel) -> Option<Panel> {
    let [tidal, half, ..] = &radii.series[..] else { return None };
    let ratio = |(tidal, half): (&(f64, f64), &(f64, f64))| (tidal.0, half.1 / tidal.1);
    let points = tidal.points.iter().zip(&half.points).map(ratio).collect();
    let mut panel = Panel::new("Half-mass radius / tidal radius", run.time()?, Axis::linear("rₕ / rₜ"));
    panel.series.push(Series { colour: Some(3), ..Series::new("", half.mark, points) });
    Some(panel)
}

/// Returns true if a table has both of two columns, and they are those of an orbit that is no circle.
fn differ(table: &Table, one: &str, other: &str) -> bool {
    let (Some(one), Some(other)) = (table.numbers(one), table.numbers(other)) else { return false };
    one.iter().zip(other.iter()).any(|(a, b)| (a - b).abs() > ECCENTRIC * a)
}

/// Returns the times of the pericentres between the rows of a journal: where the motion turns from inwards to outwards, by a straight
/// line through **X** · **V** there. A circle has none.
fn pericentres(table: &Table) -> Vec<f64> {
    let of = |name: &str| -> Option<Vec<Vec3>> {
        let [x, y, z] = ["x", "y", "z"].map(|axis| table.numbers(&format!("{name}_{axis}")));
        Some(x?.iter().zip(y?.iter()).zip(z?.iter()).map(|((x, y), z)| Vec3::new(x, y, z)).collect())
    };
    let (Some(times), Some(pos), Some(vel)) = (table.numbers("time"), of("orbit_position"), of("orbit_velocity"))
    else {
        return Vec::new();
    };
    let distances = || pos.iter().map(|x| x.norm());
    let (near, far) = (distances().fold(f64::INFINITY, f64::min), distances().fold(0.0, f64::max));
    if far - near < ECCENTRIC * far {
        return Vec::new();
    }
    let outwards: Vec<f64> = pos.iter().zip(&vel).map(|(x, v)| x.dot(v)).collect();
    let turns = (1..outwards.len()).filter(|&k| outwards[k - 1] < 0.0 && outwards[k] >= 0.0);
    turns
        .map(|k| {
            let (a, b) = (outwards[k - 1], outwards[k]);
            times.at(k - 1) + (times.at(k) - times.at(k - 1)) * a / (a - b)
        })
        .collect()
}

/// Marks times by lines over the whole height of a panel with a linear axis.
fn mark(panel: &mut Panel, times: &[f64]) {
    let values = panel.series.iter().flat_map(|series| series.points.iter().map(|(_, y)| *y)).filter(|y| y.is_finite());
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
    if times.is_empty() || low >= high {
        return;
    }
    let room = ROOM * (high - low);
    let (low, high) = (low - room, high + room);
    panel.y.range = Some((low, high));
    let lines = times.iter().flat_map(|&t| [(t, low), (t, high), (t, f64::NAN)]).collect();
    panel.series.push(Series::new("pericentre", Mark::Dashed, lines));
}

/// Jacobi energies of the stars of a snapshot over their distance from the density centre; none of a run without a tide.
pub(super) fn energies(look: &Look, find: FindTide<'_>) -> Option<Result<Panel, String>> {
    match find(&look.units.scale) {
        Ok(None) => None,
        Ok(Some(tide)) => Some(of_tide(look, &tide)),
        Err(why) => Some(Err(why.to_string())),
    }
}

fn of_tide(look: &Look, ClusterTide { source, epsilon }: &ClusterTide) -> Result<Panel, String> {
    let scale = &look.units.scale;
    let back = |x: Vec3, d: Dimension| x / scale.factor(d);
    let orbit = look
        .orbit
        .map(|orbit| OrbitState { pos: back(orbit.pos, Dimension::LENGTH), vel: back(orbit.vel, Dimension::VELOCITY) });
    if source.circle.is_none() && orbit.is_none() {
        return Err("the snapshot does not say where the origin of coordinates is".into());
    }
    let frame = source.with_origin(orbit, look.time / scale.factor(Dimension::TIME));
    let centre = back(look.centre, Dimension::LENGTH);
    let found = JacobiEnergies::new(&look.stars, &look.systems, &frame, centre, *epsilon);
    let found = found.ok_or("the tide has no radius here: it holds the cluster together")?;
    if found.part.stars.is_empty() {
        return Err("the cluster has dissolved: no star is within its tidal radius".into());
    }
    Ok(panel(look, &found))
}

fn panel(look: &Look, JacobiEnergies { part, bodies }: &JacobiEnergies) -> Panel {
    let (units, scale) = (&look.units.units, &look.units.scale);
    let critical = part.critical_energy();
    let (length, energy) = (scale.length, scale.factor(Dimension::POTENTIAL));
    let every = bodies.len().div_ceil(MAX_DOTS).max(1);
    let drawn: Vec<&JacobiBody> = bodies.iter().step_by(every).collect();
    let [inside, free, outside] = groups(&drawn, part.radius, critical);
    let x = Axis::log(quantity(units, "distance from the density centre", Dimension::LENGTH));
    let y = Axis::linear(quantity(units, "Jacobi energy", Dimension::POTENTIAL));
    let mut panel = Panel::new(format!("Jacobi energies at {}", look.time_label()), x, y);
    let named = [("bound", inside, 0), ("potential escapers", free, 1), ("beyond the tidal radius", outside, 2)];
    for (name, bodies, colour) in named {
        let points = bodies.iter().map(|body| (length * body.distance, energy * body.energy)).collect();
        panel.series.push(Series { colour: Some(colour), ..Series::new(name, Mark::Dots, points) });
    }
    let distances = bodies.iter().map(|body| body.distance).filter(|r| *r > 0.0);
    let (near, far) = distances.fold((part.radius, part.radius), |(near, far), r| (near.min(r), far.max(r)));
    let [near, far] = [length * near / BESIDE, length * far * BESIDE];
    let [low, high] = energies_shown(bodies, part.radius, critical).map(|e| energy * e);
    (panel.x.range, panel.y.range) = (Some((near, far)), Some((low, high)));
    let level = vec![(near, energy * critical), (far, energy * critical)];
    panel.series.push(Series::new("critical energy, tidal radius", Mark::Dashed, level));
    let radius = length * part.radius;
    panel.series.push(Series::new("", Mark::Dashed, vec![(radius, low), (radius, high)]));
    if every > 1 {
        panel.notes.push(format!("one of {every} bodies is drawn"));
    }
    panel
}

/// Returns the bodies within the tidal radius that are bound, the others within it, and those beyond.
fn groups<'a>(bodies: &[&'a JacobiBody], radius: f64, critical: f64) -> [Vec<&'a JacobiBody>; 3] {
    let (within, beyond): (Vec<&JacobiBody>, Vec<&JacobiBody>) =
        bodies.iter().copied().partition(|body| body.distance <= radius);
    let (bound, free): (Vec<&JacobiBody>, Vec<&JacobiBody>) =
        within.into_iter().partition(|body| body.energy <= critical);
    [bound, free, beyond]
}

/// Returns the ends of the axis of energies: down to the lowest body, and up to one above which there are few, at least as far above the
/// critical energy as that is below zero.
fn energies_shown(bodies: &[JacobiBody], radius: f64, critical: f64) -> [f64; 2] {
    let mut energies: Vec<f64> = bodies.iter().map(|body| body.energy).filter(|e| e.is_finite()).collect();
    energies.sort_unstable_by(f64::total_cmp);
    let held = ((SHARE * energies.len() as f64).ceil() as usize).clamp(1, energies.len().max(1));
    let high = energies.get(held - 1).copied().unwrap_or(critical).max(critical + critical.abs());
    let within = bodies.iter().filter(|body| body.distance <= radius).map(|body| body.energy);
    let depth = critical - within.fold(critical, f64::min);
    let low = energies.first().copied().unwrap_or(critical).clamp(critical - DEPTH * depth, critical);
    let room = ROOM * (high - low);
    [low - room, high + room]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::TAU;
    use tisane_io::table::{Column, Values};

    /// Rows of an orbit of the period 1 whose distance swings by `swing` about 1, with the pericentre at ½.
    fn journal(rows: usize, swing: f64) -> Table {
        let times: Vec<f64> = (0..rows).map(|k| k as f64 * 0.07).collect();
        let phase = |t: f64| TAU * t;
        let distance = |t: f64| 1.0 + swing * phase(t).cos();
        let speed = |t: f64| -swing * TAU * phase(t).sin();
        let column = |name: &str, of: &dyn Fn(f64) -> f64| {
            Column::new(name, "", name, Values::Floats(times.iter().map(|t| of(*t)).collect()))
        };
        let columns = vec![
            column("time", &|t| t),
            column("orbit_position_x", &distance),
            column("orbit_position_y", &|_| 0.0),
            column("orbit_position_z", &|_| 0.0),
            column("orbit_velocity_x", &speed),
            column("orbit_velocity_y", &|_| 1.0),
            column("orbit_velocity_z", &|_| 0.0),
        ];
        Table { title: String::new(), remarks: Vec::new(), columns }
    }

    #[test]
    fn pericentres_are_where_the_motion_turns_outwards_and_a_circle_has_none() {
        let found = pericentres(&journal(40, 0.3));
        assert_eq!(found.len(), 3);
        for (time, expected) in found.iter().zip([0.5, 1.5, 2.5]) {
            assert!((time - expected).abs() < 0.01, "{time}");
        }
        assert!(pericentres(&journal(40, 1e-4)).is_empty());
        // A run in the linear tide has no orbit in its journal.
        let mut alone = journal(40, 0.3);
        alone.columns.truncate(1);
        assert!(pericentres(&alone).is_empty());
    }

    #[test]
    fn marks_stand_over_the_whole_height_of_a_panel() {
        let points = vec![(0.0, 2.0), (1.0, f64::NAN), (2.0, 4.0)];
        let mut panel = Panel { series: vec![Series::new("", Mark::Line, points)], ..Panel::default() };
        mark(&mut panel, &[]);
        assert_eq!((panel.series.len(), panel.y.range), (1, None));
        mark(&mut panel, &[0.5, 1.5]);
        let (low, high) = panel.y.range.expect("a range");
        assert!(low < 2.0 && high > 4.0);
        let line = &panel.series[1].points;
        assert_eq!((line.len(), line[0], line[1], line[3]), (6, (0.5, low), (0.5, high), (1.5, low)));
    }

    #[test]
    fn the_axis_of_energies_is_that_of_the_cluster() {
        let body = |distance: f64, energy: f64| JacobiBody { mass: 1.0, number: 1, distance, energy };
        let mut bodies = vec![body(0.1, -5.0), body(0.9, -2.0), body(3.0, -1.5)];
        let [low, high] = energies_shown(&bodies, 1.0, -2.0);
        assert!(low < -5.0 && low > -6.0 && high >= 0.0, "{low} {high}");
        // A tail may go down as far again, and no farther.
        bodies.push(body(100.0, -900.0));
        let [low, _] = energies_shown(&bodies, 1.0, -2.0);
        assert!(low < -8.0 && low > -9.0, "{low}");
        let refs: Vec<&JacobiBody> = bodies.iter().collect();
        assert_eq!(groups(&refs, 1.0, -2.0).map(|of| of.len()), [2, 0, 2]);
        assert_eq!(groups(&refs, 1.0, -3.0).map(|of| of.len()), [1, 1, 2]);
    }
}
