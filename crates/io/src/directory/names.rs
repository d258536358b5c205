//! Names of the files and folders in the directory of a run.

/// File of the resolved configuration.
pub const CONFIG: &str = "config.toml";
/// File of the log.
pub const LOG: &str = "run.log";
/// File of the summary.
pub const SUMMARY: &str = "summary.json";
/// Reason in the summary for the end of a run by an error.
pub const FAILED: &str = "failed";
/// File of the configuration of an ensemble as it was written.
pub const ENSEMBLE: &str = "ensemble.json";
/// Name of the table of the members of an ensemble, without the ending of the file.
pub const MEMBERS: &str = "members";
/// Name of the table of their outputs.
pub const SERIES: &str = "series";
/// File of the states of the members in progress.
pub const IN_PROGRESS: &str = "in_progress.hdf5";
/// Directory of the snapshots.
pub const SNAPSHOTS: &str = "snapshots";
/// Directory of the journals that `tisane analyze` derives from the snapshots.
pub const ANALYSIS: &str = "analysis";
/// Directory of the figures.
pub const PLOTS: &str = "plots";
/// Directory of the film.
pub const MOVIE: &str = "movie";
