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
    if changes.by_law {
        return change_by_law(scheme, p, f, changes, now);
    }
    let sources: Vec<Source> =
        changes.all.iter().flat_map(|change| Source::of_change(p, change.row, change.mass, change.kick)).collect();
    let before = p.acc.clone();
    scheme.add_sources(p, &sources, changes.eps2, &[], now);
    let lost = changes.apply(p, |pos| f.external_potential(now, pos))?;
    scheme.resume(p, now, f)?;
    let kicked: Vec<u32> = changes.all.iter().filter(|change| change.is_kicked()).map(|change| change.row).collect();
    let is_kicked = |row| kicked.binary_search(&row).is_ok();
    let begun = disturbed(&p.acc, &before, is_kicked);
    if !begun.is_empty() {
        scheme.admit(p, f, &RowChange { begun, ..RowChange::default() }, now)?;
    }
    Ok(lost)
}

/// Changes stars between which another law than Newton's acts: of what the force was before no series is known, so that all particles
/// begin with first steps.
fn change_by_law(
    scheme: &mut (impl Steps + ?Sized),
    p: &mut Particles,
    f: &mut dyn ForceEngine,
    changes: &StarChanges<'_>,
    now: Time,
) -> Result<Lost> {
    let lost = changes.apply(p, |_| Ok(0.0))?;
    scheme.resume(p, now, f)?;
    let begun = (0..p.len() as u32).collect();
    scheme.admit(p, f, &RowChange { begun, ..RowChange::default() }, now)?;
    Ok(lost)
}
