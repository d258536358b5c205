//! Promises on the program: verbs, pictures, films, the live view, studies, validation, documentation.

mod cli;
mod docs;
#[path = "../../../../tests/common/hdf.rs"]
mod hdf;
mod movie;
#[path = "../../../../tests/common/program.rs"]
mod program;
mod study;
#[path = "../../../../tests/common/transcript.rs"]
mod transcript;
mod tutorials;
mod validate;
mod view;
mod why;
