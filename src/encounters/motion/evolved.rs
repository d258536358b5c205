//! Members of a subsystem whose stars lose mass or are kicked.
//!
//! Two bodies that lose mass slowly against their period, and that nothing disturbs, keep a M, the eccentricity and the phase: the
//! adiabatic invariants of isotropic mass loss (Jeans 1924, MNRAS 85, 2; Hadjidemetriou 1963, Icarus 2, 440). In all other cases
//! the stars stay where they are on their orbits, and go on with the new masses and velocities.

use crate::encounters::motion::elements::pair_elements;
use crate::encounters::motion::member::{Few, Member};
use crate::few_body::Motion;
use crate::star_changes::{Loss, StarChange};
use crate::subsystems::Removed;
use tisane_force::error::Result;
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Time};

/// Largest share of the mass that is lost in one period of an orbit that changes adiabatically.
const ADIABATIC: f64 = 0.01;

/// Members of a subsystem after their stars have changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Evolved {
    /// The members, at the moment of the change.
    pub few: Few,
    /// Their mass.
    pub mass: f64,
    /// Position and velocity of their centre of mass relative to the one before.
    pub shift: [Vec3; 2],
    /// What the change takes out of the system.
    pub removed: Removed,
}

/// Member of which something has changed.
struct NewMember {
    member: Member,
    mass: f64,
    shift: [Vec3; 2],
    /// Shortest time in which its stars lost mass; [`None`] if one lost it at once.
    span: Option<f64>,
}

impl NewMember {
    const fn same(member: Member, mass: f64) -> Self {
        Self { member, mass, shift: [Vec3::new(0.0, 0.0, 0.0); 2], span: Some(f64::INFINITY) }
    }

    /// Returns a member with the changes `of` stars. `mass` is the present one.
    fn new(member: &Member, mass: f64, of: &Changes<'_>) -> Result<Self> {
        match member {
            Member::Star(star) => {
                let Some(change) = of.find(*star) else { return Ok(Self::same(member.clone(), mass)) };
                let span = match change.loss {
                    Loss::Slow(span) if !change.is_kicked() => Some(span),
                    _ => None,
                };
                Ok(Self { member: member.clone(), mass: change.mass, shift: [Vec3::zeros(), change.kick], span })
            }
            Member::Inner(few) if few.members.iter().flat_map(Member::stars).any(|star| of.find(star).is_some()) => {
                let few = few.at(of.clock, of.now.max(few.time))?;
                let (Evolved { few, mass, shift, .. }, span) = evolve(&few, true, of)?;
                Ok(Self { member: Member::Inner(Box::new(few)), mass, shift, span })
            }
            Member::Inner(_) => Ok(Self::same(member.clone(), mass)),
        }
    }
}

/// Changes of stars at a moment.
#[derive(Clone, Copy)]
pub struct Changes<'a> {
    /// The changes, ascending by the numbers of the stars.
    pub all: &'a [StarChange],
    /// Time axis.
    pub clock: &'a Clock,
    /// Moment.
    pub now: Time,
}

impl Changes<'_> {
    /// Returns that of a star.
    pub fn find(&self, star: u32) -> Option<&StarChange> {
        self.all.binary_search_by_key(&star, |change| change.row).ok().map(|k| &self.all[k])
    }
}

impl Evolved {
    /// Returns members after changes `of` stars; they stand at the moment of these. `is_alone` tells that nothing disturbs them. What
    /// it takes out of the system is not known yet.
    pub fn new(few: &Few, is_alone: bool, of: &Changes<'_>) -> Result<Self> {
        evolve(few, is_alone, of).map(|(evolved, _)| evolved)
    }
}

/// Returns members after changes, with the shortest time in which they lost mass.
fn evolve(few: &Few, is_alone: bool, of: &Changes<'_>) -> Result<(Evolved, Option<f64>)> {
    let (motion, before) = (&few.motion, few.motion.masses());
    let members: Vec<NewMember> = few
        .members
        .iter()
        .zip(&before)
        .map(|(member, mass)| NewMember::new(member, *mass, of))
        .collect::<Result<_>>()?;
    let masses: Vec<f64> = members.iter().map(|member| member.mass).collect();
    let span = members.iter().try_fold(f64::INFINITY, |min: f64, member| Some(min.min(member.span?)));
    let moves = members.iter().any(|member| member.shift != [Vec3::zeros(); 2]);
    let slow = span.filter(|_| is_alone && !moves).and_then(|span| adiabatic(motion, &masses, span));
    let (motion, mass, shift) = match slow {
        Some(motion) => (motion, masses.iter().sum(), [Vec3::zeros(); 2]),
        None => in_place(motion, &members),
    };
    let members = members.into_iter().map(|member| member.member).collect();
    let few = Few { members, motion, time: of.now };
    Ok((Evolved { few, mass, shift, removed: Removed::default() }, span))
}

/// Returns two bound bodies with these masses that were lost in a time `span`; [`None`] if that is not slow.
fn adiabatic(motion: &Motion, masses: &[f64], span: f64) -> Option<Motion> {
    let (period, before) = (pair_elements(motion)?.period, motion.total_mass());
    let after: f64 = masses.iter().sum();
    if period * (before - after).abs() > ADIABATIC * after * span {
        return None;
    }
    let (share, (pos, vel)) = (after / before, motion.pair());
    Some(Motion::from_vectors(masses, &[pos / share], &[vel * share]))
}

/// Returns bodies that stay where they are with other masses, their mass, and how their centre of mass moves by that.
fn in_place(motion: &Motion, members: &[NewMember]) -> (Motion, f64, [Vec3; 2]) {
    let masses: Vec<f64> = members.iter().map(|member| member.mass).collect();
    let total: f64 = masses.iter().sum();
    let mean = |of: Vec<Vec3>, part: usize| {
        let moments = of.iter().zip(members).map(|(x, member)| (x + member.shift[part]) * member.mass);
        // Without mass it does not matter which.
        if total > 0.0 { moments.sum::<Vec3>() / total } else { Vec3::zeros() }
    };
    let shift = [mean(motion.offsets(), 0), mean(motion.speeds(), 1)];
    let between = |k: usize| {
        let ((pos, vel), [from, to]) = (motion.vectors(k, k + 1), [&members[k].shift, &members[k + 1].shift]);
        (pos + (to[0] - from[0]), vel + (to[1] - from[1]))
    };
    let (pos, vel): (Vec<Vec3>, Vec<Vec3>) = (0..members.len() - 1).map(between).unzip();
    (Motion::from_vectors(&masses, &pos, &vel), total, shift)
}
