//! Inner pairs of a subsystem that other members perturb, but weakly: orbit-averaged while the members move.
//!
//! The pair acts as a ring, its mass spread over its orbit, and the mean tide of the others turns that orbit. Between two calls it is a
//! point: its binding energy holds the energy of the ring beside the others, so that the sum stays. Members move for a part of the time
//! in which the nearest changes its place, beside rings that stand still, and rings turn before and after that for half of it beside
//! members that stand still; each conserves the energy of both (Strang 1968, SIAM Journal on Numerical Analysis 5, 506).

use crate::encounters::forces::orbit::{AveragedPair, Orbit};
use crate::encounters::forces::rings::{Ring, RingTide, time_of_change};
use crate::encounters::forces::tides::{Far, Tides};
use crate::encounters::motion::elements::bound_by;
use crate::encounters::motion::member::{Few, Member};
use crate::encounters::motion::subsystem::Subsystem;
use crate::encounters::settings::criteria::{self, Rules};
use tisane_force::error::Result;
use tisane_force::time::{Clock, Time};

impl Few {
    /// Returns true if it is a pair of stars.
    pub fn is_pair_of_stars(&self) -> bool {
        self.members.len() == 2 && self.members.iter().all(|member| member.inner().is_none())
    }

    /// Returns it as a ring, if it has an orbit.
    fn ring(&self) -> Option<Ring> {
        Ring::of(self.members.iter().map(Member::first).min()?, &self.motion)
    }
}

impl Subsystem {
    /// Returns the place of a ring among the members.
    fn place_of(&self, ring: &Ring) -> Option<usize> {
        self.members.iter().position(|member| member.inner().is_some() && member.first() == ring.first)
    }

    /// Returns the forces of rings on the other members, and the tide outside, a time `by` after that began.
    pub(crate) fn tide_of_rings<'a>(&self, rings: &[Ring], outside: Option<&'a Tides>, by: f64) -> RingTide<'a> {
        let placed = |ring: &Ring| Some((self.place_of(ring)?, ring.averaged()));
        let mass = if rings.is_empty() { Vec::new() } else { self.motion.masses() };
        RingTide { rings: rings.iter().filter_map(placed).collect(), mass, outside, by }
    }

    /// Returns the potential energy of an inner pair as a ring beside the other members, less that of a point.
    fn energy_of_ring(&self, place: usize, pair: &AveragedPair) -> f64 {
        let mass = self.motion.masses();
        let others = (0..mass.len()).filter(|&j| j != place);
        others.map(|j| mass[j] * pair.potential(self.motion.vectors(place, j).0)).sum()
    }

    /// Returns the inner subsystem that has to open as the other members perturb it: the most perturbed one.
    pub fn opening_inner(&self, rules: &Rules) -> Option<usize> {
        let perturbed = self.perturbed_inner(|i, j| self.motion.vectors(i, j).0.norm());
        let opens = |&(place, by): &(usize, f64)| by > rules.perturbation && !self.acts_as_ring(place, by, rules);
        let found = perturbed.into_iter().filter(opens);
        found.reduce(|max, one| if max.1 >= one.1 { max } else { one }).map(|(place, _)| place)
    }

    /// Returns true if an inner subsystem, which others perturb by so much, is a pair that may go on as a ring.
    fn acts_as_ring(&self, place: usize, perturbation: f64, rules: &Rules) -> bool {
        let Some(few) = self.members[place].inner().filter(|few| few.is_pair_of_stars()) else { return false };
        let Some(pair) = few.elements().filter(|_| Orbit::of(&few.motion).is_some()) else { return false };
        let mass = self.motion.masses();
        let time = |j: usize| {
            let (pos, vel) = self.motion.vectors(place, j);
            time_of_change(pos, vel, mass[place] + mass[j])
        };
        let shortest = (0..mass.len()).filter(|&j| j != place).map(time).fold(f64::INFINITY, f64::min);
        rules.is_averaged(perturbation, shortest / pair.period, true)
    }

    /// Returns the places of the inner pairs that act as rings: those that others perturb by an amount that counts.
    pub(crate) fn places_of_rings(&self, rules: &Rules) -> Vec<usize> {
        if !rules.averages || !self.is_watched(rules) {
            return Vec::new();
        }
        let min = criteria::CLOSES_BELOW * rules.perturbation;
        let has_ring = |few: &Few| few.is_pair_of_stars() && few.ring().is_some();
        let acts = |&(place, by): &(usize, f64)| by >= min && self.members[place].inner().is_some_and(has_ring);
        let perturbed = self.perturbed_inner(|i, j| self.motion.vectors(i, j).0.norm());
        perturbed.into_iter().filter(acts).map(|(place, _)| place).collect()
    }

    /// Begins to average over the orbits of the inner pairs that act as rings.
    pub(crate) fn begin_rings(&mut self, rules: &Rules, clock: &Clock) -> Result<Vec<Ring>> {
        let mut rings = Vec::new();
        for place in self.places_of_rings(rules) {
            let Member::Inner(few) = &self.members[place] else { continue };
            let mut few = few.at(clock, self.time.max(few.time))?;
            let (held, mut found) = (few.motion.clone(), None);
            for _ in 0..criteria::REFINEMENTS {
                found = few.ring();
                let Some(ring) = &found else { break };
                few.motion = bound_by(&held, self.energy_of_ring(place, &ring.averaged()));
            }
            if let Some(ring) = found.and_then(|_| few.ring()) {
                self.members[place] = Member::Inner(Box::new(few));
                rings.push(ring);
            }
        }
        Ok(rings)
    }

    /// Returns the longest time for which rings may stand still; infinity without rings.
    pub(crate) fn step_of_rings(&self, rings: &[Ring]) -> f64 {
        let shortest = |place: usize| {
            let others = (0..self.members.len()).filter(|&j| j != place);
            let time = |j: usize| {
                let (pos, vel) = self.motion.vectors(place, j);
                time_of_change(pos, vel, self.mass())
            };
            others.map(time).fold(f64::INFINITY, f64::min)
        };
        let places = rings.iter().filter_map(|ring| self.place_of(ring));
        criteria::RING_STANDS * places.map(shortest).fold(f64::INFINITY, f64::min)
    }

    /// Turns rings for a time in the tide of the other members, which stand.
    pub(crate) fn turn_rings(&self, rings: &mut [Ring], time: f64) {
        let mass = if rings.is_empty() { Vec::new() } else { self.motion.masses() };
        for ring in rings {
            let Some(place) = self.place_of(ring) else { continue };
            let mut tide = Far::default();
            (0..mass.len()).filter(|&j| j != place).for_each(|j| tide.add(mass[j], self.motion.vectors(place, j).0));
            ring.orbit = ring.orbit.after(time, |_| tide.tide);
        }
    }

    /// Ends to average, a time `dt` after the begin, at `now`.
    pub(crate) fn end_rings(&mut self, rings: &[Ring], dt: f64, now: Time) -> Result<()> {
        for ring in rings {
            let Some(place) = self.place_of(ring) else { continue };
            let energy = self.energy_of_ring(place, &ring.averaged());
            if let Member::Inner(few) = &mut self.members[place] {
                few.motion.advance(dt, None)?;
                ring.before.turn(&ring.orbit, &mut few.motion);
                few.motion = bound_by(&few.motion, -energy);
                few.time = now;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encounters::forces::bodies::Bodies;
    use crate::few_body::Motion;
    use tisane_force::particles::{Particles, Vec3};
    use tisane_force::time::Level;

    const RULES: Rules = Rules { perturbation: 1e-5, averages: true, forms: 5e-4, dissolves: 5e-3 };
    const CLOCK: Clock = Clock { start: 0.0, dt_max: 16.0 };
    const MASS: [f64; 2] = [0.6, 0.4];

    /// The stars of the inner pair, about their centre of mass.
    fn pair() -> Motion {
        Motion::from_vectors(&MASS, &[Vec3::new(0.3, -0.4, 0.0)], &[Vec3::new(1.1, 1.2, 0.5)])
    }

    /// Stars about the pair, with their masses, positions and velocities.
    fn others(number: usize) -> Vec<(f64, Vec3, Vec3)> {
        let all = [
            (0.5, Vec3::new(24.0, 2.0, 6.0), Vec3::new(-0.02, 0.25, 0.08)),
            (0.3, Vec3::new(-90.0, 10.0, 30.0), Vec3::new(0.01, -0.1, 0.05)),
        ];
        all[..number].to_vec()
    }

    /// All stars one by one.
    fn direct(number: usize) -> Motion {
        let (pair, others) = (pair(), others(number));
        let columns = [pair.offsets(), pair.speeds()];
        let of = |k: usize, of: fn(&(f64, Vec3, Vec3)) -> Vec3| -> Vec<Vec3> {
            columns[k].iter().copied().chain(others.iter().map(of)).collect()
        };
        let mass: Vec<f64> = MASS.into_iter().chain(others.iter().map(|it| it.0)).collect();
        Motion::new(&mass, &of(0, |it| it.1), &of(1, |it| it.2))
    }

    /// The same with the pair as one member, alone.
    fn subsystem(number: usize) -> (Subsystem, Bodies) {
        let others = others(number);
        let few = Few { members: vec![Member::Star(0), Member::Star(1)], motion: pair(), time: Time::default() };
        let few = few.closed(others.iter().map(|(mass, pos, _)| (*mass, *pos)));
        let mut members = vec![Member::Inner(Box::new(few))];
        members.extend((2..).take(number).map(Member::Star));
        let column = |of: fn(&(f64, Vec3, Vec3)) -> Vec3| -> Vec<Vec3> {
            std::iter::once(Vec3::zeros()).chain(others.iter().map(of)).collect()
        };
        let mass: Vec<f64> = std::iter::once(MASS.iter().sum()).chain(others.iter().map(|it| it.0)).collect();
        let motion = Motion::new(&mass, &column(|it| it.1), &column(|it| it.2));
        let few = Few { members, motion, time: Time::default() };
        let mut bodies = Particles::new(vec![mass.iter().sum()], vec![Vec3::zeros()], vec![Vec3::zeros()]);
        (bodies.time, bodies.step) = (vec![Time::default()], vec![Level::default()]);
        (Subsystem::new(few, 0.0), Bodies::new(bodies, vec![0], number + 2))
    }

    /// Moves a subsystem for a number of steps, and the stars one by one. Returns the largest change of its energy on the way, and the
    /// orbits of the pair: at first, at the end, and of the stars one by one.
    fn moved(number: usize, steps: u64) -> (f64, [Orbit; 3]) {
        let ((mut it, bodies), mut all) = (subsystem(number), direct(number));
        let (first, orbit) = (it.binding(), Orbit::of(&pair()).unwrap());
        assert!((first - all.binding()).abs() < 1e-13, "{first} {}", all.binding());
        let mut max = 0.0f64;
        for step in 1..=steps {
            it.advance(&bodies, &CLOCK, &RULES, Time::from_dt_max(step)).unwrap();
            max = max.max((it.binding() - first).abs());
        }
        all.advance(CLOCK.dt_max * steps as f64, None).unwrap();
        let (pos, vel) = all.vectors(0, 1);
        let of_stars = Orbit::of(&Motion::from_vectors(&MASS, &[pos], &[vel])).unwrap();
        let of_ring = Orbit::of(&it.members[0].inner().unwrap().motion).unwrap();
        (max, [orbit, of_ring, of_stars])
    }

    #[test]
    fn verify_the_pull_of_a_ring_is_the_derivative_of_its_energy() {
        let averaged = Ring::of(0, &pair()).unwrap().averaged();
        let (r, h) = (Vec3::new(3.0, -2.0, 4.0), 1e-4);
        let slope = Vec3::from_fn(|c, _| {
            (averaged.potential(r + Vec3::ith(c, h)) - averaged.potential(r - Vec3::ith(c, h))) / (2.0 * h)
        });
        assert!((averaged.pull(r) + slope).norm() < 1e-8 * slope.norm());
    }

    #[test]
    fn validate_a_ring_turns_as_the_orbit_of_its_stars_does() {
        for number in [1, 2] {
            let (error, [first, ring, stars]) = moved(number, 1500);
            let turned = (stars.e - first.e).norm();
            let off = [(ring.e - stars.e).norm(), (ring.j - stars.j).norm()];
            println!("{number}: {error:e} {turned} {off:?} {} {}", ring.axis, stars.axis);
            assert!(
                error < 1e-12 && turned > 0.1 && off.into_iter().all(|off| off < 0.02 * turned),
                "{error:e} {off:?}"
            );
        }
    }

    #[test]
    fn an_inner_pair_opens_where_its_mean_orbit_is_no_more_enough() {
        let (mut it, _) = subsystem(1);
        let one_by_one = Rules { averages: false, ..RULES };
        assert_eq!((it.opening_inner(&RULES), it.places_of_rings(&RULES)), (None, vec![0]));
        assert_eq!((it.opening_inner(&one_by_one), it.places_of_rings(&one_by_one)), (Some(0), Vec::new()));
        let near = it.motion.vectors(0, 1);
        it.motion = Motion::from_vectors(&[1.0, 0.5], &[near.0 * 0.3], &[near.1]);
        assert_eq!(it.opening_inner(&RULES), Some(0));
    }
}
