//! From a formula to terms, and their derivatives.

use super::gamma::MAX_S;
use super::mistake::{At, Checked};
use super::symbols::{Quantity, Symbols};
use super::syntax::{Expression, Function, Kind, Operator};
use super::terms::{Elementary, Id, Number, Term, Terms, Variable};
use std::collections::HashMap;

/// Returns an expression as a term.
pub(crate) fn term<I: Variable>(expression: &Expression, symbols: &Symbols<I>, terms: &mut Terms<I>) -> Checked<Id> {
    let id = match &expression.kind {
        Kind::Number(value) => terms.number(*value),
        Kind::Name(name) => match symbols.find(name, &expression.span)? {
            Quantity::Number(value, _) => terms.number(*value),
            Quantity::Input(input, unit, _) => {
                let input = terms.input(*input);
                terms.product(*unit, &[(input, 1.0)])
            }
            Quantity::Expression(inner) => {
                term(inner, symbols, terms).map_err(|it| At::new(&expression.span, it.problem))?
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
        Kind::Call(Function::GammaP, arguments) => {
            let [s, x] = &arguments[..] else { return Ok(terms.number(f64::NAN)) };
            let (of, x) = (term(s, symbols, terms)?, term(x, symbols, terms)?);
            let Some(of) = terms.value(of).filter(|of| *of > 0.0 && *of <= MAX_S) else {
                let problem =
                    format!("expected a constant above 0 and at most {MAX_S} as the first argument of gammap");
                return Err(At::new(&s.span, problem));
            };
            terms.function(Elementary::GammaP(Number::new(of)), x)
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
pub(crate) fn constant<I: Variable>(expression: &Expression, symbols: &Symbols<I>) -> Option<f64> {
    let mut terms = Terms::new();
    let id = term(expression, symbols, &mut terms).ok()?;
    terms.value(id)
}

fn call<I: Variable>(function: Function, arguments: &[Id], terms: &mut Terms<I>) -> Id {
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

/// Derivatives by variables, each made once.
#[derive(Debug)]
pub(crate) struct Derivatives<I>(HashMap<(Id, I), Id>);

impl<I: Variable> Derivatives<I> {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self(HashMap::new())
    }

    /// Returns the derivative of a term by a variable. That of a choice is the choice of the derivatives: a jump has none.
    pub fn of(&mut self, id: Id, by: I, terms: &mut Terms<I>) -> Id {
        if let Some(&known) = self.0.get(&(id, by)) {
            return known;
        }
        let derivative = match terms.get(id).clone() {
            Term::Number(_) => terms.number(0.0),
            Term::Input(input) => terms.number(if input == by { 1.0 } else { 0.0 }),
            Term::Sum(_, parts) => {
                let parts: Vec<_> = parts.iter().map(|(it, times)| (self.of(*it, by, terms), times.get())).collect();
                terms.sum(0.0, &parts)
            }
            Term::Product(coefficient, powers) => {
                let powers: Vec<_> = powers.iter().map(|(base, exponent)| (*base, exponent.get())).collect();
                self.of_product((coefficient.get(), &powers), by, terms)
            }
            Term::Function(function, inner) => self.of_function((function, inner), id, by, terms),
            Term::Power(base, exponent) => {
                let (base_slope, exponent_slope) = (self.of(base, by, terms), self.of(exponent, by, terms));
                let log = terms.function(Elementary::Log, base);
                let first = terms.mul(exponent_slope, log);
                let second = terms.product(1.0, &[(exponent, 1.0), (base_slope, 1.0), (base, -1.0)]);
                let sum = terms.add(first, second);
                terms.mul(id, sum)
            }
            Term::Min(a, b) => {
                let (a_slope, b_slope) = (self.of(a, by, terms), self.of(b, by, terms));
                terms.less(a, b, a_slope, b_slope)
            }
            Term::Max(a, b) => {
                let (a_slope, b_slope) = (self.of(a, by, terms), self.of(b, by, terms));
                terms.less(b, a, a_slope, b_slope)
            }
            Term::Less([a, b, yes, no]) => {
                let (yes, no) = (self.of(yes, by, terms), self.of(no, by, terms));
                terms.less(a, b, yes, no)
            }
        };
        self.0.insert((id, by), derivative);
        derivative
    }

    /// (c Π xᵉ)′ = c Σ e x′ / x Π xᵉ
    fn of_product(&mut self, (coefficient, powers): (f64, &[(Id, f64)]), by: I, terms: &mut Terms<I>) -> Id {
        let parts: Vec<_> = powers
            .iter()
            .map(|&(base, exponent)| {
                let slope = self.of(base, by, terms);
                let factors: Vec<_> = powers.iter().copied().chain([(base, -1.0), (slope, 1.0)]).collect();
                (terms.product(1.0, &factors), coefficient * exponent)
            })
            .collect();
        terms.sum(0.0, &parts)
    }

    fn of_function(&mut self, (function, inner): (Elementary, Id), id: Id, by: I, terms: &mut Terms<I>) -> Id {
        let slope = self.of(inner, by, terms);
        match function {
            Elementary::Exp => terms.mul(id, slope),
            Elementary::Log => terms.div(slope, inner),
            Elementary::Sin => {
                let cos = terms.function(Elementary::Cos, inner);
                terms.mul(cos, slope)
            }
            Elementary::Cos => {
                let sin = terms.function(Elementary::Sin, inner);
                terms.product(-1.0, &[(sin, 1.0), (slope, 1.0)])
            }
            // x^(s−1) e⁻ˣ / Γ(s)
            Elementary::GammaP(s) => {
                let minus = terms.neg(inner);
                let exp = terms.function(Elementary::Exp, minus);
                terms.product(1.0 / libm::tgamma(s.get()), &[(inner, s.get() - 1.0), (exp, 1.0), (slope, 1.0)])
            }
        }
    }
}

/// Returns a / b, where b cancels in each part of a sum that has it.
pub(crate) fn quotient<I: Variable>(a: Id, b: Id, terms: &mut Terms<I>) -> Id {
    match terms.get(a).clone() {
        Term::Sum(constant, parts) if constant.get() == 0.0 => {
            let parts: Vec<_> = parts.iter().map(|(part, times)| (terms.div(*part, b), times.get())).collect();
            terms.sum(0.0, &parts)
        }
        _ => terms.div(a, b),
    }
}
