//! What engines evaluate on targets, in columns.

use super::external::field::{ExternalField, for_step};
use super::external::on_targets::OnTargets;
use super::targets::Targets;
use crate::gravity::Force;
use crate::particles::Vec3;

/// Quantities that a [`ForceEngine`](super::ForceEngine) evaluates on targets, in columns: [`Forces`] or
/// [`Accelerations`].
pub trait Evaluation: Default + Send + 'static {
    /// Accelerations, in the targets' order.
    fn acc(&self) -> &[Vec3];

    /// Potentials per unit mass, in the targets' order, if they are evaluated: those of the pairs alone.
    fn pot(&self) -> Option<&[f64]>;

    /// Evaluates what these quantities need of an external field at the time `t`.
    fn evaluate_external(field: &dyn ExternalField, targets: Targets<'_>, t: f64, out: &mut OnTargets);

    /// Adds what an external field gives to what was evaluated on the same targets.
    fn add_external(&mut self, found: &OnTargets);

    /// Returns the columns of pairs' quantities for `n` targets, resized to these, each with its numbers a target.
    fn columns(&mut self, n: usize) -> Vec<(usize, &mut [f64])>;

    /// Returns the same columns as they are.
    fn as_columns(&self) -> Vec<(usize, &[f64])>;
}

/// Acceleration, jerk and potential on targets, one entry a target, in the targets' order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forces {
    /// Acceleration.
    pub acc: Vec<Vec3>,
    /// Jerk.
    pub jerk: Vec<Vec3>,
    /// Potential per unit mass of the pairs, self term left out.
    pub pot: Vec<f64>,
    /// Potential per unit mass of an [external field](super::external); empty where there is none.
    pub external: Vec<f64>,
    /// Acceleration by an external field, which is part of `acc`; empty where there is none.
    pub external_acc: Vec<Vec3>,
}

impl Forces {
    /// Resizes the columns to `n` targets without an external field, and keeps the allocation.
    pub fn resize(&mut self, n: usize) {
        self.external.clear();
        self.external_acc.clear();
        self.acc.resize(n, Vec3::zeros());
        self.jerk.resize(n, Vec3::zeros());
        self.pot.resize(n, 0.0);
    }

    /// Stores the force on target `k`.
    #[inline]
    pub fn set(&mut self, k: usize, pull: &Force) {
        self.acc[k] = pull.acc;
        self.jerk[k] = pull.jerk;
        self.pot[k] = pull.pot;
    }

    /// Returns the sums of these forces and others on the same targets, with the external field of the others.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let vectors = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a + b).collect();
        Self {
            acc: vectors(&self.acc, &other.acc),
            jerk: vectors(&self.jerk, &other.jerk),
            pot: self.pot.iter().zip(&other.pot).map(|(a, b)| a + b).collect(),
            external: other.external.clone(),
            external_acc: other.external_acc.clone(),
        }
    }

    /// Returns the acceleration of target `k` by which its next step is measured; see [`for_step`].
    #[inline(always)]
    #[must_use]
    pub fn acc_for_step(&self, k: usize) -> Vec3 {
        let external = self.external_acc.get(k);
        external.map_or(self.acc[k], |external| for_step(self.acc[k], *external))
    }

    /// Replaces the forces on some targets by their places.
    pub fn replace(&mut self, places: &[u32], by: &Self) {
        for (k, place) in places.iter().map(|&k| k as usize).enumerate() {
            (self.acc[place], self.jerk[place], self.pot[place]) = (by.acc[k], by.jerk[k], by.pot[k]);
        }
    }
}

impl Evaluation for Forces {
    fn acc(&self) -> &[Vec3] {
        &self.acc
    }

    fn pot(&self) -> Option<&[f64]> {
        Some(&self.pot)
    }

    fn evaluate_external(field: &dyn ExternalField, targets: Targets<'_>, t: f64, out: &mut OnTargets) {
        out.evaluate(field, targets, t);
    }

    fn add_external(&mut self, OnTargets { acc, jerk, pot }: &OnTargets) {
        self.external.clone_from(pot);
        self.external_acc.clone_from(acc);
        self.acc.iter_mut().zip(acc).for_each(|(sum, by)| *sum += by);
        self.jerk.iter_mut().zip(jerk).for_each(|(sum, by)| *sum += by);
    }

    fn columns(&mut self, n: usize) -> Vec<(usize, &mut [f64])> {
        self.resize(n);
        let Self { acc, jerk, pot, .. } = self;
        vec![(3, bytemuck::cast_slice_mut(acc)), (3, bytemuck::cast_slice_mut(jerk)), (1, pot)]
    }

    fn as_columns(&self) -> Vec<(usize, &[f64])> {
        vec![(3, bytemuck::cast_slice(&self.acc)), (3, bytemuck::cast_slice(&self.jerk)), (1, &self.pot)]
    }
}

/// Accelerations alone, of all particles: a third of the arithmetic of [`Forces`], and sufficient for schemes with one
/// shared step and no derivative of the force.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Accelerations {
    /// Acceleration.
    pub acc: Vec<Vec3>,
}

impl Evaluation for Accelerations {
    fn acc(&self) -> &[Vec3] {
        &self.acc
    }

    fn pot(&self) -> Option<&[f64]> {
        None
    }

    fn evaluate_external(field: &dyn ExternalField, targets: Targets<'_>, t: f64, out: &mut OnTargets) {
        out.evaluate_accelerations(field, targets, t);
    }

    fn add_external(&mut self, OnTargets { acc, .. }: &OnTargets) {
        self.acc.iter_mut().zip(acc).for_each(|(sum, by)| *sum += by);
    }

    fn columns(&mut self, n: usize) -> Vec<(usize, &mut [f64])> {
        self.acc.resize(n, Vec3::zeros());
        vec![(3, bytemuck::cast_slice_mut(&mut self.acc))]
    }

    fn as_columns(&self) -> Vec<(usize, &[f64])> {
        vec![(3, bytemuck::cast_slice(&self.acc))]
    }
}
