//! Extrapolation of a symmetric leapfrog to steps of no length (Gragg 1965; Bulirsch & Stoer 1966, Numerische Mathematik 8,
//! 1; Deuflhard 1983, Numerische Mathematik 41, 399).

/// Largest number of columns: the leapfrogs have 1, 2, 3, … parts.
pub const COLUMNS: usize = 10;

/// Weights of the scheme of Aitken and Neville: 1 / ((k/j)² − 1) for the parts k = row + 1 and j = row − column.
const WEIGHTS: [[f64; COLUMNS]; COLUMNS] = weights();

const fn weights() -> [[f64; COLUMNS]; COLUMNS] {
    let mut found = [[0.0; COLUMNS]; COLUMNS];
    let mut row = 1;
    while row < COLUMNS {
        let mut column = 0;
        while column < row {
            let (fine, coarse) = ((row + 1) as f64, (row - column) as f64);
            found[row][column] = coarse * coarse / ((fine - coarse) * (fine + coarse));
            column += 1;
        }
        row += 1;
    }
    found
}

/// Share of the potential energy that counts, besides the binding energy itself, as the size of an error of that.
pub const SHARE: f64 = 1e-3;

/// Returns the shares of themselves by which positions and velocities get the binding energy `binding` = U − T by the smallest
/// change, where rounding has moved them off it: its errors do not add up (projection: Hairer, Lubich & Wanner 2006,
/// Geometric Numerical Integration, IV.4).
#[inline]
pub fn projection(kinetic: f64, potential: f64, binding: f64) -> (f64, f64) {
    let off = (kinetic + binding) - potential;
    let size = 4.0 * kinetic * kinetic + potential * potential;
    (-off * potential / size, -2.0 * off * kinetic / size)
}

/// Leapfrog over a step in `parts` equal parts, whose errors are a series in (1/parts)².
pub trait Leapfrog {
    /// Stores the changes of all numbers of the system over a step of this length.
    fn leap(&mut self, length: f64, parts: u32, change: &mut [f64]);

    /// Returns true if two sets of changes differ by less than the tolerance.
    fn is_near(&self, before: &[f64], last: &[f64]) -> bool;
}

/// Stores in the first `width` numbers of `rows` the changes over a step, and returns the number of columns that they took;
/// [`None`] if they do not converge. `rows` has room for [`COLUMNS`] times `width` numbers.
pub fn extrapolate(system: &mut impl Leapfrog, length: f64, width: usize, rows: &mut [f64]) -> Option<usize> {
    for (row, weights) in WEIGHTS.iter().enumerate() {
        let (coarse, rest) = rows.split_at_mut(row * width);
        let last = &mut rest[..width];
        system.leap(length, row as u32 + 1, last);
        for (column, weight) in weights[..row].iter().enumerate() {
            for (old, new) in coarse[column * width..][..width].iter_mut().zip(last.iter_mut()) {
                let refined = *new + (*new - *old) * weight;
                (*old, *new) = (*new, refined);
            }
        }
        if !last.iter().all(|x| x.is_finite()) {
            return None;
        }
        if row > 0 && system.is_near(&coarse[(row - 1) * width..], last) {
            rows.copy_within(row * width..(row + 1) * width, 0);
            return Some(row + 1);
        }
    }
    None
}
