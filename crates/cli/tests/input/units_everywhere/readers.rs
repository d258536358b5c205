//! The same particles from every reader, in every set of units.

use super::{In, KM_S, MSUN, MYR, Physical, UNITS, model, numbers_agree, prepared, vectors_agree};
use crate::program::Folder;
use tisane::particles::{Particles, Vec3};
use tisane::units::names::{AU_CGS, DAY_CGS, G_CGS, GM_EARTH_CGS, GM_JUPITER_CGS, PC_CGS, R_SUN_CGS, YEAR_CGS};
use tisane::units::{Dimension, Units};
use tisane_io::formats::{self, FORMATS, WritableUnits};

/// Particles in cgs of which all numbers differ, with radii.
fn particles() -> Particles {
    let third = |k: i32| f64::from(k) / 3.0;
    let pos = [[1, -2, 4], [-5, 7, 8], [10, 0, -11]].map(|x| Vec3::from(x.map(third)) * PC_CGS).to_vec();
    let vel = [[2, 1, -1], [-4, 5, 2], [0, -7, 10]].map(|x| Vec3::from(x.map(third)) * (0.1 * KM_S)).to_vec();
    let mass = [2.0, 0.7, 5.0].map(|m| m * MSUN).to_vec();
    Particles { radius: vec![0.01 * AU_CGS, 0.02 * AU_CGS, 0.0], ..Particles::new(mass, pos, vel) }
}

/// Particles in cgs as those of a file in other units.
fn state(to: &Units) -> formats::FileState {
    let folder = Folder::new("");
    folder.write("p.csv", "m,x,y,z,vx,vy,vz\n1,0,0,0,0,0,0\n");
    let mut state = formats::read(&folder.path("p.csv"), None).unwrap();
    let mut p = particles();
    let by = |d: Dimension| 1.0 / to.cgs(d);
    tisane::initial::scaling::rescale(&mut p, by(Dimension::MASS), by(Dimension::LENGTH), by(Dimension::VELOCITY));
    (state.particles, state.units, state.time) = (p, Some(to.clone()), Some(2.0 * MYR / to.cgs(Dimension::TIME)));
    state
}

/// The same particles as ECSV, in units that no configuration has, with other ones for some columns.
fn ecsv() -> String {
    let units = [
        ("m", "1000.0 jupiterMass", 1e3 * GM_JUPITER_CGS / G_CGS),
        ("x", "lyr", 2.997_924_58e10 * YEAR_CGS),
        ("y", "kpc", 1e3 * PC_CGS),
        ("z", "AU", AU_CGS),
        ("vx", "pc / Myr", PC_CGS / MYR),
        ("vy", "m s-1", 1e2),
        ("vz", "AU / d", AU_CGS / DAY_CGS),
        ("radius", "solRad", R_SUN_CGS),
    ];
    let mut text = "# %ECSV 1.0\n# ---\n# datatype:\n".to_owned();
    for (name, unit, _) in units {
        text += &format!("# - {{name: {name}, unit: {unit}, datatype: float64}}\n");
    }
    text += "# schema: astropy-2.0\nm x y z vx vy vz radius\n";
    let p = particles();
    for i in 0..p.len() {
        let (x, v) = (p.pos[i], p.vel[i]);
        let values = [p.mass[i], x.x, x.y, x.z, v.x, v.y, v.z, p.radius[i]];
        let words = values.iter().zip(units).map(|(value, (.., size))| format!("{:e}", value / size));
        text += &(words.collect::<Vec<_>>().join(" ") + "\n");
    }
    text
}

#[test]
fn verify_every_reader_gives_the_same_system_in_all_units() {
    let folder = Folder::new("");
    let path = folder.path("file");
    let stated = In::new(UNITS[0]).units;
    let expected = particles();
    for format in FORMATS {
        let Some(writer) = &format.writer else { continue };
        for to in In::all() {
            let units = match writer.units {
                WritableUnits::Unnamed => to.units.clone(),
                WritableUnits::Named => stated.clone(),
                WritableUnits::Only(units) => units(),
            };
            formats::write(&path, format.name, &state(&units)).unwrap();
            let text = to.config(&format!("[initial.file]\npath = \"file\"\nformat = \"{}\"\n", format.name));
            let found = Physical::of(&prepared(&text, path.parent().unwrap())).particles;
            let what = format!("{} in {}", format.name, to.units.describe());
            // Tipsy has 4-byte numbers.
            let rounded = |of: &[f64]| of.iter().map(|x| f64::from(*x as f32)).collect::<Vec<f64>>();
            if format.name == "tipsy" {
                let by = 1.0 / MSUN;
                let [a, b] = [&found, &expected].map(|p| rounded(&p.mass.iter().map(|m| m * by).collect::<Vec<f64>>()));
                assert!(a.iter().zip(&b).all(|(a, b)| (a / b - 1.0).abs() < 1e-6), "{what}");
                continue;
            }
            numbers_agree(&expected.mass, &found.mass, &what);
            vectors_agree(&expected.pos, &found.pos, &what);
            vectors_agree(&expected.vel, &found.vel, &what);
        }
    }
}

#[test]
fn verify_files_that_state_their_units_are_converted() {
    let folder = Folder::new("");
    folder.write("table.ecsv", ecsv());
    let expected = particles();
    let collisions = "[encounters]\n[collisions]\naction = \"record\"\nradii = \"input\"\n";
    for to in In::all() {
        let text = to.config(&format!("[initial.file]\npath = \"table.ecsv\"\n{collisions}"));
        let found = Physical::of(&prepared(&text, folder.path("x").parent().unwrap())).particles;
        let what = to.units.describe();
        numbers_agree(&expected.mass, &found.mass, &what);
        vectors_agree(&expected.pos, &found.pos, &what);
        vectors_agree(&expected.vel, &found.vel, &what);
        numbers_agree(&expected.radius, &found.radius, &what);
    }
    // Told, and not taken for numbers of [units].
    let config = In::new(UNITS[0]).config("[initial.file]\npath = \"table.ecsv\"\n");
    folder.write("run.toml", config);
    folder.tisane(&["check", "run.toml"]).exits(0).says(&["table.ecsv", "converted from"]);
    folder.tisane(&["inspect", "table.ecsv"]).exits(0).says(&["1e3 Mjup"]);
    let henon = ["check", "run.toml", "--set", "units={system=\"henon\"}", "--set", "integrator.hermite4={}", "--set"];
    folder
        .tisane(&[&henon[..], &["output={}", "--set", "run={name=\"h\",t_end=1}"]].concat())
        .exits(2)
        .says(&["cannot be converted to N-body units"]);
    for (from, to, said) in [
        ("unit: kpc", "unit: furlong", "of the unit \"furlong\""),
        ("unit: kpc", "unit: km / s", "column y: the unit \"km / s\" is not one of this quantity"),
        ("{name: y, unit: kpc", "{name: y", "states units of m, x, z, vx, vy, vz, radius, and none of y"),
    ] {
        folder.write("table.ecsv", ecsv().replace(from, to));
        folder.tisane(&["check", "run.toml"]).exits(2).says(&["table.ecsv", said]);
    }
}

#[test]
fn verify_elements_in_ecsv_are_converted() {
    let folder = Folder::new("");
    let header = |units: &[(&str, &str)]| {
        let lines = units.iter().map(|(name, unit)| format!("# - {{name: {name}, unit: {unit}, datatype: float64}}\n"));
        format!("# %ECSV 1.0\n# ---\n# datatype:\n{}a e i node pericentre t_pericentre m\n", lines.collect::<String>())
    };
    let angle = |degrees: f64| degrees.to_radians();
    let (a, m) = (900.0 * AU_CGS / PC_CGS, MSUN / (GM_EARTH_CGS / G_CGS));
    let named = [
        ("a", "pc"),
        ("i", "rad"),
        ("node", "deg"),
        ("pericentre", "rad"),
        ("t_pericentre", "kyr"),
        ("m", "earthMass"),
    ];
    let row = format!("{a:e} 0.7 {:e} 40 {:e} 1900 {:e}\n", angle(30.0), angle(50.0), 0.2 * m);
    folder.write("e.ecsv", header(&named) + &row);
    let base = folder.path("x");
    for to in In::all() {
        let plain = model("elements", &to, &folder).unwrap();
        let expected = Physical::of(&prepared(&to.config(&plain), base.parent().unwrap()));
        let text = to.config(&plain.replace("e.csv", "e.ecsv"));
        Physical::of(&prepared(&text, base.parent().unwrap())).is(&expected, &to.units.describe());
    }
    folder.write("run.toml", In::new(UNITS[0]).config("[initial.elements]\npath = \"e.ecsv\"\ncentral_mass = 1\n"));
    for (from, to, said) in [
        (", unit: kyr", "", "states units of a, m, and none of t_pericentre"),
        ("unit: pc", "unit: arcsec", "missing key initial.elements.distance"),
    ] {
        folder.write("e.ecsv", header(&named).replace(from, to) + &row);
        folder.tisane(&["check", "run.toml"]).exits(2).says(&["e.ecsv", said]);
    }
}
