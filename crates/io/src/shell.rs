//! Paths and texts as a shell takes them for one word, in commands for the user to copy.

use std::path::Path;

/// Returns a path as it is written in a shell: one that begins with a dash would be an option.
#[must_use]
pub fn argument(path: &Path) -> String {
    let text = path.display().to_string();
    quoted(&if text.starts_with('-') { format!("./{text}") } else { text })
}

/// Returns a text as a shell takes it for one word.
#[must_use]
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.into() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_takes_quoted_text_for_one_word() {
        for (text, expected) in
            [("runs/a-b.toml", "runs/a-b.toml"), ("a b", "'a b'"), ("it's", r"'it'\''s'"), ("", "''")]
        {
            assert_eq!(quoted(text), expected);
        }
        for (path, expected) in [("-dash/summary.json", "./-dash/summary.json"), ("-a b", "'./-a b'"), ("a", "a")] {
            assert_eq!(argument(Path::new(path)), expected);
        }
    }
}
