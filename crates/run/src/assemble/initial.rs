//! Particles of the section `[initial]`: one model, or several in a list.

use super::context::Context;
use super::{particle_file, sampled};
use crate::config::{self, Encounter, Initial, Loaded, Model, Problem};
use std::f64::consts::TAU;
use tisane::error::{Error, Result};
use tisane::initial::binary_single::Encounters;
use tisane::initial::kepler::Elements;
use tisane::initial::laws::Laws;
use tisane::initial::{self, InitialState, scaling};
use tisane::particles::{NamedColumn, Particles, Vec3};
use tisane::units::Units;
use tisane::units::digits;
use tisane::units::names::{AU_CGS, G_CGS, GM_SUN_CGS};
use tisane_io::elements::{self, ElementUnits, Phase};

/// Returns the particles of a configuration in its units.
pub(super) fn state(loaded: &Loaded, warnings: &mut Vec<String>) -> Result<InitialState> {
    let units = loaded.config.units();
    one("initial", &loaded.config.initial, &mut Context { loaded, units, warnings })
}

/// Returns the system at the key path `at`.
fn one(at: &str, initial: &Initial, context: &mut Context<'_>) -> Result<InitialState> {
    let g = context.units.g();
    let fixed = |particles: Particles, source: &str| InitialState::new(particles, source);
    Ok(match &initial.model {
        Model::Clusters(clusters) => several(at, clusters, initial.orbit.as_ref(), context)?,
        Model::File(file) => particle_file::read(at, file, context)?,
        Model::Elements(table) => on_orbits(table, context)?,
        Model::TwoBody(two) => {
            let at_pericentre = two.start == config::Apsis::Pericentre;
            let (a, e) = (two.semi_major_axis(), two.eccentricity.get());
            fixed(initial::two_body::orbit(two.m1(), two.m2(), a, e, at_pericentre, g), "two bodies")
        }
        Model::BinarySingle(model) => binary_single(model, context),
        Model::FigureEight {} => fixed(initial::figure_eight::orbit(), "figure-eight (Chenciner & Montgomery 2000)"),
        Model::Pythagorean {} => fixed(initial::pythagorean::triangle(), "Pythagorean problem (Burrau 1913)"),
        Model::Memory {} => {
            let problem = "these particles were in the memory of a program that used the library: no file has them";
            let help = "write them to a file and name it in [initial.file], or choose a model";
            return Err(context.loaded.explain(Problem::new(format!("{at}.memory"), problem).with_help(help)));
        }
        Model::SolarSystem {} => fixed(solar_system(&context.units), "Sun and planets at J2000 (Standish, JPL)"),
        Model::Plummer(_)
        | Model::King(_)
        | Model::Hernquist(_)
        | Model::Eff(_)
        | Model::UniformSphere(_)
        | Model::Fractal(_) => sampled::state(at, initial, context)?,
    })
}

/// Returns the Sun and the planets, whose elements are in au and solar masses.
fn solar_system(units: &Units) -> Particles {
    let (msun, au) = (GM_SUN_CGS / G_CGS / units.mass.cgs, AU_CGS / units.length.cgs);
    let mut planets = initial::solar_system::planets(units.g() * msun / au);
    scaling::rescale(&mut planets, msun, au, 1.0);
    planets
}

/// Returns the encounter of a binary with a single star.
fn binary_single(model: &config::BinarySingle, context: &Context<'_>) -> InitialState {
    let (units, masses, semi_major_axis) = (&context.units, model.masses(), model.semi_major_axis());
    let encounters = Encounters {
        masses,
        semi_major_axis,
        eccentricities: model.eccentricities(),
        velocity: model.velocity.get(),
        impact_parameter: model.impact_parameter(),
        tidal_tolerance: model.tidal_tolerance.get(),
    };
    let drawn = encounters.draw(model.seed(), units.g());
    let (length, velocity) = (&units.length.name, &units.velocity.name);
    let period =
        TAU * (semi_major_axis.powi(3) / (units.g() * (masses[0] + masses[1]))).sqrt() * units.dynamical_time();
    let about = [
        ("critical velocity", format!("{:.6} {velocity}", encounters.critical_velocity(units.g()))),
        ("velocity at infinity", format!("{:.6} {velocity}", drawn.velocity)),
        ("largest impact parameter", format!("{:.6} {length}", encounters.impact_parameter * semi_major_axis)),
        ("impact parameter", format!("{:.6} {length}", drawn.impact_parameter)),
        ("distance at the start", format!("{:.6} {length}", drawn.separation)),
        ("eccentricity of the binary", format!("{:.6}", drawn.eccentricity)),
        ("period of the binary", format!("{period:.6} {}", units.time.name)),
    ];
    let source = format!("binary-single encounter, seed {}", model.seed());
    InitialState {
        about: about.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        binaries: vec![0],
        ..InitialState::new(drawn.particles, &source)
    }
}

/// Returns several systems as one, each moved to its position and velocity, with consecutive ids.
fn several(
    at: &str,
    clusters: &[config::Cluster],
    orbit: Option<&Encounter>,
    context: &mut Context<'_>,
) -> Result<InitialState> {
    let mut parts = Vec::with_capacity(clusters.len());
    for (number, cluster) in clusters.iter().enumerate() {
        parts.push(one(&format!("{at}.clusters[{}]", number + 1), &cluster.initial, context)?);
    }
    warn_of_equal_seeds(clusters, context.warnings);
    let aged = parts.iter().filter(|part| !part.particles.stars.is_empty()).count();
    if aged > 0 && aged < parts.len() && context.loaded.config.stellar_evolution.is_some() {
        let problem = "stars of some of the clusters have aged already, those of others not";
        let help = "give all of them as snapshots of runs with [stellar_evolution], or all at birth, with ages in a column `age`";
        return Err(Error::input(format!("{at}.clusters"), problem).with_help(help));
    }
    let places = match orbit {
        Some(orbit) => on_encounter(orbit, &parts, context.units.g()),
        None => clusters.iter().map(|cluster| (cluster.position().into(), cluster.velocity().into())).collect(),
    };
    let count = format!("{} cluster{}", parts.len(), if parts.len() == 1 { "" } else { "s" });
    let mut whole = InitialState::new(Particles::default(), &count);
    for (number, (part, (pos, vel))) in parts.into_iter().zip(places).enumerate() {
        let before = whole.particles.len();
        whole.clusters.push(initial::Cluster {
            particles: before..before + part.particles.len(),
            source: part.source.clone(),
            laws: Laws { centre: part.laws.centre + pos, ..part.laws },
            is_sampled: clusters[number].initial.model.sampled().is_some(),
        });
        whole.binaries.extend(part.binaries.iter().map(|first| first + before));
        whole.about.push((format!("cluster {}", number + 1), part.source));
        let (length, velocity) = (&context.units.length.name, &context.units.velocity.name);
        whole
            .about
            .push(("  place".into(), format!("{} {length}, {} {velocity}", format_vector(pos), format_vector(vel))));
        whole.about.extend(part.about.into_iter().map(|(name, value)| (format!("  {name}"), value)));
        append(&mut whole.particles, part.particles, pos, vel);
    }
    Ok(whole)
}

fn format_vector(v: Vec3) -> String {
    format!("({}, {}, {})", digits(v[0]), digits(v[1]), digits(v[2]))
}

/// Warns of two clusters of the same model with the same seed, which are copies of each other.
fn warn_of_equal_seeds(clusters: &[config::Cluster], warnings: &mut Vec<String>) {
    let seed = |of: &config::Cluster| of.initial.model.sampled().map(|sampled| (sampled.name, sampled.sampling.seed()));
    for (second, cluster) in clusters.iter().enumerate() {
        if let Some(drawn) = seed(cluster)
            && let Some(first) = clusters[..second].iter().position(|other| seed(other) == Some(drawn))
        {
            let (model, seed) = drawn;
            let (first, second) = (first + 1, second + 1);
            warnings.push(format!("clusters {first} and {second} are {model} samples of the same seed {seed}"));
        }
    }
}

/// Returns the positions and velocities of two clusters about their common centre of mass.
fn on_encounter(orbit: &Encounter, parts: &[InitialState], g: f64) -> Vec<(Vec3, Vec3)> {
    let [m1, m2] = [0, 1].map(|part: usize| parts[part].particles.total_mass());
    let (q, e, d) = (orbit.pericentre.get(), orbit.eccentricity.get(), orbit.separation.get());
    let (x, v) = initial::encounter::approach(q, e, d, g * (m1 + m2));
    let share = |of: f64| (of * x, of * v);
    vec![share(-m2 / (m1 + m2)), share(m1 / (m1 + m2))]
}

/// Returns bodies on the orbits of a table, at the start time of the run.
fn on_orbits(written: &config::Elements, context: &Context<'_>) -> Result<InitialState> {
    let (path, units) = (written.path(), &context.units);
    let table = elements::read(path)?;
    let ElementUnits { angle, length, time, mass } = table.units;
    let wrong = |problem: String| Error::input(path, problem);
    if units.is_henon() && (length.is_some() || time.is_some() || mass.is_some()) {
        return Err(wrong("the table has units, and [units] has none to convert them to".into()));
    }
    let axis_unit = match (written.distance, length) {
        // One arc second at one parsec is one au.
        (Some(distance), None) => distance.get() * AU_CGS / units.length.cgs,
        (Some(_), Some(_)) => {
            return Err(wrong("its semi-major axes are lengths: initial.elements.distance has no use".into()));
        }
        (None, _) if angle => {
            return Err(wrong("its semi-major axes are angles: missing key initial.elements.distance, in pc".into()));
        }
        (None, length) => length.map_or(1.0, |cm| cm / units.length.cgs),
    };
    let central = written.central_mass.get();
    let n = table.semi_major_axis.len();
    let of_mass = mass.map_or(1.0, |grams| grams / units.mass.cgs);
    let masses = if table.mass.is_empty() { vec![0.0; n] } else { table.mass.iter().map(|m| m * of_mass).collect() };
    let start = context.loaded.config.t_start().unwrap_or(0.0);
    let body = |k: usize| -> Result<Elements> {
        let (a, e) = (table.semi_major_axis[k] * axis_unit, table.eccentricity[k]);
        if !(a > 0.0 && (0.0..1.0).contains(&e)) {
            let problem =
                format!("row {}: expected an ellipse, found the semi-major axis {a}, eccentricity {e}", k + 1);
            return Err(wrong(problem));
        }
        if masses[k] < 0.0 {
            return Err(wrong(format!("row {}: expected a mass of at least 0, found {}", k + 1, masses[k])));
        }
        let motion = (units.g() * (central + masses[k]) / a.powi(3)).sqrt();
        let mean_anomaly = match &table.phase {
            Phase::MeanAnomaly(degrees) => degrees[k].to_radians(),
            Phase::TimeOfPericentre(times) => {
                let since = start - times[k] * time.map_or(1.0, |seconds| seconds / units.time.cgs);
                motion * (since / units.dynamical_time())
            }
        };
        Ok(Elements {
            semi_major_axis: a,
            eccentricity: e,
            inclination: table.inclination[k].to_radians(),
            node: table.node[k].to_radians(),
            pericentre: table.pericentre[k].to_radians(),
            mean_anomaly: mean_anomaly.rem_euclid(TAU),
        })
    };
    let bodies = (0..n).map(body).collect::<Result<Vec<_>>>()?;
    let source = format!("{n} bodies on orbits, {}", path.display());
    Ok(InitialState::new(initial::orbiting::orbits(central, &bodies, &masses, units.g()), &source))
}

/// Appends particles shifted by a position and a velocity, with the ids that follow. Columns that only some have are NaN for others.
fn append(whole: &mut Particles, part: Particles, pos: Vec3, vel: Vec3) {
    let moved = |column: Vec<Vec3>, by: Vec3| column.into_iter().map(move |v| v + by);
    let (mut mass, mut all_pos, mut all_vel) =
        (std::mem::take(&mut whole.mass), std::mem::take(&mut whole.pos), std::mem::take(&mut whole.vel));
    all_pos.extend(moved(part.pos, pos));
    all_vel.extend(moved(part.vel, vel));
    // Radii of some of them are none of all.
    let had = whole.radius.len() == mass.len();
    let radii = had && part.radius.len() == part.mass.len();
    let radius = if radii { [&whole.radius[..], &part.radius].concat() } else { Vec::new() };
    // So are stars that have aged already; those of a file have other ids here.
    let aged = whole.stars.len() == mass.len() && part.stars.len() == part.mass.len();
    let stars = if aged { [&whole.stars[..], &part.stars].concat() } else { Vec::new() };
    let (before, all) = (mass.len(), mass.len() + part.mass.len());
    let mut columns = std::mem::take(&mut whole.columns);
    columns.iter_mut().for_each(|column| column.values.resize(all, f64::NAN));
    for NamedColumn { name, values } in part.columns {
        match columns.iter_mut().find(|column| column.name == name) {
            Some(column) => column.values[before..].copy_from_slice(&values),
            None => columns.push(NamedColumn { name, values: [vec![f64::NAN; before], values].concat() }),
        }
    }
    let mut close = std::mem::take(&mut whole.close);
    // Relative states stay as they are where all stars move together.
    close.extend(part.close.into_iter().map(|mut close| {
        close.rows.iter_mut().for_each(|row| *row += mass.len());
        close
    }));
    mass.extend(part.mass);
    *whole = Particles { radius, close, columns, stars, ..Particles::new(mass, all_pos, all_vel) };
}
