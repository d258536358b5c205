//! Lists of neighbours: what changes in them, and whose lists a particle is in.

use rayon::prelude::*;

/// Changes of some lists, one after the other. All are in one vector, so that they take no more room than what changes.
#[derive(Debug, Default)]
pub struct Changes {
    rows: Vec<u32>,
    /// Ends in `rows` of those that left each list, and of those that entered it.
    ends: Vec<[usize; 2]>,
}

/// Change of a list: rows that left it and rows that entered it, both ascending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<'a> {
    pub left: &'a [u32],
    pub entered: &'a [u32],
}

impl Change<'_> {
    /// Returns true if nothing has changed.
    pub const fn is_none(&self) -> bool {
        self.left.is_empty() && self.entered.is_empty()
    }
}

/// Number of entries that are first compared at once: most stay.
const SAME: usize = 8;

impl Changes {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.ends.clear();
    }

    /// Adds the change from one ascending list to another, and returns it.
    pub fn push(&mut self, old: &[u32], new: &[u32]) -> Change<'_> {
        let first = self.rows.len();
        self.rows.resize(first + old.len() + new.len(), 0);
        let (left, entered) = self.rows[first..].split_at_mut(old.len());
        let ([mut i, mut j], [mut gone, mut come]) = ([0; 2], [0; 2]);
        while let (Some(&a), Some(&b)) = (old.get(i), new.get(j)) {
            if old[i..].first_chunk::<SAME>().is_some_and(|some| new[j..].starts_with(some)) {
                (i, j) = (i + SAME, j + SAME);
                continue;
            }
            // The next of both is written in any case and counts by a number: which list is ahead can hardly be predicted.
            (left[gone], entered[come]) = (a, b);
            gone += usize::from(a < b);
            come += usize::from(b < a);
            i += usize::from(a <= b);
            j += usize::from(b <= a);
        }
        for (list, to, number) in [(&old[i..], left, &mut gone), (&new[j..], entered, &mut come)] {
            to[*number..][..list.len()].copy_from_slice(list);
            *number += list.len();
        }
        let (middle, entered) = (first + gone, first + old.len());
        self.rows.copy_within(entered..entered + come, middle);
        self.rows.truncate(middle + come);
        self.ends.push([middle, middle + come]);
        Change { left: &self.rows[first..middle], entered: &self.rows[middle..] }
    }

    /// Returns the number of lists.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns all changes, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = Change<'_>> {
        let mut first = 0;
        self.ends.iter().map(move |&[middle, end]| {
            let change = Change { left: &self.rows[first..middle], entered: &self.rows[middle..end] };
            first = end;
            change
        })
    }
}

/// Number of new entries that wait at most until they are taken in, and below which one thread takes them in.
const MAX_PENDING: usize = 1 << 16;
const SERIAL: usize = 1 << 10;
/// Number of rows whose new entries wait together, for one thread.
const ROWS: usize = 1 << 10;

/// Owners of the lists that each row is in, in any order, and some of lists that it was in before: to look for an entry that is gone
/// takes longer than to pass it over. Where particles give way to others, they say whose lists may change; a look through all lists
/// would cost as much as all particles. New entries are taken in together, by all threads.
#[derive(Debug, Default)]
pub struct Holders {
    of: Vec<Vec<u32>>,
    /// Entries that wait, those of [`ROWS`] rows together; of several threads one after the other; and their number.
    pending: Vec<Vec<Entry>>,
    of_threads: Vec<Vec<Vec<Entry>>>,
    waiting: usize,
    /// Number of all that were taken in, and the number from which on they are not worth keeping.
    entries: usize,
    max: usize,
}

/// Entry of a list that is new.
#[derive(Clone, Copy, Debug)]
struct Entry {
    row: u32,
    owner: u32,
}

impl Holders {
    /// Collects those of all lists, in place of what there was.
    pub fn collect(&mut self, lists: &[Vec<u32>]) {
        let Self { of, pending, of_threads, .. } = self;
        of.resize(lists.len(), Vec::new());
        let entries: usize = lists.par_iter().map(Vec::len).sum();
        // Most rows are in about as many lists; memory is asked for once, and kept.
        let room = entries.div_ceil(lists.len().max(1)) * 3 / 2;
        // Each thread looks for its rows in all lists, which ascend.
        let size = lists.len().div_ceil(rayon::current_num_threads()).max(1);
        of.par_chunks_mut(size).enumerate().for_each(|(k, of)| {
            for of in &mut *of {
                of.clear();
                of.reserve(room);
            }
            let first = (k * size) as u32;
            for (owner, list) in (0..).zip(lists) {
                for row in &list[list.partition_point(|&row| row < first)..] {
                    let Some(of) = of.get_mut((row - first) as usize) else { break };
                    of.push(owner);
                }
            }
        });
        pending.iter_mut().for_each(Vec::clear);
        pending.resize(of.len().div_ceil(ROWS), Vec::new());
        of_threads.clear();
        (self.waiting, self.entries, self.max) = (0, entries, 2 * entries + MAX_PENDING);
    }

    /// Makes room for `n` rows, of which none is gone.
    pub fn grow(&mut self, n: usize) {
        self.of.resize(n, Vec::new());
        self.pending.resize(n.div_ceil(ROWS), Vec::new());
    }

    /// Returns the owners of the lists that some rows are in, one after the other, some more than once, with others.
    pub fn owners(&mut self, rows: &[u32]) -> Vec<u32> {
        self.take_in();
        rows.iter().flat_map(|&row| &self.of[row as usize]).copied().collect()
    }

    /// Takes note of rows that have entered the list of an owner.
    pub fn enter(&mut self, owner: u32, entered: &[u32]) {
        entered.iter().for_each(|&row| self.pending[row as usize / ROWS].push(Entry { row, owner }));
        self.waiting += entered.len();
        if self.waiting > MAX_PENDING {
            self.take_in();
        }
    }

    /// Takes note of changes of many lists, all parts of them at once; `owner` returns the owner of each list by its number.
    pub fn enter_all(&mut self, changes: &[Changes], owner: impl Fn(usize) -> u32 + Sync) {
        let firsts = changes.iter().scan(0, |next, part| Some(std::mem::replace(next, *next + part.len())));
        let parts: Vec<(usize, &Changes)> = firsts.zip(changes).collect();
        if let [(_, part)] = parts[..] {
            return part.iter().enumerate().for_each(|(k, change)| self.enter(owner(k), change.entered));
        }
        let groups = self.pending.len();
        let of_part = |&(first, part): &(usize, &Changes)| {
            let mut pending = vec![Vec::new(); groups];
            for (k, change) in part.iter().enumerate() {
                let owner = owner(first + k);
                change.entered.iter().for_each(|&row| pending[row as usize / ROWS].push(Entry { row, owner }));
            }
            pending
        };
        let found: Vec<Vec<Vec<Entry>>> = parts.par_iter().map(of_part).collect();
        self.waiting += found.iter().flatten().map(Vec::len).sum::<usize>();
        self.of_threads.extend(found);
        if self.waiting > MAX_PENDING {
            self.take_in();
        }
    }

    /// Returns true if nothing was collected, or about half of the entries are of lists that the rows have left: then it is quicker to
    /// [collect](Self::collect) all anew.
    pub const fn is_outgrown(&self) -> bool {
        self.entries >= self.max
    }

    /// Takes in the entries that wait.
    fn take_in(&mut self) {
        let Self { of, pending, of_threads, waiting, entries, .. } = self;
        let of_threads = std::mem::take(of_threads);
        let part = |(group, (of, pending)): (usize, (&mut [Vec<u32>], &mut Vec<Entry>))| {
            let of_threads = of_threads.iter().filter_map(|of| of.get(group)).flatten().copied();
            pending.drain(..).chain(of_threads).for_each(|Entry { row, owner }| of[row as usize % ROWS].push(owner));
        };
        if *waiting < SERIAL {
            of.chunks_mut(ROWS).zip(pending).enumerate().for_each(part);
        } else {
            of.par_chunks_mut(ROWS).zip(pending).enumerate().for_each(part);
        }
        *entries += *waiting;
        *waiting = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_differ_by_what_one_of_them_has() {
        let cases = [
            [&[1, 3, 5][..], &[1, 3, 5], &[], &[]],
            [&[], &[2, 4], &[], &[2, 4]],
            [&[2, 4], &[], &[2, 4], &[]],
            [&[1, 2, 7, 9], &[2, 3, 9, 10], &[1, 7], &[3, 10]],
        ];
        let mut changes = Changes::default();
        for _ in 0..2 {
            changes.clear();
            let expected = cases.map(|[_, _, left, entered]| Change { left, entered });
            for ([old, new, ..], expected) in cases.iter().zip(expected) {
                assert_eq!(changes.push(old, new), expected);
            }
            assert_eq!(changes.iter().collect::<Vec<_>>(), expected);
        }
    }

    /// Those of all lists.
    fn collected(lists: &[Vec<u32>]) -> Holders {
        let mut holders = Holders::default();
        assert!(holders.is_outgrown());
        holders.collect(lists);
        assert!(!holders.is_outgrown());
        holders
    }

    /// Returns the owners of the lists that a row is in, ascending.
    fn present(holders: &mut Holders, lists: &[Vec<u32>], row: u32) -> Vec<u32> {
        let mut of = holders.owners(&[row]);
        of.retain(|&owner| lists[owner as usize].contains(&row));
        of.sort_unstable();
        of.dedup();
        of
    }

    #[test]
    fn holders_are_the_lists_the_other_way_round() {
        let mut lists = vec![vec![1, 2], vec![], vec![0, 1], vec![2]];
        let mut holders = collected(&lists);
        lists.push(Vec::new());
        holders.grow(lists.len());
        for (owner, list) in [(1, vec![0, 4]), (0, vec![]), (4, vec![0, 1, 3]), (2, vec![1, 4]), (3, vec![2])] {
            holders.enter(owner as u32, Changes::default().push(&lists[owner], &list).entered);
            lists[owner] = list;
            let mut expected = collected(&lists);
            for row in 0..lists.len() as u32 {
                assert_eq!(present(&mut holders, &lists, row), expected.owners(&[row]));
            }
        }
    }

    #[test]
    fn entries_that_wait_are_taken_in_by_all_threads_alike() {
        let n = 400;
        let list = |owner: u32, turn: u32| -> Vec<u32> {
            (0..n).filter(|row| (row * 7 + owner + turn).is_multiple_of(5)).collect()
        };
        let found = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut lists: Vec<Vec<u32>> = (0..n).map(|owner| list(owner, 0)).collect();
                let mut holders = collected(&lists);
                for turn in 1..4 {
                    assert!(!holders.is_outgrown());
                    for owner in 0..n {
                        let new = list(owner, turn * owner);
                        holders.enter(owner, Changes::default().push(&lists[owner as usize], &new).entered);
                        lists[owner as usize] = new;
                    }
                }
                let present = (0..n).map(|row| present(&mut holders, &lists, row)).collect::<Vec<_>>();
                assert_eq!(holders.is_outgrown(), holders.of.iter().map(Vec::len).sum::<usize>() >= holders.max);
                present
            })
        };
        let one = found(1);
        assert!(one == found(3) && one.iter().map(Vec::len).sum::<usize>() > 10_000);
        for (row, owners) in one.into_iter().enumerate() {
            let expected = (0..n).filter(|&owner| list(owner, 3 * owner).contains(&(row as u32)));
            assert_eq!(owners, expected.collect::<Vec<_>>());
        }
    }

    #[test]
    fn changes_of_many_lists_are_entered_as_those_of_each() {
        let n = 3 * ROWS as u32;
        let list = |owner: u32, turn: u32| -> Vec<u32> {
            (0..n).filter(|row| (row * 7 + owner + turn).is_multiple_of(97)).collect()
        };
        let of_turn = |turn: u32| -> Vec<Vec<u32>> { (0..n).map(|owner| list(owner, turn)).collect() };
        let (old, new, owners) = (of_turn(0), of_turn(1), (0..n).rev().collect::<Vec<_>>());
        let found = |size: usize, one_by_one: bool| {
            let mut holders = collected(&old);
            let part = |owners: &[u32]| {
                let mut changes = Changes::default();
                for &owner in owners {
                    changes.push(&old[owner as usize], &new[owner as usize]);
                }
                changes
            };
            let parts: Vec<Changes> = owners.chunks(size).map(part).collect();
            if one_by_one {
                let changes = parts.iter().flat_map(Changes::iter);
                owners.iter().zip(changes).for_each(|(&owner, change)| holders.enter(owner, change.entered));
            } else {
                holders.enter_all(&parts, |k| owners[k]);
            }
            let present = (0..n).step_by(5).map(|row| present(&mut holders, &new, row)).collect::<Vec<_>>();
            (present, holders.entries)
        };
        let want = found(n as usize, true);
        assert!(want.1 > MAX_PENDING && want.0.iter().all(|owners| owners.len() > 20));
        assert!([n as usize, 700, 50].map(|size| found(size, false)) == [want.clone(), want.clone(), want]);
    }

    #[test]
    fn holders_with_many_entries_that_are_gone_are_outgrown() {
        let mut holders = collected(&[vec![1], vec![0]]);
        (0..3 * MAX_PENDING as u32).for_each(|_| holders.enter(0, &[1]));
        assert!(holders.is_outgrown());
    }
}
