//! Promise: messages of AMUSE's channel are read as they were written, in either order of bytes, and what is no message
//! ends in an error, and reserves no memory for lengths that it only claims.

use proptest::prelude::*;
use tisane_amuse::message::{Message, Order, ReadError};

fn bytes(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    message.write(&mut bytes).expect("memory to write to");
    bytes
}

fn read(bytes: &[u8]) -> Result<Message, ReadError> {
    Message::read(&mut &bytes[..])
}

fn a_message() -> Message {
    Message {
        call: 7,
        function: 416_721_977,
        count: 1,
        ints: vec![1, -2],
        longs: vec![1 << 40],
        floats: vec![0.5],
        doubles: vec![0.1, f64::NEG_INFINITY],
        bools: vec![true, false, true],
        strings: vec!["größe".into(), String::new()],
        units: vec![1.0; 9],
        ..Message::default()
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        big in any::<bool>(),
        error in any::<bool>(),
        [call, function, count] in any::<[i32; 3]>(),
        ints in prop::collection::vec(any::<i32>(), 0..40),
        longs in prop::collection::vec(any::<i64>(), 0..40),
        doubles in prop::collection::vec(-1e300..1e300f64, 0..40),
        bools in prop::collection::vec(any::<bool>(), 0..40),
        strings in prop::collection::vec(".{0,20}", 0..10),
    ) {
        let order = if big { Order::Big } else { Order::Little };
        let message = Message { order, error, call, function, count, ints, longs, doubles, bools, strings, ..Message::default() };
        prop_assert_eq!(read(&bytes(&message)).expect("a message"), message);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }
}

#[test]
fn the_bytes_are_those_of_the_protocol() {
    let message =
        Message { call: 5, function: 44_188_957, count: 1, ints: vec![0], doubles: vec![1.5], ..Message::default() };
    let mut expected = vec![0, 0, 0, 0];
    for number in [5, 44_188_957, 1, 1, 0, 0, 1, 0, 0, 0, 0] {
        expected.extend(i32::to_le_bytes(number));
    }
    expected.extend(1.5f64.to_le_bytes());
    assert_eq!(bytes(&message), expected);
}

#[test]
fn strings_are_lengths_and_then_bytes_with_zeros() {
    let message = Message { strings: vec!["ab".into(), "c".into()], ..Message::default() };
    let bytes = bytes(&message);
    assert_eq!(bytes[44..], [2, 0, 0, 0, 1, 0, 0, 0, b'a', b'b', 0, b'c', 0]);
}

#[test]
fn a_message_that_is_cut_off_is_an_error() {
    let whole = bytes(&a_message());
    assert_eq!(read(&whole).expect("the whole message"), a_message());
    for length in 1..whole.len() {
        assert!(matches!(read(&whole[..length]), Err(ReadError::Io(_))), "{length} bytes");
    }
    assert!(matches!(read(&[]), Err(ReadError::Closed)));
}

#[test]
fn lengths_are_not_trusted() {
    // All bytes that a message claims to have do not come: no memory is taken for them.
    for array in 0..7 {
        let mut claims = bytes(&Message::default());
        claims[16 + 4 * array..20 + 4 * array].copy_from_slice(&i32::MAX.to_le_bytes());
        claims.extend([0; 100]);
        assert!(matches!(read(&claims), Err(ReadError::Io(_))), "array {array}");
        claims[16 + 4 * array..20 + 4 * array].copy_from_slice(&(-1i32).to_le_bytes());
        let Err(ReadError::Malformed { problem, .. }) = read(&claims) else { panic!("array {array} was read") };
        assert_eq!(problem, "an array has the length -1");
    }
}

#[test]
fn strings_are_checked() {
    let message = Message { strings: vec!["ab".into()], ..Message::default() };
    let good = bytes(&message);
    for (at, byte, expected) in [
        (47, 0x80, "a string has the length"),
        (48, 0xff, "a string is not UTF-8"),
        (50, 1, "does not end with a zero"),
    ] {
        let mut bad = good.clone();
        bad[at] = byte;
        let Err(ReadError::Malformed { problem, .. }) = read(&bad) else { panic!("{expected}: was read") };
        assert!(problem.contains(expected), "{problem}");
    }
}
