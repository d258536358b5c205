//! Law of the CPU engine: what its pairs read of sources and targets.

use super::compiled::{CompiledPairs, LawCode};
use super::plan::Plan;
use super::sources::place;
use crate::error::Result;
use crate::force::canonical::{BAG, bags};
use crate::force::mode::{MAX_LANES, Mode, is_whole};
use crate::force::real::Real;
use crate::law::Law;
use crate::particles::Particles;
use std::sync::Arc;

/// Law, with masses and values in its columns of all particles.
pub struct LawSources<M: Mode> {
    law: Arc<Law>,
    plan: Plan,
    /// Machine code of its pairs.
    code: LawCode,
    /// Mass and values in the columns of each particle, column by column.
    of_targets: Vec<Vec<M::Real>>,
    /// Values in the columns, as the [slots](super::sources) lie: [`Real::WIDTH`] numbers a slot.
    of_sources: Vec<Vec<M::Real>>,
}

impl<M: Mode> LawSources<M> {
    /// Creates the sources of a law for `K` sums, without particles.
    pub fn new<const K: usize>(law: &Arc<Law>) -> Self {
        let program = if is_whole(K) { law.program() } else { law.accelerations() };
        let (law, plan) = (law.clone(), Plan::new(program));
        Self { law, plan, code: LawCode::default(), of_targets: Vec::new(), of_sources: Vec::new() }
    }

    /// Returns the law.
    pub fn law(&self) -> &Arc<Law> {
        &self.law
    }

    /// Returns the plan of the law's program.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the machine code for vectors of `size` bytes and a form of 1 / s, made when first wanted. An engine has one
    /// size of vectors, one form and one number of sums.
    pub fn code<const K: usize>(&self, size: usize, estimates: bool) -> CompiledPairs<'_> {
        let program = if is_whole(K) { self.law.program() } else { self.law.accelerations() };
        CompiledPairs::new::<M, K>(&self.code, program, size, estimates)
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.law.program().columns.len()
    }

    /// Returns the values of a column as the slots lie, one row a slot.
    #[inline(always)]
    pub fn of_sources(&self, column: u8) -> &[M::Real] {
        &self.of_sources[usize::from(column)]
    }

    /// Returns the values of all columns as the slots lie.
    #[inline(always)]
    pub fn source_columns(&self) -> &[Vec<M::Real>] {
        &self.of_sources
    }

    /// Returns the mass (0) or the values in a column (from 1 on) of the particles in the lanes; 0 where there is none.
    #[inline(always)]
    pub fn of_targets(&self, column: usize, particles: &[u32; MAX_LANES]) -> [M::Real; MAX_LANES] {
        let mut values = [M::Real::from_f64(0.0); MAX_LANES];
        for (value, &i) in values.iter_mut().zip(particles) {
            if let Some(of_target) = self.of_targets[column].get(i as usize) {
                *value = *of_target;
            }
        }
        values
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
