//! A law as a straight-line program: what the engines evaluate for each pair.
//!
//! Every operation is one IEEE operation, or one of the [elementary functions](super::functions), so that each engine
//! has the same bits in the same type. Nothing is fused, nothing loops, nothing branches: a choice computes both sides.

/// Index of an earlier operation, whose result is the operand.
pub type Register = u16;

/// Largest number of operations of a program.
pub const MAX_OPS: usize = 1024;

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

/// Operation of a program on the results of earlier ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// A quantity of the pair.
    Input(Input),
    /// A number, rounded to the type that the engine computes in.
    Constant(f64),
    /// a + b
    Add(Register, Register),
    /// a − b
    Sub(Register, Register),
    /// a · b
    Mul(Register, Register),
    /// a / b
    Div(Register, Register),
    /// −a
    Neg(Register),
    /// √a
    Sqrt(Register),
    /// eᵃ
    Exp(Register),
    /// Natural logarithm of a.
    Log(Register),
    /// sin a, in radians
    Sin(Register),
    /// cos a, in radians
    Cos(Register),
    /// aᵇ, where b is neither a small whole number nor half of one.
    Pow(Register, Register),
    /// `a` if a < b, else `b`.
    Min(Register, Register),
    /// `a` if a > b, else `b`.
    Max(Register, Register),
    /// The third if the first < the second, else the fourth.
    Less(Register, Register, Register, Register),
}

impl Op {
    /// Returns the operands, in their order.
    #[must_use]
    pub fn operands(self) -> Vec<Register> {
        let mut operands = Vec::new();
        let _ = self.map(|operand| {
            operands.push(operand);
            operand
        });
        operands
    }

    /// Returns the operation with each operand replaced by `to(operand)`.
    #[must_use]
    pub fn map(self, mut to: impl FnMut(Register) -> Register) -> Self {
        match self {
            Self::Input(_) | Self::Constant(_) => self,
            Self::Add(a, b) => Self::Add(to(a), to(b)),
            Self::Sub(a, b) => Self::Sub(to(a), to(b)),
            Self::Mul(a, b) => Self::Mul(to(a), to(b)),
            Self::Div(a, b) => Self::Div(to(a), to(b)),
            Self::Neg(a) => Self::Neg(to(a)),
            Self::Sqrt(a) => Self::Sqrt(to(a)),
            Self::Exp(a) => Self::Exp(to(a)),
            Self::Log(a) => Self::Log(to(a)),
            Self::Sin(a) => Self::Sin(to(a)),
            Self::Cos(a) => Self::Cos(to(a)),
            Self::Pow(a, b) => Self::Pow(to(a), to(b)),
            Self::Min(a, b) => Self::Min(to(a), to(b)),
            Self::Max(a, b) => Self::Max(to(a), to(b)),
            Self::Less(a, b, c, d) => Self::Less(to(a), to(b), to(c), to(d)),
        }
    }
}

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
        let mut needed = vec![false; self.ops.len()];
        needed[usize::from(self.factor)] = true;
        for k in (0..self.ops.len()).rev() {
            if needed[k] {
                self.ops[k].operands().into_iter().for_each(|operand| needed[usize::from(operand)] = true);
            }
        }
        let mut at = vec![0; self.ops.len()];
        let mut ops = Vec::new();
        for k in (0..self.ops.len()).filter(|&k| needed[k]) {
            at[k] = ops.len() as Register;
            ops.push(self.ops[k].map(|operand| at[usize::from(operand)]));
        }
        let factor = at[usize::from(self.factor)];
        Self { ops, factor, slope: None, minus_potential: None, columns: self.columns.clone() }
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
