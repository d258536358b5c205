//! The live view: a page for a browser that shows a run's particles in three dimensions and its diagnostics, while the run goes
//! on or afterwards. The page is embedded in the program and served on the loopback interface of this machine alone.
//!
//! A request goes through `http` (one request of bounded size and duration a connection), the `door` (which lets in who
//! has the token of this view) and `api` (the page, and a run's directory as data). The view only reads: the run's files are
//! whole at every instant, and the journals that grow are taken up to their last whole line.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod api;
pub mod auth;
mod directory;
mod frame;
pub mod http;
mod page;
mod server;

pub use server::{Port, View};
