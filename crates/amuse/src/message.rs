//! Messages of AMUSE's sockets channel: a header of 44 bytes, then arrays ordered by type.
//!
//! The header has four bytes of flags (numbers are big-endian, the message is an error, units follow, unused) and ten
//! int32: the id of the call, the id of the function, the number of calls in the message, and the lengths of the seven
//! arrays that follow: int32, int64, float32, float64, bool (a byte), strings (lengths in int32, then bytes, each string
//! followed by a zero), and float64 that encode units.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};

/// Most elements that memory is reserved for before they have arrived: the lengths in a header are not trusted.
const CHUNK: usize = 1 << 16;
/// Bytes of a header.
const HEADER: usize = 44;
/// Arrays of a message, each with its length in the header.
const ARRAYS: usize = 7;

/// Order of the bytes of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Least significant byte first.
    #[default]
    Little,
    /// Most significant byte first.
    Big,
}

/// Message of the channel, in either direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Message {
    /// Order of the bytes in the message.
    pub order: Order,
    /// Flag that says that the message reports an error, whose text is the first string.
    pub error: bool,
    /// Id of the call, which the reply repeats.
    pub call: i32,
    /// Id of the function, which the reply repeats.
    pub function: i32,
    /// Number of calls in the message.
    pub count: i32,
    /// All values of type int32, argument by argument.
    pub ints: Vec<i32>,
    /// All values of type int64.
    pub longs: Vec<i64>,
    /// All values of type float32.
    pub floats: Vec<f32>,
    /// All values of type float64.
    pub doubles: Vec<f64>,
    /// All values of type bool.
    pub bools: Vec<bool>,
    /// All strings.
    pub strings: Vec<String>,
    /// Units of the arguments, nine numbers each, in functions that have units.
    pub units: Vec<f64>,
}

/// Failure to read a message, after which the place in the stream is unknown.
#[derive(Debug)]
pub enum ReadError {
    /// The other side closed the connection between two messages.
    Closed,
    /// The connection broke.
    Io(io::Error),
    /// The bytes are not a message. The ids of call and function are those of the header.
    Malformed {
        /// Id of the call.
        call: i32,
        /// Id of the function.
        function: i32,
        /// Order of the bytes.
        order: Order,
        /// Description of the problem.
        problem: String,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the connection was closed"),
            Self::Io(error) => write!(f, "the connection broke: {error}"),
            Self::Malformed { problem, .. } => f.write_str(problem),
        }
    }
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Number as it is on the wire.
trait Number: Copy {
    const SIZE: usize;
    fn decode(bytes: &[u8], order: Order) -> Self;
    fn encode(self, order: Order, to: &mut Vec<u8>);
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Number for $number {
            const SIZE: usize = size_of::<Self>();

            fn decode(bytes: &[u8], order: Order) -> Self {
                let mut array = [0; Self::SIZE];
                array.copy_from_slice(bytes);
                match order {
                    Order::Little => Self::from_le_bytes(array),
                    Order::Big => Self::from_be_bytes(array),
                }
            }

            fn encode(self, order: Order, to: &mut Vec<u8>) {
                match order {
                    Order::Little => to.extend(self.to_le_bytes()),
                    Order::Big => to.extend(self.to_be_bytes()),
                }
            }
        }
    )*};
}
numbers!(u8, i32, i64, f32, f64);

impl Message {
    /// Reads a message. Memory is reserved for bytes that have arrived, not for the lengths in the header.
    ///
    /// # Errors
    /// [`ReadError`]; the stream cannot be used afterwards.
    pub fn read(from: &mut impl Read) -> Result<Self, ReadError> {
        let header = read_header(from)?;
        let order = if header[0] == 0 { Order::Little } else { Order::Big };
        let field = |k: usize| i32::decode(&header[4 + 4 * k..8 + 4 * k], order);
        let [call, function, count] = [0, 1, 2].map(field);
        let malformed = |problem: String| ReadError::Malformed { call, function, order, problem };
        let mut lengths = [0; ARRAYS];
        for (k, length) in lengths.iter_mut().enumerate() {
            let claimed = field(3 + k);
            *length = usize::try_from(claimed).map_err(|_| malformed(format!("an array has the length {claimed}")))?;
        }
        let [ints, longs, floats, doubles, bools, strings, units] = lengths;
        Ok(Self {
            order,
            error: header[1] != 0,
            call,
            function,
            count,
            ints: read_numbers(from, ints, order)?,
            longs: read_numbers(from, longs, order)?,
            floats: read_numbers(from, floats, order)?,
            doubles: read_numbers(from, doubles, order)?,
            bools: read_numbers::<u8>(from, bools, order)?.iter().map(|&byte| byte != 0).collect(),
            strings: read_strings(from, strings, order, malformed)?,
            units: read_numbers(from, units, order)?,
        })
    }

    /// Writes the message.
    ///
    /// # Errors
    /// If the connection breaks, or if an array or a string has more than 2³¹ - 1 elements.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let order = self.order;
        let flags = [order == Order::Big, self.error, !self.units.is_empty(), false];
        let mut bytes: Vec<u8> = flags.map(u8::from).into();
        let lengths = [
            self.ints.len(),
            self.longs.len(),
            self.floats.len(),
            self.doubles.len(),
            self.bools.len(),
            self.strings.len(),
            self.units.len(),
        ];
        [self.call, self.function, self.count].iter().for_each(|number| number.encode(order, &mut bytes));
        for length in lengths {
            int32(length)?.encode(order, &mut bytes);
        }
        encode(&self.ints, order, &mut bytes);
        encode(&self.longs, order, &mut bytes);
        encode(&self.floats, order, &mut bytes);
        encode(&self.doubles, order, &mut bytes);
        bytes.extend(self.bools.iter().map(|&value| u8::from(value)));
        for text in &self.strings {
            int32(text.len())?.encode(order, &mut bytes);
        }
        for text in &self.strings {
            bytes.extend(text.as_bytes());
            bytes.push(0);
        }
        encode(&self.units, order, &mut bytes);
        to.write_all(&bytes)
    }
}

fn int32(length: usize) -> io::Result<i32> {
    i32::try_from(length).map_err(|_| io::Error::new(ErrorKind::InvalidInput, "an array is too long for a message"))
}

fn encode<T: Number>(values: &[T], order: Order, to: &mut Vec<u8>) {
    to.reserve(values.len() * T::SIZE);
    values.iter().for_each(|value| value.encode(order, to));
}

/// Reads the header; a connection that ends before its first byte was closed in good order.
fn read_header(from: &mut impl Read) -> Result<[u8; HEADER], ReadError> {
    let mut header = [0; HEADER];
    let first = loop {
        match from.read(&mut header) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Ok(0) => return Err(ReadError::Closed),
            other => break other?,
        }
    };
    from.read_exact(&mut header[first..])?;
    Ok(header)
}

fn read_numbers<T: Number>(from: &mut impl Read, count: usize, order: Order) -> io::Result<Vec<T>> {
    let (mut values, mut left) = (Vec::new(), count);
    let mut bytes = vec![0; count.min(CHUNK) * T::SIZE];
    while left > 0 {
        let now = left.min(CHUNK);
        let part = &mut bytes[..now * T::SIZE];
        from.read_exact(part)?;
        values.extend(part.chunks_exact(T::SIZE).map(|number| T::decode(number, order)));
        left -= now;
    }
    Ok(values)
}

fn read_strings(
    from: &mut impl Read,
    count: usize,
    order: Order,
    malformed: impl Fn(String) -> ReadError,
) -> Result<Vec<String>, ReadError> {
    let lengths: Vec<i32> = read_numbers(from, count, order)?;
    let mut strings = Vec::with_capacity(lengths.len());
    for claimed in lengths {
        let length = usize::try_from(claimed).map_err(|_| malformed(format!("a string has the length {claimed}")))?;
        let mut bytes: Vec<u8> = read_numbers(from, length, order)?;
        let zero: Vec<u8> = read_numbers(from, 1, order)?;
        if zero != [0] {
            return Err(malformed("a string does not end with a zero".to_owned()));
        }
        bytes.shrink_to_fit();
        strings.push(String::from_utf8(bytes).map_err(|_| malformed("a string is not UTF-8".to_owned()))?);
    }
    Ok(strings)
}
