//! Errors of four bodies, of orbits and of massless bodies, by hand and from other frames.

use super::*;

/// Four bodies about their centre of mass, with the potentials of their pairs.
fn four() -> (Particles, Field) {
    let pos = vec![Vec3::new(1.0, 0.0, 0.1), Vec3::new(-1.0, 0.2, 0.0), Vec3::new(0.0, -1.0, -0.3), Vec3::zeros()];
    let vel = vec![Vec3::y(), -0.7 * Vec3::y(), Vec3::new(0.4, 0.0, 0.2), Vec3::new(-0.1, 0.2, 0.0)];
    let mut p = Particles::new(vec![0.1, 0.2, 0.3, 0.4], pos, vel);
    let mass = p.total_mass();
    let moment = |of: &[Vec3]| sum3(p.mass.iter().zip(of).map(|(m, x)| *m * x)) / mass;
    let (centre, velocity) = (moment(&p.pos), moment(&p.vel));
    p.pos.iter_mut().for_each(|x| *x -= centre);
    p.vel.iter_mut().for_each(|v| *v -= velocity);
    let field = field(&p);
    (p, field)
}

fn field(p: &Particles) -> Field {
    let of =
        |i: usize| (0..p.len()).filter(|&j| j != i).map(|j| -p.mass[j] / (p.pos[i] - p.pos[j]).norm()).sum::<f64>();
    Field { pot: (0..p.len()).map(of).collect(), ..Field::default() }
}

fn moved(p: &Particles, place: Vec3, velocity: Vec3) -> Particles {
    let mut moved = p.clone();
    moved.pos.iter_mut().for_each(|x| *x += place);
    moved.vel.iter_mut().for_each(|v| *v += velocity);
    moved
}

/// Changes the velocity of a body: the energy changes by the same amount in the frame of the centre of mass of before.
fn disturbed(p: &Particles, by: Vec3) -> Particles {
    let mut p = p.clone();
    // Momentum is kept.
    p.vel[0] += by / p.mass[0];
    p.vel[1] -= by / p.mass[1];
    p
}

#[test]
fn a_system_at_rest_is_measured_by_its_total_energy() {
    let (p, at) = four();
    let start = Reference::new(&p, &at);
    let c = crate::diagnostics::conserved::Conserved::in_field(&p, &at);
    assert_eq!((start.basis, start.velocity, start.centre), (Basis::Total, Vec3::zeros(), Vec3::zeros()));
    assert_eq!((start.energy, start.energy_scale), (c.energy(), c.energy().abs()));
    assert_eq!((start.angular_momentum, start.angular_momentum_scale), (c.angular_momentum, c.angular_momentum.norm()));
}

#[test]
fn errors_do_not_depend_on_the_motion_of_the_whole() {
    let (p, at) = four();
    let (still, off) = (Reference::new(&p, &at), disturbed(&p, Vec3::new(1e-4, -2e-4, 3e-4)));
    let errors = |start: &Reference, p: &Particles, elapsed| {
        (
            start.energy_error(start.energy_of(p, &at)),
            start.angular_momentum_error(start.angular_momentum_of(p, elapsed)),
        )
    };
    let (energy, angular) = errors(&still, &off, 0.0);
    assert!(energy.abs() > 1e-4 && angular > 1e-4);
    for (place, velocity) in [(10.0, 0.0), (0.0, 0.3), (8000.0, 220.0), (3.0, 1e5)] {
        let (place, velocity) = (place * Vec3::x(), velocity * Vec3::new(0.6, 0.8, 0.0));
        let start = Reference::new(&moved(&p, place, velocity), &at);
        let later = moved(&off, place + velocity * 7.0, velocity);
        let (e, l) = errors(&start, &later, 7.0);
        let rounding = 1e-15 * (1.0 + velocity.norm()) * (1.0 + place.norm() + 7.0 * velocity.norm());
        assert!((e - energy).abs() < 20.0 * rounding, "{velocity}: {e} {energy}");
        assert!((l - angular).abs() < 100.0 * rounding, "{velocity}: {l} {angular}");
        assert_eq!(start.basis, if velocity == Vec3::zeros() { Basis::Total } else { Basis::Internal });
    }
}

#[test]
fn what_leaves_keeps_the_energy_and_the_angular_momentum() {
    let (p, at) = four();
    let (place, velocity) = (Vec3::new(5.0, 1.0, 0.0), Vec3::new(3.0, 0.0, -1.0));
    let p = moved(&p, place, velocity);
    let start = Reference::new(&p, &at);
    let last = p.len() - 1;
    let (m, x, v) = (p.mass[last], p.pos[last], p.vel[last]);
    let left = Left {
        energy: 0.5 * m * v.norm_squared() + m * at.pot[last],
        momentum: m * v,
        angular_momentum: m * x.cross(&v),
        mass: m,
        moment: m * x,
    };
    let rest = Particles::new(p.mass[..last].to_vec(), p.pos[..last].to_vec(), p.vel[..last].to_vec());
    let energy = start.energy_of(&rest, &field(&rest)) + start.energy_of_left(&left);
    assert!(start.energy_error(energy).abs() < 1e-14, "{}", start.energy_error(energy));
    let l = start.angular_momentum_of(&rest, 0.0) + start.angular_momentum_of_left(&left);
    assert!(start.angular_momentum_error(l) < 1e-14);
}

#[test]
fn a_cluster_in_a_field_is_measured_by_its_internal_energy() {
    let (p, at) = four();
    let internal = InternalEnergy::new(&p, &at.pot).energy();
    let p = moved(&p, 8000.0 * Vec3::x(), 220.0 * Vec3::y());
    let at = Field { external: vec![-5e4; 4], ..at };
    let start = Reference::new(&p, &at);
    assert_eq!((start.basis, start.velocity), (Basis::Internal, Vec3::zeros()));
    assert!((start.energy_scale / internal.abs() - 1.0).abs() < 1e-11);
    assert!((start.energy_error(start.energy + 0.5 * internal).abs() - 0.5).abs() < 1e-6);
}

#[test]
fn a_reference_that_cancels_is_none() {
    // A parabolic orbit whose energy is the rounding of its terms, seen from anywhere.
    let v = 2f64.sqrt();
    let p = Particles::new(vec![0.5; 2], vec![Vec3::zeros(), Vec3::x()], vec![Vec3::zeros(), v * Vec3::y()]);
    let at = field(&p);
    for velocity in [0.0, 1.0, 100.0] {
        let start = Reference::new(&moved(&p, Vec3::z(), velocity * Vec3::x()), &at);
        assert_eq!(start.basis, Basis::Terms);
        assert!((start.energy_scale - 0.5).abs() < 1e-12, "T = |U| = 1/4 about the centre of mass");
    }
    // Head-on: no angular momentum; Σ m r v is the scale.
    let p = Particles::new(vec![0.5; 2], vec![Vec3::zeros(), Vec3::x()], vec![Vec3::x(), -Vec3::x()]);
    assert_eq!(Reference::new(&p, &field(&p)).angular_momentum_scale, 0.5);
    // At rest: neither, and the error is absolute.
    let p = Particles::new(vec![0.5; 2], vec![Vec3::zeros(), Vec3::x()], vec![Vec3::zeros(); 2]);
    let start = Reference::new(&p, &field(&p));
    assert_eq!((start.basis, start.energy_scale, start.angular_momentum_scale), (Basis::Total, 0.25, 1.0));
}

#[test]
fn massless_bodies_are_measured_where_their_energies_are_conserved() {
    let bodies = |mass: [f64; 3]| {
        let pos = vec![Vec3::zeros(), Vec3::x(), -2.0 * Vec3::y()];
        let vel = vec![0.3 * Vec3::z(), Vec3::new(0.0, 1.0, 0.3), Vec3::new(0.7, 0.0, 0.3)];
        let p = Particles::new(mass.to_vec(), pos, vel);
        let at = field(&p);
        (p, at)
    };
    let (p, at) = bodies([1.0, 0.0, 0.0]);
    let start = Reference::new(&p, &at);
    assert_eq!((start.basis, start.massless), (Basis::Massless, 2));
    let by_hand = 0.5 - 1.0 + 0.5 * 0.49 - 0.5;
    assert!((start.energy - by_hand).abs() < 1e-14 && (start.energy_scale + by_hand).abs() < 1e-14);
    let mut fast = p.clone();
    fast.vel[1].y += 1e-3;
    assert!((start.energy_error(start.energy_of(&fast, &at)) - 1.0005e-3 / -by_hand).abs() < 1e-12);
    let fewer = Particles::new(vec![1.0, 0.0], p.pos[..2].to_vec(), p.vel[..2].to_vec());
    assert!(start.energy_error(start.energy_of(&fewer, &at)).is_nan(), "one has left");
    // Two bodies with mass: the energies of the third one changes, theirs does not.
    let (p, at) = bodies([1.0, 0.5, 0.0]);
    assert_eq!(Reference::new(&p, &at).massless, 0);
    // In a field at rest, without any mass; with a mass in it, they are not conserved, that of the mass is.
    let (p, at) = bodies([0.0; 3]);
    let at = Field { external: vec![-1.0, -0.5, -0.25], ..at };
    assert_eq!((Reference::new(&p, &at).basis, Reference::new(&p, &at).massless), (Basis::Massless, 3));
    let (p, _) = bodies([1.0, 0.0, 0.0]);
    let start = Reference::new(&p, &Field { external: vec![-1.0, -0.5, -0.25], ..field(&p) });
    assert_eq!((start.basis, start.massless), (Basis::Total, 0));
}

#[test]
fn a_single_body_at_rest_has_nothing_to_measure() {
    let p = Particles::new(vec![1.0], vec![Vec3::x()], vec![Vec3::zeros()]);
    let at = Field { pot: vec![0.0], ..Field::default() };
    let start = Reference::new(&p, &at);
    assert_eq!(start.basis, Basis::NotMeasured);
    assert!(start.energy_error(start.energy_of(&p, &at)).is_nan());
    let p = moved(&p, Vec3::zeros(), 2.0 * Vec3::y());
    let start = Reference::new(&p, &at);
    assert_eq!((start.basis, start.energy_scale), (Basis::Total, 2.0));
    assert_eq!(start.energy_error(start.energy_of(&p, &at)), 0.0);
}

#[test]
fn hard_binaries_do_not_hide_the_energy_of_a_cluster() {
    let internal = InternalEnergy { velocity: Vec3::zeros(), kinetic: 1e6 + 0.25, potential: -2e6 - 0.5 };
    let rest = internal.without(-1e6, 0.25).unwrap();
    assert!((rest.scale().0 - 0.25).abs() < 1e-8 && rest.scale().1 == Basis::Internal);
    assert_eq!(internal.without(internal.energy(), 0.0), None, "a binary alone");
}
