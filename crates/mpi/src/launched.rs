//! Whether an MPI launcher started this process.

use std::env;

/// Variables that a launcher sets for each rank: Open MPI, PMI (MPICH, Intel MPI, Slurm), PMIx, MVAPICH2, Hydra.
const VARIABLES: [&str; 5] =
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MV2_COMM_WORLD_SIZE", "MPI_LOCALNRANKS"];

/// Returns true if the environment says that `mpirun`, `mpiexec` or `srun` with MPI started this process as a rank.
///
/// Calls no MPI, so that a program started without a launcher need not initialise MPI. A batch script of Slurm and
/// `srun` without MPI set `SLURM_PROCID` but none of the variables of PMI: they do not count.
#[must_use]
pub fn launched() -> bool {
    launched_with(env::vars_os().filter_map(|(name, _)| name.into_string().ok()))
}

fn launched_with(names: impl Iterator<Item = String>) -> bool {
    let (mut slurm, mut pmi) = (false, false);
    for name in names {
        if VARIABLES.contains(&name.as_str()) {
            return true;
        }
        slurm |= name == "SLURM_PROCID";
        pmi |= name.starts_with("PMI_") || name.starts_with("PMI2_") || name.starts_with("PMIX_");
    }
    slurm && pmi
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known_by_their_variables() {
        let with = |names: &[&str]| launched_with(names.iter().map(ToString::to_string));
        for variable in VARIABLES {
            assert!(with(&["HOME", variable]), "{variable}");
        }
        assert!(with(&["SLURM_PROCID", "PMI_CONTROL_PORT"]), "srun with MPI");
        assert!(!with(&["SLURM_PROCID", "SLURM_JOB_ID", "HOME"]), "a batch script");
        assert!(!with(&["PMI_CONTROL_PORT"]), "PMI alone");
        assert!(!with(&["OMPI_MCA_btl", "OMPI_ALLOW_RUN_AS_ROOT"]), "settings of Open MPI");
    }
}
