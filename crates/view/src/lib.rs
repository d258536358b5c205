//! Live view of a run: a web page that shows the particles in three dimensions and the diagnostics, during a run or
//! afterwards. The page is embedded in the program and served on the loopback interface of this machine only.
//!
//! A request passes three stages:
//!
//! 1. [`http`] has hyper read one request for each connection, of bounded size and duration.
//! 2. [`auth`] accepts only requests with the token of the view.
//! 3. [`api`] answers with a file of the page, or with data from the directory of the run.
//!
//! The view only reads files. Snapshots are complete at any time, and journals are read up to their last whole line.
//!
//! # Example
//!
//! Serve a run on any free port until Enter is pressed:
//!
//! ```no_run
//! use std::path::Path;
//! use tisane_view::{Port, View};
//!
//! fn main() -> tisane::Result<()> {
//!     let view = View::start(Path::new("runs/plummer"), Port::open(0)?)?;
//!     println!("open {}", view.address());
//!     let _ = std::io::stdin().read_line(&mut String::new());
//!     Ok(())
//! }
//! ```

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod api;
pub mod auth;
mod directory;
mod frame;
pub mod http;
mod page;
mod server;

pub use server::{Port, View};
