//! Advice on errors in the words of the program: the keys of the configuration and the commands that the engine, whose advice is
//! for those who call it, does not know.

use tisane::error::{Error, Remedy, StepBelowFloor};

/// What the engine says, and what the program says in its place.
const WORDS: [(&str, &str); 8] = [
    ("set a softening length, or lower dt", "set softening.epsilon, or lower integrator.leapfrog.dt"),
    ("a softening length", "softening.epsilon"),
    (
        "allow a larger tolerance, or take more bits",
        "a larger integrator.extrapolated.tolerance, or more integrator.extrapolated.bits",
    ),
    ("use f64", "use force.precision = \"f64\""),
    (
        "choose a more precise mode, or raise the limit of the audit if such errors are acceptable",
        "choose a more precise mode (force.precision), or raise audit.limit if such errors are acceptable; the run can be \
         resumed from its checkpoint",
    ),
    ("radii and `CollisionAction::Merge`", "[collisions] action = \"merge\" and radii"),
    (
        "take another GPU, or the CPU",
        "the last checkpoint is whole: continue from it with `tisane resume DIR`, on another GPU with --device K, or \
         without a GPU with --engine cpu",
    ),
    ("choose one of them", "choose one of them with --device or force.device"),
];

/// Advice of the engine on storage, with that for a run that can be continued, and for one that has nothing to continue
/// from.
const STORAGE: [(&str, &str, &str); 3] = [
    (
        "free some space",
        "free some space, then continue the run with `tisane resume`",
        "free some space, then begin the run anew with `tisane run --overwrite`",
    ),
    (
        "free some space within your quota",
        "free some space within your quota, then continue the run with `tisane resume`",
        "free some space within your quota, then begin the run anew with `tisane run --overwrite`",
    ),
    (
        "the limit on the size of files (ulimit -f) or that of the file system is reached: raise it, or write elsewhere",
        "the limit on the size of files (ulimit -f) or that of the file system is reached: raise it, or write \
         elsewhere, then continue the run with `tisane resume`",
        "the limit on the size of files (ulimit -f) or that of the file system is reached: raise it, or write \
         elsewhere, then begin the run anew with `tisane run --overwrite`",
    ),
];

/// Returns the advice on an error, if there is some, in the words of the program.
#[must_use]
pub fn advice(error: &Error) -> Option<String> {
    match error {
        Error::StepBelowFloor(what) => Some(of_step_below_floor(what)),
        Error::Storage { help: Some(help), .. } => {
            let known = STORAGE.into_iter().find(|(words, ..)| words == help);
            Some(known.map_or(*help, |(_, to_continue, _)| to_continue).to_owned())
        }
        Error::Input { help: Some(help), .. } | Error::Integration { help: Some(help), .. } => Some(in_words(help)),
        other => other.advice(),
    }
}

/// Returns advice of the engine in the words of the program.
#[must_use]
pub fn in_words(advice: &str) -> String {
    match WORDS.into_iter().find(|(engine, program)| advice.contains(engine) && !advice.contains(program)) {
        Some((engine, program)) => in_words(&advice.replace(engine, program)),
        None => advice.to_owned(),
    }
}

/// Returns the error of a run that has no checkpoint yet, whose advice is to begin anew.
#[must_use]
pub fn before_first_checkpoint(mut error: Error) -> Error {
    if let Error::Storage { help: Some(help), .. } = &mut error
        && let Some((.., anew)) = STORAGE.into_iter().find(|(words, ..)| words == help)
    {
        *help = anew;
    }
    error
}

/// Returns the error of a cluster without softening and subsystems: at a step below the floor in a bound pair, subsystems are the
/// first remedy.
#[must_use]
pub(crate) fn in_cluster_without_subsystems(error: Error) -> Error {
    const SUBSYSTEMS: &str =
        "[encounters] makes this pair a subsystem, which takes no such steps, in a new run without dt_min";
    match &error {
        Error::StepBelowFloor(what) if what.remedies().contains(&Remedy::Softening { is_binary: true }) => {
            let help = format!("{SUBSYSTEMS}\n{}", of_step_below_floor(what));
            Error::Integration { problem: error.to_string(), help: Some(help) }
        }
        _ => error,
    }
}

/// Returns the remedies for a step below the floor, one a line.
fn of_step_below_floor(what: &StepBelowFloor) -> String {
    let section = what.section;
    let directory = what.run.as_ref().and_then(|run| run.directory.as_ref());
    let line = |remedy: Remedy| match (remedy, directory) {
        (Remedy::ShorterSteps(floor), Some(directory)) => format!(
            "to follow the motion: tisane resume {} --set {section}.dt_min={floor:.1e}, which continues from here with \
             the bits of a run with this dt_min from its start",
            directory.display()
        ),
        (Remedy::ShorterSteps(floor), None) => {
            format!("to follow the motion, allow shorter steps by {section}.dt_min, such as {floor:.1e}")
        }
        (Remedy::ShorterLongestStep, _) => format!(
            "steps cannot be shorter than dt_max/2^36: with a shorter {section}.dt_max a new run can take shorter ones"
        ),
        (Remedy::Clamp, _) => format!(
            "{section}.on_dt_min = \"clamp\" lets such particles continue at dt_min, with an energy error that the \
             diagnostics show"
        ),
        (other, _) => in_words(&other.to_string()),
    };
    what.remedies().into_iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane::force::precision::Precision;
    use tisane::force::range::Range;

    #[test]
    fn the_program_names_keys_and_commands() {
        let range = Range::for_precision(Precision::Mixed);
        assert_eq!(in_words(range.advice()), "use force.precision = \"f64\", which has a wider range");
        let by_leapfrog = format!("a close pair: set a softening length, or lower dt{}", range.too_close());
        assert_eq!(
            in_words(&by_leapfrog),
            "a close pair: set softening.epsilon, or lower integrator.leapfrog.dt; or a pair that is too close for this mode, \
             whose pair arithmetic is in f32: use force.precision = \"f64\""
        );
        let softening = in_words(&Remedy::Softening { is_binary: false }.to_string());
        assert!(softening.starts_with("softening.epsilon bounds the steps"), "{softening}");
        let once = in_words("choose one of them");
        assert_eq!(
            (in_words(&once), once.as_str()),
            (once.clone(), "choose one of them with --device or force.device")
        );
    }

    #[test]
    fn a_full_disk_is_no_reason_to_begin_anew_but_without_a_checkpoint() {
        for words in ["No space left on device", "Disk quota exceeded", "File too large"] {
            let error = || Error::storage("snapshot.hdf5", words);
            assert!(advice(&error()).unwrap().ends_with(", then continue the run with `tisane resume`"));
            let anew = advice(&before_first_checkpoint(error())).unwrap();
            assert!(anew.ends_with(", then begin the run anew with `tisane run --overwrite`"), "{anew}");
        }
    }
}
