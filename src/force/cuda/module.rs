//! Compiled kernels: loading, finding and launching them.

use super::acceleration::AccelerationCall;
use super::device::{Device, driver_error};
use super::launch::Call;
use super::nvrtc;
use crate::error::{Error, Result};
use cudarc::driver::result::{self, module};
use cudarc::driver::sys::{CUfunction, CUmodule};
use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;

/// Compiled kernels (a fatbin or cubin), aligned as the driver wants them.
#[repr(C, align(16))]
pub struct Image<T: ?Sized>(pub T);

static IMAGE: &Image<[u8]> = &Image(*include_bytes!("../../../kernels/tisane.fatbin"));

/// Environment variable that names a file with other kernels, compiled or (`.cu`) in source: for development.
pub const VARIABLE: &str = "TISANE_KERNELS";

/// The one argument of a kernel, handed over by value.
///
/// # Safety
/// A structure of the same layout is what the kernel takes, and every index that the kernel computes from it lies within the
/// arrays that it points to.
pub unsafe trait KernelArgument {
    /// The same, with arrays borrowed for `'a`.
    type For<'a>: Copy;
}

// SAFETY: has the layout of `Call` in kernels/call.cuh; the engine checks what it points to.
unsafe impl KernelArgument for Call<'static> {
    type For<'a> = Call<'a>;
}

// SAFETY: has the layout of `AccelerationCall` in kernels/acceleration.cuh; the engine checks what it points to.
unsafe impl KernelArgument for AccelerationCall<'static> {
    type For<'a> = AccelerationCall<'a>;
}

/// Kernels loaded on a device.
pub struct Module {
    module: CUmodule,
    from_file: bool,
}

// SAFETY: a handle into the context, good in every thread that is bound to it.
unsafe impl Send for Module {}

/// A kernel that takes one `C`; good for as long as its [`Module`] is there.
pub struct Kernel<C> {
    function: CUfunction,
    takes: PhantomData<fn(C)>,
}

// Not derived: that would ask the same of C.
impl<C> Clone for Kernel<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C> Copy for Kernel<C> {}

// SAFETY: a handle into the module, good in every thread that is bound to its context.
unsafe impl<C> Send for Kernel<C> {}

impl Module {
    /// Loads the program's kernels, or those that [`VARIABLE`] names.
    ///
    /// # Errors
    /// [`Error::Input`] if they do not run on this device.
    pub fn load(device: &Device) -> Result<Self> {
        device.bind()?;
        let from_file = match std::env::var_os(VARIABLE).map(PathBuf::from) {
            None => None,
            Some(path) if path.extension().is_some_and(|kind| kind == "cu") => {
                Some(nvrtc::compile(&path, device.capability()?)?)
            }
            Some(path) => Some(Arc::new(std::fs::read(&path).map_err(|e| Error::input(&path, e))?)),
        };
        Self::load_image(device, from_file.as_ref().map_or(&IMAGE.0, |file| file.as_slice()), from_file.is_some())
    }

    /// Loads other kernels than the program's.
    ///
    /// # Errors
    /// [`Error::Input`] if they do not run on this device.
    pub fn from_image(device: &Device, image: &'static Image<[u8]>) -> Result<Self> {
        device.bind()?;
        Self::load_image(device, &image.0, false)
    }

    fn load_image(device: &Device, image: &[u8], from_file: bool) -> Result<Self> {
        // SAFETY: the image is a whole fatbin or cubin in memory; the driver copies it.
        let module = unsafe { module::load_data(image.as_ptr().cast()) }.map_err(|e| {
            let help = r#"take force.engine = "cpu"; the kernels need compute capability 7.5 and driver 580 or later"#;
            Error::input("CUDA", format!("the kernels do not load on {}: {e}", device.name())).with_help(help)
        })?;
        Ok(Self { module, from_file })
    }

    /// The kernel of this name, whose parameter must be a `C`.
    ///
    /// # Errors
    /// If there is none.
    #[allow(clippy::expect_used, reason = "names of kernels are made in this crate, without NUL")]
    pub fn kernel<C: KernelArgument>(&self, name: &str) -> Result<Kernel<C>> {
        let name = CString::new(name).expect("a name without NUL");
        // SAFETY: the module is loaded, and unloaded only when it is dropped.
        let function = unsafe { module::get_function(self.module, name) }.map_err(driver_error("finding a kernel"))?;
        Ok(Kernel { function, takes: PhantomData })
    }

    /// The kernels `kind_T` for these numbers T of targets, as far as they are there.
    pub fn by_targets<C: KernelArgument>(&self, kind: &str, choices: &[usize]) -> Vec<(usize, Kernel<C>)> {
        let load = |t: usize| self.kernel(&format!("{kind}_{t}")).ok().map(|kernel| (t, kernel));
        // A file of one's own may hold more of them.
        if self.from_file {
            (1..=8).filter_map(load).collect()
        } else {
            choices.iter().copied().filter_map(load).collect()
        }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: loaded once, unloaded once; no function of it is launched after this. An error means a lost device.
        let _ = unsafe { module::unload(self.module) };
    }
}

impl<C: KernelArgument> Kernel<C> {
    /// Starts it on a grid of thread blocks with so many bytes of shared memory each.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn launch(
        self,
        device: &Device,
        (blocks, rows): (u32, u32),
        (threads, warps): (u32, u32),
        shared_bytes: u32,
        call: &C::For<'_>,
    ) -> Result<()> {
        let mut parameters = [std::ptr::from_ref(call).cast_mut().cast::<c_void>()];
        // SAFETY: the kernel takes one `C`, copied by the driver at once. Its arrays are borrowed from an engine's, which the
        // engine keeps until the device is done, and every index into them is below their lengths (the engines check what the
        // host sends).
        unsafe {
            result::launch_kernel(
                self.function,
                (blocks, rows, 1),
                (threads, warps, 1),
                shared_bytes,
                device.stream(),
                &mut parameters,
            )
        }
        .map_err(driver_error("launching a kernel"))
    }
}
