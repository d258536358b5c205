//! `tisane check`: the plan of a run. What it is, what it does, what it costs, and what is missing or implausible. For many
//! particles, energies and the wall time are estimates.

mod cost;
mod course;
mod disk;
mod doubts;
mod lines;
mod orbit;
mod picture;
mod stars;

pub use disk::disk_per_output;

use super::arguments::ConfigArgs;
use super::screen::print;
use disk::Disk;
use lines::{LONG, Lines, SOURCE, part, with_unit, wrapped};
use std::fmt::Write as _;
use std::path::Path;
use tisane::compensated_sum::sum;
use tisane::diagnostics::cluster::own_frame::{Kind, OwnFrame};
use tisane::diagnostics::conserved::Conserved;
use tisane::error::Result;
use tisane::force::external::ExternalField;
use tisane::spin_pool::on_threads;
use tisane::time::Time;
use tisane::units::Dimension;
use tisane_run::assemble::{self, MAX_SUMMED, SAMPLE, Setup};
use tisane_run::binaries::Binaries;
use tisane_run::config::Config;
use tisane_run::ensemble::Blueprint;
use tisane_run::star_forecast::StarForecast;

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
        let found = setup.binaries()?;
        let clusters = setup.in_own_frames(&found)?;
        let stars = stars::find(&setup);
        let disk = Disk::of(&setup, (&found, &clusters), stars.as_ref(), blueprint.as_ref());
        let (costs, ends_early) = cost::describe(&setup, &disk, blueprint.as_ref())?;
        let mut text = blueprint.as_ref().map(describe_members).unwrap_or_default();
        let _ = writeln!(text, "{}: this configuration is valid", setup.config.run.name);
        let is = describe(&setup, &found, &clusters, stars.as_ref());
        let does = course::describe(&setup, &found, &clusters, blueprint.as_ref());
        for (title, lines) in [("What it is", is), ("What it does", does), ("What it costs", costs)] {
            text += &part(title, &lines);
        }
        let warnings = setup.warnings.iter().cloned().chain(found.warnings());
        let warnings = warnings.chain(doubts::find(&setup, &found, &clusters, &disk)).chain(ends_early);
        let warnings: String = warnings.map(|it| wrapped(&format!("warning: {it}"), "  ", LONG) + "\n").collect();
        if !warnings.is_empty() {
            text += &format!("\nWhat is missing or implausible\n{warnings}");
        }
        if let Some(folder) = plot {
            text += &picture::draw(&setup, &found, &clusters, &folder)?;
        }
        print(&text)
    })
}

/// Describes the members of an ensemble, with their engine.
fn describe_members(blueprint: &Blueprint) -> String {
    let (_, engine) = blueprint.engine(None, blueprint.config.force.device);
    format!("{}  {:<34} {engine}\n", blueprint.describe(), "engine of all")
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

/// Describes a system in its own frame: its mass if it is one of several, and what has a meaning for its kind.
fn describe_system(setup: &Setup, own: &OwnFrame, is_one: bool) -> Lines {
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
    lines.into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
}

/// Describes a cluster in its tide: tidal radius and, for one cluster alone, when others like it dissolve; nothing without a
/// tide.
fn in_the_tide(setup: &Setup, own: &OwnFrame, is_one: bool) -> Lines {
    let units = setup.config.units();
    let value = |x: f64, d: Dimension| with_unit(x * setup.scale.factor(d), d, &units);
    if own.kind != Kind::Cluster {
        return Lines::new();
    }
    let mut lines = Lines::new();
    let tidal = |radius: f64| {
        format!(
            "tidal radius {}, half-mass radius {:.3} of it",
            value(radius, Dimension::LENGTH),
            own.half_mass_radius / radius
        )
    };
    if let Some(radius) = setup.tidal_radius(own.mass) {
        let energy = value(-1.5 * own.mass / radius, Dimension::POTENTIAL);
        let critical = format!("; stars leave with a Jacobi energy above {energy}");
        lines.push(("in the galaxy".into(), tidal(radius) + &critical));
    }
    lines.extend(setup.tidal_radius_at_pericentre(own.mass).map(|radius| ("  at pericentre".into(), tidal(radius))));
    if let Some(times) = setup.dissolution_times(own.particles).filter(|_| is_one) {
        lines.push(("dissolution".into(), dissolution(times, setup)));
    }
    lines
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
fn describe_particles(setup: &Setup, clusters: &[OwnFrame]) -> Lines {
    let (p, units) = (&setup.particles, setup.config.units());
    let mass = with_unit(p.total_mass() * setup.scale.mass, Dimension::MASS, &units);
    let mut lines = vec![("particles".to_owned(), p.len().to_string()), ("total mass".to_owned(), mass)];
    if let [own] = clusters {
        lines.extend(describe_system(setup, own, true));
    } else {
        for (number, own) in clusters.iter().enumerate() {
            let particles = setup.clusters[number].particles.len();
            lines.push((format!("cluster {} by itself", number + 1), format!("{particles} particles")));
            let of_cluster = describe_system(setup, own, false).into_iter().chain(in_the_tide(setup, own, false));
            lines.extend(of_cluster.map(|(name, text)| (format!("  {name}"), text)));
        }
    }
    if setup.has_estimates() {
        let text = format!(
            "Q, energies and what follows from them, from the potentials of {SAMPLE} particles, as there are more than \
             {MAX_SUMMED}; a run sums over all pairs"
        );
        lines.push(("estimates".into(), text));
    }
    lines
}

/// Describes what a configuration is: its particles, their binaries, the galaxy about them, and how they age.
fn describe(setup: &Setup, found: &Binaries, clusters: &[OwnFrame], stars: Option<&StarForecast>) -> Lines {
    let (config, units) = (&setup.config, setup.config.units());
    let owned = |(name, text): (&str, String)| (name.to_owned(), text);
    let mut lines = vec![(SOURCE.to_owned(), setup.source.clone())];
    lines.extend(setup.about.iter().cloned());
    lines.extend(describe_particles(setup, clusters));
    lines.extend(found.describe().into_iter().map(owned));
    lines.extend(config.external.iter().map(|field| owned(("external field", field.description(&units)))));
    lines.extend(orbit::describe(setup).into_iter().map(owned));
    if let [own] = clusters {
        lines.extend(in_the_tide(setup, own, true));
    }
    lines.extend(in_the_field(setup).map(|text| owned(("in the field", text))));
    lines.extend(stars::describe(setup, found, clusters, stars).into_iter().map(owned));
    lines
}
