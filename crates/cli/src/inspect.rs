//! `tisane inspect`.

use super::print;
use std::path::Path;
use tisane::error::Result;
use tisane_io::inspect::{describe, describe_as};

pub fn inspect(file: &Path, format: Option<&str>) -> Result<u8> {
    if file.extension().is_some_and(|extension| extension == "toml") {
        return super::check::check(&super::ConfigArgs { file: file.to_owned(), sets: Vec::new() }, None);
    }
    print(&format.map_or_else(|| describe(file), |format| describe_as(file, format))?)
}
