//! The journals of a run, and the names of their files.

use serde::{Deserialize, Serialize};

/// Journal of a run: a CSV file that grows by lines, and an HDF5 file with the same columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Journal {
    /// Energies, drifts, time steps, work.
    Diagnostics,
    /// Structure of the cluster.
    Cluster,
    /// Binaries and hierarchies.
    Binaries,
    /// Formation and dissolution of binaries, escapes, close encounters.
    Events,
    /// Changes of subsystems.
    Encounters,
    /// Collisions of stars, and stars that escape and are taken out.
    Stars,
    /// Changes of type of stars that evolve.
    Stellar,
}

impl Journal {
    /// All journals.
    pub const ALL: [Self; 7] =
        [Self::Diagnostics, Self::Cluster, Self::Binaries, Self::Events, Self::Encounters, Self::Stars, Self::Stellar];

    /// Returns the name, which is that of its files without their endings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Diagnostics => "diagnostics",
            Self::Cluster => "cluster",
            Self::Binaries => "binaries",
            Self::Events => "events",
            Self::Encounters => "encounters",
            Self::Stars => "stars",
            Self::Stellar => "stellar",
        }
    }

    /// Returns the name of the CSV in an output directory.
    #[must_use]
    pub const fn csv(self) -> &'static str {
        match self {
            Self::Diagnostics => "diagnostics.csv",
            Self::Cluster => "cluster.csv",
            Self::Binaries => "binaries.csv",
            Self::Events => "events.csv",
            Self::Encounters => "encounters.csv",
            Self::Stars => "stars.csv",
            Self::Stellar => "stellar.csv",
        }
    }

    /// Returns the name of the HDF5 file in an output directory.
    #[must_use]
    pub const fn hdf5(self) -> &'static str {
        match self {
            Self::Diagnostics => "diagnostics.hdf5",
            Self::Cluster => "cluster.hdf5",
            Self::Binaries => "binaries.hdf5",
            Self::Events => "events.hdf5",
            Self::Encounters => "encounters.hdf5",
            Self::Stars => "stars.hdf5",
            Self::Stellar => "stellar.hdf5",
        }
    }

    /// Returns the group of the HDF5 file that contains the columns.
    #[must_use]
    pub const fn group(self) -> &'static str {
        match self {
            Self::Diagnostics => "Diagnostics",
            Self::Cluster => "Cluster",
            Self::Binaries => "Binaries",
            Self::Events => "Events",
            Self::Encounters => "Encounters",
            Self::Stars => "Stars",
            Self::Stellar => "Stellar",
        }
    }
}
