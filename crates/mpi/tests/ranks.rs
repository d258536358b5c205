//! Promise: what one rank broadcasts or sends arrives whole on the others, for 1, 2 and 3 ranks; a rank that does not
//! answer is named after the time limit; and the launcher returns the code of an abort.
//!
//! Each test starts this program again under `mpirun`, where `a_rank` plays the part of `TISANE_MPI_PART`. Without the
//! feature `mpi` or without `mpirun` the tests are skipped, and say so.

#[cfg(not(feature = "mpi"))]
#[test]
fn ranks_exchange_messages() {
    use std::io::{Write, stderr};
    // Not by eprintln!, which the test harness hides.
    let _ = writeln!(stderr(), "skipped: the tests of MPI need --features mpi");
}

#[cfg(feature = "mpi")]
mod parts;

#[cfg(feature = "mpi")]
mod under_mpirun {
    use crate::parts;
    use std::env;
    use std::io::{Write, stderr};
    use std::process::{Command, Stdio};
    use std::sync::{Mutex, PoisonError};
    use std::time::{Duration, Instant};

    /// mpirun of the MPI that the crate was built with.
    const MPIRUN: &str = env!("TISANE_MPIRUN");
    /// Root may run tests, and may run more ranks than cores: Open MPI 4, then 5.
    const SETTINGS: [(&str, &str); 6] = [
        ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
        ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("PRTE_ALLOW_RUN_AS_ROOT", "1"),
        ("PRTE_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
        ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
    ];
    const PART: &str = "TISANE_MPI_PART";
    /// One at a time, as they wait for time limits.
    static ALONE: Mutex<()> = Mutex::new(());

    /// Result of a launch: exit code, what all ranks said, time.
    struct Ran {
        code: Option<i32>,
        said: String,
        took: Duration,
    }

    /// Runs a part on some ranks. Returns `None`, and says so, where there is no mpirun.
    fn run(part: &str, ranks: usize) -> Option<Ran> {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let mut command = Command::new(MPIRUN);
        command.args(["-n", &ranks.to_string()]).arg(env::current_exe().unwrap());
        command.args(["--exact", "under_mpirun::a_rank", "--ignored", "--nocapture", "--test-threads=1"]);
        command.envs(SETTINGS).env(PART, part).stdin(Stdio::null());
        let began = Instant::now();
        match command.output() {
            Ok(output) => {
                let said =
                    [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
                Some(Ran { code: output.status.code(), said, took: began.elapsed() })
            }
            Err(error) => {
                let _ = writeln!(stderr(), "skipped: {MPIRUN}: {error}");
                None
            }
        }
    }

    fn runs_well(part: &str) {
        for ranks in 1..=3 {
            let Some(ran) = run(part, ranks) else { return };
            assert_eq!(ran.code, Some(0), "{part} on {ranks} ranks: {}", ran.said);
            let ended = ran.said.matches("this rank is done").count();
            assert_eq!(ended, ranks, "{part} on {ranks} ranks: {}", ran.said);
            for line in ran.said.lines().filter_map(|line| line.split_once("measured: ")) {
                let _ = writeln!(stderr(), "{ranks} ranks: {}", line.1);
            }
        }
    }

    /// One of the ranks. Plays its part only if it is started by another test.
    #[test]
    #[ignore = "started by the others under mpirun"]
    fn a_rank() {
        if let Ok(part) = env::var(PART) {
            parts::play(&part);
            println!("this rank is done");
        }
    }

    #[test]
    fn ranks_know_their_place() {
        runs_well("place");
    }

    #[test]
    fn broadcasts_arrive_whole() {
        runs_well("broadcast");
    }

    #[test]
    fn messages_of_different_lengths_arrive_whole() {
        runs_well("gather");
    }

    #[test]
    fn round_trips_are_measured() {
        runs_well("round_trip");
    }

    #[test]
    fn large_messages_are_measured() {
        runs_well("large");
    }

    /// Runs a part that ends by an abort, and expects a text in what it says.
    fn is_ended(part: &str, ranks: usize, expected: &str) {
        let Some(ran) = run(part, ranks) else { return };
        assert!(ran.said.contains(expected), "{part}: {}", ran.said);
        assert_eq!(ran.code, Some(parts::ABORTED), "{part}: {}", ran.said);
        assert!(ran.took < parts::ASLEEP / 2, "{part}: {:?}", ran.took);
    }

    #[test]
    fn a_rank_that_does_not_answer_is_named_and_all_are_ended() {
        is_ended("late_answer", 3, "MPI: rank 1 did not answer within 0.3 s");
        is_ended("late_broadcast", 3, "MPI: a broadcast from rank 0 did not reach all ranks within 0.3 s");
    }

    #[test]
    fn a_flag_ends_a_wait() {
        is_ended("stop", 2, "MPI: rank 1 did not answer within 0.3 s");
    }

    #[test]
    fn wrong_calls_are_refused() {
        for rank in 0..2 {
            is_ended("wrong_calls", 3, &format!("refused on rank {rank}"));
        }
    }

    #[test]
    fn a_process_without_launcher_is_known() {
        let mut names = env::vars().map(|(name, _)| name);
        assert!(tisane_mpi::launched() == names.any(|name| name.starts_with("OMPI_COMM") || name.starts_with("PMI")));
    }
}
