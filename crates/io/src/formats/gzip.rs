//! Files packed by gzip: unpacked into a temporary file, which is read in their place.

use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use tempfile::NamedTempFile;
use tisane::{Error, Result};

/// First bytes of a packed file.
const SIGNATURE: [u8; 2] = [0x1f, 0x8b];
/// Largest ratio of the unpacked to the packed size. Numbers of particles reach 3 to 30, made to attack 1032.
const MAX: u64 = 100;
/// Unpacked size that any file may have, in bytes.
const ALWAYS: u64 = 1 << 20;

/// Calls `read` with the path of a file or, if the file is packed by gzip, with the path of its unpacked content. Errors
/// name the file itself.
///
/// # Errors
/// Those of `read`, and [`Error::Input`] if the packed file is damaged, or unpacks to more than [`MAX`] times its size.
pub(crate) fn unpacked<T>(path: &Path, read: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    if !is_packed(path) {
        return read(path);
    }
    let content = unpack(path)?;
    read(content.path()).map_err(|error| match error {
        Error::Input { path: named, problem, help } if named == content.path() => {
            let help =
                help.map(|help| help.replace(&content.path().display().to_string(), &path.display().to_string()));
            Error::Input { path: path.to_owned(), problem: format!("unpacked by gzip: {problem}"), help }
        }
        other => other,
    })
}

/// Returns true for a regular file that starts with the signature of gzip.
pub(crate) fn is_packed(path: &Path) -> bool {
    let mut start = [0; SIGNATURE.len()];
    let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file && File::open(path).and_then(|mut file| file.read_exact(&mut start)).is_ok() && start == SIGNATURE
}

/// Unpacks a file into a temporary one.
fn unpack(path: &Path) -> Result<NamedTempFile> {
    let failed = |e: io::Error| Error::input(path, e);
    let file = File::open(path).map_err(failed)?;
    let packed = file.metadata().map_err(failed)?.len();
    let max = packed.saturating_mul(MAX).max(ALWAYS);
    let mut content = MultiGzDecoder::new(BufReader::new(file)).take(max + 1);
    let mut unpacked = NamedTempFile::new().map_err(|e| Error::input(path, format!("cannot be unpacked: {e}")))?;
    let (mut block, mut total) = (vec![0; 1 << 16], 0u64);
    loop {
        let damaged = |e: io::Error| {
            let help = "copy it again; `gzip -t` tests it";
            Error::input(path, format!("packed by gzip, and damaged or truncated: {e}")).with_help(help)
        };
        let n = content.read(&mut block).map_err(damaged)?;
        if n == 0 {
            break;
        }
        total += n as u64;
        let full = |e: io::Error| Error::input(path, format!("cannot be unpacked into a temporary file: {e}"));
        unpacked.write_all(&block[..n]).map_err(full)?;
    }
    if total > max {
        let problem = format!("packed by gzip: {packed} bytes unpack to more than {max}");
        return Err(Error::input(path, problem).with_help("unpack it with gunzip if you know what is in it"));
    }
    Ok(unpacked)
}
