//! External fields: gravity of what is not among the particles, such as a galaxy or a central body held fixed.
//!
//! An [`ExternalField`] is a function of place and time. [`WithExternal`] wraps any engine and adds the field to what
//! that engine evaluates, on the host, in f64, after the pair sum: so the part of the field has the same bits by every
//! engine, in every precision mode and on any number of threads, and engines know nothing of it.
//!
//! What the step criterion takes of a field is in [`for_step`].
//!
//! The potential of a field stays apart from that of the pairs. The energy counts the pair potential half, as each pair
//! is in the sum twice, and the external one whole: E = T + ½ Σ m φ + Σ m φₑₓₜ
//! (`tisane::diagnostics::conserved::Conserved`). The noise of a precision mode and who is bound to a
//! cluster follow from the pair potential alone.
//!
//! A field that the configuration knows is one file in this folder, with the field, its settings and their
//! [`FieldSettings`], and one line in the list of [`ExternalSettings`]. A library user implements the trait and needs
//! neither:
//!
//! ```
//! use std::sync::Arc;
//! use tisane_force::force::external::{ExternalField, WithExternal};
//! use tisane_force::force::{Accelerations, ForceEngine, Targets, precision::Precision, reference};
//! use tisane_force::particles::{Particles, Vec3};
//! use tisane_force::time::{Clock, Time};
//!
//! /// Uniform field g: φ = −g · x.
//! struct Uniform(Vec3);
//!
//! impl ExternalField for Uniform {
//!     fn acc(&self, _: Vec3, _: f64) -> Vec3 {
//!         self.0
//!     }
//!     fn jerk(&self, _: Vec3, _: Vec3, _: f64) -> Vec3 {
//!         Vec3::zeros()
//!     }
//!     fn pot(&self, pos: Vec3, _: f64) -> f64 {
//!         -self.0.dot(&pos)
//!     }
//! }
//!
//! let clock = Clock { start: 0.0, dt_max: 0.125 };
//! let field = Arc::new(Uniform(Vec3::new(0.0, 0.0, -2.0)));
//! let mut engine = WithExternal::new(reference::accelerations(Precision::F64, 0.0), field, clock);
//! let p = Particles::new(vec![1.0], vec![Vec3::zeros()], vec![Vec3::x()]);
//! engine.load(&p)?;
//! let mut found = Accelerations::default();
//! engine.evaluate(Time::default(), Targets::all(&p, &[0]), &mut found)?;
//! assert_eq!(found.acc[0], Vec3::new(0.0, 0.0, -2.0));
//! # Ok::<(), tisane_force::Error>(())
//! ```

mod engine;
pub(crate) mod field;
pub mod guide;
mod plummer;
mod point_mass;
mod settings;

pub use engine::WithExternal;
pub use field::{ExternalField, FieldSum, for_step, tide_times};
pub use plummer::{Plummer, PlummerSettings};
pub use point_mass::PointMassSettings;
pub use settings::{FieldSettings, Mistake};

use crate::units::Scale;
use std::sync::Arc;

settings::fields! {
    /// Point mass at a fixed position; with a softening it has the potential of a Plummer sphere.
    point_mass: PointMassSettings,
    /// Plummer sphere at a fixed position (Plummer 1911).
    plummer: PlummerSettings,
}

impl ExternalSettings {
    /// Returns true if there is no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Returns the sum of all fields in internal units, if there are any; `scale` has the user units in one internal
    /// unit.
    #[must_use]
    pub fn build(&self, scale: &Scale) -> Option<Arc<dyn ExternalField>> {
        let fields: Vec<_> = self.iter().map(|settings| settings.build(scale)).collect();
        if fields.is_empty() { None } else { Some(Arc::new(FieldSum(fields))) }
    }
}
