//! Schemes with block steps, for the promises that each of them keeps.

use std::panic::{AssertUnwindSafe, catch_unwind};
use tisane::force::precision::Precision;
use tisane::integrator::Steps;
use tisane::integrator::ahmad_cohen::{self, AhmadCohen};
use tisane::integrator::hermite4::{self, Hermite4, Limits};
use tisane::integrator::multipoint::{self, Multipoint};
use tisane::time::Clock;

/// Scheme with block steps, with its order where it has several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Hermite4,
    /// P(EC)².
    Iterated,
    Multipoint(multipoint::Order),
    AhmadCohen(ahmad_cohen::Order),
}

pub const KINDS: [Kind; 6] = [
    Kind::Hermite4,
    Kind::Iterated,
    Kind::Multipoint(multipoint::Order::Six),
    Kind::Multipoint(multipoint::Order::Eight),
    Kind::AhmadCohen(ahmad_cohen::Order::Four),
    Kind::AhmadCohen(ahmad_cohen::Order::Six),
];

impl Kind {
    /// Returns true for the neighbour scheme. Lists are not symmetric, so that its errors of energy and momentum are larger.
    pub fn has_lists(self) -> bool {
        matches!(self, Self::AhmadCohen(_))
    }

    /// Returns the scheme with steps as long, compared with those of its default accuracy, as those of 4th order by `nu` are
    /// compared with those by 0.01.
    pub fn build(self, clock: Clock, nu: f64, limits: Limits) -> Box<dyn Steps> {
        let (precision, scale) = (Precision::F64, (nu / 0.01).sqrt());
        let hermite4 = |iterations| {
            let parameters = hermite4::Parameters { nu, nu_start: nu / 16.0, iterations, limits };
            Box::new(Hermite4::new(parameters, clock))
        };
        match self {
            Self::Hermite4 => hermite4(1),
            Self::Iterated => hermite4(2),
            Self::Multipoint(order) => {
                let eta = scale * if order == multipoint::Order::Eight { 0.2 } else { 0.35 };
                let of = multipoint::Parameters { order, eta, limits, ..multipoint::Parameters::new(precision) };
                Box::new(Multipoint::new(of, clock))
            }
            Self::AhmadCohen(order) => {
                let of = ahmad_cohen::Parameters { limits, ..ahmad_cohen::Parameters::new(order, precision) };
                Box::new(AhmadCohen::new(ahmad_cohen::Parameters { eta: of.eta * scale, ..of }, clock))
            }
        }
    }
}

/// Makes a test of every scheme, and says of which ones it failed.
pub fn each(test: impl Fn(Kind)) {
    let fails = |kind: &Kind| catch_unwind(AssertUnwindSafe(|| test(*kind))).is_err();
    let failed: Vec<Kind> = KINDS.into_iter().filter(fails).collect();
    assert!(failed.is_empty(), "{failed:?}");
}
