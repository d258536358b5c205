//! Programs of fields for a device, which carries them out step by step.

use super::variable::FieldVariable;
use crate::formula::op::{Op, Register, are_needed, needed};
use crate::formula::slots::{Place, Slots};

/// Largest number of slots of a program (`FIELD_SLOTS` of kernels/field.cuh).
const MAX_SLOTS: usize = 128;
/// Number of slots that hold what a program reads (`FIELD_INPUTS`).
const INPUTS: usize = 7;

/// Operation of a step. Mirrored by `FieldCode` in kernels/field.cuh; both must be changed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
enum Code {
    Number,
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    Sqrt,
    Exp,
    Log,
    Sin,
    Cos,
    Pow,
    Min,
    Max,
    Less,
    AddNumber,
    SubNumber,
    NumberSub,
    MulNumber,
    DivNumber,
    NumberDiv,
}

/// Program of the acceleration and the jerk of a field as words: two each step. The first has operation, slot of the result and slots
/// of two operands, 16 bits each from the lowest on; the second is a number, or has the slots of two more operands.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramSteps {
    /// Words of the steps.
    pub words: Vec<[u64; 2]>,
    /// Slots of acceleration and jerk at the end. Place, time and velocity are in the first slots at the beginning.
    pub results: [u32; 6],
}

impl ProgramSteps {
    /// Encodes the operations of a program with its results; [`None`] if it needs too many slots.
    pub(super) fn new(ops: &[Op<FieldVariable>], results: [Register; 6]) -> Option<Self> {
        let with_numbers: Vec<_> = (0..ops.len()).map(|k| with_number(ops, k)).collect();
        // An operation on a number has one operand, whatever it does with it.
        let operands: Vec<Op<FieldVariable>> =
            with_numbers.iter().zip(ops).map(|(it, &op)| it.map_or(op, |(_, a, _)| Op::Neg(a))).collect();
        let kept = are_needed(&operands, &results);
        let with_numbers: Vec<_> =
            with_numbers.into_iter().zip(&kept).filter(|(_, kept)| **kept).map(|(it, _)| it).collect();
        let (ops, results) = needed(&operands, &results);
        let slots = Slots::choose(&ops, results.iter().copied(), INPUTS, |op| match op {
            Op::Input(of) => Place::Given(of.index()),
            _ => Place::Reused,
        });
        if slots.number > MAX_SLOTS {
            return None;
        }
        let words = (0..ops.len()).filter(|&k| !matches!(ops[k], Op::Input(_))).map(|k| {
            let step = slots.step(&ops, k);
            let (code, operands, second) = match (with_numbers[k], step.op) {
                (Some((code, _, number)), Op::Neg(a)) => (code, [a, 0], number.to_bits()),
                (_, op) => encoded(op),
            };
            let [a, b] = operands.map(u64::from);
            [code as u64 | (step.to as u64) << 16 | a << 32 | b << 48, second]
        });
        let mut words: Vec<[u64; 2]> = words.collect();
        if words.is_empty() {
            // All results are what is read. A part without steps is a sphere to a device: this one writes a number that nobody reads.
            words.push([Code::Number as u64 | (INPUTS as u64) << 16, 0]);
        }
        let slot = |k: usize| slots.slot(results[k]) as u32;
        Some(Self { words, results: std::array::from_fn(slot) })
    }
}

/// Returns operation `k` as one on a number and the result of another operation, if it is: each is one operation on the same two
/// numbers, in either order where that gives the same bits.
fn with_number(ops: &[Op<FieldVariable>], k: usize) -> Option<(Code, Register, f64)> {
    let number = |of: Register| match ops[usize::from(of)] {
        Op::Constant(value) => Some(value),
        _ => None,
    };
    Some(match ops[k] {
        Op::Add(a, b) => match (number(a), number(b)) {
            (_, Some(n)) => (Code::AddNumber, a, n),
            (Some(n), None) => (Code::AddNumber, b, n),
            (None, None) => return None,
        },
        Op::Mul(a, b) => match (number(a), number(b)) {
            (_, Some(n)) => (Code::MulNumber, a, n),
            (Some(n), None) => (Code::MulNumber, b, n),
            (None, None) => return None,
        },
        Op::Sub(a, b) => match (number(a), number(b)) {
            (_, Some(n)) => (Code::SubNumber, a, n),
            (Some(n), None) => (Code::NumberSub, b, n),
            (None, None) => return None,
        },
        Op::Div(a, b) => match (number(a), number(b)) {
            (_, Some(n)) => (Code::DivNumber, a, n),
            (Some(n), None) => (Code::NumberDiv, b, n),
            (None, None) => return None,
        },
        _ => return None,
    })
}

/// Returns the operation, its first two operands and the second word of an operation with slots.
fn encoded(op: Op<FieldVariable>) -> (Code, [Register; 2], u64) {
    let (code, operands) = match op {
        // What is read is there at the beginning.
        Op::Input(of) => (Code::Number, [of.index() as Register, 0]),
        Op::Constant(value) => return (Code::Number, [0, 0], value.to_bits()),
        Op::Less(a, b, c, d) => return (Code::Less, [a, b], u64::from(c) | u64::from(d) << 16),
        Op::Add(a, b) => (Code::Add, [a, b]),
        Op::Sub(a, b) => (Code::Sub, [a, b]),
        Op::Mul(a, b) => (Code::Mul, [a, b]),
        Op::Div(a, b) => (Code::Div, [a, b]),
        Op::Pow(a, b) => (Code::Pow, [a, b]),
        Op::Min(a, b) => (Code::Min, [a, b]),
        Op::Max(a, b) => (Code::Max, [a, b]),
        Op::Neg(a) => (Code::Neg, [a, 0]),
        Op::Sqrt(a) => (Code::Sqrt, [a, 0]),
        Op::Exp(a) => (Code::Exp, [a, 0]),
        Op::Log(a) => (Code::Log, [a, 0]),
        Op::Sin(a) => (Code::Sin, [a, 0]),
        Op::Cos(a) => (Code::Cos, [a, 0]),
    };
    (code, operands, 0)
}

#[cfg(test)]
impl ProgramSteps {
    /// Evaluates the program as the kernels do, from place, time and velocity.
    pub(crate) fn evaluate(&self, inputs: [f64; INPUTS]) -> [f64; 6] {
        use crate::formula::functions;
        const CODES: [Code; 21] = {
            use Code::*;
            [
                Number, Add, Sub, Mul, Div, Neg, Sqrt, Exp, Log, Sin, Cos, Pow, Min, Max, Less, AddNumber, SubNumber,
                NumberSub, MulNumber, DivNumber, NumberDiv,
            ]
        };
        let mut slot = [f64::NAN; MAX_SLOTS];
        slot[..INPUTS].copy_from_slice(&inputs);
        for &[first, second] in &self.words {
            let of = |place: u32| (first >> (16 * place) & 0xffff) as usize;
            let (x, y, n) = (slot[of(2)], slot[of(3)], f64::from_bits(second));
            slot[of(1)] = match CODES[of(0)] {
                Code::Number => n,
                Code::Add => x + y,
                Code::Sub => x - y,
                Code::Mul => x * y,
                Code::Div => x / y,
                Code::Neg => -x,
                Code::Sqrt => x.sqrt(),
                Code::Exp => functions::exp(x),
                Code::Log => functions::log(x),
                Code::Sin => functions::sin(x),
                Code::Cos => functions::cos(x),
                Code::Pow => functions::pow(x, y),
                Code::Min => {
                    if x < y {
                        x
                    } else {
                        y
                    }
                }
                Code::Max => {
                    if x > y {
                        x
                    } else {
                        y
                    }
                }
                Code::Less => slot[(if x < y { second } else { second >> 16 } & 0xffff) as usize],
                Code::AddNumber => x + n,
                Code::SubNumber => x - n,
                Code::NumberSub => n - x,
                Code::MulNumber => x * n,
                Code::DivNumber => x / n,
                Code::NumberDiv => n / x,
            };
        }
        self.results.map(|result| slot[result as usize])
    }
}
