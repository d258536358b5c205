//! Compiled kernels: loading, finding and launching them.

use super::device::Device;
use super::failure::driver_error;
use super::nvrtc;
use crate::error::{Error, Result};
use cudarc::driver::CudaContext;
use cudarc::driver::result::{self, module};
use cudarc::driver::sys::{CUfunction, CUfunction_attribute_enum, CUmodule, CUresult};
use std::ffi::{CString, c_void};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Compiled kernels (a fatbin or cubin), aligned as the driver wants them.
#[repr(C, align(16))]
pub struct Image<T: ?Sized>(pub T);

static FORCES: &Image<[u8]> = &Image(*include_bytes!("../../../../kernels/forces.fatbin"));
static NEIGHBOURS: &Image<[u8]> = &Image(*include_bytes!("../../../../kernels/neighbours.fatbin"));
static BLOCK_STEPS: &Image<[u8]> = &Image(*include_bytes!("../../../../kernels/block_steps.fatbin"));
static WATCHED_STEPS: &Image<[u8]> = &Image(*include_bytes!("../../../../kernels/watched_steps.fatbin"));
static SHARED_STEPS: &Image<[u8]> = &Image(*include_bytes!("../../../../kernels/shared_steps.fatbin"));

/// Environment variable that names a file with other kernels, compiled or (`.cu`) in source, for development. It stands
/// for all images.
pub const VARIABLE: &str = "TISANE_KERNELS";

/// Smallest compute capability, that of the A100, for which there are kernels of whole block steps.
const BLOCK_STEPS_FROM: (i32, i32) = (8, 0);

/// Argument of a kernel, passed by value.
///
/// # Safety
/// The kernel takes a structure of the same layout, and every index that it computes from the structure lies within the
/// arrays that the structure points to.
pub unsafe trait KernelArgument {
    /// This type with arrays borrowed for `'a`.
    type For<'a>: Copy;
}

/// Kernels loaded on a device.
pub struct Module {
    module: CUmodule,
    from_file: bool,
    context: Arc<CudaContext>,
}

/// Image of the program that is in use on a device, by its number.
struct Loaded {
    device: usize,
    image: &'static Image<[u8]>,
    module: Weak<Module>,
}

/// Images in use: the engines of a device share them.
static LOADED: Mutex<Vec<Loaded>> = Mutex::new(Vec::new());

// SAFETY: a handle into the context, valid in every thread that is bound to it; the driver may be called by several
// threads at a time.
unsafe impl Send for Module {}
// SAFETY: likewise.
unsafe impl Sync for Module {}

/// Kernel that takes one `C`, valid as long as its [`Module`] exists.
pub struct Kernel<C> {
    function: CUfunction,
    takes: PhantomData<fn(C)>,
}

// Not derived: that would require C to be Clone too.
impl<C> Clone for Kernel<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C> Copy for Kernel<C> {}

// SAFETY: a handle into the module, valid in every thread that is bound to its context.
unsafe impl<C> Send for Kernel<C> {}

impl Module {
    /// Loads the program's kernels of forces and accelerations, or those in the file that the environment variable
    /// `TISANE_KERNELS` names.
    ///
    /// # Errors
    /// [`Error::Input`] if they do not run on this device.
    pub fn forces(device: &Device) -> Result<Arc<Self>> {
        Self::load(device, FORCES)
    }

    /// Loads the program's kernels of whole block steps, or those in the file that the environment variable
    /// `TISANE_KERNELS` names; [`None`] if there are none for this device.
    ///
    /// # Errors
    /// As [`Self::forces`].
    pub fn block_steps(device: &Device) -> Result<Option<Arc<Self>>> {
        if device.capability()? < BLOCK_STEPS_FROM {
            return Ok(None);
        }
        Self::load(device, BLOCK_STEPS).map(Some)
    }

    /// Loads the program's kernels of block steps by several devices, as [`Self::block_steps`].
    ///
    /// # Errors
    /// As [`Self::forces`].
    pub fn shared_steps(device: &Device) -> Result<Option<Arc<Self>>> {
        if device.capability()? < BLOCK_STEPS_FROM {
            return Ok(None);
        }
        Self::load(device, SHARED_STEPS).map(Some)
    }

    /// Loads the program's kernels of block steps with a search for pairs, as [`Self::block_steps`].
    ///
    /// # Errors
    /// As [`Self::forces`].
    pub fn watched_steps(device: &Device) -> Result<Option<Arc<Self>>> {
        if device.capability()? < BLOCK_STEPS_FROM {
            return Ok(None);
        }
        Self::load(device, WATCHED_STEPS).map(Some)
    }

    /// Loads the program's kernels of the neighbour scheme, as [`Self::block_steps`].
    ///
    /// # Errors
    /// As [`Self::forces`].
    pub fn neighbours(device: &Device) -> Result<Option<Arc<Self>>> {
        if device.capability()? < BLOCK_STEPS_FROM {
            return Ok(None);
        }
        Self::load(device, NEIGHBOURS).map(Some)
    }

    fn load(device: &Device, image: &'static Image<[u8]>) -> Result<Arc<Self>> {
        device.bind()?;
        let from_file = match std::env::var_os(VARIABLE).map(PathBuf::from) {
            None => return Self::shared(device, image),
            Some(path) if path.extension().is_some_and(|kind| kind == "cu") => {
                nvrtc::compile(&path, device.capability()?)?
            }
            Some(path) => Arc::new(std::fs::read(&path).map_err(|e| Error::input(&path, e))?),
        };
        Self::load_image(device, &from_file, true).map(Arc::new)
    }

    /// Returns the module of an image of the program that another engine of the device has loaded, or loads it.
    fn shared(device: &Device, image: &'static Image<[u8]>) -> Result<Arc<Self>> {
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        loaded.retain(|there| there.module.strong_count() > 0);
        let mut same = loaded.iter().filter(|it| it.device == device.ordinal && std::ptr::eq(it.image, image));
        if let Some(module) = same.next().and_then(|it| it.module.upgrade()) {
            return Ok(module);
        }
        let module = Arc::new(Self::load_image(device, &image.0, false)?);
        loaded.push(Loaded { device: device.ordinal, image, module: Arc::downgrade(&module) });
        Ok(module)
    }

    /// Loads the kernels of `image` instead of the program's.
    ///
    /// # Errors
    /// [`Error::Input`] if they do not run on this device.
    pub fn from_image(device: &Device, image: &'static Image<[u8]>) -> Result<Self> {
        device.bind()?;
        Self::load_image(device, &image.0, false)
    }

    /// Loads kernels that were compiled for this device.
    ///
    /// # Errors
    /// As [`Self::from_image`].
    pub fn from_code(device: &Device, code: &[u8]) -> Result<Self> {
        device.bind()?;
        Self::load_image(device, code, false)
    }

    fn load_image(device: &Device, image: &[u8], from_file: bool) -> Result<Self> {
        // SAFETY: the image is a whole fatbin or cubin in memory; the driver copies it.
        let module = unsafe { module::load_data(image.as_ptr().cast()) }.map_err(|e| {
            let help = r#"use force.engine = "cpu"; the kernels need compute capability 7.5 and driver 580 or later"#;
            Error::input("CUDA", format!("the kernels do not load on {}: {e}", device.name())).with_help(help)
        })?;
        Ok(Self { module, from_file, context: Arc::clone(&device.context) })
    }

    /// Returns the kernel of this name, whose parameter must be a `C`.
    ///
    /// # Errors
    /// If there is no such kernel.
    pub fn kernel<C: KernelArgument>(&self, name: &str) -> Result<Kernel<C>> {
        self.find(name)?.ok_or_else(|| {
            let error = Error::input("CUDA", format!("there is no kernel {name}"));
            error.with_help(format!("{VARIABLE} names a file without it: kernels/tisane.cu has all kernels"))
        })
    }

    /// Returns the kernel of this name, whose parameter must be a `C`; [`None`] if there is no such kernel.
    ///
    /// # Errors
    /// If the driver fails.
    #[allow(clippy::expect_used, reason = "names of kernels are made in this crate, without NUL")]
    pub fn find<C: KernelArgument>(&self, name: &str) -> Result<Option<Kernel<C>>> {
        let name = CString::new(name).expect("a name without NUL");
        // SAFETY: the module is loaded, and unloaded only when it is dropped.
        match unsafe { module::get_function(self.module, name) } {
            Ok(function) => Ok(Some(Kernel { function, takes: PhantomData })),
            Err(e) if e.0 == CUresult::CUDA_ERROR_NOT_FOUND => Ok(None),
            Err(e) => Err(driver_error("finding a kernel")(e)),
        }
    }

    /// Returns those of the kernels `kind_T`, for these numbers T of targets, that exist, with their T.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn by_targets<C: KernelArgument>(&self, kind: &str, choices: &[usize]) -> Result<Vec<(usize, Kernel<C>)>> {
        // Another file may have more of them.
        let choices = if self.from_file { &[1, 2, 3, 4, 5, 6, 7, 8] } else { choices };
        let find = |&t: &usize| Ok(self.find(&format!("{kind}_{t}"))?.map(|kernel| (t, kernel)));
        choices.iter().filter_map(|t| find(t).transpose()).collect()
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        let _ = self.context.bind_to_thread();
        // Steps ahead of what the host asked for may be in progress.
        let _ = self.context.synchronize();
        // SAFETY: loaded once, unloaded once; no function of it runs now or is launched after this. An error means a lost device.
        let _ = unsafe { module::unload(self.module) };
    }
}

impl<C: KernelArgument> Kernel<C> {
    /// Lets the kernel ask for all the shared memory that a thread block may have: engines that need different amounts
    /// share the kernel, and the limit with it.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn allow_shared_memory(self, device: &Device) -> Result<()> {
        let max = CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        let own = CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
        let reserved = driver_error("reserving shared memory");
        // SAFETY: a function of a loaded module.
        let own = unsafe { result::function::get_function_attribute(self.function, own) }.map_err(&reserved)?;
        let bytes = device.max_shared_bytes()? as i32 - own;
        // SAFETY: likewise.
        unsafe { result::function::set_function_attribute(self.function, max, bytes) }.map_err(reserved)
    }

    /// Launches the kernel on a grid of `blocks` thread blocks of `threads` threads, all of which run at the same time,
    /// with `shared_bytes` bytes of shared memory each.
    ///
    /// # Errors
    /// If the grid has more thread blocks than the device can run at once, or the driver fails.
    pub fn launch_together(
        self,
        device: &Device,
        blocks: u32,
        threads: u32,
        shared_bytes: u32,
        call: &C::For<'_>,
    ) -> Result<()> {
        let mut parameters = [std::ptr::from_ref(call).cast_mut().cast::<c_void>()];
        // SAFETY: as in `launch`.
        unsafe {
            result::launch_cooperative_kernel(
                self.function,
                (blocks, 1, 1),
                (threads, 1, 1),
                shared_bytes,
                device.stream(),
                &mut parameters,
            )
        }
        .map_err(driver_error("launching a kernel"))
    }

    /// Launches the kernel on a grid of `blocks` × `rows` thread blocks of `threads` × `warps` threads, with
    /// `shared_bytes` bytes of shared memory each.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn launch(
        self,
        device: &Device,
        (blocks, rows): (u32, u32),
        (threads, warps): (u32, u32),
        shared_bytes: u32,
        call: &C::For<'_>,
    ) -> Result<()> {
        let mut parameters = [std::ptr::from_ref(call).cast_mut().cast::<c_void>()];
        // SAFETY: the kernel takes one `C`, which the driver copies at once. Its arrays are borrowed from an engine,
        // which keeps them until the device is done, and every index into them is below their lengths (the engines
        // check what the host sends).
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
