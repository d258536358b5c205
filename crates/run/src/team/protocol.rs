//! Messages between the ranks of a team.
//!
//! Rank 0 broadcasts a header, and what it says follows. Each other rank answers every message but the last.

use tisane_io::provenance;

/// Words of a header: mark, kind of message, engine, length in words.
pub type Header = [u64; 4];
/// First word of a header, which another version of the messages would change: "tisane 1".
pub const MARK: u64 = u64::from_be_bytes(*b"tisane 1");

/// Rank 0 asks who is there: answered by [`about`].
pub const HELLO: u64 = 1;
/// An engine is opened by a JSON text with its length in bytes before it.
pub const OPEN_FORCES: u64 = 2;
pub const OPEN_ACCELERATIONS: u64 = 3;
/// Messages for an engine follow (see [`tisane::force::split::message`]); answered by columns.
pub const WORK: u64 = 4;
/// As [`WORK`], by particles with lists of neighbours: answers may be longer from here on, and their length is agreed on.
pub const WORK_WITH_LISTS: u64 = 7;
/// An engine is not needed any more; not answered.
pub const CLOSE: u64 = 5;
/// The ranks end; not answered.
pub const END: u64 = 6;

/// Bytes of an answer before its content: 0 or 1 for an error, whose text follows; 1 if the rank was asked to stop.
pub const ANSWER: usize = 16;
/// Longest text of an answer.
pub const TEXT: usize = 4096;

/// Returns the words of a text.
pub fn words_of(text: &str) -> Vec<u64> {
    let bytes = text.as_bytes();
    let words = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    });
    std::iter::once(bytes.len() as u64).chain(words).collect()
}

/// Returns the text of words; [`None`] if it is not one.
pub fn text_of(words: &[u64]) -> Option<String> {
    let (&length, words) = words.split_first()?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    String::from_utf8(bytes.get(..usize::try_from(length).ok()?)?.to_vec()).ok()
}

/// Returns version and commit of this program, which all ranks must share.
pub fn version() -> String {
    format!("{} ({})", provenance::version(), provenance::git_commit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        for text in ["", "a", "12345678", "Σ m x, nine"] {
            assert_eq!(text_of(&words_of(text)).as_deref(), Some(text));
        }
        assert_eq!((text_of(&[]), text_of(&[9, 0])), (None, None));
    }
}
