//! Stars that change in a system of points alone, moved by block steps.

use super::pair_series::Source;
use super::steps::{RowChange, Steps};
use crate::star_changes::{Lost, StarChanges, disturbed};
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::particles::Particles;
use tisane_force::time::Time;

/// Changes stars in a system of points; see [`Integrator::change_stars`](super::contract::Integrator::change_stars).
pub(super) fn change_stars(
    scheme: &mut (impl Steps + ?Sized),
    p: &mut Particles,
    f: &mut dyn ForceEngine,
    changes: &StarChanges<'_>,
    now: Time,
) -> Result<Lost> {
    let before = p.acc.clone();
    if !changes.by_law {
        let sources: Vec<Source> =
            changes.all.iter().flat_map(|change| Source::of_change(p, change.row, change.mass, change.kick)).collect();
        scheme.add_sources(p, &sources, changes.eps2, &[], now);
    }
    let potential = |pos| if changes.by_law { Ok(0.0) } else { f.external_potential(now, pos) };
    let lost = changes.apply(p, potential)?;
    scheme.resume(p, now, f)?;
    let begun: Vec<u32> = if changes.by_law {
        // Of a force by another law than Newton's no series is known: all particles begin with first steps.
        (0..p.len() as u32).collect()
    } else {
        let kicked: Vec<u32> =
            changes.all.iter().filter(|change| change.is_kicked()).map(|change| change.row).collect();
        disturbed(&p.acc, &before, |row| kicked.binary_search(&row).is_ok())
    };
    if !begun.is_empty() {
        scheme.admit(p, f, &RowChange { begun, ..RowChange::default() }, now)?;
    }
    Ok(lost)
}
