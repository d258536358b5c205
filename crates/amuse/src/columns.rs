//! Calls of a message: their arguments as columns, and the columns of the reply.

use crate::message::Message;
use std::fmt;

/// Result of a function, for all calls of a message at once.
pub type Outcome<T = ()> = Result<T, Failure>;

/// Return value of a function for one call, as AMUSE's interfaces document them; zero is success.
pub type Status = i32;
/// Status of a call that succeeded.
pub const OK: Status = 0;
/// Status of a call with an index that no particle has, or an argument out of range.
pub const NOT_FOUND: Status = -1;

/// Failure of all calls of a message, with a text for the user: AMUSE raises it as a `CodeException`.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Type of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// int32.
    Int,
    /// float64.
    Double,
    /// bool.
    Bool,
    /// string.
    Text,
}

impl Type {
    /// Name in AMUSE's specifications.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "int32",
            Self::Double => "float64",
            Self::Bool => "bool",
            Self::Text => "string",
        }
    }
}

/// Arguments of the calls of a message, by type: the `k`th argument of a type in call `i`.
pub struct Arguments<'a> {
    message: &'a Message,
    count: usize,
}

impl<'a> Arguments<'a> {
    /// Returns the arguments of a message, whose arrays must be those of a function with these inputs.
    pub(crate) fn of(message: &'a Message, name: &str, inputs: &[Type]) -> Outcome<Self> {
        let count =
            usize::try_from(message.count).map_err(|_| Failure(format!("{} calls of {name}", message.count)))?;
        let arrays = [
            (Some(Type::Int), message.ints.len(), "int32"),
            (Some(Type::Double), message.doubles.len(), "float64"),
            (Some(Type::Bool), message.bools.len(), "bool"),
            (Some(Type::Text), message.strings.len(), "string"),
            (None, message.longs.len(), "int64"),
            (None, message.floats.len(), "float32"),
        ];
        for (kind, given, type_name) in arrays {
            let each = inputs.iter().filter(|&&input| Some(input) == kind).count();
            if each.checked_mul(count) != Some(given) {
                return Err(Failure(format!(
                    "{name} takes {each} arguments of type {type_name} in each of {count} calls, and the message has \
                     {given} values"
                )));
            }
        }
        Ok(Self { message, count })
    }

    /// Number of calls.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns all values of the `k`th argument of type int32.
    #[must_use]
    pub fn ints(&self, k: usize) -> &'a [i32] {
        &self.message.ints[k * self.count..(k + 1) * self.count]
    }

    /// Returns all values of the `k`th argument of type float64.
    #[must_use]
    pub fn doubles(&self, k: usize) -> &'a [f64] {
        &self.message.doubles[k * self.count..(k + 1) * self.count]
    }

    /// Returns the values of call `i` of `N` arguments of type float64, from the `k`th on.
    #[must_use]
    pub fn vector<const N: usize>(&self, k: usize, i: usize) -> [f64; N] {
        std::array::from_fn(|axis| self.message.doubles[(k + axis) * self.count + i])
    }

    /// Returns all values of the only argument of type bool.
    #[must_use]
    pub fn bools(&self) -> &'a [bool] {
        &self.message.bools
    }

    /// Returns all values of the only argument of type string.
    #[must_use]
    pub fn texts(&self) -> &'a [String] {
        &self.message.strings
    }
}

/// Outputs of the calls of a message: arrays argument by argument, as they are sent.
#[derive(Debug, Default, PartialEq)]
pub struct Outputs {
    /// Return value of each call.
    pub status: Vec<Status>,
    /// Outputs of type int32.
    pub ints: Vec<i32>,
    /// Outputs of type float64.
    pub doubles: Vec<f64>,
    /// Outputs of type bool.
    pub bools: Vec<bool>,
    /// Outputs of type string.
    pub strings: Vec<String>,
}

impl Outputs {
    /// Success of `count` calls without outputs.
    #[must_use]
    pub fn ok(count: usize) -> Self {
        Self { status: vec![OK; count], ..Self::default() }
    }

    /// Calls `call` for each of `count` calls; outputs are `N` numbers of type float64, zero where the call failed.
    pub fn doubles<const N: usize>(count: usize, mut call: impl FnMut(usize) -> Result<[f64; N], Status>) -> Self {
        let mut outputs = Self { doubles: vec![0.0; N * count], ..Self::ok(count) };
        for i in 0..count {
            match call(i) {
                Ok(values) => (0..N).for_each(|k| outputs.doubles[k * count + i] = values[k]),
                Err(status) => outputs.status[i] = status,
            }
        }
        outputs
    }

    /// Calls `call` for each of `count` calls; outputs are `N` numbers of type int32, zero where the call failed.
    pub fn ints<const N: usize>(count: usize, mut call: impl FnMut(usize) -> Result<[i32; N], Status>) -> Self {
        let mut outputs = Self { ints: vec![0; N * count], ..Self::ok(count) };
        for i in 0..count {
            match call(i) {
                Ok(values) => (0..N).for_each(|k| outputs.ints[k * count + i] = values[k]),
                Err(status) => outputs.status[i] = status,
            }
        }
        outputs
    }

    /// Calls `call` for each of `count` calls without outputs.
    pub fn statuses(count: usize, mut call: impl FnMut(usize) -> Result<(), Status>) -> Self {
        Self::ints(count, |i| call(i).map(|()| []))
    }
}
