//! Exit codes, as the help lists them.

/// All of them.
pub const EXIT_CODES: &str = "Exit codes:
  0  success
  1  unforeseen error
  2  wrong command line, configuration, input file or output directory; nothing was written
  3  stopped on request (signal, time limit, block-step limit) with a checkpoint: continue with
     `tisane resume`; or `tisane validate` was stopped by a signal: its table has the finished cases
  4  the integration cannot continue (step below dt_min, a number that is not finite, a lost GPU);
     the last checkpoint is whole; or every member of an ensemble failed so; or `tisane verify` or
     `tisane validate` found a failure
  5  output could not be written during the run; finished files and the last checkpoint are whole
  6  `tisane reproduce --run` ended in a different state than the file's
  7  `tisane advise`: no integrator, mode and accuracy reaches the goal
  8  `tisane analyze`, `plot` or `movie` left out damaged snapshots, which they name";

/// Exit code where damaged snapshots were left out.
pub const LEFT_OUT: u8 = 8;
