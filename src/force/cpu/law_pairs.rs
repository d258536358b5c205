//! Pairs of a [law](crate::law) in lanes: its program, operation by operation, on a block of pairs at a time.
//!
//! Each operation is a loop over full vectors of the widest unit, between blocks of memory in the innermost cache. A
//! just-in-time compiler such as cranelift has vectors of 128 bits, a quarter of those of AVX-512. The roots of a block,
//! for which the unit of divisions is busy longest, are begun one by one between the operations of the block before.

use super::interaction::{Ahead, Interaction};
use super::inverse_sqrt::{Ieee, InverseSqrt};
use super::law::LawSources;
use super::near::Near;
use super::pair::{Bag, Lanes, Source, Sums, V, is_whole, load, relative_position, relative_velocity, restore};
use super::plan::{INVERSES, ROOTS, Reads, SQUARES, Step, TAKEN};
use super::sources::columns;
use crate::force::mode::{MAX_LANES, Mode};
use crate::force::real::Real;
use crate::law::functions;
use crate::law::program::{Input, Op};
use pulp::Simd;

/// Number of pairs of each lane in a block.
const BLOCK: usize = 16;
/// Number of pairs whose results are in registers at a time.
const IN_REGISTERS: usize = 8;

/// Vectors of one result of a program.
type Block<M, S> = [V<M, S>; BLOCK];

/// Pairs of a law, with the memory for their program.
pub struct LawPairs<'a, M: Mode, S: Simd, D> {
    law: &'a LawSources<M>,
    form: D,
    blocks: Vec<Block<M, S>>,
    /// Relative positions of the pairs of a block and of the next one, in turn.
    positions: [[[V<M, S>; 3]; BLOCK]; 2],
    /// Which of the two the present block is.
    turn: usize,
    /// Number of pairs of the next block whose distances are there.
    begun: usize,
}

impl<'a, M: Mode, S: Simd, D: InverseSqrt> LawPairs<'a, M, S, D> {
    /// Creates the memory for the program of a law, with its constants.
    #[inline(always)]
    pub fn new(simd: S, law: &'a LawSources<M>, form: D) -> Self {
        let zero = M::Real::splat(simd, M::Real::from_f64(0.0));
        let mut blocks = vec![[zero; BLOCK]; law.plan().blocks];
        for step in &law.plan().fixed {
            if let Op::Constant(value) = step.op {
                blocks[step.to] = [M::Real::splat(simd, M::Real::from_f64(value)); BLOCK];
            }
        }
        Self { law, form, blocks, positions: [[[zero; 3]; BLOCK]; 2], turn: 0, begun: 0 }
    }

    /// Computes the distance of the next pair of the block that follows, if there is one.
    #[inline(always)]
    fn begin<const OVER_BAGS: bool>(
        &mut self,
        simd: S,
        target: &Lanes<M, S>,
        Ahead { slots, first }: Ahead<'_, M::Real>,
        stride: usize,
    ) {
        let k = self.begun;
        if k >= BLOCK || k * stride >= slots.len() {
            return;
        }
        let source = Source::<_, OVER_BAGS>::new(&slots[k * stride..][..stride], first, k);
        let r = relative_position::<M, S, OVER_BAGS>(simd, target, source);
        let square = target.softened_square(simd, r);
        let (next, Reads { root, inverse }) = (1 - self.turn, self.law.plan().reads);
        let taken = &mut self.blocks[next * TAKEN..][..TAKEN];
        if inverse {
            taken[INVERSES][k] = self.form.inverse_sqrt::<M::Real, S>(simd, square);
        }
        if root {
            taken[ROOTS][k] = M::Real::sqrt_lanes(simd, square);
        }
        taken[SQUARES][k] = square;
        self.positions[next][k] = r;
        self.begun += 1;
    }

    /// Goes on to the next block, of which all distances are there. A form of 1/√x may have no value at 0 and ∞.
    #[inline(always)]
    fn turn(&mut self, simd: S) {
        (self.turn, self.begun) = (1 - self.turn, 0);
        if !D::PARTIAL || !self.law.plan().reads.inverse {
            return;
        }
        let taken = &mut self.blocks[self.turn * TAKEN..][..TAKEN];
        // Of numbers that are not negative the sum is NaN if and only if one of them is.
        let mut sum = taken[INVERSES][0];
        for inverse in &taken[INVERSES][1..] {
            sum = M::Real::add(simd, sum, *inverse);
        }
        if self.form.any_nan::<M::Real, S>(sum) {
            for k in 0..BLOCK {
                taken[INVERSES][k] = Ieee.inverse_sqrt::<M::Real, S>(simd, taken[SQUARES][k]);
            }
        }
    }

    /// Returns the place of a block of the plan: distances lie in two places, in turn.
    #[inline(always)]
    fn place(&self, block: usize) -> usize {
        if block < TAKEN { block + self.turn * TAKEN } else { block }
    }

    /// Computes a step for all pairs of the block. Places beyond the last source hold what is left of earlier ones.
    #[inline(always)]
    fn step<const OVER_BAGS: bool>(&mut self, simd: S, Step { to, op }: Step, bag: &Bag<'_, M, S>, slots: Slots<'_, M>) {
        macro_rules! each {
            ($k:ident, [$($x:ident = $block:expr),+] => $value:expr) => {{
                $(let $x = self.place(usize::from($block));)+
                for part in (0..BLOCK).step_by(IN_REGISTERS) {
                    let mut results = [M::Real::splat(simd, M::Real::from_f64(0.0)); IN_REGISTERS];
                    {
                        $(let $x = &self.blocks[$x][part..][..IN_REGISTERS];)+
                        for $k in 0..IN_REGISTERS {
                            results[$k] = $value;
                        }
                    }
                    // An operand may lie here: written when all are read.
                    self.blocks[to][part..][..IN_REGISTERS].copy_from_slice(&results);
                }
            }};
        }
        // A plain loop over numbers, which the compiler turns into vector code.
        macro_rules! each_number {
            ($function:ident, $a:expr) => {{
                let mut numbers = self.blocks[self.place(usize::from($a))];
                for number in bytemuck::cast_slice_mut::<_, M::Real>(&mut numbers) {
                    *number = functions::$function(*number);
                }
                self.blocks[to] = numbers;
            }};
        }
        match op {
            Op::Input(Input::SourceMass) => {
                for (source, mass) in slots.sources::<OVER_BAGS>().zip(&mut self.blocks[to]) {
                    *mass = source.mass(simd);
                }
            }
            Op::Input(Input::Source(column)) => {
                let column = self.law.of_sources(column);
                for (source, value) in slots.sources::<OVER_BAGS>().zip(&mut self.blocks[to]) {
                    *value = source.beside(simd, column, bag.group);
                }
            }
            // These are there before.
            Op::Input(
                Input::S | Input::InverseS | Input::SquareS | Input::TargetMass | Input::Target(_),
            )
            | Op::Constant(_) => {}
            Op::Add(a, b) => each!(k, [x = a, y = b] => M::Real::add(simd, x[k], y[k])),
            Op::Sub(a, b) => each!(k, [x = a, y = b] => M::Real::sub(simd, x[k], y[k])),
            Op::Mul(a, b) => each!(k, [x = a, y = b] => M::Real::mul(simd, x[k], y[k])),
            Op::Div(a, b) => each!(k, [x = a, y = b] => M::Real::div(simd, x[k], y[k])),
            Op::Neg(a) => {
                let minus_zero = M::Real::splat(simd, M::Real::from_f64(-0.0));
                each!(k, [x = a] => M::Real::sub(simd, minus_zero, x[k]));
            }
            Op::Sqrt(a) => each!(k, [x = a] => M::Real::sqrt_lanes(simd, x[k])),
            Op::Exp(a) => each_number!(exp, a),
            Op::Log(a) => each_number!(log, a),
            Op::Sin(a) => each_number!(sin, a),
            Op::Cos(a) => each_number!(cos, a),
            Op::Pow(a, b) => {
                let [mut numbers, exponents] = [a, b].map(|it| self.blocks[self.place(usize::from(it))]);
                let exponents: &[M::Real] = bytemuck::cast_slice(&exponents);
                for (number, exponent) in bytemuck::cast_slice_mut(&mut numbers).iter_mut().zip(exponents) {
                    *number = functions::pow::<M::Real>(*number, *exponent);
                }
                self.blocks[to] = numbers;
            }
            Op::Min(a, b) => each!(k, [x = a, y = b] => select_less::<M, S>(simd, [x[k], y[k]], [x[k], y[k]])),
            Op::Max(a, b) => each!(k, [x = a, y = b] => select_less::<M, S>(simd, [y[k], x[k]], [x[k], y[k]])),
            Op::Less(a, b, c, d) => each!(
                k, [x = a, y = b, yes = c, no = d] => select_less::<M, S>(simd, [x[k], y[k]], [yes[k], no[k]])
            ),
        }
    }

    /// Adds the pairs of the block to the sums, and begins those of the next.
    #[inline(always)]
    fn add_pairs<const K: usize, const OVER_BAGS: bool, const MASKED: bool>(
        &mut self,
        simd: S,
        (target, bag): (&Lanes<M, S>, &Bag<'_, M, S>),
        (slots, next): (Slots<'_, M>, Ahead<'_, M::Real>),
        sums: &mut Sums<M, S, K>,
    ) {
        let (plan, zero) = (self.law.plan(), M::Real::splat(simd, M::Real::from_f64(0.0)));
        // Where there is no result it is not read.
        let [factors, slopes, minus_potentials] =
            [Some(plan.factor), plan.slope, plan.minus_potential].map(|block| self.place(block.unwrap_or(SQUARES)));
        let has_potential = plan.minus_potential.is_some();
        let mut now = *sums;
        for (k, source) in slots.sources::<OVER_BAGS>().enumerate().take(BLOCK) {
            self.begin::<OVER_BAGS>(simd, target, next, slots.stride);
            let blocks = &self.blocks;
            let (before, mut of) = (now, [blocks[factors][k], blocks[slopes][k], blocks[minus_potentials][k]]);
            if MASKED {
                let (absent, beyond) = (source.absent(simd, bag), source.beyond(simd, bag));
                for result in &mut of {
                    *result = M::Real::select(simd, absent, zero, M::Real::select(simd, beyond, zero, *result));
                }
            }
            let ([factor, slope, minus_potential], r) = (of, self.positions[self.turn][k]);
            for (sum, &r) in now.iter_mut().zip(&r) {
                M::add_product(simd, sum, factor, r);
            }
            if is_whole(K) {
                let v = relative_velocity::<M, S, K, OVER_BAGS>(simd, target, source);
                let ([x, y, z], [vx, vy, vz]) = (r, v);
                let rv = M::Real::fma(simd, x, vx, M::Real::fma(simd, y, vy, M::Real::mul(simd, z, vz)));
                let beta = M::Real::mul(simd, slope, rv);
                for k in 0..3 {
                    M::add_product(simd, &mut now[3 + k], factor, v[k]);
                    M::add_product(simd, &mut now[3 + k], beta, r[k]);
                }
                if has_potential {
                    M::subtract(simd, &mut now[6], minus_potential);
                }
            }
            if M::ZERO_COUNTS && MASKED {
                restore::<M, S, K>(simd, &mut now, &before, source.absent(simd, bag));
                restore::<M, S, K>(simd, &mut now, &before, source.beyond(simd, bag));
            }
        }
        *sums = now;
    }
}

/// Slots of the sources in a block.
struct Slots<'a, M: Mode> {
    slots: &'a [M::Real],
    stride: usize,
    /// Lane of the first source in a slot.
    first: usize,
    /// Place in the bag of the first source.
    place: usize,
}

impl<M: Mode> Clone for Slots<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Mode> Copy for Slots<'_, M> {}

impl<'a, M: Mode> Slots<'a, M> {
    /// Returns the sources.
    #[inline(always)]
    fn sources<const OVER_BAGS: bool>(self) -> impl Iterator<Item = Source<'a, M::Real, OVER_BAGS>> {
        let slots = self.slots.chunks_exact(self.stride).enumerate();
        slots.map(move |(k, slot)| Source::new(slot, self.first, self.place + k))
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
        for step in &self.law.plan().fixed {
            let column = match step.op {
                Op::Input(Input::TargetMass) => 0,
                Op::Input(Input::Target(column)) => 1 + usize::from(column),
                _ => continue,
            };
            self.blocks[step.to] = [load::<M, S>(&self.law.of_targets(column, particles)); BLOCK];
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
        let stride = columns::<M, K>() * <M::Real as Real>::WIDTH;
        for from in (0..bag.slots.len()).step_by(BLOCK * stride) {
            let (slots, later) = bag.slots[from..].split_at((BLOCK * stride).min(bag.slots.len() - from));
            while self.begun * stride < slots.len() {
                self.begin::<OVER_BAGS>(simd, target, Ahead { slots, first: bag.first }, stride);
            }
            self.turn(simd);
            let next = if later.is_empty() { next } else { Ahead { slots: later, first: bag.first } };
            let slots = Slots { slots, stride, first: bag.first, place: from / stride };
            for k in 0..self.law.plan().steps.len() {
                self.begin::<OVER_BAGS>(simd, target, next, stride);
                self.step::<OVER_BAGS>(simd, self.law.plan().steps[k], bag, slots);
            }
            let pairs = (target, bag);
            if bag.masked {
                self.add_pairs::<K, OVER_BAGS, true>(simd, pairs, (slots, next), sums);
            } else {
                self.add_pairs::<K, OVER_BAGS, false>(simd, pairs, (slots, next), sums);
            }
        }
        Near::none(simd)
    }
}

/// Returns the first of `c` where a < b, else the second.
#[inline(always)]
fn select_less<M: Mode, S: Simd>(simd: S, [a, b]: [V<M, S>; 2], [c, d]: [V<M, S>; 2]) -> V<M, S> {
    M::Real::select(simd, M::Real::less(simd, a, b), c, d)
}
