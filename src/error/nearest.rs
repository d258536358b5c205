//! The valid name that is nearest to a wrong one.

/// Length in bytes from which a text is no misspelt name: comparing takes a time that grows with it.
const LONGEST: usize = 256;

/// Returns the valid name nearest to a misspelt one, if any is near: by a common beginning (`eps`) or by swapped,
/// missing and wrong letters (`f46`). A single wrong letter counts as nearer than a longer name with the same letters, and
/// of two names that are as near, to a hundredth, the one nearer in length is taken.
#[must_use]
pub fn nearest<'a>(found: &str, valid: &[&'a str]) -> Option<&'a str> {
    if found.len() > LONGEST {
        return None;
    }
    let found = found.to_lowercase();
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        if name.len() > 2 && strsim::damerau_levenshtein(&found, &name) == 1 {
            return 1.0;
        }
        strsim::jaro_winkler(&found, &name).max(strsim::normalized_damerau_levenshtein(&found, &name))
    };
    let hundredths = |name: &str| (100.0 * likeness(name)).round();
    let length = |name: &str| name.len().abs_diff(found.len());
    let nearer = |a: &&str, b: &&str| hundredths(a).total_cmp(&hundredths(b)).then(length(b).cmp(&length(a)));
    let best = valid.iter().copied().max_by(nearer)?;
    (likeness(best) > 0.65).then_some(best)
}
