//! The whole field of a configuration, from fields that rest, move, or are carried along.

use super::bodies::{Bodies, Body, BodyPath};
use super::field::{ExternalField, FieldSum};
use super::guide::OrbitState;
use super::motion::{Motion, Way};
use super::moving::{Moving, Path, Reflex, Straight};
use super::parts::Summand;
use super::places::{FieldForces, Lanes, Places};
use super::tables::path::{COLUMNS, TablePath};
use super::values::{FieldUnits, Mistake};
use crate::error::Result;
use crate::particles::Vec3;
use crate::units::Real;
use std::sync::Arc;

/// Fields, by how their centres move.
#[derive(Default)]
pub(super) struct Assembly {
    /// Fields at rest, and fields on given paths, in the order in which they add up.
    given: Vec<Box<dyn ExternalField>>,
    /// Fields that move as bodies, and the time from which they do.
    bodies: Vec<Body>,
    epoch: f64,
    /// Fields that move with the origin of coordinates.
    carried: Vec<Box<dyn ExternalField>>,
    /// Accelerations of the frame by fields on given paths.
    reflexes: Vec<Box<dyn ExternalField>>,
}

impl Assembly {
    /// Adds a field of a section, with its centre where [`centre`](super::motion::centre) says.
    ///
    /// # Errors
    /// [`Mistake`] for a path that cannot be read.
    pub fn add(
        &mut self,
        section: &str,
        field: Box<dyn ExternalField>,
        (position, motion): ([Real; 3], Option<&Motion>),
        to: FieldUnits<'_>,
    ) -> std::result::Result<(), Mistake> {
        let place = to.place(position);
        let velocity = |velocity: [Real; 3]| Vec3::from(velocity.map(|v| to.velocity(v)));
        let none = Motion::default();
        let motion = motion.unwrap_or(&none);
        let path: Arc<dyn Path> = match motion.way() {
            Way::Rest => {
                self.given.push(field);
                return Ok(());
            }
            Way::Carried => {
                self.carried.push(field);
                return Ok(());
            }
            Way::Free(vel) => {
                let start = OrbitState { pos: place, vel: velocity(vel) };
                self.bodies.push(Body { field: field.into(), start, reflex: motion.reflex });
                self.epoch = motion.epoch(to);
                return Ok(());
            }
            Way::Straight(vel) => Arc::new(Straight { epoch: motion.epoch(to), pos: place, vel: velocity(vel) }),
            Way::Table(path) => {
                let table = to.tables.read(path, &COLUMNS).map_err(|problem| Mistake::new("motion.path", problem))?;
                Arc::new(TablePath::new(&table, section, to)?)
            }
        };
        let moving = Moving { field: field.into(), path };
        if motion.reflex {
            self.reflexes.push(Box::new(Reflex(moving.clone())));
        }
        self.given.push(Box::new(moving));
        Ok(())
    }

    /// Returns the sum of all fields.
    pub fn whole(self) -> Box<dyn ExternalField> {
        let Self { mut given, bodies, epoch, carried, reflexes } = self;
        given.extend(reflexes);
        if !bodies.is_empty() {
            let fields: Vec<_> = bodies.iter().map(|body| (body.field.clone(), body.reflex)).collect();
            let others: Arc<dyn ExternalField> = Arc::new(FieldSum(given));
            let bodies = Arc::new(Bodies::new(bodies, others.clone(), epoch));
            given = vec![Box::new(others)];
            for (body, (field, reflex)) in fields.into_iter().enumerate() {
                let moving = Moving { field, path: Arc::new(BodyPath { bodies: bodies.clone(), body }) };
                if reflex {
                    given.push(Box::new(Reflex(moving.clone())));
                }
                given.push(Box::new(moving));
            }
        }
        let galaxy = FieldSum(given);
        if carried.is_empty() { Box::new(galaxy) } else { Box::new(WithCarried { galaxy, carried: FieldSum(carried) }) }
    }
}

/// Fields of which some move with the origin of coordinates.
struct WithCarried {
    galaxy: FieldSum,
    carried: FieldSum,
}

impl ExternalField for WithCarried {
    fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
        self.galaxy.acc(pos, t)
    }

    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        self.galaxy.jerk(pos, vel, t)
    }

    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        self.galaxy.pot(pos, t)
    }

    fn tide(&self, pos: Vec3, t: f64) -> [f64; 6] {
        self.galaxy.tide(pos, t)
    }

    fn rate(&self, pos: Vec3, vel: Vec3, t: f64) -> [f64; 2] {
        self.galaxy.rate(pos, vel, t)
    }

    fn accelerations(&self, at: &Places, t: f64) -> [Lanes; 3] {
        self.galaxy.accelerations(at, t)
    }

    fn forces(&self, at: &Places, t: f64) -> FieldForces {
        self.galaxy.forces(at, t)
    }

    fn tides(&self, at: &Places, t: f64) -> [Lanes; 6] {
        self.galaxy.tides(at, t)
    }

    fn rates(&self, at: &Places, t: f64) -> [Lanes; 2] {
        self.galaxy.rates(at, t)
    }

    fn parts(&self) -> Option<Summand> {
        self.galaxy.parts()
    }

    fn carried(&self) -> Option<&dyn ExternalField> {
        Some(&self.carried)
    }

    fn moments(&self) -> Vec<f64> {
        [self.galaxy.moments(), self.carried.moments()].concat()
    }

    fn covers(&self, t: f64) -> Result<()> {
        self.galaxy.covers(t)?;
        self.carried.covers(t)
    }
}

/// Returns the mistakes in motions that belong together: bodies that move start at one time.
pub(super) fn mistakes<'a>(motions: impl Iterator<Item = (String, &'a Motion)>) -> Vec<Mistake> {
    let time = |motion: &Motion| motion.time.map_or(0.0, |time| time.get());
    let moving = motions.filter(|(_, motion)| motion.moves).map(|(path, motion)| (path, time(motion)));
    let moving: Vec<_> = moving.collect();
    let Some((first, expected)) = moving.first() else { return Vec::new() };
    let others = moving.iter().filter(|(_, time)| time != expected);
    let mistake = |(path, time): &(String, f64)| {
        let problem = format!(
            "fields that move in the others start at one time: expected that of {first}, {expected}, found {time}"
        );
        Mistake::new("motion.time", problem).below(path)
    };
    others.map(mistake).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::force::external::guide::{MovingOrigin, OrbitState};
    use crate::force::external::motion::Carrier;
    use crate::force::external::tables::NoTables;
    use crate::force::external::{ExternalSettings, FieldSettings, PlummerSettings};
    use crate::real;
    use crate::time::{Clock, Time};
    use crate::units::{Real, Scale, Units};

    fn sphere(mass: Real, position: [Real; 3], motion: Option<Motion>) -> PlummerSettings {
        PlummerSettings { mass, scale_radius: real!(1.0), position, motion, variation: None }
    }

    fn built(fields: Vec<PlummerSettings>) -> Arc<dyn ExternalField> {
        let units = Units::henon();
        let mut settings = ExternalSettings::default();
        settings.plummer.0 = fields;
        assert!(settings.mistakes(&units).is_empty());
        let to = FieldUnits { units: &units, scale: &Scale::IDENTITY, tables: &NoTables };
        settings.build(to).expect("fields").expect("one at least")
    }

    const NONE: [Real; 3] = [real!(0.0); 3];

    #[test]
    fn what_moves_with_the_origin_acts_on_the_particles_and_not_on_it() {
        let galaxy = sphere(real!(8.0), [real!(3.0), real!(0.0), real!(0.0)], None);
        let carried = Motion { orbit: Some(Carrier::Cluster), ..Motion::default() };
        let gas = sphere(real!(2.0), [real!(0.5), real!(0.0), real!(0.0)], Some(carried));
        let (both, alone) = (built(vec![galaxy.clone(), gas]), built(vec![galaxy]));
        let (x, v) = (Vec3::new(0.3, -0.2, 0.1), Vec3::y());
        assert_eq!((both.acc(x, 0.0), both.pot(x, 0.0)), (alone.acc(x, 0.0), alone.pot(x, 0.0)));
        let clock = Clock { start: 0.0, dt_max: 0.25 };
        let start = OrbitState { pos: 9.0 * Vec3::x(), vel: Vec3::y() };
        let [with, without] = [both, alone].map(|field| MovingOrigin::new(field, clock, (0, start)));
        let now = Time::from_dt_max(3);
        assert_eq!(with.at(now).unwrap(), without.at(now).unwrap());
        let (with, without) = (with.tidal(now).unwrap(), without.tidal(now).unwrap());
        let gas = built(vec![sphere(real!(2.0), [real!(0.5), real!(0.0), real!(0.0)], None)]);
        assert_eq!(with.acc(x, 0.0), without.acc(x, 0.0) + gas.acc(x, 0.0));
        assert_eq!(with.jerk(x, v, 0.0), without.jerk(x, v, 0.0) + gas.jerk(x, v, 0.0));
        assert_eq!(with.pot(x, 0.0), without.pot(x, 0.0) + gas.pot(x, 0.0));
        assert_eq!(with.rate(x, v, 0.0), without.rate(x, v, 0.0));
    }

    #[test]
    fn a_body_moves_in_what_is_given_and_on_a_straight_line_without() {
        let along = Motion { velocity: Some([real!(0.0), real!(1.0), real!(0.0)]), ..Motion::default() };
        let place = [real!(4.0), real!(0.0), real!(0.0)];
        let straight = built(vec![sphere(real!(1.0), place, Some(along.clone()))]);
        assert_eq!(straight.pot(Vec3::new(4.0, 2.0, 0.0), 2.0), -1.0);
        let free = Motion { moves: true, ..along };
        let alone = built(vec![sphere(real!(1.0), place, Some(free.clone()))]);
        assert!((alone.pot(Vec3::new(4.0, 2.0, 0.0), 2.0) + 1.0).abs() < 1e-15);
        // About another one: the same as the origin of coordinates in that.
        let other = sphere(real!(16.0), NONE, None);
        let about = built(vec![other.clone(), sphere(real!(1.0), place, Some(free))]);
        let clock = Clock { start: 0.0, dt_max: 0.25 };
        let start = OrbitState { pos: 4.0 * Vec3::x(), vel: Vec3::y() };
        let other = built(vec![other]);
        let there = MovingOrigin::new(other.clone(), clock, (0, start)).at(Time::from_dt_max(20)).unwrap().pos;
        assert!((about.pot(there, 5.0) - (other.pot(there, 5.0) - 1.0)).abs() < 1e-12);
    }

    #[test]
    fn mistakes_in_a_motion_have_their_keys() {
        let keys = |motion: Motion, position: [Real; 3]| -> Vec<String> {
            let settings: &dyn FieldSettings = &sphere(real!(1.0), position, Some(motion));
            settings.mistakes(&Units::henon()).into_iter().map(|mistake| mistake.key).collect()
        };
        let (velocity, path, orbit) = (Some(NONE), Some("p.csv".to_owned()), Some(Carrier::Cluster));
        let none = Motion::default();
        assert_eq!(keys(none.clone(), NONE), ["motion"]);
        assert_eq!(keys(Motion { moves: true, ..none.clone() }, NONE), ["motion", "motion.moves"]);
        assert_eq!(keys(Motion { velocity, path: path.clone(), ..none.clone() }, NONE), ["motion.path"]);
        assert_eq!(keys(Motion { path: path.clone(), ..none.clone() }, [real!(1.0); 3]), ["position"]);
        assert_eq!(keys(Motion { orbit, reflex: true, ..none.clone() }, NONE), ["motion.reflex"]);
        assert_eq!(keys(Motion { path, time: Some(real!(1.0)), ..none.clone() }, NONE), ["motion.time"]);
        assert!(keys(Motion { velocity, moves: true, reflex: true, ..none.clone() }, NONE).is_empty());
        let free = |time| Motion { velocity, moves: true, time, ..none.clone() };
        let mut settings = ExternalSettings::default();
        settings.plummer.0 = [None, Some(real!(2.0))].map(|time| sphere(real!(1.0), NONE, Some(free(time)))).into();
        let found = settings.mistakes(&Units::henon());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].key, "external.plummer[2].motion.time");
    }
}
