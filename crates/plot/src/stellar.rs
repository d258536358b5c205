//! Figures of a run whose stars age: Hertzsprung-Russell diagram, mass function, mass and light over time, remnants.

pub(super) mod classes;
mod diagram;
mod mass_function;
pub(super) mod population;
mod remnants;

use super::figure::Figure;
use super::gallery::{Gallery, caption, name};
use super::journals;
use super::over_time::Run;
use super::snapshots::Ends;
use std::path::Path;
use tisane_io::fields::Journal;

/// Adds the figures of stars that age; none of a run without them.
pub(super) fn add(dir: &Path, run: &Run<'_>, ends: Option<&Ends>, gallery: &mut Gallery) {
    if run.table.column("stellar_mass").is_none() {
        return;
    }
    let page = |panels| Figure { title: name(dir), caption: caption(run.table), panels, columns: 2 };
    let newest = ends.map(Ends::newest).filter(|look| look.is_aging());
    let none = || "no snapshot has stars that age".to_owned();
    let diagram = newest.map(|look| Figure { columns: 1, ..page(vec![diagram::panel(look)]) });
    gallery.add("hr", diagram.ok_or_else(none));
    let masses = newest.zip(ends).map(|(look, ends)| mass_function::panels(&ends.first, look));
    gallery.add("masses", masses.map(page).ok_or_else(none));
    gallery.add("population", population::panels(run, journals::read(dir, Journal::Cluster).ok().as_ref()).map(page));
    let remnants = journals::read(dir, Journal::Stellar).and_then(|table| remnants::panels(&table));
    gallery.add("remnants", remnants.map(page));
}
