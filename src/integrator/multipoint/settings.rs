//! Settings of the multi-point Hermite scheme as users write them.

use super::{Criterion, FIRST, Multipoint, Order, Parameters};
use crate::integrator::hermite::Limits;
use crate::integrator::hermite::OnFloor;
use crate::integrator::hermite::limits::StepRange;
use crate::integrator::settings::{AnyIntegrator, BlockSteps, InvalidSetting, Scheme, SchemeInfo, positive};
use crate::real;
use tisane_force::force::precision::Precision;
use tisane_force::time::Clock;
use tisane_force::units::Real;

/// Multi-point Hermite scheme of 6th or 8th order with individual block time steps.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "serde", schemars(rename = "Multipoint"))]
pub struct MultipointSettings {
    /// Order: 6, or 8 with forces in f64.
    #[cfg_attr(feature = "serde", schemars(extend("enum" = [6, 8])))]
    pub order: u32,
    /// Accuracy of the time step, above 0 and at most 0.7. Orbits that last are stable up to 0.5, at order 8 up to
    /// 0.22. Default: 0.35, at order 8 0.2.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    eta: Option<Real>,
    /// Longest time step; unit: time. Default: 1/8 in Henon units, otherwise by the crossing time or shortest period.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    dt_max: Option<Real>,
    /// Shortest time step; unit: time. At least dt_max/2^36. Default: dt_max/2^23; where dt_max follows from the system,
    /// less if its binaries need it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    dt_min: Option<Real>,
    /// Treatment of a particle that needs a step below dt_min.
    pub on_dt_min: OnFloor,
}

impl Default for MultipointSettings {
    fn default() -> Self {
        Self { order: 6, eta: None, dt_max: None, dt_min: None, on_dt_min: OnFloor::default() }
    }
}

/// Largest η that is accepted.
const MOST_ETA: f64 = 0.7;
/// Smallest η that is wise in modes whose rounding errors the criterion does not know: on Plummer spheres of 1024
/// particles steps are short at 0.1 and as they should be at 0.2.
const LEAST_NOISY_ETA: f64 = 0.2;

impl MultipointSettings {
    fn order(&self) -> Order {
        if self.order == 8 { Order::Eight } else { Order::Six }
    }

    fn eta(&self) -> Real {
        self.eta.unwrap_or(match self.order() {
            Order::Eight => real!(0.2),
            _ => real!(0.35),
        })
    }

    fn steps(&self) -> StepRange {
        StepRange { dt_max: self.dt_max, dt_min: self.dt_min }
    }
}

impl Scheme for MultipointSettings {
    fn info() -> SchemeInfo {
        SchemeInfo {
            section: "integrator.multipoint",
            title: "the multi-point Hermite scheme",
            order: 6,
            accuracy_key: "eta",
            dt_max_key: "dt_max",
            state_keys: &["order"],
            references: &["Dittmann2024", "MakinoAarseth1992", "NitadoriMakino2008", "McMillan1986", "Makino1991"],
        }
    }

    fn dt_max(&self) -> f64 {
        self.steps().longest()
    }

    fn block_steps(&self) -> Option<BlockSteps> {
        let range = [self.steps().shortest(), self.dt_max()];
        // Measured on Plummer spheres: the steps are half of those by Aarseth's criterion with ν = η².
        let nu = (0.5 * self.eta().get()).powi(2);
        Some(BlockSteps { nu, range, evaluations: 1, first: FIRST * self.eta().get() })
    }

    fn steps_set(&self) -> Option<StepRange> {
        Some(self.steps())
    }

    fn replace_steps(&mut self, steps: StepRange) {
        StepRange { dt_max: self.dt_max, dt_min: self.dt_min } = steps;
    }

    fn describe(&self) -> [String; 2] {
        [format!("multipoint, order {}, eta = {}", self.order, self.eta()), self.steps().describe()]
    }

    fn resolve(&mut self) {
        self.eta = Some(self.eta());
        self.replace_steps(self.steps().resolved());
    }

    fn check(&self, physical: bool, precision: Precision, found: &mut Vec<InvalidSetting>) -> bool {
        match self.order {
            6 => {}
            8 if precision.in_f64() => {}
            8 => {
                let problem = format!(
                    "order 8 needs forces in f64, and those of \"{}\" are not: their rounding errors would take the \
                     place of the high derivatives; expected 6",
                    precision.name()
                );
                found.push(InvalidSetting::Wrong("order", problem));
            }
            other => found.push(InvalidSetting::Wrong("order", format!("expected 6 or 8, found {other}"))),
        }
        positive(found, "eta", self.eta);
        if self.eta().get() > MOST_ETA {
            let problem = format!("expected at most {MOST_ETA}, found {}: the scheme is not stable beyond", self.eta());
            found.push(InvalidSetting::Wrong("eta", problem));
        }
        self.steps().check(physical, found)
    }

    fn doubt(&self, precision: Precision) -> Option<String> {
        let (eta, stable) = (self.eta(), self.order().stable_eta());
        if eta.get() > stable {
            return Some(format!(
                "eta = {eta} is above {stable}: orbits that last, such as those of binaries and planets, are not stable \
                 there at order {}, and their energy error grows without bound",
                self.order
            ));
        }
        // Modes with a known noise of the acceleration leave it out of the criterion.
        let resolves_rounding = !precision.in_f64() && precision.noise() == 0.0 && eta.get() < LEAST_NOISY_ETA;
        resolves_rounding.then(|| {
            format!(
                "eta = {eta} is below {LEAST_NOISY_ETA}: in \"{}\" the steps may become very short, to resolve the \
                 rounding errors of the forces; \"mixed\" allows smaller ones",
                precision.name()
            )
        })
    }

    fn build(&self, precision: Precision, clock: Clock) -> AnyIntegrator {
        let parameters = Parameters {
            order: self.order(),
            eta: self.eta().get(),
            criterion: Criterion::for_precision(precision),
            limits: Limits { floor: self.steps().floor(), on_floor: self.on_dt_min, ..Limits::new(precision) },
        };
        AnyIntegrator::Forces(Box::new(Multipoint::new(parameters, clock)))
    }
}
