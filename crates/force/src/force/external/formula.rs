//! Fields whose potential is a formula.
//!
//! All else follows from φ(x, y, z, t) by symbolic derivatives, with x the place relative to the field's own and v the
//! velocity of the particle:
//! ```text
//! a_k = −∂φ/∂x_k,    T_kl = ∂a_k/∂x_l,    jerk_k = Σ_l T_kl v_l + ∂a_k/∂t,    dφ_t/dt = −Σ_l v_l ∂a_l/∂t + ∂²φ/∂t².
//! ```
//! The straight-line programs are evaluated in f64 and in a fixed order: the same bits on every machine.

mod check;
pub(crate) mod force_program;
mod program;
mod source;
mod together;
pub(crate) mod variable;

pub use source::FieldSource;

use super::field::ExternalField;
use super::parts::{FieldPart, Summand};
use super::places::{FieldForces, LANES, Lanes, Places};
use crate::force::cpu::Width;
use crate::formula::Mistake;
use crate::formula::mistake::At;
use crate::particles::Vec3;
use program::{Program, Programs};
use std::sync::Arc;

/// Field whose potential is a formula, compiled.
#[derive(Clone, Debug)]
pub struct FormulaField {
    position: Vec3,
    programs: Programs,
    notes: Vec<String>,
    /// Instructions with which several places are evaluated.
    width: Width,
}

impl FormulaField {
    /// Compiles a formula with its centre at `position`, and checks names, units and constants.
    ///
    /// # Errors
    /// The first mistake in the formula, with its place.
    pub fn new(source: &FieldSource, position: Vec3) -> Result<Self, Mistake> {
        let programs = Programs::compile(source).map_err(|mistake| mistake.of(&source.potential))?;
        Ok(Self { position, programs, notes: Vec::new(), width: Width::widest() })
    }

    /// Compiles a formula as [`new`](Self::new), and compares its derivatives with differences: for formulas of users.
    ///
    /// # Errors
    /// The first mistake in the formula, with its place; a potential that jumps is one.
    pub fn checked(source: &FieldSource, position: Vec3) -> Result<Self, Mistake> {
        let field = Self::new(source, position)?;
        let notes = check::check(&field.programs)
            .map_err(|problem| At::new(&(0..source.potential.len()), problem).of(&source.potential))?;
        Ok(Self { notes, ..field })
    }

    /// Returns what a user should know of the field: where its acceleration jumps.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns true if the potential changes in time.
    #[must_use]
    pub fn depends_on_time(&self) -> bool {
        self.programs.rate.is_some()
    }

    /// Returns the variables of the programs: place, time, velocity.
    fn variables(&self, pos: Vec3, vel: Vec3, t: f64) -> [f64; 7] {
        let [x, y, z] = (pos - self.position).into();
        [x, y, z, t, vel.x, vel.y, vel.z]
    }

    /// Returns the same for several places.
    fn variables_of(&self, at: &Places, t: f64) -> [Lanes; 7] {
        let [x, y, z] = std::array::from_fn(|axis| at.pos[axis].map(|x| x - self.position[axis]));
        let [u, v, w] = at.vel;
        [x, y, z, [t; LANES], u, v, w]
    }

    fn evaluate<const N: usize>(&self, program: &Program, pos: Vec3, vel: Vec3, t: f64) -> [f64; N] {
        program.evaluate(&self.variables(pos, vel, t), &mut Vec::new())
    }
}

impl ExternalField for FormulaField {
    fn acc(&self, pos: Vec3, t: f64) -> Vec3 {
        Vec3::from(self.evaluate(&self.programs.acc, pos, Vec3::zeros(), t))
    }

    fn jerk(&self, pos: Vec3, vel: Vec3, t: f64) -> Vec3 {
        Vec3::from(self.evaluate(&self.programs.jerk, pos, vel, t))
    }

    fn pot(&self, pos: Vec3, t: f64) -> f64 {
        let [pot] = self.evaluate(&self.programs.pot, pos, Vec3::zeros(), t);
        pot
    }

    fn tide(&self, pos: Vec3, t: f64) -> [f64; 6] {
        self.evaluate(&self.programs.tide, pos, Vec3::zeros(), t)
    }

    fn rate(&self, pos: Vec3, vel: Vec3, t: f64) -> [f64; 2] {
        self.programs.rate.as_ref().map_or([0.0; 2], |rate| self.evaluate(rate, pos, vel, t))
    }

    fn parts(&self) -> Option<Summand> {
        let program = Arc::clone(&self.programs.device);
        Some(Summand::Part(FieldPart::Formula { position: self.position, program }))
    }

    fn accelerations(&self, at: &Places, t: f64) -> [Lanes; 3] {
        self.programs.accelerations.evaluate(self.width, &self.variables_of(at, t))
    }

    fn forces(&self, at: &Places, t: f64) -> FieldForces {
        let [ax, ay, az, jx, jy, jz, pot] = self.programs.forces.evaluate(self.width, &self.variables_of(at, t));
        FieldForces { acc: [ax, ay, az], jerk: [jx, jy, jz], pot }
    }

    fn tides(&self, at: &Places, t: f64) -> [Lanes; 6] {
        self.programs.tides.evaluate(self.width, &self.variables_of(at, t))
    }

    fn rates(&self, at: &Places, t: f64) -> [Lanes; 2] {
        let rates = self.programs.rates.as_ref();
        rates.map_or([[0.0; LANES]; 2], |rates| rates.evaluate(self.width, &self.variables_of(at, t)))
    }
}

#[cfg(test)]
mod tests;
