//! Whole block steps of several GPUs: a thread for each launches its kernels, so that no device waits for the launches of
//! another. Forces travel between the devices alone; the threads tell each other what was launched.

use super::CudaEngine;
use super::device::{Device, Signal};
use super::group::deal;
use super::launched_call::LaunchedCall;
use super::launched_span::LaunchedSpan;
use super::launched_steps::{LaunchedSteps, Launcher, at};
use super::memory::Memory;
use super::staging::FORCE;
use super::step_memory::Report;
use crate::error::Result;
use crate::force::block_steps::{Pause, Span, StepRules, Taken};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Number of looks at a flag of another thread before the core is offered to others between looks.
const SPINS: u32 = 10_000;

/// Memory and signals for whole block steps, one entry a device.
pub struct Exchange {
    /// Forces on the targets, in turn: while they are read, those of the next evaluation may come.
    forces: Vec<[Memory; 2]>,
    /// Given when the forces of a device are complete, and where the others read them.
    sent: Vec<Signal>,
    slots: usize,
    /// Flag that kernels of every device can read the memory of the others.
    direct: bool,
}

impl Exchange {
    /// Makes the exchange of devices that have room for `slots` particles. `direct`: each can read the memory of the others.
    ///
    /// # Errors
    /// If a device has too little memory.
    pub fn new(engines: &[CudaEngine], slots: usize, direct: bool) -> Result<Self> {
        let forces = |engine: &CudaEngine| {
            let memory = || engine.device.memory(8 * FORCE * slots);
            Ok([memory()?, memory()?])
        };
        Ok(Self {
            forces: engines.iter().map(forces).collect::<Result<_>>()?,
            sent: engines.iter().map(|engine| engine.device.signal()).collect::<Result<_>>()?,
            slots,
            direct,
        })
    }

    /// Returns the number of particles that there is room for.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Returns the memory from which device `k` reads the forces of device `other`.
    fn forces_of(&self, other: usize, k: usize, turn: usize) -> &Memory {
        &self.forces[if self.direct { other } else { k }][turn]
    }

    /// Sends the forces of device `k` on the targets `part` to the others, if they cannot read them where they are, and lets it
    /// say that they are there.
    fn send(&self, (k, device): (usize, &Device), turn: usize, part: &Range<usize>) -> Result<()> {
        let bytes = 8 * FORCE * part.start..8 * FORCE * part.end;
        for other in (0..self.forces.len()).filter(|&other| other != k && !self.direct && !part.is_empty()) {
            device.copy_to_peer(&self.forces[k][turn], bytes.clone(), &self.forces[other][turn])?;
        }
        device.give(&self.sent[k])
    }
}

/// A device while it takes steps.
pub struct Member<'a> {
    pub launcher: Launcher<'a>,
    pub steps: &'a mut LaunchedSteps,
    pub call: LaunchedCall<'a>,
}

/// What the threads of the devices tell each other.
struct Relay {
    /// Report after the last step, [`None`] at the end; and the number of reports.
    report: Mutex<Option<Report>>,
    reports: AtomicU64,
    /// Number of evaluations after which each device was told to say that its forces are there.
    sent: Vec<AtomicU64>,
    /// Flag that a thread has failed: the others end.
    failed: AtomicBool,
}

impl Relay {
    fn new(devices: usize) -> Self {
        Self {
            report: Mutex::new(None),
            reports: AtomicU64::new(0),
            sent: (0..devices).map(|_| AtomicU64::new(0)).collect(),
            failed: AtomicBool::new(false),
        }
    }

    /// Hands on the report of the first device.
    fn publish(&self, report: Option<Report>) {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = report;
        self.reports.fetch_add(1, Ordering::Release);
    }

    /// Waits for report `number`, from 1 on.
    fn report(&self, number: u64) -> Option<Report> {
        if !self.wait(&self.reports, number) {
            return None;
        }
        *self.report.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a count has come to `number`. Returns false if another thread has failed.
    fn wait(&self, count: &AtomicU64, number: u64) -> bool {
        let mut looks = 0;
        while count.load(Ordering::Acquire) < number {
            if self.failed.load(Ordering::Relaxed) {
                return false;
            }
            looks += 1;
            if looks < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
        true
    }
}

/// What all threads work with.
struct Common<'a> {
    exchange: &'a Exchange,
    relay: Relay,
    weights: &'a [usize],
    rules: &'a StepRules,
}

/// Takes steps by all members, as [`LaunchedSteps`] does by one.
///
/// # Errors
/// If a device fails.
pub fn take_up_to(
    members: &mut [Member<'_>],
    exchange: &Exchange,
    weights: &[usize],
    rules: &StepRules,
    (span, pause): (Span, Option<&Pause>),
) -> Result<Taken> {
    let devices: Vec<&Device> = members.iter().map(|member| member.launcher.device).collect();
    let mut steps = LaunchedSpan::new(rules, span, (pause, Duration::ZERO));
    let common = Common { exchange, relay: Relay::new(members.len()), weights, rules };
    let Some((first, others)) = members.split_first_mut() else { return Ok(steps.taken()) };
    std::thread::scope(|scope| {
        let common = &common;
        let threads: Vec<_> = (1..)
            .zip(others)
            .map(|(k, member)| {
                scope.spawn(move || {
                    let mut number = 0;
                    common.drive(k, member, |_| {
                        number += 1;
                        Ok(common.relay.report(number))
                    })
                })
            })
            .collect();
        // All devices come to the same report.
        let done = common.drive(0, first, |member| {
            let report = member.steps.next(member.launcher, &mut steps, &devices[1..])?;
            common.relay.publish(report);
            Ok(report)
        });
        let others =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        others.fold(done, |done, other| done.and(other))
    })?;
    Ok(steps.taken())
}

impl Common<'_> {
    /// Launches the steps of device `k`, whose reports `next` returns, until there is none.
    fn drive(
        &self,
        k: usize,
        member: &mut Member<'_>,
        next: impl FnMut(&mut Member<'_>) -> Result<Option<Report>>,
    ) -> Result<()> {
        let done = self.launch(k, member, next);
        if done.is_err() {
            self.relay.failed.store(true, Ordering::Relaxed);
        }
        done
    }

    fn launch(
        &self,
        k: usize,
        member: &mut Member<'_>,
        mut next: impl FnMut(&mut Member<'_>) -> Result<Option<Report>>,
    ) -> Result<()> {
        let Self { exchange, relay, weights, rules } = self;
        let device = member.launcher.device;
        device.bind()?;
        let mut evaluations = 0;
        loop {
            member.steps.advance(member.launcher, &member.call)?;
            let Some(report) = next(member)? else { break };
            let (launcher, targets) = (member.launcher, report.targets as usize);
            let parts = deal(targets, weights);
            for left in (0..rules.scheme.iterations()).rev() {
                let turn = (evaluations % 2) as usize;
                let call = |out: &Memory| {
                    let call = at(member.call, rules, &report);
                    LaunchedCall { force: call.force.with_out(out), last: u32::from(left == 0), ..call }
                };
                let calls = member.steps.calls(launcher, &call(&exchange.forces[k][turn]), parts[k].clone());
                for number in 0..calls.len() {
                    member.steps.sum(launcher, &calls, number)?;
                    member.steps.complete(launcher, &calls, number)?;
                }
                exchange.send((k, device), turn, &parts[k])?;
                evaluations += 1;
                relay.sent[k].store(evaluations, Ordering::Release);
                // Its own forces are there before those of the others.
                for other in (k..parts.len()).chain(0..k) {
                    if other != k {
                        // The signal of this evaluation, not that of one before.
                        if !relay.wait(&relay.sent[other], evaluations) {
                            return Ok(());
                        }
                        device.wait_for_signal(&exchange.sent[other])?;
                    }
                    let call = call(exchange.forces_of(other, k, turn));
                    member.steps.correct_part(launcher, &call, &parts[other])?;
                }
                if left > 0 {
                    member.steps.put(launcher, &call(&exchange.forces[k][turn]), targets)?;
                }
            }
        }
        // The first is waited for by its reports.
        if k > 0 { device.wait() } else { Ok(()) }
    }
}
