//! HDF5 files: text of fixed length, scalar attributes, chunks with checksums, a SHA-256 at the end of the file, and
//! errors with the file and the object in it.

mod compound;
pub(crate) mod contents;
mod filters;
mod link_guard;
mod open;
pub(crate) mod read;
pub(crate) mod third_party;
pub(crate) mod write;

use crate::fields::Journal;

/// Kind of an HDF5 file written by tisane, as stated in its root attribute `format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    Snapshot,
    Checkpoint,
    Diagnostics,
    Cluster,
    Binaries,
    Events,
    Encounters,
    /// Journal of collisions and escapers.
    Stars,
    /// Journal of stars that evolve.
    Stellar,
    Table,
    Members,
}

impl FileKind {
    pub(crate) const ALL: [Self; 11] = [
        Self::Snapshot,
        Self::Checkpoint,
        Self::Diagnostics,
        Self::Cluster,
        Self::Binaries,
        Self::Events,
        Self::Encounters,
        Self::Stars,
        Self::Stellar,
        Self::Table,
        Self::Members,
    ];

    /// Returns the kind of the HDF5 file of a journal.
    pub(crate) const fn from_journal(journal: Journal) -> Self {
        match journal {
            Journal::Diagnostics => Self::Diagnostics,
            Journal::Cluster => Self::Cluster,
            Journal::Binaries => Self::Binaries,
            Journal::Events => Self::Events,
            Journal::Encounters => Self::Encounters,
            Journal::Stars => Self::Stars,
            Journal::Stellar => Self::Stellar,
        }
    }

    /// Returns the journal of this kind of file.
    pub(crate) fn journal(self) -> Option<Journal> {
        Journal::ALL.into_iter().find(|journal| Self::from_journal(*journal) == self)
    }

    /// Returns the value of the attribute `format`.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::Snapshot => "tisane snapshot",
            Self::Checkpoint => "tisane checkpoint",
            Self::Diagnostics => "tisane diagnostics",
            Self::Cluster => "tisane cluster",
            Self::Binaries => "tisane binaries",
            Self::Events => "tisane events",
            Self::Encounters => "tisane encounters",
            Self::Stars => "tisane stars",
            Self::Stellar => "tisane stellar",
            Self::Table => "tisane table",
            Self::Members => "tisane ensemble checkpoint",
        }
    }
}
