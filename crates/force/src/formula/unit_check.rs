//! Check of the units of a formula.

use super::derive;
use super::dimension::GravityDimension;
use super::mistake::{At, Checked};
use super::symbols::{Quantity, Symbols};
use super::syntax::{Expression, Function, Kind, Operator};
use super::terms::Variable;
use std::ops::Range;

/// Dimension of an expression; [`None`] for zero, which fits any.
type Fit = Option<GravityDimension>;

/// Checks that an expression is a `wanted`.
pub(crate) fn check<I: Variable>(
    expression: &Expression,
    symbols: &Symbols<I>,
    wanted: GravityDimension,
) -> Checked<()> {
    match of(expression, symbols)? {
        Some(found) if !found.same(wanted) => {
            Err(At::new(&expression.span, format!("expected {wanted}, found {found}")))
        }
        _ => Ok(()),
    }
}

/// Returns the dimension of an expression.
fn of<I: Variable>(expression: &Expression, symbols: &Symbols<I>) -> Checked<Fit> {
    match &expression.kind {
        Kind::Number(0.0) => Ok(None),
        Kind::Number(_) => Ok(Some(GravityDimension::NONE)),
        Kind::Name(name) => match symbols.find(name, &expression.span)? {
            Quantity::Number(_, dimension) | Quantity::Input(_, _, dimension) => Ok(Some(*dimension)),
            Quantity::Expression(inner) => of(inner, symbols).map_err(|it| At::new(&expression.span, it.problem)),
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

fn binary<I: Variable>(
    operator: Operator,
    left: &Expression,
    right: &Expression,
    symbols: &Symbols<I>,
) -> Checked<Fit> {
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

fn raised<I: Variable>(base: &Expression, exponent: &Expression, symbols: &Symbols<I>) -> Checked<Fit> {
    number(exponent, "an exponent", symbols)?;
    let Some(dimension) = of(base, symbols)? else { return Ok(None) };
    if dimension.same(GravityDimension::NONE) {
        return Ok(Some(dimension));
    }
    match derive::constant(exponent, symbols) {
        Some(power) => Ok(Some(GravityDimension::NONE.times(dimension, power))),
        None => {
            let problem = format!("{dimension} is raised to a power that is not a constant");
            Err(At::new(&exponent.span, problem))
        }
    }
}

fn call<I: Variable>(function: Function, arguments: &[Expression], symbols: &Symbols<I>) -> Checked<Fit> {
    match (function, arguments) {
        (Function::Sqrt, [inner]) => Ok(of(inner, symbols)?.map(|it| GravityDimension::NONE.times(it, 0.5))),
        (Function::Min | Function::Max, [a, b]) => common(a, b, "are compared", symbols),
        (Function::Abs, [inner]) => of(inner, symbols),
        _ => {
            for inner in arguments {
                number(inner, &format!("the argument of {}", function.name()), symbols)?;
            }
            Ok(Some(GravityDimension::NONE))
        }
    }
}

/// Checks that an expression is a pure number.
fn number<I: Variable>(expression: &Expression, what: &str, symbols: &Symbols<I>) -> Checked<()> {
    match of(expression, symbols)? {
        Some(found) if !found.same(GravityDimension::NONE) => {
            Err(At::new(&expression.span, format!("expected a pure number as {what}, found {found}")))
        }
        _ => Ok(()),
    }
}

/// Returns the dimension that two expressions have in common.
fn common<I: Variable>(left: &Expression, right: &Expression, what: &str, symbols: &Symbols<I>) -> Checked<Fit> {
    match (of(left, symbols)?, of(right, symbols)?) {
        (Some(a), Some(b)) if !a.same(b) => Err(At::new(&whole(left, right), format!("{a} and {b} {what}"))),
        (Some(one), _) | (None, Some(one)) => Ok(Some(one)),
        (None, None) => Ok(None),
    }
}

fn whole(left: &Expression, right: &Expression) -> Range<usize> {
    left.span.start.min(right.span.start)..left.span.end.max(right.span.end)
}
