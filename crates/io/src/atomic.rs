//! Whole files or none: written under a temporary name, flushed to the disk, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};

/// Writes a file so that a kill or a power cut at any instant leaves either the old file or the new one under `path`.
/// `write` gets the temporary name `.<name>.partial` beside `path`; on an error the temporary file is removed.
///
/// # Errors
/// What `write` returns, and [`Error::Storage`] if flushing or renaming fails.
pub fn write_atomically(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    Pending::write(path, write)?.commit()
}

/// Refuses a name given by the user for a file to be written, unless there is no such file or a regular one, and another than
/// `read`, which the new one is made from. A device or a pipe would give way to a file; of a link it would not be clear which
/// of the two is meant.
///
/// # Errors
/// [`Error::Input`].
pub fn check_name(path: &Path, read: Option<&Path>) -> Result<()> {
    let refused = |problem: String, help: &str| Err(Error::input(path, problem).with_help(help));
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    if found.is_symlink() {
        let target = fs::read_link(path).unwrap_or_default();
        let problem = format!("this is a link to {}, and only regular files are written", target.display());
        return refused(problem, "name the file itself");
    }
    if let Some(what) = no_file(&found) {
        return refused(format!("this is {what}, and only regular files are written"), "name a file");
    }
    let same = |other: fs::Metadata| (other.dev(), other.ino()) == (found.dev(), found.ino());
    match read {
        Some(read) if fs::metadata(read).is_ok_and(same) => {
            refused(format!("this is {} itself, which is read", read.display()), "name another file")
        }
        _ => Ok(()),
    }
}

/// What it is, if neither a regular file nor a link.
fn no_file(found: &fs::Metadata) -> Option<&'static str> {
    match found.file_type() {
        kind if kind.is_dir() => Some("a folder"),
        kind if kind.is_file() || kind.is_symlink() => None,
        _ => Some("a device, a pipe or a socket"),
    }
}

/// A file that is whole and on the disk, but still under its temporary name. Dropped without [`commit`](Self::commit), it
/// is removed.
#[must_use]
pub struct Pending {
    temporary: PathBuf,
    path: PathBuf,
    committed: bool,
}

impl Pending {
    /// Writes the temporary file and flushes it to the disk. A temporary file left over from a kill is replaced.
    ///
    /// # Errors
    /// What `write` returns, and [`Error::Storage`] if the file cannot be flushed, or what has its name now is no file.
    pub fn write(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<Self> {
        if let Some(what) = fs::symlink_metadata(path).ok().as_ref().and_then(no_file) {
            return Err(Error::storage(path, format!("this is {what}")));
        }
        let pending = Self { temporary: temporary_name(path)?, path: path.to_owned(), committed: false };
        remove_if_present(&pending.temporary).map_err(|e| Error::storage(&pending.temporary, e))?;
        write(&pending.temporary).map_err(|e| e.with_path(&pending.temporary, path))?;
        flush_file(&pending.temporary).map_err(|e| Error::storage(path, e))?;
        Ok(pending)
    }

    /// Gives the file its name and flushes the directory.
    ///
    /// # Errors
    /// [`Error::Storage`] if renaming or flushing the directory fails.
    pub fn commit(mut self) -> Result<()> {
        rename_durably(&self.temporary, &self.path)?;
        self.committed = true;
        Ok(())
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if !self.committed {
            // Best effort on the way out of an error that is already being told.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// The name under which `path` is written before it is whole: `.<name>.partial` in the same directory.
///
/// # Errors
/// [`Error::Storage`] if `path` has no file name.
pub fn temporary_name(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| Error::storage(path, "not the name of a file"))?;
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(".partial");
    Ok(path.with_file_name(temporary))
}

/// Renames and flushes the directory, so that the new name survives a power cut.
pub(super) fn rename_durably(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|e| Error::storage(to, e))?;
    flush_directory_of(to).map_err(|e| Error::storage(to, e))
}

/// Makes a directory and those above it that are missing, so that they survive a power cut.
pub(super) fn make_directory(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
        make_directory(above)?;
    }
    match fs::create_dir(path) {
        // Another process was faster.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        made => made?,
    }
    flush_directory_of(path)
}

/// Removes a file; it is no error if there is none.
pub(super) fn remove_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Removes a file, if there is one, so that it stays away after a power cut.
pub(super) fn remove_durably(path: &Path) -> io::Result<()> {
    if path.exists() {
        fs::remove_file(path)?;
        flush_directory_of(path)?;
    }
    Ok(())
}

fn flush_file(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.sync_all()
}

fn flush_directory_of(path: &Path) -> io::Result<()> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(parent)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_leaves_the_old_file_and_no_temporary() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        write_atomically(&path, |t| fs::write(t, "old").map_err(|e| Error::storage(t, e))).unwrap();
        let failed = write_atomically(&path, |t| {
            fs::write(t, "new").unwrap();
            Err(Error::storage(t, "disk full"))
        });
        assert!(matches!(failed, Err(Error::Storage { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_stale_temporary_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(temporary_name(&path).unwrap(), "half of a longer file").unwrap();
        write_atomically(&path, |t| fs::write(t, "new").map_err(|e| Error::storage(t, e))).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_no_file_stays() {
        let dir = tempfile::tempdir().unwrap();
        let [file, folder, socket, link] = ["file", "folder", "socket", "link"].map(|name| dir.path().join(name));
        fs::write(&file, "old").unwrap();
        fs::create_dir(&folder).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let before = fs::read_dir(dir.path()).unwrap().count();
        for (path, words) in [(&folder, "a folder"), (&socket, "a socket")] {
            let kind = fs::symlink_metadata(path).unwrap().file_type();
            let failed = write_atomically(path, |_| panic!("written")).unwrap_err();
            assert!(failed.exit_code() == 5 && failed.to_string().contains(words), "{failed}");
            let failed = check_name(path, None).unwrap_err();
            assert!(failed.exit_code() == 2 && failed.to_string().contains(words), "{failed}");
            assert_eq!(fs::symlink_metadata(path).unwrap().file_type(), kind);
        }
        assert!(check_name(&link, None).unwrap_err().to_string().contains("a link to"));
        assert!(check_name(&file, Some(&link)).unwrap_err().to_string().contains("link itself"));
        check_name(&file, Some(&folder)).unwrap();
        check_name(&dir.path().join("new"), Some(&file)).unwrap();
        // A link in the place of a file of ours gives way, what it led to stays.
        write_atomically(&link, |t| fs::write(t, "new").map_err(|e| Error::storage(t, e))).unwrap();
        assert_eq!([&file, &link].map(|path| fs::read_to_string(path).unwrap()), ["old", "new"]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before);
    }

    #[test]
    fn a_missing_directory_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("gone").join("a");
        let failed = write_atomically(&path, |t| fs::write(t, "x").map_err(|e| Error::storage(t, e)));
        assert_eq!(failed.unwrap_err().exit_code(), 5);
    }
}
