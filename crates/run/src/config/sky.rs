//! Place and velocity in the galaxy of what is observed from the Sun: `orbit.sky` and `orbit.sun`.
//!
//! The frame is that of astropy (Astropy Collaboration 2022, ApJ 935, 167; `Galactocentric`, parameters v4.0): right-handed, the centre
//! of the Galaxy at the origin, z = 0 its midplane, z towards the north galactic pole. The Sun is at −x and moves towards +y, so that
//! the Galaxy rotates in the negative sense, from y to x.

use super::bounds::above;
use super::error::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use tisane::force::external::guide::OrbitState;
use tisane::particles::Vec3;
use tisane::units::names::YEAR_CGS;
use tisane::units::{Dimension, Quantity, Real, Scale, Units};

/// Direction of the centre of the Galaxy, in degrees of the ICRS: right ascension and declination.
const CENTRE: [f64; 2] = [266.4051, -28.936_175];
/// Angle in degrees by which the axes that have x towards the centre are turned about it, so that z points to the north galactic pole.
const ROLL: f64 = 58.598_632_030_6;
/// A milliarcsecond per year in radians per second.
const MAS_YR: f64 = PI / 648_000_000.0 / YEAR_CGS;

/// What is observed of a cluster, in the ICRS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sky {
    /// Right ascension, in degrees.
    pub ra: Real,
    /// Declination, from −90 to 90, in degrees.
    pub dec: Real,
    /// Distance from the Sun, above 0; unit: length.
    pub distance: Real,
    /// Proper motion in right ascension times the cosine of the declination, in mas/yr.
    pub pm_ra: Real,
    /// Proper motion in declination, in mas/yr.
    pub pm_dec: Real,
    /// Radial velocity, positive away from the Sun; unit: velocity.
    pub radial_velocity: Real,
}

/// The Sun in the galaxy, also for the picture of the sky. Values that are not given are those of astropy's frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Sun {
    /// Distance from the centre, above 0; unit: length; default: 8122 pc (GRAVITY Collaboration 2018, A&A 615, L15).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub radius: Option<Real>,
    /// Height above the midplane, smaller than `radius`; unit: length; default: 20.8 pc (Bennett & Bovy 2019, MNRAS 482, 1417).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<Real>,
    /// Velocity in the frame of the galaxy; unit: velocity; default: (12.9, 245.6, 7.78) km/s (Drimmel & Poggio 2018, RNAAS 2, 210).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub velocity: Option<[Real; 3]>,
}

/// The Sun in the units of the configuration.
struct Observer {
    radius: f64,
    height: f64,
    velocity: Vec3,
}

impl Sun {
    /// Fills in the values that are not given.
    pub(super) fn resolve(&mut self, units: &Units) {
        let Observer { radius, height, velocity } = self.observer(units);
        self.radius = Real::new(radius);
        self.height = Real::new(height);
        let [x, y, z] = <[f64; 3]>::from(velocity).map(Real::new);
        self.velocity = x.zip(y).zip(z).map(|((x, y), z)| [x, y, z]);
    }

    /// Adds the mistakes in the values.
    pub(super) fn check(&self, units: &Units, found: &mut Vec<Problem>) {
        if units.is_henon() {
            let problem = "the place of the Sun is known in units by name, not in N-body units";
            found.push(Problem::new("orbit.sun", problem));
            return;
        }
        above(found, "orbit.sun.radius", self.radius, 0.0);
        let Observer { radius, height, .. } = self.observer(units);
        if radius > 0.0 && height.abs() >= radius {
            let problem = format!("expected a height below the distance from the centre, {radius}, found {height}");
            found.push(Problem::new("orbit.sun.height", problem));
        }
    }

    fn observer(&self, units: &Units) -> Observer {
        let physical =
            |text: &str| Quantity::parse(text).map_or(f64::NAN, |quantity| quantity.internal(units, &Scale::IDENTITY));
        let or = |value: Option<Real>, text: &str| value.map_or_else(|| physical(text), Real::get);
        let velocity = self
            .velocity
            .map_or_else(|| ["12.9 km/s", "245.6 km/s", "7.78 km/s"].map(physical), |velocity| velocity.map(Real::get));
        Observer {
            radius: or(self.radius, "8122 pc"),
            height: or(self.height, "20.8 pc"),
            velocity: Vec3::from(velocity),
        }
    }
}

impl Sky {
    /// Returns place and velocity in the galaxy, in the units of the configuration.
    #[must_use]
    pub fn in_the_galaxy(&self, sun: &Sun, units: &Units) -> OrbitState {
        let Observer { radius, height, velocity } = sun.observer(units);
        let [[sin_ra, cos_ra], [sin_dec, cos_dec]] = [self.ra, self.dec].map(|angle| sine_and_cosine(angle.get()));
        let outwards = Vec3::new(cos_dec * cos_ra, cos_dec * sin_ra, sin_dec);
        let (east, north) = (Vec3::new(-sin_ra, cos_ra, 0.0), Vec3::new(-sin_dec * cos_ra, -sin_dec * sin_ra, cos_dec));
        let distance = self.distance.get();
        let per_mas_yr = MAS_YR * (units.cgs(Dimension::LENGTH) / units.cgs(Dimension::VELOCITY)) * distance;
        let across = self.pm_ra.get() * per_mas_yr * east + self.pm_dec.get() * per_mas_yr * north;
        let along = self.radial_velocity.get() * outwards;
        let [place, motion] = [distance * outwards, along + across].map(towards_the_centre);
        // The line from the Sun to the centre goes down to the midplane.
        let sine = height / radius;
        let cosine = (1.0 - sine * sine).sqrt();
        let level = |v: Vec3| Vec3::new(cosine * v.x + sine * v.z, v.y, cosine * v.z - sine * v.x);
        OrbitState { pos: level(place - radius * Vec3::x()), vel: level(motion) + velocity }
    }

    /// Adds the mistakes in the values.
    pub(super) fn check(&self, units: &Units, found: &mut Vec<Problem>) {
        if units.is_henon() {
            let problem = "proper motions are in mas/yr: `sky` needs units by name, not N-body units";
            found.push(
                Problem::new("orbit.sky", problem)
                    .with_help("[units]\nmass = \"Msun\"\nlength = \"pc\"\nvelocity = \"km/s\""),
            );
            return;
        }
        if self.dec.get().abs() > 90.0 {
            let problem = format!("expected a number from -90 to 90, found {}", self.dec);
            found.push(Problem::new("orbit.sky.dec", problem));
        }
        above(found, "orbit.sky.distance", Some(self.distance), 0.0);
    }

    /// Describes in one line what is observed.
    pub(super) fn describe(&self, units: &Units) -> String {
        let Self { ra, dec, distance, pm_ra, pm_dec, radial_velocity } = self;
        let (length, velocity) = (&units.length.name, units.label(Dimension::VELOCITY));
        format!(
            "RA {ra} deg, Dec {dec} deg, {distance} {length} from the Sun, proper motion ({pm_ra}, {pm_dec}) mas/yr, radial velocity \
             {radial_velocity} {velocity}"
        )
    }
}

/// Returns sine and cosine of an angle in degrees, with the same bits on every machine.
fn sine_and_cosine(degrees: f64) -> [f64; 2] {
    let (sine, cosine) = libm::sincos(degrees.to_radians());
    [sine, cosine]
}

/// Returns a vector of the ICRS in axes of which x points to the centre of the Galaxy and z, as far as it is across, to the north
/// galactic pole: turned by the right ascension of the centre about z, by its declination about y, by the roll about x.
fn towards_the_centre(v: Vec3) -> Vec3 {
    let [[sin_ra, cos_ra], [sin_dec, cos_dec], [sin_roll, cos_roll]] =
        [CENTRE[0], CENTRE[1], ROLL].map(sine_and_cosine);
    let v = Vec3::new(cos_ra * v.x + sin_ra * v.y, cos_ra * v.y - sin_ra * v.x, v.z);
    let v = Vec3::new(cos_dec * v.x + sin_dec * v.z, v.y, cos_dec * v.z - sin_dec * v.x);
    Vec3::new(v.x, cos_roll * v.y + sin_roll * v.z, cos_roll * v.z - sin_roll * v.y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tisane::units::Rates;
    use tisane::units::names::{LengthUnit, MassUnit, TimeUnit, VelocityUnit};

    fn parsec() -> Units {
        Units::named(MassUnit::Msun, LengthUnit::Parsec, Rates::Velocity(VelocityUnit::KilometrePerSecond))
    }

    fn sky([ra, dec, distance, pm_ra, pm_dec, radial_velocity]: [f64; 6]) -> Sky {
        let real = |x| Real::new(x).unwrap();
        let [ra, dec, distance] = [ra, dec, distance].map(real);
        let [pm_ra, pm_dec, radial_velocity] = [pm_ra, pm_dec, radial_velocity].map(real);
        Sky { ra, dec, distance, pm_ra, pm_dec, radial_velocity }
    }

    /// Places in pc and velocities in km/s by astropy 8.0.2: the Pleiades, ω Centauri, and the two stars that its page on
    /// galactocentric coordinates has, at rest relative to the Sun.
    #[test]
    fn validate_places_and_velocities_by_astropy() {
        for (seen, pos, vel) in [
            (
                [56.75, 24.12, 135.0, 20.0, -45.4, 5.7],
                [-8_242.510_477_748_79, 28.754_021_955_739_503, -32.763_149_105_625_52],
                [6.038_582_777_974_089, 217.395_060_328_248_66, -6.286_574_754_385_426],
            ),
            (
                [201.697, -47.4795, 5426.0, -3.2, -6.7, 234.3],
                [-4_812.324_794_184_853, -4_067.838_418_848_272_3, 1_413.779_873_657_336_6],
                [99.154_620_531_643_8, -28.686_595_357_349_09, -85.483_538_470_358_14],
            ),
            (
                [158.3122, -17.3, 11_500.0, 0.0, 0.0, 0.0],
                [-9_434.892_860_971_548, -9_400.621_883_358_548, 6_513.453_587_414_411],
                [12.9, 245.6, 7.78],
            ),
            (
                [24.5, 81.52, 24_120.0, 0.0, 0.0, 0.0],
                [-21_110.449_180_541_575, 18_763.340_128_812_38, 7_831.751_493_175_748],
                [12.9, 245.6, 7.78],
            ),
        ] {
            let found = sky(seen).in_the_galaxy(&Sun::default(), &parsec());
            let off = [found.pos - Vec3::from(pos), found.vel - Vec3::from(vel)].map(|it| it.norm());
            assert!(off[0] < 1e-10 && off[1] < 1e-11, "{seen:?}: {off:?}");
        }
    }

    #[test]
    fn the_velocity_is_the_change_of_the_place() {
        let at = [201.697, -47.4795, 5426.0, -3.2, -6.7, 234.3];
        let sun = Sun { velocity: Some([crate::config::real!(0.0); 3]), ..Sun::default() };
        let now = sky(at).in_the_galaxy(&sun, &parsec());
        // Half a year before and after, in pc: km/s times years.
        let (years, parsec_per_year) = (0.5, 3.155_76e7 / 3.085_677_581_491_367e13);
        let moved = |sign: f64| {
            let degrees = sign * years / 3.6e6;
            let cosine = at[1].to_radians().cos();
            let distance = at[2] + sign * years * at[5] * parsec_per_year;
            let there = [at[0] + at[3] * degrees / cosine, at[1] + at[4] * degrees, distance, 0.0, 0.0, 0.0];
            sky(there).in_the_galaxy(&sun, &parsec()).pos
        };
        let change = (moved(1.0) - moved(-1.0)) / (2.0 * years * parsec_per_year);
        assert!((change - now.vel).norm() < 1e-5 * now.vel.norm(), "{change} is not {}", now.vel);
    }

    #[test]
    fn the_same_in_every_unit() {
        let pleiades = sky([56.75, 24.12, 135.0, 20.0, -45.4, 5.7]);
        let expected = pleiades.in_the_galaxy(&Sun::default(), &parsec());
        let units = Units::named(MassUnit::Msun, LengthUnit::Kiloparsec, Rates::Time(TimeUnit::Megayear));
        // 1 km/s in kpc/Myr.
        let km_s = 1e5 / units.velocity.cgs;
        let distance = Real::new(0.135).unwrap();
        let scaled = Sky { distance, radial_velocity: Real::new(5.7 * km_s).unwrap(), ..pleiades };
        let found = scaled.in_the_galaxy(&Sun::default(), &units);
        assert!((found.pos * 1000.0 - expected.pos).norm() < 1e-10, "{found:?}");
        assert!((found.vel / km_s - expected.vel).norm() < 1e-11, "{found:?}");
    }

    #[test]
    fn the_centre_is_at_the_origin_and_the_sun_above_the_plane() {
        let real = |x| Real::new(x).unwrap();
        let (radius, height) = (Some(real(8000.0)), Some(real(100.0)));
        let sun = Sun { radius, height, velocity: Some([1.0, 2.0, 3.0].map(real)) };
        let centre = sky([CENTRE[0], CENTRE[1], 8000.0, 0.0, 0.0, 0.0]).in_the_galaxy(&sun, &parsec());
        assert!(centre.pos.norm() < 1e-11 && centre.vel == Vec3::new(1.0, 2.0, 3.0), "{centre:?}");
        let at_the_sun = sky([10.0, 20.0, 1e-9, 0.0, 0.0, 0.0]).in_the_galaxy(&sun, &parsec());
        let expected = Vec3::new(-(8000.0f64 * 8000.0 - 100.0 * 100.0).sqrt(), 0.0, 100.0);
        assert!((at_the_sun.pos - expected).norm() < 2e-9, "{at_the_sun:?}");
        // The north galactic pole in the ICRS: above the Sun, but for the tilt of the plane.
        let pole = sky([192.859_48, 27.128_25, 1000.0, 0.0, 0.0, 0.0]).in_the_galaxy(&sun, &parsec());
        let up = (pole.pos - expected) / 1000.0;
        assert!((up - Vec3::new(0.0125, 0.0, (1.0f64 - 0.0125 * 0.0125).sqrt())).norm() < 1e-5, "{up}");
    }
}
