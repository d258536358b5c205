//! Reading and writing of regular files only. Reading a device may never end, and opening a pipe may block forever. What is
//! written is never a file elsewhere, that a link leads to.

use rustix::fs::OFlags;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Opens a regular file for reading.
///
/// # Errors
/// The error of the operating system, and [`io::ErrorKind::InvalidInput`] for a device, a pipe or a socket. A directory
/// is opened; reading it then fails with [`io::ErrorKind::IsADirectory`].
pub fn open(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() || kind.is_dir() {
        return File::open(path);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file, but a device, a pipe or a socket"))
}

/// Reads a whole file.
///
/// # Errors
/// As [`open`].
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole file as text.
///
/// # Errors
/// As [`open`], and [`io::ErrorKind::InvalidData`] if it is not UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    io::read_to_string(open(path)?)
}

/// Message for what is not written to.
const NOT_REGULAR: &str = "not a regular file, but a folder, a device, a pipe or a socket: nothing is written to it";

/// Opens a file by `options`, which write, if it is a regular file and no symbolic link. Never waits for the other end of a
/// pipe.
///
/// # Errors
/// The error of the operating system, and [`io::ErrorKind::InvalidInput`] with the kind of what is not a regular file.
pub fn open_to_write(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32;
    let refused = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what);
    let opened = options.clone().custom_flags(flags).open(path);
    let file = opened.map_err(|e| match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() => refused("a link: files that a link leads to are not written to"),
        Ok(found) if !found.is_file() => refused(NOT_REGULAR),
        _ => e,
    })?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(refused(NOT_REGULAR)) }
}

/// Opens a regular file for appending, and for reading; creates it where it is missing. A file that has other names too
/// (hard links, as some programs make for a backup) is replaced by a copy of its own.
///
/// # Errors
/// As [`open_to_write`], and those of the copy.
pub fn append(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).read(true).append(true);
    let mut file = open_to_write(path, &options)?;
    if file.metadata()?.nlink() <= 1 {
        return Ok(file);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut copy = tempfile::NamedTempFile::new_in(folder)?;
    io::copy(&mut file, copy.as_file_mut())?;
    copy.as_file().set_permissions(file.metadata()?.permissions())?;
    copy.as_file().sync_all()?;
    copy.persist(path).map_err(|e| e.error)?;
    open_to_write(path, &options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_is_written_is_the_file_itself() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link, twin, socket] = ["file", "link", "twin", "socket"].map(|name| dir.path().join(name));
        append(&file).unwrap().write_all(b"one").unwrap();
        append(&file).unwrap().write_all(b" two").unwrap();
        assert_eq!(read_to_string(&file).unwrap(), "one two");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [&link, &socket, &pipe, Path::new("/dev/null"), dir.path()] {
            assert_eq!(append(path).unwrap_err().kind(), io::ErrorKind::InvalidInput, "{path:?}");
        }
        // A link to a file that is not there makes none.
        std::os::unix::fs::symlink(dir.path().join("none"), &twin).unwrap();
        append(&twin).unwrap_err();
        assert!(!dir.path().join("none").exists());
        // A backup by hard links keeps what it has.
        fs::remove_file(&twin).unwrap();
        fs::hard_link(&file, &twin).unwrap();
        append(&file).unwrap().write_all(b" three").unwrap();
        assert_eq!([&file, &twin].map(|path| read_to_string(path).unwrap()), ["one two three", "one two"]);
    }

    #[test]
    fn regular_files_are_read_and_others_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let [file, socket] = ["file", "socket"].map(|name| dir.path().join(name));
        fs::write(&file, "text").unwrap();
        assert_eq!(read(&file).unwrap(), b"text");
        assert_eq!(read_to_string(&file).unwrap(), "text");
        let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for path in [&socket, Path::new("/dev/zero")] {
            assert_eq!(open(path).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
        assert_eq!(read(&dir.path().join("none")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(read(dir.path()).unwrap_err().kind(), io::ErrorKind::IsADirectory);
    }
}
