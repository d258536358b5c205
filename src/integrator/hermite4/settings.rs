//! Settings of the Hermite scheme as users write them.

use super::{Hermite4, OnFloor, Parameters};
use crate::integrator::encounters::{EncounterSettings, Encounters, StarEvents};
use crate::integrator::hermite::Limits;
use crate::integrator::hermite::limits::StepRange;
use crate::integrator::settings::{AnyIntegrator, BlockSteps, InvalidSetting, Scheme, SchemeInfo, positive};
use crate::real;
use std::num::NonZeroU32;
use tisane_force::force::precision::Precision;
use tisane_force::time::Clock;
use tisane_force::units::Real;

/// Hermite scheme of 4th order with individual block time steps.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "serde", schemars(rename = "Hermite4"))]
pub struct Hermite4Settings {
    /// Accuracy of the time step, above 0: dt = sqrt(nu ...). In codes with dt = eta sqrt(...), eta is sqrt(nu).
    pub nu: Real,
    /// Accuracy of the first time step, above 0. Default: nu/16, with which the first step adds no error that shows.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    nu_start: Option<Real>,
    /// Longest time step; unit: time. Default: 1/8 in Henon units, otherwise by the crossing time or shortest period.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    dt_max: Option<Real>,
    /// Shortest time step; unit: time. At least dt_max/2^36, which is the default with subsystems. Default without: dt_max/2^23;
    /// where dt_max follows from the system, less if its binaries need it. With this key subsystems are no default.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    dt_min: Option<Real>,
    /// Evaluations and corrections in each step: the n of P(EC)^n.
    #[cfg_attr(feature = "serde", schemars(range(min = 1, max = 10)))]
    pub iterations: u32,
    /// Treatment of a particle that needs a step below dt_min.
    pub on_dt_min: OnFloor,
}

impl Default for Hermite4Settings {
    fn default() -> Self {
        Self {
            nu: real!(0.01),
            nu_start: None,
            dt_max: None,
            dt_min: None,
            iterations: 1,
            on_dt_min: OnFloor::default(),
        }
    }
}

/// Default of ν over that of the first step. With equal ones the largest energy error in the first half time unit of
/// Plummer spheres is up to twice as large; docs/src/multipoint.md has the measurements.
const NU_START_PARTS: NonZeroU32 = NonZeroU32::new(16).unwrap();

impl Hermite4Settings {
    fn nu_start(&self) -> Real {
        self.nu_start.unwrap_or(self.nu.divided_by(NU_START_PARTS))
    }

    fn parameters(&self, precision: Precision) -> Parameters {
        Parameters {
            nu: self.nu.get(),
            nu_start: self.nu_start().get(),
            iterations: self.iterations,
            limits: Limits { floor: self.steps().floor(), on_floor: self.on_dt_min, ..Limits::new(precision) },
        }
    }

    fn steps(&self) -> StepRange {
        StepRange { dt_max: self.dt_max, dt_min: self.dt_min }
    }
}

impl Scheme for Hermite4Settings {
    fn info() -> SchemeInfo {
        SchemeInfo {
            section: "integrator.hermite4",
            title: "the Hermite scheme",
            order: 4,
            accuracy_key: "nu",
            dt_max_key: "dt_max",
            state_keys: &[],
            references: &[
                "MakinoAarseth1992",
                "PortegiesZwartBellemanGeldof2007",
                "Aarseth1985",
                "McMillan1986",
                "Makino1991",
            ],
        }
    }

    fn dt_max(&self) -> f64 {
        self.steps().longest()
    }

    fn block_steps(&self) -> Option<BlockSteps> {
        let range = [self.steps().shortest(), self.dt_max()];
        Some(BlockSteps { nu: self.nu.get(), range, evaluations: self.iterations, first: self.nu_start().get() })
    }

    fn steps_set(&self) -> Option<StepRange> {
        Some(self.steps())
    }

    fn replace_steps(&mut self, steps: StepRange) {
        StepRange { dt_max: self.dt_max, dt_min: self.dt_min } = steps;
    }

    fn describe(&self) -> [String; 2] {
        [format!("hermite4, nu = {}, P(EC)^{}", self.nu.get(), self.iterations), self.steps().describe()]
    }

    fn resolve(&mut self) {
        self.nu_start = Some(self.nu_start());
        self.replace_steps(self.steps().resolved());
    }

    fn check(&self, physical: bool, _: Precision, found: &mut Vec<InvalidSetting>) -> bool {
        positive(found, "nu", Some(self.nu));
        positive(found, "nu_start", self.nu_start);
        self.steps().check(physical, found)
    }

    fn doubt(&self, _: Precision) -> Option<String> {
        let nu = self.nu;
        (nu.get() > 0.1).then(|| format!("nu = {nu} is large: expect large energy errors (0.01 is usual)"))
    }

    fn build(&self, precision: Precision, clock: Clock) -> AnyIntegrator {
        AnyIntegrator::Forces(Box::new(Hermite4::new(self.parameters(precision), clock)))
    }

    fn build_with_encounters(
        &self,
        precision: Precision,
        clock: Clock,
        settings: &EncounterSettings,
        of_stars: StarEvents,
    ) -> Option<AnyIntegrator> {
        let perturbation = settings.perturbation.get();
        let subsystems = Encounters::new(self.parameters(precision), perturbation, clock);
        let subsystems = subsystems.with_mean_orbits(settings.mean_orbits);
        Some(AnyIntegrator::Forces(Box::new(subsystems.with_star_events(of_stars))))
    }

    fn has_encounters(&self) -> bool {
        true
    }
}
