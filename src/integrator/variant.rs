//! What studies, advice and other programs know of a scheme: at each order under a name of its own, with numbers that were
//! measured.

/// Scheme with individual block time steps at one order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Variant {
    /// Name: that of the scheme, with its order where the scheme has several.
    pub name: &'static str,
    /// Order of the scheme.
    pub order: u32,
    /// Flag that the scheme has the order as a key.
    pub has_order_key: bool,
    /// Key of the accuracy of the first steps, if the scheme has one.
    pub start_key: Option<&'static str>,
    /// Power of the accuracy parameter by which steps are long: dt ∝ √ν, dt ∝ η.
    pub step_power: f64,
    /// Range of the power of the accuracy parameter in the truncation error of runs.
    pub error_powers: (f64, f64),
    /// Values of the accuracy parameter that trials take, from the largest down.
    pub tried: [f64; 3],
    /// Smallest and largest accuracy parameter that are recommended.
    pub range: (f64, f64),
    /// Largest accuracy parameter with which orbits that last are stable; infinite where steps of any length damp them.
    pub max_stable: f64,
    /// Length of the steps by forces that are not in f64, relative to those in f64 with the same accuracy; [`None`] if the
    /// criterion is the same in all modes.
    pub relative_step: Option<f64>,
    /// Flag that advice tries it in place of other schemes.
    pub is_advised: bool,
}
