//! Promises on files: layouts, versions, journals, provenance, damage.

mod checkpoint_file;
mod corruption;
mod far_from_origin;
#[path = "../../../../tests/common/hdf.rs"]
mod hdf;
mod inspect;
#[path = "../../../../tests/common/program.rs"]
mod program;
mod provenance;
mod series;
mod snapshot_layout;
