//! Check of the units of a formula.
//!
//! With G = 1 a time is a length^(3/2) mass^(−1/2), so that every quantity is a power of mass times a power of length:
//! an energy is M² / L, an acceleration M / L², a velocity √(M / L).

use super::mistake::{At, Checked};
use super::syntax::{Expression, Function, Kind, Operator};
use super::{Quantity, Symbols};
use std::fmt;
use std::ops::Range;

/// Power of mass and power of length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairDimension {
    /// Power of mass.
    pub mass: f64,
    /// Power of length.
    pub length: f64,
}

impl PairDimension {
    /// Dimension of a pure number.
    pub const NONE: Self = Self::new(0.0, 0.0);
    /// Dimension of a mass.
    pub const MASS: Self = Self::new(1.0, 0.0);
    /// Dimension of a length.
    pub const LENGTH: Self = Self::new(0.0, 1.0);
    /// Dimension of an energy.
    pub const ENERGY: Self = Self::new(2.0, -1.0);
    /// Dimension of an acceleration.
    pub const ACCELERATION: Self = Self::new(1.0, -2.0);

    /// Creates a dimension from powers of mass and length.
    #[must_use]
    pub const fn new(mass: f64, length: f64) -> Self {
        Self { mass, length }
    }

    /// Creates a dimension from powers of mass, length and time.
    #[must_use]
    pub fn with_time(mass: f64, length: f64, time: f64) -> Self {
        Self::new(mass - 0.5 * time, length + 1.5 * time)
    }

    fn times(self, other: Self, power: f64) -> Self {
        Self::new(self.mass + power * other.mass, self.length + power * other.length)
    }

    fn same(self, other: Self) -> bool {
        (self.mass - other.mass).abs() < 1e-9 && (self.length - other.length).abs() < 1e-9
    }
}

impl fmt::Display for PairDimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::NONE, "a pure number"),
            (Self::MASS, "a mass"),
            (Self::LENGTH, "a length"),
            (Self::ENERGY, "an energy"),
            (Self::ACCELERATION, "an acceleration"),
            (Self::new(0.5, -0.5), "a velocity"),
            (Self::new(1.0, -1.0), "a velocity² (an energy per mass)"),
            (Self::new(-0.5, 1.5), "a time"),
        ];
        if let Some((_, name)) = names.iter().find(|(dimension, _)| dimension.same(*self)) {
            return f.write_str(name);
        }
        write!(f, "mass^{} length^{} (with G = 1)", self.mass, self.length)
    }
}

/// Dimension of an expression; [`None`] for zero, which fits any.
type Fit = Option<PairDimension>;

/// Checks that an expression is a `wanted`.
pub(super) fn check(expression: &Expression, symbols: &Symbols, wanted: PairDimension) -> Checked<()> {
    match of(expression, symbols)? {
        Some(found) if !found.same(wanted) => {
            Err(At::new(&expression.span, format!("expected {wanted}, found {found}")))
        }
        _ => Ok(()),
    }
}

/// Returns the dimension of an expression.
fn of(expression: &Expression, symbols: &Symbols) -> Checked<Fit> {
    match &expression.kind {
        Kind::Number(0.0) => Ok(None),
        Kind::Number(_) => Ok(Some(PairDimension::NONE)),
        Kind::Name(name) => match symbols.find(name, &expression.span)? {
            Quantity::Number(_, dimension) | Quantity::Input(_, _, dimension) => Ok(Some(dimension)),
        },
        Kind::Negative(inner) => of(inner, symbols),
        Kind::Binary(operator, left, right) => binary(*operator, left, right, symbols),
        Kind::Call(function, arguments) => call(*function, arguments, symbols),
        Kind::Choice(parts) => {
            let [less, more, yes, no] = parts.as_ref();
            common(less, more, "are compared", symbols)?;
            common(yes, no, "are chosen from", symbols)
        }
    }
}

fn binary(operator: Operator, left: &Expression, right: &Expression, symbols: &Symbols) -> Checked<Fit> {
    let power = match operator {
        Operator::Add | Operator::Sub => return common(left, right, "are added", symbols),
        Operator::Pow => return raised(left, right, symbols),
        Operator::Mul => 1.0,
        Operator::Div => -1.0,
    };
    Ok(match (of(left, symbols)?, of(right, symbols)?) {
        (Some(left), Some(right)) => Some(left.times(right, power)),
        // Zero times anything is zero; what is divided by zero is a mistake of its own.
        _ => None,
    })
}

fn raised(base: &Expression, exponent: &Expression, symbols: &Symbols) -> Checked<Fit> {
    number(exponent, "an exponent", symbols)?;
    let Some(dimension) = of(base, symbols)? else { return Ok(None) };
    if dimension.same(PairDimension::NONE) {
        return Ok(Some(dimension));
    }
    match symbols.constant(exponent) {
        Some(power) => Ok(Some(PairDimension::NONE.times(dimension, power))),
        None => {
            let problem = format!("{dimension} is raised to a power that is not a constant");
            Err(At::new(&exponent.span, problem))
        }
    }
}

fn call(function: Function, arguments: &[Expression], symbols: &Symbols) -> Checked<Fit> {
    match (function, arguments) {
        (Function::Sqrt, [inner]) => Ok(of(inner, symbols)?.map(|it| PairDimension::NONE.times(it, 0.5))),
        (Function::Min | Function::Max, [a, b]) => common(a, b, "are compared", symbols),
        (Function::Abs, [inner]) => of(inner, symbols),
        _ => {
            for inner in arguments {
                number(inner, &format!("the argument of {}", function.name()), symbols)?;
            }
            Ok(Some(PairDimension::NONE))
        }
    }
}

/// Checks that an expression is a pure number.
fn number(expression: &Expression, what: &str, symbols: &Symbols) -> Checked<()> {
    match of(expression, symbols)? {
        Some(found) if !found.same(PairDimension::NONE) => {
            Err(At::new(&expression.span, format!("expected a pure number as {what}, found {found}")))
        }
        _ => Ok(()),
    }
}

/// Returns the dimension that two expressions have in common.
fn common(left: &Expression, right: &Expression, what: &str, symbols: &Symbols) -> Checked<Fit> {
    match (of(left, symbols)?, of(right, symbols)?) {
        (Some(a), Some(b)) if !a.same(b) => Err(At::new(&whole(left, right), format!("{a} and {b} {what}"))),
        (Some(one), _) | (None, Some(one)) => Ok(Some(one)),
        (None, None) => Ok(None),
    }
}

fn whole(left: &Expression, right: &Expression) -> Range<usize> {
    left.span.start.min(right.span.start)..left.span.end.max(right.span.end)
}
