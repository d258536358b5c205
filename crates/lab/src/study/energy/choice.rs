//! The table that users read: for an energy error, the cheapest integrator and mode that reach it.

use super::{EnergySweep, ModeLaw};
use crate::study::fit;
use crate::study::integrators::Integrator;
use crate::study::report::Rows;
use tisane::force::precision::Precision;
use tisane_io::table::Table;

/// A line of the table.
struct Choice {
    n: u32,
    engine: String,
    goal: f64,
    best: Option<Best>,
}

/// An integrator, a mode and an accuracy that reach a goal.
#[derive(Clone, Copy)]
struct Best {
    integrator: Integrator,
    mode: Precision,
    accuracy: f64,
    error: f64,
    seconds: f64,
    pairs: f64,
}

/// Returns what reaches a goal at the least cost: wall time, or pairs where some of the candidates have no time.
/// Accuracies are not compared: they are not the same quantity for all integrators.
fn cheapest(candidates: &[Best]) -> Option<Best> {
    let timed = candidates.iter().all(|it| !it.seconds.is_nan());
    let cost = |it: &Best| if timed { it.seconds } else { it.pairs };
    candidates.iter().copied().min_by(|a, b| cost(a).total_cmp(&cost(b)))
}

/// Returns the choice for a goal, within the accuracies that have a result, and those with which lasting orbits are
/// stable: a short span of time does not show that.
fn best(laws: &[&ModeLaw], goal: f64) -> Option<Best> {
    let reaching = laws.iter().filter_map(|law| {
        let values = law.errors.iter().map(|(x, _)| *x);
        let range = (values.clone().fold(f64::INFINITY, f64::min), values.fold(0.0, f64::max));
        let stable = range.1.min(law.integrator.most_stable());
        let accuracy = law.accuracy_for(goal, (range.0, stable))?;
        Some(Best {
            integrator: law.integrator,
            mode: law.mode,
            accuracy,
            error: law.error_at(accuracy),
            seconds: fit::between(&law.seconds, accuracy),
            pairs: fit::between(&law.pairs, accuracy),
        })
    });
    cheapest(&reaching.collect::<Vec<_>>())
}

/// Returns the table of the choices for the goals of a sweep.
pub(super) fn table(laws: &[ModeLaw], it: &EnergySweep, remarks: &[(String, String)]) -> Table {
    let mut places: Vec<(u32, &String)> = Vec::new();
    for law in laws {
        if !places.contains(&(law.n, &law.engine)) {
            places.push((law.n, &law.engine));
        }
    }
    let mut choices = Vec::new();
    for (n, engine) in places {
        let of_place: Vec<&ModeLaw> = laws.iter().filter(|law| law.n == n && law.engine == *engine).collect();
        for goal in it.goals.iter().map(|goal| goal.get()) {
            choices.push(Choice { n, engine: engine.clone(), goal, best: best(&of_place, goal) });
        }
    }
    let rows = Rows(&choices);
    let number = |of: fn(&Best) -> f64| move |it: &Choice| it.best.as_ref().map_or(f64::NAN, of);
    let [nu, eta] = rows.accuracies("the largest accuracy of the time step that reaches it", |it: &Choice| {
        it.best.map(|best| (best.integrator, best.accuracy))
    });
    let columns = vec![
        rows.counts("n", "1", "number of particles", |it| u64::from(it.n)),
        rows.text("engine", "engine and what it computes on", |it| it.engine.clone()),
        rows.numbers("goal", "1", "energy error to be reached, |dE/E| over the span of time", |it| it.goal),
        rows.text("mode", "the cheapest mode that reaches it within the accuracies of the sweep", |it| {
            it.best.map_or("out of reach".into(), |best| best.mode.name().into())
        }),
        rows.text("integrator", "the cheapest integrator, by wall time, or by pairs where there are no times", |it| {
            it.best.map_or("out of reach".into(), |best| best.integrator.name().into())
        }),
        nu,
        eta,
        rows.numbers(
            "energy_error",
            "1",
            "what the law says there, or what was measured on both sides of it if that is larger",
            number(|it| it.error),
        ),
        rows.numbers("seconds", "s", "wall time for a time unit there", number(|it| it.seconds)),
        rows.numbers("pairs", "1", "pairs evaluated in a time unit there", number(|it| it.pairs)),
    ];
    let title = "For an energy error take this integrator, mode and accuracy (from the laws; single spheres scatter \
                 about them)";
    Table { title: title.into(), remarks: remarks.to_vec(), columns }
}
