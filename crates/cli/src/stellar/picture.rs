//! The figure of the tracks: Hertzsprung-Russell diagram, mass and radius over time, coloured by type.

use super::track::{Row, Track};
use std::collections::BTreeSet;
use tisane_plot::{Axis, Figure, Label, Mark, Panel, Series, Side};
use tisane_stellar::Kind;

/// Begin of a logarithmic axis of time, as a share of the shortest first phase.
const BEGIN: f64 = 0.01;
/// End of the axis, as a multiple of the time at which the last star becomes a remnant.
const BEYOND: f64 = 1.5;
/// Ratio of the largest to the least mass from which on their axis is logarithmic.
const WIDE: f64 = 5.0;
/// Begin of the axis of the time left, in the units of the longest life; its end in Myr.
const LEFT: f64 = 4.0;
const LAST_LEFT: f64 = 1e-3;

/// Draws tracks.
pub fn figure(tracks: &[Track], about: &str) -> Figure {
    let lines = Lines { tracks };
    let mut panels = vec![lines.diagram(), lines.masses(), lines.radii()];
    panels.extend(lines.last_radii());
    let masses: Vec<String> = tracks.iter().map(|track| track.birth_mass.to_string()).collect();
    let title = match &masses[..] {
        [before @ .., last] if !before.is_empty() => {
            format!("Lives of stars of {} and {last} Msun", before.join(", "))
        }
        _ => format!("Life of a star of {} Msun", masses.concat()),
    };
    Figure { title, caption: about.to_owned(), panels, columns: 2 }
}

/// What the lines of all panels have in common.
struct Lines<'a> {
    tracks: &'a [Track],
}

impl Lines<'_> {
    /// Returns a line for each phase of each star, in the order of types. The first one of a type has its name.
    fn of(&self, point: impl Fn(&Track, &Row) -> (f64, f64)) -> Vec<Series> {
        let mut all: Vec<Series> = Vec::new();
        for track in self.tracks {
            for phase in track.rows.chunk_by(|a, b| a.state.kind == b.state.kind) {
                let points = phase.iter().map(|row| point(track, row)).collect();
                all.push(of_kind(phase[0].state.kind, points));
            }
        }
        all.sort_by_key(|series| series.colour);
        let mut named = BTreeSet::new();
        for series in all.iter_mut().filter(|series| !named.insert(series.colour)) {
            series.name.clear();
        }
        all
    }

    fn diagram(&self) -> Panel {
        let shown = |row: &Row| if is_star(row) { (row.temperature(), row.luminosity()) } else { NOWHERE };
        let mut x = Axis::log("effective temperature [K]");
        x.range = self.range(|_, row| shown(row).0).map(|(low, high)| (high * 1.6, low / 1.2));
        let mut panel = Panel::new("", x, Axis::log("luminosity [Lsun]"));
        panel.series = self.of(|_, row| shown(row));
        panel.labels = self.labels(Side::Left, |track| shown(&track.rows[0]));
        panel
    }

    fn masses(&self) -> Panel {
        let range = self.range(|_, row| row.state.mass);
        let axis = if range.is_some_and(|(low, high)| high > WIDE * low) { Axis::log } else { Axis::linear };
        self.over_time(axis("mass [Msun]"), |row| row.state.mass)
    }

    fn radii(&self) -> Panel {
        self.over_time(Axis::log("radius [Rsun]"), star_radius)
    }

    /// Draws a quantity over the time since birth.
    fn over_time(&self, y: Axis, of: fn(&Row) -> f64) -> Panel {
        let first = self.tracks.iter().filter_map(|track| track.events.first()).map(|event| event.time);
        let end = self.tracks.iter().filter_map(|track| track.rows.last()).map(|row| row.time).fold(0.0, f64::max);
        let begin = BEGIN * first.fold(end, f64::min);
        let is_over = self.tracks.iter().all(|track| track.end_of_life().is_some());
        let last = self.tracks.iter().filter_map(Track::end_of_life).fold(0.0, f64::max);
        let end = if is_over { end.min(BEYOND * last) } else { end };
        let mut panel = Panel::new("", Axis::log("time since birth [Myr]"), y);
        panel.x.range = Some((begin, end));
        // Nothing has changed by the begin of the axis, nor does a remnant change beyond its end.
        panel.series = self.of(|_, row| if of(row) > 0.0 { (row.time.clamp(begin, end), of(row)) } else { NOWHERE });
        panel
    }

    /// Draws radii over the time until the star becomes a remnant, which shows short late phases; [`None`] if no star
    /// does.
    fn last_radii(&self) -> Option<Panel> {
        let longest = self.tracks.iter().filter_map(Track::end_of_life).max_by(f64::total_cmp)?;
        let mut x = Axis::log("time until the star is a remnant [Myr]");
        x.range = Some((LEFT * longest, LAST_LEFT));
        let left = |track: &Track, row: &Row| track.end_of_life().map_or(f64::NAN, |end| end - row.time);
        let point = |track: &Track, row: &Row| match left(track, row) {
            left if left >= LAST_LEFT => (left, star_radius(row)),
            _ => NOWHERE,
        };
        let mut panel = Panel::new("", x, Axis::log("radius [Rsun]"));
        panel.series = self.of(point);
        panel.labels = self.labels(Side::Below, |track| point(track, &track.rows[0]));
        Some(panel)
    }

    /// Returns the masses at birth as names of places.
    fn labels(&self, side: Side, at: impl Fn(&Track) -> (f64, f64)) -> Vec<Label> {
        let mut labels: Vec<Label> = Vec::new();
        for track in self.tracks {
            let label = Label { at: at(track), text: format!("{} Msun", track.birth_mass), side };
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        labels
    }

    /// Returns the least and the largest value above zero.
    fn range(&self, of: impl Fn(&Track, &Row) -> f64) -> Option<(f64, f64)> {
        let values = self.tracks.iter().flat_map(|track| track.rows.iter().map(|row| of(track, row)));
        let (low, high) = values
            .filter(|value| *value > 0.0)
            .fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)));
        (low <= high).then_some((low, high))
    }
}

/// Place of what a panel does not show.
const NOWHERE: (f64, f64) = (f64::NAN, f64::NAN);

/// Returns a phase with the look of its type, which is the same in all figures.
fn of_kind(kind: Kind, points: Vec<(f64, f64)>) -> Series {
    let number = kind.number();
    Series { colour: Some(number.into()), ..Series::new(format!("{number} {}", kind.name()), Mark::Phase, points) }
}

/// True for stars and white dwarfs: what is smaller would leave them no room.
fn is_star(row: &Row) -> bool {
    row.state.kind < Kind::NeutronStar
}

fn star_radius(row: &Row) -> f64 {
    if is_star(row) { row.radius() } else { f64::NAN }
}
