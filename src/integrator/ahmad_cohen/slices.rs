//! Slices of the columns that a block step of the neighbour scheme changes.

use crate::integrator::particle_slices::{Columns, ParticleSlices, PointSlices, Split, columns};
use tisane_force::particles::{Particles, Vec3};
use tisane_force::states::history::History;
use tisane_force::states::neighbours::Neighbours;
use tisane_force::time::{Level, Time};

columns! {
    /// Columns of [`Neighbours`], with the derivatives of the regular force.
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
    }
}

/// Columns of the scheme's own: its state, and the earlier point of the regular force.
#[derive(Debug)]
pub struct Own<'a> {
    pub neighbours: NeighbourSlices<'a>,
    pub regular_point: PointSlices<'a>,
}

impl Split for Own<'_> {
    #[inline(always)]
    fn split(self, at: usize) -> (Self, Self) {
        let (neighbours, point) = (self.neighbours.split(at), self.regular_point.split(at));
        (
            Self { neighbours: neighbours.0, regular_point: point.0 },
            Self { neighbours: neighbours.1, regular_point: point.1 },
        )
    }
}

/// Slices of particles with the columns of the scheme.
pub type Slices<'a> = ParticleSlices<'a, Own<'a>>;

/// Returns one slice of all particles.
pub fn all(p: &mut Particles) -> Slices<'_> {
    let Particles { pos, vel, acc, jerk, pot, time, step, states, .. } = p;
    let (history, neighbours) = states.two_mut::<History, Neighbours>();
    let Neighbours { regular_history: History { derivatives, points }, .. } = neighbours;
    let mut derivatives = derivatives.iter_mut().map(Vec::as_mut_slice);
    let [regular_snap, regular_crackle] = [(); 2].map(|()| derivatives.next().unwrap_or_default());
    let own = Own {
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
        },
        regular_point: points.first_mut().map(PointSlices::from_point).unwrap_or_default(),
    };
    ParticleSlices::from_columns(Columns { pos, vel, acc, jerk, pot, time, step }, history, own)
}
