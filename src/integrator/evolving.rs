//! Stars that change in a system of points alone, moved by block steps.

use super::pair_series::Source;
use super::passages::Passages;
use super::steps::{RowChange, Steps};
use crate::star_changes::{Lost, StarChange, StarChanges, disturbed};
use tisane_force::error::Result;
use tisane_force::force::ForceEngine;
use tisane_force::particles::{Particles, Vec3};
use tisane_force::time::{Clock, Time};

/// Changes stars in a system of points; see [`Integrator::change_stars`](super::contract::Integrator::change_stars).
pub(super) fn change_stars(
    scheme: &mut (impl Steps + ?Sized),
    p: &mut Particles,
    f: &mut dyn ForceEngine,
    changes: &StarChanges<'_>,
    (clock, now): (&Clock, Time),
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
    let is_kicked = |change: &&StarChange| change.is_kicked();
    let kicks: Vec<(usize, Vec3)> =
        changes.all.iter().filter(is_kicked).map(|change| (change.row as usize, change.kick)).collect();
    let n = p.len() as u32;
    let all = || (0..n).collect::<Vec<u32>>();
    let begun: Vec<u32> = if changes.by_law {
        // Of a force by another law than Newton's no series is known: all particles begin with first steps.
        all()
    } else {
        disturbed(&p.acc, &before, |row| kicks.binary_search_by_key(&(row as usize), |kick| kick.0).is_ok())
    };
    if !begun.is_empty() {
        scheme.admit(p, f, &RowChange { begun, ..RowChange::default() }, now)?;
    }
    // Passages at high speed deflect less where forces are softened: steps that begin later are not limited.
    let _ = Passages { clock, eps2: changes.eps2, now }.limit_by_jumps(scheme, p, all, &kicks);
    Ok(lost)
}
