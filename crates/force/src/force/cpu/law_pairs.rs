//! Pairs of a [law](crate::law) in lanes: by [machine code](super::compiled), or its program operation by operation on a
//! block of pairs at a time.
//!
//! Machine code is of the law's own operations, without elementary functions, and of sources that no lane leaves out. For
//! all others each operation is a loop over full vectors of the widest unit, between blocks of memory in the innermost
//! cache.

use super::arithmetic::{LawResults, add_law};
use super::bag::{Bag, Source};
use super::compiled::{CompiledPairs, LanesWithBag};
use super::interaction::Interaction;
use super::inverse_sqrt::{Ieee, InverseSqrt as _};
use super::law::LawSources;
use super::law_blocks::{BLOCK, Block, Sources};
use super::near::Near;
use super::pair::{Lanes, Sums, load, relative_position, relative_velocity, restore};
use super::plan::{ROOTS, SQUARES, Step};
use super::sources::columns;
use crate::force::mode::{MAX_LANES, Mode, V, is_whole};
use crate::force::real::Real;
use crate::formula::functions;
use crate::law::program::{Input, Op};
use pulp::Simd;

/// Number of pairs of each lane whose results are in registers at a time.
const IN_REGISTERS: usize = 8;

/// Pairs of a law, with the memory for their program.
pub struct LawPairs<'a, M: Mode, S: Simd> {
    law: &'a LawSources<M>,
    /// Mass and values in the columns of the targets, of those that the law reads.
    of_targets: Vec<V<M, S>>,
    /// Machine code of them, where there is one.
    compiled: CompiledPairs<'a>,
    /// Blocks of the plan.
    blocks: Vec<Block<M, S>>,
    /// Relative positions.
    position: [Block<M, S>; 3],
}

impl<'a, M: Mode, S: Simd> LawPairs<'a, M, S> {
    /// Creates the memory for the program of a law, with its constants. With `estimates` machine code has
    /// [`reciprocal`](super::inverse_sqrt::reciprocal) for 1 / s.
    #[inline(always)]
    pub fn new<const K: usize>(simd: S, law: &'a LawSources<M>, estimates: bool) -> Self {
        let zero = M::Real::splat(simd, M::Real::from_f64(0.0));
        let blocks: Vec<_> = (0..law.plan().blocks).map(|_| Block::new(zero)).collect();
        for step in &law.plan().fixed {
            if let Op::Constant(value) = step.op {
                blocks[step.to].fill(M::Real::splat(simd, M::Real::from_f64(value)));
            }
        }
        let compiled = law.code::<K>(size_of::<V<M, S>>(), estimates);
        let (of_targets, position) = (vec![zero; 1 + law.columns()], [zero; 3].map(Block::new));
        Self { law, of_targets, compiled, blocks, position }
    }

    /// Computes the distances of a block of pairs.
    #[inline(always)]
    fn distances<const OVER_BAGS: bool>(&self, simd: S, target: &Lanes<M, S>, sources: Sources<'_, M::Real>) {
        let reads = self.law.plan().reads;
        for k in 0..sources.len() {
            let r = relative_position::<M, S, OVER_BAGS>(simd, target, sources.get(k));
            let square = target.softened_square(simd, r);
            if reads.square {
                self.blocks[SQUARES].set(k, square);
            }
            if reads.root {
                self.blocks[ROOTS].set(k, M::Real::sqrt_lanes(simd, square));
            }
            if reads.inverse {
                self.blocks[reads.inverses()].set(k, Ieee.inverse_sqrt::<M::Real, S>(simd, square));
            }
            for (position, &r) in self.position.iter().zip(&r) {
                position.set(k, r);
            }
        }
    }

    /// Computes a step for all pairs of the block. Places beyond the last source hold what is left of earlier ones.
    #[inline(always)]
    fn step<const OVER_BAGS: bool>(
        &self,
        simd: S,
        Step { to, op }: Step,
        (sources, group): (Sources<'_, M::Real>, usize),
    ) {
        let to = &self.blocks[to];
        macro_rules! each {
            ($k:ident, [$($x:ident = $block:expr),+] => $value:expr) => {{
                $(let $x = &self.blocks[usize::from($block)];)+
                for part in (0..BLOCK).step_by(IN_REGISTERS) {
                    // Written when all are read: for all that the compiler knows, an operand may lie there.
                    let mut results = [M::Real::splat(simd, M::Real::from_f64(0.0)); IN_REGISTERS];
                    for k in 0..IN_REGISTERS {
                        let $k = part + k;
                        results[k] = $value;
                    }
                    for k in 0..IN_REGISTERS {
                        to.set(part + k, results[k]);
                    }
                }
            }};
        }
        // A plain loop over numbers, which the compiler turns into vector code.
        macro_rules! each_number {
            ($function:ident, [$x:expr $(, $y:ident = $block:expr)?]) => {{
                let mut numbers = self.blocks[usize::from($x)].values();
                $(let $y = self.blocks[usize::from($block)].values();)?
                for (k, x) in bytemuck::cast_slice_mut::<_, M::Real>(&mut numbers).iter_mut().enumerate() {
                    let _ = k;
                    *x = functions::$function(*x $(, bytemuck::cast_slice::<_, M::Real>(&$y)[k])?);
                }
                for k in 0..BLOCK {
                    to.set(k, numbers[k]);
                }
            }};
        }
        match op {
            Op::Input(Input::SourceMass) => {
                for k in 0..sources.len() {
                    to.set(k, sources.get::<OVER_BAGS>(k).mass(simd));
                }
            }
            Op::Input(Input::Source(column)) => {
                let column = self.law.of_sources(column);
                for k in 0..sources.len() {
                    to.set(k, sources.get::<OVER_BAGS>(k).beside(simd, column, group));
                }
            }
            // These are there before.
            Op::Input(Input::S | Input::SquareS | Input::InverseS | Input::TargetMass | Input::Target(_))
            | Op::Constant(_) => {}
            Op::Add(a, b) => each!(k, [x = a, y = b] => M::Real::add(simd, x.get(k), y.get(k))),
            Op::Sub(a, b) => each!(k, [x = a, y = b] => M::Real::sub(simd, x.get(k), y.get(k))),
            Op::Mul(a, b) => each!(k, [x = a, y = b] => M::Real::mul(simd, x.get(k), y.get(k))),
            Op::Div(a, b) => each!(k, [x = a, y = b] => M::Real::div(simd, x.get(k), y.get(k))),
            Op::Neg(a) => {
                let minus_zero = M::Real::splat(simd, M::Real::from_f64(-0.0));
                each!(k, [x = a] => M::Real::sub(simd, minus_zero, x.get(k)));
            }
            Op::Sqrt(a) => each!(k, [x = a] => M::Real::sqrt_lanes(simd, x.get(k))),
            Op::Exp(a) => each_number!(exp, [a]),
            Op::Log(a) => each_number!(log, [a]),
            Op::Sin(a) => each_number!(sin, [a]),
            Op::Cos(a) => each_number!(cos, [a]),
            Op::Pow(a, b) => each_number!(pow, [a, exponents = b]),
            Op::Min(a, b) => {
                each!(k, [x = a, y = b] => select_less::<M, S>(simd, [x.get(k), y.get(k)], [x.get(k), y.get(k)]))
            }
            Op::Max(a, b) => {
                each!(k, [x = a, y = b] => select_less::<M, S>(simd, [y.get(k), x.get(k)], [x.get(k), y.get(k)]))
            }
            Op::Less(a, b, c, d) => each!(
                k, [x = a, y = b, yes = c, no = d] => select_less::<M, S>(simd, [x.get(k), y.get(k)], [yes.get(k), no.get(k)])
            ),
        }
    }

    /// Adds the pairs of a block to the sums. With `MASKED` a lane may leave some of them out.
    #[inline(always)]
    fn add_block<const K: usize, const OVER_BAGS: bool, const MASKED: bool>(
        &self,
        simd: S,
        (target, bag): (&Lanes<M, S>, &Bag<'_, M, S>),
        sources: Sources<'_, M::Real>,
        sums: &mut Sums<M, S, K>,
    ) {
        let plan = self.law.plan();
        // Where there is none it is not read.
        let factors = [Some(plan.factor), plan.slope, plan.minus_potential];
        let [a, b, c] = factors.map(|block| &self.blocks[block.unwrap_or(SQUARES)]);
        let [x, y, z] = &self.position;
        let mut now = *sums;
        for k in 0..sources.len() {
            let results = LawResults {
                r: [x.get(k), y.get(k), z.get(k)],
                factors: [a.get(k), b.get(k), c.get(k)],
                has_potential: plan.minus_potential.is_some(),
            };
            let pair = (sources.get::<OVER_BAGS>(k), results);
            add_pair::<M, S, K, OVER_BAGS, MASKED>(simd, &mut now, (target, bag), pair);
        }
        *sums = now;
    }
}

/// Adds a pair to the sums.
#[inline(always)]
fn add_pair<M: Mode, S: Simd, const K: usize, const OVER_BAGS: bool, const MASKED: bool>(
    simd: S,
    sums: &mut Sums<M, S, K>,
    (target, bag): (&Lanes<M, S>, &Bag<'_, M, S>),
    (source, mut results): (Source<'_, M::Real, OVER_BAGS>, LawResults<V<M, S>>),
) {
    let before = *sums;
    if MASKED {
        let (absent, beyond) = (source.absent(simd, bag), source.beyond(simd, bag));
        let zero = M::Real::splat(simd, M::Real::from_f64(0.0));
        for factor in &mut results.factors {
            *factor = M::Real::select(simd, absent, zero, M::Real::select(simd, beyond, zero, *factor));
        }
    }
    let v = if is_whole(K) { relative_velocity::<M, S, K, OVER_BAGS>(simd, target, source) } else { results.r };
    add_law::<M, S, K>(simd, sums, results, v);
    if M::ZERO_COUNTS && MASKED {
        restore::<M, S, K>(simd, sums, &before, source.absent(simd, bag));
        restore::<M, S, K>(simd, sums, &before, source.beyond(simd, bag));
    }
}

impl<M: Mode, S: Simd, const K: usize, const FAR: bool> Interaction<M, S, K, FAR> for LawPairs<'_, M, S> {
    // A law need not vanish with the mass, nor far away.
    const MASKS_PLACES: bool = true;

    #[inline(always)]
    fn take_targets(&mut self, particles: &[u32; MAX_LANES]) {
        self.compiled.forget_targets();
        for step in &self.law.plan().fixed {
            let column = match step.op {
                Op::Input(Input::TargetMass) => 0,
                Op::Input(Input::Target(column)) => 1 + usize::from(column),
                _ => continue,
            };
            let values = load::<M, S>(&self.law.of_targets(column, particles));
            self.blocks[step.to].fill(values);
            self.of_targets[column] = values;
        }
    }

    /// Neighbours are none: schemes with lists of them know Newton's law only.
    #[inline(always)]
    fn add_bag<const OVER_BAGS: bool>(
        &mut self,
        simd: S,
        target: &Lanes<M, S>,
        bag: &Bag<'_, M, S>,
        sums: &mut Sums<M, S, K>,
    ) -> Near<M, S> {
        let stride = columns::<M, K>() * <M::Real as Real>::WIDTH;
        let (mut place, of_bag) = (0, bag.slots.len() / stride);
        while place < of_bag {
            let whole = bag.end_of_whole(place, of_bag) - place;
            let compiled = place..place + whole / CompiledPairs::TURN * CompiledPairs::TURN;
            let (of_targets, columns) = (&self.of_targets[..], self.law.source_columns());
            let lanes = LanesWithBag { target, bag, of_targets, columns };
            if self.compiled.run::<M, S, K, OVER_BAGS>(simd, lanes, compiled.clone(), sums) {
                place = compiled.end;
                continue;
            }
            let sources = Sources::new(&bag.slots[place * stride..], stride, bag.first, place);
            self.distances::<OVER_BAGS>(simd, target, sources);
            for &step in &self.law.plan().steps {
                self.step::<OVER_BAGS>(simd, step, (sources, bag.group));
            }
            if whole >= sources.len() {
                self.add_block::<K, OVER_BAGS, false>(simd, (target, bag), sources, sums);
            } else {
                self.add_block::<K, OVER_BAGS, true>(simd, (target, bag), sources, sums);
            }
            place += sources.len();
        }
        Near::none(simd)
    }
}

/// Returns the first of `c` where a < b, else the second.
#[inline(always)]
fn select_less<M: Mode, S: Simd>(simd: S, [a, b]: [V<M, S>; 2], [c, d]: [V<M, S>; 2]) -> V<M, S> {
    M::Real::select(simd, M::Real::less(simd, a, b), c, d)
}
