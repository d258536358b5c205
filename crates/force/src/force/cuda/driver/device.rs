//! The device: context, stream, copies and waiting.

use super::device_list::find;
use super::failure::{driver_error, driver_message, unavailable};
use super::memory::{Memory, Pinned};
use crate::error::{Error, Result};
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute, CUevent_flags};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Number of looks at a word, some microseconds, before the driver is asked whether the device still works.
const SPINS: usize = 1 << 12;

/// Time after which a device that neither answers nor fails counts as lost: longer than any step of particles that its memory
/// can hold.
const LOST_AFTER: Duration = Duration::from_secs(1800);

/// GPU with one stream of work.
pub struct Device {
    pub(super) context: Arc<CudaContext>,
    stream: Arc<CudaStream>,
    pub(crate) ordinal: usize,
    multiprocessors: usize,
}

impl Device {
    /// Opens device number `ordinal`.
    ///
    /// # Errors
    /// [`Error::Input`] if there is no such device or it cannot be used.
    pub fn open(ordinal: usize) -> Result<Self> {
        let multiprocessors = find(ordinal)?.multiprocessors;
        let unusable = |e: DriverError| unavailable(format!("device {ordinal} cannot be used: {}", driver_message(e)));
        let context = CudaContext::new(ordinal).map_err(unusable)?;
        let stream = context.new_stream().map_err(unusable)?;
        Ok(Self { context, stream, ordinal, multiprocessors })
    }

    /// Returns this device with a stream of its own, whose kernels begin before those of other streams that wait for room.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn beside(&self) -> Result<Self> {
        let failed = driver_error("making a stream");
        self.bind()?;
        let (_, first) = result::stream::get_priority_range().map_err(&failed)?;
        let stream = self.context.new_stream_with_priority(first).map_err(&failed)?;
        let (context, ordinal, multiprocessors) = (Arc::clone(&self.context), self.ordinal, self.multiprocessors);
        Ok(Self { context, stream, ordinal, multiprocessors })
    }

    /// Returns the name of the device.
    #[must_use]
    pub fn name(&self) -> String {
        self.context.name().unwrap_or_else(|_| format!("device {}", self.ordinal))
    }

    /// Returns the number of multiprocessors.
    #[must_use]
    pub const fn multiprocessors(&self) -> usize {
        self.multiprocessors
    }

    /// Returns the compute capability, major and minor.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn capability(&self) -> Result<(i32, i32)> {
        self.context.compute_capability().map_err(driver_error("asking for its compute capability"))
    }

    /// Makes this device the current one of the calling thread.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn bind(&self) -> Result<()> {
        self.context.bind_to_thread().map_err(driver_error("binding"))
    }

    /// Returns the handle of the stream, for calls of libraries that work on it.
    #[must_use]
    pub fn stream(&self) -> sys::CUstream {
        self.stream.cu_stream()
    }

    /// Checks that `bytes` bytes are free on the device; `sources` is the number of particles, for the message.
    ///
    /// # Errors
    /// [`Error::Input`] with the needed and the free memory if they are not.
    pub fn require(&self, bytes: usize, sources: usize) -> Result<()> {
        const MIB: usize = 1 << 20;
        let (free, total) = self.context.mem_get_info().map_err(driver_error("asking for free memory"))?;
        if bytes <= free {
            return Ok(());
        }
        let problem = format!(
            "{sources} particles need {} MiB of GPU memory, and device {} ({}) has {} of {} MiB free",
            bytes.div_ceil(MIB),
            self.ordinal,
            self.name(),
            free / MIB,
            total / MIB
        );
        Err(Error::input("CUDA", problem).with_help("use fewer particles, another device or force.engine = \"cpu\""))
    }

    /// Allocates `bytes` bytes of device memory, all zero.
    ///
    /// # Errors
    /// If there is too little.
    pub fn memory(&self, bytes: usize) -> Result<Memory> {
        self.bind()?;
        // SAFETY: a plain allocation, freed once, by Memory's drop. A length of zero is not allowed.
        let address = unsafe { result::malloc_sync(bytes.max(8)) }.map_err(driver_error("allocating"))?;
        let memory = Memory { address, bytes, context: Arc::clone(&self.context) };
        // On this stream: the driver's plain memset uses another one, and may come after what this stream writes there.
        self.clear(&memory)?;
        Ok(memory)
    }

    /// Clears device memory, after what the stream has done with it.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn clear(&self, memory: &Memory) -> Result<()> {
        // SAFETY: within one allocation, on the stream of all its users.
        unsafe { result::memset_d8_async(memory.address, 0, memory.bytes, self.stream()) }
            .map_err(driver_error("clearing memory"))
    }

    /// Returns the largest number of bytes of shared memory that a thread block may ask for.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn max_shared_bytes(&self) -> Result<usize> {
        let attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let bytes = self.context.attribute(attribute).map_err(driver_error("asking for its shared memory"))?;
        Ok(usize::try_from(bytes).unwrap_or_default())
    }

    /// Returns the free bytes of device memory.
    ///
    /// # Errors
    /// If the device is lost.
    pub fn free_bytes(&self) -> Result<usize> {
        Ok(self.context.mem_get_info().map_err(driver_error("asking for free memory"))?.0)
    }

    /// Allocates `words` words of pinned host memory, all zero.
    ///
    /// # Errors
    /// If there is too little.
    pub fn pinned(&self, words: usize) -> Result<Pinned> {
        self.bind()?;
        // SAFETY: a plain allocation, freed once, by Pinned's drop. Flags 0: cached, so that the host may read it.
        let address =
            unsafe { result::malloc_host(8 * words.max(1), 0) }.map_err(driver_error("pinning host memory"))?;
        let address = address.cast::<u64>();
        // SAFETY: within the allocation just made; afterwards every word is initialised.
        unsafe { address.write_bytes(0, words) };
        Ok(Pinned { address, words, context: Arc::clone(&self.context) })
    }

    /// Starts a copy of the `words` of `from` to the beginning of `to`.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn copy_up(&self, from: &Pinned, words: std::ops::Range<usize>, to: &Memory) -> Result<()> {
        self.copy_up_to(from, words, (to, 0))
    }

    /// Starts a copy of the `words` of `from` to device memory from its word `first` on.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn copy_up_to(
        &self,
        from: &Pinned,
        words: std::ops::Range<usize>,
        (to, first): (&Memory, usize),
    ) -> Result<()> {
        let words = &from.words()[words];
        assert!(8 * first + size_of_val(words) <= to.bytes, "a copy beyond the end of device memory");
        // SAFETY: lengths checked; both live as long as the engine, which waits before it accesses either again.
        unsafe { result::memcpy_htod_async(to.address + 8 * first as u64, words, self.stream()) }
            .map_err(driver_error("copying to the device"))
    }

    /// Starts a copy of all of `from` to `to` from word `first` on.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn copy_down(&self, from: &Memory, to: &mut Pinned, first: usize) -> Result<()> {
        let words = &mut to.words_mut()[first..first + from.bytes / 8];
        // SAFETY: no more bytes than allocated; both live as long as the engine, which waits before it accesses either
        // again.
        unsafe { result::memcpy_dtoh_async(words, from.address, self.stream()) }
            .map_err(driver_error("copying from the device"))
    }

    /// Starts a copy of the first `words` words of `from` to the beginning of `to`.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn copy_words_down(&self, from: &Memory, to: &mut Pinned, words: usize) -> Result<()> {
        assert!(8 * words <= from.bytes, "a copy from beyond the end of device memory");
        // SAFETY: lengths checked; both live as long as their owner, which waits before it accesses either again.
        unsafe { result::memcpy_dtoh_async(&mut to.words_mut()[..words], from.address, self.stream()) }
            .map_err(driver_error("copying from the device"))
    }

    /// Creates a stopwatch for this device's stream.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn stopwatch<const PHASES: usize>(&self) -> Result<Stopwatch<PHASES>> {
        self.bind()?;
        let event =
            || self.context.new_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).map_err(driver_error("making an event"));
        Ok(Stopwatch { events: (0..=PHASES).map(|_| event()).collect::<Result<_>>()? })
    }

    /// Records the time at which the stream reaches mark number `mark`; does nothing without a stopwatch.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn mark<const PHASES: usize>(&self, watch: Option<&Stopwatch<PHASES>>, mark: usize) -> Result<()> {
        watch
            .map_or(Ok(()), |watch| watch.events[mark].record(&self.stream).map_err(driver_error("recording an event")))
    }

    /// Creates a signal by which other devices learn how far the stream of this one is.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn signal(&self) -> Result<Signal> {
        let event = self.context.new_event(Some(CUevent_flags::CU_EVENT_DISABLE_TIMING));
        Ok(Signal(event.map_err(driver_error("making an event"))?))
    }

    /// Gives the signal when the stream gets here.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn give(&self, signal: &Signal) -> Result<()> {
        signal.0.record(&self.stream).map_err(driver_error("recording an event"))
    }

    /// Lets the stream wait for the signal that another device was last told to give.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn wait_for_signal(&self, signal: &Signal) -> Result<()> {
        self.stream.wait(&signal.0).map_err(driver_error("waiting for another device"))
    }

    /// Lets kernels of this device read the memory of another. Returns false if the machine cannot, so that copies take a
    /// detour by the host.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn reach(&self, other: &Self) -> Result<bool> {
        if self.ordinal == other.ordinal {
            return Ok(true);
        }
        let failed = driver_error("connecting devices");
        let mut can = 0;
        // SAFETY: writes one number; both devices exist, as their contexts do.
        unsafe { sys::cuDeviceCanAccessPeer(&raw mut can, self.context.cu_device(), other.context.cu_device()) }
            .result()
            .map_err(&failed)?;
        if can == 0 {
            return Ok(false);
        }
        self.bind()?;
        // SAFETY: two contexts that live as long as their devices.
        match unsafe { sys::cuCtxEnablePeerAccess(other.context.cu_ctx(), 0) } {
            sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(true),
            result => result.result().map_err(failed).map(|()| true),
        }
    }

    /// Starts the copy of some bytes of device memory to the same place in memory of another device.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn copy_to_peer(&self, from: &Memory, bytes: std::ops::Range<usize>, to: &Memory) -> Result<()> {
        assert!(bytes.end <= from.bytes && bytes.end <= to.bytes, "a copy beyond the end of device memory");
        let [from_address, to_address] = [from, to].map(|memory| memory.address + bytes.start as u64);
        let (from, to) = (from.context.cu_ctx(), to.context.cu_ctx());
        // SAFETY: lengths checked; both live as long as the engines, which wait for their devices before they drop them.
        unsafe { result::memcpy_peer_async(to, to_address, from, from_address, bytes.len(), self.stream()) }
            .map_err(driver_error("copying to another device"))
    }

    /// Waits until a kernel on the stream writes `value` to a word of `pinned`, and with it what it wrote before. This is
    /// quicker than to wait for the stream, and other work on it goes on. The kernel may wait for the devices `with`.
    ///
    /// # Errors
    /// If work on a stream failed, or ended without writing the value, or a device does not answer.
    pub fn wait_for(&self, pinned: &Pinned, word: usize, value: u64, with: &[&Self]) -> Result<()> {
        assert!(word < pinned.words, "a word beyond the end of pinned memory");
        // SAFETY: an initialised, aligned word, which is only read here, and by the device only written as a whole.
        let word = unsafe { AtomicU64::from_ptr(pinned.address.add(word)) };
        let began = Instant::now();
        loop {
            for _ in 0..SPINS {
                if word.load(Ordering::Acquire) == value {
                    return Ok(());
                }
                std::hint::spin_loop();
            }
            for other in with {
                // SAFETY: the stream of a device, which lives as long.
                match unsafe { sys::cuStreamQuery(other.stream()) } {
                    sys::CUresult::CUDA_ERROR_NOT_READY => (),
                    result => result.result().map_err(driver_error("computing with others"))?,
                }
            }
            if began.elapsed() > LOST_AFTER {
                let problem = format!("the GPU did not answer for {} s", LOST_AFTER.as_secs());
                return Err(Error::Integration { problem, help: None });
            }
            // SAFETY: the stream of this device, which lives as long.
            match unsafe { sys::cuStreamQuery(self.stream()) } {
                sys::CUresult::CUDA_ERROR_NOT_READY => (),
                result => {
                    result.result().map_err(driver_error("computing"))?;
                    if word.load(Ordering::Acquire) != value {
                        let problem = "the GPU ended its work without a report".into();
                        return Err(Error::Integration { problem, help: None });
                    }
                }
            }
        }
    }

    /// Waits until all work on the stream is done.
    ///
    /// # Errors
    /// If some of it failed, or the device is lost.
    pub fn wait(&self) -> Result<()> {
        self.stream.synchronize().map_err(driver_error("computing"))
    }
}

/// Place in the work of a stream that other devices can wait for.
pub struct Signal(CudaEvent);

/// Stopwatch for `PHASES` phases of work on a stream, separated by marks.
pub struct Stopwatch<const PHASES: usize> {
    events: Vec<CudaEvent>,
}

impl<const PHASES: usize> Stopwatch<PHASES> {
    /// Returns the microseconds between consecutive marks, once the device is done.
    ///
    /// # Errors
    /// If a mark was not reached.
    pub fn microseconds(&self) -> Result<[f64; PHASES]> {
        let mut phases = [0.0; PHASES];
        for (phase, marks) in phases.iter_mut().zip(self.events.windows(2)) {
            *phase = 1e3 * f64::from(marks[0].elapsed_ms(&marks[1]).map_err(driver_error("reading an event"))?);
        }
        Ok(phases)
    }
}
