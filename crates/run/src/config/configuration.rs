//! The configuration of a run as one struct, and what it says.

use super::bounds::whole_multiple;
use super::collisions::{CollisionSettings, Escapers};
use super::ensemble::Ensemble;
use super::error::Problem;
use super::initial::{Initial, Model};
use super::law::LawSection;
use super::limits::{Audit, Checkpoint, Limits};
use super::orbit::OrbitSettings;
use super::schema::schema_of;
use super::sections::{ClusterSection, Force, Output, Run, Softening, Stepping, UnitsSection};
use super::stellar_evolution::StellarEvolution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tisane::encounters::{EncounterSettings, Encounters, StarEvents};
use tisane::force::external::ExternalSettings;
use tisane::force::external::guide::MovingOrigin;
use tisane::force::precision::Precision;
use tisane::integrator::{AnyIntegrator, IntegratorSettings};
use tisane::law::Law;
use tisane::tidal_frame::TideSource;
use tisane::time::Clock;
use tisane::units::{Real, Scale, Units};
use tisane_io::fields::{ClusterColumns, FieldColumns, TideColumns};

/// Configuration of a run, as one TOML file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Name, start and end of the run.
    pub run: Run,
    /// Units of everything in this file and of all output.
    #[serde(default)]
    pub units: UnitsSection,
    /// Initial conditions: exactly one model.
    pub initial: Initial,
    /// Softening of the pair force.
    #[serde(default)]
    pub softening: Softening,
    /// External fields, which act on all particles: gravity of masses that are not among the particles.
    #[serde(default, skip_serializing_if = "ExternalSettings::is_empty")]
    pub external: ExternalSettings,
    /// Orbit of the origin of coordinates in the external fields, relative to which the particles are. Default: at rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orbit: Option<OrbitSettings>,
    /// Integrator: the scheme that moves the particles, with its steps.
    #[serde(default)]
    pub integrator: IntegratorSettings,
    /// Close encounters and binaries without softening, for schemes with block steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encounters: Option<EncounterSettings>,
    /// Collisions of stars, in runs with encounters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collisions: Option<CollisionSettings>,
    /// Escapers, in runs with encounters: stars of positive energy far from the centre of mass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub escapers: Option<Escapers>,
    /// Evolution of single stars, in units by name: mass loss, remnants, kicks. Default: stars do not age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stellar_evolution: Option<StellarEvolution>,
    /// Engine that computes the forces, and its precision mode.
    #[serde(default)]
    pub force: Force,
    /// Output: directory and intervals, which are whole multiples of dt_max, with the leapfrog of dt.
    #[serde(default)]
    pub output: Output,
    /// Cluster diagnostics: centre, core, Lagrangian radii, binaries, escapers.
    #[serde(default)]
    pub cluster: ClusterSection,
    /// Checkpoints, from which a run resumes bit for bit.
    #[serde(default)]
    pub checkpoint: Checkpoint,
    /// Audit of forces against f64.
    #[serde(default)]
    pub audit: Audit,
    /// Limits at which the run stops with a checkpoint.
    #[serde(default)]
    pub limits: Limits,
    /// Ensemble: many runs of this configuration, in each of which some keys have other values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ensemble: Option<Ensemble>,
}

impl Config {
    /// Returns the scheme with its main settings, and the range of its steps, for people.
    #[must_use]
    pub fn describe_integrator(&self) -> [String; 2] {
        let [scheme, steps] = self.integrator.scheme().describe();
        let of = |it: &EncounterSettings| format!("; subsystems, perturbation {:e}", it.perturbation.get());
        let with = self.subsystems().map(of).unwrap_or_default();
        [scheme + &with, steps]
    }

    /// Returns the settings of the subsystems; [`None`] for a run without them, also by a perturbation of 0.
    #[must_use]
    pub fn subsystems(&self) -> Option<&EncounterSettings> {
        self.encounters.as_ref().filter(|it| it.perturbation.get() > 0.0)
    }

    /// Builds the integrator, with subsystems if it has them, in internal units.
    #[must_use]
    pub fn integrator(&self, precision: Precision, clock: Clock) -> AnyIntegrator {
        self.integrator_with(precision, clock, StarEvents::default(), None)
    }

    /// Builds the integrator of a run in which `scale` is the size of the internal units: with collisions and escapers too.
    /// `tide` is that on the cluster, with the origin of coordinates if it moves.
    pub(crate) fn integrator_of_run(
        &self,
        (precision, clock): (Precision, Clock),
        scale: &Scale,
        tide: Option<(TideSource, Option<MovingOrigin>)>,
    ) -> AnyIntegrator {
        self.integrator_with(precision, clock, self.star_events(scale), tide)
    }

    fn integrator_with(
        &self,
        precision: Precision,
        clock: Clock,
        of_stars: StarEvents,
        tide: Option<(TideSource, Option<MovingOrigin>)>,
    ) -> AnyIntegrator {
        let scheme = self.integrator.scheme();
        let with = self.subsystems().and_then(|it| {
            let steps = scheme.build_steps(precision, clock)?;
            Some(Encounters::from_settings(steps, it, clock).with_star_events(of_stars).with_tide(tide))
        });
        with.map_or_else(|| scheme.build(precision, clock), |it| AnyIntegrator::Forces(Box::new(it)))
    }

    /// Returns the columns of the diagnostics by what acts from outside.
    #[must_use]
    pub fn field_columns(&self) -> FieldColumns {
        match (&self.orbit, self.external.is_empty()) {
            (Some(_), _) => FieldColumns::Tidal,
            (None, false) => FieldColumns::External,
            (None, true) => FieldColumns::None,
        }
    }

    /// Returns the columns of the cluster journal by the tide on the cluster: that of fields in which the origin of coordinates
    /// moves, or one linear tide.
    #[must_use]
    pub fn tide_columns(&self) -> TideColumns {
        match (&self.orbit, self.external.tide.0.len()) {
            (Some(_), _) => TideColumns::Orbit,
            (None, 1) => TideColumns::Circle,
            (None, _) => TideColumns::None,
        }
    }

    /// Returns the optional columns of the cluster journal.
    #[must_use]
    pub fn cluster_columns(&self) -> ClusterColumns {
        ClusterColumns { tide: self.tide_columns(), stars: self.stellar_evolution.is_some() }
    }

    /// Returns true if a program brings the particles.
    pub(super) fn is_of_a_program(&self) -> bool {
        matches!(self.initial.model, Model::Memory {})
    }

    /// Returns true if a cluster has subsystems by default: without softening and with Newton's law, in no external field but a tide, by a scheme with block steps, where neither they nor the shortest step nor the place of the steps is set. A resolved configuration
    /// has a shortest step. A program that hands over particles asks for what it wants.
    pub(super) fn leaves_subsystems_open(&self) -> bool {
        let scheme = self.integrator.scheme();
        self.encounters.is_none()
            && self.softening.epsilon.get() == 0.0
            && (self.external.is_empty() || self.tide_columns() != TideColumns::None)
            && self.law_section().is_none()
            && scheme.steps_set().is_some_and(|set| set.dt_min.is_none())
            && self.force.stepping != Stepping::Device
            && !self.is_of_a_program()
    }

    /// Turns on subsystems, with their defaults, by another scheme if one is given.
    pub(crate) fn add_subsystems(&mut self, scheme: Option<IntegratorSettings>) -> Result<(), Problem> {
        let has_steps = self.has_steps();
        self.encounters = Some(EncounterSettings::default());
        if let Some(scheme) = scheme {
            self.integrator = scheme;
        }
        if !has_steps {
            return Ok(());
        }
        self.resolve_floor_of_subsystems()?;
        self.integrator.scheme_mut().resolve();
        Ok(())
    }

    /// Returns the largest energy error of a run, if it is not the usual one. An external field that changes in time does not
    /// conserve the energy, unless the origin moves in it: there is no limit then unless one is set.
    pub(crate) fn energy_limit(&self) -> Option<f64> {
        let conserved = self.orbit.is_some() || self.external.is_constant(&self.units());
        self.limits.energy_error.map(Real::get).or((!conserved).then_some(f64::INFINITY))
    }

    /// Returns the units of the configuration and of all output.
    #[must_use]
    pub fn units(&self) -> Units {
        self.units.named().unwrap_or_else(Units::henon)
    }

    /// Returns the time at which the run starts, if the configuration gives it; unit: time.
    #[must_use]
    pub fn t_start(&self) -> Option<f64> {
        self.run.t_start.map(Real::get)
    }

    /// Returns the time at which the run ends; unit: time.
    #[must_use]
    pub const fn t_end(&self) -> f64 {
        self.run.t_end.get()
    }

    /// Sets the time at which the run starts (unit: time), once it is known from the input file. A time that is not finite
    /// leaves the key without a value.
    pub fn set_t_start(&mut self, t_start: f64) {
        self.run.t_start = Real::new(t_start);
    }

    /// Returns true if the lengths of the steps are known. In units by name, a longest step that is not set follows
    /// from the particles; a run whose particles have been read has it.
    #[must_use]
    pub fn has_steps(&self) -> bool {
        let set = self.integrator.scheme().steps_set();
        self.units().is_henon() || set.is_none_or(|set| set.dt_max.is_some())
    }

    /// Returns the longest time step, the only one of the leapfrog; unit: time. NaN where it is not known yet.
    #[must_use]
    pub fn dt_max(&self) -> f64 {
        if self.has_steps() { self.integrator.scheme().dt_max() } else { f64::NAN }
    }

    /// Returns the intervals of outputs that are set; unit: time.
    pub(crate) fn intervals_set(&self) -> impl Iterator<Item = f64> {
        let Output { interval, snapshot_interval, diagnostics_interval, .. } = self.output;
        [interval, snapshot_interval, diagnostics_interval, self.cluster.interval].into_iter().flatten().map(Real::get)
    }

    /// Sets lengths of steps and the interval of outputs where they are not set, and fills in the defaults that follow
    /// from them; unit: time.
    pub(crate) fn set_steps(&mut self, steps: [Real; 2], interval: Real) -> Result<(), Problem> {
        self.integrator.scheme_mut().set_steps(steps);
        self.output.interval.get_or_insert(interval);
        self.resolve_times()
    }

    /// Takes over the lengths of steps of a configuration that has them, where they are not known here.
    pub(crate) fn adopt_steps(&mut self, of: &Self) -> Result<(), Problem> {
        let set = of.integrator.scheme().steps_set().map(|set| [set.dt_max, set.dt_min]);
        match (self.has_steps(), set, of.output.interval) {
            (false, Some([Some(dt_max), Some(dt_min)]), Some(interval)) => self.set_steps([dt_max, dt_min], interval),
            _ => Ok(()),
        }
    }

    /// Returns the time between snapshots, in steps of `dt_max`.
    #[must_use]
    pub fn snapshot_every(&self) -> u64 {
        self.every(self.output.snapshot_interval)
    }

    /// Returns the time between rows of diagnostics, in steps of `dt_max`.
    #[must_use]
    pub fn diagnostics_every(&self) -> u64 {
        self.every(self.output.diagnostics_interval)
    }

    /// Returns the time between surveys of the cluster, in steps of `dt_max`.
    #[must_use]
    pub fn cluster_every(&self) -> u64 {
        self.every(self.cluster.interval)
    }

    /// Returns the interval, or else the common one, in steps of `dt_max`: a whole number, as validation ensures.
    fn every(&self, interval: Option<Real>) -> u64 {
        let interval = interval.or(self.output.interval);
        interval.and_then(|interval| whole_multiple(interval.get(), self.dt_max())).unwrap_or(1)
    }

    /// Returns the output directory; a relative path starts at the current directory.
    #[must_use]
    pub fn output_directory(&self) -> PathBuf {
        self.output.directory.as_ref().map_or_else(|| Path::new("runs").join(&self.run.name), PathBuf::from)
    }

    /// Returns the section of the law, if the law is not Newton's.
    #[must_use]
    pub fn law_section(&self) -> Option<&LawSection> {
        self.force.law.as_ref().filter(|law| !law.is_newton())
    }

    /// Compiles the law of a configuration, for internal units of a scale; [`None`] for Newton's.
    pub(crate) fn law(&self, scale: &Scale) -> Result<Option<Arc<Law>>, Problem> {
        self.force.law.as_ref().map_or(Ok(None), |law| law.compile(&self.units(), scale))
    }
}

/// The JSON Schema of the configuration (draft 2020-12): `tisane generate schema`. Editors complete and check TOML with it.
#[must_use]
pub fn json_schema() -> Arc<Value> {
    schema_of::<Config>()
}
