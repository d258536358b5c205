//! The seal: 80 bytes after the end of an HDF5 file that hold the SHA-256 of everything before them.
//!
//! HDF5's own checksums leave out superblock padding, unallocated space and more, and its C parser is not made for damaged
//! files. The seal covers every byte and is checked before the library opens the file. HDF5 readers ignore bytes
//! after the end that the superblock states; the library drops them when a file is changed in place.

use crate::regular_file;
use sha2::{Digest as _, Sha256};
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use tisane::particles::hexadecimal;

const MAGIC: &[u8; 15] = b"\nTISANE-SHA256 ";
const LENGTH: u64 = 80;

/// What the end of a file says about the rest of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumStatus {
    /// There, and the bytes before it are those it was made from.
    Valid,
    /// There, but some byte before it changed.
    Mismatch,
    /// Not there: the file was cut off, changed in place, or written by another program.
    Missing,
}

/// A SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest([u8; 32]);

impl Digest {
    /// What a hash has come to.
    #[must_use]
    pub fn from_hasher(hash: Sha256) -> Self {
        Self(hash.finalize().into())
    }

    /// From 64 hexadecimal digits; none if the text is anything else.
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
    /// In lower-case hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hexadecimal(&self.0))
    }
}

/// Appends the seal to a finished file.
///
/// # Errors
/// What the file system says.
pub fn append(path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).append(true).open(path)?;
    let length = file.metadata()?.len();
    let digest = digest(&mut file, length)?;
    file.write_all(&trailer(digest))
}

/// Checks the seal of a file, reading all of it once.
///
/// # Errors
/// What the file system says.
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

/// SHA-256 of a whole file, in lower-case hexadecimal.
///
/// # Errors
/// What the file system says.
pub fn sha256_file(path: &Path) -> io::Result<String> {
    Ok(digest(&mut regular_file::open(path)?, u64::MAX)?.to_string())
}

fn trailer(digest: Digest) -> Vec<u8> {
    [MAGIC.as_slice(), digest.to_string().as_bytes(), b"\n"].concat()
}

/// SHA-256 of the first `length` bytes from here.
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
