//! A law as a straight-line program: what the engines evaluate for each pair.

use crate::formula::op::{self, Register};
use crate::formula::terms::Variable;

/// What an engine gives to a program for each pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Input {
    /// Softened distance s = √s².
    S,
    /// Its square, s² = r² + ε², as [`softened_square`](crate::gravity::softened_square) computes it.
    SquareS,
    /// Its inverse, 1 / √s².
    InverseS,
    /// Mass of the source, m_j.
    SourceMass,
    /// Mass of the target, m_i.
    TargetMass,
    /// Value of the source in a column, by the column's place in [`Program::columns`].
    Source(u8),
    /// Value of the target in a column.
    Target(u8),
}

impl Variable for Input {
    fn is_positive(self) -> bool {
        self == Self::S
    }

    fn square_and_inverse(self) -> Option<[Self; 2]> {
        (self == Self::S).then_some([Self::SquareS, Self::InverseS])
    }
}

/// Operation of the program of a law.
pub type Op = op::Op<Input>;

/// Straight-line program of a law.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// Operations; the operands of each come before it.
    pub ops: Vec<Op>,
    /// Result A: the acceleration of the target is A r, with r = r_j − r_i.
    pub factor: Register,
    /// Result B = A′(s) / s: the jerk is A v + B (r·v) r. Absent from a program of accelerations alone.
    pub slope: Option<Register>,
    /// Result −U / m_i: minus the potential per unit mass of the target, which the sums subtract. Absent where the law
    /// has no potential, and from a program of accelerations alone.
    pub minus_potential: Option<Register>,
    /// Names of the columns of particles that the program reads.
    pub columns: Vec<String>,
}

impl Program {
    /// Returns the program of the acceleration alone: the same bits of A, without the operations for anything else.
    #[must_use]
    pub fn accelerations(&self) -> Self {
        let (ops, at) = op::needed(&self.ops, &[self.factor]);
        Self { ops, factor: at[0], slope: None, minus_potential: None, columns: self.columns.clone() }
    }

    /// Returns true if the program has no finite results at s = 0: it reads 1 / s, and has no choice that could leave it
    /// out there.
    pub(super) fn is_infinite_at_zero(&self) -> bool {
        let chooses = |op: &Op| matches!(op, Op::Min(..) | Op::Max(..) | Op::Less(..));
        self.ops.contains(&Op::Input(Input::InverseS)) && !self.ops.iter().any(chooses)
    }

    /// Returns true if the program reads the mass or a column of the target.
    #[must_use]
    pub fn reads_target(&self) -> bool {
        self.ops.iter().any(|op| matches!(op, Op::Input(Input::TargetMass | Input::Target(_))))
    }
}
