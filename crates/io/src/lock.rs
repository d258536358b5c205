//! The lock on a directory that a process writes to: two of them would destroy each other's files.
//!
//! `tisane.lock` lies in the directory as long as its process is at work there, is held locked by the system (flock), and says
//! whose it is. The system lets go of the lock however the process ends, so that the file of one that was killed is known to be
//! stale: nobody holds it. Only where a file system has no locks does what the file says decide.

use super::machine;
use super::provenance::now_utc;
use crate::regular;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tisane::error::{Error, Result};

/// Name of the file.
pub const LOCK: &str = "tisane.lock";
/// Whoever looks whether a process is at work ([`in_use`]) holds the lock for an instant: it is tried again so often, after
/// pauses of this length.
const GLANCES: u32 = 5;
const GLANCE: Duration = Duration::from_millis(10);
/// What to do while another process is at work.
const WAIT: &str = "wait until it ends";

/// A directory that this process alone writes to, until this is dropped.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    file: File,
    /// Whose stale lock was found, in words: a process that was killed, or whose machine went down.
    pub left_by: Option<String>,
}

impl Lock {
    /// Takes the lock on a directory.
    ///
    /// # Errors
    /// [`Error::Input`] if another process is at work there, with its number and machine, or if the directory cannot be
    /// written.
    pub fn take(dir: &Path) -> Result<Self> {
        let path = dir.join(LOCK);
        let cannot = |e: io::Error| Error::input(dir, format!("cannot take the lock {LOCK}: {e}"));
        let mut glances = 0;
        loop {
            let mut options = OpenOptions::new();
            options.create(true).truncate(false).read(true).write(true);
            let mut file = options.open(&path).map_err(cannot)?;
            let lock = file.try_lock();
            let told = told(&mut file);
            match lock {
                Ok(()) if same_file(&path, &file) => return Ok(Self::hold(path, file, told)),
                // Its owner has just taken it away.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if glances < GLANCES => std::thread::sleep(GLANCE),
                Err(TryLockError::WouldBlock) => return Err(in_use_by(dir, &told, WAIT)),
                Err(TryLockError::Error(_)) => match unlocked(&told) {
                    Standing::Stale => return Ok(Self::hold(path, file, told)),
                    Standing::AtWork => return Err(in_use_by(dir, &told, WAIT)),
                    Standing::Unknown => {
                        let help = format!("this file system has no locks: if that process is gone, remove {LOCK}");
                        return Err(in_use_by(dir, &told, &help));
                    }
                },
            }
            glances += 1;
        }
    }

    fn hold(path: PathBuf, mut file: File, left_by: String) -> Self {
        let own = format!("process {} on {}, since {}\n", std::process::id(), machine::host(), now_utc());
        // The lock holds whatever the file says: on a full disk the next process is told less.
        let _ = file.rewind().and_then(|()| file.set_len(0)).and_then(|()| file.write_all(own.as_bytes()));
        Self { path, file, left_by: Some(left_by).filter(|who| !who.is_empty()) }
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

/// True if a process is at work in a directory. To see that, the lock is taken and given back at once.
#[must_use]
pub fn in_use(dir: &Path) -> bool {
    check(dir).is_err()
}

/// Refuses a directory in which another process is at work, and leaves no trace in it.
///
/// # Errors
/// [`Error::Input`], as [`Lock::take`].
pub fn check(dir: &Path) -> Result<()> {
    let Ok(mut file) = regular::open(&dir.join(LOCK)) else { return Ok(()) };
    let lock = file.try_lock_shared();
    let told = told(&mut file);
    let free = match lock {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => unlocked(&told) == Standing::Stale,
    };
    if free { Ok(()) } else { Err(in_use_by(dir, &told, WAIT)) }
}

/// True if a directory holds nothing but a lock, whosever it is.
///
/// # Errors
/// What the file system says.
pub fn is_empty(dir: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(dir)? {
        if entry?.file_name() != LOCK {
            return Ok(false);
        }
    }
    Ok(true)
}

fn in_use_by(dir: &Path, who: &str, help: &str) -> Error {
    let who = if who.is_empty() { String::new() } else { format!(": {who}") };
    Error::input(dir, format!("another tisane is at work in this directory{who}")).with_help(help)
}

/// What a lock says of its owner.
fn told(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.take(1024).read_to_string(&mut text);
    if read.is_err() { String::new() } else { text.trim().to_owned() }
}

fn same_file(path: &Path, file: &File) -> bool {
    let (Ok(there), Ok(ours)) = (fs::metadata(path), file.metadata()) else { return false };
    (there.dev(), there.ino()) == (ours.dev(), ours.ino())
}

/// How it stands with the owner of a lock that the file system does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    AtWork,
    Stale,
    /// It was on another machine.
    Unknown,
}

fn unlocked(told: &str) -> Standing {
    let Some((id, host)) = owner(told) else { return Standing::Stale };
    if host != machine::host() {
        return Standing::Unknown;
    }
    // The number may be another program's by now.
    let program = |id: &str| fs::read_to_string(format!("/proc/{id}/comm")).ok();
    let at_work =
        id != std::process::id() && program(&id.to_string()).is_some_and(|name| Some(name) == program("self"));
    if at_work { Standing::AtWork } else { Standing::Stale }
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
        assert_eq!(lock.left_by, None);
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
        fs::write(dir.path().join(LOCK), format!("{stale}\n")).unwrap();
        assert!(!in_use(dir.path()));
        let lock = Lock::take(dir.path()).unwrap();
        assert_eq!(lock.left_by.as_ref(), Some(&stale));
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
    fn without_locks_the_words_decide() {
        let here = |id: u32| format!("process {id} on {}, since {}", machine::host(), now_utc());
        // Ours can be no other's; no process has the number 0; a parent that is not this program has taken a number over.
        for stale in [String::new(), "nonsense".into(), here(std::process::id()), here(0)] {
            assert_eq!(unlocked(&stale), Standing::Stale, "{stale}");
        }
        assert_eq!(unlocked("process 7 on another machine, since long ago"), Standing::Unknown);
        assert_eq!(owner(&here(7)), Some((7, machine::host().as_str())));
    }
}
