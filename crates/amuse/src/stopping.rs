//! Stopping conditions: what ends an `evolve_model` before its time.

use crate::columns::{Arguments, NOT_FOUND, Outcome, Outputs, Status};
use crate::contacts::{Contact, Contacts};
use crate::particles::{Particles, Vector, distance};
use crate::simulation::Motion;
use std::time::Instant;

/// Types of AMUSE's conditions that this code supports; of the others, up to [`KINDS`], it says that it does not.
pub mod kind {
    /// Two particles touch.
    pub const COLLISION: i32 = 0;
    /// Two particles touch and are bound to each other.
    pub const PAIR: i32 = 1;
    /// The wall-clock time of the call is used up.
    pub const TIMEOUT: i32 = 3;
    /// The number of block steps of the call is reached.
    pub const STEPS: i32 = 4;
    /// A particle is outside of the box.
    pub const OUT_OF_BOX: i32 = 5;
}
/// Number of types that AMUSE has.
pub const KINDS: usize = 10;
const SUPPORTED: [i32; 5] = [kind::COLLISION, kind::PAIR, kind::TIMEOUT, kind::STEPS, kind::OUT_OF_BOX];

/// Condition that was met, with its particles as indices.
#[derive(Clone, Debug, PartialEq)]
pub struct Met {
    /// Type of the condition.
    pub kind: i32,
    /// Indices of the particles.
    pub particles: Vec<i32>,
}

/// Limits of densities and internal energies of gas.
#[derive(Clone, Debug, PartialEq)]
pub struct GasLimits {
    /// Smallest density.
    pub min_density: f64,
    /// Largest density.
    pub largest_density: f64,
    /// Smallest specific internal energy.
    pub min_energy: f64,
    /// Largest specific internal energy.
    pub largest_energy: f64,
}

impl Default for GasLimits {
    /// No limits, as AMUSE's interface writes them.
    fn default() -> Self {
        Self { min_density: -1.0, largest_density: -1.0, min_energy: -1.0, largest_energy: -1.0 }
    }
}

/// Conditions: which are enabled, their parameters, and which were met in the last evolution.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// Limits of gas, which AMUSE sets in every code with stopping conditions; kept for it, there is no gas.
    pub gas_limits: GasLimits,
    /// Wall-clock time of an evolution, in seconds.
    pub timeout: f64,
    /// Number of block steps of an evolution.
    pub steps: i32,
    /// Distance from the centre beyond which a particle is out of the box.
    pub box_size: f64,
    /// Flag that makes the centre of mass the centre of the box, instead of the origin.
    pub box_at_centre_of_mass: bool,
    enabled: [bool; KINDS],
    met: Vec<Met>,
    contacts: Contacts,
}

impl Default for Conditions {
    fn default() -> Self {
        Self {
            gas_limits: GasLimits::default(),
            timeout: 4.0,
            steps: 1,
            box_size: 0.0,
            box_at_centre_of_mass: false,
            enabled: [false; KINDS],
            met: Vec::new(),
            contacts: Contacts::default(),
        }
    }
}

impl Conditions {
    /// Forgets what was met: an evolution begins.
    pub fn clear(&mut self) {
        self.met.clear();
    }

    /// Returns true if a condition was met in this evolution.
    #[must_use]
    pub fn is_met(&self) -> bool {
        !self.met.is_empty()
    }

    /// Returns true if some condition has to be checked.
    #[must_use]
    pub fn any_enabled(&self) -> bool {
        self.enabled.contains(&true)
    }

    fn is_enabled(&self, kind: i32) -> bool {
        self.enabled[kind as usize]
    }

    /// Enables or disables the condition of a type.
    ///
    /// # Errors
    /// [`NOT_FOUND`] for a type that is not supported.
    pub fn enable(&mut self, kind: i32, enabled: bool) -> Result<(), Status> {
        if !SUPPORTED.contains(&kind) {
            return Err(NOT_FOUND);
        }
        self.enabled[kind as usize] = enabled;
        Ok(())
    }

    /// Checks the conditions that depend on a block step, after one of an evolution that began at `began` and has made
    /// `steps` of them; returns true if one is met. Indices and masses are those of `particles`.
    pub fn check(&mut self, began: Instant, steps: u64, particles: &Particles, motion: &Motion<'_>) -> bool {
        if self.is_enabled(kind::TIMEOUT) && began.elapsed().as_secs_f64() >= self.timeout {
            self.met.push(Met { kind: kind::TIMEOUT, particles: Vec::new() });
        }
        if self.is_enabled(kind::STEPS) && steps >= u64::try_from(self.steps).unwrap_or(0) {
            self.met.push(Met { kind: kind::STEPS, particles: Vec::new() });
        }
        if self.is_enabled(kind::OUT_OF_BOX) {
            self.check_box(particles, &motion.positions(0.0));
        }
        !self.met.is_empty()
    }

    /// Looks for contacts in the span `from..to`, counted from the last block step: no particle takes a step in it.
    /// Returns when the first of those that matter begins and when its particles are closest, as far as the motion is
    /// straight. Particles that touch already are left out with `new`: an evolution would never get ahead of them.
    pub fn look_ahead(
        &mut self,
        particles: &Particles,
        motion: &Motion<'_>,
        (from, to): (f64, f64),
        new: bool,
    ) -> Option<[f64; 2]> {
        if !self.has_contacts() || to <= from {
            return None;
        }
        let ends = [motion.positions(from), motion.positions(to)];
        let found = self.contacts.find([&ends[0], &ends[1]], &particles.radius);
        let matters = |contact: &&Contact| {
            let known = new && contact.begin == 0.0;
            !known && (self.is_enabled(kind::COLLISION) || is_bound(particles, contact, to - from))
        };
        found.iter().find(matters).map(|contact| [contact.begin, contact.closest].map(|part| from + part * (to - from)))
    }

    /// Checks for contacts in a state of all particles at one time; returns true if a condition is met.
    pub fn check_contacts(&mut self, particles: &Particles, (pos, vel): (&[Vector], &[Vector])) -> bool {
        if !self.has_contacts() {
            return false;
        }
        // Straight on for a unit of time, from which the relative velocities are taken.
        let ahead = |(x, v): (&Vector, &Vector)| -> Vector { std::array::from_fn(|axis| x[axis] + v[axis]) };
        let ahead: Vec<Vector> = pos.iter().zip(vel).map(ahead).collect();
        let found = self.contacts.find([pos, &ahead], &particles.radius);
        for contact in found.iter().filter(|contact| contact.begin == 0.0) {
            let bound = is_bound(particles, contact, 1.0);
            for (kind, is_met) in [(kind::PAIR, bound), (kind::COLLISION, true)] {
                if is_met && self.is_enabled(kind) {
                    self.met.push(Met { kind, particles: contact.rows.map(|row| particles.index[row]).into() });
                }
            }
        }
        !self.met.is_empty()
    }

    fn has_contacts(&self) -> bool {
        self.is_enabled(kind::COLLISION) || self.is_enabled(kind::PAIR)
    }

    fn check_box(&mut self, particles: &Particles, pos: &[Vector]) {
        let centre = if self.box_at_centre_of_mass { particles.mean(pos) } else { [0.0; 3] };
        let outside = pos.iter().zip(&particles.index).filter(|(x, _)| distance(**x, centre) > self.box_size);
        self.met.extend(outside.map(|(_, &index)| Met { kind: kind::OUT_OF_BOX, particles: vec![index] }));
    }

    /// Returns the first two particles that touch, as indices.
    #[must_use]
    pub fn colliding(&self) -> Option<[i32; 2]> {
        let first = self.met.iter().find(|met| met.kind == kind::COLLISION)?;
        first.particles.clone().try_into().ok()
    }
}

/// Returns true if the relative energy of two particles in contact, without softening, is negative.
fn is_bound(particles: &Particles, contact: &Contact, span: f64) -> bool {
    let square: f64 = contact.shift.iter().map(|shift| (shift / span) * (shift / span)).sum();
    let mass: f64 = contact.rows.iter().map(|&row| particles.mass[row]).sum();
    0.5 * square < mass / contact.distance
}

fn flag(value: bool) -> [i32; 1] {
    [i32::from(value)]
}

/// Serves `has_stopping_condition`.
pub fn has(_: &mut Conditions, a: &Arguments<'_>) -> Outcome<Outputs> {
    Ok(Outputs::ints(a.count(), |i| Ok(flag(SUPPORTED.contains(&a.ints(0)[i])))))
}

/// Serves `enable_stopping_condition`.
pub fn enable(conditions: &mut Conditions, a: &Arguments<'_>) -> Outcome<Outputs> {
    Ok(Outputs::statuses(a.count(), |i| conditions.enable(a.ints(0)[i], true)))
}

/// Serves `disable_stopping_condition`.
pub fn disable(conditions: &mut Conditions, a: &Arguments<'_>) -> Outcome<Outputs> {
    Ok(Outputs::statuses(a.count(), |i| conditions.enable(a.ints(0)[i], false)))
}

/// Serves `is_stopping_condition_enabled`.
pub fn enabled(conditions: &mut Conditions, a: &Arguments<'_>) -> Outcome<Outputs> {
    let is_enabled = |kind: i32| usize::try_from(kind).is_ok_and(|kind| conditions.enabled.get(kind) == Some(&true));
    Ok(Outputs::ints(a.count(), |i| Ok(flag(is_enabled(a.ints(0)[i])))))
}

/// Serves `is_stopping_condition_set`.
pub fn set(conditions: &mut Conditions, a: &Arguments<'_>) -> Outcome<Outputs> {
    Ok(Outputs::ints(a.count(), |i| Ok(flag(conditions.met.iter().any(|met| met.kind == a.ints(0)[i])))))
}

/// Serves `get_number_of_stopping_conditions_set`.
pub fn number(conditions: &mut Conditions, a: &Arguments<'_>) -> Outcome<Outputs> {
    let number = i32::try_from(conditions.met.len()).unwrap_or(i32::MAX);
    Ok(Outputs::ints(a.count(), |_| Ok([number])))
}

/// Serves `get_stopping_condition_info`: type and number of particles of a condition that was met.
pub fn info(conditions: &mut Conditions, a: &Arguments<'_>) -> Outcome<Outputs> {
    Ok(Outputs::ints(a.count(), |i| {
        let met = usize::try_from(a.ints(0)[i]).ok().and_then(|k| conditions.met.get(k)).ok_or(NOT_FOUND)?;
        Ok([met.kind, met.particles.len() as i32])
    }))
}

/// Serves `get_stopping_condition_particle_index`: a particle of a condition that was met.
pub fn particle(conditions: &mut Conditions, a: &Arguments<'_>) -> Outcome<Outputs> {
    Ok(Outputs::ints(a.count(), |i| {
        let [k, column] = [a.ints(0)[i], a.ints(1)[i]].map(usize::try_from);
        let met = k.ok().and_then(|k| conditions.met.get(k)).ok_or(NOT_FOUND)?;
        let index = column.ok().and_then(|column| met.particles.get(column)).ok_or(NOT_FOUND)?;
        Ok([*index])
    }))
}
