//! The Hertzsprung-Russell diagram of a snapshot.

use super::super::figure::{Axis, Mark, Panel};
use super::super::snapshots::Look;
use super::classes::of_class;
use tisane_io::stellar_columns::StarState;
use tisane_stellar::Class;

/// Classes that are drawn, those with most stars first. Neutron stars and black holes are so faint and small that they would leave no
/// room for the others.
const SHOWN: [Class; 4] = [Class::MainSequence, Class::WhiteDwarf, Class::Giant, Class::HeliumStar];
/// Largest number of stars of a class that are drawn: the points of more would cover each other.
const MAX_DOTS: usize = 20_000;
/// Number of stars of a class up to which each has a marker.
const FEW: usize = 200;
/// Room beside the hottest and the coolest star, as a factor.
const ROOM: f64 = 1.1;

/// Draws luminosities over temperatures, hot stars on the left, each star of a binary for itself.
pub(super) fn panel(look: &Look) -> Panel {
    let title = format!("Hertzsprung-Russell diagram at {}", look.time_label());
    let x = Axis::log("effective temperature [K]");
    let mut panel = Panel::new(title, x, Axis::log("luminosity [Lsun]"));
    for class in SHOWN {
        let stars: Vec<&StarState> = look.aging.iter().filter(|star| star.state.kind.class() == Some(class)).collect();
        let step = stars.len().div_ceil(MAX_DOTS).max(1);
        let mark = if stars.len() > FEW { Mark::Dots } else { Mark::Points };
        let place = |star: &&StarState| (star.state.temperature(), star.state.luminosity);
        if !stars.is_empty() {
            let drawn = stars.iter().enumerate().filter(|(row, _)| is_drawn(*row, step));
            panel.series.push(of_class(class, mark, drawn.map(|(_, star)| place(star)).collect()));
        }
        if step > 1 {
            panel.notes.push(format!("of the {}, one of {step}", class.plural()));
        }
    }
    let temperatures = panel.series.iter().flat_map(|series| series.points.iter().map(|point| point.0));
    let (low, high) = temperatures.fold((f64::INFINITY, 0.0f64), |(low, high), t| (low.min(t), high.max(t)));
    if low <= high {
        panel.x.range = Some((high * ROOM, low / ROOM));
    }
    panel.notes.push("all stars of the snapshot, those of binaries one by one".into());
    let hidden = |class: Class| {
        let count = look.aging.iter().filter(|star| star.state.kind.class() == Some(class)).count();
        (count > 0).then(|| format!("{} ({count})", class.plural()))
    };
    let hidden: Vec<String> = [Class::NeutronStar, Class::BlackHole].into_iter().filter_map(hidden).collect();
    if !hidden.is_empty() {
        panel.notes.push(format!("without {}", hidden.join(" and ")));
    }
    panel
}

/// Returns true if a star is one of those that are drawn, one of `step`. The rows of binaries alternate between heavier and lighter
/// stars, so that those are chosen whose numbers are multiplied by a large odd one.
fn is_drawn(row: usize, step: usize) -> bool {
    ((row as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32).is_multiple_of(step as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_stars_both_of_a_binary_may_be_drawn() {
        for step in [2, 3, 4, 8] {
            let drawn = |of: usize| (0..60_000).filter(|&row| row % 2 == of && is_drawn(row, step)).count();
            for found in [0, 1].map(drawn) {
                assert!(found.abs_diff(30_000 / step) < 600, "{found} of {}", 30_000 / step);
            }
        }
        assert!((0..100).all(|row| is_drawn(row, 1)));
    }
}
