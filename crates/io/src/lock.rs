//! Lock file of a directory, so that only one process writes to it.
//!
//! `tisane.lock` exists while a process writes to the directory. The process holds a lock on it (`flock`), and its text
//! names the process. The operating system releases the lock when the process ends, however it ends; a lock file
//! without a lock is therefore stale.
//!
//! Two cases need more than one call of `flock`:
//! - The lock may be held briefly by a process that does not write: one that calls [`check`], or a child process
//!   between fork and exec, which still has the descriptors of its parent. The attempt is repeated for a bounded time,
//!   which is long only if the process named in the text has ended.
//! - A file system may refuse locks (Lustre mounted with `noflock`, NFS without a lock manager). Then the text alone
//!   decides, and [`Lock::warning`] returns a warning.

use super::machine;
use super::provenance::now_utc;
use crate::regular_file;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tisane::error::{Error, Result};

/// Name of the lock file.
pub const LOCK_FILE: &str = "tisane.lock";
/// Pause between two attempts to take the lock.
const PAUSE: Duration = Duration::from_millis(10);
/// Time after which the attempt is given up if the text of the lock names a running process.
const WHILE_AT_WORK: Duration = Duration::from_millis(200);
/// Time after which the attempt is given up if the text of the lock names no process, or one that has ended.
const WHILE_UNCLEAR: Duration = Duration::from_secs(5);
/// Help text while another process uses the directory.
const WAIT: &str = "wait until it ends";

/// Exclusive right of this process to write to a directory, until the value is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
    /// Text of a stale lock file that was found: its process was killed, or its machine went down.
    pub stale_owner: Option<String>,
    /// Error of the operating system, if the file system refuses locks.
    refused: Option<String>,
}

impl Lock {
    /// Takes the lock on a directory.
    ///
    /// # Errors
    /// [`Error::Input`] if another process uses the directory, with its process number and machine, or if the directory
    /// is not writable.
    pub fn take(dir: &Path) -> Result<Self> {
        let path = dir.join(LOCK_FILE);
        let cannot = |e: io::Error| Error::input(dir, format!("cannot take the lock {LOCK_FILE}: {e}"));
        let began = Instant::now();
        loop {
            let (mut file, is_new) = open_or_create(&path).map_err(cannot)?;
            let attempt = file.try_lock();
            let text = text_of(&mut file);
            match attempt {
                Ok(()) if same_file(&path, &file) => match has_other_names(&file) {
                    true => fs::remove_file(&path).map_err(cannot)?,
                    false => return Self::hold(path, file, text, None).map_err(cannot),
                },
                Err(TryLockError::WouldBlock) if same_file(&path, &file) => {
                    let state = owner_of_held_lock(&text);
                    let patience = if state == OwnerState::AtWork { WHILE_AT_WORK } else { WHILE_UNCLEAR };
                    if began.elapsed() >= patience {
                        return Err(in_use_by(dir, &text, state));
                    }
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::Error(e)) if e.kind() != ErrorKind::Interrupted => match owner_without_locking(&text)
                {
                    // An empty file may belong to a process that is about to write its text.
                    OwnerState::Stale if text.is_empty() && !is_new && began.elapsed() < WHILE_AT_WORK => {
                        std::thread::sleep(PAUSE);
                    }
                    OwnerState::Stale if has_other_names(&file) => fs::remove_file(&path).map_err(cannot)?,
                    OwnerState::Stale => return Self::hold(path, file, text, Some(e.to_string())).map_err(cannot),
                    state => return Err(in_use_by(dir, &text, state)),
                },
                // The owner has just removed the file, or a signal interrupted the call.
                _ => {}
            }
        }
    }

    /// Writes the text that names this process into a lock file that it has locked, or that the file system refuses to
    /// lock.
    fn hold(path: PathBuf, mut file: File, stale_owner: String, refused: Option<String>) -> io::Result<Self> {
        let own = format!("process {} on {}, since {}\n", std::process::id(), machine::host(), now_utc());
        let written = file.rewind().and_then(|()| file.set_len(0)).and_then(|()| file.write_all(own.as_bytes()));
        // A held lock works without its text: if the disk is full, only the message to the next process is shorter.
        if refused.is_some() {
            written?;
        }
        Ok(Self { path, file, stale_owner: Some(stale_owner).filter(|who| !who.is_empty()), refused })
    }

    /// Returns a warning for the user if the file system refuses locks, and [`None`] if the lock is held.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let system = self.refused.as_ref()?;
        Some(format!(
            "{}: this file system refuses locks ({system}), so that only the text of the file keeps other processes \
             out: do not start two at the same moment, and remove the file by hand if the machine of its process \
             went down",
            self.path.display()
        ))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while the lock is still held. The directory may have been removed and another one created under its
        // name.
        if same_file(&self.path, &self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns true if a process uses a directory. Takes a shared lock for an instant to find out.
#[must_use]
pub fn in_use(dir: &Path) -> bool {
    check(dir).is_err()
}

/// Returns the text that names the process which uses a directory, or used it and ended without removing the lock;
/// [`None`] if there is no lock file, or an empty one.
#[must_use]
pub fn holder(dir: &Path) -> Option<String> {
    let text = text_of(&mut regular_file::open(&dir.join(LOCK_FILE)).ok()?);
    (!text.is_empty()).then_some(text)
}

/// Checks that no other process uses a directory. Creates no file.
///
/// # Errors
/// [`Error::Input`], as [`Lock::take`].
pub fn check(dir: &Path) -> Result<()> {
    let path = dir.join(LOCK_FILE);
    let began = Instant::now();
    loop {
        let Ok(mut file) = regular_file::open(&path) else { return Ok(()) };
        let attempt = file.try_lock_shared();
        let text = text_of(&mut file);
        let state = match attempt {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if same_file(&path, &file) => owner_of_held_lock(&text),
            Err(TryLockError::Error(e)) if e.kind() != ErrorKind::Interrupted => owner_without_locking(&text),
            _ => continue,
        };
        match state {
            OwnerState::Stale => return Ok(()),
            OwnerState::Unclear if began.elapsed() < WHILE_UNCLEAR => std::thread::sleep(PAUSE),
            state => return Err(in_use_by(dir, &text, state)),
        }
    }
}

/// Returns the text of the lock of a directory, held or stale: process, machine, begin. [`None`] without a lock file.
#[must_use]
pub fn owner(dir: &Path) -> Option<String> {
    Some(text_of(&mut regular_file::open(&dir.join(LOCK_FILE)).ok()?))
}

/// Returns the number of the process that the text of a lock names, if it is one of this machine.
#[must_use]
pub fn process_here(text: &str) -> Option<u32> {
    parse_owner(text).filter(|(_, host)| *host == machine::host()).map(|(id, _)| id)
}

/// Returns true if a directory contains nothing, or only a lock file.
///
/// # Errors
/// The error of the file system.
pub fn is_empty(dir: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(dir)? {
        if entry?.file_name() != LOCK_FILE {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Opens the lock file. Returns it with true if this call created it.
fn open_or_create(path: &Path) -> io::Result<(File, bool)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    loop {
        match options.clone().create_new(true).open(path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (file, true)),
        }
        match regular_file::open_to_write(path, &options) {
            // The owner has removed the file since the first attempt.
            Err(e) if e.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {}
            found => return found.map(|file| (file, false)),
        }
    }
}

/// Returns the error for a directory that another process uses.
fn in_use_by(dir: &Path, text: &str, state: OwnerState) -> Error {
    let who = if text.is_empty() { String::new() } else { format!(": {text}") };
    let (problem, help) = match state {
        OwnerState::Unclear => {
            let problem = match text {
                "" => format!("{LOCK_FILE} is locked by a process that it does not name"),
                _ => format!("{LOCK_FILE} is locked, but the process that it names has ended: {text}"),
            };
            (problem, format!("end the process that has the file open (find it with `fuser {LOCK_FILE}`)"))
        }
        OwnerState::Unknown => {
            let help = format!("this file system refuses locks: if that process has ended, remove {LOCK_FILE}");
            (format!("another tisane process is using this directory{who}"), help)
        }
        _ => (format!("another tisane process is using this directory{who}"), WAIT.to_owned()),
    };
    Error::input(dir, problem).with_help(help)
}

/// Returns the text of a lock file; empty if it cannot be read.
fn text_of(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.take(1024).read_to_string(&mut text);
    if read.is_err() { String::new() } else { text.trim().to_owned() }
}

/// Returns true if `path` names the open file.
fn same_file(path: &Path, file: &File) -> bool {
    let (Ok(there), Ok(ours)) = (fs::symlink_metadata(path), file.metadata()) else { return false };
    (there.dev(), there.ino()) == (ours.dev(), ours.ino())
}

/// Returns true if a file has other names too: they keep what it holds.
fn has_other_names(file: &File) -> bool {
    file.metadata().is_ok_and(|found| found.nlink() > 1)
}

/// State of the process that the text of a lock file names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerState {
    /// It is running.
    AtWork,
    /// It has ended and the lock is free.
    Stale,
    /// The lock is held, but the text names no process, or one that has ended.
    Unclear,
    /// It is on another machine, and the file system refuses locks.
    Unknown,
}

/// Returns the state of the owner of a lock that is held.
fn owner_of_held_lock(text: &str) -> OwnerState {
    let is_there = |id: u32| !Path::new("/proc/self").exists() || Path::new(&format!("/proc/{id}")).exists();
    match parse_owner(text) {
        Some((id, host)) if host != machine::host() || is_there(id) => OwnerState::AtWork,
        _ => OwnerState::Unclear,
    }
}

/// Returns the state of the owner of a lock file on a file system that refuses locks.
fn owner_without_locking(text: &str) -> OwnerState {
    let Some((id, host)) = parse_owner(text) else { return OwnerState::Stale };
    if host != machine::host() {
        return OwnerState::Unknown;
    }
    // The process number may have been reused by another program.
    let program = |id: &str| fs::read_to_string(format!("/proc/{id}/comm")).ok();
    let at_work =
        id != std::process::id() && program(&id.to_string()).is_some_and(|name| Some(name) == program("self"));
    if at_work { OwnerState::AtWork } else { OwnerState::Stale }
}

/// Parses the text of a lock file into process number and machine.
fn parse_owner(text: &str) -> Option<(u32, &str)> {
    let (id, rest) = text.strip_prefix("process ")?.split_once(" on ")?;
    Some((id.parse().ok()?, rest.split_once(", since ")?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_exclusive_and_released_on_drop() {
        let dir = tempfile::tempdir().unwrap();
        let lock = Lock::take(dir.path()).unwrap();
        assert_eq!(lock.stale_owner, None);
        assert!(in_use(dir.path()) && is_empty(dir.path()).unwrap());
        let refused = Lock::take(dir.path()).unwrap_err();
        assert_eq!(refused.exit_code(), 2);
        let own = format!("process {} on {}, since ", std::process::id(), machine::host());
        assert!(refused.to_string().contains(&own), "{refused}");
        drop(lock);
        assert!(!in_use(dir.path()) && fs::read_dir(dir.path()).unwrap().next().is_none());
        Lock::take(dir.path()).unwrap();
    }

    #[test]
    fn a_stale_lock_is_taken_over_and_its_owner_named() {
        let dir = tempfile::tempdir().unwrap();
        let stale = format!("process 4711 on node17, since {}", now_utc());
        fs::write(dir.path().join(LOCK_FILE), format!("{stale}\n")).unwrap();
        assert!(!in_use(dir.path()));
        let lock = Lock::take(dir.path()).unwrap();
        assert_eq!(lock.stale_owner.as_ref(), Some(&stale));
        assert_eq!((process_here(&stale), process_here(&owner(dir.path()).unwrap())), (None, Some(std::process::id())));
        assert!(in_use(dir.path()));
    }

    #[test]
    fn a_directory_in_the_place_of_a_removed_one_keeps_its_lock() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("o");
        fs::create_dir(&dir).unwrap();
        let removed = Lock::take(&dir).unwrap();
        fs::remove_dir_all(&dir).unwrap();
        fs::create_dir(&dir).unwrap();
        let lock = Lock::take(&dir).unwrap();
        drop(removed);
        assert!(in_use(&dir));
        drop(lock);
    }

    #[test]
    fn no_file_elsewhere_is_written_to() {
        let dir = tempfile::tempdir().unwrap();
        let (own, path) = (dir.path().join("o"), dir.path().join("o").join(LOCK_FILE));
        let precious = dir.path().join("precious");
        fs::create_dir(&own).unwrap();
        fs::write(&precious, "mine").unwrap();
        std::os::unix::fs::symlink(&precious, &path).unwrap();
        let refused = Lock::take(&own).unwrap_err();
        assert!(refused.exit_code() == 2 && refused.to_string().contains("a link"), "{refused}");
        fs::remove_file(&path).unwrap();
        fs::hard_link(&precious, &path).unwrap();
        drop(Lock::take(&own).unwrap());
        assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
        assert!(!path.exists());
    }

    fn here(id: u32) -> String {
        format!("process {id} on {}, since {}", machine::host(), now_utc())
    }

    #[test]
    fn a_lock_held_for_an_instant_is_taken_after_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(LOCK_FILE);
        // No process has the number 0: stands for an owner that has ended while a forked child still holds the lock.
        for text in [String::new(), here(0)] {
            fs::write(&path, &text).unwrap();
            let held = File::open(&path).unwrap();
            held.lock().unwrap();
            assert_eq!(owner_of_held_lock(&text), OwnerState::Unclear);
            std::thread::scope(|scope| {
                let looker = scope.spawn(|| in_use(dir.path()));
                let taker = scope.spawn(|| Lock::take(dir.path()).map(|lock| lock.stale_owner.clone()));
                std::thread::sleep(3 * PAUSE);
                assert!(!looker.is_finished() && !taker.is_finished(), "{text:?}: not tried again");
                drop(held);
                let stale_owner = taker.join().unwrap().unwrap();
                // The second thread finds the file as the first one left it: removed, or created again.
                assert!(stale_owner.is_none_or(|who| who == text), "{text:?}");
                looker.join().unwrap();
            });
        }
    }

    #[test]
    fn a_lock_held_by_the_named_process_is_refused_soon() {
        let dir = tempfile::tempdir().unwrap();
        let lock = Lock::take(dir.path()).unwrap();
        assert_eq!((owner_of_held_lock(&here(std::process::id())), lock.warning()), (OwnerState::AtWork, None));
        assert_eq!(owner_of_held_lock("process 7 on another machine, since long ago"), OwnerState::AtWork);
        let began = Instant::now();
        let refused = Lock::take(dir.path()).unwrap_err();
        assert!(refused.to_string().contains("another tisane process is using this directory"), "{refused}");
        assert!(began.elapsed() >= WHILE_AT_WORK);
    }

    #[test]
    fn without_locks_the_text_decides() {
        // This process is no other owner, and no process has the number 0.
        for stale in [String::new(), "nonsense".into(), here(std::process::id()), here(0)] {
            assert_eq!(owner_without_locking(&stale), OwnerState::Stale, "{stale}");
        }
        assert_eq!(owner_without_locking("process 7 on another machine, since long ago"), OwnerState::Unknown);
        assert_eq!(parse_owner(&here(7)), Some((7, machine::host().as_str())));
    }
}
