//! Masses of remnants over those at birth, and kicks.

use super::super::figure::{Axis, Mark, Panel};
use super::super::over_time::Run;
use super::classes::{is_filled, of_class};
use std::collections::BTreeSet;
use tisane_io::table::{Table, Values};
use tisane_stellar::{Class, Kind};

/// Classes of remnants.
const REMNANTS: [Class; 3] = [Class::WhiteDwarf, Class::NeutronStar, Class::BlackHole];

/// Room beside the values of an axis, as a factor.
const ROOM: f64 = 1.15;
/// Least extent of the axis of masses at birth to both sides of its middle, as a factor.
const WIDE: f64 = 3.2;

/// A remnant of a single star.
struct Remnant {
    class: Class,
    birth_mass: f64,
    mass: f64,
    /// Speed of the kick.
    kick: f64,
}

/// Draws masses and kicks of the remnants in `stellar.csv`, those of single stars: stars that have merged are left out.
pub(super) fn panels(table: &Table) -> Result<Vec<Panel>, String> {
    let remnants = read(table).ok_or("stellar.csv lacks columns")?;
    if remnants.is_empty() {
        return Err("no star has become a remnant".into());
    }
    let run = Run { table };
    let label = |what: &str, column: &str| run.label(what, column).unwrap_or_default();
    let x = || Axis::log(label("mass at birth", "initial_mass"));
    let mut masses = Panel::new("Remnants", x(), Axis::log(label("mass of the remnant", "mass")));
    let mut kicks = Panel::new("Kicks at supernovae", x(), Axis::linear(label("speed", "kick_x")));
    for class in REMNANTS {
        let of = |value: fn(&Remnant) -> f64| -> Vec<(f64, f64)> {
            let all = remnants.iter().filter(|remnant| remnant.class == class);
            all.map(|remnant| (remnant.birth_mass, value(remnant))).collect()
        };
        let points = of(|remnant| remnant.mass);
        if points.is_empty() {
            continue;
        }
        masses.series.push(of_class(class, Mark::Points, points));
        if class != Class::WhiteDwarf {
            kicks.series.push(of_class(class, Mark::Points, of(|remnant| remnant.kick)));
        }
    }
    let of_birth = || remnants.iter().map(|remnant| remnant.birth_mass);
    // Both panels have one axis, of a factor of ten at least.
    let (low, high) = (of_birth().fold(f64::INFINITY, f64::min), of_birth().fold(0.0, f64::max));
    let middle = (low * high).sqrt();
    let range = Some(((low / ROOM).min(middle / WIDE), (high * ROOM).max(middle * WIDE)));
    (masses.x.range, kicks.x.range) = (range, range);
    let fastest = remnants.iter().map(|remnant| remnant.kick).fold(0.0, f64::max);
    kicks.y.range = Some((0.0, ROOM * fastest));
    Ok([masses, kicks].into_iter().filter(is_filled).collect())
}

/// Returns the remnants of single stars; [`None`] of a table without their columns.
fn read(table: &Table) -> Option<Vec<Remnant>> {
    let column = |name: &str| table.numbers(name);
    let (before, after) = (column("type_before")?, column("stellar_type")?);
    let (births, masses) = (column("initial_mass")?, column("mass")?);
    let kicks = [column("kick_x")?, column("kick_y")?, column("kick_z")?];
    let Values::Text(events) = &table.column("event")?.values else { return None };
    let ids = column("id")?;
    // The rows are in the order of time: what one that has merged becomes later counts no more.
    let mut merged = BTreeSet::new();
    let is_single: Vec<bool> = (0..events.len())
        .map(|row| {
            if events[row] == "merger" {
                merged.insert(ids.at(row) as u64);
            }
            !merged.contains(&(ids.at(row) as u64))
        })
        .collect();
    let class = |number: f64| Kind::from_number(number as u8).and_then(Kind::class);
    let was_star = |row: usize| Kind::from_number(before.at(row) as u8).is_some_and(|kind| !kind.is_remnant());
    let is_new = |row: usize| is_single[row] && was_star(row);
    let remnant = |row: usize| {
        let class = class(after.at(row)).filter(|class| REMNANTS.contains(class))?;
        let speed = kicks.iter().map(|kick| kick.at(row).powi(2)).sum::<f64>().sqrt();
        Some(Remnant { class, birth_mass: births.at(row), mass: masses.at(row), kick: speed })
    };
    Some((0..events.len()).filter(|&row| is_new(row)).filter_map(remnant).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane_io::table::Column;

    #[test]
    fn only_remnants_of_single_stars_count() {
        // A star becomes a white dwarf; two merge, and what they become is a white dwarf later; the remnant of a merger; a contact.
        let events = ["type", "merger", "type", "merger", "supernova", "roche"];
        let numbers = [
            ("id", [1.0, 2.0, 2.0, 3.0, 4.0, 5.0]),
            ("type_before", [6.0, 1.0, 6.0, 13.0, 5.0, 1.0]),
            ("stellar_type", [11.0, 1.0, 11.0, 13.0, 13.0, 1.0]),
            ("initial_mass", [4.0, 5.0, 5.0, 20.0, 10.0, 2.0]),
            ("mass", [0.9, 5.0, 1.0, 1.4, 1.3, 2.0]),
            ("kick_x", [0.0, 0.0, 0.0, 0.0, 300.0, 0.0]),
            ("kick_y", [0.0, 0.0, 0.0, 0.0, -400.0, 0.0]),
            ("kick_z", [0.0; 6]),
        ];
        let mut columns: Vec<Column> =
            numbers.iter().map(|(name, values)| Column::new(*name, "1", "", Values::Floats(values.to_vec()))).collect();
        columns.push(Column::new("event", "", "", Values::Text(events.map(str::to_owned).to_vec())));
        let found = read(&Table { columns, ..Table::default() }).unwrap();
        let found: Vec<_> = found.iter().map(|one| (one.class, one.birth_mass, one.mass, one.kick)).collect();
        assert_eq!(found, [(Class::WhiteDwarf, 4.0, 0.9, 0.0), (Class::NeutronStar, 10.0, 1.3, 500.0)]);
    }
}
