//! Pairs of a [law](crate::law) in plain scalars: what the engines with a law are compared with.

use super::arithmetic::{add, add_two, relative, subtract};
use crate::error::Result;
use crate::force::mode::{ACC_SUMS, Mode, SUMS};
use crate::force::real::Real;
use crate::gravity::softened_square;
use crate::law::evaluate::{Factors, Quantities};
use crate::law::{Law, Program};
use crate::particles::{Particles, Vec3};
use num_traits::Zero;
use std::sync::Arc;

/// Law, with masses and values in its columns of all particles.
pub(super) struct LawPairs<M: Mode> {
    pub law: Arc<Law>,
    mass: Vec<M::Real>,
    /// Values of each particle in the columns of the law.
    values: Vec<Vec<M::Real>>,
    /// Softening squared.
    pub eps2: f64,
}

/// Target of a law: the particle that it is, or none, and its position.
#[derive(Clone, Copy)]
pub(super) struct Target {
    pub index: u32,
    pub pos: Vec3,
}

impl<M: Mode> LawPairs<M> {
    /// Creates pairs without particles. `epsilon` is the Plummer softening.
    pub fn new(law: &Arc<Law>, epsilon: f64) -> Self {
        Self { law: law.clone(), mass: Vec::new(), values: Vec::new(), eps2: epsilon * epsilon }
    }

    /// Takes the masses and columns of all particles.
    pub fn load(&mut self, all: &Particles) -> Result<()> {
        let columns = self.law.columns(all)?;
        let row = |i: usize| columns.iter().map(|column| M::Real::from_f64(column[i])).collect();
        self.values = (0..all.len()).map(row).collect();
        self.mass = all.mass.iter().map(|&mass| M::Real::from_f64(mass)).collect();
        Ok(())
    }

    /// Evaluates a program for source `j` at the relative position `r`.
    fn evaluate(
        &self,
        program: &Program,
        (target, j): (Target, usize),
        r: [M::Real; 3],
        registers: &mut Vec<M::Real>,
    ) -> Factors<M::Real> {
        let s2 = softened_square(r, M::Real::from_f64(self.eps2));
        let i = target.index as usize;
        let own = self.mass.get(i).copied().unwrap_or_else(M::Real::zero);
        let values = self.values.get(i).map_or(&[][..], |values| values);
        let pair = Quantities { s2, mass: [self.mass[j], own], source: &self.values[j], target: values };
        program.evaluate(&pair, registers)
    }

    /// Adds the force of source `j`, at `pos` and with the relative velocity `v`, to the sums of a bag.
    pub fn add_force(
        &self,
        sums: &mut [[M::Real; 2]; SUMS],
        (target, j): (Target, usize),
        (pos, v): (Vec3, [M::Real; 3]),
        registers: &mut Vec<M::Real>,
    ) {
        let r = relative::<M>(pos, target.pos);
        let Factors { factor, slope, minus_potential } = self.evaluate(self.law.program(), (target, j), r, registers);
        let ([x, y, z], [vx, vy, vz]) = (r, v);
        let beta = slope * num_traits::Float::mul_add(x, vx, num_traits::Float::mul_add(y, vy, z * vz));
        for k in 0..3 {
            add::<M>(&mut sums[k], factor, r[k]);
            add_two::<M>(&mut sums[3 + k], [[factor, v[k]], [beta, r[k]]]);
        }
        if self.law.has_potential() {
            subtract::<M>(&mut sums[6], minus_potential);
        }
    }

    /// Adds the acceleration by source `j`, at `pos`, to the sums of a bag.
    pub fn add_acceleration(
        &self,
        sums: &mut [[M::Real; 2]; ACC_SUMS],
        (target, j): (Target, usize),
        pos: Vec3,
        registers: &mut Vec<M::Real>,
    ) {
        let r = relative::<M>(pos, target.pos);
        let factor = self.evaluate(self.law.accelerations(), (target, j), r, registers).factor;
        (0..3).for_each(|k| add::<M>(&mut sums[k], factor, r[k]));
    }
}
