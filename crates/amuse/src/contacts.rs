//! Search for particles that touch: pairs whose distance is below the sum of their radii.

use crate::particles::{Vector, distance};

/// Search that keeps the order of the particles along the x axis, which changes little from one step to the next.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    /// Rows, by the lower end of each particle on the x axis.
    order: Vec<u32>,
}

impl Contacts {
    /// Returns the pairs of rows whose particles touch, the smaller row first, in ascending order: sweep and prune,
    /// which compares only particles that overlap in x.
    pub fn find(&mut self, pos: &[Vector], radius: &[f64]) -> Vec<(usize, usize)> {
        if radius.iter().all(|&radius| radius <= 0.0) {
            return Vec::new();
        }
        if self.order.len() != pos.len() {
            self.order = (0..pos.len() as u32).collect();
        }
        let low = |row: u32| pos[row as usize][0] - radius[row as usize];
        self.order.sort_by(|&a, &b| low(a).total_cmp(&low(b)));
        let mut found = Vec::new();
        for (k, &i) in self.order.iter().enumerate() {
            let i = i as usize;
            let high = pos[i][0] + radius[i];
            for &j in self.order[k + 1..].iter().take_while(|&&j| low(j) < high) {
                let j = j as usize;
                if distance(pos[i], pos[j]) < radius[i] + radius[j] {
                    found.push((i.min(j), i.max(j)));
                }
            }
        }
        found.sort_unstable();
        found
    }
}
