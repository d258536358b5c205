//! The precision modes (method.md, "Precision modes").

/// In which types forces are computed. Only whole modes exist, not free combinations of stages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// Position differences, pair arithmetic and all sums in f64: the reference.
    F64,
}

impl Precision {
    /// All modes.
    pub const ALL: [Self; 1] = [Self::F64];

    /// The name that users write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
        }
    }
}
