//! `tisane schema`, `tisane completions`, `tisane man`: generated from the definitions that the program itself uses.

use super::print;
use crate::config::json_schema;
use crate::error::{Error, Result};

pub fn schema() -> Result<u8> {
    print(&format!("{:#}\n", json_schema()))
}

pub fn completions(shell: clap_complete::Shell, command: &mut clap::Command) -> Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, command, "tisane", &mut script);
    print(&String::from_utf8_lossy(&script))
}

pub fn man(command: clap::Command) -> Result<u8> {
    let mut page = Vec::new();
    let written = clap_mangen::Man::new(command.clone()).render(&mut page);
    written.map_err(|e| Error::storage("the manual page", e))?;
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        let verb = verb.clone().name(format!("tisane {}", verb.get_name()));
        clap_mangen::Man::new(verb).render(&mut page).map_err(|e| Error::storage("the manual page", e))?;
    }
    print(&String::from_utf8_lossy(&page))
}
