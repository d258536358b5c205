//! Plan of a law's program: which block of memory each result goes to, so that few blocks stay in the innermost cache.

use crate::formula::slots::{self, Place, Slots};
use crate::law::Program;
use crate::law::program::{Input, Op};

/// Block of the squares s².
pub const SQUARES: usize = 0;
/// Block of the distances s.
pub const ROOTS: usize = 1;
/// Number of blocks for distances, from which a plan starts.
pub const DISTANCES: usize = 3;

/// Which distances a program reads.
#[derive(Clone, Copy, Debug)]
pub struct Reads {
    /// s²
    pub square: bool,
    /// s
    pub root: bool,
    /// 1 / s
    pub inverse: bool,
}

impl Reads {
    fn new(program: &Program) -> Self {
        let reads = |input| program.ops.contains(&Op::Input(input));
        Self { square: reads(Input::SquareS), root: reads(Input::S), inverse: reads(Input::InverseS) }
    }

    /// Returns the block of 1 / s: that of s where nothing else reads s, so that less memory is used.
    pub fn inverses(self) -> usize {
        if self.root { ROOTS + 1 } else { ROOTS }
    }

    /// Returns the block of an operation that is a distance.
    fn block(self, op: Op) -> Option<usize> {
        match op {
            Op::Input(Input::SquareS) => Some(SQUARES),
            Op::Input(Input::S) => Some(ROOTS),
            Op::Input(Input::InverseS) => Some(self.inverses()),
            _ => None,
        }
    }
}

/// Operation with the block of its result; operands are blocks too.
pub type Step = slots::Step<Input>;

/// Returns true for constants, and inputs that belong to the target.
fn is_fixed(op: Op) -> bool {
    matches!(op, Op::Constant(_) | Op::Input(Input::TargetMass | Input::Target(_)))
}

/// Program with its results in blocks, of which later results take those no longer needed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Constants, and inputs that belong to the target: computed once for many sources.
    pub fixed: Vec<Step>,
    /// Distances that the program reads.
    pub reads: Reads,
    /// The other operations, in order.
    pub steps: Vec<Step>,
    /// Number of blocks.
    pub blocks: usize,
    /// Block of A.
    pub factor: usize,
    /// Block of B.
    pub slope: Option<usize>,
    /// Block of −U / m_i.
    pub minus_potential: Option<usize>,
}

impl Plan {
    /// Plans a program.
    pub fn new(program: &Program) -> Self {
        let reads = Reads::new(program);
        let place = |op: Op| match reads.block(op) {
            Some(block) => Place::Given(block),
            None if is_fixed(op) => Place::Kept,
            None => Place::Reused,
        };
        let Program { ops, factor, slope, minus_potential, .. } = program;
        let results = [Some(*factor), *slope, *minus_potential].into_iter().flatten();
        let slots = Slots::choose(ops, results, DISTANCES, place);
        let steps = |wanted: Place| {
            let of = (0..ops.len()).filter(move |&k| place(ops[k]) == wanted);
            of.map(|k| slots.step(ops, k)).collect()
        };
        Self {
            fixed: steps(Place::Kept),
            reads,
            steps: steps(Place::Reused),
            blocks: slots.number,
            factor: slots.slot(*factor),
            slope: slope.map(|it| slots.slot(it)),
            minus_potential: minus_potential.map(|it| slots.slot(it)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{Formula, Law, LawSource};

    /// Checks that each step reads blocks that still hold what it wants, by running through the plan.
    #[test]
    fn no_result_is_overwritten_before_its_last_use() {
        let formula = "-m_i*m_j*exp(-s/lambda)*(1 + log(s + 2)*s)/s + 0.1*m_i*m_j*sin(3*s)*cos(s)/(1 + s^2)^2";
        let source = LawSource::new(Formula::Potential(formula.into()), &[("lambda", 0.3)]);
        let law = Law::new(source).unwrap();
        for program in [law.program(), law.accelerations()] {
            let plan = Plan::new(program);
            let mut holds = vec![None; plan.blocks];
            let is_distance = |op: &Op| plan.reads.block(*op).is_some();
            for (k, op) in program.ops.iter().enumerate().filter(|(_, op)| is_distance(op)) {
                let block = plan.reads.block(*op).unwrap();
                assert!(block < DISTANCES && holds[block].is_none(), "{op:?}");
                holds[block] = Some(k);
            }
            let mut fixed = plan.fixed.iter();
            for (k, _) in program.ops.iter().enumerate().filter(|(_, op)| is_fixed(**op)) {
                holds[fixed.next().unwrap().to] = Some(k);
            }
            let mut steps = plan.steps.iter();
            for (k, op) in program.ops.iter().enumerate() {
                if is_fixed(*op) || is_distance(op) {
                    continue;
                }
                let step = steps.next().unwrap();
                for (block, wanted) in step.op.operands().into_iter().zip(op.operands()) {
                    assert_eq!(holds[usize::from(block)], Some(usize::from(wanted)), "{step:?}");
                    assert_ne!(usize::from(block), step.to, "{step:?}");
                }
                assert!(step.to >= DISTANCES, "{step:?}");
                holds[step.to] = Some(k);
            }
            assert_eq!(holds[plan.factor], Some(usize::from(program.factor)));
            assert_eq!(plan.slope.map(|it| holds[it]), program.slope.map(|it| Some(usize::from(it))));
            assert!(plan.blocks < program.ops.len(), "{} blocks for {} operations", plan.blocks, program.ops.len());
        }
    }
}
