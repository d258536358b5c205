//! Progress of a run: a bar on a terminal, elsewhere a line for each output and each minute.
//!
//! Not by tracing-indicatif: it draws a bar for each open span. The span of a run would have to be on in every run, and not with a trace
//! alone; length, position, message and style are set by the same calls through its extension of spans; the lines where there is
//! no terminal, and the bars of films, studies and analyses, which have no span, would stay. It would replace the twenty lines of
//! `log.rs` that hold the bar while a line is written.

use super::arguments::Verbosity;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};
use tisane::time::Time;
use tisane::units::wall_time;
use tisane_io::checkpoint::RunState;
use tisane_io::fields::DiagnosticsRow;
use tisane_io::pace::{self, Moment};
use tisane_run::simulation::{Observer, Plan};

/// Interval between updates of the bar: short for the eye, long for the run.
const REFRESH: Duration = Duration::from_millis(100);
/// Interval between lines where there is no bar.
const LINE_INTERVAL: Duration = Duration::from_secs(60);
/// Wall time after which the rate of a run says something about its end.
const SETTLED: Duration = Duration::from_secs(1);

/// Returns a bar of this length with the time left, visible on terminals only, and a flag that lines are to be printed
/// instead.
pub fn bar(verbosity: Verbosity, length: u64) -> (ProgressBar, bool) {
    bar_with(verbosity, length, "{wide_bar} {percent:>3}%  {msg}  {left}")
}

/// Returns a bar by a template, as [`bar`].
fn bar_with(verbosity: Verbosity, length: u64, template: &str) -> (ProgressBar, bool) {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let terminal = std::io::stderr().is_terminal() && !dumb;
    let target = if terminal && !verbosity.quiet {
        ProgressDrawTarget::stderr_with_hz(10)
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template(template);
    let left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        // Before it has moved, a bar knows no end.
        let seconds = state.eta().as_secs();
        if seconds > 0 && state.elapsed() >= SETTLED {
            let _ = write!(out, "ETA {}", wall_time(seconds as f64));
        }
    };
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar()).with_key("left", left);
    (ProgressBar::with_draw_target(Some(length), target).with_style(style), !terminal && !verbosity.quiet)
}

/// Progress of a run on the screen.
pub struct RunProgress {
    bar: ProgressBar,
    lines: bool,
    time_unit: String,
    time_scale: f64,
    /// Digits of times after the point.
    decimals: usize,
    end: Time,
    last: Instant,
    last_line: Instant,
    energy_error: f64,
    began: Began,
    /// Start of the session and its outputs, without those that the present pace does not need.
    course: Vec<Moment>,
    header_printed: bool,
}

/// State in which a session began.
#[derive(Clone, Copy, Debug)]
struct Began {
    wall: Instant,
    /// Wall time of the run before it, in s.
    before: f64,
    pairs: u64,
}

impl RunProgress {
    /// Begins with a run that continues from `state`.
    pub fn new(verbosity: Verbosity, plan: &Plan, state: &RunState, time_unit: String, bars: &MultiProgress) -> Self {
        let (bar, lines) = bar_with(verbosity, plan.end.0, "{wide_bar} {percent:>3}%  {msg}");
        let bar = bars.add(bar);
        bar.set_position(state.now.0);
        let now = Instant::now();
        let span = (state.clock.time(plan.end) - state.clock.start) * state.scale.time;
        Self {
            bar,
            lines,
            time_unit,
            time_scale: state.scale.time,
            decimals: decimals(span),
            end: plan.end,
            last: now,
            last_line: now,
            energy_error: state.references.max_relative_energy_error,
            began: Began { wall: now, before: state.wall_seconds, pairs: state.counters.pair_interactions },
            course: vec![Moment { time: state.clock.time(state.now), wall_seconds: state.wall_seconds }],
            header_printed: false,
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Returns the wall time left at the present pace, in s; [`None`] before it is known.
    fn left(&self, state: &RunState) -> Option<f64> {
        if self.began.wall.elapsed() < SETTLED {
            return None;
        }
        let wall_seconds = self.began.before + self.began.wall.elapsed().as_secs_f64();
        let now = Moment { time: state.clock.time(state.now), wall_seconds };
        let course: Vec<Moment> = self.course.iter().copied().chain([now]).collect();
        pace::to_go(&course, state.clock.time(self.end))
    }

    /// Records a moment of the run.
    fn record(&mut self, moment: Moment) {
        self.course.push(moment);
        // Of two moments that are not recent the later one is enough.
        let recent = pace::recent(&self.course).unwrap_or(0);
        self.course.drain(..recent);
    }

    /// Describes time, rate, energy error and the time left.
    fn message(&self, state: &RunState) -> String {
        let pairs = (state.counters.pair_interactions - self.began.pairs) as f64;
        let left = self.left(state).map_or(String::new(), |left| format!("  ETA {}", wall_time(left)));
        format!(
            "t = {:.*} {}  {:.2e} pairs/s  dE/E {:+.1e}{left}",
            self.decimals,
            state.clock.time(state.now) * self.time_scale,
            self.time_unit,
            pairs / self.began.wall.elapsed().as_secs_f64().max(1e-9),
            self.energy_error
        )
    }

    /// Describes the progress in a line.
    fn line(&self, state: &RunState) -> String {
        format!("{:3.0} %  {}", 100.0 * state.now.0 as f64 / self.end.0 as f64, self.message(state))
    }
}

/// Returns the digits after the point that show a ten-thousandth of a span of time.
fn decimals(span: f64) -> usize {
    let exponent = (4.0 - span.log10()).ceil();
    if exponent.is_finite() { exponent.clamp(0.0, 12.0) as usize } else { 4 }
}

impl Observer for RunProgress {
    fn step(&mut self, state: &RunState) {
        if self.last.elapsed() < REFRESH {
            return;
        }
        self.last = Instant::now();
        self.bar.set_message(self.message(state));
        self.bar.set_position(state.now.0);
        if self.lines && self.last_line.elapsed() >= LINE_INTERVAL {
            self.last_line = Instant::now();
            // A closed pipe must not end a run.
            let mut out = std::io::stdout().lock();
            let _ = writeln!(out, "{}", self.line(state));
            let _ = out.flush();
        }
    }

    fn output(&mut self, row: &DiagnosticsRow) {
        self.energy_error = row.relative_energy_error;
        self.record(Moment { time: row.time, wall_seconds: row.wall_seconds });
        if !self.lines {
            return;
        }
        self.last_line = Instant::now();
        // A closed pipe must not end a run, so failures to print are ignored.
        let mut out = std::io::stdout().lock();
        if !self.header_printed {
            self.header_printed = true;
            let unit = &self.time_unit;
            let _ = writeln!(
                out,
                "{:>14}  {:>11}  {:>9}  {:>12}  {:>11}  {:>11}  {:>9}",
                format!("time [{unit}]"),
                "dE/E",
                "Q",
                "block steps",
                "mean block",
                "min step",
                "pairs/s"
            );
        }
        let _ = writeln!(
            out,
            "{:>14.*}  {:>+11.3e}  {:>9.5}  {:>12}  {:>11.1}  {:>11.3e}  {:>9.2e}",
            self.decimals.max(6),
            row.time * self.time_scale,
            row.relative_energy_error,
            row.virial_ratio,
            row.block_steps,
            row.mean_block_size,
            row.step_min * self.time_scale,
            row.pairs_per_second
        );
        let _ = out.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane::time::Clock;
    use tisane::units::Scale;
    use tisane_io::checkpoint::{Counters, OutputCounts, References};

    #[test]
    fn times_have_the_digits_that_their_span_needs() {
        for (span, expected) in [(10.0, 3), (1.0, 4), (0.002, 7), (5e4, 0), (0.0, 4), (1e-30, 12)] {
            assert_eq!(decimals(span), expected, "{span}");
        }
    }

    #[test]
    fn a_line_has_the_time_the_rate_and_the_time_left() {
        let wall = Instant::now().checked_sub(Duration::from_secs(100)).expect("a moment before");
        let mut progress = RunProgress {
            bar: ProgressBar::hidden(),
            lines: true,
            time_unit: "Myr".into(),
            time_scale: 2.0,
            decimals: 4,
            end: Time::from_dt_max(8),
            last: wall,
            last_line: wall,
            energy_error: -3e-9,
            began: Began { wall, before: 0.0, pairs: 0 },
            course: vec![Moment::default()],
            header_printed: true,
        };
        let mut state = RunState {
            now: Time::from_dt_max(2),
            clock: Clock { start: 0.0, dt_max: 0.25 },
            scale: Scale::IDENTITY,
            counters: Counters { pair_interactions: 1 << 40, ..Counters::default() },
            written: OutputCounts::default(),
            references: References::default(),
            orbit: None,
            wall_seconds: 0.0,
        };
        let line = progress.line(&state);
        let parts = [" 25 %", "t = 1.0000 Myr", "1.10e10 pairs/s", "dE/E -3.0e-9", "ETA 5 min"];
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
        progress.step(&state);
        assert!(progress.last_line.elapsed() < Duration::from_secs(50), "a line was printed");
        // A session that has not moved knows no end.
        state.now = Time::default();
        assert!(!progress.line(&state).contains("ETA"));
        // The time left is that of the last tenth of the wall time, which took 20 s for a quarter of a unit.
        state.now = Time::from_dt_max(3);
        (0..=80).for_each(|k| progress.record(Moment { time: 0.5 * f64::from(k) / 80.0, wall_seconds: f64::from(k) }));
        assert!(progress.course.len() < 12, "{}", progress.course.len());
        let left = progress.left(&state).expect("an end");
        assert!((left / 100.0 - 1.0).abs() < 0.1, "{left}");
    }
}
