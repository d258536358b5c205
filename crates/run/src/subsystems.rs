//! Subsystems of a run: their changes as rows of the journal `encounters`, and their sums for the diagnostics.

use tisane::subsystems::{Description, Detail, Event, EventBody};
use tisane::time::Clock;
use tisane::units::Scale;
use tisane_io::checkpoint::References;
use tisane_io::fields::{DiagnosticsRow, EncounterRow, UserTime};

/// Returns the row of a change of subsystems.
fn row(event: &Event, clock: &Clock, scale: &Scale) -> EncounterRow {
    let names = |of: &[EventBody]| of.iter().map(|unit| unit.members.to_string()).collect::<Vec<_>>().join(" ");
    let binding = |of: &[EventBody]| of.iter().map(|unit| unit.binding).sum();
    let orbit = event.orbit.as_ref();
    let [mass_1, mass_2] = orbit.map_or([f64::NAN; 2], |orbit| orbit.mass);
    EncounterRow {
        time: UserTime(clock.time(event.time) * scale.time),
        kind: event.kind.name().into(),
        before: names(&event.before),
        after: names(&event.after),
        number: event.before.iter().map(|unit| unit.members.ids().len() as u64).sum(),
        mass: event.before.iter().map(|unit| unit.mass).sum(),
        binding_energy_before: binding(&event.before),
        binding_energy: binding(&event.after),
        mass_1,
        mass_2,
        semi_major_axis: orbit.map_or(f64::NAN, |orbit| orbit.semi_major_axis),
        eccentricity: orbit.map_or(f64::NAN, |orbit| orbit.eccentricity),
        period: orbit.map_or(f64::NAN, |orbit| orbit.period),
        perturbation: event.perturbation,
        changes: Some(event.changes),
        first_time: Some(clock.time(event.since)),
    }
}

/// Returns the rows of the changes of subsystems among events.
pub(crate) fn rows(events: &[Event], clock: &Clock, scale: &Scale) -> Vec<EncounterRow> {
    let changes = events.iter().filter(|event| event.detail == Detail::None);
    changes.map(|event| row(event, clock, scale)).collect()
}

/// Returns the binding energy inside of subsystems.
pub(crate) fn binding_energy(subsystems: &[Description]) -> f64 {
    subsystems.iter().map(|one| one.binding).sum()
}

/// Sets the columns of a row of diagnostics that are about subsystems.
pub(crate) fn measure(row: &mut DiagnosticsRow, references: &References, subsystems: &[Description]) {
    let binding = binding_energy(subsystems);
    row.subsystems = Some(subsystems.iter().filter(|one| one.inside_of.is_none()).count() as u64);
    row.binding_energy = Some(binding);
    row.binding_energy_change = references.binding_energy.map(|first| binding - first);
    row.outer_energy = Some(row.energy + binding);
    row.neglected_energy = Some(subsystems.iter().map(|one| one.neglected).sum());
}
