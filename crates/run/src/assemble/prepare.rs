//! From a configuration to its particles, in internal units and checked.

use super::setup::Setup;
use super::steps::close_pairs;
use super::{initial, law, lifetimes, memory, reproduce, steps};
use crate::binaries::Binaries;
use crate::config::{Loaded, Open, Problem, Real, Settled};
use crate::evolution::Evolution;
use crate::help;
use tisane::diagnostics::cluster::Stars;
use tisane::diagnostics::conserved::Conserved;
use tisane::diagnostics::structure::median_radius;
use tisane::error::Result;
use tisane::force::external::ExternalField;
use tisane::force::range::{OutOfRange, Range};
use tisane::initial::{Cluster, InitialState, coincident_pair, scaling};
use tisane::particles::Particles;
use tisane::time::{Clock, Time};
use tisane::units::Scale;
use tisane_io::provenance::Provenance;

/// Reads or samples the particles of a configuration and converts everything to internal units. A cluster without softening
/// gets subsystems, and a scheme by its number of particles, where the configuration leaves that open.
///
/// # Errors
/// [`Error::Config`](tisane::Error::Config) and [`Error::Input`](tisane::Error::Input); nothing is written.
pub fn prepare(mut loaded: Loaded) -> Result<Setup> {
    refuse_ensemble(&loaded)?;
    memory::check(&loaded)?;
    let (state, warnings) = initial_state(&loaded)?;
    let settled = loaded.settle(&state.particles.mass)?;
    let mut setup = set_up(loaded, state, warnings, true)?;
    setup.derived.extend(settled.iter().flat_map(Settled::reasons));
    let of_stars = lifetimes::warning(&setup);
    setup.warnings.extend(of_stars);
    let of_orbit = setup.doubts_of_orbit();
    setup.warnings.extend(of_orbit);
    let of_fields = setup.doubts_of_fields();
    setup.warnings.extend(of_fields);
    Ok(setup)
}

/// Returns what the particles of a configuration get by default as a cluster without softening, as overrides
/// (`section.key=value`); none where they are no cluster, or the configuration leaves nothing open.
///
/// # Errors
/// [`Error::Config`](tisane::Error::Config) and [`Error::Input`](tisane::Error::Input).
pub fn defaults_of_cluster(loaded: &Loaded) -> Result<Vec<String>> {
    if loaded.open == Open::default() {
        return Ok(Vec::new());
    }
    let (state, _) = initial_state(loaded)?;
    Ok(loaded.defaults_of(&state.particles.mass).iter().flat_map(Settled::as_overrides).collect())
}

/// Reads or samples the particles of a configuration, in its units. Returns them with warnings.
///
/// # Errors
/// [`Error::Config`](tisane::Error::Config) and [`Error::Input`](tisane::Error::Input).
pub(crate) fn initial_state(loaded: &Loaded) -> Result<(InitialState, Vec<String>)> {
    let mut warnings = Vec::new();
    let state = initial::state(loaded, &mut warnings)?;
    if state.particles.total_mass() == 0.0 && loaded.config.external.is_empty() {
        let problem = format!("the total mass is 0, of {}: expected a positive number", state.source);
        let help = "particles without mass need an external field, [external.point-mass] or another";
        return Err(loaded.explain(Problem::new("initial", problem).with_help(help)));
    }
    Ok((state, warnings))
}

/// Converts particles in the units of a configuration, and everything else, to internal units. Without `ends`, the end of
/// a configuration whose steps follow from the particles is not its own: it becomes that of one step.
///
/// # Errors
/// [`Error::Config`](tisane::Error::Config) and [`Error::Input`](tisane::Error::Input).
pub(crate) fn set_up(mut loaded: Loaded, state: InitialState, mut warnings: Vec<String>, ends: bool) -> Result<Setup> {
    loaded.check_subsystems()?;
    let units = loaded.config.units();
    let mut particles = state.particles;
    let start = loaded.config.t_start().unwrap_or(state.time);
    let has_steps = loaded.config.has_steps();
    if ends || has_steps {
        loaded.config.check_end(start).map_err(|problem| loaded.explain(problem))?;
    }
    check_number(&loaded, particles.len())?;
    check_coincidence(&loaded, &particles, 1.0)?;
    let centre = Conserved::from_particles(&particles, &particles.pot).centre_of_mass;
    let scale = Scale::choose(&units, particles.total_mass(), median_radius(&particles, centre));
    scaling::rescale(&mut particles, 1.0 / scale.mass, 1.0 / scale.length, 1.0 / scale.velocity);
    check_range(&loaded, &particles, &scale)?;
    if loaded.config.subsystems().is_none() {
        // Only subsystems use relative states.
        particles.close.clear();
    }
    begin_evolution(&loaded, &mut particles, start, &scale)?;
    loaded.config.set_radii(&mut particles, &scale).map_err(|problem| loaded.explain(problem))?;
    let mut derived = Vec::new();
    if !has_steps {
        derived = steps::derive(&mut loaded, &particles, (&scale, start), ends)?;
        if !ends && let Some(end) = Real::new(start + loaded.config.dt_max()) {
            loaded.config.run.t_end = end;
        }
    }
    let steps_to_end = loaded.config.steps_to_end(start).map_err(|problem| loaded.explain(problem))?;
    let law = law::of_particles(&loaded, &mut particles, &scale, (&mut warnings, &mut derived))?;
    for (section, field) in loaded.config.external.sections() {
        warnings.extend(field.notes(&units).into_iter().map(|note| format!("{section}: {note}")));
    }
    let clock = Clock { start: start / scale.time, dt_max: loaded.config.dt_max() / scale.time };
    let field = loaded.config.external_field(&scale).map_err(|problem| loaded.explain(problem))?;
    if let Some(field) = &field {
        check_covered(&loaded, &**field, [clock.start, clock.time(Time::from_dt_max(steps_to_end))])?;
    }
    let orbit = match (&loaded.config.orbit, field) {
        (Some(orbit), Some(field)) => {
            let found = orbit.state(&*field, &clock, (&units, &scale));
            Some(found.map_err(|problem| loaded.explain(problem))?)
        }
        _ => None,
    };

    let is_sampled = loaded.config.initial.model.sampled().is_some();
    let one = || Cluster { particles: 0..particles.len(), source: state.source.clone(), laws: state.laws, is_sampled };
    let clusters = if state.clusters.is_empty() { vec![one()] } else { state.clusters };
    let inputs = reproduce::inputs_of(&loaded.config)?;
    let provenance = Provenance::current().with_overrides(loaded.overrides());
    let estimates = loaded.estimates;
    let (mut config, config_as_written) = (loaded.config, loaded.written);
    config.set_t_start(start);
    let initial_sha256 = particles.state_sha256(&clock);
    Ok(Setup {
        config,
        provenance: Provenance { config_as_written, inputs, initial_sha256, ..provenance },
        particles,
        clock,
        scale,
        steps_to_end,
        source: state.source,
        about: state.about,
        binaries: state.binaries,
        clusters,
        derived,
        warnings,
        law,
        orbit,
        estimates,
    })
}

/// Puts the stars of a configuration in which they age on their tracks at the start of the run, in the user's unit of time.
///
/// # Errors
/// [`Error::Config`](tisane::Error::Config) for a star whose mass is out of range.
fn begin_evolution(loaded: &Loaded, p: &mut Particles, start: f64, scale: &Scale) -> Result<()> {
    let of_key = |key: &str, problem: String| loaded.explain(Problem::new(format!("stellar_evolution{key}"), problem));
    let evolution = Evolution::of(&loaded.config, scale).map_err(|error| of_key("", error.to_string()))?;
    let Some(evolution) = evolution else {
        p.stars.clear();
        return Ok(());
    };
    let begun = evolution.begin(p, start / scale.time);
    begun.map_err(|(id, error)| of_key("", format!("star {id}: {error}")))
}

/// Checks that a field is known from the first time to the last one, which are internal.
///
/// # Errors
/// [`Error::Config`](tisane::Error::Config) for a table that begins too late or ends too early, with its line.
pub(super) fn check_covered(loaded: &Loaded, field: &dyn ExternalField, times: [f64; 2]) -> Result<()> {
    let covered = times.into_iter().try_for_each(|t| field.covers(t));
    covered.map_err(|error| loaded.explain(Problem::new("run.t_end", error.to_string())))
}

/// Checks particles in internal units that a program has changed.
///
/// # Errors
/// [`Error::Config`](tisane::Error::Config) for more particles than the scheme takes, for particles at one place without softening, and numbers
/// that the precision mode cannot represent.
pub(crate) fn check_changed(loaded: &Loaded, p: &Particles, scale: &Scale) -> Result<()> {
    law::check_columns(loaded, p)?;
    check_number(loaded, p.len())?;
    check_coincidence(loaded, p, scale.length)?;
    check_range(loaded, p, scale)
}

/// Refuses more particles than the scheme can take.
fn check_number(loaded: &Loaded, n: usize) -> Result<()> {
    let (scheme, info) = (loaded.config.integrator.scheme(), loaded.config.integrator.info());
    match scheme.max_particles() {
        Some(max) if n > max => {
            let problem = format!("expected at most {max} particles with {}, found {n}", info.title);
            let help = "[integrator.multipoint] with order = 8 has the digits of f64 for any number";
            Err(loaded.explain(Problem::new(info.section, problem).with_help(help)))
        }
        _ => Ok(()),
    }
}

/// Refuses particles at the same position without softening: their force is infinite. `length` is the unit of the
/// positions in the user's.
fn check_coincidence(loaded: &Loaded, p: &Particles, length: f64) -> Result<()> {
    if loaded.config.softening.epsilon.get() > 0.0 {
        return Ok(());
    }
    let Some((i, j)) = coincident_pair(p) else { return Ok(()) };
    let (distance, place) = ((p.pos[j] - p.pos[i]).norm(), <[f64; 3]>::from(p.pos[i] * length));
    let (a, b, apart) = (p.id[i], p.id[j], (p.pos[j] - p.pos[i]).amax() * length);
    let problem = if distance == 0.0 && apart == 0.0 {
        format!("particles {a} and {b} start at the same place {place:?}: the force without softening is infinite")
    } else {
        format!(
            "particles {a} and {b} start at the same place {place:?}, but for {apart:e}: the square of their distance is too \
             small for double precision, and the force without softening infinite"
        )
    };
    let help = "take one of the two out of the input, or set softening.epsilon > 0, which softens all pairs";
    Err(loaded.explain(Problem::new("softening.epsilon", problem).with_help(help)))
}

/// Checks that the precision mode can represent the particles, in internal units.
fn check_range(loaded: &Loaded, p: &Particles, scale: &Scale) -> Result<()> {
    let range = Range::for_precision(loaded.config.force.precision());
    let epsilon = loaded.config.softening.epsilon.get() / scale.length;
    range.check_start(p, epsilon).map_err(|what| {
        let key = if matches!(what, OutOfRange::Softening(..)) { "softening.epsilon" } else { "force.precision" };
        loaded.explain(Problem::new(key, what.describe(p, &range, scale)).with_help(help::in_words(range.advice())))
    })
}

/// Returns an error for a configuration with members where one run is needed.
///
/// # Errors
/// [`Error::Config`](tisane::Error::Config) if it has the section `[ensemble]`.
fn refuse_ensemble(loaded: &Loaded) -> Result<()> {
    if loaded.config.ensemble.is_none() {
        return Ok(());
    }
    let problem = "this configuration describes many runs, and one is needed here";
    let help = "`tisane run` integrates all of them; a file without [ensemble] is one run";
    Err(loaded.explain(Problem::new("ensemble", problem).with_help(help)))
}

impl Setup {
    /// Finds the binaries and other close pairs of the particles; none by another law than Newton's.
    ///
    /// # Errors
    /// As the CPU engine.
    pub fn binaries(&self) -> Result<Binaries> {
        let pot = law::potentials(self, &self.particles)?;
        let found = close_pairs(&self.particles, &pot, self.terms());
        Ok(if self.law.is_some() { found.without_pairs(&Stars::new(&self.particles, &pot)) } else { found })
    }
}
