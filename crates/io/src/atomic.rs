//! Atomic writing of files: under a temporary name, flushed to the disk, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tisane::error::{Error, Result};

/// Writes a file so that a kill or a power cut at any instant leaves either the old file or the new one under `path`.
/// `write` gets the temporary name `.<name>.partial` in the same directory; on an error the temporary file is removed.
///
/// # Errors
/// The error of `write`, and [`Error::Storage`] if flushing or renaming fails.
pub fn write_atomically(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
    PendingFile::write(path, write)?.commit()
}

/// Checks the path of a file to be written, as given by the user: it must not exist, or be a regular file other than
/// the input file `read`. A device or a pipe would be replaced by a file; for a link it would be ambiguous which file
/// is meant.
///
/// # Errors
/// [`Error::Input`] if the path is a link, a directory, a device, a pipe, a socket or the input file.
pub fn check_output_path(path: &Path, read: Option<&Path>) -> Result<()> {
    let refused = |problem: String, help: &str| Err(Error::input(path, problem).with_help(help));
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    if found.is_symlink() {
        let target = fs::read_link(path).unwrap_or_default();
        let problem = format!("this is a link to {}, but only regular files can be written", target.display());
        return refused(problem, "give the path of the file itself");
    }
    if let Some(what) = special_kind(&found) {
        return refused(format!("this is {what}, but only regular files can be written"), "give the name of a file");
    }
    let same = |other: fs::Metadata| (other.dev(), other.ino()) == (found.dev(), found.ino());
    match read {
        Some(read) if fs::metadata(read).is_ok_and(same) => {
            refused(format!("this is the input file {} itself", read.display()), "give another file name")
        }
        _ => Ok(()),
    }
}

/// Returns the kind of a path that is neither a regular file nor a link.
fn special_kind(found: &fs::Metadata) -> Option<&'static str> {
    match found.file_type() {
        kind if kind.is_dir() => Some("a folder"),
        kind if kind.is_file() || kind.is_symlink() => None,
        _ => Some("a device, a pipe or a socket"),
    }
}

/// Complete file that is flushed to the disk, still under its temporary name. It is removed if dropped without
/// [`commit`](Self::commit).
#[must_use]
pub struct PendingFile {
    temporary: PathBuf,
    path: PathBuf,
    committed: bool,
}

impl PendingFile {
    /// Writes the temporary file and flushes it to the disk. Replaces a temporary file left by a killed process.
    ///
    /// # Errors
    /// The error of `write`, and [`Error::Storage`] if the file cannot be flushed, or if `path` exists and is not a
    /// file.
    pub fn write(path: &Path, write: impl FnOnce(&Path) -> Result<()>) -> Result<Self> {
        if let Some(what) = fs::symlink_metadata(path).ok().as_ref().and_then(special_kind) {
            return Err(Error::storage(path, format!("this is {what}")));
        }
        let pending = Self { temporary: temporary_name(path)?, path: path.to_owned(), committed: false };
        remove_if_present(&pending.temporary).map_err(|e| Error::storage(&pending.temporary, e))?;
        write(&pending.temporary).map_err(|e| e.with_path(&pending.temporary, path))?;
        flush_file(&pending.temporary).map_err(|e| Error::storage(path, e))?;
        Ok(pending)
    }

    /// Renames the file to its final name and flushes the directory.
    ///
    /// # Errors
    /// [`Error::Storage`] if renaming or flushing the directory fails.
    pub fn commit(mut self) -> Result<()> {
        rename_durably(&self.temporary, &self.path)?;
        self.committed = true;
        Ok(())
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if !self.committed {
            // Best effort: another error is being returned already.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Returns the name under which `path` is written before it is complete: `.<name>.partial` in the same directory.
///
/// # Errors
/// [`Error::Storage`] if `path` has no file name.
pub fn temporary_name(path: &Path) -> Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| Error::storage(path, "not a file name"))?;
    let mut temporary = std::ffi::OsString::from(".");
    temporary.push(name);
    temporary.push(".partial");
    Ok(path.with_file_name(temporary))
}

/// Renames a file and flushes the directory, so that the new name survives a power cut.
pub(super) fn rename_durably(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(|e| Error::storage(to, e))?;
    flush_directory_of(to).map_err(|e| Error::storage(to, e))
}

/// Creates a directory with its missing parents, so that they survive a power cut.
pub(super) fn make_directory(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
        make_directory(above)?;
    }
    match fs::create_dir(path) {
        // Another process has created it meanwhile.
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
        made => made?,
    }
    flush_directory_of(path)
}

/// Removes a file if it exists.
pub(super) fn remove_if_present(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Removes a file if it exists, so that the removal survives a power cut.
pub(super) fn remove_durably(path: &Path) -> io::Result<()> {
    if path.exists() {
        fs::remove_file(path)?;
        flush_directory_of(path)?;
    }
    Ok(())
}

/// Flushes the data of a file to the disk.
fn flush_file(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).open(path)?.sync_all()
}

/// Flushes the directory that contains `path` to the disk.
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
    fn special_files_are_not_replaced() {
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
            let failed = check_output_path(path, None).unwrap_err();
            assert!(failed.exit_code() == 2 && failed.to_string().contains(words), "{failed}");
            assert_eq!(fs::symlink_metadata(path).unwrap().file_type(), kind);
        }
        assert!(check_output_path(&link, None).unwrap_err().to_string().contains("a link to"));
        assert!(check_output_path(&file, Some(&link)).unwrap_err().to_string().contains("link itself"));
        check_output_path(&file, Some(&folder)).unwrap();
        check_output_path(&dir.path().join("new"), Some(&file)).unwrap();
        // A link is replaced; its target stays.
        write_atomically(&link, |t| fs::write(t, "new").map_err(|e| Error::storage(t, e))).unwrap();
        assert_eq!([&file, &link].map(|path| fs::read_to_string(path).unwrap()), ["old", "new"]);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before);
    }

    #[test]
    fn a_missing_directory_is_a_storage_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("gone").join("a");
        let failed = write_atomically(&path, |t| fs::write(t, "x").map_err(|e| Error::storage(t, e)));
        assert_eq!(failed.unwrap_err().exit_code(), 5);
    }
}
