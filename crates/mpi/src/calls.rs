//! The functions of shim.c, made safe: one caller at a time, and no buffer is freed that MPI may still use.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};

/// Bytes for a text of MPI with its closing zero; a longer one is cut.
const TEXT: usize = 1024;

// SAFETY: as in shim.c, which is compiled with the crate.
unsafe extern "C" {
    fn tisane_mpi_was_initialised() -> c_int;
    fn tisane_mpi_init(serialized: *mut c_int) -> c_int;
    fn tisane_mpi_describe(numbers: *mut c_int) -> c_int;
    fn tisane_mpi_version(text: *mut c_char, capacity: c_int);
    fn tisane_mpi_error_text(code: c_int, text: *mut c_char, capacity: c_int);
    fn tisane_mpi_broadcast(bytes: *mut c_void, count: c_int, request: *mut u64) -> c_int;
    fn tisane_mpi_receive(bytes: *mut c_void, count: c_int, source: c_int, request: *mut u64) -> c_int;
    fn tisane_mpi_send(bytes: *const c_void, count: c_int, request: *mut u64) -> c_int;
    fn tisane_mpi_test(request: *mut u64, done: *mut c_int, received: *mut c_int) -> c_int;
    fn tisane_mpi_finalize() -> c_int;
    fn tisane_mpi_abort(code: c_int);
}

/// Where a process stands among the others.
pub struct Place {
    pub rank: usize,
    pub size: usize,
    pub host_rank: usize,
    pub host_size: usize,
}

/// The initialised MPI library. There is one at most in a process, so that `&mut` of it means: no other thread calls.
pub struct Mpi(());

/// Buffer that is lent to MPI while a communication goes on.
///
/// If that has not ended when the buffer is dropped, its memory is leaked. MPI may still write to it when the message
/// comes after all, and cannot be told in a bounded time to forget it: `MPI_Cancel` may wait for the other rank, and no
/// broadcast can be cancelled.
pub struct Transfer {
    buffer: Vec<u8>,
    /// Set while MPI uses the buffer.
    request: Option<u64>,
    receives: bool,
}

impl Transfer {
    /// Returns a buffer that is not lent.
    pub fn idle(buffer: Vec<u8>) -> Self {
        Self { buffer, request: None, receives: false }
    }

    /// Returns true while MPI uses the buffer.
    fn goes_on(&self) -> bool {
        self.request.is_some()
    }

    /// Returns the buffer, or `None` while MPI uses it.
    pub fn into_buffer(mut self) -> Option<Vec<u8>> {
        (!self.goes_on()).then(|| mem::take(&mut self.buffer))
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        if self.goes_on() {
            mem::forget(mem::take(&mut self.buffer));
        }
    }
}

impl Mpi {
    /// Initialises MPI.
    pub fn init() -> Result<Self, String> {
        static BEGUN: AtomicBool = AtomicBool::new(false);
        // SAFETY: MPI_Initialized may be called at any time, by any thread.
        if BEGUN.swap(true, Ordering::SeqCst) || unsafe { tisane_mpi_was_initialised() } != 0 {
            return Err("it is initialised once in a process, and was before".into());
        }
        let mut serialized = 0;
        // SAFETY: the first call, as BEGUN says, and it writes one number.
        let code = unsafe { tisane_mpi_init(&raw mut serialized) };
        let mut mpi = Self(());
        mpi.check(code)?;
        if serialized == 0 {
            mpi.finalize()?;
            return Err(
                "this library may be called by one thread only, and tisane calls it from several, one at a time: \
                        it needs one with MPI_THREAD_SERIALIZED"
                    .into(),
            );
        }
        Ok(mpi)
    }

    /// Returns the place of this process. All ranks call it together.
    pub fn place(&mut self) -> Result<Place, String> {
        let mut numbers = [0; 4];
        // SAFETY: it writes four numbers.
        let code = unsafe { tisane_mpi_describe(numbers.as_mut_ptr()) };
        self.check(code)?;
        let [rank, size, host_rank, host_size] = numbers.map(|number| usize::try_from(number).unwrap_or(0));
        Ok(Place { rank, size, host_rank, host_size })
    }

    /// Returns the text by which the library describes itself.
    pub fn version(&mut self) -> String {
        // SAFETY: it writes a text of at most the capacity.
        text(|bytes, capacity| unsafe { tisane_mpi_version(bytes, capacity) })
    }

    /// Begins to broadcast the first `count` bytes of `buffer` on rank 0 to those of the others.
    pub fn broadcast(&mut self, mut buffer: Vec<u8>, count: usize) -> Result<Transfer, String> {
        let length = length(count.min(buffer.len()))?;
        let mut request = 0;
        // SAFETY: the buffer has so many bytes, and Transfer keeps it until the end of the communication.
        let code = unsafe { tisane_mpi_broadcast(buffer.as_mut_ptr().cast(), length, &raw mut request) };
        self.begun(code, Transfer { buffer, request: Some(request), receives: false })
    }

    /// Begins to receive a message of at most `longest` bytes. At the end the length of the buffer is that of the
    /// message.
    ///
    /// The sender sends no more: `World::send` refuses that, as some MPI libraries write a longer message behind the
    /// buffer.
    pub fn receive(&mut self, mut buffer: Vec<u8>, longest: usize, source: usize) -> Result<Transfer, String> {
        buffer.clear();
        buffer.reserve_exact(longest);
        let (capacity, source) = (length(longest)?, length(source)?);
        let mut request = 0;
        // SAFETY: the buffer has memory for so many bytes, and Transfer keeps it until the end of the communication.
        let code = unsafe { tisane_mpi_receive(buffer.as_mut_ptr().cast(), capacity, source, &raw mut request) };
        self.begun(code, Transfer { buffer, request: Some(request), receives: true })
    }

    /// Begins to send the first `count` bytes of `buffer` to rank 0.
    pub fn send(&mut self, buffer: Vec<u8>, count: usize) -> Result<Transfer, String> {
        let length = length(count.min(buffer.len()))?;
        let mut request = 0;
        // SAFETY: the buffer has so many bytes, and Transfer keeps it until the end of the communication.
        let code = unsafe { tisane_mpi_send(buffer.as_ptr().cast(), length, &raw mut request) };
        self.begun(code, Transfer { buffer, request: Some(request), receives: false })
    }

    /// Returns true if a communication has ended. Each call lets MPI work on all communications.
    pub fn test(&mut self, transfer: &mut Transfer) -> Result<bool, String> {
        let Some(request) = &mut transfer.request else {
            return Ok(true);
        };
        let (mut done, mut received) = (0, 0);
        // SAFETY: the request came from MPI and has not ended; the three numbers are written.
        let code = unsafe { tisane_mpi_test(&raw mut *request, &raw mut done, &raw mut received) };
        // After an error it counts as going on, so that its memory is leaked.
        self.check(code)?;
        if done == 0 {
            return Ok(false);
        }
        transfer.request = None;
        if transfer.receives {
            let received = usize::try_from(received).unwrap_or(0).min(transfer.buffer.capacity());
            // SAFETY: MPI has written so many bytes, and they are within the capacity.
            unsafe { transfer.buffer.set_len(received) };
        }
        Ok(true)
    }

    /// Finalises MPI. All ranks call it together.
    pub fn finalize(self) -> Result<(), String> {
        // SAFETY: MPI is initialised, and not called again as `self` ends here.
        let code = unsafe { tisane_mpi_finalize() };
        if code == 0 { Ok(()) } else { Err(format!("finalising it failed with code {code}")) }
    }

    /// Ends all ranks.
    pub fn abort(self, code: i32) {
        // SAFETY: MPI is initialised, and not called again as `self` ends here.
        unsafe { tisane_mpi_abort(code) };
    }

    fn begun(&mut self, code: c_int, transfer: Transfer) -> Result<Transfer, String> {
        self.check(code).map(|()| transfer)
    }

    /// Makes an error of a code that is not MPI_SUCCESS, which is 0 in every MPI.
    fn check(&mut self, code: c_int) -> Result<(), String> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: it writes a text of at most the capacity.
        Err(text(|bytes, capacity| unsafe { tisane_mpi_error_text(code, bytes, capacity) }))
    }
}

fn length(count: usize) -> Result<c_int, String> {
    c_int::try_from(count).map_err(|_| format!("{count} is more than MPI can count"))
}

fn text(write: impl FnOnce(*mut c_char, c_int)) -> String {
    let mut bytes = [0_u8; TEXT];
    write(bytes.as_mut_ptr().cast(), TEXT as c_int);
    CStr::from_bytes_until_nul(&bytes).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}
