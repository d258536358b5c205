//! Slices of the particles' columns, so that threads can move the parts of a block at the same time.

use tisane_force::particles::{Particles, Vec3};
use tisane_force::states::history::{History, MAX_DERIVATIVES, MAX_POINTS, Point};
use tisane_force::states::low_parts::LowParts;
use tisane_force::time::{Level, Time};

/// Slices of consecutive particles, which split into those of the first `at` particles, and the others.
pub trait Split: Sized {
    /// Splits.
    fn split(self, at: usize) -> (Self, Self);
}

/// No columns.
impl Split for () {
    #[inline(always)]
    fn split(self, _: usize) -> (Self, Self) {
        ((), ())
    }
}

/// Declares columns of consecutive particles, which split where they are not empty.
macro_rules! columns {
    ($(#[$doc:meta])* $Name:ident { $($column:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default)]
        pub struct $Name<'a> {
            $(pub $column: &'a mut [$type],)*
        }

        impl $crate::integrator::particle_slices::Split for $Name<'_> {
            #[inline(always)]
            fn split(self, at: usize) -> (Self, Self) {
                $(let $column = self.$column.split_at_mut(at.min(self.$column.len()));)*
                (Self { $($column: $column.0,)* }, Self { $($column: $column.1,)* })
            }
        }
    };
}

pub(super) use columns;

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
    /// Columns of [`LowParts`].
    LowSlices {
        pos: Vec3,
        vel: Vec3,
    }
}

/// Columns that a step changes, of consecutive particles from `first` on, with those that a scheme has of its own. Those of
/// the history are empty if the scheme keeps none.
#[derive(Debug)]
pub struct ParticleSlices<'a, O = ()> {
    /// Index of the first particle.
    pub first: usize,
    /// Columns, as in [`Particles`].
    pub columns: Columns<'a>,
    /// Derivatives of the acceleration, from the second on.
    pub derivatives: [&'a mut [Vec3]; MAX_DERIVATIVES],
    /// Earlier points, the latest first.
    pub points: [PointSlices<'a>; MAX_POINTS],
    /// Low parts of positions and velocities; empty without compensation.
    pub low: LowSlices<'a>,
    /// Columns of the scheme's own.
    pub own: O,
}

impl<'a> PointSlices<'a> {
    /// Returns the columns of a point.
    pub fn from_point(point: &'a mut Point) -> Self {
        let Point { acc, jerk, time } = point;
        Self { acc, jerk, time }
    }
}

impl<'a> ParticleSlices<'a> {
    /// Returns one slice of all particles, for a scheme that keeps a history and low parts at most.
    pub fn all(p: &'a mut Particles) -> Self {
        let Particles { pos, vel, acc, jerk, pot, time, step, states, .. } = p;
        let (history, low) = states.two_mut::<History, LowParts>();
        let slices = Self::from_columns(Columns { pos, vel, acc, jerk, pot, time, step }, history, ());
        Self { low: LowSlices { pos: &mut low.pos, vel: &mut low.vel }, ..slices }
    }
}

impl<'a, O: Split> ParticleSlices<'a, O> {
    /// Returns one slice of all particles, given their columns, without low parts.
    pub fn from_columns(columns: Columns<'a>, history: &'a mut History, own: O) -> Self {
        let (mut derivatives, mut points) = (history.derivatives.iter_mut(), history.points.iter_mut());
        Self {
            first: 0,
            columns,
            derivatives: std::array::from_fn(|_| derivatives.next().map(Vec::as_mut_slice).unwrap_or_default()),
            points: std::array::from_fn(|_| points.next().map(PointSlices::from_point).unwrap_or_default()),
            low: LowSlices::default(),
            own,
        }
    }

    /// Splits into the particles before index `i`, and the others.
    #[inline(always)]
    fn split(self, i: usize) -> (Self, Self) {
        let at = i - self.first;
        let columns = self.columns.split(at);
        let [d2, d3, d4, d5] = self.derivatives.map(|column| column.split_at_mut(at.min(column.len())));
        let [near, far] = self.points.map(|point| point.split(at));
        let low = self.low.split(at);
        let own = self.own.split(at);
        (
            Self {
                first: self.first,
                columns: columns.0,
                derivatives: [d2.0, d3.0, d4.0, d5.0],
                points: [near.0, far.0],
                low: low.0,
                own: own.0,
            },
            Self {
                first: i,
                columns: columns.1,
                derivatives: [d2.1, d3.1, d4.1, d5.1],
                points: [near.1, far.1],
                low: low.1,
                own: own.1,
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

    #[test]
    fn slices_cover_their_chunks_and_do_not_overlap() {
        let mut p = Particles::new(vec![1.0; 50], vec![Vec3::zeros(); 50], vec![Vec3::zeros(); 50]);
        p.states.set(History::new(50, 1, 0));
        p.pot = (0..50).map(f64::from).collect();
        p.states.get_mut::<History>().points[0].time = (0..50).map(Time).collect();
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
