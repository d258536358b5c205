//! Records of Gadget's binary snapshots: each block has its length in bytes before and behind it.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use tisane::{Error, Result};

/// Length of the header in bytes.
const HEADER: u32 = 256;
/// Largest number of blocks that are looked through for one by its name.
const MAX_BLOCKS: usize = 256;

/// Block of values of all particles.
#[derive(Clone, Copy, Debug)]
pub(super) enum Block {
    Positions,
    Velocities,
    Ids,
    Masses,
}

impl Block {
    /// Returns its name in `SnapFormat` 2, and in messages.
    fn names(self) -> (&'static [u8; 4], &'static str) {
        match self {
            Self::Positions => (b"POS ", "positions"),
            Self::Velocities => (b"VEL ", "velocities"),
            Self::Ids => (b"ID  ", "ids"),
            Self::Masses => (b"MASS", "masses"),
        }
    }
}

/// Returns the number of `SnapFormat`, and true for big-endian numbers; [`None`] if the bytes do not begin a snapshot.
pub(super) fn byte_order(head: &[u8]) -> Option<(u8, bool)> {
    let word = |at: usize| head.get(at..at + 4).and_then(|bytes| <[u8; 4]>::try_from(bytes).ok());
    [false, true].into_iter().find_map(|big_endian| {
        let int =
            |at: usize| word(at).map(|it| if big_endian { u32::from_be_bytes(it) } else { u32::from_le_bytes(it) });
        if int(0) == Some(8) && head.get(4..8) == Some(b"HEAD") {
            return Some((2, big_endian));
        }
        let closed = |behind: Option<u32>| behind == Some(HEADER);
        (int(0) == Some(HEADER) && closed(int(4 + HEADER as usize))).then_some((1, big_endian))
    })
}

/// Open snapshot, at the start of a record.
pub(super) struct Records<'a> {
    path: &'a Path,
    file: BufReader<File>,
    length: u64,
    at: u64,
    named: bool,
    pub(super) big_endian: bool,
}

impl<'a> Records<'a> {
    /// Opens a file.
    ///
    /// # Errors
    /// [`Error::Input`] if it does not begin with the header of a snapshot.
    pub(super) fn open(path: &'a Path) -> Result<Self> {
        let failed = |e: std::io::Error| Error::input(path, e);
        let file = File::open(path).map_err(failed)?;
        let length = file.metadata().map_err(failed)?.len();
        let mut file = BufReader::new(file);
        let mut head = Vec::new();
        file.by_ref().take(u64::from(HEADER) + 24).read_to_end(&mut head).map_err(failed)?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let (format, big_endian) = byte_order(&head).ok_or_else(|| {
            let expected = "a record of 256 bytes (SnapFormat 1), or the block HEAD (SnapFormat 2)";
            Error::input(path, format!("expected the header of Gadget's binary snapshot, {expected}; found none"))
        })?;
        Ok(Self { path, file, length, at: 0, named: format == 2, big_endian })
    }

    fn failed(&self, problem: impl std::fmt::Display) -> Error {
        Error::input(self.path, problem)
    }

    /// Reads the header, which comes first.
    pub(super) fn header(&mut self) -> Result<[u8; HEADER as usize]> {
        let bytes = self.next(b"HEAD", "the header")?.unwrap_or_default();
        let found = bytes.len();
        bytes.try_into().map_err(|_| self.failed(format!("the header: expected {HEADER} bytes, found {found}")))
    }

    /// Reads a block of `count` floats of 4 or 8 bytes.
    ///
    /// # Errors
    /// [`Error::Input`] if it is missing, truncated or of another length.
    pub(super) fn block(&mut self, block: Block, count: u64) -> Result<Vec<f64>> {
        let (name, what) = block.names();
        let bytes = self.next(name, what)?.ok_or_else(|| self.failed(format!("the block of the {what} is missing")))?;
        match self.width(bytes.len(), count) {
            Some(4) => Ok(bytes.chunks_exact(4).map(|word| f64::from(f32::from_bits(self.word(word)))).collect()),
            Some(8) => Ok(bytes.chunks_exact(8).map(|word| f64::from_bits(self.long(word))).collect()),
            _ => Err(self.wrong_length(what, bytes.len(), count)),
        }
    }

    /// Reads the ids of `count` particles, of 4 or 8 bytes; [`None`] if a file of named blocks has none.
    ///
    /// # Errors
    /// As [`Records::block`].
    pub(super) fn ids(&mut self, count: u64) -> Result<Option<Vec<u64>>> {
        let (name, what) = Block::Ids.names();
        let Some(bytes) = self.next(name, what)? else {
            return if self.named { Ok(None) } else { Err(self.failed("the block of the ids is missing")) };
        };
        match self.width(bytes.len(), count) {
            Some(4) => Ok(Some(bytes.chunks_exact(4).map(|word| u64::from(self.word(word))).collect())),
            Some(8) => Ok(Some(bytes.chunks_exact(8).map(|word| self.long(word)).collect())),
            _ => Err(self.wrong_length(what, bytes.len(), count)),
        }
    }

    /// Returns the size of one value of a block.
    fn width(&self, bytes: usize, count: u64) -> Option<u64> {
        (bytes as u64).checked_div(count).filter(|width| width * count == bytes as u64)
    }

    fn wrong_length(&self, what: &str, bytes: usize, count: u64) -> Error {
        let expected = format!("{} bytes (4-byte values) or {} (8-byte values)", 4 * count, 8 * count);
        self.failed(format!("the block of the {what}: expected {expected}, as the header announces, found {bytes}"))
    }

    fn word(&self, bytes: &[u8]) -> u32 {
        let word = std::array::from_fn(|k| bytes[k]);
        if self.big_endian { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
    }

    fn long(&self, bytes: &[u8]) -> u64 {
        let word = std::array::from_fn(|k| bytes[k]);
        if self.big_endian { u64::from_be_bytes(word) } else { u64::from_le_bytes(word) }
    }

    /// Reads the next block, in a file of named ones the next of this name; [`None`] at the end of the file.
    fn next(&mut self, name: &[u8; 4], what: &str) -> Result<Option<Vec<u8>>> {
        if !self.named {
            return if self.at == self.length { Ok(None) } else { self.record(what).map(Some) };
        }
        // Blocks may be in any order.
        self.seek(0)?;
        for _ in 0..MAX_BLOCKS {
            if self.at == self.length {
                break;
            }
            let found = self.record("the name of a block")?;
            if found.get(..4) == Some(name) {
                return self.record(what).map(Some);
            }
            self.skip()?;
        }
        Ok(None)
    }

    fn seek(&mut self, to: u64) -> Result<()> {
        self.file.seek(SeekFrom::Start(to)).map_err(|e| Error::input(self.path, e))?;
        self.at = to;
        Ok(())
    }

    /// Reads the length before or behind a record.
    fn marker(&mut self) -> Result<u64> {
        let mut bytes = [0; 4];
        let truncated = |_| Error::input(self.path, format!("truncated at {} bytes, in a block", self.length));
        self.file.read_exact(&mut bytes).map_err(truncated)?;
        self.at += 4;
        Ok(u64::from(self.word(&bytes)))
    }

    /// Returns the length of the record that begins here, which must be within the file.
    fn begin(&mut self, what: &str) -> Result<u64> {
        let start = self.at;
        let length = self.marker()?;
        if self.at.saturating_add(length).saturating_add(4) > self.length {
            let problem = format!("{what}: a block of {length} bytes at byte {start} is beyond the end of the file");
            return Err(self.failed(problem).with_help("the file is truncated, or not a snapshot of Gadget"));
        }
        Ok(length)
    }

    /// Reads the length behind a record, which must be that before it.
    fn end(&mut self, length: u64, what: &str) -> Result<()> {
        match self.marker()? {
            behind if behind == length => Ok(()),
            behind => {
                Err(self.failed(format!("{what}: a block of {length} bytes has {behind} as its length behind it")))
            }
        }
    }

    fn record(&mut self, what: &str) -> Result<Vec<u8>> {
        let length = self.begin(what)?;
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        self.file.read_exact(&mut bytes).map_err(|e| Error::input(self.path, e))?;
        self.at += length;
        self.end(length, what)?;
        Ok(bytes)
    }

    fn skip(&mut self) -> Result<()> {
        let length = self.begin("a block")?;
        self.seek(self.at + length)?;
        self.end(length, "a block")
    }
}
