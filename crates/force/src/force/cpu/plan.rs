//! Plan of a law's program: which block of memory each result goes to, so that few blocks stay in the innermost cache.

use crate::formula::op::Register;
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    pub to: usize,
    pub op: Op,
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
        let last = last_uses(program);
        let reads = Reads::new(program);
        let mut plan = Self {
            fixed: Vec::new(),
            reads,
            steps: Vec::new(),
            blocks: DISTANCES,
            factor: 0,
            slope: None,
            minus_potential: None,
        };
        let mut at: Vec<Register> = Vec::with_capacity(program.ops.len());
        let mut free = Vec::new();
        for (k, &op) in program.ops.iter().enumerate() {
            if let Some(block) = reads.block(op) {
                at.push(block as Register);
                continue;
            }
            let is_fixed = matches!(op, Op::Constant(_) | Op::Input(Input::TargetMass | Input::Target(_)));
            // Never the block of an operand, which is freed below.
            let reused = if is_fixed { None } else { free.pop() };
            let to = reused.unwrap_or_else(|| {
                plan.blocks += 1;
                plan.blocks - 1
            });
            let step = Step { to, op: op.map(|operand| at[usize::from(operand)]) };
            if is_fixed { &mut plan.fixed } else { &mut plan.steps }.push(step);
            at.push(to as Register);
            let mut ended: Vec<usize> =
                op.operands().into_iter().map(usize::from).filter(|&it| last[it] == k).collect();
            ended.sort_unstable();
            ended.dedup();
            let blocks = ended.into_iter().map(|it| usize::from(at[it]));
            free.extend(blocks.filter(|&block| block >= DISTANCES && plan.fixed.iter().all(|fixed| fixed.to != block)));
        }
        let block = |register: Register| usize::from(at[usize::from(register)]);
        (plan.factor, plan.slope) = (block(program.factor), program.slope.map(block));
        plan.minus_potential = program.minus_potential.map(block);
        plan
    }
}

/// Returns the last operation that reads each result; results of the program are read at its end.
fn last_uses(program: &Program) -> Vec<usize> {
    let mut last = vec![0; program.ops.len()];
    for (k, op) in program.ops.iter().enumerate() {
        op.operands().into_iter().for_each(|operand| last[usize::from(operand)] = k);
    }
    for result in [Some(program.factor), program.slope, program.minus_potential].into_iter().flatten() {
        last[usize::from(result)] = program.ops.len();
    }
    last
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
            let is_fixed = |op: &Op| matches!(op, Op::Constant(_) | Op::Input(Input::TargetMass | Input::Target(_)));
            let mut fixed = plan.fixed.iter();
            for (k, _) in program.ops.iter().enumerate().filter(|(_, op)| is_fixed(op)) {
                holds[fixed.next().unwrap().to] = Some(k);
            }
            let mut steps = plan.steps.iter();
            for (k, op) in program.ops.iter().enumerate() {
                if is_fixed(op) || is_distance(op) {
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
