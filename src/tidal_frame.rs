//! A cluster in the tide of external fields, at a moment: its tidal radius, the part of it within that, and Jacobi energies.
//!
//! About the centre **c** of the cluster, which moves with the velocity **u** and turns with the angular velocity **Ω** about the
//! centre of the fields, the energy per unit mass of a star at **d** with the velocity **v** is
//!
//! E_J = ½ w² + φ_b + φ(X + d) − φ(X + c) + a(X + c) · (d − c) − Ω · ((d − c) × w), w = v − u,
//!
//! with the potential φ_b of the cluster and the fields' potential φ and acceleration a; X is the origin of the coordinates in the
//! frame of the fields. On a circular orbit in a field that is round about an axis it is the Jacobi integral, on other orbits a
//! number that changes (Binney & Tremaine 2008, §8.3). At the tidal radius r_t of the mass M a star at rest in the frame that turns
//! has E_crit = −(3/2) G M / r_t; one with less energy cannot leave.

use crate::density::centre_of;
use crate::pericentre::nearest_since_pericentre;
use std::sync::Arc;
use tisane_force::compensated_sum::sum;
use tisane_force::error::Result;
use tisane_force::force::external::ExternalField;
use tisane_force::force::external::guide::{MovingOrigin, OrbitState, tidal_radius};
use tisane_force::particles::Vec3;
use tisane_force::time::{Clock, Time};

/// What makes the tide on a cluster, in internal units.
#[derive(Clone)]
pub struct TideSource {
    /// The fields.
    pub field: Arc<dyn ExternalField>,
    /// Circle on which the cluster moves, of which the field is the linear tide; none where it is near an origin of coordinates
    /// that moves in the fields.
    pub circle: Option<Circle>,
    /// Flag that the Jacobi energy of all particles is conserved: the cluster is on a circle about the axis z, and the fields are
    /// constant and round about that, or are the linear tide on it.
    pub conserves: bool,
}

/// Circular orbit in the plane z = 0 of a cluster in the linear tide, in internal units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circle {
    /// Centre of the tide, in the coordinates of the particles.
    pub centre: Vec3,
    /// Angular velocity.
    pub omega: f64,
}

impl TideSource {
    /// Returns the tide at a moment of a time axis, with the origin of coordinates if it moves.
    ///
    /// # Errors
    /// As [`MovingOrigin::at`].
    pub fn at(&self, origin: Option<&MovingOrigin>, now: Time, clock: &Clock) -> Result<TidalFrame> {
        let point = origin.map(|origin| origin.at(now)).transpose()?;
        let orbit = point.map(|point| OrbitState { pos: point.pos, vel: point.vel });
        Ok(self.with_origin(orbit, clock.time(now)))
    }

    /// Returns the tide at the time `t` where the origin of coordinates has the state `orbit`, if it moves.
    #[must_use]
    pub fn with_origin(&self, orbit: Option<OrbitState>, t: f64) -> TidalFrame {
        let field = self.field.clone();
        match self.circle {
            Some(Circle { centre, omega }) => {
                // Any orbit with this angular velocity.
                let turning = OrbitState { pos: Vec3::x(), vel: Vec3::new(0.0, omega, 0.0) };
                TidalFrame::new(field, Vec3::zeros(), centre, turning, t)
            }
            None => TidalFrame::about(field, orbit.unwrap_or_default(), t),
        }
    }
}

/// Tide on a cluster at a moment, in internal units.
#[derive(Clone)]
pub struct TidalFrame {
    field: Arc<dyn ExternalField>,
    /// Time.
    t: f64,
    /// Origin of the particles' coordinates in the frame of the field.
    origin: Vec3,
    /// Place in the particles' coordinates at which the cluster is expected.
    pub expected: Vec3,
    /// Place and velocity of the origin, if it moves on an orbit.
    pub orbit: Option<OrbitState>,
    /// An orbit with the angular velocity of the cluster.
    turning: OrbitState,
    /// Angular velocity.
    pub spin: Vec3,
    /// Tidal tensor.
    tide: [f64; 6],
}

/// Centre of a cluster, and its velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Centre {
    /// Position.
    pub pos: Vec3,
    /// Velocity.
    pub vel: Vec3,
}

/// Largest difference of a potential on rings about the axis, relative to it, with which a field is round.
const ROUND: f64 = 1e-12;
/// Radii of these rings, and their heights, in units of the radius of an orbit.
const RINGS: [[f64; 2]; 5] = [[0.75, 0.0], [1.0, 0.0], [1.25, 0.0], [1.0, 0.25], [1.0, -0.5]];
/// Directions on them, as cosine and sine of the azimuth.
const AZIMUTHS: [[f64; 2]; 6] = [[0.0, 1.0], [-1.0, 0.0], [0.0, -1.0], [0.6, 0.8], [-0.8, 0.6], [0.28, -0.96]];

/// Returns true if a field is round about the axis z at the time `t`, as far as its potential on some rings of about the radius `r`
/// tells.
#[must_use]
pub fn is_round(field: &dyn ExternalField, r: f64, t: f64) -> bool {
    RINGS.iter().all(|[radius, height]| {
        let at = |[x, y]: [f64; 2]| field.pot(Vec3::new(radius * r * x, radius * r * y, height * r), t);
        let first = at([1.0, 0.0]);
        AZIMUTHS.iter().all(|&azimuth| (at(azimuth) - first).abs() <= ROUND * first.abs())
    })
}

/// Part of a system within its tidal radius, in internal units.
#[derive(Clone, Debug, PartialEq)]
pub struct TidalPart {
    /// Tidal radius of its mass; 0 where no star is left.
    pub radius: f64,
    /// Mass.
    pub mass: f64,
    /// Density centre that was given, and mean velocity of the stars; zero where none is left.
    pub centre: Centre,
    /// Rows of the stars, from the innermost outwards, of equally distant ones the smaller id first.
    pub stars: Vec<u32>,
    /// Radius of the smallest sphere that holds half of the mass; NaN where no star is left.
    pub half_mass_radius: f64,
}

impl TidalPart {
    /// Returns the energy E_crit that a star needs to leave; NaN where no star is left.
    #[must_use]
    pub fn critical_energy(&self) -> f64 {
        -1.5 * self.mass / self.radius
    }
}

/// Stars as columns in internal units.
#[derive(Clone, Copy)]
pub struct StarColumns<'a> {
    /// Unique identity.
    pub id: &'a [u64],
    /// Mass.
    pub mass: &'a [f64],
    /// Position.
    pub pos: &'a [Vec3],
    /// Velocity.
    pub vel: &'a [Vec3],
}

impl TidalFrame {
    fn new(field: Arc<dyn ExternalField>, origin: Vec3, expected: Vec3, turning: OrbitState, t: f64) -> Self {
        let tide = field.tide(origin + expected, t);
        let spin = turning.pos.cross(&turning.vel) / turning.pos.norm_squared();
        Self { field, t, origin, expected, orbit: None, turning, spin, tide }
    }

    /// Returns the tide about an origin of coordinates that moves on an orbit.
    fn about(field: Arc<dyn ExternalField>, orbit: OrbitState, t: f64) -> Self {
        Self { orbit: Some(orbit), ..Self::new(field, orbit.pos, Vec3::zeros(), orbit, t) }
    }

    /// Returns the Jacobi energy of all particles: kinetic and potential energy with that in the tide, `energy`, less Ω · L about the
    /// centre of the tide, with their angular momentum and momentum in the particles' coordinates.
    #[must_use]
    pub fn jacobi_energy(&self, energy: f64, angular_momentum: Vec3, momentum: Vec3) -> f64 {
        energy - self.spin.dot(&(angular_momentum - self.expected.cross(&momentum)))
    }

    /// Returns the tidal radius of a mass above 0; [`None`] where the tide holds it together. See [`tidal_radius`].
    #[must_use]
    pub fn radius(&self, mass: f64) -> Option<f64> {
        tidal_radius(mass, &self.turning, self.tide)
    }

    /// Returns the tide at the last pericentre of the orbit, or at the present place where that is nearer to the centre of the fields; see
    /// [`nearest_since_pericentre`]. [`None`] in the linear tide on a circle, which has no pericentre.
    #[must_use]
    pub fn at_pericentre(&self) -> Option<Self> {
        let (t, orbit) = nearest_since_pericentre(&*self.field, self.t, self.orbit?);
        Some(Self::about(self.field.clone(), orbit, t))
    }

    /// Returns the part of a system within the tidal radius of the mass of that part, about the density centre `centre`; [`None`]
    /// where there is no tidal radius.
    ///
    /// The search begins with all stars. The sphere of their tidal radius holds fewer, whose tidal radius is smaller, until the
    /// stars are the same.
    #[must_use]
    pub fn part(&self, stars: StarColumns<'_>, centre: Vec3) -> Option<TidalPart> {
        let StarColumns { id, mass, pos, vel } = stars;
        let mut order: Vec<(f64, u64, u32)> =
            (0..mass.len() as u32).map(|i| ((pos[i as usize] - centre).norm(), id[i as usize], i)).collect();
        order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mass_of = |held: usize| sum(order[..held].iter().map(|&(_, _, i)| mass[i as usize]));
        let (mut held, mut total) = (order.len(), mass_of(order.len()));
        let mut radius = 0.0;
        while total > 0.0 {
            radius = self.radius(total)?;
            let within = order[..held].partition_point(|(distance, ..)| *distance <= radius);
            if within == held {
                break;
            }
            (held, total) = (within, mass_of(within));
        }
        if total == 0.0 {
            (held, radius) = (0, 0.0);
        }
        let mut inside = 0.0;
        let half = order[..held].iter().find(|(_, _, i)| {
            inside += mass[*i as usize];
            inside >= 0.5 * total
        });
        let half_mass_radius = half.map_or(f64::NAN, |(distance, ..)| *distance);
        let stars: Vec<u32> = order[..held].iter().map(|&(_, _, i)| i).collect();
        let (masses, speeds): (Vec<f64>, Vec<Vec3>) =
            stars.iter().map(|&i| (mass[i as usize], vel[i as usize])).unzip();
        let centre = Centre { pos: centre, vel: centre_of(&masses, &speeds) };
        Some(TidalPart { radius, mass: total, centre, stars, half_mass_radius })
    }

    /// Returns the Jacobi energy per unit mass of a star at `pos` with the velocity `vel` about a centre, less its energy in the
    /// cluster alone, ½ w² + φ_b.
    #[must_use]
    pub fn energy(&self, centre: &Centre, pos: Vec3, vel: Vec3) -> f64 {
        let Self { field, origin, t, .. } = self;
        let (d, w, at) = (pos - centre.pos, vel - centre.vel, origin + centre.pos);
        let tide = (field.pot(origin + pos, *t) - field.pot(at, *t)) + field.acc(at, *t).dot(&d);
        tide - self.spin.dot(&d.cross(&w))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane_force::force::external::ready::tide::TideSettings;
    use tisane_force::force::external::{ExternalSettings, FieldUnits, NoTables, Plummer};
    use tisane_force::real;
    use tisane_force::units::{Scale, Units};

    /// Point mass of 10⁶ at the origin.
    const GALAXY: Plummer = Plummer { mass: 1e6, position: Vec3::new(0.0, 0.0, 0.0), scale_radius: 0.0 };

    /// The tide on a circle of radius 100, from `angle` on.
    fn on_a_circle(angle: f64) -> TidalFrame {
        let (s, c) = angle.sin_cos();
        let orbit =
            OrbitState { pos: Vec3::new(100.0 * c, 100.0 * s, 0.0), vel: Vec3::new(-100.0 * s, 100.0 * c, 0.0) };
        TideSource { field: Arc::new(GALAXY), circle: None, conserves: false }.with_origin(Some(orbit), 0.0)
    }

    /// Columns of stars of unit mass, numbered from 0.
    fn part(tide: &TidalFrame, pos: &[Vec3], vel: &[Vec3], centre: Vec3) -> Option<TidalPart> {
        let id: Vec<u64> = (0..pos.len() as u64).collect();
        tide.part(StarColumns { id: &id, mass: &vec![1.0; pos.len()], pos, vel }, centre)
    }

    #[test]
    fn the_part_within_the_tidal_radius_is_found_from_all() {
        // 3 stars have the tidal radius 1, 24 of them 2: 20 within 0.5, 4 at 1.9, and a tail.
        let tide = on_a_circle(0.3);
        let ring = |n: usize, r: f64| (0..n).map(move |k| r * Vec3::new((k as f64).cos(), (k as f64).sin(), 0.0));
        let mut pos: Vec<Vec3> = ring(20, 0.5).chain(ring(4, 1.9)).collect();
        let tail = (0..500).map(|k| Vec3::new(0.1 * f64::from(k - 250), 3.0 + f64::from(k), 0.0));
        pos.extend(tail);
        let speeds = |k: usize| if k < 24 { 0.25 * Vec3::y() } else { 40.0 * Vec3::x() };
        let vel: Vec<Vec3> = (0..pos.len()).map(speeds).collect();
        let found = part(&tide, &pos, &vel, Vec3::zeros()).unwrap();
        assert_eq!((found.stars.len(), found.mass), (24, 24.0));
        assert!((found.half_mass_radius - 0.5).abs() < 1e-12, "{found:?}");
        assert!(
            (found.radius - 2.0).abs() < 1e-12 && (found.centre.vel - 0.25 * Vec3::y()).norm() < 1e-15,
            "{found:?}"
        );
        assert!((found.critical_energy() + 18.0).abs() < 1e-11);
        // Nothing is left where no star is within the radius of all.
        let none = part(&tide, &pos, &vel, 1e4 * Vec3::z()).unwrap();
        assert_eq!((none.stars.len(), none.mass, none.radius), (0, 0.0, 0.0));
        assert!(none.half_mass_radius.is_nan() && none.critical_energy().is_nan());
        // In the core of a sphere the tide holds together.
        let sphere = Plummer { scale_radius: 300.0, ..GALAXY };
        let orbit = OrbitState { pos: Vec3::x(), vel: Vec3::zeros() };
        let inside =
            TideSource { field: Arc::new(sphere), circle: None, conserves: false }.with_origin(Some(orbit), 0.0);
        assert_eq!(part(&inside, &pos, &vel, Vec3::zeros()), None);
    }

    #[test]
    fn verify_a_star_at_rest_at_the_tidal_radius_has_the_critical_energy() {
        let omega = 1.0;
        let settings = TideSettings {
            omega: Some(real!(1.0)),
            kappa: Some(real!(1.3)),
            nu: Some(real!(2.1)),
            oort_a: None,
            oort_b: None,
            density: None,
            radius: None,
            angle: real!(0.0),
            position: [real!(0.0); 3],
            motion: None,
            variation: None,
        };
        let all = ExternalSettings { tide: settings.into(), ..Default::default() };
        let to = FieldUnits { units: &Units::henon(), scale: &Scale::IDENTITY, tables: &NoTables };
        let field = all.build(to).unwrap().unwrap();
        for t in [0.0, 0.7, 3.0] {
            let circle = Some(Circle { centre: Vec3::zeros(), omega });
            let frame = TideSource { field: field.clone(), circle, conserves: true }.with_origin(None, t);
            let mass = 2.5;
            // (4 Ω² − κ²) r³ = M.
            let radius = frame.radius(mass).unwrap();
            assert!((radius - libm::cbrt(mass / (4.0 - 1.69))).abs() < 1e-14);
            let (s, c) = t.sin_cos();
            let d = radius * Vec3::new(c, s, 0.0);
            let v = omega * Vec3::z().cross(&d);
            let centre = Centre { pos: Vec3::zeros(), vel: Vec3::zeros() };
            let energy = 0.5 * v.norm_squared() - mass / radius + frame.energy(&centre, d, v);
            assert!((energy / (-1.5 * mass / radius) - 1.0).abs() < 1e-13, "{energy}");
        }
    }

    #[test]
    fn fields_are_round_or_not() {
        assert!(is_round(&GALAXY, 100.0, 0.0));
        assert!(is_round(&Plummer { position: 30.0 * Vec3::z(), ..GALAXY }, 100.0, 0.0));
        assert!(!is_round(&Plummer { position: 0.001 * Vec3::y(), ..GALAXY }, 100.0, 0.0));
    }

    #[test]
    fn the_energy_is_the_same_wherever_the_coordinates_have_their_origin() {
        let tide = on_a_circle(1.1);
        let (centre, pos, vel) = (
            Centre { pos: Vec3::new(1.0, -2.0, 0.5), vel: Vec3::new(0.1, 0.2, 0.0) },
            Vec3::new(3.0, 1.0, -1.0),
            Vec3::y(),
        );
        let orbit = tide.orbit.unwrap();
        let shift = Vec3::new(-0.5, 0.25, 2.0);
        let moved = OrbitState { pos: orbit.pos + shift, vel: orbit.vel };
        let other = TidalFrame { orbit: Some(moved), origin: moved.pos, ..tide.clone() };
        let there = Centre { pos: centre.pos - shift, ..centre };
        let (a, b) = (tide.energy(&centre, pos, vel), other.energy(&there, pos - shift, vel));
        assert!((a - b).abs() < 1e-9 * a.abs(), "{a} {b}");
    }
}
