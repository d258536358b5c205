//! The papers' kernels for GPUs and their parameters: what can be launched, and how.

use std::fmt;

/// Most threads in a block, and most sources in the shared memory of one. Bodies are padded to a multiple of it, which
/// is one of whatever a kernel takes at a time.
pub const MAX: usize = 1024;

/// Method that computes 1/s³.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// Square root and division, rounded as IEEE 754 says.
    Sqrt,
    /// The hardware's approximate 1/√.
    Rsqrt,
}

impl Root {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Sqrt, Self::Rsqrt];

    /// The name that users write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqrt => "sqrt",
            Self::Rsqrt => "rsqrt",
        }
    }
}

/// The report's stages of its two-dimensional tiles, each with what those before it have (its table 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// GPU2: blocks of two dimensions, sources from global memory.
    Unrolled,
    /// GPU3: the hardware's 1/√.
    Rsqrt,
    /// GPU4: sources in shared memory.
    Shared,
    /// GPU5: a register less, by a counter in memory.
    Registers,
    /// GPU6: no two threads read from one bank.
    Banks,
    /// GPU7: the sum over spans by cuBLAS.
    Cublas,
    /// GPU8: block length and loop length known to the compiler.
    Fixed,
}

impl Stage {
    /// All of them, in their order.
    pub const ALL: [Self; 7] =
        [Self::Unrolled, Self::Rsqrt, Self::Shared, Self::Registers, Self::Banks, Self::Cublas, Self::Fixed];

    /// The name that users write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unrolled => "unrolled",
            Self::Rsqrt => "rsqrt",
            Self::Shared => "shared",
            Self::Registers => "registers",
            Self::Banks => "banks",
            Self::Cublas => "cublas",
            Self::Fixed => "fixed",
        }
    }

    /// Returns true if cuBLAS adds up the spans.
    #[must_use]
    pub const fn needs_cublas(self) -> bool {
        matches!(self, Self::Cublas | Self::Fixed)
    }
}

/// A kernel with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paper {
    /// A thread a target, every source from global memory.
    Simple {
        /// Method that computes 1/s³.
        root: Root,
        /// Threads in a block.
        p: usize,
    },
    /// Tiles of one dimension.
    Tiles {
        /// Method that computes 1/s³.
        root: Root,
        /// Targets of a thread block, and sources in a tile.
        p: usize,
        /// Number of times the loop is unrolled.
        unroll: usize,
        /// Threads a target.
        q: usize,
    },
    /// Tiles of two dimensions.
    Grid {
        /// Stage of the report.
        stage: Stage,
        /// Threads a target in a block (blockDim.x, len).
        x: usize,
        /// Targets of a block (blockDim.y, wid).
        y: usize,
        /// Sources of a thread.
        luf: usize,
    },
}

impl fmt::Display for Paper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simple { root, p } => write!(f, "{} p {p}", root.name()),
            Self::Tiles { root, p, unroll, q } => write!(f, "{} p {p}, unroll {unroll}, q {q}", root.name()),
            Self::Grid { stage, x, y, luf } => write!(f, "{} x {x}, y {y}, luf {luf}", stage.name()),
        }
    }
}

impl Paper {
    /// The times that loops of one-dimensional tiles are unrolled.
    pub const UNROLL: [usize; 6] = [1, 2, 4, 8, 16, 32];

    /// Checks that it can be launched.
    ///
    /// # Errors
    /// The value that was expected.
    pub fn check(self) -> Result<(), String> {
        let power = |what: &str, value: usize, min: usize| {
            let fits = value.is_power_of_two() && (min..=MAX).contains(&value);
            if fits {
                Ok(())
            } else {
                Err(format!("{what}: expected a power of two from {min} to {MAX}, found {value}"))
            }
        };
        match self {
            Self::Simple { p, .. } => power("p", p, 1),
            Self::Tiles { p, unroll, q, .. } => {
                power("p", p, 16)?;
                power("q", q, 1)?;
                if !Self::UNROLL.contains(&unroll) {
                    return Err(format!("unroll: expected one of {:?}, found {unroll}", Self::UNROLL));
                }
                if unroll > p {
                    return Err(format!("unroll: expected at most p, {p}, found {unroll}"));
                }
                if p * q > MAX {
                    return Err(format!("p times q: expected at most {MAX}, found {}", p * q));
                }
                Ok(())
            }
            Self::Grid { stage, x, y, luf } => {
                power("block-x", x, 1)?;
                power("block-y", y, 1)?;
                power("luf", luf, 1)?;
                if x * luf > MAX || luf < y {
                    let wanted = "block-x times luf at most 1024 and luf at least block-y";
                    return Err(format!("expected {wanted} (the report, §4.3), found {x}, {y} and {luf}"));
                }
                if stage == Stage::Fixed && (x > 8 || luf < 128) {
                    return Err(format!(
                        "stage fixed: there are kernels for block-x up to 8 and luf from 128, not {x} and {luf}"
                    ));
                }
                Ok(())
            }
        }
    }

    /// Returns the name of the kernel.
    #[must_use]
    pub fn kernel_name(self) -> String {
        match self {
            Self::Simple { root, .. } => format!("paper_simple_{}", root.name()),
            Self::Tiles { root, unroll, .. } => format!("paper_tiles_{}_{unroll}", root.name()),
            Self::Grid { stage: Stage::Fixed, x, luf, .. } => format!("paper_grid_fixed_{x}_{luf}"),
            Self::Grid { stage: Stage::Cublas, .. } => "paper_grid_banks".into(),
            Self::Grid { stage, .. } => format!("paper_grid_{}", stage.name()),
        }
    }

    /// Grid, block and bytes of shared memory for so many slots.
    #[must_use]
    pub fn launch(self, slots: usize) -> ((u32, u32), (u32, u32), u32) {
        let u = |x: usize| x as u32;
        match self {
            Self::Simple { p, .. } => ((u(slots / p), 1), (u(p), 1), 0),
            Self::Tiles { p, q, .. } => ((u(slots / p), 1), (u(p), u(q)), u(16 * p * q)),
            Self::Grid { stage, x, y, luf } => {
                let shared = if matches!(stage, Stage::Unrolled | Stage::Rsqrt) { 0 } else { 16 * x * luf };
                ((u(slots / (x * luf)), u(slots / y)), (u(x), u(y)), u(shared))
            }
        }
    }

    /// Partial sums of a target; none if a thread block has the whole.
    #[must_use]
    pub fn spans(self, slots: usize) -> usize {
        if let Self::Grid { luf, .. } = self { slots / luf } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_that_cannot_be_launched_are_refused_with_what_was_expected() {
        let root = Root::Rsqrt;
        for (paper, expected) in [
            (Paper::Simple { root, p: 100 }, "p: expected a power of two"),
            (Paper::Tiles { root, p: 8, unroll: 1, q: 1 }, "p: expected a power of two from 16"),
            (Paper::Tiles { root, p: 16, unroll: 32, q: 1 }, "unroll: expected at most p"),
            (Paper::Tiles { root, p: 256, unroll: 3, q: 1 }, "unroll: expected one of [1, 2, 4"),
            (Paper::Tiles { root, p: 512, unroll: 4, q: 4 }, "p times q: expected at most 1024, found 2048"),
            (Paper::Grid { stage: Stage::Banks, x: 2, y: 64, luf: 1024 }, "block-x times luf at most 1024"),
            (Paper::Grid { stage: Stage::Banks, x: 1, y: 512, luf: 256 }, "luf at least block-y"),
            (Paper::Grid { stage: Stage::Fixed, x: 1, y: 64, luf: 64 }, "luf from 128"),
        ] {
            let problem = paper.check().unwrap_err();
            assert!(problem.contains(expected), "{paper}: {problem}");
        }
    }

    #[test]
    fn every_target_and_every_source_has_its_thread() {
        for slots in [1024, 20480] {
            for x in [1, 2, 4, 8] {
                let paper = Paper::Grid { stage: Stage::Banks, x, y: 64, luf: 128 };
                assert_eq!(paper.check(), Ok(()));
                let ((columns, rows), (across, down), shared) = paper.launch(slots);
                assert_eq!((columns * across) as usize * 128, slots);
                assert_eq!((rows * down) as usize, slots);
                assert_eq!((columns * across) as usize, paper.spans(slots));
                assert_eq!(shared as usize, 16 * 128 * x);
            }
        }
    }
}
