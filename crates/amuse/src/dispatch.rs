//! Calls: the arguments of a message as columns, and the columns of its reply.

use crate::code::Code;
use crate::message::Message;
use crate::parameters::explain;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

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

impl From<tisane::Error> for Failure {
    fn from(error: tisane::Error) -> Self {
        Self(explain(&error))
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
    fn of(message: &'a Message, name: &str, inputs: &[Type]) -> Outcome<Self> {
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

/// Work of a function. The types of its arguments follow from it, but for [`Handler::Batch`].
#[derive(Clone, Copy)]
pub enum Handler {
    /// Does something; no arguments.
    Command(fn(&mut Code) -> Outcome),
    /// Returns a number.
    GetDouble(fn(&mut Code) -> Outcome<f64>),
    /// Takes a number.
    SetDouble(fn(&mut Code, f64) -> Outcome),
    /// Returns a vector.
    GetVector(fn(&mut Code) -> Outcome<[f64; 3]>),
    /// Returns an integer.
    GetInt(fn(&mut Code) -> Outcome<i32>),
    /// Takes an integer.
    SetInt(fn(&mut Code, i32) -> Outcome),
    /// Returns a flag.
    GetBool(fn(&mut Code) -> Outcome<bool>),
    /// Takes a flag.
    SetBool(fn(&mut Code, bool) -> Outcome),
    /// Returns a text.
    GetText(fn(&mut Code) -> Outcome<String>),
    /// Takes a text.
    SetText(fn(&mut Code, &str) -> Outcome),
    /// Takes and returns columns.
    Batch {
        /// Types of the inputs, in order.
        inputs: &'static [Type],
        /// Types of the outputs after the return value, in order.
        outputs: &'static [Type],
        /// The work for all calls of a message.
        run: fn(&mut Code, &Arguments<'_>) -> Outcome<Outputs>,
    },
}

impl Handler {
    /// Types of the inputs, in order.
    #[must_use]
    pub fn inputs(&self) -> &'static [Type] {
        match self {
            Self::SetDouble(_) => &[Type::Double],
            Self::SetInt(_) => &[Type::Int],
            Self::SetBool(_) => &[Type::Bool],
            Self::SetText(_) => &[Type::Text],
            Self::Batch { inputs, .. } => inputs,
            _ => &[],
        }
    }

    /// Types of the outputs after the return value, in order.
    #[must_use]
    pub fn outputs(&self) -> &'static [Type] {
        match self {
            Self::GetDouble(_) => &[Type::Double],
            Self::GetVector(_) => &[Type::Double; 3],
            Self::GetInt(_) => &[Type::Int],
            Self::GetBool(_) => &[Type::Bool],
            Self::GetText(_) => &[Type::Text],
            Self::Batch { outputs, .. } => outputs,
            _ => &[],
        }
    }

    fn run(&self, code: &mut Code, a: &Arguments<'_>) -> Outcome<Outputs> {
        let n = a.count;
        let repeated = |value: f64| vec![value; n];
        let ok = Outputs::ok(n);
        Ok(match *self {
            Self::Command(run) => (0..n).try_for_each(|_| run(code)).map(|()| ok)?,
            Self::SetDouble(set) => a.doubles(0).iter().try_for_each(|&value| set(code, value)).map(|()| ok)?,
            Self::SetInt(set) => a.ints(0).iter().try_for_each(|&value| set(code, value)).map(|()| ok)?,
            Self::SetBool(set) => a.bools().iter().try_for_each(|&value| set(code, value)).map(|()| ok)?,
            Self::SetText(set) => a.texts().iter().try_for_each(|value| set(code, value)).map(|()| ok)?,
            Self::GetDouble(get) => Outputs { doubles: repeated(get(code)?), ..ok },
            Self::GetVector(get) => Outputs { doubles: get(code)?.map(repeated).concat(), ..ok },
            Self::GetInt(get) => Outputs { ints: vec![get(code)?; n], ..ok },
            Self::GetBool(get) => Outputs { bools: vec![get(code)?; n], ..ok },
            Self::GetText(get) => Outputs { strings: vec![get(code)?; n], ..ok },
            Self::Batch { run, .. } => run(code, a)?,
        })
    }
}

/// Answers a message by calling a function; a failure, or a panic within the function, becomes an error message.
#[must_use]
pub fn call(code: &mut Code, name: &str, handler: &Handler, message: &Message) -> Message {
    let outcome = Arguments::of(message, name, handler.inputs()).and_then(|arguments| {
        catch_unwind(AssertUnwindSafe(|| handler.run(code, &arguments))).unwrap_or_else(|_| {
            // What the simulation holds may be half done.
            code.discard();
            Err(Failure(format!("{name} failed in a way that it never should: please report it")))
        })
    });
    match outcome {
        Ok(Outputs { mut status, ints, doubles, bools, strings }) => {
            status.extend(ints);
            Message { ints: status, doubles, bools, strings, ..head(message) }
        }
        Err(Failure(text)) => error(message, &text),
    }
}

/// Returns an error message in reply to `message`.
#[must_use]
pub fn error(message: &Message, text: &str) -> Message {
    Message { error: true, strings: vec![text.to_owned()], ..head(message) }
}

/// Returns an empty reply.
#[must_use]
pub fn head(message: &Message) -> Message {
    let Message { order, call, function, count, .. } = *message;
    Message { order, call, function, count, ..Message::default() }
}
