//! Pairs of a [law](crate::law) in lanes: its program, operation by operation, on a block of pairs at a time.
//!
//! Each operation is a loop over full vectors of the widest unit, between blocks of memory in the innermost cache. A
//! just-in-time compiler such as cranelift has vectors of 128 bits, a quarter of those of AVX-512.

use super::interaction::Interaction;
use super::inverse_sqrt::{Fma, Ieee, InverseSqrt};
use super::lanes::Item;
use super::near::Near;
use super::pair::{Bag, Lanes, Source, Sums, V, is_whole, load, relative_position, relative_velocity, restore};
use super::plan::{Plan, SQUARES, Step};
use super::sources::{columns, place};
use crate::error::Result;
use crate::force::canonical::{BAG, bags};
use crate::force::mode::{MAX_LANES, Mode};
use crate::force::real::Real;
use crate::law::program::{Input, Op};
use crate::law::{Law, functions};
use crate::particles::Particles;
use pulp::{Simd, WithSimd};
use std::sync::Arc;

/// Number of pairs of each lane in a block.
const BLOCK: usize = 16;

/// Law, with masses and values in its columns of all particles.
pub struct LawSources<M: Mode> {
    law: Arc<Law>,
    plan: Plan,
    /// Mass and values in the columns of each particle, column by column.
    of_targets: Vec<Vec<M::Real>>,
    /// Values in the columns, as the [slots](super::sources) lie: [`Real::WIDTH`] numbers a slot.
    of_sources: Vec<Vec<M::Real>>,
}

impl<M: Mode> LawSources<M> {
    /// Creates the sources of a law for `K` sums, without particles.
    pub fn new<const K: usize>(law: &Arc<Law>) -> Self {
        let program = if is_whole(K) { law.program() } else { law.accelerations() };
        Self { law: law.clone(), plan: Plan::new(program), of_targets: Vec::new(), of_sources: Vec::new() }
    }

    /// Returns the law.
    pub fn law(&self) -> &Law {
        &self.law
    }

    /// Takes the masses and columns of all particles.
    pub fn load(&mut self, all: &Particles) -> Result<()> {
        let width = <M::Real as Real>::WIDTH;
        let narrow = |values: &[f64]| values.iter().map(|&value| M::Real::from_f64(value)).collect();
        let columns = self.law.columns(all)?;
        self.of_targets = std::iter::once(&all.mass[..]).chain(columns).map(narrow).collect();
        let empty = vec![M::Real::from_f64(0.0); bags(all.len()).div_ceil(width) * BAG * width];
        self.of_sources = vec![empty; self.of_targets.len() - 1];
        for (slots, values) in self.of_sources.iter_mut().zip(&self.of_targets[1..]) {
            for (i, &value) in values.iter().enumerate() {
                let (slot, lane) = place(i, width);
                slots[slot * width + lane] = value;
            }
        }
        Ok(())
    }
}

/// Work item with a law.
pub struct LawItem<'a, M: Mode, const K: usize, const FAR: bool> {
    pub item: Item<'a, M, K, FAR>,
    pub law: &'a LawSources<M>,
}

impl<M: Mode, const K: usize, const FAR: bool> WithSimd for LawItem<'_, M, K, FAR> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if Fma::computes::<M::Real, S>()
            && let Some(unit) = self.item.divide_on
        {
            return self.item.sum(simd, LawPairs::new(simd, self.law, Fma(unit)));
        }
        self.item.sum(simd, LawPairs::new(simd, self.law, Ieee));
    }
}

/// Vectors of one result of a program.
type Block<M, S> = [V<M, S>; BLOCK];

/// Pairs of a law, with the memory for their program.
struct LawPairs<'a, M: Mode, S: Simd, D> {
    law: &'a LawSources<M>,
    form: D,
    blocks: Vec<Block<M, S>>,
}

impl<'a, M: Mode, S: Simd, D: InverseSqrt> LawPairs<'a, M, S, D> {
    #[inline(always)]
    fn new(simd: S, law: &'a LawSources<M>, form: D) -> Self {
        let mut blocks = vec![[M::Real::splat(simd, M::Real::from_f64(0.0)); BLOCK]; law.plan.blocks];
        for step in &law.plan.fixed {
            if let Op::Constant(value) = step.op {
                blocks[step.to] = [M::Real::splat(simd, M::Real::from_f64(value)); BLOCK];
            }
        }
        Self { law, form, blocks }
    }

    /// Computes a step for all pairs of the block. Places beyond the last source hold what is left of earlier ones.
    #[inline(always)]
    fn step<const OVER_BAGS: bool>(
        &mut self,
        simd: S,
        Step { to, op }: Step,
        (sources, group): (&[Source<'_, M::Real, OVER_BAGS>], usize),
    ) {
        let Self { law, form, blocks } = self;
        let minus_zero = M::Real::splat(simd, M::Real::from_f64(-0.0));
        // The results stay in registers until all are there: no block that is written can be an operand then.
        macro_rules! each {
            ($k:ident, [$($x:ident = $block:expr),+] => $value:expr) => {{
                $(let $x = &blocks[usize::from($block)];)+
                let mut results = blocks[SQUARES];
                for $k in 0..BLOCK {
                    results[$k] = $value;
                }
                blocks[to] = results;
            }};
        }
        // A plain loop over numbers, which the compiler turns into vector code.
        macro_rules! each_number {
            ($function:ident, $a:expr) => {{
                let mut numbers = blocks[usize::from($a)];
                for number in bytemuck::cast_slice_mut::<_, M::Real>(&mut numbers) {
                    *number = functions::$function(*number);
                }
                blocks[to] = numbers;
            }};
        }
        match op {
            Op::Input(Input::S) => each!(k, [x = SQUARES] => M::Real::sqrt_lanes(simd, x[k])),
            Op::Input(Input::InverseS) => each!(k, [x = SQUARES] => inverse_sqrt::<M, S, D>((simd, *form), x[k])),
            Op::Input(Input::SourceMass) => {
                for (k, source) in sources.iter().enumerate() {
                    blocks[to][k] = source.mass(simd);
                }
            }
            Op::Input(Input::Source(column)) => {
                let slots = &law.of_sources[usize::from(column)];
                for (k, source) in sources.iter().enumerate() {
                    blocks[to][k] = source.beside(simd, slots, group);
                }
            }
            // The plan computes these elsewhere.
            Op::Input(Input::SquareS | Input::TargetMass | Input::Target(_)) | Op::Constant(_) => {}
            Op::Add(a, b) => each!(k, [x = a, y = b] => M::Real::add(simd, x[k], y[k])),
            Op::Sub(a, b) => each!(k, [x = a, y = b] => M::Real::sub(simd, x[k], y[k])),
            Op::Mul(a, b) => each!(k, [x = a, y = b] => M::Real::mul(simd, x[k], y[k])),
            Op::Div(a, b) => each!(k, [x = a, y = b] => M::Real::div(simd, x[k], y[k])),
            Op::Neg(a) => each!(k, [x = a] => M::Real::sub(simd, minus_zero, x[k])),
            Op::Sqrt(a) => each!(k, [x = a] => M::Real::sqrt_lanes(simd, x[k])),
            Op::Exp(a) => each_number!(exp, a),
            Op::Log(a) => each_number!(log, a),
            Op::Sin(a) => each_number!(sin, a),
            Op::Cos(a) => each_number!(cos, a),
            Op::Pow(a, b) => {
                let (mut numbers, exponents) = (blocks[usize::from(a)], blocks[usize::from(b)]);
                let exponents: &[M::Real] = bytemuck::cast_slice(&exponents);
                for (number, exponent) in bytemuck::cast_slice_mut(&mut numbers).iter_mut().zip(exponents) {
                    *number = functions::pow::<M::Real>(*number, *exponent);
                }
                blocks[to] = numbers;
            }
            Op::Min(a, b) => each!(k, [x = a, y = b] => select_less::<M, S>(simd, [x[k], y[k]], [x[k], y[k]])),
            Op::Max(a, b) => each!(k, [x = a, y = b] => select_less::<M, S>(simd, [y[k], x[k]], [x[k], y[k]])),
            Op::Less(a, b, c, d) => each!(
                k, [x = a, y = b, yes = c, no = d] => select_less::<M, S>(simd, [x[k], y[k]], [yes[k], no[k]])
            ),
        }
    }

    /// Adds the pairs of the block to the sums.
    #[inline(always)]
    fn add_pairs<const K: usize, const OVER_BAGS: bool, const MASKED: bool>(
        &self,
        simd: S,
        (target, bag): (&Lanes<M, S>, &Bag<'_, M, S>),
        sources: &[Source<'_, M::Real, OVER_BAGS>],
        sums: &mut Sums<M, S, K>,
    ) {
        let (plan, zero) = (&self.law.plan, M::Real::splat(simd, M::Real::from_f64(0.0)));
        // Where there is no result it is not read.
        let block = |block: Option<usize>| &self.blocks[block.unwrap_or(SQUARES)];
        let results = [block(Some(plan.factor)), block(plan.slope), block(plan.minus_potential)];
        let has_potential = plan.minus_potential.is_some();
        let mut now = *sums;
        for (k, &source) in sources.iter().enumerate() {
            let (before, mut of) = (now, [results[0][k], results[1][k], results[2][k]]);
            if MASKED {
                let (absent, beyond) = (source.absent(simd, bag), source.beyond(simd, bag));
                for result in &mut of {
                    *result = M::Real::select(simd, absent, zero, M::Real::select(simd, beyond, zero, *result));
                }
            }
            let ([factor, slope, minus_potential], r) =
                (of, relative_position::<M, S, OVER_BAGS>(simd, target, source));
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

/// Returns 1/√x, of which a form has no value at 0 and ∞.
#[inline(always)]
fn inverse_sqrt<M: Mode, S: Simd, D: InverseSqrt>((simd, form): (S, D), x: V<M, S>) -> V<M, S> {
    let y = form.inverse_sqrt::<M::Real, S>(simd, x);
    if D::PARTIAL && form.any_nan::<M::Real, S>(y) { Ieee.inverse_sqrt::<M::Real, S>(simd, x) } else { y }
}

impl<M: Mode, S: Simd, D: InverseSqrt, const K: usize, const FAR: bool> Interaction<M, S, K, FAR>
    for LawPairs<'_, M, S, D>
{
    // A law need not vanish with the mass, nor far away.
    const MASKS_PLACES: bool = true;

    #[inline(always)]
    fn take_targets(&mut self, particles: &[u32; MAX_LANES]) {
        for step in &self.law.plan.fixed {
            let column = match step.op {
                Op::Input(Input::TargetMass) => 0,
                Op::Input(Input::Target(column)) => 1 + usize::from(column),
                _ => continue,
            };
            let mut values = [M::Real::from_f64(0.0); MAX_LANES];
            for (value, &i) in values.iter_mut().zip(particles) {
                if let Some(of_target) = self.law.of_targets[column].get(i as usize) {
                    *value = *of_target;
                }
            }
            self.blocks[step.to] = [load::<M, S>(&values); BLOCK];
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
        let mut sources = [Source::<_, OVER_BAGS>::new(&[], bag.first, 0); BLOCK];
        for (number, slots) in bag.slots.chunks(BLOCK * stride).enumerate() {
            let mut count = 0;
            for (k, slot) in slots.chunks_exact(stride).enumerate() {
                sources[k] = Source::new(slot, bag.first, number * BLOCK + k);
                let [x, y, z] = relative_position::<M, S, OVER_BAGS>(simd, target, sources[k]);
                self.blocks[SQUARES][k] = target.softened_square(simd, [x, y, z]);
                count += 1;
            }
            for k in 0..self.law.plan.steps.len() {
                self.step(simd, self.law.plan.steps[k], (&sources[..count], bag.group));
            }
            let (pairs, sources) = ((target, bag), &sources[..count]);
            if bag.masked {
                self.add_pairs::<K, OVER_BAGS, true>(simd, pairs, sources, sums);
            } else {
                self.add_pairs::<K, OVER_BAGS, false>(simd, pairs, sources, sums);
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
