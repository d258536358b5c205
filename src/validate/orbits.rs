//! Test particles on published ellipses, from a table of elements that AMUSE wrote.

use super::case::Orbits;
use crate::error::{Error, Result};
use crate::initial::kepler::Elements;
use crate::units::names::{LengthUnit, MassUnit, TimeUnit};
use crate::units::{Rates, Units};
use std::f64::consts::TAU;
use std::fmt::Write as _;
use std::path::Path;

/// The attributes of the stars in AMUSE's file (HDF5, version 1: a particle set with a dataset an attribute).
const ATTRIBUTES: &str = "particles/0000000001/attributes";

/// The central mass and the stars of the table at the epoch, as CSV with the columns m,x,y,z,vx,vy,vz,id: the central mass is
/// particle 0 at rest at the origin, the stars follow without mass, in the order of the table. Solar masses, au, au/yr.
///
/// The table has the semi-major axis in arc seconds, `Omega` as the argument of pericentre and `omra` as the longitude of the
/// node (right ascension) in degrees, as in Gillessen et al. (2009, ApJ 692, 1075, table 7), and the time of pericentre in
/// years. With one arc second at one parsec being one au, a = axis · distance.
///
/// # Errors
/// [`Error::Input`] naming the dataset if the file is missing or has no such table.
pub fn csv(path: &Path, orbits: &Orbits) -> Result<String> {
    let file = hdf5::File::with_options().with_fapl(|p| p.file_locking(false)).open(path);
    let file = file.map_err(|e| Error::input(path, format!("cut off, damaged or not HDF5: {e}")))?;
    let column = |name: &str| -> Result<Vec<f64>> {
        let dataset = file.dataset(&format!("{ATTRIBUTES}/{name}"));
        let values = dataset.and_then(|dataset| dataset.read_raw::<f64>());
        values.map_err(|e| Error::input(path, format!("/{ATTRIBUTES}/{name}: {e}")))
    };
    let names = ["semimajor_axis", "eccentricity", "inclination", "omra", "Omega", "time_of_pericenter"];
    let columns = names.into_iter().map(column).collect::<Result<Vec<_>>>()?;
    let stars = columns[0].len();
    if columns.iter().any(|column| column.len() != stars) {
        return Err(Error::input(path, "its columns of orbital elements differ in length"));
    }
    let mu = Units::named(MassUnit::Msun, LengthUnit::Au, Rates::Time(TimeUnit::Year)).g() * orbits.central_mass.get();
    let mut text = format!("m,x,y,z,vx,vy,vz,id\n{:e},0,0,0,0,0,0,0\n", orbits.central_mass.get());
    let rows = (0..stars).map(|k| columns.iter().map(|column| column[k]).collect::<Vec<_>>());
    for (k, star) in rows.enumerate() {
        let axis = star[0] * orbits.distance.get();
        let (e, since) = (star[1], orbits.epoch.get() - star[5]);
        if !(axis > 0.0 && (0.0..1.0).contains(&e)) {
            return Err(Error::input(
                path,
                format!("star {k} (from 0): axis {axis}, eccentricity {e}: not an ellipse"),
            ));
        }
        let elements = Elements {
            semi_major_axis: axis,
            eccentricity: e,
            inclination: star[2].to_radians(),
            node: star[3].to_radians(),
            pericentre: star[4].to_radians(),
            mean_anomaly: ((mu / axis.powi(3)).sqrt() * since).rem_euclid(TAU),
        };
        let (x, v) = elements.relative_state(mu);
        let _ = writeln!(text, "0,{:e},{:e},{:e},{:e},{:e},{:e},{}", x[0], x[1], x[2], v[0], v[1], v[2], k + 1);
    }
    Ok(text)
}
