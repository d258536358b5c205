//! Block steps of many systems at a time.

pub mod on_device;
pub mod several_blocks;
pub mod shares;
pub mod system_call;
pub mod system_store;
