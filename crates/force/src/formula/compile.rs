//! From terms to a program: shared parts once, powers by multiplication in a fixed order.

use super::gamma;
use super::op::{Op, Register};
use super::terms::{Elementary, Id, Term, Terms, Variable};
use std::collections::HashMap;

/// Program while it is made.
pub(crate) struct Compiler<'a, I> {
    terms: &'a Terms<I>,
    ops: Vec<Op<I>>,
    max_ops: usize,
    registers: HashMap<Id, Register>,
    /// Products of registers to whole powers that the program has already.
    monomials: Vec<(Monomial, Register)>,
    /// Flag to compute the distance s of a law as s² · (1 / s), which is NaN at 0, in place of a second root.
    by_inverse: bool,
}

/// Product of registers to powers from 1 on, in ascending order of the registers.
type Monomial = Vec<(Register, u32)>;

/// Largest whole power that becomes multiplications.
const MAX_MULTIPLIED: f64 = 64.0;

/// Signal that the program would have more operations than are allowed.
#[derive(Debug)]
pub(crate) struct TooLong;

impl<'a, I: Variable> Compiler<'a, I> {
    /// Creates an empty program of terms, of at most `max_ops` operations. With `by_inverse` the distance s of a law is
    /// s² · (1 / s), which is NaN at 0, in place of a second root.
    pub fn new(terms: &'a Terms<I>, by_inverse: bool, max_ops: usize) -> Self {
        Self { terms, ops: Vec::new(), max_ops, registers: HashMap::new(), monomials: Vec::new(), by_inverse }
    }

    /// Returns the operations.
    pub fn finish(self) -> Vec<Op<I>> {
        self.ops
    }

    fn put(&mut self, op: Op<I>) -> Result<Register, TooLong> {
        if let Some(same) = self.ops.iter().position(|there| *there == op) {
            return Ok(same as Register);
        }
        if self.ops.len() == self.max_ops {
            return Err(TooLong);
        }
        self.ops.push(op);
        Ok((self.ops.len() - 1) as Register)
    }

    /// Adds the operations of a term, as far as they are not there, and returns the register of its value.
    pub fn emit(&mut self, id: Id) -> Result<Register, TooLong> {
        if let Some(&register) = self.registers.get(&id) {
            return Ok(register);
        }
        let terms = self.terms;
        let register = match terms.get(id) {
            Term::Number(value) => self.put(Op::Constant(value.get()))?,
            Term::Input(input) => self.variable(*input)?,
            Term::Product(coefficient, powers) => {
                let mut monomial = Monomial::new();
                for (base, exponent) in powers {
                    self.factors(*base, exponent.get(), &mut monomial)?;
                }
                let product = self.monomial(monomial)?;
                self.multiple(coefficient.get(), product)?
            }
            Term::Sum(constant, parts) => {
                let parts: Vec<_> = parts.iter().map(|(part, times)| (*part, times.get())).collect();
                self.sum(constant.get(), &parts)?
            }
            Term::Function(function, inner) => self.function(*function, *inner)?,
            Term::Power(base, exponent) => {
                let op = Op::Pow(self.emit(*base)?, self.emit(*exponent)?);
                self.put(op)?
            }
            Term::Min(a, b) => {
                let op = Op::Min(self.emit(*a)?, self.emit(*b)?);
                self.put(op)?
            }
            Term::Max(a, b) => {
                let op = Op::Max(self.emit(*a)?, self.emit(*b)?);
                self.put(op)?
            }
            Term::Less([a, b, yes, no]) => {
                let op = Op::Less(self.emit(*a)?, self.emit(*b)?, self.emit(*yes)?, self.emit(*no)?);
                self.put(op)?
            }
        };
        self.registers.insert(id, register);
        Ok(register)
    }

    fn function(&mut self, function: Elementary, of: Id) -> Result<Register, TooLong> {
        let op = match function {
            Elementary::Exp => Op::Exp,
            Elementary::Log => Op::Log,
            Elementary::Sin => Op::Sin,
            Elementary::Cos => Op::Cos,
            Elementary::GammaP(s) => return self.gamma_p(s.get(), of),
        };
        let of = self.emit(of)?;
        self.put(op(of))
    }

    fn variable(&mut self, input: I) -> Result<Register, TooLong> {
        match input.square_and_inverse() {
            Some([square, inverse]) if self.by_inverse => {
                let op = Op::Mul(self.put(Op::Input(square))?, self.put(Op::Input(inverse))?);
                self.put(op)
            }
            _ => self.put(Op::Input(input)),
        }
    }

    /// Adds the factors of a power to a monomial: powers of the distance of a law by s, s² and 1 / s, halves by a root,
    /// negative powers by an inverse.
    fn factors(&mut self, base: Id, exponent: f64, monomial: &mut Monomial) -> Result<(), TooLong> {
        let times = exponent.abs();
        let doubled = 2.0 * times;
        if doubled.fract() != 0.0 || doubled > MAX_MULTIPLIED {
            let op = Op::Pow(self.emit(base)?, self.put(Op::Constant(exponent))?);
            multiply(monomial, self.put(op)?, 1);
            return Ok(());
        }
        if let Term::Input(input) = *self.terms.get(base)
            && let Some([square, inverse]) = input.square_and_inverse()
            && times.fract() == 0.0
        {
            let times = times as u32;
            if exponent < 0.0 {
                multiply(monomial, self.put(Op::Input(inverse))?, times);
                return Ok(());
            }
            if times > 1 {
                multiply(monomial, self.put(Op::Input(square))?, times / 2);
            }
            if times % 2 == 1 {
                multiply(monomial, self.variable(input)?, 1);
            }
            return Ok(());
        }
        let mut value = self.emit(base)?;
        let mut times = times;
        if times.fract() != 0.0 {
            value = self.put(Op::Sqrt(value))?;
            times = doubled;
        }
        if exponent < 0.0 {
            let op = Op::Div(self.put(Op::Constant(1.0))?, value);
            value = self.put(op)?;
        }
        multiply(monomial, value, times as u32);
        Ok(())
    }

    /// Returns a product of powers: the largest part of it that the program has, times the rest.
    fn monomial(&mut self, monomial: Monomial) -> Result<Register, TooLong> {
        if let [(register, 1)] = monomial[..] {
            return Ok(register);
        }
        let degree = |of: &Monomial| of.iter().map(|(_, power)| power).sum::<u32>();
        let part = self.monomials.iter().filter(|(part, _)| divides(part, &monomial));
        // The first of the largest.
        let part = part.max_by_key(|(part, register)| (degree(part), std::cmp::Reverse(*register))).cloned();
        let (left, rest) = match (part, &monomial[..]) {
            (Some((part, register)), _) if part == monomial => return Ok(register),
            (Some((part, register)), _) => (register, without(&monomial, &part)),
            (None, &[(register, power)]) => {
                (self.monomial(vec![(register, power / 2)])?, vec![(register, power.div_ceil(2))])
            }
            (None, _) => (self.monomial(monomial[..1].to_vec())?, monomial[1..].to_vec()),
        };
        let op = Op::Mul(left, self.monomial(rest)?);
        let register = self.put(op)?;
        self.monomials.push((monomial, register));
        Ok(register)
    }

    /// Adds the operations of the [incomplete gamma function](gamma::gamma_p).
    fn gamma_p(&mut self, s: f64, x: Id) -> Result<Register, TooLong> {
        let (x, largest) = (self.emit(x)?, self.put(Op::Constant(gamma::LARGEST))?);
        let (near, one) = (self.put(Op::Min(x, largest))?, self.put(Op::Constant(1.0))?);
        let mut series = one;
        for factor in gamma::factors(s) {
            let factor = self.multiple(factor, near)?;
            let product = self.put(Op::Mul(factor, series))?;
            series = self.put(Op::Add(one, product))?;
        }
        let power = self.put(Op::Constant(s))?;
        let (power, minus) = (self.put(Op::Pow(near, power))?, self.put(Op::Neg(near))?);
        let exp = self.put(Op::Exp(minus))?;
        let front = self.put(Op::Mul(power, exp))?;
        let value = self.put(Op::Mul(front, series))?;
        let value = self.multiple(gamma::front(s), value)?;
        self.put(Op::Less(largest, x, one, value))
    }

    /// Returns a multiple of a value.
    fn multiple(&mut self, times: f64, value: Register) -> Result<Register, TooLong> {
        if times == 1.0 {
            return Ok(value);
        }
        if times == -1.0 {
            return self.put(Op::Neg(value));
        }
        let op = Op::Mul(self.put(Op::Constant(times))?, value);
        self.put(op)
    }

    /// Returns a sum, part by part from the left.
    fn sum(&mut self, constant: f64, parts: &[(Id, f64)]) -> Result<Register, TooLong> {
        let mut sum = if constant == 0.0 { None } else { Some(self.put(Op::Constant(constant))?) };
        for &(part, times) in parts {
            let value = self.emit(part)?;
            sum = Some(match sum {
                None => self.multiple(times, value)?,
                Some(sum) => {
                    let term = self.multiple(times.abs(), value)?;
                    self.put(if times < 0.0 { Op::Sub(sum, term) } else { Op::Add(sum, term) })?
                }
            });
        }
        match sum {
            Some(sum) => Ok(sum),
            None => self.put(Op::Constant(0.0)),
        }
    }
}

/// Multiplies a monomial by a power of a register.
fn multiply(monomial: &mut Monomial, register: Register, power: u32) {
    match monomial.binary_search_by_key(&register, |(there, _)| *there) {
        Ok(place) => monomial[place].1 += power,
        Err(place) => monomial.insert(place, (register, power)),
    }
}

/// Returns the power of a register in a monomial.
fn power(monomial: &Monomial, register: Register) -> u32 {
    monomial.iter().find(|(there, _)| *there == register).map_or(0, |(_, power)| *power)
}

fn divides(part: &Monomial, whole: &Monomial) -> bool {
    part.iter().all(|(register, times)| *times <= power(whole, *register))
}

fn without(whole: &Monomial, part: &Monomial) -> Monomial {
    whole.iter().map(|(it, times)| (*it, times - power(part, *it))).filter(|(_, times)| *times > 0).collect()
}
