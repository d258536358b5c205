//! Slices of the particles' columns, so that threads can move the parts of a block at the same time.

use tisane_force::particles::{MOST_DERIVATIVES, MOST_POINTS, Neighbours, Particles, Point, Vec3};
use tisane_force::time::{Level, Time};

/// Declares columns of consecutive particles, which split where they are not empty.
macro_rules! columns {
    ($(#[$doc:meta])* $Name:ident { $($column:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub struct $Name<'a> {
            $(pub $column: &'a mut [$type],)*
        }

        impl $Name<'_> {
            /// Splits into the first `at` particles, and the others.
            #[inline(always)]
            fn split(self, at: usize) -> (Self, Self) {
                $(let $column = self.$column.split_at_mut(at.min(self.$column.len()));)*
                (Self { $($column: $column.0,)* }, Self { $($column: $column.1,)* })
            }
        }
    };
}

columns! {
    /// Columns that a step changes.
    Columns {
        pos: Vec3,
        vel: Vec3,
        acc: Vec3,
        jerk: Vec3,
        pot: f64,
        time: Time,
        step: Level,
    }
}

columns! {
    /// Columns of a [`Point`].
    PointSlices {
        acc: Vec3,
        jerk: Vec3,
        time: Time,
    }
}

columns! {
    /// Columns of [`Neighbours`].
    NeighbourSlices {
        acc: Vec3,
        jerk: Vec3,
        regular_acc: Vec3,
        regular_jerk: Vec3,
        regular_pot: f64,
        regular_time: Time,
        regular_step: Level,
        regular_snap: Vec3,
        regular_crackle: Vec3,
        radius: f64,
        lists: Vec<u32>,
    }
}

/// Columns that a step changes, of consecutive particles from `first` on. Those of the history are empty if the scheme
/// keeps none.
#[derive(Debug)]
pub struct ParticleSlices<'a> {
    /// Index of the first particle.
    pub first: usize,
    /// Columns, as in [`Particles`].
    pub columns: Columns<'a>,
    /// Derivatives of the acceleration, from the second on.
    pub derivatives: [&'a mut [Vec3]; MOST_DERIVATIVES],
    /// Earlier points, the latest first.
    pub points: [PointSlices<'a>; MOST_POINTS],
    /// State of a neighbour scheme, and the earlier point of its regular force.
    pub neighbours: NeighbourSlices<'a>,
    pub regular_point: PointSlices<'a>,
}

impl<'a> PointSlices<'a> {
    fn from_point(point: &'a mut Point) -> Self {
        let Point { acc, jerk, time } = point;
        Self { acc, jerk, time }
    }
}

impl<'a> ParticleSlices<'a> {
    /// Returns one slice of all particles.
    pub fn all(p: &'a mut Particles) -> Self {
        let Particles { pos, vel, acc, jerk, pot, time, step, history, neighbours, .. } = p;
        let Neighbours { regular_history: regular, .. } = neighbours;
        let mut regular_derivatives = regular.derivatives.iter_mut().map(Vec::as_mut_slice);
        let [regular_snap, regular_crackle] = [(); 2].map(|()| regular_derivatives.next().unwrap_or_default());
        let (mut derivatives, mut points) = (history.derivatives.iter_mut(), history.points.iter_mut());
        Self {
            first: 0,
            columns: Columns { pos, vel, acc, jerk, pot, time, step },
            derivatives: std::array::from_fn(|_| derivatives.next().map(Vec::as_mut_slice).unwrap_or_default()),
            points: std::array::from_fn(|_| points.next().map(PointSlices::from_point).unwrap_or_default()),
            neighbours: NeighbourSlices {
                acc: &mut neighbours.acc,
                jerk: &mut neighbours.jerk,
                regular_acc: &mut neighbours.regular_acc,
                regular_jerk: &mut neighbours.regular_jerk,
                regular_pot: &mut neighbours.regular_pot,
                regular_time: &mut neighbours.regular_time,
                regular_step: &mut neighbours.regular_step,
                regular_snap,
                regular_crackle,
                radius: &mut neighbours.radius,
                lists: &mut neighbours.lists,
            },
            regular_point: regular.points.first_mut().map(PointSlices::from_point).unwrap_or_default(),
        }
    }

    /// Splits into the particles before index `i`, and the others.
    #[inline(always)]
    fn split(self, i: usize) -> (Self, Self) {
        let at = i - self.first;
        let columns = self.columns.split(at);
        let [d2, d3, d4, d5] = self.derivatives.map(|column| column.split_at_mut(at.min(column.len())));
        let [near, far, regular_point] = {
            let [near, far] = self.points;
            [near, far, self.regular_point].map(|point| point.split(at))
        };
        let neighbours = self.neighbours.split(at);
        (
            Self {
                first: self.first,
                columns: columns.0,
                derivatives: [d2.0, d3.0, d4.0, d5.0],
                points: [near.0, far.0],
                neighbours: neighbours.0,
                regular_point: regular_point.0,
            },
            Self {
                first: i,
                columns: columns.1,
                derivatives: [d2.1, d3.1, d4.1, d5.1],
                points: [near.1, far.1],
                neighbours: neighbours.1,
                regular_point: regular_point.1,
            },
        )
    }

    /// Returns the same particles, in slices that the compiler knows to be of equal length, so that one bounds check
    /// of an index serves all columns.
    #[inline(always)]
    pub fn of_equal_length(self) -> Self {
        let end = self.first + self.columns.step.len();
        self.split(end).0
    }

    /// Splits into one slice for each `size` entries of the ascending list `index`, which contains their particles.
    pub fn for_chunks(self, index: &[u32], size: usize) -> Vec<Self> {
        let (mut rest, mut slices) = (self, Vec::with_capacity(index.len().div_ceil(size)));
        for chunk in index.chunks(size) {
            let end = chunk.last().map_or(rest.first, |&i| i as usize + 1);
            let (slice, after) = rest.split(end);
            slices.push(slice);
            rest = after;
        }
        slices
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane_force::particles::History;

    #[test]
    fn slices_cover_their_chunks_and_do_not_overlap() {
        let mut p = Particles::new(vec![1.0; 50], vec![Vec3::zeros(); 50], vec![Vec3::zeros(); 50]);
        p.history = History::new(50, 1, 0);
        (0..50).for_each(|i| (p.pot[i], p.history.points[0].time[i]) = (i as f64, Time(i as u64)));
        let index = [0, 3, 4, 20, 21, 30, 49];
        for size in 1..9 {
            let slices = ParticleSlices::all(&mut p).for_chunks(&index, size);
            assert_eq!(slices.len(), index.len().div_ceil(size));
            let mut end = 0;
            for (slice, chunk) in slices.iter().zip(index.chunks(size)) {
                assert_eq!(slice.first, end);
                end = slice.first + slice.columns.step.len();
                for i in chunk.iter().map(|&i| i as usize) {
                    assert_eq!(slice.columns.pot[i - slice.first], i as f64);
                    assert_eq!(slice.points[0].time[i - slice.first], Time(i as u64));
                    assert!(slice.points[1].time.is_empty());
                }
            }
        }
    }
}
