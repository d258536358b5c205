//! tisane as a code of AMUSE: a worker that speaks the sockets protocol of AMUSE's channel, without MPI.
//!
//! - [`message`] reads and writes the messages of the channel.
//! - [`functions`] is the table of functions with their types; the ids on the wire are computed from the names.
//! - [`dispatch`] decodes the arguments of a call, calls, and encodes the reply.
//! - [`code`] is the state behind the functions: particles, parameters, stopping conditions and the simulation.
//! - [`serve`] answers messages until AMUSE stops the worker.
//!
//! The Python side is in `python/amuse/`.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

pub mod code;
pub mod columns;
pub mod contacts;
pub mod dispatch;
pub mod functions;
pub mod message;
pub mod parameters;
pub mod particles;
pub mod serve;
pub mod simulation;
pub mod stopping;
