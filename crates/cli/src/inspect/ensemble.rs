//! `tisane inspect DIR` and `tisane why DIR` of an ensemble: how far it is, what its members failed by, how to go on.

use super::run_directory::Page;
use std::collections::BTreeMap;
use std::path::Path;
use tisane::error::Result;
use tisane_io::checkpoint;
use tisane_io::directory::{CONFIG, IN_PROGRESS, MEMBERS, SERIES};
use tisane_io::fields::Journal;
use tisane_io::lock;
use tisane_io::table::{self, Table, Values};
use tisane_run::config::Config;
use tisane_run::ensemble::{Blueprint, Written};

/// Outcome of a member that an error ended.
const FAILED: &str = "failed";

/// Describes the directory of an ensemble in one screen.
///
/// # Errors
/// [`tisane::Error::Input`] if its tables cannot be read; [`tisane::Error::Config`] for its configuration.
pub fn describe(dir: &Path) -> Result<String> {
    let config = Config::from_file(dir.join(CONFIG), &[])?.config;
    let [csv, hdf5] = ["csv", "hdf5"].map(|ending| dir.join(format!("{MEMBERS}.{ending}")));
    // A kill in its first moments leaves a directory without tables.
    let there = csv.is_file() || hdf5.is_file();
    let table = if there { table::read_journal(&csv, &hdf5)? } else { Table::default() };
    let members = Members::new(&table);
    let mut page = Page::default();
    page.line("ensemble", format!("{} in {}", config.run.name, dir.display()));
    let shown = dir.display();
    let resume = format!("tisane resume {shown}");
    let counted = || Some(Blueprint::from_written(Written::read(dir).ok()?).ok()?.members.count());
    let all = members.all.or_else(counted);
    let is_whole = all == Some(members.outcomes.len() as u64);
    let next = if lock::in_use(dir) {
        page.line("state", format!("in progress: {}", lock::holder(dir).unwrap_or_default()));
        None
    } else if is_whole {
        page.line("state", "finished: all members have ended");
        None
    } else {
        let kept = checkpoint::count_members(&dir.join(IN_PROGRESS)).is_ok_and(|states| states > 0);
        page.line("state", "not finished: it was stopped or killed");
        let how = if kept { "goes on, with members in progress from their last states" } else { "goes on" };
        Some(format!("{resume}  {how}"))
    };
    let all = all.map_or_else(String::new, |all| format!(" of {all}"));
    page.line("members", format!("{}{all} have ended{}", members.outcomes.len(), members.by_outcome()));
    members.describe_failures(&mut page);
    if let Some(keys) = members.keys() {
        page.line("varied", keys);
    }
    if let Some(errors) = members.energy_errors() {
        page.line(
            "energy error",
            format!("largest of a member {:.3e} in the median, {:.3e} at most", errors.0, errors.1),
        );
    }
    let others = [
        (SERIES, "series.csv with every output"),
        (Journal::Stars.name(), "stars.csv with contacts and escapers"),
        (Journal::Stellar.name(), "stellar.csv with changes of type"),
        (Journal::Encounters.name(), "encounters.csv with changes of subsystems"),
    ];
    let is_there = |name: &str| ["csv", "hdf5"].iter().any(|ending| dir.join(format!("{name}.{ending}")).is_file());
    let others = others.into_iter().filter(|(name, _)| is_there(name)).map(|(_, text)| text);
    page.line("tables", std::iter::once("members.csv").chain(others).collect::<Vec<_>>().join(", "));
    let plot = (!members.outcomes.is_empty()).then(|| format!("tisane plot {shown}"));
    let again = members.first_failed().map(|member| {
        format!("alone, a failed member: the file without [ensemble], and the settings of member {member} as --set")
    });
    for (number, line) in next.into_iter().chain(again).chain(plot).enumerate() {
        page.line(if number == 0 { "next" } else { "" }, line);
    }
    Ok(page.0)
}

/// Members that have ended.
struct Members<'a> {
    table: &'a Table,
    /// Number of all members, as the table says.
    all: Option<u64>,
    outcomes: &'a [String],
    problems: &'a [String],
}

impl<'a> Members<'a> {
    fn new(table: &'a Table) -> Self {
        let texts = |name: &str| match table.column(name).map(|column| &column.values) {
            Some(Values::Text(texts)) => texts.as_slice(),
            _ => &[],
        };
        let all = table.remarks.iter().find(|(name, _)| name == "members").and_then(|(_, count)| count.parse().ok());
        Self { table, all, outcomes: texts("outcome"), problems: texts("problem") }
    }

    fn by_outcome(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        self.outcomes.iter().for_each(|how| *counts.entry(how).or_default() += 1);
        let counts: Vec<String> = counts.iter().map(|(how, count)| format!("{count} {how}")).collect();
        if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) }
    }

    fn failed(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.outcomes.len()).filter(|row| self.outcomes[*row] == FAILED)
    }

    fn first_failed(&self) -> Option<u64> {
        let numbers = self.table.numbers("member")?;
        self.failed().next().map(|row| numbers.at(row) as u64)
    }

    /// Adds the most frequent problem of members that failed.
    fn describe_failures(&self, page: &mut Page) {
        let mut kinds: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        self.failed().for_each(|row| kinds.entry(kind(&self.problems[row])).or_default().push(row));
        let failed = self.failed().count();
        let Some(rows) = kinds.values().max_by_key(|rows| rows.len()) else { return };
        let (number, problem) =
            (self.table.numbers("member").map_or(0.0, |it| it.at(rows[0])), &self.problems[rows[0]]);
        page.line("failed", format!("{failed}, of which {} in the way of member {number}:", rows.len()));
        // What happened, and then advice.
        problem.split("; ").for_each(|part| page.line("", part));
    }

    /// Lists the keys in which members differ.
    fn keys(&self) -> Option<String> {
        let names = self.table.names().skip(1).take_while(|name| *name != "outcome");
        let names = names.collect::<Vec<_>>().join(", ");
        (!names.is_empty()).then_some(names)
    }

    /// Returns the median and the largest of the largest errors of members that did not fail, as the summary has them.
    fn energy_errors(&self) -> Option<(f64, f64)> {
        let errors = self.table.numbers("max_energy_error")?.iter().zip(self.outcomes);
        let sound = errors.filter(|(error, how)| *how != FAILED && !error.is_nan());
        let mut sound: Vec<f64> = sound.map(|(error, _)| error).collect();
        sound.sort_by(f64::total_cmp);
        Some((*sound.get(sound.len() / 2)?, *sound.last()?))
    }
}

/// Returns the beginning of a problem without what differs from member to member.
fn kind(problem: &str) -> String {
    let first = problem.split([',', ';']).next().unwrap_or_default();
    let parts = first.split_whitespace().filter(|part| !part.contains(|c: char| c.is_ascii_digit()));
    parts.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_that_begin_alike_are_one() {
        let of =
            |n: u32, end: &str| kind(&format!("{n} particles need steps below dt_min = 1e-{n} at t = {n} T, {end}"));
        assert_eq!(of(2, "bound to 3; advice"), of(27, "not bound"));
        assert_ne!(of(2, "x"), kind("the energy is not finite"));
    }
}
