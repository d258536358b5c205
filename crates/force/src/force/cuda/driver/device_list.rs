//! The driver and the devices of this machine.

use super::failure::{driver_message, unavailable};
use crate::error::{Error, Result};
use cudarc::driver::CudaContext;
use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUdevice_attribute};

/// Oldest CUDA version that a driver must support: older drivers lack functions that this program calls.
const MIN_CUDA: i32 = 13_000;

/// Properties of a GPU of this machine, as reported by its driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Name of the device.
    pub name: String,
    /// Compute capability, major and minor.
    pub capability: (i32, i32),
    /// Number of multiprocessors.
    pub multiprocessors: usize,
    /// Size of its memory in bytes.
    pub memory: usize,
    /// Newest CUDA version that the driver supports, as 13000 for 13.0.
    pub cuda: i32,
}

/// Returns true if NVIDIA's driver library is installed on this machine.
fn has_driver() -> bool {
    // SAFETY: only tries to open the driver's library, whose initialisers do nothing harmful.
    unsafe { sys::is_culib_present() }
}

/// Returns the newest CUDA version that the driver supports, as 13000 for 13.0.
///
/// # Errors
/// [`Error::Input`] if there is no driver, or one too old for this program.
fn cuda_version() -> Result<i32> {
    if !has_driver() {
        return Err(unavailable("no NVIDIA driver on this machine"));
    }
    let mut version = 0;
    // SAFETY: writes one number. This is the only call before the driver is known to be new enough: every driver has
    // it, without prior initialisation.
    let asked = unsafe { sys::cuDriverGetVersion(&raw mut version) }.result();
    asked.map_err(|e| unavailable(format!("the NVIDIA driver does not report its version: {}", driver_message(e))))?;
    if version < MIN_CUDA {
        let version_text = |v: i32| format!("{}.{}", v / 1000, v % 1000 / 10);
        let problem = format!(
            "the NVIDIA driver is too old: it supports CUDA {}, and this program needs {}",
            version_text(version),
            version_text(MIN_CUDA)
        );
        return Err(unavailable(problem));
    }
    Ok(version)
}

/// Returns the devices of this machine, in the driver's order. Opens none of them and takes no memory on them.
///
/// # Errors
/// [`Error::Input`] if there is no driver or it does not start.
pub fn list() -> Result<Vec<DeviceInfo>> {
    let cuda = cuda_version()?;
    let count = match CudaContext::device_count() {
        Err(e) if e.0 == sys::CUresult::CUDA_ERROR_NO_DEVICE => 0,
        count => count.map_err(|e| unavailable(format!("the NVIDIA driver does not start: {}", driver_message(e))))?,
    };
    let about = |ordinal: i32| -> Result<DeviceInfo, DriverError> {
        let device = result::device::get(ordinal)?;
        // SAFETY: a device that `get` just returned.
        let ask = |attribute| unsafe { result::device::get_attribute(device, attribute) };
        Ok(DeviceInfo {
            name: result::device::get_name(device)?,
            capability: (
                ask(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                ask(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: ask(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1) as usize,
            // SAFETY: likewise.
            memory: unsafe { result::device::total_mem(device) }?,
            cuda,
        })
    };
    let unusable =
        |ordinal, e| unavailable(format!("the driver does not describe device {ordinal}: {}", driver_message(e)));
    (0..count).map(|ordinal| about(ordinal).map_err(|e| unusable(ordinal, e))).collect()
}

/// Returns the properties of device number `ordinal`, without opening it.
///
/// # Errors
/// [`Error::Input`] if there is no driver or no such device, with the list of devices.
pub fn find(ordinal: usize) -> Result<DeviceInfo> {
    let mut there = list()?;
    if ordinal < there.len() {
        return Ok(there.swap_remove(ordinal));
    }
    if there.is_empty() {
        return Err(unavailable("the NVIDIA driver finds no GPU on this machine"));
    }
    let names: Vec<_> = there.iter().enumerate().map(|(k, about)| format!("{k} ({})", about.name)).collect();
    let problem = format!("no device {ordinal}: this machine has {}", names.join(", "));
    Err(Error::input("CUDA", problem).with_help("choose one of them"))
}
