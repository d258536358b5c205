//! Programs of a field at several places together: each operation is a loop over them, which the compiler turns into vector code. The
//! operations are those at one place, so that their bits are the same on any vector unit.

use super::variable::FieldVariable;
use crate::force::cpu::Width;
use crate::force::external::places::{LANES, Lanes};
use crate::formula::functions;
use crate::formula::op::{Op, Register};
use crate::formula::slots::{Place, Slots, Step};
use pulp::{Simd, WithSimd};

/// Program with its results in slots of the innermost cache.
#[derive(Clone, Debug)]
pub(super) struct Together {
    steps: Vec<Step<FieldVariable>>,
    /// Slots of the results.
    results: Vec<usize>,
    slots: usize,
}

impl Together {
    /// Plans a program with these operations.
    pub fn new(ops: &[Op<FieldVariable>], results: &[Register]) -> Self {
        let slots = Slots::choose(ops, results.iter().copied(), 0, |_| Place::Reused);
        Self {
            steps: (0..ops.len()).map(|k| slots.step(ops, k)).collect(),
            results: results.iter().map(|&result| slots.slot(result)).collect(),
            slots: slots.number,
        }
    }

    /// Evaluates the program: as a program at one place, in each lane.
    pub fn evaluate<const N: usize>(&self, width: Width, variables: &[Lanes; 7]) -> [Lanes; N] {
        let mut slots = vec![[0.0; LANES]; self.slots];
        width.run(Run { steps: &self.steps, variables, slots: &mut slots });
        std::array::from_fn(|k| slots[self.results[k]])
    }
}

/// Program that is being evaluated.
struct Run<'a> {
    steps: &'a [Step<FieldVariable>],
    variables: &'a [Lanes; 7],
    slots: &'a mut [Lanes],
}

impl WithSimd for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { steps, variables, slots } = self;
        // No closures: each would be a function of its own, compiled without the wider instructions.
        macro_rules! each {
            ($to:ident, [$($x:ident = $slot:expr),+] => $value:expr) => {{
                $(let $x = slots[usize::from($slot)];)+
                let mut result = [0.0; LANES];
                for k in 0..LANES {
                    $(let $x = $x[k];)+
                    result[k] = $value;
                }
                slots[$to] = result;
            }};
        }
        for &Step { to, op } in steps {
            match op {
                Op::Input(of) => slots[to] = variables[of.index()],
                Op::Constant(value) => slots[to] = [value; LANES],
                Op::Add(a, b) => each!(to, [x = a, y = b] => x + y),
                Op::Sub(a, b) => each!(to, [x = a, y = b] => x - y),
                Op::Mul(a, b) => each!(to, [x = a, y = b] => x * y),
                Op::Div(a, b) => each!(to, [x = a, y = b] => x / y),
                Op::Neg(a) => each!(to, [x = a] => -x),
                Op::Sqrt(a) => each!(to, [x = a] => x.sqrt()),
                Op::Exp(a) => each!(to, [x = a] => functions::exp(x)),
                Op::Log(a) => each!(to, [x = a] => functions::log(x)),
                Op::Sin(a) => each!(to, [x = a] => functions::sin(x)),
                Op::Cos(a) => each!(to, [x = a] => functions::cos(x)),
                Op::Pow(a, b) => each!(to, [x = a, y = b] => functions::pow(x, y)),
                Op::Min(a, b) => each!(to, [x = a, y = b] => if x < y { x } else { y }),
                Op::Max(a, b) => each!(to, [x = a, y = b] => if x > y { x } else { y }),
                Op::Less(a, b, c, d) => each!(to, [x = a, y = b, yes = c, no = d] => if x < y { yes } else { no }),
            }
        }
    }
}
