//! Validation of the section `[initial]`.

use crate::config::bounds::{above, at_least, required};
use crate::config::document::{item_path, join};
use crate::config::error::Problem;
use crate::config::initial::{
    Binaries, BinarySingle, Eccentricity, Encounter, FileModel, Initial, MassFunction, Masses, Model, Sampled,
    SemiMajorAxis, TwoBody,
};
use tisane::units::Real;

/// Adds every mistake in the values of `[initial]`; `physical` is true with units by name.
pub(super) fn initial(model: &Initial, physical: bool, found: &mut Vec<Problem>) {
    one("initial", model, physical, found);
}

/// Checks the system at the key path `at`.
fn one(at: &str, initial: &Initial, physical: bool, found: &mut Vec<Problem>) {
    match &initial.model {
        Model::Plummer(m) => share(at, "plummer", m.mass_fraction, found),
        Model::Hernquist(m) => share(at, "hernquist", m.mass_fraction, found),
        Model::King(m) => within(format!("{at}.king.w0"), m.w0, 0.1, 12.0, found),
        Model::Eff(m) => {
            let section = format!("{at}.eff");
            if !(m.outer_slope.get() > 1.0 && m.outer_slope.get() <= 10.0) {
                let problem = format!("expected a number above 1 and at most 10, found {}", m.outer_slope);
                found.push(Problem::new(format!("{section}.outer_slope"), problem));
            }
            from_to_below(format!("{section}.inner_slope"), m.inner_slope, 1.0, found);
            within(format!("{section}.sharpness"), m.sharpness, 0.5, 10.0, found);
            within(format!("{section}.cut_off"), m.cut_off, 1.0, 1e4, found);
        }
        Model::Fractal(m) => within(format!("{at}.fractal.dimension"), m.dimension, 1.0, 3.0, found),
        Model::UniformSphere(_) => {}
        Model::Clusters(clusters) => {
            let list = format!("{at}.clusters");
            if at != "initial" {
                found.push(Problem::new(&list, "a cluster cannot be a list of clusters"));
            } else if clusters.is_empty() {
                found.push(Problem::new(&list, "expected at least one [[initial.clusters]], found an empty list"));
            } else {
                for (number, cluster) in clusters.iter().enumerate() {
                    one(&item_path(&list, number), &cluster.initial, physical, found);
                }
            }
        }
        Model::TwoBody(m) => two_body(at, m, physical, found),
        Model::BinarySingle(m) => binary_single(at, m, physical, found),
        Model::File(m) => file(at, m, found),
        Model::Elements(m) => {
            let key = |name: &str| format!("{at}.elements.{name}");
            if m.path.is_empty() {
                found.push(Problem::new(key("path"), "expected a path, found empty text"));
            }
            above(found, key("central_mass"), Some(m.central_mass), 0.0);
            above(found, key("distance"), m.distance, 0.0);
            if m.distance.is_some() && !physical {
                let problem = "a distance in pc needs units by name, in [units]";
                let help = "for example mass = \"Msun\", length = \"au\", time = \"yr\"";
                found.push(Problem::new(key("distance"), problem).with_help(help));
            }
        }
        Model::FigureEight {} if physical => found.push(needs_henon(at, "figure-eight")),
        Model::Pythagorean {} if physical => found.push(needs_henon(at, "pythagorean")),
        Model::FigureEight {} | Model::Pythagorean {} => {}
        Model::SolarSystem {} if !physical => {
            let problem = "this model has a size: units by name are needed, in [units]";
            let help = "for example mass = \"Msun\", length = \"au\", time = \"yr\"";
            found.push(Problem::new(format!("{at}.solar-system"), problem).with_help(help));
        }
        Model::SolarSystem {} | Model::Memory {} => {}
    }
    match initial.model.sampled() {
        Some(sampled) => {
            sizes(at, initial, &sampled, physical, found);
            population(at, initial, physical, found);
        }
        None => not_sampled(at, initial, found),
    }
    orbit(at, initial, found);
}

fn file(at: &str, file: &FileModel, found: &mut Vec<Problem>) {
    if file.path.is_empty() {
        found.push(Problem::new(format!("{at}.file.path"), "expected a path, found empty text"));
    }
    let Some(datasets) = &file.datasets else { return };
    let key = format!("{at}.file.datasets");
    if let Some(format) = file.format.name() {
        let problem = format!("datasets are named for HDF5 of any layout: the format \"{format}\" has its own");
        found.push(Problem::new(&key, problem).against(format!("{at}.file.format")));
    }
    found.extend(datasets.mistakes().into_iter().map(|(name, problem)| Problem::new(format!("{key}.{name}"), problem)));
}

fn needs_henon(at: &str, model: &str) -> Problem {
    let problem = "this model is defined for G = 1: expected system = \"henon\" in [units]";
    Problem::new(format!("{at}.{model}"), problem).against("units")
}

fn share(at: &str, model: &str, share: Real, found: &mut Vec<Problem>) {
    if !(share.get() > 0.0 && share.get() <= 1.0) {
        let problem = format!("expected a number above 0 and at most 1, found {share}");
        found.push(Problem::new(format!("{at}.{model}.mass_fraction"), problem));
    }
}

fn within(key: String, value: Real, min: f64, max: f64, found: &mut Vec<Problem>) {
    if !(min..=max).contains(&value.get()) {
        found.push(Problem::new(key, format!("expected a number from {min} to {max}, found {value}")));
    }
}

fn from_to_below(key: String, value: Real, bound: f64, found: &mut Vec<Problem>) {
    if !(0.0..bound).contains(&value.get()) {
        found.push(Problem::new(key, format!("expected a number from 0 to below {bound}, found {value}")));
    }
}

/// Checks number, mass, radius and virial ratio of a sampled model.
fn sizes(at: &str, initial: &Initial, sampled: &Sampled<'_>, physical: bool, found: &mut Vec<Problem>) {
    let (section, of) = (join(at, sampled.name), sampled.sampling);
    above(found, format!("{section}.mass"), of.mass, 0.0);
    let radii = sampled.radii();
    for (key, value) in &radii {
        above(found, format!("{section}.{key}"), *value, 0.0);
    }
    if let Some(ratio) = of.virial_ratio {
        from_to_below(format!("{section}.virial_ratio"), ratio, 1.0, found);
    }
    let mut given = radii.iter().filter(|(_, value)| value.is_some()).map(|(key, _)| *key);
    match (given.next(), given.next()) {
        (Some(first), Some(second)) => {
            let problem = "two radii at once: expected only one";
            found.push(Problem::new(format!("{section}.{second}"), problem).against(format!("{section}.{first}")));
        }
        (None, _) if physical => {
            let first = radii.last().map_or("virial_radius", |(key, _)| key);
            let others: Vec<_> = radii.iter().map(|(key, _)| format!("`{key}`")).collect();
            let problem = format!("missing key `{first}` in [{section}]: it has a default in N-body units only");
            let help = format!("exactly one of {} gives the size", others.join(", "));
            found.push(Problem::new(format!("{section}.{first}"), problem).with_help(help));
        }
        _ => {}
    }
    number_and_mass(&section, initial.masses.as_ref(), sampled, physical, found);
}

/// Checks that number and mass are consistent: with a mass function, one follows from the other.
fn number_and_mass(
    section: &str,
    masses: Option<&Masses>,
    sampled: &Sampled<'_>,
    physical: bool,
    found: &mut Vec<Problem>,
) {
    let of = sampled.sampling;
    let function = masses.map_or(MassFunction::Equal, |masses| masses.function);
    let from_file = function == MassFunction::File;
    let absolute = physical && function != MassFunction::Equal;
    let [n, mass] = ["n", "mass"].map(|key| format!("{section}.{key}"));
    if of.n.is_none() && !from_file && !(absolute && of.mass.is_some()) {
        let problem = format!("missing key `n` in [{section}]: number of particles");
        let problem = Problem::new(n, problem);
        found.push(if absolute {
            problem.with_help("or `mass`: stars are drawn until it is reached")
        } else {
            problem
        });
    } else if absolute && of.mass.is_some() && (of.n.is_some() || from_file) {
        let problem = "with a mass function, the number of stars determines the mass";
        let problem = Problem::new(mass, problem);
        found.push(if from_file { problem } else { problem.against(n) });
    } else if physical && !absolute {
        required(found, section, &[("mass", of.mass)]);
    }
}

fn population(at: &str, initial: &Initial, physical: bool, found: &mut Vec<Problem>) {
    if let Some(masses) = &initial.masses {
        mass_function(&format!("{at}.masses"), masses, found);
    }
    if let Some(binaries) = &initial.binaries {
        pairs(&format!("{at}.binaries"), binaries, physical, found);
    }
    if let Some(segregation) = &initial.segregation {
        within(format!("{at}.segregation.degree"), segregation.degree, 0.0, 1.0, found);
    }
    if let Some(rotation) = &initial.rotation {
        within(format!("{at}.rotation.flip"), rotation.flip, 0.0, 1.0, found);
        from_to_below(format!("{at}.rotation.solid_body"), rotation.solid_body, 1.0, found);
    }
    above(found, format!("{at}.central.mass"), initial.central.as_ref().map(|central| central.mass), 0.0);
}

fn mass_function(section: &str, masses: &Masses, found: &mut Vec<Problem>) {
    let power_law = masses.function == MassFunction::PowerLaw;
    let key = |key: &str| format!("{section}.{key}");
    let unused = |key_name: &str, with: &str| {
        Problem::new(key(key_name), format!("not used: expected only with function = \"{with}\""))
            .against(key("function"))
    };
    if !power_law && !masses.slopes.is_empty() {
        found.push(unused("slopes", "power-law"));
    }
    if !power_law && !masses.breaks.is_empty() {
        found.push(unused("breaks", "power-law"));
    }
    match (&masses.path, masses.function == MassFunction::File) {
        (Some(_), false) => found.push(unused("path", "file")),
        (None, true) => found.push(missing(section, "path", "text file with one mass a line")),
        (Some(path), true) if path.is_empty() => {
            found.push(Problem::new(key("path"), "expected a path, found empty text"));
        }
        _ => {}
    }
    let Some((min, max)) = masses.limits() else {
        for (name, value) in [("m_min", masses.m_min), ("m_max", masses.m_max)] {
            if value.is_some() {
                let problem = "not used: this function has no limits";
                found.push(Problem::new(key(name), problem).against(key("function")));
            }
        }
        return;
    };
    if power_law {
        power_law_keys(section, masses, found);
    }
    above(found, key("m_min"), masses.m_min, 0.0);
    let kroupa = masses.function == MassFunction::Kroupa;
    if kroupa && masses.m_min.is_some() {
        at_least(found, key("m_min"), masses.m_min.filter(|m| m.get() > 0.0), 0.01);
    }
    let both = !power_law || (masses.m_min.is_some() && masses.m_max.is_some());
    if both && max <= min {
        let (wrong, other) = if masses.m_max.is_some() { ("m_max", "above") } else { ("m_min", "below") };
        let (value, bound) = if wrong == "m_max" { (max, min) } else { (min, max) };
        found.push(Problem::new(key(wrong), format!("expected a number {other} {bound}, found {value}")));
    }
}

fn missing(section: &str, key: &str, meaning: &str) -> Problem {
    Problem::new(format!("{section}.{key}"), format!("missing key `{key}` in [{section}]: {meaning}"))
}

fn power_law_keys(section: &str, masses: &Masses, found: &mut Vec<Problem>) {
    let (slopes, breaks) = (&masses.slopes, &masses.breaks);
    if slopes.is_empty() {
        found.push(missing(section, "slopes", "the a of dN/dm ~ m^(-a), one or more"));
    }
    if masses.m_min.is_none() {
        found.push(missing(section, "m_min", "smallest mass in Msun"));
    }
    if masses.m_max.is_none() {
        found.push(missing(section, "m_max", "largest mass in Msun"));
    }
    if let Some(wild) = slopes.iter().find(|slope| slope.get().abs() > 20.0) {
        found.push(Problem::new(format!("{section}.slopes"), format!("expected slopes from -20 to 20, found {wild}")));
    }
    let key = format!("{section}.breaks");
    if !slopes.is_empty() && breaks.len() + 1 != slopes.len() {
        let expected = slopes.len() - 1;
        let problem = format!("expected {expected}, one fewer than slopes, found {}", breaks.len());
        found.push(Problem::new(key, problem).against(format!("{section}.slopes")));
        return;
    }
    let limits = [masses.m_min.as_ref(), masses.m_max.as_ref()];
    let all: Vec<f64> = limits[0].into_iter().chain(breaks).chain(limits[1]).map(|m| m.get()).collect();
    if !breaks.is_empty() && all.windows(2).any(|pair| pair[1] <= pair[0]) {
        found.push(Problem::new(key, format!("expected ascending masses between m_min and m_max, found {all:?}")));
    }
}

fn pairs(section: &str, binaries: &Binaries, physical: bool, found: &mut Vec<Problem>) {
    let key = |key: &str| format!("{section}.{key}");
    within(key("fraction"), binaries.fraction, 0.0, 1.0, found);
    at_least(found, key("pairing_above"), Some(binaries.pairing_above), 0.0);
    let axes = [("a_min", binaries.a_min), ("a_max", binaries.a_max)];
    for (name, value) in axes {
        above(found, key(name), value, 0.0);
    }
    if let (Some(min), Some(max)) = (binaries.a_min, binaries.a_max)
        && max < min
    {
        let problem = format!("expected at least a_min = {min}, found {max}");
        found.push(Problem::new(key("a_max"), problem));
    }
    match binaries.semi_major_axis {
        SemiMajorAxis::Opik | SemiMajorAxis::Uniform => {
            for (name, _) in axes.iter().filter(|(_, value)| value.is_none()) {
                found.push(missing(section, name, "a limit of the semi-major axes; unit: length"));
            }
        }
        SemiMajorAxis::Kroupa | SemiMajorAxis::DuquennoyMayor if !physical => {
            let problem = "periods in days need units by name, in [units]";
            let help = "in N-body units: \"opik\" or \"uniform\" with a_min and a_max";
            found.push(Problem::new(key("semi_major_axis"), problem).with_help(help));
        }
        SemiMajorAxis::Kroupa | SemiMajorAxis::DuquennoyMayor => {}
    }
    eccentricity(section, binaries.eccentricity, binaries.e, found);
    if binaries.eigenevolution && !physical {
        let problem = "tides depend on distances in solar radii: units by name are needed, in [units]";
        let help = "for example mass = \"Msun\", length = \"pc\", velocity = \"km/s\"";
        found.push(Problem::new(key("eigenevolution"), problem).with_help(help));
    }
}

/// Checks that the key `e` of a section is given if its eccentricity is fixed, and only then.
fn eccentricity(section: &str, law: Eccentricity, e: Option<Real>, found: &mut Vec<Problem>) {
    let key = |key: &str| format!("{section}.{key}");
    match (law == Eccentricity::Fixed, e) {
        (true, None) => found.push(missing(section, "e", "the eccentricity of all binaries")),
        (true, Some(e)) => from_to_below(key("e"), e, 1.0, found),
        (false, Some(_)) => {
            let problem = "not used: expected only with eccentricity = \"fixed\"";
            found.push(Problem::new(key("e"), problem).against(key("eccentricity")));
        }
        (false, None) => {}
    }
}

/// Refuses sections that are valid with sampled models only.
fn not_sampled(at: &str, initial: &Initial, found: &mut Vec<Problem>) {
    for (name, given) in [
        ("masses", initial.masses.is_some()),
        ("binaries", initial.binaries.is_some()),
        ("segregation", initial.segregation.is_some()),
        ("rotation", initial.rotation.is_some()),
        ("central", initial.central.is_some()),
    ] {
        if given {
            let problem = "only valid with a model that is drawn at random";
            let problem = Problem::new(join(at, name), problem);
            let list = matches!(initial.model, Model::Clusters(_));
            found.push(if list {
                problem.with_help(format!("write [initial.clusters.{name}] below the cluster it belongs to"))
            } else {
                problem
            });
        }
    }
}

fn orbit(at: &str, initial: &Initial, found: &mut Vec<Problem>) {
    let Some(orbit) = &initial.orbit else { return };
    let section = join(at, "orbit");
    let Model::Clusters(clusters) = &initial.model else {
        return found.push(Problem::new(section, "only valid with two [[initial.clusters]]"));
    };
    if clusters.len() != 2 {
        let problem = format!("expected two [[initial.clusters]], found {}", clusters.len());
        found.push(Problem::new(&section, problem));
    }
    for (number, cluster) in clusters.iter().enumerate() {
        let place = item_path(&format!("{at}.clusters"), number);
        for (key, given) in [("position", cluster.position.is_some()), ("velocity", cluster.velocity.is_some())] {
            if given {
                let problem = "the orbit gives positions and velocities of the clusters: expected only one of the two";
                found.push(Problem::new(join(&place, key), problem).against(&section));
            }
        }
    }
    orbit_keys(&section, orbit, found);
}

fn orbit_keys(section: &str, orbit: &Encounter, found: &mut Vec<Problem>) {
    let before = found.len();
    above(found, format!("{section}.pericentre"), Some(orbit.pericentre), 0.0);
    at_least(found, format!("{section}.eccentricity"), Some(orbit.eccentricity), 0.0);
    if found.len() > before {
        return;
    }
    let (q, e, d) = (orbit.pericentre.get(), orbit.eccentricity.get(), orbit.separation.get());
    let far = if e < 1.0 { q * (1.0 + e) / (1.0 - e) } else { f64::INFINITY };
    if d < q || d > far {
        let to = if far.is_finite() { format!(" to the apocentre {far}") } else { " on".to_owned() };
        let problem = format!("expected a distance from the pericentre {q}{to}, found {d}");
        found.push(Problem::new(format!("{section}.separation"), problem));
    }
}

fn two_body(at: &str, model: &TwoBody, physical: bool, found: &mut Vec<Problem>) {
    let section = format!("{at}.two-body");
    let sizes = [("m1", model.m1), ("m2", model.m2), ("semi_major_axis", model.semi_major_axis)];
    for (key, value) in sizes {
        above(found, format!("{section}.{key}"), value, 0.0);
    }
    if physical {
        required(found, &section, &sizes);
    }
    from_to_below(format!("{section}.eccentricity"), model.eccentricity, 1.0, found);
}

fn binary_single(at: &str, model: &BinarySingle, physical: bool, found: &mut Vec<Problem>) {
    let section = format!("{at}.binary-single");
    let sizes = [("m1", model.m1), ("m2", model.m2), ("m3", model.m3), ("semi_major_axis", model.semi_major_axis)];
    let others = [("velocity", Some(model.velocity)), ("impact_parameter", model.impact_parameter)];
    for (key, value) in sizes.into_iter().chain(others) {
        above(found, format!("{section}.{key}"), value, 0.0);
    }
    if physical {
        required(found, &section, &sizes);
    }
    eccentricity(&section, model.eccentricity, model.e, found);
    let tolerance = model.tidal_tolerance;
    if !(tolerance.get() > 0.0 && tolerance.get() < 1.0) {
        let problem = format!("expected a number above 0 and below 1, found {tolerance}");
        let help = "1e-5 starts an equal-mass encounter at 67 semi-major axes, 1e-3 at 14";
        found.push(Problem::new(format!("{section}.tidal_tolerance"), problem).with_help(help));
    }
}
