//! What the extrapolated scheme needs of numbers with more digits than f64, one by one and in columns.

/// Number with more digits than f64. Its operations have the same bits on every machine.
pub trait Number: Copy + Send + Sync {
    /// Number of bits.
    const BITS: u32;
    /// Number of words that hold it in files.
    const WORDS: usize;

    /// Returns the number that is exactly `value`; not a number where that is infinite.
    fn exact(value: f64) -> Self;

    /// Returns the nearest number in f64.
    fn rounded(self) -> f64;

    /// Returns the sum.
    fn plus(self, other: Self) -> Self;

    /// Returns the difference.
    fn minus(self, other: Self) -> Self;

    /// Returns the product.
    fn times(self, other: Self) -> Self;

    /// Returns 1/√ of the number to a few units of the last place; not a number unless it is above zero.
    fn inverse_sqrt(self) -> Self;

    /// Adds its words to `words`.
    fn write(self, words: &mut Vec<u64>);

    /// Returns the number of [`Self::WORDS`] words; [`None`] if they are not those of a number.
    fn read(words: &[u64]) -> Option<Self>;

    /// Returns 1/k to a few units of the last place, by Newton's method from the value in f64.
    fn reciprocal(k: u32) -> Self {
        let (one, k) = (Self::exact(1.0), Self::exact(f64::from(k)));
        let mut found = Self::exact(1.0 / k.rounded());
        let mut bits = 50;
        while bits < Self::BITS {
            found = found.plus(found.times(one.minus(k.times(found))));
            bits *= 2;
        }
        found
    }
}

/// Masses and softening of a system, rows filled up to a multiple of [`Columns::ROWS`] with zero masses.
#[derive(Clone, Debug)]
pub struct Bodies<T> {
    /// Number of particles.
    pub n: usize,
    /// Masses of all rows.
    pub mass: Vec<f64>,
    /// Square of the softening length.
    pub epsilon2: T,
}

/// Columns of numbers.
pub trait Columns: Clone + Send {
    /// Type of the numbers.
    type Number: Number;
    /// Number of rows that are computed together: lengths of columns are multiples of it.
    const ROWS: usize;

    /// Returns a column of zeros.
    fn zeros(len: usize) -> Self;

    /// Returns the number in a row.
    fn get(&self, row: usize) -> Self::Number;

    /// Sets the number in a row.
    fn set(&mut self, row: usize, value: Self::Number);

    /// Takes over the numbers of another column of the same length.
    fn copy_from(&mut self, other: &Self);

    /// Adds the product of a number and another column.
    fn add_product(&mut self, factor: Self::Number, other: &Self);

    /// Adds the product of a number and the difference from another column: `self += factor (self − other)`.
    fn add_difference(&mut self, factor: Self::Number, other: &Self);

    /// Computes the accelerations of all rows by each other, with G = 1: x, y and z follow each other in `pos` and `acc`.
    /// Two particles without mass do not act on each other, wherever they are.
    fn accelerate(bodies: &Bodies<Self::Number>, pos: &Self, acc: &mut Self);
}
