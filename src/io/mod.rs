//! Files in and out.

pub mod formats;
