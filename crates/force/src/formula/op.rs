//! Operations of a straight-line program.
//!
//! Every operation is one IEEE operation, or one of the [elementary functions](super::functions), so that each engine
//! has the same bits in the same type. Nothing is fused, nothing loops, nothing branches: a choice computes both sides.

use super::functions;
use crate::force::real::Real;

/// Index of an earlier operation, whose result is the operand.
pub type Register = u16;

/// Largest number of operations of a program.
pub const MAX_OPS: usize = 1024;

/// Operation of a program on the results of earlier ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op<I> {
    /// A variable of the formula.
    Input(I),
    /// A number, rounded to the type that the engine computes in.
    Constant(f64),
    /// a + b
    Add(Register, Register),
    /// a − b
    Sub(Register, Register),
    /// a · b
    Mul(Register, Register),
    /// a / b
    Div(Register, Register),
    /// −a
    Neg(Register),
    /// √a
    Sqrt(Register),
    /// eᵃ
    Exp(Register),
    /// Natural logarithm of a.
    Log(Register),
    /// sin a, in radians
    Sin(Register),
    /// cos a, in radians
    Cos(Register),
    /// aᵇ, where b is neither a small whole number nor half of one.
    Pow(Register, Register),
    /// `a` if a < b, else `b`.
    Min(Register, Register),
    /// `a` if a > b, else `b`.
    Max(Register, Register),
    /// The third if the first < the second, else the fourth.
    Less(Register, Register, Register, Register),
}

impl<I: Copy> Op<I> {
    /// Returns the operands, in their order.
    #[must_use]
    pub fn operands(self) -> Vec<Register> {
        let mut operands = Vec::new();
        let _ = self.map(|operand| {
            operands.push(operand);
            operand
        });
        operands
    }

    /// Returns the operation with each operand replaced by `to(operand)`.
    #[must_use]
    pub fn map(self, mut to: impl FnMut(Register) -> Register) -> Self {
        match self {
            Self::Input(_) | Self::Constant(_) => self,
            Self::Add(a, b) => Self::Add(to(a), to(b)),
            Self::Sub(a, b) => Self::Sub(to(a), to(b)),
            Self::Mul(a, b) => Self::Mul(to(a), to(b)),
            Self::Div(a, b) => Self::Div(to(a), to(b)),
            Self::Neg(a) => Self::Neg(to(a)),
            Self::Sqrt(a) => Self::Sqrt(to(a)),
            Self::Exp(a) => Self::Exp(to(a)),
            Self::Log(a) => Self::Log(to(a)),
            Self::Sin(a) => Self::Sin(to(a)),
            Self::Cos(a) => Self::Cos(to(a)),
            Self::Pow(a, b) => Self::Pow(to(a), to(b)),
            Self::Min(a, b) => Self::Min(to(a), to(b)),
            Self::Max(a, b) => Self::Max(to(a), to(b)),
            Self::Less(a, b, c, d) => Self::Less(to(a), to(b), to(c), to(d)),
        }
    }

    /// Returns the result of the operation, from those of the earlier ones and the value of its input.
    #[inline]
    pub(crate) fn result<R: Real>(self, registers: &[R], input: impl FnOnce(I) -> R) -> R {
        let at = |register: Register| registers[usize::from(register)];
        let choose = |yes: bool, a: Register, b: Register| if yes { at(a) } else { at(b) };
        match self {
            Self::Input(of) => input(of),
            Self::Constant(value) => R::from_f64(value),
            Self::Add(a, b) => at(a) + at(b),
            Self::Sub(a, b) => at(a) - at(b),
            Self::Mul(a, b) => at(a) * at(b),
            Self::Div(a, b) => at(a) / at(b),
            Self::Neg(a) => -at(a),
            Self::Sqrt(a) => at(a).sqrt(),
            Self::Exp(a) => functions::exp(at(a)),
            Self::Log(a) => functions::log(at(a)),
            Self::Sin(a) => functions::sin(at(a)),
            Self::Cos(a) => functions::cos(at(a)),
            Self::Pow(a, b) => functions::pow(at(a), at(b)),
            Self::Min(a, b) => choose(at(a) < at(b), a, b),
            Self::Max(a, b) => choose(at(a) > at(b), a, b),
            Self::Less(a, b, c, d) => choose(at(a) < at(b), c, d),
        }
    }
}

/// Returns a flag for each operation that some results of a program need it.
pub(crate) fn are_needed<I: Copy>(ops: &[Op<I>], results: &[Register]) -> Vec<bool> {
    let mut needed = vec![false; ops.len()];
    results.iter().for_each(|&result| needed[usize::from(result)] = true);
    for k in (0..ops.len()).rev() {
        if needed[k] {
            ops[k].operands().into_iter().for_each(|operand| needed[usize::from(operand)] = true);
        }
    }
    needed
}

/// Returns the operations that some results of a program need, in their order, and the registers of these results among
/// them: the same bits, without the operations for anything else.
pub(crate) fn needed<I: Copy>(ops: &[Op<I>], results: &[Register]) -> (Vec<Op<I>>, Vec<Register>) {
    let needed = are_needed(ops, results);
    let mut at = vec![0; ops.len()];
    let mut kept = Vec::new();
    for k in (0..ops.len()).filter(|&k| needed[k]) {
        at[k] = kept.len() as Register;
        kept.push(ops[k].map(|operand| at[usize::from(operand)]));
    }
    (kept, results.iter().map(|&result| at[usize::from(result)]).collect())
}
