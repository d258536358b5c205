//! Work on some bodies or subsystems, on threads where there is enough of it. No result depends on their number.

use rayon::prelude::*;
use tisane_force::spin_pool::{self, is_worth_sharing};

/// Nanoseconds in which a body is asked for its subsystem: most of them for the memory.
pub const ASK: usize = 60;
/// Nanoseconds in which the paths of two bodies are compared.
pub const PATH: usize = 150;
/// Nanoseconds of a search of the regions.
pub const SEARCH: usize = 1250;
/// Nanoseconds of a search for subsystems that a body perturbs.
pub const GRIPS: usize = 50_000;
/// Nanoseconds of a sum over all bodies.
pub const SUM: usize = 10_000;
/// Nanoseconds in which others take note of where the members of a subsystem are: most of them for the memory.
pub const FOLLOW: usize = 150;
/// Nanoseconds in which a subsystem is measured.
pub const MEASURE: usize = 100;
/// Nanoseconds of other work on a subsystem.
pub const WORK: usize = 2500;

/// Runs a function on each of some bodies, or rows, and returns its results in their order. `nanoseconds` is the time of one call.
pub fn each<T: Send>(of: &[usize], nanoseconds: usize, run: impl Fn(usize) -> T + Sync) -> Vec<T> {
    spin_pool::map(of, nanoseconds, |&one| run(one))
}

/// Returns those of the numbers below `n` of which a test holds, ascending. `nanoseconds` is the time of one test.
pub fn those(n: usize, nanoseconds: usize, test: impl Fn(usize) -> bool + Sync) -> Vec<usize> {
    if is_worth_sharing(n, nanoseconds) {
        let min = spin_pool::min_share(nanoseconds).min(n / 2);
        (0..n).into_par_iter().with_min_len(min).filter(|&k| test(k)).collect()
    } else {
        (0..n).filter(|&k| test(k)).collect()
    }
}

/// Runs a function on those of some items, such as subsystems, that have ascending rows. Returns its results in their order. Where there
/// are many, all threads take part. `nanoseconds` is the time of one call.
pub fn each_mut<S: Send, T: Send>(
    items: &mut [S],
    rows: &[usize],
    nanoseconds: usize,
    run: impl Fn(&mut S) -> T + Sync,
) -> Vec<T> {
    each_mut_with(items, rows, vec![(); rows.len()], nanoseconds, |item, ()| run(item))
}

/// Does the same with a function of each item and what there is for it.
pub fn each_mut_with<S: Send, W: Send, T: Send>(
    items: &mut [S],
    rows: &[usize],
    with: Vec<W>,
    nanoseconds: usize,
    run: impl Fn(&mut S, W) -> T + Sync,
) -> Vec<T> {
    if !is_worth_sharing(rows.len(), nanoseconds) {
        return rows.iter().zip(with).map(|(&row, with)| run(&mut items[row], with)).collect();
    }
    // A chain takes a hundred times as long as a pair: no piece of work is larger than it has to be.
    let piece = spin_pool::min_share(nanoseconds);
    let each = chosen_mut(items, rows).into_par_iter().zip(with);
    each.with_min_len(piece).with_max_len(piece).map(|(item, with)| run(item, with)).collect()
}

/// Returns the items of some ascending rows.
fn chosen_mut<'a, S>(mut items: &'a mut [S], rows: &[usize]) -> Vec<&'a mut S> {
    let (mut chosen, mut first) = (Vec::with_capacity(rows.len()), 0);
    for row in rows {
        let (up_to_row, later) = items.split_at_mut(row + 1 - first);
        chosen.push(&mut up_to_row[row - first]);
        (items, first) = (later, row + 1);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encounters::motion::member::{Few, Member};
    use crate::encounters::motion::subsystem::Subsystem;
    use crate::few_body::Motion;
    use tisane_force::particles::Vec3;
    use tisane_force::spin_pool::pool_of;
    use tisane_force::time::Time;

    /// Pairs, the field at each its row.
    fn pairs(n: u32) -> Vec<Subsystem> {
        let pair = |k: u32| {
            let motion = Motion::from_vectors(&[1.0, 1.0], &[Vec3::x()], &[Vec3::y()]);
            let few =
                Few { members: vec![Member::Star(2 * k), Member::Star(2 * k + 1)], motion, time: Time::default() };
            Subsystem::new(few, f64::from(k))
        };
        (0..n).map(pair).collect()
    }

    #[test]
    fn a_test_chooses_the_same_numbers_on_any_number_of_threads() {
        for threads in [1, 2, 5] {
            for n in [0, 1, 9, 3000] {
                let found = pool_of(threads).unwrap().install(|| those(n, WORK, |k| k % 3 == 1));
                assert_eq!(found, (1..n).step_by(3).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn work_on_subsystems_is_the_same_on_any_number_of_threads() {
        for rows in [vec![], vec![7], vec![0, 4, 9], (0..40).filter(|k| k % 7 != 3).collect()] {
            for threads in [1, 2, 5] {
                let mut subsystems = pairs(40);
                let run = |subsystem: &mut Subsystem| {
                    subsystem.size += 1.0;
                    subsystem.field as usize
                };
                let found = pool_of(threads).unwrap().install(|| each_mut(&mut subsystems, &rows, WORK, run));
                assert_eq!(found, rows);
                for (row, subsystem) in subsystems.iter().enumerate() {
                    assert_eq!(subsystem.size, if rows.contains(&row) { 1.0 } else { 0.0 }, "row {row}");
                }
            }
        }
    }
}
