//! Pair laws: the force between two particles as a formula, compiled for every engine.
//!
//! A law is a formula for the potential energy U of a pair, or for the acceleration of the target towards the source,
//! in terms of the softened distance s = √(r² + ε²), masses, columns of particles and named parameters. With
//! r = r_j − r_i and v = v_j − v_i it makes
//! ```text
//! a_i = A r,    da_i/dt = A v + B (r·v) r,    φ_i = U / m_i,    A = U′(s) / (m_i s),    B = A′(s) / s.
//! ```
//! Newton's U = −m_i m_j / s makes A = m_j / s³. The derivatives are made symbolically, so that the division by m_i
//! cancels where the formula has a factor m_i, and massless bodies are accelerated.
//!
//! A [`formula`](crate::formula) becomes a [`Program`]; `check` compares its derivatives with differences, and looks for
//! jumps and a symmetry that is broken.

mod check;
pub mod evaluate;
mod names;
pub mod program;
pub mod ready;
mod source;

pub use program::Program;
pub use source::{Column, Formula, LawSource};

use crate::error::{Error, Result};
use crate::formula::compile::{Compiler, TooLong};
use crate::formula::derive::{self, Derivatives, quotient};
use crate::formula::dimension::GravityDimension;
use crate::formula::mistake::{At, Checked, Mistake};
use crate::formula::op::MAX_OPS;
use crate::formula::terms::Terms;
use crate::formula::{parse, unit_check};
use crate::particles::Particles;
use program::{Input, Op};

/// Law of the force between two particles, compiled.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    source: LawSource,
    program: Program,
    accelerations: Program,
    notes: Vec<String>,
}

impl Law {
    /// Compiles a law and checks it: names, units, constants, derivatives.
    ///
    /// # Errors
    /// The first mistake in the formula, with its place.
    pub fn new(source: LawSource) -> Result<Self, Mistake> {
        let program = program(&source).map_err(|mistake| mistake.of(source.formula.text()))?;
        let notes = check::check(&program)
            .map_err(|problem| At::new(&(0..source.formula.text().len()), problem).of(source.formula.text()))?;
        Ok(Self { accelerations: program.accelerations(), source, program, notes })
    }

    /// Returns what the law was compiled from.
    #[must_use]
    pub fn source(&self) -> &LawSource {
        &self.source
    }

    /// Returns the program of acceleration, jerk and potential.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the program of the acceleration alone.
    #[must_use]
    pub fn accelerations(&self) -> &Program {
        &self.accelerations
    }

    /// Returns true if the law has a potential, so that energy is defined.
    #[must_use]
    pub fn has_potential(&self) -> bool {
        self.program.minus_potential.is_some()
    }

    /// Returns what a user should know of the law: jumps, a third law that does not hold.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the columns of particles that the program reads, in its order.
    ///
    /// # Errors
    /// [`Error::Integration`] if a column is missing or does not have a value for each particle.
    pub fn columns<'a>(&self, particles: &'a Particles) -> Result<Vec<&'a [f64]>> {
        let column = |name: &String| {
            let problem = match particles.column(name) {
                Some(values) if values.len() == particles.len() => return Ok(values),
                Some(values) => format!("has {} values for {} particles", values.len(), particles.len()),
                None => "is missing".into(),
            };
            let problem = format!("column `{name}` of the particles, which the law reads, {problem}");
            Err(Error::Integration { problem, help: None })
        };
        self.program.columns.iter().map(column).collect()
    }
}

/// Compiles a formula.
fn program(source: &LawSource) -> Checked<Program> {
    let formula = source.formula.text();
    let tree = parse::parse(formula)?;
    let symbols = names::names(source)?;
    let wanted = match source.formula {
        Formula::Potential(_) => GravityDimension::ENERGY,
        Formula::Acceleration(_) => GravityDimension::ACCELERATION,
    };
    let mut terms = Terms::new();
    let given = derive::term(&tree, &symbols, &mut terms)?;
    if source.has_units {
        unit_check::check(&tree, &symbols, wanted)?;
    }
    let mut derivatives = Derivatives::new();
    let s = terms.input(Input::S);
    let (factor, minus_potential) = match source.formula {
        Formula::Potential(_) => {
            let m_i = terms.input(Input::TargetMass);
            let per_mass = quotient(given, m_i, &mut terms);
            let slope = derivatives.of(per_mass, Input::S, &mut terms);
            (quotient(slope, s, &mut terms), Some(terms.neg(per_mass)))
        }
        Formula::Acceleration(_) => (quotient(given, s, &mut terms), None),
    };
    let slope = derivatives.of(factor, Input::S, &mut terms);
    let slope = quotient(slope, s, &mut terms);
    let too_long = |TooLong| {
        let problem = format!("the formula is too long: it needs more than {} operations", MAX_OPS);
        At::new(&(0..formula.len()), problem)
    };
    let columns: Vec<String> = source.columns.iter().map(|column| column.name.clone()).collect();
    let compile = |by_inverse| {
        let mut compiler = Compiler::new(&terms, by_inverse, MAX_OPS);
        let minus_potential = minus_potential.map(|it| compiler.emit(it)).transpose()?;
        let factor = compiler.emit(factor)?;
        let slope = Some(compiler.emit(slope)?);
        Ok(Program { ops: compiler.finish(), factor, slope, minus_potential, columns: columns.clone() })
    };
    let program = compile(false).map_err(too_long)?;
    if program.ops.contains(&Op::Input(Input::S)) && program.is_infinite_at_zero() {
        return compile(true).map_err(too_long);
    }
    Ok(program)
}

#[cfg(test)]
mod tests;
