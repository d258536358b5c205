//! A formula as a tree, as it was written.

use std::ops::Range;

/// Formula or a part of one, with its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    /// Kind, with the parts.
    pub kind: Kind,
    /// Place in the text, in bytes.
    pub span: Range<usize>,
}

/// Kind of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// Number.
    Number(f64),
    /// Name of a quantity.
    Name(String),
    /// Negative of an expression.
    Negative(Box<Expression>),
    /// Operation on two expressions.
    Binary(Operator, Box<Expression>, Box<Expression>),
    /// Function of its arguments.
    Call(Function, Vec<Expression>),
    /// `if(a < b, c, d)`: the parts a, b, c, d. `if(a > b, c, d)` is `if(b < a, c, d)`.
    Choice(Box<[Expression; 4]>),
}

/// Operation on two expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// a + b
    Add,
    /// a − b
    Sub,
    /// a · b
    Mul,
    /// a / b
    Div,
    /// aᵇ
    Pow,
}

/// Function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Square root.
    Sqrt,
    /// Exponential function.
    Exp,
    /// Natural logarithm.
    Log,
    /// Sine of an angle in radians.
    Sin,
    /// Cosine of an angle in radians.
    Cos,
    /// Smaller of two.
    Min,
    /// Larger of two.
    Max,
    /// Absolute value.
    Abs,
    /// Regularised lower incomplete gamma function P(s, x) with a constant s.
    GammaP,
}

impl Function {
    /// All functions.
    pub const ALL: [Self; 9] =
        [Self::Sqrt, Self::Exp, Self::Log, Self::Sin, Self::Cos, Self::Min, Self::Max, Self::Abs, Self::GammaP];

    /// Returns the name in formulas.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqrt => "sqrt",
            Self::Exp => "exp",
            Self::Log => "log",
            Self::Sin => "sin",
            Self::Cos => "cos",
            Self::Min => "min",
            Self::Max => "max",
            Self::Abs => "abs",
            Self::GammaP => "gammap",
        }
    }

    /// Returns the number of arguments.
    #[must_use]
    pub const fn arguments(self) -> usize {
        if matches!(self, Self::Min | Self::Max | Self::GammaP) { 2 } else { 1 }
    }
}
