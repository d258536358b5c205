//! Work on some bodies or subsystems, on threads where there is enough of it. No result depends on their number.

use crate::encounters::motion::subsystem::Subsystem;
use rayon::prelude::*;
use tisane_force::spin_pool;

/// Nanoseconds in which a body is asked for its subsystem: most of them for the memory.
pub const ASK: usize = 60;
/// Nanoseconds in which the paths of two bodies are compared.
pub const PATH: usize = 150;
/// Nanoseconds of a search of the regions.
pub const SEARCH: usize = 1250;
/// Nanoseconds of a sum over all bodies.
pub const SUM: usize = 10_000;
/// Nanoseconds of other work on a subsystem.
pub const WORK: usize = 2500;

/// Returns true if all threads should share the work on a number of items. `nanoseconds` is the time of an item.
fn is_worth_sharing(number: usize, nanoseconds: usize) -> bool {
    number >= 2 * spin_pool::min_share(nanoseconds) && rayon::current_num_threads() > 1
}

/// Runs a function on each of some bodies, or rows, and returns its results in their order. `nanoseconds` is the time of one call.
pub fn each<T: Send>(of: &[usize], nanoseconds: usize, run: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if is_worth_sharing(of.len(), nanoseconds) {
        let min = spin_pool::min_share(nanoseconds).min(of.len() / 2);
        of.par_iter().with_min_len(min).map(|&one| run(one)).collect()
    } else {
        of.iter().map(|&one| run(one)).collect()
    }
}

/// Runs a function on the subsystems of some ascending rows. Returns its results in their order. Where there are many, all threads
/// take part.
pub fn each_mut<T: Send>(
    subsystems: &mut [Subsystem],
    rows: &[usize],
    run: impl Fn(&mut Subsystem) -> T + Sync,
) -> Vec<T> {
    if !is_worth_sharing(rows.len(), WORK) {
        return rows.iter().map(|&row| run(&mut subsystems[row])).collect();
    }
    // A chain takes a hundred times as long as a pair: each is a piece of work of its own.
    chosen_mut(subsystems, rows).into_par_iter().with_max_len(1).map(&run).collect()
}

/// Returns the subsystems of some ascending rows.
fn chosen_mut<'a>(mut subsystems: &'a mut [Subsystem], rows: &[usize]) -> Vec<&'a mut Subsystem> {
    let (mut chosen, mut first) = (Vec::with_capacity(rows.len()), 0);
    for row in rows {
        let (up_to_row, later) = subsystems.split_at_mut(row + 1 - first);
        chosen.push(&mut up_to_row[row - first]);
        (subsystems, first) = (later, row + 1);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encounters::motion::member::{Few, Member};
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
    fn work_on_subsystems_is_the_same_on_any_number_of_threads() {
        for rows in [vec![], vec![7], vec![0, 4, 9], (0..40).filter(|k| k % 7 != 3).collect()] {
            for threads in [1, 2, 5] {
                let mut subsystems = pairs(40);
                let run = |subsystem: &mut Subsystem| {
                    subsystem.size += 1.0;
                    subsystem.field as usize
                };
                let found = pool_of(threads).unwrap().install(|| each_mut(&mut subsystems, &rows, run));
                assert_eq!(found, rows);
                for (row, subsystem) in subsystems.iter().enumerate() {
                    assert_eq!(subsystem.size, if rows.contains(&row) { 1.0 } else { 0.0 }, "row {row}");
                }
            }
        }
    }
}
