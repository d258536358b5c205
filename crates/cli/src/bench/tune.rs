//! `tisane bench force --tune`.

use crate::arguments::Verbosity;
use crate::progress;
use crate::screen::print;
use indicatif::ProgressBar;
use std::path::Path;
use std::time::Instant;
use tisane::error::Result;
use tisane_lab::bench::tune::{Grid, Progress, Tuned};

pub fn tune(grid: &Grid, file: &Path, device: u32, verbosity: Verbosity) -> Result<u8> {
    let Tuned { rows, seconds, mean_gain, best_gain } = grid.tune(file, device, &mut TuneProgress::new(verbosity))?;
    print(&format!(
        "{rows} rows after {seconds:.0} s; the shapes taken before took {mean_gain:.3} times as long in the mean, \
         {best_gain:.2} times at most\nto use the table: TISANE_SHAPES={}\n",
        file.display()
    ))
}

/// Progress of a tuning: a bar on a terminal, elsewhere a line for each part of the table.
struct TuneProgress {
    verbosity: Verbosity,
    bar: ProgressBar,
    lines: bool,
    began: Instant,
    /// Estimated seconds of what is finished.
    done: f64,
    /// Estimated seconds of everything.
    all: f64,
}

impl TuneProgress {
    fn new(verbosity: Verbosity) -> Self {
        let bar = ProgressBar::hidden();
        Self { verbosity, bar, lines: false, began: Instant::now(), done: 0.0, all: 1.0 }
    }
}

impl Progress for TuneProgress {
    fn begin(&mut self, seconds: f64) {
        (self.bar, self.lines) = progress::bar(self.verbosity, (1e3 * seconds) as u64);
        (self.began, self.done, self.all) = (Instant::now(), 0.0, seconds);
    }

    fn measure(&mut self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    fn finish(&mut self, seconds: f64) {
        self.done += seconds;
        self.bar.set_position((1e3 * self.done) as u64);
    }

    fn written(&mut self, what: &str) {
        if !self.lines {
            return;
        }
        let (part, spent) = (self.done / self.all, self.began.elapsed().as_secs_f64());
        // A closed pipe must not end the tuning.
        let _ = print(&format!(
            "{what}: done; {:.0} % of all after {spent:.0} s, about {:.0} s left\n",
            100.0 * part,
            spent / part - spent
        ));
    }

    fn end(&mut self) {
        self.bar.finish_and_clear();
    }
}
