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
/// An engine is opened by an [`Order`](super::order::Order).
pub const OPEN_FORCES: u64 = 2;
pub const OPEN_ACCELERATIONS: u64 = 3;
/// Messages for an engine follow (see [`tisane::force::split::message`]); answered by columns.
pub const WORK: u64 = 4;
/// As [`WORK`], by particles with lists of neighbours: answers may be longer from here on, and their length is agreed on.
pub const WORK_WITH_LISTS: u64 = 7;
/// An engine is not needed any more; not answered.
pub const CLOSE: u64 = 5;
/// Members of an ensemble are dealt from here on, in rounds of [`DEAL`], to the last of them.
pub const MEMBERS: u64 = 8;
pub const DEAL: u64 = 9;
/// The ranks end; not answered.
pub const END: u64 = 6;

/// Bytes of an answer before its content: 0 or 1 for an error, whose text follows; 1 if the rank was asked to stop.
pub const ANSWER: usize = 16;
/// Longest text of an answer.
pub const TEXT: usize = 4096;
/// Most bytes of an answer to [`DEAL`].
pub const ANSWER_OF_MEMBERS: usize = 4 << 20;

/// Returns words that hold bytes, with their number before them.
pub fn words_of(bytes: &[u8]) -> Vec<u64> {
    let words = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    });
    std::iter::once(bytes.len() as u64).chain(words).collect()
}

/// Returns the bytes that words hold; [`None`] if they hold fewer than they say.
pub fn bytes_of(words: &[u64]) -> Option<Vec<u8>> {
    let (&length, words) = words.split_first()?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    Some(bytes.get(..usize::try_from(length).ok()?)?.to_vec())
}

/// Returns version and commit of this program, which all ranks must share.
pub fn version() -> String {
    format!("{} ({})", provenance::version(), provenance::git_commit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back() {
        for text in ["", "a", "12345678", "Σ m x, nine"] {
            assert_eq!(bytes_of(&words_of(text.as_bytes())).as_deref(), Some(text.as_bytes()));
        }
        assert_eq!((bytes_of(&[]), bytes_of(&[9, 0])), (None, None));
    }
}
