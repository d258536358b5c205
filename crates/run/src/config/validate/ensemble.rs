//! Validation of the section `[ensemble]`.

use crate::config::configuration::Config;
use crate::config::ensemble::{Ensemble, StopAt, Variation};
use crate::config::error::Problem;
use crate::config::initial::Model;
use crate::config::sections::OnFull;

/// Adds the mistakes in its values to `found`.
pub(super) fn validate(settings: &Ensemble, config: &Config, found: &mut Vec<Problem>) {
    let model = &config.initial.model;
    let of_one_run = [
        ("limits.block_steps", config.limits.block_steps.is_some(), "limits.wall_time limits an ensemble"),
        (
            "limits.bound_fraction",
            config.limits.bound_fraction.is_some(),
            "ensemble.bound_fraction, with stop = \"dissolution\"",
        ),
        ("output.on_full", config.output.on_full == OnFull::Wait, "an ensemble stops, and is resumed"),
    ];
    for (key, _, help) in of_one_run.into_iter().filter(|(_, given, _)| *given) {
        found.push(Problem::new(key, "this is for one run, not for an ensemble").with_help(help));
    }
    if settings.stop == StopAt::Escape && !matches!(model, Model::BinarySingle(_)) {
        let problem = Problem::new("ensemble.stop", "\"escape\" is for encounters of three bodies");
        found.push(problem.with_help("take [initial.binary-single], or another stop"));
    }
    let share = settings.bound_fraction.get();
    if !(share > 0.0 && share < 1.0) {
        let problem = format!("expected a share above 0 and below 1, found {share}");
        found.push(Problem::new("ensemble.bound_fraction", problem));
    }
    for (key, variation) in &settings.vary {
        let at = format!("ensemble.vary.{key}");
        if matches!(key.split('.').next(), Some("ensemble" | "units"))
            || ["run.name", "output.directory"].contains(&key.as_str())
        {
            found.push(Problem::new(&*at, format!("{key} is common to all members")));
        } else if (!key.contains('.') && !variation.is_of_sections()) || key.split('.').any(str::is_empty) {
            let help = "as in \"initial.plummer.seed\" = { from = 1, to = 100 }";
            let problem = format!("expected a key as section.key in quotes, found \"{key}\"");
            found.push(Problem::new(&*at, problem).with_help(help));
        }
        match variation {
            Variation::List(_) => {}
            Variation::Rule(rule) => rule.mistakes(&at, found),
        }
    }
}
