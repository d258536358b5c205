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

mod assembly;
mod bodies;
mod engine;
pub(crate) mod field;
pub(crate) mod formula;
pub mod guide;
mod motion;
mod moving;
pub(crate) mod on_targets;
pub(crate) mod parts;
pub(crate) mod places;
mod plummer;
mod point_mass;
pub mod ready;
mod settings;
mod several;
mod tables;
mod values;
mod variation;

pub use engine::WithExternal;
pub use field::{ExternalField, FieldSum, for_step, parts_of, tide_times};
pub use formula::{FieldSource, FormulaField};
pub use motion::{Carrier, Motion};
pub use on_targets::OnTargets;
pub use parts::{FieldPart, FieldParts, Summand};
pub use places::{FieldForces, LANES, Lanes, Places};
pub use plummer::{Plummer, PlummerSettings};
pub use point_mass::PointMassSettings;
pub use settings::{CommonKeys, FieldSettings};
pub use several::Several;
pub use tables::{NoTables, Tables, TimeTable};
pub use values::{FieldUnits, Mistake};
pub use variation::{Form, Variation};

use crate::units::Units;
use assembly::Assembly;
use ready::dehnen::DehnenSettings;
use ready::dehnen_bar::DehnenBarSettings;
use ready::exponential_disc::ExponentialDiscSettings;
use ready::hernquist::HernquistSettings;
use ready::isochrone::IsochroneSettings;
use ready::jaffe::JaffeSettings;
use ready::logarithmic::LogarithmicSettings;
use ready::long_murali_bar::LongMuraliBarSettings;
use ready::milky_way::{Mw2014Settings, Mw2022Settings};
use ready::miyamoto_nagai::MiyamotoNagaiSettings;
use ready::nfw::NfwSettings;
use ready::power_law::PowerLawSettings;
use ready::tidal_tensor::TidalTensorSettings;
use ready::tide::TideSettings;
use ready::user::FormulaSettings;
use std::sync::Arc;

settings::fields! {
    /// Point mass at a fixed position; with a softening it has the potential of a Plummer sphere.
    point_mass: PointMassSettings,
    /// Plummer sphere at a fixed position (Plummer 1911).
    plummer: PlummerSettings,
    /// Hernquist sphere (Hernquist 1990).
    hernquist: HernquistSettings,
    /// Halo of Navarro, Frenk & White (1997).
    nfw: NfwSettings,
    /// Flattened logarithmic halo (Binney 1981).
    logarithmic: LogarithmicSettings,
    /// Isochrone sphere (Hénon 1959).
    isochrone: IsochroneSettings,
    /// Disc of Miyamoto & Nagai (1975).
    miyamoto_nagai: MiyamotoNagaiSettings,
    /// Sphere of Dehnen (1993), whose density has any inner slope.
    dehnen: DehnenSettings,
    /// Jaffe sphere (Jaffe 1983).
    jaffe: JaffeSettings,
    /// Sphere whose density is a power law with an exponential cut-off.
    power_law: PowerLawSettings,
    /// Exponential disc, as three Miyamoto-Nagai discs (Smith et al. 2015).
    exponential_disc: ExponentialDiscSettings,
    /// Bar that turns (Long & Murali 1992).
    long_murali_bar: LongMuraliBarSettings,
    /// Quadrupole of a bar that turns (Dehnen 2000).
    dehnen_bar: DehnenBarSettings,
    /// Milky Way of Bovy (2015).
    #[cfg_attr(feature = "serde", serde(rename = "mw-2014"))]
    mw_2014: Mw2014Settings,
    /// Milky Way of gala (Price-Whelan 2017), version 2022.
    #[cfg_attr(feature = "serde", serde(rename = "mw-2022"))]
    mw_2022: Mw2022Settings,
    /// Field by a formula of its potential.
    formula: FormulaSettings,
    /// Linear tide on a circular orbit.
    tide: TideSettings,
    /// Linear tide by a tidal tensor from a table.
    tidal_tensor: TidalTensorSettings,
}

impl ExternalSettings {
    /// Returns true if there is no field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }

    /// Returns true if no field changes in time, so that the energy is conserved.
    #[must_use]
    pub fn is_constant(&self, units: &Units) -> bool {
        self.iter().all(|field| field.is_constant(units))
    }

    /// Returns the settings of every field with the path of its section: `external.plummer`, or in a list, counted from 1,
    /// `external.plummer[2]`.
    pub fn sections(&self) -> impl Iterator<Item = (String, &dyn FieldSettings)> {
        let all: Vec<&dyn FieldSettings> = self.iter().collect();
        let sections: Vec<&str> = all.iter().map(|field| field.section()).collect();
        all.into_iter().enumerate().map(move |(k, field)| {
            let of_kind = |range: &[&str]| range.iter().filter(|section| **section == sections[k]).count();
            let path = match of_kind(&sections) {
                1 => sections[k].to_owned(),
                _ => format!("{}[{}]", sections[k], of_kind(&sections[..=k])),
            };
            (path, field)
        })
    }

    /// Returns all mistakes in the values, each with the path of its key.
    #[must_use]
    pub fn mistakes(&self, units: &Units) -> Vec<Mistake> {
        let of_section = |(path, field): (String, &dyn FieldSettings)| {
            let found = field.mistakes(units).into_iter();
            found.map(|mistake| mistake.below(&path)).collect::<Vec<_>>()
        };
        let mut found: Vec<_> = self.sections().flat_map(of_section).collect();
        let alone = self.iter().count() == self.tide.0.len();
        if alone && self.tide.0.iter().any(|tide| tide.radius.is_some()) {
            let problem = "the frequencies at a radius are those of other fields: expected some in [external]";
            found.push(Mistake::new("external.tide.radius", problem));
        }
        let motions = self.sections().filter_map(|(path, field)| Some((path, field.motion()?)));
        found.extend(assembly::mistakes(motions));
        found
    }

    /// Returns the sum of all fields in internal units, if there are any. Fields of which only the tide at a radius is taken are not in
    /// it.
    ///
    /// # Errors
    /// [`Mistake`] with the path of the key, for values that make no field and in tables.
    pub fn build(&self, to: FieldUnits<'_>) -> Result<Option<Arc<dyn ExternalField>>, Mistake> {
        let is_tide = |field: &dyn FieldSettings| field.section() == TIDE;
        let of_tide = self.tide.0.iter().any(|tide| tide.radius.is_some());
        let mut others = Assembly::default();
        for (path, field) in self.sections().filter(|(_, field)| !(of_tide && is_tide(*field))) {
            let built = field.at_full_strength(to, field.centre(to)).map(|built| field.varied(built, to));
            built
                .and_then(|built| others.add(field.section(), built, (field.position(), field.motion()), to))
                .map_err(|mistake| mistake.below(&path))?;
        }
        let others = others.whole();
        if !of_tide {
            return Ok(if self.is_empty() { None } else { Some(others.into()) });
        }
        others.covers(0.0).map_err(|error| Mistake::new("radius", error.to_string()).below(TIDE))?;
        let mut tides = Assembly::default();
        for ((path, field), tide) in self.sections().filter(|(_, field)| is_tide(*field)).zip(&self.tide.0) {
            let centre = field.centre(to);
            let built = tide.of_others(&*others, (to, centre)).unwrap_or_else(|| tide.at_full_strength(to, centre));
            let built = built.map(|built| field.varied(built, to));
            built
                .and_then(|built| tides.add(TIDE, built, (field.position(), field.motion()), to))
                .map_err(|mistake| mistake.below(&path))?;
        }
        Ok(Some(tides.whole().into()))
    }
}

/// Section of the linear tide.
const TIDE: &str = "external.tide";
