//! A program for one pair, operation by operation: what the vector units and GPUs are compared with.

use super::program::{Input, Program};
use crate::force::real::Real;
use crate::formula::op::Register;

/// Quantities of a pair, in the type that a law is computed in.
#[derive(Clone, Copy, Debug)]
pub struct Quantities<'a, R> {
    /// Softened distance squared, s² = r² + ε².
    pub s2: R,
    /// Masses of source and target.
    pub mass: [R; 2],
    /// Values of the source in the program's columns.
    pub source: &'a [R],
    /// Values of the target in the program's columns.
    pub target: &'a [R],
}

/// Results of a program for a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors<R> {
    /// A: the acceleration of the target is A r.
    pub factor: R,
    /// B: the jerk is A v + B (r·v) r. Zero from a program of accelerations alone.
    pub slope: R,
    /// −U / m_i; zero where there is no potential.
    pub minus_potential: R,
}

impl Program {
    /// Evaluates the program for a pair. `registers` is memory that calls may share; it holds the result of each
    /// operation afterwards.
    pub fn evaluate<R: Real>(&self, pair: &Quantities<'_, R>, registers: &mut Vec<R>) -> Factors<R> {
        registers.clear();
        for op in &self.ops {
            let result = op.result(registers, |input| read(input, pair));
            registers.push(result);
        }
        let at = |register: Register| registers[usize::from(register)];
        let or_zero = |register: Option<Register>| register.map_or(R::from_f64(0.0), at);
        Factors { factor: at(self.factor), slope: or_zero(self.slope), minus_potential: or_zero(self.minus_potential) }
    }
}

/// Returns an input of the program.
fn read<R: Real>(input: Input, pair: &Quantities<'_, R>) -> R {
    match input {
        Input::S => pair.s2.sqrt(),
        Input::SquareS => pair.s2,
        Input::InverseS => R::one() / pair.s2.sqrt(),
        Input::SourceMass => pair.mass[0],
        Input::TargetMass => pair.mass[1],
        Input::Source(column) => pair.source[usize::from(column)],
        Input::Target(column) => pair.target[usize::from(column)],
    }
}
