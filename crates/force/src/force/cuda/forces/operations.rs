//! Operations of the programs of formulas as CUDA source.

use crate::formula::op::Op;

/// Returns an operation on earlier results x0, x1, …, in the type `R`; `input` gives the source of a variable. Nothing is fused: the
/// kernels are compiled so.
pub fn expression<I: Copy>(op: Op<I>, input: impl FnOnce(I) -> String) -> String {
    match op {
        Op::Input(of) => input(of),
        Op::Constant(value) => constant(value),
        Op::Add(a, b) => format!("x{a} + x{b}"),
        Op::Sub(a, b) => format!("x{a} - x{b}"),
        Op::Mul(a, b) => format!("x{a} * x{b}"),
        Op::Div(a, b) => format!("x{a} / x{b}"),
        Op::Neg(a) => format!("-x{a}"),
        Op::Sqrt(a) => format!("elementary::sqrt(x{a})"),
        Op::Exp(a) => format!("elementary::exp(x{a})"),
        Op::Log(a) => format!("elementary::log(x{a})"),
        Op::Sin(a) => format!("elementary::sin(x{a})"),
        Op::Cos(a) => format!("elementary::cos(x{a})"),
        Op::Pow(a, b) => format!("elementary::pow(x{a}, x{b})"),
        Op::Min(a, b) => format!("x{a} < x{b} ? x{a} : x{b}"),
        Op::Max(a, b) => format!("x{a} > x{b} ? x{a} : x{b}"),
        Op::Less(a, b, c, d) => format!("x{a} < x{b} ? x{c} : x{d}"),
    }
}

/// Returns a number by its bits: exact, and so are infinities.
pub fn constant(value: f64) -> String {
    format!("(R)elementary::of_bits({:#x}ull)", value.to_bits())
}
