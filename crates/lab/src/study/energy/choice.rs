//! The table that users read: for an energy error, the cheapest integrator and mode that reach it.

use super::mode_law::ModeLaw;
use crate::study::config::EnergySweep;
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
    best: Result<Best, Missed>,
}

/// What came closest to a goal that nothing reaches, and why that is so.
struct Missed {
    integrator: Option<Integrator>,
    mode: Option<Precision>,
    /// Error that was reached; NaN if none was measured.
    error: f64,
    why: String,
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

/// Returns the range of the accuracies of a law that may be chosen: those that have a result, and with which lasting
/// orbits are stable: a short span of time does not show that.
fn range(law: &ModeLaw) -> Option<(f64, f64)> {
    let (min, max) = law.tried()?;
    Some((min, max.min(law.integrator.variant().max_stable))).filter(|(min, max)| min <= max)
}

/// Returns the choice for a goal, or what came closest to it.
fn best(laws: &[&ModeLaw], goal: f64) -> Result<Best, Missed> {
    let reaching = laws.iter().filter_map(|law| {
        let accuracy = law.accuracy_for(goal, range(law)?)?;
        Some(Best {
            integrator: law.integrator,
            mode: law.mode,
            accuracy,
            error: law.error_at(accuracy),
            seconds: fit::between(&law.seconds, accuracy),
            pairs: fit::between(&law.pairs, accuracy),
        })
    });
    cheapest(&reaching.collect::<Vec<_>>()).ok_or_else(|| missed(laws, goal))
}

/// Returns what came closest to a goal. It is out of reach only where every mode shows a round-off error above it; else
/// it is below what was tried.
fn missed(laws: &[&ModeLaw], goal: f64) -> Missed {
    let floor = |law: &ModeLaw| law.error.map_or(0.0, |error| error.round_off);
    let at_least = |law: &ModeLaw| range(law).map_or(f64::NAN, |(min, _)| law.error_at(min));
    let measured = || laws.iter().copied().filter(|law| !at_least(law).is_nan());
    let open = measured().filter(|law| floor(law) < goal);
    let why_open = |law: &ModeLaw| {
        let (key, (min, _)) = (law.integrator.accuracy_key(), range(law).unwrap_or_default());
        let error = at_least(law);
        match law.without_result.iter().any(|x| *x < min) {
            false => format!("below what was tried ({key} = {min}): {error:.1e} so far; add smaller {key}"),
            true => format!("below what was tried ({key} = {min}): {error:.1e} so far; smaller {key} had no result"),
        }
    };
    let of = |law: &ModeLaw, why: String| Missed {
        integrator: Some(law.integrator),
        mode: Some(law.mode),
        error: at_least(law),
        why,
    };
    if let Some(law) = open.min_by(|a, b| at_least(a).total_cmp(&at_least(b))) {
        return of(law, why_open(law));
    }
    if let Some(law) = measured().min_by(|a, b| floor(a).total_cmp(&floor(b))) {
        return of(law, format!("out of reach: the round-off error is {:.1e} at least", floor(law)));
    }
    Missed { integrator: None, mode: None, error: f64::NAN, why: "no point with a stable step has a result".into() }
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
    let integrator =
        |it: &Choice| it.best.as_ref().map_or_else(|missed| missed.integrator, |best| Some(best.integrator));
    let mode = |it: &Choice| it.best.as_ref().map_or_else(|missed| missed.mode, |best| Some(best.mode));
    let [nu, eta] = rows.accuracies("the largest accuracy of the time step that reaches it", |it: &Choice| {
        it.best.as_ref().ok().map(|best| (best.integrator, best.accuracy))
    });
    let columns = vec![
        rows.counts("n", "1", "number of particles", |it| u64::from(it.n)),
        rows.text("engine", "engine and what it computes on", |it| it.engine.clone()),
        rows.numbers("goal", "1", "energy error to be reached, |dE/E| over the span of time", |it| it.goal),
        rows.text("mode", "the cheapest mode that reaches it, or the one that came closest", move |it| {
            mode(it).map_or("none", Precision::name).into()
        }),
        rows.text(
            "integrator",
            "the cheapest integrator, by wall time, or by pairs where there are no times; or the one that came closest",
            move |it| integrator(it).map_or("none", Integrator::name).into(),
        ),
        nu,
        eta,
        rows.numbers(
            "energy_error",
            "1",
            "what the law says there, or what was measured on both sides of it if that is larger; the least so far where \
             the goal is not reached",
            |it| it.best.as_ref().map_or_else(|missed| missed.error, |best| best.error),
        ),
        rows.numbers("seconds", "s", "wall time for a time unit there", number(|it| it.seconds)),
        rows.numbers("pairs", "1", "pairs evaluated in a time unit there", number(|it| it.pairs)),
        rows.text("result", "reached, or why it is not", |it| {
            it.best.as_ref().map_or_else(|missed| missed.why.clone(), |_| "reached".into())
        }),
    ];
    let title = "For an energy error take this integrator, mode and accuracy (from the laws; single spheres scatter \
                 about them)";
    Table { title: title.into(), remarks: remarks.to_vec(), columns }
}
