//! A device that is opened ahead of its use.

use super::device::Device;
use super::module::Module;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// Device that is opened in a thread of its own, with the kernels of whole block steps, while the program does something
/// else: this takes some 0.2 s. The device stays open as long as this exists, so that engines are made on it at once.
pub struct OpenAhead(Option<JoinHandle<Opened>>);

/// What stays open, in the order in which it must be dropped; [`None`] where the device cannot be used, which those
/// report who use it.
type Opened = Option<(Option<Arc<Module>>, Device)>;

impl OpenAhead {
    /// Begins to open device number `ordinal`.
    #[must_use]
    pub fn new(ordinal: usize) -> Self {
        let open = move || {
            let device = Device::open(ordinal).ok()?;
            Some((Module::block_steps(&device).ok().flatten(), device))
        };
        Self(Builder::new().spawn(open).ok())
    }
}

impl Drop for OpenAhead {
    fn drop(&mut self) {
        // The driver must not be at work when the process ends.
        let _ = self.0.take().map(JoinHandle::join);
    }
}
