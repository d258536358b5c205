//! What models need while a system is built.

use crate::config::Loaded;
use tisane::units::Units;

/// Configuration, units and warnings while a system is built.
pub(super) struct Context<'a> {
    pub(super) loaded: &'a Loaded,
    pub(super) units: Units,
    pub(super) warnings: &'a mut Vec<String>,
}
