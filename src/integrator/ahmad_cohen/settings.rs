//! Settings of the neighbour scheme as users write them.

use super::{AhmadCohen, Criterion, Order, Parameters, RegularAccuracy, default_number, memory};
use crate::integrator::hermite::limits::StepRange;
use crate::integrator::hermite::{Limits, OnFloor};
use crate::integrator::settings::{
    AnyIntegrator, BlockSteps, InvalidSetting, LateSetting, Scheme, SchemeInfo, positive,
};
use crate::real;
use tisane_force::force::precision::Precision;
use tisane_force::time::Clock;
use tisane_force::units::Real;

/// Neighbour scheme of Ahmad and Cohen with individual block time steps.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "serde", schemars(rename = "AhmadCohen"))]
pub struct AhmadCohenSettings {
    /// Order of both parts of the force: 6 or 4.
    #[cfg_attr(feature = "serde", schemars(extend("enum" = [4, 6])))]
    pub order: u32,
    /// Accuracy of the irregular steps, above 0 and at most 0.7. Default: 0.36, at order 4 0.1, which is Aarseth's
    /// criterion with nu = 0.01.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    eta: Option<Real>,
    /// Accuracy of the regular steps, above 0 and at most 0.7; in modes whose regular forces are not in f64 it is that of
    /// Aarseth's criterion. Default: 5/6 of eta, in those modes 5/18 of it, at order 4 7/10; more for over 1024 particles.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    eta_regular: Option<Real>,
    /// Mean number of neighbours. Default: 0.75 √N.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    neighbours: Option<Real>,
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

impl Default for AhmadCohenSettings {
    fn default() -> Self {
        Self {
            order: 6,
            eta: None,
            eta_regular: None,
            neighbours: None,
            dt_max: None,
            dt_min: None,
            on_dt_min: OnFloor::default(),
        }
    }
}

/// Largest η at which orbits last at order 6.
const STABLE_ETA: f64 = 0.5;

/// Returns the default η of the irregular steps, and of the regular ones in units of it.
const fn etas(order: Order, precision: Precision) -> (Real, RegularAccuracy) {
    let (eta, fraction) = match (order, precision.in_f64()) {
        (Order::Six, true) => (real!(0.36), [5, 6]),
        (Order::Six, false) => (real!(0.36), [5, 18]),
        (Order::Four, _) => (real!(0.1), [7, 10]),
    };
    (eta, RegularAccuracy::PerIrregular(fraction))
}

/// Returns the defaults of η for irregular and regular steps, and the criteria of both.
pub(super) fn defaults(order: Order, precision: Precision) -> (f64, RegularAccuracy, [Criterion; 2]) {
    let (eta, eta_regular) = etas(order, precision);
    (eta.get(), eta_regular, criteria(order, precision))
}

/// Returns the criteria of irregular and regular steps. High derivatives of a regular force that is not in f64 are its
/// rounding errors.
const fn criteria(order: Order, precision: Precision) -> [Criterion; 2] {
    match order {
        Order::Four => [Criterion::Second; 2],
        Order::Six if precision.in_f64() => [Criterion::Fourth; 2],
        Order::Six => [Criterion::Fourth, Criterion::Second],
    }
}

impl AhmadCohenSettings {
    fn order(&self) -> Order {
        if self.order == 4 { Order::Four } else { Order::Six }
    }

    fn eta(&self) -> Real {
        self.eta.unwrap_or(etas(self.order(), Precision::F64).0)
    }

    fn eta_regular(&self, precision: Precision) -> RegularAccuracy {
        self.eta_regular.map_or(etas(self.order(), precision).1, |eta| RegularAccuracy::Given(eta.get()))
    }

    fn steps(&self) -> StepRange {
        StepRange { dt_max: self.dt_max, dt_min: self.dt_min }
    }
}

impl Scheme for AhmadCohenSettings {
    fn info() -> SchemeInfo {
        SchemeInfo {
            section: "integrator.ahmad_cohen",
            title: "the neighbour scheme",
            order: 6,
            accuracy_key: "eta",
            dt_max_key: "dt_max",
            state_keys: &["order"],
            references: &[
                "AhmadCohen1973",
                "MakinoAarseth1992",
                "Dittmann2024",
                "NitadoriMakino2008",
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
        // As of the multi-point scheme, whose criterion this is.
        let eta = self.eta().get();
        let nu = if self.order() == Order::Six { (0.5 * eta).powi(2) } else { eta * eta };
        Some(BlockSteps { nu, range, evaluations: 1, first: super::start::FIRST * eta * eta })
    }

    fn steps_set(&self) -> Option<StepRange> {
        Some(self.steps())
    }

    fn replace_steps(&mut self, steps: StepRange) {
        StepRange { dt_max: self.dt_max, dt_min: self.dt_min } = steps;
    }

    fn describe(&self) -> [String; 2] {
        let regular = self.eta_regular.map_or(String::new(), |eta| format!(", eta_regular = {eta}"));
        let number = self.neighbours.map_or("0.75 √N".into(), |number| number.to_string());
        [
            format!("ahmad_cohen, order {}, eta = {}{regular}, {number} neighbours", self.order, self.eta()),
            self.steps().describe(),
        ]
    }

    fn resolve(&mut self) {
        self.eta = Some(self.eta());
        self.replace_steps(self.steps().resolved());
    }

    fn late_settings(&self, precision: Precision, n: usize) -> Vec<LateSetting> {
        let by_eta = etas(self.order(), precision).1.eta(self.eta().get(), n);
        let all = [("eta_regular", self.eta_regular, by_eta), ("neighbours", self.neighbours, default_number(n))];
        let late = |(key, value, default)| Some(LateSetting { key, value, default: Real::new(default)? });
        all.into_iter().filter_map(late).collect()
    }

    fn resolve_late(&mut self, precision: Precision, n: usize) {
        for LateSetting { key, default, .. } in self.late_settings(precision, n) {
            let of = if key == "neighbours" { &mut self.neighbours } else { &mut self.eta_regular };
            of.get_or_insert(default);
        }
    }

    fn growth(&self) -> Option<f64> {
        // As measured from 8192 to 131072 particles with the default number of neighbours.
        Some(2.0)
    }

    fn extra_memory(&self, n: u64) -> [u64; 2] {
        let number = self.neighbours.map_or_else(|| default_number(n as usize), Real::get);
        memory::needed(self.order(), n, number)
    }

    fn check(&self, physical: bool, _: Precision, found: &mut Vec<InvalidSetting>) -> bool {
        if ![4, 6].contains(&self.order) {
            found.push(InvalidSetting::Wrong("order", format!("expected 4 or 6, found {}", self.order)));
        }
        for (key, eta) in [("eta", self.eta), ("eta_regular", self.eta_regular)] {
            positive(found, key, eta);
            if let Some(eta) = eta.filter(|eta| eta.get() > RegularAccuracy::MOST) {
                let most = RegularAccuracy::MOST;
                let problem = format!("expected at most {most}, found {eta}: the scheme is not stable beyond");
                found.push(InvalidSetting::Wrong(key, problem));
            }
        }
        positive(found, "neighbours", self.neighbours);
        self.steps().check(physical, found)
    }

    fn doubt(&self, _: Precision) -> Option<String> {
        let eta = self.eta();
        (eta.get() > STABLE_ETA).then(|| {
            format!(
                "eta = {eta} is above {STABLE_ETA}: orbits that last, such as those of binaries and planets, are not \
                 stable there, and their energy error grows without bound"
            )
        })
    }

    fn needs_lists(&self) -> bool {
        true
    }

    fn build(&self, precision: Precision, clock: Clock) -> AnyIntegrator {
        let order = self.order();
        let parameters = Parameters {
            order,
            eta: self.eta().get(),
            eta_regular: self.eta_regular(precision),
            criteria: criteria(order, precision),
            neighbours: self.neighbours.map(Real::get),
            limits: Limits { floor: self.steps().floor(), on_floor: self.on_dt_min, ..Limits::new(precision) },
        };
        AnyIntegrator::Forces(Box::new(AhmadCohen::new(parameters, clock)))
    }
}
