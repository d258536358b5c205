//! One value for each table of an ensemble.

use std::collections::BTreeMap;
use tisane_io::directory::{MEMBERS, SERIES};
use tisane_io::fields::Journal;

/// One value for each table of an ensemble: a table, or what belongs to it.
#[derive(Clone, Debug, Default)]
pub(super) struct TableSet<T> {
    /// That of the table of the members.
    pub members: T,
    /// That of the table of the outputs, if they are kept.
    pub series: Option<T>,
    /// Those of the tables of the journals that are kept.
    pub journals: BTreeMap<Journal, T>,
}

impl<T> TableSet<T> {
    /// Returns what `f` makes of each value and the name of its table. That of the members comes last, so that a member in this table is
    /// whole in the others.
    ///
    /// # Errors
    /// The first error of `f`.
    pub fn try_map<U, E>(self, mut f: impl FnMut(&'static str, T) -> Result<U, E>) -> Result<TableSet<U>, E> {
        let series = self.series.map(|it| f(SERIES, it)).transpose()?;
        let journals = self.journals.into_iter().map(|(journal, it)| Ok((journal, f(journal.name(), it)?)));
        let journals = journals.collect::<Result<_, E>>()?;
        Ok(TableSet { members: f(MEMBERS, self.members)?, series, journals })
    }

    pub fn as_ref(&self) -> TableSet<&T> {
        let journals = self.journals.iter().map(|(journal, it)| (*journal, it)).collect();
        TableSet { members: &self.members, series: self.series.as_ref(), journals }
    }

    pub fn as_mut(&mut self) -> TableSet<&mut T> {
        let journals = self.journals.iter_mut().map(|(journal, it)| (*journal, it)).collect();
        TableSet { members: &mut self.members, series: self.series.as_mut(), journals }
    }
}
