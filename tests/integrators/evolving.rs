//! Promises on stars that lose mass and are kicked: what is taken out is booked, schemes go on as if the masses had always been the new
//! ones, and orbits change as the theory of isotropic mass loss has it.

use crate::kinds::{Kind, each};
use crate::subsystems::{CLOCK, cluster_of, encounters_on, engine, limits};
use tisane::diagnostics::conserved::Conserved;
use tisane::force::{FieldEngine, precision::Precision, reference};
use tisane::initial::plummer;
use tisane::integrator::Integrator;
use tisane::integrator::ahmad_cohen::Order;
use tisane::particles::{Particles, Vec3};
use tisane::star_changes::{Loss, StarChange, StarChanges};
use tisane::subsystems::{Description, Removed, Subsystems as _};
use tisane::time::Time;

type Evolving = dyn Integrator<Evaluation = tisane::force::Forces>;

/// Returns the changes of all stars, each of which keeps the share `keeps` of its mass.
fn winds(p: &Particles, keeps: impl Fn(usize) -> f64, loss: Loss) -> Vec<StarChange> {
    let change = |row: usize| {
        let (mass, kick) = (p.mass[row] * keeps(row), Vec3::zeros());
        StarChange { row: row as u32, mass, loss, kick, radius: None }
    };
    (0..p.len()).filter(|&row| keeps(row) != 1.0).map(change).collect()
}

fn change(it: &mut Evolving, p: &mut Particles, f: &mut dyn FieldEngine, all: &[StarChange], now: Time) -> Removed {
    let since_start = CLOCK.time(now) - CLOCK.start;
    it.change_stars(p, f, &StarChanges { all, eps2: 0.0, by_law: false, since_start }, now).unwrap().removed
}

fn conserved(it: &mut Evolving, p: &Particles, f: &mut dyn FieldEngine, now: Time) -> Conserved {
    let field = it.field(p, now, f, true).unwrap();
    Conserved::from_particles(p, &field.pot)
}

/// Advances through the next 32 dt_max. At each multiple stars change, by `changes`. Returns the largest change of the energy, with what was
/// taken out, and that of momentum and angular momentum.
fn errors(it: &mut Evolving, p: &mut Particles, changes: impl Fn(&Particles, u64) -> Vec<StarChange>) -> [f64; 2] {
    let mut f = engine();
    it.start(p, &mut *f).unwrap();
    let start = conserved(it, p, &mut *f, Time::default());
    let (mut removed, mut found) = (Removed::default(), [0.0; 2]);
    for k in 1..=32 {
        let now = Time::from_dt_max(k);
        it.advance(p, &mut *f, now, u64::MAX).unwrap();
        removed += change(it, p, &mut *f, &changes(p, k), now);
        let here = conserved(it, p, &mut *f, now);
        let momentum = (here.momentum + removed.momentum - start.momentum).norm();
        let spin = (here.angular_momentum + removed.angular_momentum - start.angular_momentum).norm();
        found[0] = f64::max(found[0], (here.energy() + removed.energy - start.energy()).abs());
        found[1] = found[1].max(momentum).max(spin);
    }
    found
}

/// Every third star loses 1 % of its mass at each multiple of dt_max, one of them in turn is kicked and loses half.
fn lively(p: &Particles, k: u64) -> Vec<StarChange> {
    let mut all = winds(p, |row| if row % 3 == k as usize % 3 { 0.99 } else { 1.0 }, Loss::Slow(CLOCK.dt_max));
    let number = k as usize % all.len();
    all[number].mass *= 0.5;
    all[number].kick = Vec3::new(0.3, -0.2, 0.1) * (k as f64 * 0.05);
    all[number].loss = Loss::Sudden;
    all
}

#[test]
fn verify_energy_and_momenta_are_booked_for_single_stars() {
    each(|kind| {
        let nothing = |_: &Particles, _: u64| Vec::new();
        let [still, _] = errors(&mut *kind.build(CLOCK, 0.01, limits()), &mut plummer::sample(60, 3, 0.99), nothing);
        let (mut it, mut p) = (kind.build(CLOCK, 0.01, limits()), plummer::sample(60, 3, 0.99));
        let [energy, momenta] = errors(&mut *it, &mut p, lively);
        assert!(p.total_mass() < 0.9 && energy < 4.0 * still.max(1e-8), "{energy:e}, {still:e} without");
        let bound = if kind.has_lists() { 1e-6 } else { 2e-7 };
        assert!(momenta < bound, "{momenta:e}");
    });
}

#[test]
fn verify_energy_is_booked_for_stars_in_subsystems() {
    each(|kind| {
        let cluster = || cluster_of(&plummer::sample(40, 7, 0.99), 12);
        let run = |changes: &dyn Fn(&Particles, u64) -> Vec<StarChange>| {
            let (mut it, mut p) = (encounters_on(kind, 0.01, 1e-6), cluster());
            errors(&mut it, &mut p, changes)
        };
        let [still, _] = run(&|_, _| Vec::new());
        let [energy, momenta] = run(&lively);
        assert!(energy < 4.0 * still.max(1e-8), "{energy:e}, {still:e} without");
        let bound = if kind.has_lists() { 1e-5 } else { 1e-6 };
        assert!(momenta < bound, "{momenta:e}");
    });
}

/// Two stars with semi-major axis 1e-4 and eccentricity 0.6, and a distant third one, by whose row there are bodies besides.
fn pair(masses: [f64; 2]) -> Particles {
    let (a, e) = (1e-4, 0.6);
    let total = masses[0] + masses[1];
    let (r, u) = (a * (1.0 + e), (total * (1.0 - e) / (a * (1.0 + e))).sqrt());
    let [x, v] = [Vec3::x() * r, Vec3::new(0.0, 0.8, 0.6) * u];
    let [first, second] = [-masses[1] / total, masses[0] / total];
    let (pos, vel) = (vec![x * first, x * second, Vec3::y() * 400.0], vec![v * first, v * second, Vec3::zeros()]);
    Particles::new(vec![masses[0], masses[1], 1e-6], pos, vel)
}

fn orbit(found: &[Description]) -> (f64, f64) {
    let orbit = found[0].orbit.unwrap();
    (orbit.semi_major_axis, orbit.eccentricity)
}

/// An undisturbed pair loses 40 % of its mass, in lumps of 1 % of one star and the other in turn.
#[test]
fn verify_slow_loss_keeps_the_product_of_axis_and_mass() {
    each(|kind| {
        let (mut p, mut f, mut it) = (pair([0.6, 0.4]), engine(), encounters_on(kind, 0.01, 1e-6));
        it.start(&mut p, &mut *f).unwrap();
        let (a, e) = orbit(&it.describe(Time::default()).unwrap());
        let start = conserved(&mut it, &p, &mut *f, Time::default()).energy();
        let (mut k, mut removed) = (0, 0.0);
        while p.mass[0] + p.mass[1] > 0.6 {
            k += 1;
            let now = Time::from_dt_max(k);
            it.advance(&mut p, &mut *f, now, u64::MAX).unwrap();
            let all = winds(&p, |row| if row == k as usize % 2 { 0.99 } else { 1.0 }, Loss::Slow(CLOCK.dt_max));
            removed += change(&mut it, &mut p, &mut *f, &all, now).energy;
            let (axis, eccentricity) = orbit(&it.describe(now).unwrap());
            let product = axis * (p.mass[0] + p.mass[1]);
            assert!((product / a - 1.0).abs() < 1e-6 && (eccentricity - e).abs() < 1e-6, "{k}: {product:e}");
        }
        let now = Time::from_dt_max(k);
        let error = conserved(&mut it, &p, &mut *f, now).energy() + removed - start;
        assert!(error.abs() < 1e-6 * start.abs(), "{error:e} of {start:e}");
    });
}

/// Blaauw (1961): a star of a circular pair loses the mass δ at once. The eccentricity is δ/(M − δ), and the pair moves with
/// δ v/(M − δ), with v the velocity of the star on its orbit. With more than half of the mass gone it is not bound any more.
#[test]
fn validate_supernova_in_a_circular_pair() {
    let (mass, a) = ([0.7, 0.3], 1e-3);
    for (left, is_bound) in [(0.5, true), (0.25, true), (0.05, false)] {
        each(|kind| {
            let (v, mut p) = ((1.0f64 / a).sqrt(), pair(mass));
            (p.pos[0], p.pos[1]) = (Vec3::x() * (-0.3 * a), Vec3::x() * (0.7 * a));
            (p.vel[0], p.vel[1]) = (Vec3::y() * (-0.3 * v), Vec3::y() * (0.7 * v));
            let (mut f, mut it, now) = (engine(), encounters_on(kind, 0.01, 1e-6), Time::from_dt_max(1));
            it.start(&mut p, &mut *f).unwrap();
            it.advance(&mut p, &mut *f, now, u64::MAX).unwrap();
            let (speed, before) = (p.vel[0], conserved(&mut it, &p, &mut *f, now));
            let of = StarChange { row: 0, mass: left, loss: Loss::Sudden, kick: Vec3::zeros(), radius: None };
            let removed = change(&mut it, &mut p, &mut *f, &[of], now);
            let after = conserved(&mut it, &p, &mut *f, now);
            let error = after.energy() + removed.energy - before.energy();
            assert!(error.abs() < 1e-9 * before.energy().abs(), "{error:e}");
            let (delta, rest) = (0.7 - left, left + 0.3);
            let drift = (p.vel[0] * left + p.vel[1] * 0.3) / rest;
            assert!((drift + speed * (delta / rest)).norm() < 1e-6 * v, "{drift}");
            let (x, u) = (p.pos[1] - p.pos[0], p.vel[1] - p.vel[0]);
            let binding = rest / x.norm() - 0.5 * u.norm_squared();
            assert_eq!(binding > 0.0, is_bound, "{left}");
            if is_bound {
                let (_, e) = orbit(&it.describe(now).unwrap());
                assert!((e - delta / rest).abs() < 1e-6, "{e}");
            }
            // It goes on, in two parts if it is not bound.
            let end = Time::from_dt_max(3);
            while it.advance(&mut p, &mut *f, end, u64::MAX).unwrap().now < end {}
            assert_eq!(it.describe(end).unwrap().len(), usize::from(is_bound));
            let error = conserved(&mut it, &p, &mut *f, end).energy() - after.energy();
            assert!(error.abs() < 1e-6 * before.energy().abs(), "{error:e}");
        });
    }
}

/// Outer orbits of a hierarchical triple change by the total mass, inner ones by that of the pair.
#[test]
fn verify_slow_loss_in_a_triple() {
    for kind in [Kind::Hermite4, Kind::AhmadCohen(Order::Six)] {
        let mut p = pair([0.3, 0.2]);
        let (a, u) = (1e-2, (1.0f64 / 1e-2).sqrt());
        for (row, share) in [(0, -0.5), (1, -0.5)] {
            p.pos[row] += Vec3::x() * (share * a);
            p.vel[row] += Vec3::y() * (share * u);
        }
        (p.mass[2], p.pos[2], p.vel[2]) = (0.5, Vec3::x() * (0.5 * a), Vec3::y() * (0.5 * u));
        let (mut f, mut it) = (engine(), encounters_on(kind, 0.01, 1e-6));
        it.start(&mut p, &mut *f).unwrap();
        let axes = |it: &dyn tisane::subsystems::Subsystems, now: Time| -> Vec<f64> {
            it.describe(now).unwrap().iter().map(|one| one.orbit.unwrap().semi_major_axis).collect()
        };
        let before = axes(&it, Time::default());
        assert_eq!(before.len(), 2);
        for k in 1..=20 {
            let now = Time::from_dt_max(k);
            it.advance(&mut p, &mut *f, now, u64::MAX).unwrap();
            let all = winds(&p, |row| if row == 0 { 0.98 } else { 1.0 }, Loss::Slow(CLOCK.dt_max));
            change(&mut it, &mut p, &mut *f, &all, now);
        }
        let after = axes(&it, Time::from_dt_max(20));
        let (pair, all) = (p.mass[0] + p.mass[1], p.mass[0] + p.mass[1] + p.mass[2]);
        let (outer, inner) = (after[0] / before[0] * all, after[1] / before[1] * pair / 0.5);
        assert!((outer - 1.0).abs() < 1e-3 && (inner - 1.0).abs() < 1e-3, "{kind:?}: {outer} {inner}");
    }
}

/// A cluster that loses mass slowly against its crossing time expands with r ∝ 1/M (Hills 1980, ApJ 235, 986). Here it loses 30 % in 14
/// crossing times, softened.
#[test]
fn validate_adiabatic_expansion() {
    let (epsilon, number): (f64, u64) = (0.02, 640);
    let kinds = [Kind::Hermite4, Kind::Multipoint(tisane::integrator::multipoint::Order::Six)];
    for kind in kinds {
        let (mut p, mut it) = (plummer::sample(256, 5, 0.99), kind.build(CLOCK, 0.02, limits()));
        let mut f = reference::engine(Precision::F64, epsilon, CLOCK);
        it.start(&mut p, &mut *f).unwrap();
        let start = conserved(&mut *it, &p, &mut *f, Time::default());
        let (mut removed, mut product) = (0.0, 0.0);
        for k in 1..=number {
            let now = Time::from_dt_max(k);
            it.advance(&mut p, &mut *f, now, u64::MAX).unwrap();
            let keeps = 0.7f64.powf(1.0 / number as f64);
            let all = winds(&p, |_| keeps, Loss::Slow(CLOCK.dt_max));
            let since_start = CLOCK.time(now) - CLOCK.start;
            let changes = StarChanges { all: &all, eps2: epsilon * epsilon, by_law: false, since_start };
            removed += it.change_stars(&mut p, &mut *f, &changes, now).unwrap().removed.energy;
            if k > number - 160 {
                // The virial radius M²/(2 |U|), in the mean over the last crossing times.
                let here = conserved(&mut *it, &p, &mut *f, now);
                product += here.mass.powi(3) / (2.0 * here.potential.abs()) / 160.0;
            }
        }
        let end = conserved(&mut *it, &p, &mut *f, Time::from_dt_max(number));
        let before = start.mass.powi(3) / (2.0 * start.potential.abs());
        assert!((end.mass / 0.7 - 1.0).abs() < 1e-9 && (product / before - 1.0).abs() < 0.05, "{product} {before}");
        let error = (end.energy() + removed - start.energy()) / start.energy();
        assert!(error.abs() < 1e-4, "{error:e}");
    }
}
