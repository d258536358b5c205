//! Pictures of `tisane check --plot`: the initial conditions of each cluster beside the laws that it is drawn from.

use std::path::Path;
use tisane::diagnostics::cluster::own_frame::OwnFrame;
use tisane::diagnostics::orbit::Orbit;
use tisane::error::Result;
use tisane::initial::Cluster;
use tisane::initial::scaling;
use tisane::particles::{Particles, Vec3};
use tisane_plot::Theme;
use tisane_plot::initial::{Sample, figure};
use tisane_run::assemble::Setup;
use tisane_run::binaries::{Binaries, Kind};

/// Draws the initial conditions, a picture for each cluster of a list; returns the lines that name the files.
pub fn draw(setup: &Setup, found: &Binaries, clusters: &[OwnFrame], folder: &Path) -> Result<String> {
    let mut lines = String::new();
    for (number, (cluster, own)) in setup.clusters.iter().zip(clusters).enumerate() {
        let name = &setup.config.run.name;
        let (title, file) = match clusters.len() {
            1 => (name.clone(), format!("{name}-initial")),
            _ => (format!("{name}, cluster {}", number + 1), format!("{name}-initial-{}", number + 1)),
        };
        let Some(drawn) = draw_one(setup, found, (cluster, own), title) else { continue };
        let paths = drawn.write(&folder.join(file), &Theme::ALL)?;
        lines.extend(paths.iter().map(|path| format!("  {:<20} {}\n", "picture", path.display())));
    }
    Ok(if lines.is_empty() { "  no picture: too few particles\n".into() } else { lines })
}

fn draw_one(
    setup: &Setup,
    found: &Binaries,
    (cluster, own): (&Cluster, &OwnFrame),
    title: String,
) -> Option<tisane_plot::Figure> {
    let (laws, scale, p) = (&cluster.laws, &setup.scale, &setup.particles);
    // A law has the centre of its model, where the density centre of a sample has an error of its own.
    let centre = if laws.enclosed.is_empty() { own.centre } else { laws.centre / scale.length };
    let mut bodies = bodies(p, cluster, own, centre);
    scaling::rescale(&mut bodies, scale.mass, scale.length, scale.velocity);
    let orbits = setup.binaries.iter().filter(|&&i| cluster.particles.contains(&i)).map(|&i| {
        let between = |of: &[Vec3]| of[i + 1] - of[i];
        Orbit::from_state(between(&p.pos), between(&p.vel), p.mass[i] + p.mass[i + 1])
    });
    let sampled: Vec<(f64, f64)> =
        orbits.map(|orbit| (orbit.semi_major_axis * scale.length, orbit.eccentricity)).collect();
    // Particles of a list are numbered in its order.
    let is_here = |id: &u64| setup.clusters.len() == 1 || cluster.particles.contains(&(*id as usize));
    let pairs = found.orbits.iter().filter(|orbit| orbit.ids.iter().all(is_here));
    let pairs: Vec<(f64, f64)> =
        pairs.map(|orbit| (orbit.pair.semi_major_axis * scale.length, orbit.pair.eccentricity)).collect();
    let (axes, eccentricities): (Vec<f64>, Vec<f64>) =
        if cluster.is_sampled { &sampled } else { &pairs }.iter().copied().unzip();
    let mut masses: Vec<f64> = p.mass[cluster.particles.clone()].iter().map(|mass| mass * scale.mass).collect();
    masses.truncate(masses.len() - usize::from(laws.central.is_some()));
    figure(&Sample {
        title,
        caption: cluster.source.clone(),
        units: setup.config.units(),
        systems: &bodies,
        central: laws.central.unwrap_or(0.0),
        enclosed: &laws.enclosed,
        jeans: laws.jeans,
        masses: (&masses, &laws.masses),
        softening: setup.config.softening.epsilon.get(),
        pairs: &pairs,
        pairs_title: if found.kind == Kind::Cluster { "Binaries of at least 1 kT" } else { "Orbits" },
        semi_major_axes: (&axes, &laws.semi_major_axes),
        eccentricities: (&eccentricities, &laws.eccentricities),
        of_birth: laws.of_birth,
    })
}

/// Returns the bodies of a cluster without a central one, relative to a centre and to their mean velocity, in internal units.
fn bodies(p: &Particles, cluster: &Cluster, own: &OwnFrame, centre: Vec3) -> Particles {
    let mut bodies = own.bodies.clone();
    if let Some(last) = cluster.laws.central.and(cluster.particles.clone().next_back()) {
        // A star may be counted as one body with it.
        let distance = |k: &usize| (own.bodies[*k].pos - p.pos[last]).norm();
        let holds = |k: &usize| own.bodies[*k].mass >= p.mass[last] * (1.0 - 1e-12);
        let central = (0..bodies.len()).filter(holds).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        if let Some(k) = central {
            bodies.remove(k);
        }
    }
    Particles::new(
        bodies.iter().map(|body| body.mass).collect(),
        bodies.iter().map(|body| body.pos - centre).collect(),
        bodies.iter().map(|body| body.vel - own.velocity).collect(),
    )
}
