//! The verbs in groups: the list in `tisane --help`.

use clap::Command;
use clap::builder::StyledStr;
use clap::builder::styling::Styles;
use std::fmt::Write as _;

/// Groups of verbs in their order.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Run", &["init", "check", "run", "resume", "reproduce", "convert"]),
    ("Look", &["why", "inspect", "analyze", "plot", "movie", "view"]),
    ("Study", &["verify", "validate", "bench", "study", "advise", "stellar"]),
    ("Other", &["generate", "help"]),
];
/// Description of the verb that clap adds by itself.
const HELP: &str = "Print this message or the help of the given subcommand(s)";

/// Returns the template of the help of a command with all `verbs`: clap has headings for options alone, so the list of verbs is written here.
pub fn template(verbs: &Command) -> StyledStr {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut text = String::from("{about-with-newline}\n{usage-heading} {usage}\n");
    for (title, names) in GROUPS {
        let _ = write!(text, "\n{header}{title}:{header:#}\n");
        for name in names {
            let about = verbs.find_subcommand(name).and_then(Command::get_about).map(ToString::to_string);
            let about = about.unwrap_or_else(|| HELP.to_owned());
            let _ = writeln!(text, "  {literal}{name:<10}{literal:#} {about}");
        }
    }
    let _ = write!(text, "\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_verb_is_in_one_group() {
        let mut command = Cli::command();
        command.build();
        let mut verbs: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        let mut listed: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        verbs.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, verbs);
    }

    #[test]
    fn the_list_fits_a_terminal_of_80_columns() {
        let mut command = Cli::command();
        let help = command.render_help().to_string();
        for verb in command.get_subcommands() {
            let line = format!(
                "\n  {:<10} {}\n",
                verb.get_name(),
                verb.get_about().map(ToString::to_string).unwrap_or_default()
            );
            assert_eq!(help.matches(&line).count(), 1, "{line}\n{help}");
            assert!(line.chars().count() <= 82, "{line}");
        }
    }
}
