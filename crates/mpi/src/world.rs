//! The ranks of a program, and the messages between rank 0 and the others.

use crate::calls::{Mpi, Place, Transfer};
use crate::fault::Fault;
use crate::wait::{Poll, Wait};
use std::mem;
use std::process;
use std::time::Duration;

/// Bytes in the longest message that ranks can agree on with [`World::agree_on_longest`]: 1 GiB.
pub const LONGEST_MESSAGE: usize = 1 << 30;
/// Bytes that are broadcast at once: they go through a buffer, which should stay small. That buffer is never smaller,
/// so that ranks which wrongly broadcast different lengths do not write behind it.
const PIECE: usize = 4 << 20;

/// The ranks that were started together, as seen by one of them.
///
/// Methods that call MPI take `&mut self`: no two threads call it at the same time, which most MPI libraries demand.
/// The value may move between threads. After a [`Fault`] every communication fails.
///
/// Dropping it calls nothing, as finalising would wait for ranks that may no longer be there: end with
/// [`finalize`](Self::finalize) or [`abort`](Self::abort), or `mpirun` takes the program for failed.
pub struct World {
    mpi: Mpi,
    place: Place,
    version: String,
    /// Memory for what is broadcast and sent. MPI gets this and not the caller's memory, which could be freed after a
    /// time-out while MPI still uses it.
    staging: Vec<u8>,
    /// Bytes in the longest message to rank 0. Open MPI 4.1 writes behind the end of a buffer that is too small for a
    /// message of the same host: a sender must refuse what does not fit, and so must know what fits.
    longest: usize,
    /// Kept for its memory between [`complete`](Self::complete) and [`expect`](Self::expect).
    transfers: Vec<Transfer>,
    /// Number of calls of `expect` without one of `complete`.
    expected: usize,
    failed: bool,
}

/// Messages that rank 0 expects, one from each other rank, and the memory for them.
///
/// If it is dropped before [`World::complete`] has ended, that memory is leaked: MPI may still write to it. The
/// messages are then lost, and those that come later go to the next `Pending`.
#[must_use = "the messages are received by World::complete"]
pub struct Pending {
    transfers: Vec<Transfer>,
    /// The vector that held the buffers, for its memory.
    emptied: Vec<Vec<u8>>,
}

impl World {
    /// Initialises MPI. All ranks call it together, once.
    ///
    /// # Errors
    /// A text that says why: MPI was initialised before, or may not be called by several threads one at a time
    /// (`MPI_THREAD_SERIALIZED`), or failed. Most MPI libraries end the program instead where they fail at this point.
    pub fn init() -> Result<Self, String> {
        let described = |text: String| format!("MPI: {text}");
        let mut mpi = Mpi::init().map_err(described)?;
        let place = mpi.place().map_err(described)?;
        let version = mpi.version().lines().next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Self {
            mpi,
            place,
            version,
            staging: Vec::new(),
            longest: 0,
            transfers: Vec::new(),
            expected: 0,
            failed: false,
        })
    }

    /// Returns the number of this process, from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.place.rank
    }

    /// Returns the number of ranks.
    #[must_use]
    pub fn size(&self) -> usize {
        self.place.size
    }

    /// Returns the number of this process among those on the same host, from 0.
    #[must_use]
    pub fn host_rank(&self) -> usize {
        self.place.host_rank
    }

    /// Returns the number of ranks on the same host.
    #[must_use]
    pub fn host_size(&self) -> usize {
        self.place.host_size
    }

    /// Returns name and version of the MPI library: the first line of what it says.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Copies `bytes` of rank 0 to those of all others. All ranks call it together, with the same length.
    ///
    /// Rank 0 may return before the others have received: its return says nothing of them. More than 4 MiB go in
    /// pieces; `wait` holds for the whole.
    ///
    /// # Errors
    /// [`Fault::TimedOut`] without ranks, or an error of MPI. Some of `bytes` may then be written.
    pub fn broadcast(&mut self, bytes: &mut [u8], wait: &Wait<'_>) -> Result<(), Fault> {
        self.attempt(|world| world.try_broadcast(bytes, wait))
    }

    /// Makes `bytes` of rank 0, at most [`LONGEST_MESSAGE`], the length of the longest message to rank 0, unless that
    /// was longer before. All ranks call it together, before the first message: it is 0 at the beginning.
    ///
    /// # Errors
    /// Those of a [broadcast](Self::broadcast), or [`Fault::Mpi`] for more than [`LONGEST_MESSAGE`] or between
    /// [`expect`](Self::expect) and [`complete`](Self::complete).
    pub fn agree_on_longest(&mut self, bytes: usize, wait: &Wait<'_>) -> Result<(), Fault> {
        self.attempt(|world| world.try_agree_on_longest(bytes, wait))
    }

    /// Begins to receive a message from each other rank. Rank 0 calls it, may then do something else, and calls
    /// [`complete`](Self::complete).
    ///
    /// `buffers` are those that `complete` returned the last time, for their memory, or an empty vector. Each gets the
    /// capacity that was [agreed on](Self::agree_on_longest).
    ///
    /// # Errors
    /// [`Fault::Mpi`] on another rank than 0, or as an error of MPI.
    pub fn expect(&mut self, buffers: Vec<Vec<u8>>) -> Result<Pending, Fault> {
        self.attempt(|world| world.try_expect(buffers))
    }

    /// Waits for the messages and returns them by rank, in the buffers that [`expect`](Self::expect) was given: each
    /// has the length of its message. That of rank 0 itself comes back as it was.
    ///
    /// # Errors
    /// [`Fault::TimedOut`] with the ranks whose messages have not come, or an error of MPI. The buffers are then lost.
    pub fn complete(&mut self, pending: Pending, wait: &Wait<'_>) -> Result<Vec<Vec<u8>>, Fault> {
        self.expected = self.expected.saturating_sub(1);
        self.attempt(|world| world.try_complete(pending, wait))
    }

    /// Sends `bytes` to rank 0, which [expects](Self::expect) them. All ranks but 0 call it.
    ///
    /// A short message is on its way, but perhaps not received, when it returns.
    ///
    /// # Errors
    /// [`Fault::TimedOut`] with rank 0, or [`Fault::Mpi`] on rank 0, for more bytes than were
    /// [agreed on](Self::agree_on_longest), or as an error of MPI.
    pub fn send(&mut self, bytes: &[u8], wait: &Wait<'_>) -> Result<(), Fault> {
        self.attempt(|world| world.try_send(bytes, wait))
    }

    /// Finalises MPI. All ranks call it together, and it waits for all of them.
    ///
    /// # Errors
    /// [`Fault::Mpi`] where it would wait without end: after a fault, or with messages expected and not completed; or
    /// as an error of MPI.
    pub fn finalize(self) -> Result<(), Fault> {
        if self.failed || self.expected > 0 {
            return Err(Fault::Mpi("it cannot be finalised with communications that have not ended".into()));
        }
        self.mpi.finalize().map_err(Fault::Mpi)
    }

    /// Ends all ranks, also those that hang. The launcher returns `code`, of which the system keeps the lowest eight
    /// bits.
    pub fn abort(self, code: i32) -> ! {
        self.mpi.abort(code);
        process::exit(code)
    }

    /// Refuses after a fault, whose messages may still come and would be taken for those of a later communication.
    fn attempt<T>(&mut self, call: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.failed {
            return Err(Fault::Mpi("a communication before this one has failed".into()));
        }
        let result = call(self);
        self.failed = result.is_err();
        result
    }

    fn try_broadcast(&mut self, bytes: &mut [u8], wait: &Wait<'_>) -> Result<(), Fault> {
        let leads = self.rank() == 0;
        let length = bytes.len();
        let mut done = 0;
        let mut transfer = None;
        // One wait for all pieces, so that its limit holds for their sum.
        let waited = wait.until(|| {
            let piece = &mut bytes[done..length.min(done + PIECE)];
            let mut begun = match transfer.take() {
                Some(begun) => begun,
                None if piece.is_empty() => return Ok(Poll::Done),
                None => {
                    let mut staging = self.take_staging(piece.len());
                    if leads {
                        staging[..piece.len()].copy_from_slice(piece);
                    }
                    self.mpi.broadcast(staging, piece.len())?
                }
            };
            if !self.mpi.test(&mut begun)? {
                transfer = Some(begun);
                return Ok(Poll::Pending);
            }
            self.staging = begun.into_buffer().unwrap_or_default();
            if !leads {
                piece.copy_from_slice(&self.staging[..piece.len()]);
            }
            done += piece.len();
            Ok(if done == length { Poll::Done } else { Poll::Advanced })
        });
        check(waited, || "broadcast".into(), Vec::new)
    }

    fn try_agree_on_longest(&mut self, bytes: usize, wait: &Wait<'_>) -> Result<(), Fault> {
        if bytes > LONGEST_MESSAGE || self.expected > 0 {
            return Err(self.mistake(&format!("agrees on messages of {bytes} bytes, {} expected", self.expected)));
        }
        // Never shorter: a message may be on its way.
        let mut agreed = (self.longest.max(bytes) as u64).to_le_bytes();
        self.try_broadcast(&mut agreed, wait)?;
        self.longest = usize::try_from(u64::from_le_bytes(agreed)).unwrap_or(LONGEST_MESSAGE).min(LONGEST_MESSAGE);
        Ok(())
    }

    fn try_expect(&mut self, mut buffers: Vec<Vec<u8>>) -> Result<Pending, Fault> {
        if self.rank() != 0 {
            return Err(self.mistake("expects messages"));
        }
        buffers.resize_with(self.size(), Vec::new);
        let mut pending = Pending { transfers: mem::take(&mut self.transfers), emptied: Vec::new() };
        for (rank, buffer) in buffers.drain(..).enumerate() {
            pending.transfers.push(match rank {
                0 => Transfer::idle(buffer),
                _ => {
                    let begun = self.mpi.receive(buffer, self.longest, rank);
                    begun.map_err(|text| Fault::Mpi(format!("receiving from rank {rank}: {text}")))?
                }
            });
        }
        pending.emptied = buffers;
        self.expected += 1;
        Ok(pending)
    }

    fn try_complete(&mut self, mut pending: Pending, wait: &Wait<'_>) -> Result<Vec<Vec<u8>>, Fault> {
        let transfers = &mut pending.transfers;
        let mut rank = 0;
        // A test lets MPI work on all messages: it is enough to wait for one after another.
        let waited = wait.until(|| {
            let Some(transfer) = transfers.get_mut(rank) else { return Ok(Poll::Done) };
            if !self.mpi.test(transfer)? {
                return Ok(Poll::Pending);
            }
            rank += 1;
            Ok(Poll::Advanced)
        });
        let missing =
            || (rank..transfers.len()).filter(|rank| !self.mpi.test(&mut transfers[*rank]).unwrap_or(false)).collect();
        check(waited, || format!("receiving from rank {rank}"), missing)?;
        pending.emptied.extend(pending.transfers.drain(..).filter_map(Transfer::into_buffer));
        self.transfers = pending.transfers;
        Ok(pending.emptied)
    }

    fn try_send(&mut self, bytes: &[u8], wait: &Wait<'_>) -> Result<(), Fault> {
        if self.rank() == 0 || bytes.len() > self.longest {
            return Err(self.mistake(&format!("sends {} bytes to rank 0, which takes {}", bytes.len(), self.longest)));
        }
        let mut staging = self.take_staging(bytes.len());
        staging[..bytes.len()].copy_from_slice(bytes);
        let mut transfer = self.mpi.send(staging, bytes.len()).map_err(Fault::Mpi)?;
        let waited = wait.until(|| Ok(if self.mpi.test(&mut transfer)? { Poll::Done } else { Poll::Pending }));
        check(waited, || "sending to rank 0".into(), || vec![0])?;
        self.staging = transfer.into_buffer().unwrap_or_default();
        Ok(())
    }

    fn mistake(&self, does: &str) -> Fault {
        Fault::Mpi(format!("rank {} of {} {does}: a mistake in tisane", self.rank(), self.size()))
    }

    /// Returns the memory for a communication, with at least `length` bytes. It only grows, so that nothing is cleared.
    fn take_staging(&mut self, length: usize) -> Vec<u8> {
        let mut staging = mem::take(&mut self.staging);
        let length = length.max(PIECE);
        if staging.len() < length {
            staging = vec![0; length];
        }
        staging
    }
}

/// Makes a fault of how a wait ended.
fn check(
    waited: Result<Option<Duration>, String>,
    what: impl FnOnce() -> String,
    missing: impl FnOnce() -> Vec<usize>,
) -> Result<(), Fault> {
    match waited {
        Ok(None) => Ok(()),
        Ok(Some(waited)) => Err(Fault::TimedOut { ranks: missing(), waited }),
        Err(text) => Err(Fault::Mpi(format!("{}: {text}", what()))),
    }
}
