//! Memory of a program: which slot each result goes to, so that few stay in the innermost cache.

use super::op::{Op, Register};

/// Operation with the slot of its result; operands are slots too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step<I> {
    /// Slot of the result.
    pub to: usize,
    /// The operation.
    pub op: Op<I>,
}

/// Where a result may be stored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// In this slot, which the caller fills.
    Given(usize),
    /// In a slot of its own.
    Kept,
    /// In any slot whose result is not needed any more.
    Reused,
}

/// Slots of the results of a program.
#[derive(Clone, Debug)]
pub struct Slots {
    /// Slot of each operation.
    pub of: Vec<Register>,
    /// Number of slots.
    pub number: usize,
}

impl Slots {
    /// Chooses the slots of operations, of which `results` are read at the end. The first `given` slots are the caller's. No slot is
    /// that of an operand of the operation that is stored there.
    pub fn choose<I: Copy>(
        ops: &[Op<I>],
        results: impl IntoIterator<Item = Register>,
        given: usize,
        place: impl Fn(Op<I>) -> Place,
    ) -> Self {
        let last = last_uses(ops, results);
        let places: Vec<Place> = ops.iter().map(|&op| place(op)).collect();
        let mut slots = Self { of: Vec::with_capacity(ops.len()), number: given };
        let mut free = Vec::new();
        for (k, &op) in ops.iter().enumerate() {
            // Never the slot of an operand, which is freed below.
            let found = match places[k] {
                Place::Given(slot) => Some(slot as Register),
                Place::Kept => None,
                Place::Reused => free.pop(),
            };
            slots.of.push(found.unwrap_or_else(|| {
                slots.number += 1;
                (slots.number - 1) as Register
            }));
            let mut ended: Vec<usize> =
                op.operands().into_iter().map(usize::from).filter(|&it| last[it] == k).collect();
            ended.sort_unstable();
            ended.dedup();
            free.extend(ended.into_iter().filter(|&it| places[it] == Place::Reused).map(|it| slots.of[it]));
        }
        slots
    }

    /// Returns operation `k` with slots.
    pub fn step<I: Copy>(&self, ops: &[Op<I>], k: usize) -> Step<I> {
        Step { to: usize::from(self.of[k]), op: ops[k].map(|operand| self.of[usize::from(operand)]) }
    }

    /// Returns the slot of a result.
    pub fn slot(&self, result: Register) -> usize {
        usize::from(self.of[usize::from(result)])
    }
}

/// Returns the last operation that reads each result; results of the program are read at its end.
fn last_uses<I: Copy>(ops: &[Op<I>], results: impl IntoIterator<Item = Register>) -> Vec<usize> {
    let mut last = vec![0; ops.len()];
    for (k, op) in ops.iter().enumerate() {
        op.operands().into_iter().for_each(|operand| last[usize::from(operand)] = k);
    }
    results.into_iter().for_each(|result| last[usize::from(result)] = ops.len());
    last
}
