//! Orbital elements as columns.

/// Orbital elements, one column each and one row an orbit. Angles are in degrees.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElementTable {
    /// Semi-major axis: a length, or an angle in arc seconds.
    pub semi_major_axis: Vec<f64>,
    /// Eccentricity.
    pub eccentricity: Vec<f64>,
    /// Inclination.
    pub inclination: Vec<f64>,
    /// Longitude of the ascending node.
    pub node: Vec<f64>,
    /// Argument of the pericentre.
    pub pericentre: Vec<f64>,
    /// Position on the orbit.
    pub phase: Phase,
    /// Masses of the bodies; empty if the table has none.
    pub mass: Vec<f64>,
    /// Units, as far as the file states them.
    pub units: ElementUnits,
}

/// Sizes of the units of a table that states them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ElementUnits {
    /// True if the semi-major axes are angles, in arc seconds.
    pub angle: bool,
    /// Unit of the semi-major axes in cm, if they are lengths.
    pub length: Option<f64>,
    /// Unit of the times of pericentre passage in s.
    pub time: Option<f64>,
    /// Unit of the masses in g.
    pub mass: Option<f64>,
}

/// Position of bodies on their orbits.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    /// Times of pericentre passage.
    TimeOfPericentre(Vec<f64>),
    /// Mean anomalies, in degrees.
    MeanAnomaly(Vec<f64>),
}

impl Default for Phase {
    fn default() -> Self {
        Self::MeanAnomaly(Vec::new())
    }
}
