//! Runs on several ranks of MPI: rank 0 does what the command line says, and the others follow it.

#[cfg(feature = "mpi")]
use super::stop::{STOP, listen};
#[cfg(feature = "mpi")]
use std::sync::OnceLock;
#[cfg(feature = "mpi")]
use tisane::error::Error;
use tisane::error::Result;
#[cfg(feature = "mpi")]
use tisane_mpi::World;
#[cfg(feature = "mpi")]
use tisane_run::follow::follow;
use tisane_run::team::Team;

/// Ranks that this one leads.
#[cfg(feature = "mpi")]
static TEAM: OnceLock<Team> = OnceLock::new();

/// Does `work` on rank 0, with all ranks of this start of MPI as a team; without MPI, or on one rank, without a team. The
/// other ranks follow until it ends.
///
/// # Errors
/// Those of `work`, and of MPI.
#[cfg(feature = "mpi")]
pub fn with_team(work: impl FnOnce(Option<&'static Team>) -> Result<u8>) -> Result<u8> {
    if !tisane_mpi::launched() {
        return work(None);
    }
    let world = World::init().map_err(|problem| Error::input("MPI", problem))?;
    if world.size() == 1 {
        let done = work(None);
        // The run has ended, however MPI does.
        let _ = world.finalize();
        return done;
    }
    listen();
    let threads = default_threads(world.host_size());
    if world.rank() > 0 {
        return follow(world, threads, &STOP).map(|()| 0);
    }
    let team = Team::lead(world, threads, &STOP)?;
    work(Some(TEAM.get_or_init(|| team)))
}

/// Ends all ranks, after everything else was done and printed: where one is lost, this process ends here with `code`.
#[cfg(feature = "mpi")]
pub fn end(code: u8) {
    if let Some(team) = TEAM.get() {
        team.end(code);
    }
}

/// Returns the number of threads of a rank that was not asked for a number: one for each core that its launcher left it, or,
/// where that is all of its host as for the `ranks` ranks there, for its share; 0, and so the number in RAYON_NUM_THREADS,
/// where that is set.
#[cfg(feature = "mpi")]
fn default_threads(ranks: usize) -> usize {
    if std::env::var_os("RAYON_NUM_THREADS").is_some() {
        return 0;
    }
    let own = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let online = std::fs::read_to_string("/proc/cpuinfo")
        .map_or(own, |text| text.lines().filter(|line| line.starts_with("processor")).count());
    if own < online { own } else { (own / ranks.max(1)).max(1) }
}

/// Does `work` without a team, in a build without MPI.
#[cfg(not(feature = "mpi"))]
pub fn with_team(work: impl FnOnce(Option<&'static Team>) -> Result<u8>) -> Result<u8> {
    work(None)
}

/// Ends nothing, in a build without MPI.
#[cfg(not(feature = "mpi"))]
pub fn end(_: u8) {}
