//! Looks of the classes of stars, and panels that show something.

use super::super::figure::{Mark, Panel, Series};
use tisane_stellar::Class;

/// Returns the number of the look of a class, which is the same in all figures.
pub(super) fn colour(class: Class) -> usize {
    match class {
        Class::MainSequence => 0,
        Class::Giant => 1,
        Class::WhiteDwarf => 2,
        Class::HeliumStar => 3,
        Class::BlackHole => 4,
        Class::NeutronStar => 5,
    }
}

/// Returns points with the name and the look of a class.
pub(super) fn of_class(class: Class, mark: Mark, points: Vec<(f64, f64)>) -> Series {
    Series { colour: Some(colour(class)), ..Series::new(class.plural(), mark, points) }
}

/// Returns true for a panel that shows something.
pub fn is_filled(panel: &Panel) -> bool {
    panel.series.iter().any(|series| series.points.iter().any(|(x, y)| x.is_finite() && y.is_finite()))
}
