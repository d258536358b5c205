//! Every format: what is written comes back, files of the real programs are read, and hostile files are refused.

mod binaries;
mod datasets;
mod fixtures;
mod foreign;
#[path = "../../../../tests/common/hdf.rs"]
mod hdf;
mod hostile;
mod numbers;
mod others;
mod reading;
mod starting;
mod writing;
