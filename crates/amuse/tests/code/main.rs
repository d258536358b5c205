//! Promises of the code in AMUSE: its messages, its stopping conditions, its worker.

mod messages;
mod stars;
mod stopping;
mod worker;
