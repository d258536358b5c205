//! Machine code of the pairs of a law with its memory: what [`LawPairs`](crate::force::cpu::law_pairs) calls.

use super::line::Line;
use super::pair_code::PairCode;
use super::record::Fixed;
use crate::force::cpu::bag::Bag;
use crate::force::cpu::pair::{Lanes, Sums};
use crate::force::cpu::sources::columns;
use crate::force::mode::{Mode, V};
use crate::force::real::Real;
use crate::law::Program;
use pulp::Simd;
use std::ops::Range;
use std::sync::OnceLock;

/// Machine code of a law, made when first wanted; none where there is none for the law or this machine.
#[derive(Default)]
pub struct LawCode(OnceLock<Option<PairCode>>);

/// Lanes and the bag that they go through, with what a law reads of them.
pub struct LanesWithBag<'a, M: Mode, S: Simd> {
    pub target: &'a Lanes<M, S>,
    pub bag: &'a Bag<'a, M, S>,
    /// Masses and columns of the targets.
    pub of_targets: &'a [V<M, S>],
    /// Columns of the sources, as the slots lie.
    pub columns: &'a [Vec<M::Real>],
}

/// Machine code of the pairs, if there is one, with its memory.
pub struct CompiledPairs<'a> {
    code: Option<&'a PairCode>,
    memory: Vec<Line>,
    /// Flag that the memory has the targets.
    has_targets: bool,
}

impl<'a> CompiledPairs<'a> {
    /// Number of sources of which it takes a multiple.
    pub const TURN: usize = PairCode::TURN;

    /// Makes the code of a program, or takes it where it is made already. For `K` sums on vectors of `size` bytes, with
    /// 1 / s by `estimates` ([`reciprocal`](crate::force::cpu::inverse_sqrt::reciprocal)) or by division.
    pub fn new<M: Mode, const K: usize>(code: &'a LawCode, program: &Program, size: usize, estimates: bool) -> Self {
        let code = code.0.get_or_init(|| PairCode::new::<M, K>(program, size, estimates)).as_ref();
        let code = code.filter(|code| code.size() == size);
        let memory = code.map_or_else(Vec::new, |code| vec![Line::EMPTY; code.lines]);
        Self { code, memory, has_targets: false }
    }

    /// Notes that the targets are others.
    #[inline(always)]
    pub fn forget_targets(&mut self) {
        self.has_targets = false;
    }

    /// Adds the pairs with the sources in a range of places to the sums. Returns false, with the sums as they were, where
    /// there is no code, or where its form of 1 / s has no value.
    #[inline(always)]
    pub fn run<M: Mode, S: Simd, const K: usize, const OVER_BAGS: bool>(
        &mut self,
        simd: S,
        lanes: LanesWithBag<'_, M, S>,
        places: Range<usize>,
        sums: &mut Sums<M, S, K>,
    ) -> bool {
        let Some(code) = self.code.filter(|_| !places.is_empty()) else { return false };
        let (LanesWithBag { target, bag, of_targets, columns: of_law }, memory) = (lanes, &mut self.memory);
        let (of_sums, fixed) = memory.split_at_mut(code.sums);
        if !self.has_targets {
            for (line, &value) in fixed.iter_mut().zip(&code.fixed) {
                line.set(match value {
                    Fixed::Constant(value) => M::Real::splat(simd, M::Real::from_f64(value)),
                    Fixed::Position(k) => target.pos[k],
                    Fixed::Low(k) => target.low[k],
                    Fixed::Velocity(k) => target.vel[k],
                    Fixed::Softening => target.eps2,
                    Fixed::Target(column) => of_targets[column],
                });
            }
            self.has_targets = true;
        }
        for (k, line) in of_sums.iter_mut().enumerate() {
            line.set(match sums.get(k / M::PARTS) {
                Some(sum) => sum[k % M::PARTS],
                None => M::Real::splat(simd, M::Real::from_f64(0.0)),
            });
        }
        let width = <M::Real as Real>::WIDTH;
        let mut beside = [&[][..]; PairCode::MAX_COLUMNS];
        let beside = &mut beside[..of_law.len()];
        for (column, values) in beside.iter_mut().zip(of_law) {
            *column = &values[(bag.group + places.start) * width + bag.first..];
        }
        let slots = &bag.slots[places.start * columns::<M, K>() * width + bag.first..];
        code.run(OVER_BAGS, memory, slots, beside, places.len());
        if code.checked
            && memory[code.sums - 1].lanes::<M::Real, V<M, S>>().iter().any(|x| num_traits::Float::is_nan(*x))
        {
            return false;
        }
        for (k, line) in memory[..M::PARTS * K].iter().enumerate() {
            sums[k / M::PARTS][k % M::PARTS] = line.get();
        }
        true
    }
}
