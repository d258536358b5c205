//! Lists of neighbours: what differs between two, and whose lists a particle is in.

/// Calls `found` for the entries of an ascending list that are not in another: first for those of `old`, then, with true, for those
/// of `new`.
#[inline]
pub fn changed(old: &[u32], new: &[u32], mut found: impl FnMut(u32, bool)) {
    for (list, other, entered) in [(old, new, false), (new, old, true)] {
        let mut rest = 0;
        for &entry in list {
            while other.get(rest).is_some_and(|&other| other < entry) {
                rest += 1;
            }
            if other.get(rest) != Some(&entry) {
                found(entry, entered);
            }
        }
    }
}

/// Owners of the lists that each row is in, in any order. Where particles give way to others, it says whose lists change; a
/// look through all lists would cost as much as all particles.
#[derive(Debug)]
pub struct Holders(Vec<Vec<u32>>);

impl Holders {
    /// Creates those of all lists.
    pub fn new(lists: &[Vec<u32>]) -> Self {
        let mut holders = vec![Vec::new(); lists.len()];
        for (owner, list) in (0..).zip(lists) {
            list.iter().for_each(|&row| holders[row as usize].push(owner));
        }
        Self(holders)
    }

    /// Makes room for `n` rows, of which none is gone.
    pub fn grow(&mut self, n: usize) {
        self.0.resize(n, Vec::new());
    }

    /// Returns the owners of the lists that a row is in.
    pub fn of(&self, row: u32) -> &[u32] {
        &self.0[row as usize]
    }

    /// Takes note of another list of an owner.
    pub fn change_list(&mut self, owner: u32, old: &[u32], new: &[u32]) {
        changed(old, new, |row, entered| {
            let of = &mut self.0[row as usize];
            if entered {
                of.push(owner);
            } else if let Some(place) = of.iter().position(|&other| other == owner) {
                of.swap_remove(place);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_differ_by_what_one_of_them_has() {
        for (old, new, expected) in [
            (&[1, 3, 5][..], &[1, 3, 5][..], &[][..]),
            (&[], &[2, 4], &[(2, true), (4, true)]),
            (&[2, 4], &[], &[(2, false), (4, false)]),
            (&[1, 2, 7, 9], &[2, 3, 9, 10], &[(1, false), (7, false), (3, true), (10, true)]),
        ] {
            let mut found = Vec::new();
            changed(old, new, |entry, entered| found.push((entry, entered)));
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn holders_are_the_lists_the_other_way_round() {
        let mut lists = vec![vec![1, 2], vec![], vec![0, 1], vec![2]];
        let mut holders = Holders::new(&lists);
        lists.push(Vec::new());
        holders.grow(lists.len());
        for (owner, list) in [(1, vec![0, 4]), (0, vec![]), (4, vec![0, 1, 3]), (2, vec![1, 4]), (3, vec![2])] {
            holders.change_list(owner as u32, &lists[owner], &list);
            lists[owner] = list;
            let expected = Holders::new(&lists);
            for row in 0..lists.len() as u32 {
                let mut of = holders.of(row).to_vec();
                of.sort_unstable();
                assert_eq!(of, expected.of(row));
            }
        }
    }
}
