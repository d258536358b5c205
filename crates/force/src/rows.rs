//! Work on some rows of a column, on threads where there is enough of it.

use crate::spin_pool::share;
use rayon::prelude::*;

/// Runs a function on the entries of some rows of a column, strictly ascending: it is given the place among `rows`, and the entry.
/// `nanoseconds` is the time of one call. Each thread has the rows of a range to itself.
pub fn for_rows<T: Send>(column: &mut [T], rows: &[u32], nanoseconds: usize, run: impl Fn(usize, &mut T) + Sync) {
    let share = share(rows.len(), nanoseconds).max(1);
    if share >= rows.len() {
        rows.iter().enumerate().for_each(|(k, &row)| run(k, &mut column[row as usize]));
        return;
    }
    let (mut rest, mut first) = (column, 0);
    let mut parts = Vec::with_capacity(rows.len().div_ceil(share));
    for (k, rows) in rows.chunks(share).enumerate() {
        let end = rows.last().map_or(first, |&row| row as usize + 1);
        let (part, after) = rest.split_at_mut(end - first);
        parts.push((k * share, first, rows, part));
        (rest, first) = (after, end);
    }
    parts.into_par_iter().for_each(|(place, first, rows, part)| {
        (place..).zip(rows).for_each(|(k, &row)| run(k, &mut part[row as usize - first]));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spin_pool::pool_of;

    #[test]
    fn each_row_is_met_once_with_its_place_on_any_number_of_threads() {
        let rows: Vec<u32> = (0..5000).filter(|row| row % 7 != 3).collect();
        for threads in [1, 2, 5] {
            let mut column = vec![0; 5000];
            pool_of(threads).unwrap().install(|| for_rows(&mut column, &rows, 1000, |k, entry| *entry += k + 1));
            let mut expected = vec![0; 5000];
            rows.iter().enumerate().for_each(|(k, &row)| expected[row as usize] = k + 1);
            assert_eq!(column, expected);
            pool_of(threads).unwrap().install(|| for_rows(&mut column, &[], 1000, |_, entry| *entry = 0));
            assert_eq!(column, expected);
        }
    }
}
