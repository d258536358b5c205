//! Promises on the program: verbs, pictures, films, the live view, studies, validation, documentation.

mod cli;
mod docs;
mod movie;
#[path = "../../../../tests/common/program.rs"]
mod program;
mod study;
mod tutorials;
mod validate;
mod view;
