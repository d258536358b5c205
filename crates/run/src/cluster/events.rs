//! Events between two surveys of the cluster: systems that form, change and dissolve, escapes, close encounters.

use super::TimedSurvey;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use tisane::diagnostics::cluster::members::Members;
use tisane::diagnostics::cluster::pair::{Body, Pair};
use tisane::diagnostics::cluster::systems::System;
use tisane_io::fields::{EventRow, UserTime};
use tisane_io::history::History;

impl TimedSurvey {
    /// Returns the events since the survey recorded in `history`, numbered from `first`, and records this survey in
    /// `history`. The order: systems that dissolved, a hierarchy before its components; new systems, components before
    /// their hierarchy; escapes; close encounters. Within each, by the smallest id.
    #[must_use]
    pub fn events(&self, history: &mut History, first: u64) -> Vec<EventRow> {
        let systems: BTreeMap<String, &System> =
            self.survey.systems.iter().map(|system| (system.members.to_string(), system)).collect();
        let before: BTreeSet<String> = history.systems.iter().cloned().collect();
        let mut gone: Vec<Members> = before
            .iter()
            .filter(|members| !systems.contains_key(*members))
            .filter_map(|text| text.parse().ok())
            .collect();
        let mut new: Vec<&System> =
            systems.iter().filter(|(members, _)| !before.contains(*members)).map(|(_, system)| *system).collect();
        // A hierarchy dissolves before its components and forms after them.
        gone.sort_by_key(|members| (Reverse(members.ids().len()), members.first(), members.to_string()));
        new.sort_by_key(|system| (system.stars().len(), system.members.first(), system.members.to_string()));

        let mut found = Vec::new();
        let exchanges = exchanges(&mut gone, &new);
        for members in gone {
            let kind = if members.binary().is_some() { "binary-dissolved" } else { "hierarchy-dissolved" };
            found.push(EventRow { kind: kind.into(), members: members.to_string(), ..self.empty_event() });
        }
        for system in new {
            let former = exchanges.get(&system.members);
            let kind = match (system.is_hierarchy(), former, history.begun) {
                (false, Some(_), _) => "binary-exchange",
                (false, None, true) => "binary-formed",
                (false, None, false) => "binary-initial",
                (true, _, true) => "hierarchy-formed",
                (true, _, false) => "hierarchy-initial",
            };
            found.push(EventRow {
                kind: kind.into(),
                members: system.members.to_string(),
                former: former.map_or(String::new(), Members::to_string),
                energy: system.energy,
                ..self.orbit(&system.pair, system.hardness, Some(&system.body))
            });
        }
        found.extend(self.escapes(&mut history.escaped));
        found.extend(self.encounters(&history.encounters));

        history.begun = true;
        history.systems = systems.into_keys().collect();
        history.encounters = self.survey.encounters.iter().map(|encounter| encounter.ids).collect();
        found.iter_mut().zip(first..).for_each(|(event, id)| event.id = id);
        found
    }

    /// Returns the escapes that are not recorded yet, and records them.
    fn escapes(&self, recorded: &mut Vec<u64>) -> Vec<EventRow> {
        let mut found = Vec::new();
        for escaper in &self.survey.escapers {
            let ids = escaper.members.ids();
            if ids.iter().all(|id| recorded.binary_search(id).is_ok()) {
                continue;
            }
            for id in ids {
                if let Err(place) = recorded.binary_search(&id) {
                    recorded.insert(place, id);
                }
            }
            let row = match &escaper.orbit {
                Some((pair, hardness)) => self.orbit(pair, *hardness, Some(&escaper.body)),
                None => {
                    let [distance, speed] = self.survey.from_centre(&escaper.body);
                    EventRow { mass_1: escaper.body.mass, distance, speed, ..self.empty_event() }
                }
            };
            let members = escaper.members.to_string();
            found.push(EventRow { kind: "escape".into(), members, energy: escaper.energy, ..row });
        }
        found
    }

    /// Returns the close encounters that are not among those of the survey `before`.
    fn encounters(&self, before: &[[u64; 2]]) -> Vec<EventRow> {
        let new = self.survey.encounters.iter().filter(|encounter| !before.contains(&encounter.ids));
        new.map(|encounter| {
            let [a, b] = encounter.ids;
            let row = self.orbit(&encounter.pair, encounter.hardness, None);
            EventRow { kind: "close-encounter".into(), members: format!("{a}+{b}"), ..row }
        })
        .collect()
    }

    /// Returns an event with an orbit: with the distance and speed of `body` in the cluster, or without a body those of
    /// the pair.
    fn orbit(&self, pair: &Pair, hardness: f64, body: Option<&Body>) -> EventRow {
        let [distance, speed] = body.map_or([pair.distance, pair.speed], |body| self.survey.from_centre(body));
        EventRow {
            mass_1: pair.mass[0],
            mass_2: pair.mass[1],
            semi_major_axis: pair.semi_major_axis,
            eccentricity: pair.eccentricity,
            period: pair.period(),
            hardness,
            pericentre: pair.pericentre(),
            distance,
            speed,
            ..self.empty_event()
        }
    }

    /// Returns an event with the time of the survey and no other value.
    fn empty_event(&self) -> EventRow {
        EventRow {
            time: UserTime(self.time),
            mass_1: f64::NAN,
            mass_2: f64::NAN,
            semi_major_axis: f64::NAN,
            eccentricity: f64::NAN,
            period: f64::NAN,
            hardness: f64::NAN,
            pericentre: f64::NAN,
            distance: f64::NAN,
            speed: f64::NAN,
            energy: f64::NAN,
            ..EventRow::default()
        }
    }
}

/// Removes from `gone` the binaries of which one particle is in a new binary; returns the former binary of each new
/// one.
fn exchanges(gone: &mut Vec<Members>, new: &[&System]) -> BTreeMap<Members, Members> {
    let mut found = BTreeMap::new();
    for members in new.iter().map(|system| &system.members) {
        let Some(now) = members.binary() else { continue };
        let shares = |former: &Members| former.binary().is_some_and(|ids| ids.iter().any(|id| now.contains(id)));
        if let Some(at) = gone.iter().position(shares) {
            found.insert(members.clone(), gone.remove(at));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane::diagnostics::cluster::{LagrangianMass, Settings, Stars};
    use tisane::particles::Vec3;

    /// Survey of six bodies, far apart and too fast to be bound except for `pairs`, which are on circles of radius
    /// 10⁻³.
    fn survey_of(pairs: &[[usize; 2]]) -> TimedSurvey {
        let mut pos: Vec<Vec3> = (0..6u32).map(|i| Vec3::new(f64::from(i), f64::from(i * i), 0.0)).collect();
        let mut vel: Vec<Vec3> =
            (0..6).map(f64::from).map(|i| 4.0 * Vec3::new(i.cos(), i.sin(), (3.0 * i).cos())).collect();
        for [a, b] in pairs {
            pos[*b] = pos[*a] + 1e-3 * Vec3::x();
            vel[*b] = vel[*a] + (2.0f64 / 1e-3).sqrt() * Vec3::y();
        }
        let distance = |i: usize, j: usize| (pos[i] - pos[j]).norm();
        let pot = (0..6).map(|i| -(0..6).filter(|&j| j != i).map(|j| 1.0 / distance(i, j)).sum::<f64>()).collect();
        let stars = Stars {
            id: (0..6).collect(),
            mass: vec![1.0; 6],
            pos: pos.clone(),
            vel,
            pot,
            states: Vec::new(),
            followed: Vec::new(),
        };
        let settings = Settings {
            neighbours: 6,
            lagrangian_mass: LagrangianMass::Initial,
            binary_hardness: 1.0,
            escape_radius: 1e9,
            encounter_radius: 0.0,
            epsilon: 0.0,
        };
        TimedSurvey::new(&stars, 0.0, &settings, None)
    }

    fn lines(events: &[EventRow]) -> Vec<String> {
        let text = |event: &EventRow| format!("{} {} {} {}", event.id, event.kind, event.members, event.former);
        events.iter().map(|event| text(event).trim_end().to_owned()).collect()
    }

    #[test]
    fn binaries_form_change_partners_and_dissolve_and_each_is_recorded_once() {
        let (mut history, mut first) = (History::default(), 0);
        let mut next = |pairs: &[[usize; 2]]| {
            let events = survey_of(pairs).events(&mut history, first);
            first += events.len() as u64;
            lines(&events)
        };
        assert_eq!(next(&[[0, 1]]), ["0 binary-initial (0+1)"]);
        assert_eq!(next(&[[0, 1]]), Vec::<String>::new());
        assert_eq!(next(&[[0, 1], [3, 4]]), ["1 binary-formed (3+4)"]);
        assert_eq!(next(&[[0, 2], [3, 4]]), ["2 binary-exchange (0+2) (0+1)"]);
        assert_eq!(next(&[[0, 2]]), ["3 binary-dissolved (3+4)"]);
        assert_eq!(next(&[]), ["4 binary-dissolved (0+2)"]);
        assert_eq!(next(&[]), Vec::<String>::new());
    }
}
