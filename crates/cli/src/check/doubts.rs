//! Warnings of `tisane check` about input that is allowed but implausible.

use super::disk::Disk;
use tisane::diagnostics::cluster::own_frame::{Kind, OwnFrame};
use tisane::pair::Body;
use tisane::units::Dimension;
use tisane_io::directory::{bytes, free_space};
use tisane_io::fields::TideColumns;
use tisane_run::assemble::{self, Setup};
use tisane_run::binaries::Binaries;

/// Virial ratios that need no word.
const PLAIN: std::ops::RangeInclusive<f64> = 0.25..=0.75;
/// Share of the mass, or of the potential energy, above which one body, or one pair, makes the virial ratio.
const DOMINANT: f64 = 0.5;

/// Returns the warnings; `clusters` are those of a list, each in its own frame, or the one system.
pub fn find(setup: &Setup, found: &Binaries, clusters: &[OwnFrame], disk: &Disk) -> Vec<String> {
    let own = clusters.iter().enumerate().filter_map(|(number, own)| {
        let text = of_tidal_radius(setup, own).or_else(|| of_virial_ratio(setup, found, own))?;
        Some(if clusters.len() > 1 { format!("cluster {}: {text}", number + 1) } else { text })
    });
    let (_, of_engine) = assemble::forecast(&setup.config, setup.particles.len());
    let of_scheme = setup.config.integrator.scheme().doubt(setup.config.force.precision());
    own.chain(of_scales(setup, clusters, disk)).chain(of_scheme).chain(of_engine).collect()
}

/// Returns a warning of a cluster that its tide tears apart.
fn of_tidal_radius(setup: &Setup, own: &OwnFrame) -> Option<String> {
    let now = setup.tidal_radius(own.mass);
    let at_pericentre = setup.tidal_radius_at_pericentre(own.mass);
    let places = [(now, "the tidal radius"), (at_pericentre, "the tidal radius at the pericentre")];
    let too_small = |radius: &f64| *radius < own.half_mass_radius;
    let (radius, name) = places.into_iter().find_map(|(radius, name)| Some((radius.filter(too_small)?, name)))?;
    let value = |x: f64| setup.config.units().readable(x * setup.scale.length, Dimension::LENGTH);
    Some(format!(
        "half of the mass is beyond {name}, {} against {}: the galaxy tears the cluster apart; are position, velocity and \
         radii in the units that [units] says?",
        value(own.half_mass_radius),
        value(radius)
    ))
}

/// Returns a warning of a virial ratio that says that the system is not as it may be meant; [`None`] where it says nothing: in an
/// external field and by another law, of two bodies, about a heavy one, and with a pair that holds most of the energy.
fn of_virial_ratio(setup: &Setup, found: &Binaries, own: &OwnFrame) -> Option<String> {
    let is_tide = setup.config.tide_columns() != TideColumns::None;
    let isolated = (setup.config.external.is_empty() || is_tide) && setup.law.is_none();
    let q = own.virial_ratio();
    if !isolated || own.bodies.len() < 3 || !q.is_finite() {
        return None;
    }
    let makes_sense = match own.kind {
        Kind::Cluster => true,
        Kind::Orbits => false,
        Kind::Few => !is_dominated(own, setup.epsilon()),
    };
    // Where nothing is bound to anything, the units may be wrong in any system.
    if q >= 1.0 && (makes_sense || found.orbits.is_empty()) {
        let ask = "are velocities and masses in the units that [units] says?";
        return Some(format!("the system is not bound (Q = {q:.4}): {ask}"));
    }
    let far = format!("the virial ratio Q = {q:.4} is far from 0.5: the system will first");
    match q {
        _ if !makes_sense || PLAIN.contains(&q) => None,
        0.0 => Some(format!("{far} collapse")),
        q if q < *PLAIN.start() => Some(format!("{far} collapse, or is the unit of velocity or mass wrong?")),
        _ => Some(format!("{far} expand")),
    }
}

/// Returns true if one of a few bodies has most of the mass, or one pair most of the potential energy: the virial ratio then is
/// the phase of an orbit.
fn is_dominated(own: &OwnFrame, epsilon: f64) -> bool {
    let pair = |a: &Body, b: &Body| a.mass * b.mass / (a.pos - b.pos).norm().hypot(epsilon);
    let each = own.bodies.iter().enumerate();
    let pairs = each.flat_map(|(k, a)| own.bodies[..k].iter().map(move |b| pair(a, b)));
    let heaviest = own.bodies.iter().map(|body| body.mass).fold(0.0, f64::max);
    heaviest > DOMINANT * own.mass || pairs.fold(0.0, f64::max) > DOMINANT * own.potential.abs()
}

/// Returns warnings of steps, softening, length and disk that do not go with the scales of the system.
fn of_scales(setup: &Setup, clusters: &[OwnFrame], disk: &Disk) -> impl Iterator<Item = String> {
    let (config, n, epsilon) = (&setup.config, setup.particles.len(), setup.epsilon());
    let of_clusters = || clusters.iter().filter(|own| own.kind == Kind::Cluster);
    let min = |of: fn(&OwnFrame) -> f64| of_clusters().map(of).fold(f64::INFINITY, f64::min);
    let crossing_time = min(OwnFrame::crossing_time);
    let span = setup.clock.dt_max * setup.steps_to_end as f64;
    let needed = disk.min();
    let free = free_space(&config.output_directory()).unwrap_or(u64::MAX);
    let scheme = config.integrator.info();
    let (step, shared) = (scheme.dt_max_key, config.integrator.scheme().shared_step());
    let speed = |own: &OwnFrame| if own.mass > 0.0 { (2.0 * own.kinetic / own.mass).sqrt() } else { 0.0 };
    let crossed = setup.clock.dt_max * clusters.iter().map(speed).fold(0.0, f64::max);
    let relaxation_time = min(OwnFrame::relaxation_time);
    let by_blocks = config.integrator.scheme().block_steps().is_some();
    let newtonian = setup.law.is_none() && of_clusters().next().is_some();
    let interval = config.diagnostics_every() as f64 * setup.clock.dt_max;
    let doubts = [
        (
            epsilon == 0.0 && by_blocks && newtonian && config.subsystems().is_none(),
            "neither softening nor [encounters]: close pairs are integrated step by step, and one binary that forms can take most \
             of the time, or end the run at dt_min"
                .into(),
        ),
        (
            relaxation_time.is_finite() && interval > relaxation_time,
            "the rows of diagnostics are farther apart than the relaxation time: they do not show how the cluster evolves; set a \
             shorter output.interval"
                .into(),
        ),
        (
            epsilon > min(OwnFrame::mean_separation),
            "the softening is longer than the mean separation: the system is smoothed out".into(),
        ),
        (
            (shared.is_some() || by_blocks)
                && setup.clock.dt_max > crossing_time / 2.0,
            format!("{step} is longer than half a crossing time: the slowest particles are badly resolved"),
        ),
        (
            shared.is_some() && n > 10 && crossed > epsilon,
            format!(
                "within one step of {} a particle of typical velocity crosses the softening length: expect large \
                 energy errors from close encounters",
                scheme.title
            ),
        ),
        (needed > free, format!("the run takes about {}, but only {} are free", bytes(needed), bytes(free))),
        (
            crossing_time.is_finite() && span < crossing_time / 10.0,
            "the run is shorter than a tenth of a crossing time: is t_end in the units that [units] says?".into(),
        ),
    ];
    doubts.into_iter().filter(|(doubtful, _)| *doubtful).map(|(_, text)| text)
}
