//! Defaults of a star cluster without softening, which follow from its particles: subsystems, and the scheme by their number.

use super::error::Problem;
use serde_json::json;
use tisane::compensated_sum::sum;
use tisane::diagnostics::cluster::bodies::MIN_BODIES;
use tisane::encounters::EncounterSettings;
use tisane::integrator::{IntegratorKind, IntegratorSettings};
use tisane::real;
use tisane::units::Real;

/// Scheme of a cluster with its accuracy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ClusterScheme {
    /// Number of particles from which on a cluster has it.
    from: usize,
    kind: IntegratorKind,
    accuracy: Real,
}

/// Schemes of clusters: the fastest ones with the energy error of `hermite4` with nu = 0.01, by the measurement in "Schemes
/// side by side" of docs/reports/src/encounters.md. They depend on the number of particles alone, so that the same input
/// has the same bits everywhere.
const SCHEMES: [ClusterScheme; 2] = [
    ClusterScheme { from: 0, kind: IntegratorKind::Multipoint, accuracy: real!(0.35) },
    ClusterScheme { from: 4096, kind: IntegratorKind::AhmadCohen, accuracy: real!(0.25) },
];

impl ClusterScheme {
    /// Returns the scheme of a cluster of `n` particles.
    pub(crate) fn of(n: usize) -> Self {
        SCHEMES.into_iter().rfind(|it| n >= it.from).unwrap_or(SCHEMES[0])
    }

    /// Returns the name of its section in a configuration.
    pub(crate) fn section(self) -> &'static str {
        self.kind.info().section
    }

    /// Returns its accuracy as a line of that section.
    pub(crate) fn accuracy(self) -> String {
        format!("{} = {}", self.kind.info().accuracy_key, self.accuracy)
    }

    /// Returns the scheme as an override (`section.key=value`).
    pub(crate) fn as_override(self) -> String {
        format!("{}.{}={}", self.section(), self.kind.info().accuracy_key, self.accuracy)
    }

    /// Returns the settings of the scheme.
    pub(crate) fn settings(self) -> Result<IntegratorSettings, Problem> {
        let info = self.kind.info();
        let settings = json!({ info.name(): { info.accuracy_key: self.accuracy } });
        serde_json::from_value(settings).map_err(|error| Problem::new(self.section(), error.to_string()))
    }

    /// Says why a cluster has this scheme.
    pub(crate) fn why(self) -> String {
        let next = SCHEMES.iter().find(|it| it.from > self.from);
        let which = match next {
            Some(next) => format!("fewer than {} particles", next.from),
            None => format!("{} particles or more", self.from),
        };
        format!("[{}] with {}: the fastest scheme for a cluster of {which}", self.section(), self.accuracy())
    }
}

/// What a cluster got by default: subsystems, and a scheme if the configuration left that open too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settled {
    /// Scheme.
    pub scheme: Option<ClusterScheme>,
}

impl Settled {
    /// Returns the settings as overrides (`section.key=value`).
    pub(crate) fn as_overrides(&self) -> Vec<String> {
        let subsystems = format!("encounters.perturbation={:e}", perturbation());
        [subsystems].into_iter().chain(self.scheme.map(ClusterScheme::as_override)).collect()
    }

    /// Says what the cluster got, and why.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let with = perturbation();
        let subsystems = format!("encounters.perturbation = {with:e}, as nothing softens the forces in this cluster");
        [subsystems].into_iter().chain(self.scheme.map(ClusterScheme::why)).collect()
    }
}

fn perturbation() -> f64 {
    EncounterSettings::default().perturbation.get()
}

/// Part of the total mass above which one particle dominates: then orbits about it are the motion of the system.
const DOMINANT: f64 = 0.5;

/// Returns true if particles of these masses may be a cluster: there are enough of them, and no one and no two dominate, as in
/// planets about a binary.
pub(crate) fn is_cluster(mass: &[f64]) -> bool {
    let all = sum(mass.iter().copied());
    let heaviest = mass.iter().fold([0.0, 0.0], |[first, second]: [f64; 2], &mass| match mass > first {
        true => [mass, first],
        false => [first, second.max(mass)],
    });
    mass.len() >= MIN_BODIES && heaviest[0] + heaviest[1] <= DOMINANT * all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_changes_at_the_limit() {
        let [small, large] = SCHEMES;
        assert_eq!([10, large.from - 1, large.from, 1_000_000].map(ClusterScheme::of), [small, small, large, large]);
        for it in SCHEMES {
            let settings = it.settings().unwrap();
            assert_eq!((settings.kind(), settings.info().section), (it.kind, it.section()));
            assert!(settings.scheme().describe()[0].contains(&it.accuracy()), "{:?}", settings.scheme().describe());
        }
    }
}
