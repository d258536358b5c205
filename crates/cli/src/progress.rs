//! Progress of a run: a bar on a terminal, elsewhere a line for each output and each minute.
//!
//! Not by tracing-indicatif: it draws a bar for each open span. The span of a run would have to be on in every run, and not with a trace
//! alone; length, position, message and style are set by the same calls through its extension of spans; the lines where there is
//! no terminal, and the bars of films, studies and analyses, which have no span, would stay. It would replace the twenty lines of
//! `log.rs` that hold the bar while a line is written.

mod table;

use super::arguments::Verbosity;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};
use table::{Line, Table, decimals};
use tisane::units::wall_time;
use tisane_io::checkpoint::RunState;
use tisane_io::fields::{ClusterRow, DiagnosticsRow};
use tisane_io::pace::{self, Moment};
use tisane_run::simulation::{Observer, Simulation};

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
    table: Table,
    /// Digits of times after the point, for the bar.
    decimals: usize,
    time_unit: String,
    end: f64,
    last: Instant,
    last_line: Instant,
    /// Energy error of the last output; NaN before it.
    energy_error: f64,
    /// Last row about the cluster, where it is one.
    cluster: Option<ClusterRow>,
    /// Output whose line waits for the row about the cluster at its time.
    waiting: Option<DiagnosticsRow>,
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
}

impl RunProgress {
    /// Begins with a run where it starts, or continues.
    pub fn new(verbosity: Verbosity, simulation: &Simulation, bars: &MultiProgress) -> Self {
        let (plan, state) = (simulation.plan(), &simulation.system.state);
        let (bar, lines) = bar_with(verbosity, plan.end.0, "{wide_bar} {percent:>3}%  {msg}");
        let bar = bars.add(bar);
        bar.set_position(state.now.0);
        let now = Instant::now();
        let end = state.clock.time(plan.end);
        Self {
            bar,
            lines,
            table: Table::new(simulation),
            decimals: decimals((end - state.clock.start) * state.scale.time),
            time_unit: simulation.units().units.time.name.clone(),
            end,
            last: now,
            last_line: now,
            energy_error: f64::NAN,
            cluster: None,
            waiting: None,
            began: Began { wall: now, before: state.wall_seconds },
            course: vec![Moment { time: state.clock.time(state.now), wall_seconds: state.wall_seconds }],
            header_printed: false,
        }
    }

    /// Prints what waits, and removes the bar.
    pub fn finish(&mut self) {
        self.print_waiting(None);
        self.bar.finish_and_clear();
    }

    /// Returns the wall time left at the present pace, in s, where the run has come to a moment; [`None`] before it is known.
    fn left(&self, now: Option<Moment>) -> Option<f64> {
        if self.began.wall.elapsed() < SETTLED {
            return None;
        }
        let course: Vec<Moment> = self.course.iter().copied().chain(now).collect();
        pace::to_go(&course, self.end).filter(|left| *left > 0.0)
    }

    /// Records a moment of the run.
    fn record(&mut self, moment: Moment) {
        self.course.push(moment);
        // Of two moments that are not recent the later one is enough.
        let recent = pace::recent(&self.course).unwrap_or(0);
        self.course.drain(..recent);
    }

    /// Describes the time, the cluster or the steps, the energy error and the time left.
    fn message(&self, state: &RunState) -> String {
        let wall_seconds = self.began.before + self.began.wall.elapsed().as_secs_f64();
        let now = Moment { time: state.clock.time(state.now), wall_seconds };
        let left = self.left(Some(now)).map_or(String::new(), |left| format!("  ETA {}", wall_time(left)));
        let what = match &self.cluster {
            Some(row) => self.table.describe(row),
            None => format!("{} block steps", state.counters.block_steps),
        };
        let error = match self.energy_error {
            error if error.is_nan() => String::new(),
            error => format!("  dE/E {error:+.1e}"),
        };
        let time = now.time * state.scale.time;
        format!("t = {time:.*} {}  {what}{error}{left}", self.decimals, self.time_unit)
    }

    /// Describes the progress in a line.
    fn line(&self, state: &RunState) -> String {
        let end = (self.end - state.clock.start).max(f64::MIN_POSITIVE);
        let done = (state.clock.time(state.now) - state.clock.start) / end;
        format!("{:3.0} %  {}", 100.0 * done, self.message(state))
    }

    /// Prints the line of the output that waits, if one does.
    fn print_waiting(&mut self, cluster: Option<&ClusterRow>) {
        let Some(row) = self.waiting.take().filter(|_| self.lines) else { return };
        self.last_line = Instant::now();
        // A closed pipe must not end a run, so failures to print are ignored.
        let mut out = std::io::stdout().lock();
        if !self.header_printed {
            self.header_printed = true;
            let _ = writeln!(out, "{}", self.table.header());
        }
        let _ = writeln!(out, "{}", self.table.line(&Line { row: &row, cluster, left: self.left(None) }));
        let _ = out.flush();
    }
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

    fn output(&mut self, row: &DiagnosticsRow, survey: bool) {
        self.energy_error = self.table.energy_error(row);
        self.record(Moment { time: row.time, wall_seconds: row.wall_seconds });
        self.waiting = Some(row.clone());
        if !(survey && self.table.has_cluster()) {
            self.print_waiting(None);
        }
    }

    fn surveyed(&mut self, row: &ClusterRow) {
        self.print_waiting(Some(row));
        self.cluster = self.table.has_cluster().then(|| row.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane::time::{Clock, Time};
    use tisane::units::Scale;
    use tisane_io::checkpoint::{Counters, OutputCounts, References};

    #[test]
    fn times_have_the_digits_that_their_span_needs() {
        for (span, expected) in [(10.0, 3), (1.0, 4), (0.002, 7), (5e4, 0), (0.0, 4), (1e-30, 12)] {
            assert_eq!(decimals(span), expected, "{span}");
        }
    }

    /// Progress of a run whose session began 100 s ago.
    fn begun() -> RunProgress {
        let wall = Instant::now().checked_sub(Duration::from_secs(100)).expect("a moment before");
        RunProgress {
            bar: ProgressBar::hidden(),
            lines: true,
            table: Table::example(true, false),
            decimals: 4,
            time_unit: "Myr".into(),
            end: 2.0,
            last: wall,
            last_line: wall,
            energy_error: f64::NAN,
            cluster: None,
            waiting: None,
            began: Began { wall, before: 0.0 },
            course: vec![Moment::default()],
            header_printed: true,
        }
    }

    #[test]
    fn a_line_has_the_cluster_and_the_time_left() {
        let mut progress = begun();
        let wall = progress.began.wall;
        let mut state = RunState {
            now: Time::from_dt_max(2),
            clock: Clock { start: 0.0, dt_max: 0.25 },
            scale: Scale { time: 2.0, ..Scale::IDENTITY },
            counters: Counters { block_steps: 77, ..Counters::default() },
            written: OutputCounts::default(),
            references: References::default(),
            orbit: None,
            wall_seconds: 0.0,
        };
        let contains = |line: &str, parts: &[&str]| assert!(parts.iter().all(|part| line.contains(part)), "{line}");
        contains(&progress.line(&state), &[" 25 %", "t = 1.0000 Myr", "77 block steps  ETA 5 min"]);
        let row = DiagnosticsRow { cluster_energy_error: Some(-3e-9), ..DiagnosticsRow::default() };
        progress.output(&row, true);
        assert!(progress.waiting.is_some(), "a line waits for the row about the cluster");
        progress.surveyed(&ClusterRow { bound_mass: 1.0, binaries: 45, ..ClusterRow::default() });
        assert!(progress.waiting.is_none() && progress.last_line.elapsed() < Duration::from_secs(50), "it was printed");
        let line = progress.line(&state);
        contains(&line, &["M 565.0 Msun  r_h 0 pc  binaries 45  dE/E -3.0e-9"]);
        assert!(line.chars().count() < 90, "{line}");
        // An output without a survey does not wait.
        progress.output(&row, false);
        assert!(progress.waiting.is_none());
        progress.last_line = wall;
        progress.step(&state);
        assert!(progress.last_line.elapsed() < Duration::from_secs(50), "a line was printed");
        // A session that has not moved knows no end.
        state.now = Time::default();
        assert!(!progress.line(&state).contains("ETA"));
    }

    #[test]
    fn the_time_left_is_that_of_the_last_tenth_of_the_wall_time() {
        let mut progress = begun();
        // It took 20 s for a quarter of a unit.
        (0..=80).for_each(|k| progress.record(Moment { time: 0.5 * f64::from(k) / 80.0, wall_seconds: f64::from(k) }));
        assert!(progress.course.len() < 12, "{}", progress.course.len());
        let left = progress.left(Some(Moment { time: 0.75, wall_seconds: 100.0 })).expect("an end");
        assert!((left / 100.0 - 1.0).abs() < 0.1, "{left}");
    }
}
