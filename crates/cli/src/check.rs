//! `tisane check`: what a configuration would run, and what is implausible in it. For many particles, energies and the wall
//! time are estimates.

mod disk;
mod doubts;
mod orbit;
mod picture;
mod stars;

pub use disk::disk_per_output;

use super::arguments::ConfigArgs;
use super::screen::print;
use disk::{Disk, outputs};
use std::fmt::Write as _;
use std::path::Path;
use tisane::compensated_sum::sum;
use tisane::diagnostics::cluster::own_frame::{Kind, OwnFrame};
use tisane::diagnostics::conserved::Conserved;
use tisane::error::Result;
use tisane::force::external::ExternalField;
use tisane::spin_pool::on_threads;
use tisane::time::Time;
use tisane::units::{Dimension, Units, shortest_decimal};
use tisane_io::directory::bytes;
use tisane_lab::bench::model::{forecast, forecast_members};
use tisane_lab::study::forecast::ENDS_EARLY;
use tisane_run::assemble::{self, MAX_SUMMED, SAMPLE, Setup};
use tisane_run::binaries::Binaries;
use tisane_run::config::{Config, Engine};
use tisane_run::ensemble::Blueprint;

/// Characters of a line above which it is broken into several, and of each of these.
const LONG: usize = 300;
const WIDTH: usize = 100;
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
        let clusters = setup.in_own_frames(&found)?;
        let (wall_time, ends_early) = match forecast(&setup)? {
            text if text.starts_with(ENDS_EARLY) => ("not known: see the warning below".into(), Some(text)),
            text => (text, None),
        };
        let mut text = members + &describe(&setup, &found, &clusters, wall_time);
        let warnings = setup.warnings.iter().cloned().chain(found.warnings());
        for warning in warnings.chain(doubts::find(&setup, &found, &clusters)).chain(ends_early) {
            text += &broken(&format!("warning: {warning}"));
        }
        if let Some(folder) = plot {
            text += &picture::draw(&setup, &found, &clusters, &folder)?;
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

/// Returns a line as it is, or in several ones if it is very long.
fn broken(line: &str) -> String {
    let (mut text, mut length) = (String::new(), 0);
    let is_long = line.chars().count() > LONG;
    for word in line.split(' ') {
        let next = word.chars().count() + 1;
        if length > 0 && is_long && length + next > WIDTH {
            text += "\n ";
            length = 1;
        }
        if length > 0 {
            text.push(' ');
        }
        text += word;
        length += next;
    }
    text + "\n"
}

/// Describes the energy of the particles in the external field at the start, and that of their motion as a whole; [`None`]
/// without a field.
fn in_the_field(setup: &Setup) -> Option<String> {
    let (p, t, units) = (&setup.particles, setup.clock.start, setup.config.units());
    let field = setup.external_field().ok().flatten()?;
    if let Some(origin) = setup.moving_origin() {
        let tidal = origin.tidal(Time::default()).ok()?;
        let energy = sum(p.mass.iter().zip(&p.pos).map(|(m, &d)| m * tidal.pot(d, t)));
        let energy = with_unit(energy * setup.scale.factor(Dimension::ENERGY), Dimension::ENERGY, &units);
        return Some(format!("potential energy {energy} in the tidal field about the origin"));
    }
    let external = sum(p.mass.iter().zip(&p.pos).map(|(m, &x)| m * field.pot(x, t)));
    let sums = Conserved::from_particles(p, &p.pot);
    let motion = if sums.mass > 0.0 { 0.5 * sums.momentum.norm_squared() / sums.mass } else { 0.0 };
    let [external, motion] =
        [external, motion].map(|x| with_unit(x * setup.scale.factor(Dimension::ENERGY), Dimension::ENERGY, &units));
    Some(format!("potential energy {external}, kinetic energy of the motion as a whole {motion}"))
}

/// Describes the memory that a run needs: that of the host, and of a GPU that takes steps with lists of neighbours.
fn memory(setup: &Setup) -> String {
    let (config, n) = (&setup.config, setup.particles.len());
    let [extra, on_device] = config.integrator.scheme().extra_memory(n as u64, config.subsystems().is_some());
    let host = bytes(MEMORY_BASE + n as u64 * assemble::MEMORY_PER_PARTICLE + extra);
    match assemble::forecast_engine(config, n) {
        Engine::Cuda if on_device > 0 => {
            format!("about {host}, and {} of the GPU for whole steps on it", bytes(on_device))
        }
        _ => format!("about {host}"),
    }
}

/// Describes a system in its own frame: its mass if it is one of several, and what has a meaning for its kind.
fn describe_system(setup: &Setup, own: &OwnFrame, is_one: bool) -> Vec<(String, String)> {
    let units = setup.config.units();
    let value = |x: f64, d: Dimension| with_unit(x * setup.scale.factor(d), d, &units);
    let mut lines: Vec<(&str, String)> = Vec::new();
    if !is_one {
        lines.push(("mass", value(own.mass, Dimension::MASS)));
    }
    let is_cluster = own.kind == Kind::Cluster;
    if is_cluster {
        let radii = [("half-mass radius", own.half_mass_radius), ("virial radius", own.virial_radius())];
        lines.extend(radii.map(|(name, radius)| (name, value(radius, Dimension::LENGTH))));
        lines.extend(setup.tidal_radius(own.mass).map(|radius| {
            let (ratio, radius) = (own.half_mass_radius / radius, value(radius, Dimension::LENGTH));
            let critical = -1.5 * own.mass / setup.tidal_radius(own.mass).unwrap_or(f64::NAN);
            let energy = value(critical, Dimension::POTENTIAL);
            let at_pericentre = setup.tidal_radius_at_pericentre(own.mass).map_or_else(String::new, |radius| {
                let (ratio, radius) = (own.half_mass_radius / radius, value(radius, Dimension::LENGTH));
                format!("; at the pericentre tidal radius {radius}, half-mass radius {ratio:.3} of it")
            });
            (
                "in the galaxy",
                format!(
                    "tidal radius {radius}, half-mass radius {ratio:.3} of it; stars leave with a Jacobi energy above \
                     {energy}{at_pericentre}"
                ),
            )
        }));
    }
    if is_cluster && is_one {
        let times = setup.dissolution_times(own.particles);
        lines.extend(times.map(|times| ("dissolution", dissolution(times, setup))));
    }
    if is_one || own.bodies.len() > 1 {
        let as_one = if own.bodies.len() < own.particles { " (each binary as one body)" } else { "" };
        let digits = if setup.has_estimates() { 3 } else { 6 };
        let ratio = match own.virial_ratio() {
            ratio if ratio.is_finite() => format!("{ratio:.digits$}{as_one}"),
            _ => "not defined".into(),
        };
        lines.push(("virial ratio Q", ratio));
        lines.push(("total energy", value(own.energy(), Dimension::ENERGY) + as_one));
    }
    if is_cluster {
        lines.extend([
            ("crossing time", value(own.crossing_time(), Dimension::TIME)),
            ("relaxation time", value(own.relaxation_time(), Dimension::TIME) + " (half-mass)"),
            ("mean separation", value(own.mean_separation(), Dimension::LENGTH) + " (within the half-mass radius)"),
        ]);
    }
    lines.extend(own.describe_leaving().map(|text| ("leaving", text)));
    let indent = if is_one { "" } else { "  " };
    lines.into_iter().map(|(name, text)| (format!("{indent}{name}"), text)).collect()
}

/// Describes the times in which clusters like this one dissolve in the tide, in internal units: those with W₀ = 5 and 7.
fn dissolution(times: [f64; 2], setup: &Setup) -> String {
    let units = setup.config.units();
    let [flat, steep] = times.map(|t| units.readable(t * setup.scale.factor(Dimension::TIME), Dimension::TIME));
    format!(
        "some {flat} (King model with W0 = 5) or {steep} (W0 = 7) for as many stars that fill the tidal radius and evolve (Baumgardt & \
         Makino 2003)"
    )
}

/// Describes the particles: all of them, and each cluster of a list by itself.
fn describe_particles(setup: &Setup, clusters: &[OwnFrame]) -> Vec<(String, String)> {
    let (p, units) = (&setup.particles, setup.config.units());
    let mass = with_unit(p.total_mass() * setup.scale.mass, Dimension::MASS, &units);
    let mut lines = vec![("particles".to_owned(), p.len().to_string()), ("total mass".to_owned(), mass)];
    for (number, own) in clusters.iter().enumerate() {
        let is_one = clusters.len() == 1;
        if !is_one {
            let particles = setup.clusters[number].particles.len();
            lines.push((format!("cluster {} by itself", number + 1), format!("{particles} particles")));
        }
        lines.extend(describe_system(setup, own, is_one));
    }
    lines.extend(in_the_field(setup).map(|text| ("in the field".to_owned(), text)));
    if setup.has_estimates() {
        let text = format!(
            "Q, energies and what follows from them, from the potentials of {SAMPLE} particles, as there are more than \
             {MAX_SUMMED}; a run sums over all pairs"
        );
        lines.push(("estimates".into(), text));
    }
    lines
}

fn describe(setup: &Setup, found: &Binaries, clusters: &[OwnFrame], wall_time: String) -> String {
    let (config, units, scale) = (&setup.config, setup.config.units(), &setup.scale);
    let [integrator, steps] = config.describe_integrator();
    let snapshots = outputs(setup.steps_to_end, config.snapshot_every());
    let rows = outputs(setup.steps_to_end, config.diagnostics_every());
    let start = setup.clock.start * scale.time;
    let (engine, _) = assemble::forecast(config, setup.particles.len());
    let about = setup.about.iter().map(|(name, value)| (name.as_str(), value.clone()));
    let fields = config.external.iter().map(|field| ("external field", field.description(&units)));
    let derived = setup.derived.iter().enumerate();
    let derived = derived.map(|(line, text)| (if line == 0 { "defaults" } else { "" }, text.clone()));
    let law = config.law_section().map(|law| format!("; law {}", law.describe())).unwrap_or_default();
    let how = [
        ("softening", with_unit(setup.epsilon() * scale.length, Dimension::LENGTH, &units)),
        ("integrator", integrator),
        ("force", format!("{engine}; precision {}{law}", config.force.precision().name())),
        ("steps", format!("{steps} {}", units.time.name)),
    ];
    let outcome = [
        // Without the rounding of its conversion from another unit.
        (
            "time",
            format!(
                "{} to {} {}",
                shortest_decimal(start, 4.0 * f64::EPSILON * start.abs()),
                config.t_end(),
                units.time.name
            ),
        ),
        ("outputs", format!("{snapshots} snapshots, {rows} rows of diagnostics")),
        ("wall time", wall_time),
        ("memory", memory(setup)),
        ("disk", Disk::of(setup, found).describe()),
        ("output", config.output_directory().display().to_string()),
    ];
    let several = assemble::forecast_several(config, setup.particles.len()).map(|it| ("several GPUs", it));
    let mut text = format!("{}: this configuration is valid\n", config.run.name);
    let source = ("initial conditions", setup.source.clone());
    let particles = describe_particles(setup, clusters);
    let particles = particles.iter().map(|(name, text)| (name.as_str(), text.clone()));
    let lines = particles
        .chain(found.describe())
        .chain(stars::describe(setup, found, clusters))
        .chain(how)
        .chain(several)
        .chain(derived)
        .chain(outcome);
    for (name, value) in [source].into_iter().chain(about).chain(fields).chain(orbit::describe(setup)).chain(lines) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_very_long_line_is_broken() {
        let short = "word ".repeat(LONG / 5);
        assert_eq!(broken(short.trim()), format!("{}\n", short.trim()));
        let long = format!("warning: {}", "word ".repeat(LONG / 5)).trim().to_owned();
        let lines = broken(&long);
        assert!(lines.lines().count() > 3 && lines.lines().all(|line| line.chars().count() <= WIDTH), "{lines}");
        assert!(lines.lines().skip(1).all(|line| line.starts_with("  word")), "{lines}");
        assert_eq!(lines.split_whitespace().collect::<Vec<_>>(), long.split(' ').collect::<Vec<_>>());
    }
}
