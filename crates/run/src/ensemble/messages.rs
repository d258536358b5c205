//! Messages between the ranks that integrate the members of an ensemble.

use super::blueprint::Written;
use super::journals::JournalRows;
use super::work::Ended;
use crate::config::Engine;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use tisane::error::{Error, Result};
use tisane_io::checkpoint::{self, MemberState};
use tisane_io::table::Value;

/// What the ranks that follow need to integrate members.
#[derive(Serialize, Deserialize)]
pub(crate) struct Start {
    pub(super) written: Written,
    pub(super) engine: Engine,
    /// Number of threads; 0 where each rank has its own default.
    pub(super) threads: usize,
    /// Folder of the snapshots, absolute.
    pub(super) snapshots: PathBuf,
}

/// Message of a round, to all ranks.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Deal {
    /// Flag to hand back the members in progress.
    pub(super) stops: bool,
    /// Flag that this is the last round.
    pub(super) ends: bool,
    /// New members by rank, from rank 1 on.
    pub(super) members: Vec<Vec<u64>>,
    /// States of those of them that were in progress before, as a file.
    pub(super) states: Vec<u8>,
}

/// Answer of a rank to a [`Deal`].
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Report {
    /// Number of members that it would have waiting, and that it has.
    pub(super) wants: usize,
    pub(super) waiting: usize,
    /// Number of members that it has, waiting or in progress.
    pub(super) holds: usize,
    /// Flag that it has nothing to do and nothing to send.
    pub(super) idle: bool,
    /// Flag that it has more to send than fits.
    pub(super) more: bool,
    /// Block steps and shares of members in progress, as [`Work`](super::work::Work) counts them.
    pub(super) block_steps: u64,
    pub(super) shares: f64,
    /// Part of the stream of its [`Frame`]s.
    pub(super) piece: Vec<u8>,
}

/// What a rank sends of its members, with its length before it.
#[derive(Serialize, Deserialize)]
pub(super) enum Frame {
    Outputs(Vec<Vec<Value>>),
    Journals(JournalRows),
    Ended(Ended),
    /// States of members in progress, as a file.
    States(Vec<u8>),
    /// Error that ends the ensemble, with the file that cannot be written if it is that.
    Failed(Option<PathBuf>, String),
}

pub(super) fn encode(what: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_stdvec(what).map_err(|e| failed(format!("a message between ranks: {e}")))
}

pub(super) fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|e| failed(format!("a message between ranks: {e}")))
}

pub(super) fn failed(problem: String) -> Error {
    Error::Integration { problem, help: None }
}

/// Returns states as the bytes of a file; none if there are none.
pub(super) fn pack<'a>(states: impl Iterator<Item = &'a MemberState>) -> Result<Vec<u8>> {
    let mut states = states.peekable();
    if states.peek().is_none() {
        return Ok(Vec::new());
    }
    let folder = tempfile::tempdir().map_err(|e| Error::storage(std::env::temp_dir(), e))?;
    let path = folder.path().join("states.hdf5");
    checkpoint::write_members(&path, states, None)?;
    std::fs::read(&path).map_err(|e| Error::storage(&path, e))
}

/// Returns the states that [`pack`] packed.
pub(super) fn unpack(bytes: &[u8]) -> Result<Vec<MemberState>> {
    if bytes.is_empty() {
        return Ok(Vec::new());
    }
    let folder = tempfile::tempdir().map_err(|e| Error::storage(std::env::temp_dir(), e))?;
    let path = folder.path().join("states.hdf5");
    std::fs::write(&path, bytes).map_err(|e| Error::storage(&path, e))?;
    checkpoint::read_members(&path).map(|(states, _)| states)
}
