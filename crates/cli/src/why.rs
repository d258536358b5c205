//! `tisane why`.

use super::print;
use std::path::Path;
use tisane::error::Result;
use tisane_io::findings::Findings;

pub fn why(dir: &Path) -> Result<u8> {
    print(&Findings::read(dir)?.page().text())
}
