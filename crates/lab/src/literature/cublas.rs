//! cuBLAS, for the kernels of the papers alone: looked for at run time, and only then.

use cudarc::cublas::{result, sys};
use tisane::error::{Error, Result};
use tisane::force::cuda::driver::{Device, Memory};

/// Advice where the library is missing.
const INSTEAD: &str = "leave the stages cublas and fixed out, or have LD_LIBRARY_PATH name the folder of libcublas (of CUDA, or of \
                       the package nvidia-cublas)";

/// True if cuBLAS is on this machine.
#[must_use]
pub fn is_present() -> bool {
    // SAFETY: only tries to open the library, whose initialisers do nothing harmful.
    unsafe { sys::is_culib_present() }
}

/// cuBLAS on a device's stream.
pub struct Cublas {
    handle: sys::cublasHandle_t,
    /// Ones, and their number.
    ones: Option<(Memory, usize)>,
}

// SAFETY: a handle good in every thread that is bound to its context, and used by one at a time.
unsafe impl Send for Cublas {}

fn failed(what: &'static str) -> impl Fn(result::CublasError) -> Error {
    move |e| Error::Integration { problem: format!("cuBLAS failed ({what}): {e}"), help: None }
}

impl Cublas {
    /// Starts cuBLAS on the device's stream.
    ///
    /// # Errors
    /// [`Error::Input`] if it is not on this machine.
    pub fn new(device: &Device) -> Result<Self> {
        if !is_present() {
            return Err(Error::input("cuBLAS", "not on this machine (there is no libcublas)").with_help(INSTEAD));
        }
        device.bind()?;
        let handle = result::create_handle().map_err(failed("starting"))?;
        let cublas = Self { handle, ones: None };
        // SAFETY: a handle just made; the stream lives as long as the device, which the engine drops last.
        unsafe { result::set_stream(handle, device.stream().cast()) }.map_err(failed("taking a stream"))?;
        Ok(cublas)
    }

    /// Makes so many ones.
    ///
    /// # Errors
    /// If there is too little memory.
    pub fn reserve(&mut self, device: &Device, count: usize) -> Result<()> {
        let mut host = device.pinned(count.div_ceil(2))?;
        bytemuck::cast_slice_mut::<_, f32>(host.words_mut()).fill(1.0);
        let bytes = 8 * count.div_ceil(2);
        let memory = device.memory(bytes)?;
        device.copy_up(&host, 0..bytes / 8, &memory)?;
        device.wait()?;
        self.ones = Some((memory, count));
        Ok(())
    }

    /// Adds up the `columns` of a matrix of f32, column after column in `matrix`, to the `rows` numbers of `out`: the matrix
    /// times ones (the report, §4.1.2.2).
    ///
    /// # Errors
    /// If cuBLAS refuses.
    pub fn sum_columns(&self, matrix: &Memory, rows: usize, columns: usize, out: &Memory) -> Result<()> {
        let (ones, count) = self.ones.as_ref().ok_or_else(|| failed("no ones")(result::CublasError(NOT_READY)))?;
        let fits = matrix.bytes() >= 4 * rows * columns && out.bytes() >= 4 * rows && *count >= columns;
        assert!(fits, "a matrix beyond the end of device memory");
        let size = |x: usize| i32::try_from(x).map_err(|_| failed("too large")(result::CublasError(NOT_READY)));
        let (m, n) = (size(rows)?, size(columns)?);
        let [matrix, ones] = [matrix.address(), ones.address()].map(|address| address as *const f32);
        // SAFETY: lengths checked above; all three live as long as the engine, which waits before it touches them again. The
        // factors are read before the call returns.
        unsafe {
            result::sgemv(
                self.handle,
                sys::cublasOperation_t::CUBLAS_OP_N,
                m,
                n,
                &raw const ONE,
                matrix,
                m,
                ones,
                1,
                &raw const ZERO,
                out.address() as *mut f32,
                1,
            )
        }
        .map_err(failed("adding up spans"))
    }
}

const NOT_READY: sys::cublasStatus_t = sys::cublasStatus_t::CUBLAS_STATUS_INVALID_VALUE;
static ONE: f32 = 1.0;
static ZERO: f32 = 0.0;

impl Drop for Cublas {
    fn drop(&mut self) {
        // SAFETY: made once, destroyed once. An error means a lost device.
        let _ = unsafe { result::destroy_handle(self.handle) };
    }
}
