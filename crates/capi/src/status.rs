//! Status codes, the text of the last error, and the wall that no panic crosses.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once};
use tisane::Error;

/// Version of the interface: it grows by one when a program must be compiled anew.
pub const TISANE_ABI_VERSION: u32 = 1;

/// Result of a function. 2 to 5 are the exit codes of the program tisane.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(non_camel_case_types, reason = "the names of the header")]
pub enum Status {
    /// Done.
    TISANE_OK = 0,
    /// A NULL pointer, a handle of no object, a buffer that is too small.
    TISANE_ARGUMENT = 1,
    /// A value, setting, file or device that is wrong or not there.
    TISANE_INPUT = 2,
    /// The callback ended the integration before its time.
    TISANE_STOPPED = 3,
    /// The integration or the engine failed.
    TISANE_FAILED = 4,
    /// A file could not be written.
    TISANE_STORAGE = 5,
    /// The object is in use by another thread, or by the call whose callback this is.
    TISANE_BUSY = 6,
    /// A mistake in tisane. The object should be closed.
    TISANE_BUG = 7,
}

/// Failure of a function: its status and text.
pub(crate) struct Failure(pub Status, pub String);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::Config(_) | Error::Input { .. } => Status::TISANE_INPUT,
            Error::Storage { .. } => Status::TISANE_STORAGE,
            Error::Integration { .. } | Error::StepBelowFloor(_) => Status::TISANE_FAILED,
        };
        Self(status, describe(&error))
    }
}

/// Returns the text of an error with its advice.
fn describe(error: &Error) -> String {
    match tisane_run::help::advice(error) {
        Some(help) => format!("{error}\nhelp: {help}"),
        None => error.to_string(),
    }
}

/// Returns a failure by an argument.
pub(crate) fn wrong(problem: impl Into<String>) -> Failure {
    Failure(Status::TISANE_ARGUMENT, problem.into())
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

fn set_last(text: &str) {
    let text = CString::new(text.replace('\0', "\\0")).unwrap_or_default();
    LAST.with(|last| *last.borrow_mut() = text);
}

/// Calls `work`, keeps the text of its failure and turns a panic into one.
pub(crate) fn guarded(work: impl FnOnce() -> Result<Status, Failure>) -> Status {
    static QUIET: Once = Once::new();
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    // Of the last panic of any thread: a pool passes on the payload of its threads, not the place.
    static PLACE: Mutex<String> = Mutex::new(String::new());
    // The message of a panic is returned, not printed. Panics of a program in Rust outside of calls keep its own hook.
    QUIET.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if CALLS.load(Ordering::Relaxed) == 0 {
                others(panic);
            } else if let (Some(place), Ok(mut last)) = (panic.location(), PLACE.lock()) {
                *last = format!(" ({}:{})", place.file(), place.line());
            }
        }));
    });
    CALLS.fetch_add(1, Ordering::Relaxed);
    let result = catch_unwind(AssertUnwindSafe(work));
    CALLS.fetch_sub(1, Ordering::Relaxed);
    match result {
        Ok(Ok(status)) => status,
        Ok(Err(Failure(status, text))) => {
            set_last(&text);
            status
        }
        Err(panic) => {
            let place = PLACE.lock().map(|mut place| std::mem::take(&mut *place)).unwrap_or_default();
            set_last(&format!("a mistake in tisane: {}{place}", text_of(&*panic)));
            Status::TISANE_BUG
        }
    }
}

fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or(panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a text")
}

/// Returns the text of the last error of this thread, with advice in a second line where there is some. It is valid until
/// the next function of this library that fails on this thread; it must not be freed. Empty if none has failed.
#[unsafe(no_mangle)]
pub extern "C" fn tisane_last_error() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}

/// Returns the version of the interface of the library: that of the header, TISANE_ABI_VERSION, if both go together.
#[unsafe(no_mangle)]
pub extern "C" fn tisane_abi_version() -> u32 {
    TISANE_ABI_VERSION
}

/// Returns the version of tisane, such as "0.3.0". It must not be freed.
#[unsafe(no_mangle)]
pub extern "C" fn tisane_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn a_panic_on_any_thread_is_a_status_with_its_text_and_line() {
        let on_a_thread = || {
            let panic = std::thread::spawn(|| panic!("a test")).join().unwrap_err();
            std::panic::resume_unwind(panic)
        };
        assert_eq!(guarded(on_a_thread), Status::TISANE_BUG);
        // SAFETY: the text of this thread, before the next call.
        let text = unsafe { CStr::from_ptr(tisane_last_error()) }.to_str().unwrap();
        assert!(text.starts_with("a mistake in tisane: a test (") && text.contains("status.rs:"), "{text}");
    }
}
