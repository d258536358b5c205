//! List of the data sets of an HDF5 file of another program, for the user to choose from.

use super::third_party::{DatasetInfo, ThirdPartyGroup};
use std::fmt;

/// Largest number of groups and data sets that are looked at.
const MAX_OBJECTS: usize = 1000;
/// Largest number of data sets that are printed.
const MAX_PRINTED: usize = 24;
/// Largest depth of groups. Hard links may form a circle.
const DEEPEST: usize = 8;

/// Data sets of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Contents {
    /// The data sets, in order of their paths.
    pub(crate) datasets: Vec<DatasetInfo>,
    /// True if the file has more groups and data sets than were looked at.
    truncated: bool,
    objects: usize,
}

impl Contents {
    /// Lists the data sets below the root group.
    pub(crate) fn list(root: &ThirdPartyGroup<'_>) -> Self {
        let mut contents = Self::default();
        contents.add(root, "", 0);
        contents
    }

    fn add(&mut self, group: &ThirdPartyGroup<'_>, above: &str, depth: usize) {
        let Ok(members) = group.members() else {
            self.truncated = true;
            return;
        };
        for name in members {
            if self.objects == MAX_OBJECTS {
                self.truncated = true;
                return;
            }
            self.objects += 1;
            let path = if above.is_empty() { name.clone() } else { format!("{above}/{name}") };
            match group.group(&name) {
                Some(inner) if depth < DEEPEST => self.add(&inner, &path, depth + 1),
                Some(_) => self.truncated = true,
                None => self.datasets.extend(group.describe(&name, &path)),
            }
        }
    }

    /// Returns the path of the data set that is most like `path`, if one is like it.
    pub(crate) fn nearest(&self, path: &str) -> Option<&str> {
        let like = |known: &str| strsim::jaro_winkler(path.trim_matches('/'), known);
        let paths = self.datasets.iter().map(|dataset| dataset.path.as_str());
        paths.max_by(|a, b| like(a).total_cmp(&like(b))).filter(|best| like(best) > 0.65)
    }
}

impl fmt::Display for Contents {
    /// One line for each data set: path, shape, type.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printed = &self.datasets[..self.datasets.len().min(MAX_PRINTED)];
        let shape = |dataset: &DatasetInfo| match dataset.shape.as_slice() {
            [] => "one value".to_owned(),
            shape => shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(" x "),
        };
        let longest = |length: &dyn Fn(&DatasetInfo) -> usize| printed.iter().map(length).max().unwrap_or_default();
        let (path, size) = (longest(&|d| d.path.chars().count()), longest(&|d| shape(d).len()));
        for dataset in printed {
            writeln!(f, "  {:<path$}  {:<size$}  {}", dataset.path, shape(dataset), dataset.kind)?;
        }
        let more = self.datasets.len() - printed.len();
        match (more, self.truncated) {
            (0, false) => Ok(()),
            (0, true) => writeln!(f, "  and perhaps more, which were not looked at"),
            (more, false) => writeln!(f, "  and {more} more"),
            (more, true) => writeln!(f, "  and at least {more} more"),
        }
    }
}
