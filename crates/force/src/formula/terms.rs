//! Formulas as terms in a normal form, each kept once: what is derived, simplified and compiled.
//!
//! A product is a coefficient times powers of other terms, a sum is a constant plus multiples of other terms, with what
//! the terms have in common taken out. Therefore factors cancel: U / m_i, the s of U′ / s. The order of terms is that of
//! their creation, so that one formula has one program.

use super::gamma::gamma_p;
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

/// Variable of a formula.
pub trait Variable: Copy + Debug + Eq + Hash {
    /// Returns true if its values are above 0.
    fn is_positive(self) -> bool {
        false
    }

    /// Returns the variables of its square and of its inverse, if a program has them beside it.
    fn square_and_inverse(self) -> Option<[Self; 2]> {
        None
    }
}

/// Place of a term in [`Terms`].
pub type Id = usize;

/// Number as a key: the bits of an f64 without −0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Number(u64);

impl Number {
    /// Creates the key of a value.
    pub fn new(value: f64) -> Self {
        Self((value + 0.0).to_bits())
    }

    /// Returns the value.
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// Elementary function of one argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Elementary {
    Exp,
    Log,
    Sin,
    Cos,
    /// [`gamma_p`] of a constant and the argument.
    GammaP(Number),
}

/// Term.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Term<I> {
    /// Number.
    Number(Number),
    /// Variable.
    Input(I),
    /// Coefficient times powers; exponents are not 0. Not one power 1 with coefficient 1.
    Product(Number, Vec<(Id, Number)>),
    /// Constant plus multiples; no multiple is 0. At least two parts.
    Sum(Number, Vec<(Id, Number)>),
    /// Function of a term.
    Function(Elementary, Id),
    /// Power with an exponent that is not a number.
    Power(Id, Id),
    /// Smaller of two.
    Min(Id, Id),
    /// Larger of two.
    Max(Id, Id),
    /// The third if the first < the second, else the fourth.
    Less([Id; 4]),
}

/// Coefficient and powers of a product.
type Factors = (f64, Vec<(Id, f64)>);

/// All terms of a formula.
#[derive(Debug)]
pub struct Terms<I> {
    all: Vec<Term<I>>,
    places: HashMap<Term<I>, Id>,
}

/// Largest number of terms: a bound on time and memory for any formula.
pub const MAX_TERMS: usize = 1 << 14;

impl<I: Variable> Terms<I> {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self { all: Vec::new(), places: HashMap::new() }
    }

    fn put(&mut self, term: Term<I>) -> Id {
        if let Some(&id) = self.places.get(&term) {
            return id;
        }
        let id = self.all.len();
        self.all.push(term.clone());
        self.places.insert(term, id);
        id
    }

    /// Returns a term.
    pub fn get(&self, id: Id) -> &Term<I> {
        &self.all[id]
    }

    /// Returns true if there are too many terms.
    pub fn overflows(&self) -> bool {
        self.all.len() > MAX_TERMS
    }

    /// Returns a number as a term.
    pub fn number(&mut self, value: f64) -> Id {
        self.put(Term::Number(Number::new(value)))
    }

    /// Returns an input as a term.
    pub fn input(&mut self, input: I) -> Id {
        self.put(Term::Input(input))
    }

    /// Returns the value of a term that is a number.
    pub fn value(&self, id: Id) -> Option<f64> {
        match self.get(id) {
            Term::Number(value) => Some(value.get()),
            _ => None,
        }
    }

    /// Returns a · b.
    pub fn mul(&mut self, a: Id, b: Id) -> Id {
        self.product(1.0, &[(a, 1.0), (b, 1.0)])
    }

    /// Returns a / b.
    pub fn div(&mut self, a: Id, b: Id) -> Id {
        self.product(1.0, &[(a, 1.0), (b, -1.0)])
    }

    /// Returns −a.
    pub fn neg(&mut self, a: Id) -> Id {
        self.product(-1.0, &[(a, 1.0)])
    }

    /// Returns a term to a constant power.
    pub fn raise(&mut self, base: Id, exponent: f64) -> Id {
        self.product(1.0, &[(base, exponent)])
    }

    /// Returns a term to the power of a term.
    pub fn power(&mut self, base: Id, exponent: Id) -> Id {
        match self.value(exponent) {
            Some(exponent) => self.raise(base, exponent),
            None => self.put(Term::Power(base, exponent)),
        }
    }

    /// Returns an elementary function of a term.
    pub fn function(&mut self, function: Elementary, of: Id) -> Id {
        match self.value(of) {
            Some(x) => self.number(match function {
                Elementary::Exp => libm::exp(x),
                Elementary::Log => libm::log(x),
                Elementary::Sin => libm::sin(x),
                Elementary::Cos => libm::cos(x),
                Elementary::GammaP(s) => gamma_p(s.get(), x),
            }),
            None => self.put(Term::Function(function, of)),
        }
    }

    /// Returns the smaller of two terms.
    pub fn min(&mut self, a: Id, b: Id) -> Id {
        match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => self.number(x.min(y)),
            _ => self.put(Term::Min(a, b)),
        }
    }

    /// Returns the larger of two terms.
    pub fn max(&mut self, a: Id, b: Id) -> Id {
        match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => self.number(x.max(y)),
            _ => self.put(Term::Max(a, b)),
        }
    }

    /// Returns `yes` if a < b, else `no`.
    pub fn less(&mut self, a: Id, b: Id, yes: Id, no: Id) -> Id {
        match (self.value(a), self.value(b)) {
            (Some(x), Some(y)) => [no, yes][usize::from(x < y)],
            _ if yes == no => yes,
            _ => self.put(Term::Less([a, b, yes, no])),
        }
    }

    /// Returns a product of powers in normal form.
    pub fn product(&mut self, coefficient: f64, powers: &[(Id, f64)]) -> Id {
        let mut factors: Factors = (coefficient, Vec::new());
        for &(base, exponent) in powers {
            self.multiply(&mut factors, base, exponent);
        }
        let (coefficient, mut powers) = factors;
        powers.retain(|(_, exponent)| *exponent != 0.0);
        powers.sort_unstable_by_key(|(base, _)| *base);
        if coefficient == 0.0 || powers.is_empty() {
            return self.number(coefficient);
        }
        // Into the branches of a choice, where more cancels.
        let choice = powers.iter().position(|(base, exponent)| {
            *exponent == 1.0 && matches!(self.get(*base), Term::Less(_)) && (coefficient != 1.0 || powers.len() > 1)
        });
        if let Some(place) = choice
            && let Term::Less([a, b, yes, no]) = *self.get(powers[place].0)
            && !self.overflows()
        {
            powers.remove(place);
            let mut times = |branch: Id| {
                let mut all = powers.clone();
                all.push((branch, 1.0));
                self.product(coefficient, &all)
            };
            let (yes, no) = (times(yes), times(no));
            return self.less(a, b, yes, no);
        }
        if let [(base, exponent)] = powers[..]
            && exponent == 1.0
        {
            if coefficient == 1.0 {
                return base;
            }
            // A multiple of a sum is a sum.
            if let Term::Sum(constant, parts) = self.get(base).clone() {
                let parts = parts.iter().map(|&(id, times)| (id, Number::new(coefficient * times.get()))).collect();
                return self.put(Term::Sum(Number::new(coefficient * constant.get()), parts));
            }
        }
        let powers = powers.into_iter().map(|(base, exponent)| (base, Number::new(exponent))).collect();
        self.put(Term::Product(Number::new(coefficient), powers))
    }

    /// Multiplies factors by a power.
    fn multiply(&mut self, (coefficient, powers): &mut Factors, base: Id, exponent: f64) {
        match self.get(base).clone() {
            Term::Number(value) => *coefficient *= power_of_number(value.get(), exponent),
            // (xᵃ)ᵇ = xᵃᵇ for whole b, and for any b where all factors are positive.
            Term::Product(inner, factors) if exponent.fract() == 0.0 || self.is_positive(base) => {
                *coefficient *= power_of_number(inner.get(), exponent);
                for (base, power) in factors {
                    put_power(powers, base, power.get() * exponent);
                }
            }
            _ => put_power(powers, base, exponent),
        }
    }

    /// Returns true if a term is known to be above 0: powers of a positive variable times a positive number.
    fn is_positive(&self, id: Id) -> bool {
        match self.get(id) {
            Term::Number(value) => value.get() > 0.0,
            Term::Input(input) => input.is_positive(),
            Term::Product(coefficient, powers) => {
                coefficient.get() > 0.0 && powers.iter().all(|(base, _)| self.is_positive(*base))
            }
            Term::Function(Elementary::Exp, _) => true,
            _ => false,
        }
    }

    /// Returns a + b.
    pub fn add(&mut self, a: Id, b: Id) -> Id {
        self.sum(0.0, &[(a, 1.0), (b, 1.0)])
    }

    /// Returns a − b.
    pub fn sub(&mut self, a: Id, b: Id) -> Id {
        self.sum(0.0, &[(a, 1.0), (b, -1.0)])
    }

    /// Returns a constant plus multiples of terms, in normal form.
    pub fn sum(&mut self, constant: f64, multiples: &[(Id, f64)]) -> Id {
        let (mut constant, mut parts) = (constant, Vec::new());
        for &(id, times) in multiples {
            self.accumulate(&mut constant, &mut parts, id, times);
        }
        parts.retain(|(_, times)| *times != 0.0);
        parts.sort_unstable_by_key(|(id, _)| *id);
        match parts[..] {
            [] => return self.number(constant),
            [(id, times)] if constant == 0.0 => return self.product(times, &[(id, 1.0)]),
            _ => {}
        }
        let common = if constant == 0.0 { self.common(&parts) } else { Vec::new() };
        if common.is_empty() || self.overflows() {
            let parts = parts.into_iter().map(|(id, times)| (id, Number::new(times))).collect();
            return self.put(Term::Sum(Number::new(constant), parts));
        }
        let inverse: Vec<_> = common.iter().map(|&(base, exponent)| (base, -exponent)).collect();
        let divided: Vec<_> = parts
            .iter()
            .map(|&(id, times)| {
                let factors: Vec<_> = inverse.iter().copied().chain([(id, 1.0)]).collect();
                (self.product(1.0, &factors), times)
            })
            .collect();
        let rest = self.sum(0.0, &divided);
        let factors: Vec<_> = common.into_iter().chain([(rest, 1.0)]).collect();
        self.product(1.0, &factors)
    }

    /// Adds a multiple of a term to the parts of a sum.
    fn accumulate(&mut self, constant: &mut f64, parts: &mut Vec<(Id, f64)>, id: Id, times: f64) {
        match self.get(id).clone() {
            Term::Number(value) => *constant += times * value.get(),
            Term::Sum(inner, multiples) => {
                *constant += times * inner.get();
                for (id, inner) in multiples {
                    self.accumulate(constant, parts, id, times * inner.get());
                }
            }
            Term::Product(coefficient, powers) if coefficient.get() != 1.0 => {
                let powers: Vec<_> = powers.iter().map(|(base, exponent)| (*base, exponent.get())).collect();
                let plain = self.product(1.0, &powers);
                put_power(parts, plain, times * coefficient.get());
            }
            _ => put_power(parts, id, times),
        }
    }

    /// Returns the powers that all parts of a sum have in common.
    fn common(&self, parts: &[(Id, f64)]) -> Vec<(Id, f64)> {
        let powers = |id: Id| match self.get(id) {
            Term::Product(_, powers) => powers.iter().map(|(base, exponent)| (*base, exponent.get())).collect(),
            _ => vec![(id, 1.0)],
        };
        let mut parts = parts.iter().map(|(id, _)| powers(*id));
        let mut common: Vec<(Id, f64)> = parts.next().unwrap_or_default();
        for other in parts {
            common.retain_mut(|(base, exponent)| {
                let Some((_, there)) = other.iter().find(|(there, _)| there == base) else { return false };
                let same_sign = there.signum() == exponent.signum();
                *exponent = exponent.signum() * exponent.abs().min(there.abs());
                same_sign
            });
        }
        common
    }
}

/// Adds to the number of an id in a list: the exponent of a base, or the multiple of a term.
fn put_power(list: &mut Vec<(Id, f64)>, id: Id, number: f64) {
    match list.iter_mut().find(|(there, _)| *there == id) {
        Some((_, there)) => *there += number,
        None => list.push((id, number)),
    }
}

/// Returns a number to a power; whole powers by multiplication, so that they are the same on every machine.
fn power_of_number(value: f64, exponent: f64) -> f64 {
    if exponent == 0.5 {
        return value.sqrt();
    }
    if exponent.fract() != 0.0 || exponent.abs() > 64.0 {
        return libm::pow(value, exponent);
    }
    let product = (0..exponent.abs() as u32).fold(1.0, |product, _| product * value);
    if exponent < 0.0 { 1.0 / product } else { product }
}
