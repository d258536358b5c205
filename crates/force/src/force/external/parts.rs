//! Fields as sums of parts that a device evaluates by itself, in block steps that it takes by itself.

use super::formula::steps::ProgramSteps;
use crate::particles::Vec3;

/// Sign in the order of a sum that one within it begins (`SUM_BEGINS` of kernels/field.cuh).
pub const SUM_BEGINS: u32 = 0xffff_fffd;
/// Sign that the sum within ends, and is added.
pub const SUM_ENDS: u32 = 0xffff_fffe;
/// Sign that the whole ends.
pub const ALL_ENDS: u32 = 0xffff_ffff;
/// Largest depth of sums within sums (`FIELD_DEPTH`).
const MAX_DEPTH: usize = 4;
/// Largest number of parts: what they give has to fit into the memory that a thread block shares.
const MAX_PARTS: usize = 24;

/// Field that a device can evaluate, with its part in a sum.
#[derive(Clone, Debug, PartialEq)]
pub enum Summand {
    /// One part.
    Part(FieldPart),
    /// Sum in this order.
    Sum(Vec<Summand>),
}

/// Part of a field, in internal units.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldPart {
    /// Program of a formula.
    Formula {
        /// Place to which the program's is relative.
        position: Vec3,
        /// Program.
        program: ProgramSteps,
    },
    /// Plummer sphere.
    Sphere {
        /// Mass.
        mass: f64,
        /// Centre.
        position: Vec3,
        /// Square of the scale radius.
        eps2: f64,
    },
}

/// Field of block steps on a device.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldParts {
    /// Parts: first those that act on the origin of coordinates too, then those that move with it.
    pub parts: Vec<FieldPart>,
    /// Number of the former.
    pub of_origin: usize,
    /// Order of the sums of both: numbers of parts, and signs.
    pub order: Vec<u32>,
    /// Place of the order of the latter.
    pub order_of_others: usize,
}

impl FieldParts {
    /// Returns the parts of a field that acts on the origin of coordinates too, and of one that moves with the origin; [`None`] for more
    /// than a device can sum.
    #[must_use]
    pub fn new(field: Summand, carried: Option<Summand>) -> Option<Self> {
        let mut found = Self { parts: Vec::new(), of_origin: 0, order: Vec::new(), order_of_others: 0 };
        found.add_whole(field)?;
        (found.of_origin, found.order_of_others) = (found.parts.len(), found.order.len());
        carried.map_or(Some(()), |carried| found.add_whole(carried))?;
        Some(found)
    }

    /// Returns the number of steps of all programs.
    #[must_use]
    pub fn steps(&self) -> usize {
        let steps = |part: &FieldPart| match part {
            FieldPart::Formula { program, .. } => program.words.len(),
            FieldPart::Sphere { .. } => 0,
        };
        self.parts.iter().map(steps).sum()
    }

    fn add_whole(&mut self, field: Summand) -> Option<()> {
        match field {
            Summand::Sum(all) => all.into_iter().try_for_each(|it| self.add(it, 1))?,
            part @ Summand::Part(_) => self.add(part, 1)?,
        }
        self.order.push(ALL_ENDS);
        Some(())
    }

    fn add(&mut self, summand: Summand, depth: usize) -> Option<()> {
        match summand {
            Summand::Part(_) if self.parts.len() == MAX_PARTS => return None,
            Summand::Part(part) => {
                self.order.push(self.parts.len() as u32);
                self.parts.push(part);
            }
            Summand::Sum(_) if depth == MAX_DEPTH => return None,
            Summand::Sum(all) => {
                self.order.push(SUM_BEGINS);
                all.into_iter().try_for_each(|it| self.add(it, depth + 1))?;
                self.order.push(SUM_ENDS);
            }
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
