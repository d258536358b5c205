//! `tisane schema`, `tisane completions`, `tisane man`: generated from the definitions that the program itself uses.

use super::print;
use tisane::error::{Error, Result};
use tisane_lab::study::config::{CostFile, EnergyFile, ForceFile};
use tisane_run::config::{json_schema, schema_of};

/// Files that have a schema.
pub const FILES: [&str; 4] = ["run", "study-force", "study-energy", "study-cost"];

pub fn schema(of: &str) -> Result<u8> {
    let schema = match of {
        "study-force" => schema_of::<ForceFile>(),
        "study-energy" => schema_of::<EnergyFile>(),
        "study-cost" => schema_of::<CostFile>(),
        _ => json_schema(),
    };
    print(&format!("{schema:#}\n"))
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
