//! Perturbation of the members of a subsystem by others.

use crate::encounters::forces::bodies::Bodies;
use crate::encounters::forces::coupling;
use crate::few_body::Tide;
use nalgebra::Matrix3;
use tisane_force::gravity::{predict, predict_with};
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Time};

/// Tidal field of the bodies that are no perturbers, or not fully, to the first order in the position. It holds from one step
/// of the centre of mass to the next, so that the motion in it has an energy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Far {
    /// Derivatives of the acceleration by the position.
    pub tide: Matrix3<f64>,
}

impl Far {
    /// Creates a tidal field with these derivatives: xx, yy, zz, xy, xz, yz.
    pub fn new([xx, yy, zz, xy, xz, yz]: [f64; 6]) -> Self {
        Self { tide: Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz) }
    }

    /// Adds the tidal tensor of external fields: xx, xy, xz, yy, yz, zz.
    pub fn add_external(&mut self, [xx, xy, xz, yy, yz, zz]: [f64; 6]) {
        self.tide += Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz);
    }

    /// Adds a body at relative position `r`.
    pub fn add(&mut self, mass: f64, r: Vec3) {
        // m (3 r rᵀ / r² − 1) / r³, which is symmetric.
        let r2 = r.norm_squared();
        let m_r3 = mass / (r2 * r2.sqrt());
        let per_r2 = 3.0 * m_r3 / r2;
        for i in 0..3 {
            for k in 0..=i {
                let tide = per_r2 * r[i] * r[k];
                self.tide[(i, k)] += tide;
                if i != k {
                    self.tide[(k, i)] += tide;
                }
            }
            self.tide[(i, i)] -= m_r3;
        }
    }
}

/// Returns the tidal field D, as Σ m/r³ of others, that perturbs as much as external fields of the tidal tensor xx, xy, xz, yy, yz, zz:
/// half of the largest eigenvalue without its sign, as a body of mass m at r has 2 m/r³.
pub fn external_field([xx, xy, xz, yy, yz, zz]: [f64; 6]) -> f64 {
    0.5 * Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz).symmetric_eigenvalues().amax()
}

/// Perturbation of the members by the perturbers, with all bodies predicted from their last steps.
pub struct Tides {
    /// The perturbers.
    pub passing: Vec<Passing>,
    /// Far field.
    pub far: Option<Far>,
}

/// Perturber on its path relative to the centre of mass.
pub struct Passing {
    mass: f64,
    outer2: f64,
    /// Position, velocity, acceleration and jerk at the moment at which the motion begins.
    path: [Vec3; 4],
    /// Further derivatives of the acceleration, where the engine predicts by them.
    further: Option<[Vec3; 4]>,
}

impl Passing {
    /// Returns body `k` relative to body `here` at `from`, with the square of its outer radius.
    pub fn new(bodies: &Bodies, clock: &Clock, from: Time, [here, k]: [usize; 2], outer2: f64) -> Self {
        let p = &bodies.particles;
        let [(a, of_a), (b, of_b)] = [here, k].map(|i| {
            // A body that moved since then: the motion is advanced before any perturber moves.
            let dt = clock.between(p.time[i], from);
            let ((pos, vel), ([acc, jerk], further)) = (bodies.source(i, dt), bodies.accelerations(i, dt));
            ([pos, vel, acc, jerk], further)
        });
        let further = of_a.zip(of_b).map(|(a, b)| std::array::from_fn(|of| b[of] - a[of]));
        Self { mass: p.mass[k], outer2, path: std::array::from_fn(|of| b[of] - a[of]), further }
    }
}

impl Tide for Tides {
    fn acc(&self, time: f64, offsets: &[Vec3], acc: &mut [Vec3]) {
        acc.fill(Vec3::zeros());
        if let Some(far) = self.far {
            acc.iter_mut().zip(offsets).for_each(|(acc, offset)| *acc = far.tide * offset);
        }
        for Passing { mass, outer2, path: [pos, vel, a, jerk], further } in &self.passing {
            let (r, _) = match further {
                Some(further) => predict_with((*pos, *vel), (*a, *jerk), *further, time),
                None => predict(*pos, *vel, *a, *jerk, time),
            };
            for (acc, offset) in acc.iter_mut().zip(offsets) {
                *acc += coupling::tide(*mass, r, *offset, *outer2);
            }
        }
    }
}
