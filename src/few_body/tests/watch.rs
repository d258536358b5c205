//! Tests of contacts on the way.

use super::*;
use crate::few_body::{Contact, Motion, Tide, Watch};

/// Tide that changes nothing, with which a pair is integrated all the same.
struct Calm;

impl Tide for Calm {
    fn acc(&self, _: f64, _: &[Vec3], acc: &mut [Vec3]) {
        acc.fill(Vec3::zeros());
    }
}

/// Pair with semi-major axis 1, total mass 1 and this eccentricity, at its apocentre.
fn orbit(e: f64) -> Motion {
    let (x, v) = (Vec3::new(1.0 + e, 0.0, 0.0), Vec3::new(0.0, ((1.0 - e) / (1.0 + e)).sqrt(), 0.0));
    Motion::from_vectors(&[0.25, 0.75], &[x], &[v])
}

fn contacts(motion: &Motion, dt: f64, tide: Option<&dyn Tide>, radii: &[f64]) -> Vec<Contact> {
    let (mut watched, mut alone) = (motion.clone(), motion.clone());
    let mut watch = Watch::new(radii.to_vec(), false);
    assert_eq!(watched.advance_watched(dt, tide, &mut watch).unwrap(), dt);
    alone.advance(dt, tide).unwrap();
    assert_eq!(watched, alone, "the watch changes nothing");
    watch.found
}

#[test]
fn verify_contacts_of_a_pair_with_and_without_a_tide() {
    for e in [0.5, 0.99, 0.999_999] {
        let (motion, pericentre) = (orbit(e), 1.0 - e);
        for tide in [None, Some(&Calm as &dyn Tide)] {
            let sum = |part: f64| [0.4 * part * pericentre, 0.6 * part * pericentre];
            let near = if e > 0.99 { 1e-8 } else { 1e-11 };
            assert_eq!(contacts(&motion, 20.0, tide, &sum(1.0 - near)), [], "e = {e}: just outside");
            let found = contacts(&motion, 20.0, tide, &sum(1.1));
            let [Contact { bodies, time, pos, vel, pericentre: q, .. }] = found[..] else { panic!("{found:?}") };
            assert_eq!(bodies, [0, 1]);
            assert!((q / pericentre - 1.0).abs() < 1e-9 && time < TAU / 2.0 && time > 0.9, "e = {e}: {found:?}");
            assert!((pos.norm() / (1.1 * pericentre) - 1.0).abs() < 1e-6 && pos.dot(&vel) < 0.0, "e = {e}: {found:?}");
            assert_eq!(contacts(&motion, 1.0, tide, &sum(1.1)), [], "e = {e}: before it");
            assert_eq!(contacts(&motion, 20.0, tide, &sum(1.0 + near)).len(), 1, "e = {e}: just inside");
        }
    }
}

/// Burrau's problem: two of the bodies pass each other within 0.01 at the time 15.83 for the first time.
#[test]
fn a_chain_ends_at_the_contact() {
    let pos = [[1.0, 3.0, 0.0], [-2.0, -1.0, 0.0], [1.0, -1.0, 0.0]].map(Vec3::from);
    let motion = Motion::new(&[3.0, 4.0, 5.0], &pos, &[Vec3::zeros(); 3]);
    let found = contacts(&motion, 20.0, None, &[5e-3, 5e-3, 5e-3]);
    let first = found[0];
    let mut ended = motion.clone();
    let mut watch = Watch::new(vec![5e-3; 3], true);
    let time = ended.advance_watched(20.0, None, &mut watch).unwrap();
    let [contact] = watch.found[..] else { panic!("{:?}", watch.found) };
    assert_eq!((contact.bodies, contact.time), (first.bodies, time));
    let (apart, vel) = ended.vectors(contact.bodies[0], contact.bodies[1]);
    assert!((apart.norm() / 0.01 - 1.0).abs() < 1e-6 && apart.dot(&vel) < 0.0, "{time}: {}", apart.norm());
    assert!((apart - contact.pos).norm() < 1e-7, "{apart} {}", contact.pos);
    // Bodies that touch at the begin.
    let mut watch = Watch::new(vec![5.0; 3], true);
    assert_eq!(motion.clone().advance_watched(20.0, None, &mut watch).unwrap(), 0.0);
    assert_eq!(watch.found.len(), 1);
}
