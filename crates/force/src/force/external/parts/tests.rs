//! Promise: what kernels compute of a field has the bits of the field. The functions here are those of kernels/field.cuh and
//! kernels/field_on_targets.cu, operation by operation.

use super::*;
use crate::force::external::field::{ExternalField, FieldSum, parts_of};
use crate::force::external::guide::{MovingOrigin, OrbitSpan, OrbitState};
use crate::force::external::places::Places;
use crate::force::external::ready::reference::named;
use crate::force::external::{FieldSource, FormulaField, Plummer};
use crate::particles::Vec3;
use crate::time::{Clock, TICKS_PER_DT_MAX, Time};
use std::sync::Arc;

/// Ready fields of the reference.
const NAMES: [&str; 15] = [
    "point-mass",
    "plummer",
    "hernquist",
    "nfw",
    "logarithmic",
    "isochrone",
    "miyamoto-nagai",
    "dehnen-0.5",
    "dehnen-1.5",
    "jaffe",
    "power-law-cutoff",
    "mn3-disc",
    "long-murali-bar",
    "mw-potential-2014",
    "mw-potential-2022",
];

/// Formulas that have all operations between them.
const FORMULAS: [&str; 6] = [
    "-(1 + 0.5*sin(3*t))/sqrt(r^2 + 0.25) + min(x, y)*max(y, z)*1e-3",
    "log(x^2 + 2*y^2 + 3*z^2 + 0.4) + x*y*cos(t) - R^1.7/(1 + r)",
    "exp(-t)*gammap(0.6, r^2)/r - 0.2*(x*cos(2*t) + y*sin(2*t))^2",
    "if(r < 1.2, r^4/(1 + R), r^3*1.2/(1 + R))*t^2 + 2^(-x)",
    "3 - x - 2*y",
    // Acceleration and jerk are what is read.
    "-(x^2 + y^2 + z^2)/2",
];

fn formula(text: &str) -> Box<dyn ExternalField> {
    let field = FormulaField::new(&FieldSource::new(text, &[]), Vec3::new(0.25, 0.5, -0.125));
    Box::new(field.unwrap_or_else(|it| panic!("{text}: {it}")))
}

/// What `UserField::part` stores.
fn of_part(part: &FieldPart, pos: Vec3, vel: Vec3, t: f64) -> [f64; 6] {
    match part {
        FieldPart::Formula { position, program } => {
            let [x, y, z] = (pos - position).into();
            let variables = [x, y, z, t, vel.x, vel.y, vel.z];
            let mut registers = Vec::new();
            for op in &program.ops {
                let result = op.result(&registers, |input| variables[input.index()]);
                registers.push(result);
            }
            program.results.map(|result| registers[usize::from(result)])
        }
        FieldPart::Sphere { mass, position, eps2 } => {
            let (r, v) = (position - pos, -vel);
            let s2 = r.x.mul_add(r.x, r.y.mul_add(r.y, r.z.mul_add(r.z, *eps2)));
            let s_inv = 1.0 / s2.sqrt();
            let s_inv2 = s_inv * s_inv;
            let m_s3 = mass * s_inv * s_inv2;
            let alpha = -3.0 * (r.x.mul_add(v.x, r.y.mul_add(v.y, r.z * v.z)) * s_inv2);
            let jerk = |c: usize| m_s3 * alpha.mul_add(r[c], v[c]);
            [m_s3 * r.x, m_s3 * r.y, m_s3 * r.z, jerk(0), jerk(1), jerk(2)]
        }
    }
}

/// `UserField::whole`, `carried`: a sum begins with 0.
fn of_sum(summand: &Summand, pos: Vec3, vel: Vec3, t: f64) -> [f64; 6] {
    let add = |sum: [f64; 6], found: [f64; 6]| std::array::from_fn(|s| sum[s] + found[s]);
    match summand {
        Summand::Part(part) => add([0.0; 6], of_part(part, pos, vel, t)),
        Summand::Sum(all) => all.iter().fold([0.0; 6], |sum, it| {
            add(
                sum,
                match it {
                    Summand::Part(part) => of_part(part, pos, vel, t),
                    Summand::Sum(_) => of_sum(it, pos, vel, t),
                },
            )
        }),
    }
}

/// `origin_at`.
fn origin_at(orbit: &OrbitSpan, moment: Time) -> [Vec3; 2] {
    let ticks = (orbit.until.0 - orbit.from.0) / (orbit.segments.len() - 1) as u64;
    let since = moment.0 - orbit.from.0;
    let it = &orbit.segments[(since / ticks) as usize];
    let z = (since % ticks) as f64 / ticks as f64;
    let (x, h) = (2.0 * z - 1.0, it.length);
    let [mut pos, mut vel] = [Vec3::zeros(); 2];
    for c in 0..3 {
        let horner = |of: usize| (0..8).rev().fold(0.0, |sum, e| sum * x + it.integrals[of][e][c]);
        let (once, twice) = (horner(0) * x, horner(1) * (x * x));
        let speed = z * it.first[c] + 0.5 * (once - it.at_start[0][c]);
        let path = 0.5 * z * z * it.first[c] + (0.25 * (twice - it.at_start[1][c]) - 0.5 * z * it.at_start[0][c]);
        pos[c] = it.start.pos[c] + h * (z * it.start.vel[c] + h * path);
        vel[c] = it.start.vel[c] + h * speed;
    }
    [pos, vel]
}

/// `add_field`: acceleration and jerk on a target.
fn on_target(parts: &FieldParts, orbit: Option<(&OrbitSpan, Time)>, pos: Vec3, vel: Vec3, t: f64) -> [f64; 6] {
    let origin = orbit.map(|(orbit, moment)| origin_at(orbit, moment));
    let at_origin = origin.map(|[x, v]| of_sum(&parts.field, x, v, t));
    let on_target = match origin {
        Some([x, v]) => of_sum(&parts.field, x + pos, v + vel, t),
        None => of_sum(&parts.field, pos, vel, t),
    };
    let carried = parts.carried.as_ref().map(|carried| of_sum(carried, pos, vel, t));
    std::array::from_fn(|s| {
        let sum = at_origin.map_or(on_target[s], |at_origin| on_target[s] - at_origin[s]);
        carried.map_or(sum, |carried| sum + carried[s])
    })
}

fn place(k: usize) -> Vec3 {
    Vec3::from_fn(|axis, _| ((k * (5 + 2 * axis) + axis) % 31) as f64 / 10.0 - 1.4)
}

fn assert_same(what: &str, field: &dyn ExternalField, t: f64, got: impl Fn(Vec3, Vec3) -> [f64; 6]) {
    for k in 0..40 {
        let (x, v) = (place(k), place(k + 7));
        let (acc, jerk, pot) = field.forces(&Places::new(&[x], &[v]), t).of(0);
        assert!(pot.is_finite(), "{what}");
        assert_eq!(got(x, v), [acc.x, acc.y, acc.z, jerk.x, jerk.y, jerk.z], "{what} at {x}");
    }
}

#[test]
fn every_ready_field_and_all_operations_have_the_bits_of_the_host() {
    let ready = NAMES.map(|name| (name, named(name).expect("a field")));
    for (name, field) in ready.into_iter().chain(FORMULAS.map(|text| (text, formula(text)))) {
        let parts = parts_of(&*field, false).unwrap_or_else(|| panic!("{name} is too much for a device"));
        assert_same(name, &*field, 0.75, |x, v| on_target(&parts, None, x, v, 0.75));
    }
}

#[test]
fn sums_within_sums_are_added_in_their_order() {
    let inner = FieldSum(vec![formula(FORMULAS[1]), formula(FORMULAS[3])]);
    let outer = FieldSum(vec![formula(FORMULAS[2]), Box::new(inner), formula(FORMULAS[0])]);
    let parts = parts_of(&outer, false).expect("parts");
    assert_same("a sum", &outer, 0.5, |x, v| on_target(&parts, None, x, v, 0.5));
}

#[test]
fn too_many_parts_and_what_has_no_program_are_left_to_the_host() {
    let spheres = |number: usize| -> Vec<Box<dyn ExternalField>> {
        let sphere = |_| Box::new(Plummer { mass: 1.0, position: Vec3::zeros(), scale_radius: 1.0 }) as _;
        (0..number).map(sphere).collect()
    };
    assert!(parts_of(&FieldSum(spheres(MAX_PARTS)), false).is_some());
    assert!(parts_of(&FieldSum(spheres(MAX_PARTS + 1)), false).is_none());
    struct OfUser;
    impl ExternalField for OfUser {
        fn acc(&self, _: Vec3, _: f64) -> Vec3 {
            Vec3::zeros()
        }
        fn jerk(&self, _: Vec3, _: Vec3, _: f64) -> Vec3 {
            Vec3::zeros()
        }
        fn pot(&self, _: Vec3, _: f64) -> f64 {
            0.0
        }
    }
    let mut with_other = spheres(2);
    with_other.push(Box::new(OfUser));
    assert!(parts_of(&FieldSum(with_other), false).is_none());
}

/// Galaxy with a sphere that moves along.
struct WithGas(FieldSum, Plummer);

impl ExternalField for WithGas {
    fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
        self.0.acc(pos, t)
    }
    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        self.0.jerk(pos, vel, t)
    }
    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        self.0.pot(pos, t)
    }
    fn carried(&self) -> Option<&dyn ExternalField> {
        Some(&self.1)
    }
    fn parts(&self) -> Option<Summand> {
        self.0.parts()
    }
}

#[test]
fn about_a_moving_origin_targets_have_the_bits_of_the_host() {
    let galaxy = || FieldSum(vec![named("mw-potential-2014").expect("a field"), formula(FORMULAS[2])]);
    let gas = Plummer { mass: 2.0, position: Vec3::new(0.5, 0.0, 0.25), scale_radius: 0.75 };
    // On the second orbit a step has several segments.
    for (pos, dt_max) in [(Vec3::new(8.0, 0.5, 0.25), 0.125), (Vec3::new(1.0, 0.5, 0.25), 1.0)] {
        let clock = Clock { start: 3.0, dt_max };
        let start = OrbitState { pos, vel: Vec3::new(0.25, 2.0, 0.5) };
        for (with_gas, field) in
            [(false, Arc::new(galaxy()) as Arc<dyn ExternalField>), (true, Arc::new(WithGas(galaxy(), gas)))]
        {
            let parts = parts_of(&*field, true).expect("parts");
            assert_eq!(parts.carried.is_some(), with_gas);
            let origin = MovingOrigin::new(field, clock, (0, start));
            for step in [0, 1, 5] {
                let orbit = origin.span(Time::from_dt_max(step)).unwrap().expect("an orbit");
                assert!(dt_max < 1.0 || orbit.segments.len() > 2, "{}", orbit.segments.len());
                for part in [0, 1, 5, TICKS_PER_DT_MAX / 16 * 11, TICKS_PER_DT_MAX - 1, TICKS_PER_DT_MAX] {
                    let now = Time(orbit.from.0 + part);
                    let tidal = origin.tidal(now).unwrap();
                    let expected = origin.at(now).unwrap();
                    assert_eq!(origin_at(&orbit, now), [expected.pos, expected.vel], "{now:?}");
                    let t = clock.time(now);
                    assert_same("an orbit", &tidal, t, |x, v| on_target(&parts, Some((&orbit, now)), x, v, t));
                }
            }
        }
    }
}
