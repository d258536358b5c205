//! Table of all binaries and hierarchies of a cluster at a moment: those that the search finds, which are hard, and the
//! pairs that an integrator follows as subsystems, hard or soft. What both know is one entry.

use super::followed::FollowedPair;
use super::members::Members;
use super::spheres::Frame;
use super::stars::Stars;
use super::systems::{System, Systems, tilt_and_stability};
use std::collections::{BTreeMap, HashMap};
use tisane_force::pair::{Body, Pair};
use tisane_stellar::Kind;

/// What knows a binary or hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundBy {
    /// The search among neighbours, by binding energy.
    Search,
    /// The integrator, as a subsystem.
    Subsystem,
    /// Both.
    Both,
}

/// Binary or hierarchy of the table, in internal units.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its stars.
    pub members: Members,
    /// Smallest id of the other component of the hierarchy that it is a component of, if it is one.
    pub companion: Option<u64>,
    /// Masses of its two components.
    pub mass: [f64; 2],
    /// Types of its two components; [`None`] for a component of several stars, and where stars do not age.
    pub types: [Option<Kind>; 2],
    /// Semi-major axis of the orbit of its two components, the outer one of a hierarchy.
    pub semi_major_axis: f64,
    /// Eccentricity of it.
    pub eccentricity: f64,
    /// Period of it.
    pub period: f64,
    /// Binding energy of it, in kT of the cluster.
    pub hardness: f64,
    /// Angle between outer and inner orbit of a hierarchy, in radians; NaN for a binary.
    pub inclination: f64,
    /// Flag that is false for a hierarchy that is not expected to be stable.
    pub stable: bool,
    /// Flag that all its stars are bound to the cluster.
    pub bound: bool,
    /// Flag that it is not, and beyond the radius of escape.
    pub escaped: bool,
    /// Distance of its centre of mass from the density centre.
    pub distance: f64,
    /// Speed of its centre of mass relative to the bound stars.
    pub speed: f64,
    /// What knows it.
    pub found_by: FoundBy,
}

impl Entry {
    /// Returns the number of its stars.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.members.ids().len() as u64
    }

    /// Returns of each of its two components the star that it is, by its id, or the star with the smallest id.
    #[must_use]
    pub fn first_stars(&self) -> [u64; 2] {
        match &self.members {
            Members::One(id) => [*id; 2],
            Members::Two(two) => [two[0].first(), two[1].first()],
        }
    }
}

/// Returns the table of a cluster seen in a frame, whose unbound bodies have escaped `beyond` a distance: what the search
/// found, and then what the integrator follows besides, a hierarchy always after its components. The search may pair a passing
/// star with one of a binary: of two that share a star, and of which none is a component of the other, the narrower one counts.
pub(super) fn entries(stars: &Stars, systems: &Systems, frame: &Frame, beyond: f64, epsilon: f64) -> Vec<Entry> {
    if systems.all.is_empty() && stars.followed.is_empty() {
        return Vec::new();
    }
    let followed = stars.followed.iter().map(|pair| (&pair.members, pair)).collect();
    let mut table = Table {
        stars,
        systems,
        frame,
        beyond,
        row_of: (0..).zip(&stars.id).map(|(row, id)| (*id, row)).collect(),
        followed,
        orbits: BTreeMap::new(),
        entries: Vec::new(),
    };
    let mut followed_by = ByStar::default();
    stars.followed.iter().for_each(|pair| followed_by.add(&pair.members, pair.semi_major_axis));
    let mut found_by = ByStar::default();
    for system in &systems.all {
        let is_split =
            system.members.levels().iter().any(|level| followed_by.splits(level, system.pair.semi_major_axis));
        if !is_split {
            found_by.add(&system.members, system.pair.semi_major_axis);
            table.add_found(system);
        }
    }
    let is_known = |pair: &&FollowedPair| {
        !table.orbits.contains_key(&pair.members)
            && !pair.members.levels().iter().any(|level| found_by.splits(level, pair.semi_major_axis))
    };
    let mut others: Vec<&FollowedPair> = stars.followed.iter().filter(is_known).collect();
    others.sort_by_key(|pair| (pair.members.ids().len(), pair.members.first(), pair.members.to_string()));
    others.into_iter().for_each(|pair| table.add_followed(pair, epsilon));
    table.finish()
}

/// Stars of binaries and hierarchies with their semi-major axes, by each of the stars.
#[derive(Default)]
struct ByStar {
    all: Vec<(Vec<u64>, f64)>,
    of_star: HashMap<u64, Vec<usize>>,
}

impl ByStar {
    fn add(&mut self, members: &Members, semi_major_axis: f64) {
        let stars = members.ids();
        stars.iter().for_each(|&star| self.of_star.entry(star).or_default().push(self.all.len()));
        self.all.push((stars, semi_major_axis));
    }

    /// Returns true if some stars have a part, but not all, of one that is narrower than `semi_major_axis`, and not all of them
    /// are a part of it.
    fn splits(&self, stars: &[u64], semi_major_axis: f64) -> bool {
        let others = stars.iter().filter_map(|star| self.of_star.get(star)).flatten().map(|&k| &self.all[k]);
        let mut narrower = others.filter(|(_, axis)| *axis < semi_major_axis);
        let has_all = |all: &[u64], of: &[u64]| of.iter().all(|star| all.contains(star));
        narrower.any(|(other, _)| !has_all(stars, other) && !has_all(other, stars))
    }
}

struct Table<'a> {
    stars: &'a Stars,
    systems: &'a Systems,
    frame: &'a Frame,
    beyond: f64,
    row_of: HashMap<u64, u32>,
    followed: BTreeMap<&'a Members, &'a FollowedPair>,
    /// Orbits of the entries so far.
    orbits: BTreeMap<Members, Pair>,
    entries: Vec<Entry>,
}

impl Table<'_> {
    /// Adds a system that the search found; the orbit that an integrator knows has more digits.
    fn add_found(&mut self, system: &System) {
        let known = self.followed.get(&system.members).copied();
        let entry = Entry {
            inclination: system.inclination,
            stable: system.stable,
            bound: system.bound,
            hardness: system.hardness,
            found_by: FoundBy::Search,
            ..self.entry(&system.members, &system.pair, &system.body)
        };
        self.orbits.insert(system.members.clone(), system.pair);
        self.entries.push(match known {
            Some(known) => Entry { found_by: FoundBy::Both, ..self.with_orbit(entry, known) },
            None => entry,
        });
    }

    /// Adds a pair that only the integrator knows; none whose stars are not those of the cluster.
    fn add_followed(&mut self, known: &FollowedPair, epsilon: f64) {
        let Members::Two(two) = &known.members else { return };
        let (Some(a), Some(b)) = (self.body(&two[0]), self.body(&two[1])) else { return };
        let elements = Pair::new(&a, &b, epsilon);
        let orbit = Pair { semi_major_axis: known.semi_major_axis, eccentricity: known.eccentricity, ..elements };
        let inner = [0, 1].map(|side| self.orbits.get(&two[side]));
        let (inclination, stable) = tilt_and_stability(&orbit, inner);
        let rows: Vec<u32> = known.members.ids().iter().filter_map(|id| self.row_of.get(id).copied()).collect();
        let entry = Entry {
            inclination,
            stable,
            bound: rows.iter().all(|&row| self.systems.bound.is_bound[row as usize]),
            found_by: FoundBy::Subsystem,
            ..self.entry(&known.members, &orbit, &Body::merged(&a, &b))
        };
        self.orbits.insert(known.members.clone(), orbit);
        self.entries.push(self.with_orbit(entry, known));
    }

    /// Returns an entry with the orbit that an integrator knows.
    fn with_orbit(&self, entry: Entry, known: &FollowedPair) -> Entry {
        Entry {
            semi_major_axis: known.semi_major_axis,
            eccentricity: known.eccentricity,
            period: known.period,
            hardness: known.binding / self.systems.thermal_energy,
            ..entry
        }
    }

    /// Returns an entry with what follows from places, masses and types.
    fn entry(&self, members: &Members, pair: &Pair, body: &Body) -> Entry {
        let kind = |component: &Members| match component {
            Members::One(id) => self.stars.states.get(*self.row_of.get(id)? as usize).map(|state| state.kind),
            Members::Two(_) => None,
        };
        let types = match members {
            Members::Two(two) => [kind(&two[0]), kind(&two[1])],
            Members::One(_) => [None; 2],
        };
        Entry {
            members: members.clone(),
            companion: None,
            mass: pair.mass,
            types,
            semi_major_axis: pair.semi_major_axis,
            eccentricity: pair.eccentricity,
            period: pair.period(),
            hardness: f64::NAN,
            inclination: f64::NAN,
            stable: true,
            bound: false,
            escaped: false,
            distance: (body.pos - self.frame.centre).norm(),
            speed: (body.vel - self.frame.velocity).norm(),
            found_by: FoundBy::Search,
        }
    }

    /// Returns a component as a point: a star, or the centre of mass of several.
    fn body(&self, component: &Members) -> Option<Body> {
        match component {
            Members::One(id) => self.row_of.get(id).map(|row| self.stars.body(*row)),
            Members::Two(two) => Some(Body::merged(&self.body(&two[0])?, &self.body(&two[1])?)),
        }
    }

    /// Returns the entries with their companions, and who of them has escaped.
    fn finish(self) -> Vec<Entry> {
        let mut companions: BTreeMap<Members, u64> = BTreeMap::new();
        for entry in &self.entries {
            if let Members::Two(two) = &entry.members {
                for (component, other) in [(&two[0], &two[1]), (&two[1], &two[0])] {
                    companions.entry(component.clone()).or_insert_with(|| other.first());
                }
            }
        }
        let beyond = self.beyond;
        let mut entries = self.entries;
        for entry in &mut entries {
            entry.companion = companions.get(&entry.members).copied();
            entry.escaped = !entry.bound && entry.distance > beyond;
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LagrangianMass, Settings, Survey};
    use super::*;
    use tisane_force::particles::Vec3;
    use tisane_stellar::State;

    fn one(id: u64) -> Members {
        Members::One(id)
    }

    /// A dozen slow stars of mass 1 with a hard binary (1+2), and far away a wide pair (20+21) that flies off.
    fn stars() -> Stars {
        let mut s = Stars::default();
        let mut add = |id: u64, pos: Vec3, vel: Vec3| {
            s.id.push(id);
            s.mass.push(1.0);
            s.pos.push(pos);
            s.vel.push(vel);
        };
        let half = 0.5 * (2.0f64 / 1e-4).sqrt() * Vec3::y();
        add(1, Vec3::new(0.1, 0.0, 0.0), -half);
        add(2, Vec3::new(0.1 + 1e-4, 0.0, 0.0), half);
        for k in 0..10u32 {
            // On a spiral over a sphere, each to the other side than the one before.
            let (z, turn) = (0.2 * (f64::from(k) - 4.5), 2.4 * f64::from(k));
            let place = Vec3::new((1.0 - z * z).sqrt() * turn.cos(), (1.0 - z * z).sqrt() * turn.sin(), z);
            let aside = place.cross(&Vec3::x()).normalize();
            add(u64::from(k) + 3, 3.0 * place, if k % 2 == 0 { 1.3 } else { -1.3 } * aside);
        }
        add(20, Vec3::new(500.0, 0.0, 0.0), Vec3::new(90.0, 0.0, 0.0));
        add(21, Vec3::new(500.0, 10.0, 0.0), Vec3::new(90.0, 0.2, 0.1));
        let n = s.id.len();
        let distance = |i: usize, j: usize| (s.pos[i] - s.pos[j]).norm();
        s.pot = (0..n).map(|i| -(0..n).filter(|&j| j != i).map(|j| s.mass[j] / distance(i, j)).sum::<f64>()).collect();
        s
    }

    fn table(stars: &Stars) -> Vec<Entry> {
        let settings = Settings {
            neighbours: 6,
            lagrangian_mass: LagrangianMass::Initial,
            binary_hardness: 1.0,
            escape_radius: 10.0,
            encounter_radius: 0.0,
            epsilon: 0.0,
        };
        Survey::new(stars, &settings, [0.5], None).catalogue
    }

    fn pair(members: Members, semi_major_axis: f64, binding: f64) -> FollowedPair {
        FollowedPair { members, semi_major_axis, eccentricity: 0.25, period: 7.0, binding }
    }

    #[test]
    fn what_the_search_and_the_integrator_know_is_one_entry() {
        let alone = table(&stars());
        let [found] = alone.as_slice() else { panic!("{alone:?}") };
        assert_eq!((found.members.to_string().as_str(), found.found_by), ("(1+2)", FoundBy::Search));
        let inner = Members::two(one(1), one(2));
        let followed = vec![pair(inner.clone(), 5e-5, 1e4)];
        let both = table(&Stars { followed, ..stars() });
        let [entry] = both.as_slice() else { panic!("{both:?}") };
        assert_eq!((entry.found_by, entry.semi_major_axis, entry.eccentricity), (FoundBy::Both, 5e-5, 0.25));
        let kt = found.mass[0] * found.mass[1] / (2.0 * found.semi_major_axis) / found.hardness;
        assert!((entry.hardness * kt / 1e4 - 1.0).abs() < 1e-12, "{} {kt}", entry.hardness);
        assert_eq!((entry.mass, entry.distance, entry.bound), (found.mass, found.distance, found.bound));
    }

    /// The search takes (1+2) as hard; the integrator follows (2+5), narrower or wider.
    #[test]
    fn no_star_is_in_two_binaries() {
        let other = Members::two(one(2), one(5));
        for (semi_major_axis, want) in [(5e-5, "(2+5)"), (1.0, "(1+2)")] {
            let followed = vec![pair(other.clone(), semi_major_axis, 1e4)];
            let found = table(&Stars { followed, ..stars() });
            assert_eq!(found.iter().map(|entry| entry.members.to_string()).collect::<Vec<_>>(), [want]);
        }
        // A hierarchy with a part of the other inside.
        let triple = Members::two(other, one(6));
        let found = table(&Stars { followed: vec![pair(triple, 1.0, 1e4)], ..stars() });
        assert_eq!(found.iter().map(|entry| entry.members.to_string()).collect::<Vec<_>>(), ["(1+2)"]);
    }

    #[test]
    fn soft_pairs_and_outer_orbits_come_from_the_integrator_alone() {
        let inner = Members::two(one(1), one(2));
        let triple = Members::two(inner.clone(), one(5));
        let away = Members::two(one(21), one(20));
        // The outer one first, as an integrator has them.
        let followed = vec![pair(triple, 40.0, 0.02), pair(inner.clone(), 5e-5, 1e4), pair(away, 30.0, 0.01)];
        let found = table(&Stars { followed, ..stars() });
        let of = |entry: &Entry| (entry.members.to_string(), entry.found_by, entry.bound, entry.escaped);
        assert_eq!(
            found.iter().map(of).collect::<Vec<_>>(),
            [
                ("(1+2)".into(), FoundBy::Both, true, false),
                ("(20+21)".into(), FoundBy::Subsystem, false, true),
                ("((1+2)+5)".into(), FoundBy::Subsystem, true, false),
            ]
        );
        assert_eq!(found.iter().map(|entry| entry.companion).collect::<Vec<_>>(), [Some(5), None, None]);
        assert_eq!((found[2].number(), found[2].first_stars(), found[2].mass), (3, [1, 5], [2.0, 1.0]));
        assert!(found[2].inclination.is_finite() && found[0].inclination.is_nan());
        assert!(found[2].stable, "the outer orbit is nearly a million times wider");
        assert!(found[1].hardness < 1.0 && found[1].hardness > 0.0);
    }

    #[test]
    fn components_of_an_unstable_hierarchy_are_told() {
        let inner = Members::two(one(1), one(2));
        let followed = vec![pair(Members::two(inner.clone(), one(5)), 1e-4, 2e4), pair(inner, 5e-5, 1e4)];
        let found = table(&Stars { followed, ..stars() });
        assert!(!found.last().unwrap().stable);
    }

    #[test]
    fn a_pair_of_others_is_left_out() {
        let followed = vec![pair(Members::two(one(1), one(99)), 1.0, 1.0)];
        // As text, because NaN is not equal to itself.
        assert_eq!(format!("{:?}", table(&Stars { followed, ..stars() })), format!("{:?}", table(&stars())));
    }

    #[test]
    fn types_are_those_of_stars_by_their_ids() {
        let kind_of = |id: &u64| if *id == 2 { Kind::BlackHole } else { Kind::MainSequence };
        let state = |kind| State {
            kind,
            effective_mass: 1.0,
            mass: 1.0,
            core_mass: 0.0,
            age: 0.0,
            luminosity: 1.0,
            radius: 1.0,
        };
        let young = stars();
        let aged = Stars { states: young.id.iter().map(|id| state(kind_of(id))).collect(), ..young.clone() };
        assert_eq!(table(&young)[0].types, [None; 2]);
        let inner = Members::two(one(1), one(2));
        let followed = vec![pair(Members::two(inner, one(5)), 40.0, 0.02)];
        let found = table(&Stars { followed, ..aged });
        assert_eq!(found[0].types, [Some(Kind::MainSequence), Some(Kind::BlackHole)]);
        assert_eq!(found[1].types, [None, Some(Kind::MainSequence)]);
    }
}
