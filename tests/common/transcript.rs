//! What the program prints, compared as a whole with a reviewed text in `crates/cli/tests/snapshots` (insta).

#![allow(dead_code, reason = "each test file uses its own part")]

use crate::program::{Folder, Said, finish};
use std::process::Command;

/// What differs between machines, builds and runs, and what stands in the reviewed text instead.
const VARYING: [(&str, &str); 11] = [
    (r"(?m)^tisane \d+\.\d+\.\d+ \(.*\)$", "tisane [VERSION]"),
    (r"(?m)^(written by|built|machine)( +).*$", "${1}${2}[MACHINE]"),
    (r"process \d+ on [^ ,]+, since [^ \n]+", "process [PROCESS]"),
    (r"(?:/[\w.-]+)*/\.tmp\w{6}", "[FOLDER]"),
    (r"\d+\.\d+ [KMGT]iB", "[SIZE]"),
    (r"(?m)^ *CPU time.*\n(?: {23}.*\n)*", ""),
    (r"(?m)^( *(?:wall time|time of member 0) +).*$(?:\n {23}.*$)*", "${1}[WALL TIME]"),
    (r"(?m)^(  (?:wall_seconds|pairs_per_second) +).*$", "${1}[WALL TIME]"),
    (r"(?m)^bytes ( +)\d+$", "bytes ${1}[SIZE]"),
    (r"and [^,]+ at the present rate", "and [WALL TIME] at the present rate"),
    (r"at least [\d.e]+ \w+ on the CPU", "at least [WALL TIME] on the CPU"),
];

/// Commands with their exit codes and all that they printed.
#[derive(Default)]
pub struct Transcript {
    text: String,
}

impl Transcript {
    /// Runs the program in a folder.
    pub fn tisane(&mut self, folder: &Folder, arguments: &[&str]) -> Said {
        self.command(&arguments.join(" "), folder.command(arguments))
    }

    /// Runs a command, named in the transcript by its arguments.
    pub fn command(&mut self, arguments: &str, command: Command) -> Said {
        let said = finish(command);
        assert!(!said.err.contains("panicked"), "{arguments}\n{}", said.err);
        self.add(&format!("$ tisane {arguments}"), &said);
        said
    }

    /// Takes down what was said, under a title.
    pub fn add(&mut self, title: &str, said: &Said) {
        let code = if said.code == 0 { String::new() } else { format!("[exit code {}]\n", said.code) };
        self.push(title, &format!("{}{}{code}", said.out, joined(&said.err)));
    }

    /// Takes down a text, under a title.
    pub fn note(&mut self, title: &str, text: &str) {
        self.push(title, &joined(text));
    }

    fn push(&mut self, title: &str, text: &str) {
        let separator = if self.text.is_empty() { "" } else { "\n" };
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        self.text += &format!("{separator}{title}\n{text}{end}");
    }

    /// Asserts that all of it is the reviewed text of this name. `INSTA_UPDATE=always cargo test` writes the text anew, to be
    /// read in the difference before it is committed; no test run does so by itself.
    #[track_caller]
    pub fn is(self, name: &str) {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/snapshots"));
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        for (pattern, instead) in VARYING {
            settings.add_filter(pattern, instead);
        }
        settings.bind(|| insta::assert_snapshot!(name, self.text));
    }
}

/// Joins the lines of a report that names a temporary folder: it breaks them by the length of the name, which is another on
/// another machine.
fn joined(text: &str) -> String {
    if text.contains("/.tmp") { text.replace("\n       ", " ").replace("\n      ", " ") } else { text.to_owned() }
}
