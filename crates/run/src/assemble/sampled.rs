//! Sampled models: masses, pairs and their orbits, systems, segregation, rotation, a central body, scale, in this order.

use super::context::Context;
use super::potentials::{energy, potentials_for};
use super::stars::{self, Pairs, Stars};
use crate::config::{Initial, Model, Rotation, Sampled, Size, TIDAL_FILLING};
use tisane::diagnostics::structure::{lagrangian_radius, radii};
use tisane::error::Result;
use tisane::initial::eff::{Eff, Slopes};
use tisane::initial::king::King;
use tisane::initial::laws::{self, Curve, Laws};
use tisane::initial::{
    InitialState, central_body, fractal, hernquist, plummer, rotation, scaling, segregation, uniform_sphere,
};
use tisane::particles::{Particles, Vec3};
use tisane::units::digits;
use tisane::units::{Dimension, Units};

/// Name, lengths and profile of a model, in its own unit of length.
struct Shape {
    /// Name with the parameters.
    name: String,
    /// Lengths of the model: key, name for display, value.
    lengths: Vec<(&'static str, &'static str, f64)>,
    /// Share of the mass of the sample within a radius, if there is a formula. It exceeds 1 beyond the cut-off of a
    /// model.
    enclosed: Option<Box<dyn Fn(f64) -> f64>>,
    /// True if velocities are isotropic and solve Jeans' equation.
    jeans: bool,
}

/// Samples the model at the key path `at`, in the units of the configuration.
pub(super) fn state(at: &str, initial: &Initial, context: &mut Context<'_>) -> Result<InitialState> {
    let Some(of) = initial.model.sampled() else { return Ok(InitialState::default()) };
    let seed = of.sampling.seed();
    let mut stars = stars::draw(at, initial, &of, context)?;
    let mut pairs = stars::pair(initial.binaries.as_ref(), &stars, seed);
    // Before all that depends on masses, which eigenevolution changes.
    let orbits = stars::orbits(at, initial.binaries.as_ref(), (&mut stars, &mut pairs), seed, context)?;
    let (mut p, shape) = systems(initial, &of, &stars, &pairs);
    let body = initial.central.as_ref().map(|central| central.mass.get());
    let share = body.map(|body| body / stars.total);
    let centre = motion(&mut p, initial.rotation.as_ref(), share, seed);
    let size = match (of.sampling.tidal_filling, of.size()) {
        (None, Some(size)) => size,
        (filling, _) => {
            let key = format!("{at}.{}.{TIDAL_FILLING}", of.name);
            let radius = context.tidal_radius(&key, filling, stars.total + body.unwrap_or(0.0))?;
            if matches!(initial.model, Model::King(_)) {
                Size::Own("tidal_radius", radius)
            } else {
                Size::HalfMass(radius)
            }
        }
    };
    let scale = scale(&mut p, (&of, size), &shape, share, context)?;

    let (units, length) = (&context.units, scale.particles);
    scaling::rescale(&mut p, stars.total, length, (units.g() * stars.total / length).sqrt());
    // Restore the masses, free of the rounding of shares.
    p.mass.iter_mut().zip(&pairs.masses).for_each(|(to, mass)| *to = *mass);
    if let (Some(to), Some(body)) = (p.mass.last_mut(), body) {
        *to = body;
    }
    let mut about = describe(initial, &p, &shape, scale.model, &context.units);
    about.splice(shape.lengths.len()..shape.lengths.len(), [stars.describe(&context.units)]);
    about.extend(stars::describe_binaries(&p, &pairs, &stars, &orbits, &context.units));
    let source = format!("{}, N = {}, seed {seed}", shape.name, stars.masses.len() + usize::from(body.is_some()));
    let particles = stars::expand(&p, &pairs, &stars, &orbits.elements, context.units.g());
    let binaries = (0..pairs.of.len()).map(|k| 2 * k).collect();
    // Reversing velocities (flip) keeps Jeans' equation; rotation as a solid body does not.
    let turning = initial.rotation.as_ref().is_some_and(|rotation| rotation.solid_body.get() > 0.0);
    let laws = Laws {
        enclosed: enclosed(&p, &shape, scale.model, stars.total),
        jeans: shape.jeans.then(|| 2.0 * of.virial_ratio()).filter(|_| !turning),
        centre: centre.map(|x| x * scale.model),
        central: body,
        masses: stars.law,
        ..stars::laws_of_binaries(initial.binaries.as_ref(), &orbits, &context.units)
    };
    Ok(InitialState { about, binaries, laws, ..InitialState::new(particles, &source) })
}

/// Returns the mass within a radius by the formula of the model, from the smallest radius of the sample to 1000 times
/// the largest.
fn enclosed(p: &Particles, shape: &Shape, unit: f64, mass: f64) -> Curve {
    const HALO: f64 = 1e3;
    let Some(enclosed) = &shape.enclosed else { return Curve::new() };
    let mut radii = radii(p, Vec3::zeros());
    radii.retain(|r| *r > 0.0);
    let (min, max) = radii.iter().fold((f64::INFINITY, 0.0), |(min, max), r| (r.min(min), r.max(max)));
    laws::logarithmic(|r| mass * enclosed(r / unit), (min, HALO * max))
}

/// Describes the model for a summary: its lengths in units of `unit`, segregation, rotation, a central body.
fn describe(initial: &Initial, p: &Particles, shape: &Shape, unit: f64, units: &Units) -> Vec<(String, String)> {
    let in_length = |x: f64| format!("{} {}", digits(x), units.length.name);
    let lengths = shape.lengths.iter().map(|(_, name, length)| ((*name).into(), in_length(length * unit)));
    let mut about: Vec<(String, String)> = lengths.collect();
    if let Some(segregation) = &initial.segregation {
        about.push(("mass segregation".into(), format!("degree S = {}", segregation.degree)));
    }
    if let Some(rotation) = &initial.rotation {
        let (flip, solid) = (rotation.flip, rotation.solid_body);
        let omega = rotation::angular_velocity(p);
        let rate =
            format!("{} {}", digits(omega), units.label(Dimension { velocity: 1, length: -1, ..Dimension::NONE }));
        about.push(("rotation".into(), format!("flip {flip}, solid body {solid}; Lz/Iz = {rate}")));
    }
    if let Some(central) = &initial.central {
        about.push(("central body".into(), format!("{} {}", digits(central.mass.get()), units.mass.name)));
    }
    about
}

/// Samples the centres of mass of the systems, relative to the centre of the model, with masses as shares of the total,
/// in the unit of length of the model, with G = M = 1.
fn systems(initial: &Initial, of: &Sampled<'_>, stars: &Stars, pairs: &Pairs) -> (Particles, Shape) {
    let degree = initial.segregation.as_ref().map_or(0.0, |segregation| segregation.degree.get());
    let (seed, moving) = (of.sampling.seed(), of.virial_ratio() > 0.0);
    if degree == 0.0 {
        let (mut p, shape) = sample(&initial.model, pairs.masses.len(), seed, moving);
        if !(stars.equal && pairs.of.is_empty()) {
            p.mass = pairs.masses.iter().map(|mass| mass / stars.total).collect();
        }
        return (p, shape);
    }
    let (orbits, shape) = sample(&initial.model, segregation::orbits(&pairs.masses), seed, moving);
    let chosen = segregation::assign(&pairs.masses, &orbits, degree, seed);
    let mass = pairs.masses.iter().map(|mass| mass / stars.total).collect();
    let column = |of: &[Vec3]| chosen.iter().map(|&orbit| of[orbit]).collect();
    (Particles::new(mass, column(&orbits.pos), column(&orbits.vel)), shape)
}

/// Samples `n` equal masses from the model.
fn sample(model: &Model, n: usize, seed: u64, moving: bool) -> (Particles, Shape) {
    type Formula = Option<Box<dyn Fn(f64) -> f64>>;
    let shape = |name: String, lengths: &[(&'static str, &'static str, f64)], enclosed: Formula| {
        let jeans = enclosed.is_some();
        Shape { name, lengths: lengths.to_vec(), enclosed, jeans }
    };
    match model {
        Model::King(king) => {
            let w0 = king.w0.get();
            let model = King::new(w0);
            let name = format!("King model, W0 = {w0}, c = log10(rt/rc) = {:.4}", model.concentration());
            let rt = model.tidal_radius();
            let lengths = [("core_radius", "core radius", 1.0), ("tidal_radius", "edge of the model", rt)];
            (model.sample(n, seed), shape(name, &lengths, Some(Box::new(move |r| model.enclosed(r)))))
        }
        Model::Hernquist(model) => {
            let share = model.mass_fraction.get();
            let lengths = [("scale_radius", "scale radius", 1.0)];
            let enclosed = move |r: f64| (r / (1.0 + r)).powi(2) / share;
            let name = format!("Hernquist model, {share} of its mass");
            (hernquist::sample(n, seed, share), shape(name, &lengths, Some(Box::new(enclosed))))
        }
        Model::Eff(model) => {
            let (outer, inner) = (model.outer_slope.get(), model.inner_slope.get());
            let slopes = Slopes { outer, inner, sharpness: model.sharpness.get() };
            let cut_off = model.cut_off.get();
            let name = if inner == 0.0 && slopes.sharpness == 2.0 {
                format!("EFF profile, gamma = {outer}")
            } else {
                format!("Nuker profile, slopes {inner} and {outer}, sharpness {}", slopes.sharpness)
            };
            let lengths = [("scale_radius", "scale radius", 1.0), ("cut_off", "cut-off radius", cut_off)];
            let model = Eff::new(slopes, cut_off);
            (model.sample(n, seed), shape(name, &lengths, Some(Box::new(move |r| model.enclosed(r)))))
        }
        Model::UniformSphere(_) => {
            let p = uniform_sphere::sample(n, seed, moving);
            let enclosed = |r: f64| r.powi(3).min(1.0);
            let shape = shape("uniform sphere".into(), &[("radius", "radius", 1.0)], Some(Box::new(enclosed)));
            (p, Shape { jeans: false, ..shape })
        }
        Model::Fractal(model) => {
            let dimension = model.dimension.get();
            let name = format!("fractal of dimension {dimension}");
            (fractal::sample(n, seed, dimension), shape(name, &[("radius", "radius of the sphere", 1.0)], None))
        }
        Model::Plummer(model) => {
            let share = model.mass_fraction.get();
            let lengths = [("scale_radius", "scale radius", plummer::STRUCTURAL_LENGTH)];
            let enclosed = move |r: f64| (1.0 + (plummer::STRUCTURAL_LENGTH / r).powi(2)).powf(-1.5) / share;
            (plummer::sample(n, seed, share), shape("Plummer sphere".into(), &lengths, Some(Box::new(enclosed))))
        }
        _ => (Particles::default(), shape(String::new(), &[], None)),
    }
}

/// Adds the central body (`body`: its mass as a share of that of the stars) at rest in the centre of density of the
/// model, applies rotation, and moves the centre of mass to rest at the origin. Returns the new position of the centre
/// of the model.
fn motion(p: &mut Particles, rotation: Option<&Rotation>, body: Option<f64>, seed: u64) -> Vec3 {
    if let Some(body) = body {
        central_body::raise_dispersions(p, body);
    }
    if let Some(rotation) = rotation {
        rotation::flip(p, rotation.flip.get(), seed);
    }
    if let Some(body) = body {
        let and_centre = |column: &[Vec3]| column.iter().copied().chain([Vec3::zeros()]).collect();
        let mass = p.mass.iter().copied().chain([body]).collect();
        *p = Particles::new(mass, and_centre(&p.pos), and_centre(&p.vel));
    }
    let before = p.pos.first().copied().unwrap_or_default();
    scaling::to_centre_of_mass(p);
    let after = p.pos.first().copied().unwrap_or_default();
    if let Some(share) = rotation.map(|rotation| rotation.solid_body.get()).filter(|share| *share > 0.0) {
        rotation::solid_body(p, share);
    }
    after - before
}

/// Factors by which scaling multiplies lengths.
struct Scaled {
    /// Factor for the particles as scaled.
    particles: f64,
    /// Factor for the model.
    model: f64,
}

/// Brings the sample, with its central body of the share `body` of the stars' mass, to the radius that is given and to
/// its virial ratio.
fn scale(
    p: &mut Particles,
    (of, size): (&Sampled<'_>, Size),
    shape: &Shape,
    body: Option<f64>,
    context: &mut Context<'_>,
) -> Result<Scaled> {
    let (ratio, total) = (of.virial_ratio(), 1.0 + body.unwrap_or(0.0));
    let own = |key: &str| shape.lengths.iter().find(|(name, ..)| *name == key).map_or(1.0, |(.., length)| *length);
    if let (Size::Own(key, length), true) = (size, ratio == 0.0) {
        p.vel.fill(Vec3::zeros());
        return Ok(Scaled { particles: length.get() / own(key), model: length.get() / own(key) });
    }
    let potential = energy(p, &potentials_for(p, 0.0, &context.loaded.config.force, context.loaded.estimates)?);
    let (scaled, particles, stretched) = match size {
        // r_v = G M²/(2 |U|) becomes 1.
        Size::Virial(length) => {
            let target = 0.5 * total * total;
            let done = scaling::to_virial(p, potential, ratio, -(1.0 - ratio) * target);
            (done, length.get(), if done { -potential / target } else { 1.0 })
        }
        Size::HalfMass(length) => {
            let half = half_mass_radius(p, body.is_some());
            let half = if half > 0.0 { half } else { 1.0 };
            scaling::rescale(p, 1.0, 1.0 / half, 1.0);
            (scaling::to_virial_ratio(p, potential * half, ratio), length.get(), 1.0 / half)
        }
        Size::Own(key, length) => (scaling::to_virial_ratio(p, potential, ratio), length.get() / own(key), 1.0),
    };
    if !scaled && p.len() > 1 {
        context.warnings.push(format!("the sample of {} could not be brought to its virial ratio", of.name));
    }
    Ok(Scaled { particles, model: stretched * particles })
}

/// Returns the half-mass radius of the stars; a central body (`body`) is the last particle and is left out.
fn half_mass_radius(p: &Particles, body: bool) -> f64 {
    let n = p.len() - usize::from(body);
    let stars = Particles::new(p.mass[..n].to_vec(), p.pos[..n].to_vec(), p.vel[..n].to_vec());
    lagrangian_radius(&stars, Vec3::zeros(), 0.5)
}
