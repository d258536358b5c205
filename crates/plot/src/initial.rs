//! The figure of initial conditions: what was sampled, beside the laws that it was sampled from.

use super::figure::{Axis, Figure, Mark, Panel, Series};
use super::quantity::quantity;
use super::shells::{FEW, Shell, shells, with_errors};
use std::f64::consts::PI;
use tisane::particles::{Particles, Vec3};
use tisane::units::{Dimension, Units};

/// Least number of close pairs that are drawn.
const FEWEST_PAIRS: usize = 5;

/// Quantities to draw, in the units of the configuration. A law is points of a value and what lies below it; none where
/// it is empty.
#[derive(Clone, Debug)]
pub struct Sample<'a> {
    /// Heading.
    pub title: String,
    /// Small print.
    pub caption: String,
    /// The units.
    pub units: Units,
    /// Single stars and binaries, each as one body, without a central one, relative to the centre and to their mean velocity.
    pub systems: &'a Particles,
    /// Mass of the central body, or 0.
    pub central: f64,
    /// Radius and mass within it.
    pub enclosed: &'a [(f64, f64)],
    /// Factor on the squares of velocities that come from Jeans' equation; [`None`] for other velocities.
    pub jeans: Option<f64>,
    /// Masses of the stars, and their law.
    pub masses: (&'a [f64], &'a [(f64, f64)]),
    /// Softening length, or 0.
    pub softening: f64,
    /// Semi-major axis and eccentricity of each close pair that was found in the particles.
    pub pairs: &'a [(f64, f64)],
    /// Heading of the panel of close pairs.
    pub pairs_title: &'a str,
    /// Semi-major axes of the binaries as sampled, and their law.
    pub semi_major_axes: (&'a [f64], &'a [(f64, f64)]),
    /// Their eccentricities, likewise.
    pub eccentricities: (&'a [f64], &'a [(f64, f64)]),
    /// Flag for laws of masses and binaries that hold at birth, before eigenevolution.
    pub of_birth: bool,
}

/// The figure; [`None`] where there are too few particles to say anything about.
#[must_use]
pub fn figure(sample: &Sample<'_>) -> Option<Figure> {
    let shells = shells(sample.systems, Vec3::zeros());
    let mass = sample.label("mass", Dimension::MASS);
    let axis = sample.label("semi-major axis", Dimension::LENGTH);
    let mut distributions = [
        distribution("Masses of the stars", mass, sample.masses, Scale::LogLog),
        distribution("Semi-major axes of the binaries", axis, sample.semi_major_axes, Scale::Log),
        distribution("Eccentricities of the binaries", "eccentricity".into(), sample.eccentricities, Scale::Unit),
    ];
    if sample.of_birth {
        let laws = distributions.iter_mut().flatten().filter_map(|panel| panel.series.get_mut(1));
        laws.for_each(|law| law.name = "law at birth".into());
    }
    let of_systems = [sample.density(&shells), sample.dispersion(&shells)];
    let panels = of_systems.into_iter().chain(distributions).chain([sample.pairs()]);
    let panels: Vec<Panel> = panels.flatten().collect();
    (!panels.is_empty()).then(|| Figure {
        title: sample.title.clone(),
        caption: sample.caption.clone(),
        panels,
        columns: 2,
    })
}

fn law(points: Vec<(f64, f64)>) -> Series {
    Series::new("law", Mark::Dashed, points)
}

impl Sample<'_> {
    fn label(&self, what: &str, dimension: Dimension) -> String {
        quantity(&self.units, what, dimension)
    }

    /// The law of density as radius and density, over the shells.
    fn law_of_density(&self) -> Vec<(f64, f64)> {
        let volume = |r: f64| 4.0 / 3.0 * PI * r.powi(3);
        let slope = |pair: &[(f64, f64)]| {
            let ((r1, m1), (r2, m2)) = (pair[0], pair[1]);
            ((r1 * r2).sqrt(), (m2 - m1) / (volume(r2) - volume(r1)))
        };
        self.enclosed.windows(2).map(slope).filter(|(_, density)| *density > 0.0).collect()
    }

    fn density(&self, shells: &[Shell]) -> Option<Panel> {
        let (first, last) = (shells.first()?, shells.last()?);
        let density = Dimension { mass: 1, length: -3, ..Dimension::NONE };
        let (x, y) = (self.label("radius", Dimension::LENGTH), self.label("density", density));
        let mut panel = Panel::new("Density", Axis::log(x), Axis::log(y));
        let drawn = |(r, _): &(f64, f64)| (first.radius..=last.radius).contains(r);
        panel.series.push(Shell::densities("sample", shells));
        panel.series.push(law(self.law_of_density().into_iter().filter(drawn).collect()));
        panel.series.retain(|series| !series.points.is_empty());
        Some(panel)
    }

    /// One-dimensional dispersion about the origin of velocities, √(⟨v²⟩/3).
    fn dispersion(&self, shells: &[Shell]) -> Option<Panel> {
        let (first, last) = (shells.first()?, shells.last()?);
        if shells.iter().all(|shell| shell.square == 0.0) {
            return None;
        }
        let (x, y) = (self.label("radius", Dimension::LENGTH), self.label("dispersion", Dimension::VELOCITY));
        let mut panel = Panel::new("Velocity dispersion, one component", Axis::log(x), Axis::linear(y));
        panel.series.push(Shell::dispersions("sample", shells));
        let theory = self.jeans.map(|factor| self.law_of_dispersion(factor)).unwrap_or_default();
        let drawn = |(r, _): &(f64, f64)| (first.radius..=last.radius).contains(r);
        panel.series.push(law(theory.into_iter().filter(drawn).collect()));
        panel.series.retain(|series| !series.points.is_empty());
        Some(panel)
    }

    /// Eccentricity over semi-major axis of the close pairs, and the softening length that their orbits would have to be
    /// longer than.
    fn pairs(&self) -> Option<Panel> {
        if self.pairs.len() < FEWEST_PAIRS {
            return None;
        }
        let x = Axis::log(self.label("semi-major axis", Dimension::LENGTH));
        // Circular orbits stand off the edge.
        let y = Axis { range: Some((-0.03, 1.03)), ..Axis::linear("eccentricity") };
        let mut panel = Panel::new(self.pairs_title, x, y);
        panel.series.push(Series::new(
            if self.softening > 0.0 { "pairs" } else { "" },
            Mark::Points,
            self.pairs.to_vec(),
        ));
        if self.softening > 0.0 {
            let at = |y: f64| (self.softening, y);
            panel.series.push(Series::new("softening length", Mark::Dashed, vec![at(0.0), at(1.0)]));
        }
        Some(panel)
    }

    /// The isotropic solution of Jeans' equation, σ² = 1/ρ ∫ ρ G M/r² dr from r outwards (Binney & Tremaine 2008, eq.
    /// 4.216).
    fn law_of_dispersion(&self, factor: f64) -> Vec<(f64, f64)> {
        let g = self.units.g();
        let density = self.law_of_density();
        let mut points = Vec::with_capacity(density.len());
        let mut pressure = 0.0;
        for pair in density.windows(2).rev() {
            let ((r, rho), (outer, rho_outer)) = (pair[0], pair[1]);
            let middle = (r * outer).sqrt();
            let row = self.enclosed.partition_point(|(r, _)| *r < middle).min(self.enclosed.len() - 1);
            let mass = self.enclosed[row].1 + self.central;
            pressure += (rho * rho_outer).sqrt() * g * mass / middle.powi(2) * (outer - r);
            points.push((r, (factor * pressure / rho).sqrt()));
        }
        points.reverse();
        points
    }
}

/// Axes of a distribution.
#[derive(Clone, Copy, PartialEq)]
enum Scale {
    /// Logarithmic both.
    LogLog,
    /// A logarithmic value.
    Log,
    /// A value from 0 to 1.
    Unit,
}

/// Shares of the values in bins, for each unit (or decade) of the value; [`None`] where all are the same or they are
/// few.
fn distribution(title: &str, label: String, (values, below): (&[f64], &[(f64, f64)]), scale: Scale) -> Option<Panel> {
    let place = |x: f64| if scale == Scale::Unit { x } else { x.log10() };
    let value = |x: f64| if scale == Scale::Unit { x } else { 10f64.powf(x) };
    let places: Vec<f64> = values.iter().map(|x| place(*x)).collect();
    let (min, max) = match scale {
        Scale::Unit => (0.0, 1.0),
        _ => places.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(*x), b.max(*x))),
    };
    let flat = values.iter().all(|x| Some(x) == values.first());
    if values.len() < FEW || flat || !(min.is_finite() && min < max) {
        return None;
    }
    let bins = ((values.len() as f64).sqrt() as usize).clamp(8, 30);
    let width = (max - min) / bins as f64;
    let mut counts = vec![0u32; bins];
    for x in places {
        counts[(((x - min) / width) as usize).min(bins - 1)] += 1;
    }
    let centre = |k: usize| value(min + (k as f64 + 0.5) * width);
    let all = values.len() as f64 * width;
    let filled = counts.iter().enumerate().filter(|(_, n)| **n > 0).map(|(k, n)| {
        let n = f64::from(*n);
        (centre(k), n / all, n.sqrt().recip())
    });
    let of = if scale == Scale::Unit { "share per 1" } else { "share per decade" };
    let y = if scale == Scale::LogLog { Axis::log(of) } else { Axis::linear(of) };
    let x = if scale == Scale::Unit { Axis::linear(label) } else { Axis::log(label) };
    let mut panel = Panel::new(title, x, y);
    panel.series.push(with_errors("sample", filled.collect()));
    let slope = |pair: &[(f64, f64)]| {
        let (from, to) = (place(pair[0].0), place(pair[1].0));
        (value(0.5 * (from + to)), (pair[1].1 - pair[0].1) / (to - from))
    };
    let theory: Vec<(f64, f64)> =
        below.windows(2).map(slope).filter(|(x, _)| (min..=max).contains(&place(*x))).collect();
    if !theory.is_empty() {
        panel.series.push(law(theory));
    }
    Some(panel)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of a homogeneous sphere of radius 1, one in each direction, at equal steps of the mass within.
    fn sphere(n: usize) -> Particles {
        let radius = |k: usize| ((k as f64 + 0.5) / n as f64).cbrt();
        let pos = (0..n).map(|k| radius(k) * [Vec3::x(), -Vec3::y(), Vec3::z()][k % 3]).collect();
        Particles::new(vec![1.0 / n as f64; n], pos, vec![Vec3::new(0.3, 0.0, 0.4); n])
    }

    fn sample<'a>(p: &'a Particles, enclosed: &'a [(f64, f64)]) -> Sample<'a> {
        Sample {
            title: String::new(),
            caption: String::new(),
            units: Units::henon(),
            systems: p,
            central: 0.0,
            enclosed,
            jeans: Some(1.0),
            masses: (&p.mass, &[]),
            softening: 0.0,
            pairs: &[],
            pairs_title: "",
            semi_major_axes: (&[], &[]),
            eccentricities: (&[], &[]),
            of_birth: false,
        }
    }

    #[test]
    fn density_and_dispersion_are_those_of_a_homogeneous_sphere() {
        let p = sphere(3000);
        let enclosed: Vec<(f64, f64)> = (1..=1000).map(|k| f64::from(k) / 1000.0).map(|r| (r, r.powi(3))).collect();
        let drawn = figure(&sample(&p, &enclosed)).unwrap();
        let [density, dispersion] = &drawn.panels[..] else { panic!("{:?}", drawn.panels) };
        let rho = 3.0 / (4.0 * PI);
        for series in &density.series {
            assert!(series.points.len() > 20);
            assert!(series.points.iter().all(|(_, y)| (y / rho - 1.0).abs() < 0.02), "{:?}", series.points);
        }
        assert!(dispersion.series[0].points.iter().all(|(_, y)| (y - (0.25f64 / 3.0).sqrt()).abs() < 1e-12));
        // Jeans in a sphere of constant density: σ² = (1 − r²)/2 with M = R = G = 1.
        for (r, sigma) in dispersion.series[1].points.iter().filter(|(r, _)| *r < 0.9) {
            assert!((sigma.powi(2) / (0.5 * (1.0 - r * r)) - 1.0).abs() < 0.02, "{r} {sigma}");
        }
    }

    #[test]
    fn shares_of_a_distribution_add_up_to_one() {
        let values: Vec<f64> = (0..2000).map(|k| (f64::from(k) + 0.5) / 2000.0).map(f64::sqrt).collect();
        let thermal: Vec<(f64, f64)> = (0..=100).map(|k| f64::from(k) / 100.0).map(|e| (e, e * e)).collect();
        let panel = distribution("", String::new(), (&values, &thermal), Scale::Unit).unwrap();
        let width = 1.0 / panel.series[0].points.len() as f64;
        assert!((panel.series[0].points.iter().map(|(_, y)| y * width).sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(panel.series.iter().flat_map(|s| &s.points).all(|(e, y)| (y - 2.0 * e).abs() < 0.05));
        let decades: Vec<f64> = (0..1000).map(|k| 10f64.powf(f64::from(k) / 250.0)).collect();
        let panel = distribution("", String::new(), (&decades, &[]), Scale::Log).unwrap();
        assert!(panel.series[0].points.iter().all(|(_, y)| (y - 0.25).abs() < 0.02), "{panel:?}");
    }

    #[test]
    fn close_pairs_are_drawn_beside_the_softening() {
        let p = sphere(300);
        let drawn = Sample { softening: 1e-3, pairs: &[(1e-5, 0.1); 5], ..sample(&p, &[]) };
        let figure = figure(&drawn).unwrap();
        let panel = figure.panels.last().unwrap();
        assert_eq!(panel.series[0].points, [(1e-5, 0.1); 5]);
        assert!(panel.series[1].points.iter().all(|(x, _)| *x == 1e-3), "{panel:?}");
        assert_eq!((panel.x.scale, panel.series.len()), (crate::Scale::Log10, 2));
        let few = Sample { pairs: &drawn.pairs[1..], ..drawn };
        assert_eq!(super::figure(&few).unwrap().panels.len(), figure.panels.len() - 1);
    }

    #[test]
    fn little_is_not_drawn() {
        let few = sphere(20);
        assert!(figure(&sample(&few, &[])).is_none());
        assert!(distribution("", String::new(), (&[1.0; 100], &[]), Scale::Log).is_none());
    }
}
