//! Checksum of an HDF5 file: a trailer of 80 bytes after the HDF5 data with the SHA-256 of all bytes before it.
//!
//! The checksums of HDF5 itself do not cover superblock padding and unallocated space, and its C parser is not robust
//! against damaged files. The trailer covers every byte and is verified before the library opens the file. HDF5 readers
//! ignore bytes after the end of file stated in the superblock; the library drops them when it modifies a file in
//! place.

use crate::regular_file;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use tisane::particles::hexadecimal;

/// First bytes of the trailer; 64 hexadecimal digits and a line end follow.
const MAGIC: &[u8; 15] = b"\nTISANE-SHA256 ";
/// Length of the trailer in bytes.
const LENGTH: u64 = 80;

/// Result of the verification of a file against its trailer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumStatus {
    /// The trailer is present and matches the bytes before it.
    Valid,
    /// The trailer is present, but a byte before it or in it has changed.
    Mismatch,
    /// No trailer: the file was truncated, modified in place, or written by another program.
    Missing,
}

/// A SHA-256 digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest of the bytes that `hash` was fed.
    #[must_use]
    pub fn from_hasher(hash: Sha256) -> Self {
        Self(hash.finalize().into())
    }

    /// Returns the digest of some bytes.
    #[must_use]
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self::from_hasher(Sha256::new_with_prefix(bytes))
    }

    /// Returns its first eight bytes as a number, for tables of many hashes.
    #[must_use]
    pub fn short(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_be_bytes([a, b, c, d, e, f, g, h])
    }

    /// Parses 64 hexadecimal digits; [`None`] for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (mut bytes, digits) = ([0; 32], text.as_bytes());
        if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for Digest {
    /// Writes 64 lower-case hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hexadecimal(&self.0))
    }
}

/// Appends the trailer to a complete file.
///
/// # Errors
/// The error of the file system.
pub fn append(path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    let length = file.metadata()?.len();
    let digest = digest(&mut file, length)?;
    file.write_all(&trailer(digest))
}

/// Verifies the trailer of a file. Reads the whole file once.
///
/// # Errors
/// The error of the file system; [`io::ErrorKind::InvalidInput`] for a device, a pipe or a socket.
pub fn check(path: &Path) -> io::Result<ChecksumStatus> {
    let mut file = regular_file::open(path)?;
    let length = file.metadata()?.len();
    let Some(content) = length.checked_sub(LENGTH) else { return Ok(ChecksumStatus::Missing) };
    let mut found = [0u8; LENGTH as usize];
    file.seek(SeekFrom::Start(content))?;
    file.read_exact(&mut found)?;
    if !found.starts_with(MAGIC) {
        return Ok(ChecksumStatus::Missing);
    }
    file.rewind()?;
    let whole = found.as_slice() == trailer(digest(&mut file, content)?);
    Ok(if whole { ChecksumStatus::Valid } else { ChecksumStatus::Mismatch })
}

/// Returns the SHA-256 of a whole file, in lower-case hexadecimal.
///
/// # Errors
/// The error of the file system; [`io::ErrorKind::InvalidInput`] for a device, a pipe or a socket.
pub fn sha256_file(path: &Path) -> io::Result<String> {
    Ok(digest(&mut regular_file::open(path)?, u64::MAX)?.to_string())
}

/// Returns the bytes of the trailer for a digest.
fn trailer(digest: Digest) -> Vec<u8> {
    [MAGIC.as_slice(), digest.to_string().as_bytes(), b"\n"].concat()
}

/// Returns the SHA-256 of the next `length` bytes of a file, or of all that are left if they are fewer.
fn digest(file: &mut File, length: u64) -> io::Result<Digest> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0u8; 1 << 16];
    let mut rest = file.take(length);
    loop {
        match rest.read(&mut buffer)? {
            0 => return Ok(Digest::from_hasher(hash)),
            n => hash.update(buffer.get(..n).unwrap_or(&buffer)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_as_it_is_written() {
        let digest = Digest::from_hasher(Sha256::new_with_prefix("abc"));
        assert!(digest.to_string().starts_with("ba7816bf8f01cfea"));
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        for bad in ["", "ba78", &"g".repeat(64), &"+1".repeat(32), &"é".repeat(32)] {
            assert_eq!(Digest::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn every_flipped_byte_and_every_cut_is_seen() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "some content").unwrap();
        append(&path).unwrap();
        assert_eq!(check(&path).unwrap(), ChecksumStatus::Valid);
        let good = std::fs::read(&path).unwrap();
        for i in 0..good.len() {
            let mut bad = good.clone();
            bad[i] ^= 0x10;
            std::fs::write(&path, &bad).unwrap();
            assert_ne!(check(&path).unwrap(), ChecksumStatus::Valid, "byte {i}");
            std::fs::write(&path, &good[..i]).unwrap();
            assert_ne!(check(&path).unwrap(), ChecksumStatus::Valid, "cut at {i}");
        }
    }
}
