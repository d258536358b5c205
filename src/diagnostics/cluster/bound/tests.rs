//! Bound particles of clusters put together here, against a count by other means.

use super::super::{LagrangianMass, Settings, Stars, Survey};
use crate::initial::plummer;
use std::ops::Range;
use tisane_force::particles::{Particles, Vec3};

const SETTINGS: Settings = Settings {
    neighbours: 6,
    lagrangian_mass: LagrangianMass::Initial,
    binary_hardness: 1.0,
    escape_radius: 10.0,
    encounter_radius: 1.0,
    epsilon: 1.0 / 64.0,
};

/// Parts of a system, one after the other.
#[derive(Default)]
struct Made {
    mass: Vec<f64>,
    pos: Vec<Vec3>,
    vel: Vec<Vec3>,
}

impl Made {
    /// Adds a Plummer sphere of `n` stars with mass 1 in all, times `mass`, at a place and with a velocity.
    fn sphere(mut self, n: usize, seed: u64, mass: f64, at: Vec3, vel: Vec3) -> Self {
        let p = plummer::sample(n, seed, 0.99);
        for i in 0..n {
            self = self.body(mass * p.mass[i], p.pos[i] + at, mass.sqrt() * p.vel[i] + vel);
        }
        self
    }

    fn body(mut self, mass: f64, pos: Vec3, vel: Vec3) -> Self {
        self.mass.push(mass);
        self.pos.push(pos);
        self.vel.push(vel);
        self
    }

    /// Adds stars of a tail along the orbit of radius 100 about the origin, at speed 11, from one angle to another.
    fn tail(mut self, n: usize, mass: f64, from: f64, to: f64) -> Self {
        let scatter = plummer::sample(n, 77, 0.9);
        for i in 0..n {
            let (sin, cos) = (from + (to - from) * i as f64 / n as f64).sin_cos();
            let (pos, vel) = (Vec3::new(100.0 * cos, 100.0 * sin, 0.0), Vec3::new(-11.0 * sin, 11.0 * cos, 0.0));
            self = self.body(mass, pos + scatter.pos[i], vel + 0.3 * scatter.vel[i]);
        }
        self
    }

    fn stars(&self) -> Stars {
        let all: Vec<usize> = (0..self.mass.len()).collect();
        let p = Particles::new(self.mass.clone(), self.pos.clone(), self.vel.clone());
        Stars::new(&p, &potential(&Stars::new(&p, &vec![0.0; p.len()]), &all))
    }

    fn survey(&self) -> Survey<1> {
        Survey::new(&self.stars(), &SETTINGS, [0.5], None)
    }
}

/// Potential of the particles `of` at each particle.
fn potential(stars: &Stars, of: &[usize]) -> Vec<f64> {
    let at = |i: usize| {
        let others = of.iter().filter(|&&j| j != i);
        -others.map(|&j| stars.mass[j] / (stars.pos[i] - stars.pos[j]).norm().hypot(SETTINGS.epsilon)).sum::<f64>()
    };
    (0..stars.len()).map(at).collect()
}

/// Counts the single particles that are bound to those of a range, which are the cluster: they are taken away one by one,
/// the least bound first, and what is bound to the rest comes back, unless it is in `other`, another cluster.
fn counted(stars: &Stars, cluster: Range<usize>, other: &Range<usize>) -> (usize, Vec3) {
    let mut of: Vec<usize> = cluster.collect();
    loop {
        let mass: f64 = of.iter().map(|&i| stars.mass[i]).sum();
        let velocity = of.iter().map(|&i| stars.mass[i] * stars.vel[i]).sum::<Vec3>() / mass;
        let pot = potential(stars, &of);
        let energy = |i: usize| 0.5 * (stars.vel[i] - velocity).norm_squared() + pot[i];
        let min = of.iter().copied().max_by(|&a, &b| energy(a).total_cmp(&energy(b))).unwrap();
        if energy(min) >= 0.0 {
            of.retain(|&i| i != min);
            continue;
        }
        let more: Vec<usize> =
            (0..stars.len()).filter(|i| !of.contains(i) && !other.contains(i) && energy(*i) < 0.0).collect();
        if more.is_empty() {
            return (of.len(), velocity);
        }
        of.extend(more);
    }
}

/// Checks mass, number and velocity against the count.
fn check(what: &str, made: &Made, cluster: Range<usize>, other: Range<usize>) -> Survey<1> {
    let found = made.survey();
    let (number, velocity) = counted(&made.stars(), cluster, &other);
    // A pair, counted as one body here, may be on the other side of the limit.
    assert!(found.bound.1.abs_diff(number as u64) <= 1, "{what}: {} of {number}", found.bound.1);
    assert!((found.velocity - velocity).norm() < 0.03, "{what}: {:?} {velocity:?}", found.velocity);
    found
}

const PLACE: Vec3 = Vec3::new(100.0, 0.0, 0.0);
const ORBIT: Vec3 = Vec3::new(0.0, 11.0, 0.0);

#[test]
fn a_cluster_with_a_tail_round_its_orbit_is_there() {
    for (n, tail, to) in [(20, 44, 6.2), (100, 200, 6.2), (100, 300, 3.0), (1000, 500, 5.0)] {
        let made = Made::default().sphere(n, 3, 1.0, PLACE, ORBIT).tail(tail, 1.0 / n as f64, 0.1, to);
        let found = check(&format!("{n} and {tail}"), &made, 0..n, 0..0);
        assert!(found.bound.1 as f64 > 0.93 * n as f64, "{n}: {:?}", found.bound);
        assert!((found.core.centre - PLACE).norm() < 0.5, "{:?}", found.core.centre);
        // What follows from the bound particles is that of a Plummer sphere.
        let virial = found.energies[0] / -found.energies[1];
        assert!((0.3..0.7).contains(&virial) && found.half_mass_radius < 1.5, "{virial} {}", found.half_mass_radius);
        // Of 20 stars some are pairs, which count as one body.
        let expected = 2.0 / 3.0 * found.energies[0] / found.bound.1 as f64;
        assert!((found.thermal_energy / expected - 1.0).abs() < 0.25, "{} {expected}", found.thermal_energy);
        // With the mean velocity of all the first choice would be none.
        let all = made.vel.iter().sum::<Vec3>() / made.vel.len() as f64;
        assert!((all - ORBIT).norm() > 3.0, "{all:?}");
    }
}

#[test]
fn the_frame_does_not_matter() {
    let made = || Made::default().sphere(300, 5, 1.0, PLACE, ORBIT).tail(400, 1.0 / 300.0, 0.1, 5.0);
    let here = made().survey();
    for (place, drift) in [([0.0; 3], [-220.0, 30.0, 7.0]), ([8000.0, -300.0, 20.0], [0.0, 220.0, 0.0])] {
        let mut moved = made();
        moved.pos.iter_mut().for_each(|x| *x += Vec3::from(place));
        moved.vel.iter_mut().for_each(|v| *v += Vec3::from(drift));
        let there = moved.survey();
        assert_eq!((here.bound.1, here.escaped), (there.bound.1, there.escaped));
        assert!((there.velocity - here.velocity - Vec3::from(drift)).norm() < 1e-9);
        assert!((there.core.centre - here.core.centre - Vec3::from(place)).norm() < 1e-8);
        for (a, b) in here.energies.iter().zip(there.energies) {
            assert!((a / b - 1.0).abs() < 1e-8, "{a} {b}");
        }
        assert!((here.thermal_energy / there.thermal_energy - 1.0).abs() < 1e-8);
    }
}

#[test]
fn of_two_clusters_one_is_measured() {
    let along = |x: f64| x * Vec3::x();
    let two = |mass: [f64; 2], apart: f64, speed: f64| {
        let (n, m) = (mass.map(|m| (200.0 * m) as usize), mass[0] + mass[1]);
        let at = [-mass[1] / m, mass[0] / m].map(|part| (along(part * apart), part * speed * Vec3::y()));
        let made = Made::default().sphere(n[0], 1, mass[0], at[0].0, at[0].1);
        (made.sphere(n[1], 2, mass[1], at[1].0, at[1].1), n[0], n[0] + n[1])
    };
    // Like ones: the one with the first ids, whether they fly past each other fast or slowly, or rest far apart.
    for (apart, speed) in [(200.0, 22.0), (40.0, 3.0), (40.0, 0.6), (30.0, 0.5), (20.0, 1.0)] {
        let (made, first, all) = two([1.0, 1.0], apart, speed);
        let found = check(&format!("{apart} at {speed}"), &made, 0..first, first..all);
        assert!((found.bound.0 - 1.0).abs() < 0.06, "{apart} at {speed}: {:?}", found.bound);
        assert!((found.core.centre + along(0.5 * apart)).norm() < 0.3, "{:?}", found.core.centre);
        assert!((found.energies[0] / -found.energies[1] - 0.5).abs() < 0.08, "{:?}", found.energies);
        assert!(found.half_mass_radius < 1.0 && found.number == all as u64);
    }
    // Of unlike ones the more massive one, wherever it stands in the list.
    let (made, first, all) = two([1.0, 4.0], 60.0, 1.5);
    let found = check("the second", &made, first..all, 0..first);
    assert!((found.bound.0 - 4.0).abs() < 0.2, "{:?}", found.bound);
    // Two that are bound to each other are one.
    let (made, _, all) = two([1.0, 1.0], 8.0, 0.2);
    assert_eq!(made.survey().bound.1, all as u64);
}

#[test]
fn heavy_bodies_do_not_take_the_frame_along() {
    let runaway = Made::default().body(20.0, 400.0 * Vec3::z(), 60.0 * Vec3::z()).sphere(
        200,
        4,
        1.0,
        Vec3::zeros(),
        Vec3::zeros(),
    );
    let found = check("runaway", &runaway, 1..201, 0..0);
    assert!(found.bound.1 >= 195 && found.escaped == 1, "{:?} {}", found.bound, found.escaped);
    // About a massive black hole everything is bound, also with the stars on one side of it.
    for arc in [6.2, 1.5] {
        let hole = Vec3::new(5.0, 3.0, -7.0);
        let mut made = Made::default().body(50.0, hole, 4.0 * Vec3::x());
        for i in 0..300 {
            let (angle, r) = (arc * f64::from(i) / 300.0, 1.0 + 0.003 * f64::from(i % 17));
            let speed = (50.0 / r).sqrt();
            let (sin, cos) = angle.sin_cos();
            let vel = 4.0 * Vec3::x() + speed * Vec3::new(-sin, cos, 0.0);
            made = made.body(1e-4, hole + r * Vec3::new(cos, sin, 0.0), vel);
        }
        let found = made.survey();
        assert_eq!(found.bound.1, 301, "{arc}");
        assert!((found.velocity - 4.0 * Vec3::x()).norm() < 0.01, "{:?}", found.velocity);
    }
}

#[test]
fn few_bodies_are_bound_or_not() {
    let drift = Vec3::new(3.0, -2.0, 1.0);
    let pair = |speed: f64| {
        Made::default().body(0.5, 9.0 * Vec3::x(), drift).body(0.5, 10.0 * Vec3::x(), drift + speed * Vec3::y())
    };
    assert_eq!(Made::default().survey().bound, (0.0, 0));
    assert_eq!(Made::default().body(2.0, Vec3::x(), drift).survey().bound, (0.0, 0));
    let two = pair(1.0).survey();
    assert_eq!((two.bound, two.energies, two.thermal_energy), ((1.0, 2), [0.0; 2], 0.0));
    assert!((two.velocity - drift - 0.5 * Vec3::y()).norm() < 1e-14 && two.systems[0].bound && two.escaped == 0);
    assert_eq!(pair(1.5).survey().bound, (0.0, 0));
    let triple = pair(1.0).body(0.5, 20.0 * Vec3::x(), drift + Vec3::new(0.0, 0.5, 0.4)).survey();
    assert_eq!(triple.bound, (1.5, 3));
    let guest = pair(1.0).body(0.25, 200.0 * Vec3::x(), drift + 4.0 * Vec3::z()).survey();
    assert_eq!((guest.bound, guest.velocity), ((1.0, 2), drift + 0.5 * Vec3::y()));
    // Eight planets, and one that leaves.
    let mut planets = Made::default().body(1.0, 30.0 * Vec3::z(), drift);
    for k in 1..=9 {
        let (sin, cos) = (2.4 * f64::from(k)).sin_cos();
        let (r, faster) = (1.5f64.powi(k), if k == 9 { 1.6 } else { 1.0 });
        let vel = drift + faster * r.powf(-0.5) * Vec3::new(-sin, cos, 0.0);
        planets = planets.body(1e-6, 30.0 * Vec3::z() + r * Vec3::new(cos, sin, 0.0), vel);
    }
    let found = planets.survey();
    assert_eq!(found.bound.1, 9);
    assert!((found.velocity - drift).norm() < 1e-4);
}

#[test]
fn stars_without_mass_are_bound_like_others() {
    let mut made = Made::default().sphere(200, 6, 1.0, Vec3::zeros(), drift());
    let tracers = plummer::sample(100, 9, 0.99);
    for i in 0..100 {
        let faster = if i < 30 { 9.0 } else { 1.0 };
        made = made.body(0.0, tracers.pos[i], faster * tracers.vel[i] + drift());
    }
    let found = check("tracers", &made, 0..200, 0..0);
    assert!((265..272).contains(&found.bound.1), "{:?}", found.bound);
    made.mass.iter_mut().for_each(|mass| *mass = 0.0);
    assert_eq!(made.survey().bound, (0.0, 0));
}

fn drift() -> Vec3 {
    Vec3::new(0.0, -5.0, 2.0)
}

#[test]
fn binaries_are_bound_as_one_body_and_move_as_one() {
    let p = plummer::sample(400, 2, 0.99);
    let with = |separation: Option<f64>, faster: f64| {
        let mut made = Made::default();
        for i in 0..400 {
            let vel = if i % 40 == 0 { faster } else { 1.0 } * p.vel[i] + drift();
            match separation.filter(|_| i % 4 == 0) {
                None => made = made.body(p.mass[i], p.pos[i], vel),
                Some(a) => {
                    let speed = (p.mass[i] / a).sqrt();
                    for side in [-0.5, 0.5] {
                        let (x, v) = (side * a * Vec3::x(), side * speed * Vec3::y());
                        made = made.body(0.5 * p.mass[i], p.pos[i] + x, vel + v);
                    }
                }
            }
        }
        let settings = Settings { epsilon: 0.0, ..SETTINGS };
        let mut stars = made.stars();
        for i in 0..stars.len() {
            let others = (0..stars.len()).filter(|&j| j != i);
            stars.pot[i] = -others.map(|j| stars.mass[j] / (stars.pos[i] - stars.pos[j]).norm()).sum::<f64>();
        }
        Survey::new(&stars, &settings, [0.5], None)
    };
    let (single, double) = (with(None, 1.0), with(Some(1e-5), 1.0));
    assert_eq!((double.systems.len(), double.bound.1), (100, single.bound.1 + single.bound.1.div_ceil(4)));
    assert!((single.velocity - double.velocity).norm() < 1e-5);
    for (a, b) in [
        (single.energies[0], double.energies[0]),
        (single.energies[1], double.energies[1]),
        (single.bound.0, double.bound.0),
    ] {
        assert!((a / b - 1.0).abs() < 1e-4, "{a} {b}");
    }
    // Soft pairs count as one body in kT: there are some among the single stars.
    let ratio = single.thermal_energy / double.thermal_energy;
    assert!((ratio - 1.0).abs() < 0.03, "{ratio}");
    // Orbital speeds are 20 times the dispersion of the cluster. The densities differ, and so does the core.
    assert!((single.within_core.2 / double.within_core.2 - 1.0).abs() < 0.1, "{:?}", double.within_core);
    assert!((single.anisotropy - double.anisotropy).abs() < 0.02, "{} {}", single.anisotropy, double.anisotropy);
    let [single, double] = [single, double].map(|survey| survey.shells[0]);
    assert!((single.radial / double.radial - 1.0).abs() < 0.1, "{single:?} {double:?}");
    assert!((single.tangential / double.tangential - 1.0).abs() < 0.1, "{single:?} {double:?}");
    // Ten that leave, in one piece.
    let leaving = with(Some(1e-5), 9.0);
    let gone = leaving.systems.iter().filter(|system| !system.bound).count();
    assert!((8..=10).contains(&gone) && leaving.systems.len() == 100, "{gone}");
    assert_eq!(leaving.number - leaving.bound.1, 2 * gone as u64);
}
