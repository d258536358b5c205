//! Loop of the worker: reads messages and answers them until AMUSE stops it.

use crate::code::Code;
use crate::dispatch;
use crate::functions::Table;
use crate::message::{Message, ReadError};
use std::io::{self, Read, Write};

/// Id of the function that stops the worker.
pub const STOP: i32 = 0;

/// Answers one message.
#[must_use]
pub fn answer(code: &mut Code, table: &Table, message: &Message) -> Message {
    match table.get(message.function) {
        _ if message.function == STOP => dispatch::head(message),
        Some(function) => dispatch::call(code, function.name, &function.handler, message),
        None => dispatch::error(message, &format!("unknown function id {}", message.function)),
    }
}

/// Answers messages until AMUSE stops the worker or closes the connection. What is no message is answered too, as far as
/// its header can be read; then the connection is of no more use.
///
/// # Errors
/// If the connection breaks, or for what is no message.
pub fn serve(connection: &mut (impl Read + Write)) -> io::Result<()> {
    let (mut code, table) = (Code::default(), Table::default());
    loop {
        let message = match Message::read(connection) {
            Ok(message) => message,
            Err(ReadError::Closed) => return Ok(()),
            Err(ReadError::Io(error)) => return Err(error),
            Err(ReadError::Malformed { call, function, order, problem }) => {
                let asked = Message { order, call, function, count: 1, ..Message::default() };
                dispatch::error(&asked, &problem).write(connection)?;
                return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
            }
        };
        answer(&mut code, &table, &message).write(connection)?;
        if message.function == STOP {
            return Ok(());
        }
    }
}
