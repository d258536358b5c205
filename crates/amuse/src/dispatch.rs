//! Functions as the worker calls them: what a function does, by its arguments, and the reply to a message.

use crate::code::Code;
use crate::columns::{Arguments, Failure, Outcome, Outputs, Type};
use crate::message::Message;
use std::panic::{AssertUnwindSafe, catch_unwind};

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
        let n = a.count();
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
