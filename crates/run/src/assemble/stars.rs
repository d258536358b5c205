//! Stars of a sampled model: masses, pairing into binaries, orbits of binaries.

use super::context::Context;
use super::memory;
use crate::config::{self, Initial, Loaded, Masses, Problem, Sampled};
use std::path::Path;
use tisane::compensated_sum::sum;
use tisane::error::{Error, Result};
use tisane::initial::binaries::{self, Eccentricities, Pairing, PeriodLaw, SemiMajorAxes};
use tisane::initial::eigenevolution::{self, NoOrbit, Sun};
use tisane::initial::kepler::Elements;
use tisane::initial::laws::{self, Curve, Laws};
use tisane::initial::masses::MassFunction;
use tisane::particles::Particles;
use tisane::units::Units;
use tisane::units::digits;
use tisane::units::names::{DAY_CGS, G_CGS, GM_SUN_CGS, R_SUN_CGS};

/// Masses of the stars.
pub(super) struct Stars {
    /// Masses, in the unit of mass.
    pub(super) masses: Vec<f64>,
    /// Sum of the masses.
    pub(super) total: f64,
    /// One solar mass in the unit of mass; in N-body units after the masses were scaled.
    msun: f64,
    /// True if all masses are equal.
    pub(super) equal: bool,
    /// Name of the mass function.
    name: String,
    /// Cumulative distribution that the masses were drawn from; empty if there is none.
    pub(super) law: Curve,
}

/// Systems: binaries first, then single stars.
pub(super) struct Pairs {
    /// Indices of the stars of each binary, the heavier first.
    pub(super) of: Vec<[usize; 2]>,
    /// Mass of each system.
    pub(super) masses: Vec<f64>,
}

/// Orbits of the binaries.
#[derive(Default)]
pub(super) struct Orbits {
    /// Elements of each.
    pub(super) elements: Vec<Elements>,
    /// G (m₁ + m₂) of each at birth.
    mu: Vec<f64>,
    /// Description of their eigenevolution for a summary.
    evolution: Option<String>,
}

/// Draws the masses of the system at the key path `at`.
pub(super) fn draw(at: &str, initial: &Initial, of: &Sampled<'_>, context: &Context<'_>) -> Result<Stars> {
    let (units, henon) = (&context.units, context.units.is_henon());
    let msun = if henon { 1.0 } else { GM_SUN_CGS / G_CGS / units.mass.cgs };
    let n = of.sampling.n.unwrap_or(0) as usize;
    let function = initial.masses.as_ref().map_or(config::MassFunction::Equal, |masses| masses.function);
    let (mut masses, name, function) = match (&initial.masses, function) {
        (Some(written), config::MassFunction::File) => {
            let path = written.path().unwrap_or(Path::new(""));
            (from_file(path, of.sampling.n)?, format!("from {}", path.display()), None)
        }
        (Some(written), _) if function != config::MassFunction::Equal => {
            let (function, name) = law(written);
            let drawn = match of.sampling.mass().filter(|_| of.sampling.n.is_none()) {
                Some(mass) => {
                    let expected = mass / msun / function.mean();
                    memory::check_for(context.loaded, expected as u64, format!("{at}.{}.mass", of.name))?;
                    function.draw_total(mass / msun, of.sampling.seed())
                }
                None => function.draw(n, of.sampling.seed()),
            };
            (drawn.into_iter().map(|m| m * msun).collect(), name, Some(function))
        }
        _ => {
            let mass = of.sampling.mass().unwrap_or(1.0);
            let masses = vec![1.0 / n as f64 * mass; n];
            return Ok(Stars { masses, total: mass, msun, equal: true, name: "equal".into(), law: Curve::new() });
        }
    };
    let drawn = sum(masses.iter().copied());
    let (mut total, mut msun) = (drawn, msun);
    if henon {
        total = of.sampling.mass().unwrap_or(1.0);
        msun = total / drawn;
        masses.iter_mut().for_each(|m| *m *= msun);
    }
    let limits = initial.masses.as_ref().and_then(Masses::limits).unwrap_or_default();
    let law = function.map_or_else(Curve::new, |function| {
        laws::logarithmic(|m| function.cumulative(m / msun), (limits.0 * msun, limits.1 * msun))
    });
    Ok(Stars { masses, total, msun, equal: false, name, law })
}

impl Stars {
    /// Describes the masses for a summary: name and text.
    pub(super) fn describe(&self, units: &Units) -> (String, String) {
        let (n, name, unit) = (self.masses.len(), &self.name, &units.mass.name);
        let min = self.masses.iter().copied().fold(f64::INFINITY, f64::min);
        let max = self.masses.iter().copied().fold(0.0, f64::max);
        let [min, max, mean, total] = [min, max, self.total / n as f64, self.total].map(digits);
        let text = if self.equal {
            format!("{name}, {mean} {unit}")
        } else {
            format!("{name}: {n} from {min} to {max}, mean {mean}, sum {total} {unit}")
        };
        ("masses".into(), text)
    }
}

/// Returns the mass function in solar masses, and its name.
fn law(written: &Masses) -> (MassFunction, String) {
    let (min, max) = written.limits().unwrap_or((1.0, 1.0));
    let named = |name: &str| format!("{name}, {min} to {max} Msun");
    match written.function {
        config::MassFunction::Kroupa => (MassFunction::kroupa(min, max), named("Kroupa (2001)")),
        config::MassFunction::Maschberger => (MassFunction::maschberger(min, max), named("Maschberger (2013)")),
        config::MassFunction::PowerLaw => {
            let slopes: Vec<f64> = written.slopes.iter().map(|slope| slope.get()).collect();
            let breaks = written.breaks.iter().map(|m| m.get());
            let limits: Vec<f64> = std::iter::once(min).chain(breaks).chain([max]).collect();
            (MassFunction::power_law(&slopes, &limits), named(&format!("power law {slopes:?}")))
        }
        _ => (MassFunction::salpeter(min, max), named("Salpeter (1955)")),
    }
}

/// Reads one mass per line; blank lines and lines that start with `#` are skipped.
fn from_file(path: &Path, n: Option<u32>) -> Result<Vec<f64>> {
    let text = config::read_text(path).map_err(|e| e.with_help("expected a text file with one mass a line"))?;
    let mut masses = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match line.parse::<f64>() {
            Ok(mass) if mass > 0.0 && mass.is_finite() => masses.push(mass),
            _ => {
                let problem = format!("line {}: expected one mass above 0, found \"{}\"", number + 1, cut(line));
                return Err(Error::input(path, problem));
            }
        }
    }
    match n {
        _ if masses.is_empty() => Err(Error::input(path, "the file has no masses")),
        Some(n) if n as usize != masses.len() => {
            let problem = format!("it has {} masses, but n = {n}", masses.len());
            Err(Error::input(path, problem).with_help("leave out n to use all masses of the file"))
        }
        _ => Ok(masses),
    }
}

/// Returns the beginning of a line, for a message.
fn cut(line: &str) -> String {
    line.chars().take(40).collect()
}

/// Pairs the stars into binaries.
pub(super) fn pair(written: Option<&config::Binaries>, stars: &Stars, seed: u64) -> Pairs {
    let Some(written) = written else {
        return Pairs { of: vec![], masses: stars.masses.clone() };
    };
    let above = written.pairing_above.get() * stars.msun;
    let pairing = match written.pairing {
        config::Pairing::Random => Pairing::Random,
        config::Pairing::Ordered => Pairing::Ordered(above),
        config::Pairing::UniformRatio => Pairing::UniformRatio(above),
    };
    let number = binaries::count(stars.masses.len(), written.fraction.get());
    let systems = binaries::pair(&stars.masses, number, pairing, seed);
    let of_binaries = systems.binaries.iter().map(|pair| stars.masses[pair[0]] + stars.masses[pair[1]]);
    let masses = of_binaries.chain(systems.singles.iter().map(|&star| stars.masses[star])).collect();
    Pairs { of: systems.binaries, masses }
}

/// Draws the orbit of each binary, in the units of the configuration. With eigenevolution the masses of the secondaries change.
pub(super) fn orbits(
    at: &str,
    written: Option<&config::Binaries>,
    (stars, pairs): (&mut Stars, &mut Pairs),
    seed: u64,
    context: &Context<'_>,
) -> Result<Orbits> {
    let Some(written) = written else { return Ok(Orbits::default()) };
    let (units, g) = (&context.units, context.units.g());
    let (axes, eccentricities) = laws_of(written, units);
    let mu: Vec<f64> = pairs.masses[..pairs.of.len()].iter().map(|mass| g * mass).collect();
    let no_period = || no_period(context.loaded, at, written);
    if !written.eigenevolution {
        let elements = binaries::orbits(&mu, &axes, eccentricities, seed).ok_or_else(no_period)?;
        return Ok(Orbits { elements, mu, evolution: None });
    }
    let sun = Sun { mass: stars.msun, radius: R_SUN_CGS / units.length.cgs };
    let birth: Vec<[f64; 2]> = pairs.of.iter().map(|pair| pair.map(|star| stars.masses[star])).collect();
    let evolved = eigenevolution::orbits(&birth, (&axes, eccentricities), (g, sun), seed);
    let evolved = evolved.map_err(|why| match why {
        NoOrbit::NoPeriod => no_period(),
        NoOrbit::Touching(masses) => always_touching(context.loaded, at, masses.map(|mass| mass / sun.mass)),
    })?;
    let gained = sum(birth.iter().zip(&evolved.masses).map(|(before, after)| after[1] - before[1]));
    let evolution = format!(
        "secondaries gained {} {} ({:.2} %); the eccentricity of {} fell below a tenth; {} drawn anew, whose stars touched",
        digits(gained),
        units.mass.name,
        100.0 * gained / stars.total,
        evolved.circularised,
        evolved.redrawn
    );
    stars.total += gained;
    for ((pair, system), masses) in pairs.of.iter().zip(&mut pairs.masses).zip(evolved.masses) {
        stars.masses[pair[1]] = masses[1];
        *system = masses[0] + masses[1];
    }
    Ok(Orbits { elements: evolved.orbits, mu, evolution: Some(evolution) })
}

/// Returns the distributions of the binaries as curves, over the range of their orbits.
pub(super) fn laws_of_binaries(written: Option<&config::Binaries>, orbits: &Orbits, units: &Units) -> Laws {
    /// Approximate number of masses over which a law that depends on the mass is averaged.
    const MEMBERS: usize = 500;
    let Some(written) = written.filter(|_| !orbits.mu.is_empty()) else { return Laws::default() };
    let (axes, eccentricities) = laws_of(written, units);
    let mu: Vec<f64> = orbits.mu.iter().copied().step_by(orbits.mu.len().div_ceil(MEMBERS)).collect();
    let found = orbits.elements.iter().map(|orbit| orbit.semi_major_axis);
    let range = found.fold((f64::INFINITY, 0.0), |(min, max): (f64, f64), a| (min.min(a), max.max(a)));
    let mean = |a: f64| sum(mu.iter().map(|mu| axes.cumulative(a, *mu))) / mu.len() as f64;
    let e = (0..=100).map(|k| f64::from(k) / 100.0);
    let fixed = matches!(eccentricities, Eccentricities::Fixed(_));
    Laws {
        semi_major_axes: laws::logarithmic(mean, range),
        eccentricities: e.filter(|_| !fixed).map(|e| (e, eccentricities.cumulative(e))).collect(),
        of_birth: written.eigenevolution,
        ..Laws::default()
    }
}

/// Returns the laws of semi-major axes and eccentricities, in the units of the configuration.
fn laws_of(written: &config::Binaries, units: &Units) -> (SemiMajorAxes, Eccentricities) {
    let (min, max) = written.axes();
    let limits = (min.unwrap_or(0.0), max.unwrap_or(f64::INFINITY));
    let periods = |law| SemiMajorAxes::Periods { law, day: DAY_CGS * units.velocity.cgs / units.length.cgs, limits };
    let axes = match written.semi_major_axis {
        config::SemiMajorAxis::Opik => SemiMajorAxes::Opik(limits.0, limits.1),
        config::SemiMajorAxis::Uniform => SemiMajorAxes::Uniform(limits.0, limits.1),
        config::SemiMajorAxis::Kroupa => periods(PeriodLaw::Kroupa),
        config::SemiMajorAxis::DuquennoyMayor => periods(PeriodLaw::DuquennoyMayor),
    };
    (axes, written.eccentricity.law(written.e()))
}

fn no_period(loaded: &Loaded, at: &str, written: &config::Binaries) -> Error {
    let key = if written.axes().1.is_some() { "a_max" } else { "a_min" };
    let problem = "a_min and a_max leave no period to some of the binaries";
    let help = "kroupa: 10 to 10^8.43 days; duquennoy-mayor: 1 to 10^10 days";
    loaded.explain(Problem::new(format!("{at}.binaries.{key}"), problem).with_help(help))
}

/// Returns the error for a binary, with masses in solar masses, whose stars touch on all orbits.
fn always_touching(loaded: &Loaded, at: &str, [m1, m2]: [f64; 2]) -> Error {
    let problem = format!(
        "stars of {} and {} Msun touch on every orbit of these semi-major axes and eccentricities",
        digits(m1),
        digits(m2)
    );
    let help = "a larger a_max or smaller eccentricities leave orbits to all binaries";
    loaded.explain(Problem::new(format!("{at}.binaries.eigenevolution"), problem).with_help(help))
}

/// Expands systems into particles: the stars of the binaries in pairs, the single stars, then any central body.
pub(super) fn expand(systems: &Particles, pairs: &Pairs, stars: &Stars, orbits: &[Elements], g: f64) -> Particles {
    let n = stars.masses.len() + systems.len() - pairs.masses.len();
    let (mut mass, mut pos, mut vel) = (Vec::with_capacity(n), Vec::with_capacity(n), Vec::with_capacity(n));
    for (k, (pair, orbit)) in pairs.of.iter().zip(orbits).enumerate() {
        let masses = pair.map(|star| stars.masses[star]);
        let members = binaries::members(masses, orbit, g, systems.pos[k], systems.vel[k]);
        for (m, (x, v)) in masses.into_iter().zip(members) {
            mass.push(m);
            pos.push(x);
            vel.push(v);
        }
    }
    let from = pairs.of.len();
    mass.extend(&systems.mass[from..]);
    pos.extend(&systems.pos[from..]);
    vel.extend(&systems.vel[from..]);
    Particles::new(mass, pos, vel)
}

/// Describes number, sizes and eigenevolution of the binaries, and counts the hard ones: bound by more than the mean kT of the
/// systems, ⅔ of their mean kinetic energy (Heggie 1975, MNRAS 173, 729).
pub(super) fn describe_binaries(
    systems: &Particles,
    pairs: &Pairs,
    stars: &Stars,
    orbits: &Orbits,
    units: &Units,
) -> Vec<(String, String)> {
    let mut axes: Vec<f64> = orbits.elements.iter().map(|orbit| orbit.semi_major_axis).collect();
    axes.sort_by(f64::total_cmp);
    let (Some(min), Some(max)) = (axes.first(), axes.last()) else { return vec![] };
    let terms = systems.mass.iter().zip(&systems.vel);
    let kinetic = 0.5 * sum(terms.map(|(m, v)| m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2])));
    let kt = 2.0 / 3.0 * kinetic / pairs.masses.len() as f64;
    let energy = |(pair, orbit): (&[usize; 2], &Elements)| {
        units.g() * stars.masses[pair[0]] * stars.masses[pair[1]] / (2.0 * orbit.semi_major_axis)
    };
    let hard = pairs.of.iter().zip(&orbits.elements).filter(|binary| energy(*binary) > kt).count();
    let (n, of, unit) = (axes.len(), pairs.masses.len(), &units.length.name);
    let text = format!(
        "{n} of {of} systems; semi-major axes {} to {}, median {} {unit}; {hard} hard (above kT)",
        digits(*min),
        digits(*max),
        digits(axes[n / 2])
    );
    let evolution = orbits.evolution.iter().map(|text| ("eigenevolution".into(), text.clone()));
    std::iter::once(("binaries".into(), text)).chain(evolution).collect()
}
