//! The valid name that is nearest to a wrong one.

use super::synonyms::synonym;

/// Length in bytes from which a text is no misspelt name: comparing takes a time that grows with it.
const LONGEST: usize = 256;

/// Returns the valid name nearest to a wrong one, if any is near: the same in other letters (`ID`), by meaning, as users
/// of other codes may know it (`gpu` for `cuda`), by a common beginning (`eps`) or by swapped, missing and wrong letters
/// (`f46`). A single wrong letter counts as nearer than a longer name with the same letters, and of two names that are as
/// near, to a hundredth, the one nearer in length is taken.
#[must_use]
pub fn nearest<'a>(found: &str, valid: &[&'a str]) -> Option<&'a str> {
    if found.len() > LONGEST {
        return None;
    }
    let same = valid.iter().copied().find(|name| name.eq_ignore_ascii_case(found));
    same.or_else(|| synonym(found, valid)).or_else(|| likest(found, valid))
}

/// Returns the name with the most similar letters, if they are similar.
fn likest<'a>(found: &str, valid: &[&'a str]) -> Option<&'a str> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_other_codes_mean_what_they_are_called_here() {
        let engines = ["auto", "cpu", "cuda", "reference"];
        let sections =
            ["run", "units", "initial", "softening", "external", "integrator", "encounters", "force", "output"];
        let steps = ["nu", "nu_start", "dt_max", "dt_min", "iterations", "compensated", "on_dt_min"];
        for (found, valid, meant) in [
            ("gpu", &engines[..], "cuda"),
            ("GPU", &engines, "cuda"),
            ("cdua", &engines, "cuda"),
            ("bodies", &sections, "initial"),
            ("Initial", &sections, "initial"),
            ("eps", &sections, "softening"),
            ("tidal field", &sections, "external"),
            ("eta", &steps, "nu"),
            ("dt", &steps, "dt_max"),
            ("eps", &["epsilon"], "epsilon"),
            ("softening", &["epsilon"], "epsilon"),
            ("tmax", &["name", "t_end", "t_start"], "t_end"),
            ("N-body", &["henon"], "henon"),
            ("double", &["f32-direct", "mixed", "f64-fast", "f64"], "f64"),
            ("ID", &["m", "x", "id", "radius"], "id"),
            ("M", &["radius", "m", "id"], "m"),
        ] {
            assert_eq!(nearest(found, valid), Some(meant), "{found}");
        }
        assert_eq!(nearest("gpu", &["yes", "no"]), None);
    }
}
