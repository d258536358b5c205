//! From a formula to terms, and their derivatives by the distance.

use super::mistake::{At, Checked};
use super::program::Input;
use super::symbols::{Quantity, Symbols};
use super::syntax::{Expression, Function, Kind, Operator};
use super::terms::{Elementary, Id, Term, Terms};
use std::collections::HashMap;

/// Returns an expression as a term.
pub(super) fn term(expression: &Expression, symbols: &Symbols, terms: &mut Terms) -> Checked<Id> {
    let id = match &expression.kind {
        Kind::Number(value) => terms.number(*value),
        Kind::Name(name) => match symbols.find(name, &expression.span)? {
            Quantity::Number(value, _) => terms.number(value),
            Quantity::Input(input, unit, _) => {
                let input = terms.input(input);
                terms.product(unit, &[(input, 1.0)])
            }
        },
        Kind::Negative(inner) => {
            let inner = term(inner, symbols, terms)?;
            terms.neg(inner)
        }
        Kind::Binary(operator, left, right) => {
            let (left, right) = (term(left, symbols, terms)?, term(right, symbols, terms)?);
            match operator {
                Operator::Add => terms.add(left, right),
                Operator::Sub => terms.sub(left, right),
                Operator::Mul => terms.mul(left, right),
                Operator::Div => terms.div(left, right),
                Operator::Pow => terms.power(left, right),
            }
        }
        Kind::Call(function, arguments) => {
            let arguments = arguments.iter().map(|it| term(it, symbols, terms)).collect::<Checked<Vec<_>>>()?;
            call(*function, &arguments, terms)
        }
        Kind::Choice(parts) => {
            let parts = parts.iter().map(|it| term(it, symbols, terms)).collect::<Checked<Vec<_>>>()?;
            if let [less, more, yes, no] = parts[..] { terms.less(less, more, yes, no) } else { terms.number(0.0) }
        }
    };
    let (Term::Number(number) | Term::Product(number, _) | Term::Sum(number, _)) = terms.get(id) else {
        return Ok(id);
    };
    if number.get().is_finite() {
        return Ok(id);
    }
    let value = number.get();
    let problem = if value.is_nan() { "is not a real number".into() } else { format!("is {value}") };
    Err(At::new(&expression.span, format!("the constant part of this {problem}: is something divided by 0?")))
}

/// Returns the value of an expression that is a constant.
pub(super) fn constant(expression: &Expression, symbols: &Symbols) -> Option<f64> {
    let mut terms = Terms::default();
    let id = term(expression, symbols, &mut terms).ok()?;
    terms.value(id)
}

fn call(function: Function, arguments: &[Id], terms: &mut Terms) -> Id {
    match (function, arguments) {
        (Function::Sqrt, &[a]) => terms.raise(a, 0.5),
        (Function::Exp, &[a]) => terms.function(Elementary::Exp, a),
        (Function::Log, &[a]) => terms.function(Elementary::Log, a),
        (Function::Sin, &[a]) => terms.function(Elementary::Sin, a),
        (Function::Cos, &[a]) => terms.function(Elementary::Cos, a),
        (Function::Abs, &[a]) => {
            let minus = terms.neg(a);
            terms.max(a, minus)
        }
        (Function::Min, &[a, b]) => terms.min(a, b),
        (Function::Max, &[a, b]) => terms.max(a, b),
        // The parser has counted the arguments.
        _ => terms.number(f64::NAN),
    }
}

/// Derivatives by s, each made once.
#[derive(Debug, Default)]
pub(super) struct Derivatives(HashMap<Id, Id>);

impl Derivatives {
    /// Returns the derivative of a term. That of a choice is the choice of the derivatives: a jump has none.
    pub fn of(&mut self, id: Id, terms: &mut Terms) -> Id {
        if let Some(&known) = self.0.get(&id) {
            return known;
        }
        let derivative = match terms.get(id).clone() {
            Term::Number(_) => terms.number(0.0),
            Term::Input(input) => terms.number(if input == Input::S { 1.0 } else { 0.0 }),
            Term::Sum(_, parts) => {
                let parts: Vec<_> = parts.iter().map(|(it, times)| (self.of(*it, terms), times.get())).collect();
                terms.sum(0.0, &parts)
            }
            Term::Product(coefficient, powers) => {
                let powers: Vec<_> = powers.iter().map(|(base, exponent)| (*base, exponent.get())).collect();
                self.of_product(coefficient.get(), &powers, terms)
            }
            Term::Function(function, inner) => self.of_function(function, inner, id, terms),
            Term::Power(base, exponent) => {
                let (base_by_s, exponent_by_s) = (self.of(base, terms), self.of(exponent, terms));
                let log = terms.function(Elementary::Log, base);
                let first = terms.mul(exponent_by_s, log);
                let second = terms.product(1.0, &[(exponent, 1.0), (base_by_s, 1.0), (base, -1.0)]);
                let sum = terms.add(first, second);
                terms.mul(id, sum)
            }
            Term::Min(a, b) => {
                let (a_by_s, b_by_s) = (self.of(a, terms), self.of(b, terms));
                terms.less(a, b, a_by_s, b_by_s)
            }
            Term::Max(a, b) => {
                let (a_by_s, b_by_s) = (self.of(a, terms), self.of(b, terms));
                terms.less(b, a, a_by_s, b_by_s)
            }
            Term::Less([a, b, yes, no]) => {
                let (yes, no) = (self.of(yes, terms), self.of(no, terms));
                terms.less(a, b, yes, no)
            }
        };
        self.0.insert(id, derivative);
        derivative
    }

    /// (c Π xᵉ)′ = c Σ e x′ / x Π xᵉ
    fn of_product(&mut self, coefficient: f64, powers: &[(Id, f64)], terms: &mut Terms) -> Id {
        let parts: Vec<_> = powers
            .iter()
            .map(|&(base, exponent)| {
                let by_s = self.of(base, terms);
                let factors: Vec<_> = powers.iter().copied().chain([(base, -1.0), (by_s, 1.0)]).collect();
                (terms.product(1.0, &factors), coefficient * exponent)
            })
            .collect();
        terms.sum(0.0, &parts)
    }

    fn of_function(&mut self, function: Elementary, inner: Id, id: Id, terms: &mut Terms) -> Id {
        let by_s = self.of(inner, terms);
        match function {
            Elementary::Exp => terms.mul(id, by_s),
            Elementary::Log => terms.div(by_s, inner),
            Elementary::Sin => {
                let cos = terms.function(Elementary::Cos, inner);
                terms.mul(cos, by_s)
            }
            Elementary::Cos => {
                let sin = terms.function(Elementary::Sin, inner);
                terms.product(-1.0, &[(sin, 1.0), (by_s, 1.0)])
            }
        }
    }
}

/// Returns a / b, where b cancels in each part of a sum that has it.
pub(super) fn quotient(a: Id, b: Id, terms: &mut Terms) -> Id {
    match terms.get(a).clone() {
        Term::Sum(constant, parts) if constant.get() == 0.0 => {
            let parts: Vec<_> = parts.iter().map(|(part, times)| (terms.div(*part, b), times.get())).collect();
            terms.sum(0.0, &parts)
        }
        _ => terms.div(a, b),
    }
}
