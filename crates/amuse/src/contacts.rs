//! Search for particles that come to touch: pairs whose distance falls below the sum of their radii.

use crate::particles::Vector;

/// Contact of two particles during a span of time, in which they move on straight lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Rows of the particles, the smaller first.
    pub rows: [usize; 2],
    /// Begin of the contact as a part of the span, from 0 (they touch already) to 1.
    pub begin: f64,
    /// Smallest distance within the span, as a part of it.
    pub closest: f64,
    /// Change of the relative position over the whole span.
    pub shift: Vector,
    /// Distance at the begin of the contact.
    pub distance: f64,
}

/// Search that keeps the order of the particles along the x axis, which changes little from one step to the next.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    /// Rows, by the lower end of what each particle passes on the x axis.
    order: Vec<u32>,
}

impl Contacts {
    /// Returns the pairs that touch while the particles move from the first to the second positions, by begin: sweep and
    /// prune, which compares only particles that overlap in x.
    pub fn find(&mut self, [from, to]: [&[Vector]; 2], radius: &[f64]) -> Vec<Contact> {
        if radius.iter().all(|&radius| radius <= 0.0) {
            return Vec::new();
        }
        if self.order.len() != from.len() {
            self.order = (0..from.len() as u32).collect();
        }
        let low = |row: u32| from[row as usize][0].min(to[row as usize][0]) - radius[row as usize];
        self.order.sort_by(|&a, &b| low(a).total_cmp(&low(b)));
        let mut found = Vec::new();
        for (k, &first) in self.order.iter().enumerate() {
            let i = first as usize;
            let high = from[i][0].max(to[i][0]) + radius[i];
            for &second in self.order[k + 1..].iter().take_while(|&&second| low(second) < high) {
                let (i, j) = (first.min(second) as usize, first.max(second) as usize);
                let apart = |x: &[Vector]| -> Vector { std::array::from_fn(|axis| x[j][axis] - x[i][axis]) };
                found.extend(contact([i, j], [apart(from), apart(to)], radius[i] + radius[j]));
            }
        }
        found.sort_by(|a, b| a.begin.total_cmp(&b.begin).then(a.rows.cmp(&b.rows)));
        found
    }
}

/// Returns the contact at a distance of two particles with these relative positions at both ends of a span.
fn contact(rows: [usize; 2], [from, to]: [Vector; 2], distance: f64) -> Option<Contact> {
    let dot = |a: Vector, b: Vector| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let shift: Vector = std::array::from_fn(|axis| to[axis] - from[axis]);
    // |from + s shift|² = distance², as a s² + 2 b s + c = 0.
    let (a, b, c) = (dot(shift, shift), dot(from, shift), dot(from, from) - distance * distance);
    let closest = if b < 0.0 { (-b / a).min(1.0) } else { 0.0 };
    if distance > 0.0 && c < 0.0 {
        return Some(Contact { rows, begin: 0.0, closest, shift, distance: dot(from, from).sqrt() });
    }
    let root = b * b - a * c;
    if distance <= 0.0 || b >= 0.0 || root <= 0.0 {
        return None;
    }
    let begin = (-b - root.sqrt()) / a;
    (begin < 1.0).then_some(Contact { rows, begin: begin.max(0.0), closest, shift, distance })
}
