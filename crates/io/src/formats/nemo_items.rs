//! Structured binary files of NEMO: a stream of items, each with a magic number, a type, a name, dimensions and values;
//! sets contain items. Layout as written by NEMO's `filestruct` (Teuben 1995). The reader records the offsets of values
//! and reads only those that are asked for. Items describe themselves, so that no fixed layout is left to declare with
//! binrw.

use std::io::{BufRead, BufReader, Read, Result, Seek, SeekFrom};

/// Magic number of an item with one value.
const ONE: u16 = (0o11 << 8) + 0o222;
/// Magic number of an item with dimensions.
const MANY: u16 = (0o13 << 8) + 0o222;
/// Maximum length of a name in bytes, with its zero byte: the limit of NEMO.
const LONGEST_NAME: u64 = 65;
/// Maximum number of dimensions: the limit of NEMO.
const MAX_DIMENSIONS: usize = 9;
/// Maximum depth of nested sets: the limit of NEMO.
const DEEPEST: usize = 16;

/// Returns the byte order of a file that starts with an item, true for big-endian; [`None`] for other files.
pub(super) fn byte_order(head: &[u8]) -> Option<bool> {
    let &[a, b, kind, 0, ..] = head else { return None };
    let big_endian = match (u16::from_le_bytes([a, b]), u16::from_be_bytes([a, b])) {
        (ONE | MANY, _) => false,
        (_, ONE | MANY) => true,
        _ => return None,
    };
    size_of(kind).map(|_| big_endian)
}

/// Returns the size of a value of the given type in bytes; 0 for brackets; [`None`] for an unknown type.
fn size_of(kind: u8) -> Option<u64> {
    Some(match kind {
        b'a' | b'c' | b'b' => 1,
        b's' | b'h' => 2,
        b'i' | b'f' => 4,
        b'l' | b'd' => 8,
        b'(' | b')' | b'[' | b']' => 0,
        _ => return None,
    })
}

/// Item with values.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    /// Names of the enclosing sets and of the item, joined by `/`.
    pub(super) path: String,
    /// Type: `f`, `d`, `i`, …
    pub(super) kind: u8,
    /// Dimensions; empty for a single value.
    pub(super) shape: Vec<u64>,
    /// Offset of its values in bytes.
    at: u64,
}

impl Item {
    /// Returns the number of values.
    pub(super) fn values(&self) -> u64 {
        self.shape.iter().fold(1, |n: u64, &k| n.saturating_mul(k))
    }
}

/// Reader of the items of a file.
pub(super) struct Items<R> {
    file: BufReader<R>,
    length: u64,
    big_endian: bool,
    open: Vec<String>,
}

/// Returns an error about the content of the file.
fn wrong<T>(problem: impl Into<String>) -> Result<T> {
    Err(std::io::Error::new(std::io::ErrorKind::InvalidData, problem.into()))
}

impl<R: Read + Seek> Items<R> {
    /// Creates a reader for a file of `length` bytes.
    pub(super) fn new(file: R, length: u64, big_endian: bool) -> Self {
        Self { file: BufReader::new(file), length, big_endian, open: Vec::new() }
    }

    /// Returns the next item with values, skipping the begin and end of sets; [`None`] at the end of the file. Calls
    /// `closed` with the path of each set that ends before the item.
    pub(super) fn next(&mut self, mut closed: impl FnMut(&str)) -> Result<Option<Item>> {
        loop {
            let start = self.file.stream_position()?;
            if start >= self.length {
                return match self.open.last() {
                    None => Ok(None),
                    Some(set) => wrong(format!("the file ends inside the set {set}: it is truncated")),
                };
            }
            let (kind, shape, name) = self.header(start)?;
            match kind {
                b'(' | b'[' if self.open.len() == DEEPEST => {
                    return wrong(format!("byte {start}: sets more than {DEEPEST} deep"));
                }
                b'(' | b'[' => self.open.push(name),
                b')' | b']' => {
                    closed(&self.open.join("/"));
                    if self.open.pop().is_none() {
                        return wrong(format!("byte {start}: the end of a set without its begin"));
                    }
                }
                _ => {
                    let at = self.file.stream_position()?;
                    let mut path = self.open.clone();
                    path.push(name);
                    let item = Item { path: path.join("/"), kind, shape, at };
                    self.skip(&item)?;
                    return Ok(Some(item));
                }
            }
        }
    }

    /// Reads type, dimensions and name of the item at `start`.
    fn header(&mut self, start: u64) -> Result<(u8, Vec<u64>, String)> {
        let magic = self.two()?;
        if magic != ONE && magic != MANY {
            return wrong(format!("byte {start}: expected an item, found {magic:#06x}"));
        }
        let kind = match self.name()?.as_bytes() {
            &[kind] if size_of(kind).is_some() => kind,
            other => return wrong(format!("byte {start}: {other:?} is not a type of NEMO")),
        };
        let name = if matches!(kind, b')' | b']') { String::new() } else { self.name()? };
        let shape = if magic == MANY { self.dimensions(&name)? } else { Vec::new() };
        Ok((kind, shape, name))
    }

    /// Reads dimensions up to a zero.
    fn dimensions(&mut self, name: &str) -> Result<Vec<u64>> {
        let mut shape = Vec::new();
        loop {
            match u64::try_from(self.four()?) {
                Ok(0) => return Ok(shape),
                Ok(n) if shape.len() < MAX_DIMENSIONS => shape.push(n),
                _ => return wrong(format!("{name}: expected at most {MAX_DIMENSIONS} dimensions above zero")),
            }
        }
    }

    /// Skips the values of an item after checking that they are in the file.
    fn skip(&mut self, item: &Item) -> Result<()> {
        let bytes = item.values().saturating_mul(size_of(item.kind).unwrap_or(0));
        let left = self.length.saturating_sub(item.at);
        if bytes > left {
            return wrong(format!("{} announces {bytes} bytes, but {left} are left: the file is truncated", item.path));
        }
        self.file.seek(SeekFrom::Start(item.at + bytes)).map(|_| ())
    }

    /// Reads the values of an item of floating-point numbers or integers.
    pub(super) fn read(&mut self, item: &Item) -> Result<Vec<f64>> {
        self.skip(item)?;
        self.file.seek(SeekFrom::Start(item.at))?;
        let mut values = Vec::with_capacity(item.values() as usize);
        for _ in 0..item.values() {
            values.push(match item.kind {
                b'f' => f64::from(f32::from_bits(self.four()? as u32)),
                b'd' => f64::from_bits(self.eight()?),
                b'i' => f64::from(self.four()?),
                b'l' => self.eight()? as i64 as f64,
                b's' => f64::from(self.two()? as i16),
                kind => return wrong(format!("{}: expected numbers, found the type {}", item.path, char::from(kind))),
            });
        }
        Ok(values)
    }

    fn two(&mut self) -> Result<u16> {
        let mut bytes = [0; 2];
        self.file.read_exact(&mut bytes)?;
        Ok(if self.big_endian { u16::from_be_bytes(bytes) } else { u16::from_le_bytes(bytes) })
    }

    fn four(&mut self) -> Result<i32> {
        let mut bytes = [0; 4];
        self.file.read_exact(&mut bytes)?;
        Ok(if self.big_endian { i32::from_be_bytes(bytes) } else { i32::from_le_bytes(bytes) })
    }

    fn eight(&mut self) -> Result<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact(&mut bytes)?;
        Ok(if self.big_endian { u64::from_be_bytes(bytes) } else { u64::from_le_bytes(bytes) })
    }

    /// Reads text up to a zero byte.
    fn name(&mut self) -> Result<String> {
        let mut bytes = Vec::new();
        self.file.by_ref().take(LONGEST_NAME).read_until(0, &mut bytes)?;
        match (bytes.pop(), String::from_utf8(bytes)) {
            (Some(0), Ok(name)) => Ok(name),
            _ => wrong("expected the name of an item of at most 64 bytes: the file is damaged"),
        }
    }
}

/// Writer of items, little-endian.
#[derive(Default)]
pub(super) struct ItemWriter(pub(super) Vec<u8>);

impl ItemWriter {
    /// Writes the header of an item.
    pub(super) fn item(&mut self, kind: u8, name: &str, shape: &[u32]) {
        self.0.extend(if shape.is_empty() { ONE } else { MANY }.to_le_bytes());
        self.0.extend([kind, 0]);
        if !matches!(kind, b')' | b']') {
            self.0.extend(name.as_bytes());
            self.0.push(0);
        }
        if !shape.is_empty() {
            shape.iter().chain(&[0]).for_each(|k| self.0.extend(k.to_le_bytes()));
        }
    }

    /// Writes the begin of a set.
    pub(super) fn open(&mut self, name: &str) {
        self.item(b'(', name, &[]);
    }

    /// Writes the end of a set.
    pub(super) fn close(&mut self) {
        self.item(b')', "", &[]);
    }
}
