//! Motion inside of subsystems.

pub mod averaged;
pub mod elements;
pub mod evolved;
pub mod member;
pub mod nested;
pub mod octupole;
pub mod rings;
pub mod subsystem;
pub mod touched;
