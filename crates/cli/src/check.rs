//! `tisane check`: what a configuration would run, and what is implausible in it. For many particles, energies and the wall
//! time are estimates.

mod disk;

pub use disk::disk_per_output;

use super::{ConfigArgs, on_threads, print};
use disk::Disk;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use tisane::compensated_sum::sum;
use tisane::diagnostics::conserved::Conserved;
use tisane::diagnostics::orbit::Orbit;
use tisane::diagnostics::structure::{
    crossing_time, half_mass_relaxation_time, lagrangian_radius, mean_separation, virial_radius,
};
use tisane::error::Result;
use tisane::force::external::ExternalField;
use tisane::initial::scaling;
use tisane::particles::{Particles, Vec3};
use tisane::units::{Dimension, Units};
use tisane_io::directory::{bytes, free_space};
use tisane_lab::bench::model::{forecast, forecast_members};
use tisane_plot::Theme;
use tisane_plot::initial::{Sample, figure};
use tisane_run::assemble::{self, MOST_SUMMED, SAMPLE, Setup};
use tisane_run::binaries::{Binaries, Kind};
use tisane_run::config::{Config, Engine};
use tisane_run::ensemble::Blueprint;

/// Bytes of memory without any particles.
const MEMORY_BASE: u64 = 20 << 20;

pub fn check(args: &ConfigArgs, plot: Option<&Path>) -> Result<u8> {
    let loaded = Config::from_file(&args.file, &args.sets)?;
    let plot = plot.map(Path::to_owned);
    let base = args.file.parent().unwrap_or(Path::new("")).to_owned();
    on_threads(loaded.config.force.threads as usize, move || {
        let blueprint = loaded.config.ensemble.is_some().then(|| Blueprint::new(&loaded, &base)).transpose()?;
        let loaded = match &blueprint {
            None => loaded,
            Some(blueprint) => blueprint.member(0)?,
        };
        let setup = assemble::prepare(loaded.for_forecast())?;
        let members = blueprint.map_or(Ok(String::new()), |blueprint| describe_members(&blueprint, &setup))?;
        let found = setup.binaries()?;
        let system = found.system(&setup.particles);
        let potential = setup.potential_energy(&system)?;
        let mut scales = Scales::new(&system, potential);
        scales.conserved.external = external_energy(&setup);
        let mut text = members + &describe(&setup, &found, &scales, forecast(&setup)?);
        for warning in setup.warnings.iter().cloned().chain(found.warnings()).chain(doubts(&setup, &found, &scales)) {
            let _ = writeln!(text, "warning: {warning}");
        }
        if let Some(folder) = plot {
            text += &draw(&setup, &found, &folder)?;
        }
        print(&text)
    })
}

/// Describes the members of an ensemble, with their engine and wall time; `setup` is member 0.
fn describe_members(blueprint: &Blueprint, setup: &Setup) -> Result<String> {
    let (_, engine) = blueprint.engine(None, setup.config.force.device);
    let wall_time = forecast_members(blueprint, setup)?;
    let lines = [("engine of all", Some(engine)), ("wall time of all", wall_time)];
    let lines = lines.into_iter().filter_map(|(name, text)| Some(format!("  {name:<34} {}\n", text?)));
    Ok(blueprint.describe() + &lines.collect::<String>())
}

/// Potential energy of the particles in the external field at the start, in internal units.
fn external_energy(setup: &Setup) -> f64 {
    let (p, t) = (&setup.particles, setup.clock.start);
    let energy = |field: Arc<dyn ExternalField>| sum(p.mass.iter().zip(&p.pos).map(|(m, &x)| m * field.pot(x, t)));
    setup.external_field().map_or(0.0, energy)
}

/// Draws the initial conditions; returns the lines that name the files.
fn draw(setup: &Setup, found: &Binaries, folder: &Path) -> Result<String> {
    let (laws, scale, units) = (&setup.laws, &setup.scale, setup.config.units());
    let mut bodies = without_central(setup, found);
    scaling::rescale(&mut bodies, scale.mass, scale.length, scale.velocity);
    let orbits = setup.binaries.iter().map(|&i| {
        let p = &setup.particles;
        let between = |of: &[Vec3]| of[i + 1] - of[i];
        Orbit::from_state(between(&p.pos), between(&p.vel), p.mass[i] + p.mass[i + 1])
    });
    let sampled: Vec<(f64, f64)> =
        orbits.map(|orbit| (orbit.semi_major_axis * scale.length, orbit.eccentricity)).collect();
    let pairs = found.orbits.iter().map(|orbit| (orbit.pair.semi_major_axis * scale.length, orbit.pair.eccentricity));
    let pairs: Vec<(f64, f64)> = pairs.collect();
    let (axes, eccentricities): (Vec<f64>, Vec<f64>) =
        if setup.config.initial.sampled().is_some() { &sampled } else { &pairs }.iter().copied().unzip();
    let masses: Vec<f64> = setup.particles.mass.iter().map(|mass| mass * scale.mass).collect();
    let masses = &masses[..masses.len() - usize::from(laws.central.is_some())];
    let drawn = figure(&Sample {
        title: setup.config.run.name.clone(),
        caption: setup.source.clone(),
        units,
        systems: &bodies,
        centre: laws.centre,
        central: laws.central.unwrap_or(0.0),
        enclosed: &laws.enclosed,
        jeans: laws.jeans,
        masses: (masses, &laws.masses),
        softening: setup.config.softening.epsilon.get(),
        pairs: &pairs,
        pairs_title: if found.kind == Kind::Cluster { "Binaries of at least 1 kT" } else { "Orbits" },
        semi_major_axes: (&axes, &laws.semi_major_axes),
        eccentricities: (&eccentricities, &laws.eccentricities),
    });
    let Some(drawn) = drawn else { return Ok("  no picture: too few particles\n".into()) };
    let paths = drawn.write(&folder.join(format!("{}-initial", setup.config.run.name)), &Theme::ALL)?;
    Ok(paths.iter().map(|path| format!("  {:<20} {}\n", "picture", path.display())).collect())
}

/// Returns the bodies of the system without a central one, which is the last particle, in internal units.
fn without_central(setup: &Setup, found: &Binaries) -> Particles {
    let p = &setup.particles;
    let bodies = found.system(p).into_owned();
    let Some(last) = setup.laws.central.and(p.len().checked_sub(1)) else { return bodies };
    // A star may be counted as one body with it.
    let systems = &found.bodies.systems;
    let part_of = (bodies.len() < p.len()).then(|| systems.outermost.binary_search(&systems.part_of[last]).ok());
    let at = part_of.flatten().unwrap_or(bodies.len() - 1);
    let Particles { mut mass, mut pos, mut vel, .. } = bodies;
    mass.remove(at);
    pos.remove(at);
    vel.remove(at);
    Particles::new(mass, pos, vel)
}

/// Properties of the system, in internal units.
struct Scales {
    conserved: Conserved,
    half_mass_radius: f64,
    virial_radius: f64,
    crossing_time: f64,
    relaxation_time: f64,
    mean_separation: f64,
}

impl Scales {
    /// Measures the bodies of the system; `potential` is their potential energy.
    fn new(p: &Particles, potential: f64) -> Self {
        let conserved = Conserved { potential, ..Conserved::from_particles(p, &p.pot) };
        let half_mass_radius = lagrangian_radius(p, conserved.centre_of_mass, 0.5);
        Self {
            conserved,
            half_mass_radius,
            virial_radius: virial_radius(conserved.mass, potential),
            crossing_time: crossing_time(conserved.mass, conserved.energy()),
            relaxation_time: half_mass_relaxation_time(p.len(), conserved.mass, half_mass_radius),
            mean_separation: mean_separation(p.len(), half_mass_radius),
        }
    }
}

/// Returns the number of outputs at an interval, including the first and the last.
fn outputs(steps: u64, every: u64) -> u64 {
    steps.div_ceil(every) + 1
}

/// Describes the memory that a run needs: that of the host, and of a GPU that takes steps with lists of neighbours.
fn memory(setup: &Setup) -> String {
    let (config, n) = (&setup.config, setup.particles.len());
    let [extra, on_device] = config.integrator.scheme().extra_memory(n as u64);
    let host = bytes(MEMORY_BASE + n as u64 * assemble::MEMORY_PER_PARTICLE + extra);
    match assemble::forecast_engine(config, n) {
        Engine::Cuda if on_device > 0 => {
            format!("about {host}, and {} of the GPU for whole steps on it", bytes(on_device))
        }
        _ => format!("about {host}"),
    }
}

fn describe(setup: &Setup, found: &Binaries, scales: &Scales, wall_time: String) -> String {
    let (config, units, scale) = (&setup.config, setup.config.units(), &setup.scale);
    let value = |x: f64, d: Dimension| with_unit(x * scale.factor(d), d, &units);
    let [integrator, steps] = config.describe_integrator();
    let c = &scales.conserved;
    let snapshots = outputs(setup.steps_to_end, config.snapshot_every());
    let rows = outputs(setup.steps_to_end, config.diagnostics_every());
    let start = setup.clock.start * scale.time;
    let (engine, _) = assemble::forecast(config, setup.particles.len());
    let about = setup.about.iter().map(|(name, value)| (name.as_str(), value.clone()));
    let fields = config.external.iter().map(|field| ("external field", field.describe(&units)));
    let merged = found.kind == Kind::Cluster && !found.orbits.is_empty();
    let as_one = if merged { " (each binary as one body)" } else { "" };
    let digits = if setup.has_estimates() { 3 } else { 6 };
    let virial_ratio = format!("{:.digits$}{as_one}", c.virial_ratio());
    let derived = setup.derived.iter().enumerate();
    let derived = derived.map(|(line, text)| (if line == 0 { "from the system" } else { "" }, text.clone()));
    let mut lines = vec![
        ("particles", format!("{}", setup.particles.len())),
        ("total mass", value(c.mass, Dimension::MASS)),
        ("virial ratio Q", virial_ratio),
        ("total energy", value(c.energy(), Dimension::ENERGY) + as_one),
    ];
    if setup.has_estimates() {
        lines.push((
            "estimates",
            format!(
                "Q, energies and what follows from them, from the potentials of {SAMPLE} particles, as there are more than \
                 {MOST_SUMMED}; a run sums over all pairs"
            ),
        ));
    }
    if found.kind == Kind::Cluster {
        let radii = [("half-mass radius", scales.half_mass_radius), ("virial radius", scales.virial_radius)];
        lines.splice(2..2, radii.map(|(name, radius)| (name, value(radius, Dimension::LENGTH))));
        lines.extend([
            ("crossing time", value(scales.crossing_time, Dimension::TIME)),
            ("relaxation time", value(scales.relaxation_time, Dimension::TIME) + " (half-mass)"),
            ("mean separation", value(scales.mean_separation, Dimension::LENGTH) + " (within the half-mass radius)"),
        ]);
    }
    let law = config.law_section().map(|law| format!("; law {}", law.describe())).unwrap_or_default();
    let how = [
        ("softening", value(setup.epsilon(), Dimension::LENGTH)),
        ("integrator", integrator),
        ("force", format!("{engine}; precision {}{law}", config.force.precision().name())),
        ("steps", format!("{steps} {}", units.time.name)),
    ];
    let outcome = [
        ("time", format!("{start} to {} {}", config.t_end(), units.time.name)),
        ("outputs", format!("{snapshots} snapshots, {rows} rows of diagnostics")),
        ("wall time", wall_time),
        ("memory", memory(setup)),
        ("disk", Disk::of(setup, found).describe()),
        ("output", config.output_directory().display().to_string()),
    ];
    let several = assemble::forecast_several(config, setup.particles.len()).map(|it| ("several GPUs", it));
    let mut text = format!("{}: this configuration is valid\n", config.run.name);
    let source = ("initial conditions", setup.source.clone());
    let lines = lines.into_iter().chain(found.describe()).chain(how).chain(several).chain(derived).chain(outcome);
    for (name, value) in [source].into_iter().chain(about).chain(fields).chain(lines) {
        let _ = writeln!(text, "  {name:<20} {value}");
    }
    text
}

fn with_unit(x: f64, d: Dimension, units: &Units) -> String {
    if !x.is_finite() {
        return "not defined".into();
    }
    units.readable(x, d)
}

/// Returns warnings about input that is allowed but implausible.
fn doubts(setup: &Setup, found: &Binaries, scales: &Scales) -> Vec<String> {
    let (c, n) = (&scales.conserved, setup.particles.len());
    let is_cluster = found.kind == Kind::Cluster;
    let (q, epsilon) = (c.virial_ratio(), setup.epsilon());
    let span = setup.clock.dt_max * setup.steps_to_end as f64;
    let needed = Disk::of(setup, found).least();
    let free = free_space(&setup.config.output_directory()).unwrap_or(u64::MAX);
    let scheme = setup.config.integrator.info();
    let (step, block_steps) = (scheme.dt_max_key, setup.config.integrator.scheme().block_steps());
    // In an external field, or by another law, neither binding nor equilibrium follows from the particles alone.
    let isolated = setup.config.external.is_empty() && setup.law.is_none();
    let crossed = setup.clock.dt_max * (2.0 * c.kinetic / c.mass).sqrt();
    let doubts = [
        (
            n > 1 && q >= 1.0 && isolated,
            format!("the system is not bound (Q = {q:.4}): are velocities and masses in the units that [units] says?"),
        ),
        (
            n > 2 && q < 1.0 && !(0.25..=0.75).contains(&q) && isolated,
            format!(
                "the virial ratio Q = {q:.4} is far from 0.5: the system will first {}",
                if q < 0.5 { "collapse" } else { "expand" }
            ),
        ),
        (
            is_cluster && epsilon > scales.mean_separation,
            "the softening is longer than the mean separation: the system is smoothed out".into(),
        ),
        (
            is_cluster && setup.clock.dt_max > scales.crossing_time / 2.0,
            format!("{step} is longer than half a crossing time: the slowest particles are badly resolved"),
        ),
        (
            block_steps.is_none() && n > 10 && crossed > epsilon,
            format!(
                "within one step of {} a particle of typical velocity crosses the softening length: expect large \
                 energy errors from close encounters",
                scheme.title
            ),
        ),
        (needed > free, format!("the run takes about {}, but only {} are free", bytes(needed), bytes(free))),
        (
            is_cluster && span < scales.crossing_time / 10.0,
            "the run is shorter than a tenth of a crossing time: is t_end in the units that [units] says?".into(),
        ),
    ];
    let (_, of_engine) = assemble::forecast(&setup.config, n);
    let doubts = doubts.into_iter().filter(|(doubtful, _)| *doubtful).map(|(_, text)| text);
    doubts.chain(setup.config.integrator.scheme().doubt(setup.config.force.precision())).chain(of_engine).collect()
}
