//! Messages to the worker of AMUSE.

use tisane_amuse::message::{Message, ReadError};

/// Messages as they come over the wire, one after the other: each is read and written again with the same bytes, and
/// what is no message is an error that says something.
pub fn messages(bytes: &[u8]) {
    let mut rest = bytes;
    loop {
        let before = rest;
        match Message::read(&mut rest) {
            Ok(message) => {
                let mut written = Vec::new();
                message.write(&mut written).expect("memory");
                let read = Message::read(&mut written.as_slice()).expect("the same message");
                let mut again = Vec::new();
                read.write(&mut again).expect("memory");
                assert_eq!(written, again, "{message:?}");
                assert_eq!(written.len(), before.len() - rest.len(), "{message:?}");
            }
            Err(ReadError::Closed) => return,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                return;
            }
        }
    }
}
