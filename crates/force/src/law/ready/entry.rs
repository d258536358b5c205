//! What a ready law states.

/// Law with a name.
#[derive(Clone, Copy, Debug)]
pub struct Ready {
    /// Name in configurations.
    pub name: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Publication.
    pub source: &'static str,
    /// Flag that the formula gives an acceleration, and the law has no potential.
    pub is_acceleration: bool,
    /// Formula.
    pub formula: &'static str,
    /// Names of the parameters that the user gives, each with its meaning and unit.
    pub parameters: &'static [(&'static str, &'static str)],
    /// Names of the columns of particles that it reads.
    pub columns: &'static [&'static str],
}
