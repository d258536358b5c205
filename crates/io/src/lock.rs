//! The lock on a directory that a process writes to: two processes would destroy each other's files.
//!
//! `tisane.lock` lies in the directory as long as its process is at work there. The system holds it locked (`flock`), and its text
//! names the process. The system drops the lock when the process ends, in any way: the file that a killed process leaves is known
//! to be stale, because nobody holds it.
//!
//! Two cases need more than one call of `flock`:
//! - The lock may be held for an instant without an owner at work: by a process that only looks ([`check`]), or by a child process
//!   that was just forked and has the descriptors of its parent until it executes its own program. The attempt is repeated for
//!   a bounded time, a long one only where the process that the text names has ended.
//! - A file system may refuse locks (Lustre mounted with `noflock`, NFS without a lock manager). Then the text alone decides, and
//!   [`Lock::warning`] says so.

use super::machine;
use super::provenance::now_utc;
use crate::regular_file;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tisane::error::{Error, Result};

/// Name of the file.
pub const LOCK_FILE: &str = "tisane.lock";
/// Pause between two attempts to take a lock.
const PAUSE: Duration = Duration::from_millis(10);
/// Time for which a lock is tried again whose text names a process that runs.
const WHILE_AT_WORK: Duration = Duration::from_millis(200);
/// Time for which a lock is tried again whose text names no process, or one that has ended.
const WHILE_UNCLEAR: Duration = Duration::from_secs(5);
/// Advice while another process is at work.
const WAIT: &str = "wait until it ends";

/// A directory that this process alone writes to, until this is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
    /// The text of a stale lock that was found: a process that was killed, or whose machine went down.
    pub stale_owner: Option<String>,
    /// What the system said, if the file system refuses locks.
    refused: Option<String>,
}

impl Lock {
    /// Takes the lock on a directory.
    ///
    /// # Errors
    /// [`Error::Input`] if another process is at work there, with its number and machine, or if the directory cannot be
    /// written.
    pub fn take(dir: &Path) -> Result<Self> {
        let path = dir.join(LOCK_FILE);
        let cannot = |e: io::Error| Error::input(dir, format!("cannot take the lock {LOCK_FILE}: {e}"));
        let began = Instant::now();
        loop {
            let (mut file, is_new) = open_or_create(&path).map_err(cannot)?;
            let attempt = file.try_lock();
            let text = text_of(&mut file);
            match attempt {
                Ok(()) if same_file(&path, &file) => return Self::hold(path, file, text, None).map_err(cannot),
                Err(TryLockError::WouldBlock) if same_file(&path, &file) => {
                    let standing = owner_of_held_lock(&text);
                    let patience = if standing == OwnerState::AtWork { WHILE_AT_WORK } else { WHILE_UNCLEAR };
                    if began.elapsed() >= patience {
                        return Err(in_use_by(dir, &text, standing));
                    }
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::Error(e)) if e.kind() != ErrorKind::Interrupted => match owner_without_locking(&text)
                {
                    // A file without a text may be another process's that is about to write it.
                    OwnerState::Stale if text.is_empty() && !is_new && began.elapsed() < WHILE_AT_WORK => {
                        std::thread::sleep(PAUSE);
                    }
                    OwnerState::Stale => return Self::hold(path, file, text, Some(e.to_string())).map_err(cannot),
                    standing => return Err(in_use_by(dir, &text, standing)),
                },
                // Its owner has just removed the file, or a signal came in between.
                _ => {}
            }
        }
    }

    /// Writes the name of this process into a file that it holds locked, or that is not locked because the file system refuses.
    fn hold(path: PathBuf, mut file: File, stale_owner: String, refused: Option<String>) -> io::Result<Self> {
        let own = format!("process {} on {}, since {}\n", std::process::id(), machine::host(), now_utc());
        let written = file.rewind().and_then(|()| file.set_len(0)).and_then(|()| file.write_all(own.as_bytes()));
        // Where the system holds the lock the text is not needed: on a full disk the next process is told less.
        if refused.is_some() {
            written?;
        }
        Ok(Self { path, file, stale_owner: Some(stale_owner).filter(|who| !who.is_empty()), refused })
    }

    /// Returns what the user needs to know if the file system refuses locks, and [`None`] if the lock holds.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let system = self.refused.as_ref()?;
        Some(format!(
            "{}: this file system refuses locks ({system}). The text of the file keeps other processes out in their place: do not \
             start two at the same moment, and remove the file by hand if another machine went down with its process",
            self.path.display()
        ))
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // While it is still held: nobody can have taken it. Another directory may stand in the place of one that was removed.
        if same_file(&self.path, &self.file) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Returns true if a process is at work in a directory. To see that, the lock is taken and given back at once.
#[must_use]
pub fn in_use(dir: &Path) -> bool {
    check(dir).is_err()
}

/// Refuses a directory in which another process is at work, and leaves no trace in it.
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
        let standing = match attempt {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if same_file(&path, &file) => owner_of_held_lock(&text),
            Err(TryLockError::Error(e)) if e.kind() != ErrorKind::Interrupted => owner_without_locking(&text),
            _ => continue,
        };
        match standing {
            OwnerState::Stale => return Ok(()),
            OwnerState::Unclear if began.elapsed() < WHILE_UNCLEAR => std::thread::sleep(PAUSE),
            standing => return Err(in_use_by(dir, &text, standing)),
        }
    }
}

/// True if a directory holds nothing but a lock, whosever it is.
///
/// # Errors
/// What the file system says.
pub fn is_empty(dir: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(dir)? {
        if entry?.file_name() != LOCK_FILE {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Opens the file, and says whether it was made just now.
fn open_or_create(path: &Path) -> io::Result<(File, bool)> {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    loop {
        match options.clone().create_new(true).open(path) {
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (file, true)),
        }
        match options.open(path) {
            // Its owner has removed it in between.
            Err(e) if e.kind() == ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {}
            // Reading a pipe would never end.
            Ok(file) if !file.metadata()?.is_file() => {
                return Err(io::Error::new(ErrorKind::InvalidInput, "this is no regular file"));
            }
            found => return found.map(|file| (file, false)),
        }
    }
}

fn in_use_by(dir: &Path, text: &str, standing: OwnerState) -> Error {
    let who = if text.is_empty() { String::new() } else { format!(": {text}") };
    let (problem, help) = match standing {
        OwnerState::Unclear => {
            let problem = match text {
                "" => format!("{LOCK_FILE} is held by a process that it does not name"),
                _ => format!("{LOCK_FILE} is held, but the process that it names has ended: {text}"),
            };
            (problem, format!("end the process that has the file open (`fuser {LOCK_FILE}` shows which)"))
        }
        OwnerState::Unknown => {
            let help = format!("this file system refuses locks: if that process has ended, remove {LOCK_FILE}");
            (format!("another tisane is at work in this directory{who}"), help)
        }
        _ => (format!("another tisane is at work in this directory{who}"), WAIT.to_owned()),
    };
    Error::input(dir, problem).with_help(help)
}

/// Returns the text of a lock, empty where it cannot be read.
fn text_of(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.take(1024).read_to_string(&mut text);
    if read.is_err() { String::new() } else { text.trim().to_owned() }
}

fn same_file(path: &Path, file: &File) -> bool {
    let (Ok(there), Ok(ours)) = (fs::metadata(path), file.metadata()) else { return false };
    (there.dev(), there.ino()) == (ours.dev(), ours.ino())
}

/// State of the process that the text of a lock names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OwnerState {
    AtWork,
    /// It has ended, and the lock with it.
    Stale,
    /// The lock is held, but no process is named, or one that has ended.
    Unclear,
    /// It was on another machine, and the file system refuses locks.
    Unknown,
}

/// State of the owner of a lock that another process holds.
fn owner_of_held_lock(text: &str) -> OwnerState {
    let is_there = |id: u32| !Path::new("/proc/self").exists() || Path::new(&format!("/proc/{id}")).exists();
    match owner(text) {
        Some((id, host)) if host != machine::host() || is_there(id) => OwnerState::AtWork,
        _ => OwnerState::Unclear,
    }
}

/// State of the owner of a lock on a file system that refuses locks.
fn owner_without_locking(text: &str) -> OwnerState {
    let Some((id, host)) = owner(text) else { return OwnerState::Stale };
    if host != machine::host() {
        return OwnerState::Unknown;
    }
    // The number may be another program's by now.
    let program = |id: &str| fs::read_to_string(format!("/proc/{id}/comm")).ok();
    let at_work =
        id != std::process::id() && program(&id.to_string()).is_some_and(|name| Some(name) == program("self"));
    if at_work { OwnerState::AtWork } else { OwnerState::Stale }
}

/// Number and machine of the process that a lock names.
fn owner(told: &str) -> Option<(u32, &str)> {
    let (id, rest) = told.strip_prefix("process ")?.split_once(" on ")?;
    Some((id.parse().ok()?, rest.split_once(", since ")?.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_taken_once_and_goes_with_its_owner() {
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

    fn here(id: u32) -> String {
        format!("process {id} on {}, since {}", machine::host(), now_utc())
    }

    #[test]
    fn a_lock_held_for_an_instant_is_taken_after_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(LOCK_FILE);
        // No process has the number 0: its child holds the lock until it executes its own program.
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
                // Who comes second finds the file as the first has left it: removed, or made anew.
                assert!(stale_owner.is_none_or(|who| who == text), "{text:?}");
                looker.join().unwrap();
            });
        }
    }

    #[test]
    fn a_lock_held_by_a_process_that_it_names_is_refused_soon() {
        let dir = tempfile::tempdir().unwrap();
        let lock = Lock::take(dir.path()).unwrap();
        assert_eq!((owner_of_held_lock(&here(std::process::id())), lock.warning()), (OwnerState::AtWork, None));
        assert_eq!(owner_of_held_lock("process 7 on another machine, since long ago"), OwnerState::AtWork);
        let began = Instant::now();
        let refused = Lock::take(dir.path()).unwrap_err();
        assert!(refused.to_string().contains("another tisane is at work"), "{refused}");
        assert!(began.elapsed() >= WHILE_AT_WORK);
    }

    #[test]
    fn without_locks_the_words_decide() {
        // Ours can be no other's; no process has the number 0; a parent that is not this program has taken a number over.
        for stale in [String::new(), "nonsense".into(), here(std::process::id()), here(0)] {
            assert_eq!(owner_without_locking(&stale), OwnerState::Stale, "{stale}");
        }
        assert_eq!(owner_without_locking("process 7 on another machine, since long ago"), OwnerState::Unknown);
        assert_eq!(owner(&here(7)), Some((7, machine::host().as_str())));
    }
}
