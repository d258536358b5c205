//! Promise: in the field of a galaxy an origin of coordinates and a star without mass move on known orbits: one in closed form, and
//! three over 5 Gyr that galpy, gala and scipy agree on.

use crate::hdf;
use crate::program::{Folder, data_of_others};
use std::fs;
use std::path::{Path, PathBuf};
use tisane::particles::Vec3;
use tisane_io::snapshot;

/// A star without mass at rest at the origin of coordinates.
const AT_THE_ORIGIN: &str = "m,x,y,z,vx,vy,vz\n0,0,0,0,0,0,0\n";

/// Snapshots of a run in their order.
fn snapshots(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(dir.join("snapshots")).unwrap().map(|it| it.unwrap().path()).collect();
    found.sort();
    found
}

/// Place of the origin of coordinates in a snapshot.
fn origin(path: &Path) -> Vec3 {
    let header = hdf::open(path).group("Header").unwrap();
    Vec3::from_column_slice(&header.attr("OrbitPosition").unwrap().read_1d::<f64>().unwrap().to_vec())
}

#[test]
fn verify_an_orbit_in_an_isochrone_sphere_is_that_of_its_closed_form() {
    // G = M = b = 1; pericentre and apocentre at 1 and 4.
    let potential = |r: f64| -1.0 / (1.0 + (1.0 + r * r).sqrt());
    let (near, far) = (1.0f64, 4.0f64);
    let square = 2.0 * (potential(far) - potential(near)) / (1.0 / (near * near) - 1.0 / (far * far));
    let (momentum, energy) = (square.sqrt(), potential(near) + 0.5 * square / (near * near));
    // Hénon (1959): the radial period depends on the energy alone; the angle from pericentre to pericentre.
    let period = std::f64::consts::TAU / (-2.0 * energy).powf(1.5);
    let angle = std::f64::consts::PI * (1.0 + momentum / (square + 4.0).sqrt());
    let folder = Folder::new(&format!(
        "[run]\nname = \"r\"\nt_end = {t_end:?}\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"one.csv\"\n\
         [external.isochrone]\nmass = 1.0\nscale_radius = 1.0\n\
         [orbit]\nposition = [1.0, 0.0, 0.0]\nvelocity = [0.0, {momentum:?}, 0.0]\n\
         [integrator.hermite4]\ndt_max = {dt_max:?}\n[output]\ninterval = {period:?}\n",
        t_end = 5.0 * period,
        dt_max = period / 256.0
    ));
    folder.write("one.csv", AT_THE_ORIGIN);
    folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
    let found = snapshots(&folder.path("o"));
    assert_eq!(found.len(), 6);
    for (k, path) in found.iter().enumerate() {
        let (sine, cosine) = (k as f64 * angle).sin_cos();
        let off = (origin(path) - Vec3::new(cosine, sine, 0.0)).norm();
        assert!(off < 1e-12, "{k}: {off:e}");
    }
    folder.tisane(&["check", "run.toml"]).exits(0).says(&[
        "pericentre 1",
        "apocentre 4",
        &format!("period {period:.1}"),
    ]);
}

/// Sizes of the unit of velocity in km/s and of time in Myr where 10¹⁰ solar masses and a kiloparsec are 1, and G = 1.
const KM_S: f64 = 207.386_529_698_442;
const MYR: f64 = 4.714_829_951_118_73;
/// MWPotential2014 in these units.
const MILKY_WAY: &str = "[external.power-law]\nmass = 0.450136537506545\nslope = 1.8\ncutoff_radius = 1.9\n\
                         [external.miyamoto-nagai]\nmass = 6.8193902782346756\nscale_length = 3.0\nscale_height = 0.28\n\
                         [external.nfw]\nmass = 43.683325\nscale_radius = 16.0\n";

/// Places on an orbit of the table, every 50 Myr, and the velocity at its beginning in internal units.
fn rows(table: &str, orbit: &str) -> (Vec<Vec3>, Vec3) {
    let rows = table.lines().filter_map(|line| line.strip_prefix(&format!("{orbit},")));
    let numbers = rows.map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect::<Vec<f64>>());
    let numbers: Vec<Vec<f64>> = numbers.collect();
    let places = numbers.iter().map(|row| Vec3::from_column_slice(&row[1..4])).collect();
    (places, Vec3::from_column_slice(&numbers[0][4..7]) / KM_S)
}

#[test]
fn validate_orbits_in_the_milky_way_over_five_billion_years() {
    let Some(path) = data_of_others("tides/orbits.csv") else { return };
    let table = fs::read_to_string(path).unwrap();
    for (orbit, tolerance) in [("disc", 1e-8), ("eccentric", 1e-7), ("polar-halo", 1e-7)] {
        let (places, velocity) = rows(&table, orbit);
        assert_eq!(places.len(), 101);
        let (place, interval) = (places[0], 50.0 / MYR);
        let config = |more: &str| {
            format!(
                "[run]\nname = \"r\"\nt_end = {:?}\n[units]\nsystem = \"henon\"\n[initial.file]\npath = \"one.csv\"\n{MILKY_WAY}\
                 [integrator.multipoint]\norder = 8\neta = 0.05\ndt_max = {:?}\n[output]\ninterval = {interval:?}\n{more}",
                100.0 * interval,
                interval / 128.0
            )
        };
        let three = |v: Vec3| format!("[{:?}, {:?}, {:?}]", v.x, v.y, v.z);
        let folder =
            Folder::new(&config(&format!("[orbit]\nposition = {}\nvelocity = {}\n", three(place), three(velocity))));
        folder.write("one.csv", AT_THE_ORIGIN);
        folder.tisane(&["run", "run.toml", "-q", "--output", "o"]).exits(0);
        folder.write("run.toml", config(""));
        let numbers = [place, velocity].map(|it| format!("{:?},{:?},{:?}", it.x, it.y, it.z)).join(",");
        folder.write("one.csv", format!("m,x,y,z,vx,vy,vz\n0,{numbers}\n"));
        folder.tisane(&["run", "run.toml", "-q", "--output", "star"]).exits(0);
        let largest = |dir: &str, place: &dyn Fn(&Path) -> Vec3| {
            let found = snapshots(&folder.path(dir));
            assert_eq!(found.len(), places.len());
            let off = found.iter().zip(&places).map(|(path, expected)| (place(path) - expected).norm());
            off.fold(0.0, f64::max)
        };
        let guide = largest("o", &origin);
        let star = largest("star", &|path| snapshot::read(path).unwrap().pos[0]);
        println!("{orbit}: origin {guide:.1e} kpc, star {star:.1e} kpc");
        assert!(guide < tolerance && star < tolerance, "{orbit}: {guide:e}, {star:e}");
    }
}
