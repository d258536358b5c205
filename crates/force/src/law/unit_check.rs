//! Check of the units of a formula.

use super::derive;
use super::dimension::PairDimension;
use super::mistake::{At, Checked};
use super::symbols::{Quantity, Symbols};
use super::syntax::{Expression, Function, Kind, Operator};
use std::ops::Range;

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
    match derive::constant(exponent, symbols) {
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
