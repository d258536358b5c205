//! Pairs of a [law](crate::law) in lanes: its program, operation by operation, on a block of pairs at a time.
//!
//! Each operation is a loop over full vectors of the widest unit, between blocks of memory in the innermost cache. A
//! just-in-time compiler such as cranelift has vectors of 128 bits, a quarter of those of AVX-512. The roots, for which
//! the unit of divisions is busy longest, are begun for the next block, one by one between other operations of this one.

use super::arithmetic::{LawResults, add_law};
use super::compiled::{Fixed, Line, PairCode};
use super::interaction::{Ahead, Interaction};
use super::inverse_sqrt::InverseSqrt;
use super::law::LawSources;
use super::law_blocks::{BLOCK, Block, Distances, Sources};
use super::near::Near;
use super::pair::{Bag, Lanes, Source, Sums, V, is_whole, load, relative_velocity, restore};
use super::plan::{DISTANCES, SQUARES, Step};
use super::sources::columns;
use crate::force::canonical::BAG;
use crate::force::mode::{MAX_LANES, Mode};
use crate::force::real::Real;
use crate::law::functions;
use crate::law::program::{Input, Op};
use pulp::Simd;
use std::hint::black_box;

/// Number of pairs of each lane whose results are in registers at a time.
const IN_REGISTERS: usize = 8;

/// Number of pairs of the next block whose distances are begun between the steps of this one; the others are begun while
/// this one's pairs are added to the sums.
const AMONG_STEPS: usize = BLOCK / 2;
/// Number of those that are begun before 1 / s is made of the roots of this one: that takes as long.
const BEFORE_STEPS: usize = 2;

/// Pairs of a law, with the memory for their program.
pub struct LawPairs<'a, M: Mode, S: Simd, D> {
    law: &'a LawSources<M>,
    form: D,
    /// Blocks of the plan.
    blocks: Vec<Block<M, S>>,
    /// Relative positions, in two turns as the distances.
    positions: [[Block<M, S>; 3]; 2],
    /// Turn of the present block.
    turn: usize,
    /// Number of pairs of the next block whose distances are there.
    begun: usize,
    compiled: Option<Compiled<'a>>,
    /// Mass and values in the columns of the targets, of those that the law reads.
    of_targets: Vec<V<M, S>>,
}

/// Machine code of the pairs, with its memory.
struct Compiled<'a> {
    code: &'a PairCode,
    memory: Vec<Line>,
    /// Flag that the memory has the targets.
    has_targets: bool,
}

impl<'a, M: Mode, S: Simd, D: InverseSqrt> LawPairs<'a, M, S, D> {
    /// Creates the memory for the program of a law, with its constants.
    #[inline(always)]
    pub fn new<const K: usize>(simd: S, law: &'a LawSources<M>, form: D) -> Self {
        let zero = M::Real::splat(simd, M::Real::from_f64(0.0));
        let blocks: Vec<_> = (0..law.plan().blocks).map(|_| Block::new(zero)).collect();
        for step in &law.plan().fixed {
            if let Op::Constant(value) = step.op {
                blocks[step.to].fill(M::Real::splat(simd, M::Real::from_f64(value)));
            }
        }
        let positions = [zero; 2].map(|zero| [zero; 3].map(Block::new));
        let compiled = law.code::<K>(size_of::<V<M, S>>(), D::PARTIAL).map(|code| Compiled {
            code,
            memory: vec![Line::EMPTY; code.lines],
            has_targets: false,
        });
        Self { law, form, blocks, positions, turn: 0, begun: 0, compiled, of_targets: vec![zero; 1 + law.columns()] }
    }

    /// Returns a block of the plan.
    #[inline(always)]
    fn block(&self, block: usize) -> &Block<M, S> {
        &self.blocks[if block < DISTANCES { block + self.turn * DISTANCES } else { block }]
    }

    /// Returns the distances of a turn.
    #[inline(always)]
    fn distances(&self, turn: usize) -> Distances<'_, M, S> {
        let scalars = &self.blocks.as_chunks().0[turn];
        Distances { scalars, position: &self.positions[turn], reads: self.law.plan().reads }
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
                $(let $x = self.block(usize::from($block));)+
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
                let mut numbers = self.block(usize::from($x)).values();
                $(let $y = self.block(usize::from($block)).values();)?
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

    /// Adds the pairs of a bag to the sums by machine code, if there is some for it. Returns false, with the sums as they
    /// were, where there is none, or where the form of 1 / s has no value.
    #[inline(always)]
    fn run_compiled<const K: usize, const OVER_BAGS: bool>(
        &mut self,
        simd: S,
        (target, bag): (&Lanes<M, S>, &Bag<'_, M, S>),
        sums: &mut Sums<M, S, K>,
    ) -> bool {
        let width = <M::Real as Real>::WIDTH;
        let is_full = bag.slots.len() == BAG * columns::<M, K>() * width;
        let Some(Compiled { code, memory, has_targets }) = self.compiled.as_mut().filter(|_| is_full && !bag.masked)
        else {
            return false;
        };
        let (of_sums, of_targets) = memory.split_at_mut(code.sums);
        if !*has_targets {
            for (line, &fixed) in of_targets.iter_mut().zip(&code.fixed) {
                line.set(match fixed {
                    Fixed::Constant(value) => M::Real::splat(simd, M::Real::from_f64(value)),
                    Fixed::Position(k) => target.pos[k],
                    Fixed::Low(k) => target.low[k],
                    Fixed::Velocity(k) => target.vel[k],
                    Fixed::Softening => target.eps2,
                    Fixed::Target(column) => self.of_targets[column],
                });
            }
            *has_targets = true;
        }
        for (k, line) in of_sums.iter_mut().enumerate() {
            let sum = sums.get(k / M::PARTS).map(|sum| sum[k % M::PARTS]);
            line.set(sum.unwrap_or_else(|| M::Real::splat(simd, M::Real::from_f64(0.0))));
        }
        let mut beside = [&[][..]; PairCode::MOST_COLUMNS];
        let beside = &mut beside[..self.law.columns()];
        for (k, column) in beside.iter_mut().enumerate() {
            *column = &self.law.of_sources(k as u8)[bag.group * width + bag.first..];
        }
        code.run(OVER_BAGS, memory, &bag.slots[bag.first..], beside);
        if code.checked && self.form.any_nan::<M::Real, S>(memory[code.sums - 1].get()) {
            return false;
        }
        for (k, line) in memory[..M::PARTS * K].iter().enumerate() {
            sums[k / M::PARTS][k % M::PARTS] = line.get();
        }
        // The distances that were begun are those of this bag.
        self.begun = 0;
        true
    }

    /// Adds the pairs of a full block to the sums, none of them left out, and begins the rest of the next, full one.
    #[inline(always)]
    fn add_all<const K: usize, const OVER_BAGS: bool>(
        &self,
        simd: S,
        (target, bag): (&Lanes<M, S>, &Bag<'_, M, S>),
        [sources, next]: [Sources<'_, M::Real>; 2],
        sums: &mut Sums<M, S, K>,
    ) {
        let (sources, next) = (sources.full(), next.full());
        let (results, later) = (self.results(), self.distances(1 - self.turn));
        let mut now = *sums;
        for k in 0..BLOCK {
            if k % 2 == 0 {
                later.begin::<D, OVER_BAGS>((simd, self.form), target, next, AMONG_STEPS + k / 2);
            }
            let pair = (sources.get::<OVER_BAGS>(k), results.get(k));
            add_pair::<M, S, K, OVER_BAGS, false>(simd, &mut now, (target, bag), pair);
        }
        *sums = now;
    }

    /// Adds the pairs of a block to the sums, except those that a lane leaves out.
    #[inline(always)]
    fn add_some<const K: usize, const OVER_BAGS: bool>(
        &self,
        simd: S,
        (target, bag): (&Lanes<M, S>, &Bag<'_, M, S>),
        sources: Sources<'_, M::Real>,
        sums: &mut Sums<M, S, K>,
    ) {
        let results = self.results();
        let mut now = *sums;
        for k in 0..sources.len() {
            let pair = (sources.get::<OVER_BAGS>(k), results.get(k));
            add_pair::<M, S, K, OVER_BAGS, true>(simd, &mut now, (target, bag), pair);
        }
        *sums = now;
    }

    /// Returns the results of the present block.
    #[inline(always)]
    fn results(&self) -> Results<'_, M, S> {
        let plan = self.law.plan();
        let block = |block: Option<usize>| self.block(block.unwrap_or(SQUARES));
        Results {
            position: &self.positions[self.turn],
            // Where there is none it is not read.
            factors: [block(Some(plan.factor)), block(plan.slope), block(plan.minus_potential)],
            has_potential: plan.minus_potential.is_some(),
        }
    }
}

/// Results of a block of pairs.
struct Results<'a, M: Mode, S: Simd> {
    position: &'a [Block<M, S>; 3],
    /// A, B and −U / m_i
    factors: [&'a Block<M, S>; 3],
    has_potential: bool,
}

impl<M: Mode, S: Simd> Results<'_, M, S> {
    #[inline(always)]
    fn get(&self, k: usize) -> LawResults<V<M, S>> {
        let ([x, y, z], [a, b, c]) = (self.position, self.factors);
        LawResults {
            r: [x.get(k), y.get(k), z.get(k)],
            factors: [a.get(k), b.get(k), c.get(k)],
            has_potential: self.has_potential,
        }
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

impl<M: Mode, S: Simd, D: InverseSqrt, const K: usize, const FAR: bool> Interaction<M, S, K, FAR>
    for LawPairs<'_, M, S, D>
{
    // A law need not vanish with the mass, nor far away.
    const MASKS_PLACES: bool = true;

    #[inline(always)]
    fn take_targets(&mut self, particles: &[u32; MAX_LANES]) {
        self.begun = 0;
        self.compiled.iter_mut().for_each(|compiled| compiled.has_targets = false);
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
        next: Ahead<'_, M::Real>,
        sums: &mut Sums<M, S, K>,
    ) -> Near<M, S> {
        if self.run_compiled::<K, OVER_BAGS>(simd, (target, bag), sums) {
            return Near::none(simd);
        }
        let (law, form, stride) = (self.law, self.form, columns::<M, K>() * <M::Real as Real>::WIDTH);
        for place in (0..bag.slots.len() / stride).step_by(BLOCK) {
            let sources = Sources::new(&bag.slots[place * stride..], stride, bag.first, place);
            let later = &bag.slots[place * stride + sources.slots.len()..];
            let (slots, first) = if later.is_empty() { (next.slots, next.first) } else { (later, bag.first) };
            let next = Sources::new(slots, stride, first, 0);
            self.turn = 1 - self.turn;
            let (now, later) = (self.distances(self.turn), self.distances(1 - self.turn));
            for k in self.begun..sources.len() {
                now.begin::<D, OVER_BAGS>((simd, form), target, sources, k);
            }
            let all = !bag.masked && sources.is_full() && next.is_full();
            let mut begun = 0;
            while D::PARTIAL && all && begun < BEFORE_STEPS {
                later.begin::<D, OVER_BAGS>((simd, form), target, next.full(), begun);
                begun += 1;
            }
            now.finish(simd, form);
            for &step in &law.plan().steps {
                if all && begun < AMONG_STEPS {
                    later.begin::<D, OVER_BAGS>((simd, form), target, next.full(), begun);
                    begun += 1;
                }
                self.step::<OVER_BAGS>(simd, step, (sources, bag.group));
            }
            while all && begun < AMONG_STEPS {
                later.begin::<D, OVER_BAGS>((simd, form), target, next.full(), begun);
                begun += 1;
            }
            // In memory until here: the steps use the registers.
            let (of, sums) = ((target, bag), black_box(&mut *sums));
            if all {
                self.add_all::<K, OVER_BAGS>(simd, of, [sources, next], sums);
                begun = BLOCK;
            } else {
                self.add_some::<K, OVER_BAGS>(simd, of, sources, sums);
            }
            self.begun = begun;
        }
        Near::none(simd)
    }
}

/// Returns the first of `c` where a < b, else the second.
#[inline(always)]
fn select_less<M: Mode, S: Simd>(simd: S, [a, b]: [V<M, S>; 2], [c, d]: [V<M, S>; 2]) -> V<M, S> {
    M::Real::select(simd, M::Real::less(simd, a, b), c, d)
}
