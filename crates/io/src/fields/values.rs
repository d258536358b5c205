//! Values of a dataset of a snapshot.

/// Values of a dataset of a snapshot, in row order and internal units.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldValues {
    /// Physical quantities.
    Floats(Vec<f64>),
    /// Ids.
    Counts(Vec<u64>),
}
