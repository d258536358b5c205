//! Figures of a run's snapshots: the cluster from three sides, and its profiles at the first and the last one.

use super::figure::{Axis, Figure, Heat, Mark, Panel, Series};
use super::gallery::{Gallery, caption, diagnostics, name};
use super::quantity::quantity;
use super::shells::{FEW, Shell, shells};
use std::path::Path;
use tisane::density::core;
use tisane::diagnostics::cluster::Stars;
use tisane::diagnostics::cluster::systems::{self, Hardness, Systems};
use tisane::error::Result;
use tisane::force::external::guide::OrbitState;
use tisane::nearest::Neighbours;
use tisane::particles::{Particles, Vec3};
use tisane::units::{Dimension, twelve_digits};
use tisane_io::directory;
use tisane_io::file_units::FileUnits;
use tisane_io::snapshot;
use tisane_io::stellar_columns::StarState;

/// Neighbours for the density, the default of `cluster.neighbours`.
const NEIGHBOURS: usize = 6;
/// Least binding energy, in kT, of a binary that counts as one body: the default of `cluster.binary_hardness`.
const HARDNESS: f64 = 1.0;
/// The planes of the projections: indices of the horizontal and the vertical axis, and the names of the axes.
const PLANES: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];
const AXES: [&str; 3] = ["x", "y", "z"];
/// The view holds this share of the particles, and some room around.
const SHARE: f64 = 0.95;
const ROOM: f64 = 1.1;
/// Cells along a side of a projection, at least and at most.
const CELLS: (usize, usize) = (40, 120);

/// A snapshot, ready to be drawn.
pub(super) struct Look {
    pub time: f64,
    pub units: FileUnits,
    /// In internal units.
    pub stars: Stars,
    /// Binaries from 1 kT, and the bound particles.
    pub systems: Systems,
    /// SHA-256 of the file's values.
    pub content: String,
    /// SHA-256 of the particles that the run began with; empty where the file does not tell.
    pub start: String,
    /// Density centre, in the user's units.
    pub centre: Vec3,
    /// Place and velocity of a moving origin of coordinates in the external fields, in the user's units.
    pub orbit: Option<OrbitState>,
    /// Stars that age, one a particle; empty where they do not.
    pub aging: Vec<StarState>,
}

/// The first and the last snapshot of a run that are whole.
pub(super) struct Ends {
    pub first: Look,
    /// None where there is but one.
    pub last: Option<Look>,
}

impl Ends {
    /// Returns the last one.
    pub fn newest(&self) -> &Look {
        self.last.as_ref().unwrap_or(&self.first)
    }
}

impl Look {
    /// Reads a snapshot and finds its centre.
    ///
    /// # Errors
    /// As [`snapshot::read`].
    pub fn read(path: &Path) -> Result<Self> {
        let data = snapshot::read(path)?;
        let scale = data.units.scale;
        let floats = |column: Vec<f64>, d| column.into_iter().map(|x| x / scale.factor(d)).collect();
        let vectors = |column: Vec<Vec3>, d| column.into_iter().map(|v| v / scale.factor(d)).collect();
        let stars = Stars {
            id: data.id,
            mass: floats(data.mass, Dimension::MASS),
            pos: vectors(data.pos, Dimension::LENGTH),
            vel: vectors(data.vel, Dimension::VELOCITY),
            pot: floats(data.pot, Dimension::POTENTIAL),
            states: data.stars.iter().map(|star| star.state).collect(),
            followed: Vec::new(),
        };
        let neighbours = Neighbours::new(&stars.id, &stars.pos, NEIGHBOURS);
        let systems = systems::find(&stars, &neighbours, 0.0, Hardness::at_least(HARDNESS));
        let centre = core(&stars.mass, &stars.pos, &neighbours, &systems.bound.is_bound).centre * scale.length;
        Ok(Self {
            time: data.time,
            units: data.units,
            stars,
            systems,
            content: data.content_sha256,
            start: data.provenance.initial_sha256,
            centre,
            orbit: data.orbit,
            aging: data.stars,
        })
    }

    /// Returns true for a snapshot whose stars age.
    pub fn is_aging(&self) -> bool {
        !self.aging.is_empty()
    }

    /// Returns the time with its unit, as a label.
    pub fn time_label(&self) -> String {
        let unit = if self.units.units.is_henon() { "" } else { &self.units.units.time.name };
        format!("t = {} {unit}", twelve_digits(self.time)).trim_end().to_owned()
    }

    /// Single stars and binaries, each as one body, in the user's units, with velocities relative to the mean of the
    /// bound particles.
    fn bodies(&self) -> Particles {
        let (systems, scale) = (&self.systems, &self.units.scale);
        let (mut mass, mut pos, mut vel) = (Vec::new(), Vec::new(), Vec::new());
        for &at in &systems.outermost {
            let body = systems.body(&self.stars, at);
            mass.push(body.mass * scale.mass);
            pos.push(body.pos * scale.length);
            vel.push((body.vel - systems.bound.velocity) * scale.velocity);
        }
        Particles::new(mass, pos, vel)
    }
}

/// Adds the figures of the snapshots; names damaged ones and takes the next. Returns the first and the last one.
pub(super) fn add(dir: &Path, gallery: &mut Gallery) -> Option<Ends> {
    let ends = match ends(dir, &mut gallery.damaged) {
        Ok(ends) => ends,
        Err(why) => {
            gallery.add("projections", Err(why.clone()));
            gallery.add("profiles", Err(why));
            return None;
        }
    };
    let caption = diagnostics(dir).map(|table| caption(&table)).unwrap_or_default();
    gallery.add("projections", Ok(projections(ends.newest(), name(dir), caption.clone())));
    let looks: Vec<&Look> = [Some(&ends.first), ends.last.as_ref()].into_iter().flatten().collect();
    gallery.add("profiles", profiles(&looks, name(dir), caption));
    Some(ends)
}

/// Reads the first and the last snapshot that are whole.
fn ends(dir: &Path, damaged: &mut Vec<String>) -> Result<Ends, String> {
    // A path as advice would be that of the directory, which the user gave.
    let paths = directory::snapshots(dir).map_err(|_| "no snapshots".to_owned())?;
    let (mut taken, mut first) = (0, None);
    for path in &paths {
        taken += 1;
        match Look::read(path) {
            Ok(look) => {
                first = Some(look);
                break;
            }
            Err(why) => damaged.push(why.to_string()),
        }
    }
    let first = first.ok_or("no snapshot is whole")?;
    for path in paths[taken..].iter().rev() {
        match Look::read(path) {
            Ok(look) => return Ok(Ends { first, last: Some(look) }),
            Err(why) => damaged.push(why.to_string()),
        }
    }
    Ok(Ends { first, last: None })
}

/// Half the side of a square around the centre that holds most particles.
fn extent(look: &Look) -> f64 {
    let length = look.units.scale.length;
    let distance = |x: &Vec3| (x * length - look.centre).norm();
    let mut far: Vec<f64> = look.stars.pos.iter().map(distance).filter(|r| r.is_finite()).collect();
    far.sort_unstable_by(f64::total_cmp);
    let held = ((SHARE * far.len() as f64).ceil() as usize).clamp(1, far.len().max(1));
    let radius = far.get(held - 1).copied().unwrap_or(0.0);
    if radius > 0.0 { ROOM * radius } else { 1.0 }
}

/// Surface density from three sides.
fn projections(look: &Look, title: String, caption: String) -> Figure {
    let half = extent(look);
    let panels = PLANES.map(|plane| projection(look, plane, half));
    let title = format!("{title}, {}", look.time_label());
    Figure { title, caption, panels: panels.to_vec(), columns: 3 }
}

fn projection(look: &Look, (u, v): (usize, usize), half: f64) -> Panel {
    let (units, scale) = (&look.units.units, &look.units.scale);
    let cells = ((2.0 * (look.stars.len() as f64).sqrt()) as usize).clamp(CELLS.0, CELLS.1);
    let side = 2.0 * half / cells as f64;
    let mut values = vec![0.0; cells * cells];
    let mut outside = 0;
    for (m, x) in look.stars.mass.iter().zip(&look.stars.pos) {
        let place = |k: usize| ((x[k] * scale.length - look.centre[k] + half) / side).floor();
        let (column, row) = (place(u), place(v));
        let inside = |place: f64| place >= 0.0 && place < cells as f64;
        if inside(column) && inside(row) {
            values[row as usize * cells + column as usize] += m * scale.mass / side.powi(2);
        } else {
            outside += 1;
        }
    }
    let edges = |k: usize| -> Vec<f64> { (0..=cells).map(|i| look.centre[k] - half + i as f64 * side).collect() };
    let axis = |k: usize| Axis {
        range: Some((look.centre[k] - half, look.centre[k] + half)),
        ..Axis::linear(quantity(units, AXES[k], Dimension::LENGTH))
    };
    let surface = Dimension { mass: 1, length: -2, ..Dimension::NONE };
    let heat = Heat { label: quantity(units, "surface density", surface), x: edges(u), y: edges(v), values };
    let mut panel = Panel::new(format!("{}–{}", AXES[u], AXES[v]), axis(u), axis(v));
    let centre = Series {
        colour: Some(1),
        ..Series::new("density centre", Mark::Points, vec![(look.centre[u], look.centre[v])])
    };
    panel.series.push(centre);
    (panel.heat, panel.equal) = (Some(heat), true);
    if outside > 0 {
        panel.notes.push(format!("{outside} of {} particles outside the axes", look.stars.len()));
    }
    panel
}

/// Density and dispersion about the density centre.
fn profiles(looks: &[&Look], title: String, caption: String) -> Result<Figure, String> {
    let Some(units) = looks.first().map(|look| &look.units.units) else { return Err("no snapshots".into()) };
    if looks.iter().any(|look| look.stars.len() < FEW) {
        return Err(format!("fewer than {FEW} particles"));
    }
    let radius = || Axis::log(quantity(units, "distance from the density centre", Dimension::LENGTH));
    let mut density = Panel::new("Density", radius(), Axis::log(quantity(units, "density", Dimension::DENSITY)));
    let y = Axis::linear(quantity(units, "dispersion", Dimension::VELOCITY));
    let mut dispersion = Panel::new("Velocity dispersion, one component", radius(), y);
    for look in looks {
        let found = shells(&look.bodies(), look.centre);
        density.series.push(Shell::densities(&look.time_label(), &found));
        dispersion.series.push(Shell::dispersions(&look.time_label(), &found));
    }
    dispersion.notes.push("about the mean velocity of the bound particles; binaries from 1 kT as one body".into());
    Ok(Figure { title, caption, panels: vec![density, dispersion], columns: 2 })
}
