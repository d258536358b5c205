//! Several GPUs of one host that work as one engine.
//!
//! Each holds all sources, and evaluates a part of the targets of a block: the whole canonical sum on each of them, so that
//! the number of GPUs changes no bit. Of whole block steps on the devices each takes all, but the forces: these are sent to
//! the others, and nothing else is.

use super::device_steps::{DeviceSteps, StepKernels};
use super::group_steps::{Exchange, Member, take_up_to};
use super::launch_shape::choose;
use super::launched_steps::Launcher;
use super::{Buffers, CudaEngine, held};
use crate::error::{Error, Result};
use crate::force::block_steps::{Pause, Span, StepRules, StepScheme, Taken};
use crate::force::split::put_part;
use crate::force::{ForceEngine, Forces, Targets};
use crate::particles::Particles;
use crate::time::Time;
use std::ops::Range;

/// Number of targets that are dealt together: a warp.
const TOGETHER: usize = 32;

/// Engine of several GPUs.
pub struct CudaGroup {
    // Declared in the order in which they must be dropped: memory before the devices.
    exchange: Option<Exchange>,
    direct: bool,
    engines: Vec<CudaEngine>,
    some: Forces,
}

impl CudaGroup {
    /// Makes one engine of several, one a device.
    ///
    /// # Errors
    /// [`Error::Input`] if there is none, or if their bits are not the same: in modes whose kernels take the hardware's
    /// approximation of 1/√, they must have the same compute capability.
    pub fn new(mut engines: Vec<CudaEngine>) -> Result<Self> {
        let Some(first) = engines.first() else { return Err(Error::input("CUDA", "no device for a group of them")) };
        let (precision, capability) = (first.precision, first.device.capability()?);
        for engine in &engines[1..] {
            let other = engine.device.capability()?;
            if !precision.in_f64() && other != capability {
                let [a, b] = [(first, capability), (engine, other)]
                    .map(|(it, (major, minor))| format!("{} ({major}.{minor})", it.device.name()));
                let problem = format!(
                    "{a} and {b} have other compute capabilities, and their bits in {} are not the same",
                    precision.name()
                );
                return Err(Error::input("CUDA", problem).with_help("choose devices of one kind, or the mode f64"));
            }
        }
        let mut direct = true;
        for engine in &engines {
            for other in &engines {
                direct &= engine.device.reach(&other.device)?;
            }
        }
        for engine in &mut engines {
            let room_for = engine.held.as_ref().map(|held| held.sources);
            // The resident kernel is for one device.
            engine.set_step_kernels(Some(StepKernels::Launched));
            room_for.map_or(Ok(()), |n| engine.reserve(n))?;
        }
        Ok(Self { exchange: None, direct, engines, some: Forces::default() })
    }

    /// Returns the engines.
    #[must_use]
    pub fn engines(&self) -> &[CudaEngine] {
        &self.engines
    }

    /// Starts or stops measuring the time of each phase on the first device.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn set_profile(&mut self, on: bool) -> Result<()> {
        self.engines[0].set_profile(on)
    }

    /// Returns the number of multiprocessors of each device, by which targets are dealt.
    fn weights(&self) -> Vec<usize> {
        self.engines.iter().map(|engine| engine.device.multiprocessors()).collect()
    }
}

/// Deals `n` targets by weight, whole groups of [`TOGETHER`] as far as there are enough.
pub fn deal(n: usize, weights: &[usize]) -> Vec<Range<usize>> {
    let (all, groups): (usize, _) = (weights.iter().sum(), n.div_ceil(TOGETHER));
    let mut before = 0;
    let mut bound = |weight: usize| {
        before += weight;
        (groups * before / all.max(1) * TOGETHER).min(n)
    };
    let mut first = 0;
    weights
        .iter()
        .map(|&weight| {
            let last = bound(weight);
            std::mem::replace(&mut first, last)..last
        })
        .collect()
}

impl ForceEngine for CudaGroup {
    fn load(&mut self, all: &Particles) -> Result<()> {
        self.engines.iter_mut().try_for_each(|engine| engine.load(all))
    }

    fn update(&mut self, all: &Particles, changed: &[u32]) -> Result<()> {
        self.engines.iter_mut().try_for_each(|engine| engine.update(all, changed))
    }

    fn evaluate(&mut self, now: Time, targets: Targets<'_>, out: &mut Forces) -> Result<()> {
        self.evaluate_part(now, targets, 0..targets.len(), out)
    }

    fn evaluate_part(&mut self, now: Time, targets: Targets<'_>, part: Range<usize>, out: &mut Forces) -> Result<()> {
        let n = part.len();
        let parts = deal(n, &self.weights());
        let of_engine = |own: &Range<usize>| part.start + own.start..part.start + own.end;
        // All are at work before the host waits for the first.
        let begun = self.engines.iter_mut().zip(&parts).try_for_each(|(engine, own)| {
            if own.is_empty() { Ok(()) } else { engine.begin_sum(now, (targets, of_engine(own)), true) }
        });
        for (engine, own) in self.engines.iter_mut().zip(&parts).filter(|(_, own)| !own.is_empty()) {
            engine.end_sum(of_engine(own), &mut self.some)?;
            put_part(out, n, own, &self.some);
        }
        begun?;
        out.resize(n);
        Ok(())
    }

    fn can_take_steps(&mut self) -> Result<bool> {
        for engine in &mut self.engines {
            if !engine.can_take_steps()? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn take_steps(
        &mut self,
        p: &mut Particles,
        rules: &StepRules,
        span: Span,
        pause: Option<&Pause>,
    ) -> Result<Option<Taken>> {
        if matches!(rules.scheme, StepScheme::AhmadCohen { .. }) || !self.can_take_steps()? {
            return Ok(None);
        }
        let weights = self.weights();
        for engine in &mut self.engines {
            if held(&mut engine.held)?.staging.changed() > 0 {
                engine.flush()?;
            }
        }
        let slots = held(&mut self.engines[0].held)?.slots;
        if self.exchange.as_ref().is_none_or(|exchange| exchange.slots() != slots) {
            self.exchange = None;
            self.exchange = Some(Exchange::new(&self.engines, slots, self.direct)?);
        }
        let Some(exchange) = &self.exchange else { return Ok(None) };
        let first = &self.engines[0];
        let (precision, physics) = (first.precision, (first.clock, first.eps2));
        // Shapes are apart from the rest, since members borrow them.
        let (mut shapes, mut engines) = (Vec::new(), Vec::new());
        for CudaEngine { kernels, device, held, shape, shapes: table, .. } in &mut self.engines {
            let (kernels, device, fixed, table) = (&*kernels, &*device, *shape, &*table);
            let n = held.as_ref().map_or(0, |held| held.sources);
            shapes.push(move |targets| choose(fixed, precision, (n, targets), device.multiprocessors(), table));
            engines.push((kernels, device, held));
        }
        let mut members = Vec::with_capacity(engines.len());
        for ((kernels, device, held), shape) in engines.into_iter().zip(&shapes) {
            let Some(Buffers { arrays, staging, steps: Some(Some(DeviceSteps::Launched(steps))), .. }) = held else {
                return Ok(None);
            };
            let launcher = Launcher { device, arrays, kernels, shape };
            device.bind()?;
            if !steps.send(device, p, (rules, span), staging.free_words())? {
                return Ok(None);
            }
            let call = steps.begin(launcher, physics, rules, span)?;
            members.push((Member { launcher, steps, call }, staging));
        }
        let (mut members, mut stagings): (Vec<_>, Vec<_>) = members.into_iter().unzip();
        let taken = take_up_to(&mut members, exchange, &weights, rules, (span, pause))?;
        let Member { launcher, steps, .. } = &mut members[0];
        steps.hand_over(*launcher, (p, taken), stagings[0].free_words())?;
        Ok(Some(taken))
    }

    fn spent(&self) -> Result<Vec<(&'static str, f64)>> {
        self.engines[0].spent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_targets_are_dealt_in_order(n in 0_usize..100_000, weights in prop::collection::vec(1_usize..200, 1..9)) {
            let parts = deal(n, &weights);
            prop_assert_eq!(parts.len(), weights.len());
            prop_assert_eq!((parts[0].start, parts[parts.len() - 1].end), (0, n));
            prop_assert!(parts.windows(2).all(|two| two[0].end == two[1].start));
        }
    }
}
