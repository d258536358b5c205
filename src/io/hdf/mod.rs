//! HDF5 as tisane writes and reads it: fixed-length text, scalars as scalars, checksummed chunks, sealed files, and errors that
//! name the file and the place in it.

pub(in crate::io) mod foreign;
pub(in crate::io) mod read;
pub(in crate::io) mod write;

/// The kinds of HDF5 file that tisane writes, by the text in their root attribute `format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::io) enum Kind {
    Snapshot,
    Checkpoint,
    Diagnostics,
    Table,
}

impl Kind {
    pub(in crate::io) const ALL: [Self; 4] = [Self::Snapshot, Self::Checkpoint, Self::Diagnostics, Self::Table];

    pub(in crate::io) const fn text(self) -> &'static str {
        match self {
            Self::Snapshot => "tisane snapshot",
            Self::Checkpoint => "tisane checkpoint",
            Self::Diagnostics => "tisane diagnostics",
            Self::Table => "tisane table",
        }
    }
}
