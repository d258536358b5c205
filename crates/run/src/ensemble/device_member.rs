//! A member whose block steps a device takes.

use super::member::Member;
use super::work::Work;
use crate::assemble;
use crate::simulation::SessionInfo;
use crate::together::{self, Given, Turn};
use tisane::error::{Error, Result};
use tisane::force::EngineKind;
use tisane::force::block_steps::StepRules;
use tisane::force::precision::Precision;
use tisane_io::checkpoint::MemberState;

/// Member with the forces that the device computed for it.
pub(super) struct Running {
    // Boxed: members are handed on often.
    pub member: Box<Member>,
    pub given: Given,
    pub precision: Precision,
    /// Share of its time that was counted.
    pub share: f64,
    /// Rules of its steps, which stay the same.
    rules: Option<StepRules>,
}

/// What became of a member that was taken.
pub(super) enum Built {
    Running(Box<Running>, Option<MemberState>),
    /// The host must step it.
    Left(u64, Option<MemberState>),
    Failed(u64, Error),
}

impl Running {
    /// Returns its part of a turn, which ends at its next look.
    pub fn turn(&mut self) -> Turn<'_> {
        let (until, epsilon) = (self.member.next_look(), self.member.epsilon());
        Turn { system: &mut self.member.system, rules: &mut self.rules, epsilon, until }
    }

    /// Counts the steps of a turn, before which there were `block_steps`.
    pub fn count(&mut self, block_steps: u64, work: &Work<'_>) {
        let taken = self.member.system.state.counters.block_steps - block_steps;
        work.count(taken, self.member.share() - self.share);
        self.share = self.member.share();
    }
}

/// Reads and builds a member, whose bits are those of a kind of engine, for a device.
pub(super) fn build(
    work: &Work<'_>,
    (kind, device): (EngineKind, u32),
    number: u64,
    state: Option<MemberState>,
) -> Result<Built> {
    let setup = assemble::prepare(work.blueprint.member(number)?)?;
    let precision = setup.config.force.precision();
    let Some((engines, given)) = together::engines(&setup, kind, device)? else {
        return Ok(Built::Left(number, state));
    };
    let info = SessionInfo { gpu: work.gpu(device).to_owned(), ..SessionInfo::default() };
    let member = Box::new(Member::with_engines(work.blueprint, number, setup, (engines, &info))?);
    Ok(Built::Running(Box::new(Running { member, given, precision, share: 0.0, rules: None }), state))
}
