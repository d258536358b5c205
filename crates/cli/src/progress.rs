//! Progress of a run: a bar on a terminal, elsewhere a line for each output.

use super::Verbosity;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};
use tisane_io::checkpoint::RunState;
use tisane_io::fields::DiagnosticsRow;
use tisane_run::simulation::{Observer, Plan};

/// Interval between updates of the bar: short for the eye, long for the run.
const REFRESH: Duration = Duration::from_millis(100);

/// Returns a bar of this length with the time left, visible on terminals only, and a flag that lines are to be printed
/// instead.
pub fn bar(verbosity: Verbosity, length: u64) -> (ProgressBar, bool) {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let terminal = std::io::stderr().is_terminal() && !dumb;
    let target = if terminal && !verbosity.quiet {
        ProgressDrawTarget::stderr_with_hz(10)
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{wide_bar} {percent:>3}%  {msg}  ETA {left}");
    let left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
        let eta = humantime::format_duration(Duration::from_secs(state.eta().as_secs())).to_string();
        let _ = write!(out, "{eta}");
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
    last: Instant,
    energy_error: f64,
    began: (Instant, u64),
    header_printed: bool,
}

impl RunProgress {
    /// Begins with a run that continues from `state`.
    pub fn new(verbosity: Verbosity, plan: &Plan, state: &RunState, time_unit: String, bars: &MultiProgress) -> Self {
        let (bar, lines) = bar(verbosity, plan.end.0);
        let bar = bars.add(bar);
        bar.set_position(state.now.0);
        bar.reset_eta();
        Self {
            bar,
            lines,
            time_unit,
            time_scale: state.scale.time,
            last: Instant::now(),
            energy_error: state.references.max_relative_energy_error,
            began: (Instant::now(), state.counters.pair_interactions),
            header_printed: false,
        }
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn rate(&self, pairs: u64) -> f64 {
        (pairs - self.began.1) as f64 / self.began.0.elapsed().as_secs_f64().max(1e-9)
    }
}

impl Observer for RunProgress {
    fn step(&mut self, state: &RunState) {
        if self.last.elapsed() < REFRESH {
            return;
        }
        self.last = Instant::now();
        let mut message = String::new();
        let _ = write!(
            message,
            "t = {:.4} {}  {:.2e} pairs/s  dE/E {:+.1e}",
            state.clock.time(state.now) * self.time_scale,
            self.time_unit,
            self.rate(state.counters.pair_interactions),
            self.energy_error
        );
        self.bar.set_message(message);
        self.bar.set_position(state.now.0);
    }

    fn output(&mut self, row: &DiagnosticsRow) {
        self.energy_error = row.relative_energy_error;
        if !self.lines {
            return;
        }
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
            "{:>14.6}  {:>+11.3e}  {:>9.5}  {:>12}  {:>11.1}  {:>11.3e}  {:>9.2e}",
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
