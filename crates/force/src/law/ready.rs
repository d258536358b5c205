//! Ready laws by name, one file each: formula, source, values by hand.

mod coulomb;
mod entry;
mod lennard_jones;
mod p3m_cutoff;
mod paczynski_wiita;
mod spline;
mod yukawa;

pub use entry::Ready;

use super::source::Formula;

/// Name of the law that the engines have built in.
pub const NEWTON: &str = "newton";

/// All ready laws but Newton's.
pub const ALL: [&Ready; 6] =
    [&yukawa::LAW, &spline::LAW, &lennard_jones::LAW, &coulomb::LAW, &p3m_cutoff::LAW, &paczynski_wiita::LAW];

impl Ready {
    /// Returns the law of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.into_iter().find(|law| law.name == name)
    }

    /// Returns the names of all laws, Newton's first.
    pub fn names() -> impl Iterator<Item = &'static str> {
        std::iter::once(NEWTON).chain(ALL.map(|law| law.name))
    }

    /// Returns the formula with what it gives.
    #[must_use]
    pub fn formula(&self) -> Formula {
        let formula = self.formula.to_owned();
        if self.is_acceleration { Formula::Acceleration(formula) } else { Formula::Potential(formula) }
    }
}

#[cfg(test)]
mod by_hand {
    use super::Ready;
    use crate::law::evaluate::{Factors, Quantities};
    use crate::law::{Law, LawSource};

    /// Evaluates a ready law at a distance. The particles are source and target: masses, values in the columns.
    pub fn evaluate(
        law: &Ready,
        parameters: &[(&str, f64)],
        s: f64,
        mass: [f64; 2],
        values: [&[f64]; 2],
    ) -> Factors<f64> {
        let law = Law::new(LawSource::new(law.formula(), parameters).with_columns(law.columns)).expect("a law");
        let pair = Quantities { s2: s * s, mass, source: values[0], target: values[1] };
        law.program().evaluate(&pair, &mut Vec::new())
    }

    /// Asserts that two numbers agree to 14 digits.
    pub fn close(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-14 * want.abs(), "{got} is not {want}");
    }
}
