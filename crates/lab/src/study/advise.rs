//! `tisane advise`: short trials of a system, and the integrator, mode and accuracy that they recommend.
//!
//! Each trial runs the beginning of the run with one integrator, mode and accuracy x (ν or η). The energy error goes on
//! from dt_max to dt_max by increments; their mean μ and scatter σ over k steps say what M steps do, a drift and a random
//! walk: |ΔE/E| = √((μ M)² + σ² M). That the mean is known only to σ/√k is the uncertainty. Over x the truncation
//! error is a power law. Where a mode has the steps of f64 it is taken from f64, and what the mode rounds is how far
//! its errors are from those of f64 with the same x, where that is least: at large x the trajectories themselves part.
//! Where a mode has other steps, only the power is that of f64. The wall time is a power law too.
//!
//! What was measured comes before what the laws say: a trial that reaches the goal is recommended, unless a law
//! surpasses it by more than its uncertainty. What the laws recommend is then tried while there is time, and the trial
//! joins the others. The error of a trial that covered the whole run is what was measured at its end. An energy error
//! that is 0 at every dt_max, as where no energy changes, says nothing: such trials are no evidence.

mod positions;
mod promises;
mod report;
mod trial;
mod tried;

pub use positions::{Compared, Positions, RIGHT, positions};
pub use promises::{Advice, Goal, Promise, advise, extrapolate, promises, two_digits_down};
pub use trial::{Candidate, Trial};
pub use tried::{Budget, Cause, Failed, Needs, Trials, candidates, integrators, trials};

#[cfg(test)]
mod tests;
