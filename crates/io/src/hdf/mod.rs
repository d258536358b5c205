//! HDF5 as tisane writes and reads it: fixed-length text, scalars as scalars, checksummed chunks, sealed files, and errors that
//! name the file and the place in it.

mod link_guard;
mod open;
pub(crate) mod read;
pub(crate) mod third_party;
pub(crate) mod write;

use crate::fields::Journal;

/// The kinds of HDF5 file that tisane writes, by the text in their root attribute `format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Snapshot,
    Checkpoint,
    Diagnostics,
    Cluster,
    Binaries,
    Events,
    Table,
}

impl FileKind {
    pub(crate) const ALL: [Self; 7] =
        [Self::Snapshot, Self::Checkpoint, Self::Diagnostics, Self::Cluster, Self::Binaries, Self::Events, Self::Table];

    /// The kind of a journal's HDF5 file.
    pub(crate) const fn from_journal(journal: Journal) -> Self {
        match journal {
            Journal::Diagnostics => Self::Diagnostics,
            Journal::Cluster => Self::Cluster,
            Journal::Binaries => Self::Binaries,
            Journal::Events => Self::Events,
        }
    }

    /// The journal of which this is the HDF5 file.
    pub(crate) fn journal(self) -> Option<Journal> {
        Journal::ALL.into_iter().find(|journal| Self::from_journal(*journal) == self)
    }

    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Snapshot => "tisane snapshot",
            Self::Checkpoint => "tisane checkpoint",
            Self::Diagnostics => "tisane diagnostics",
            Self::Cluster => "tisane cluster",
            Self::Binaries => "tisane binaries",
            Self::Events => "tisane events",
            Self::Table => "tisane table",
        }
    }
}
