//! Groups of members with the same values of the keys that were varied.

use tisane_io::table::{Column, Table, Values};

/// Most groups of a figure: with more, no eye tells their curves apart.
pub(super) const MAX: usize = 6;
/// Fewest members of a group, in the mean.
const FEWEST: usize = 2;

/// Groups of the members of a table.
pub(super) struct Groups {
    /// Name of each group; a single empty name where all members are one group.
    pub names: Vec<String>,
    /// Group of each row.
    pub of_row: Vec<usize>,
}

/// Returns the columns of the keys in which members differ: they stand between number and outcome. Seeds are not among
/// them, for they make realisations of the same.
pub(super) fn settings(table: &Table) -> impl Iterator<Item = &Column> {
    let settings = table.columns.iter().skip(1).take_while(|column| column.name != "outcome");
    settings.filter(|column| !column.name.ends_with(".seed"))
}

/// Returns those with few values.
pub(super) fn keys(table: &Table) -> impl Iterator<Item = &Column> {
    let few = |column: &&Column| {
        let count = Groups::by(table, &[*column]).names.len();
        count > 1 && count <= MAX && count * FEWEST <= table.rows()
    };
    settings(table).filter(few)
}

/// Returns the last part of a key, which tells it apart from most others.
pub(super) fn short_name(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

impl Groups {
    /// Groups the members by as many keys as give few groups.
    pub fn of_all_keys(table: &Table) -> Self {
        let mut taken: Vec<&Column> = Vec::new();
        let mut groups = Self::by(table, &taken);
        for key in keys(table) {
            taken.push(key);
            let more = Self::by(table, &taken);
            if more.names.len() <= MAX && more.names.len() * FEWEST <= table.rows() {
                groups = more;
            } else {
                taken.pop();
            }
        }
        groups
    }

    /// Groups the members by the values of some keys, in the order of these values.
    pub fn by(table: &Table, keys: &[&Column]) -> Self {
        let ambiguous =
            |key: &Column| keys.iter().filter(|it| short_name(&it.name) == short_name(&key.name)).count() > 1;
        let label = |key: &Column| if ambiguous(key) { key.name.clone() } else { short_name(&key.name).to_owned() };
        let mut found: Vec<(Vec<String>, f64)> = Vec::new();
        let mut of_row = Vec::with_capacity(table.rows());
        for row in 0..table.rows() {
            let values: Vec<String> = keys.iter().map(|key| value(key, row)).collect();
            let place = found.iter().position(|(known, _)| *known == values);
            of_row.push(place.unwrap_or_else(|| {
                // Numbers ascend; of several keys the order is that of the rows.
                let number =
                    keys.first().filter(|_| keys.len() == 1).and_then(|key| Some(key.values.numbers()?.at(row)));
                found.push((values, number.unwrap_or(found.len() as f64)));
                found.len() - 1
            }));
            if found.len() > 8 * MAX {
                // Too many for any figure: how many is of no interest.
                break;
            }
        }
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by(|&a, &b| found[a].1.total_cmp(&found[b].1));
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(place, &group)| rank[group] = place);
        let name = |values: &[String]| {
            let parts = keys.iter().zip(values).map(|(key, value)| format!("{} = {value}", label(key)));
            parts.collect::<Vec<_>>().join(", ")
        };
        let names = order.iter().map(|&group| name(&found[group].0)).collect();
        Self { names, of_row: of_row.into_iter().map(|group| rank[group]).collect() }
    }

    /// Returns the rows among `rows` of each group, with its number and name.
    pub fn split<'a>(&'a self, rows: &'a [usize]) -> impl Iterator<Item = (usize, &'a str, Vec<usize>)> + 'a {
        let of = |group: usize| rows.iter().copied().filter(|row| self.of_row[*row] == group).collect();
        self.names.iter().enumerate().map(move |(group, name)| (group, name.as_str(), of(group)))
    }

    /// Returns true if all members are one group.
    pub fn are_one(&self) -> bool {
        self.names.len() < 2
    }
}

fn value(column: &Column, row: usize) -> String {
    match &column.values {
        Values::Floats(values) => values[row].to_string(),
        Values::Counts(values) => values[row].to_string(),
        // Of a file, its name says enough.
        Values::Text(values) if column.name.ends_with(".path") => {
            values[row].rsplit('/').next().unwrap_or_default().to_owned()
        }
        Values::Text(values) => values[row].clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, values: &[&str]) -> Column {
        Column::new(name, "", "", Values::Text(values.iter().map(|text| (*text).to_owned()).collect()))
    }

    #[test]
    fn names_are_short_and_tell_groups_apart() {
        let columns = vec![
            column("member", &["0", "1", "2", "3"]),
            column("a.x", &["1/64", "1/64", "1e-4", "1e-4"]),
            column("b.x", &["p", "p", "q", "q"]),
            column("initial.file.path", &["/d/one.csv", "/d/one.csv", "/d/two.csv", "/d/two.csv"]),
            column("initial.plummer.seed", &["1", "1", "2", "2"]),
            column("drawn", &["1", "2", "3", "4"]),
            column("outcome", &["finished"; 4]),
        ];
        let table = Table { columns, ..Table::default() };
        let names = ["a.x", "b.x", "initial.file.path"];
        assert_eq!(keys(&table).map(|key| key.name.as_str()).collect::<Vec<_>>(), names);
        let groups = Groups::of_all_keys(&table);
        assert_eq!(groups.names[0], "a.x = 1/64, b.x = p, path = one.csv");
        assert_eq!(groups.of_row, [0, 0, 1, 1]);
    }
}
