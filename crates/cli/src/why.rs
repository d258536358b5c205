//! `tisane why`.

use super::screen::print;
use std::path::Path;
use tisane::error::Result;
use tisane_io::findings::Findings;
use tisane_run::ensemble::is_ensemble;

pub fn why(dir: &Path) -> Result<u8> {
    if is_ensemble(dir) {
        return print(&super::inspect::ensemble::describe(dir)?);
    }
    print(&Findings::read(dir)?.page().text())
}
