//! Values of a dataset of a snapshot.

/// Values of a dataset of a snapshot, in row order and internal units.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValues {
    /// Physical quantities.
    Floats(Vec<f64>),
    /// Ids.
    Counts(Vec<u64>),
    /// What physical quantities have beyond f64: the numbers are the sums of both.
    Rests {
        /// Quantities in f64.
        high: Vec<f64>,
        /// What they have beyond that.
        low: Vec<f64>,
    },
}
