//! What people write in TOML and in its texts: configurations, studies, cases, models, numbers.

use std::path::Path;
use tisane_lab::study::config::{ConvergenceFile, CostFile, EnergyFile, ForceFile, StudyFile};
use tisane_lab::study::model::Model;
use tisane_lab::validate::case::Case;
use tisane_run::config::{self, Config, Real, WallTime};

/// Text and overrides: what stands after the first, second, … NUL byte is `section.key=value`.
fn parts(bytes: &[u8]) -> Option<(&str, Vec<String>)> {
    let mut parts = str::from_utf8(bytes).ok()?.split('\0');
    Some((parts.next()?, parts.map(str::to_owned).collect()))
}

/// A configuration and overrides. What was read is written with every default, reads back as the same and writes itself
/// again.
pub fn config(bytes: &[u8]) {
    let Some((text, sets)) = parts(bytes) else { return };
    let Some(loaded) = super::is_told(Config::from_str("fuzz.toml", text, Path::new("/base"), &sets)) else { return };
    let resolved = loaded.config.resolved_toml().expect("a configuration that was read can be written");
    let again = Config::from_str("resolved.toml", &resolved, Path::new("/elsewhere"), &[]);
    let again = again.unwrap_or_else(|error| panic!("{error}\n{resolved}")).config;
    assert_eq!(again, loaded.config, "{resolved}");
    assert_eq!(again.resolved_toml().expect("written once"), resolved);
    let start = loaded.config.t_start().unwrap_or(0.0);
    if let Err(problem) = loaded.config.steps_to_end(start) {
        let _ = super::is_told(Err::<(), _>(loaded.explain(problem)));
    }
}

/// Every other kind of file in TOML: studies, a case of the validation, a performance model.
pub fn settings(bytes: &[u8]) {
    let Some((text, sets)) = parts(bytes) else { return };
    study::<ForceFile>(text, &sets);
    study::<EnergyFile>(text, &sets);
    study::<CostFile>(text, &sets);
    study::<ConvergenceFile>(text, &sets);
    let _ = super::is_told(config::read::<Case>(("case.toml", text), &sets, |case| case.problems(&["run.toml"])));
    let (_folder, path) = super::file("model.toml", text.as_bytes());
    let _ = super::is_told(Model::read(&path));
}

fn study<F: StudyFile + PartialEq + std::fmt::Debug>(text: &str, sets: &[String]) {
    let Some(file) = super::is_told(F::from_text("study.toml", text, sets)) else { return };
    let resolved = file.resolved().expect("a study that was read can be written");
    assert_eq!(F::from_text("resolved.toml", &resolved, &[]).expect("what was written"), file, "{resolved}");
}

/// Numbers and times as texts: what was read is finite, and prints to what reads as the same.
pub fn numbers(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    if let Ok(number) = Real::parse(text) {
        assert!(number.get().is_finite(), "{text}");
        let printed = number.to_string();
        assert_eq!(
            Real::parse(&printed).expect("a printed number").get().to_bits(),
            number.get().to_bits(),
            "{printed}"
        );
    }
    if let Ok(time) = WallTime::parse(text) {
        assert_eq!(WallTime::parse(&time.to_string()).expect("a printed time"), time, "{time}");
    }
}
