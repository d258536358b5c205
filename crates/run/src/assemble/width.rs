//! Instructions of the CPU.

use tisane::error::{Error, Result};
use tisane::force::cpu::Width;
use tisane::force::precision::Precision;

/// Returns the instructions for an engine on the CPU.
pub(super) fn width(precision: Precision) -> Result<Width> {
    Width::choose_for(precision).map_err(|problem| Error::input(Width::VARIABLE, problem))
}
