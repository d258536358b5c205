//! Checks that sweeps share: lists without repetitions, spans of time, integrators with their accuracies and modes.

use crate::study::integrators::{Integrator, accuracies};
use std::sync::Arc;
use tisane::force::precision::Precision;
use tisane::law::Law;
use tisane_run::config::{Engine, LawSection, Problem, Real, above};

/// Keys of every sweep.
pub(super) struct Axes<'a> {
    pub(super) section: &'static str,
    pub(super) n: &'a [u32],
    pub(super) modes: &'a [Precision],
    pub(super) engines: &'a [Engine],
    pub(super) seeds: &'a [u64],
}

impl Axes<'_> {
    pub(super) fn problems(&self) -> Vec<Problem> {
        let mut found = Vec::new();
        let key = |name: &str| format!("{}.{name}", self.section);
        // It chooses by N: a table of engines would not say which.
        if self.engines.contains(&Engine::Auto) {
            let problem = "expected \"cpu\", \"cuda\" or \"reference\", found \"auto\"";
            found.push(Problem::new(key("engines"), problem));
        }
        once(&key("n"), self.n, &mut found);
        once(&key("modes"), self.modes, &mut found);
        once(&key("engines"), self.engines, &mut found);
        once(&key("seeds"), self.seeds, &mut found);
        found
    }
}

/// A value that stands twice would be one point and two rows.
pub(super) fn once<T: PartialEq + std::fmt::Debug>(key: &str, values: &[T], found: &mut Vec<Problem>) {
    if let Some((_, again)) = values.iter().enumerate().find(|(k, value)| values[..*k].contains(value)) {
        found.push(Problem::new(key, format!("{again:?} stands twice in the list")));
    }
}

/// Adds the problems of integrators and accuracies. An integrator that works in none of the modes leaves nothing to do.
pub(super) fn check_integrators(
    section: &str,
    integrators: &[Integrator],
    modes: &[Precision],
    (nu, eta): (&[Real], &[Real]),
    found: &mut Vec<Problem>,
) {
    let key = |name: &str| format!("{section}.{name}");
    once(&key("integrators"), integrators, found);
    for (name, values) in [("nu", nu), ("eta", eta)] {
        values.iter().for_each(|value| above(found, key(name), Some(*value), 0.0));
        once(&key(name), values, found);
    }
    for integrator in integrators {
        let mut wrong = accuracies(*integrator, nu, eta).iter().filter_map(|value| integrator.problem(value.get()));
        let of_key = key(integrator.accuracy_key());
        let known = |found: &[Problem], problem: &str| found.iter().any(|it| it.key == of_key && it.problem == problem);
        if let Some(problem) = wrong.next().filter(|problem| !known(found, problem)) {
            found.push(Problem::new(&of_key, problem));
        }
    }
    if !integrators.is_empty() && !integrators.iter().any(|it| modes.iter().any(|mode| it.works_in(*mode))) {
        let problem = "order 8 needs forces in f64: with these modes there is nothing to do";
        found.push(Problem::new(key("integrators"), problem));
    }
}

/// Name of the remark of a table about points that are left out.
pub const LEFT_OUT: &str = "left out";

/// Returns the points of a sweep that are left out, in words; [`None`] if there are none.
#[must_use]
pub fn left_out(integrators: &[Integrator], modes: &[Precision]) -> Option<String> {
    let without = |it: &Integrator| {
        let modes: Vec<&str> = modes.iter().filter(|mode| !it.works_in(**mode)).map(|mode| mode.name()).collect();
        (!modes.is_empty()).then(|| format!("{} in {}", it.name(), modes.join(", ")))
    };
    let found: Vec<String> = integrators.iter().filter_map(without).collect();
    (!found.is_empty()).then(|| format!("{}: order 8 needs forces in f64", found.join("; ")))
}

/// Adds the problems of the law of a section; returns it, if it is sound and not Newton's.
pub(super) fn check_law(section: &str, law: Option<&LawSection>, found: &mut Vec<Problem>) -> Option<Arc<Law>> {
    match law.map(|law| law.in_henon_units(section))? {
        Ok(Some(law)) if !law.source().columns.is_empty() => {
            let problem = "this law reads columns of the particles, and the spheres of a study have none";
            found.push(Problem::new(section, problem).with_help("tisane advise tries the particles of a run"));
            None
        }
        Ok(law) => law,
        Err(problem) => {
            found.push(problem);
            None
        }
    }
}
