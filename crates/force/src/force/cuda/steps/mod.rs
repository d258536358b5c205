//! Whole block steps on the device: by one kernel that stays there, or by several a step.

pub mod device_steps;
mod field_call;
mod field_memory;
pub mod field_source;
pub mod followed_steps;
pub mod launched_call;
pub mod launched_span;
pub mod launched_steps;
pub mod noise_call;
pub mod resident;
pub mod resident_memory;
pub mod step_history;
pub mod step_memory;
pub mod step_state;
pub mod system;
pub mod watch_memory;
pub mod watched_steps;
