//! Loop over block steps whose kernels the host launches one after the other: counts the steps that the device reports, and
//! decides where they end.

use super::step_memory::{Report, StepMemory};
use crate::error::Result;
use crate::force::block_steps::{Pause, Span, StepRules, StepScheme, Taken};
use crate::force::cuda::driver::device::Device;
use std::time::{Duration, Instant};

/// Time after which the host looks again whether it has to pause.
const LOOK: Duration = Duration::from_millis(5);

/// Span of block steps, and what was taken of it.
pub struct LaunchedSpan<'a> {
    rules: &'a StepRules,
    span: Span,
    pause: Option<&'a Pause>,
    /// Shortest time after which the pause ends the steps; a stop that it reports ends them at once.
    at_least: Duration,
    began: Instant,
    looked: Instant,
    /// Number of the next report.
    number: u64,
    in_progress: Option<Report>,
    taken: Taken,
    /// Number of the targets of the last step that have to be looked at.
    to_look_at: u64,
}

impl<'a> LaunchedSpan<'a> {
    /// Begins a span.
    pub fn new(rules: &'a StepRules, span: Span, (pause, at_least): (Option<&'a Pause>, Duration)) -> Self {
        let began = Instant::now();
        let taken = Taken { now: span.from, ..Taken::default() };
        Self { rules, span, pause, at_least, began, looked: began, number: 0, in_progress: None, taken, to_look_at: 0 }
    }

    /// Waits for the report after the step in progress, in which the devices `with` share, and counts this step if it was
    /// taken. Returns the report if another step has to be launched, which is then in progress; [`None`] at the end.
    ///
    /// # Errors
    /// If a device fails.
    pub fn next(&mut self, device: &Device, memory: &StepMemory, with: &[&Device]) -> Result<Option<Report>> {
        let Self { rules, span, taken, to_look_at, .. } = self;
        let report = memory.wait_for(device, self.number, with)?;
        *to_look_at = 0;
        if let Some(step) = self.in_progress {
            if report.found > 0 {
                // After the step before.
                return Ok(None);
            }
            if report.refused {
                taken.refused = 1;
                return Ok(None);
            }
            taken.now = step.moment;
            taken.block_steps += 1;
            taken.particle_steps += step.targets;
            taken.clamped = report.clamped;
            *to_look_at = report.looked;
            taken.pairs = matches!(rules.scheme, StepScheme::AhmadCohen { .. }).then_some(report.pairs);
        }
        let below_floor = !rules.clamps && report.deepest > u64::from(rules.floor.0);
        if report.moment > span.until || taken.block_steps == span.max || below_floor {
            return Ok(None);
        }
        if taken.block_steps > 0 && self.looked.elapsed() >= LOOK {
            self.looked = Instant::now();
            if self.pause.is_some_and(|pause| pause.is_due_after(self.began, self.at_least)) {
                return Ok(None);
            }
        }
        self.in_progress = Some(report);
        self.number += 1;
        Ok(Some(report))
    }

    /// Returns the number of the targets of the step that was taken last that the device has to look at, where it looks for pairs.
    pub const fn to_look_at(&self) -> usize {
        self.to_look_at as usize
    }

    /// Returns the steps that were taken.
    pub const fn taken(&self) -> Taken {
        self.taken
    }
}
