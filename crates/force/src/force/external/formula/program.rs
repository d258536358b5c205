//! The programs of a field: acceleration, jerk, potential, tidal tensor and rate from one formula.

use super::force_program::ForceProgram;
use super::source::FieldSource;
use super::together::Together;
use super::variable::FieldVariable;
use crate::formula::compile::{Compiler, TooLong};
use crate::formula::derive::{self, Derivatives};
use crate::formula::dimension::GravityDimension;
use crate::formula::mistake::{At, Checked};
use crate::formula::op::{Op, Register, needed};
use crate::formula::terms::{Id, Terms};
use crate::formula::{parse, unit_check};
use std::sync::Arc;

/// Largest number of operations of all programs of a field together.
pub(super) const MAX_OPS: usize = 4096;

/// Straight-line program with its results.
#[derive(Clone, Debug)]
pub(super) struct Program {
    pub ops: Vec<Op<FieldVariable>>,
    results: Vec<Register>,
}

impl Program {
    /// Evaluates the program at place, time and velocity. `registers` has the result of each operation afterwards.
    pub fn evaluate<const N: usize>(&self, variables: &[f64; 7], registers: &mut Vec<f64>) -> [f64; N] {
        registers.clear();
        registers.reserve(self.ops.len());
        for op in &self.ops {
            let result = op.result(registers, |input| variables[input.index()]);
            registers.push(result);
        }
        std::array::from_fn(|k| registers[usize::from(self.results[k])])
    }

    /// Returns the program for several places together.
    fn together(&self) -> Together {
        Together::new(&self.ops, &self.results)
    }
}

/// The programs of a field. A result has the same bits in each program that has it.
#[derive(Clone, Debug)]
pub(super) struct Programs {
    /// Acceleration.
    pub acc: Program,
    /// Jerk.
    pub jerk: Program,
    /// Potential.
    pub pot: Program,
    /// Tidal tensor: xx, xy, xz, yy, yz, zz.
    pub tide: Program,
    /// ∂φ/∂t, and its time derivative along a path; absent where φ does not depend on the time.
    pub rate: Option<Program>,
    /// Acceleration and jerk, for a device.
    pub device: Arc<ForceProgram>,
    /// Acceleration, jerk and potential, at several places.
    pub forces: Together,
    /// Acceleration, at several places.
    pub accelerations: Together,
    /// Tidal tensor, at several places.
    pub tides: Together,
    /// What `rate` gives, at several places.
    pub rates: Option<Together>,
}

/// Axes of the components of a symmetric tensor.
const COMPONENTS: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
/// Component of a symmetric tensor, by its axes.
const COMPONENT: [[usize; 3]; 3] = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];

impl Programs {
    /// Compiles a formula and its derivatives.
    pub fn compile(source: &FieldSource) -> Checked<Self> {
        let symbols = source.names()?;
        let tree = parse::parse(&source.potential)?;
        let mut terms = Terms::new();
        let pot = derive::term(&tree, &symbols, &mut terms)?;
        if source.has_units {
            unit_check::check(&tree, &symbols, GravityDimension::POTENTIAL)?;
        }
        let Results { acc, jerk, tide, rate } = Results::of(pot, &mut terms);
        let too_long = |TooLong| {
            let problem = format!("the formula is too long: it needs more than {MAX_OPS} operations");
            At::new(&(0..source.potential.len()), problem)
        };
        let mut compiler = Compiler::new(&terms, false, MAX_OPS);
        let mut registers = |ids: &[Id]| ids.iter().map(|&id| compiler.emit(id)).collect::<Result<Vec<_>, _>>();
        let forces = [&acc[..], &jerk, &[pot]].concat();
        let groups = [&acc[..], &[pot], &jerk, &tide, &rate, &forces].map(&mut registers);
        let ops = compiler.finish();
        let program = |results: Result<Vec<Register>, TooLong>| {
            let (ops, results) = needed(&ops, &results.map_err(too_long)?);
            Ok(Program { ops, results })
        };
        let [acc, pot, jerk, tide, rate, forces] = groups.map(program);
        let is_constant = |it: &Program| it.ops.iter().all(|op| matches!(op, Op::Constant(value) if *value == 0.0));
        let (acc, tide, rate) = (acc?, tide?, Some(rate?).filter(|it| !is_constant(it)));
        let forces = forces?;
        Ok(Self {
            device: Arc::new(ForceProgram::new(&forces.ops, std::array::from_fn(|k| forces.results[k]))),
            forces: forces.together(),
            accelerations: acc.together(),
            tides: tide.together(),
            rates: rate.as_ref().map(Program::together),
            acc,
            jerk: jerk?,
            pot: pot?,
            tide,
            rate,
        })
    }
}

/// Terms of the results.
struct Results {
    acc: [Id; 3],
    jerk: [Id; 3],
    tide: [Id; 6],
    rate: [Id; 2],
}

impl Results {
    /// Differentiates a potential.
    fn of(pot: Id, terms: &mut Terms<FieldVariable>) -> Self {
        let mut derivatives = Derivatives::new();
        let place = [0, 1, 2].map(FieldVariable::Place);
        let velocity = [0, 1, 2].map(|axis| terms.input(FieldVariable::Velocity(axis)));
        let acc = place.map(|axis| {
            let slope = derivatives.of(pot, axis, terms);
            terms.neg(slope)
        });
        let tide = COMPONENTS.map(|(k, l)| derivatives.of(acc[k], place[l], terms));
        let change = acc.map(|acc| derivatives.of(acc, FieldVariable::Time, terms));
        let jerk = [0, 1, 2].map(|k| {
            let along = [0, 1, 2].map(|l| (terms.mul(tide[COMPONENT[k][l]], velocity[l]), 1.0));
            terms.sum(0.0, &[along[0], along[1], along[2], (change[k], 1.0)])
        });
        let rate = derivatives.of(pot, FieldVariable::Time, terms);
        let second = derivatives.of(rate, FieldVariable::Time, terms);
        let along = [0, 1, 2].map(|l| (terms.mul(change[l], velocity[l]), -1.0));
        let along_path = terms.sum(0.0, &[along[0], along[1], along[2], (second, 1.0)]);
        Self { acc, jerk, tide, rate: [rate, along_path] }
    }
}
