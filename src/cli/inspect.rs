//! `tisane inspect`.

use super::print;
use crate::error::Result;
use crate::io::inspect::describe;
use std::path::Path;

pub fn inspect(file: &Path) -> Result<u8> {
    if file.extension().is_some_and(|extension| extension == "toml") {
        return super::check::check(&super::ConfigArgs { file: file.to_owned(), sets: Vec::new() });
    }
    print(&describe(file)?)
}
