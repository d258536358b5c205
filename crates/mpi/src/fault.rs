//! Errors of communication.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// Failure of a communication, after which no other succeeds: what remains is to save the work and
/// [abort](crate::World::abort).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Other ranks did not do their part in time.
    TimedOut {
        /// Ranks that did not answer. Empty after a broadcast, as MPI does not tell which ranks it has not reached.
        ranks: Vec<usize>,
        /// Time waited.
        waited: Duration,
    },
    /// Error of the MPI library, or a wrong call of it, as a text.
    Mpi(String),
}

impl Display for Fault {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (ranks, seconds) = match self {
            Self::Mpi(text) => return write!(f, "MPI: {text}"),
            Self::TimedOut { ranks, waited } => (ranks, waited.as_secs_f64()),
        };
        match ranks.as_slice() {
            [] => write!(f, "MPI: a broadcast from rank 0 did not reach all ranks within {seconds:.1} s"),
            [rank] => write!(f, "MPI: rank {rank} did not answer within {seconds:.1} s"),
            [first, others @ ..] => {
                write!(f, "MPI: ranks {first}")?;
                others.iter().try_for_each(|rank| write!(f, ", {rank}"))?;
                write!(f, " did not answer within {seconds:.1} s")
            }
        }
    }
}

impl Error for Fault {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_name_the_ranks() {
        let text = |ranks: &[usize]| {
            Fault::TimedOut { ranks: ranks.to_vec(), waited: Duration::from_millis(2500) }.to_string()
        };
        assert_eq!(text(&[2]), "MPI: rank 2 did not answer within 2.5 s");
        assert_eq!(text(&[1, 3]), "MPI: ranks 1, 3 did not answer within 2.5 s");
        assert_eq!(text(&[]), "MPI: a broadcast from rank 0 did not reach all ranks within 2.5 s");
    }
}
