//! Criteria of subsystems: all numbers that decide about membership, coupling and contacts, and how each was measured.
//!
//! Perturbations are ratios of forces, without a unit: 2 r³ D / M for a subsystem of mass M and extent r in the tidal field
//! D = Σ m/r³ of others. The smallest perturbation is the setting `perturbation`. The prototype was one Plummer sphere of 256
//! stars up to core collapse; times and numbers of block steps are those of an eighth of a time unit.

// Pairs that form and stay

/// Largest perturbation 2 r³ D / M with which a pair forms. A prototype (Plummer, N = 256, to core collapse) had energy errors
/// up to 2e-5 with 5e-3 and with 2e-2; this smaller value itself: not measured.
pub const MAX_PERTURBATION_TO_FORM: f64 = 5e-4;
/// Largest perturbation with which a pair stays: ten times that with which it forms, so that none comes and goes.
/// Factors of 4 and of 10 in the prototype: 2.4e-5 and 1.5e-5.
pub const MAX_PERTURBATION_TO_STAY: f64 = 5e-3;
/// Smallest 2 M / (r v²) of a pair that forms; 1 is a parabola. With 1 in the prototype hyperbolic encounters were missed, and
/// steps fell to 2⁻²⁷ to 2⁻³⁷.
pub const MIN_BINDING_TO_FORM: f64 = 0.5;
/// 2 M / (r v²) below which a receding pair dissolves. Not measured.
pub const MIN_BINDING_TO_STAY: f64 = 0.25;
/// Perturbation at the apocentre of a pair that settles, in units of [`MAX_PERTURBATION_TO_STAY`]. Not measured.
pub const SETTLES_BELOW: f64 = 0.7;
/// Perturbation at the apocentre of a settled pair of stars below which its surroundings need not be known, in units of
/// [`MAX_PERTURBATION_TO_STAY`]: nothing follows from them. Any value below [`SETTLES_BELOW`] leads to the same bits of the bodies.
pub const QUIET_BELOW: f64 = 0.5;
/// The membership of a body is updated once in 2 to this power steps. With a sum over all bodies each, these were 26 % of the time on
/// one core in a cluster without binaries (N = 16384); most updates now ask regions alone.
pub const LOG2_STEPS_PER_UPDATE: u8 = 2;

// Subsystems of more than two bodies

/// Largest number of members of a subsystem. Not measured.
pub const MAX_MEMBERS: usize = 8;
/// Largest number of members of a subsystem that a bound companion joins. Not measured.
pub const MAX_MEMBERS_BOUND: usize = 5;
/// Perturbation of a subsystem from which on an approaching body joins it. Not measured.
pub const JOINS_ABOVE: f64 = 0.03;
/// Perturbation below which a receding body that is not bound leaves. Not measured.
pub const LEAVES_BELOW: f64 = 0.008;
/// Largest perturbation by all others of a subsystem of more than two that forms. Without this test subsystems of the prototype
/// grew over the whole cluster (energy error 0.3).
pub const MAX_PERTURBATION_TO_JOIN: f64 = 0.02;
/// Perturbation by all others, at the widest gap of the chain, from which on a subsystem splits in any case. Not measured.
pub const SPLITS_ABOVE: f64 = 0.2;
/// Perturbation from which on a bound companion joins, in units of the smallest perturbation, as far as that is below
/// [`MAX_SMALLEST_FOR_BOUND`]. Not measured.
pub const BOUND_JOINS_ABOVE: f64 = 40.0;
/// Perturbation below which a receding bound companion leaves, in the same units. With equal values it joined and left again
/// and again in the prototype.
pub const BOUND_LEAVES_BELOW: f64 = 10.0;
/// Largest value of that unit, with which a companion that has left is far from dissolving the pair. Not measured.
pub const MAX_SMALLEST_FOR_BOUND: f64 = 2.5e-4;
/// Perturbation, in units of the smallest one, below which a pair becomes one member of another subsystem. Not measured.
pub const CLOSES_BELOW: f64 = 0.25;
/// Largest perturbation of the outer orbit of a stable system that is orbit-averaged, in units of [`MAX_PERTURBATION_TO_STAY`].
/// Not measured.
pub const STABLE_STAYS_BELOW: f64 = 0.5;
/// Pericentre, in sizes of a pair, beyond which that may be the other pair of a stable quadruple. Not measured.
pub const MIN_PERICENTRE_OF_QUADRUPLE: f64 = 4.0;
/// Largest ratio of the period of an isolated outer orbit and that of an inner pair with which the bound companion of a subsystem does
/// not leave it, where pairs are not averaged. A triple of 7.1, 0.13 and 0.12 solar masses (a = 2.4 and 55 au, e = 0.2 to 0.6 and 0.87),
/// not stable, came and went 77 511 times in 5 Myr. As a ring a pair costs few steps an orbit, and there is no limit: with this one three
/// stars of an open cluster came and went 2373 times in 20 Myr.
pub const MAX_PERIODS_TO_STAY: f64 = 256.0;
/// Distance of surfaces, in sums of the radii, within which the stars of an inner subsystem are members of their own.
/// Not measured.
pub const CONTACT_MARGIN: f64 = 2.0;
/// Force of all members as a point on a body without mass, over the sum of their own forces, from which on a subsystem splits:
/// the difference of both has no digits left. Not measured.
pub const SPLITS_AT_CENTRE: f64 = 1e4;
/// The same ratio up to which a subsystem forms. Not measured.
pub const FORMS_AT_CENTRE: f64 = 2.5e3;

// Perturbers

/// Perturbation, in units of the smallest one, from which on another body is a perturber of a subsystem that is not settled;
/// weaker ones act by their tidal field. Not measured.
pub const OPEN_PERTURBED_ABOVE: f64 = 10.0;
/// Mass, in units of that of the subsystem, that counts at least for the distance of a perturber: a light body feels the members
/// although it does not perturb them. Not measured.
pub const MIN_PERTURBER_MASS: f64 = 0.125;
/// Safety factor of the distance over which others may come within a time. Not measured.
pub const SPEED_MARGIN: f64 = 2.0;
/// Safety factor of the distance by which the present accelerations bend the paths of two bodies that may meet. Without a look at
/// the paths lists had 96 bodies in the mean, of which 2 came near (N = 8000, all in binaries).
pub const BENDING_MARGIN: f64 = 2.0;
/// Number of steps of the centre of mass for which a list of perturbers holds at most. Tight pairs need a new one each step:
/// 61 % of the steps of centres of mass did (N = 4096, half of the stars in binaries).
pub const MAX_STEPS_OF_LIST: u64 = 8;
/// The same number for a pair that is not settled, whose tide by all others is measured with the list.
pub const MAX_STEPS_OF_OPEN_LIST: u64 = 4;
/// Forces are evaluated again if a new list changes the factor of a coupling by more than this. Not measured.
pub const RECOMPUTE_ABOVE: f64 = 1e-3;
/// Square of the outer over that of the inner radius of a coupling, which fades between them. Not measured.
pub const SQUARED_RATIO_OF_RADII: f64 = 4.0;
/// Size of a subsystem that is not settled, in units of its present extent. Not measured.
pub const SIZE_MARGIN: f64 = 1.5;
/// Relative change of the size of a settled pair from which on it is measured anew. Not measured.
pub const SIZE_CHANGES_ABOVE: f64 = 0.05;
/// Number of steps in the period of a pair, of its centre of mass and of its perturbers, where these perturb it by
/// [`RESOLVED_ABOVE`] times the smallest perturbation or more.
pub const STEPS_PER_PERIOD: f64 = 24.0;
/// Perturbation, in units of the smallest one, below which that number falls with its root, as what the pair does to its perturbers is as
/// weak. With the default perturbation it is that with which a pair dissolves. A perturber counts as heavy as the pair at least.
pub const RESOLVED_ABOVE: f64 = 500.0;
/// Smallest part of that number, and of that of an open pair, which falls likewise. With 1 there are 1.8 times as many block steps, with
/// the same errors: in 60 Plummer spheres (N = 1024, half of the stars in binaries, t = 2) the largest error of the energy of the cluster has
/// the quartiles 0.8, 1.6, 2.6e-7, with 1 0.8, 1.6, 2.3e-7; 0.1 saves 1 % more.
pub const MIN_RESOLVED_PART: f64 = 0.25;
/// Distance of an open pair down to which the steps of its centre of mass resolve its motion where nobody feels the members, in
/// units of that at which it dissolves. Without it such pairs took a third of all block steps (N = 4096 and 16384, half of the
/// stars in binaries), with the same events and energy errors.
pub const RESOLVED_ALONE: f64 = 0.5;
/// The same distance of more than two stars, at most, in units of the widest gap of the chain: one of them may be thrown out at any
/// moment. Not measured.
pub const RESOLVED_ALONE_IN_GAPS: f64 = 50.0;

// Orbit-averaged coupling

/// Largest perturbation of a pair by another body that both feel orbit-averaged, in units of the smallest one. With 100 there
/// are up to a third fewer block steps at N = 1024 and 4096 with the same energy error, and not fewer at 16384; secular accuracy
/// not measured.
pub const AVERAGED_BELOW: f64 = 30.0;
/// Time in which the position of that body changes, in periods of the pair, above which they do. With 2 there are as many
/// block steps.
pub const MIN_PERIODS_OF_APPROACH: f64 = 4.0;
/// Factor by which both may exceed these bounds where they are orbit-averaged already. Not measured.
pub const AVERAGED_MARGIN: f64 = 1.5;
/// Time for which the rings of inner pairs stand still while the other members move, in units of that in which the nearest of them
/// changes its place.
pub const RING_STANDS: f64 = 0.1;
/// Time in which the places of others change, in periods of a pair among them, from which on it becomes a ring. One that is a ring goes
/// on to [`MIN_PERIODS_OF_APPROACH`]: it opens and closes once an outer orbit at most, and for some tens of its own.
pub const MIN_PERIODS_OF_RING: f64 = 16.0;
/// Largest perturbation, at the outer pericentre and with the inner axis as the size, of a binary that becomes the inner one of
/// a stable orbit-averaged system. Not measured.
pub const MAX_PERTURBATION_TO_NEST: f64 = 6e-3;
/// The same perturbation of one that stays so. Not measured.
pub const MAX_PERTURBATION_TO_STAY_NESTED: f64 = 9e-3;
/// Fifth power of the outer pericentre, in inner axes, above which a circular system of a light third body is stable (Mardling
/// & Aarseth 2001, MNRAS 321, 398).
pub const STABLE_PERICENTRE: f64 = 2.8 * 2.8 * 2.8 * 2.8 * 2.8;
/// Factor by which a system exceeds that fifth power where it begins to be orbit-averaged. Not measured.
pub const STABLE_MARGIN: f64 = 1.6;
/// Largest angle by which an orbit of a stable system turns in one step of the averaged equations, which are solved to the fourth
/// order. Not measured.
pub const MAX_TURN_NESTED: f64 = 0.01;
/// Largest angle by which the orbit of a pair turns in one step of the averaged equations, likewise. Not measured.
pub const MAX_TURN: f64 = 0.1;
/// Smallest 1 − e² of an orbit that is orbit-averaged: nearer to a radial one its plane has few digits.
pub const MIN_SQUARED_MINOR_AXIS: f64 = 1e-12;
/// Number of times that the binding energy at a place on an orbit is computed, as it changes that place: by less each time.
pub const REFINEMENTS: usize = 3;

// Contacts of stars

/// Time after a contact by which the step ends that has it, in units of the sum of the radii over the speed. Not measured.
pub const STEP_ENDS_AFTER_CONTACT: f64 = 0.1;
/// Number of parts of a block step between which members of a subsystem move by cubic paths. Not measured.
pub const PARTS_OF_STEP: u64 = 32;
/// Number of such parts below which a period is too short to follow: members count as being at their centre of mass then.
/// Not measured.
pub const MIN_PARTS_PER_PERIOD: f64 = 6.0;
/// Number of steps of a body for which its list of neighbours holds at most. No result depends on it.
pub const MAX_STEPS_OF_NEIGHBOURS: u64 = 8;
/// Number of neighbours up to which such a list may hold for more than one step. No result depends on it.
pub const MAX_NEIGHBOURS: usize = 32;
/// Speed by which a body is known in the lists, in units of that which its next step ends with. No result depends on it.
pub const KNOWN_SPEED: f64 = 2.0;
/// Smallest such ratio with which a list holds. No result depends on it.
pub const MIN_KNOWN_SPEED: f64 = 1.25;
/// Change of the mean velocity, in mean speeds relative to it, from which on speeds are measured anew. No result depends on it.
pub const MAX_DRIFT: f64 = 0.5;
/// Relative change of the acceleration of another body by a merger from which on that body begins anew. Not measured.
pub const DISTURBED_ABOVE: f64 = 1e-8;

// Settings and measurements

/// Largest value of the setting `perturbation`: beyond it a pair is none.
pub const MAX_SMALLEST_PERTURBATION: f64 = 1e-2;
/// Returns the smallest correction of the energy with another body for the members of a subsystem, in units of M²/size of it, that counts
/// among a number of bodies. It grows with that number, so that as many bodies count at each size; the energy of each subsystem
/// becomes a smaller part of the whole in turn. With 10⁻¹⁰ the energy of 11000 stars with 10 % binaries changed by 3·10⁻¹² of it.
pub fn min_correction(bodies: usize) -> f64 {
    1e-16 * bodies.max(10_000) as f64
}

/// Criteria that depend on the accuracy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Smallest relative perturbation that the members of a subsystem feel.
    pub perturbation: f64,
    /// True where pairs and stable systems may be orbit-averaged.
    pub averages: bool,
    /// Largest perturbation with which a pair forms.
    pub forms: f64,
    /// Largest perturbation of a pair that stays.
    pub dissolves: f64,
}

impl Rules {
    /// Returns true if the coupling of a pair and a perturber is orbit-averaged, with this perturbation, and this time in
    /// which the position of the perturber changes, in periods.
    pub fn is_averaged(&self, perturbation: f64, periods: f64, was: bool) -> bool {
        let margin = if was { AVERAGED_MARGIN } else { 1.0 };
        self.averages
            && perturbation < margin * AVERAGED_BELOW * self.perturbation
            && margin * periods > MIN_PERIODS_OF_APPROACH
    }
}
