//! Lengths of steps and the interval of outputs that follow from the particles, in units by name where the configuration
//! does not set the longest step.

use super::potentials::potentials_for;
use super::width::width;
use crate::binaries::{Binaries, CloseOrbit, Kind, Terms};
use crate::config::{Loaded, Problem, Real, Span, whole_multiple};
use std::f64::consts::SQRT_2;
use std::time::{Duration, Instant};
use tisane::Result;
use tisane::force::cpu;
use tisane::force::precision::Precision;
use tisane::force::{Forces, Targets};
use tisane::particles::Particles;
use tisane::time::{Clock, LOG2_TICKS_PER_DT_MAX, Time};
use tisane::units::{Dimension, Scale, digits, twelve_digits};

/// Longest steps in a crossing time, as in N-body units: 2 √2 over 1/8.
const PER_CROSSING: f64 = 16.0 * SQRT_2;
/// Longest steps in the shortest period.
const PER_PERIOD: f64 = 16.0;
/// Number of halvings of the longest step in the default of the shortest one, as in N-body units.
const HALVINGS: u32 = 23;
/// Largest number of outputs in the default of their interval.
const MAX_OUTPUTS: f64 = 500.0;
/// Rounded steps may be longer than asked for by this factor.
const LONGER: f64 = 1.25;
/// First digits of rounded numbers: the plainest first.
const DIGITS: [&[f64]; 2] = [&[5.0, 2.0, 1.0], &[8.0, 6.0, 4.0, 3.0, 2.5, 1.5, 1.25]];

/// Sets the steps and the interval of outputs in a configuration that does not have them, from particles in internal
/// units. The run begins at `start` (unit: time); without `ends` it has no end yet. Returns what was set, and why.
///
/// # Errors
/// [`tisane::Error::Config`] if no step divides the run and the intervals that are set; as the CPU engine.
pub(crate) fn derive(
    loaded: &mut Loaded,
    p: &Particles,
    (scale, start): (&Scale, f64),
    ends: bool,
) -> Result<Vec<String>> {
    let config = &loaded.config;
    let terms = Terms::new(config, scale, start);
    let found = Binaries::find(p, &potentials_for(p, terms.epsilon, &config.force, loaded.estimates)?, terms);
    let span = ends.then(|| Span::between(start, config.t_end()).as_decimal());
    let whole: Vec<Span> = span.into_iter().chain(config.intervals_set().map(Span::exact)).collect();
    let dt_min_set = config.integrator.scheme().steps_set().and_then(|set| set.dt_min).map(Real::get);
    let section = config.integrator.info().section;
    let proposal = propose(&found, span, &whole, dt_min_set).map(|steps| match config.subsystems() {
        Some(_) => Proposal { halvings: LOG2_TICKS_PER_DT_MAX, ..steps },
        None => steps,
    });
    let Some(steps) = proposal else {
        let whole: Vec<String> = whole.iter().map(|span| span.length.to_string()).collect();
        let problem = format!(
            "missing key `dt_max` in [{section}]: found no step for this system that divides the length of the run and \
             the intervals of outputs ({}); set dt_max to one that does",
            whole.join(", ")
        );
        return Err(loaded.explain(Problem::new(format!("{section}.dt_max"), problem)));
    };
    let unit = &config.units().time.name;
    let mut notes = vec![format!("dt_max = {} {unit}: {}", steps.dt_max, steps.why_dt_max)];
    if dt_min_set.is_none() {
        notes.push(format!("dt_min = dt_max/2^{}{}", steps.halvings, steps.why_dt_min));
    }
    if config.output.interval.is_none() {
        notes.push(format!("output.interval = {} {unit}", steps.interval));
    }
    let dt_min = dt_min_set.unwrap_or(steps.dt_max / f64::from(steps.halvings).exp2());
    let set = finite(section, [steps.dt_max, dt_min, steps.interval])
        .and_then(|[dt_max, dt_min, interval]| loaded.config.set_steps([dt_max, dt_min], interval));
    set.map_err(|problem| loaded.explain(problem))?;
    Ok(notes)
}

/// Returns times as numbers of a configuration.
fn finite(section: &str, times: [f64; 3]) -> Result<[Real; 3], Problem> {
    match times.map(Real::new) {
        [Some(dt_max), Some(dt_min), Some(interval)] => Ok([dt_max, dt_min, interval]),
        _ => Err(Problem::new(
            format!("{section}.dt_max"),
            format!("expected finite numbers as defaults, found {times:?}"),
        )),
    }
}

/// Lengths of steps and interval of outputs for a system, in the user's unit of time, with the reasons.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proposal {
    /// Longest step.
    pub dt_max: f64,
    /// Reason for the longest step.
    pub why_dt_max: String,
    /// Number of halvings of the longest step that gives the shortest one.
    pub halvings: u32,
    /// Reason for more halvings than usual, in brackets; empty without one.
    pub why_dt_min: String,
    /// Time between outputs.
    pub interval: f64,
}

/// Returns the steps for a system; [`None`] if none was found that divides all lengths `whole`, of which the run's is
/// `span`, and is no shorter than `dt_min`. Times are in the user's unit.
pub(crate) fn propose(found: &Binaries, span: Option<Span>, whole: &[Span], dt_min: Option<f64>) -> Option<Proposal> {
    let Terms { scale, units, .. } = found.terms();
    let natural = found.time_scale.map(|time| time * scale.time);
    let parts = if found.kind == Kind::Cluster { PER_CROSSING } else { PER_PERIOD };
    let what = found.time_scale_name();
    let mut target = natural.or(span.map(|span| span.length)).unwrap_or(scale.time) / parts;
    let mut min = 0f64;
    if let Some(span) = span {
        min = span.shortest_step();
        target = target.max(2.0 * min);
    }
    if let Some(dt_min) = dt_min {
        target = target.clamp(dt_min, f64::from(LOG2_TICKS_PER_DT_MAX).exp2() * dt_min / LONGER);
        min = min.max(dt_min);
    }
    let dt_max = longest_step(target, min, whole)?;
    let needed = found.halvings(dt_max / scale.time);
    let time = |t: f64| units.readable(t, Dimension::TIME);
    let ratio = natural.map(|natural| (natural / dt_max, natural));
    Some(Proposal {
        dt_max,
        why_dt_max: match ratio {
            None => "the system has no time scale of its own".into(),
            Some((ratio, natural)) if ratio < 1.5 => {
                format!("{} times the {what} of {}", digits(1.0 / ratio), time(natural))
            }
            Some((ratio, natural)) => format!("1/{ratio:.0} of the {what} of {}", time(natural)),
        },
        halvings: needed.clamp(HALVINGS, LOG2_TICKS_PER_DT_MAX),
        why_dt_min: match found.most_demanding().filter(|_| needed > HALVINGS) {
            Some(CloseOrbit { ids: [i, j], step, .. }) => {
                format!(": particles {i} and {j} need steps of {}", time(step * scale.time))
            }
            None => String::new(),
        },
        interval: interval(dt_max, span.map(|span| span.length)),
    })
}

/// Finds the close pairs of particles with the potentials `pot`, as [`Binaries::find`] does, and measures what following
/// one takes on this machine.
#[must_use]
pub fn close_pairs(p: &Particles, pot: &[f64], terms: Terms) -> Binaries {
    let epsilon = terms.epsilon;
    let mut found = Binaries::find(p, pot, terms);
    if !found.orbits.is_empty() {
        found.seconds = seconds_of_two(p, epsilon);
    }
    found
}

/// Measures the wall time of the forces on two particles by all, on the CPU, in s: less than that of a block step.
/// [`None`] where the engine fails.
fn seconds_of_two(p: &Particles, epsilon: f64) -> Option<f64> {
    const LONG_ENOUGH: Duration = Duration::from_millis(20);
    let mut engine =
        cpu::engine(Precision::F64, epsilon, Clock { start: 0.0, dt_max: 1.0 }, width(Precision::F64).ok()?);
    engine.load(p).ok()?;
    let two = p.len().min(2);
    let index = &[0, 1][..two];
    let targets = Targets { index, pos: &p.pos[..two], vel: &p.vel[..two] };
    let (mut forces, mut steps, began) = (Forces::default(), 0, Instant::now());
    while steps == 0 || began.elapsed() < LONG_ENOUGH {
        steps += 1;
        // At another time, for which all sources are predicted.
        engine.evaluate(Time(steps), targets, &mut forces).ok()?;
    }
    Some(began.elapsed().as_secs_f64() / steps as f64)
}

/// Returns a round number near `target` and no less than `min` that divides all of `whole`; [`None`] if none was found.
fn longest_step(target: f64, min: f64, whole: &[Span]) -> Option<f64> {
    let shortest = whole.iter().map(|span| span.length).fold(f64::INFINITY, f64::min);
    let max = (LONGER * target).min(shortest * (1.0 + 1e-12));
    let divides = |step: &f64| *step <= max && *step >= min && whole.iter().all(|span| span.in_steps(*step).is_some());
    let near = |digits: &[f64], min_part: f64| {
        let top = max.log10().floor() as i32;
        let powers = [top, top - 1].into_iter();
        let values = powers.flat_map(|power| digits.iter().map(move |digit| format!("{digit}e{power}")));
        values.filter_map(|text| text.parse::<f64>().ok()).find(|step| divides(step) && *step >= min_part * max)
    };
    let round = || [0.25, 0.15, 0.05].into_iter().find_map(|part| DIGITS.iter().find_map(|digits| near(digits, part)));
    // A part of the run or of an interval: by a round number, or by any.
    let part = || {
        let round = (0..10).flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * 10f64.powi(decade)));
        let first = (shortest / max).ceil().max(1.0);
        let any = (0..1000).map(|k| first + f64::from(k));
        round.chain(any).map(|parts| shortest / parts).find(|step| divides(step) && *step >= 0.01 * max)
    };
    Some(shortest).filter(divides).or_else(round).or_else(part)
}

/// Returns a round multiple of `dt_max` for at most [`MAX_OUTPUTS`] outputs of a run, which divides it if that is
/// possible; `dt_max` itself for a run without an end.
fn interval(dt_max: f64, span: Option<f64>) -> f64 {
    let Some(span) = span else { return dt_max };
    let steps = (span / dt_max).round();
    let multiples = (0..9).flat_map(|decade| [1.0, 2.0, 4.0, 5.0, 8.0].map(|digit| digit * 10f64.powi(decade)));
    let enough: Vec<f64> = multiples.filter(|multiple| steps / multiple <= MAX_OUTPUTS).collect();
    let whole = enough.iter().take_while(|multiple| **multiple <= 10.0 * enough[0]).find(|m| steps % **m == 0.0);
    let multiple = whole.or(enough.first()).copied().unwrap_or(1.0);
    let rounded = twelve_digits(multiple * dt_max);
    if whole_multiple(rounded, dt_max).is_some() { rounded } else { multiple * dt_max }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tisane::time::MAX_DT_MAX_STEPS;

    #[test]
    fn steps_are_round_and_divide_the_run() {
        for (target, whole, expected) in [
            (0.1147, vec![100.0], 0.1),
            (0.1147, vec![7.77], 0.03),
            (0.19, vec![10.0], 0.2),
            (0.015, vec![1000.0, 0.25], 0.01),
            // Shorter than a step, and no decimal.
            (1.0, vec![0.007], 0.007),
            (0.03, vec![1.0 / 3.0], 1.0 / 30.0),
            (1e-9, vec![1e-3], 1e-9),
            (0.1, vec![], 0.1),
        ] {
            let whole: Vec<Span> = whole.into_iter().map(Span::exact).collect();
            let step = longest_step(target, 0.0, &whole).unwrap();
            assert!((step / expected - 1.0).abs() < 1e-12, "{target} {whole:?}: {step}");
        }
        assert_eq!(longest_step(0.1, 0.0, &[1.0, std::f64::consts::E].map(Span::exact)), None);
        assert_eq!(longest_step(0.1, 0.15, &[Span::exact(1.0)]), None);
        // Late times are rounded more than a step may be off.
        let late = [Span::between(100.0, 100.000_001).as_decimal(), Span::exact(5e-8)];
        assert_eq!(longest_step(1.0, late[0].shortest_step(), &late), Some(5e-8));
    }

    #[test]
    fn outputs_are_few_and_at_round_times() {
        for (dt_max, span, expected) in
            [(0.1, 100.0, 0.2), (0.1, 50.0, 0.1), (0.01, 1000.0, 2.0), (0.03, 7.77, 0.03), (0.007, 7.0, 0.014)]
        {
            assert_eq!(interval(dt_max, Some(span)), expected, "{dt_max} {span}");
        }
        assert_eq!(interval(0.25, None), 0.25);
    }

    proptest! {
        #[test]
        fn any_length_of_a_run_has_a_step(target in 1e-6..1e6_f64, span in 1e-3..1e9_f64) {
            let min = span / MAX_DT_MAX_STEPS as f64;
            let target = target.max(2.0 * min);
            let step = longest_step(target, min, &[Span::exact(span)]).unwrap();
            prop_assert!(step <= 1.3 * target && whole_multiple(span, step).is_some());
            let every = interval(step, Some(span));
            prop_assert!(whole_multiple(every, step).is_some());
            prop_assert!(span / every < 1.001 * MAX_OUTPUTS);
        }
    }
}
