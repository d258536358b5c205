//! Commands that have another name since an earlier version.

use clap::error::ErrorKind;
use std::borrow::Cow;
use std::ffi::OsString;
use tisane::error::Error;

/// Names of earlier versions with the commands that they stand for.
const MOVED: [(&str, &str); 4] = [
    ("schema", "generate schema"),
    ("completions", "generate completions"),
    ("man", "generate man"),
    ("model", "bench model"),
];

/// Returns the error that names the new command, if `error` is about an old one in `arguments`, the words of the
/// command line without the program.
pub fn explain(error: &clap::Error, arguments: impl Iterator<Item = OsString>) -> Option<Error> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let words: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    // The options before a command take no values.
    let mut commands = words.iter().enumerate().filter(|(_, word)| !word.starts_with('-'));
    let (place, word) = commands.find(|(_, word)| *word != "help")?;
    let (old, new) = MOVED.into_iter().find(|(old, _)| old == word)?;
    let new_words = words.iter().enumerate().map(|(k, word)| if k == place { Cow::from(new) } else { quoted(word) });
    let command = new_words.collect::<Vec<_>>().join(" ");
    let problem = format!("this command is now `tisane {new}`");
    Some(Error::input(format!("tisane {old}"), problem).with_help(format!("write `tisane {command}`")))
}

/// Returns a word as it is written in a shell.
fn quoted(word: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;
    use clap::{CommandFactory, Parser};

    fn explained(arguments: &[&str]) -> Option<String> {
        let error = Cli::try_parse_from([&["tisane"], arguments].concat()).unwrap_err();
        let found = explain(&error, arguments.iter().map(OsString::from))?;
        assert_eq!(found.exit_code(), 2);
        Some(format!("{found}; {}", found.advice().unwrap()))
    }

    #[test]
    fn an_old_command_is_answered_with_the_new_one_and_its_arguments() {
        for (arguments, answer) in [
            (
                &["schema"][..],
                "tisane schema: this command is now `tisane generate schema`; write `tisane generate schema`",
            ),
            (&["man"], "tisane man: this command is now `tisane generate man`; write `tisane generate man`"),
            (
                &["completions", "bash"],
                "tisane completions: this command is now `tisane generate completions`; \
                 write `tisane generate completions bash`",
            ),
            (
                &["-q", "model", "--fit", "my model's"],
                "tisane model: this command is now `tisane bench model`; \
                 write `tisane -q bench model --fit 'my model'\\''s'`",
            ),
            (
                &["help", "schema"],
                "tisane schema: this command is now `tisane generate schema`; write `tisane help generate schema`",
            ),
        ] {
            assert_eq!(explained(arguments).as_deref(), Some(answer));
        }
        for arguments in [&["shema"][..], &["run"], &["bench", "man"], &["plot", "--schema"]] {
            assert_eq!(explained(arguments), None, "{arguments:?}");
        }
    }

    #[test]
    fn new_commands_exist_and_old_ones_do_not() {
        let command = Cli::command();
        for (old, new) in MOVED {
            assert!(command.find_subcommand(old).is_none(), "{old}");
            let found = new.split(' ').try_fold(&command, |command, name| command.find_subcommand(name));
            assert!(found.is_some(), "{new}");
        }
    }
}
