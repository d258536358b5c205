//! Record of the operations on one pair of a law, as the generic functions of the arithmetic carry them out.

use crate::force::cpu::arithmetic::{LawResults, add_law, difference, softened_square};
use crate::force::cpu::inverse_sqrt::{Estimates, reciprocal};
use crate::force::cpu::sources::columns;
use crate::force::mode::{Mode, is_whole};
use crate::force::operations::Operations;
use crate::force::real::Real;
use crate::law::Program;
use crate::law::program::{Input, Op};
use std::array::from_fn;
use std::cell::RefCell;

/// Index of the operation whose result it is.
pub type Value = usize;

/// Vector that does not change from one source to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fixed {
    Constant(f64),
    /// Coordinate of the targets.
    Position(usize),
    /// Low part of it, in split modes.
    Low(usize),
    Velocity(usize),
    /// ε²
    Softening,
    /// Mass (0) or value in a column (from 1 on) of the targets, which the law reads.
    Target(usize),
}

/// Where an operand is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Place {
    /// Column of the source in its slot.
    Slot(usize),
    /// Column of the law, beside the slots.
    Beside(usize),
    /// By its number among those of the record.
    Fixed(usize),
    /// Part of a running sum, before the pair.
    Sum(usize),
}

/// Operation on vectors. `P` is where it reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operation<P> {
    Read(P),
    Add([Value; 2]),
    Sub([Value; 2]),
    Mul([Value; 2]),
    Div([Value; 2]),
    Sqrt([Value; 1]),
    /// a · b + c
    Fma([Value; 3]),
    /// c − a · b
    MinusProduct([Value; 3]),
    /// a · b + c, rounded up
    FmaUp([Value; 3]),
    /// 1/√a, to 2⁻¹⁴
    Estimate([Value; 1]),
    /// The third if the first < the second, else the fourth.
    SelectLess([Value; 4]),
}

impl<P> Operation<P> {
    /// Returns the operands.
    pub fn operands(&self) -> &[Value] {
        match self {
            Self::Read(_) => &[],
            Self::Sqrt(operands) | Self::Estimate(operands) => operands,
            Self::Add(operands) | Self::Sub(operands) | Self::Mul(operands) | Self::Div(operands) => operands,
            Self::Fma(operands) | Self::MinusProduct(operands) | Self::FmaUp(operands) => operands,
            Self::SelectLess(operands) => operands,
        }
    }

    /// Returns the operation with other operands and another place.
    pub fn map<Q>(self, place: impl FnOnce(P) -> Q, to: impl Fn(Value) -> Value) -> Operation<Q> {
        match self {
            Self::Read(from) => Operation::Read(place(from)),
            Self::Add(of) => Operation::Add(of.map(to)),
            Self::Sub(of) => Operation::Sub(of.map(to)),
            Self::Mul(of) => Operation::Mul(of.map(to)),
            Self::Div(of) => Operation::Div(of.map(to)),
            Self::Sqrt(of) => Operation::Sqrt(of.map(to)),
            Self::Fma(of) => Operation::Fma(of.map(to)),
            Self::MinusProduct(of) => Operation::MinusProduct(of.map(to)),
            Self::FmaUp(of) => Operation::FmaUp(of.map(to)),
            Self::Estimate(of) => Operation::Estimate(of.map(to)),
            Self::SelectLess(of) => Operation::SelectLess(of.map(to)),
        }
    }
}

/// Operations on one pair.
#[derive(Debug)]
pub struct Record {
    pub operations: Vec<Operation<Place>>,
    /// Number of operations that make the distances: those that may be carried out long before the others.
    pub begun: usize,
    pub fixed: Vec<Fixed>,
    /// The running sums after the pair, part by part, and last, where there is one, the sum of 1 / s that is NaN where a
    /// form of it has no value.
    pub sums: Vec<Value>,
    /// Flag of the sum of 1 / s.
    pub checked: bool,
}

/// What records operations instead of carrying them out.
#[derive(Default)]
struct Recorder {
    operations: RefCell<Vec<Operation<Place>>>,
    fixed: RefCell<Vec<Fixed>>,
}

impl Recorder {
    /// Records an operation. One that is there already is not repeated.
    fn push(&self, operation: Operation<Place>) -> Value {
        let mut operations = self.operations.borrow_mut();
        operations.iter().position(|other| *other == operation).unwrap_or_else(|| {
            operations.push(operation);
            operations.len() - 1
        })
    }

    fn read(&self, place: Place) -> Value {
        self.push(Operation::Read(place))
    }

    fn fixed(&self, wanted: Fixed) -> Value {
        let mut fixed = self.fixed.borrow_mut();
        // Not ==: −0 is another constant than 0.
        let is_wanted = |other: &Fixed| match (other, wanted) {
            (Fixed::Constant(a), Fixed::Constant(b)) => a.to_bits() == b.to_bits(),
            _ => *other == wanted,
        };
        let number = fixed.iter().position(is_wanted).unwrap_or_else(|| {
            fixed.push(wanted);
            fixed.len() - 1
        });
        self.read(Place::Fixed(number))
    }

    /// Records the distances of a pair.
    fn distances<M: Mode>(&self, program: &Program, estimates: bool) -> Distances {
        let slot = |column| self.read(Place::Slot(column));
        let r = from_fn(|k| {
            let low = if M::SPLIT { [slot(3 + k), self.fixed(Fixed::Low(k))] } else { [0; 2] };
            difference::<M, _>(self, [slot(k), low[0]], [self.fixed(Fixed::Position(k)), low[1]])
        });
        let square = softened_square::<M, _>(self, r, self.fixed(Fixed::Softening));
        let reads = |input| program.ops.contains(&Op::Input(input));
        let root = (reads(Input::S) || reads(Input::InverseS)).then(|| self.push(Operation::Sqrt([square])));
        let inverse = root.filter(|_| reads(Input::InverseS)).map(|root| {
            if estimates {
                return reciprocal(self, root, self.estimate(square));
            }
            self.push(Operation::Div([self.fixed(Fixed::Constant(1.0)), root]))
        });
        Distances { r, square, root, inverse }
    }

    /// Records the operations of a program; the mass of the source is in the column `mass` of its slot. Returns the
    /// results, or [`None`] where it has elementary functions.
    fn results(&self, program: &Program, of: Distances, mass: usize) -> Option<Vec<Value>> {
        let mut results: Vec<Value> = Vec::with_capacity(program.ops.len());
        for op in &program.ops {
            let at = |register: u16| results[usize::from(register)];
            let two = |a, b| [at(a), at(b)];
            results.push(match *op {
                Op::Input(Input::SquareS) => of.square,
                Op::Input(Input::S) => of.root?,
                Op::Input(Input::InverseS) => of.inverse?,
                Op::Input(Input::SourceMass) => self.read(Place::Slot(mass)),
                Op::Input(Input::Source(column)) => self.read(Place::Beside(column.into())),
                Op::Input(Input::TargetMass) => self.fixed(Fixed::Target(0)),
                Op::Input(Input::Target(column)) => self.fixed(Fixed::Target(1 + usize::from(column))),
                Op::Constant(value) => self.fixed(Fixed::Constant(value)),
                Op::Add(a, b) => self.push(Operation::Add(two(a, b))),
                Op::Sub(a, b) => self.push(Operation::Sub(two(a, b))),
                Op::Mul(a, b) => self.push(Operation::Mul(two(a, b))),
                Op::Div(a, b) => self.push(Operation::Div(two(a, b))),
                Op::Neg(a) => self.push(Operation::Sub([self.fixed(Fixed::Constant(-0.0)), at(a)])),
                Op::Sqrt(a) => self.push(Operation::Sqrt([at(a)])),
                Op::Min(a, b) => self.push(Operation::SelectLess([at(a), at(b), at(a), at(b)])),
                Op::Max(a, b) => self.push(Operation::SelectLess([at(b), at(a), at(a), at(b)])),
                Op::Less(a, b, c, d) => self.push(Operation::SelectLess([at(a), at(b), at(c), at(d)])),
                Op::Exp(_) | Op::Log(_) | Op::Sin(_) | Op::Cos(_) | Op::Pow(..) => return None,
            });
        }
        Some(results)
    }
}

/// Distances of a pair that its program reads.
#[derive(Clone, Copy)]
struct Distances {
    /// Relative position.
    r: [Value; 3],
    square: Value,
    root: Option<Value>,
    inverse: Option<Value>,
}

impl<R: Real> Operations<R> for &Recorder {
    type Lanes = Value;
    fn constant(self, x: f64) -> Value {
        self.fixed(Fixed::Constant(x))
    }
    fn add(self, a: Value, b: Value) -> Value {
        self.push(Operation::Add([a, b]))
    }
    fn sub(self, a: Value, b: Value) -> Value {
        self.push(Operation::Sub([a, b]))
    }
    fn mul(self, a: Value, b: Value) -> Value {
        self.push(Operation::Mul([a, b]))
    }
    fn fma(self, a: Value, b: Value, c: Value) -> Value {
        self.push(Operation::Fma([a, b, c]))
    }
    fn minus_product(self, a: Value, b: Value, c: Value) -> Value {
        self.push(Operation::MinusProduct([a, b, c]))
    }
}

impl Estimates for &Recorder {
    fn estimate(self, x: Value) -> Value {
        self.push(Operation::Estimate([x]))
    }
    fn fma_up(self, a: Value, b: Value, c: Value) -> Value {
        self.push(Operation::FmaUp([a, b, c]))
    }
}

impl Record {
    /// Records a pair of a law's program with `K` sums; with `estimates`, 1 / s as [`reciprocal`] computes it. Returns
    /// [`None`] for a program with elementary functions, which are loops over numbers.
    pub fn new<M: Mode, const K: usize>(program: &Program, estimates: bool) -> Option<Self> {
        let recorder = &Recorder::default();
        let distances = recorder.distances::<M>(program, estimates);
        let begun = recorder.operations.borrow().len();
        let Distances { r, square, inverse, .. } = distances;
        let results = recorder.results(program, distances, columns::<M, K>() - 1)?;
        let result = |register: Option<u16>| register.map_or(square, |register| results[usize::from(register)]);
        let factors = [result(Some(program.factor)), result(program.slope), result(program.minus_potential)];
        let part = |k: usize, part| if part < M::PARTS { recorder.read(Place::Sum(M::PARTS * k + part)) } else { 0 };
        let mut sums: [[Value; 2]; K] = from_fn(|k| [part(k, 0), part(k, 1)]);
        let first_velocity = columns::<M, K>() - 4;
        let v = if is_whole(K) {
            from_fn(|k| {
                let of = recorder.read(Place::Slot(first_velocity + k));
                recorder.push(Operation::Sub([of, recorder.fixed(Fixed::Velocity(k))]))
            })
        } else {
            r
        };
        let has_potential = program.minus_potential.is_some();
        add_law::<M, _, K>(recorder, &mut sums, LawResults { r, factors, has_potential }, v);
        let mut sums: Vec<Value> = sums.iter().flat_map(|sum| &sum[..M::PARTS]).copied().collect();
        let checked = estimates && inverse.is_some();
        if let Some(inverse) = inverse.filter(|_| checked) {
            let before = recorder.read(Place::Sum(sums.len()));
            sums.push(recorder.push(Operation::Add([before, inverse])));
        }
        let (operations, fixed) = (recorder.operations.take(), recorder.fixed.take());
        Some(Self { operations, begun, fixed, sums, checked })
    }
}
