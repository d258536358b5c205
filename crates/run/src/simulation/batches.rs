//! Spans of the trace over block steps: a span for each would be as long to write as the step to take.

use std::time::{Duration, Instant};
use tisane_io::checkpoint::Counters;
use tracing::field::Empty;
use tracing::span::EnteredSpan;

/// Time after which a span over block steps ends and the next one begins.
const LONG: Duration = Duration::from_millis(100);

/// Span over the block steps since the last output, or since a tenth of a second; none without a trace.
#[derive(Debug, Default)]
pub(super) struct Batches {
    batch: Option<Batch>,
}

#[derive(Debug)]
struct Batch {
    span: EnteredSpan,
    began: Instant,
    before: Counters,
}

impl Batches {
    /// Opens a span where there is none.
    pub(super) fn begin(&mut self, counters: &Counters) {
        if self.batch.is_some() {
            return;
        }
        let span = tracing::trace_span!("block steps", block_steps = Empty, particle_steps = Empty, pairs = Empty);
        if !span.is_disabled() {
            self.batch = Some(Batch { span: span.entered(), began: Instant::now(), before: *counters });
        }
    }

    /// Ends the span, if there is one.
    pub(super) fn end(&mut self, counters: &Counters) {
        if let Some(Batch { span, before, .. }) = self.batch.take() {
            span.record("block_steps", counters.block_steps - before.block_steps);
            span.record("particle_steps", counters.particle_steps - before.particle_steps);
            span.record("pairs", counters.pair_interactions - before.pair_interactions);
        }
    }

    /// Ends the span if it has become long.
    pub(super) fn end_if_long(&mut self, counters: &Counters) {
        if self.batch.as_ref().is_some_and(|batch| batch.began.elapsed() >= LONG) {
            self.end(counters);
        }
    }
}
